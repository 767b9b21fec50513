"""Servers without the fault that they look like: what a finding could say falsely of them."""
import signal

import pages
from cases_around import BUSY
from judge import case


@case("nothing application-cpu", maybe="application-cpu tail", never="cpu php-workers")
def healthy_at_half_of_the_cpus(stage):
    apache, _ = stage.roomy_php(40)
    apache.page("burn.php", pages.burn(5))
    return stage.record(*stage.hey("/burn.php", 4, rate=45))


@case("too-short sleep")
def ten_requests(stage):
    apache, _ = stage.stock_php()
    return stage.record(*stage.ab(apache.page("nap.php", pages.NAP), 1, 10))


@case("sleep generator client-beyond-server", also="sleep", within=2, never="php-workers")
def busy_client_of_a_slow_page(stage):
    """Half of its time the client computes, and the server is idle; then it waits for a page."""
    apache, _ = stage.stock_php()
    apache.page("nap.php", pages.nap(20))
    return stage.record(*stage.python(pages.BUSY_CLIENT, stage.url("/nap.php")))


@case("answers-5xx")
def errors_of_one_host(stage):
    """One request in four is for a host that is broken."""
    hosts = "".join(f"<VirtualHost *>\nServerName {name}.example\n{rest}</VirtualHost>\n"
                    for name, rest in (("good", 'DocumentRoot "@ROOT@/htdocs"\n'),
                                       ("broken", "Redirect 503 /\n")))
    stage.apache("event", hosts, stock=True)
    broken = stage.hey("/index.html", 1, "-host", "broken.example", rate=25)
    good = stage.hey("/index.html", 3, "-host", "good.example", rate=25)
    return stage.record("sh", "-c", " ".join(map(str, broken)) + " >/dev/null & exec "
                        + " ".join(map(str, good)))


@case("nothing child-churn", maybe="child-churn", never="apache-spawning apache-workers")
def children_that_serve_twenty_connections(stage):
    """They are replaced all the time, and nobody waits for that."""
    stage.apache("prefork", "MaxConnectionsPerChild 20", limits=(
        "StartServers 20\nMinSpareServers 15\nMaxSpareServers 30\nMaxRequestWorkers 100\n"
        "ListenBacklog 511"))
    return stage.record(*stage.hey("/index.html", 3, "-disable-keepalive", rate=30))


HOLDERS = """
import socket, sys, time
held = []
for _ in range(int(sys.argv[2])):
    c = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    c.sendall(b"GET /index.html HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    c.recv(65536)
    held.append(c)
time.sleep(60)
"""


@case("keepalive apache-workers", also="keepalive", within=2, maybe="sleep")
def strangers_idle_connections_hold_prefork(stage):
    """Clients that ask nothing more have four of five workers; the load shares the fifth."""
    apache = stage.apache("prefork", "KeepAlive On\nKeepAliveTimeout 60", mod_php=True, workers=5)
    apache.page("nap.php", pages.nap(20))
    stage.program(*stage.python(HOLDERS, apache.port, 4))
    stage.in_flight(apache, 4)
    return stage.record(*stage.hey("/nap.php", 4, "-disable-keepalive"))


@case("cannot-tell nothing")
def only_the_status_page(stage):
    stage.apache("event", stock=True)
    return stage.record(*stage.hey("/mpm-status", 2, rate=20))


@case("sleep server-restarted", also="server-restarted", maybe="tail",
      never="apache-spawning apache-workers")
def graceful_restart_of_prefork(stage):
    apache = stage.apache("prefork", mod_php=True, workers=20)
    apache.page("nap.php", pages.nap(20))
    stage.after(100, lambda: apache.restart(wait=False))
    return stage.record(*stage.hey("/nap.php", 5, rate=15))


@case("server-restarted sleep", also="server-restarted", maybe="tail",
      never="apache-spawning apache-workers")
def graceful_restart_of_worker_under_load(stage):
    apache = stage.apache("worker", fpm=stage.fpm(20, "pm = static"), workers=50, threads=25)
    apache.page("nap.php", pages.nap(20))
    stage.after(100, lambda: apache.restart(wait=False))
    return stage.record(*stage.ab("/nap.php", 8, 1000))


@case("sleep server-restarted answers-5xx",
      maybe="sleep server-restarted requests-died answers-5xx child-churn",
      never="php-spawning php-workers apache-workers")
def reload_of_php(stage):
    apache, fpm = stage.roomy_php(20)
    apache.page("nap.php", pages.nap(20))
    stage.after(100, lambda: fpm.reload())
    return stage.record(*stage.hey("/nap.php", 5, rate=15))


@case("sleep cpu-neighbour", maybe="cpu-neighbour", never="cpu php-workers apache-workers")
def pages_that_sleep_beside_a_busy_container(stage):
    apache, _ = stage.roomy_php(20)
    apache.page("nap.php", pages.nap(30))
    group = stage.group.inner("neighbour")
    for _ in range(BUSY):
        stage.program(stage.php_cli(), "-r", pages.BURNER, group=group)
    return stage.record(*stage.hey("/nap.php", 4, rate=20))
