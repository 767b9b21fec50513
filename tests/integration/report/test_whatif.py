"""mpmstat whatif: what a recorded server would do if something were different.

The server's time is sleep, so that other programs hardly matter: 2 workers of PHP that sleep 50 ms
answer 40 requests per second, whatever the load.
"""
import json
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

import apache as apaches
import build
import php
import tool
from fpm import FPM

PAGE = "<?php usleep(50000); echo 'done';"
LOCKS = """<?php $f = fopen('@ROOT@/lock', 'c'); flock($f, LOCK_EX); usleep(20000);
flock($f, LOCK_UN); usleep(mt_rand(0, 80000));"""
CLIENTS, CHILDREN = 8, 2


def record(path, directory, page, *words, children=CHILDREN, workers=20):
    """Writes the archive `path` of a load by ab on `page`, with files of its own in `directory`."""
    with FPM(children, settings=php.settings("@ROOT@/run")) as fpm, \
            apaches.Apache("event", php="fpm", fpm=fpm, workers=workers) as apache:
        apache.page("page.php", page.replace("@ROOT@", str(fpm.root / "run")))
        targets = directory / "targets"
        targets.write_text(f"{apache.board}\n{fpm.board}\n")
        tool.run("record", "-o", path, "--targets", targets, "--", "ab", "-q", *words,
                 f"http://127.0.0.1:{apache.port}/page.php", timeout=120)


def record_predictable(parent, page, *words, **options):
    """The archive of a load that the model reproduces. Other programs' work can disturb a recording
    so much that nothing is predicted from it: then it is made again, at most nine times."""
    for attempt in range(10):
        directory = parent / str(attempt)
        directory.mkdir()
        record(directory / "run.db", directory, page, *words, **options)
        done = ask(directory / "run.db", "--load", "x1", status=None)
        if done.returncode == 0:
            return directory / "run.db"
    raise AssertionError(f"no recording of ten can be simulated, the last one: {done.stdout}{done.stderr}")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return record_predictable(tmp_path_factory.mktemp("whatif"), PAGE, "-n", "200", "-c", str(CLIENTS))


def ask(archive, *options, status=0):
    done = subprocess.run([str(build.TOOL), "whatif", *options, str(archive)], check=False,
                          capture_output=True, text=True, timeout=120)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def told(archive, *options):
    return json.loads(ask(archive, "--json", *options).stdout)


def near(estimate, expected, part=0.15):
    assert estimate["value"] == pytest.approx(expected, rel=part)
    assert estimate["low"] < estimate["value"] < estimate["high"]


def test_more_workers(archive):
    said = told(archive, "--set", "pm.max_children=4")
    assert said["why_not"] is None
    assert said["now"]["requests_per_second"] == pytest.approx(40, rel=0.15)
    assert said["now"]["runs_out"] == said["then"]["runs_out"] == "php-workers"
    rate, p50 = (said["now"][name] for name in ("requests_per_second", "p50_seconds"))
    near(said["then"]["requests_per_second"], 2 * rate)
    near(said["then"]["p50_seconds"], p50 / 2)
    said = told(archive, "--set", "pm.max_children=8")
    near(said["then"]["requests_per_second"], 4 * rate)
    near(said["then"]["p50_seconds"], p50 / 4)
    use = {use["name"]: use for use in said["then"]["in_use"]}
    assert use["php-workers"]["limit"] == 8 and use["php-workers"]["waiting"] < 0.5


def test_as_it_was(archive):
    said = told(archive, "--load", "x1")
    for name in ("requests_per_second", "p50_seconds", "p95_seconds"):
        near(said["then"][name], said["now"][name], 0.02)
    assert said == told(archive, "--load", "x1"), "the same every time"


def test_another_load(archive):
    said = told(archive, "--clients", "4")
    near(said["then"]["requests_per_second"], said["now"]["requests_per_second"])
    near(said["then"]["p50_seconds"], said["now"]["p50_seconds"] / 2)
    said = told(archive, "--load", "x2")
    near(said["then"]["p50_seconds"], said["now"]["p50_seconds"] * 2)
    said = told(archive, "--rate", "20/s")
    near(said["then"]["requests_per_second"], 20, 0.25)
    assert said["then"]["runs_out"] is None and not said["then"]["overloaded"]
    said = told(archive, "--rate", "100")
    assert said["then"]["overloaded"] and said["then"]["runs_out"] == "php-workers"
    text = ask(archive, "--rate", "100").stdout
    assert "Requests come faster than they are answered." in text


def test_several_changes(archive):
    said = told(archive, "--set", "pm.max_children=8", "--set", "MaxRequestWorkers=5",
                "--end", "sleep=x2")
    near(said["then"]["requests_per_second"], 50)
    assert said["then"]["runs_out"] == "apache-workers"
    said = told(archive, "--without", "sleep", "--cpus", "64")
    assert said["then"]["requests_per_second"]["value"] > 400


def test_sweep(archive):
    said = told(archive, "--sweep", "pm.max_children=1..8")
    assert said["swept"] == "pm.max_children"
    points = {point["at"]: point["requests_per_second"]["value"] for point in said["sweep"]}
    assert list(points) == sorted(points) and min(points) == 1 and max(points) == 8
    rate = said["now"]["requests_per_second"]
    assert points[1] == pytest.approx(rate / 2, rel=0.15)
    assert points[8] == pytest.approx(rate * 4, rel=0.15)
    lines = [line.split() for line in ask(archive, "--sweep", "clients=1..4").stdout.splitlines()]
    assert ["1", "2", "3", "4"] == [line[0] for line in lines if line and line[0].isdigit()]


