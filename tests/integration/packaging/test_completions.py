"""The shells' completions, in real shells: they offer what the command has and takes."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

import boards
import build
import tool

BASH = build.SRCDIR / "completions/mpmstat.bash"
ZSH = build.SRCDIR / "completions"
VERBS = {"status", "top", "serve", "export", "record", "report", "compare", "lab", "fields", "help"}

# What bash would do at <Tab>: the words and the place of the cursor's, then the answer.
IN_BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _mpmstat; printf '%s\\n' "${COMPREPLY[@]}"
"""


def environment():
    """In a build with sanitizers, a command under zsh hangs at times at its end, in the search for
    leaks: the process spins, and the one that should stop it waits. Other tests look for leaks."""
    path = f"{build.TOOL.parent}:{os.environ.get('PATH', os.defpath)}"
    sanitizers = f"{os.environ.get('ASAN_OPTIONS', '')}:detect_leaks=0"
    return {**os.environ, "PATH": path, "TERM": "dumb", "LC_ALL": "C.UTF-8",
            "ASAN_OPTIONS": sanitizers.lstrip(":")}


def in_bash(*words, cwd=None):
    """What bash offers for the last of the words."""
    done = subprocess.run(["bash", "--norc", "-c", IN_BASH, "bash", str(BASH), "mpmstat", *words],
                          env=environment(), cwd=cwd, text=True, timeout=30,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert done.stderr == ""
    return {word for word in done.stdout.split("\n") if word}


def options_of(*verb):
    """All long options that the help of a verb names."""
    text = tool.run(*verb, "--help").stdout.split("\nExamples:")[0]
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.M))


def formats_of(verb):
    return in_bash(verb, "--format", "")


def test_bash_verbs():
    assert VERBS | {"--help", "--version"} <= in_bash("")
    assert in_bash("rec") == {"record"}
    assert VERBS <= in_bash("help", "")


def test_bash_offers_every_verb_that_the_command_has():
    for verb in in_bash("") - {"--help", "--version"} - ({"lab"} if not build.LAB else set()):
        assert tool.run(verb, "--help").returncode == 0, verb
    listed = re.findall(r"^  (\w+) +\w", tool.run("help").stdout.split("Try it")[0], re.M)
    words = {line.split()[0] for line in tool.run("help", "words").stdout.splitlines()}
    assert set(listed) | words == in_bash("help", "")
    assert in_bash("help", "send_") == {"send_client", "send_network", "send_server"}


@pytest.mark.parametrize("verb", sorted(VERBS - {"help", "lab"}))
def test_bash_options(verb):
    assert in_bash(verb, "--") == options_of(verb) != set()


@pytest.mark.parametrize("verb", ["status", "record", "report", "compare", "fields"])
def test_every_format_offered_is_one(verb):
    """The command names the right ones where it is given a wrong one."""
    said = tool.run(verb, "--format", "nonsense", "x").stderr
    assert formats_of(verb) and all(word in said for word in formats_of(verb)), said


@pytest.mark.parametrize("verb", ["record", "report", "compare", "explain"])
def test_bash_colour(verb):
    assert in_bash(verb, "--color", "") == {"auto", "always", "never"}


def test_bash_files(tmp_path):
    (tmp_path / "my run.sqlite").touch()
    for words in (("report", "my"), ("report", "-o", "my"), ("status", "my"),
                  ("record", "-t", "my"), ("compare", "A", "my")):
        assert in_bash(*words, cwd=tmp_path) == {"my run.sqlite"}, words


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A directory with an archive of two runs, a board, and what is neither."""
    directory = tmp_path_factory.mktemp("completions")
    (directory / "run.txt").touch()
    with boards.board(1) as board:
        for name in ("fast page", "slow"):
            done = tool.run("record", "-o", directory / "run.db", "-t", board.path, "--name", name,
                            "--", "true", timeout=60)
            assert done.returncode == 0, done.stderr
        shutil.copy(board.path, directory / "left.board")
    return directory


def test_bash_archives_and_their_runs(archive):
    for verb in ("report", "compare"):
        assert in_bash(verb, "r", cwd=archive) == {"run.db"}
        assert in_bash(verb, "run.db#", cwd=archive) == {"run.db#fast page", "run.db#slow"}
        assert in_bash(verb, "run.db#s", cwd=archive) == {"run.db#slow"}
    assert in_bash("report", "run.t", cwd=archive) == {"run.txt"}
    assert in_bash("report", "run.txt#", cwd=archive) == set()
    assert in_bash("report", "run.db", "--run", "f", cwd=archive) == {"fast page"}


def test_bash_boards(archive, monkeypatch):
    monkeypatch.setenv("MPMSTAT_RUNDIR", f"/nowhere:{archive}")
    board = str(archive / "left.board")
    for words in (("status", ""), ("explain", ""), ("record", "-t", ""), ("status", board[:-3])):
        assert board in in_bash(*words), words


def test_bash_command_of_record(tmp_path):
    (tmp_path / "urls.txt").touch()
    assert "bash" in in_bash("record", "-o", "file", "--", "bas")
    assert "bash" in in_bash("record", "bas")
    assert in_bash("record", "--", "ab", "-n", "url", cwd=tmp_path) == {"urls.txt"}
    assert in_bash("record", "ab", "--form", cwd=tmp_path) == set()   # ab's, not ours


def lab_names(kind):
    """The names of the lab's stacks, workloads or studies, by the JSON of its list."""
    return {entry["name"] for entry in json.loads(tool.run("lab", "list", "--format", "json").stdout)[kind]}


