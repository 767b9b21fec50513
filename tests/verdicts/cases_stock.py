"""Mistakes that sites make, on the limits that Debian's packages come with: event and FPM's pool of
five, prefork and mod_php."""
import os
import signal
from pathlib import Path

import pages
from cases_controls import HOLDERS
from judge import case
from stage import NotRun, tool

SITE = ("CREATE DATABASE site", "CREATE TABLE site.meta (id INT AUTO_INCREMENT PRIMARY KEY, name "
        "VARCHAR(40), value TEXT)", "INSERT INTO site.meta (name, value) SELECT concat('n', seq), "
        "repeat('x', 200) FROM site.seq_1_to_60000")
NO_INDEX = "SELECT SQL_NO_CACHE count(*) FROM site.meta WHERE value LIKE '%y%'"


def with_site(stage, apache):
    """A database with a table that has no index for what pages ask of it."""
    server = stage.mariadb()
    apache.page("make.php", pages.queries(server.port, *SITE))
    assert apache.get("/make.php").text() == "done"
    apache.page("q.php", pages.queries(server.port, NO_INDEX))


# ---- the database, and services --------------------------------------------------------

@case("database php-workers cpu-neighbour", also="database", within=3,
      maybe="php-workers cpu-neighbour")
def missing_index_behind_the_stock_pool(stage):
    apache, _ = stage.stock_php()
    with_site(stage, apache)
    return stage.record(*stage.ab("/q.php", 4, 400, "-t", "4"))


@case("database cpu-neighbour", also="database", within=2, maybe="cpu-neighbour")
def missing_index_on_mod_php(stage):
    apache = stage.apache("prefork", stock=True, mod_php=True)
    with_site(stage, apache)
    return stage.record(*stage.ab("/q.php", 4, 400, "-t", "4"))


@case("php-workers http", also="php-workers http", within=2, light=True)
def plugin_calls_a_slow_service(stage):
    backend = stage.backend(0.2)
    apache, _ = stage.stock_php()
    apache.page("p.php", pages.fetch(backend.url))
    return stage.record(*stage.ab("/p.php", 15, 90))


@case("http", light=True)
def plugin_calls_a_slow_service_on_mod_php(stage):
    backend = stage.backend(0.2)
    apache = stage.apache("prefork", stock=True, mod_php=True)
    apache.page("p.php", pages.fetch(backend.url))
    return stage.record(*stage.ab("/p.php", 5, 90))


@case("http php-workers", also="http", maybe="php-workers", says="is this server itself",
      light=True)
def cron_calls_its_own_site(stage):
    """Each third page starts another one of the same pool, and waits for its answer: a second at
    most, as WordPress does, for all five can wait so."""
    apache, _ = stage.stock_php()
    apache.page("cron.php", pages.nap(100))
    apache.page("page.php", pages.some(0.33, pages.fetch(stage.url("/cron.php"), seconds=1),
                                       pages.nap(20)))
    return stage.record(*stage.ab("/page.php", 12, 240))


@case("php-workers process", also="php-workers process", within=2, light=True)
def image_converter_behind_the_stock_pool(stage):
    apache, _ = stage.stock_php()
    apache.page("x.php", "<?php exec('sleep 0.1'); echo 'done';")
    return stage.record(*stage.ab("/x.php", 15, 150))


# Writes and syncs one file of 8 MB over and over, as a backup does with many.
BACKUP = """
import os, sys, time
end = time.monotonic() + 60
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
while time.monotonic() < end:
    os.pwrite(file, os.urandom(1 << 20) * 8, 0)
    os.fsync(file)
"""


@case("disk-neighbour file", also="disk-neighbour", within=2, follows="file<disk-neighbour")
def backup_takes_the_disk(stage):
    if not Path("/proc/pressure/io").exists() or stage.is_in_memory():
        raise NotRun("no disk, or no pressure of it")
    apache, _ = stage.roomy_php()
    place = stage.place("uploads")
    apache.page("w.php", f"<?php $n = '{place}/' . getmypid(); $f = fopen($n, 'w'); "
                         "fwrite($f, str_repeat('x', 20000)); fsync($f); fclose($f); unlink($n); "
                         "echo 'done';")
    for number in range(3):
        stage.program(*stage.python(BACKUP, stage.scratch / f"backup{number}"))
    return stage.record(*stage.ab("/w.php", 4, 2000, "-t", "4"))


# ---- PHP -------------------------------------------------------------------------------

MANY = ("<?php\n" + "".join(f"function f{i}($a) {{ return $a . '{i}' . strlen($a) * {i}; }}\n"
                            for i in range(3000)) + "echo 'done';")


