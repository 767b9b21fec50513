"""Native code in a worker that attacks the board of its server: every request is served as
without it, no process of the server ends, and a restart records again.
"""
import os
import random
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import build
import php
import processes
import tool
from fpm import FPM
from processes import wait_until

LIBRARIES = build.BUILDDIR / "tests" / "integration" / "support" / ".libs"
LOST = "recording has ended"
HELLO = '<?php echo "hello";'
# What a worker of FPM does: the library's chaos(), and how much of it could be done.
CHAOS_PHP = """<?php
$c = FFI::cdef("long chaos(const char *what, const char *board, long seed);", "%s");
echo $c->chaos($_GET["what"], "%s", (int)$_GET["seed"]);
"""


@contextmanager
def small_tmpfs(megabytes):
    """A file system of its own for a board, that can be filled without harm to others."""
    directory = Path(tempfile.mkdtemp(prefix="mpmstat-test-tmpfs-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs",
                    directory], check=True)
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=True)
        directory.rmdir()


class Filler:
    """Takes every block of a file system that becomes free, until it is told to let go."""

    def __init__(self, directory):
        self.path = directory / "filler"
        self.ended = threading.Event()
        self.full = threading.Event()
        self.thread = threading.Thread(target=self.fill)

    def fill(self):
        with open(self.path, "wb", buffering=0) as file:
            while not self.ended.is_set():
                try:
                    file.write(bytes(4096))
                except OSError:
                    self.full.set()
                    self.ended.wait(0.001)

    def __enter__(self):
        self.thread.start()
        assert self.full.wait(60), "the file system does not get full"
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.path.unlink()


class HostileApache:
    """An Apache whose workers do to its board what they are asked to."""

    def __init__(self, server, mpm, board):
        self.apache = server(mpm, f"""
            LoadModule chaos_module {LIBRARIES}/mod_chaos.so
            ChaosBoard "{board}"
            EnableMMAP Off
            MPMStatJournal 1024
            <Location "/chaos">
                SetHandler chaos
            </Location>""", workers=6, threads=3, board=board, log_level="info")
        self.parent, self.board = self.apache.pid, board

    def chaos(self, what, seed=0):
        return int(self.apache.get(f"/chaos?{what}&{seed}").text())

    def serve(self):
        answer = self.apache.get("/index.html")
        assert (answer.status, answer.text()) == (200, "<h1>hello</h1>\n")

    def restart(self):
        self.apache.restart()

    def log_lines(self, pattern):
        return self.apache.log_lines(pattern)

    def allow_loss(self):
        self.apache.allow(LOST)


class HostileFPM:
    """The same of an FPM."""

    def __init__(self, fpm, board):
        self.fpm, self.parent, self.board = fpm, fpm.pid, board
        self.hello = fpm.script("hello.php", HELLO)
        self.script = fpm.script("chaos.php", CHAOS_PHP % (LIBRARIES / "chaos.so", board))

    def chaos(self, what, seed=0):
        status, text = php.fastcgi(self.fpm.socket, self.script,
                                   QUERY_STRING=f"what={what}&seed={seed}")
        assert status == 200, text
        return int(text)

    def serve(self):
        assert php.fastcgi(self.fpm.socket, self.hello) == (200, "hello")

    def restart(self):
        self.fpm.reload()

    def log_lines(self, pattern):
        return [line for line in self.fpm.log_text().splitlines() if pattern in line]

    def allow_loss(self):
        pass


@pytest.fixture
def tmpfs(as_root):
    with small_tmpfs(16) as directory:
        yield directory


@pytest.fixture(params=["prefork", "worker", "event", "fpm"])
def hostile(request, server, tmpfs):
    board = tmpfs / "test.board"
    if request.param != "fpm":
        if request.param not in (request.config.getoption("mpm") or [request.param]):
            pytest.skip("another MPM was asked for")
        yield HostileApache(server, request.param, board)
        return
    if php.why_not_fpm():
        pytest.skip(php.why_not_fpm())
    settings = {**php.settings("@ROOT@/run", journal=1024), "mpmstat.board": board,
                "ffi.enable": 1}
    with FPM(4, settings=settings, pool="catch_workers_output = yes",
             master="process_control_timeout = 10s") as fpm:
        yield HostileFPM(fpm, board)
        assert not [line for line in fpm.log_text().splitlines() if "exited on signal" in line]


