"""The pages of check-model's servers, the service that they ask, and the cases."""
import subprocess
import sys

BURN = """function burn($ms) { $end = hrtime(true); $t = getrusage();
    $from = $t['ru_utime.tv_sec'] * 1e3 + $t['ru_utime.tv_usec'] / 1e3;
    do { for ($i = 0; $i < 2000; $i++) { $x = sqrt($i); } $t = getrusage();
    } while ($t['ru_utime.tv_sec'] * 1e3 + $t['ru_utime.tv_usec'] / 1e3 - $from < $ms); }
"""
TEXTS = {
    # 3 ms of computing, and 20 ms of waiting, exponential.
    "mixed.php": "<?php " + BURN + """
burn(3); usleep((int)(-20000 * log(1 - mt_rand(0, 999999) / 1e6))); echo 'done';""",
    # Computes 10 ms.
    "computes.php": "<?php " + BURN + "burn(10); echo 'done';",
    # Two kinds of requests: 80 % quick ones, 20 % that wait long.
    "two.php": "<?php " + BURN + """
if (mt_rand(1, 5) == 1) { burn(5); usleep(100000); } else { burn(1); usleep(5000); } echo 'done';""",
    # Asks a service that takes 15 ms.
    "asks.php": "<?php " + BURN + """
burn(2); echo file_get_contents('http://127.0.0.1:SERVICE/');""",
    # All requests hold one lock for 8 ms, and wait 20 ms without it.
    "locks.php": "<?php " + BURN + """
$f = fopen('/dev/shm/mpmstat-model-lock', 'c'); flock($f, LOCK_EX); usleep(8000);
flock($f, LOCK_UN); fclose($f); usleep(20000); echo 'done';""",
    "static.html": "x" * 20000,
}
SERVICE_SECONDS = 0.015


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
    """An HTTP server that answers after 15 ms, times `times`; a process of its own."""

    def __init__(self, times):
        self.seconds = SERVICE_SECONDS * times

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", SERVICE, str(self.seconds)],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def CASES(Server, Case):
    fpm = Server()
    prefork = Server(mpm="prefork", php="mod_php", workers=8, clients=24)
    two = Server(page="two.php", children=6, clients=24)
    asks = Server(page="asks.php", children=4, clients=16)
    computes = Server(page="computes.php", children=8, clients=4)
    locks = Server(page="locks.php", children=4, clients=16)
    keep = Server(mpm="prefork", php="mod_php", workers=10, clients=20, keep_alive=True)
    static = Server(page="static.html", clients=4)

    def children(n):
        return ["--set", f"pm.max_children={n}"], {"children": n}

    def workers(n):
        return ["--set", f"MaxRequestWorkers={n}"], {"workers": n}

    def clients(n):
        return ["--clients", str(n)], {"clients": n}

    def both(*parts):
        options, changes = [], {}
        for o, c in parts:
            options += o
            changes |= c
        return options, changes

    def case(name, server, part):
        return Case(name, server, *part)
    return [
        case("fpm-10-children", fpm, children(10)),
        case("fpm-20-children", fpm, children(20)),
        case("fpm-3-children", fpm, children(3)),
        case("fpm-half-the-clients", fpm, clients(10)),
        case("fpm-double-clients", fpm, clients(40)),
        case("fpm-few-clients", fpm, clients(3)),
        case("fpm-more-of-both", fpm, both(children(15), clients(40))),
        case("prefork-16-workers", prefork, workers(16)),
        case("prefork-24-workers", prefork, workers(24)),
        case("prefork-4-workers", prefork, workers(4)),
        case("prefork-half-the-clients", prefork, clients(12)),
        case("two-kinds-12-children", two, children(12)),
        case("two-kinds-24-children", two, children(24)),
        case("two-kinds-double-clients", two, clients(48)),
        case("service-12-children", asks, children(12)),
        case("service-half-the-time", asks, (["--end", "http=x0.5"], {"end": 0.5})),
        case("service-double-time", asks, (["--end", "http=x2"], {"end": 2.0})),
        case("service-more-of-both", asks, both(children(16), clients(32))),
        case("cpu-double-clients", computes, clients(8)),
        case("cpu-one-client", computes, clients(1)),
        case("cpu-16-clients-3-children", computes, both(clients(16), children(3))),
        case("lock-8-children", locks, children(8)),
        case("lock-16-children", locks, children(16)),
        case("lock-2-children", locks, children(2)),
        case("keepalive-20-workers", keep, workers(20)),
        case("keepalive-off", keep, (["--set", "KeepAlive=Off"], {"keep_alive": False})),
        case("static-double-clients", static, clients(8)),
        case("static-one-client", static, clients(1)),
    ]
