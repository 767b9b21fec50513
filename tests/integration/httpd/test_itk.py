"""mpm-itk on prefork: a child forks for each connection, and that process serves it as
another user. The request is the forked process's, the worker is the child's."""
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from decimal import Decimal

import pytest

import build
import clients
import processes
import tool
from phases import CGI, MOST, PAUSE, assert_held_all_the_time, assert_sums, records_of
from pool import all_there, assert_time_adds_up, ends, state_deltas
from processes import straced_forks, wait_until

MODULE = build.APACHE_MODULES / "mpm_itk.so"
USERS = ("www-data", "nobody")
pytestmark = [
    pytest.mark.mpms("prefork"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not MODULE.exists(), reason="needs mpm_itk (libapache2-mpm-itk)")]

CONFIGURATION = f'''
LoadModule mpm_itk_module {MODULE}
AssignUserID {USERS[0]} nogroup
''' + CGI + f'''
MPMStatPaths On
<Location "/cgi/other">
    AssignUserID {USERS[1]} nogroup
</Location>
'''
NAP = "sleep 1\necho Content-Type: text/plain\necho\necho done\n"
# Long enough for a slow machine to find and end the process that serves it.
LONG_NAP = NAP.replace("sleep 1", "sleep 4")
WHO = "echo Content-Type: text/plain\necho\nid -un\necho $PPID\n"


@pytest.fixture
def itk(server, mpm):
    def start(extra="", **options):
        return server(mpm, CONFIGURATION + extra, modules=["cgi"], **options)
    return start


def settled(apache, requests):
    """The board from the file, once it has `requests` and all is idle."""
    def look():
        board = tool.status(apache.board)
        return board if (tool.requests(board) == requests and board["workers"]["busy"] == 0
                         and board["workers"]["states"]["idle"] == apache.workers
                         and board["connections"]["open"] == 0) else None
    board = wait_until(look, 10, lambda: f"{requests} requests: {tool.status(apache.board)}")
    assert sum(e["in_flight"] for e in tool.labels(board)) == 0, board["labels"]
    assert board["workers"]["states"] == {**dict.fromkeys(board["workers"]["states"], 0),
                                          "idle": apache.workers}, board["workers"]
    return board


def test_slow_readers_of_the_journal_are_few(itk):
    """Each has a process of its own, forked from one of the server's. Where that is killed, the
    one that it was forked from makes its count good when it next has such a reader."""
    apache = itk(workers=10)
    apache.allow("child died with signal")
    clients.ab(apache.port, "/", 20000, 5, ["-k"])

    def statuses_of_readers(kill=False):
        held = [apache.connect(receive_buffer=4096) for _ in range(5)]
        for connection in held:
            connection.send_request("/mpm-status?format=journal&since=start", keep=False)
        statuses = sorted(connection.read_head()[0] for connection in held)
        givers = {slot["pid"] for slot in tool.status(apache.board)["slots"]
                  if slot["label"] == "mpm-status"}
        for child in givers if kill else ():
            for pid in processes.children(child):
                os.kill(pid, signal.SIGKILL)
        for connection in held:
            connection.reset()
        wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == 0, 20, "all idle")
        assert len(givers) >= statuses.count(200) >= 1
        return statuses

    few = [200] * 4 + [503]
    assert statuses_of_readers() == few
    assert statuses_of_readers(kill=True) == few
    wait_until(lambda: statuses_of_readers() == few, 60, "all turns again")


def request_forks(apache):
    return [e for e in apache.journal()[1] if e["event"] == "fork" and e["kind"] == "request"]


def test_requests_are_the_forked_processes(itk):
    """Counted once, with the pid that served, as the user that it was; ids do not repeat."""
    apache = itk(workers=3)
    paths = [apache.cgi("who", WHO), apache.cgi("other", WHO)]
    served = Counter()
    for nth in range(12):
        with apache.connect() as connection:
            for _ in range(3):                     # kept alive: the same process
                user, pid = connection.request(paths[nth % 2]).text().split()
                assert user == USERS[nth % 2]
                served[int(pid)] += 1
    assert len(served) == 12 and set(served.values()) == {3}, served
    records = records_of(apache, 36)
    assert_sums(records)
    assert Counter(r["pid"] for r in records) == served
    assert len({r["id"] for r in records}) == 36, sorted(r["id"] for r in records)
    assert not set(served) & set(apache.children())
    board = settled(apache, 36)
    assert sum(s["requests"] for s in board["slots"]) >= 36, board["slots"]
    assert {s["pid"] for s in board["slots"]} <= set(apache.children()), board["slots"]
    forks = {e["pid"]: e for e in request_forks(apache)}
    assert set(served) <= set(forks)
    for pid in served:
        assert forks[pid]["parent"] in apache.children(), forks[pid]
        assert forks[pid]["slot"] in range(3) and 0 < forks[pid]["duration"] < 5, forks[pid]


