"""Small files and short answers must not cost their readers much: each is a sentence."""
import json
import os
import re
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

import boards
import build
import hostile
import tool
from hostile import NOBODY
from tool import fails
from urls import Server, rendered, reply

MEGABYTE = 1 << 20
SANITIZERS_TAKE = 500 * MEGABYTE if build.SANITIZE else 0
MANY = 20000


@contextmanager
def php_board(requests=0):
    """A board of a PHP, and the directory that it is in."""
    with boards.board(requests, php="php.board") as made:
        made.php.parent.chmod(0o755)    # for the server's user
        made.path.chmod(0o644)
        made.php.chmod(0o644)
        yield made.php


def shown(done):
    return json.loads(done.stdout)["boards"]


# ---- boards with holes -----------------------------------------------------------------

def test_a_sparse_board_is_refused():
    """12 KB that claim to be 1.4 GB: no memory is asked for before it is looked at."""
    with php_board() as php:
        path = php.parent / "sparse.board"
        assert hostile.sparse_board(php, path, 8000000) > 1400 * MEGABYTE
        assert path.stat().st_blocks * 512 <= 16384
        done = fails(hostile.with_little_memory("status", path), 3, str(path), "has holes: expected",
                     "allocated bytes, found", "restart its server")
    assert done.stdout == ""


def test_a_hole_that_is_punched_later_is_refused_too():
    with boards.board(2) as board:
        assert tool.run("status", board.path).returncode == 0
        size = board.path.stat().st_size
        subprocess.run(["fallocate", "--punch-hole", "--offset", str(size - 65536), "--length",
                        "32768", str(board.path)], check=True)
        fails(tool.run("status", board.path), 3, str(board.path), "punched holes")


def test_many_sparse_boards_beside_a_real_one():
    with php_board(3) as php:
        for i in range(16):
            hostile.sparse_board(php, php.parent / f"s{i}.board", 300000)
        done = hostile.with_little_memory("status", "--format", "json", php.parent)
    assert done.returncode == 3 and done.stderr.count("has holes") == 16, done.stderr
    assert {b["producer"] for b in shown(done)} == {"apache", "php"}


@pytest.mark.mpms("event")
def test_the_page_refuses_sparse_boards(server, mpm, as_root):
    """Its children do not grow, and PHP's real board is shown."""
    with php_board(3) as php:
        for i in range(20):
            hostile.sparse_board(php, php.parent / f"a{i}.board", 300000)
        apache = server(mpm, f"MPMStatPHPBoards {php.parent}")
        found = json.loads(apache.get("/mpm-status?format=json").body)
        peaks = [int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])
                 for pid in apache.children()]
    assert [b["producer"] for b in found["boards"]] == ["apache", "php"]
    reasons = [u["reason"] for u in found["unreadable"]]
    assert sum("has holes" in reason for reason in reasons) == 16, reasons
    assert sum("4 more boards are here" in reason for reason in reasons) == 1, reasons
    assert max(peaks) * 1024 < 64 * MEGABYTE + SANITIZERS_TAKE, peaks


# ---- many files ------------------------------------------------------------------------

def make_many(directory):
    """As many empty boards of another user, before and behind the real ones."""
    for i in range(MANY):
        path = directory / f"{'az'[i % 2]}{i}.board"
        path.touch(0o644)
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)


def test_many_files_do_not_hide_a_board(as_root):
    """Without a target they are passed over; of a directory that is named some are tried."""
    with php_board(3) as php:
        make_many(php.parent)
        environment = {**os.environ, "MPMSTAT_RUNDIR": str(php.parent)}
        done = tool.run("status", "--format", "json", env=environment)
        assert done.returncode == 0, done.stderr
        assert {b["producer"] for b in shown(done)} == {"apache", "php"}
        assert f"boards of other users that were passed over: {MANY}, one" in done.stderr
        done = tool.run("status", "--format", "json", php.parent)
        assert done.returncode == 3 and len(shown(done)) == 2
        assert done.stderr.count("is not an mpmstat board") == 64, done.stderr[:2000]
        assert f"boards of other users that are not looked at: {MANY - 64}, one" in done.stderr


@pytest.mark.mpms("event")
def test_many_files_do_not_hide_a_board_from_the_page(server, mpm, as_root):
    with php_board(3) as php:
        make_many(php.parent)
        apache = server(mpm, f"MPMStatPHPBoards {php.parent}")
        found = json.loads(apache.get("/mpm-status?format=json").body)
    assert [b["producer"] for b in found["boards"]] == ["apache", "php"]
    assert f"{MANY - 16} more boards are here" in found["unreadable"][-1]["reason"]


# ---- answers of a status URL -------------------------------------------------------------

APACHE = b'{"boards": [{"producer": "apache"%s}]}'
LARGE = {
    "boards": (b'{"boards": [{"producer": "apache"}' + b", {}" * 100000 + b"]}",
               "expected at most 64 boards"),
    "labels": (APACHE % (b', "labels": [{}' + b", {}" * 10000 + b"]"), "4096 labels"),
    "slots": (APACHE % (b', "slots": [{}' + b", {}" * 1000000 + b"]"), "expected at most 500000"),
    "what nobody asked for": (APACHE % (b', "x": [0' + b",0" * 8000000 + b"]"),
                              "expected at most 500000"),
    "deep": (b'{"boards": ' + b"[" * 2000 + b"]" * 2000 + b"}", "16 deep"),
}


@pytest.mark.parametrize("verb", ["status", "record"])
@pytest.mark.parametrize("what", list(LARGE))
def test_an_answer_that_would_grow_is_refused(what, verb, tmp_path):
    """Text is small against what a parser makes of it."""
    body, words = LARGE[what]
    options = {"status": ["status", "--format", "json"],
               "record": ["record", "--timeout", "2", "-o", tmp_path / "a.sqlite", "-t"]}
    with Server(lambda handler: reply(handler, body)) as server:
        done = fails(hostile.with_little_memory(*options[verb], server.url), 3, server.url, words)
    assert done.stdout == ""


def test_a_bracket_within_a_string_is_no_value():
    with boards.board(2) as board:
        document = json.loads(rendered(board, "json"))
        document["boards"][0]["settings"] = '[{"\\' * 200000
        body = json.dumps(document).encode()
        with Server(lambda handler: reply(handler, body)) as server:
            done = tool.run("status", "--format", "json", server.url)
    assert done.returncode == 0, done.stderr


def test_ten_thousand_workers_are_not_too_many():
    """With long paths, as many labels as there can be, and sixteen PHPs."""
    with boards.board(2, php="php.board") as board:
        done = tool.run("status", "--format", "json", board.path, board.php)
        apache, php = shown(done)
    apache["slots"] = [dict(apache["slots"][0], slot=i, path="\x01" * 63) for i in range(10000)]
    apache["labels"] = [dict(apache["labels"][-1], label=f"label{i}") for i in range(1024)]
    php["slots"] = [dict(php["slots"][0], slot=i) for i in range(200)]
    body = json.dumps({"boards": [apache] + [php] * 16, "unreadable": []}).encode()
    with Server(lambda handler: reply(handler, body)) as server:
        done = tool.run("status", "--format", "json", server.url)
    assert done.returncode == 0, done.stderr
    assert len(shown(done)[0]["slots"]) == 10000