def test_page(archive):
    """The curves of a sweep have the points of its JSON, and the page has the text's sentences."""
    sweep = ("--sweep", "pm.max_children=2..32")
    points = told(archive, *sweep)["sweep"]
    page = ask(archive, "--format", "html", *sweep).stdout
    assert page.startswith("<!DOCTYPE html>") and "<script" not in page
    assert page.count("<svg") == 2 and page.count("<polyline") == 2
    assert page.count("<circle") == 2 * len(points)
    assert f"<title>predicted, {points[0]['at']} pm.max_children: " in page
    assert "<h1>What if pm.max_children</h1>" in page and "The simulation of the run" in page
    page = ask(archive, "--format", "html", "--set", "pm.max_children=4").stdout
    assert "<svg" not in page and "<h1>What if pm.max_children=4</h1>" in page


def test_text(archive):
    text = ask(archive, "--set", "pm.max_children=8").stdout
    assert "What if pm.max_children=8:" in text
    assert "Now PHP's workers run out: all 2 are in use, and " in text
    assert "Then nothing runs out" in text
    assert "6 more processes take up to " in text
    assert "what was measured: requests per second" in " ".join(text.split())


def test_lock(tmp_path):
    """A request has the lock for 20 ms, so that there are at most 50 per second."""
    archive = record_predictable(tmp_path, LOCKS, "-n", "200", "-c", "10", children=6)
    said = told(archive, "--set", "pm.max_children=8")
    assert said["then"]["requests_per_second"]["value"] < 60
    assert said["then"]["runs_out"].startswith("lock")
    said = told(archive, "--set", "pm.max_children=8", "--without", "lock")
    assert said["then"]["requests_per_second"]["value"] > 90


def test_lock_of_a_short_load(tmp_path):
    """Many of its few requests are in flight when the load ends: they are no part of its rate, and
    the lock's time is not that of the load divided by all of them."""
    archive = record_predictable(tmp_path, LOCKS.replace("usleep(mt_rand(0, 80000));", ""),
                                 "-t", "3", "-c", "20", children=3)
    said = told(archive, "--set", "pm.max_children=20")
    assert said["now"]["requests_per_second"] == pytest.approx(48, rel=0.15)
    near(said["then"]["requests_per_second"], said["now"]["requests_per_second"], 0.1)
    assert said["then"]["runs_out"].startswith("lock")


def test_failures_predict_nothing(tmp_path):
    record(tmp_path / "run.db", tmp_path, "<?php usleep(5000); http_response_code(500);", "-n",
           "1000", "-c", "2")
    done = ask(tmp_path / "run.db", "--load", "x2", status=1)
    assert "more than a twentieth of its requests failed" in " ".join(done.stdout.split())
    said = json.loads(ask(tmp_path / "run.db", "--load", "x2", "--json", status=1).stdout)
    assert said["why_not"] and "then" not in said


@pytest.mark.parametrize("options, words", [
    ([], "say what is different"),
    (["--set", "pm.max_children"], "expected a setting and its value"),
    (["--set", "pm.max_children=none"], "expected pm.max_children to be a whole number"),
    (["--set", "pm.max_childs=4"], "the recording has no workers that pm.max_childs limits"),
    (["--set", "KeepAlive=On"], "expected KeepAlive to be Off"),
    (["--set", "mpm=prefork"], "expected mpm to be event"),
    (["--clients", "0"], "expected --clients to be a whole number"),
    (["--load", "2"], "expected --load to be a factor"),
    (["--rate", "fast"], "expected --rate to be a rate from 0.001 to 1000000 per second"),
    (["--cpus", "0"], "expected --cpus to be a number"),
    (["--end", "database"], "expected --end to be an end and a factor"),
    (["--end", "database=x2"], 'no request waited for "database"; the recording has: "sleep"'),
    (["--without", "lock"], 'no request waited for "lock"'),
    (["--sweep", "clients=4..2"], "expected --sweep to be a name and two numbers"),
    (["--sweep", "nothing=2..4"], "the recording has no workers that nothing limits"),
    (["--format", "xml", "--load", "x2"], 'there is no format "xml": expected text, json or html'),
])
def test_wrong_usage(archive, options, words):
    assert words in ask(archive, *options, status=2).stderr


def test_archives(archive, tmp_path):
    assert "there is no run" in ask(archive, "--run", "7", "--load", "x2", status=3).stderr
    ask(tmp_path / "none.db", "--load", "x2", status=3)
    assert told(archive, "--run", "1", "--load", "x1")["run"] == 1


def test_cpus_are_not_known(archive, tmp_path):
    """An archive that does not tell of the CPUs: the prediction says so."""
    assert told(archive, "--load", "x1")["cpus_known"] is True
    other = tmp_path / "other.db"
    shutil.copy(archive, other)
    with closing(sqlite3.connect(other)) as database, database:
        database.execute("DELETE FROM environment WHERE name = 'cpus'")
    said = json.loads(ask(other, "--json", "--load", "x1", status=None).stdout)
    assert said["cpus_known"] is False
    words = " ".join(ask(other, "--load", "x1", status=None).stdout.split())
    assert "is not known: the prediction is for as many as they want" in words or said["why_not"]
