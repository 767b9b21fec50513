"""What the benches share: the servers that are compared, counting, and tables.

Instructions are counted under valgrind --tool=callgrind and system calls under strace,
in one process (httpd -X): those figures are the same on a busy machine. A server is run
twice, with FEW and with MANY units of work, and the difference divided by their number is
one unit, without the start and the stop. The vDSO's clock is a call of a few instructions
under valgrind; natively it is some twenty more each time (four to five a request).
"""
import math
import os
import re
import shutil
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration" / "support"))
import apache                                                    # noqa: E402

MPMS = apache.MPMS
# The server is to be waiting for the next request each time, or how often it finds nothing
# to read would depend on who is faster.
PAUSE_SECONDS = 0.005
THREADS = 4

KEEP_ALIVE = "KeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 60\n"
# httpd compares each URL with each <Location>: all servers have the same one.
BARE = ("bare", dict(module=False, extra=KEEP_ALIVE + apache.STATUS))
RECORDED = ("mod_mpmstat", dict(module=True, extra=KEEP_ALIVE))
TRACED = ("mod_mpmstat, MPMStatTraceContext On",
          dict(module=True, extra=KEEP_ALIVE + "MPMStatTraceContext On\n"))
PATHS = ("mod_mpmstat, MPMStatPaths On",
         dict(module=True, extra=KEEP_ALIVE + "MPMStatPaths On\n"))
MOD_STATUS = ("mod_status, ExtendedStatus On",
              dict(module=False, modules=["status"],
                   extra=KEEP_ALIVE + apache.STATUS + "ExtendedStatus On\n"))


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            sys.exit(f"this bench needs {program} (apt-get install {program})")


def progress(text):
    print(text, file=sys.stderr, flush=True)


def table(title, header, rows):
    """Prints it: the first column to the left, numbers to the right."""
    cells = [header, *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(title)
    for row in cells:
        print("  ".join([row[0].ljust(widths[0]),
                         *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))
    print(flush=True)


def thousands(number):
    return f"{number:,.0f}"


def median_within(values):
    """(median, the ends of its 95 % interval: by how many of the values lie on each side)"""
    ordered = sorted(values)
    reach = round(0.98 * math.sqrt(len(ordered)))
    middle = len(ordered) // 2
    return statistics.median(ordered), ordered[max(0, middle - reach)], \
        ordered[min(len(ordered) - 1, middle + reach)]


def merged(configuration, extra="", modules=()):
    """A server's configuration with more of it."""
    return {**configuration, "extra": configuration.get("extra", "") + extra,
            "modules": [*configuration.get("modules", ()), *modules]}


def one_process(mpm, configuration, wrapper):
    """An httpd -X of few workers. `limits` in the configuration says otherwise."""
    limits = configuration.get("limits") or (
        "MaxRequestWorkers 1\nServerLimit 1\nListenBacklog 511" if mpm == "prefork"
        else apache.limits_of(mpm, THREADS, THREADS, None))
    server = apache.OneProcess(mpm, wrapper=wrapper, **{**configuration, "limits": limits})
    (server.root / "counts").mkdir(mode=0o777)
    (server.root / "counts").chmod(0o777)
    return server


class Run:
    """Starts a server under `wrapper`, has `work(server, count)` done, and ends it:
    then `said` is what it said and `counts` what is in the files of @ROOT@/counts."""

    def __init__(self, mpm, configuration, wrapper, work, count):
        server = one_process(mpm, configuration, wrapper)
        try:
            server.start(timeout=120)
            work(server, count)
            server.finish()
            self.said = server.everything_said()
            self.counts = [path.read_text() for path in (server.root / "counts").iterdir()]
        finally:
            server.stop()
            server.remove()


def instructions(mpm, configuration, work, count):
    """Of the process. Its file would be the server's user's to write: none is made."""
    run = Run(mpm, configuration, ["valgrind", "--tool=callgrind", "--vgdb=no",
                                   "--callgrind-out-file=/dev/null"], work, count)
    return int(re.search(r"Collected : (\d+)", run.said).group(1))


def instructions_with_forks(mpm, configuration, work, count):
    """Of the process, and of those that it forks until they become another program. A dump
    begins a new count, so those of all processes add up (only what comes first in a fork(),
    the clock's reading, is in both)."""

    def counted(server, count):
        for begun in (server.root / "counts").iterdir():
            begun.unlink()          # as root; the server's user is to write its own
        work(server, count)

    run = Run(mpm, configuration,
              ["valgrind", "--tool=callgrind", "--vgdb=no", "--dump-before=execve",
               "--dump-before=fork*", "--dump-before=__libc_fork*",
               "--callgrind-out-file=@ROOT@/counts/%p"], counted, count)
    return sum(int(total) for text in run.counts
               for total in re.findall(r"^totals: (\d+)", text, re.M))


def system_calls(mpm, configuration, work, count):
    run = Run(mpm, configuration, ["strace", "-f", "-c", "-o", "@ROOT@/counts/strace"], work, count)
    line = next(line for line in run.counts[0].splitlines() if line.endswith("total"))
    # 100.00  0.123456  12  3456  [errors]  total; the older form has no average.
    words = line.split()
    return int(words[3] if len(words) > 4 or "." in words[2] else words[2])


def per_unit(measure, mpm, configuration, work, few, many):
    return (measure(mpm, configuration, work, many)
            - measure(mpm, configuration, work, few)) / (many - few)


def compare(mpms, servers, measures, work, few, many):
    """Rows of (MPM and server, then of each measure: the figure, and what is added to that
    of the first server)."""
    rows = []
    for mpm in mpms:
        first = None
        for name, configuration in servers:
            progress(f"{mpm}, {name}")
            figures = [per_unit(measure, mpm, configuration, work, few, many)
                       for measure in measures]
            first = first or figures
            rows.append([f"{mpm}, {name}"])
            for figure, base in zip(figures, first):
                digits = 2 if abs(figure) < 1000 else 0
                rows[-1] += [f"{figure:,.{digits}f}", f"{figure - base:+,.{digits}f}"]
    return rows


def kept_alive(server, count):
    """So many requests on one connection."""
    with server.connect() as connection:
        for _ in range(count):
            time.sleep(PAUSE_SECONDS)
            assert connection.request("/index.html").status == 200


def kept_alive_traced(server, count):
    """The same, each request in a client's trace."""
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    with server.connect() as connection:
        for _ in range(count):
            time.sleep(PAUSE_SECONDS)
            assert connection.request("/index.html", headers=trace).status == 200


def fresh(server, count):
    """So many connections of one request, each to a worker that waits."""
    for _ in range(count):
        time.sleep(PAUSE_SECONDS)
        assert server.get("/index.html").status == 200


def cpu_ns(pids):
    """CPU time of these processes' threads so far."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            total += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
    return total
