"""Intervals, waits and other ends: the numbers that come out of a recording, in every format, are
those that make_board has put into its boards."""
import csv
import io
import json
import subprocess
from decimal import Decimal

import pytest

import boards
import build
import tool
from processes import wait_until
from recording import ask, has_begun

REQUESTS = 20
INTERVALS = {"tls": 8, "h2_wait": Decimal("0.6"), "checks": 60, "upload": 40, "backend": 2700,
             "send_client": 300, "send_network": 70, "send_server": 30, "undelivered": 5000,
             "log": 50}                                    # in us, of each request
RUN = {"cpu": 450, "cpu_wait": 5, "rest": 10}
WAITS = {"database": 25, "cache": 10}
ENDS = {("database", "mysql 127.0.0.1:3306"): (2, 0, 20), ("database", "sqlite /srv/app.db"):
        (1, 0, 5), ("cache", "redis 127.0.0.1:6379"): (1, 1, 10),
        ("handler", "proxy:unix:/run/php.sock"): (1, 0, 2940),
        ("backend", "fcgi://localhost"): (1, 0, 2700)}     # calls, failed, us, of each request


def us(number):
    return Decimal(number) / 10 ** 6


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A recording of REQUESTS requests to both boards; some were there before."""
    path = tmp_path_factory.mktemp("parts") / "runs.sqlite"
    with boards.board(3, "apache.board", php="php.board") as board:
        command = [str(build.TOOL), "record", "-o", str(path), "-t", str(board.path),
                   "-t", str(board.php), "--", "cat"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as recorder:
            wait_until(lambda: has_begun(path), 30, "the recording has begun")
            board.serve(REQUESTS)
            recorder.communicate(timeout=60)
    return path


@pytest.fixture(scope="module")
def servers(archive):
    (summary,) = json.loads(tool.report("--format", "json", archive), parse_float=Decimal)
    return {server["producer"]: server for server in summary["servers"]}


def test_intervals(servers):
    found = servers["apache"]["intervals"]
    assert {name: interval["mean_seconds"] for name, interval in found.items()} == {
        name: us(mean) for name, mean in INTERVALS.items()}
    assert all(interval["requests"] == interval["count"] == REQUESTS
               and interval["sum_seconds"] == REQUESTS * interval["p99_seconds"]
               for interval in found.values())


def test_parts_of_php_run(servers):
    run = servers["php"]["run"]
    assert {name: run[name]["mean_seconds"] for name in RUN} == {
        name: us(mean) for name, mean in RUN.items()}
    assert {name: wait["mean_seconds"] for name, wait in run["waits"].items()} == {
        name: us(mean) for name, mean in WAITS.items()}
    parts = [run[name] for name in RUN] + list(run["waits"].values())
    assert sum(part["sum_seconds"] for part in parts) == \
        servers["php"]["phases"]["php_run"]["sum_seconds"]


def test_other_ends(servers):
    found = {(end["kind"], end["end"]): (end["calls"], end["failed"], end["seconds"])
             for server in servers.values() for end in server["ends"]}
    assert found == {end: (calls * REQUESTS, failed * REQUESTS, us(time) * REQUESTS)
                     for end, (calls, failed, time) in ENDS.items()}


def test_archive(archive):
    assert ask(archive, "SELECT DISTINCT handler, backend, undelivered_bytes, undelivered_ns, "
                        "upload_ns FROM server_requests") == [
        ("proxy:unix:/run/php.sock", "fcgi://localhost", 3000, 5000000, 40000)]
    assert ask(archive, "SELECT kind, end, calls, failed, wait_ns, count(*) FROM php_waits "
                        "GROUP BY kind, end ORDER BY kind, end") == [
        ("cache", "redis 127.0.0.1:6379", 1, 1, 10000, REQUESTS),
        ("database", None, None, None, 5000, REQUESTS),
        ("database", "mysql 127.0.0.1:3306", 2, 0, 20000, REQUESTS)]
    assert ask(archive, "SELECT DISTINCT cpu_wait_ns, waits_ns FROM php_requests") == [
        (5000, 35000)]


def test_text(archive):
    text = tool.report("--format", "text", archive)
    for name in ("| h2_wait", "| tls", "| checks", "| upload", "| client", "| network", "| server",
                 "| log", "undelivered then: of 20 requests, for 5.00 ms", "| cpu_wait", "| cache",
                 "| rest"):
        assert any(line.startswith(f"  {name} ") for line in text.splitlines()), (name, text)
    # Below Apache's php_run, and below that of PHP's own table.
    lines = [line for line in text.splitlines() if line.startswith("  | database ")]
    assert [line.split()[2:4] for line in lines] == 2 * [["25.0", "us"]]
    (line,) = [line for line in text.splitlines() if "redis 127.0.0.1:6379" in line]
    calls, _, *mean, _ = line.split()[:5]
    assert [calls, *mean, *line.split()[-3:]] == ["20", "10.0", "us", "cache", "redis",
                                                  "127.0.0.1:6379"]


def test_csv(archive):
    (row,) = csv.DictReader(io.StringIO(tool.report("--format", "csv", archive)))
    for name, mean in INTERVALS.items():
        assert Decimal(row[f"{name}_mean_seconds"]) == us(mean)
    for name, mean in {**RUN, **WAITS}.items():
        assert Decimal(row[f"php_{name}_mean_seconds"]) == us(mean)
    assert row["php_dns_mean_seconds"] == ""


def test_status():
    """The live formats, since the server's start."""
    with boards.board(REQUESTS, "apache.board", php="php.board") as board:
        apache, php = (tool.status(path) for path in (board.path, board.php))
        metrics = tool.run("status", "--format", "openmetrics", board.php).stdout
    (label,) = [label for label in apache["labels"] if label["label"] == "www"]
    assert label["interval_seconds"] == {name: us(mean) * REQUESTS
                                         for name, mean in INTERVALS.items()}
    (label,) = [label for label in php["labels"] if label["label"] == "www"]
    waits = {kind: time for kind, time in label["php"]["waits_seconds"].items() if time}
    assert waits == {name: us(mean) * REQUESTS for name, mean in WAITS.items()}
    assert {(end["kind"], end["name"]) for end in apache["ends"] + php["ends"]} == set(ENDS)
    assert any(line.startswith("mpmstat_end_calls_total{") and 'end="mysql 127.0.0.1:3306"' in line
               and line.endswith(" 40") for line in metrics.splitlines())
