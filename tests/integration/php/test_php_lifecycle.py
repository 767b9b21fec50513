"""PHP's workers come and go: started, recycled, killed, reloaded, all under load."""
import re
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

import build
import clients
import php
import processes
import tool
from fpm import FPM
from processes import straced_forks, wait_until

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
NAP = "<?php usleep((int)($_GET['us'] ?? 1000)); echo 'done';"


def settings(**more):
    return php.settings("@ROOT@/run", **more)


class Requests:
    """Clients that ask one after the other until stop(); counts what they got."""

    def __init__(self, fpm, clients=4, query="us=20000"):
        self.fpm, self.query = fpm, query
        self.script = fpm.script("nap.php", NAP)
        self.done = self.lost = 0
        self.lock, self.stopping = threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self.loop) for _ in range(clients)]

    def loop(self):
        while not self.stopping.is_set():
            try:
                answer = php.fastcgi(self.fpm.socket, self.script, QUERY_STRING=self.query)
                good = answer == (200, "done")
            except OSError:
                good = False
            with self.lock:
                self.done += good
                self.lost += not good

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)


def pids(board):
    return {slot["pid"] for slot in board["slots"]}


def ends(board):
    return sum(board["lifecycle"]["exits"].values())


def settled(fpm, requests=None):
    """The board, when its workers are the master's children and idle."""
    def look():
        board = tool.status(fpm.board)
        idle = board["workers"]["busy"] == 0 and pids(board) == set(fpm.workers())
        return board if idle and requests in (None, tool.requests(board)) else None
    return wait_until(look, 15, lambda: f"{fpm.workers()}, {requests} requests: "
                                        f"{tool.status(fpm.board)}")


def assert_none_lost(board, load):
    """Of those that the clients lost some were not finished, some were killed in the moment
    between their record and their answer, and some were not begun. One may have been killed
    between its record and the end of its worker's entry: it is in both numbers."""
    unfinished = board["lifecycle"]["requests_unfinished"]
    late = tool.requests(board) - load.done
    assert late >= 0 and unfinished + late <= load.lost + 1, (unfinished, late, load.done, load.lost)


def assert_adds_up(fpm, board):
    """Every process that was started is there or has ended, once."""
    lifecycle = board["lifecycle"]
    assert lifecycle["forks"]["php"] == len(fpm.workers()) + ends(board), lifecycle
    assert sum(entry["in_flight"] for entry in board["labels"]) == 0


@pytest.mark.skipif(not build.find("strace"), reason="needs strace")
def test_forks_of_a_burst_are_those_that_strace_sees():
    """pm = dynamic, from 5 workers to 50."""
    manager = ("pm = dynamic\npm.start_servers = 5\npm.min_spare_servers = 5\n"
               "pm.max_spare_servers = 50\n")
    if php.version() >= (8, 1):   # before, the rate is always 32
        manager += "pm.max_spawn_rate = 32"
    strace = [build.find("strace"), "-qq", "-ttt", "-e", "trace=fork,vfork,clone,clone3",
              "-e", "signal=none", "-o", "@ROOT@/trace"]
    with FPM(50, settings=settings(workers_limit=50), manager=manager, wrapper=strace) as fpm:
        wait_until(lambda: len(fpm.workers()) == 5, 10, "the first workers")
        with php.recorded(fpm.board) as archive, Requests(fpm, clients=50, query="us=300000"):
            wait_until(lambda: len(fpm.workers()) == 50, 60, "50 workers")
        board = settled(fpm)
        processes.kill(fpm.pid, signal.SIGTERM)
        fpm.process.wait(30)
        text = (fpm.root / "trace").read_text()
        forked = straced_forks(strip_times(fpm.root / "trace", text))
        assert board["lifecycle"]["forks"]["php"] == 50 == len(forked)
        assert pids(board) == set(forked) and board["workers"]["limit"] == 50
        times = dict(zip(forked, (float(t) for t in re.findall(r"^([\d.]+) \w+\(.*= \d+$", text,
                                                              re.M))))
    events = archive.ask("SELECT * FROM lifecycle WHERE event = 'fork'")
    assert len(events) == 45
    for event in events:
        assert event["kind"] == "php" and event["parent"] == fpm_pid(events)
        # strace's time is that of the call: the event's is the one just before it.
        assert abs(event["time_ns"] / 1e9 - times[event["pid"]]) < 5
        assert 0 < event["duration_ns"] < 5e9


