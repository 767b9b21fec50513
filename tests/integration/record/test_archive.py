"""The archive survives: kill -9 of the recorder at random moments, other readers, disks that
are full or read-only. What was committed is there, and the run says that it is unfinished."""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import build
import tool
from processes import wait_until
from recording import ab, ask, assert_sound, has, is_running, marked, recording
from urls import Server, reply

ROUNDS = 10
SLEEP = "/sleep.php?seconds={}&spread=0"


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "runs.sqlite"


def count(archive, table="samples", which="1"):
    """How many rows another program sees now."""
    return ask(archive, f"SELECT count(*) FROM {table} WHERE {which}")[0][0]


@contextmanager
def reading(archive):
    """A program that has begun to read, and goes on."""
    reader = sqlite3.connect(archive, isolation_level=None)
    try:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM samples").fetchall()
        yield reader
    finally:
        reader.close()


def files(archive):
    return sorted(path.name for path in archive.parent.iterdir()
                  if path.name.startswith(archive.name))


# ---- killed ----------------------------------------------------------------------------------


def assert_unfinished(archive, run):
    (summary,) = json.loads(tool.report("--format", "json", "--run", run, archive))
    assert summary["run"]["complete"] is False and summary["run"]["outcome"] == "unfinished"
    assert summary["verdict"] == "Cannot tell: the recording did not come to its end."
    text = " ".join(tool.report("--format", "text", "--run", run, archive).split())
    assert "not complete: unfinished" in text, text
    return summary


def test_killed_at_random_moments(php_server, archive):
    """Round after round into one archive, every other one with a program that reads it all the
    time: all that anybody saw is there, of this run and of those before."""
    apache, dice = php_server("event", workers=10), random.Random(13)
    runs = {}
    for run in range(1, ROUNDS + 1):
        mark = f"killed-{run}"
        words = ab(apache, SLEEP.format("0.02"), "-n", "100000", "-c", "5", "-H",
                   f"X-Mark: {marked(mark)}")
        mine = f"server_id = (SELECT id FROM servers WHERE run_id = {run})"
        with recording(archive, *words, targets=[apache.board]) as started:
            wait_until(lambda: has(archive, "servers", run - 1) and
                       count(archive, "samples", mine) > 2, 60, "samples")
            with reading(archive) if run % 2 else tempfile.TemporaryFile():
                until = count(archive, "samples", mine) + dice.randrange(1, 12)
                wait_until(lambda: count(archive, "samples", mine) >= until, 60, "more samples")
                seen = (count(archive, "samples", mine), count(archive, "server_requests", mine))
                started.kill()
                started.wait(10)
        wait_until(lambda: not is_running(mark), 20, "ab to be gone")
        runs[run] = (seen, mine)
        assert files(archive)[0] == archive.name
        summary = assert_unfinished(archive, run)
        assert summary["servers"][0]["requests"] >= seen[1]
        assert files(archive) == [archive.name], "the report that was the last to have it open"
    for run, (seen, mine) in runs.items():
        there = (count(archive, "samples", mine), count(archive, "server_requests", mine))
        assert there >= seen, f"run {run}"
        assert ask(archive, f"SELECT count(DISTINCT key) FROM server_requests WHERE {mine}"
                   ) == [(there[1],)]
    assert ask(archive, "SELECT DISTINCT complete, outcome FROM runs") == [(0, "unfinished")]
    assert_sound(archive)


def test_what_is_drained_is_committed(php_server, archive):
    """The load has ended, a request of somebody else's has not: what is seen meanwhile does not
    wait for it."""
    apache = php_server("event", workers=10)
    # Both tables in one look: the samples are there before the load tool's output is.
    state = ("SELECT (SELECT count(*) FROM samples WHERE moment = 'after'), "
             "(SELECT count(*) FROM output)")
    url = f"http://127.0.0.1:{apache.port}{SLEEP.format('30')}"
    words = ["sh", "-c", f"curl -s -A {marked('drained')} '{url}' >/dev/null & sleep 1"]
    with recording(archive, *words, targets=[apache.board]) as started:
        wait_until(lambda: has(archive, "samples", 0) and ask(archive, state)[0][0] > 0, 60,
                   "samples after the load")
        started.kill()
        started.wait(10)
    wait_until(lambda: not is_running("drained"), 20, "curl to be gone")
    ((after, output),) = ask(archive, state)
    assert after > 0
    assert output == 0, "killed too late to tell"


def test_nothing_waits_for_a_url(server, archive):
    """While a URL lets its look wait, the other server's samples are taken and committed."""
    apache, other = server("event"), server("prefork")
    asked, go_on = [], threading.Event()

    def answer(handler):
        asked.append(time.time_ns())
        if len(asked) == 12:
            go_on.wait(60)
        url = f"http://127.0.0.1:{other.port}{handler.path}"
        with urllib.request.urlopen(url, timeout=20) as found:
            reply(handler, found.read(), found.headers["Content-Type"])

    mine = "server_id = 1"
    with Server(answer) as slow:
        with recording(archive, "sleep", "20", targets=[apache.board, slow.url]) as started:
            newest = f"SELECT max(time_ns) FROM samples WHERE {mine}"
            try:
                wait_until(lambda: len(asked) >= 12, 60, "the twelfth look")
                wait_until(lambda: ask(archive, newest)[0][0] > asked[11], 30,
                           "a committed sample that is newer than the look that waits")
            finally:
                go_on.set()
            wait_until(lambda: len(asked) > 12, 60, "it goes on")
            started.send_signal(signal.SIGINT)
            started.communicate(timeout=60)
    assert ask(archive, "SELECT target FROM servers WHERE id = 1") == [(str(apache.board),)]


