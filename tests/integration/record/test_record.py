"""mpmstat record: a load from both sides, in the archive; and whatever may go wrong."""
import csv
import json
import re
import shlex
import signal
import sqlite3
import struct
import subprocess
import time
from contextlib import contextmanager

import pytest

import processes
import tool
from processes import wait_until
from recording import AB, ab, ask, assert_sound, checks, command, has, has_begun, is_running, marked, record

SLEEP = "/sleep.php?seconds={}&spread=0"


def url_of(apache, host="127.0.0.1"):
    return f"http://{host}:{apache.port}/mpm-status"


# ---- both sides ---------------------------------------------------------------------------


def test_both_sides(server, mpm, archive):
    apache = server(mpm, workers=10)
    summary, _ = record(apache, archive, *ab(apache, "/index.html", "-n", "3000", "-c", "5"))
    client, (recorded,) = summary["client"], summary["servers"]
    assert client["tool"] == "ab" and client["requests"] == 3000 and client["failed"] == 0
    assert client["rows"] == 3000, "ab's rows were added"
    assert summary["run"]["complete"] is True
    assert "-g" in summary["run"]["command"]
    assert recorded["requests"] == 3000 and recorded["mpm"] == mpm
    assert recorded["workers"]["limit"] == 10
    assert 0 < recorded["memory_bytes"]["peak_pss"] < 1e9
    assert 0 < recorded["cpu_seconds"] < 60
    phases = recorded["phases"]
    assert sum(phases[p]["sum_seconds"] for p in ("queue", "read", "handle", "send")
               ) == pytest.approx(phases["total"]["sum_seconds"], abs=1e-7)
    assert checks(summary)["counts"] is True and checks(summary)["journal-complete"] is True
    assert ask(archive, "SELECT count(*), count(DISTINCT key) FROM server_requests "
                        "WHERE label <> 'mpm-status'") == [(3000, 3000)]
    assert_sound(archive)


def test_environment(server, archive):
    """Where it ran, how the server was started, and the machine's counters meanwhile."""
    apache = server("event")
    summary, _ = record(apache, archive, *ab(apache, "/index.html", "-n", "100"))
    found = dict(ask(archive, "SELECT name, value FROM environment"))
    assert {"cpus", "kernel", "somaxconn", "tcp_fin_timeout", "mpmstat"} <= set(found), found
    assert str(apache.root) in found["apache_command"], found
    with open(f"/proc/{apache.pid}/limits") as limits:
        soft = next(line.split()[3] for line in limits if line.startswith("Max open files"))
    assert found["apache_open_files_limit"] == soft
    assert found["load_tool"].startswith("This is ApacheBench, Version 2"), found
    assert f"MaxRequestWorkers {summary['servers'][0]['workers']['limit']}; " in found["apache_settings"]
    assert summary["run"]["max_runnable"] >= 1 and summary["run"]["repetition"] is None
    assert ask(archive, "SELECT min(context_switches) < max(context_switches), min(tcp_segments) < "
                        "max(tcp_segments), min(forks) > 0, min(syn_retransmits) >= 0 FROM "
                        "machine_samples") == [(1, 1, 1, 1)]


def test_version_of_the_load_tool(server, archive, tmp_path):
    """The first line with a number in it, whatever its exit status; none where it hangs."""
    apache = server("event")
    wrk = tmp_path / "wrk"
    for said, version in (("echo Welcome; echo ' wrk 9.8 [epoll]'; exit 1", "wrk 9.8 [epoll]"),
                          ("echo Welcome", None), ("sleep 60", None)):
        wrk.write_text(f"#!/bin/sh\n[ \"$1\" != -v ] || {{ {said}; }}\n")
        wrk.chmod(0o700)
        began = time.monotonic()
        record(apache, archive, wrk, f"http://127.0.0.1:{apache.port}/")
        assert time.monotonic() - began < 30
        assert ask(archive, "SELECT value FROM environment WHERE name = 'load_tool' AND run_id = "
                            "(SELECT max(id) FROM runs)") == ([(version,)] if version else [])


@pytest.mark.parametrize("before", ["", "sleep 1; "], ids=["at once", "slow to start"])
def test_rate_of_the_server_is_of_its_requests(server, archive, before):
    """As of a load tool that takes long to start, or to end."""
    apache = server("event")
    load = " ".join(ab(apache, "/index.html", "-n", "300", "-c", "3"))
    record(apache, archive, "sh", "-c", f"{before}{load} && sleep 0.5")
    (first, last, count), = ask(archive, "SELECT min(start_ns), max(start_ns + queue_ns + read_ns + "
                                "handle_ns + send_ns), count(*) FROM server_requests WHERE NOT ghost "
                                "AND label <> 'mpm-status'")
    (row,) = csv.DictReader(tool.report("--format", "csv", archive).splitlines())
    assert count == 300
    assert float(row["server_requests_per_second"]) == pytest.approx(count / (last - first) * 1e9,
                                                                     rel=1e-4)