def fpm_pid(events):
    parents = {event["parent"] for event in events}
    assert len(parents) == 1
    return parents.pop()


def strip_times(path, text):
    """As `strace -f` writes it, which test_forks reads: a pid in front of each line."""
    plain = path.with_suffix(".plain")
    plain.write_text(re.sub(r"^[\d.]+ ", "1 ", text, flags=re.M))
    return plain


def test_killed_workers_are_counted_and_their_slots_taken_again():
    with FPM(4, settings=settings(processes=6)) as fpm, Requests(fpm) as load:
        for killed in range(1, 11):
            victim = fpm.workers()[0]
            processes.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(fpm.workers()) == 4 and victim not in fpm.workers(), 10,
                       "another worker")
        load.__exit__()
        board = settled(fpm)
        assert_adds_up(fpm, board)
        assert_none_lost(board, load)
        lifecycle = board["lifecycle"]
        assert lifecycle["exits"] == {"clean": 0, "signal": 0, "killed": 10, "unknown": 0}
        assert lifecycle["requests_unfinished"] > 0
        assert lifecycle["forks"]["php"] == 14


def killed_at_its_request(fpm):
    """Kills the one worker that is at a request; the board before and after."""
    with Requests(fpm, clients=1, query="us=20000000") as load:
        before = wait_until(lambda: (b := tool.status(fpm.board))["workers"]["busy"] == 1 and b,
                            10, "the request to begin")
        load.stopping.set()
        processes.kill(before["slots"][0]["pid"], signal.SIGKILL)
    # Its client has got the error by now: the process has closed its files, and ends.
    assert (load.done, load.lost) == (0, 1)
    wait_until(lambda: not processes.is_alive(before["slots"][0]["pid"]), 10, "its end")
    return before, tool.status(fpm.board)


def test_a_killed_worker_is_not_shown_before_the_master_looks():
    with FPM(2, settings=settings()) as fpm:
        settled(fpm)
        processes.kill(fpm.pid, signal.SIGSTOP)
        try:
            before, after = killed_at_its_request(fpm)
            victim = before["slots"][0]["pid"]
            assert Path(f"/proc/{victim}").exists(), "the master to have buried nobody"
        finally:
            processes.kill(fpm.pid, signal.SIGCONT)
        assert pids(after) == pids(before) - {victim}
        states = [board["workers"]["states"] for board in (before, after)]
        assert (states[0]["handling"], states[1]["handling"]) == (1, 0)
        assert states[0]["idle"] == states[1]["idle"] == 1 and after["workers"]["busy"] == 0
        in_flight = [sum(entry["in_flight"] for entry in board["labels"])
                     for board in (before, after)]
        assert in_flight == [1, 0]
        # What it was at work is a counter.
        worked = [board["workers"]["state_seconds"]["handling"] for board in (before, after)]
        assert worked[0] <= worked[1] and ends(after) == 0 and after["running"] == "yes"
        wait_until(lambda: len(fpm.workers()) == 2 and ends(tool.status(fpm.board)), 10,
                   "another worker")
        board = settled(fpm)
        assert_adds_up(fpm, board)
        assert board["lifecycle"]["exits"]["killed"] == 1
        assert board["lifecycle"]["requests_unfinished"] == 1


def test_recycled_workers_leave_by_themselves():
    """pm.max_requests."""
    with FPM(2, settings=settings(), pool="pm.max_requests = 5") as fpm:
        script = fpm.script("nap.php", NAP)
        for _ in range(40):
            assert php.fastcgi(fpm.socket, script) == (200, "done")
        board = settled(fpm, 40)
        assert_adds_up(fpm, board)
        assert board["lifecycle"]["exits"]["clean"] == ends(board) >= 7
        assert board["lifecycle"]["requests_unfinished"] == 0


