"""Servers of data that a test starts for itself, on a loopback port and, where they have one, a
socket of their own: `with MariaDB() as server`. No service of the system is touched."""
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import build
import processes
from processes import wait_until


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def newest(pattern):
    return build.newest("/usr/lib/postgresql", pattern)


class DataServer:
    """A directory, a port and a process."""
    user = None         # that the process must run as where the tests are root's

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="mpmstat-test-data-"))
        self.root.chmod(0o755)
        self.port = free_port()
        self.log = self.root / "log"
        self.process = None

    def as_user(self):
        return {"user": self.user, "extra_groups": []} if self.user and os.geteuid() == 0 else {}

    def prepare(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.root,
                              **self.as_user())
        assert done.returncode == 0, done.stdout + done.stderr

    def accepts(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def ready(self):
        return self.accepts()

    def __enter__(self):
        try:
            if self.as_user():
                shutil.chown(self.root, self.user)
            self.make()
            with open(self.log, "w") as log:
                self.process = subprocess.Popen(
                    self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    cwd=self.root, start_new_session=True, **self.as_user())
            wait_until(lambda: self.process.poll() is not None or self.ready(), 60,
                       lambda: "a server to be ready:\n" + self.log.read_text())
            assert self.process.poll() is None, self.log.read_text()
        except BaseException:
            self.__exit__()
            raise
        return self

    def make(self):
        pass

    def __exit__(self, *_):
        if self.process:
            processes.end(self.process, str(self.root))
        shutil.rmtree(self.root, ignore_errors=True)


class MariaDB(DataServer):
    """Everybody may do everything. performance_schema is on."""
    program = "/usr/sbin/mariadbd"
    needs = (program, "/usr/bin/mariadb-install-db")

    @property
    def socket(self):
        return self.root / "mariadb.sock"

    def options(self):
        user = ["--user=root"] if os.geteuid() == 0 else []
        # As it starts, a server removes other servers' files from a directory that they share.
        return ["--no-defaults", f"--datadir={self.root}/data", f"--tmpdir={self.root}", *user]

    def make(self):
        self.prepare("mariadb-install-db", *self.options(), "--skip-test-db",
                     "--auth-root-authentication-method=normal")

    def command(self):
        return [self.program, *self.options(), "--skip-grant-tables", "--bind-address=127.0.0.1",
                f"--port={self.port}", f"--socket={self.socket}", "--performance-schema=ON",
                "--performance-schema-instrument=statement/%=ON",
                "--performance-schema-consumer-events-statements-current=ON",
                "--performance-schema-consumer-events-statements-history-long=ON",
                f"--pid-file={self.root}/pid", "--innodb-buffer-pool-size=16M",
                "--innodb-log-file-size=8M"]

    def ready(self):
        return "ready for connections" in self.log.read_text() and self.accepts()


class PostgreSQL(DataServer):
    program = newest("[0-9]*/bin/postgres")
    needs = (program,)
    user = "postgres"

    def make(self):
        self.prepare(str(Path(self.program).parent / "initdb"), "-D", str(self.root / "data"),
                     "-A", "trust", "-U", "tester", "--no-sync")

    def command(self):
        return [self.program, "-D", str(self.root / "data"), "-p", str(self.port),
                "-k", str(self.root), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off",
                "-c", "lc_messages=C"]

    def ready(self):
        return "ready to accept connections" in self.log.read_text()


class Redis(DataServer):
    program = "/usr/bin/redis-server"
    needs = (program,)

    def command(self):
        return [self.program, "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]


class Memcached(DataServer):
    program = "/usr/bin/memcached"
    needs = (program,)

    def command(self):
        return [self.program, "-l", "127.0.0.1", "-p", str(self.port), "-u", "nobody", "-U", "0"]


def lacks(server):
    """The program of that server that is not here; None."""
    return next((name for name in server.needs if not name or not Path(name).exists()), None)
