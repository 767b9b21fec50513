"""Findings where users meet them: JSON, the archive, --fail-on, compare, the page.

The load asks for what is not there, so what is found is known: the load tool counts it, too.
"""
import json
import subprocess

import pytest

import build
from recording import AB, ab, ask, record

pytestmark = pytest.mark.skipif(not AB, reason="needs ab")


def run(*words, status=0):
    done = subprocess.run([str(build.TOOL), *map(str, words)], text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return done


def options(requests=40):
    return ["-q", "-n", str(requests), "-c", "4"]


def test_missing_page(server, tmp_path):
    """ab counts the answers that are no 2xx: as many as the finding says."""
    apache = server("event", workers=50)
    archive = tmp_path / "run.db"
    summary, _ = record(apache, archive, *ab(apache, "/no-such-page", *options()))
    first = summary["findings"][0]
    assert (first["code"], first["certainty"], first["share"]) == ("answers-4xx", "certain", 1)
    assert first["share_of"] == "requests"
    assert first["requests"] == summary["client"]["non_2xx"] == 40
    assert first["numbers"]["status"] == 404
    assert first["text"].startswith("40 of 40 answers were 404 (label ")
    assert summary["verdict"].startswith(first["text"])
    # The archive has what was shown, in the same order.
    kept = ask(archive, "SELECT rank, code, certainty, share_milli, text FROM findings "
                        "WHERE run_id = 1 ORDER BY rank")
    assert kept == [(rank, f["code"], f["certainty"],
                     None if f["share"] is None else round(f["share"] * 1000), f["text"])
                    for rank, f in enumerate(summary["findings"], 1)]
    # A report finds the same anew, and an archive without the table's rows has the same report.
    assert json.loads(run("report", "--format", "json", archive).stdout)[0]["findings"] == (
        summary["findings"])
    said = run("report", "--format", "json", "--fail-on", "php-workers,answers-4xx", archive,
               status=1)
    assert "run 1 has the finding answers-4xx" in said.stderr
    run("report", "--format", "json", "--fail-on", "answers-5xx", archive)
    for form in ("md", "html", "text"):
        words = " ".join(run("report", "--format", form, archive).stdout.split())
        assert "this measures the error page" in words


def test_fail_on_of_record(server, tmp_path):
    apache = server("event", workers=50)
    command = ["record", "-t", apache.board, "-o", tmp_path / "run.db"]
    load = ["--", *ab(apache, "/no-such-page", *options())]
    run(*command, "--fail-on", "answers-5xx", *load)
    assert "answers-4xx" in run(*command, "--fail-on", "answers-4xx", *load, status=1).stderr
    said = run(*command, "--fail-on", "answers-6xx", *load, status=2).stderr
    assert '"answers-6xx" is none' in said


def test_the_cause_changed(server, tmp_path):
    apache = server("event", "Redirect 503 /unavailable", workers=50)
    archive = tmp_path / "run.db"
    for name, path in (("there", "/unavailable"), ("gone", "/no-such-page")):
        run("record", "-t", apache.board, "-o", archive, "--name", name, "--repeat", "2", "--",
            *ab(apache, path, *options(400)))
    sides = [f"{archive}#there", f"{archive}#gone"]
    compared = json.loads(run("compare", "--format", "json", *sides).stdout)
    assert (compared["a"]["cause"], compared["b"]["cause"]) == ("answers-5xx", "answers-4xx")
    assert compared["a"]["runs_with_cause"] == compared["b"]["runs_with_cause"] == 2
    assert ("\n  The cause changed from answers-5xx (2 of 2 runs) to answers-4xx (2 of 2).\n"
            in run("compare", *sides).stdout)