def test_a_reload_under_load_keeps_the_board():
    """On USR2 the master executes itself again, and goes on counting."""
    with FPM(4, settings=settings(), master="process_control_timeout = 10") as fpm:
        with Requests(fpm) as load, tool.Scraper(fpm.board) as scraper:
            inode = fpm.board.stat().st_ino
            for reloads in (1, 2, 3):
                enough = load.done + 8
                wait_until(lambda: load.done >= enough, 30, "requests between two reloads")
                fpm.reload()
                assert fpm.board.stat().st_ino == inode
        scraper.check()
        board = settled(fpm, load.done)
        assert_adds_up(fpm, board)
        assert load.done > 20
        assert board["generation"] == board["lifecycle"]["generations"] == 3
        assert board["lifecycle"]["exits"] == {"clean": 12, "signal": 0, "killed": 0, "unknown": 0}
        assert board["lifecycle"]["requests_unfinished"] == 0


def test_a_reload_of_a_daemon_is_one():
    """A master that became a daemon becomes another one on USR2: it makes another board, of the
    next generation."""
    with FPM(2, settings=settings(), master="process_control_timeout = 10", daemon=True) as fpm:
        script = fpm.script("nap.php", NAP)
        assert php.fastcgi(fpm.socket, script) == (200, "done")
        assert tool.status(fpm.board)["generation"] == 0
        for generation in (1, 2):
            master = fpm.pid
            fpm.reload()
            assert php.fastcgi(fpm.socket, script) == (200, "done")
            board = settled(fpm, 1)
            assert fpm.pid != master and board["pid"] == fpm.pid and board["running"] == "yes"
            assert board["generation"] == generation
            assert board["lifecycle"]["generations"] == 1


def test_a_reload_that_waits_for_nobody_kills():
    """process_control_timeout's default."""
    with FPM(4, settings=settings()) as fpm, Requests(fpm, query="us=300000") as load:
        wait_until(lambda: tool.status(fpm.board)["workers"]["busy"] == 4, 10, "all busy")
        fpm.reload()
        load.__exit__()
        board = settled(fpm)
        assert_adds_up(fpm, board)
        assert_none_lost(board, load)
        assert ends(board) == 4


def test_a_stop_is_one_and_a_start_begins_anew():
    with FPM(2, settings=settings()) as fpm:
        script = fpm.script("nap.php", NAP)
        php.fastcgi(fpm.socket, script)
        before = tool.status(fpm.board)
        fpm.stop()
        stopped = tool.status(fpm.board)
        assert (before["running"], stopped["running"]) == ("yes", "no")
        assert stopped["stopped"] > before["started"] and stopped["slots"] == []
        assert ends(stopped) == stopped["lifecycle"]["forks"]["php"] == 2
        name = fpm.board.name
        fpm.start()
        board = settled(fpm, 0)
        assert fpm.board.name == name and board["pid"] == fpm.pid
        assert board["lifecycle"]["forks"]["php"] == 2 and ends(board) == 0


def test_other_commands_of_php_fpm_leave_the_board_alone():
    with FPM(1, settings=settings()) as fpm:
        state = fpm.board.stat()
        for words in (["-t"], ["-i"], ["-v"], ["-m"]):
            done = subprocess.run([build.FPM, *fpm.arguments, *words], text=True,
                                  env=fpm.environment, capture_output=True, timeout=30)
            assert done.returncode == 0 and "mpmstat:" not in done.stdout + done.stderr
        assert (state.st_ino, state.st_size) == (fpm.board.stat().st_ino, fpm.board.stat().st_size)
        assert tool.status(fpm.board)["running"] == "yes"


def test_a_daemon_owns_its_board():
    """The process that was started is gone by then."""
    with FPM(2, settings=settings()) as fpm:
        fpm.stop()
        fpm.board.unlink()
        subprocess.run([build.FPM, "--daemonize", *fpm.arguments], timeout=30, check=True,
                       env=fpm.environment, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: list((fpm.root / "run").glob("fpm-fcgi-*.board")), 15,
                       "the daemon's first worker")
            board = settled(fpm)
            assert board["pid"] == fpm.pid and board["running"] == "yes"
            assert board["lifecycle"]["forks"]["php"] == 2 == len(board["slots"])
        finally:
            master = fpm.pid
            processes.kill(master, signal.SIGTERM)
            wait_until(lambda: not processes.is_alive(master), 15, "the daemon to end")
        assert tool.status(fpm.board)["running"] == "no"


