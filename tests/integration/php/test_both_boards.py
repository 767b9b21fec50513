"""Apache's board and PHP's in one view: status, the status page, the journal, recordings."""
import json
import os
import sqlite3
import subprocess
import time

import pytest

import boards
import build
import php
import tool
from processes import wait_until
from recording import has_begun

AB = build.find("ab")
# make_board's: what a request takes on either side, in seconds.
HANDLE, PHP_WAIT, PHP_RUN = 0.003, 0.002, 0.0005


def readable(made):
    """Lets the server's user at the boards, as its group would."""
    made.path.parent.chmod(0o755)
    made.php.chmod(0o644)


def lines(response):
    assert response.status == 200, response.text()
    return [json.loads(line) for line in response.text().splitlines()]


def summary(done):
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return json.loads(done.stdout)


def by_producer(recorded):
    return {server["producer"]: server for server in recorded["servers"]}


# ---- mpmstat status --------------------------------------------------------------------------


def test_status_shows_both():
    with boards.board(5, php="php.board") as made:
        done = tool.run("status", "--format", "json", made.path.parent)
        apache, behind = json.loads(done.stdout)["boards"]
        text = tool.run("status", made.php).stdout.splitlines()
        metrics = tool.run("status", "--format", "openmetrics", made.path.parent).stdout
    assert (apache["producer"], behind["producer"]) == ("apache", "php")
    assert set(apache["labels"][-1]["phases"]) == {"queue", "read", "handle", "send", "total",
                                                   "held", "front"}
    label = next(entry for entry in behind["labels"] if entry["label"] == "www")
    assert set(label["phases"]) == {"php_wait", "php_run", "total"}
    assert label["phases"]["php_wait"]["sum_seconds"] == pytest.approx(5 * PHP_WAIT)
    assert label["php"]["user_seconds"] == pytest.approx(5 * 0.0004)
    assert behind["mpm"] is None and behind["sapi"] == "fpm-fcgi"
    assert behind["connections"]["open"] is None and not behind["listeners"]
    assert "Board: php" in text and "Label[www]PhpRunCount: 5" in text
    assert not any(line.startswith(("Mpm:", "Connections")) for line in text)
    assert 'mpmstat_php_user_seconds_total{board="php.board",producer="php",label="www"}' in metrics
    assert 'phase="php_wait"' in metrics
    assert 'producer="apache",label="www",phase="php' not in metrics


# ---- /mpm-status -----------------------------------------------------------------------------


@pytest.mark.mpms("event")
def test_the_status_page_shows_php(server, mpm):
    with boards.board(5, php="fpm.board") as made:
        readable(made)
        apache = server(mpm, f'MPMStatPHPBoards "{made.path.parent}"')
        status = json.loads(apache.get("/mpm-status?format=json").text())
        own, behind = status["boards"]
        text = apache.get("/mpm-status").text()
        metrics = apache.get("/mpm-status?format=openmetrics").text()
    assert own["pid"] == apache.pid and behind["board"] == str(made.php)
    assert behind["running"] == "yes" and behind["workers"]["busy"] == 1
    assert text.startswith("Board: apache\n") and "\nBoard: php\n" in text
    assert metrics.count("# TYPE mpmstat_workers_limit gauge") == 1
    assert 'mpmstat_workers_limit{board="fpm.board",producer="php"} 5' in metrics
    # Another Apache's board in the same place, and what root alone may read.
    if os.geteuid() == 0:
        assert [entry["board"] for entry in status["unreadable"]] == [str(made.path)]
        assert "may not be read by this user" in status["unreadable"][0]["reason"]
        assert f"Unreadable[{made.path}]: " in text
    else:
        assert status["unreadable"] == []


