"""Control groups of a test: `with group("memory", "memory.max") as lower`.

Version 2 of control groups, or version 1's hierarchy of one controller; whichever this machine
lets the tests use."""
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import wait_until


class Group:
    def __init__(self, path, version):
        self.path, self.version = path, version

    def read(self, name):
        return (self.path / name).read_text()

    def write(self, name, value):
        (self.path / name).write_text(str(value))

    def keys(self, name):
        """A file of lines "KEY NUMBER"."""
        return {key: int(value) for key, value in
                (line.split() for line in self.read(name).splitlines() if line.count(" ") == 1)}

    def take(self, *pids):
        for pid in pids:
            self.write("cgroup.procs", pid)

    def below(self, name):
        path = self.path / name
        path.mkdir()
        return Group(path, self.version)

    def remove(self):
        if self.path.exists():
            wait_until(lambda: not self.read("cgroup.procs"), 30, f"{self.path} to be empty")
            self.path.rmdir()


def make(controller, file_of_v1, file_of_v2):
    """A new group that has the controller; None: this machine gives none."""
    for root, version, file in (("/sys/fs/cgroup", 2, file_of_v2),
                                (f"/sys/fs/cgroup/{controller}", 1, file_of_v1)):
        if not (Path(root) / "cgroup.procs").exists():
            continue
        try:
            made = Group(Path(tempfile.mkdtemp(prefix="mpmstat-test-", dir=root)), version)
        except OSError:
            continue
        if (made.path / file).exists():
            return made
        made.remove()
    return None


def make_unified():
    """A new group of version 2 without controllers, where version 1 has these; None."""
    root = Path("/sys/fs/cgroup/unified")
    try:
        made = Group(Path(tempfile.mkdtemp(prefix="mpmstat-test-", dir=root)), 2)
    except OSError:
        return None
    if (made.path / "memory.pressure").exists():
        return made
    made.remove()
    return None


@contextmanager
def groups(controller, file_of_v1, file_of_v2):
    """(a group, one below it), both new; the test is skipped where there can be none."""
    upper = make(controller, file_of_v1, file_of_v2)
    if not upper:
        pytest.skip(f"this machine gives no control group with {file_of_v2}")
    lower = None
    try:
        if upper.version == 2:
            upper.write("cgroup.subtree_control", f"+{controller}")
        lower = upper.below("service")
        yield upper, lower
    finally:
        if lower:
            lower.remove()
        upper.remove()
