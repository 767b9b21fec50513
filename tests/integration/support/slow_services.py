"""What servers wait for, made slow: a name server, an HTTP backend, and a database whose first
files are kept.

    with Backend(0.1, serial=True) as backend:
        backend.url
"""
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

from data_servers import MariaDB, Redis

A, PTR = 1, 12


class NameServer:
    """Answers every query on 127.0.0.1:53 after some seconds: all addresses are of
    client.example.com, and all names have the address 127.0.0.1."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.queries = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def __enter__(self):
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.socket.close()

    def serve(self):
        while True:
            try:
                query, client = self.socket.recvfrom(4096)
            except OSError:
                return
            self.queries += 1
            threading.Thread(target=self.answer, args=(query, client), daemon=True).start()

    def answer(self, query, client):
        time.sleep(self.seconds)
        end = query.index(b"\0", 12) + 1
        kind, _ = struct.unpack(">HH", query[end:end + 4])
        data = {A: socket.inet_aton("127.0.0.1"),
                PTR: b"\6client\7example\3com\0"}.get(kind)
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, 1 if data else 0, 0, 0)
        record = (struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(data)) + data) if data else b""
        try:
            self.socket.sendto(head + query[12:end + 4] + record, client)
        except OSError:
            pass


class Backend:
    """An HTTP server that takes some seconds for each answer; serial: one at a time."""

    def __init__(self, seconds, serial=False):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                time.sleep(seconds)
                self.send_response(200)
                self.send_header("Content-Length", "3")
                self.end_headers()
                self.wfile.write(b"ok\n")

            def log_message(self, *_):
                pass

        class Server(HTTPServer if serial else ThreadingHTTPServer):
            request_queue_size = 511
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class KeptMariaDB(MariaDB):
    """Its first files are made once and copied from then on, which is faster."""

    def __init__(self, templates):
        super().__init__()
        self.template = templates / "mariadb"

    def make(self):
        if not self.template.exists():
            super().make()
            copy = Path(tempfile.mkdtemp(dir=self.template.parent)) / "data"
            shutil.copytree(self.root / "data", copy)
            with suppress(OSError):      # another case was faster
                copy.rename(self.template)
            return
        subprocess.run(["cp", "-r", self.template, self.root / "data"], check=True)


class SleepyRedis(Redis):
    """It takes the command DEBUG SLEEP."""

    def command(self):
        return [*super().command(), "--enable-debug-command", "yes"]
