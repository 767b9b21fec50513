"""Archives with requests whose parts are known, as nobody recorded them.

    make(path, [Apache(...), PHP(...)], ...)    a run for each list of servers

A server's requests are dictionaries with columns of its table, in microseconds where their name ends
with _ns; PHP's have `waits` besides, {kind: microseconds}. What is not said is 0, or unknown."""
import sqlite3
from contextlib import closing
from dataclasses import dataclass

import build

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND
EVERY_US = 250_000       # a request begins
SAMPLES = 20


@dataclass
class Server:
    requests: list
    target: str
    producer: str
    columns: dict            # of the table `servers`, besides


def Apache(requests, target="/run/apache.board"):
    return Server(requests, target, "apache", {"mpm": "event"})


def PHP(requests, target="/run/php.board"):
    return Server(requests, target, "php", {"sapi": "fpm-fcgi"})


def nanoseconds(columns):
    return {name: value * 1000 if name.endswith("_ns") else value for name, value in columns.items()}


class Archive:
    def __init__(self, db):
        self.db = db
        db.executescript((build.SRCDIR / "tools/archive/schema.sql").read_text())

    def insert(self, table, **values):
        return self.db.execute("INSERT INTO {} ({}) VALUES ({})".format(
            table, ", ".join(values), ", ".join("?" * len(values))), list(values.values())).lastrowid

    def run(self, servers):
        seconds = 2 + max(len(server.requests) for server in servers) * EVERY_US // 10**6
        thinned = any("weight" in request for server in servers for request in server.requests)
        run = self.insert(
            "runs", command='["ab"]', command_line="ab", tool="ab", started_ns=START,
            ended_ns=START + seconds * SECOND, duration_ns=seconds * SECOND, complete=1,
            outcome="complete", exit_status=0, mpmstat_version="1.0",
            thinned_ns=START if thinned else None)
        for server in servers:
            row = self.insert("servers", run_id=run, target=server.target, producer=server.producer,
                              pid=100 + servers.index(server), started_ns=START - SECOND,
                              local=0, lost=0, restarts=0, clock_offset_ns=0, **server.columns)
            for i in range(SAMPLES + 1):
                at = i * seconds * SECOND // SAMPLES
                self.insert("samples", server_id=row, time_ns=START + at,
                            moment="before" if i == 0 else "end" if i == SAMPLES else "during",
                            workers_limit=50, workers_busy=1, idle_ns=49 * at, reading_ns=0,
                            handling_ns=at, sending_ns=0, keepalive_ns=0, closing_ns=0,
                            requests=i * len(server.requests) // SAMPLES, no_idle_ns=0)
            add = self.apaches if server.producer == "apache" else self.phps
            for i, request in enumerate(server.requests):
                add(row, i, dict(request))

    def apaches(self, server, i, request):
        columns = nanoseconds({"queue_ns": 0, "read_ns": 0, "handle_ns": 0, "send_ns": 0, **request})
        held = columns["read_ns"] + columns["handle_ns"] + columns["send_ns"]
        self.insert("server_requests", **{
            "server_id": server, "key": i, "start_ns": START + i * EVERY_US * 1000, "held_ns": held,
            "label": "site", "status": 200, "aborted": 0, "no_worker": 0, "pid": 1, "worker": i % 5,
            "nth": 0, "request_id": i + 1, "ghost": 0, "handler": "proxy:fcgi", **columns})

    def phps(self, server, i, request):
        """Its begin is after what Apache did before it, and after its own wait: `after` us."""
        waits, after = request.pop("waits", {}), request.pop("after", 0)
        columns = nanoseconds({"wait_ns": 0, "run_ns": 0, "user_ns": 0, "system_ns": 0,
                               "cpu_wait_ns": 0, **request})
        self.insert("php_requests", **{
            "server_id": server, "key": i, "start_ns": START + (i * EVERY_US + after) * 1000,
            "request_id": i + 1, "label": "www", "status": 200, "aborted": 0, "fatal": 0,
            "timeout": 0, "pid": 2, "worker": i % 5, "ghost": 0, "script": "/srv/index.php",
            "waits_ns": sum(waits.values()) * 1000, **columns})
        for kind, microseconds in waits.items():
            self.insert("php_waits", server_id=server, key=i, kind=kind, end=f"{kind} of tests",
                        calls=1, failed=0, wait_ns=microseconds * 1000)


def make(path, *runs):
    with closing(sqlite3.connect(path)) as db:
        archive = Archive(db)
        for servers in runs:
            archive.run(servers)
        db.commit()
    return path
