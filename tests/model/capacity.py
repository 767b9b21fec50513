#!/usr/bin/python3
"""Asks mpmstat capacity what servers take, and measures each load beside it: make check-capacity.

Each case is a server whose limit is known. The witness is a full sweep before it and another one
after it: ab with one number of clients after the other. The knee of a sweep is where the line through
its rates reaches nine tenths of the highest one; capacity's knee is right where the place that it says
is within a tenth, or one client, of a place between the two. The same holds of the rate, of which
recording costs a part: that is measured, too, by turns. A server that does not hold its rate has no
capacity: there it must be said. The exit status is 1 where a knee, a rate or the name of a limit is
wrong.
"""
import argparse
import json
import math
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration/support"))

import apache as apaches              # noqa: E402  (after the path is set)
import build                          # noqa: E402
import php                            # noqa: E402
from data_servers import MariaDB      # noqa: E402
from fpm import FPM                   # noqa: E402
from network import Narrow            # noqa: E402

NEARLY, TENTH = 0.9, 0.1    # as in capacity/search.c
SWEEP_SECONDS = 2
COST_TURNS = 2
BEYOND = "client-beyond-server"    # the limit is not at the server
FEW = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24)
WORKERS = 8
NETWORK_BYTES, FILE_BYTES = 2_000_000, 20_000


# ---- servers -----------------------------------------------------------------------------------

@dataclass
class Site:
    """A server that runs: its targets, its URL, and what begins a command of its clients."""
    targets: list
    url: str
    at_client: list = field(default_factory=list)


@contextmanager
def lab(stack, workload, *parameters):
    """A stack of the lab, as `mpmstat lab up` starts it."""
    process = subprocess.Popen([build.TOOL, "lab", "up", stack, workload, *parameters], text=True,
                               stdout=subprocess.PIPE)
    try:
        said = {}
        for line in process.stdout:
            said |= [line.split(maxsplit=1)]
            if "logs" in said:
                break
        assert "logs" in said, f"lab up {stack} {workload} failed"
        yield Site([said["boards"].split()[-1]], said["page"].strip())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@contextmanager
def served(pages, children, *, address="127.0.0.1", port=None, **options):
    """An Apache with FPM and some pages; the URL is that of the first."""
    with FPM(children, manager="pm = static", settings=php.settings("@ROOT@/run")) as fpm, \
            apaches.Apache("event", f"Listen {address}:{port}" if port else "", php="fpm", fpm=fpm,
                           workers=100, **options) as apache:
        for name, text in pages.items():
            apache.page(name, text)
        yield Site([apache.board, fpm.board],
                   f"http://{address}:{port or apache.port}/{next(iter(pages))}")


class FewConnections(MariaDB):
    def command(self):
        return [*super().command(), "--max-connections=10"]


@contextmanager
def database():
    """A pool of 20 before a database that has ten connections, MariaDB's least, and one for root."""
    with FewConnections() as server, served({"asks.php": f"""<?php
mysqli_report(MYSQLI_REPORT_OFF);
$db = @mysqli_connect('127.0.0.1', 'root', '', '', {server.port});
if (!$db) {{ http_response_code(503); exit; }}
$db->query('SELECT SLEEP(0.05)'); $db->close(); echo 'done';"""}, 20) as site:
        yield site


@contextmanager
def network():
    """A wire that lets a hundred files a second through."""
    with Narrow(rate=NETWORK_BYTES) as wire:
        with ExitStack() as stack:
            with wire.at_server():
                site = stack.enter_context(served({"file.html": "x" * FILE_BYTES}, 2,
                                                  address=wire.ADDRESS, port=wire.PORT))
            site.at_client = ["nsenter", f"--net=/proc/{wire.holders[1].pid}/ns/net"]
            yield site


def slow_tool(site):
    """A load tool that makes 50 requests a second, however many clients it is told."""
    return ["sh", "-c", f"for i in $(seq $(({{seconds}} * 50))); do curl -so /dev/null "
            f"{site.url}; sleep 0.01; done; : {{clients}}"]


@dataclass
class Case:
    """limit: what capacity must name as what runs out; None: not asked. tool: the load tool's
    command, of a site."""
    name: str
    start: Callable
    limit: str = None
    loads: tuple = FEW
    tool: Callable = lambda site: ["ab", "-l", site.url]


