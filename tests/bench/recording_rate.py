#!/usr/bin/env python3
"""Whether `mpmstat record` keeps up: 25,000 requests a second for each CPU, more than Apache serves
there, none lost.

    recording_rate.py [RATE [SECONDS]]

Processes write that many request records into the journal of a board of the default size
(tests/bench/write_requests.c), while it is recorded. Fails where one was lost.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import build
import processes

WRITE_REQUESTS = build.BUILDDIR / "tests" / "bench" / "write_requests"
WRITERS = 2
RATE, SECONDS = 25_000 * os.cpu_count(), 10


def start_writers(board, rate, seconds, count=WRITERS):
    writers = subprocess.Popen([WRITE_REQUESTS, board, str(count), str(rate), str(seconds)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writers.stdout.readline() == "ready\n", f"{WRITE_REQUESTS} did not make a board"
    return writers


def write_all(writers):
    """(records written, seconds that it took)"""
    writers.stdin.write("\n")
    writers.stdin.flush()
    written, took_ns = writers.stdout.readline().split()
    return int(written), int(took_ns) / 1e9


def record(directory, board, writers):
    """(what the writers say, the run's summary, CPU seconds of the recording)"""
    recording = subprocess.Popen(
        [build.TOOL, "record", "-o", directory / "runs.sqlite", "-t", board, "--format", "json",
         "--", "sh", "-c", f"touch {directory}/began; read line"],
        stdin=subprocess.PIPE, stdout=(directory / "summary").open("w"), text=True)
    try:
        processes.wait_until((directory / "began").exists, 20, "mpmstat record to begin")
        written = write_all(writers)
        recording.stdin.write("\n")
        recording.stdin.close()
        _, status, used = os.wait4(recording.pid, 0)
        recording.returncode = os.waitstatus_to_exitcode(status)
        assert recording.returncode == 0, f"mpmstat record: exit status {recording.returncode}"
    finally:
        processes.end(recording, str(directory))
    return written, json.loads((directory / "summary").read_text()), used.ru_utime + used.ru_stime


def run(rate=RATE, seconds=SECONDS):
    """Returns how many were lost or are not there."""
    with tempfile.TemporaryDirectory(prefix="mpmstat-bench-") as scratch:
        directory = Path(scratch)
        writers = start_writers(directory / "mpmstat.board", rate, seconds)
        try:
            (written, took), summary, cpu = record(directory, directory / "mpmstat.board", writers)
        finally:
            writers.stdin.close()
            writers.wait(20)
        size = (directory / "runs.sqlite").stat().st_size
    server = summary["servers"][0]
    measure.table(f"mpmstat record, {WRITERS} writers, {seconds} s",
                  ["requests a second", "written", "recorded", "lost", "CPU of record",
                   "CPU us each", "archive MB"],
                  [[measure.thousands(written / took), measure.thousands(written),
                    measure.thousands(server["requests"]), server["records_lost"], f"{cpu:.2f} s",
                    f"{cpu / written * 1e6:.1f}", f"{size / 1e6:.0f}"]])
    return written - server["requests"]


if __name__ == "__main__":
    sys.exit(bool(run(*map(int, sys.argv[1:3]))))
