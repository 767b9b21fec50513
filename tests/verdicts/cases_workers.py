"""What ran out: workers of Apache, HTTP/2 and PHP, queues, connections, descriptors, ports."""
from pathlib import Path

import fcgid
import pages
from judge import case

# ---- Apache's workers ------------------------------------------------------------------


@case("apache-workers", maybe="sleep", fast=True, light=True)
def prefork_with_few_workers(stage):
    apache = stage.apache("prefork", mod_php=True, workers=5)
    return stage.record(*stage.ab(apache.page("nap.php", pages.NAP), 20, 250))


@case("apache-workers", never="php-workers")
def worker_with_few_workers(stage):
    apache = stage.apache("worker", fpm=stage.fpm(40, "pm = static"), workers=5)
    return stage.record(*stage.wrk(apache.page("nap.php", pages.NAP), 20))


@case("apache-workers", never="php-workers", fast=True, light=True)
def event_with_few_workers(stage):
    apache = stage.apache("event", fpm=stage.fpm(40, "pm = static"), workers=10)
    return stage.record(*stage.hey(apache.page("nap.php", pages.NAP), 40))


@case("apache-workers", maybe="backend")
def few_workers_by_url_from_outside(stage):
    """Only the status page is recorded, as from another machine."""
    fpm = stage.fpm(40, "pm = static")
    apache = stage.apache("event", fpm=fpm, workers=10, threads=10)
    page = apache.page("nap.php", pages.NAP)
    return stage.record(*stage.ab(page, 40, 400), targets=[stage.url("/mpm-status")])


@case("apache-spawning", maybe="apache-workers child-churn", fast=True, light=True)
def prefork_starts_children_slowly(stage):
    """A burst on one child: the pool doubles once a second."""
    apache = stage.apache("prefork", mod_php=True, limits=(
        "StartServers 1\nMinSpareServers 1\nMaxSpareServers 2\nServerLimit 150\n"
        "MaxRequestWorkers 150\nListenBacklog 511"))
    return stage.record(*stage.ab(apache.page("nap.php", pages.nap(200)), 60, 400))


@case("keepalive apache-workers", also="keepalive", within=2, fast=True, light=True)
def idle_connections_hold_prefork(stage):
    stage.apache("prefork", "KeepAlive On\nKeepAliveTimeout 2", workers=4)
    return stage.record(*stage.ab("/index.html", 20, 3000, "-k"))


@case("child-churn apache-spawning", also="child-churn", maybe="apache-workers cpu")
def each_child_serves_one_connection(stage):
    apache = stage.apache("prefork", "MaxConnectionsPerChild 1", mod_php=True, limits=(
        "StartServers 5\nMinSpareServers 5\nMaxSpareServers 10\nMaxRequestWorkers 150\n"
        "ListenBacklog 511"))
    return stage.record(*stage.ab(apache.page("quick.php", pages.QUICK), 20, 5000, "-t", "4"))


@case("accept-queue client-errors", also="accept-queue",
      maybe="client-beyond-server sleep client-aborts",
      fast=True, light=True)
def accept_queue_of_one(stage):
    """A burst of connections every time that the pages are ready."""
    apache = stage.apache("event", "ListenBacklog 1", fpm=stage.fpm(120, "pm = static"), limits=(
        "ThreadLimit 100\nServerLimit 3\nThreadsPerChild 100\nMaxRequestWorkers 300"))
    page = apache.page("nap.php", pages.nap(30))
    return stage.record(*stage.hey(page, 110, "-disable-keepalive"))


@case("event-connections slow-clients", also="event-connections", maybe="accept-queue")
def connections_of_event(stage):
    """Slow readers are connections without a worker, of which event keeps so many at most."""
    apache = stage.apache("event", "SendBufferSize 16384\nAsyncRequestWorkerFactor 1\n"
                          "EnableMMAP Off\nEnableSendfile On",
                          limits="ThreadLimit 5\nServerLimit 1\nThreadsPerChild 5\n"
                                 "MaxRequestWorkers 5\nStartServers 1\nListenBacklog 511")
    apache.page("large", bytes(500_000))
    return stage.record(*stage.python(pages.SLOW_READERS, apache.port, 40, "/large"))


@case("stuck-requests apache-workers held-by", also="stuck-requests", within=3, maybe="sleep")
def requests_that_never_end(stage):
    """They hold three of five workers before the load begins and until it has ended."""
    apache = stage.apache("prefork", mod_php=True, workers=5)
    apache.page("stuck.php", pages.nap(60_000))
    apache.page("page.php", pages.nap(20))
    stage.program(*stage.hey("/stuck.php", 3, "-t", 60, seconds=60))
    stage.in_flight(apache, 3)
    return stage.record(*stage.wrk("/page.php", 10))


# ---- HTTP/2's workers ------------------------------------------------------------------

H2 = "Protocols h2c http/1.1\nH2MinWorkers 2\nH2MaxWorkers {}\n"


