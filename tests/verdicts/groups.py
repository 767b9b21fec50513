"""Control groups of a case: one with a weight that leaves neighbours little, and groups with
limits within it. Version 2 where the machine has it, else version 1's controllers."""
import os
import sys
import threading
import time
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "integration" / "support"
sys.path.insert(0, str(SUPPORT))

import control_groups              # noqa: E402  (after the path is set)


class Unavailable(Exception):
    """There can be no such group here; the message says why."""


class Group:
    """parts: {controller: its group} (one group for all of them in version 2)."""

    def __init__(self, parts):
        self.parts = parts

    def places(self):
        return sorted({part.path for part in self.parts.values()})

    def wrapper(self):
        """A command in front of another, which then runs in this group."""
        return control_groups.inside(*set(self.parts.values()))

    def cpu_seconds(self):
        """What its processes have used, those in groups within included."""
        return self.parts["cpuacct"].cpu_ns() / 1e9

    def inner(self, name, *, cpus=None, memory=None):
        """A group within; cpus: how many it may use; memory: how many bytes."""
        group = load({key: (part.path / name, part.version) for key, part in self.parts.items()})
        try:
            for place in group.places():
                place.mkdir(exist_ok=True)
            if cpus is not None:
                group.parts["cpu"].limit_cpus(cpus)
            if memory is not None:
                group.parts["memory"].limit_memory(memory)
            return group
        except OSError as error:
            raise Unavailable(f"no group with such a limit: {error}") from None

    def remove(self):
        """Removes it and the groups in it, once the kernel has reaped their processes."""
        for place in self.places():
            for path in [*(p for p in place.iterdir() if p.is_dir()), place]:
                for _ in range(500):
                    try:
                        path.rmdir()
                        break
                    except OSError:
                        time.sleep(0.01)


def load(parts):
    """The group of {controller: (path, version)}."""
    made = {path: control_groups.Group(Path(path), version) for path, version in parts.values()}
    return Group({name: made[path] for name, (path, _) in parts.items()})


class Others:
    """What the machine's processes that are none of the cases' have used."""

    def __init__(self):
        self.lock, self.groups, self.ended = threading.Lock(), set(), 0.0

    def add(self, group):
        with self.lock:
            self.groups.add(group)

    def remove(self, group):
        """Before the group is."""
        with self.lock:
            self.groups.discard(group)
            self.ended += group.cpu_seconds()

    def cpu_seconds(self):
        first = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        user, nice, system, _, _, irq, softirq = map(int, first[:7])
        with self.lock:
            cases = self.ended + sum(group.cpu_seconds() for group in self.groups)
        return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK") - cases


def make():
    """The group of a case. Its processes are in the group `case` within, as version 2 wants."""
    if os.geteuid() != 0:
        raise Unavailable("needs root: cgroups")
    parts = {}
    try:
        parts["cpu"] = cpu = control_groups.make(*control_groups.CPU)
        if cpu and cpu.version == 2:
            parts["memory"] = parts["cpuacct"] = cpu
            cpu.write("cgroup.subtree_control", "+cpu +memory")
            cpu.write("cpu.weight", 10000)
        elif cpu:
            shared = (cpu.path / "cpuacct.usage").exists()
            parts["cpuacct"] = cpu if shared else control_groups.make(*control_groups.CPU_TIME)
            parts["memory"] = control_groups.make(*control_groups.MEMORY)
            cpu.write("cpu.shares", 200000)
        if not all(parts.values()):
            raise Unavailable("this machine gives no cgroup with CPU and memory")
        # On a hybrid machine version 2's hierarchy has no controllers, but a group's pressure.
        unified = cpu.version == 1 and control_groups.make_unified()
        return Group({**parts, "pressure": unified} if unified else parts)
    except (OSError, Unavailable) as error:
        Group({name: part for name, part in parts.items() if part}).remove()
        raise Unavailable(f"no cgroup: {error}") from None
