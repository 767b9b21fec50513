"""A name server of a test, slow to answer, and a view of /etc in which it is the only one.

    with NameServer({"slow.test.example": "192.0.2.7"}, delay=0.4) as names:
        fpm = FPM(wrapper=names.wrapper)

`log` has what it was asked and when. The view is a mount namespace, which ends with the program.
"""
import itertools
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections import namedtuple
from pathlib import Path

A, PTR = 1, 12
VIEW = ('mount --bind "$0/resolv.conf" /etc/resolv.conf && '
        'mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf && exec "$@"')
numbers = itertools.count(1)

Question = namedtuple("Question", "type name asked_ns answered_ns")


class Unavailable(Exception):
    """There can be no such server here; the message says why."""


def encode(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"


def decode(query):
    """(name, type, the question's bytes) of a query."""
    parts, at = [], 12
    while query[at]:
        parts.append(query[at + 1:at + 1 + query[at]].decode())
        at += 1 + query[at]
    return ".".join(parts), struct.unpack_from(">H", query, at + 1)[0], query[12:at + 5]


class NameServer:
    """addresses: name -> IPv4 address. Every address has the name `reverse`. The answer is `delay`
    seconds late, and comes after the event `may_answer`, which is set."""

    def __init__(self, addresses, reverse="client.test.example", delay=0.0):
        self.addresses, self.reverse, self.delay = addresses, reverse, delay
        self.log = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.directory = None

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("needs root: port 53 and mount namespaces")
        # A loopback address that no other test and no server of the machine has.
        self.address = f"127.53.{os.getpid() % 250 + 1}.{next(numbers) % 250 + 1}"
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self.socket.bind((self.address, 53))
        except OSError as error:
            self.socket.close()
            raise Unavailable(f"no name server on {self.address}: {error}") from None
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()
        try:
            self.make_view()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.may_answer.set()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", (self.address, 53))
        self.thread.join(30)
        self.socket.close()
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def make_view(self):
        self.directory = Path(tempfile.mkdtemp(prefix="mpmstat-test-names-"))
        self.directory.chmod(0o755)
        for name, text in (("resolv.conf", f"nameserver {self.address}\n"
                                           "options timeout:30 attempts:1\n"),
                           ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: dns\n")):
            (self.directory / name).write_text(text)
        self.wrapper = ["unshare", "--mount", "sh", "-c", VIEW, str(self.directory)]
        done = subprocess.run([*self.wrapper, "true"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Unavailable("no mount namespace with an /etc of its own: " + done.stderr)

    def serve(self):
        while True:
            query, client = self.socket.recvfrom(2048)
            asked = time.monotonic_ns()
            if not query:
                return
            name, kind, question = decode(query)
            self.may_answer.wait(60)
            time.sleep(self.delay)      # the slowness itself
            answer = self.answer(name, kind)
            records = b"" if answer is None else struct.pack(
                ">HHHIH", 0xc00c, kind, 1, 0, len(answer)) + answer
            self.log.append(Question(kind, name, asked, time.monotonic_ns()))
            self.socket.sendto(query[:2] + struct.pack(">HHHHH", 0x8580, 1, bool(records), 0, 0)
                               + question + records, client)

    def answer(self, name, kind):
        if kind == PTR:
            return encode(self.reverse)
        if kind == A and name in self.addresses:
            return socket.inet_aton(self.addresses[name])
        return None

    def waited_ns(self):
        """How long those that asked waited, at least."""
        return sum(question.answered_ns - question.asked_ns for question in self.log)
