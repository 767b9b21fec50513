"""A PHP-FPM master of its own on a Unix socket: `with FPM(children=20) as fpm`.

With settings= (php.py) it has the extension, and its board is in `run`.
"""
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import build
import processes
from processes import wait_until

READY = "ready to handle connections"
CONFIGURATION = """
[global]
pid = {root}/fpm.pid
error_log = {root}/fpm.log
daemonize = no
{master}
[www]
{user}
listen = {root}/fpm.sock
listen.backlog = 4096
listen.mode = 0666
{manager}
pm.max_children = {children}
{pool}
"""


class FPM:
    def __init__(self, children=20, *, settings=None, manager="pm = static", pool="", master="",
                 wrapper=(), daemon=False):
        """settings: name -> value, @ROOT@ in a value is the directory. wrapper: a command
        in front. pool may begin further pools. daemon: as an init script starts it."""
        shm = "/dev/shm"
        self.root = Path(tempfile.mkdtemp(prefix="mpmstat-test-fpm-",
                                          dir=shm if os.access(shm, os.W_OK) else None))
        self.root.chmod(0o755)
        self.socket = self.root / "fpm.sock"
        user = "user = www-data\ngroup = www-data" if os.geteuid() == 0 else ""
        (self.root / "fpm.conf").write_text(CONFIGURATION.format(
            root=self.root, user=user, children=children, manager=manager, master=master,
            pool=pool.replace("@ROOT@", str(self.root))))
        (self.root / "run").mkdir()
        (self.root / "run").chmod(0o777 if os.geteuid() == 0 else 0o755)
        self.arguments = ["--fpm-config", str(self.root / "fpm.conf")]
        for name, value in (settings or {}).items():
            self.arguments += ["-d", f"{name}={value}".replace("@ROOT@", str(self.root))]
        self.reports = self.root / "run" / "sanitizer"
        self.environment = {"PATH": build.PATH}
        if "extension" in (settings or {}):
            self.environment.update(build.php_sanitizer_environment(self.reports))
        self.wrapper = [word.replace("@ROOT@", str(self.root)) for word in wrapper]
        self.daemon = daemon
        self.process = None

    def log_text(self):
        log = self.root / "fpm.log"
        return log.read_text(errors="replace") if log.exists() else ""

    @property
    def pid(self):
        """The master's. A master that reloads writes the file again."""
        file = self.root / "fpm.pid"

        def look():
            try:
                return file.read_text()
            except FileNotFoundError:
                return ""
        return int(wait_until(look, 10, lambda: "FPM to write its pid:\n" + self.log_text()))

    @property
    def board(self):
        found = list((self.root / "run").glob("fpm-fcgi-*.board"))
        assert len(found) == 1, f"expected one board, found {found}:\n" + self.log_text()
        return found[0]

    def workers(self):
        return processes.children(self.pid)

    def script(self, name, text):
        """A PHP file of that text; its path."""
        path = self.root / name
        path.write_text(text)
        return path

    def reload(self):
        """As an init script does; returns when the workers are other ones. A daemon's master is
        another process then."""
        before, master = set(self.workers()), self.pid

        def has_others():
            now = set(self.workers())       # once: all of them may end at any moment
            return now and not before & now and (not self.daemon or self.pid != master)
        os.kill(master, signal.SIGUSR2)
        wait_until(has_others, 30, lambda: "FPM to reload:\n" + self.log_text())

    def stop(self):
        """Lets the master end its workers, which only it can name where a wrapper is in
        front: it has a session of its own then. The files stay until the block is left."""
        if not (self.root / "fpm.pid").exists():
            return
        master = self.pid
        if self.daemon:
            processes.kill(master, signal.SIGTERM)
            wait_until(lambda: not processes.is_alive(master), 30, "FPM's daemon to end")
        elif self.process.poll() is None:
            processes.kill(master, signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                pass

    def __enter__(self):
        return self.start()

    def start(self):
        starts = self.log_text().count(READY)
        self.process = subprocess.Popen(
            [*self.wrapper, build.FPM, "--daemonize" if self.daemon else "--nodaemonize",
             *self.arguments],
            env=self.environment, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_until(lambda: self.log_text().count(READY) > starts, 30,
                       lambda: "FPM to be ready:\n" + self.log_text())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, traceback):
        self.stop()
        processes.end(self.process, str(self.root))
        said = [path.read_text() for path in self.reports.parent.glob(self.reports.name + ".*")]
        shutil.rmtree(self.root, ignore_errors=True)
        assert not said, "\n".join(said)
