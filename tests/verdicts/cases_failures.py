"""Failures, restarts and deaths; they come before everything else."""
import os
import signal

import pages
from judge import case


@case("answers-4xx", maybe="answers-length", fast=True)
def wrong_url(stage):
    stage.apache("event", stock=True)
    return stage.record(*stage.wrk("/no-such-page.html", 1, 2))


@case("answers-4xx")
def half_of_the_urls_are_wrong(stage):
    apache, _ = stage.stock_php()
    apache.page("half.php", "<?php if (mt_rand(0, 1)) http_response_code(404); usleep(2000); "
                            "echo 'done';")
    return stage.record(*stage.hey("/half.php", 4, rate=60))


@case("answers-4xx")
def forbidden(stage):
    stage.apache("event", '<Location "/">\nRequire all denied\n</Location>', stock=True)
    return stage.record(*stage.hey("/index.html", 4))


@case("answers-5xx", maybe="php-workers", fast=True)
def php_is_down(stage):
    apache, fpm = stage.stock_php(record=False)
    apache.page("nap.php", pages.QUICK)
    fpm.stop()
    return stage.record(*stage.ab("/nap.php", 5, 400, "-t", "3"))


@case("php-down", also="answers-5xx", maybe="requests-died")
def php_goes_down_meanwhile(stage):
    apache, fpm = stage.stock_php()
    apache.page("quick.php", pages.QUICK)
    stage.after(200, fpm.stop)
    return stage.record(*stage.wrk("/quick.php", 4))


@case("answers-5xx", maybe="sleep requests-died stuck-requests")
def proxy_timeout(stage):
    """Apache waits a second for PHP, and the page takes three."""
    apache, _ = stage.roomy_php(20, "ProxyTimeout 1\n")
    apache.page("slow.php", pages.nap(3000))
    return stage.record(*stage.ab("/slow.php", 5, 15))


@case("answers-5xx requests-died", maybe="requests-died child-churn php-fatal sleep backend")
def terminated_by_fpm(stage):
    """request_terminate_timeout kills the child of a page that takes too long."""
    apache, _ = stage.roomy_php(8, pool="request_terminate_timeout = 1s")
    apache.page("slow.php", pages.nap(4000))
    return stage.record(*stage.ab("/slow.php", 4, 12))


@case("php-fatal answers-5xx", also="php-fatal", within=2, fast=True, light=True)
def memory_limit_of_php(stage):
    """A third of the requests want more than memory_limit."""
    apache, _ = stage.stock_php(settings={"memory_limit": "16M", "display_errors": "0"})
    apache.page("m.php", pages.some(0.33, "<?php str_repeat('x', 32 << 20); echo 'done';"))
    return stage.record(*stage.hey("/m.php", 4, rate=60))


@case("php-fatal answers-5xx", also="php-fatal", within=2)
def uncaught_exceptions(stage):
    apache, _ = stage.stock_php(settings={"display_errors": "0"})
    apache.page("e.php", pages.some(0.5, "<?php throw new Exception('broken');"))
    return stage.record(*stage.hey("/e.php", 4, rate=60))


@case("requests-died answers-5xx", also="requests-died", maybe="child-churn")
def crashes_of_php(stage):
    """One request in twenty ends its process, as a bug in an extension does."""
    apache, _ = stage.roomy_php(8)
    apache.page("c.php", pages.some(0.05, "<?php posix_kill(getmypid(), 9); usleep(1000000);"))
    return stage.record(*stage.hey("/c.php", 4, rate=40))


@case("client-aborts client-errors", also="client-aborts", maybe="sleep", fast=True, light=True)
def clients_give_up(stage):
    """Every second client goes away before the answer is there."""
    apache, _ = stage.roomy_php(20)
    apache.page("slow.php", "<?php for ($i = 0; $i < 10; $i++) { usleep(60000); echo "
                            "str_repeat('x', 5000); flush(); }")
    return stage.record(*stage.python(pages.IMPATIENT, apache.port, 8, 5, 0.3, "/slow.php"))


@case("requests-died client-errors", also="requests-died", maybe="apache-spawning child-churn")
def killed_children(stage):
    """kill -9 of Apache's children, each with a request."""
    apache = stage.apache("prefork", mod_php=True, workers=10)
    apache.page("nap.php", pages.nap(100))

    def kill():
        for _ in range(4):
            for pid in apache.children()[:3]:
                os.kill(pid, signal.SIGKILL)
            stage.pause(0.4)
    stage.after(40, kill)
    return stage.record(*stage.ab("/nap.php", 10, 250, "-r"))


@case("server-restarted nothing sleep", maybe="sleep server-restarted")
def graceful_restart(stage):
    """It loses no request."""
    apache, _ = stage.roomy_php(20)
    apache.page("nap.php", pages.nap(20))
    stage.after(100, lambda: apache.restart(wait=False))
    return stage.record(*stage.hey("/nap.php", 5, rate=10))


@case("server-restarted requests-died client-errors", also="server-restarted",
      maybe="requests-died apache-spawning")
def hard_restart(stage):
    apache = stage.apache("prefork", mod_php=True, workers=10)
    apache.page("nap.php", pages.nap(100))
    stage.after(60, lambda: apache.restart(signal.SIGHUP, wait=False))
    return stage.record(*stage.ab("/nap.php", 10, 250, "-r"))


@case("answers-5xx", fast=True, light=True)
def broken_htaccess(stage):
    apache = stage.apache("event", '<Directory "@ROOT@/htdocs">\nAllowOverride All\n</Directory>',
                          stock=True)
    apache.page(".htaccess", "NoSuchDirective On\n")
    return stage.record(*stage.hey("/index.html", 4, rate=60))


@case("answers-5xx", maybe="backend")
def backend_is_down(stage):
    stage.apache("event", 'ProxyPass "/app" "http://127.0.0.1:9/"', stock=True,
                 modules=["proxy", "proxy_http"])
    return stage.record(*stage.hey("/app", 4, seconds=2))


@case("answers-3xx", maybe="generator cpu", fast=True, light=True)
def redirected(stage):
    """ab does not follow redirects: not one of its requests gets the page."""
    stage.apache("event", 'Redirect 301 "/old" "/index.html"', stock=True)
    return stage.record(*stage.ab("/old", 4, 4000))


@case("answers-3xx", also="sleep", within=2, never="client-beyond-server", fast=True, light=True)
def redirected_and_followed(stage):
    """hey follows them: its one time is that of two of the server's requests."""
    apache, _ = stage.roomy_php(20)
    apache.page("nap.php", pages.nap(40))
    apache.page("old.php", "<?php usleep(60000); header('Location: /nap.php');")
    return stage.record(stage.tool("hey"), "-c", 5, "-n", 150, stage.url("/old.php"))


@case("client-aborts", also="sleep", within=2, follows="client-aborts<sleep", fast=True, light=True)
def nothing_in_time(stage):
    """hey waits a second for what takes two; its rows have no line for what had no answer."""
    apache, _ = stage.roomy_php(20)
    apache.page("slow.php", pages.nap(2000))
    return stage.record(stage.tool("hey"), "-c", 10, "-n", 30, "-t", 1, stage.url("/slow.php"))


@case("load-cut-short", also="sleep", within=2, maybe="client-aborts", light=True)
def load_tool_gives_up(stage):
    """ab ends itself where a second passes without an answer."""
    apache, _ = stage.roomy_php(20)
    apache.page("slow.php", pages.nap(3000))
    return stage.record(stage.tool("ab"), "-q", "-s", 1, "-c", 10, "-n", 100,
                        stage.url("/slow.php"))
