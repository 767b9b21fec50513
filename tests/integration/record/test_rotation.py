"""record --rotate: archive after archive. Each request is in one of them, none is lost where one
ends; old ones are removed, and nothing else of the directory; the bound on their size holds."""
import json
import os
import re
import signal
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest

import build
import clients
from processes import wait_until
from recording import ask, assert_sound, checks, has_begun

PAGE = "/index.html"
NAME = re.compile(r"mpmstat-\d{8}T\d{6}Z(\d\d)?\.db")
MIB = 1 << 20


def archives(directory):
    return sorted(path for path in directory.iterdir() if NAME.fullmatch(path.name))


@contextmanager
def rotating(directory, *options, target):
    command = [build.TOOL, "record", "-q", "-o", directory, "-t", str(target), *options]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()


def wait_for_begin(directory):
    """Until the first archive is being filled: what comes from now on is in it. Its path."""
    wait_until(lambda: archives(directory), 30, "the first archive")
    (first, *_) = archives(directory)
    wait_until(lambda: has_begun(first), 30, "its begin")
    return first


def stop(started):
    """Its status and what it said."""
    started.send_signal(signal.SIGTERM)
    out, err = started.communicate(timeout=60)
    return started.returncode, out + err


@pytest.fixture
def directory(tmp_path):
    place = tmp_path / "archives"
    place.mkdir()
    return place


def requests_of(paths):
    return [key for path in paths for key in
            ask(path, "SELECT request_id, pid FROM server_requests WHERE label <> 'mpm-status'")]


def runs_of(paths):
    return [run for path in paths
            for run in ask(path, "SELECT recording, part, started_ns, ended_ns, outcome FROM runs")]


@pytest.mark.parametrize("by_url", [False, True], ids=["board", "url"])
def test_each_request_is_in_one_archive(server, directory, by_url):
    apache = server("event")
    url = f"http://127.0.0.1:{apache.port}/mpm-status"
    requests = 0
    with rotating(directory, "--rotate", "2s", target=url if by_url else apache.board) as started:
        wait_for_begin(directory)
        while len(archives(directory)) < 4:
            requests += clients.ab(apache.port, PAGE, 400, 8)["complete"]
        status, said = stop(started)
    assert status == 0, said
    paths = archives(directory)
    found = requests_of(paths)
    assert len(found) == len(set(found)) == requests
    runs = runs_of(paths)
    assert len({recording for recording, *_ in runs}) == 1 and runs[0][0]
    assert [part for _, part, *_ in runs] == list(range(1, len(paths) + 1))
    assert {outcome for *_, outcome in runs} == {"complete"}
    for (*_, ended, _), (_, _, started_ns, _, _) in zip(runs, runs[1:]):
        assert started_ns >= ended
    for path in paths:
        assert_sound(path)
        # By URL a slow server's answer can be cut off where an archive ends: the next has the rest.
        lost = (0, None) if by_url and build.SANITIZE else (0,)
        [(found_lost, restarts)] = ask(path, "SELECT DISTINCT lost, restarts FROM servers")
        assert found_lost in lost and restarts == 0
        assert not path.with_name(path.name + "-wal").exists()


def ended_with_load(directory):
    """Those between the first and the last with requests of at least two runs of ab. One that
    begins late, because the machine was busy, ends on time all the same, and can be empty."""
    return [path for path in archives(directory)[1:-1] if len(requests_of([path])) >= 800]