@pytest.mark.mpms("event")
def test_a_php_journal_over_http(server, mpm):
    with boards.board(5, php="fpm.board") as made:
        readable(made)
        apache = server(mpm, f'MPMStatPHPBoards "{made.path.parent}"')
        url = "/mpm-status?format=journal&board="
        *records, trailer = lines(apache.get(url + "fpm.board&since=start"))
        requests = [r for r in records if "php_request" in r]
        marks = [r for r in records if "mark" in r]
        assert [r["php_request"] for r in requests] == [1, 2, 3, 4, 5]
        assert {r["script"] for r in requests} == {"/srv/www/index.php"}
        assert {r["mark"] for r in marks} == {"half-way"} and len(marks) == 5
        assert [m["request_start"] for m in marks] == [r["start"] for r in requests]
        assert trailer["lost"] == 0 and trailer["next"].count("-") == 3
        made.serve(2)
        *records, _ = lines(apache.get(url + f"fpm.board&since={trailer['next']}"))
        assert [r.get("php_request", r.get("mark")) for r in records] == [6, 7] + 2 * ["half-way"]
        # A cursor belongs to one board, and a board has to be one of those shown.
        own = lines(apache.get("/mpm-status?format=journal"))[-1]["next"]
        assert apache.get(url + f"fpm.board&since={own}").status in (200, 400)
        assert apache.get(url + "nobody.board").status == 404
        assert apache.get(url + "mpmstat.board").status == 200
        assert apache.get(url + "../fpm.board").status == 400


@pytest.mark.mpms("event")
def test_php_boards_may_be_off_or_missing(server, mpm):
    with boards.board(1, php="fpm.board") as made:
        readable(made)
        for directive in ("Off", f'"{made.path.parent}/missing"'):
            apache = server(mpm, f"MPMStatPHPBoards {directive}")
            status = json.loads(apache.get("/mpm-status?format=json").text())
            assert [board["producer"] for board in status["boards"]] == ["apache"]
            assert status["unreadable"] == []


@pytest.mark.mpms("event")
def test_a_crowd_of_files_is_bounded(server, mpm):
    with boards.board(1, php="fpm.board") as made:
        readable(made)
        for n in range(40):
            (made.path.parent / f"z{n:02}.board").write_text("no board")
        apache = server(mpm, f'MPMStatPHPBoards "{made.path.parent}"')
        status = json.loads(apache.get("/mpm-status?format=json").text())
    assert [board["board"] for board in status["boards"][1:]] == [str(made.php)]
    assert 16 <= len(status["unreadable"]) <= 18
    assert "more boards are here" in status["unreadable"][-1]["reason"]


# ---- recordings ------------------------------------------------------------------------------


