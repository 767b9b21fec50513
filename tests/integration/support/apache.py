"""A real Apache with a ServerRoot, port and runtime directory of its own.

    with Apache("event", "AddHandler cgi-script .cgi", modules=["cgid"]) as apache:
        apache.get("/index.html")

Leaving the block stops it, removes everything, and fails where the error log
has a line that nobody expected.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from decimal import Decimal
from pathlib import Path

import build
import clients
import php
import processes
from processes import wait_until

MPMS = ("prefork", "worker", "event")

# Worse than a warning, or a warning of ours, or of a child that died.
BAD_LOG_LINE = re.compile(
    r":(emerg|alert|crit|error)\]|mpmstat:warn\]|AH0005[12]|AddressSanitizer|runtime error:|"
    r"(?i:segfault|segmentation|bus error|corrupt|assertion)")
# What a load that fills a small server writes by itself, and the harness's own requests.
USUAL_LOG_LINE = re.compile(
    r"AH00161|AH0028[678]|AH00484|AH10159|"        # reached MaxRequestWorkers / MinSpareThreads
    r"AH00485|AH03490|"                               # scoreboard full, old generations finishing
    r"AH00045|AH00046|AH03092|"                       # slow to end at a stop; event's lingering
                                                      # closes then find no pollset any more
    # A stopped child's main thread closes a socket that its worker has just closed.
    r"\[pid (\d+):tid \1\] \(9\)Bad file descriptor: AH00468")
READY = "resuming normal operations"
# httpd's own, without the module as well: a child of event that is stopped closes the sockets of
# its workers (close_worker_sockets), and one whose request ends then can touch the freed socket, or
# find it closed.
EVENT_STOP = r"AH00052: child pid \d+ exit signal Segmentation fault|" \
             r"Bad file descriptor: AH03093: process_socket: apr_pollset_add failure"

CONFIGURATION = """
ServerRoot "{root}"
ServerName test.example
DefaultRuntimeDir "{root}/run"
PidFile "{root}/run/apache2.pid"
Mutex "file:{root}/run" default
Listen 127.0.0.1:{port}
{user}
LogLevel {log_level}
ErrorLog "{root}/error.log"
LogFormat "%s %X %D %H %U" outcome
CustomLog "{root}/access.log" outcome
TypesConfig /etc/mime.types
GracefulShutdownTimeout 5
{load_modules}
{limits}
DocumentRoot "{root}/htdocs"
<Directory "{root}/htdocs">
    Require all granted
</Directory>
{php}
{status}
{extra}
"""

STATUS = """
<Location "/mpm-status">
    SetHandler mpm-status
</Location>
"""


def hold_port():
    """A socket that keeps a free loopback port ours: bound, never listening, so
    that a server with SO_REUSEADDR can listen there and nobody else gets it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


def make_root():
    """A fresh directory, on tmpfs where there is one, that www-data can enter."""
    shm = "/dev/shm"
    root = Path(tempfile.mkdtemp(prefix="mpmstat-test-",
                                 dir=shm if os.access(shm, os.W_OK) else None))
    root.chmod(0o755)
    for name in ("run", "htdocs", "cgi"):
        (root / name).mkdir()
    (root / "htdocs" / "index.html").write_text("<h1>hello</h1>\n")
    return root


def lacks(mpm, modules, php):
    """What an Apache of these would need and this httpd does not have."""
    found = [name for name in (f"mpm_{mpm}", *modules)
             if not (build.APACHE_MODULES / f"mod_{name}.so").exists()]
    return found + (["mod_php"] if php == "mod_php" and not build.MOD_PHP else [])


def limits_of(mpm, workers, threads, start):
    """A pool of `workers`; all of them from the start and for ever, unless
    `start` says how many there are at first."""
    lines = [f"MaxRequestWorkers {workers}", "ListenBacklog 511"]
    if mpm == "prefork":
        first = start or workers
        lines += [f"ServerLimit {workers}", f"StartServers {first}",
                  f"MinSpareServers {first}", f"MaxSpareServers {max(workers, first) + 1}"]
    else:
        first = start or workers
        lines = [f"ThreadLimit {threads}", f"ServerLimit {-(-workers // threads)}",
                 f"ThreadsPerChild {threads}", *lines, f"StartServers {-(-first // threads)}",
                 f"MinSpareThreads {first}", f"MaxSpareThreads {workers + threads}"]
    return "\n".join(lines)


