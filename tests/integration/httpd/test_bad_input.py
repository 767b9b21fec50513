"""What can go wrong when the board is made: each a sentence, and the server serves."""
import grp
import os
import socket
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import backend
import clients
import processes
import tool
from apache import assert_serves_unrecorded
from phases import CGI, cgi_module
from processes import wait_until


@contextmanager
def tmpfs(size, *options):
    """A tmpfs of that size, mounted on a fresh directory; root only."""
    directory = Path(tempfile.mkdtemp(prefix="mpmstat-test-tmpfs-"))
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(directory)],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        directory.rmdir()
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield directory
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)
        directory.rmdir()


def test_missing_board_directory(server, mpm):
    apache = server(mpm, board="/nonexistent-mpmstat-test/deeper/mpmstat.board")
    assert_serves_unrecorded(apache, "/nonexistent-mpmstat-test/deeper/mpmstat.board",
                             "No such file or directory")
    apache.restart()
    assert apache.get("/").status == 200


def test_board_directory_is_a_file(server, mpm):
    with tempfile.NamedTemporaryFile() as file:
        apache = server(mpm, board=file.name + "/mpmstat.board")
        assert_serves_unrecorded(apache, "Not a directory")


def test_unwritable_board_directory(server, mpm, as_root):
    """Root may write anywhere but on what is mounted read-only."""
    with tmpfs("1m") as directory:
        subprocess.run(["mount", "-o", "remount,ro", str(directory)], check=True)
        apache = server(mpm, board=directory / "mpmstat.board")
        assert_serves_unrecorded(apache, "Read-only file system")
        apache.stop()


def test_full_tmpfs(server, mpm, as_root):
    """No room for the board: no child may meet a SIGBUS, and nothing is left behind."""
    with tmpfs("1m") as directory:
        apache = server(mpm, board=directory / "mpmstat.board")
        assert_serves_unrecorded(apache, "No space left on device")
        assert list(directory.iterdir()) == [], "something was left behind"
        told = clients.ab(apache.port, "/index.html", 500, 10)
        assert told["complete"] == 500 and told["non_2xx"] == 0, told["text"]
        apache.stop()


def test_tmpfs_that_fills_up_later(server, mpm, as_root):
    """All of the board was allocated at the start: recording goes on."""
    with tmpfs("40m") as directory:
        apache = server(mpm, "MPMStatJournal 4096", board=directory / "mpmstat.board")
        with open(directory / "filler", "wb", buffering=0) as filler:
            with pytest.raises(OSError):
                while True:
                    filler.write(b"x" * 65536)
        told = clients.ab(apache.port, "/index.html", 6000, 10)
        assert told["complete"] == 6000 and told["non_2xx"] == 0, told["text"]
        wait_until(lambda: tool.requests(tool.status(apache.board)) == 6000, 5, "6000 requests")
        apache.stop()


@pytest.mark.parametrize("line, words", [
    ("MPMStat Maybe", ["MPMStat", "On or Off"]),
    ("MPMStatJournal many", ["MPMStatJournal", "whole number", '"many"']),
    ("MPMStatJournal -1", ["MPMStatJournal", "whole number"]),
    ("MPMStatJournal 99999999999999999999", ["MPMStatJournal", "whole number"]),
    ("MPMStatJournal 1e6", ["MPMStatJournal", "whole number"]),
    ("MPMStatMaxLabels 1", ["MPMStatMaxLabels", "from 2 to"]),
    ("MPMStatMaxLabels 100000", ["MPMStatMaxLabels", "from 2 to"]),
    ("MPMStatTenantLabels -1", ["MPMStatTenantLabels", "from 0 to"]),
    ("MPMStatTenantLabels 1025", ["MPMStatTenantLabels", "from 0 to 1024"]),
    ("<Directory />\nMPMStatTenantLabels 1\n</Directory>", ["MPMStatTenantLabels", "not allowed"]),
    ('MPMStatLabel ""', ["MPMStatLabel"]),
    ('MPMStatLabel "a b"', ["MPMStatLabel", '"a b"']),
    (f"MPMStatLabel {'x' * 64}", ["MPMStatLabel", "63"]),
    ("MPMStatPaths Sometimes", ["MPMStatPaths", "On or Off"]),
    ('MPMStatBoard ""', ["MPMStatBoard"]),
    (f"MPMStatBoard /{'x' * 600}", ["MPMStatBoard", "at most"]),
    ("<Directory />\nMPMStatBoard /tmp/x\n</Directory>", ["MPMStatBoard", "not allowed"])],
    ids=lambda value: value.splitlines()[0][:30] if isinstance(value, str) else "")
