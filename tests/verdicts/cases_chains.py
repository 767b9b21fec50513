"""A root and what follows from it: the root is named first, and the symptom has it as its cause."""
import signal

import pages
from cases_waits import row_lock
from cases_workers import H2
from judge import case


def chain(root, symptom, *, maybe="", **when):
    return case(root, also=f"{root} {symptom}", follows=f"{symptom}<{root}", maybe=maybe, **when)


# ---- what lets in one at a time --------------------------------------------------------

@chain("lock", "apache-workers", light=True)
def session_lock_holds_prefork(stage):
    apache = stage.apache("prefork", mod_php=True, workers=5)
    apache.page("s.php", pages.session(stage.place("sessions"), 20))
    return stage.record(*stage.ab("/s.php", 20, 150))


@chain("lock", "h2-workers", light=True)
def session_lock_holds_http2(stage):
    apache = stage.apache("event", H2.format(5), fpm=stage.fpm(40, "pm = static"),
                          modules=["http2"], workers=50, threads=25)
    apache.page("s.php", pages.session(stage.place("sessions"), 20))
    return stage.record(*stage.h2load("/s.php", 2, 10, 150))


@chain("database", "php-workers", maybe="lock", light=True)
def row_lock_behind_the_stock_pool(stage):
    apache, _ = stage.stock_php()
    return stage.record(*stage.ab(row_lock(stage, apache), 20, 150))


@chain("http", "php-workers", light=True)
def serial_service_behind_the_stock_pool(stage):
    backend = stage.backend(0.02, serial=True)
    apache, _ = stage.stock_php()
    apache.page("api.php", pages.fetch(backend.url))
    return stage.record(*stage.ab("/api.php", 20, 250))


@chain("cache", "php-workers", light=True)
def serial_cache_behind_the_stock_pool(stage):
    server = stage.redis()
    apache, _ = stage.stock_php()
    apache.page("c.php", f"<?php $r = new Redis(); $r->connect('127.0.0.1', {server.port}); "
                         "$r->rawCommand('DEBUG', 'SLEEP', '0.02'); echo 'done';")
    return stage.record(*stage.ab("/c.php", 20, 250))


@chain("backend", "apache-workers", light=True)
def serial_backend_holds_few_workers(stage):
    backend = stage.backend(0.02, serial=True)
    stage.apache("event", f'ProxyPass "/app" "{backend.url}"', modules=["proxy", "proxy_http"],
                 workers=5)
    return stage.record(*stage.ab("/app", 20, 150))


# ---- what holds workers ----------------------------------------------------------------

@chain("php-workers", "apache-workers", maybe="sleep", light=True)
def two_hundred_clients_of_the_stock_pool(stage):
    """Apache's 150 workers wait for PHP's five."""
    apache, _ = stage.stock_php()
    apache.page("nap.php", pages.NAP)
    return stage.record(*stage.ab("/nap.php", 200, 600))


@chain("server-paced", "apache-workers", light=True)
def rate_limit_holds_prefork(stage):
    apache = stage.apache("prefork", '<Location "/large">\nSetOutputFilter RATE_LIMIT\n'
                          'SetEnv rate-limit 400\n</Location>', modules=["ratelimit"],
                          workers=5)
    apache.page("large", bytes(200_000))
    return stage.record(*stage.ab("/large", 20, 50))


@chain("slow-network", "apache-workers", maybe="slow-clients generator client-beyond-server")
def narrow_network_holds_prefork(stage):
    link = stage.narrow(2_500_000)
    with link.at_server():
        apache = stage.apache("prefork", f"SendBufferSize 16384\nListen {link.ADDRESS}:{link.PORT}",
                              workers=4)
    stage.host = link.ADDRESS
    path = apache.page("large", bytes(500_000))
    inside = ["nsenter", f"--net=/proc/{link.holders[1].pid}/ns/net"]
    return stage.record(*stage.ab(path, 16, 24, port=link.PORT), inside=inside)


@chain("slow-upload", "php-workers", maybe="apache-workers")
def slow_posts_take_the_stock_pool(stage):
    """Apache hands a body on as it comes, so PHP's five workers wait for it, too."""
    apache, _ = stage.stock_php()
    apache.page("p.php", "<?php echo strlen(file_get_contents('php://input'));")
    return stage.record(*stage.python(pages.SLOW_POSTS, apache.port, 20, 1, 2, "/p.php",
                                      10_000))


# ---- what does not come in time --------------------------------------------------------

@case("answers-5xx", also="database", within=3, follows="answers-5xx<database", maybe="tail",
      light=True)