@case("h2-workers", fast=True, light=True)
def few_workers_for_http2(stage):
    apache = stage.apache("event", H2.format(2), fpm=stage.fpm(40, "pm = static"),
                          modules=["http2"], workers=50, threads=25)
    return stage.record(*stage.h2load(apache.page("nap.php", pages.nap(20)), 2, 10, 300))


@case("php-workers", never="h2-workers")
def few_php_workers_behind_http2(stage):
    apache = stage.apache("event", H2.format(64), fpm=stage.fpm(3, "pm = static"),
                          modules=["http2"], workers=50, threads=25)
    return stage.record(*stage.h2load(apache.page("nap.php", pages.nap(20)), 2, 15, 300))


# ---- PHP's workers ---------------------------------------------------------------------

@case("php-workers", fast=True, light=True)
def stock_php_pool(stage):
    """Debian's five children at most, as pm = dynamic."""
    apache, _ = stage.stock_php()
    return stage.record(*stage.ab(apache.page("nap.php", pages.NAP), 20, 250))


@case("php-workers")
def stock_php_pool_with_hey(stage):
    apache, _ = stage.stock_php()
    return stage.record(*stage.hey(apache.page("nap.php", pages.NAP), 30))


@case("php-workers")
def stock_php_pool_with_k6(stage):
    apache, _ = stage.stock_php()
    return stage.record(*stage.k6(apache.page("nap.php", pages.NAP), 30))


@case("php-workers")
def stock_php_pool_with_siege(stage):
    apache, _ = stage.stock_php()
    return stage.record(*stage.siege(apache.page("nap.php", pages.NAP), 25, 8))


@case("php-workers")
def few_static_php_workers(stage):
    apache = stage.apache("event", stock=True, fpm=stage.fpm(3, "pm = static"))
    return stage.record(*stage.wrk(apache.page("nap.php", pages.NAP), 24))


@case("php-workers", maybe="php-spawning")
def few_php_workers_on_demand(stage):
    apache = stage.apache("event", stock=True, fpm=stage.fpm(4, "pm = ondemand"))
    page = apache.page("nap.php", pages.NAP)
    assert apache.get(page).text() == "done", "the first child makes the board"
    return stage.record(*stage.wrk(page, 24))


@case("php-connections client-aborts", also="php-connections", within=2, maybe="sleep",
      follows="client-aborts<php-connections")
def connections_to_php_are_kept(stage):
    """enablereuse: Apache's processes keep their connections, and with each a worker of PHP's."""
    fpm = stage.fpm(5, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm, extra=(
        '<Proxy "fcgi://localhost">\nProxySet enablereuse=on max=25\n</Proxy>\n'))
    page = apache.page("nap.php", pages.nap(20))
    return stage.record(*stage.hey(page, 12, rate=4, seconds=4))


@case("php-spawning", maybe="php-workers")
def php_starts_children_slowly(stage):
    """A burst on one child of pm = dynamic: once a second the pool grows."""
    fpm = stage.fpm(60, "pm = dynamic\npm.start_servers = 1\npm.min_spare_servers = 1\n"
                        "pm.max_spare_servers = 2")
    apache = stage.apache("event", stock=True, fpm=fpm)
    return stage.record(*stage.ab(apache.page("nap.php", pages.nap(300)), 40, 200))


@case("sleep php-spawning", also="php-spawning", within=2, never="php-workers", fast=True,
      light=True)
def as_many_clients_as_the_stock_php_pool_gets(stage):
    """The pool begins with two processes: nothing waits any more once all five are there."""
    apache, _ = stage.stock_php()
    return stage.record(*stage.ab(apache.page("nap.php", pages.nap(100)), 5, 100))


@case("child-churn php-spawning", also="child-churn", maybe="php-workers cpu")
def each_php_child_serves_one_request(stage):
    apache = stage.apache("event", stock=True, fpm=stage.fpm(5, "pm = static",
                                                             pool="pm.max_requests = 1"))
    return stage.record(*stage.ab(apache.page("quick.php", pages.QUICK), 5, 250))


@case("cgi-processes", never="php-workers php-spawning child-churn requests-died",
      maybe="cpu application-cpu", light=True)
def php_as_plain_cgi(stage):
    page = stage.php_cgi(fcgid.cgi() + "SetEnv PHPRC {ini}\n", pages.QUICK, "cgi", "actions")
    return stage.record(*stage.ab(page, 2, 100))


@case("fcgid-waits", never="php-workers php-spawning", maybe="sleep", light=True)
def fcgid_sleeps_while_processes_are_idle(stage):
    """Eight requests at once find four processes; the other four look again a second later."""
    page = stage.php_cgi(fcgid.fcgid(4) + "FcgidInitialEnv PHPRC {ini}\n", pages.NAP, "fcgid")
    ab = " ".join(str(word) for word in stage.ab(page, 8, 8))
    return stage.record("sh", "-c", f"for i in 1 2 3 4; do {ab} || exit 1; done")


