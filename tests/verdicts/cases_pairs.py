"""Two faults at a time: both are among the first three findings."""
import os
import signal

import pages
from cases_around import BUSY, thrash
from cases_workers import H2
from judge import case


def pair(first, second, *, maybe="", **when):
    return case(f"{first} {second}", also=f"{first} {second}", within=3, maybe=maybe, **when)


@pair("answers-4xx", "apache-workers", fast=True, light=True)
def missing_pages_and_few_workers(stage):
    apache = stage.apache("prefork", mod_php=True, workers=4)
    apache.page("half.php", "<?php if (mt_rand(0, 1)) http_response_code(404); usleep(30000); "
                            "echo 'done';")
    return stage.record(*stage.wrk("/half.php", 16))


@pair("php-workers", "cpu", maybe="application-cpu")
def few_php_workers_and_full_cpus(stage):
    apache = stage.apache("event", stock=True, fpm=stage.fpm(3, "pm = static"))
    apache.page("burn.php", pages.burn(10))
    return stage.record(*stage.wrk("/burn.php", 20))


@pair("apache-workers", "cpu", maybe="application-cpu sleep")
def full_workers_and_nearly_full_cpus(stage):
    """A worker for each CPU, which rests for a seventh of each request."""
    apache = stage.apache("prefork", mod_php=True, workers=os.cpu_count())
    apache.page("mixed.php", pages.burn(12).replace("echo 'done'", "usleep(2000); echo 'done'"))
    return stage.record(*stage.wrk("/mixed.php", 8 * os.cpu_count()))


@pair("database", "php-workers", fast=True, light=True)
def slow_database_and_few_php_workers(stage):
    server = stage.mariadb()
    apache, _ = stage.stock_php()
    apache.page("q.php", pages.queries(server.port, "SELECT SLEEP(0.05)"))
    return stage.record(*stage.wrk("/q.php", 20))


@pair("lock", "php-workers", follows="php-workers<lock")
def session_lock_and_few_php_workers(stage):
    """More workers would only wait for the same session."""
    apache, _ = stage.stock_php()
    apache.page("s.php", pages.session(stage.place("sessions"), 20))
    return stage.record(*stage.wrk("/s.php", 20))


@pair("php-fatal", "php-workers", maybe="answers-5xx")
def memory_limit_and_few_php_workers(stage):
    apache, _ = stage.stock_php(settings={"memory_limit": "16M", "display_errors": "0"})
    apache.page("m.php", pages.some(0.33, "<?php str_repeat('x', 32 << 20); echo 'done';",
                                    pages.NAP))
    return stage.record(*stage.wrk("/m.php", 20))


@pair("http", "database")
def slow_service_and_slow_database(stage):
    server, backend = stage.mariadb(), stage.backend(0.06)
    apache, _ = stage.roomy_php()
    apache.page("both.php", pages.fetch(backend.url) + pages.queries(
        server.port, "SELECT SLEEP(0.06)").removeprefix("<?php "))
    return stage.record(*stage.wrk("/both.php", 10))


@pair("cpu-neighbour", "php-workers", maybe="application-cpu")
def neighbour_and_few_php_workers(stage):
    apache, _ = stage.stock_php()
    apache.page("burn.php", pages.burn(8).replace("echo 'done'", "usleep(10000); echo 'done'"))
    for _ in range(BUSY):
        stage.program(stage.php_cli(), "-r", pages.BURNER)
    return stage.record(*stage.wrk("/burn.php", 20))


@pair("logging", "apache-workers", follows="apache-workers<logging")
def slow_log_and_few_workers(stage):
    reader = stage.script("reader.py", "import sys, time\nfor line in sys.stdin.buffer:\n"
                                       "    time.sleep(0.02)\n")
    stage.apache("prefork", f'LogFormat "%h {"x" * 3900}" long\nCustomLog "|/usr/bin/python3 '
                 f'{reader}" long', workers=5)
    return stage.record(*stage.ab("/index.html", 20, 200))