@pytest.mark.skipif(not build.LAB, reason="built without the lab")
def test_bash_lab():
    assert in_bash("lab", "") == {"list", "up", "try", "run", "--help"}
    assert in_bash("lab", "up", "--") == options_of("lab", "up")
    assert in_bash("lab", "run", "--") == options_of("lab", "run")
    assert in_bash("lab", "up", "") == lab_names("stacks")
    assert in_bash("lab", "try", "-o", "x", "event-fpm", "") == lab_names("workloads")
    assert in_bash("lab", "run", "--quick", "") == lab_names("studies")
    assert in_bash("lab", "run", "--only", "event-") < lab_names("stacks")
    assert "bash" in in_bash("lab", "try", "event-fpm", "sleep", "--", "bas")


class Zsh:
    """An interactive zsh without the user's set-up, in a terminal of its own."""

    def __init__(self, directory):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment())
        self.say(f"PS1=READY; fpath=({ZSH} $fpath); autoload -Uz compinit; "
                 f"compinit -u -D; setopt list_packed; LISTMAX=1000; stty columns 200 rows 100\n")
        self.say("echo IS''UP\n")
        self.expect("ISUP")

    def say(self, text):
        os.write(self.fd, text.encode())

    def expect(self, *texts, seen="", again=None, seconds=60):
        """Reads on from `seen` until all texts have come, and returns what was read; types
        `again` meanwhile, seldomer each time: zsh drops a list that took longer than that."""
        end, due, pause = time.monotonic() + seconds, 0, 2
        while time.monotonic() < end:
            if again and time.monotonic() >= due:
                self.say(again)
                due, pause = time.monotonic() + pause, 2 * pause
            if select.select([self.fd], [], [], 0.1)[0]:
                seen += os.read(self.fd, 65536).decode(errors="replace")
            if all(text in seen for text in texts):
                return seen
        pytest.fail(f"zsh did not offer {texts}: {seen}")

    def offers(self, line, *texts):
        """zsh shows no list while it has further keys to read: so one key at a time."""
        self.say(line)
        self.expect(*texts, seen=self.expect(line), again="\t")
        self.say("\x15echo DO''NE\n")   # the line away
        self.expect("DONE")

    def close(self):
        self.say("\x15exit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@pytest.fixture
def zsh(tmp_path):
    if not shutil.which("zsh"):
        pytest.skip("needs zsh")
    (tmp_path / "urls.txt").touch()
    shell = Zsh(tmp_path)
    yield shell
    shell.close()


def test_zsh(zsh):
    zsh.offers("mpmstat ", *VERBS, "make a page, tables or text of recorded runs")
    for verb in sorted(VERBS - {"help", "lab"}):
        zsh.offers(f"mpmstat {verb} --", *options_of(verb))
    zsh.offers("mpmstat status --format ", "openmetrics", "prometheus")
    zsh.offers("mpmstat report -f ", "csv", "html")
    zsh.offers("mpmstat report -o u", "urls.txt")
    zsh.offers("mpmstat record -o x -- cat u", "cat urls.txt")


def test_zsh_archives_and_boards(archive, monkeypatch):
    if not shutil.which("zsh"):
        pytest.skip("needs zsh")
    monkeypatch.setenv("MPMSTAT_RUNDIR", str(archive))
    shell = Zsh(archive)
    try:
        shell.offers("mpmstat report r", "run.db")
        shell.offers("mpmstat compare run.db#", "fast", "slow")
        shell.offers("mpmstat status ", "left.board")
    finally:
        shell.close()


@pytest.mark.skipif(not build.LAB, reason="built without the lab")
def test_zsh_lab(zsh):
    zsh.offers("mpmstat lab ", "list", "try", "runs a whole study")
    zsh.offers("mpmstat lab run --", *options_of("lab", "run"))
    zsh.offers("mpmstat lab up ev", "event-fpm", "event-static")
    zsh.offers("mpmstat lab try event-fpm ", *lab_names("workloads"))
    zsh.offers("mpmstat lab run ", *lab_names("studies"))
    zsh.offers("mpmstat lab try event-fpm sleep -- cat u", "cat urls.txt")
