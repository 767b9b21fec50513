"""mpmstat top in a terminal of tmux: stuck servers, restarts, ends; keys; what it leaves behind."""
import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
from contextlib import contextmanager

import pytest

import boards
import build
import php
import tool
from processes import wait_until
from recording import ask

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")
WORKERS = 25
# What a terminal gets for a colour, but for that of before (39, 49).
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:[34][0-8]|9[0-7])(?:;\d+)*m")


class Terminal:
    """A terminal of 80x24 with a shell in it, which runs in `directory`."""

    def __init__(self, directory, shell="sh"):
        self.socket = directory / "tmux"
        environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "PS1": "READY ",
                       "LC_ALL": "C.UTF-8", "TZ": "UTC", "SHELL": "/bin/sh", "TERM": "screen"}
        subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d",
                        "-x", "80", "-y", "24", "-c", directory, "env", "-i",
                        *(f"{name}={value}" for name, value in environment.items()),
                        *shell.split()],
                       env={**os.environ, "LC_ALL": "C.UTF-8"}, check=True, timeout=30)

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], check=True, timeout=30,
                              capture_output=True).stdout.decode(errors="surrogateescape")

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def key(self, *names):
        self.tmux("send-keys", *names)

    def shows(self, *texts, seconds=60):
        """Waits until all of these are on the screen; returns it."""
        def there():
            shown = self.text()
            return shown if all(text in shown for text in texts) else None
        return wait_until(there, seconds, lambda: f"{texts} on the screen:\n{self.text()}")

    def shows_no(self, text):
        wait_until(lambda: text not in self.text(), 60, lambda: f"no {text}:\n{self.text()}")

    def run(self, *words, settings=""):
        """Runs mpmstat top; the shell tells its end."""
        self.type(f"{settings} {build.TOOL} top {shlex.join(map(str, words))}; echo ENDED=$?\n")
        self.shows("mpmstat top  ")

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], timeout=30, capture_output=True)


@contextmanager
def opened(directory, **options):
    terminal = Terminal(directory, **options)
    try:
        yield terminal
    finally:
        terminal.close()


@pytest.fixture
def terminal():
    """In a short path: that of a socket has at most 108 bytes."""
    with boards.runtime_directory() as directory, opened(directory) as made:
        made.directory = directory
        yield made


