"""Children that die, and restarts, during a load: nothing lost, nothing counted twice."""
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from contextlib import ExitStack
from decimal import Decimal

import pytest

import clients
import processes
import tool
from pool import DYING, events, wait_for_pool
from processes import wait_until

NAP = "<?php usleep(20000); echo 'OK';"


def wait_for_exit(apache, reason):
    """From the file: a dying child may still take a connection and never answer."""
    wait_until(lambda: tool.status(apache.board)["lifecycle"]["exits"][reason] > 0, 20,
               lambda: f"an exit: {reason}; {tool.status(apache.board)['lifecycle']}")


def kill_all_children(apache):
    """kill -9 to every child. Returns their pids, and from when until when they died."""
    pids = apache.children()
    moment = time.monotonic()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not set(pids) & set(apache.children()), 10, "the children to be gone")
    return pids, moment, time.monotonic() + DYING


def wait_for_more(load, count):
    wanted = len(load.good()) + count
    wait_until(lambda: len(load.good()) >= wanted, 30,
               lambda: f"{count} more answers; {load.outcomes[-20:]}")


def assert_processes_are_all_there(apache, killed=()):
    """Fork and exit events against the processes that there are and were."""
    board, (_, lifecycle, trailer) = apache.status(), apache.journal()
    assert trailer["lost"] == 0
    forks = Counter(e["pid"] for e in lifecycle if e["event"] == "fork" and e["kind"] == "child")
    exits = Counter(e["pid"] for e in lifecycle if e["event"] == "exit")
    assert set(forks.values()) == {1}, f"one event a fork: {forks}"
    assert set(exits.values()) <= {1}, f"one event an exit: {exits}"
    assert set(forks) - set(exits) == set(apache.children()), (forks, exits, apache.children())
    assert board["lifecycle"]["forks"]["child"] == len(forks)
    assert sum(board["lifecycle"]["exits"].values()) == len(exits)
    told = {e["pid"]: e for e in lifecycle if e["event"] == "exit"}
    # Of one that was killed before it could take its place on the board no more is known.
    reasons = {pid: told[pid]["reason"] for pid in killed
               if pid in told and told[pid]["requests"] is not None}
    assert set(reasons.values()) <= {"killed"}, (killed, told)
    assert 2 * len(reasons) >= len(killed) and set(killed) <= set(told), (killed, told)
    return forks, exits


def assert_nobody_is_missed(load, board):
    """Every answer is on record or was in flight when its child died; nothing is twice."""
    recorded = tool.requests(board)
    unfinished = board["lifecycle"]["requests_unfinished"]
    good, bad = len(load.good()), len(load.bad())
    assert recorded <= good + bad, f"{recorded} recorded; {good} answered, {bad} not"
    assert recorded + unfinished >= good, f"{recorded} + {unfinished} unfinished; {good} answered"
    assert unfinished <= bad + len(load.threads), (unfinished, bad)


def test_every_child_killed_during_a_load(php_server, mpm):
    apache = php_server(mpm, workers=12, threads=4)
    page = apache.page("nap.php", NAP)
    wait_for_pool(apache)
    killed, moments = [], []
    with clients.Load(apache.port, page, 8) as load, tool.Scraper(apache.board) as scraper:
        for _ in range(3):
            wait_for_more(load, 60)
            pids, start, end = kill_all_children(apache)
            killed += pids
            moments.append((start, end))
        wait_for_more(load, 60)
        load.stop()
    board = wait_for_pool(apache)
    scraper.check()
    stray = [o for o in load.bad() if not any(
        o.start <= end and o.end >= start for start, end in moments)]
    assert not stray, f"errors of requests that no kill explains: {stray}"
    assert load.bad(), "this test did not kill any request"
    assert_nobody_is_missed(load, board)
    assert all(entry["in_flight"] == 0 for entry in tool.labels(board)), board["labels"]
    assert board["connections"]["open"] == 0, board["connections"]
    assert {slot["pid"] for slot in board["slots"]} <= set(apache.children())
    assert_processes_are_all_there(apache, killed)
    assert apache.status()["lifecycle"]["exits"]["killed"] == len(killed)


def test_graceful_restart_during_a_load(php_server, mpm):
    apache = php_server(mpm, workers=12, threads=4)
    page = apache.page("nap.php", NAP)
    wait_for_pool(apache)
    inode = apache.board.stat().st_ino
    with clients.Load(apache.port, page, 6) as load, \
            clients.Load(apache.port, page, 4, keep=1000) as kept, \
            tool.Scraper(apache.board) as scraper:
        for _ in range(3):
            wait_for_more(load, 60)
            wait_for_more(kept, 30)
            apache.restart(wait=True)
        wait_for_more(load, 100)
    wait_until(lambda: len(set(apache.children())) == apache.workers // apache.threads, 20,
               "the old children to end")
    board = wait_for_pool(apache)
    scraper.check()
    assert not load.bad(), f"{len(load.bad())} lost: {load.bad()[:10]}"
    broken = [o for o in kept.bad() if o.nth == 0]
    assert not broken, f"lost on fresh connections: {broken}"
    shed = board["connections"]["shed_total"]
    assert len(kept.bad()) <= shed, f"{len(kept.bad())} errors, {shed} counted as shed"
    recorded = tool.requests(board)
    assert recorded == len(load.good()) + len(kept.good()), (
        f"{recorded} recorded, {len(load.good())} + {len(kept.good())} answered")
    assert board["lifecycle"]["requests_unfinished"] == 0
    assert board["generation"] == board["lifecycle"]["generations"] == 3
    assert apache.board.stat().st_ino == inode, "the board was replaced"
    _, exits = assert_processes_are_all_there(apache)
    assert apache.status()["lifecycle"]["exits"]["clean"] == len(exits)


