"""What was predicted, and what came: record and whatif --keep keep predictions, compare judges them.

The server's time is sleep, so that other programs hardly matter: 2 workers of PHP that sleep 50 ms
answer 40 requests per second, 8 of them 160.
"""
import json
import shutil
import sqlite3
from contextlib import closing

import pytest

import apache as apaches
import php
import tool
from fpm import FPM

PAGE = "<?php usleep(50000); echo 'done';"
CLIENTS, CHILDREN, REQUESTS = 8, 2, 200


def record(archive, children=CHILDREN, clients=CLIENTS, page="page.php", workers=20):
    """Records a load by ab on a page that sleeps, of an Apache before an FPM of so many workers."""
    with FPM(children, settings=php.settings("@ROOT@/run")) as fpm, \
            apaches.Apache("event", php="fpm", fpm=fpm, workers=workers) as apache:
        apache.page(page, PAGE)
        done = tool.run("record", "-o", archive, "--name", archive.stem, "-t", apache.board, "-t", fpm.board, "--", "ab", "-q",
                        "-n", str(REQUESTS), "-c", str(clients),
                        f"http://127.0.0.1:{apache.port}/{page}", timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


def ask(archive, query):
    with closing(sqlite3.connect(archive)) as database:
        return database.execute(query).fetchall()


def compare(a, b):
    done = tool.run("compare", "--format", "json", a, b)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def client_of(archive):
    """What the load tool measured: the witness of what came."""
    return json.loads(tool.report("--format", "json", archive))[0]["client"]


def expect_measured(predictions, archive):
    rate, p50, p95 = (p["measured"] for p in predictions)
    client = client_of(archive)
    assert (p50, p95) == (client["p50_seconds"], client["p95_seconds"])
    assert rate == pytest.approx(client["requests_per_second"], rel=0.1)
    assert all(p["within"] == (p["low"] <= p["measured"] <= p["high"]) for p in predictions)


def compare_text(a, b):
    done = tool.run("compare", a, b)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """The archive of 2 workers and 8 clients, whose advice has a prediction. Other programs' work can
    disturb a recording so much that nothing is predicted from it: then it is made again."""
    directory = tmp_path_factory.mktemp("ledger")
    for attempt in range(5):
        archive = directory / f"before{attempt}.db"
        record(archive)
        if ask(archive, "SELECT 1 FROM predictions"):
            return archive
    raise AssertionError("nothing is predicted from 5 recordings")


@pytest.fixture(scope="module")
def advised(before):
    ((workers,),) = ask(before, "SELECT value FROM predicted_settings")
    return int(workers)


@pytest.fixture(scope="module")
def after(before, advised):
    """The advice followed."""
    archive = before.with_name("after.db")
    record(archive, advised)
    return archive


def test_record_keeps_what_its_advice_predicts(before, advised):
    assert CHILDREN < advised <= CLIENTS
    rows = ask(before, "SELECT code, clients, load_per_1000s, by_client, measure, predicted, low, high "
                       "FROM predictions ORDER BY measure")
    assert [row[4] for row in rows] == ["p50_ns", "p95_ns", "requests_per_1000s"]
    for code, clients, load, by_client, measure, predicted, low, high in rows:
        assert (code, clients, load, by_client) == ("php-workers", CLIENTS, None, 1)
        assert low < predicted < high
        assert predicted == pytest.approx(20_000 * advised if measure[0] == "r" else 50_000_000, rel=0.25)
    assert ask(before, "SELECT section, name FROM predicted_settings") == [("www", "pm.max_children")]


def test_the_advice_followed(before, advised, after):
    """What came is what the load tool says, and it stands beside what was predicted."""
    said = compare(before, after)["predictions"]
    assert [p["metric"] for p in said] == ["requests_per_second", "p50_seconds", "p95_seconds"]
    for p in said:
        assert p["change"] == f"pm.max_children = {advised}" and p["by"] == "php-workers"
        assert p["runs"] == [1] and p["why_not"] is None
    expect_measured(said, after)
    text = compare_text(before, after)
    assert f"Predicted from run 1 for pm.max_children = {advised}: " in text
    words = "within" if said[0]["within"] else "below" if said[0]["measured"] < said[0]["low"] else "above"
    assert f": {words} the interval; p50 " in text
    assert "Predicted from run 1" in tool.run("compare", "--format", "md", before, after).stdout
    assert "predicted" not in tool.run("compare", "--format", "csv", before, after).stdout
    assert "Predicted from run 1" in tool.report("--format", "html", before, after)


def test_nothing_is_said_of_what_nobody_tried(before, after):
    assert compare(before, before)["predictions"] == []
    assert compare(after, before)["predictions"] == [], "B has what A advises nothing of"
    assert "redicted" not in compare_text(before, before)


@pytest.mark.parametrize("other, why", [
    ({"clients": 4}, "B has 4 clients"),
    ({"workers": 30}, "MaxRequestWorkers is 30 in B and 20 in A"),
    ({"children": 4}, "pm.max_children is 4 in B"),
    ({"page": "other.php"}, "the URL's path is /other.php in B and /page.php in A"),
])
def test_another_change_is_not_judged(before, advised, tmp_path, other, why):
    record(tmp_path / "b.db", **{"children": advised, **other})
    said = compare(before, tmp_path / "b.db")["predictions"]
    assert len(said) == 3
    for p in said:
        assert p["within"] is None and p["measured"] is None and why in p["why_not"]
    assert f"B is not the change that was predicted from run 1, pm.max_children = {advised}: " \
        in compare_text(before, tmp_path / "b.db")


def test_a_user_keeps_a_prediction(before, after, tmp_path):
    archive = tmp_path / "before.db"
    shutil.copy(before, archive)
    asked = ("--set", "pm.max_children=16", "--clients", "16", archive)
    done = tool.run("whatif", *asked, timeout=120)
    assert done.returncode == 0
    assert archive.read_bytes() == before.read_bytes(), "nobody asked for it to be written"
    for _ in range(2):   # the second time takes the place of the first
        done = tool.run("whatif", "--keep", *asked, timeout=120)
        assert done.returncode == 0 and "kept in" in done.stderr, done.stderr
    assert ask(archive, "SELECT code, clients, count(*) FROM predictions GROUP BY number") == [
        ("php-workers", CLIENTS, 3), ("whatif", 16, 3)]
    assert ask(archive, "SELECT name, value FROM predicted_settings WHERE number = 2") == [
        ("pm.max_children", "16")]
    record(tmp_path / "b.db", 16, 16)
    said = compare(archive, tmp_path / "b.db")["predictions"]
    assert [p["by"] for p in said] == ["whatif"] * 3
    assert all(p["change"] == "pm.max_children = 16, 16 clients" for p in said)
    expect_measured(said, tmp_path / "b.db")
    assert "Predicted by mpmstat whatif from run 1 for pm.max_children = 16, 16 clients: " \
        in compare_text(archive, tmp_path / "b.db")
    assert [p["by"] for p in compare(archive, after)["predictions"]] == ["php-workers"] * 3


@pytest.mark.parametrize("options, words", [
    (["--cpus", "4"], "--keep takes limits of workers and the load"),
    (["--without", "sleep"], "--keep takes limits of workers and the load"),
    (["--load", "x1"], "there is nothing to keep"),
    (["--sweep", "pm.max_children=2..4"], "--keep keeps one prediction"),
])
def test_what_cannot_be_kept(before, options, words):
    done = tool.run("whatif", "--keep", *options, before, timeout=120)
    assert done.returncode == 2 and words in done.stderr and done.stdout == ""


def test_an_archive_that_cannot_be_written(before, tmp_path):
    """The prediction is shown, and that it is not kept is said."""
    archive = tmp_path / "before.db"
    shutil.copy(before, archive)
    with closing(sqlite3.connect(archive)) as database:
        database.execute("BEGIN IMMEDIATE")
        done = tool.run("whatif", "--keep", "--set", "pm.max_children=4", archive, timeout=120)
    assert done.returncode == 4 and "the prediction is not kept" in done.stderr
    assert "What if pm.max_children=4" in done.stdout
