"""mpmstat record as a person sees it: the line while it runs, weight and colour, --quiet."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

import build
import tool
from processes import wait_until
from recording import ab, ask

ERASE = "\r\x1b[K"
STYLE = re.compile(r"\x1b\[\d*m")
LINE = re.compile(r"(?:run \d+ of \d+  )?\d+:\d\d  \d+ requests?\b.*")


def environment(**changes):
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    return {**plain, "TERM": "xterm", **changes}


def on_terminal(*words, columns=80, status=0, **changes):
    """All that mpmstat writes to a terminal that is so wide."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    written = b""
    with subprocess.Popen([str(build.TOOL), *map(str, words)], stdin=subprocess.DEVNULL, stdout=its,
                          stderr=its, env=environment(**changes)) as started:
        os.close(its)
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:      # EIO: no process has the terminal
                some = b""
            if not some:
                break
            written += some
        code = started.wait(timeout=60)
    os.close(ours)
    text = written.decode().replace("\r\n", "\n")
    assert code == status, text
    return text


def progress_of(text):
    """The lines that were drawn, one over the other."""
    return [part for part in text.replace("\n", ERASE).split(ERASE) if LINE.fullmatch(part)]


def left_on_screen(text):
    return "\n".join(line.rpartition(ERASE)[2] for line in text.split("\n"))


def words_of(apache, archive, *options, load):
    return ["record", "-o", archive, "-t", apache.board, *options, "--", *load]


# ---- the line while it runs ---------------------------------------------------------------------


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_progress_is_shown_and_erased(server, archive, columns):
    apache = server("event", workers=10)
    text = on_terminal(*words_of(apache, archive, load=["sleep", "1"]), columns=columns)
    drawn = progress_of(text)
    assert drawn and all(len(line) < columns for line in drawn), drawn
    assert "Apache 0/10" in drawn[-1] or columns == 40
    assert columns < 80 or "0 errors" in drawn[-1]
    assert not any(LINE.search(line) for line in left_on_screen(text).splitlines()), text
    assert text.index(drawn[-1]) < text.index("run 1 of")


def test_progress_says_what_is_plain(php_server, archive):
    """Five requests keep all five workers for three seconds."""
    apache = php_server("prefork", workers=5)
    url = f"http://127.0.0.1:{apache.port}/sleep.php?seconds=3"
    text = on_terminal(*words_of(apache, archive, load=[
        "sh", "-c", f"seq 5 | xargs -P 5 -I{{}} curl -s -o /dev/null -H 'X-Number: {{}}' {url}"]))
    assert any("5 workers busy for " in line for line in progress_of(text)), text


def test_progress_tells_which_run(server, archive):
    apache = server("event", workers=10)
    text = on_terminal(*words_of(apache, archive, "--repeat", "2", load=["sleep", "0.5"]))
    assert {line[:len("run 1 of 2")] for line in progress_of(text)} == {"run 1 of 2", "run 2 of 2"}


def test_a_stopped_terminal_holds_up_no_recording(server, archive):
    """As by ^S."""
    apache = server("event", workers=10)
    ours, its = pty.openpty()
    text = ""
    words = map(str, words_of(apache, archive, load=["sleep", "2"]))
    with subprocess.Popen([str(build.TOOL), *words], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=its, env=environment()) as started:
        while not progress_of(text):
            text += os.read(ours, 65536).decode()
        termios.tcflow(its, termios.TCOOFF)
        wait_until(lambda: ask(archive, "SELECT outcome FROM runs") == [("complete",)], 30,
                   "the end of the recording")
        termios.tcflow(its, termios.TCOON)
        assert started.wait(timeout=30) == 0
    os.close(ours)
    os.close(its)


@pytest.mark.parametrize("option", ["--quiet", "--verbose"])
def test_no_progress_where_it_is_not_wanted(server, archive, option):
    apache = server("event", workers=10)
    text = on_terminal(*words_of(apache, archive, option, load=["sleep", "0.5"]))
    assert not progress_of(text) and ERASE not in text, text


def test_no_progress_and_no_style_in_a_pipe(server, archive):
    apache = server("event", workers=10)
    done = tool.run(*words_of(apache, archive, load=["sleep", "0.5"]), env=environment())
    assert done.returncode == 0 and "run 1 of" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr and "requests" not in done.stderr, done.stderr


# ---- what is printed -------------------------------------------------------------------------


