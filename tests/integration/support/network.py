"""Networks of a test's own: one with nothing but loopback, or a narrow one.

own_loopback() puts what its block starts into a namespace where all addresses of 127.0.0.0/8 and
all ports are free. Narrow is a server's namespace and a client's, and a slow link from one to the
other.

    with Narrow() as network:
        with network.at_server():     # sockets and programs of this thread begin there
            apache = server(mpm, f"Listen {network.ADDRESS}:{network.PORT}")
        connection = network.connect()

A process holds each namespace as long as its standard input is open: whatever becomes of the
tests, the kernel removes the namespaces and the link.
"""
import contextlib
import ctypes
import json
import os
import re
import subprocess

import clients

CLONE_NEWNET = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)


def run_in(pid, *command):
    """Runs a program in the namespace that the process `pid` holds; returns what it printed."""
    return subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", *command], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30).stdout


def enter(fd):
    """The calling thread goes to a network namespace; its sockets and children begin there."""
    if libc.setns(fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Unavailable(Exception):
    """There can be no such network here; the message says why."""


@contextlib.contextmanager
def own_loopback():
    """The calling thread is in a new namespace, and so are the threads and programs that it begins.
    The kernel removes the namespace when the last of them has ended."""
    if os.geteuid() != 0:
        raise Unavailable("needs root: network namespaces")
    with open("/proc/thread-self/ns/net", "rb") as own:
        if libc.unshare(CLONE_NEWNET) != 0:
            raise Unavailable(f"unshare: {os.strerror(ctypes.get_errno())}")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True, timeout=30)
            yield
        finally:
            enter(own.fileno())


class Narrow:
    ADDRESS, CLIENT, PORT = "192.0.2.1", "192.0.2.2", 80

    def __init__(self, rate=1_000_000):
        """rate: bytes in a second, from the server to the client."""
        self.rate = rate
        self.holders = []

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("needs root: network namespaces")
        try:
            self.hold(), self.hold()
            self.link()
            run_in(self.holders[0].pid, "ss", "--version")
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            said = getattr(error, "stderr", "")
            raise Unavailable(f"no narrow network: {error} {said}") from None
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.stdin.close()
            holder.stdout.close()
            holder.wait(15)

    def hold(self):
        holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo made && exec cat"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.holders.append(holder)
        if holder.stdout.readline() != b"made\n":
            raise OSError("unshare --net failed")

    def link(self):
        """The client's kernel acknowledges at once: it would delay that by up to 40 ms."""
        server, client = (holder.pid for holder in self.holders)
        run_in(server, "ip", "link", "add", "wire", "type", "veth", "peer", "name", "wire",
               "netns", str(client))
        for pid, address in ((server, self.ADDRESS), (client, self.CLIENT)):
            run_in(pid, "ip", "address", "add", f"{address}/24", "dev", "wire")
            run_in(pid, "ip", "link", "set", "lo", "up")
            run_in(pid, "ip", "link", "set", "wire", "up")
        run_in(client, "ip", "route", "change", "192.0.2.0/24", "dev", "wire", "quickack", "1")
        run_in(server, "tc", "qdisc", "add", "dev", "wire", "root", "tbf", "rate",
               f"{self.rate * 8}bit", "burst", "32kb", "latency", "400ms")

    @contextlib.contextmanager
    def inside(self, pid):
        with open("/proc/thread-self/ns/net", "rb") as own, open(f"/proc/{pid}/ns/net", "rb") as it:
            enter(it.fileno())
            try:
                yield
            finally:
                enter(own.fileno())

    def at_server(self):
        return self.inside(self.holders[0].pid)

    def connect(self, **options):
        with self.inside(self.holders[1].pid):
            return clients.Connection(self.PORT, host=self.ADDRESS, **options)

    def passed(self):
        """(bytes that left the server, how often the link was full), as tbf counts them."""
        [queue] = json.loads(run_in(self.holders[0].pid, "tc", "-s", "-j", "qdisc", "show",
                                    "dev", "wire"))
        return queue["bytes"], queue["overlimits"]

    def kernel_says(self, port):
        """(seconds with data on its way, of these with a closed window) of the connection from
        that client port."""
        text = run_in(self.holders[0].pid, "ss", "-tinOH", f"dport = :{port}")

        def seconds(name):
            found = re.search(rf"\b{name}:(\d+)ms", text)
            return int(found[1]) / 1000 if found else 0.0
        return seconds("busy"), seconds("rwnd_limited")