def test_ends_of_the_forked_processes(itk):
    """They tell themselves where they end by themselves; where one is killed, the child does."""
    apache = itk(workers=3)
    apache.allow("child died with signal")
    nap, who = apache.cgi("nap", LONG_NAP), apache.cgi("who", WHO)
    served = {}
    for nth in range(6):
        start = time.monotonic()
        with apache.connect() as connection:
            pid = int(connection.request(who).text().split()[1])
            time.sleep(0.1 * (nth == 5))
        served[pid] = Decimal(repr(time.monotonic() - start))
    with apache.connect() as connection:
        connection.send_request(nap)
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"], 5,
                   "a busy worker")
        (victim,) = [p for c in apache.children() for p in processes.children(c)]
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: victim in ends(apache, "request"), 10, "its end")
    found = ends(apache, "request")
    assert found[victim]["reason"] == "killed", found[victim]
    for pid, seconds in served.items():
        assert found[pid]["reason"] == "clean", found[pid]
        assert 0 < found[pid]["duration"] <= seconds + 1, (found[pid], seconds)
    assert found[pid]["duration"] >= Decimal("0.1"), found[pid]
    forked = {e["pid"] for e in request_forks(apache)}
    assert set(found) <= forked, (found, forked)


def test_the_childs_worker_waits_meanwhile(itk):
    """It is the worker that is handling; no time is counted twice, and nothing is left."""
    apache = itk(workers=3)
    nap = apache.cgi("nap", NAP)
    before = all_there(apache)
    with apache.connect() as connection:
        connection.send_request(nap)
        board = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                           if b["workers"]["states"]["handling"]), None), 5, "a busy worker")
        (slot,) = [s for s in board["slots"] if s["state"] != "idle"]
        assert slot["pid"] in apache.children() and slot["path"] == nap, slot
        assert board["workers"]["busy"] == 1 and board["connections"]["open"] == 1, board
        assert sum(e["in_flight"] for e in tool.labels(board)) == 1, board["labels"]
        assert connection.read_response().status == 200
        kept = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                          if b["workers"]["states"]["keepalive"]), None), 5, "keep-alive")
        assert kept["workers"]["busy"] == 1
        time.sleep(PAUSE)
        connection.request("/")
    after = settled(apache, 2)
    assert_time_adds_up(before, after, 3)
    deltas = state_deltas(before, after)
    assert Decimal("0.9") < deltas["handling"] < 3, deltas
    assert MOST < deltas["keepalive"] < 3, deltas
    elapsed = after["uptime_seconds"] - before["uptime_seconds"]
    assert deltas["idle"] < elapsed * 3 - Decimal("1.2"), (deltas, elapsed)
    (record,) = [r for r in records_of(apache, 2) if r["nth"] == 0]
    assert record["handle"] >= 1, record
    assert_held_all_the_time(record)


def test_it_adds_up_under_load(itk):
    """200 connections: every one is a fork and a record, and all gauges return to 0."""
    apache = itk(workers=4)
    before = all_there(apache)
    for _ in range(50):
        connections = [apache.connect() for _ in range(4)]
        for connection in connections:
            connection.send_request("/", keep=False)
        for connection in connections:
            assert connection.read_response().status == 200
            connection.close()
    after = settled(apache, 200)
    assert_time_adds_up(before, after, 4)
    assert after["connections"]["accepted_total"] == 200
    assert after["lifecycle"]["forks"]["request"] == 200, after["lifecycle"]
    assert after["lifecycle"]["exits"]["clean"] == 0, after["lifecycle"]
    records = records_of(apache, 200)
    assert len({r["id"] for r in records}) == len({r["pid"] for r in records}) == 200


def test_a_request_that_would_need_another_user(itk):
    """itk closes the connection unanswered: counted as such, and nothing is left of it."""
    apache = itk(workers=2)
    apache.allow("set uid/gid")
    other = apache.cgi("other", WHO)
    with apache.connect() as connection:
        assert connection.request("/").status == 200
        connection.send_request(other)
        assert connection.read_to_end() == b""
    board = settled(apache, 1)
    assert board["connections"]["shed_total"] == 1, board["connections"]
    assert len(records_of(apache, 1)) == 1


