"""Boards without an Apache: made, kept alive and fed by the program make_board."""
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
