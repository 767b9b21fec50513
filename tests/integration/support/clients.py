"""HTTP clients over plain sockets: well-behaved ones, and all the other kinds."""
import os
import re
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import build


class Response:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def text(self):
        return self.body.decode()

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:500]!r}>"


class NoAnswer(Exception):
    """The connection ended before a complete response."""


class Connection:
    """One TCP connection to host:port, or from another address. Its own port is `port`."""

    def __init__(self, server_port, timeout=30, receive_buffer=None, source=None,
                 host="127.0.0.1"):
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((host, server_port))
        self.port = self.socket.getsockname()[1]
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends it with a RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise NoAnswer(f"closed after {self.buffer[:200]!r}")
        self.buffer += data

    def read_until(self, mark):
        while mark not in self.buffer:
            self.fill()
        text, _, self.buffer = self.buffer.partition(mark)
        return text

    def read_exactly(self, count):
        while len(self.buffer) < count:
            self.fill()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def read_to_end(self):
        try:
            while True:
                self.fill()
        except NoAnswer:
            data, self.buffer = self.buffer, b""
            return data

    def read_chunks(self):
        body = b""
        while True:
            size = int(self.read_until(b"\r\n").split(b";")[0], 16)
            body += self.read_exactly(size)
            self.read_until(b"\r\n")
            if size == 0:
                return body

    def read_head(self):
        lines = self.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (h.partition(":") for h in lines[1:])}
        return int(lines[0].split()[1]), headers

    def read_response(self, method="GET"):
        status, headers = self.read_head()
        if method == "HEAD" or status in (204, 304) or status < 200:
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = self.read_chunks()
        elif "content-length" in headers:
            body = self.read_exactly(int(headers["content-length"]))
        else:
            body = self.read_to_end()
        return Response(status, headers, body)

    def send_request(self, path="/", method="GET", headers=None, body=b"", keep=True):
        headers = {"Host": "test.example", "Accept": "*/*",
                   "Connection": "keep-alive" if keep else "close", **(headers or {})}
        if body or method == "POST":
            headers["Content-Length"] = len(body)
        head = "".join(f"{k}: {v}\r\n" for k, v in headers.items())
        self.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)

    def request(self, path="/", method="GET", **options):
        self.send_request(path, method, **options)
        return self.read_response(method)


def get(port, path="/", timeout=30, **options):
    with Connection(port, timeout) as connection:
        return connection.request(path, keep=False, **options)


class Outcome:
    """What became of one request: its times on time.monotonic(), `error`, and which one
    (`nth`) it was of the connection from `port` (None: there was no connection)."""

    def __init__(self, start, end, status, error, nth, port):
        self.start, self.end, self.status, self.error = start, end, status, error
        self.nth, self.port = nth, port

    def __repr__(self):
        return (f"<{self.start:.3f}+{self.end - self.start:.3f} nth={self.nth} "
                f"{self.status or self.error!r}>")


class Load:
    """`concurrency` threads that ask for `path` over and over until stop().
    keep: requests on a connection before it is closed by the client."""

    def __init__(self, port, path, concurrency, keep=1):
        self.port, self.path, self.keep = port, path, keep
        self.outcomes = []
        self.stopping = threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(concurrency)]

    def run(self):
        while not self.stopping.is_set():
            self.connection_of_requests()

    def connection_of_requests(self):
        connection = None
        for nth in range(self.keep):
            if nth and self.stopping.is_set():
                break
            start, status, error, ends = time.monotonic(), None, None, False
            try:
                connection = connection or Connection(self.port)
                response = connection.request(self.path, keep=nth + 1 < self.keep)
                status = response.status
                ends = response.headers.get("connection", "").lower() == "close"
            except (OSError, NoAnswer) as e:
                error = e
            self.outcomes.append(Outcome(start, time.monotonic(), status, error, nth,
                                         connection.port if connection else None))
            if error or ends:
                break
        if connection:
            connection.close()

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive(), "a client is stuck"

    def count(self):
        return len(self.outcomes)

    def good(self):
        return [o for o in self.outcomes if o.status]

    def bad(self):
        return [o for o in self.outcomes if o.error]


def run_alone(command):
    """Runs a load tool of one thread. Returns what it says, and for how many seconds it was ready to
    run but had no CPU: it saw the answers that much later."""
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                          ) as process:
        kill_later = threading.Timer(180, process.kill)
        kill_later.start()
        said = process.stdout.read()
        # It has closed its output, and waits to be asked for its status.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        delayed = int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[1]) / 1e9
        kill_later.cancel()
    assert process.returncode == 0, said
    return said, delayed


def ab(port, path, requests, concurrency, options=(), wrapper=()):
    """Runs ab, and returns what its text says (seconds), and `delayed`: for how long it was ready,
    but had no CPU. wrapper: a command in front, which execs it."""
    program = build.find("ab")
    assert program, "there is no ab: install apache2-utils"
    said, delayed = run_alone(
        [*wrapper, program, "-q", "-l", "-n", str(requests), "-c", str(concurrency), *options,
         f"http://127.0.0.1:{port}{path}"])

    def number(pattern, default=None):
        match = re.search(pattern, said, re.M)
        assert match or default is not None, f"no {pattern} in:\n{said}"
        return float(match.group(1)) if match else default

    return {"complete": int(number(r"^Complete requests:\s+(\d+)")),
            "failed": int(number(r"^Failed requests:\s+(\d+)")),
            "non_2xx": int(number(r"^Non-2xx responses:\s+(\d+)", 0)),
            "seconds": number(r"^Time taken for tests:\s+([\d.]+)"),
            "rate": number(r"^Requests per second:\s+([\d.]+)"),
            "mean": number(r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)$") / 1000,
            "p99": number(r"^ +99% +(\d+)", 0) / 1000,
            "total_mean": number(r"^Total:\s+\d+\s+(\d+)", 0) / 1000,
            "delayed": delayed, "text": said}


def h2load(url, requests, concurrency, streams=1, options=()):
    """Runs h2load. Returns its counts and its rows: (start, seconds) of each request, on
    the wall clock; those that failed have no row; and `delayed` as ab() does."""
    program = build.find("h2load")
    assert program, "there is no h2load: install nghttp2-client"
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "rows.tsv"
        said, delayed = run_alone(
            [program, "-n", str(requests), "-c", str(concurrency), "-m", str(streams), "-t", "1",
             f"--log-file={log}", *options, url])
        rows = [line.split("\t") for line in log.read_text().splitlines()]
    counts = re.search(r"(\d+) done, (\d+) succeeded, (\d+) failed", said)
    assert counts, said
    return {"done": int(counts[1]), "succeeded": int(counts[2]), "failed": int(counts[3]),
            "rows": [(int(row[0]) / 1e6, int(row[2]) / 1e6) for row in rows if row[1] != "-1"],
            "delayed": delayed, "text": said}