def test_sleeping_load(php_server, mpm, archive):
    """The means agree, Little's law holds, and a second run is added."""
    apache = php_server(mpm, workers=30, threads=15, children=30)
    apache.get("/sleep.php?seconds=0.1")
    for run in (1, 2):
        summary, _ = record(apache, archive,
                            *ab(apache, SLEEP.format("0.2"), "-n", "150", "-c", "20"))
        assert summary["run"]["id"] == run
        client, (recorded,) = summary["client"], summary["servers"]
        assert checks(summary)["counts"] is True, summary["checks"]
        assert checks(summary)["littles-law"] is True, summary["checks"]
        # ab waits for the CPU too, and the server cannot see that: how exact the means are is
        # test_load's subject.
        assert recorded["mean_seconds"] <= client["mean_seconds"] + 0.001
        # A prefork child may linger on one connection while another takes the next.
        assert 20 <= recorded["workers"]["max_busy"] <= 30
        assert 10 < recorded["workers"]["mean_busy"] < 22
    assert ask(archive, "SELECT count(*) FROM runs WHERE complete") == [(2,)]


@pytest.mark.parametrize("by", ["board", "url"])
def test_workers_ran_out(php_server, archive, by):
    apache = php_server("prefork", workers=5)
    summary, _ = record(apache, archive, *ab(apache, SLEEP.format("0.2"), "-n", "100", "-c", "25"),
                        target=apache.board if by == "board" else url_of(apache))
    assert summary["verdict"].startswith("Apache's workers ran out: all 5 were busy"), summary
    phases = summary["servers"][0]["phases"]
    assert phases["queue"]["mean_seconds"] > 2 * phases["handle"]["mean_seconds"]


def test_through_the_url(server, mpm, archive):
    apache = server(mpm, workers=10)
    summary, _ = record(apache, archive, *ab(apache, "/index.html", "-n", "2000", "-c", "5"),
                        target=url_of(apache))
    assert summary["client"]["requests"] == summary["servers"][0]["requests"] == 2000
    assert checks(summary)["counts"] is True and checks(summary)["journal-complete"] is True


def test_the_url_s_own_worker_is_not_counted(server, mpm, archive):
    """Each look by URL keeps a worker busy, which no load does."""
    apache = server(mpm, workers=10)
    record(apache, archive, "sleep", "4", target=url_of(apache))
    # The worker of the look before keeps its connection until it sees that mpmstat has closed it.
    assert ask(archive, "SELECT count(*) > 3, total(workers_busy > 0) <= 2, max(handling) FROM "
                        "samples WHERE moment <> 'before'") == [(1, 1, 0)]


@pytest.mark.parametrize("loads, busy", [((2, 1), 3), ((4, 4), 4)])
def test_the_url_s_own_worker_is_the_load_s_where_they_ran_out(php_server, archive, loads, busy):
    """Requests that keep their connections wait for a worker, not to be accepted. Two loads of
    different pace, so that the workers are not all between two requests at once, which is when a
    look gets one. Of the first, the worker of the look before can still have its connection, in two
    of the looks; of the second, there cannot be more."""
    apache = php_server("event", workers=4, threads=4)
    load = " & ".join(shlex.join(ab(apache, SLEEP.format(seconds), "-t", "4", "-n", "100000", "-k",
                                    "-c", str(concurrency)))
                      for seconds, concurrency in zip(("0.1", "0.13"), loads))
    record(apache, archive, "sh", "-c", f"{load} & wait", target=url_of(apache))
    looks = [row[0] for row in ask(archive, "SELECT workers_busy FROM samples WHERE moment = "
                                            "'during' ORDER BY 1 DESC")]
    assert looks[2 if busy < 4 else 0] == busy, looks