def time_outs_of_a_slow_database(stage):
    server = stage.mariadb()
    apache, _ = stage.roomy_php(20, "ProxyTimeout 1\n")
    apache.page("q.php", pages.queries(server.port, "SELECT SLEEP(2)"))
    return stage.record(*stage.ab("/q.php", 5, 15))


@case("answers-5xx", also="php-workers", within=3,
      follows="answers-5xx<php-workers backend<php-workers",
      maybe="sleep tail requests-died", light=True)
def time_outs_behind_the_stock_pool(stage):
    """A page of half a second waits three more for one of five workers."""
    apache, _ = stage.stock_php(extra="ProxyTimeout 1\n")
    apache.page("nap.php", pages.nap(500))
    return stage.record(*stage.ab("/nap.php", 40, 120))


@case("client-aborts", also="database", within=3, follows="client-aborts<database", light=True)
def clients_that_do_not_wait_for_a_database(stage):
    server = stage.mariadb()
    apache, _ = stage.roomy_php(20)
    apache.page("q.php", pages.queries(server.port, "SELECT SLEEP(2)"))
    return stage.record(stage.tool("hey"), "-c", 10, "-n", 30, "-t", 1, stage.url("/q.php"))


@case("client-aborts client-errors", also="php-workers", within=3, maybe="sleep",
      follows="client-aborts<php-workers", light=True)
def clients_that_do_not_wait_for_the_stock_pool(stage):
    apache, _ = stage.stock_php()
    apache.page("nap.php", pages.nap(300))
    return stage.record(stage.tool("hey"), "-c", 40, "-n", 120, "-t", 1, stage.url("/nap.php"))


@case("client-aborts client-errors", also="lock", within=3, maybe="php-workers",
      follows="client-aborts<lock", light=True)
def clients_that_do_not_wait_for_a_lock(stage):
    apache, _ = stage.roomy_php(40)
    apache.page("s.php", pages.session(stage.place("sessions"), 200))
    return stage.record(stage.tool("hey"), "-c", 20, "-n", 60, "-t", 1, stage.url("/s.php"))


# ---- what fails ------------------------------------------------------------------------

@case("php-fatal answers-5xx", also="php-fatal answers-5xx", follows="answers-5xx<php-fatal",
      maybe="application-cpu cpu")
def max_execution_time(stage):
    """A second of computing is allowed, and the page wants four."""
    apache, _ = stage.stock_php(settings={"max_execution_time": "1", "display_errors": "0"})
    apache.page("b.php", pages.burn(4000))
    return stage.record(*stage.ab("/b.php", 2, 4))


@case("requests-died answers-5xx", also="requests-died answers-5xx",
      follows="answers-5xx<requests-died", maybe="child-churn", light=True)
def every_tenth_page_crashes(stage):
    apache, _ = stage.roomy_php(8)
    apache.page("c.php", pages.some(0.1, "<?php posix_kill(getmypid(), 11); usleep(1000000);"))
    return stage.record(*stage.hey("/c.php", 4, rate=20))


@case("server-restarted requests-died client-errors", also="server-restarted requests-died",
      follows="requests-died<server-restarted", maybe="apache-spawning sleep")
def hard_restart_of_slow_pages(stage):
    apache = stage.apache("prefork", mod_php=True, workers=10)
    apache.page("nap.php", pages.nap(200))
    stage.after(40, lambda: apache.restart(signal.SIGHUP, wait=False))
    return stage.record(*stage.ab("/nap.php", 10, 150, "-r"))


@case("php-accept-queue php-workers answers-5xx", also="php-accept-queue php-workers",
      follows="php-accept-queue<php-workers",
      maybe="answers-5xx sleep backend event-connections", light=True)
def short_backlog_of_the_pool(stage):
    """A hundred and forty clients, and room for 16 in the queue of PHP's port."""
    fpm = stage.fpm(pool="listen = 127.0.0.1:9000\nlisten.backlog = 16")
    apache = stage.apache("event", stock=True, fpm=fpm, address="fcgi://127.0.0.1:9000")
    apache.page("nap.php", pages.NAP)
    return stage.record(*stage.ab("/nap.php", 140, 600))


@case("server-restarted requests-died answers-5xx", also="server-restarted requests-died",
      follows="requests-died<server-restarted", maybe="sleep php-workers client-aborts")
def reload_of_the_stock_pool(stage):
    """process_control_timeout is 0: FPM's reload ends the five requests that run."""
    apache, fpm = stage.stock_php()
    apache.page("nap.php", pages.nap(300))
    stage.after(20, fpm.reload)
    return stage.record(*stage.ab("/nap.php", 8, 60, "-r"))
