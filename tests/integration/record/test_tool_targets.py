"""mpmstat status over files and directories: what is shown, what is said, the exit code."""
import json
import os
import random
import subprocess
import time

import pytest

import boards
import build
import tool
from tool import fails


def test_one_board():
    with boards.board(requests=7) as board:
        done = tool.run("status", board.path)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert lines[0] == "Board: apache"
        assert f"Pid: {board.pid}" in lines and "Running: yes" in lines
        assert "Label[www]Requests: 7" in lines and "WorkersBusy: 1" in lines


@pytest.mark.parametrize("format", ["text", "json", "openmetrics", "prometheus"])
def test_several_boards_are_one_document(format):
    with boards.board(3, "a.board") as first, boards.board(4, "b.board") as second:
        done = tool.run("status", "--format", format, first.path, second.path)
    assert (done.returncode, done.stderr) == (0, "")
    if format == "json":
        found = json.loads(done.stdout)["boards"]
        assert [tool.requests(board) for board in found] == [3, 4]
    elif format == "openmetrics":
        assert done.stdout.count("# EOF") == 1 and done.stdout.endswith("# EOF\n")
    if format in ("openmetrics", "prometheus"):
        assert 'board="a.board"' in done.stdout and 'board="b.board"' in done.stdout
        assert done.stdout.count("# TYPE mpmstat_in_flight gauge") == 1


def test_a_directory_and_the_environment():
    with boards.board() as board:
        (board.path.parent / "php").mkdir()
        nested = boards.Board(board.path.parent / "php" / "0.board")
        (board.path.parent / "mpmstat.board.tmp").write_text("not one of them")
        expected = [str(board.path), str(nested.path)]
        try:
            rundir = {"MPMSTAT_RUNDIR": f"/nowhere:{board.path.parent}"}
            for arguments, environment in (([board.path.parent], {}), ([], rundir)):
                done = tool.run("status", "--format", "json", *arguments,
                                env={**os.environ, **environment})
                assert done.returncode == 0, done.stderr
                assert [b["board"] for b in json.loads(done.stdout)["boards"]] == expected
        finally:
            nested.stop()


def test_a_server_that_is_gone_is_shown_as_stopped():
    with boards.board(2) as board:
        board.stop()
        done = tool.run("status", board.path)
        assert done.returncode == 0 and "Running: no" in done.stdout


def test_nothing_found_says_where_was_looked():
    with boards.runtime_directory() as empty:
        environment = {**os.environ, "MPMSTAT_RUNDIR": f"{empty}:/nowhere/at/all"}
        done = fails(tool.run("status", env=environment), 3, str(empty), "/nowhere/at/all",
                     "MPMStatBoard", "MPMSTAT_RUNDIR")
        assert done.stdout == ""
        fails(tool.run("status", empty), 3, str(empty), "no board in this directory")


def test_a_bad_target_leaves_the_others():
    with boards.board(5) as board:
        done = fails(tool.run("status", "/nowhere/x.board", board.path, board.path.parent / "y"), 3,
                     "/nowhere/x.board", "y: there is no such file")
        assert "Label[www]Requests: 5" in done.stdout
        done = fails(tool.run("status", "--format=json", "/nowhere", board.path), 3, "/nowhere")
        assert len(json.loads(done.stdout)["boards"]) == 1


@pytest.mark.parametrize("content, words", [
    (b"", "is truncated"), (b"MPMSTAT", ""), (b"\0" * 100000, "is not an mpmstat board"),
    (b"Hello, I am a text.\n" * 1000, "is not an mpmstat board"),
], ids=["empty", "only the magic", "zeros", "text"])
def test_a_file_that_is_no_board(tmp_path, content, words):
    path = tmp_path / "some.board"
    path.write_bytes(content)
    done = fails(tool.run("status", path), 3, str(path))
    assert done.stdout == "" and (words in done.stderr or not content), done.stderr


def test_a_board_of_another_version_and_a_cut_one():
    with boards.board(2) as board:
        content = board.path.read_bytes()
        other = board.path.parent / "other.board"
        other.write_bytes(content[:8] + (99).to_bytes(4, "little") + content[12:])
        fails(tool.run("status", other), 3, str(other), "expected format 2, found 99")
        for size in (8, 4096, len(content) // 2, len(content) - 1):
            other.write_bytes(content[:size])
            fails(tool.run("status", other), 3, str(other))


def test_random_bytes_never_crash_it():
    """Each a sentence or a board, whatever is in the file."""
    generator = random.Random(20)
    with boards.board(3) as board:
        content = board.path.read_bytes()
        damaged = board.path.parent / "damaged.board"
        for round_number in range(60):
            changed = bytearray(content)
            for _ in range(generator.randrange(1, 200)):
                where = generator.randrange(1024 if round_number % 2 else len(changed))
                changed[where] = generator.randrange(256)
            damaged.write_bytes(changed)
            done = tool.run("status", "--format", "json", damaged)
            if done.returncode == 0:
                json.loads(done.stdout)
            else:
                fails(done, 3, str(damaged))


@pytest.mark.parametrize("kind", ["symlink", "fifo", "device"])
def test_a_place_that_is_no_regular_file(kind, tmp_path):
    path = tmp_path / "odd.board"
    if kind == "symlink":
        path.symlink_to("/etc/passwd")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path = "/dev/zero"
    begun = time.monotonic()
    fails(tool.run("status", path), 3, str(path))
    assert time.monotonic() - begun < 5, "it must not wait for a writer"


def test_a_board_that_may_not_be_read(as_root):
    with boards.board() as board:
        board.path.chmod(0o600)
        board.path.parent.chmod(0o755)
        options = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        reachable = subprocess.run(["test", "-x", str(build.TOOL)], **options).returncode == 0
        if not reachable:
            pytest.skip("the build directory is closed to other users")
        fails(tool.run("status", board.path, **options), 3, str(board.path), "may not be read")
        board.path.parent.chmod(0o700)
        fails(tool.run("status", board.path.parent, **options), 3, "ermission denied")


def test_a_label_cannot_command_the_terminal():
    """A board can be written by anybody: nothing of it reaches a terminal unescaped."""
    with boards.board(1) as board:
        content = board.path.read_bytes()
        assert content.count(b"www\0") == 1
        hostile = board.path.parent / "hostile.board"
        hostile.write_bytes(content.replace(b"www\0", b"\x1b[2\0"))
        text = tool.run("status", hostile)
        assert text.returncode == 0 and "\x1b" not in text.stdout
        done = tool.run("status", "--format", "json", hostile)
        assert json.loads(done.stdout)["boards"][0]["labels"][2]["label"] == "\x1b[2"
        assert "\x1b" not in done.stdout
