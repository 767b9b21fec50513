"""A disk of a test that writes a megabyte in a second, for the processes that are told to:

    with SlowDisk() as disk, FPM(wrapper=disk.wrapper) as fpm:
        disk.slow_down(fpm.pid, *fpm.workers())

It is a file in a loop device, mounted in a mount namespace, which ends with the program; a control
group limits what its processes write.
"""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import control_groups

RATE = 1_000_000
SIZE = 32 << 20
MOUNT = 'mount -o loop "$0/image" "$0/disk" && chmod 777 "$0/disk" && exec "$@"'


class Unavailable(Exception):
    """There can be no such disk here; the message says why."""


class SlowDisk:
    def __init__(self):
        self.directory = self.group = None

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("needs root: loop devices")
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        self.directory = Path(tempfile.mkdtemp(prefix="mpmstat-test-disk-"))
        self.directory.chmod(0o755)
        (self.directory / "disk").mkdir()
        with open(self.directory / "image", "wb") as image:
            image.truncate(SIZE)
        self.wrapper = ["unshare", "--mount", "sh", "-c", MOUNT, str(self.directory)]
        for command in (["mkfs.ext4", "-q", str(self.directory / "image")],
                        [*self.wrapper, "true"]):
            if not shutil.which(command[0]):
                raise Unavailable(f"needs {command[0]}")
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Unavailable(f"{command[0]} failed: {done.stderr}")
        self.group = control_groups.make(*control_groups.DISK)
        if not self.group:
            raise Unavailable("this machine gives no control group that limits a disk")

    def __exit__(self, *_):
        if self.group:
            self.group.remove()
        if self.directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    @property
    def path(self):
        return self.directory / "disk"

    def slow_down(self, *pids):
        """Processes of that namespace."""
        mounts = Path(f"/proc/{pids[0]}/mountinfo").read_text().splitlines()
        device = next(line.split()[2] for line in mounts if line.split()[4] == str(self.path))
        if self.group.version == 1:
            self.group.write("blkio.throttle.write_bps_device", f"{device} {RATE}")
        else:
            self.group.write("io.max", f"{device} wbps={RATE}")
        self.group.take(*pids)
