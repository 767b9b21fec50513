"""The mistakes that people make: each message names the thing, and what to do next."""
import fcntl
import http.server
import os
import pty
import shutil
import socket
import sqlite3
import subprocess
import termios
import threading

import pytest

import boards
import build
import tool
from tool import fails

NOBODY = 65534

# What is in {braces} is made by the fixtures below. The last words are all in the message.
COMMANDS = [
    # the command line
    ("recrod", 2, 'no verb "recrod"; the nearest is "record"'),
    ("status --formt json", 2, "--formt is not an option; the nearest is --format"),
    ("status --formt=json", 2, "the nearest is --format"),
    ("report --otuput x", 2, "--otuput is not an option; the nearest is --output", "report --help"),
    ("compare --fial-if-slower 5 a b", 2, "the nearest is --fail-if-slower"),
    ("fields --frmat md", 2, "the nearest is --format"),
    ("explain --lats 5m", 2, "the nearest is --last"),
    ("record --repat 3 -- true", 2, "--repat is not an option; the nearest is --repeat"),
    ("record --requests 3 -- true", 2, "--requests is not an option", "go after its name"),
    ("record -n 100 ab", 2, "-n is not an option"),
    ("record --repeat 0 -- true", 2, '--repeat takes a whole number from 1 to 1000, not "0"'),
    ("record --name a --name b -- true", 2, "one command, and --name was given 2 times"),
    ("record --interleave --name a --name a -- true --versus true", 2, 'name "a" is given twice'),
    ("record --", 2, "the load tool's command is missing after --"),
    ("record -- true --versus true", 2, "--versus goes with --interleave",
     "record --interleave -- A --versus B"),
    ("record --versus -- true", 2, "--versus stands between two commands"),
    ("record --interleave -- true --versus", 2, "no command behind --versus"),
    ("record --interleave -- --versus true", 2, "no command before --versus"),
    ("record --interleave -- true", 2, "several commands with --versus between them"),
    ("fields workres", 2, "no metric has", "workers"),
    ("report", 2, "the archives to report: files that mpmstat record has made"),
    ("compare {archive}", 2, "two things to compare"),
    # archives
    ("report {dir}/none.db", 3, "none.db: No such file", "mpmstat record makes archives"),
    ("compare {dir}/none.db {archive}", 3, "none.db: No such file", "mpmstat record makes"),
    ("report {dir}/page.html", 3, "page.html is not an archive", "a page (HTML or XML)",
     "a file that mpmstat record has written"),
    ("report {dir}/text", 3, "text is not an archive", "a file that mpmstat record has written"),
    ("report {dir}/empty.db", 3, "empty.db is empty: there is no run in it"),
    ("report {dir}", 3, "newer.db has schema version 999"),   # the first bad one in it
    ("report {board}", 3, "a server's board, which mpmstat status shows"),
    ("report {newer}", 3, "schema version 999", "a newer mpmstat"),
    ("report --run three {archive}", 3, 'no run "three"', 'runs called "one", "two"'),
    ("compare {archive}#three {archive}#one", 3, 'no run "three"', 'called "one", "two"'),
    ("compare {archive} {archive}", 3, '("one", "two"): say which with FILE#NAME'),
    ("report -o {dir}/no/such/report.html {archive}", 4, "no/such/report.html: No such",
     "make it first"),
    ("report -o {dir} {archive}", 4, "Is a directory"),
    ("report -o /dev/full {archive}", 4, "/dev/full: No space left on device"),
    # servers
    ("status localhost", 3, "begin it with http:// (http://localhost/mpm-status)"),
    ("status www.example.org", 3, "http://www.example.org/mpm-status"),
    ("status 127.0.0.1:8080/mpm-status", 3, "(http://127.0.0.1:8080/mpm-status)"),
    ("status ftp://localhost/", 3, "only http:// and https://"),
    ("status {dir}/none.board", 3, "no such file or directory; expected a board file"),
    ("status {archive}", 3, "an SQLite file (mpmstat report shows archives)"),
    ("status {dir}", 3, "no board in this directory"),
    ("record -o {dir}/new.db -t localhost -- true", 3, "http://localhost/mpm-status"),
    ("record -o {dir}/new.db -t {board} -- no-such-tool", 1, "cannot run no-such-tool", "in PATH"),
    ("record -o {dir}/new.db -t {board} -- http://localhost/", 1,
     "expected a command, found the URL", "ab -n 1000 -c 10 http://localhost/"),
    ("record -o {dir}/no/such/run.db -t {board} -- true", 4, "no/such/run.db: No such file",
     "Name a file that can be written (-o)"),
    ("record -o {dir} -t {board} -- true", 4, "a directory: name a file in it"),
    # answers of a URL
    ("status {url}/404", 3, "not found (404)", "<Location /mpm-status> SetHandler mpm-status"),
    ("status {url}/403", 3, "local only (403)", "on the server itself"),
    ("status {url}/401", 3, "wants a password (401)", "~/.netrc"),
    ("status {url}/500", 3, "answered 500", "error log says why"),
    ("status {url}/400", 3, "answered 400", "begins with https://"),
    ("status {url}/301", 3, "redirects (301) to https://elsewhere/", "name that URL"),
    ("status {url}/200", 3, "found text/html: this is not mpmstat's status"),
    ("status https://127.0.0.1:{port}/mpm-status", 3, "TLS handshake failed", "begins with http://"),
    ("status http://127.0.0.1:{closed}/mpm-status", 3, "connection refused", "is this its port?"),
    ("status http://nowhere.invalid/mpm-status", 3, "no host of this name", "spelt right"),
    ("status --timeout 0.2 http://127.0.0.1:{silent}/", 3, "no complete answer within 0.2 s",
     "the board file"),
]