def test_forks_of_a_script_are_told_and_record_nothing(php_boards, tmp_path):
    """Of the command line's PHP, which can fork."""
    script = tmp_path / "fork.php"
    script.write_text("""<?php
        if (!function_exists('pcntl_fork')) exit(77);
        $child = pcntl_fork();
        if ($child === 0) { mpmstat_mark('in the child'); exit(0); }
        pcntl_waitpid($child, $status);
        mpmstat_mark('in the parent');""")
    command = [php.CLI, *php.options(php.settings(php_boards, enable_cli=1)), str(script)]
    if subprocess.run(command, timeout=30).returncode == 77:
        pytest.skip("PHP has no pcntl here")
    with php.recorded(php.board(php_boards, "cli")) as archive:
        subprocess.run(command, timeout=30, check=True)
    board = tool.status(php.board(php_boards, "cli"))
    assert board["lifecycle"]["forks"] == {"child": 0, "request": 2, "helper": 0, "php": 2}
    assert board["lifecycle"]["exits"]["clean"] == 2 == ends(board) == tool.requests(board)
    assert [mark["name"] for mark in archive.ask("SELECT * FROM marks")] == ["in the parent"]


@pytest.mark.skipif(not build.SANITIZE_ADDRESS, reason="of a build with AddressSanitizer")
def test_what_a_sanitizer_says_of_a_worker_fails_the_test():
    with pytest.raises(AssertionError, match="AddressSanitizer"), FPM(1, settings=settings()) as fpm:
        settled(fpm)
        processes.kill(fpm.workers()[0], signal.SIGSEGV)
        wait_until(lambda: ends(tool.status(fpm.board)) == 1, 10, "the worker to end")


def test_more_workers_than_entries_are_counted_all_the_same():
    with FPM(6, settings=settings(processes=2)) as fpm:
        script = fpm.script("nap.php", NAP)
        with Requests(fpm, clients=6) as load:
            wait_until(lambda: load.done > 12, 30, "requests")
        wait_until(lambda: tool.requests(tool.status(fpm.board)) == load.done, 10, "all requests")
        board = tool.status(fpm.board)
        assert load.done > 12 and len(board["slots"]) == 2, script
        assert board["lifecycle"]["forks"]["php"] == 6


@pytest.mark.mpms("event")
def test_apache_goes_on_whatever_happens_to_php(php_server, mpm, fpm_masters, php_boards):
    """Workers are killed, FPM reloads and is started again, under load through Apache: its
    clients get an answer each, an error at worst, and both boards account for all."""
    apache = php_server(mpm, workers=8, threads=8, children=4, settings=php.settings(php_boards))
    apache.allow("proxy_fcgi|proxy:error")
    fpm = fpm_masters[0]
    nap = apache.page("nap.php", "<?php usleep(5000); echo 'done';")
    with clients.Load(apache.port, nap, 4) as load, tool.Scraper(apache.board) as scraper:
        def more():
            served = load.count() + 30
            wait_until(lambda: load.count() >= served, 30, "30 requests more")

        more()
        for _ in range(4):
            victim = fpm.workers()[0]
            processes.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(fpm.workers()) == 4 and victim not in fpm.workers(), 10,
                       "another worker")
        more()
        killed = tool.status(php.board(php_boards, "fpm-fcgi"))["lifecycle"]["exits"]["killed"]
        fpm.reload()
        more()
        fpm.stop()
        more()
        fpm.start()
        more()
    scraper.check()
    answered = Counter(str(outcome.status)[0] + "xx" for outcome in load.good())
    assert not load.bad() and killed == 4 and answered["2xx"] > 60, (load.bad()[:5], answered)
    wait_until(lambda: tool.requests(tool.status(apache.board)) == load.count(), 10,
               lambda: f"all {answered} to be counted: {tool.labels(tool.status(apache.board))}")
    board = tool.status(apache.board)
    recorded = Counter()
    for entry in tool.labels(board):
        recorded.update({name: count for name, count in entry["status"].items() if count})
    assert recorded == answered
    life = board["lifecycle"]
    assert sum(life["exits"].values()) == life["requests_unfinished"] == 0, life
    after = tool.status(php.board(php_boards, "fpm-fcgi"))
    assert after["lifecycle"]["generations"] == 0 and after["running"] == "yes"
    assert sum(entry["in_flight"] for entry in after["labels"]) == 0, after["labels"]