@case("compiling", also="cpu", maybe="application-cpu", follows="cpu<compiling",
      says="OPcache is off.")
def no_opcache_on_mod_php(stage):
    apache = stage.apache("prefork", "php_admin_flag opcache.enable off\n", stock=True,
                          mod_php=True)
    apache.page("many.php", MANY)
    return stage.record(*stage.wrk("/many.php", 4))


@case("compiling", also="cpu", maybe="application-cpu php-workers", follows="cpu<compiling",
      says="OPcache is off.")
def no_opcache_on_the_stock_pool(stage):
    apache, _ = stage.stock_php(settings={"opcache.enable": "0"})
    apache.page("many.php", MANY)
    return stage.record(*stage.wrk("/many.php", 4))


@case("compiling", also="cpu", maybe="application-cpu php-workers", follows="cpu<compiling",
      says="full: ")
def an_opcache_without_room(stage):
    """Eight MiB, of which the strings have two: eight such files do not fit."""
    apache, _ = stage.stock_php(settings={"opcache.memory_consumption": "8",
                                          "opcache.interned_strings_buffer": "2"})
    for name in "ghijklmn":
        apache.page(f"{name}.php", MANY.replace("function f", f"function {name}"))
    apache.page("all.php", "<?php foreach (range('g', 'n') as $f) include __DIR__ . \"/$f.php\";")
    return stage.record(*stage.wrk("/all.php", 4))


@case("sleep cold-start", also="cold-start", within=2, maybe="tail", says="The first answer came",
      light=True)
def first_requests_fill_a_cache(stage):
    """All that comes before the cache is full waits for that, two seconds; later pages do not."""
    apache, _ = stage.roomy_php(20)
    apache.page("c.php", f"<?php $f = fopen('{stage.place('cache')}/full', 'c+'); "
                         "flock($f, LOCK_EX); "
                         "if (fstat($f)['size'] == 0) { usleep(2000000); fwrite($f, 'full'); } "
                         "flock($f, LOCK_UN); usleep(10000); echo 'done';")
    return stage.record(*stage.ab("/c.php", 8, 1200))


@case("tail sleep", also="tail", within=2, maybe="held-by sleep", light=True)
def sweep_in_one_request_of_fifty(stage):
    apache, _ = stage.roomy_php(20)
    apache.page("s.php", pages.some(0.02, pages.nap(900), pages.nap(15)))
    return stage.record(*stage.ab("/s.php", 6, 500))


@case("php-spawning php-workers", maybe="sleep", light=True)
def short_burst_on_the_stock_pool(stage):
    """It has ended before FPM has started its five."""
    apache, _ = stage.stock_php()
    apache.page("nap.php", pages.nap(20))
    return stage.record(*stage.ab("/nap.php", 20, 200))


@case("answers-5xx", light=True)
def pool_that_apache_may_not_reach(stage):
    """The socket belongs to another user, and lets nobody else in."""
    apache, fpm = stage.stock_php(record=False)
    apache.page("quick.php", pages.QUICK)
    os.chown(fpm.socket, 0, 0)
    fpm.socket.chmod(0o600)
    return stage.record(*stage.hey("/quick.php", 4, rate=40))


# ---- Apache ----------------------------------------------------------------------------

# Of user u, "right": htpasswd -nbB -C 10.
PASSWORD = "u:$2y$10$gWKNqttdJv/mCPh/9F576OOhlZvaX/x3TbeB.AfA13vyDzqGZiGR2\n"


@case("keepalive apache-workers", also="keepalive", within=2, maybe="sleep")
def idle_connections_take_the_stock_prefork(stage):
    """A hundred and forty-eight clients of 150 ask nothing more."""
    apache = stage.apache("prefork", "KeepAliveTimeout 60\n", stock=True, mod_php=True)
    apache.page("nap.php", pages.nap(20))
    stage.program(*stage.python(HOLDERS, apache.port, 148))
    stage.in_flight(apache, 148)
    return stage.record(*stage.hey("/nap.php", 8, "-disable-keepalive"))


@case("checks cpu", also="checks", within=2, maybe="cpu application-cpu")
def passwords_of_bcrypt(stage):
    """Each request computes the hash of a password again."""
    words = stage.script("passwords", PASSWORD)
    stage.apache("event", f'<Location "/">\nAuthType Basic\nAuthName "a"\nAuthUserFile "{words}"\n'
                 "Require valid-user\n</Location>\n", stock=True,
                 modules=["auth_basic", "authn_core", "authn_file", "authz_user"])
    return stage.record(*stage.ab("/index.html", 4, 2000, "-t", "3", "-A", "u:right"))


