"""Where the time goes when workers are short: event with a small FPM, and prefork with
mod_php, under the same load."""
import time

import pytest

import build
import clients
import php
import tool
from processes import wait_until

WORKERS, CLIENTS, REQUESTS, NAP = 5, 50, 100, 0.1
PAGE = f"/sleep.php?seconds={NAP}&spread=0"


def loaded(apache):
    """ab's figures, and the board once it has every request."""
    said = clients.ab(apache.port, PAGE, REQUESTS, CLIENTS)
    assert said["complete"] == REQUESTS and said["non_2xx"] == 0, said["text"]
    wait_until(lambda: tool.requests(tool.status(apache.board)) == REQUESTS, 10, "all requests")
    return said, tool.status(apache.board)


def phase(board, name):
    """(count, sum) of a phase over all labels."""
    found = [entry["phases"][name] for entry in tool.labels(board)]
    return sum(p["count"] for p in found), float(sum(p["sum_seconds"] for p in found))


@pytest.mark.mpms("event", "worker")
def test_a_small_fpm_makes_php_wait(php_server, mpm, php_boards):
    apache = php_server(mpm, workers=CLIENTS + 10, threads=20, children=WORKERS,
                        settings=php.settings(php_boards))
    said, board = loaded(apache)
    recorded = tool.status(php.board(php_boards, "fpm-fcgi"))
    waits, waited = phase(recorded, "php_wait")
    runs, ran = phase(recorded, "php_run")
    totals, total = phase(recorded, "total")
    _, queued = phase(board, "queue")
    _, handled = phase(board, "handle")
    assert (waits, runs, totals) == (REQUESTS,) * 3
    assert total == pytest.approx(waited + ran, abs=1e-6)
    assert ran == pytest.approx(REQUESTS * NAP, rel=0.2)
    # Each waits for the rounds before its own: most of the time that it takes.
    assert waited > 0.5 * REQUESTS * said["total_mean"], (waited, said["text"])
    assert waited + ran == pytest.approx(handled, rel=0.05), "PHP's part of Apache's phase"
    assert queued < 0.05 * waited, "Apache had workers enough"
    # The client's side: all but connecting and Apache's own share; a busy machine lets ab wait,
    # too, but by far less than a round.
    assert waited + ran == pytest.approx(REQUESTS * said["total_mean"], abs=REQUESTS * NAP / 2)
    assert recorded["workers"]["busy_max"] == WORKERS


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not build.MOD_PHP, reason="needs mod_php")
def test_a_small_prefork_makes_apache_queue(php_server, mpm, php_boards):
    apache = php_server(mpm, workers=WORKERS, settings=php.settings(php_boards))
    said, board = loaded(apache)
    recorded = tool.status(php.board(php_boards, "apache2handler"))
    waits, waited = phase(recorded, "php_wait")
    runs, ran = phase(recorded, "php_run")
    _, queued = phase(board, "queue")
    assert (waits, runs) == (REQUESTS,) * 2
    assert waited < 0.05 * ran, "a request that has a worker has PHP"
    assert ran == pytest.approx(REQUESTS * NAP, rel=0.2)
    assert queued > 0.5 * REQUESTS * said["total_mean"], (queued, said["text"])
    assert queued > 10 * waited
    assert recorded["workers"]["busy_max"] == WORKERS
    assert recorded["sapi"] == "apache2handler"


@pytest.mark.mpms("event")
def test_both_boards_have_the_same_request(php_server, mpm, php_boards):
    """By its id; and PHP's interval lies within Apache's."""
    apache = php_server(mpm, settings=php.settings(php_boards))
    board = php.board(php_boards, "fpm-fcgi")
    with php.recorded(apache.board, board) as archive:
        for n in range(20):
            assert apache.get(f"/sleep.php?seconds=0.0{n:02}&spread=0").status == 200
    pairs = archive.ask("""
        SELECT s.start_ns AS began, s.queue_ns + s.read_ns AS parsed, s.handle_ns AS handled,
               p.start_ns AS php_began, p.wait_ns AS waited, p.run_ns AS ran, p.*
        FROM server_requests s JOIN php_requests p USING (request_id)""")
    assert len(pairs) == 20 == len(archive.ask("SELECT * FROM php_requests"))
    for p in pairs:
        handed_over = p["php_began"] - p["waited"]
        assert p["began"] + p["parsed"] <= handed_over + 1000
        assert handed_over <= p["php_began"]
        assert p["waited"] + p["ran"] > 0 and p["status"] == 200
        assert p["script"].endswith("/htdocs/sleep.php") and p["label"] == "www"
    assert any(p["cached"] == 0 for p in pairs) and any(p["cached"] == 1 for p in pairs)


@pytest.mark.mpms("event")
def test_a_body_that_nobody_read_is_the_next_one_s_wait(php_server, mpm, php_boards):
    """FPM reads the rest of a body after the script, and only then takes the next request."""
    pause = 0.8
    apache = php_server(mpm, children=1, settings=php.settings(php_boards))
    apache.page("ignores.php", "<?php echo 'done';")
    board = php.board(php_boards, "fpm-fcgi")
    with php.recorded(apache.board, board) as archive, apache.connect() as slow, \
            apache.connect() as next_one:
        slow.send("PUT /ignores.php HTTP/1.1\r\nHost: test.example\r\n"
                  "Content-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n" +
                  "x" * 50_000)
        wait_until(lambda: tool.requests(tool.status(board)) == 1, 30, "the script's end")
        next_one.send("GET /ignores.php HTTP/1.1\r\nHost: test.example\r\n\r\n")
        time.sleep(pause)      # the client's slowness itself
        slow.send("x" * 50_000)
        assert slow.read_response("PUT").status == next_one.read_response("GET").status == 200
    first, second = archive.ask("SELECT * FROM php_requests ORDER BY start_ns")
    assert first["wait_ns"] < pause * 1e9 / 2 < second["wait_ns"], (first, second)
