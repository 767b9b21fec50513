"""Control groups of a test: `with group(MEMORY) as server: server.limit_memory(64 << 20)`.

They are of version 2, or of version 1's hierarchy of one controller, as this machine lets the tests
use. tests/verdicts/groups.py makes its groups of these, too."""
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import wait_until

ROOT = Path("/sys/fs/cgroup")
# The controller, and the file of version 1 and of version 2 that shows that a group has it.
CPU = ("cpu", "cpu.cfs_quota_us", "cpu.max")
CPU_TIME = ("cpuacct", "cpuacct.usage", "cpu.stat")
DISK = ("blkio", "blkio.throttle.write_bps_device", "io.max")
MEMORY = ("memory", "memory.limit_in_bytes", "memory.max")
ANY = ("cpu", "cgroup.procs", "cgroup.procs")


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

    def limit_memory(self, size):
        self.write("memory.max" if self.version == 2 else "memory.limit_in_bytes", size)

    def limit_cpus(self, cpus):
        quota = int(cpus * 100000)
        if self.version == 2:
            self.write("cpu.max", f"{quota} 100000")
        else:
            self.write("cpu.cfs_quota_us", quota)

    def cpu_ns(self):
        """What its processes have used, those in groups below included."""
        return (1000 * self.keys("cpu.stat")["usage_usec"] if self.version == 2
                else int(self.read("cpuacct.usage")))

    def below(self, name):
        path = self.path / name
        path.mkdir()
        return Group(path, self.version)

    def remove(self):
        if self.path.exists():
            wait_until(lambda: not self.read("cgroup.procs"), 30, f"{self.path} to be empty")
            self.path.rmdir()


def inside(*groups):
    """A command in front of one that is to begin in these groups."""
    return ["sh", "-c", 'for group in $0; do echo $$ >"$group/cgroup.procs" || exit 1; done; '
            'exec "$@"', " ".join(str(group.path) for group in groups)]


def make_in(root, version, file):
    """A new group below the root, if it has the file; None."""
    if not (root / "cgroup.procs").exists():
        return None
    try:
        made = Group(Path(tempfile.mkdtemp(prefix="mpmstat-test-", dir=root)), version)
    except OSError:
        return None
    if (made.path / file).exists():
        return made
    made.remove()
    return None


def make(controller, file_of_v1, file_of_v2):
    """A new group that has the controller; None: this machine gives none."""
    return make_in(ROOT, 2, file_of_v2) or make_in(ROOT / controller, 1, file_of_v1)


def make_unified():
    """A new group of version 2 without controllers, where version 1 has these; None."""
    return make_in(ROOT / "unified", 2, "memory.pressure")


@contextmanager
def group(wanted):
    """A new group that has the controller; the test is skipped where there can be none."""
    made = make(*wanted)
    if not made:
        pytest.skip(f"this machine gives no control group with {wanted[2]}")
    try:
        yield made
    finally:
        made.remove()


@contextmanager
def nested(wanted):
    """(a group that has the controller, one below it), both new."""
    with group(wanted) as upper:
        if upper.version == 2:
            upper.write("cgroup.subtree_control", f"+{wanted[0]}")
        lower = upper.below("service")
        try:
            yield upper, lower
        finally:
            lower.remove()