@contextmanager
def stuck(server):
    """A worker MPM all of whose workers wait for a backend that says nothing."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1024)
        apache = server("worker", 'MPMStatPaths On\nProxyPass "/stuck" "http://127.0.0.1:%d/"'
                        % silent.getsockname()[1], modules=["proxy", "proxy_http"],
                        workers=WORKERS, threads=WORKERS)
        apache.allow(r"\[proxy")
        connections = []
        try:
            for _ in range(WORKERS):
                connections.append(apache.connect(timeout=5))
                connections[-1].send_request("/stuck")
            yield apache
        finally:
            for connection in connections:
                connection.close()


def test_a_stuck_server(server, terminal):
    with stuck(server) as apache:
        terminal.run(apache.board)
        shown = terminal.shows(f"{WORKERS} of {WORKERS} busy: ALL", f"{WORKERS} handling", "/stuck",
                               "none has taken a request for")
    assert re.search(r"^ 1 +\d+ handling +[\d.]+ m?s .*/stuck$", shown, re.M), shown
    assert shown.splitlines()[1].startswith(f"Apache is stuck: all of its {WORKERS} workers are")
    terminal.type("q")
    terminal.shows("ENDED=0")


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_what_php_waits_for(php_server, fpm_masters, terminal):
    apache = php_server("event", workers=50, children=3, settings=php.settings("@ROOT@/run"))
    apache.page("nap.php", "<?php sleep(3600);")
    connections = []
    try:
        for _ in range(5):    # two of them wait for a worker
            connections.append(apache.connect(timeout=60))
            connections[-1].send_request("/nap.php")
        terminal.run(apache.board, fpm_masters[-1].board)
        shown = terminal.shows("3 of 3 busy: ALL", "waiting now: sleep 3")
        assert re.search(r"^ 2  \S+ +3/3 +5 ", shown, re.M), shown
        assert " 5 handling  5 wanted  " in shown, shown
        # 80 by 24: who is stuck, on what; PHP's requests, then Apache's, which wait for the same.
        # Before, Apache's can be the longer ones.
        shown = terminal.shows("PHP is stuck: all of its 3 workers wait for sleep, ").split("\n")
        assert shown[1].startswith("PHP is stuck") and len(shown[:24]) == 24
        rows = re.findall(r"^ ([12]) +\d+ handling .* (sleep), [\d.]+ m?s", "\n".join(shown), re.M)
        assert rows[:4] == [("2", "sleep")] * 3 + [("1", "sleep")], shown
    finally:
        for connection in connections:
            connection.close()


def test_it_follows_restarts_and_tells_the_end(server, terminal):
    apache = server("event", workers=50)
    # Apache's end ends every process that has its directory among its arguments.
    (terminal.directory / "here").symlink_to(apache.board.parent)
    terminal.run(f"here/{apache.board.name}")
    terminal.shows("50 idle")
    apache.restart()
    terminal.shows("restarted: generation 1")
    apache.stop()
    terminal.shows("GONE since", "has stopped", " 1! apache event")
    apache.log.unlink()    # in which it would find itself ready
    apache.start()
    terminal.shows("was started: pid ", " 1  apache event", "50 idle")
    apache.get("/index.html")
    children = apache.children()
    os.kill(apache.pid, signal.SIGKILL)
    for child in children:
        os.kill(child, signal.SIGKILL)
    shown = terminal.shows("GONE since", "is gone: it was killed")
    assert "its last figures are marked !" in shown and "50 idle" in shown
    terminal.type("q")
    terminal.shows("ENDED=0")


def test_a_url_says_what_it_cannot_show(server, terminal):
    apache = server("event", workers=50)
    terminal.run(f"http://127.0.0.1:{apache.port}/mpm-status")
    shown = terminal.shows("0 of 50 busy", "(a URL has no p99)")
    assert "handler" not in shown    # what asks is not load
    for _ in range(20):
        assert apache.get("/index.html").status == 200
    terminal.shows("handler  default-handler")
    apache.stop()
    terminal.shows("NOT READ since", " 1! apache event")


def test_80_by_24_without_colours(terminal):
    with boards.board(20, php="php.board") as board:
        for settings in ("TERM=vt100", "TERM=xterm-256color NO_COLOR=1"):
            terminal.run(board.path, board.php, settings=settings)
            terminal.shows("1 of 8 busy", "1 of 5 busy", "q quit")
            shown = terminal.text("-e")
            assert not COLOUR.search(shown), repr(shown)
            assert "\x1b[7m" in shown    # the title is marked by other means
            lines = terminal.text().splitlines()
            assert len(lines) == 24 and max(map(len, lines)) <= 80
            terminal.type("q")
            terminal.shows("ENDED=0")
            terminal.type("clear\n")
            terminal.shows_no("ENDED")
        terminal.run(board.path, settings="TERM=xterm-256color")
        terminal.shows("1 of 8 busy", "q quit")
        wait_until(lambda: COLOUR.search(terminal.text("-e")), 60, "colours")


def test_keys(terminal):
    with boards.board(20, php="php.board") as board:
        terminal.run("-d", "0.1", board.path, board.php)
        terminal.shows("IN FLIGHT", "by longest", "fcgi://localhost")
        terminal.type("s")
        terminal.shows("by longest wait")
        terminal.key("Tab")
        terminal.shows(">   LABEL by in flight")
        terminal.key("Tab")
        terminal.shows(">   KIND     OTHER END by at once", "redis 127.0.0.1:6379")
        terminal.type("/mysql")
        terminal.key("Enter")
        terminal.shows('only "mysql"', "mysql 127.0.0.1:3306")
        terminal.shows_no("redis 127.0.0.1:6379")
        terminal.key("Escape")
        terminal.shows("redis 127.0.0.1:6379")
        terminal.type("h")
        terminal.shows("quit; a recording is ended properly")
        terminal.type("h")
        terminal.shows("1 of 8 busy")


def test_a_pause(terminal):
    """What is served meanwhile is shown when it goes on."""
    with boards.board() as board:
        terminal.run("-d", "0.1", board.path)
        terminal.shows(" 1  www")
        terminal.type("p")
        clock = terminal.shows("PAUSED").splitlines()[0]
        board.serve(1)
        board.stop()
        assert terminal.text().splitlines()[0] == clock
        assert "GONE" not in terminal.text()
        terminal.type(" ")
        terminal.shows("GONE since")


def test_a_new_size(terminal):
    with boards.board() as board:
        terminal.run(board.path)
        terminal.shows("1 of 8 busy")
        terminal.tmux("resize-window", "-x", "100", "-y", "30")
        wait_until(lambda: [line for line in terminal.text().splitlines()[29:]
                            if line.startswith("q quit")], 60, "30 lines")
        assert len(terminal.text("-e", "-N").splitlines()[0]) >= 100


def test_the_terminal_is_as_before(terminal):
    """However it ends."""
    with boards.board() as board:
        terminal.type("stty -a >before\n")
        for end in ("q", "C-c"):
            terminal.run(board.path)
            terminal.shows("1 of 8 busy")
            terminal.key(end)
            terminal.shows("ENDED=0" if end == "q" else "ENDED=130")
            terminal.type("stty -a >after; clear\n")
            terminal.shows_no("ENDED")
            wait_until((terminal.directory / "after").exists, 60, "the settings")
            assert (terminal.directory / "after").read_text() == \
                (terminal.directory / "before").read_text()
            (terminal.directory / "after").unlink()


def test_it_can_be_stopped_and_go_on():
    with boards.runtime_directory() as directory, boards.board() as board, \
            opened(directory, shell="env HISTFILE= bash --norc -i") as terminal:
        terminal.type(f"{build.TOOL} top {board.path}\n")
        terminal.shows("1 of 8 busy")
        terminal.key("C-z")
        terminal.shows("Stopped")
        terminal.type("fg\n")
        terminal.shows("1 of 8 busy", "q quit")
        terminal.type("q")
        terminal.shows("READY ")


def test_a_recording_by_key(terminal):
    with boards.board() as board:
        terminal.run(board.path)
        terminal.shows("1 of 8 busy")
        terminal.type("r")
        terminal.shows("recording into mpmstat-", "r ends it")
        [archive] = wait_until(lambda: list(terminal.directory.glob("mpmstat-*.db")), 60, "a file")

        def has_some():
            board.serve(1)
            try:
                return ask(archive, "SELECT count(*) FROM server_requests")[0][0]
            except sqlite3.OperationalError:   # not made yet
                return 0
        wait_until(has_some, 60, "requests in the archive")
        terminal.type("r")
        terminal.shows(f"recorded: mpmstat report {archive.name}")
        assert ask(archive, "SELECT outcome FROM runs") == [("complete",)]
        assert ask(archive, "SELECT count(*) FROM server_requests")[0][0] > 0


def test_the_end_ends_the_recording(terminal):
    with boards.board() as board:
        terminal.run(board.path)
        terminal.shows("1 of 8 busy")
        terminal.type("r")
        [archive] = wait_until(lambda: list(terminal.directory.glob("mpmstat-*.db")), 60, "a file")
        wait_until(lambda: tables(archive) and ask(archive, "SELECT count(*) FROM samples")[0][0],
                   60, "samples")
        terminal.type("q")
        terminal.shows("ENDED=0", "recorded: mpmstat report")
        assert ask(archive, "SELECT outcome FROM runs") == [("complete",)]


def tables(archive):
    try:
        return ask(archive, "SELECT name FROM sqlite_master WHERE name = 'samples'")
    except sqlite3.OperationalError:
        return []


def test_a_hostile_label(terminal):
    """What would set the terminal's title, clear it, or turn the line around."""
    with boards.board(3) as board:
        content = board.path.read_bytes()
        at = content.index(b"www\0" + bytes(8))
        with open(board.path, "r+b") as file:
            file.seek(at)
            file.write(b"\x1b]0;owned\x07\x1b[2J\xff\xe2\x80\xae\xc3\x28")
        terminal.run(board.path)
        shown = terminal.shows("?]0;owned??[2J???(")
        assert shown.splitlines()[0].startswith("mpmstat top  ")
        assert terminal.tmux("display-message", "-p", "#{pane_title}").strip() != "owned"


