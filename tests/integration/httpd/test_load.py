"""One load, seen from both sides: what ab counts and measures, and what the server does."""
import csv
import os
from decimal import Decimal

import clients
import tool
from processes import wait_until

# ab measures whole milliseconds; and it sees two things that no server can:
# its own connect() and its own waiting for the CPU, on a machine that both share.
AB_RESOLUTION = 0.001
# Its waiting, which the kernel tells, is short where it comes before whatever else wants a CPU.
FIRST = ["nice", "-n", "-20"] if os.geteuid() == 0 else []


def run_ab(apache, path, requests, concurrency):
    """ab's numbers, with `mean` from its own per-request rows (their times are
    rounded to a millisecond, so their mean is good to far less)."""
    rows = apache.root / "ab.tsv"
    told = clients.ab(apache.port, path, requests, concurrency, ["-g", str(rows)], FIRST)
    with open(rows, newline="") as f:
        times = [int(row["ttime"]) / 1000 for row in csv.DictReader(f, delimiter="\t")]
    assert len(times) == requests, len(times)
    told["mean"] = sum(times) / len(times)
    return told


def both_sides(apache, path, requests, concurrency):
    """(ab's numbers, the server's mean of each phase) after one warm-up request."""
    done = tool.requests(apache.status())
    assert apache.get(path).status == 200
    wait_until(lambda: tool.requests(apache.status()) == done + 1, 5, "the warm-up request")
    before = apache.status()
    told = run_ab(apache, path, requests, concurrency)
    assert told["complete"] == requests and told["non_2xx"] == 0, told["text"]
    wait_until(lambda: tool.requests(tool.status(apache.board)) >= done + 1 + requests, 5, lambda:
               f"{requests} requests; {tool.requests(apache.status()) - done - 1} are there")
    after = apache.status()
    assert tool.requests(after) - tool.requests(before) == requests
    return told, {p: float((tool.phase_sum(after, p) - tool.phase_sum(before, p)) / requests)
                  for p in ("queue", "read", "handle", "send", "total", "held")}


def disagreement(told, mean, share, per_request):
    """How far the means are apart, where that is too far; else None. ab's own waiting for a CPU, of
    which as much as per_request of the whole is a request's, is ab's alone."""
    allowed = max(told["mean"] * share, AB_RESOLUTION) + told["delayed"] * per_request
    if abs(told["mean"] - mean["total"]) <= allowed:
        return None
    return f"ab {told['mean']:.6f} s, server {mean} s, allowed {allowed:.6f} s"


def measure_until_agreed(apache, path, requests, concurrency, share):
    """Measures up to three times: what else the machine does now and then may keep ab,
    or the server between two of its time stamps, from the CPU. Counts must agree always."""
    apart = []
    for _ in range(3):
        told, mean = both_sides(apache, path, requests, concurrency)
        found = disagreement(told, mean, share, concurrency / requests)
        if not found:
            return told, mean
        apart.append(found)
    raise AssertionError("three times too far apart:\n" + "\n".join(apart))


def test_sleep(php_server, mpm):
    apache = php_server(mpm, workers=60, threads=20, children=60)
    _, mean = measure_until_agreed(apache, "/sleep.php", 200, 50, 0.01)
    assert 0.9 < mean["handle"] < 1.5, mean


def test_loop(php_server, mpm):
    apache = php_server(mpm, workers=25, threads=25, children=25)
    measure_until_agreed(apache, "/loop.php", 2000, 20, 0.05)


def test_missing_seconds_are_in_queue(php_server, mpm):
    """Ten workers under fifty clients: four fifths of the time is waiting for a worker."""
    apache = php_server(mpm, workers=10, threads=10, children=10)
    told, mean = measure_until_agreed(apache, "/sleep.php?seconds=0.2&spread=0", 150, 50, 0.02)
    assert 0.2 <= mean["handle"] < 0.35, mean
    assert told["mean"] > 0.7, told["mean"]
    assert abs(mean["queue"] - (told["mean"] - mean["handle"])) < 0.03, (told["mean"], mean)


def test_keep_alive_load(server, mpm):
    """The same number on both sides when connections are kept (and event parks them)."""
    apache = server(mpm, workers=25, threads=25)
    told = clients.ab(apache.port, "/index.html", 3000, 10, ["-k"])
    assert told["complete"] == 3000 and told["failed"] == 0, told["text"]
    wait_until(lambda: tool.requests(apache.status()) >= 3000, 5, "3000 requests")
    requests, _, trailer = apache.journal()
    load = [r for r in requests if r["label"] != "mpm-status"]
    assert trailer["lost"] == 0 and len(load) == tool.requests(apache.status()) == 3000
    assert max(r["nth"] for r in load) == 100, "MaxKeepAliveRequests 100"
    assert max(r["total"] for r in load) < Decimal("1"), max(load, key=lambda r: r["total"])
