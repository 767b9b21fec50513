#!/usr/bin/env python3
"""What a report of a large archive costs: CPU time, memory, size of the page.

    report_cost.py [REQUESTS [FILE]]     1,000,000 requests if not given

Makes a synthetic archive by the schema of tools/archive (in FILE, which is kept, or in a
temporary one): one run of ab on an event MPM, each request on the client's side, on
Apache's and on PHP's, ten samples a second. Fails where the page takes longer or more
than it may.
"""
import multiprocessing
import os
import random
import sqlite3
import sys
import tempfile
from pathlib import Path

SRCDIR = Path(os.environ.get("MPMSTAT_SRCDIR") or Path(__file__).parents[2])
TOOL = Path(os.environ.get("MPMSTAT_BUILDDIR") or SRCDIR) / "mpmstat"

MAY_TAKE = {"seconds of CPU": 10, "megabytes of memory": 300, "megabytes of HTML": 1}

START = 1_700_000_000_000_000_000
SECOND = 1_000_000_000
RATE = 2000                   # requests a second
WORKERS = 150


def insert(db, table, rows):
    """Rows as dictionaries with the same keys."""
    rows = iter(rows)
    first = next(rows)
    names = list(first)
    statement = "INSERT INTO {} ({}) VALUES ({})".format(
        table, ",".join(names), ",".join("?" * len(names)))
    db.execute(statement, list(first.values()))
    db.executemany(statement, (list(row.values()) for row in rows))


