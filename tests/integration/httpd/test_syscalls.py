"""Recording adds no system call to a request that found a worker idle."""
import re
import time
from collections import Counter

import pytest

import build
import tool
from apache import Apache
from processes import wait_until

pytestmark = pytest.mark.skipif(not build.find("strace"), reason="strace is not installed")

CALL = re.compile(r"^(\d+) +(\w+)\(")


def calls_between(trace, child):
    """System calls of the child after the one that names begin-mark, before end-mark."""
    counting, calls = False, Counter()
    for line in trace.splitlines():
        match = CALL.match(line)
        # A read that finds nothing yet, and the poll that then waits: the client's pace.
        if not match or int(match[1]) != child or "EAGAIN" in line or match[2] == "poll":
            continue
        if "begin-mark" in line:
            counting, calls = True, Counter()
        elif "end-mark" in line and counting:
            return calls
        elif counting:
            calls[match[2]] += 1
    raise AssertionError("the marks are not in the trace:\n" + trace[-2000:])


def calls_of(requests, **options):
    """What one prefork child calls to serve what `requests(apache)` asks for."""
    with Apache("prefork", "MaxKeepAliveRequests 0\nKeepAliveTimeout 30", workers=1,
                wrapper=[build.find("strace"), "-f", "-qq", "-s", "200", "-e", "signal=none",
                         "-o", "@ROOT@/trace"], **options) as apache:
        child = apache.children()[0]
        requests(apache)
        apache.stop()
        return calls_between((apache.root / "trace").read_text(errors="replace"), child)


def kept_alive(apache):
    with apache.connect() as connection:
        connection.request("/begin-mark")
        for _ in range(50):
            assert connection.request("/index.html").status == 200
        connection.request("/end-mark")


def fresh_connections(apache):
    """Each finds the worker idle for longer than two jiffies."""
    for path in ["/begin-mark", *["/index.html"] * 10, "/end-mark"]:
        apache.get(path)
        time.sleep(0.1)


@pytest.mark.parametrize("requests", [kept_alive, fresh_connections])
def test_none_is_added(requests):
    """The kernel is asked about a response that took longer than 10 ms to send, as one can on a busy
    machine, and a request can come in two parts there: of three pairs of servers one has none."""
    for _ in range(3):
        without = calls_of(requests, module=False)
        assert sum(without.values()) > 50, without
        recorded = calls_of(requests)
        added = {name: recorded[name] - without[name] for name in without | recorded
                 if recorded[name] != without[name]}
        if not added:
            break
    assert not added, f"added: {added}; without the module {without}, with it {recorded}"


def asking(mpm, workers):
    """An Apache whose questions to the kernel about sockets are in a file, and nothing else."""
    return Apache(mpm, "MaxKeepAliveRequests 0\nKeepAliveTimeout 30", workers=workers,
                  threads=workers,
                  wrapper=[build.find("strace"), "-f", "--seccomp-bpf", "-qq", "-e",
                           "trace=getsockopt", "-e", "signal=none", "-o", "@ROOT@/trace"])


def no_worker_serves(apache):
    """On a busy machine a worker ends its request long after its client has the answer."""
    states = tool.status(apache.board)["workers"]["states"]
    return not any(states[state] for state in states if state not in ("idle", "keepalive"))


def test_the_one_call_of_the_module_is_rare(mpm):
    """TCP_INFO, how long a connection has waited: not for a request that found its worker idle (on
    a busy machine a worker can be late, now and then), at most twice for a connection."""
    connections, requests = 20, 10
    with asking(mpm, 4) as apache:
        def asked():
            return (apache.root / "trace").read_text(errors="replace").count("TCP_INFO")

        with apache.connect() as connection:
            connection.request("/index.html")
            first = asked()
            for _ in range(requests):
                wait_until(lambda: no_worker_serves(apache), 30, "the request to end")
                time.sleep(0.1)
                assert connection.request("/index.html").status == 200
            assert first <= 2 and asked() <= first + requests // 5
        for _ in range(connections):
            assert apache.get("/index.html").status == 200
        assert asked() <= first + 2 * connections
        assert mpm == "prefork" or asked() > first, "a listener may be late: it is asked"


def test_none_for_quick_requests(mpm):
    """On event each takes a worker that was idle, but not for long: it may have waited no longer
    than since the one before, which is less than the kernel could tell."""
    with asking(mpm, 4) as apache:   # event closes kept-alive connections where none is idle
        with apache.connect() as connection:
            for _ in range(200):
                assert connection.request("/index.html").status == 200
        apache.stop()
        asked = (apache.root / "trace").read_text(errors="replace").count("TCP_INFO")
    assert asked <= 20, "now and then a worker may have had no time to be idle"
