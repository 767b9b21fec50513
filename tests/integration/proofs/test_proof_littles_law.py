"""Busy workers x time is what the client's figures say: throughput x mean time x time."""
import csv

import clients
import tool
from pool import all_there, state_deltas
from processes import wait_until

PAGE = "/sleep.php?seconds=0.15&spread=0.05"
REQUESTS, CONCURRENCY = 150, 8
SHARE = 0.05          # what the client alone sees, and the closing of connections
RUNS = 3


def client_seconds(apache):
    """ab's throughput x its mean time x its duration: the sum of its times. And for how much of it ab
    itself waited for a CPU, which is not a request's time: it delays all that are in flight."""
    rows = apache.root / "ab.tsv"
    told = clients.ab(apache.port, PAGE, REQUESTS, CONCURRENCY, ["-g", str(rows)])
    assert told["complete"] == REQUESTS and told["non_2xx"] == 0, told["text"]
    with open(rows, newline="") as file:
        times = [int(row["ttime"]) for row in csv.DictReader(file, delimiter="\t")]
    return sum(times) / 1000, told["delayed"] * CONCURRENCY


def idle(apache, requests):
    """The board once so many requests are on record and all workers are idle."""
    def look():
        board = tool.status(apache.board)
        return (board if tool.requests(board) >= requests and board["workers"]["busy"] == 0
                else None)
    return wait_until(look, 10, lambda: f"all idle: {tool.status(apache.board)['workers']}")


def test_busy_workers_are_littles(php_server, mpm):
    """With workers enough: none waits, so a client's request is a busy worker."""
    apache = php_server(mpm, workers=20, threads=10)
    all_there(apache)
    found = []
    for run in range(RUNS):
        before = idle(apache, run * REQUESTS)
        client, delayed = client_seconds(apache)
        deltas = state_deltas(before, idle(apache, (run + 1) * REQUESTS))
        busy = float(sum(deltas.values()) - deltas["idle"])
        found.append(f"client {client:.3f} s ({delayed:.3f} s), busy {busy:.3f} s, {deltas}")
        if abs(busy - client) <= SHARE * client + delayed:
            return
    raise AssertionError(f"apart {RUNS} times: {found}")
