"""The manual pages, one for each verb: they render, and say all that the verbs' help says."""
import re
import subprocess

import pytest

import build
import tool

PAGES = {page.stem: page for page in sorted((build.SRCDIR / "man").glob("*.1"))}


def helps(verb):
    """What --help says of a verb, and of its parts that have more to say."""
    said = tool.run(verb, "--help").stdout
    return said + "".join(tool.run(verb, part, "--help").stdout for part in
                          re.findall(rf"mpmstat {verb} (\w+) --help", said))


@pytest.fixture(scope="module")
def rendered():
    """Each page as man shows it; it says nothing else."""
    man = build.find("man")
    if man is None:
        pytest.skip("man is not installed")
    texts = {}
    for name, page in PAGES.items():
        done = subprocess.run([man, "--warnings", "-E", "UTF-8", "-l", page], text=True,
                              capture_output=True, timeout=30,
                              env={"PATH": build.PATH, "LC_ALL": "C.UTF-8", "MANWIDTH": "100",
                                   "PAGER": "cat"})
        assert done.returncode == 0 and done.stderr == "", f"{name}: {done.stderr}"
        texts[name] = done.stdout
    return texts


def test_they_render_without_a_warning(rendered):
    for name, text in rendered.items():
        for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
            assert f"\n{heading}\n" in text, (name, heading)
    for heading in ("ENVIRONMENT", "FILES"):
        assert f"\n{heading}\n" in rendered["mpmstat"], heading


def test_every_verb_has_a_page_and_no_other(rendered):
    assert sorted(PAGES) == sorted(["mpmstat", *(f"mpmstat-{verb}" for verb in tool.verbs())])
    for verb in tool.verbs():
        assert f"mpmstat-{verb}(1)" in rendered["mpmstat"], verb


def test_every_option_is_there(rendered):
    for verb in tool.verbs():
        options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", helps(verb)))
        missing = [o for o in options if o not in rendered[f"mpmstat-{verb}"] and o != "--help"]
        assert not missing, (verb, missing)


def test_every_load_tool_is_there(rendered):
    names = re.search(r"It can read (.*?)\.\n",
                      tool.run("record", "--help").stdout, re.S)[1].split(", ")
    missing = [n for n in names if not re.search(rf"^ +{n}( |$)", rendered["mpmstat-record"], re.M)]
    assert len(names) >= 9 and not missing, missing


def test_every_exit_status_is_there(rendered):
    """Those of a verb's help on its page, and all of them on the first."""
    everything = set()
    for verb in (verb for verb in tool.verbs() if verb != "lab" or build.LAB):
        said = tool.run(verb, "--help").stdout.partition("Exit status: ")[2]
        codes = {code for code in re.findall(r"\b(0|1|2|3|4|130) ", said)}
        everything |= codes
        part = rendered[f"mpmstat-{verb}"].partition("\nEXIT STATUS\n")[2]
        missing = [c for c in codes if not re.search(rf"^ +{c} ", part, re.M)]
        assert codes and not missing, (verb, missing)
    part = rendered["mpmstat"].partition("\nEXIT STATUS\n")[2].partition("\nEXAMPLES\n")[0]
    assert all(re.search(rf"^ +{code} ", part, re.M) for code in everything)


def test_the_environment_is_there(rendered):
    assert "MPMSTAT_RUNDIR" in rendered["mpmstat"] and "SSL_CERT_FILE" in rendered["mpmstat"]