@pair("requests-died", "apache-workers", maybe="apache-spawning child-churn client-errors")
def killed_children_and_few_workers(stage):
    apache = stage.apache("prefork", mod_php=True, workers=5)
    apache.page("nap.php", pages.nap(60))

    def kill():
        for _ in range(5):
            os.kill(apache.children()[0], signal.SIGKILL)
            stage.pause(0.4)
    stage.after(40, kill)
    return stage.record(*stage.ab("/nap.php", 20, 200, "-r"))


@pair("slow-upload", "apache-workers", follows="apache-workers<slow-upload")
def slow_posts_and_few_workers(stage):
    apache = stage.apache("prefork", mod_php=True, workers=4)
    apache.page("p.php", "<?php echo strlen(file_get_contents('php://input'));")
    return stage.record(*stage.python(pages.SLOW_POSTS, apache.port, 12, 3, 1, "/p.php"))


@pair("backend", "apache-workers")
def slow_backend_and_few_workers(stage):
    backend = stage.backend(0.05)
    stage.apache("worker", f'ProxyPass "/app" "{backend.url}"', workers=5,
                 modules=["proxy", "proxy_http"])
    return stage.record(*stage.wrk("/app", 20))


@pair("cpu-quota", "php-workers", maybe="cpu application-cpu")
def quota_and_few_php_workers(stage):
    group = stage.group.inner("quota", cpus=0.3)
    apache = stage.apache("event", stock=True, fpm=stage.fpm(3, "pm = static", children_in=group))
    apache.page("burn.php", pages.burn(10))
    return stage.record(*stage.ab("/burn.php", 15, 90))


@case("answers-5xx", also="sleep", within=2, follows="answers-5xx<sleep", fast=True, light=True)
def time_outs_of_a_page_that_sleeps(stage):
    """They are what the page takes, and no error page's time."""
    apache, _ = stage.roomy_php(30, "ProxyTimeout 1\n")
    apache.page("slow.php", pages.nap(2500))
    return stage.record(*stage.ab("/slow.php", 10, 30))


@case("php-workers", follows="h2-workers<php-workers")
def few_workers_for_http2_and_fewer_of_php(stage):
    """More workers for HTTP/2 would wait for PHP's three."""
    apache = stage.apache("event", H2.format(8), fpm=stage.fpm(3, "pm = static"),
                          modules=["http2"], workers=50, threads=25)
    return stage.record(*stage.h2load(apache.page("nap.php", pages.nap(20)), 2, 15, 300))


@case("lock client-errors", also="lock", within=2,
      follows="php-workers<lock apache-workers<php-workers")
def session_lock_and_few_workers_of_both(stage):
    """The lock fills PHP's workers, and these fill Apache's."""
    apache = stage.apache("event", fpm=stage.fpm(5, "pm = static"), workers=10, threads=10)
    apache.page("s.php", pages.session(stage.place("sessions"), 20))
    return stage.record(*stage.wrk("/s.php", 30))


@pair("answers-5xx", "tail", maybe="sleep php-fatal requests-died stuck-requests")
def time_outs_and_slow_pages(stage):
    """One page in ten takes longer than ProxyTimeout, and one in fifty nearly as long."""
    apache, _ = stage.roomy_php(30, "ProxyTimeout 1\n")
    apache.page("t.php", pages.some(0.05, pages.nap(1500), pages.some(
        0.03, pages.nap(700), pages.nap(10))))
    return stage.record(*stage.hey("/t.php", 16, rate=20, seconds=4))


@pair("php-workers", "sleep", maybe="memory-neighbour")
def pages_that_sleep_beside_a_neighbour_that_thrashes(stage):
    thrash(stage)
    apache, _ = stage.stock_php()
    return stage.record(*stage.wrk(apache.page("nap.php", pages.nap(100)), 10))
