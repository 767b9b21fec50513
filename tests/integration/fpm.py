"""A PHP-FPM master of its own on a Unix socket: `with FPM(children=20) as fpm`."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import build
import processes
from processes import wait_until

CONFIGURATION = """
[global]
pid = {root}/fpm.pid
error_log = {root}/fpm.log
daemonize = no
[www]
{user}
listen = {root}/fpm.sock
listen.backlog = 4096
listen.mode = 0666
pm = static
pm.max_children = {children}
"""


class FPM:
    def __init__(self, children=20):
        shm = "/dev/shm"
        self.root = Path(tempfile.mkdtemp(prefix="mpmstat-test-fpm-",
                                          dir=shm if os.access(shm, os.W_OK) else None))
        self.root.chmod(0o755)
        self.socket = self.root / "fpm.sock"
        user = "user = www-data\ngroup = www-data" if os.geteuid() == 0 else ""
        (self.root / "fpm.conf").write_text(CONFIGURATION.format(
            root=self.root, user=user, children=children))
        self.process = None

    def log_text(self):
        log = self.root / "fpm.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def __enter__(self):
        self.process = subprocess.Popen(
            [build.FPM, "--nodaemonize", "--fpm-config", str(self.root / "fpm.conf")],
            env={"PATH": build.PATH}, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_until(lambda: "ready to handle connections" in self.log_text(), 30,
                       lambda: "FPM to be ready:\n" + self.log_text())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, traceback):
        processes.end(self.process, str(self.root))
        shutil.rmtree(self.root, ignore_errors=True)
