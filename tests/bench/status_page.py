"""What one /mpm-status costs in each format, against mod_status's ?auto at the same size.

Two servers (event) of 50, 400 and 10,000 workers, nearly all of them idle; of the 10,000
a hundred are there. Their pages are asked for in turns: wall-clock and CPU time (of all
the server's threads) are the median of the rounds. Instructions are counted with -X: there
only one process is there.
"""
import statistics
import time

import measure
from apache import Apache, limits_of

THREADS = 25
SIZES = {50: 50, 400: 400, 10_000: 100}       # workers: how many of them are there
FORMATS = ("text", "json", "openmetrics", "openmetrics&bounds=8", "prometheus", "prometheus&bounds=8",
           "protobuf", "protobuf&bounds=8", "html", "journal")
ROUNDS, WARM_UP = 40, 5
FEW, MANY = 5, 25
SERVER_STATUS = '''
<Location "/server-status">
    SetHandler server-status
</Location>
ExtendedStatus On
'''


def limits(workers, there):
    return (limits_of("event", workers, THREADS, there)
            + f"\nMaxSpareThreads {workers}")


def servers(workers, there):
    common = dict(limits=limits(workers, there), workers=workers, threads=THREADS)
    return (dict(common), dict(common, module=False, modules=["status"], extra=SERVER_STATUS))


def pages():
    """(name, path, on which of the two servers)"""
    return [("mod_status ?auto", "/server-status?auto", 1),
            *((f"mpm-status {name}", f"/mpm-status?format={name}", 0) for name in FORMATS)]


def asker(path):
    def ask(server, count):
        for _ in range(count):
            time.sleep(measure.PAUSE_SECONDS)
            assert server.get(path, timeout=120).status == 200
    return ask


def once(server, path):
    """(seconds, CPU nanoseconds, bytes) of one page."""
    pids = server.children()
    cpu, start = measure.cpu_ns(pids), time.monotonic()
    body = server.get(path).body
    seconds = time.monotonic() - start
    time.sleep(measure.PAUSE_SECONDS)               # until the worker waits again
    return seconds, measure.cpu_ns(pids) - cpu, len(body)


def timed(pair):
    """Of each page, the medians of what once() says."""
    found = {name: [] for name, _, _ in pages()}
    for turn in range(ROUNDS + WARM_UP):
        for name, path, which in pages():
            figures = once(pair[which], path)
            if turn >= WARM_UP:
                found[name].append(figures)
    return {name: [statistics.median(column) for column in zip(*rows)]
            for name, rows in found.items()}


def measured(workers, there):
    """Wall-clock and CPU time of each page at this size."""
    running = [Apache("event", **configuration) for configuration in servers(workers, there)]
    try:
        for server in running:
            server.start()
        time.sleep(1)                               # the children are forked one by one
        return timed(running)
    finally:
        for server in running:
            server.stop()
            server.remove()


def run():
    measure.need("valgrind")
    for workers, there in SIZES.items():
        measure.progress(f"status page, {workers} workers: times")
        times = measured(workers, there)
        configurations = servers(workers, there)
        rows = []
        for name, path, which in pages():
            measure.progress(f"status page, {workers} workers: instructions of {name}")
            count = measure.per_unit(measure.instructions, "event", configurations[which],
                                     asker(path), FEW, MANY)
            seconds, cpu, size = times[name]
            base = times["mod_status ?auto"]
            rows.append([name, f"{seconds * 1000:.2f}", f"{seconds / base[0]:.2f}",
                         f"{cpu / 1e6:.2f}", f"{cpu / base[1]:.2f}",
                         measure.thousands(count), measure.thousands(size)])
        measure.table(f"A status page, {workers:,} workers of which {there:,} are there",
                      ["", "ms", "x", "CPU ms", "x", "instructions (-X)", "bytes"], rows)
