"""mpmstat status in a terminal: ten lines for a person; elsewhere the keys, for programs."""
import os
import pty
import subprocess

import boards
import build
import tool
from processes import wait_until


def in_terminal(*arguments):
    """What the tool writes where its stdout is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([str(build.TOOL), *map(str, arguments)], stdout=theirs,
                          stderr=subprocess.PIPE) as process:
        os.close(theirs)
        text = b""
        try:
            while more := os.read(ours, 65536):
                text += more
        except OSError:      # the other end is closed
            pass
        said = process.stderr.read()
    os.close(ours)
    assert process.returncode == 0, said
    return text.decode().replace("\r\n", "\n")


def subjects(glance):
    return [line[:16] for line in glance.splitlines()]


def test_a_terminal_gets_ten_lines_and_programs_the_keys():
    with boards.board(7) as board:
        glance = in_terminal("status", board.path)
        assert glance.startswith("  Server ") and "\n  Workers " in glance
        assert str(board.path) in glance.replace("\n" + " " * 16, " ")
        assert subjects(glance) == subjects(tool.run("status", "--brief", board.path).stdout)
        assert "7 since the start" in glance
        assert all(len(line) <= 80 for line in glance.splitlines())
        keys = tool.run("status", board.path).stdout
        assert keys.startswith("Board: ")
        for options in (["--all"], ["--format", "text"]):
            assert in_terminal("status", *options, board.path).startswith("Board: ")
        assert in_terminal("status", "--format", "json", board.path).startswith('{"boards"')


def test_several_boards_have_a_part_each():
    with boards.board(3, "a.board") as first, boards.board(4, "b.board") as second:
        parts = tool.run("status", "--brief", first.path, second.path).stdout.split("\n\n")
        assert len(parts) == 2 and all(part.startswith("  Server ") for part in parts)


def test_a_url_has_the_same_lines_as_the_board(server):
    apache = server("event")
    apache.get("/")
    url = f"http://127.0.0.1:{apache.port}/mpm-status"
    # A request is counted behind its answer.
    wait_until(lambda: "1 since the start" in tool.run("status", "--brief", url).stdout,
               30, "the request's count")
    glance = tool.run("status", "--brief", url)
    assert (glance.returncode, glance.stderr) == (0, "")
    of_file = tool.run("status", "--brief", apache.board)
    for subject in ("Server", "Running", "Requests", "Workers", "Time went to", "Ran out", "Errors"):
        assert f"  {subject}  " in glance.stdout and f"  {subject}  " in of_file.stdout, subject
