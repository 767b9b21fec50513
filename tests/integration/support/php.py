"""PHP with the extension under test: its settings, a FastCGI client, what it recorded."""
import functools
import os
import re
import shutil
import socket
import sqlite3
import struct
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import build
import processes
from processes import wait_until

EXTENSION = build.BUILDDIR / "phpapp" / "ext" / ".libs" / "mpmstat.so"
CGI = (os.environ.get("PHP_CGI") or build.newest("/usr/bin", "php-cgi[0-9]*")
       or build.find("php-cgi"))
CLI = (os.environ.get("PHP_CLI") or build.newest("/usr/bin", "php[0-9].[0-9]*")
       or build.find("php"))


def why_not():
    """Why the tests of the extension cannot be run here; None: they can."""
    if build.SANITIZE:
        return "only FPM is given what an extension with sanitizers needs"
    return None if EXTENSION.exists() else f"there is no {EXTENSION}: configured --without-php"


@functools.lru_cache(maxsize=None)
def version():
    """(8, 2): major and minor, of the PHP under test."""
    text = subprocess.check_output([CLI, "-n", "-r", "echo PHP_VERSION;"], text=True)
    return tuple(int(number) for number in text.split(".")[:2])


def has_threads():
    """Whether the PHP under test is built with threads (ZTS), which a threaded Apache needs."""
    return build.MOD_PHP and subprocess.check_output(
        [CLI, "-n", "-r", "echo PHP_ZTS;"], text=True) == "1"


def why_not_fpm():
    """Why those cannot that need nothing but FPM (fpm.py preloads the sanitizers)."""
    if not build.FPM:
        return "needs PHP-FPM"
    if build.SANITIZE_ADDRESS and EXTENSION.exists():
        return None
    return why_not()


def settings(directory, **more):
    """The extension's, for a server whose boards are to be in `directory`."""
    return {"extension": EXTENSION, "mpmstat.board": f"{directory}/",
            **{f"mpmstat.{name}": value for name, value in more.items()}}


def options(values):
    """Settings as a PHP program's -d options."""
    return [word for name, value in values.items() for word in ("-d", f"{name}={value}")]


def write_ini(directory, values):
    """Settings as a php.ini in `directory`, for PHPRC or PHPIniDir."""
    text = "".join(f"{name} = {value}\n" for name, value in values.items())
    (Path(directory) / "php.ini").write_text(text)
    return directory


def board(directory, sapi):
    """The one board of that SAPI in `directory`."""
    found = list(Path(directory).glob(f"{sapi}-*.board"))
    assert len(found) == 1, f"expected one board of {sapi}, found {found}"
    return found[0]


# ---- a FastCGI client ------------------------------------------------------------------

def record(kind, content):
    return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def pair(name, value):
    name, value = name.encode(), value.encode()
    lengths = b"".join(bytes([n]) if n < 128 else struct.pack(">I", n | 1 << 31)
                       for n in (len(name), len(value)))
    return lengths + name + value


def fastcgi(path, script, timeout=60, leave=False, **variables):
    """(status, body) of `script` from the FastCGI server at the socket `path`. leave: goes
    away after the first piece of it."""
    environment = {"SCRIPT_FILENAME": str(script), "REQUEST_METHOD": "GET", "QUERY_STRING": "",
                   "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
                   "SERVER_ADDR": "127.0.0.1", **variables}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(str(path))
        connection.sendall(record(1, struct.pack(">HB5x", 1, 0))
                           + record(4, b"".join(pair(*v) for v in environment.items()))
                           + record(4, b"") + record(5, b""))
        answer = b""
        while data := connection.recv(65536):
            answer += data
            if leave:
                break
    return parse(answer)


def parse(answer):
    out, at = b"", 0
    while at + 8 <= len(answer):
        _, kind, _, length, padding = struct.unpack(">BBHHBx", answer[at:at + 8])
        out += answer[at + 8:at + 8 + length] if kind == 6 else b""
        at += 8 + length + padding
    head, _, body = out.partition(b"\r\n\r\n")
    status = re.search(rb"^Status: (\d+)", head, re.M)
    return (int(status.group(1)) if status else 200 if head else 0), body.decode()


# ---- what was recorded -------------------------------------------------------------------

class Archive:
    """Filled when the recording is complete: a copy in memory, the file is removed."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.row_factory = sqlite3.Row

    def fill(self, path):
        with sqlite3.connect(path) as file:
            file.backup(self.db)

    def ask(self, query):
        return self.db.execute(query).fetchall()


@contextmanager
def recorded(*boards):
    """`mpmstat record` of these boards while the block runs; complete after it."""
    scratch = Path(tempfile.mkdtemp(prefix="mpmstat-test-record-"))
    wait = f"touch {scratch}/began; while [ ! -e {scratch}/stop ]; do sleep 0.02; done"
    process = subprocess.Popen(
        [str(build.TOOL), "record", "-o", str(scratch / "runs.sqlite"),
         *(word for b in boards for word in ("-t", str(b))), "--", "sh", "-c", wait],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    archive = Archive()
    try:
        wait_until((scratch / "began").exists, 20, "mpmstat record to begin")
        yield archive
        (scratch / "stop").touch()
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0, said
        archive.fill(scratch / "runs.sqlite")
    finally:
        processes.end(process, str(scratch))
        shutil.rmtree(scratch, ignore_errors=True)

