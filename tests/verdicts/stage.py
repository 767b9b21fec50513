"""What a planted fault is staged with: servers, pages, loads and limits of one case.

A case runs in namespaces of its own (check.py makes them), so ports, /etc/resolv.conf, the
loopback device and the process ids are its own. Everything here lives until the case ends.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1] / "integration" / "support"
sys.path.insert(0, str(SUPPORT))

import build                       # noqa: E402  (after the path is set)
import fcgid                       # noqa: E402
import network                     # noqa: E402
import pages                       # noqa: E402
import php                         # noqa: E402
import slow_services               # noqa: E402
import tls                         # noqa: E402
import tool                        # noqa: E402
from apache import Apache          # noqa: E402
from data_servers import MariaDB, lacks  # noqa: E402
from fpm import FPM                # noqa: E402
from nginx import Nginx            # noqa: E402
from processes import wait_until   # noqa: E402

# mods-available/mpm_*.conf and ports.conf of Debian 12's package apache2. The package is not
# installed where the tests run, as it would start a server.
DEBIAN = {
    "prefork": "StartServers 5\nMinSpareServers 5\nMaxSpareServers 10\nMaxRequestWorkers 150\n"
               "MaxConnectionsPerChild 0",
    "worker": "StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\n"
              "ThreadsPerChild 25\nMaxRequestWorkers 150\nMaxConnectionsPerChild 0",
    "event": "StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\n"
             "ThreadsPerChild 25\nMaxRequestWorkers 150\nMaxConnectionsPerChild 0"}
DEBIAN_CORE = "Timeout 300\nKeepAlive On\nMaxKeepAliveRequests 100\nKeepAliveTimeout 5\n"
# pool.d/www.conf of Debian 12's package php8.2-fpm.
DEBIAN_POOL = ("pm = dynamic\npm.start_servers = 2\npm.min_spare_servers = 1\n"
               "pm.max_spare_servers = 3")
DEBIAN_CHILDREN = 5


class NotRun(Exception):
    """The case cannot be staged on this machine; the message says why."""


class Stage:
    def __init__(self, group, templates, explains=False):
        """group: the case's cgroup directories (groups.py). templates: a directory in which a
        database's initial files are kept from one case to the next. explains: each recorded load
        is explained from the journals, too."""
        self.group, self.templates, self.explains = group, templates, explains
        self.stack = ExitStack()
        self.scratch = Path(tempfile.mkdtemp(prefix="mpmstat-verdict-"))
        self.scratch.chmod(0o755)
        self.targets, self.apaches = [], []
        self.archive = self.scratch / "run.db"
        self.host = "127.0.0.1"
        self.threads = []

    def again(self):
        """A new stage of the same case, for a second run; the case's own stage ends it."""
        other = Stage(self.group, self.templates)
        self.stack.callback(shutil.rmtree, other.scratch, ignore_errors=True)
        self.stack.callback(other.close)
        return other

    # ---- servers -----------------------------------------------------------------------

    def apache(self, mpm="event", extra="", *, stock=False, fpm=None, mod_php=False, record=True,
               modules=(), address=None, children_in=None, **options):
        """An Apache. stock: with the limits of Debian's package. fpm: what runs its PHP."""
        modules = list(modules)
        if stock:
            options["limits"] = DEBIAN[mpm]
            extra = DEBIAN_CORE + extra
            modules += ["reqtimeout", "setenvif", "negotiation", "deflate", "filter"]
        if fpm is not None:
            modules += ["proxy", "proxy_fcgi"]
            handler = f"proxy:{address}" if address else f"proxy:unix:{fpm.socket}|fcgi://localhost"
            extra = f'<FilesMatch "\\.php$">\n SetHandler "{handler}"\n</FilesMatch>\n' + extra
        if mod_php:
            if mpm != "prefork" or not build.MOD_PHP:
                raise NotRun("there is no mod_php")
            self.boards()
            extra = f'PHPINIDir "{self.scratch}"\n' + extra
        if children_in:
            options["wrapper"] = children_in.wrapper()
        apache = Apache(mpm, extra, modules=modules, php="mod_php" if mod_php else None, **options)
        self.stack.callback(apache.remove)
        apache.start()
        self.stack.callback(apache.stop)
        self.apaches.append(apache)
        if record:
            self.targets.append(apache)
            if mod_php:
                self.targets.append(php.board(self.scratch / "boards", "apache2handler"))
        return apache

    def boards(self):
        """A directory for PHP's boards outside of FPM, and a php.ini that names it."""
        boards = self.scratch / "boards"
        boards.mkdir(exist_ok=True)
        boards.chmod(0o777)
        php.write_ini(self.scratch, php.settings(boards))
        return boards

    def php_cgi(self, lines, page, *modules):
        """An Apache whose PHP is php-cgi, and the path of the page, which was asked for: the first
        request makes the board. {ini}: in the lines, the php.ini's directory."""
        if php.CGI is None or not fcgid.FCGID.exists():
            raise NotRun("there is no php-cgi or no mod_fcgid")
        boards = self.boards()
        apache = self.apache("prefork", lines.format(ini=self.scratch), modules=modules)
        path = apache.page("page.php", page)
        apache.get(path, timeout=20)
        self.targets.append(php.board(boards, "cgi-fcgi"))
        return path

    def fpm(self, children=DEBIAN_CHILDREN, manager=DEBIAN_POOL, *, children_in=None, record=True,
            settings=None, **options):
        """A master with the extension; as Debian's package sets it up unless the case says."""
        if php.why_not_fpm():
            raise NotRun(php.why_not_fpm())
        given = {**php.settings("@ROOT@/run"), **(settings or {})}
        if children_in:
            options["wrapper"] = children_in.wrapper()
        master = self.stack.enter_context(FPM(children, manager=manager, settings=given, **options))
        if record:
            self.targets.append(master)
        return master

    def nginx(self, fpm):
        if not build.find("nginx"):
            raise NotRun("there is no nginx")
        return self.stack.enter_context(Nginx(fpm))

    def stock_php(self, mpm="event", extra="", **options):
        """Apache in front of FPM, both as Debian's packages set them up."""
        fpm = self.fpm(**options)
        return self.apache(mpm, extra, stock=True, fpm=fpm), fpm

    def roomy_php(self, children=40, extra="", mpm="event", **options):
        """Apache in front of FPM, with workers for every load of these cases."""
        fpm = self.fpm(children, "pm = static", **options)
        return self.apache(mpm, extra, stock=True, fpm=fpm), fpm

    def redis(self):
        if lacks(slow_services.SleepyRedis):
            raise NotRun("there is no Redis")
        return self.stack.enter_context(slow_services.SleepyRedis())

    def mariadb(self):
        if lacks(MariaDB):
            raise NotRun(f"there is no {lacks(MariaDB)}")
        return self.stack.enter_context(slow_services.KeptMariaDB(self.templates))

    def backend(self, seconds, serial=False):
        return self.stack.enter_context(slow_services.Backend(seconds, serial))

    def slow_names(self, seconds):
        """A name server for all of the case that takes so long; nothing is in /etc/hosts."""
        server = self.stack.enter_context(slow_services.NameServer(seconds))
        for name, text in (("resolv.conf", "nameserver 127.0.0.1\n"), ("hosts", ""),
                           ("nsswitch.conf", "hosts: files dns\n")):
            path = self.scratch / name
            path.write_text(text)
            subprocess.run(["mount", "--bind", path, f"/etc/{name}"], check=True)
        return server

    def narrow(self, bytes_per_second):
        """A slow link; Apaches that are started from then on are behind it."""
        link = network.Narrow(bytes_per_second)
        self.stack.enter_context(link)
        return link

    def certificate(self, bits=2048):
        """Directives for a server with a key of RSA, whose signatures take a while."""
        tls.make_certificate(self.scratch)
        subprocess.run(["openssl", "req", "-x509", "-newkey", f"rsa:{bits}", "-nodes", "-days", "2",
                        "-subj", "/CN=test.example", "-keyout", self.scratch / "server.key",
                        "-out", self.scratch / "server.crt"], check=True, capture_output=True)
        return (f'SSLEngine On\nSSLCertificateFile "{self.scratch}/server.crt"\n'
                f'SSLCertificateKeyFile "{self.scratch}/server.key"\n')

    # ---- pages -------------------------------------------------------------------------

    def script(self, name, text):
        """A file of the case that every user may read; its path."""
        path = self.scratch / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def place(self, name):
        """A directory of the case in which every user may write; its path."""
        path = self.scratch / name
        path.mkdir()
        path.chmod(0o777)
        return path

    def file_system(self, size):
        """A file system of so many bytes that only this case has; its directory, in which every
        user may write."""
        image, place = self.scratch / "image", self.place("disk")
        with open(image, "wb") as file:
            file.truncate(size)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        if subprocess.run(["mount", "-o", "loop", image, place], check=False).returncode:
            raise NotRun("this machine has no loop devices")
        self.stack.callback(subprocess.run, ["umount", place], check=True)
        place.chmod(0o777)
        return place

    def is_in_memory(self):
        """Whether the case's files are on no disk."""
        return subprocess.run(["stat", "-f", "-c", "%T", self.scratch], capture_output=True,
                              text=True, check=True).stdout.strip() in ("tmpfs", "ramfs")

    @staticmethod
    def workloads(apache):
        shutil.copytree(build.WORKLOADS, apache.root / "htdocs", dirs_exist_ok=True)

    # ---- others ------------------------------------------------------------------------

    def program(self, *words, group=None, **options):
        """A program that runs until the case ends."""
        wrapper = group.wrapper() if group else []
        started = subprocess.Popen([*wrapper, *map(str, words)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.stack.callback(started.wait)
        self.stack.callback(started.kill)
        return started

    @staticmethod
    def in_flight(apache, requests):
        """Waits until so many requests are in flight."""
        wait_until(lambda: tool.status(apache.board)["workers"]["busy"] >= requests, 20,
                   f"{requests} requests in flight")

    def after(self, requests, action, apache=None):
        """Does it in a thread once Apache has logged so many requests."""
        log = (apache or self.apaches[0]).root / "access.log"

        def wait():
            wait_until(lambda: log.exists() and log.read_bytes().count(b"\n") >= requests, 30,
                       f"{requests} requests")
            action()
        self.at_once(wait)

    @staticmethod
    def pause(seconds):
        """A moment that is part of a plant, never of a judgement."""
        time.sleep(seconds)

    def hypervisor(self, processes):
        """Takes CPU time away, as for another virtual machine: processes compute, and what they
        take is stolen time in /proc/stat instead of user time."""
        group = self.group.inner("stolen")
        real = self.stack.enter_context(open("/proc/stat"))
        told = os.open(self.script("stat", ""), os.O_WRONLY)
        self.stack.callback(os.close, told)

        def tell():
            real.seek(0)
            line, rest = real.read().split("\n", 1)
            fields = [int(field) for field in line.split()[1:]]
            taken = min(int(group.cpu_seconds() * os.sysconf("SC_CLK_TCK")), fields[0])
            fields[0] -= taken
            fields[7] += taken
            text = f"cpu  {' '.join(map(str, fields))}\n{rest}"
            os.pwrite(told, text.ljust(65000, "\n").encode(), 0)   # of one length: never cut short

        tell()
        subprocess.run(["mount", "--bind", self.scratch / "stat", "/proc/stat"], check=True)
        for _ in range(processes):
            self.program(self.php_cli(), "-r", pages.BURNER, group=group)
        ended = threading.Event()

        def go_on():
            while not ended.wait(0.02):
                tell()
        teller = threading.Thread(target=go_on, daemon=True)
        teller.start()
        self.stack.callback(teller.join)
        self.stack.callback(ended.set)

    @staticmethod
    def php_cli():
        if not php.CLI:
            raise NotRun("there is no php")
        return php.CLI

    def at_once(self, action):
        thread = threading.Thread(target=action, daemon=True)
        thread.start()
        self.threads.append(thread)

    # ---- loads -------------------------------------------------------------------------

    def url(self, path, scheme="http", port=None):
        return f"{scheme}://{self.host}:{port or self.apaches[0].port}{path}"

    @staticmethod
    def tool(name):
        found = build.find(name)
        if not found:
            raise NotRun(f"there is no {name}")
        return found

    def ab(self, path, c, n, *options, **url):
        """ab ends after n requests: what it takes is the case's."""
        return [self.tool("ab"), "-q", "-l", "-s", "20", "-c", c, "-n", n, *options,
                self.url(path, **url)]

    def wrk(self, path, c, seconds=3, *options, **url):
        return [self.tool("wrk"), "-t1", f"-c{c}", f"-d{seconds}s", *options, self.url(path, **url)]

    def hey(self, path, c, *options, seconds=3, rate=None, **url):
        """rate: requests in a second of each of its c clients."""
        pace = ["-q", rate] if rate else []
        return [self.tool("hey"), "-c", c, "-z", f"{seconds}s", *pace, *options,
                self.url(path, **url)]

    def siege(self, path, c, rounds):
        return [self.tool("siege"), "-b", "-c", c, "-r", rounds, self.url(path)]

    def h2load(self, path, c, m, n, **url):
        return [self.tool("h2load"), "-c", c, "-m", m, "-n", n, self.url(path, **url)]

    def k6(self, path, vus, seconds=3):
        script = self.script("load.js", "import http from 'k6/http';\n"
                             f"export default function () {{ http.get('{self.url(path)}'); }}\n")
        return [self.tool("k6"), "run", "-q", "--vus", vus, "--duration", f"{seconds}s", script]

    def python(self, text, *words):
        return ["/usr/bin/python3", self.script("load.py", text), *words]

    # ---- the recording -------------------------------------------------------------------

    def record(self, *words, targets=None, inside=(), archive=None):
        """Records the load; returns what `mpmstat report --format json` says of the run."""
        archive = archive or self.archive
        named = [w for target in targets or self.targets
                 for w in ("-t", getattr(target, "board", target))]
        done = subprocess.run(
            [str(w) for w in (*inside, build.TOOL, "record", "-o", archive, *named,
                              "--timeout", "25", "--format", "json", "--", *words)],
            text=True, capture_output=True, timeout=60, check=False)
        if not done.stdout:
            raise RuntimeError(f"mpmstat record ended with {done.returncode}: {done.stderr}")
        said = subprocess.run([build.TOOL, "report", "--format", "json", archive], text=True,
                              capture_output=True, timeout=30, check=False)
        if said.returncode:
            raise RuntimeError(f"mpmstat report ended with {said.returncode}: {said.stderr}")
        return {**json.loads(said.stdout)[-1], "logs": self.logs(),
                "explained": self.explained(named[1::2]) if self.explains else None}

    @staticmethod
    def explained(targets):
        """What `mpmstat explain` finds in the journals of the last seconds."""
        done = subprocess.run([str(w) for w in (build.TOOL, "explain", "--format", "json", "--last",
                                                "20s", *targets)],
                              text=True, capture_output=True, timeout=60, check=False)
        past = json.loads(done.stdout)["past"] if done.stdout else None
        return past["findings"] if past else []

    def logs(self):
        """What the servers complained of: evidence that the fault happened."""
        ends = Counter(row[:2] for apache in self.apaches for row in apache.access_log())
        return [f"access log, status and connection's end: {dict(ends)}"] + [
            line for apache in self.apaches for line in apache.everything_said().splitlines()
            if "notice]" not in line][:8]

    def close(self):
        for thread in self.threads:
            thread.join(5)
        self.stack.close()