def test_an_archive_of_a_rotation_is_reported_as_any_other(server, directory):
    apache = server("event")
    with rotating(directory, "--rotate", "2s", target=apache.board) as started:
        while not (chosen := ended_with_load(directory)):
            assert len(archives(directory)) < 20, "requests came to none of the archives"
            clients.ab(apache.port, PAGE, 400, 8)
        stop(started)
    done = subprocess.run([build.TOOL, "report", "--format", "json", chosen[0]], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    (summary,) = json.loads(done.stdout)
    # On a busy machine requests wait for workers that one sample a second does not find busy.
    assert not [f["text"] for f in summary["findings"] if "although no sample" not in f["text"]
                and f["code"] in ("stuck-requests", "cannot-tell")]
    answers = checks(summary)
    # Requests in flight at the end can be more than the law's tolerance of so short a time.
    assert answers["littles-law"] is not False, summary["checks"]
    # The server counts requests that end between the readings of its counters and of its journal:
    # on a busy machine there can be many. None is lost.
    assert answers["journal-complete"] is not False, summary["checks"]
    assert ask(chosen[0], "SELECT lost FROM servers") == [(0,)]


def bytes_in(directory):
    total = 0
    for entry in os.scandir(directory):
        try:
            total += entry.stat(follow_symlinks=False).st_size if "mpmstat-" in entry.name else 0
        except FileNotFoundError:
            pass    # it was removed meanwhile
    return total


def test_the_bound_on_their_size_holds(server, directory):
    apache = server("event")
    most, over = [0], threading.Event()

    def watch():
        while not over.wait(0.01):
            most[0] = max(most[0], bytes_in(directory))

    watcher = threading.Thread(target=watch)
    options = ("--rotate-size", "1M", "--keep-size", "4M", "--no-memory")
    with rotating(directory, *options, target=apache.board) as started:
        watcher.start()
        try:
            first = wait_for_begin(directory)
            while first.exists():
                clients.ab(apache.port, "/index.html", 3000, 4)
        finally:
            over.set()
            watcher.join()
        status, said = stop(started)
    assert status == 0, said
    assert MIB < most[0] <= 4 * MIB
    assert len(archives(directory)) >= 2


def test_old_ones_are_removed_and_nothing_else(server, directory):
    apache = server("event")
    with rotating(directory, "--rotate", "1s", target=apache.board) as started:
        wait_until(lambda: len(archives(directory)) >= 2, 30, "the second archive")
        stop(started)
    old, *_ = archives(directory)
    others = [directory / "mpmstat-20200101T000000Z.db.copy", directory / "run.db",
              directory / "mpmstat-20200101T000000Z.db"]
    for path in others:
        path.write_bytes(b"not an archive of mpmstat, but somebody's file" * 3)
    link = directory / "mpmstat-20200102T000000Z.db"
    link.symlink_to(others[1])
    for path in (old, *others):
        os.utime(path, (1, 1))
    with rotating(directory, "--rotate", "1s", "--keep", "1h", target=apache.board) as started:
        wait_until(lambda: not old.exists(), 30, "the old archive's removal")
        stop(started)
    assert all(path.exists() for path in others) and link.is_symlink()


def test_after_a_kill_the_archives_are_there_and_the_next_one_goes_on(server, directory):
    apache = server("event")
    with rotating(directory, "--rotate", "1h", target=apache.board) as started:
        first = wait_for_begin(directory)
        clients.ab(apache.port, PAGE, 200, 4)
        wait_until(lambda: ask(first, "SELECT count(*) FROM server_requests")[0][0] == 200, 30,
                   "the requests")
        other = subprocess.run([build.TOOL, "record", "--rotate", "1h", "-o", directory, "-t",
                                str(apache.board)], text=True, capture_output=True, timeout=30)
        started.kill()
    assert other.returncode == 4 and "another mpmstat records into" in other.stderr, other.stderr
    with rotating(directory, "--rotate", "1h", target=apache.board) as started:
        wait_until(lambda: len(archives(directory)) == 2, 30, "the second archive")
        wait_until(lambda: has_begun(archives(directory)[1]), 30, "its begin")
        status, said = stop(started)
    assert status == 0, said
    paths = archives(directory)
    assert [run[-1] for run in runs_of(paths)] == ["unfinished", "complete"]
    assert len({run[0] for run in runs_of(paths)}) == 2
    assert ask(paths[0], "SELECT count(*) FROM server_requests") == [(200,)]
    assert_sound(paths[0])


def test_a_server_that_is_away_where_an_archive_ends_is_recorded_on(server, directory):
    apache = server("event")
    url = f"http://127.0.0.1:{apache.port}/mpm-status"
    with rotating(directory, "--rotate", "2s", target=url) as started:
        wait_for_begin(directory)
        apache.stop()
        count = len(archives(directory))
        wait_until(lambda: len(archives(directory)) >= count + 2, 30, "two archives without it")
        apache.log.write_text("")
        apache.start()
        clients.ab(apache.port, PAGE, 100, 4)
        wait_until(lambda: len(requests_of(filter(has_begun, archives(directory)))) == 100, 30,
                   "its requests")
        status, said = stop(started)
    assert status == 0, said
    assert ask(archives(directory)[count], "SELECT count(*) FROM samples") == [(0,)]
    for path in archives(directory):
        shown = subprocess.run([build.TOOL, "report", "--format", "text", path], text=True,
                               capture_output=True, timeout=60)
        assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize("words, said", [
    (["--keep", "1d"], "--keep and --keep-size go with --rotate TIME"),
    (["--rotate", "1h", "--", "true"], "runs no command"),
    (["--rotate", "1h"], "-o DIRECTORY"),
    (["--rotate", "1", "-o", "x"], "a time with its unit"),
    (["--rotate", "1h", "--keep-size", "2", "-o", "x"], "a size of"),
    (["--rotate-size", "1G", "--keep-size", "2G", "-o", "x"], "at least 3 times --rotate-size"),
    (["--rotate-size", "1G", "--keep-size", "3G", "--thin-after", "1d", "-o", "x"],
     "at least 4 times --rotate-size with --thin-after"),
    (["--thin-after", "1d"], "--rotate TIME, as --thin-after does"),
    (["--rotate", "1h", "--thin-after", "never", "-o", "x"], "a time with its unit"),
])
def test_what_does_not_go_together_is_said(words, said):
    done = subprocess.run([build.TOOL, "record", *words], text=True, capture_output=True,
                          timeout=30)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_a_directory_that_is_not_there_is_said(server, tmp_path):
    apache = server("event")
    done = subprocess.run([build.TOOL, "record", "--rotate", "1h", "-t", str(apache.board), "-o",
                           tmp_path / "none"], text=True, capture_output=True, timeout=30)
    assert done.returncode == 4 and "cannot open the directory" in done.stderr, done.stderr


def report(*words):
    done = subprocess.run([build.TOOL, "report", "--format", "json", *map(str, words)], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def rotated(server, directory):
    """Some archives, and how many requests a load of ab made meanwhile."""
    apache, requests = server("event"), 0
    with rotating(directory, "--rotate", "2s", target=apache.board) as started:
        wait_for_begin(directory)
        while len(archives(directory)) < 4:
            requests += clients.ab(apache.port, PAGE, 400, 4)["complete"]
        status, said = stop(started)
    assert status == 0, said
    return directory, requests


def test_a_directory_is_reported_as_one_run(rotated):
    directory, requests = rotated
    (summary,) = report(directory)
    (apache,) = summary["servers"]
    assert apache["requests"] == requests and summary["run"]["complete"]
    assert checks(summary)["littles-law"] is True, summary["checks"]
    parts = [report(path)[0] for path in archives(directory)]
    together = sum(part["run"]["duration_seconds"] for part in parts)
    assert summary["run"]["duration_seconds"] == pytest.approx(together, abs=0.01)
    own = [part["servers"][0]["cpu_seconds"] for part in parts]
    assert apache["cpu_seconds"] == pytest.approx(sum(own))
    slowest = max(ask(path, "SELECT max(queue_ns + read_ns + handle_ns + send_ns) FROM "
                            "server_requests WHERE label <> 'mpm-status'")[0][0] or 0
                  for path in archives(directory))
    assert apache["phases"]["total"]["max_seconds"] == pytest.approx(slowest / 1e9)


def test_a_time_of_the_archives_is_what_ended_in_it(rotated):
    directory, requests = rotated
    (_, _, began, _, _), *_, (_, _, _, ended, _) = runs_of(archives(directory))
    first, last = int(began / 1e9) + 1, int(ended / 1e9)
    assert last - first >= 3

    def ending(low, high):
        return sum(ask(path, "SELECT count(*) FROM server_requests WHERE label <> 'mpm-status' AND "
                             "start_ns + queue_ns + read_ns + handle_ns + send_ns BETWEEN "
                             f"{low * 10**9} AND {high * 10**9 - 1}")[0][0]
                   for path in archives(directory))

    def at(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))

    for low, high in ((first, last), (first, first + 1), (first + 1, last)):
        (summary,) = report("--from", at(low), "--to", at(high), directory)
        assert summary["run"]["duration_seconds"] == pytest.approx(high - low, abs=0.01)
        (apache,) = summary["servers"]
        counted = apache["requests"] + ask_ghosts(directory, low, high)
        assert counted == ending(low, high)
        assert apache["cpu_seconds"] is None
        assert any("a part of what was recorded" in note for note in summary["notes"])


def ask_ghosts(directory, low, high):
    """Those that began before `low`, and before the 10 ms that a recording tolerates."""
    return sum(ask(path, "SELECT count(*) FROM server_requests WHERE label <> 'mpm-status' AND "
                         "start_ns + queue_ns + read_ns + handle_ns + send_ns BETWEEN "
                         f"{low * 10**9} AND {high * 10**9 - 1} AND start_ns + 10000000 < "
                         f"{low * 10**9}")[0][0] for path in archives(directory))


def test_a_time_in_which_nothing_was_recorded_is_said(rotated):
    directory, _ = rotated
    done = subprocess.run([build.TOOL, "report", "--format", "text", "--from", "2020-01-01", "--to",
                           "2020-01-02", archives(directory)[0]], text=True, capture_output=True,
                          timeout=30)
    assert done.returncode == 3 and "nothing was recorded at that time" in done.stderr, done.stderr


# ---- the unit ----------------------------------------------------------------------------------

UNIT = build.BUILDDIR / "tools" / "record" / "mpmstat-record.service"


@pytest.mark.skipif(not build.find("systemd-analyze"), reason="needs systemd-analyze")
def test_the_unit_is_hardened(tmp_path):
    """systemd's own judgement: an exposure of less than 2.0 of 10."""
    done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager",
                           "--threshold=20", UNIT], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    runnable = tmp_path / UNIT.name
    runnable.write_text(re.sub(r"ExecStart=\S+", f"ExecStart={build.TOOL}", UNIT.read_text()))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", runnable], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_what_the_unit_starts_records(server, directory):
    """Its own words, with its directory."""
    apache = server("event")
    line, = re.findall(r"^ExecStart=\S+ record -o \$\{STATE_DIRECTORY\} \$ARGS$", UNIT.read_text(),
                       re.M)
    words, = re.findall(r'^Environment="ARGS=(.*)"$', UNIT.read_text(), re.M)
    with rotating(directory, *words.split(), target=apache.board) as started:
        wait_for_begin(directory)
        status, said = stop(started)
    assert line and status == 0, said


def test_a_directory_without_archives_is_said(tmp_path):
    done = subprocess.run([build.TOOL, "report", "--format", "text", tmp_path], text=True,
                          capture_output=True, timeout=30)
    assert done.returncode == 3 and "has no archive (*.db)" in done.stderr, done.stderr