def of_stack(name, parameters, limit):
    """What the lab's stack serves: a page that waits, a Django list, or a file."""
    workload = ("static" if name.endswith("static") else
                "django" if "wsgi" in name else "sleep")
    if workload == "sleep":
        parameters = [*parameters, "SECONDS=0.05"]
    return Case(name, lambda: lab(name, workload, *parameters), limit)


POOL = [f"PHP_WORKERS={WORKERS}"]
PROCESSES = [f"WORKERS={WORKERS}"]
CASES = [
    of_stack("event-cgi-suexec", [], None),
    of_stack("event-fcgid-users", POOL, None),
    of_stack("event-fcgid", POOL, None),
    of_stack("event-fpm-tcp", POOL, "php-workers"),
    of_stack("event-fpm-users", POOL, "php-workers"),
    of_stack("event-fpm", POOL, "php-workers"),
    of_stack("event-static", [], None),
    of_stack("event-wsgi-users", [], None),
    of_stack("itk-cgi", PROCESSES, None),
    of_stack("itk-modphp", PROCESSES, "apache-workers"),
    of_stack("itk-wsgi", PROCESSES, None),
    of_stack("nginx-fpm", POOL, "php-workers"),
    of_stack("nginx-two-apaches", ["PHP_WORKERS=4"], "apache-workers"),
    of_stack("prefork-modphp", PROCESSES, "apache-workers"),
    of_stack("prefork-static", [], None),
    of_stack("prefork-wsgi", PROCESSES, None),
    of_stack("worker-fcgid", POOL, None),
    of_stack("worker-fpm-tcp", POOL, "php-workers"),
    of_stack("worker-fpm", POOL, "php-workers"),
    of_stack("worker-static", [], None),
    Case("WordPress, event + FPM", lambda: lab("event-fpm", "wordpress", *POOL), "cpu"),
    Case("WordPress, prefork + mod_php", lambda: lab("prefork-modphp", "wordpress"), "cpu"),
    Case("CPU", lambda: lab("event-fpm", "loop", "PHP_WORKERS=20"), "cpu"),
    Case("pool of 4", lambda: served({"nap.php": "<?php usleep(50000); echo 'done';"}, 4),
         "php-workers"),
    Case("database's connections", database, "answers-5xx"),
    Case("network", network, BEYOND),
    Case("load tool", lambda: served({"nap.php": "<?php usleep(5000); echo 'done';"}, 20),
         BEYOND, (), slow_tool),
]


# ---- the witness -------------------------------------------------------------------------------

def ab_rate(site, clients, seconds):
    """Requests a second by ab's own word; those that fail are none."""
    said = subprocess.run([*site.at_client, "ab", "-q", "-l", "-t", str(seconds), "-n", "1000000",
                           "-c", str(clients), site.url], capture_output=True, text=True,
                          check=True, timeout=60).stdout
    done = int(re.search(r"Complete requests: +(\d+)", said)[1])
    failed = int((re.search(r"Non-2xx responses: +(\d+)", said) or [0, 0])[1])
    taken = float(re.search(r"Time taken for tests: +([\d.]+)", said)[1])
    return (0 if failed > done / 100 else done - failed) / taken


def sweep(site, loads):
    """[(clients, requests a second)]"""
    ab_rate(site, max(loads), 1)    # processes that are started on demand are there
    return [(clients, ab_rate(site, clients, SWEEP_SECONDS)) for clients in loads]


def knee_of(rates):
    """(clients, requests a second): where the line through the rates is nearly at the best."""
    best = max(rate for _, rate in rates)
    before, rate_before = 0, 0
    for clients, rate in rates:
        if rate >= NEARLY * best:
            part = (NEARLY * best - rate_before) / (rate - rate_before)
            return before + part * (clients - before), best
        before, rate_before = clients, rate


