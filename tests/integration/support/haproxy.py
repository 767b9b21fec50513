"""A real HAProxy in front of several servers, which get requests in turn.

    with HAProxy("127.0.0.1:80", {"web1": "127.0.0.11:80", "web2": "127.0.0.12:80"}):
        ...
"""
import shutil
import subprocess
import tempfile
from pathlib import Path

import build
import clients
import processes
from processes import wait_until

PROGRAM = build.find("haproxy")
CONFIGURATION = """
global
    maxconn 500
    nbthread 1
defaults
    mode http
    retries 3
    option redispatch 1
    timeout connect 10s
    timeout client 60s
    timeout server 60s
listen fleet
    bind {address}
    balance roundrobin
{servers}
"""


class HAProxy:
    """A server that refuses connections gets no request until it accepts one again."""

    def __init__(self, address, servers):
        self.address = address
        self.root = Path(tempfile.mkdtemp(prefix="mpmstat-test-haproxy-"))
        lines = [f"    server {name} {at} check inter 500ms" for name, at in servers.items()]
        (self.root / "haproxy.cfg").write_text(CONFIGURATION.format(
            address=address, servers="\n".join(lines)))
        self.process = None

    def __enter__(self):
        with open(self.root / "log", "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "-db", "-f", str(self.root / "haproxy.cfg")], cwd=self.root,
                env={"PATH": build.PATH}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        try:
            wait_until(self.answers, 30, lambda: "HAProxy to answer:\n" + self.said())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        processes.end(self.process, str(self.root))
        shutil.rmtree(self.root, ignore_errors=True)

    def said(self):
        return (self.root / "log").read_text(errors="replace")

    def answers(self):
        assert self.process.poll() is None, "HAProxy ended:\n" + self.said()
        host, port = self.address.split(":")
        try:
            with clients.Connection(int(port), host=host):
                return True
        except OSError:
            return False
