"""Every fork has one event, with its pid, and so has every end that can be seen. The
witnesses are strace and the processes themselves."""
import shutil
import signal
import time
from collections import Counter

import pytest

import clients
import processes
import tool
from apache import Apache
from phases import CGI
from pool import ends
from processes import straced_forks, wait_until

RESTARTS, CGI_REQUESTS = 5, 6


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


# ---- how they end -----------------------------------------------------------------------


def ended_are_forked(apache, kind, patience=5):
    """Totals and journal agree, and every process of the kind that is no more is told of."""
    def agree():
        life = apache.status()["lifecycle"]
        return life["ended"][kind] == life["forks"][kind]
    wait_until(agree, patience, lambda: f"as many ends as forks: {apache.status()['lifecycle']}")
    found = ends(apache, kind)
    assert apache.status()["lifecycle"]["ended"][kind] == len(found)
    return found


TELLS_PID = "echo Content-Type: text/plain\necho\necho $$\n"


def test_ends_of_cgi_scripts(server, mpm):
    """mod_cgi waits for them; their pid, lifetime and reason are told. One that is not at
    its end yet when its response is may have ended in any way."""
    apache = server(mpm, CGI, modules=["cgi"], threads=2)
    paths = {"clean": apache.cgi("ends", TELLS_PID),
             "killed": apache.cgi("killed", TELLS_PID + "kill -KILL $$\n"),
             "signal": apache.cgi("signal", TELLS_PID + "kill -SEGV $$\n")}
    apache.allow("AH0|AH1")
    reasons = {}
    longest = 0

    def all_are_told():
        """On one CPU few scripts are at their end by then: as many are asked as it takes."""
        nonlocal longest
        for reason, path in paths.items():
            start = time.monotonic()
            reasons[int(apache.get(path).text())] = reason
            longest = max(longest, time.monotonic() - start + 1)
        return set(paths) <= {e["reason"] for e in ends(apache, "request").values()}
    wait_until(all_are_told, 60, lambda: f"each reason: {ends(apache, 'request')}")
    found = ended_are_forked(apache, "request", 30)
    assert set(found) == set(reasons), (found, reasons)
    for pid, event in found.items():
        assert event["reason"] in (reasons[pid], "unknown"), (reasons[pid], event)
        assert (event["duration"] is None) == (event["reason"] == "unknown"), event
        assert event["duration"] is None or 0 < event["duration"] < longest, event
        assert event["parent"] in apache.children() and event["slot"] is not None, event
    assert sum(apache.status()["lifecycle"]["exits"].values()) == 0, "those are the children's"


@pytest.mark.mpms("worker", "event")
def test_ends_of_cgid_scripts_and_of_their_daemon(server, mpm):
    """Nobody waits for the scripts: that they are gone is seen when the daemon forks again, or
    when the parent looks, every ten seconds. Why, nobody knows. The daemon is killed, and
    started again by httpd: two forks, one end."""
    apache = server(mpm, CGI, modules=["cgid"], threads=2)
    apache.allow(r"\[cgid:|AH0")
    path = apache.cgi("pid", TELLS_PID)
    pids = [int(apache.get(path).text()) for _ in range(6)]
    assert set(pids[:4]) <= set(ends(apache, "request")), "at the next fork but one"
    workers = {slot["pid"] for slot in apache.status()["slots"]}
    (daemon,) = set(apache.children()) - workers

    def helpers_told(count):
        """The parent tells of them when one of its children has ended, too."""
        time.sleep(1)               # until then it can be one of the MPM's
        processes.kill(min(set(apache.children()) & workers), signal.SIGKILL)
        wait_until(lambda: tool.status(apache.board)["lifecycle"]["forks"]["helper"] == count
                   and tool.status(apache.board)["lifecycle"]["exits"]["killed"] == count, 30,
                   f"{count} helpers")
        return {e["pid"] for e in apache.journal()[1]
                if e["event"] == "fork" and e["kind"] == "helper"}

    assert helpers_told(1) == {daemon}
    processes.kill(daemon, signal.SIGKILL)
    wait_until(lambda: set(apache.children()) - workers, 30, "another daemon")
    assert len(helpers_told(2)) == 2
    wait_until(lambda: apache.status()["lifecycle"]["ended"]["helper"] == 1, 30, "its end")
    assert set(ends(apache, "helper")) == {daemon}
    found = ended_are_forked(apache, "request", 30)
    assert set(found) == set(pids), (found, pids)
    assert {(e["reason"], e["duration"]) for e in found.values()} == {("unknown", None)}, found


def test_many_scripts_at_once(server, mpm):
    """A table with room for a thousand follows them; nothing is left in it."""
    apache = server(mpm, CGI, modules=["cgi"], workers=8, threads=4)
    apache.allow("AH0|AH1")
    path = apache.cgi("pid", TELLS_PID)
    with clients.Load(apache.port, path, 8) as load:
        wait_until(lambda: len(load.good()) >= 150, 60, "150 requests")
    found = ended_are_forked(apache, "request", 40)
    assert len(found) >= 150, found
