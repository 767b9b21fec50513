"""Every fork has one event, with its pid. The witness is strace."""
import re
import shutil
import signal
import time

import pytest

import clients
import processes
from apache import Apache
from processes import wait_until

CGI = """
ScriptAlias /cgi/ "@ROOT@/cgi/"
<Directory "@ROOT@/cgi">
    Require all granted
    Options +ExecCGI
</Directory>
"""
RESTARTS, CGI_REQUESTS = 5, 6


def straced_forks(path):
    """Pids that clone, clone3 and fork returned, without those of threads and of
    vfork. A call that strace shows in two pieces is put together again."""
    begun, forks = {}, []
    for line in path.read_text().splitlines():
        who, _, call = line.partition(" ")
        if "<unfinished ...>" in call:
            begun[who] = call
            continue
        if "resumed>" in call:
            call = begun.pop(who, "") + call
        if "CLONE_THREAD" in call or "CLONE_VFORK" in call:
            continue
        made = re.search(r"= (\d+)$", call)
        if made:
            forks.append(int(made.group(1)))
    return forks


def answers(apache, url):
    try:
        return apache.get(url).status == 200
    except (OSError, clients.NoAnswer):
        return False


def soon(condition, seconds=5):
    """Whether it comes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_forks_are_those_that_strace_saw(mpm, tmp_path):
    trace = tmp_path / "strace.out"
    with Apache(mpm, CGI, modules=["cgi" if mpm == "prefork" else "cgid"],
                wrapper=["strace", "-f", "-qq", "-e", "trace=clone,clone3,fork,vfork",
                         "-o", str(trace)]) as apache:
        url = apache.cgi("hello", "echo 'Content-Type: text/plain'; echo; echo hello\n")
        for _ in range(CGI_REQUESTS):
            assert apache.get(url).text() == "hello\n"
        # Of two mod_cgid daemons the old may remove the new one's socket: httpd's own
        # race, which a little patience avoids and another restart mends.
        apache.allow(r"\[cgid:")
        restarts = 0
        while restarts < RESTARTS or not answers(apache, url):
            assert restarts < 3 * RESTARTS, "mod_cgid did not come back"
            apache.restart()
            restarts += 1
            soon(lambda: answers(apache, url))
        for pid in {slot["pid"] for slot in apache.status()["slots"]}:
            processes.kill(pid, signal.SIGKILL)
        wait_until(lambda: answers(apache, url), 30, "CGI after all children were killed")

        def forks():
            return [e for e in apache.journal()[1] if e["event"] == "fork"]

        # Children that finish their old requests are replaced meanwhile, and that a fork
        # was a helper's the parent tells when it next looks, every ten seconds.
        first = set(straced_forks(trace))
        wait_until(lambda: first <= {e["pid"] for e in forks()}, 30,
                   lambda: f"events of {first - {e['pid'] for e in forks()}}")
        status, events = apache.status(), forks()
    pids = [e["pid"] for e in events]
    assert len(pids) == len(set(pids)), f"a fork has two events: {sorted(pids)}"
    last = set(straced_forks(trace))
    assert set(pids) <= last, f"not in strace: {set(pids) - last}"
    kinds = [e["kind"] for e in events]
    assert kinds.count("request") > CGI_REQUESTS, kinds
    assert (kinds.count("helper") > 0) == (mpm != "prefork"), kinds
    assert all(e["duration"] is not None and 0 < e["duration"] < 5 for e in events), events
    counted = status["lifecycle"]["forks"]
    assert counted["child"] <= kinds.count("child"), (counted, kinds)   # asked a moment before
    assert (counted["request"], counted["helper"], counted["php"]) == (
        kinds.count("request"), kinds.count("helper"), 0), (counted, kinds)
