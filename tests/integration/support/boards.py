"""Boards without an Apache: made, kept alive and fed by the program make_board."""
import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import build

MAKE_BOARD = build.BUILDDIR / "tests" / "integration" / "support" / "make_board"


class Board:
    """A board at `path` whose server is this process's child until stop(); and the board
    of a PHP behind it at `php`."""

    def __init__(self, path, php=None):
        self.path, self.php = Path(path), php and Path(php)
        paths = [str(path)] + ([str(php)] if php else [])
        self.process = subprocess.Popen([str(MAKE_BOARD), *paths], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def serve(self, requests):
        self.process.stdin.write(f"{requests}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def stop(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.stdout.close()
            assert self.process.wait(10) == 0


@contextmanager
def runtime_directory():
    """A directory for boards, on a tmpfs where there is one."""
    where = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="mpmstat-test.", dir=where) as directory:
        yield Path(directory)


@contextmanager
def board(requests=0, name="mpmstat.board", php=None):
    with runtime_directory() as directory:
        made = Board(directory / name, php and directory / php)
        try:
            if requests:
                made.serve(requests)
            yield made
        finally:
            made.stop()


def stripes():
    """The CPUs, rounded up to a power of two, at most 16."""
    return min(16, 1 << (os.sysconf("SC_NPROCESSORS_ONLN") - 1).bit_length())


def default_records():
    """How many requests a journal keeps where that is not configured."""
    return min(max(8192 * stripes(), 16384), 65536)


def documented_bytes(producer, **known):
    """The documents' table of what a board of Apache or PHP consists of, computed."""
    text = (build.SRCDIR / "docs" / "measuring.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| (both|Apache|PHP) \| ([\d,]+) \| ([a-z0-9, ×]+) \|$", text,
                      re.M)
    assert len(rows) >= 12, f"no table of the board's parts in docs/measuring.md: {rows}"
    total = 0
    for of, size, times in rows:
        count = int(of in ("both", producer))
        for factor in times.replace(",", "").split(" × "):
            count *= int(factor) if factor.isdigit() else known[factor]
        total += -(-int(size.replace(",", "")) * count // 4096) * 4096
    return total
