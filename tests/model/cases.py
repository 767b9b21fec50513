"""The cases of check-model: servers with their loads and pages, and what is changed of them."""
import subprocess
import sys
from dataclasses import dataclass, field

from data_servers import MariaDB

BURN = """function burn($ms) { $t = getrusage();
    $from = $t['ru_utime.tv_sec'] * 1e3 + $t['ru_utime.tv_usec'] / 1e3;
    do { for ($i = 0; $i < 2000; $i++) { $x = sqrt($i); } $t = getrusage();
    } while ($t['ru_utime.tv_sec'] * 1e3 + $t['ru_utime.tv_usec'] / 1e3 - $from < $ms); }
"""
PAGES = {
    # 3 ms of computing, and 20 ms of waiting, exponential.
    "mixed.php": "<?php " + BURN + """
burn(3); usleep((int)(-20000 * log(1 - mt_rand(0, 999999) / 1e6))); echo 'done';""",
    # Computes 10 ms.
    "computes.php": "<?php " + BURN + "burn(10); echo 'done';",
    # Two kinds of requests: 80 % quick ones, 20 % that wait long.
    "two.php": "<?php " + BURN + """
if (mt_rand(1, 5) == 1) { burn(5); usleep(100000); } else { burn(1); usleep(5000); } echo 'done';""",
    # Asks a service that takes 30 ms.
    "asks.php": "<?php " + BURN + """
burn(2); echo file_get_contents('http://127.0.0.1:SERVICE/');""",
    # Asks a database, by a connection that the worker keeps: the query takes 30 ms.
    "database.php": "<?php " + BURN + """
burn(2); $db = mysqli_connect('p:127.0.0.1', 'root', '', '', SERVICE);
echo $db->query('SELECT SLEEP(SECONDS)')->fetch_row()[0];""",
    # All requests hold one lock for 8 ms, and wait up to 40 ms without it.
    "locks.php": "<?php " + BURN + """
$f = fopen('SCRATCH/lock', 'c'); flock($f, LOCK_EX); usleep(8000);
flock($f, LOCK_UN); fclose($f); usleep(mt_rand(0, 40000)); echo 'done';""",
    "static.html": "x" * 20000,
}
SERVICE_SECONDS = 0.03
# Computes 5 ms in a process of Apache's own, without PHP; there are more processes than clients.
WSGI = """import time
def application(environ, start_response):
    until = time.process_time() + 0.005
    while time.process_time() < until:
        pass
    start_response("200 OK", [("Content-Length", "4")])
    return [b"done"]
"""
WSGI_LINES = """
WSGISocketPrefix @ROOT@/run/wsgi
WSGIRestrictEmbedded On
WSGIApplicationGroup %{GLOBAL}
WSGIDaemonProcess computes processes=16 threads=1
WSGIProcessGroup computes
WSGIScriptAlias /wsgi "@ROOT@/htdocs/application.wsgi"
"""


SERVICE = """
import asyncio, sys
async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    await asyncio.sleep(float(sys.argv[1]))
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
    await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


class Service:
    """An HTTP server that answers after some seconds; a process of its own."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", SERVICE, str(self.seconds)],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


STATIC = "pm = static"
DYNAMIC = """pm = dynamic
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3"""


@dataclass
class Server:
    """A server with its load. workers: MaxRequestWorkers; children: pm.max_children; end: so many
    times what the service takes; cpus: how many it has with its load tool, 0: all."""
    mpm: str = "event"
    php: str = "fpm"
    workers: int = 150
    children: int = 5
    manager: str = STATIC
    page: str = "mixed.php"
    clients: int = 20
    keep_alive: bool = False
    seconds: int = 8
    end: float = 1.0
    cpus: int = 0

    def on_cpus(self):
        return ["taskset", "-c", ",".join(map(str, range(self.cpus)))] if self.cpus else []

    def end_seconds(self):
        return SERVICE_SECONDS * self.end

    def what_it_asks(self):
        """The server that the page asks, to be started."""
        return MariaDB() if self.page == "database.php" else Service(self.end_seconds())

    def load(self, url):
        return ["ab", "-q", "-l", "-t", str(self.seconds), "-n", "1000000", "-c", str(self.clients),
                *(["-k"] if self.keep_alive else []), url]