def test_without_a_terminal(tmp_path):
    with boards.board() as board:
        tool.fails(tool.run("top", board.path), 2, "--batch", "mpmstat status")
        done = tool.run("top", "--batch", "-n", "2", "-d", "0.1", board.path)
    assert (done.returncode, done.stderr) == (0, "")
    frames = done.stdout.split("\n\n")
    assert len([frame for frame in frames if frame.startswith("mpmstat top  ")]) == 2
    assert "1 of 8 busy" in done.stdout and "\x1b" not in done.stdout
    tool.fails(tool.run("top", "--batch", tmp_path / "none"), 3, "no such file")


def test_a_reader_that_has_seen_enough():
    """As `head`, which ends while the output goes on: no message, and the command ends, too."""
    with boards.board() as board:
        reading, writing = os.pipe()
        with subprocess.Popen([build.TOOL, "top", "--batch", "-d", "0.1", board.path],
                              stdout=writing, stderr=subprocess.PIPE, text=True) as top:
            os.close(writing)
            os.read(reading, 100)
            os.close(reading)
            said = top.communicate(timeout=30 * tool.PATIENCE)[1]
    assert (top.returncode, said) == (4, "")


@pytest.mark.parametrize("words", [("-d", "0"), ("-d", "x"), ("-n", "0"), ("-n", "-1"),
                                   ("--frob",)])
def test_wrong_usage(words):
    tool.fails(tool.run("top", *words), 2, "See mpmstat top --help")


@pytest.mark.skipif(build.SANITIZE_ADDRESS,
                    reason="curses keeps what it made for a terminal that it does not know")
def test_an_unknown_terminal(terminal):
    with boards.board() as board:
        terminal.type(f"TERM=none-such {build.TOOL} top {board.path}; echo ENDED=$?\n")
        shown = terminal.shows("ENDED=2")
    assert "TERM=none-such" in shown
