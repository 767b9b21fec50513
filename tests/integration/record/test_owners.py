"""Whose board is it? What is in one is its owner's word: another user's counts only where it is
named, is shown as that user's, and no process of anybody else is charged to it."""
import json
import os
import sqlite3
import struct
import subprocess

import pytest

import boards
import build
import hostile
import processes
import tool
from hostile import NOBODY
from tool import fails

pytestmark = pytest.mark.usefixtures("as_root")


def give_away(path, user=NOBODY):
    os.chown(path, user, user)
    path.chmod(0o644)


def shown(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["boards"]


def environment(directory):
    return {**os.environ, "MPMSTAT_RUNDIR": str(directory)}


def recorded(archive, *options, **environ):
    """(servers of the run: board, local, cpu_ns; notes; what was said)"""
    done = tool.run("record", "--timeout", "1", "-o", archive, *options, **environ)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(archive) as db:
        servers = db.execute("SELECT board, local, cpu_ns FROM servers ORDER BY board").fetchall()
        notes = [text for text, in db.execute("SELECT text FROM notes")]
    return servers, notes, done.stderr


def test_without_a_target_other_users_boards_are_passed_over(tmp_path):
    with boards.board(2, php="php.board") as board:
        give_away(board.php)
        directory = environment(board.path.parent)
        done = tool.run("status", "--format", "json", env=directory)
        assert [b["board"] for b in shown(done)] == [str(board.path)]
        for words in ("boards of other users that were passed over: 1, one of them", str(board.php),
                      "nobody (user 65534)", "mpmstat status FILE", "mpmstat record -t FILE"):
            assert words in done.stderr, done.stderr
        servers, _, said = recorded(tmp_path / "a.sqlite", env=directory)
        assert [path for path, _, _ in servers] == [str(board.path)]
        assert str(board.php) in said and "passed over" in said, said


def test_only_other_users_boards_are_none(tmp_path):
    with boards.board(2) as board:
        give_away(board.path)
        for words in (["status"], ["record", "-o", tmp_path / "a.sqlite"]):
            fails(tool.run(*words, env=environment(board.path.parent)), 3,
                  "no board of root's or of your own found", str(board.path))
    assert not (tmp_path / "a.sqlite").exists()


def test_ones_own_boards_count():
    """Their owner can use them as root uses root's."""
    with boards.board(2) as board:
        if subprocess.run(["test", "-x", str(build.TOOL)], user=NOBODY).returncode != 0:
            pytest.skip("the build directory is closed to other users")
        give_away(board.path)
        board.path.parent.chmod(0o755)
        found, = shown(tool.run("status", "--format", "json", user=NOBODY, group=NOBODY,
                                extra_groups=[], env=environment(board.path.parent)))
    assert found["board"] == str(board.path) and found["owner"] is None


def test_the_owner_is_shown(tmp_path):
    """Where it is not the expected one: in all that is shown, and among the run's notes."""
    with boards.board(2) as board:
        found, = shown(tool.run("status", "--format", "json", board.path))
        assert found["owner"] is None and found["running"] == "yes"
        assert "BoardOwner" not in tool.run("status", board.path).stdout
        give_away(board.path)
        found, = shown(tool.run("status", "--format", "json", board.path.parent))
        assert found["owner"] == NOBODY
        assert f"\nBoardOwner: {NOBODY}\n" in tool.run("status", board.path).stdout
        _, notes, said = recorded(tmp_path / "a.sqlite", "-t", board.path)
        words = f"the board {board.path} belongs to nobody (user 65534)"
        assert words in said and any(words in note for note in notes), said


def test_the_process_of_another_user_is_not_charged(tmp_path):
    """A user's board names root's process: nobody knows whether that is its server."""
    with boards.board(2) as board:
        servers, notes, _ = recorded(tmp_path / "a.sqlite", "-t", board.path)
        (_, local, cpu_ns), = servers
        assert local == 1 and cpu_ns is not None and notes == [], "root's own is seen"
        give_away(board.path)
        found, = shown(tool.run("status", "--format", "json", board.path))
        assert found["running"] == "unknown" and found["pid"] == board.pid
        servers, notes, said = recorded(tmp_path / "b.sqlite", "-t", board.path)
        assert servers == [(str(board.path), 0, None)]
        words = f"names process {board.pid}: expected one of its owner, nobody (user 65534)"
        assert words in said and any(words in note for note in notes), said


def name_process(path, pid):
    """The board's header names it as its server's parent."""
    ticks = int(processes.stat_fields(pid)[19])
    with open(path, "r+b") as file:
        file.seek(hostile.PID)
        file.write(struct.pack("<IQ", pid, ticks))


@pytest.mark.parametrize("owner", [0, NOBODY])
def test_process_1_is_not_charged(owner, tmp_path):
    """Also where a board of root's was scribbled on: process 1 does not have that file."""
    with boards.board(2) as board:
        name_process(board.path, 1)
        give_away(board.path, owner)
        servers, _, said = recorded(tmp_path / "a.sqlite", "-t", board.path)
        assert servers == [(str(board.path), 0, None)]
        assert f"the board {board.path} names process 1: expected one" in said, said


def test_only_its_own_processes_are_those_of_a_board_without_a_parent(tmp_path):
    """php-cgi's board has no parent: each process has entered itself."""
    with boards.board(2, php="php.board") as board:
        spinning = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        try:
            content = board.php.read_bytes()
            place, _, _ = hostile.section(content, hostile.PROCESSES)
            with open(board.php, "r+b") as file:
                file.seek(hostile.PID)
                file.write(struct.pack("<IQ", 0, 0))
                file.seek(place)
                file.write(struct.pack("<QQ", spinning.pid,
                                       int(processes.stat_fields(spinning.pid)[19])))
            servers, _, said = recorded(tmp_path / "a.sqlite", "-t", board.php)
            (_, local, cpu_ns), = servers
            assert local == 1 and cpu_ns == 0, (servers, said)
        finally:
            spinning.kill()
            spinning.wait(10)