@case("answers-5xx", light=True)
def rewrites_in_a_circle(stage):
    stage.apache("event", '<Directory "@ROOT@/htdocs">\nRewriteEngine On\n'
                 'RewriteRule "^(.*)$" "/again/$1"\n</Directory>\n', stock=True,
                 modules=["rewrite"])
    return stage.record(*stage.hey("/index.html", 4, rate=40))


@case("answers-3xx", light=True)
def every_page_is_sent_to_https(stage):
    apache, _ = stage.stock_php(extra='Redirect permanent "/" "https://127.0.0.1:9/"\n')
    apache.page("quick.php", pages.QUICK)
    return stage.record(*stage.ab("/quick.php", 4, 2000))


@case("slow-clients", light=True)
def slow_readers_of_the_stock_event(stage):
    apache = stage.apache("event", "SendBufferSize 16384\n", stock=True)
    apache.page("large", bytes(2_000_000))
    return stage.record(*stage.python(pages.SLOW_READERS, apache.port, 20, "/large"))


@case("stuck-requests cannot-tell sleep tail", also="stuck-requests", within=3,
      maybe="sleep tail cannot-tell held-by", follows="client-aborts<stuck-requests")
def children_of_the_stock_prefork_are_stopped(stage):
    """All that have a request at one moment, until the load has ended."""
    apache = stage.apache("prefork", stock=True, mod_php=True)
    apache.page("nap.php", pages.nap(50))

    def stop():
        for slot in tool.status(apache.board)["slots"]:
            if slot["state"] == "handling":
                os.kill(slot["pid"], signal.SIGSTOP)
                stage.stack.callback(os.kill, slot["pid"], signal.SIGCONT)
    stage.after(60, stop)
    return stage.record(*stage.hey("/nap.php", 5, "-t", "2", seconds=5))


# ---- what holds workers ----------------------------------------------------------------

@case("php-workers", also="h2-workers", follows="h2-workers<php-workers", maybe="sleep")
def streams_of_http2_wait_for_the_stock_pool(stage):
    """Two connections of a hundred streams each: more than a child has workers for HTTP/2."""
    apache = stage.apache("event", "Protocols h2c http/1.1\n", stock=True, fpm=stage.fpm(),
                          modules=["http2"])
    apache.page("nap.php", pages.NAP)
    return stage.record(*stage.h2load("/nap.php", 2, 100, 600))


@case("slow-headers", also="apache-workers", follows="apache-workers<slow-headers",
      maybe="apache-spawning accept-queue")
def slow_headers_hold_the_stock_prefork(stage):
    stage.apache("prefork", stock=True, mod_php=True)
    return stage.record(*stage.python(pages.SLOW_HEADERS, stage.apaches[0].port, 220, 10))


@case("slow-upload", also="apache-workers", follows="apache-workers<slow-upload",
      maybe="apache-spawning accept-queue")
def slow_posts_hold_the_stock_prefork(stage):
    apache = stage.apache("prefork", stock=True, mod_php=True)
    apache.page("p.php", "<?php echo strlen(file_get_contents('php://input'));")
    return stage.record(*stage.python(pages.SLOW_POSTS, apache.port, 220, 2, 10, "/p.php"))


# ---- reloads -----------------------------------------------------------------------------

@case("sleep server-restarted", also="server-restarted", maybe="tail",
      never="apache-spawning apache-workers")
def reload_of_the_stock_prefork(stage):
    """A graceful one: it loses no request."""
    apache = stage.apache("prefork", stock=True, mod_php=True)
    apache.page("nap.php", pages.nap(150))
    stage.after(40, lambda: apache.restart(wait=False))
    return stage.record(*stage.ab("/nap.php", 5, 150))


# ---- healthy ---------------------------------------------------------------------------

@case("nothing application-cpu", maybe="application-cpu", light=True,
      never="php-workers apache-workers php-spawning")
def control_stock_pool(stage):
    apache, _ = stage.stock_php()
    apache.page("b.php", pages.burn(3))
    return stage.record(*stage.hey("/b.php", 2, rate=20))


@case("nothing application-cpu", maybe="application-cpu", light=True,
      never="apache-workers apache-spawning")
def control_stock_mod_php(stage):
    apache = stage.apache("prefork", stock=True, mod_php=True)
    apache.page("b.php", pages.burn(3))
    return stage.record(*stage.hey("/b.php", 2, rate=20))