class Apache:
    """See above. Attributes worth knowing: root, port, board, pid, log."""

    def __init__(self, mpm, extra="", *, modules=(), php=None, workers=10, threads=None,
                 start=None, limits=None, module=True, status=STATUS, board=None,
                 log_level="notice", environment=None, wrapper=(), fpm=None):
        self.mpm = mpm
        self.root = make_root()
        self.holder = hold_port()
        self.port = self.holder.getsockname()[1]
        self.workers = workers
        self.threads = 1 if mpm == "prefork" else threads or min(workers, 5)
        self.board = Path(board) if board else self.root / "run" / "mpmstat.board"
        self.log = self.root / "error.log"
        self.process = None
        self.wrapper = [word.replace("@ROOT@", str(self.root)) for word in wrapper]
        self.environment = environment or {}
        self.allowed = []
        self.php, self.fpm = php, fpm
        self.module, self.status_block, self.log_level = module, status, log_level
        self.extra = extra.replace("@ROOT@", str(self.root)) + (
            f'\nMPMStatBoard "{board}"' if board and module else "")
        self.modules = list(modules)
        self.limits = limits or limits_of(mpm, workers, self.threads, start)
        self.write_configuration()

    # ---- configuration ------------------------------------------------------

    def load_modules(self):
        # Debian's httpd has these two in itself.
        basic = [n for n in ("unixd", "log_config")
                 if (build.APACHE_MODULES / f"mod_{n}.so").exists()]
        names = [f"mpm_{self.mpm}", *basic, "authz_core", "authz_host", "dir", "mime", "alias",
                 "env"]
        names += [n for n in self.modules if n not in names]
        if self.php == "fpm":
            names += ["proxy", "proxy_fcgi"]
        if "cgid" in names:
            self.extra += f'\nScriptSock "{self.root}/run/cgisock"'
        lines = [f"LoadModule {n}_module {build.APACHE_MODULES}/mod_{n}.so" for n in names]
        if self.php == "mod_php":
            name = "php7_module" if php.version() < (8, 0) else "php_module"
            lines.append(f"LoadModule {name} {build.MOD_PHP}")
        if self.module:
            lines.append(f"LoadModule mpmstat_module {build.MODULE}")
        return "\n".join(lines)

    def php_configuration(self):
        if self.php is None:
            return ""
        handler = ("application/x-httpd-php" if self.php == "mod_php"
                   else f"proxy:unix:{self.fpm.socket}|fcgi://localhost")
        shutil.copytree(build.WORKLOADS, self.root / "htdocs", dirs_exist_ok=True)
        return f'<FilesMatch "\\.php$">\n    SetHandler "{handler}"\n</FilesMatch>'

    def write_configuration(self):
        self.configuration = self.root / "httpd.conf"
        modules = self.load_modules()
        self.configuration.write_text(CONFIGURATION.format(
            root=self.root, port=self.port, load_modules=modules, limits=self.limits,
            user="User www-data\nGroup www-data" if os.geteuid() == 0 else "",
            log_level=self.log_level, php=self.php_configuration(), extra=self.extra,
            status=self.status_block if self.module else ""))

    def page(self, name, content):
        """Puts a file under the document root and returns its URL path. It is as old as a page of
        a site: OPcache does not keep a script that was written less than two seconds ago."""
        data = content if isinstance(content, bytes) else content.encode()
        path = self.root / "htdocs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        an_hour_ago = time.time() - 3600
        os.utime(path, (an_hour_ago, an_hour_ago))
        return "/" + name

    def cgi(self, name, script):
        """Puts a shell script where ScriptAlias /cgi/ finds it."""
        path = self.root / "cgi" / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return "/cgi/" + name

    # ---- start, signals, stop -----------------------------------------------

    def command(self, *arguments):
        program = build.find(build.APACHE)
        assert program, f"there is no {build.APACHE}: install apache2"
        return [program, "-d", str(self.root), "-f", str(self.configuration), *arguments]

    def full_environment(self):
        return {"PATH": build.PATH, "LANG": "C.UTF-8", "TMPDIR": str(self.root / "run"),
                **build.sanitizer_environment(), **self.environment}

    def configtest(self):
        """`apache2 -t`: (exit code, everything it said)."""
        done = subprocess.run(self.command("-t"), env=self.full_environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return done.returncode, done.stdout

    def start(self, timeout=60):
        with open(self.root / "console.log", "ab") as console:
            self.process = subprocess.Popen(
                [*self.wrapper, *self.command("-DFOREGROUND")], env=self.full_environment(),
                cwd="/", stdin=subprocess.DEVNULL, stdout=console, stderr=console,
                start_new_session=True)
        self.wait_ready(1, timeout)
        self.pid = int((self.root / "run" / "apache2.pid").read_text())
        return self

    def everything_said(self):
        return "".join(p.read_text(errors="replace") for p in
                       (self.root / "console.log", self.log) if p.exists())

    def starts(self):
        return self.log_text().count(READY)

    def wait_ready(self, starts, timeout=60):
        def ready():
            assert self.process.poll() is None, "Apache ended:\n" + self.everything_said()
            return self.starts() >= starts
        wait_until(ready, timeout, lambda: "Apache to be ready:\n" + self.everything_said())

    def restart(self, signum=signal.SIGUSR1, wait=True):
        """Graceful by default; SIGHUP for a hard one."""
        before = self.starts()
        os.kill(self.pid, signum)
        if wait:
            self.wait_ready(before + 1)

    def children(self):
        """Pids of the parent's children, mod_cgid's daemon among them."""
        return processes.children(self.pid)

    def stop(self):
        """Stops it; the files stay. Returns a complaint or None."""
        if self.process is None:
            return None
        known = len(self.log_lines(EVENT_STOP))
        if self.process.poll() is None and self.wrapper:
            processes.kill(self.pid, signal.SIGTERM)      # not the wrapper: it follows
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                pass
        complaint = processes.end(self.process, str(self.root))
        self.process = None
        if self.mpm == "event":
            for line in self.log_lines(EVENT_STOP)[known:]:
                self.allow(re.escape(line))
        return complaint

    def remove(self):
        self.holder.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self):
        if self.php == "fpm" and self.fpm is None:
            raise ValueError("php='fpm' wants fpm=FPM(...)")
        try:
            return self.start()
        except BaseException:
            self.stop()
            self.remove()
            raise

    def __exit__(self, kind, error, traceback):
        complaint = self.stop()
        bad = self.bad_lines()
        self.remove()
        if kind is None:
            assert not complaint, complaint
            assert not bad, "unexpected in the error log:\n" + "\n".join(bad)

    # ---- the error log ------------------------------------------------------

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def log_lines(self, pattern):
        return [line for line in self.log_text().splitlines() if re.search(pattern, line)]

    def allow(self, pattern):
        """The test expects such lines in the error log."""
        self.allowed.append(re.compile(pattern))

    def bad_lines(self):
        return [line for line in self.everything_said().splitlines()
                if BAD_LOG_LINE.search(line) and not USUAL_LOG_LINE.search(line)
                and not any(a.search(line) for a in self.allowed)]

    # ---- requests and what the module says ----------------------------------

    def connect(self, **options):
        return clients.Connection(self.port, **options)

    def get(self, path="/", **options):
        return clients.get(self.port, path, **options)

    def status(self):
        """This server's board as JSON from the URL."""
        boards = json.loads(self.get("/mpm-status?format=json").text(),
                            parse_float=Decimal)["boards"]
        return next(b for b in boards if b["producer"] == "apache")

    def journal(self, since="start"):
        """(request records, lifecycle records, trailer) from the URL, complete."""
        requests, lifecycle, cursor, lost = [], [], since, 0
        while True:
            text = self.get(f"/mpm-status?format=journal&since={cursor}&limit=20000").text()
            *records, trailer = [json.loads(line, parse_float=Decimal)
                                 for line in text.splitlines()]
            requests += [r for r in records if "event" not in r and "delivery" not in r]
            lifecycle += [r for r in records if "event" in r]
            cursor, lost = trailer["next"], lost + trailer["lost"]
            if not trailer["more"]:
                return requests, lifecycle, {**trailer, "lost": lost}

    def deliveries(self):
        """The journal's records of what the kernel delivered late, by the request's id."""
        lines = self.get("/mpm-status?format=journal&since=start&limit=20000").text().splitlines()
        records = [json.loads(line, parse_float=Decimal) for line in lines]
        return {r["delivery"]: r for r in records if "delivery" in r}

    def access_log(self):
        """(status, connection's end, path) of every request that Apache logged."""
        rows = [line.split(" ", 4) for line in
                (self.root / "access.log").read_text(errors="replace").splitlines()]
        return [(row[0], row[1], row[4] if len(row) > 4 else "") for row in rows]


