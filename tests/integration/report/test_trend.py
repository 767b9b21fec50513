"""mpmstat report --trend: many archives, and where a change is more than noise."""
import json
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

import build
from recording import ab, record

DAY_NS = 86400 * 10**9
# Each recording's times against the first one's, in percent: the sixth is noise, the eighth stays.
FACTORS = [100, 102, 99, 101, 100, 104, 98, 150, 152]


def report(form, *words, status=0):
    done = subprocess.run([build.TOOL, "report", "--trend", "--format", form, *map(str, words)],
                          text=True, capture_output=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


@pytest.fixture
def archives(server, tmp_path):
    """The same load on nine days, of which the last two were slower by half. ab's times are whole
    milliseconds: with five more, none is 0, of which no trend is known."""
    apache = server("event")
    first = tmp_path / "day0.sqlite"
    record(apache, first, *ab(apache, "/index.html", "-n", "1200", "-c", "4"))
    with closing(sqlite3.connect(first)) as db:
        db.execute("UPDATE client_requests SET duration_ns = duration_ns + 5000000")
        db.commit()
    made = [first]
    for day, percent in enumerate(FACTORS[1:], 1):
        made.append(tmp_path / f"day{day}.sqlite")
        shutil.copy(first, made[-1])
        with closing(sqlite3.connect(made[-1])) as db:
            for table in ("client_requests", "server_requests"):
                db.execute(f"UPDATE {table} SET start_ns = start_ns + ?", (day * DAY_NS,))
            db.execute("UPDATE runs SET started_ns = started_ns + ?, ended_ns = ended_ns + ?",
                       (day * DAY_NS, day * DAY_NS))
            db.execute("UPDATE client_requests SET duration_ns = duration_ns * ? / 100", (percent,))
            db.execute("UPDATE client_results SET requests_per_1000s = requests_per_1000s * 100 / ?, "
                       "p50_ns = p50_ns * ? / 100", (percent, percent))
            db.commit()
    return made


def test_changes(archives):
    line, = json.loads(report("json", *reversed(archives)))
    points = line["points"]
    assert [point["archive"] for point in points] == [str(path) for path in archives], "by time"
    assert line["name"] is None and all(point["runs"] == 1 for point in points)
    trends = [point["trend"]["requests_per_second"]["is"] for point in points]
    assert trends == [None] * 3 + ["noise"] * 4 + ["changed", None], trends
    assert points[7]["trend"]["p99_seconds"]["is"] == "changed", points[7]
    rate = points[7]["trend"]["requests_per_second"]
    assert points[7]["requests_per_second"] < rate["low"] < rate["before"] < rate["high"]
    assert points[0]["finding"] and points[0]["error_share"] == 0


def test_the_last_is_suspected(archives):
    line, = json.loads(report("json", *archives[:8]))
    assert line["points"][-1]["trend"]["p50_seconds"]["is"] == "suspected"
    text = report("text", *archives[:8])
    assert re.search(r"requests/s fell from [\d.]+ to [\d.]+, by 33 % \(to be confirmed", text), text


def test_formats(archives):
    for form in ("text", "md"):
        out = report(form, *archives)
        assert re.search(r"p99 rose from .* to .*, by [45]\d %", out), out
        assert out.count("day") >= 9 and "\\x" not in out
    page = report("html", *archives)
    assert page.count("<svg") == 5 and page.count('stroke="#c9302c"') >= 3 and "<script" not in page
    assert "No change" in report("text", *archives[:5])
    assert "too few recordings" in report("text", *archives[:3])
    assert "--trend goes with" in report("csv", *archives, status=2)


def test_names_are_lines(server, archive):
    """Runs of two names, and a repetition, in one archive: two lines with a point each."""
    apache = server("event")
    subprocess.run([build.TOOL, "record", "-q", "-o", archive, "-t", apache.board, "--repeat", "2",
                    "--interleave", "--", *ab(apache, "/", "-n", "50"), "--versus",
                    *ab(apache, "/index.html", "-n", "50")], check=True, capture_output=True)
    lines = json.loads(report("json", archive))
    assert [(line["name"], [p["runs"] for p in line["points"]]) for line in lines] == [
        ("A", [2]), ("B", [2])]
