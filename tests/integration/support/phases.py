"""What tests know of a request's phases, and CGI scripts that take a given time."""
from decimal import Decimal

from processes import wait_until


# For so long a witness makes others wait. A thread of a busy machine can be half a second late: of
# the pause at least MOST is found where it belongs, and less than MOST elsewhere.
PAUSE = 1.5
MOST = Decimal("0.75")

PHASES = ("queue", "read", "handle", "send")
# The intervals that lie in each phase. Those of one phase that are listed together do not overlap.
WITHIN = {"queue": [("h2_wait",)], "read": [("tls",)],
          "handle": [("checks",), ("upload", "backend_time")],
          "send": [("send_client", "send_network", "send_server")]}
CGI = '''
ScriptAlias /cgi/ "@ROOT@/cgi/"
<Directory "@ROOT@/cgi">
    Require all granted
    Options +ExecCGI
</Directory>
'''


def cgi_module(mpm):
    """mod_cgi where there are no threads, mod_cgid where there are."""
    return "cgi" if mpm == "prefork" else "cgid"


def records_of(apache, count, patience=5):
    """The journal's request records without the status page's, once there are `count`."""
    def load():
        requests, _, trailer = apache.journal()
        assert trailer["lost"] == 0, trailer
        return [r for r in requests if r["label"] != "mpm-status"]
    try:
        wait_until(lambda: len(load()) >= count, patience, "records")
    except AssertionError:
        pass
    records = load()
    assert len(records) == count, f"{count} requests, {len(records)} records: {records}"
    return records


def record_of(apache, port):
    """The only record of the connection from that client port. An earlier or later request of the
    status page can have had the same port."""
    found = wait_until(lambda: [r for r in apache.journal()[0]
                                if r["port"] == port and r["label"] != "mpm-status"], 5,
                       f"a record of the connection from port {port}")
    assert len(found) == 1, found
    return found[0]


def assert_held_all_the_time(record):
    """A worker was held for all of the request but the wait for one."""
    assert record["total"] - record["queue"] - record["held"] < Decimal("0.05"), record


def assert_sums(records):
    for record in records:
        phases = {phase: record[phase] for phase in PHASES}
        assert min(phases.values()) >= 0, record
        assert sum(phases.values()) == record["total"], record
        assert record["held"] <= record["total"] + record["log"], record
        for phase, groups in WITHIN.items():
            for names in groups:
                assert sum(record[name] or 0 for name in names) <= record[phase], record
