"""mpmstat record --repeat and --interleave, mpmstat compare, and what is said beforehand."""
import csv
import json
import os
import re
import resource
import sqlite3
import subprocess
import threading

import pytest

import build
import tool
from apache import Apache
from comparing import AB, compare, load, record
from processes import wait_until

# Pages that wait: what another program takes of the CPUs is little beside it.
FAST, SLOW = "/sleep.php?seconds=0.015&spread=0", "/sleep.php?seconds=0.15&spread=0"


@pytest.fixture(scope="module")
def apache():
    with Apache("prefork", php="mod_php", workers=4) as started:
        started.get(FAST)
        yield started


def ask(archive, query):
    with sqlite3.connect(archive) as db:
        return db.execute(query).fetchall()


@pytest.fixture(scope="module")
def interleaved(apache, tmp_path_factory):
    """An archive of three repetitions of a fast and of a slow page, and what record said."""
    archive = tmp_path_factory.mktemp("compare") / "ab.sqlite"
    done = record(apache, archive, "--repeat", "3", "--interleave", "--name", "fast", "--name",
                  "slow", "--", *load(apache, FAST), "--versus", *load(apache, SLOW))
    return archive, done.stdout


# ---- recording --------------------------------------------------------------------------


def test_the_commands_take_turns(interleaved):
    archive, said = interleaved
    assert ask(archive, "SELECT name, repetition, complete FROM runs ORDER BY id") == [
        ("fast", 1, 1), ("slow", 1, 1), ("slow", 2, 1), ("fast", 2, 1), ("fast", 3, 1),
        ("slow", 3, 1)]
    lines = said.splitlines()
    assert len(lines) == 7 and lines[0].startswith("run 1 fast, 1 of 3: ")
    assert lines[-1] == f"Compare them: mpmstat compare '{archive}#fast' '{archive}#slow'"


def test_no_run_begins_with_requests_in_flight(interleaved):
    archive, _ = interleaved
    assert ask(archive, "SELECT DISTINCT in_flight FROM samples WHERE moment = 'before'") == [(0,)]
    assert ask(archive, "SELECT count(*) FROM server_requests WHERE ghost") == [(0,)]


def test_the_shared_cpus_are_known(interleaved):
    (shared,) = ask(interleaved[0], "SELECT DISTINCT CAST(value AS INTEGER) FROM environment "
                                    "WHERE name = 'cpus_shared_with_server'")
    assert shared[0] == len(os.sched_getaffinity(0))


def test_repeated_runs_as_json(apache, tmp_path):
    done = record(apache, tmp_path / "runs.sqlite", "--repeat", "2", "--format", "json", "--",
                  *load(apache, FAST, 5))
    runs = json.loads(done.stdout)
    assert [run["run"]["id"] for run in runs] == [1, 2]
    assert all(run["client"]["requests"] == 5 for run in runs)


def test_the_first_failure_ends_it(apache, tmp_path):
    archive = tmp_path / "runs.sqlite"
    done = record(apache, archive, "--repeat", "3", "--format", "json", "--", "false", status=1)
    assert len(json.loads(done.stdout)) == 1
    assert ask(archive, "SELECT repetition, outcome FROM runs") == [(1, "failed")]


# ---- comparing --------------------------------------------------------------------------


def test_the_slow_page_is_slower(interleaved):
    archive, _ = interleaved
    fast, slow = f"{archive}#fast", f"{archive}#slow"
    text = compare(fast, slow).stdout
    assert re.match(r"B is slower: \d+ ms a request instead of [\d.]+ ms, [\d.]+ times as much "
                    r"\([\d.]+ to [\d.]+ times\); ", " ".join(text.split())), text
    assert "client, req/s" in text and len(text.splitlines()) <= 30, text
    assert "made alternately: each run of B is compared with its neighbour of A" in text
    assert "beware" not in text or "notes" in text, text
    done = compare("--fail-if-slower", "5%", fast, slow, status=1)
    assert done.stdout.startswith("B is slower by more than 5 %: ")
    assert "B is not slower" in compare("--fail-if-slower=5", slow, fast).stdout
    compare("--fail-if-slower", "5%", "--fail-if-unsure", slow, fast)


