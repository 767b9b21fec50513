"""Runs of mpmstat record, and what is in their archives."""
import json
import os
import sqlite3
import subprocess
from contextlib import closing, contextmanager

import build
import processes

AB = build.find("ab")


def command(apache, archive, *words, target=None, options=()):
    return [str(build.TOOL), "record", "-o", str(archive), "-t", str(target or apache.board),
            *options, "--format", "json", "--", *map(str, words)]


def record(apache, archive, *words, target=None, options=(), status=0, timeout=60):
    """The run's summary; the words are the load tool's."""
    done = subprocess.run(command(apache, archive, *words, target=target, options=options), text=True,
                          capture_output=True, timeout=timeout)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


def ab(apache, path, *options):
    return [AB, *options, f"http://127.0.0.1:{apache.port}{path}"]


def ask(archive, query):
    with closing(sqlite3.connect(archive)) as db:   # an open connection keeps its log
        return db.execute(query).fetchall()


def has(archive, table, more_than):
    """Whether the archive has come that far; it is being made and written."""
    try:
        return ask(archive, f"SELECT count(*) FROM {table}")[0][0] > more_than
    except sqlite3.OperationalError:
        return False


def has_begun(archive):
    """Whether the archive has what comes after its servers' first samples: a signal ends it well."""
    try:
        return ask(archive, "SELECT count(*) FROM samples WHERE moment <> 'before'")[0][0] > 0
    except sqlite3.OperationalError:
        return False


def checks(summary):
    return {check["name"]: check["ok"] for check in summary["checks"]}


def assert_sound(archive):
    assert ask(archive, "PRAGMA integrity_check") == [("ok",)]


def marked(name):
    """A word for the arguments of a load tool of this test, by which is_running() finds it."""
    return f"{name}-of-{os.getpid()}"


def is_running(name):
    """Whether a process with marked(name) among its arguments is alive."""
    return bool(processes.session_members(-1, marked(name)))


@contextmanager
def recording(archive, *words, targets, options=(), environment=None):
    """A mpmstat record that runs; the words are the load tool's, none: until it is interrupted."""
    named = [word for target in targets for word in ("-t", str(target))]
    load = ["--", *words] if words else []
    with subprocess.Popen([build.TOOL, "record", "-o", archive, *named, *options, *load], text=True,
                          env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as started:
        try:
            yield started
        finally:
            if started.poll() is None:
                started.kill()
