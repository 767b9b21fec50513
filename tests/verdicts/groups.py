"""Control groups of a case: one with a weight that leaves neighbours little, and groups with
limits within it. Version 2 where the machine has it, else version 1's controllers."""
import os
import tempfile
import time
from pathlib import Path

# On a hybrid machine version 2's hierarchy has no controllers, but a group's pressure.
V1 = {"cpu": "/sys/fs/cgroup/cpu", "memory": "/sys/fs/cgroup/memory",
      "cpuacct": "/sys/fs/cgroup/cpuacct"}
V1_PRESSURE = "/sys/fs/cgroup/unified"
V2 = "/sys/fs/cgroup"


class Unavailable(Exception):
    """There can be no such group here; the message says why."""


class Group:
    """directories: the group's directory of each hierarchy (one in version 2)."""

    def __init__(self, directories, version):
        self.directories, self.version = directories, version

    def write(self, controller, name, value):
        place = self.directories.get(controller)
        if place is None:
            raise Unavailable(f"no cgroup controller {controller}")
        try:
            (place / name).write_text(str(value))
        except OSError as error:
            raise Unavailable(f"cannot set {name}: {error}") from None

    def join(self, pid):
        for place in set(self.directories.values()):
            (place / "cgroup.procs").write_text(str(pid))

    def wrapper(self):
        """A command in front of another, which then runs in this group."""
        joins = "; ".join(f"echo $$ > {place}/cgroup.procs" for place in
                          sorted({str(p) for p in self.directories.values()}))
        return ["/bin/sh", "-c", joins + '; exec "$@"', "sh"]

    def cpu_seconds(self):
        """What its processes have used, those in groups within included."""
        if self.version == 2:
            said = dict(line.split() for line in
                        (self.directories["cpu"] / "cpu.stat").read_text().splitlines())
            return int(said["usage_usec"]) / 1e6
        return int((self.directories["cpuacct"] / "cpuacct.usage").read_text()) / 1e9

    def inner(self, name, *, cpus=None, memory=None):
        """A group within; cpus: how many it may use; memory: how many bytes."""
        made = {}
        for controller, place in self.directories.items():
            path = place / name
            path.mkdir(exist_ok=True)
            made[controller] = path
        group = Group(made, self.version)
        if cpus is not None:
            if self.version == 2:
                group.write("cpu", "cpu.max", f"{int(cpus * 100000)} 100000")
            else:
                group.write("cpu", "cpu.cfs_quota_us", int(cpus * 100000))
        if memory is not None:
            group.write("memory", "memory.max" if self.version == 2 else "memory.limit_in_bytes",
                        memory)
        return group

    def remove(self):
        """Removes it and the groups in it, once the kernel has reaped their processes."""
        for place in set(self.directories.values()):
            for path in [*(p for p in place.iterdir() if p.is_dir()), place]:
                for _ in range(500):
                    try:
                        path.rmdir()
                        break
                    except OSError:
                        time.sleep(0.01)


def machine_cpu_seconds():
    """What all processes of the machine have used."""
    first = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq = map(int, first[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def make():
    """The group of a case. Its processes are in the group `case` within, as version 2 wants."""
    if os.geteuid() != 0:
        raise Unavailable("cgroups are for root")
    try:
        return make_v2() if (Path(V2) / "cgroup.controllers").exists() else make_v1()
    except OSError as error:
        raise Unavailable(f"no cgroup: {error}") from None


def make_v2():
    place = Path(tempfile.mkdtemp(prefix="mpmstat-verdict-", dir=V2))
    (place / "cgroup.subtree_control").write_text("+cpu +memory")
    (place / "cpu.weight").write_text("10000")
    return Group({"cpu": place, "memory": place}, 2)


def make_v1():
    name = f"mpmstat-verdict-{os.getpid()}-{time.monotonic_ns()}"
    roots = dict(V1)
    if (Path(V1_PRESSURE) / "cgroup.procs").exists():
        roots["pressure"] = V1_PRESSURE
    places = {controller: Path(root) / name for controller, root in roots.items()}
    for place in places.values():
        place.mkdir()
    (places["cpu"] / "cpu.shares").write_text("200000")
    return Group(places, 1)