# ---- readers ---------------------------------------------------------------------------------


def test_reported_while_it_is_recorded(php_server, archive):
    apache = php_server("event", workers=10)
    words = ab(apache, SLEEP.format("0.02"), "-n", "100000", "-c", "5")
    with recording(archive, *words, targets=[apache.board]) as started:
        wait_until(lambda: has(archive, "server_requests", 20), 60, "requests")
        first = assert_unfinished(archive, 1)["servers"][0]["requests"]
        wait_until(lambda: count(archive, "server_requests") > first, 60, "more requests")
        assert assert_unfinished(archive, 1)["servers"][0]["requests"] > first
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 130 and "another program" not in err, err
    assert files(archive) == [archive.name]


def test_read_by_somebody_who_may_not_write(php_server, as_root):
    """What root records, while it does, and what a killed recorder left."""
    apache = php_server("event", workers=10)
    words = ab(apache, SLEEP.format("0.02"), "-n", "100000", "-c", "5", "-H",
               f"X-Mark: {marked('unwritable')}")

    def requests(archive):
        done = tool.run("report", "--format", "json", archive, user=65534, group=65534,
                        extra_groups=[])
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)[0]["servers"][0]["requests"]

    with tempfile.TemporaryDirectory(prefix="mpmstat-test-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        archive = directory / "runs.sqlite"
        with recording(archive, *words, targets=[apache.board]) as started:
            wait_until(lambda: has(archive, "server_requests", 20), 60, "requests")
            seen = requests(archive)
            assert seen > 20
            started.kill()
            started.wait(10)
        wait_until(lambda: not is_running("unwritable"), 20, "ab to be gone")
        left = files(archive)
        assert len(left) > 1
        assert requests(archive) >= seen
        assert files(archive) == left


def test_the_archive_is_two_files_while_somebody_reads(server, archive):
    """It is said, and the reader's end makes it one."""
    apache = server("event")
    with recording(archive, "sleep", "60", targets=[apache.board]) as started:
        wait_until(lambda: has(archive, "samples", 3), 60, "samples")
        with reading(archive):
            started.send_signal(signal.SIGINT)
            _, err = started.communicate(timeout=60)
            assert started.returncode == 130, err
            assert f"what was recorded last is in {archive}-wal" in err, err
            assert len(files(archive)) > 1
    assert files(archive) == [archive.name]
    assert ask(archive, "SELECT outcome FROM runs") == [("interrupted",)]
    assert_sound(archive)


# ---- disks -----------------------------------------------------------------------------------

# In a mount namespace of its own, so that nothing is left mounted whatever happens.
ON_A_READ_ONLY_DISK = """
disk=$1 archive=$2; shift 2
mount -t tmpfs none "$disk" || exit 99
cp "$archive" "$disk" && mount -o remount,ro "$disk" || exit 98
"$@"
"""


def test_a_directory_that_may_not_be_written(server, archive, as_root):
    """An archive that SQLite had open last with a log, without that log: another user reads it."""
    with recording(archive, "true", targets=[server("event").board]) as started:
        assert started.wait(60) == 0
    with tempfile.TemporaryDirectory(prefix="mpmstat-test-", dir="/dev/shm") as directory:
        os.chmod(directory, 0o755)
        path, program = Path(directory, "run.db"), Path(directory, "mpmstat")
        shutil.copy(archive, path)
        shutil.copy(build.TOOL, program)      # the build can be closed to other users
        with closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("UPDATE runs SET name = 'one'")
            db.commit()
        path.chmod(0o644)
        assert sorted(os.listdir(directory)) == ["mpmstat", "run.db"]
        read = subprocess.run([program, "report", "--format", "json", path], text=True,
                              capture_output=True, timeout=60, user="nobody", group="nogroup",
                              extra_groups=[], cwd="/")
        assert read.returncode == 0, read.stderr
        assert json.loads(read.stdout)[0]["run"]["name"] == "one"


@pytest.mark.parametrize("name, said", [
    ("new.sqlite", "Read-only file system. Name a file that can be written"),
    ("runs.sqlite", "Read-only file system. Name a file that can be written"),
])
def test_disk_read_only(server, archive, tmp_path, as_root, name, said):
    """It is said before the load begins; an archive that is there can be read."""
    apache, disk = server("event"), tmp_path / "disk"
    disk.mkdir()
    with recording(archive, "true", targets=[apache.board]) as started:
        assert started.wait(60) == 0

    def run(*words):
        return subprocess.run(["unshare", "--mount", "sh", "-c", ON_A_READ_ONLY_DISK, "sh", disk,
                               archive, build.TOOL, *words], text=True, capture_output=True,
                              timeout=60)

    done = run("record", "-o", disk / name, "-t", apache.board, "--",
               *ab(apache, "/index.html", "-n", "10"))
    if done.returncode == 99:
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    assert done.returncode == 4 and said in done.stderr, f"exit {done.returncode}: {done.stderr}"
    assert done.stdout == "" and apache.access_log() == [], "the load was not begun"
    read = run("report", "--format", "json", disk / "runs.sqlite")
    assert read.returncode == 0 and json.loads(read.stdout)[0]["run"]["complete"], read.stderr
