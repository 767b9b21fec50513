"""The manual page: it renders, and says all that the verbs' own help says."""
import re
import subprocess

import pytest

import build
import tool

PAGE = build.SRCDIR / "man" / "mpmstat.1"
VERBS = ["status", "record", "report", "compare", "fields"]


@pytest.fixture(scope="module")
def rendered():
    man = build.find("man")
    if man is None:
        pytest.skip("man is not installed")
    done = subprocess.run([man, "--warnings", "-E", "UTF-8", "-l", PAGE], text=True,
                          capture_output=True, timeout=30,
                          env={"PATH": build.PATH, "LC_ALL": "C.UTF-8", "MANWIDTH": "100",
                               "PAGER": "cat"})
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def test_it_renders_without_a_warning(rendered):
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS",
                    "EXAMPLES"):
        assert f"\n{heading}\n" in rendered, heading


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_and_option_is_there(rendered, verb):
    options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", tool.run(verb, "--help").stdout))
    missing = [option for option in {*options, f"mpmstat {verb}"} if option not in rendered]
    assert not missing, missing


def test_every_exit_status_and_variable_is_there(rendered):
    codes = rendered.partition("\nEXIT STATUS\n")[2].partition("\nEXAMPLES\n")[0]
    for code in (0, 1, 2, 3, 4, 130):
        assert re.search(rf"^ +{code} ", codes, re.MULTILINE), code
    assert "MPMSTAT_RUNDIR" in rendered and "SSL_CERT_FILE" in rendered
