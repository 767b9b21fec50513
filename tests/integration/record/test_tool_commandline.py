"""The command line: verbs, help, wrong usage, and output that does not arrive."""
import json
import os
import socket
import subprocess

import pytest

import boards
import build
import tool

VERBS = ["status", "top", "export", "record", "capacity", "report", "compare", "fields"]


def test_help_lists_the_verbs():
    for arguments in (["--help"], ["-h"], ["help"], ["help", "help"]):
        done = tool.run(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert all(f"\n  {verb} " in done.stdout for verb in [*VERBS, "help"])


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself_with_examples(verb):
    done = tool.run(verb, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: mpmstat {verb}")
    assert "Examples:" in done.stdout and f"  mpmstat {verb}" in done.stdout
    assert "Exit status:" in done.stdout
    assert tool.run("help", verb).stdout == done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 88


def test_the_version():
    done = tool.run("--version")
    assert done.returncode == 0 and done.stdout.startswith("mpmstat ")


@pytest.mark.parametrize("arguments, words", [
    ([], "usage: mpmstat VERB"),
    (["stauts"], 'the nearest is "status"'), (["recrod"], 'the nearest is "record"'),
    (["field"], 'the nearest is "fields"'), (["Status"], 'the nearest is "status"'),
    (["frobnicate"], 'no verb "frobnicate". See mpmstat --help'), ([""], 'no verb ""'),
    (["--frobnicate"], "no verb"), (["help", "stauts"], "did you mean status?"),
    (["v" * 10000], "no verb"),
    (["status", "--frob"], "--frob is not an option. See mpmstat status --help"),
    (["status", "-x"], "-x is not an option"), (["status", "--format"], "wants an argument"),
    (["status", "--format", "html"], "text, json, openmetrics, prometheus"),
    (["status", "--timeout", "soon"], "0.1 to 3600 seconds"),
    (["status", "--timeout", "-1"], "0.1 to 3600 seconds"),
    (["status", "--timeout", "nan"], "0.1 to 3600 seconds"),
    (["fields", "workers", "extra"], 'one name at most; found "extra", too'),
    (["fields", "workers_bsuy"], "the nearest are workers_busy, "),
    (["fields", ""], "no metric has"), (["fields", "%s%n\x1b[2J"], "no metric has"),
    (["fields", "--format", "pdf"], "pdf"),
    (["fields", "--format"], "wants an argument"),
], ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "")
def test_wrong_usage_is_a_sentence(arguments, words):
    done = tool.run(*arguments)
    assert done.returncode == 2, f"exit {done.returncode}: {done.stderr}"
    assert done.stdout == "" and words in done.stderr, done.stderr
    if arguments:
        assert done.stderr.startswith("mpmstat: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["frob{}"], ["report", "none{}"], ["status", "none{}"],
                                       ["compare", "none{}", "none{}"]], ids=" ".join)
def test_a_terminal_obeys_no_name_in_a_message(arguments):
    done = tool.run(*[word.format("\x1b[31m\x7f\x9b\r\N{LATIN SMALL LETTER E WITH ACUTE}")
                      for word in arguments])
    assert done.returncode > 1 and "?[31m????\N{LATIN SMALL LETTER E WITH ACUTE}" in done.stderr


@pytest.mark.parametrize("format, words", [
    ("text", "label.in_flight"), ("json", '"mpmstat_in_flight{label}"'),
    ("md", "`mpmstat_in_flight{label}`")])
def test_fields(format, words):
    done = tool.run("fields", "--format", format)
    assert (done.returncode, done.stderr) == (0, "")
    assert words in done.stdout
    assert format != "json" or len(json.loads(done.stdout)["fields"]) > 40


COMMANDS = [["--help"], ["--version"], ["fields"], ["status", "--help"], ["status"],
            ["status", "--format", "json"], ["status", "--format", "openmetrics"]]


@pytest.fixture(scope="module")
def environment():
    with boards.board(3) as board:
        yield {**os.environ, "MPMSTAT_RUNDIR": str(board.path.parent)}


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk(arguments, environment):
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.TOOL, *arguments], stdout=full, stderr=subprocess.PIPE,
                              env=environment, text=True, timeout=30)
    assert done.returncode == 4
    assert done.stderr == ("mpmstat: the output is not complete: cannot write to stdout: "
                           "No space left on device\n")


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_pipe_that_nobody_reads(arguments, environment):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([build.TOOL, *arguments], stdout=writer, stderr=subprocess.PIPE,
                          env=environment, text=True, timeout=30)
    os.close(writer)
    assert (done.returncode, done.stderr) == (4, ""), "as | head is not an error to be told"


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("closed", ["1>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"])
def test_closed_descriptors(arguments, closed, environment):
    """No file that it opens may become its stdout."""
    done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", build.TOOL, *arguments],
                          stderr=subprocess.PIPE, env=environment, text=True, timeout=30)
    assert done.returncode == 4
    assert "2>&-" in closed or "cannot write to stdout" in done.stderr


def test_closed_stdin_and_stderr_do_no_harm(environment):
    done = subprocess.run(["sh", "-c", 'exec "$@" 0<&- 2>&-', "sh", build.TOOL, "status"],
                          stdout=subprocess.PIPE, env=environment, text=True, timeout=30)
    assert done.returncode == 0 and "Label[www]Requests: 3" in done.stdout


# ---- tools/quickstart ---------------------------------------------------------------------

# All but its last lines, which run it; RANDOM begins where it is known what comes.
START_APACHE = """
source <(sed '/^case \\${1-} in$/,$d' "$1/tools/quickstart")
top=$1 build=$2
make_runtime_directory
RANDOM=1
start_apache
curl --silent --max-time 10 "http://127.0.0.1:$port/mpm-status" || true
"""


@pytest.mark.skipif(build.SANITIZE or build.find(build.APACHE) != "/usr/sbin/apache2",
                    reason="quickstart is for Debian's Apache")
def test_quickstart_measures_no_server_of_somebody_else():
    """Where the port that it has chosen is taken, it takes another."""
    first = int(subprocess.run(["bash", "-c", "RANDOM=1; echo $((20000 + RANDOM % 12000))"],
                               stdout=subprocess.PIPE, check=True, text=True).stdout)
    with socket.create_server(("127.0.0.1", first)):
        done = subprocess.run(["bash", "-c", START_APACHE, "bash", build.SRCDIR, build.BUILDDIR],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Mpm: event" in done.stdout
    assert f":{first}/" not in done.stderr