def test_json(interleaved):
    archive, _ = interleaved
    found = json.loads(compare("--format", "json", "--fail-if-slower", "5%", "--metric",
                               "handle_mean_seconds", f"{archive}#fast", f"{archive}#slow",
                               status=1).stdout)
    assert found["paired"] is True and found["slower"] is True and found["fail_if_slower"] == 0.05
    assert found["a"]["runs"] == [1, 4, 5] and found["b"]["runs"] == [2, 3, 6]
    metrics = {metric["metric"]: metric for metric in found["metrics"]}
    assert [name for name, metric in metrics.items() if metric["gate"]] == ["handle_mean_seconds"]
    handle = metrics["handle_mean_seconds"]
    assert handle["change"] == "more" and handle["low"] > 1.05 and handle["a"] < handle["b"]
    assert handle["low"] <= handle["ratio"] <= handle["high"]


def test_csv(interleaved):
    """The members of JSON, as columns."""
    archive, _ = interleaved
    sides = f"{archive}#fast", f"{archive}#slow"
    wanted = json.loads(compare("--format", "json", *sides).stdout)["metrics"]
    lines = list(csv.DictReader(compare("--format", "csv", *sides).stdout.splitlines()))
    assert [line["metric"] for line in lines] == [metric["metric"] for metric in wanted]
    for line, metric in zip(lines, wanted):
        assert line["gate"] == ("yes" if metric["gate"] else "no")
        assert line["change"] == (metric["change"] or "")
        for name in ("a", "b", "ratio", "low", "high", "noise"):
            assert line[name] == "" if metric[name] is None else float(line[name]) == metric[name]


def test_a_against_a_cannot_tell(interleaved):
    archive, _ = interleaved
    fast = f"{archive}#fast"
    found = json.loads(compare("--format", "json", "--fail-if-slower", "5%", fast, fast).stdout)
    assert {metric["change"] for metric in found["metrics"]} == {None}
    assert {metric["ratio"] for metric in found["metrics"]} <= {1, None}
    assert all(metric["text"].startswith("cannot tell: ") for metric in found["metrics"])


def test_one_run_each_cannot_tell(interleaved):
    archive, _ = interleaved
    done = compare("--fail-if-slower", "5%", f"{archive}#1", f"{archive}#2")
    said = " ".join(done.stdout.split())
    assert "One run each cannot tell whether that is chance: record both with --repeat 5" in said
    assert done.stdout.startswith("Cannot tell whether B is slower by more than 5 %: ")
    assert "cannot tell: " not in done.stdout, "one remark is enough"
    assert "cannot tell whether B is slower than A" in done.stderr
    compare("--fail-if-slower", "5%", "--fail-if-unsure", f"{archive}#1", f"{archive}#2", status=1)


def test_one_after_the_other(apache, interleaved, tmp_path):
    archive = tmp_path / "after.sqlite"
    record(apache, archive, "--repeat", "3", "--", *load(apache, SLOW, 31))
    text = compare("--fail-if-slower", "5%", f"{interleaved[0]}#fast", archive, status=1).stdout
    assert "beware: the runs of A and B were not made alternately" in text
    assert "beware: the load makes another number of requests: 30 in run 1 of A, 31 in" in text


def test_another_load_does_not_compare(apache, interleaved, tmp_path):
    archive = tmp_path / "clients.sqlite"
    record(apache, archive, "--", *(word if word != "2" else "3" for word in load(apache, FAST)))
    text = compare(f"{interleaved[0]}#1", archive).stdout
    assert text.startswith('A and B do not compare: the load differs: "-c 2" in A, "-c 3" in B.')