def record_while_serving(made, archive, *targets):
    """Records while the boards get 60 requests in a second and a half."""
    arguments = [word for target in targets for word in ("-t", str(target))]
    process = subprocess.Popen([str(build.TOOL), "record", "-o", str(archive), *arguments,
                                "--format", "json", "--", "sh", "-c", "read line"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: has_begun(archive), 30, "the begin")
        for _ in range(30):
            made.serve(2)
            time.sleep(0.04)
        out, said = process.communicate("\n", timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert process.returncode == 0, said
    return json.loads(out), said


def expect_joined(recorded):
    servers = by_producer(recorded)
    apache, behind = servers["apache"], servers["php"]
    assert apache["requests"] == behind["requests"] == 60
    assert apache["php"]["joined"] == behind["joined"] == 60
    handle = {name: part["mean_seconds"] for name, part in apache["php"]["handle"].items()}
    assert handle == {"php_wait": pytest.approx(PHP_WAIT), "php_run": pytest.approx(PHP_RUN),
                      "other": pytest.approx(HANDLE - PHP_WAIT - PHP_RUN)}
    assert apache["php"]["send"]["php_run"]["mean_seconds"] == 0
    assert set(behind["phases"]) == {"php_wait", "php_run", "total"}
    assert behind["phases"]["php_wait"]["mean_seconds"] == pytest.approx(PHP_WAIT)
    assert behind["marks"] == 60 and behind["workers"]["limit"] == 5


def test_record_joins_both_boards(tmp_path):
    archive = tmp_path / "runs.sqlite"
    with boards.board(php="php.board") as made:
        recorded, _ = record_while_serving(made, archive, made.path, made.php)
        expect_joined(recorded)
    with sqlite3.connect(archive) as db:
        assert db.execute("""SELECT count(*), count(DISTINCT key) FROM php_requests
                             WHERE script = '/srv/www/index.php' AND cached = 1"""
                          ).fetchall() == [(60, 60)]
        assert db.execute("""SELECT count(*) FROM marks JOIN php_requests USING (server_id, pid)
                             WHERE request_start_ns = start_ns""").fetchall() == [(60,)]
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_record_finds_both_in_a_directory(tmp_path):
    with boards.board(php="php.board") as made:
        recorded, _ = record_while_serving(made, tmp_path / "runs.sqlite", made.path.parent)
        expect_joined(recorded)


@pytest.mark.mpms("event")
def test_record_finds_php_behind_a_url(server, mpm, tmp_path):
    """The status page of an Apache shows PHP's board: it is recorded with it."""
    with boards.board(php="fpm.board") as made:
        readable(made)
        apache = server(mpm, f'MPMStatPHPBoards "{made.path.parent}"')
        url = f"http://127.0.0.1:{apache.port}/mpm-status"
        recorded, said = record_while_serving(made, tmp_path / "runs.sqlite", url)
        behind = by_producer(recorded)["php"]
        assert behind["target"] == url + "#fpm.board"
        assert behind["requests"] == 60 and behind["marks"] == 60
        assert behind["phases"]["php_run"]["mean_seconds"] == pytest.approx(PHP_RUN)
        # Named by itself, and with the board's file too: still once.
        recorded, said = record_while_serving(made, tmp_path / "two.sqlite", url, made.php)
        assert [s["target"] for s in recorded["servers"]] == [url, str(made.php)]
        recorded, said = record_while_serving(made, tmp_path / "three.sqlite", url + "#fpm.board")
        assert [s["producer"] for s in recorded["servers"]] == ["php"]
        failed = tool.run("record", "-o", tmp_path / "four.sqlite", "-t", url + "#none.board",
                          "--", "true")
        assert failed.returncode == 3 and "expected the PHP's board none.board" in failed.stderr


# ---- with a real PHP -------------------------------------------------------------------------


def record_ab(archive, targets, *words):
    arguments = [word for target in targets for word in ("-t", target)]
    return summary(tool.run("record", "-o", archive, *arguments, "--format", "json", "--", AB,
                            *words, timeout=120))


@pytest.mark.mpms("event")
def test_phps_workers_ran_out(php_server, mpm, php_boards, tmp_path):
    """The missing seconds are php_wait; no request waited for an Apache worker."""
    apache = php_server(mpm, workers=60, threads=20, children=5,
                        settings=php.settings(php_boards))
    page = f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.1&spread=0"
    board = php.board(php_boards, "fpm-fcgi")
    recorded = record_ab(tmp_path / "a", [apache.board, board], "-n", "150", "-c", "25", page)
    servers = by_producer(recorded)
    front, behind = servers["apache"], servers["php"]
    assert recorded["verdict"].startswith("PHP's workers ran out: all 5 were busy"), recorded
    assert front["php"]["joined"] == behind["joined"] == behind["requests"] == 150
    handle = {name: part["sum_seconds"] for name, part in front["php"]["handle"].items()}
    assert handle["php_wait"] > 2 * handle["php_run"]
    assert sum(handle.values()) == pytest.approx(front["phases"]["handle"]["sum_seconds"], rel=1e-6)
    assert handle["other"] < 0.2 * front["phases"]["handle"]["sum_seconds"]
    assert front["phases"]["queue"]["sum_seconds"] < 0.2 * handle["php_wait"]
    checks = {check["name"]: check for check in recorded["checks"]}
    assert checks["littles-law"]["ok"] is True, checks
    assert "; PHP: throughput x php_run = " in checks["littles-law"]["text"]
    assert behind["memory_bytes"]["peak_pss"] > 1e6 and behind["cpu_seconds"] > 0
    assert behind["workers"]["limit"] == behind["workers"]["max_busy"] == 5


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not build.MOD_PHP, reason="needs mod_php")
def test_apaches_workers_ran_out(php_server, mpm, php_boards, tmp_path):
    """mod_php under the same load: the opposite."""
    apache = php_server(mpm, workers=5, settings=php.settings(php_boards))
    page = f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.1&spread=0"
    board = php.board(php_boards, "apache2handler")
    recorded = record_ab(tmp_path / "a", [apache.board, board], "-n", "150", "-c", "25", page)
    servers = by_producer(recorded)
    front, behind = servers["apache"], servers["php"]
    assert recorded["verdict"].startswith("Apache's workers ran out: all 5 were busy"), recorded
    assert front["php"]["joined"] == 150
    handle = {name: part["sum_seconds"] for name, part in front["php"]["handle"].items()}
    assert handle["php_wait"] < 0.05 * handle["php_run"]
    assert front["phases"]["queue"]["sum_seconds"] > 2 * handle["php_run"]
    assert behind["memory_bytes"]["peak_pss"] is None, "its processes are Apache's"
    assert "those of the server that it runs in" in behind["unknown"]