def test_wrong_directive_values_fail_the_configtest(line, words):
    from apache import Apache
    apache = Apache("event", line)
    try:
        code, said = apache.configtest()
    finally:
        apache.remove()
    assert code != 0, f"{line} was accepted: {said}"
    assert "Syntax error on line" in said or "AH00526" in said, said
    assert all(word in said for word in words), said


def test_right_directive_values_pass_the_configtest():
    from apache import Apache
    apache = Apache("event", "MPMStat On\nMPMStatJournal 1024\nMPMStatMaxLabels 2\n"
                             "MPMStatPaths On\nMPMStatLabel shop:cart/v1.2_x-y\n"
                             "MPMStatBoard relative.board\n")
    try:
        code, said = apache.configtest()
        assert code == 0, said
        assert not list((apache.root / "run").glob("*.board*")), "a configtest made a board"
    finally:
        apache.remove()


def test_two_servers_two_boards(server, mpm):
    first, second = server(mpm), server(mpm)
    for _ in range(3):
        first.get("/")
    second.get("/")
    wait_until(lambda: (tool.requests(first.status()), tool.requests(second.status())) == (3, 1),
               5, "three and one")
    assert tool.status(first.board)["pid"] == first.pid
    assert tool.status(second.board)["pid"] == second.pid


def test_a_second_server_on_the_same_board(server, mpm):
    """It must not take the first one's board; it serves, unrecorded."""
    first = server(mpm)
    first.get("/")
    second = server(mpm, f'MPMStatBoard "{first.board}"')
    assert_serves_unrecorded(second, str(first.board), str(first.pid))
    first.get("/")
    wait_until(lambda: tool.requests(tool.status(first.board)) == 2, 5, "its own two requests")
    second.stop()
    assert first.get("/").status == 200
    assert tool.status(first.board)["running"] == "yes"


def test_a_file_that_is_no_board_is_not_replaced(server, mpm):
    """A mistyped MPMStatBoard must not cost anybody a file."""
    with tempfile.TemporaryDirectory() as directory:
        precious = Path(directory) / "precious"
        precious.write_text("do not lose me\n" * 1000)
        apache = server(mpm, board=precious)
        assert_serves_unrecorded(apache, str(precious))
        assert precious.read_text() == "do not lose me\n" * 1000
        apache.stop()
        assert precious.exists()


@pytest.mark.parametrize("kind", ["symlink", "fifo", "directory"])
def test_a_place_that_is_no_file(server, kind):
    with tempfile.TemporaryDirectory() as directory:
        place, target = Path(directory) / "mpmstat.board", Path(directory) / "target"
        if kind == "symlink":
            target.write_text("target")
            place.symlink_to(target)
        elif kind == "fifo":
            os.mkfifo(place)
        else:
            place.mkdir()
        apache = server("event", board=place)
        assert_serves_unrecorded(apache, str(place))
        assert kind != "symlink" or (place.is_symlink() and target.read_text() == "target")
        apache.stop()


def test_a_leftover_board_is_replaced(server, mpm):
    """Of a server that was stopped, or killed: a new one starts afresh in its place."""
    first = server(mpm)
    first.get("/")
    leftover = first.board.read_bytes()
    first.stop()
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory) / "mpmstat.board"
        place.write_bytes(leftover)            # never stopped, and nobody's pid
        apache = server(mpm, board=place)
        apache.allow("is not on a tmpfs")
        apache.get("/")
        wait_until(lambda: tool.requests(tool.status(place)) == 1, 5, "its own request")
        assert tool.status(place)["pid"] == apache.pid
        apache.stop()


def test_a_stopped_server_is_shown_as_stopped(server, mpm):
    apache = server(mpm)
    apache.get("/")
    wait_until(lambda: tool.requests(apache.status()) == 1, 5, "the request")
    assert tool.status(apache.board)["running"] == "yes"
    assert tool.status(apache.board)["stopped"] is None
    apache.stop()
    board = tool.status(apache.board)
    assert board["running"] == "no" and board["stopped"] > board["started"], board
    assert board["workers"]["busy"] == 0 and tool.requests(board) == 1, board
    assert "Running: no" in tool.run("status", apache.board).stdout