# What httpd answers to plain HTTP on a port for TLS.
PLAIN_TO_TLS = (b"<p>Your browser sent a request that this server could not understand.<br />\n"
                b"Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />\n")


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers /NUMBER with that status and a page."""

    def do_GET(self):
        status = int(self.path.split("?")[0].strip("/"))
        self.send_response(status)
        if status == 301:
            self.send_header("Location", "https://elsewhere/")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html>" + (PLAIN_TO_TLS if status == 400 else b""))

    def log_message(self, *_):
        pass


def record(archive, board, name):
    done = tool.run("record", "-o", archive, "-t", board, "--name", name, "--", "true", timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("messages")
    names = {"dir": directory, "archive": directory / "run.db", "newer": directory / "newer.db"}
    (directory / "page.html").write_text("<!doctype html>\n")
    (directory / "text").write_text("text\n" * 500)
    (directory / "empty.db").touch()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with boards.board(3) as board, socket.socket() as closed, socket.socket() as silent:
        record(names["archive"], board.path, "one")
        record(names["archive"], board.path, "two")
        shutil.copy(names["archive"], names["newer"])
        with sqlite3.connect(names["newer"]) as db:
            db.execute("PRAGMA user_version = 999")
        db.close()
        closed.bind(("127.0.0.1", 0))    # and never listens
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        names.update(board=board.path, port=server.server_port, closed=closed.getsockname()[1],
                     silent=silent.getsockname()[1], url=f"http://127.0.0.1:{server.server_port}")
        yield names
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("command, status, words", [(row[0], row[1], row[2:]) for row in COMMANDS],
                         ids=[row[0] for row in COMMANDS])
def test_a_mistake(made, command, status, words):
    arguments = [word.format(**made) for word in command.split()]
    done = fails(tool.run(*arguments, stdin=subprocess.DEVNULL), status, *words)
    assert done.stdout == ""


def test_no_server_at_all(tmp_path):
    fails(tool.run("record", "-o", tmp_path / "run.db", "--", "true",
                   env={"PATH": "/usr/bin", "MPMSTAT_RUNDIR": str(tmp_path)}), 3,
          "no board found in", "Is a server with mpmstat running?", "its status URL")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it becomes another user")
def test_no_permission(made):
    fails(tool.run("status", made["board"], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/"), 3,
          str(made["board"]), "may not be read by this user (permission denied)", "Use sudo")


def test_a_command_in_quotes(made):
    fails(tool.run("record", "-o", made["dir"] / "new.db", "-t", made["board"], "--",
                   "ab -n 10 http://localhost/"), 1,
          "the quotes make one word of the whole command",
          "Quote only the URL: mpmstat record -- ab -n 10 http://localhost/")


def test_a_command_behind_two_dashes(made):
    done = tool.run("record", "-o", made["dir"] / "twice.db", "-t", made["board"], "--interleave",
                    "--", "true", "--versus", "--", "true", timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_recording_without_a_load(made):
    done = tool.run("record", "-o", made["dir"] / "idle.db", "-t", made["board"], "--timeout", "1",
                    timeout=60)
    assert done.returncode == 0 and "no request came while this was recorded" in done.stdout
    assert "load" not in done.stdout, done.stdout


@pytest.mark.parametrize("url, warned", [("http://127.0.0.1:1/page?a=1", True),
                                         ("http://127.0.0.1:1/page", False)])
def test_a_url_that_the_shell_has_cut(made, url, warned):
    """An & without quotes: the shell starts what is before it in the background."""
    ours, its = pty.openpty()
    with subprocess.Popen(
            ["bash", "-ic", f"{build.TOOL} record -o {made['dir']}/cut.db -t {made['board']} -- "
             f"true {url}&b=2; wait"], stdin=its, stdout=its, stderr=its, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(its, termios.TIOCSCTTY, 0)) as shell:
        os.close(its)
        text = ""
        try:
            while some := os.read(ours, 65536):
                text += some.decode()
        except OSError:      # EIO: no process has the terminal
            pass
        shell.wait(timeout=60)
    os.close(ours)
    text = " ".join(text.split())
    assert ("put the URL in quotes" in text) == warned, text
    assert f" of {made['dir']}/cut.db, " in text, text


def test_a_stopped_server_is_no_mistake(tmp_path):
    """A board that was left over is shown, and says that its server does not run."""
    left = tmp_path / "left.board"
    with boards.board(3) as board:
        shutil.copy(board.path, left)
    done = tool.run("status", "--brief", left)
    assert done.returncode == 0 and "\n  Running       no, started " in done.stdout