def test_kept_alive_connections_that_a_restart_closes(server, mpm):
    """Busy ones: it also closes some just after a response that promised to keep them."""
    apache = server(mpm, workers=12, threads=4)
    with clients.Load(apache.port, "/index.html", 8, keep=1000) as load:
        for _ in range(5):
            wait_for_more(load, 500)
            apache.restart()
        wait_for_more(load, 500)
    board = wait_for_pool(apache)
    errors, shed = len(load.bad()), board["connections"]["shed_total"]
    assert all(o.nth for o in load.bad()), f"on fresh connections: {load.bad()}"
    assert errors <= shed <= errors + 5 * len(load.threads), f"{errors} errors, {shed} shed"
    assert tool.requests(board) == len(load.good()), (tool.requests(board), len(load.good()))


def test_hard_restart_during_a_load(php_server, mpm):
    """Requests that it kills are errors; everything else is as ever."""
    apache = php_server(mpm, workers=12, threads=4)
    page = apache.page("nap.php", NAP)
    wait_for_pool(apache)
    inode = apache.board.stat().st_ino
    with clients.Load(apache.port, page, 8) as load, tool.Scraper(apache.board) as scraper:
        wait_for_more(load, 60)
        start = time.monotonic()
        apache.restart(signal.SIGHUP)
        end = time.monotonic()
        wait_for_more(load, 60)
    board = wait_for_pool(apache)
    scraper.check()
    stray = [o for o in load.bad() if o.start > end or o.end < start]
    assert not stray, f"errors that the restart does not explain: {stray}"
    assert_nobody_is_missed(load, board)
    assert board["lifecycle"]["generations"] == 1
    assert apache.board.stat().st_ino == inode, "the board was replaced"
    assert_processes_are_all_there(apache)