def assert_lives(hostile):
    assert processes.is_alive(hostile.parent)
    for _ in range(20):
        hostile.serve()


def assert_records(hostile):
    """As a new server: what is asked of it is on its board."""
    def recorded():
        return tool.requests(tool.status(hostile.board))
    before = recorded()
    for _ in range(10):
        hostile.serve()
    wait_until(lambda: recorded() >= before + 10, 30, lambda: f"10 more than {before} requests")


def descriptors_of(pid, path):
    """What /proc says of each descriptor of the file that a process has open."""
    return [processes.read(pid, f"fdinfo/{fd}").decode()
            for fd, target in processes.open_files(pid).items() if target == str(path)]


def test_no_process_can_change_the_size_of_the_board(hostile):
    for pid in [hostile.parent, *processes.children(hostile.parent)]:
        for information in descriptors_of(pid, hostile.board):
            flags = int(information.split("flags:")[1].split()[0], 8)
            assert flags & os.O_ACCMODE == os.O_RDONLY, f"pid {pid}: {information}"
    size = hostile.board.stat().st_size
    assert hostile.chaos("truncate") == 0
    assert hostile.board.stat().st_size == size
    assert_lives(hostile)
    assert_records(hostile)


def test_after_a_restart_neither(hostile):
    hostile.restart()
    hostile.serve()
    for pid in [hostile.parent, *processes.children(hostile.parent)]:
        for information in descriptors_of(pid, hostile.board):
            assert int(information.split("flags:")[1].split()[0], 8) & os.O_ACCMODE == os.O_RDONLY
    assert hostile.chaos("truncate") == 0
    assert_records(hostile)


def punch(hostile):
    """A worker takes the board's pages away: the server lives on, the log says that recording has
    ended, and no reader knows the file any more."""
    hostile.serve()
    assert hostile.chaos("punch") == 1
    assert_lives(hostile)
    wait_until(lambda: (hostile.serve(), hostile.log_lines(LOST))[1], 60,
               "the log to say that recording has ended")
    said = tool.run("status", hostile.board)
    assert said.returncode == 3 and "board" in said.stderr, said
    hostile.allow_loss()
    assert_lives(hostile)


def begin_again(hostile):
    hostile.restart()
    assert_lives(hostile)
    assert_records(hostile)


def test_a_board_that_lost_its_pages_to_a_full_file_system(hostile):
    hostile.serve()
    with Filler(hostile.board.parent):
        punch(hostile)
    begin_again(hostile)
    assert len(hostile.log_lines(LOST)) == 1


def test_a_board_that_lost_its_pages_while_there_is_room(hostile):
    """They come back as zeroes: no access fails."""
    punch(hostile)
    begin_again(hostile)
    assert len(hostile.log_lines(LOST)) == 1


def test_a_worker_that_unmaps_the_board(hostile):
    assert hostile.chaos("unmap") == 1
    wait_until(lambda: (hostile.serve(), hostile.log_lines(LOST))[1], 60,
               "the log to say that recording has ended")
    hostile.allow_loss()
    assert_lives(hostile)
    begin_again(hostile)


class Load:
    """Requests by several clients at once, for as long as the block runs; each must be served."""

    def __init__(self, hostile, clients=3):
        self.hostile, self.failures, self.served = hostile, [], 0
        self.ended = threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(clients)]

    def run(self):
        while not self.ended.is_set():
            try:
                self.hostile.serve()
                self.served += 1
            except Exception as error:      # pylint: disable=broad-except
                self.failures.append(repr(error))
                return

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()


TURNS = 30 + int(os.environ.get("MPMSTAT_SOAK_SECONDS", "0"))


def test_chaos(hostile):
    """Workers do all they can to the board, under load, while readers read it and the server is
    restarted."""
    choice = random.Random(1)
    hostile.allow_loss()
    with Load(hostile) as load:
        for turn in range(TURNS):
            for seed in range(20):
                hostile.chaos(choice.choice(["scribble"] * 6 + ["punch", "truncate", "unmap"]),
                              turn * 20 + seed)
            said = tool.run("status", hostile.board)
            assert said.returncode in (0, 3), said
            if turn % 5 == 4:
                hostile.restart()
    assert not load.failures and load.served > TURNS, load.failures
    hostile.restart()
    assert_lives(hostile)
