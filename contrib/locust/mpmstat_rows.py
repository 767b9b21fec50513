"""Writes a line for each request that Locust makes, for mpmstat import.

Locust keeps sums and rounded tables only. Name this file before your own locustfile, on the
master, on every worker, and with --processes:

    locust -f /usr/share/mpmstat/locust/mpmstat_rows.py,locustfile.py --headless ...

Each process that makes requests writes a file of its own, mpmstat-locust-HOST-PID-TIME.csv, into the
directory that the variable MPMSTAT_ROWS names, or else into the current one. Lines are written once
a second, or when there are 1,000 of them: a worker that is killed loses no more.

A request can be paired exactly with the server's (MPMStatTrustClientId On) where your locustfile
gives it an id:

    import mpmstat_rows
    number = mpmstat_rows.next_id()
    self.client.get("/", headers={"X-MPMStat-Id": str(number)}, context={"mpmstat_id": number})
"""
import atexit
import itertools
import os
import random
import socket
import time

import locust
from locust import events

LINES_MAX = 1000
SECONDS_MAX = 1.0


class Rows:
    """The file of one process."""

    def __init__(self):
        self.pid = None
        self.file = None
        self.lines = []
        self.due = 0.0

    def open(self):
        """Opens the file at the first request: a master makes none, and writes no file."""
        self.pid = os.getpid()
        directory = os.environ.get("MPMSTAT_ROWS") or "."
        os.makedirs(directory, exist_ok=True)
        host = socket.gethostname().replace("/", "_")
        name = f"mpmstat-locust-{host}-{self.pid}-{time.time_ns()}.csv"
        self.file = open(os.path.join(directory, name), "x", encoding="ascii", errors="replace")
        self.file.write(f"#mpmstat-locust-rows,1,{host},{self.pid},{locust.__version__}\n")
        self.lines = [self.cpu_line("c")]

    @staticmethod
    def cpu_line(kind):
        return f"{kind},{time.time_ns()},{time.process_time_ns()}\n"

    def add(self, line):
        if self.pid != os.getpid():    # also in a process that Locust has forked
            self.open()
        self.lines.append(line)
        now = time.monotonic()
        if len(self.lines) >= LINES_MAX or now >= self.due:
            self.due = now + SECONDS_MAX
            self.lines.append(self.cpu_line("c"))
            self.flush()

    def flush(self):
        self.file.write("".join(self.lines))
        self.file.flush()
        self.lines = []

    def end(self):
        if self.file is not None and self.pid == os.getpid():
            self.lines.append(self.cpu_line("e"))
            self.flush()
            self.file.close()
            self.file = None


rows = Rows()
numbers = {}    # the process: what it counts with


def next_id():
    """A number that no other request of the load has: a random one of this process, and a count.
    mod_mpmstat takes numbers below 2**53."""
    numbers_of_process = numbers.get(os.getpid())
    if numbers_of_process is None:
        numbers_of_process = itertools.count(random.SystemRandom().getrandbits(29) << 24)
        numbers[os.getpid()] = numbers_of_process
    return next(numbers_of_process)


def failure_of(exception):
    """Why there is no answer, by the names of the exceptions below the given one."""
    names = []
    while exception is not None and len(names) < 8:
        names.append(type(exception).__name__.lower() + " " + str(exception).lower())
        exception = exception.__cause__ or exception.__context__
    text = " ".join(names)
    if "timeout" in text or "timed out" in text:
        return "timeout"
    if "refused" in text or "newconnection" in text or "unreachable" in text or "gaierror" in text:
        return "connect"
    if "reset" in text or "disconnect" in text or "aborted" in text or "incomplete" in text:
        return "receive"
    return "other"


def on_request(response_time, response=None, context=None, exception=None, start_time=None, **_):
    """response_time is in milliseconds; start_time in seconds since 1970, where Locust tells it."""
    status = getattr(response, "status_code", None)
    if status is None and exception is None:
        return                         # no HTTP request
    duration_ns = int((response_time or 0) * 1000000)
    start_ns = int(start_time * 1000000) * 1000 if start_time else time.time_ns() - duration_ns
    status = status or 0
    reason = failure_of(exception) if status == 0 else ""
    number = context.get("mpmstat_id", "") if isinstance(context, dict) else ""
    rows.add(f"r,{start_ns},{duration_ns},{status},{reason},{number}\n")


def on_quit(**_):
    rows.end()


# A locustfile can import this one, which Locust also loads by itself: only one of them listens.
if not hasattr(events, "mpmstat_rows"):
    events.mpmstat_rows = rows
    events.request.add_listener(on_request)
    events.quit.add_listener(on_quit)
    atexit.register(rows.end)