def times(requests, dice):
    """(start, queue, read, handle, send): a server that slows down and recovers."""
    for i in range(requests):
        start = START + i * SECOND // RATE
        load = 1 + 4 * ((i // (5 * RATE)) % 3 == 1)
        handle = int(dice.lognormvariate(16.5, 0.6)) * load
        queue = int(dice.expovariate(1) * 20_000_000) if load > 1 else 0
        yield start, queue, dice.randrange(5_000, 60_000), handle, dice.randrange(20_000, 400_000)


def add_requests(db, requests, dice):
    rows = list(times(requests, dice))
    insert(db, "server_requests", (
        {"server_id": 1, "key": i, "start_ns": start, "queue_ns": queue, "read_ns": read,
         "handle_ns": handle, "send_ns": send, "held_ns": read + handle + send, "bytes": 70_000,
         "label": "test.example", "status": 200 if i % 1000 else 503, "aborted": 0,
         "no_worker": 0, "pid": 100 + i % 6, "worker": i % WORKERS, "connection": i,
         "port": 1024 + i % 60000, "nth": 0, "request_id": i, "ghost": 0}
        for i, (start, queue, read, handle, send) in enumerate(rows)))
    insert(db, "php_requests", (
        {"server_id": 2, "key": i, "start_ns": start + queue + read + handle // 3,
         "request_id": i, "wait_ns": handle // 4, "run_ns": handle // 2, "label": "test.example",
         "status": 200, "aborted": 0, "fatal": 0, "timeout": 0, "cached": 1, "pid": 500,
         "worker": i % 50, "ghost": 0}
        for i, (start, queue, read, handle, send) in enumerate(rows)))
    insert(db, "client_requests", (
        {"run_id": 1, "start_ns": start // SECOND * SECOND,
         "duration_ns": (sum(phases) + 900_000) // 1_000_000 * 1_000_000, "status": 200}
        for start, *phases in rows))


def add_samples(db, seconds):
    def sample(server, i, moment):
        busy = 40 + i % 30
        return {"server_id": server, "time_ns": START + i * SECOND // 10, "moment": moment,
                "workers_limit": WORKERS, "workers_busy": busy, "idle_ns": i * 10_000_000_000,
                "reading_ns": i * 10_000, "handling_ns": i * 4_000_000_000,
                "sending_ns": i * 10_000_000, "keepalive_ns": 0, "closing_ns": 0,
                "in_flight": busy, "requests": i * RATE // 10, "no_idle_ns": 0,
                "listen_queue": i % 7, "listen_queue_limit": 511}
    last = seconds * 10
    for server in (1, 2):
        insert(db, "samples", (sample(server, i, "before" if i == 0 else
                                      "end" if i == last else "during")
                               for i in range(last + 1)))
        insert(db, "memory_samples", (
            {"server_id": server, "time_ns": START + i * 2 * SECOND,
             "began_ns": START + i * 2 * SECOND - 1000, "processes": 5 + i % 4,
             "pss_bytes": 20_000_000 + (5 + i % 4) * 3_000_000, "cost_ns": 1000}
            for i in range(seconds // 2 + 1)))
    insert(db, "machine_samples", (
        {"run_id": 1, "time_ns": START + i * SECOND // 10, "moment": "during",
         "busy_ns": i * 100_000_000, "total_ns": i * 200_000_000, "listen_overflows": 0,
         "listen_drops": 0} for i in range(last + 1)))


def make_archive(path, requests):
    schema = (SRCDIR / "tools" / "archive" / "schema.sql").read_text()
    seconds = max(requests // RATE, 1)
    with sqlite3.connect(path) as db:
        db.executescript(f"PRAGMA synchronous = OFF; {schema}")
        insert(db, "runs", [{
            "id": 1, "command": '["ab"]', "command_line": "ab (synthetic)", "tool": "ab",
            "started_ns": START, "ended_ns": START + seconds * SECOND,
            "duration_ns": seconds * SECOND, "complete": 1, "outcome": "complete",
            "exit_status": 0, "tool_cpu_ns": SECOND, "tool_threads": 1,
            "mpmstat_version": "0"}])
        insert(db, "client_results", [{
            "run_id": 1, "requests": requests, "requested": requests, "abandons": 0, "failed": 0,
            "concurrency": 100, "requests_per_1000s": RATE * 1000, "rows_start_step_ns": SECOND,
            "rows_time_step_ns": 1_000_000}])
        insert(db, "servers", [
            {"id": 1, "run_id": 1, "target": "apache.board", "producer": "apache", "mpm": "event",
             "local": 1, "lost": 0, "restarts": 0, "clock_offset_ns": 0},
            {"id": 2, "run_id": 1, "target": "php.board", "producer": "php", "mpm": None,
             "local": 1, "lost": 0, "restarts": 0, "clock_offset_ns": 0}])
        add_requests(db, requests, random.Random(5))
        add_samples(db, seconds)
    return path


def measure(archive, page):
    """Of the one process that it takes: CPU time, which other load does not change."""
    report = os.posix_spawn(TOOL, [TOOL, "report", "-o", page, archive], os.environ)
    _, status, used = os.wait4(report, 0)   # of this child alone, not of all that were before
    assert status == 0, f"mpmstat report failed: {status}"
    return {"seconds of CPU": used.ru_utime + used.ru_stime,
            "megabytes of memory": used.ru_maxrss * 1024 / 1e6,
            "megabytes of HTML": page.stat().st_size / 1e6}


def run(requests=1_000_000, keep=None):
    """Returns what went beyond its limit."""
    with tempfile.TemporaryDirectory(prefix="mpmstat-bench-") as directory:
        archive = Path(keep or f"{directory}/runs.sqlite")
        # In a process of its own: a new one begins with the memory of the one that made it.
        maker = multiprocessing.Process(target=make_archive, args=(archive, requests))
        maker.start()
        maker.join()
        print(f"archive: {requests} requests on three sides, {archive.stat().st_size / 1e6:.0f} MB")
        took = measure(archive, Path(directory) / "report.html")
    for name, value in took.items():
        print(f"{value:8.2f} {name} (at most {MAY_TAKE[name]})")
    return [name for name, value in took.items() if value > MAY_TAKE[name]]


if __name__ == "__main__":
    sys.exit(bool(run(*[int(word) for word in sys.argv[1:2]], *sys.argv[2:3])))
