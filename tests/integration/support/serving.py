"""mpmstat serve, with a port of its own, and curl as the witness of what it answers.

    with Serving(board.path) as serving:
        assert serving.get("/metrics").status == 200
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

import build
import tls
from apache import hold_port

CURL = build.find("curl")


class Answer:
    """What curl got: `status` is 0 and `failure` its exit code where it got no answer."""

    def __init__(self, status, headers, body, failure):
        self.status, self.headers, self.body, self.failure = status, headers, body, failure

    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body, parse_float=Decimal)

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:500]!r}, curl {self.failure}>"


def curl(url, *options, timeout=60):
    assert CURL, "there is no curl: install curl"
    done = subprocess.run([CURL, "-sS", "--noproxy", "*", "-i", "--http1.1", "-m", str(timeout),
                           *map(str, options), url], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout + 30)
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(": ")
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
    return Answer(status, headers, body, done.returncode)


class Serving:
    def __init__(self, *arguments, listen=None, environment=None, program=build.TOOL,
                 wrapper=()):
        self.holder = hold_port()
        self.port = self.holder.getsockname()[1]
        self.listen = listen or f"127.0.0.1:{self.port}"
        self.arguments = [str(argument) for argument in arguments]
        self.scheme = "https" if "--tls-cert" in self.arguments else "http"
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"
        self.environment = {**os.environ, **(environment or {})}
        self.command = [*wrapper, str(program), "serve", "--listen", self.listen, *self.arguments]
        self.process = None

    def __enter__(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        line = self.process.stdout.readline()
        assert line.startswith(f"{self.scheme}://"), f"{line!r}: {self.said()}"
        return self

    def said(self):
        """What it has written to stderr."""
        self.errors.seek(0)
        return self.errors.read()

    def end(self, signum=signal.SIGTERM):
        """Its exit status."""
        self.process.send_signal(signum)
        return self.process.wait(60)

    def __exit__(self, kind, error, traceback):
        alive = self.process.poll() is None
        status = self.end() if alive else self.process.returncode
        self.process.stdout.close()
        said = self.said()
        self.errors.close()
        self.holder.close()
        if kind is None and alive:
            assert status == 0, f"exit {status}: {said}"
        elif kind is not None:
            print("mpmstat serve said:", said)
        assert "Sanitizer" not in said and "runtime error" not in said, said

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 60)

    def get(self, path, *options, **more):
        return curl(self.url + path, "--path-as-is", *options, **more)

    def boards(self):
        answer = self.get("/?format=json")
        assert answer.status == 200, answer
        return answer.json()["boards"]

    def sample(self, name):
        """The value of a sample of /metrics, by the beginning of its line."""
        lines = [line for line in self.get("/metrics").text().splitlines()
                 if line.startswith(name)]
        assert len(lines) == 1, lines
        return Decimal(lines[0].split()[-1])


# ---- certificates ------------------------------------------------------------------------


def openssl(*words):
    program = build.find("openssl")
    assert program, "there is no openssl: install openssl"
    subprocess.run([program, *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60)


class Authority:
    """One that signs certificates of servers and clients."""

    def __init__(self, directory, name):
        self.directory = Path(directory) / name
        self.directory.mkdir()
        self.certificate, self.key = self.directory / "ca.crt", self.directory / "ca.key"
        openssl("req", "-x509", "-newkey", *tls.ELLIPTIC, "-nodes", "-days", "2", "-subj",
                f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", self.key,
                "-out", self.certificate)

    def sign(self, name, *extensions):
        """(certificate, key) for `name`."""
        certificate, key = self.directory / f"{name}.crt", self.directory / f"{name}.key"
        request, settings = self.directory / "request", self.directory / "extensions"
        settings.write_text("\n".join(extensions) + "\n")
        openssl("req", "-new", "-newkey", *tls.ELLIPTIC, "-nodes", "-subj", f"/CN={name}",
                "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                "-CAcreateserial", "-days", "2", "-extfile", settings, "-out", certificate)
        key.chmod(0o600)
        return certificate, key

    def server(self):
        return self.sign("server", "subjectAltName=IP:127.0.0.1", "extendedKeyUsage=serverAuth")

    def client(self):
        return self.sign("client", "extendedKeyUsage=clientAuth")


def token_file(directory, token, mode=0o600, name="token"):
    path = Path(directory) / name
    path.write_text(token + "\n")
    path.chmod(mode)
    return path


def has(*programs):
    return all(shutil.which(program) or build.find(program) for program in programs)
