#!/usr/bin/env python3
"""Whether one `mpmstat record` keeps up with a fleet: 40 boards, 50,000 requests a second in all,
none lost.

    fleet.py [SERVERS [RATE [SECONDS]]]

Each board has a process that writes request records into its journal (write_requests.c). Fails
where one was lost. How often it looks depends on what else the CPUs do: they have the writers, too,
whose CPU time is the column beside that of the recording.
"""
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import measure
import recording_rate
import build
import processes

SERVERS, RATE, SECONDS = 40, 50_000, 10


def start_recording(directory, targets):
    recording = subprocess.Popen(
        [build.TOOL, "record", "-o", directory / "runs.sqlite", "--targets", targets, "--quiet",
         "--", "sh", "-c", f"touch {directory}/began; read line"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    processes.wait_until((directory / "began").exists, 60, "mpmstat record to begin")
    return recording


def write_all(writers):
    """What all of them have written at the same time; the seconds that the longest took."""
    for each in writers:
        each.stdin.write("\n")
        each.stdin.flush()
    said = [each.stdout.readline().split() for each in writers]
    return [int(count) for count, _ in said], max(int(ns) for _, ns in said) / 1e9


def recorded(archive):
    """(requests, lost, samples during the load) of each server; the recording's CPU seconds during
    the load."""
    with closing(sqlite3.connect(archive)) as db:
        return db.execute(
            "SELECT (SELECT count(*) FROM server_requests WHERE server_id = id), lost, "
            "(SELECT count(*) FROM samples WHERE server_id = id AND moment = 'during') "
            "FROM servers ORDER BY id").fetchall(), \
            db.execute("SELECT recorder_cpu_ns FROM runs").fetchone()[0] / 1e9


def end_writers(writers):
    """Returns their CPU seconds."""
    cpu = 0
    for each in writers:
        each.stdin.close()
        _, status, used = os.wait4(each.pid, 0)
        each.returncode = os.waitstatus_to_exitcode(status)
        cpu += used.ru_utime + used.ru_stime
    return cpu


def run(servers=SERVERS, rate=RATE, seconds=SECONDS):
    """Returns how many were lost or are not there."""
    with tempfile.TemporaryDirectory(prefix="mpmstat-bench-", dir="/dev/shm") as scratch:
        directory, writers = Path(scratch), []
        try:
            for i in range(servers):
                writers.append(recording_rate.start_writers(
                    directory / f"web{i}.board", rate // servers, seconds, 1))
            targets = directory / "targets"
            targets.write_text("".join(f"web{i}={directory}/web{i}.board\n"
                                       for i in range(servers)))
            recording = start_recording(directory, targets)
            try:
                written, took = write_all(writers)
                recording.stdin.write("\n")
                recording.stdin.close()
                status = recording.wait(120)
            finally:
                processes.end(recording, str(directory))
            assert status == 0, f"mpmstat record: exit status {status}"
        finally:
            writers_cpu = end_writers(writers)
        rows, cpu = recorded(directory / "runs.sqlite")
        size = (directory / "runs.sqlite").stat().st_size
    missing = sum(written) - sum(row[0] for row in rows)
    looks = min(row[2] for row in rows) / took
    measure.table(f"mpmstat record, {servers} servers, {seconds} s",
                  ["requests a second", "written", "recorded", "lost", "looks a second",
                   "CPU of record", "of writers", "archive MB"],
                  [[measure.thousands(sum(written) / took), measure.thousands(sum(written)),
                    measure.thousands(sum(written) - missing), sum(row[1] or 0 for row in rows),
                    f"{looks:.1f}", f"{cpu:.2f} s", f"{writers_cpu:.2f} s", f"{size / 1e6:.0f}"]])
    return missing


if __name__ == "__main__":
    sys.exit(bool(run(*map(int, sys.argv[1:4]))))