class OneProcess(Apache):
    """httpd -X: one process, which is the one that the wrapper runs."""

    def command(self, *arguments):
        return super().command("-X", *(a for a in arguments if a != "-DFOREGROUND"))

    def wait_ready(self, starts, timeout=60):
        """With -X httpd does not log that it is ready."""
        def answers():
            assert self.process.poll() is None, "Apache ended:\n" + self.everything_said()
            try:
                return self.get("/").status == 200
            except (OSError, clients.NoAnswer):
                return False
        wait_until(answers, timeout, lambda: "Apache to answer:\n" + self.everything_said())

    def finish(self, timeout=120):
        """Ends it and waits, so that its wrapper says what it found."""
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait(timeout)


UNRECORDED = "serving without recording"


def assert_serves_unrecorded(apache, *reasons):
    """It serves, says why it does not record exactly once, and the page says so too."""
    apache.allow(UNRECORDED)
    for _ in range(20):
        assert apache.get("/").status == 200
    page = apache.get("/mpm-status")
    assert page.status == 503 and "nothing is recorded" in page.text(), page
    lines = apache.log_lines(UNRECORDED)
    assert len(lines) == 1, f"{len(lines)} lines: {lines}"
    assert all(reason in lines[0] for reason in reasons), lines[0]
    assert apache.board.parent.name != "run" or not list(apache.board.parent.glob("*.board.*"))
