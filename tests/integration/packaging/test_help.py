"""mpmstat help WORD: every word of a report is explained, and near misses are named."""
import re

import pytest

import build
import tool

SOURCE = build.SRCDIR


def enumeration(name):
    """The names of one of terms.h's fixed enumerations."""
    text = (SOURCE / "lib/segment/terms.h").read_text()
    body = re.search(rf"#define {name}\(X\)(.*?)\n\n", text, re.S)[1]
    return re.findall(r'X\(\w+,\s*"([^"]+)"\)', body)


def found(path, pattern):
    return re.findall(pattern, (SOURCE / path).read_text(), re.M)


KINDS = {
    "phase": enumeration("MST_PHASES"), "interval": enumeration("MST_INTERVALS"),
    "part of php_run": enumeration("MST_WAITS"), "state of workers": enumeration("MST_STATES"),
    "finding": found("tools/analysis/codes.def", r'^X_CODE\(\w+, "([^"]+)"'),
    "check of a run": found("tools/analysis/checks.c", r'\[MST_CHECK_\w+\] = "([^"]+)"'),
}


def explain(word):
    done = tool.run("help", word)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_every_word_is_explained(kind):
    assert len(KINDS[kind]) >= 5
    for word in KINDS[kind]:
        said = explain(word)
        assert f"{word}: " in said and (kind == "phase" or kind in said), (word, said)
        assert all(len(line) <= 100 for line in said.splitlines())
        assert "\n  " in said


def test_every_word_that_another_names_is_explained():
    listed = [line.split()[0] for line in tool.run("help", "words").stdout.splitlines()]
    for word in set(listed):
        for named in re.findall(r"mpmstat help ([a-z0-9_-]+)", explain(word)):
            assert named in listed, (word, named)


def test_other_spellings_and_metrics():
    assert explain("PHP-Wait") == explain("php_wait")
    assert explain("client").startswith("send_client: ")     # as the table of phases calls it
    assert "WorkersBusy" in explain("WorkersBusy")
    assert explain("record").startswith("usage: mpmstat record")


@pytest.mark.parametrize("word, said", [
    ("php_wiat", "did you mean php_wait?"), ("sendclient", "did you mean send_client?"),
    ("php-worker", "did you mean php-workers?"), ("recrod", "did you mean record?"),
    ("zzzz", "mpmstat help words lists them"), ("", "mpmstat help words lists them"),
    ("workers_", "see mpmstat fields workers_")])
def test_unknown_words(word, said):
    done = tool.run("help", word)
    assert done.returncode == 2 and not done.stdout and said in done.stderr, done.stderr