def test_a_killed_server_is_shown_as_gone(server, mpm):
    """kill -9 of the parent and of everybody: nobody could write that it stopped."""
    apache = server(mpm)
    everyone = [apache.pid, *apache.children()]
    for pid in everyone:
        processes.kill(pid, 9)
    apache.process.wait(10)
    wait_until(lambda: not any(processes.is_alive(pid) for pid in everyone), 5, "all gone")
    board = tool.status(apache.board)
    assert board["running"] == "no", board["running"]
    assert board["workers"]["busy"] == 0 and board["connections"]["open"] == 0, board


def test_mode_and_group_of_the_board(server, mpm):
    apache = server(mpm)
    info = apache.board.stat()
    assert stat.S_IMODE(info.st_mode) == 0o640, oct(info.st_mode)
    assert info.st_uid == os.geteuid()
    if os.geteuid() == 0:
        assert info.st_gid == grp.getgrnam("adm").gr_gid, info.st_gid
    assert tool.status(apache.board)["board_bytes"] == info.st_size
    assert info.st_blocks * 512 >= info.st_size, "every byte is allocated"


def test_a_layout_that_changes_at_a_graceful_restart(server, mpm):
    """The old one is kept, and a notice says so."""
    apache = server(mpm)
    apache.get("/")
    before = apache.board.stat()
    with open(apache.configuration, "a") as configuration:
        configuration.write("MPMStatMaxLabels 99\nMPMStatJournal 1024\n")
    apache.restart()
    assert len(apache.log_lines("mpmstat:notice.*keeps the place and the room")) == 1
    apache.get("/")
    wait_until(lambda: tool.requests(tool.status(apache.board)) == 2, 5, "both requests")
    after = apache.board.stat()
    assert (before.st_ino, before.st_size) == (after.st_ino, after.st_size)


def test_more_labels_than_there_is_room_for(server, mpm):
    places = "".join(f'<Location "/l{i}">\nMPMStatLabel label{i}\n</Location>\n' for i in range(6))
    apache = server(mpm, "MPMStatMaxLabels 4\n" + places)
    for i in range(6):
        apache.get(f"/l{i}")
    wait_until(lambda: tool.requests(apache.status()) == 6, 5, "six requests")
    counts = {e["label"]: e["requests"] for e in tool.labels(apache.status())}
    assert len(counts) <= 3 and counts["other"] >= 4, counts


def test_privacy(server, mpm):
    """No query string, cookie, header, body or client's name is anywhere on the board."""
    apache = server(mpm, "MPMStatPaths On")
    secret, client = "s3cr3t-c4fe", "127.93.157.201"    # no pid or number looks like that one
    with apache.connect(source=client) as connection:
        for path in (f"/index.html?token={secret}", f"/?{secret}", f"/nowhere?{secret}"):
            connection.request(path, headers={"Cookie": secret, "Referer": secret,
                                              "Authorization": "Basic " + secret,
                                              "User-Agent": secret, "X-Forwarded-For": secret})
        connection.request("/", "POST", body=secret.encode())
        board = apache.board.read_bytes()            # while it is in keep-alive
    apache.get(f"/mpm-status?{secret}=1")
    board += apache.board.read_bytes()
    assert b"test.example" in board, "this is the board"
    assert secret.encode() not in board
    assert socket.inet_aton(client) not in board and client.encode() not in board


def test_privacy_of_a_forward_proxy(server, mpm):
    """mod_proxy has the whole URL where others have its path."""
    with backend.HTTPBackend(delay=0) as behind:
        apache = server(mpm, "MPMStatPaths On\nProxyRequests On\n"
                        "<Proxy *>\nRequire all granted\n</Proxy>", modules=["proxy", "proxy_http"])
        with apache.connect() as connection:
            url = f"http://127.0.0.1:{behind.port}/page?token=s3cr3t-c4fe"
            assert connection.request(url).status == 200
        board = apache.board.read_bytes()            # a path's end stays where it was
    assert b"page" in board and b"s3cr3t-c4fe" not in board


def test_a_status_that_is_none(server, mpm):
    """Whatever number a script sets, the client gets 500, and so does the record."""
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    apache.allow("Invalid status line")
    for number in ("65736", "-5", "1000"):
        script = apache.cgi(f"status{number}", f"echo Status: {number}\necho Content-Type: text/plain\n"
                            "echo\n")
        assert apache.get(script).status == 500, number
    wait_until(lambda: tool.requests(apache.status()) == 3, 5, "three requests")
    records = [r for r in apache.journal()[0] if r["label"] != "mpm-status"]
    assert [(r["status"], r["aborted"], r["no_worker"]) for r in records] == [(500, False, False)] * 3