def test_slow_answers_of_a_url_are_timed_when_made(php_server, archive):
    """All workers are busy, so each look waits in the accept queue. What it shows was so when it
    was answered: between two looks, workers cannot have worked longer than there was time."""
    apache = php_server("prefork", workers=4)
    record(apache, archive, *ab(apache, SLEEP.format("0.5"), "-t", "5", "-n", "100000", "-c", "30"),
           target=url_of(apache))
    looks = ask(archive, "SELECT time_ns, idle_ns + reading_ns + handling_ns + sending_ns + "
                         "keepalive_ns + closing_ns, cost_ns FROM samples ORDER BY rowid")
    assert max(cost for _, _, cost in looks) > 1e9, "an answer was slow"
    steps = [(after[0] - before[0], after[1] - before[1])
             for before, after in zip(looks, looks[1:])]
    assert all(0 <= worked <= 4.1 * passed + 10e6 for passed, worked in steps), steps


def test_one_server_by_two_names(server, archive):
    """It is recorded once, from what is named first."""
    apache = server("event", workers=10)
    for names in ((apache.board, url_of(apache)), (url_of(apache), apache.board),
                  (url_of(apache), url_of(apache, "localhost"))):
        words = command(apache, archive, *ab(apache, "/index.html", "-n", "200"), target=names[0])
        words[words.index("--"):words.index("--")] = ["-t", str(names[1])]
        done = subprocess.run(words, text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert f"{names[1]} is the server of {names[0]}" in done.stderr, done.stderr
        summary = json.loads(done.stdout)
        (recorded,) = summary["servers"]
        assert recorded["target"] == str(names[0]) and recorded["requests"] == 200
        assert checks(summary)["counts"] is True, summary["checks"]


def set_clock(apache, seconds):
    """As though the wall clock had been set forward by that much since the server's start: its
    board says what the wall clock was then, relative to the monotonic one."""
    with open(apache.board, "r+b") as board:
        board.seek(56)
        (offset,) = struct.unpack("=q", board.read(8))
        board.seek(56)
        board.write(struct.pack("=q", offset - int(seconds * 1e9)))


@pytest.mark.parametrize("by", ["board", "url", "url of another machine"])
@pytest.mark.parametrize("seconds", [2, 3600, -3600])
def test_wall_clock_was_set(server, archive, seconds, by):
    """NTP, a suspended machine, `date`: the load's requests are the load's all the same."""
    apache = server("event", workers=10)
    apache.get("/index.html")
    set_clock(apache, seconds)
    if by == "url of another machine":
        apache.board.rename(apache.board.with_suffix(".elsewhere"))
    before = time.time_ns()
    summary, err = record(apache, archive, *ab(apache, "/index.html", "-n", "500", "-c", "4"),
                          target=apache.board if by == "board" else url_of(apache))
    assert summary["servers"][0]["requests"] == 500, err
    assert checks(summary)["counts"] is True, summary["checks"]
    assert ask(archive, "SELECT max(ghost) FROM server_requests WHERE label <> 'mpm-status'"
               ) == [(0,)]
    for table, column in (("server_requests", "start_ns"), ("samples", "time_ns")):
        (first, last), = ask(archive, f"SELECT min({column}), max({column}) FROM {table}")
        assert before <= first <= last <= time.time_ns(), table


def test_graceful_restart_during_a_run(server, mpm, archive):
    apache = server(mpm, "MPMStatJournal 262144", workers=10)   # a recorder can lack a CPU
    with subprocess.Popen(command(apache, archive, *ab(apache, "/index.html", "-t", "5", "-n",
                                                       "1000000", "-c", "4")),
                          text=True, stdout=subprocess.PIPE) as recording:
        wait_until(lambda: tool.requests(tool.status(apache.board)) > 5, 30, "requests")
        apache.restart(wait=False)
        summary = json.loads(recording.communicate(timeout=60)[0])
    assert summary["run"]["complete"] is True
    assert checks(summary)["counts"] is True, summary["checks"]
    assert checks(summary)["journal-complete"] is True
    assert summary["servers"][0]["exits"] > 0
    assert ("generation",) in ask(archive, "SELECT DISTINCT event FROM lifecycle")


def test_another_command(server, archive):
    apache = server("event")
    url = f"http://127.0.0.1:{apache.port}/index.html"
    summary, _ = record(apache, archive, "sh", "-c", f"curl -s {url} {url} >/dev/null; echo done")
    assert summary["client"]["tool"] == "generic" and summary["client"]["requests"] is None
    assert summary["servers"][0]["requests"] == 2
    assert checks(summary)["counts"] is None
    assert ask(archive, "SELECT content FROM output WHERE stream = 'stdout'") == [(b"done\n",)]


def test_no_command(server, archive):
    apache = server("event")
    words = command(apache, archive)[:-1]
    with subprocess.Popen([*words, "--timeout", "20"], text=True, stdout=subprocess.PIPE
                          ) as recording:
        wait_until(lambda: has_begun(archive), 10, "the begin")
        apache.get("/")
        recording.send_signal(signal.SIGINT)
        summary = json.loads(recording.communicate(timeout=20)[0])
    assert recording.returncode == 0 and summary["run"]["complete"] is True
    assert summary["client"] is None and summary["servers"][0]["requests"] == 1


# ---- stopped -----------------------------------------------------------------------------


@contextmanager
def recording(apache, archive, mark):
    """A recording that has been sampling for a while, of an ab that takes minutes."""
    words = ab(apache, SLEEP.format("0.5"), "-n", "10000", "-c", "5", "-H",
               f"X-Mark: {marked(mark)}")
    with subprocess.Popen(command(apache, archive, *words), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as started:
        try:
            wait_until(lambda: has(archive, "server_requests", 5), 20, "requests")
            yield started
        finally:
            if started.poll() is None:
                started.kill()


def test_interrupted(php_server, archive):
    apache = php_server("event", workers=10)
    with recording(apache, archive, "interrupted") as started:
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=20)
        assert started.returncode == 130, err
        summary = json.loads(out)
        assert summary["run"]["complete"] is False and summary["run"]["outcome"] == "interrupted"
        assert summary["verdict"].startswith("The run was interrupted after "), summary
        assert summary["findings"][0]["code"] == "load-cut-short"
        assert {f["code"] for f in summary["findings"]} - {"load-cut-short"}, "the server is judged"
        assert summary["client"]["requests"] > 0, "ab still said what it had"
        assert checks(summary)["counts"] is True, summary["checks"]
        assert not is_running("interrupted")


def test_killed(php_server, archive):
    """kill -9: nothing runs on, and the archive says how far it came."""
    apache = php_server("event", workers=10)
    with recording(apache, archive, "killed-9") as started:
        started.kill()
        started.wait(10)
        wait_until(lambda: not is_running("killed-9"), 10, "ab to be gone")
    assert ask(archive, "SELECT complete, outcome FROM runs") == [(0, "unfinished")]
    assert ask(archive, "SELECT count(*) > 5 FROM server_requests") == [(1,)]
    assert_sound(archive)


def test_timeout(php_server, archive):
    apache = php_server("event", workers=10)
    words = command(apache, archive, *ab(apache, SLEEP.format("1.5"), "-n", "10", "-c", "2"))
    words[words.index("--"):words.index("--")] = ["--timeout", "1"]
    done = subprocess.run(words, text=True, capture_output=True, timeout=30)
    assert done.returncode == 1 and "ab had not ended after 1 s" in done.stderr, done.stderr
    assert json.loads(done.stdout)["run"]["outcome"] == "timeout"


def test_server_dies(php_server, archive):
    apache = php_server("prefork", workers=5)
    with recording(apache, archive, "server-dies") as started:
        for pid in [apache.pid, *processes.children(apache.pid)]:
            processes.kill(pid, signal.SIGKILL)
        out, err = started.communicate(timeout=60)
        assert started.returncode == 1, err
        summary = json.loads(out)
    assert summary["run"]["outcome"] == "failed"
    assert any(re.search("the parent process of .* ended", note) for note in summary["notes"]), summary["notes"]
    assert_sound(archive)
    apache.process = None


# ---- errors, each a sentence and an exit code ------------------------------------------------


def test_ab_fails(server, archive):
    apache = server("event")
    summary, err = record(apache, archive, AB, "-n", "10", "http://127.0.0.1:1/", status=1)
    assert "ab failed with exit status 111" in err and "Connection refused" in err, err
    assert summary["run"]["complete"] is False and summary["run"]["exit_status"] == 111


def test_no_such_command(server, archive):
    apache = server("event")
    _, err = record(apache, archive, "no-such-load-tool", "http://127.0.0.1:1/", status=1)
    assert "there is no such command" in err, err
    assert not archive.exists()


@pytest.mark.parametrize("target", ["/nonexistent/mpmstat.board",
                                    "http://127.0.0.1:1/mpm-status"])
def test_no_target(server, archive, target):
    apache = server("event")
    _, err = record(apache, archive, *ab(apache, "/", "-n", "10"), target=target, status=3)
    assert target in err and len(err.splitlines()) == 1, err
    assert not archive.exists() and apache.access_log() == [], "ab was not started"


def test_stopped_server(server, archive):
    apache = server("event")
    apache.stop()
    _, err = record(apache, archive, "true", status=3)
    assert f"the server of {apache.board} is not running" in err, err


@pytest.mark.parametrize("where", ["/nonexistent/runs.sqlite", "/etc/hostname", "/etc"])
def test_no_archive(server, where):
    apache = server("event")
    _, err = record(apache, where, *ab(apache, "/", "-n", "10"), status=4)
    assert where in err and len(err.splitlines()) == 1, err
    assert apache.access_log() == [], "ab was not started"


BUSY_NS = 3 * 10**9     # who waits for a reader waits so long (MST_ARCHIVE_BUSY_MS)


def test_somebody_reads_the_archive(php_server, archive):
    """For longer than anybody would wait: ab goes on, and all of it is there in the end."""
    apache = php_server("event", workers=10)
    words = command(apache, archive, *ab(apache, SLEEP.format("0.05"), "-n", "900", "-c", "5"))
    with subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                          ) as started:
        wait_until(lambda: has(archive, "server_requests", 5), 20, "requests")
        reader = sqlite3.connect(archive, isolation_level=None)
        reader.execute("BEGIN")
        (seen,), = reader.execute("SELECT count(*) FROM samples")
        later = time.time_ns() + BUSY_NS
        wait_until(lambda: ask(archive, "SELECT max(time_ns) FROM samples")[0][0] > later, 60,
                   "looks while somebody reads")
        assert started.poll() is None, started.communicate()
        assert reader.execute("SELECT count(*) FROM samples").fetchone() == (seen,)
        reader.close()
        out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    summary = json.loads(out)
    assert summary["run"]["complete"] is True and summary["servers"][0]["requests"] == 900
    assert checks(summary)["counts"] is True, summary["checks"]
    (widest,), = ask(archive, "SELECT max(step) FROM (SELECT time_ns - lag(time_ns) OVER (ORDER BY "
                              "rowid) AS step FROM samples WHERE moment = 'during')")
    assert widest < BUSY_NS, "it waited for the reader"
    assert_sound(archive)