def test_quiet_prints_the_verdict(server, archive):
    apache = server("event", workers=10)
    load = ab(apache, "/index.html", "-n", "200", "-c", "2")
    done = tool.run(*words_of(apache, archive, "-q", load=load))
    verdict = json.loads(tool.report("--format", "json", archive))[0]["verdict"]
    assert done.returncode == 0 and done.stderr == ""
    assert " ".join(done.stdout.split()) == verdict
    done = tool.run(*words_of(apache, archive, "--quiet", "--repeat", "2", load=load))
    assert "Compare" not in done.stdout and "run 2" not in done.stdout, done.stdout
    done = tool.run(*words_of(apache, archive, "-q", load=["false"]))
    assert done.returncode == 1 and "false failed with exit status 1" in done.stderr
    tool.fails(tool.run(*words_of(apache, archive, "-q", "-v", load=load)), 2, "exclude")


# ---- in brief, and the rest ----------------------------------------------------------------------


def test_a_terminal_shows_all_of_it_at_once(php_server, archive):
    """The verdict does not scroll away: 80 columns, 24 lines."""
    apache = php_server("event", workers=10)
    load = ab(apache, "/sleep.php?seconds=0.02", "-n", "200", "-c", "4")
    text = left_on_screen(on_terminal(*words_of(apache, archive, load=load)))
    shown = STYLE.sub("", text[text.index("\x1b[1m"):]).rstrip("\n").split("\n")
    assert len(shown) <= 23, text
    assert all(len(line) < 80 or str(archive) in line for line in shown), text
    assert f"  more      mpmstat report -o run.html {archive}   # or --format text" in shown
    assert not any(line.startswith(("  workers ", "  ok ")) for line in shown), text
    again = on_terminal(*words_of(apache, archive, "-v", load=load))
    assert "  workers " in again and "  ok  counts " in STYLE.sub("", again)


@pytest.fixture
def recorded(server, archive):
    apache = server("event", workers=10)
    done = tool.run(*words_of(apache, archive, load=ab(apache, "/missing.html", "-n", "40")))
    assert done.returncode == 0, done.stderr
    return archive


def test_styles_only_where_they_are_wanted(recorded, tmp_path):
    words = ("report", "--format", "text", recorded)
    plain = tool.run(*words, env=environment()).stdout
    assert "\x1b" not in plain
    styled = on_terminal(*words)
    assert "\x1b[1m" in styled and "\x1b[33m" in styled
    assert STYLE.sub("", styled) == plain, "no column moves"
    assert "\x1b" not in on_terminal(*words, NO_COLOR="1")
    assert "\x1b[1m" in on_terminal(*words, NO_COLOR="")
    assert "\x1b" not in on_terminal(*words, TERM="dumb")
    assert "\x1b" not in on_terminal(*words, "--color", "never")
    always = tool.run(*words, "--color", "always", env=environment(NO_COLOR="1")).stdout
    assert always == styled
    on_terminal(*words, "-o", tmp_path / "file.txt")
    assert (tmp_path / "file.txt").read_text() == plain


def test_messages_have_styles_on_a_terminal():
    said = on_terminal("status", "/nowhere/x.board", status=3)
    assert said.startswith("\x1b[31mmpmstat:\x1b[0m ") and "/nowhere/x.board" in said
    assert "\x1b" not in on_terminal("status", "/nowhere/x.board", status=3, NO_COLOR="1")


def test_percentiles_are_chosen(recorded):
    words = ("report", "--format", "text", recorded)
    text = tool.run(*words).stdout
    heading = next(line for line in text.splitlines() if line.startswith("  phase "))
    assert heading.split() == ["phase", "mean", "p50", "p90", "p95", "p99", "p99.9", "max", "share"]
    total = next(line for line in text.splitlines() if line.startswith("  total "))
    assert total.count(" -") == 2, "40 requests have no p99, and no p99.9"
    text = tool.run(*words, "--percentiles", "99.9,50").stdout
    heading = next(line for line in text.splitlines() if line.startswith("  phase "))
    assert heading.split() == ["phase", "mean", "p50", "p99.9", "max", "share"]
    (run,) = json.loads(tool.report("--format", "json", recorded))
    total = run["servers"][0]["phases"]["total"]
    assert total["p999_seconds"] is None
    assert total["p90_seconds"] <= total["p95_seconds"] <= total["max_seconds"]


@pytest.mark.parametrize("words", [
    ("report", "--format", "text", "--percentiles", "75", "x"),
    ("report", "--format", "text", "--percentiles", "50,", "x"),
    ("report", "--format", "json", "--percentiles", "50", "x"),
    ("record", "--percentiles", "p50", "--", "true"),
    ("record", "--format", "json", "--percentiles", "50", "--", "true"),
], ids=" ".join)
def test_wrong_percentiles(words):
    tool.fails(tool.run(*words), 2, "--percentiles")


@pytest.mark.parametrize("verb", ["record", "report", "compare", "explain"])
def test_wrong_colour(verb):
    tool.fails(tool.run(verb, "--color", "blue"), 2, "--color takes auto, always or never")
