"""Intervals of a request that others keep waiting: a name server that answers late, HTTP/2 workers
that are too few, keys that are long. Their own clocks are the witnesses."""
import re
import subprocess
import time
from decimal import Decimal

import pytest

import build
import clients
import name_server
import tls
import tool
from phases import CGI, assert_sums, records_of
from processes import wait_until


def interval(apache, name):
    """(requests, seconds) of the host's own label."""
    label = next(e for e in tool.labels(tool.status(apache.board)) if e["label"] == "test.example")
    return label["intervals"][name], Decimal(str(label["interval_seconds"][name]))


# ---- names ------------------------------------------------------------------------------------

@pytest.fixture
def names():
    """It answers 0.4 s late, and says that every address is client.test.example."""
    server = name_server.NameServer({"client.test.example": "127.0.0.1"}, delay=0.4)
    try:
        server.__enter__()
    except name_server.Unavailable as reason:
        pytest.skip(str(reason))
    yield server
    server.__exit__()


def only_record(apache):
    [record] = records = records_of(apache, 1, 30)
    assert_sums(records)
    return record


def test_who_may_see_a_page_is_asked_of_a_name_server(server, mpm, names):
    apache = server(mpm, '<Location "/known">\nRequire host test.example\n</Location>',
                    wrapper=names.wrapper)
    assert apache.get(apache.page("known", "hello")).status == 200
    waited = Decimal(names.waited_ns()) / 10 ** 9
    asked = {(question.type, question.name) for question in names.log}
    record = only_record(apache)
    assert (name_server.PTR, "1.0.0.127.in-addr.arpa") in asked
    assert (name_server.A, "client.test.example") in asked
    assert record["checks"] >= waited > Decimal("0.8"), (record, names.log)
    assert record["log"] < record["checks"]


def test_names_of_clients_in_the_log(server, mpm, names):
    """The client has its answer before the name server gives one."""
    apache = server(mpm, 'HostnameLookups On\nLogFormat "%h" host\n'
                    'CustomLog "@ROOT@/hosts.log" host', wrapper=names.wrapper)
    names.may_answer.clear()
    assert apache.get("/").status == 200
    assert not names.log
    names.may_answer.set()
    wait_until(lambda: names.log, 30, "the name server to answer")
    waited = Decimal(names.log[0].answered_ns - names.log[0].asked_ns) / 10 ** 9
    record = only_record(apache)
    assert record["log"] >= waited >= Decimal("0.4"), (record, names.log)
    assert record["held"] >= record["log"]
    assert (apache.root / "hosts.log").read_text().startswith("client.test.example\n")


# ---- HTTP/2 -----------------------------------------------------------------------------------

STREAMS = 100


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not build.find("h2load"), reason="needs h2load")
def test_a_hundred_streams_for_two_workers(server, mpm):
    """From when h2load sent its requests, until the scripts began: by their own clocks."""
    apache = server(mpm, CGI + "Protocols h2c http/1.1\nH2MinWorkers 2\nH2MaxWorkers 2",
                    modules=["cgid", "http2"])
    (apache.root / "began").mkdir()
    (apache.root / "began").chmod(0o777)
    nap = apache.cgi("nap", f'date +%s%N >"{apache.root}/began/$QUERY_STRING"\nsleep 0.05\n'
                     "echo Content-Type: text/plain\necho\necho done\n")
    *others, last = [f"http://127.0.0.1:{apache.port}{nap}?{n}" for n in range(STREAMS)]
    done = clients.h2load(last, STREAMS, 1, streams=STREAMS, options=others)
    assert done["succeeded"] == len(done["rows"]) == STREAMS
    began = [int(file.read_text()) / 1e9 for file in (apache.root / "began").iterdir()]
    assert len(began) == STREAMS
    waited = Decimal(sum(began) - sum(start for start, _ in done["rows"]))
    records = records_of(apache, STREAMS, 30)
    assert_sums(records)
    assert all(record["h2_wait"] == record["queue"] for record in records)
    told = sum(record["h2_wait"] for record in records)
    # Two at a time: on average they waited for 49 rounds of two.
    assert waited > STREAMS * Decimal("0.05") * 49 / 2
    assert waited * Decimal("0.8") <= told <= waited, (waited, told)
    assert interval(apache, "h2_wait") == (sum(record["h2_wait"] > 0 for record in records), told)


# ---- TLS --------------------------------------------------------------------------------------

HANDSHAKES = 20


def signing_seconds():
    """CPU time of a signature with a key of that length, as OpenSSL itself measures it."""
    said = subprocess.run([build.find("openssl"), "speed", "-seconds", "1", "rsa4096"],
                          text=True, capture_output=True, check=True, timeout=60).stdout
    return Decimal(re.search(r"^rsa +4096 bits +([\d.]+)s ", said, re.M)[1])


def test_handshakes_with_long_keys(server, mpm, tmp_path):
    """Each needs at least half a signature's CPU time, and is over when the client has its answer."""
    signature = signing_seconds()
    apache = server(mpm, tls.make_certificate(tmp_path, ("rsa:4096",)),
                    modules=["ssl", "socache_shmcb"])
    seen = 0.0
    for _ in range(HANDSHAKES):
        began = time.monotonic()
        with tls.Connection(apache.port) as connection:
            assert connection.request("/").status == 200
            seen += time.monotonic() - began
    wait_until(lambda: interval(apache, "log")[0] == HANDSHAKES, 30, "all requests on record")
    count, seconds = interval(apache, "tls")
    assert count == HANDSHAKES
    assert HANDSHAKES * signature / 2 <= seconds <= Decimal(seen), (signature, seconds, seen)