def recording_cost(site, clients):
    """The part of the rate that is left while it is recorded."""
    targets = [word for target in site.targets for word in ("-t", str(target))]
    alone = recorded = 0
    with tempfile.TemporaryDirectory(prefix="mpmstat-cost-") as scratch:
        archive = f"{scratch}/cost.db"
        for _ in range(COST_TURNS):
            alone += ab_rate(site, clients, SWEEP_SECONDS)
            subprocess.run([*site.at_client, str(build.TOOL), "record", "-q", "-o", archive,
                            *targets, "--", "ab", "-q", "-l", "-t", str(SWEEP_SECONDS), "-n",
                            "1000000", "-c", str(clients), site.url], check=True, timeout=120,
                           stdout=subprocess.DEVNULL)
        with closing(sqlite3.connect(archive)) as db:
            [(recorded,)] = db.execute("SELECT total(requests_per_1000s) / 1000 "
                                       "FROM client_results")
    return recorded / alone


# ---- what came of it ---------------------------------------------------------------------------

def capacity(site, archive, tool):
    targets = [word for target in site.targets for word in ("-t", str(target))]
    began = time.monotonic()
    done = subprocess.run([*site.at_client, str(build.TOOL), "capacity", "--json", "-o",
                           str(archive), *targets, "--", *tool(site)], capture_output=True,
                          text=True, check=False, timeout=660)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout), time.monotonic() - began


@dataclass
class Witness:
    """The knees and the best rates of the sweeps, in ascending order, and what recording leaves."""
    knees: list
    best: list
    cost: float


def are_near(one, two, least=0.0):
    """Whether two ranges have a value in common, or values within a tenth, or `least`."""
    return (min(two[0] * (1 - TENTH), two[0] - least) <= one[1] and
            one[0] <= max(two[1] * (1 + TENTH), two[1] + least))


def faults(found, case, witness):
    """What capacity says otherwise than the sweeps, and than the server was built."""
    code = found["limit"] and found["limit"]["code"]
    wrong = [f"limit: {case.limit}"] if case.limit not in (None, code) else []
    if case.limit == BEYOND and not found["at_least"]:
        wrong.append("not at least")
    if witness is None or found["held"] is False:
        return wrong
    rate, knee = found["requests_per_second"], found["knee"]
    if not are_near((rate, rate), (witness.best[0] * min(1, witness.cost), witness.best[1])):
        wrong.append("rate")
    if not found["at_least"] and not are_near((knee["low"], knee["high"]), witness.knees, 1):
        wrong.append("knee")
    return wrong


def row(case, found, taken, witness):
    mine = found["knee"]
    swept = ("-", "-", "-") if witness is None else (
        f"{witness.knees[0]:.1f} to {witness.knees[1]:.1f}",
        f"{witness.best[0]:.3g} to {witness.best[1]:.3g}", f"{max(0, 1 - witness.cost):.0%}")
    wrong = faults(found, case, witness)
    cells = [case.name,
             f"{mine['clients']} ({mine['low']} to {mine['high']})" if mine else "-", swept[0],
             (">= " if found["at_least"] else "") + f"{found['requests_per_second'] or 0:.3g}",
             swept[1], swept[2], found["limit"]["code"] if found["limit"] else "-",
             f"{len(found['levels'])} in {taken / 60:.1f} min",
             ", ".join(wrong) or ("not held" if found["held"] is False else "right")]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="keep the archives there")
    parser.add_argument("names", nargs="*", help="cases, or parts of their names")
    o = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="mpmstat-capacity-") as scratch:
        directory = o.keep or Path(scratch)
        directory.mkdir(exist_ok=True)
        print("| server | knee in clients | of the sweeps | requests/s | of the sweeps | recording "
              "costs | limit | levels | |\n|---|---|---|---|---|---|---|---|---|")
        for case in CASES:
            if o.names and not any(name in case.name for name in o.names):
                continue
            with case.start() as site:
                archive = directory / f"{re.sub(r'[^a-z0-9]+', '-', case.name.lower())}.db"
                before = knee_of(sweep(site, case.loads)) if case.loads else None
                found, taken = capacity(site, archive, case.tool)
                witness = None
                if before:
                    after = knee_of(sweep(site, case.loads))
                    witness = Witness(sorted([before[0], after[0]]), sorted([before[1], after[1]]),
                                      recording_cost(site, math.ceil(after[0])))
            print(row(case, found, taken, witness), flush=True)
            wrong += bool(faults(found, case, witness))
    print(f"\n{wrong} wrong.")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