# In a mount namespace of its own, so that nothing is left mounted whatever happens. The
# archive is copied out: the small disk goes with the namespace. (What is written at once, a
# tenth of a second's requests, fits on it several times.) The load tool's output goes there, too.
ON_A_SMALL_DISK = """
disk=$1 out=$2; shift 2
mount -t tmpfs -o size=3m none "$disk" || exit 99
TMPDIR=$disk "$@"; status=$?
cp "$disk"/runs.sqlite* "$out" || exit 98
exit $status
"""


def test_disk_full(server, archive, tmp_path, as_root):
    """The archive's disk fills up: a sentence, the load goes on, what it prints is shown, and
    what was recorded is kept."""
    apache = server("event")
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ab(apache, f"/index.html?{marked('disk-full')}", "-n", "40000", "-c", "5")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", disk, tmp_path,
                           *command(apache, disk / "runs.sqlite", *words)],
                          text=True, capture_output=True, timeout=200)
    if done.returncode == 99:
        pytest.skip(f"no file system can be mounted here: {done.stderr}")
    assert done.returncode == 4, f"exit {done.returncode}: {done.stderr}"
    assert "the disk is full" in done.stderr and "ab goes on" in done.stderr, done.stderr
    assert "Complete requests:      40000\n" in done.stderr, done.stderr
    assert "ab ended with exit status 0" in done.stderr and done.stdout == "", done.stderr
    assert not is_running("disk-full")
    assert sum(row[2] == "/index.html" for row in apache.access_log()) == 40000
    assert not any(disk.iterdir()), "the disk was mounted for everybody"
    assert ask(archive, "SELECT complete FROM runs") == [(0,)]
    assert ask(archive, "SELECT count(*) > 100 FROM server_requests") == [(1,)]
    assert_sound(archive)
    kept = tool.run("report", "--format", "json", archive)
    (summary,) = json.loads(kept.stdout)
    assert summary["run"]["complete"] is False and summary["servers"][0]["requests"] > 100
    assert summary["run"]["outcome"] == "unfinished"
    assert summary["verdict"] == "Cannot tell: the recording did not come to its end."


@pytest.mark.parametrize("words, said", [
    (["--bogus"], "--bogus is not an option: the load tool's own go after its name"),
    (["--format", "xml", "--", "true"], 'no format "xml"'),
    (["--timeout", "0", "--", "true"], "whole seconds"),
    (["-o", "", "--", "true"], "name of a file"),
    (["-o"], "-o wants an argument"),
    (["--"], "the load tool's command is missing"),
])
def test_usage(words, said):
    done = tool.run("record", *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert "See mpmstat record --help" in done.stderr
