"""What others wrote, in the tool's output: a terminal obeys none of it, and no line of it looks
like one of the tool's own."""
import json
import sqlite3

import pytest

import boards
import tool
from urls import TYPES, Server, reply

# CSI as one byte and as a C1 control, what reverses text, what ends lines for some readers.
OBEYED = "\x9b31m\u202etxt.exe\u2066\u2028\x85"
HOSTILE = "a\x1b[2J\x07\x7f" + OBEYED + "\nmpmstat: forged </script>"


def harmless(output):
    """Whether a terminal, or a reader of lines, takes this for text only."""
    return not [c for c in output if (ord(c) < 0x20 and c not in "\n\t")
                or 0x7f <= ord(c) < 0xa0 or 0x2028 <= ord(c) <= 0x202e
                or 0x2066 <= ord(c) <= 0x2069]


def expect_harmless(done):
    for output in (done.stdout, done.stderr):
        assert harmless(output), ascii(output)
    forged = [line for line in done.stderr.splitlines() if line.startswith("mpmstat: forged")]
    assert not forged, done.stderr
    return done


@pytest.mark.parametrize("format", ["text", "openmetrics", "prometheus"])
def test_text_of_a_server_is_tamed(format):
    body = {"text": "Board: apache\nServer: {}\n", "prometheus": "# HELP x {}\n",
            "openmetrics": "# HELP x {}\n# EOF\n"}[format].format(OBEYED).encode()
    raw = body.replace(b"txt", b"\xff\x9b")
    with Server(lambda handler: reply(handler, raw, TYPES[format])) as server:
        done = tool.run("status", "--format", format, server.url)
    assert done.returncode == 0, done.stderr
    assert expect_harmless(done).stdout.count("?") == 2 * 2 + 3 * 3 + 2, ascii(done.stdout)


def test_json_of_a_server_is_the_same_to_a_program():
    answer = {"boards": [{"server": HOSTILE, "labels": [{"label": OBEYED}]}], "unreadable": []}
    raw = json.dumps(answer, ensure_ascii=False).encode()
    with boards.board() as board, Server(lambda h: reply(h, raw, TYPES["json"])) as server:
        alone = expect_harmless(tool.run("status", "--format", "json", server.url))
        together = expect_harmless(tool.run("status", "--format", "json", server.url, board.path))
    assert json.loads(alone.stdout) == answer
    assert json.loads(together.stdout)["boards"][1] == answer["boards"][0]


def test_a_message_is_the_tools_own():
    for words in (("status", HOSTILE), ("status", "http://127.0.0.1:9/" + HOSTILE),
                  ("report", HOSTILE), ("record", "-t", HOSTILE, "true"), (HOSTILE,),
                  ("status", "--" + HOSTILE), ("fields", "--format", HOSTILE)):
        done = expect_harmless(tool.run(*words))
        assert done.returncode != 0 and done.stderr.startswith("mpmstat: "), done.stderr


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "runs.sqlite"
    with boards.board(5) as board:
        done = tool.run("record", "-o", path, "-t", board.path, "--name", "plain", "true")
        assert done.returncode == 0, done.stderr
    return path


def texts(path):
    """Every column of text that has something in it: [(table, column)]."""
    with sqlite3.connect(path) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
        columns = [(table, row[1]) for table in tables
                   for row in db.execute(f"PRAGMA table_info({table})") if row[2] == "TEXT"]
        return [(table, column) for table, column in columns
                if db.execute(f"SELECT count({column}) FROM {table}").fetchone()[0]]


def test_an_archive_of_others_is_reported_without_harm(archive):
    """Whatever column of text it is."""
    found = texts(archive)
    assert {("runs", "name"), ("runs", "command"), ("runs", "outcome")} <= set(found), found
    for table, column in found:
        spoilt = archive.with_suffix(".spoilt")
        spoilt.write_bytes(archive.read_bytes())
        with sqlite3.connect(spoilt) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            db.execute(f"UPDATE OR REPLACE {table} SET {column} = ?",
                       (json.dumps([HOSTILE], ensure_ascii=False) if column == "command"
                        else HOSTILE,))
        db.close()
        for format in ("text", "json", "md", "csv", "html"):
            done = expect_harmless(tool.run("report", "--format", format, spoilt))
            assert "forged </script>" not in done.stdout or format in ("text", "json", "csv"), (
                table, column, format)
            if format == "json" and done.returncode == 0:
                json.loads(done.stdout)