def test_five_graceful_restarts(server, mpm):
    """The module is unloaded and loaded each time; each fork is still counted once."""
    apache = server(mpm, workers=4, threads=2)
    for generation in range(1, 6):
        assert apache.get("/").status == 200
        apache.restart()
        wait_until(lambda: tool.status(apache.board)["generation"] == generation, 5,
                   f"generation {generation}")
    wait_for_pool(apache)
    wait_until(lambda: len(apache.children()) == 4 // apache.threads, 20, "the old ones to end")
    forks, exits = assert_processes_are_all_there(apache)
    board = apache.status()
    assert board["lifecycle"]["generations"] == 5 == len(events(apache, "generation"))
    assert tool.requests(board) == 5
    assert board["lifecycle"]["exits"]["clean"] == len(exits), board["lifecycle"]
    assert not board.get("stopped"), "it runs"


def test_reasons_of_exits(server, mpm):
    """A child that a signal killed, one that ended by itself, one that was killed -9."""
    apache = server(mpm, "MaxConnectionsPerChild 3", workers=4, threads=2)
    apache.allow("AH0005[12]")
    wait_for_pool(apache)
    victim = apache.children()[0]
    os.kill(victim, signal.SIGSEGV)
    wait_for_exit(apache, "signal")
    other = apache.children()[0]
    os.kill(other, signal.SIGKILL)
    wait_for_exit(apache, "killed")
    wait_for_pool(apache)
    # A child that had its three connections. (httpd resets one of some now and then.)
    with clients.Load(apache.port, "/", 1):
        wait_for_exit(apache, "clean")
    by_pid = {e["pid"]: e for e in events(apache, "exit")}
    assert by_pid[victim]["reason"] == "signal", by_pid[victim]
    assert by_pid[other]["reason"] == "killed", by_pid[other]
    clean = next(e for e in by_pid.values() if e["reason"] == "clean")
    assert clean["requests"] >= 1 and clean["unfinished"] == 0, clean
    assert 0 < clean["duration"] < 60 and clean["parent"] == apache.pid, clean


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_the_end_of_a_child_that_never_was_ready(server, mpm, as_root):
    """Killed before it could take an entry, in which it would have noted an end by itself:
    nobody knows which of the two it was. strace holds it up where it changes its user."""
    apache = server(mpm, workers=2, wrapper=["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                             "trace=setuid", "-e",
                                             "inject=setuid:delay_enter=2000000"])
    wait_for_pool(apache)
    old = set(apache.children())
    processes.kill(next(iter(old)), signal.SIGKILL)
    wait_until(lambda: set(apache.children()) - old, 20, "another child")
    young = (set(apache.children()) - old).pop()
    processes.kill(young, signal.SIGKILL)
    wait_for_exit(apache, "unknown")
    end = next(e for e in events(apache, "exit") if e["pid"] == young)
    assert (end["reason"], end["duration"], end["requests"]) == ("unknown", None, None), end


def test_a_pool_that_grows(server, mpm):
    """Forks under load are events with a time, and the new workers' slots appear."""
    apache = server(mpm, "KeepAliveTimeout 30\n", workers=12, threads=2, start=2)
    first = {e["pid"] for e in events(apache, "fork")}
    asked_at = Decimal(repr(time.time()))
    connections = [apache.connect() for _ in range(6)]
    try:
        for connection in connections:
            connection.send("GET / HTTP/1.1\r\n")
        wait_until(lambda: sum(tool.status(apache.board)["workers"]["states"].values()) >= 6, 20,
                   "six workers")
    finally:
        for connection in connections:
            connection.reset()
    later = [e for e in events(apache, "fork") if e["pid"] not in first]
    assert later and all(e["time"] >= asked_at - 1 for e in later), later
    assert all(e["slot"] is not None for e in later), later


def test_configtest_leaves_a_running_server_alone(server, mpm):
    apache = server(mpm)
    apache.get("/")
    before = (apache.board.stat().st_ino, set(apache.board.parent.glob("*.board*")))
    for option in ("-t", "-S", "-M"):
        done = subprocess.run(apache.command(option), env=apache.full_environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert done.returncode == 0, done.stdout
    apache.get("/")
    wait_until(lambda: tool.requests(apache.status()) == 2, 5, "both requests")
    assert before == (apache.board.stat().st_ino, set(apache.board.parent.glob("*.board*")))
    board = apache.status()
    assert board["pid"] == apache.pid and not board.get("stopped"), board


def test_time_without_an_idle_worker(server, mpm):
    """Told as it begins and as it ends; and how much of it the journal's window covers."""
    apache = server(mpm, "MPMStatJournal 1024", workers=4, threads=4)
    wait_for_pool(apache)
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(apache.connect()).send("GET / HTTP/1.1\r\n")
        wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == 4, 10, "all held")
        first = tool.status(apache.board)["lifecycle"]
        time.sleep(0.5)
        second = tool.status(apache.board)["lifecycle"]
    wait_for_pool(apache)
    assert second["no_idle_worker_seconds"] >= first["no_idle_worker_seconds"] + Decimal("0.5")
    board = tool.status(apache.board)
    total = board["lifecycle"]["no_idle_worker_seconds"]
    assert board["lifecycle"]["no_idle_worker_window_seconds"] == total >= Decimal("0.5")
    assert board["journal"]["requests"]["window_seconds"] == board["uptime_seconds"]
    begin, end = events(apache, "limit")
    assert begin["duration"] is None and end["duration"] == total, (begin, end, total)
    assert abs(end["time"] - begin["time"] - total) < Decimal("0.001"), (begin, end, total)
    for format, line in (("text", f"NoIdleWorkerWindowSeconds: {total}"),
                         ("openmetrics", "mpmstat_no_idle_worker_window_seconds{")):
        assert line in apache.get(f"/mpm-status?format={format}").text()
    # So many requests later the journal reaches back to after it.
    written = board["journal"]["requests"]["written"]
    with clients.Load(apache.port, "/index.html", 1, keep=1000) as load:
        wait_until(lambda: load.count() > 2100, 60, "2100 requests")
    board = wait_for_pool(apache)
    assert board["journal"]["requests"]["written"] > written + 2100
    assert board["journal"]["requests"]["window_seconds"] < board["uptime_seconds"]
    assert board["lifecycle"]["no_idle_worker_seconds"] == total
    assert board["lifecycle"]["no_idle_worker_window_seconds"] == 0, board["lifecycle"]


@pytest.mark.mpms("prefork")
def test_requests_by_which_apache_wakes_its_children_are_not_counted(server, mpm):
    """It ends idle children that are too many by a connection to itself, and OPTIONS *."""
    log = 'CustomLog "@ROOT@/own.log" "%m %{User-Agent}i"'
    limits = ("ServerLimit 5\nMaxRequestWorkers 5\nStartServers 5\nMinSpareServers 1\n"
              "MaxSpareServers 2\nListenBacklog 511")
    apache = server(mpm, log, limits=limits, workers=5)
    own = apache.root / "own.log"
    wait_until(lambda: own.exists() and "OPTIONS Apache" in own.read_text(), 30,
               "Apache to wake an idle child")
    wait_until(lambda: len(apache.children()) == 2, 30, "the idle children to end")
    assert clients.get(apache.port, "*", method="OPTIONS").status == 200
    wait_until(lambda: any("internal dummy connection" not in line for line in
                           own.read_text().splitlines()), 10, "the client's own to be logged")
    board = tool.status(apache.board)
    assert sum(label["requests"] for label in board["labels"]) == 1, board["labels"]
    assert len(apache.journal()[0]) == 1
