#!/usr/bin/env python3
"""What many CPUs do to one board: cache lines that requests of different workers share, and time.

    contention.py [REQUESTS]     of all threads together; 4,000,000 if not given

Threads that do nothing else write requests to one board, and in turn the same number to boards of
their own (tests/bench/contention.c): the difference is the cost of what they share. With more
threads than CPUs it is also what a thread pays for others that stand still in the middle of a
request: nothing waits for them. More CPUs, and several sockets, pass a line on more slowly:
the figures are those of the machine that it runs on. Fails where they are below the wall.
"""
import statistics
import subprocess
import sys
import tempfile

import measure
import build

CONTENTION = build.BUILDDIR / "tests" / "bench" / "contention"
THREADS = (1, 2, 4, 8, 16, 32, 64)
REQUESTS, REPEAT = 4_000_000, 5
TITLES = {"event": "Event", "kept": "Kept-alive on prefork and worker"}
WALL = 2_000_000      # requests a second; below it the journal has to be a ring for each CPU


def ask(*arguments):
    return subprocess.run([CONTENTION, *map(str, arguments)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def pairs(*arguments):
    """Nanoseconds on one board and on own ones, in turn, so that a neighbour slows both."""
    def once(mode):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            return int(ask("time", directory, *arguments, mode))
    return [(once("one"), once("own")) for _ in range(REPEAT)]


def lines():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        rows = [line.split() for line in ask("lines", directory).splitlines()]
    measure.table("Cache lines of a request",
                  ["workers of", "lines that a request writes", "the other one writes, too"],
                  [[name.replace("-", " "), written, shared] for name, written, shared in rows])


def times(requests, kind):
    rows, slowest = [], None
    for threads in THREADS:
        measure.progress(f"{kind}, {threads} threads")
        found = pairs(threads, requests // threads, kind)
        one, own = (requests / statistics.median(ns) * 1e3 for ns in zip(*found))
        ratio = statistics.median(a / b for a, b in found)
        rows.append([threads, f"{one:.1f}", f"{own:.1f}", f"{ratio:.1f}"])
        slowest = min(one, slowest or one)
    measure.table(f"{TITLES[kind]}: million requests a second",
                  ["threads", "one board", "a board for each", "time, one ÷ own"], rows)
    return slowest


def run(requests=REQUESTS):
    lines()
    slowest = min(times(requests, kind) for kind in TITLES) * 1e6
    assert slowest > WALL, f"{slowest:.0f} requests a second, below {WALL}"


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
