"""Requests a second with the module as a share of those without, interleaved.

Two servers run side by side and are loaded in turns (A B B A ...), so that what else the
machine does falls on both. Each pair gives a ratio; their median is the result, which with many
short pairs is known better than with few long ones. Between two servers without the module
the same is done: how far that is from 1 is the noise. The CPU time of the servers' threads, in
the same runs, is less in the way of others.
"""
import build
import clients
import measure
from apache import Apache

PAIRS = 161
REQUESTS, CONCURRENCY = 4_000, 4
WORKERS, THREADS = 16, 8


def loaded(server):
    """(requests a second, requests a second of CPU time)"""
    pids = server.children()
    cpu = measure.cpu_ns(pids)
    told = clients.ab(server.port, "/index.html", REQUESTS, CONCURRENCY, ["-k"])
    assert told["complete"] == REQUESTS, told["text"]
    return told["rate"], REQUESTS / ((measure.cpu_ns(pids) - cpu) / 1e9)


def ratios(base, other):
    """Of `other` to `base`, a pair each: of the rates, and of those by CPU time."""
    found = []
    for pair in range(PAIRS):
        if pair % 2:
            second, first = loaded(other), loaded(base)
        else:
            first, second = loaded(base), loaded(other)
        found.append([theirs / ours for ours, theirs in zip(first, second)])
    return zip(*found)


def run():
    assert build.find("ab"), "there is no ab: install apache2-utils"
    rows = []
    for mpm in measure.MPMS:
        servers = [Apache(mpm, workers=WORKERS, threads=THREADS, **configuration)
                   for _, configuration in (measure.BARE, measure.BARE, measure.RECORDED,
                                            measure.MOD_STATUS)]
        try:
            for server in servers:
                server.start()
                loaded(server)                      # the first load is not a measurement
            for name, server in zip(("bare (noise)", measure.RECORDED[0], measure.MOD_STATUS[0]),
                                    servers[1:]):
                measure.progress(f"{mpm}, {name}")
                rows.append([f"{mpm}, {name}"])
                for column in ratios(servers[0], server):
                    median, low, high = measure.median_within(column)
                    rows[-1] += [f"{median:.3f}", f"{low:.3f} - {high:.3f}"]
        finally:
            for server in servers:
                server.stop()
                server.remove()
    measure.table(f"Throughput as a share of bare, {PAIRS} pairs of {REQUESTS:,} kept-alive "
                  "requests", ["", "median", "95 % interval", "by CPU time", "95 % interval"], rows)
