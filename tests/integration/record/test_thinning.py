"""record --thin-after: old archives become a fraction of their size, with the same counts and the
same slowest requests, and other numbers close to what they were."""
import csv
import json
import os
import re
import select
import shutil
import signal
import sqlite3
import statistics
import subprocess
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import build
import clients
import php
from processes import read, wait_until
from recording import ask, assert_sound, has
from test_rotation import archives, directory, rotating, runs_of, stop, wait_for_begin

__all__ = ["directory"]      # a fixture
SLEEP = "/sleep.php?seconds=0.002&spread=0.002"
TOTAL = "queue_ns + read_ns + handle_ns + send_ns"
COUNTS = ("SELECT (start_ns + {0}) / 60000000000, label, status, aborted, ghost, {1} FROM "
          "server_requests GROUP BY 1, 2, 3, 4, 5")
SLOWEST = f"SELECT key, {TOTAL} AS total FROM server_requests ORDER BY total DESC, key LIMIT 20"


def thinned(path):
    """Read-only: the last program that closes an archive for writing puts its log into it, and then
    the file is younger than what was recorded."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute("SELECT thinned_ns FROM runs").fetchall()[0][0] is not None


def counts(path, each):
    return ask(path, COUNTS.format(TOTAL, each))


def size_of(path):
    return path.stat().st_size


def size_of_empty(path):
    """The size of an archive with the same tables, and no rows."""
    with closing(sqlite3.connect(":memory:")) as db:
        for sql, in ask(path, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND "
                              "name NOT LIKE 'sqlite%'"):
            db.execute(sql)
        return db.execute("SELECT page_count * page_size FROM pragma_page_count(), "
                          "pragma_page_size()").fetchone()[0]


def thin(directory, target):
    """Another recording, until all archives but its own are thinned."""
    old = archives(directory)
    with rotating(directory, "--rotate", "2s", "--thin-after", "1s", target=target) as started:
        wait_until(lambda: all(thinned(path) for path in old), 60, "thinned archives")
        status, said = stop(started)
    assert status == 0, said
    assert not list(directory.glob("*.thinned*"))


def report(*words):
    done = subprocess.run([build.TOOL, "report", "--format", "json", *map(str, words)], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[0]


@pytest.fixture
def recorded(server, directory, tmp_path):
    """(Apache, archives that are whole, the same ones in another directory)"""
    apache = server("event")
    with rotating(directory, "--rotate", "4s", target=apache.board) as started:
        wait_for_begin(directory)
        while len(archives(directory)) < 3:
            clients.ab(apache.port, "/index.html", 3000, 8)
            clients.ab(apache.port, "/there-is-none", 500, 4)
        status, said = stop(started)
    assert status == 0, said
    whole = tmp_path / "whole"
    shutil.copytree(directory, whole)
    return apache, directory, whole


def by_producer(summary):
    return {server["producer"]: server for server in summary["servers"]}


def quantile(values, share):
    return values[min(max(int(share * len(values)), 0), len(values) - 1)]


def test_counts_and_the_slowest_stay_and_percentiles_are_close(recorded):
    apache, directory, whole = recorded
    names = [path.name for path in archives(whole)]
    written = {name: (whole / name).stat().st_mtime for name in names}
    thin(directory, apache.board)
    for name in names:
        before, after = whole / name, directory / name
        assert_sound(after)
        assert counts(before, "count(*)") == counts(after, "sum(weight)")
        assert ask(before, SLOWEST) == ask(after, SLOWEST)
        assert after.stat().st_mtime == written[name]
        assert not thinned(before) and thinned(after)
    largest = max(names, key=lambda name: size_of(whole / name))
    before, after = whole / largest, directory / largest
    empty = size_of_empty(before)
    assert (size_of(after) - empty) * 4 < size_of(before) - empty
    one, other = report(before), report(after)
    assert other["run"]["thinned"]["of"] == one["servers"][0]["requests"]
    assert other["run"]["thinned"]["kept"] * 5 < other["run"]["thinned"]["of"]
    (x,), (y,) = one["servers"], other["servers"]
    assert all(x[name] == y[name] for name in ("requests", "samples", "max_busy", "errors_5xx")
               if name in x)
    all_of = sorted(row[0] for row in ask(before, f"SELECT {TOTAL} FROM server_requests WHERE "
                                                  "label <> 'mpm-status' AND NOT ghost"))
    for share in (0.5, 0.9, 0.95, 0.99):
        found = y["phases"]["total"][f"p{round(share * 100)}_seconds"] * 1e9
        low, high = quantile(all_of, share - 0.03), quantile(all_of, share + 0.03)
        assert low - 1000 <= found <= high + 1000, share
    assert y["mean_seconds"] == pytest.approx(x["mean_seconds"], rel=0.05)
    assert y["phases"]["total"]["max_seconds"] == x["phases"]["total"]["max_seconds"]


@pytest.mark.mpms("event")
def test_requests_of_php_stay_with_those_of_apache(php_server, mpm, php_boards, directory,
                                                    tmp_path):
    apache = php_server(mpm, workers=40, threads=20, children=5, settings=php.settings(php_boards))
    clients.ab(apache.port, SLEEP, 1, 1)     # so that PHP has its board
    board = php.board(php_boards, "fpm-fcgi")
    with rotating(directory, "--rotate", "4s", "-t", str(apache.board), target=board) as started:
        wait_for_begin(directory)
        while len(archives(directory)) < 3:
            clients.ab(apache.port, SLEEP, 1500, 8)
        status, said = stop(started)
    assert status == 0, said
    whole = shutil.copytree(directory, tmp_path / "whole")
    thin(directory, apache.board)
    largest = max(archives(whole), key=size_of)
    before, after = largest, directory / largest.name
    of_php = "SELECT (start_ns + run_ns) / 60000000000, label, status, {0} FROM php_requests " \
             "GROUP BY 1, 2, 3"
    assert ask(before, of_php.format("count(*)")) == ask(after, of_php.format("sum(weight)"))
    assert ask(after, "SELECT count(*) FROM php_requests p JOIN server_requests a USING "
                      "(request_id) WHERE p.weight <> a.weight") == [(0,)]
    assert ask(after, "SELECT max(weight) FROM php_requests")[0][0] > 1
    one, other = (by_producer(report(path)) for path in (before, after))
    for producer in ("apache", "php"):
        assert one[producer]["requests"] == other[producer]["requests"]
        for phase, times in one[producer]["phases"].items():
            thinned_times = other[producer]["phases"][phase]
            assert times["max_seconds"] == thinned_times["max_seconds"], phase
            # The wait of some is not known, and who stands for them is one whose wait is, or not.
            exact = phase != "php_wait"
            assert thinned_times["count"] == pytest.approx(times["count"],
                                                           rel=0 if exact else 0.02), phase
    x, y = (side["apache"]["php"]["handle"] for side in (one, other))
    assert x["php_run"]["count"] == y["php_run"]["count"]
    # The mean of a sample, as far off as samples of that spread and size are at most.
    times = [run_ns / 1e9 for run_ns, in ask(before, "SELECT run_ns FROM php_requests")]
    (kept,), = ask(after, "SELECT count(*) FROM php_requests")
    error = statistics.pstdev(times) / kept ** 0.5
    assert x["php_run"]["mean_seconds"] == pytest.approx(y["php_run"]["mean_seconds"],
                                                         abs=4 * error)


def test_a_directory_of_whole_and_thinned_ones_is_one_run(recorded):
    apache, directory, whole = recorded
    one = report(whole)
    *_, last = archives(directory)
    *_, (_, _, last_began, _, _) = runs_of([last])
    thin(directory, apache.board)
    shutil.copy(last, whole / last.name)
    mixed, alone = report(whole), report(last)
    assert "thinned" not in one["run"]
    assert mixed["run"]["thinned"]["of"] == one["servers"][0]["requests"]
    for value in ("requests", "errors_5xx"):
        assert mixed["servers"][0][value] == one["servers"][0][value]
    assert mixed["run"]["duration_seconds"] == one["run"]["duration_seconds"]
    assert alone["run"]["thinned"]["kept"] < mixed["run"]["thinned"]["kept"]
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(last_began // 10**9))
    part = report("--from", at, whole)
    assert part["run"]["thinned"]["of"] == part["servers"][0]["requests"]
    assert 0 < part["servers"][0]["requests"] < one["servers"][0]["requests"]


def test_it_is_said_near_the_top(recorded):
    apache, directory, _ = recorded
    first = max(archives(directory), key=size_of)    # on a slow machine, one can have no request
    thin(directory, apache.board)
    page = directory / "page.html"
    for words in (["--format", "text"], ["--format", "md"], ["-o", page]):
        done = subprocess.run([build.TOOL, "report", *words, first], text=True,
                              capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        shown = page.read_text() if "-o" in words else done.stdout
        said = shown.index("thinned: ")
        assert said < shown.index("counts by minute")
        assert "-o" in words or shown[:said].count("\n") < 8
    refused = subprocess.run([build.TOOL, "import", first, page], text=True, capture_output=True,
                             timeout=60)
    assert refused.returncode == 3 and "is thinned" in refused.stderr, refused.stderr


def shown(*words):
    done = subprocess.run([build.TOOL, *map(str, words)], text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_of_a_thinned_archive_is_marked(recorded):
    """In the rows of tables, in a trend and in a comparison; where all is whole, nothing is."""
    apache, directory, whole = recorded
    names = [path.name for path in archives(whole) if
             ask(path, "SELECT EXISTS (SELECT 1 FROM server_requests WHERE NOT ghost AND label <> "
                       "'mpm-status')") == [(1,)]]
    thin(directory, apache.board)
    names.sort(key=lambda name: size_of(whole / name), reverse=True)
    mixed = [directory / names[0], *(whole / name for name in names[1:])]
    all_whole = [whole / name for name in names]
    for words in ((), ("--series",)):
        lines = shown("report", "--format", "csv", *words, *mixed).splitlines()
        assert lines[0].endswith(",thinned"), "it is the last column"
        rows = list(csv.DictReader(lines))
        assert {row["archive"]: row["thinned"] for row in rows} == {
            str(path): "yes" if path == mixed[0] else "no" for path in mixed}
        rows = csv.DictReader(shown("report", "--format", "csv", *words, *all_whole).splitlines())
        assert {row["thinned"] for row in rows} == {"no"}
    (line,) = json.loads(shown("report", "--trend", "--format", "json", *mixed))
    assert {point["archive"]: point["thinned"] for point in line["points"]} == {
        str(path): int(path == mixed[0]) for path in mixed}
    for form in ("text", "md", "html"):
        trend = shown("report", "--trend", "--format", form, *mixed)
        assert re.search(r"\d\d:\d\d\\?~", trend), trend
        assert trend.count("p50, p95 and p99 are estimates") == 1, trend
        assert "~" not in shown("report", "--trend", "--format", form, *all_whole)
    compared = " ".join(shown("compare", all_whole[0], mixed[0]).split())
    assert "the archive is thinned of 1 of the 1 runs of B" in compared, compared
    assert "is thinned" not in shown("compare", all_whole[0], all_whole[0])


# In a mount namespace of its own, so that nothing is left mounted whatever happens. What is
# recorded is copied out: the small disk goes with the namespace.
ON_A_SMALL_DISK = """
disk=$1 size=$2 from=$3 out=$4; shift 4
mount -t tmpfs -o size="$size" none "$disk" || exit 99
cp "$from"/* "$disk" 2>/dev/null
"$@"; status=$?
cp "$disk"/* "$out" || exit 98
exit $status
"""


def read_until(pipe, words, timeout):
    """What came out of the pipe, with these words."""
    said = []

    def has_said():
        if select.select([pipe], [], [], 0)[0]:
            said.append(os.read(pipe.fileno(), 65536).decode())
        return words in "".join(said)

    wait_until(has_said, timeout, lambda: f"{words!r} in {''.join(said)!r}")
    return "".join(said)


@contextmanager
def on_a_small_disk(size, before, after, disk, *words):
    command = ["unshare", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", disk, size, before, after,
               build.TOOL, "record", "-o", disk, "--no-memory", *words]
    with subprocess.Popen(list(map(str, command)), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()


def recorder_of(started):
    """The recorder's pid: a child of the shell. None where nothing can be mounted."""
    def found():
        if started.poll() is not None:
            return -1
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        return next((int(pid) for pid in children if read(pid, "comm") == b"mpmstat\n"), None)
    pid = wait_until(found, 30, "the recorder")
    return None if pid < 0 else pid


@pytest.fixture
def disks(tmp_path, as_root):
    """(a place to mount, what is on the disk at first, where it is copied to)"""
    places = [tmp_path / name for name in ("disk", "before", "after")]
    for place in places:
        place.mkdir()
    return places


def seen_by(pid, disk):
    """The disk as the recorder sees it."""
    return Path(f"/proc/{pid}/root{disk}")


def begun(archive, scratch):
    """Whether it has a sample: a copy tells it, as SQLite looks for another file than this path of
    another mount namespace."""
    try:
        for end in ("", "-wal"):
            shutil.copy(f"{archive}{end}", scratch / f"copy.db{end}")
        return has(scratch / "copy.db", "samples", 0)
    except (FileNotFoundError, sqlite3.DatabaseError):     # it was copied while it changed
        return False


def test_a_rotation_goes_on_for_ever_on_a_disk_of_its_bound(server, disks):
    """The bound holds at each moment: nothing is lost where the disk has not one block more."""
    apache, (disk, before, after) = server("event"), disks
    with on_a_small_disk("5m", before, after, disk, "-t", apache.board, "--rotate-size", "1M",
                         "--keep-size", "4M", "--thin-after", "1h") as started:
        pid = recorder_of(started)
        if pid is None:
            pytest.skip(f"no file system can be mounted here: {started.communicate()[1]}")
        place = seen_by(pid, disk)
        wait_until(lambda: archives(place), 30, "the first archive")
        first, *_ = archives(place)
        while first.exists():
            clients.ab(apache.port, "/index.html", 3000, 4)
        os.kill(pid, signal.SIGTERM)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 0, out + err
    for path in archives(after):
        assert_sound(path)
    assert {outcome for *_, outcome in runs_of(archives(after))} == {"complete"}


def test_a_rotation_on_a_disk_that_is_too_small_says_so(server, disks):
    apache, (disk, before, after) = server("event"), disks
    with on_a_small_disk("3m", before, after, disk, "-t", apache.board, "--rotate-size", "1M",
                         "--keep-size", "1G") as started:
        pid = recorder_of(started)
        if pid is None:
            pytest.skip(f"no file system can be mounted here: {started.communicate()[1]}")
        while started.poll() is None:
            clients.ab(apache.port, "/index.html", 1000, 4)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 4 and "the disk is full" in err, out + err
    assert runs_of(archives(after))[0][-1] == "complete"
    for path in archives(after):
        assert_sound(path)


def test_without_room_for_a_copy_archives_stay_whole(recorded, disks):
    """Thinning takes nothing from what is recorded meanwhile."""
    (apache, _, whole), (disk, before, after) = recorded, disks
    old, room = max(archives(whole), key=size_of), 8000000
    # So large that a copy has no room, although the recorder's own archive has much.
    with closing(sqlite3.connect(old)) as db:
        db.execute(f"CREATE TABLE removed AS SELECT zeroblob({room})")
        db.execute("DROP TABLE removed")
    assert size_of(old) > room
    shutil.copy2(old, before / "mpmstat-20200101T000000Z.db")
    shutil.copy2(old, before / "mpmstat-20200102T000000Z.db")
    size = 2 * size_of(old) + room
    with on_a_small_disk(size, before, after, disk, "-t", apache.board, "--rotate", "1h",
                         "--thin-after", "1h") as started:
        pid = recorder_of(started)
        if pid is None:
            pytest.skip(f"no file system can be mounted here: {started.communicate()[1]}")
        wait_until(lambda: len(archives(seen_by(pid, disk))) == 3, 30, "its own archive")
        # Before it records, SIGTERM ends what has not begun.
        wait_until(lambda: begun(archives(seen_by(pid, disk))[-1], before), 30, "its samples")
        clients.ab(apache.port, "/index.html", 100, 4)
        warned = read_until(started.stderr, "takes twice as much", 60)
        os.kill(pid, signal.SIGTERM)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 0, out + warned + err
    assert "cannot thin the archive" in warned, warned
    assert not any(thinned(path) for path in archives(after))
    assert runs_of(archives(after))[2][-1] == "complete"
