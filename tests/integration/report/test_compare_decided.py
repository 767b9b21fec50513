"""mpmstat record --repeat until-decided, and what mpmstat compare says of many names."""
import json
import os

import pytest

import tool
from apache import Apache
from comparing import compare, load, record
from recording import ask

PAGE = "/sleep.php?spread=0&seconds="
UNTIL = ("--repeat", "until-decided", "--interleave")


@pytest.fixture(scope="module")
def apache():
    with Apache("prefork", "<Location /quick.php>\nMPMStatLabel quick\n</Location>\n"
                "<Location /slow.php>\nMPMStatLabel slow\n</Location>", php="mod_php",
                workers=4) as started:
        for name in ("quick", "slow"):
            started.page(f"{name}.php", "<?php usleep((int)$_GET['us']);")
        started.get(f"{PAGE}0.02")
        yield started


def test_a_difference_ends_the_pairs(apache, tmp_path):
    """Both sides of a factor of two are far apart: the first look decides, and compare agrees."""
    archive = tmp_path / "ab.db"
    said = record(apache, archive, *UNTIL, "--", *load(apache, f"{PAGE}0.03", 20), "--versus",
                  *load(apache, f"{PAGE}0.06", 20)).stdout
    assert "after 1 pair, the time of B: " in said
    assert "Decided after 4 pairs. B is slower: " in said
    assert ask(archive, "SELECT count(*) FROM runs WHERE complete") == [(8,)]
    found = json.loads(compare("--format", "json", f"{archive}#A", f"{archive}#B").stdout)
    assert found["until_decided"] is True and found["paired"] is True
    assert found["sentence"] in said
    said = record(apache, archive, *UNTIL, "--", *load(apache, f"{PAGE}0.03", 20), "--versus",
                  *load(apache, f"{PAGE}0.06", 20)).stdout
    assert "The archive has earlier runs of these names" in said
    mean = next(row for row in found["metrics"] if row["metric"] == "server_mean_seconds")
    assert 1.5 < mean["low"] < 2 < mean["high"] * 1.05 and mean["change"] == "more"


def test_the_same_ends_the_pairs(apache, tmp_path):
    """What does not matter is decided, too. The limit is far beyond any disturbance."""
    same = load(apache, f"{PAGE}0.03", 20)
    said = record(apache, tmp_path / "aa.db", *UNTIL, "--limit", "400%", "--", *same, "--versus",
                  *same).stdout
    assert "Decided after 4 pairs" in said


def test_time_ends_the_pairs(apache, tmp_path):
    same = load(apache, f"{PAGE}0.03", 40)
    said = record(apache, tmp_path / "aa.db", *UNTIL, "--limit", "0.1", "--within", "1s", "--",
                  *same, "--versus", *same).stdout
    assert "Not decided after 1 pair: another one could end after --within." in said
    assert "One run each cannot tell" in said


def test_programs(apache, tmp_path):
    same = load(apache, f"{PAGE}0.02", 10)
    said = record(apache, tmp_path / "aa.db", *UNTIL, "--within", "1s", "--format", "json", "--",
                  *same, "--versus", *same).stdout
    assert len(json.loads(said)) >= 2


TWO = ["ab", "http://[::1]/", "--versus", "ab", "http://[::1]/b"]


@pytest.mark.parametrize("options, words", [
    (["--repeat", "until-decided", "ab", "http://[::1]/"], "compares two commands"),
    ([*UNTIL, *TWO, "--versus", "ab", "http://[::1]/c"], "compares two commands"),
    (["--limit", "3%", "ab", "http://[::1]/"], "go with --repeat until-decided"),
    (["--within", "3m", "ab", "http://[::1]/"], "go with --repeat until-decided"),
    ([*UNTIL, "--limit", "0", *TWO], "--limit takes a percentage from 0.1 to 1000"),
    ([*UNTIL, "--within", "3", *TWO], "expected --within to be a time with its unit"),
    (["--repeat", "until", "ab", "http://[::1]/"], "--repeat takes a whole number from 1 to 1000"),
    (["--repeat", "until-decided"], "--steady take a command to run"),
])
def test_wrong_usage(options, words, tmp_path):
    done = tool.run("record", "-o", tmp_path / "none.db", *options)
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert not os.path.exists(tmp_path / "none.db")


def mixed(apache, slow_us):
    """140 quick requests, and six slow ones, which hardly matter to the mean of all."""
    base = f"http://127.0.0.1:{apache.port}"
    return ["sh", "-c", f"ab -q -n 140 -c 2 '{base}/quick.php?us=20000' && "
            f"ab -q -n 6 -c 2 '{base}/slow.php?us={slow_us}'"]


def test_one_slow_label_is_seen(apache, tmp_path):
    """The mean of all requests stays within the limit; that of one label does not."""
    archive = tmp_path / "labels.db"
    record(apache, archive, "--repeat", "4", "--interleave", "--", *mixed(apache, 40000),
           "--versus", *mixed(apache, 200000))
    sides = (f"{archive}#A", f"{archive}#B")
    found = json.loads(compare("--format", "json", *sides).stdout)
    assert found["names_are"] == "label"
    rows = {(row["name"], row["part"]): row for row in found["names"]}
    assert rows["slow", None]["change"] == "more" and rows["slow", None]["ratio"] > 2
    assert rows["quick", None]["change"] is None, rows
    done = compare("--fail-if-slower", "60%", *sides, status=1)
    assert "label slow: " in done.stdout and "B is slower by more than 60 %" in " ".join(
        done.stdout.split())
    compare("--fail-if-slower", "60%", "--metric", "server_mean_seconds", *sides)
    assert "By label, 2 of them: " in done.stdout
