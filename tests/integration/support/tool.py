"""The mpmstat command, and boards as it shows them."""
import json
import subprocess
import threading
import time
from decimal import Decimal

import build
from processes import PATIENCE


def run(*arguments, timeout=30, **options):
    """Runs the tool to its end; the caller looks at returncode, stdout, stderr."""
    return subprocess.run([str(build.TOOL), *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout * PATIENCE,
                          **options)


def verbs():
    """Every verb that mpmstat --help lists, "help" aside."""
    table = next(part for part in run("--help").stdout.split("\n\n")
                 if part.startswith("  status "))
    return [line.split()[0] for line in table.splitlines() if not line.startswith("  help ")]


def status(target):
    """The board at `target` as `mpmstat status --format json` shows it."""
    done = run("status", "--format", "json", target)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return json.loads(done.stdout, parse_float=Decimal)["boards"][0]


def report(*arguments, status=0):
    """What `mpmstat report` prints; where it is to fail, what it says."""
    done = run("report", *arguments)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return done.stdout if status == 0 else done.stderr


def labels(board):
    """The labels of a load: all but the status page's own."""
    return [entry for entry in board["labels"] if entry["label"] != "mpm-status"]


def requests(board):
    return sum(entry["requests"] for entry in labels(board))


def phase_sum(board, phase):
    return sum(entry["phases"][phase]["sum_seconds"] for entry in labels(board))


def counters(board):
    """Everything of a board that may only grow, by a name."""
    lifecycle = board["lifecycle"]
    found = {"accepted": board["connections"]["accepted_total"],
             "shed": board["connections"]["shed_total"],
             "uptime": board["uptime_seconds"],
             "journal requests": board["journal"]["requests"]["written"],
             "journal lifecycle": board["journal"]["lifecycle"]["written"],
             "unfinished": lifecycle["requests_unfinished"],
             "forks_failed": lifecycle["forks_failed"],
             "no_idle": lifecycle["no_idle_worker_seconds"] or 0,
             "generations": lifecycle["generations"]}
    for name, parent in (("state", board["workers"]["state_seconds"]),
                         ("forks", lifecycle["forks"]), ("exits", lifecycle["exits"])):
        found.update({f"{name} {key}": value for key, value in parent.items()})
    for entry in board["labels"]:
        label = entry["label"]
        found[f"{label} requests"] = entry["requests"]
        found[f"{label} bytes"] = entry["bytes"]
        found.update({f"{label} {k}": v for k, v in entry["status"].items()})
        for phase, times in entry["phases"].items():
            for key in ("count", "sum_seconds", "max_seconds"):
                found[f"{label} {phase} {key}"] = times[key] or 0
    return found


# A worker can lose its CPU after it has read the clock and before its new state is on the board: for
# so long a reader counts the old state, and takes that back afterwards.
STATE_SECONDS_BACK = Decimal("0.1")


class Scraper:
    """Reads a board every 100 ms, and as it begins and ends: on a busy machine a short load is over
    before the first 100 ms are. check() fails where a counter ever went back."""

    def __init__(self, target):
        self.target, self.boards, self.error = target, [], None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.loop)

    def loop(self):
        try:
            self.boards.append(status(self.target))
            while not self.stopping.wait(0.1):
                self.boards.append(status(self.target))
            self.boards.append(status(self.target))
        except BaseException as error:  # shown by check(), in the test's own thread
            self.error = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join(60)

    def check(self):
        if self.error:
            raise self.error
        before = {}
        for board in self.boards:
            now = counters(board)
            back = {k: (before[k], now.get(k)) for k in before if before[k] is not None
                    and (now.get(k) is None or
                         now[k] < before[k] - STATE_SECONDS_BACK * k.startswith("state "))}
            assert not back, f"went backwards at {board['uptime_seconds']} s: {back}"
            before = now


def timed_status(target):
    """(board, seconds that the command took)."""
    start = time.monotonic()
    board = status(target)
    return board, time.monotonic() - start


def fails(done, code, *words):
    """It ended with that code, said so in one line of ours, and did not crash."""
    assert done.returncode == code, f"exit {done.returncode}: {done.stderr}"
    lines = done.stderr.splitlines()
    assert lines and all(line.startswith("mpmstat: ") for line in lines), done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    return done