def test_failures_do_not_compare(apache, interleaved, tmp_path):
    archive = tmp_path / "missing.sqlite"
    record(apache, archive, "--repeat", "3", "--", *load(apache, "/none.html"))
    done = compare("--fail-if-slower", "5%", f"{interleaved[0]}#slow", archive)
    said = " ".join(done.stdout.split())
    assert said.startswith("A and B do not compare: requests failed or had another status than 2xx "
                           "(90 of 90 of B, most often 404; none of A). Cannot tell whether"), said
    assert "B is not slower" not in said and "faster" not in said
    assert "by more than 5 %: A and B do not compare" in done.stderr


@pytest.mark.parametrize("arguments, status, words", [
    (["compare"], 2, "two things to compare"), (["compare", "a"], 2, "got 1"),
    (["compare", "--frob", "a", "b"], 2, "--frob is not an option"),
    (["compare", "--format", "xml", "a", "b"], 2, "text, md, json or csv"),
    (["compare", "--fail-if-slower", "fast", "a", "b"], 2, "a percentage from 0 to 1000"),
    (["compare", "--fail-if-slower", "-5%", "a", "b"], 2, "a percentage from 0 to 1000"),
    (["compare", "--fail-if-slower", "nan", "a", "b"], 2, "a percentage from 0 to 1000"),
    (["compare", "--fail-if-unsure", "a", "b"], 2, "go with --fail-if-slower"),
    (["compare", "--metric", "speed", "a", "b"], 2, "client_mean_seconds"),
    (["compare", "/nowhere/a", "b"], 3, "cannot open the archive /nowhere/a"),
    (["record", "--repeat", "0", "--", "true"], 2, "from 1 to 1000"),
    (["record", "--repeat", "some", "--", "true"], 2, "from 1 to 1000"),
    (["record", "--repeat", "2"], 2, "take a command to run"),
    (["record", "--interleave", "--", "true"], 2, "several commands with --versus between"),
    (["record", "--interleave", "--", "true", "--versus"], 2, "no command behind --versus"),
    (["record", "--interleave", "--name", "x", "--", "true", "--versus", "false"], 2,
     "2 commands, and --name was given 1 times"),
], ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "")
def test_wrong_usage_is_a_sentence(arguments, status, words):
    done = tool.run(*arguments)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    assert done.stdout == "" and words in done.stderr, done.stderr
    assert done.stderr.startswith("mpmstat: ") and done.stderr.count("\n") == 1


# ---- beforehand -------------------------------------------------------------------------


def notes(archive):
    return [text for (text,) in ask(archive, "SELECT text FROM notes")]


def in_flight(apache):
    return sum(entry["in_flight"] for entry in tool.labels(tool.status(apache.board)))


@pytest.mark.parametrize("seconds, ghosts", [(2, 0), (8, 1)])
def test_it_waits_for_what_is_in_flight(apache, tmp_path, seconds, ghosts):
    archive = tmp_path / "runs.sqlite"
    before = threading.Thread(target=apache.get, args=(f"/sleep.php?seconds={seconds}&spread=0",))
    before.start()
    wait_until(lambda: in_flight(apache) == 1, 10, "the request")
    record(apache, archive, "--", *load(apache, "/sleep.php?seconds=0.1&spread=0", 40))
    before.join()
    assert ask(archive, "SELECT in_flight FROM samples WHERE moment = 'before'") == [(ghosts,)]
    assert any("requests are in flight" in note for note in notes(archive)) == bool(ghosts)


def test_too_few_open_files_are_noted(apache, tmp_path):
    archive = tmp_path / "runs.sqlite"
    words = [build.TOOL, "record", "-o", archive, "-t", apache.board, "--", AB, "-n", "100",
             "-c", "70", f"http://127.0.0.1:{apache.port}/index.html"]
    done = subprocess.run(
        list(map(str, words)), text=True, capture_output=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
    sentence = "70 connections at once need more open files than the load tool may have (100)"
    assert sentence in done.stderr
    assert any(sentence in note for note in notes(archive))
    text = tool.run("report", "--format", "text", archive).stdout
    assert sentence in " ".join(text.split()), "the whole text shows it"