def test_a_clean_exit_is_the_childs_own(itk):
    """The forked process ends cleanly in the middle of its request, which is unfinished.
    That says nothing of the child's end: it is killed later."""
    apache = itk(workers=2)
    nap = apache.cgi("nap", LONG_NAP)
    with apache.connect() as connection:
        connection.send_request(nap)
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"], 5,
                   "a busy worker")
        ((child, serving),) = [(c, p) for c in apache.children() for p in processes.children(c)]
        os.kill(serving, signal.SIGTERM)
        assert connection.read_to_end() == b""
    board = settled(apache, 0)
    assert board["lifecycle"]["requests_unfinished"] == 1, board["lifecycle"]
    assert child in apache.children()
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: sum(tool.status(apache.board)["lifecycle"]["exits"].values()), 10,
               "its exit")
    all_there(apache)
    (exit_,) = [e for e in apache.journal()[1] if e["event"] == "exit" and e["kind"] == "child"]
    assert exit_["pid"] == child and exit_["reason"] == "killed", exit_


def test_the_forked_process_is_killed(itk):
    """Its request is unfinished; itk's child ends then, too."""
    apache = itk(workers=2)
    apache.allow("child died with signal")
    nap = apache.cgi("nap", LONG_NAP)
    with apache.connect() as connection:
        connection.send_request(nap)
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"], 5,
                   "a busy worker")
        (victim,) = [p for c in apache.children() for p in processes.children(c)]
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: tool.status(apache.board)["lifecycle"]["requests_unfinished"] == 1, 10,
                   lambda: f"one unfinished: {tool.status(apache.board)['lifecycle']}")
    all_there(apache)
    assert apache.get("/").status == 200
    settled(apache, 1)


def test_a_hard_restart_ends_the_request(itk):
    """Child and process end cleanly in the middle of it. The parent counts it, once."""
    apache = itk(workers=2)
    nap = apache.cgi("nap", LONG_NAP)
    with apache.connect() as connection:
        connection.send_request(nap)
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"], 5,
                   "a busy worker")
        apache.restart(signal.SIGHUP)
        assert connection.read_to_end() == b""
    all_there(apache)
    assert settled(apache, 0)["lifecycle"]["requests_unfinished"] == 1


def test_the_child_is_killed_while_its_process_serves(itk):
    """The process serves on and its request is counted, but it keeps off the entry, which
    is another child's by then."""
    apache = itk(workers=2)
    nap = apache.cgi("nap", LONG_NAP)
    all_there(apache)
    with apache.connect() as connection:
        connection.send_request(nap)
        board = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                           if b["workers"]["states"]["handling"]), None), 5, "a busy worker")
        (victim,) = [s["pid"] for s in board["slots"] if s["state"] == "handling"]
        (serving,) = processes.children(victim)
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: tool.status(apache.board)["lifecycle"]["exits"]["killed"] == 1, 10,
                   "its exit")
        between = all_there(apache)               # another child has the entry
        assert processes.is_alive(serving), "too late: this test shows nothing"
        assert connection.read_response().text() == "done\n"
        assert tool.status(apache.board)["workers"]["busy"] == 0
        connection.request("/")
    records = records_of(apache, 2)
    assert {(r["pid"], r["worker"]) for r in records} == {(serving, None)}, records
    wait_until(lambda: not processes.is_alive(serving), 10, "the process to end")
    after = settled(apache, 2)
    assert_time_adds_up(between, after, 2)
    deltas = state_deltas(between, after)         # besides the status page's own
    assert sum(deltas.values()) - deltas["idle"] < 2, deltas


def test_http2_is_refused(itk):
    """mod_http2 does not run on prefork, and so not under itk: it is HTTP/1.1 as before."""
    apache = itk(f"\nLoadModule http2_module {build.APACHE_MODULES}/mod_http2.so\n"
                 "Protocols h2 h2c http/1.1\n")
    apache.allow("AH10034")
    who = apache.cgi("who", WHO)
    told = subprocess.run([build.find("curl"), "-sS", "--http2", "-w", "%{http_version}",
                           f"http://127.0.0.1:{apache.port}{who}"], text=True, check=True,
                          stdout=subprocess.PIPE, timeout=60).stdout.split()
    assert told[0] == USERS[0] and told[2] == "1.1", told
    (record,) = records_of(apache, 1)
    assert record["pid"] == int(told[1]) and not record["no_worker"], record
    assert apache.log_lines("AH10034"), "mod_http2 says so"


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_a_fork_each_as_strace_saw(itk, tmp_path):
    trace = tmp_path / "strace.out"
    apache = itk(workers=2, wrapper=["strace", "-f", "-qq", "-e", "trace=clone,clone3,fork,vfork",
                                     "-o", str(trace)])
    who = apache.cgi("who", WHO)
    pids = [int(apache.get(who).text().split()[1]) for _ in range(5)]
    events = [e["pid"] for e in request_forks(apache)]
    seen = set(straced_forks(trace))
    assert set(pids) <= set(events) <= seen, (pids, events, seen)
    assert len(events) == len(set(events)), events