@dataclass
class Case:
    name: str
    server: Server
    options: list
    changes: dict = field(default_factory=dict)


def case(name, server, *changes):
    options = [word for change in changes for word in change[0]]
    return Case(name, server, options, {k: v for change in changes for k, v in change[1].items()})


def children(n):
    return ["--set", f"pm.max_children={n}"], {"children": n}


def workers(n):
    return ["--set", f"MaxRequestWorkers={n}"], {"workers": n}


def clients(n):
    return ["--clients", str(n)], {"clients": n}


def service(times):
    return ["--end", f"http=x{times}"], {"end": times}


def database(times):
    return ["--end", f"database=x{times}"], {"end": times}


def cpus(n):
    return ["--cpus", str(n)], {"cpus": n}


FPM = Server()
MOD_PHP = Server(mpm="prefork", php="mod_php", workers=8, clients=24)
TWO = Server(page="two.php", children=6, clients=24)
ASKS = Server(page="asks.php", children=4, clients=16)
DATABASE = Server(page="database.php", children=6, clients=18)
COMPUTES = Server(page="computes.php", children=8, clients=4)
LOCKS = Server(page="locks.php", children=4, clients=16)
KEPT = Server(mpm="prefork", php="mod_php", workers=10, clients=20, keep_alive=True)
KEPT_FPM = Server(mpm="prefork", workers=10, children=20, clients=20, keep_alive=True)
STOCK = Server(manager=DYNAMIC)
FILES = Server(page="static.html", clients=4)
PYTHON = Server(php="wsgi", page="wsgi", clients=1)
CASES = [
    case("FPM: 10 children", FPM, children(10)),
    case("FPM: 20 children", FPM, children(20)),
    case("FPM: 3 children", FPM, children(3)),
    case("FPM: half the clients", FPM, clients(10)),
    case("FPM: double clients", FPM, clients(40)),
    case("FPM: 3 clients", FPM, clients(3)),
    case("FPM: 15 children, double clients", FPM, children(15), clients(40)),
    case("FPM: one CPU", FPM, cpus(1)),
    case("mod_php: 16 workers", MOD_PHP, workers(16)),
    case("mod_php: 24 workers", MOD_PHP, workers(24)),
    case("mod_php: 4 workers", MOD_PHP, workers(4)),
    case("mod_php: half the clients", MOD_PHP, clients(12)),
    case("mixed pages: 12 children", TWO, children(12)),
    case("mixed pages: 24 children", TWO, children(24)),
    case("mixed pages: double clients", TWO, clients(48)),
    case("service: 12 children", ASKS, children(12)),
    case("service: half the time", ASKS, service(0.5)),
    case("service: double time", ASKS, service(2)),
    case("service: 16 children, double clients", ASKS, children(16), clients(32)),
    case("database: 12 children", DATABASE, children(12)),
    case("database: half the time", DATABASE, database(0.5)),
    case("database: double time", DATABASE, database(2)),
    case("database: half the clients, 3 children", DATABASE, clients(9), children(3)),
    case("CPU: double clients", COMPUTES, clients(8)),
    case("CPU: one client", COMPUTES, clients(1)),
    case("CPU: 16 clients, 3 children", COMPUTES, clients(16), children(3)),
    case("CPU: one CPU", COMPUTES, cpus(1)),
    case("lock: 8 children", LOCKS, children(8)),
    case("lock: 16 children", LOCKS, children(16)),
    case("lock: 2 children", LOCKS, children(2)),
    case("kept connections: 20 workers", KEPT, workers(20)),
    case("kept connections: KeepAlive Off", KEPT,
         (["--set", "KeepAlive=Off"], {"keep_alive": False})),
    case("kept connections: event for prefork", KEPT_FPM,
         (["--set", "mpm=event"], {"mpm": "event"})),
    case("pm = dynamic: 10 children", STOCK, children(10)),
    case("pm = dynamic: double clients", STOCK, clients(40)),
    case("files: double clients", FILES, clients(8)),
    case("files: one client", FILES, clients(1)),
    case("WSGI: two clients", PYTHON, clients(2)),
    case("WSGI: eight clients", PYTHON, clients(8)),
    case("WSGI: eight clients, one CPU", PYTHON, clients(8), cpus(1)),
]
