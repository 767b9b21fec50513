"""A load whose beginning is slower: the check `steady`, and mpmstat record --steady."""
import json
import os
import re

import php
import tool
from apache import Apache
from fpm import FPM
from recording import ask

# Its first 100 requests take three times as long as those after them.
SLOW_REQUESTS = 100
PAGE = f"""<?php
$file = '@ROOT@/served';
file_put_contents($file, '.', FILE_APPEND | LOCK_EX);
usleep(filesize($file) > {SLOW_REQUESTS} ? 20000 : 60000);
"""


def check(archive):
    run = json.loads(tool.run("report", "--format", "json", archive).stdout)
    run = run[0] if isinstance(run, list) else run
    return next(check for check in run["checks"] if check["name"] == "steady"), run


def record(tmp_path, *options):
    archive = tmp_path / "run.db"
    with FPM(4, settings=php.settings("@ROOT@/run")) as fpm, \
            Apache("event", php="fpm", fpm=fpm, workers=20) as apache:
        apache.page("warm.php", PAGE.replace("@ROOT@", str(fpm.root / "run")))
        targets = tmp_path / "targets"
        targets.write_text(f"{apache.board}\n{fpm.board}\n")
        done = tool.run("record", "-o", archive, "--targets", targets, *options, "--", "ab", "-q",
                        "-n", "700", "-c", "4", f"http://127.0.0.1:{apache.port}/warm.php",
                        timeout=120)
        assert done.returncode == 0, done.stderr
        served = tool.requests(tool.status(apache.board))
    return archive, served


def test_a_warm_up_is_seen(tmp_path):
    archive, _ = record(tmp_path)
    steady, _ = check(archive)
    assert steady["ok"] is False, steady
    assert re.match(r"the first (\d\.\d\d s|\d{3} ms) were a warm-up \(", steady["text"]), (
        f"to three digits, never a whole second for a part of one: {steady}")
    assert "record it with --steady" in steady["text"]


def test_steady_leaves_it_out(tmp_path):
    """The load runs twice, and the archive has the second time alone, on both sides."""
    archive, served = record(tmp_path, "--steady")
    steady, run = check(archive)
    assert steady["ok"] is True and "both halves are alike" in steady["text"], steady
    assert run["client"]["requests"] == 700 and served > 1000
    assert ask(archive, "SELECT count(*), (SELECT count(*) FROM server_requests) FROM runs") == [
        (1, 700)]
    assert sorted(os.listdir(tmp_path)) == ["run.db", "targets"], "the warm-up leaves nothing"


def test_wrong_usage(tmp_path):
    done = tool.run("record", "-o", tmp_path / "none.db", "--steady")
    assert done.returncode == 2 and "take a command to run" in done.stderr