@case("php-accept-queue php-workers answers-5xx", also="php-accept-queue", maybe="backend")
def tcp_backlog_of_php(stage):
    """Connections find FPM's queue full; the kernel tries again a second later."""
    fpm = stage.fpm(4, "pm = static", pool="listen = 127.0.0.1:9000\nlisten.backlog = 2")
    apache = stage.apache("event", stock=True, fpm=fpm, address="fcgi://127.0.0.1:9000")
    return stage.record(*stage.ab(apache.page("nap.php", pages.nap(20)), 60, 600))


@case("php-workers php-accept-queue", maybe="answers-5xx")
def unix_backlog_of_php(stage):
    """Apache waits for a place in a full queue of a Unix socket: it refuses nobody."""
    fpm = stage.fpm(3, "pm = static", pool="listen.backlog = 2")
    apache = stage.apache("event", stock=True, fpm=fpm)
    return stage.record(*stage.ab(apache.page("nap.php", pages.NAP), 40, 400))


@case("php-workers")
def one_of_two_pools(stage):
    """The pool of the shop is full, the other one is idle."""
    fpm = stage.fpm(20, "pm = static", pool="[shop]\nuser = www-data\ngroup = www-data\n"
                    "listen = @ROOT@/shop.sock\nlisten.backlog = 511\nlisten.mode = 0666\n"
                    "pm = static\npm.max_children = 2\n")
    apache = stage.apache("event", stock=True, fpm=fpm, extra=(
        f'<Location "/shop">\nSetHandler "proxy:unix:{fpm.root}/shop.sock|fcgi://shop"\n'
        "</Location>\n"))
    (apache.root / "htdocs" / "shop").mkdir()
    page = apache.page("shop/nap.php", pages.NAP)
    apache.page("quick.php", pages.QUICK)
    stage.after(1, lambda: stage.program(*stage.hey("/quick.php", 2, "-q", "20", seconds=4)))
    return stage.record(*stage.ab(page, 20, 120))


@case("php-workers", fast=True, light=True)
def nginx_in_front_of_php(stage):
    """Only PHP's board is there."""
    fpm = stage.fpm(3, "pm = static")
    nginx = stage.nginx(fpm)
    (nginx.root / "htdocs" / "nap.php").write_text(pages.NAP)
    return stage.record(*stage.ab("/nap.php", 20, 200, port=nginx.port))


@case("held-by php-workers stuck-requests", also="held-by", maybe="sleep", fast=True, light=True)
def long_polls_hold_php(stage):
    """Four of five children wait for news; all other pages share the fifth."""
    apache, _ = stage.stock_php(children=5, manager="pm = static")
    apache.page("poll.php", pages.nap(3500))
    apache.page("page.php", pages.nap(20))
    poll = stage.hey("/poll.php", 4, seconds=4)
    return stage.record("sh", "-c", " ".join(map(str, poll)) + " >/dev/null & exec "
                        + " ".join(map(str, stage.ab("/page.php", 8, 150))))


# ---- other limits ------------------------------------------------------------------------

@case("descriptors answers-5xx", also="descriptors", maybe="backend h2-workers",
      follows="answers-5xx<descriptors")
def few_descriptors(stage):
    """Apache's child may open 64 files, and eighty requests at a time want one to a backend."""
    backend = stage.backend(1.5)
    stage.apache("event", H2.format(100) + f'ProxyPass "/app" "{backend.url}" retry=0',
                 modules=["http2", "proxy", "proxy_http"], workers=25, threads=25,
                 wrapper=["/bin/sh", "-c", 'ulimit -n 64; exec "$@"', "sh"])
    return stage.record(*stage.h2load("/app", 4, 20, 500))


@case("local-ports answers-5xx", also="local-ports", maybe="backend h2-workers",
      follows="answers-5xx<local-ports")
def local_ports_to_the_backend(stage):
    """Forty local ports, and eighty requests at a time on a few connections of HTTP/2."""
    backend = stage.backend(0.2)
    stage.apache("event", H2.format(100) + f'ProxyPass "/app" "{backend.url}"',
                 modules=["http2", "proxy", "proxy_http"], workers=50, threads=25)
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40039")
    return stage.record(*stage.h2load("/app", 4, 20, 8000))


@case("generator client-beyond-server", fast=True)
def generator_at_its_limit(stage):
    """wrk's one thread computes what to ask for."""
    stage.apache("event", workers=50, threads=25)
    script = stage.script("busy.lua", pages.BUSY_WRK)
    return stage.record(*stage.wrk("/", 4, 3, "-s", script))


@case("generator client-beyond-server")
def client_of_a_single_thread(stage):
    stage.apache("event", stock=True)
    return stage.record(*stage.python(pages.BUSY_CLIENT, stage.url("/index.html")))


