"""What requests waited for, inside PHP and inside Apache, and what held a worker meanwhile."""
import pages
from judge import case

# ---- PHP's waits -----------------------------------------------------------------------


@case("database", fast=True, light=True)
def slow_database(stage):
    server = stage.mariadb()
    apache, _ = stage.roomy_php()
    apache.page("q.php", pages.queries(server.port, "SELECT SLEEP(0.1)"))
    return stage.record(*stage.ab("/q.php", 10, 200))


ROW_LOCK = ("CREATE DATABASE IF NOT EXISTS t", "CREATE TABLE IF NOT EXISTS t.stock (id INT PRIMARY "
            "KEY, n INT) ENGINE=InnoDB", "INSERT IGNORE INTO t.stock VALUES (1, 0)")


def row_lock(stage, apache):
    """The path of a page whose requests lock the same row for 20 ms, so one at a time runs."""
    port = stage.mariadb().port
    apache.page("make.php", pages.queries(port, *ROW_LOCK))
    assert apache.get("/make.php").text() == "done"
    return apache.page("q.php", pages.queries(
        port, "BEGIN", "UPDATE t.stock SET n = n + 1 WHERE id = 1", "SELECT SLEEP(0.02)", "COMMIT"))


@case("database lock", also="database")
def serial_database(stage):
    apache, _ = stage.roomy_php()
    return stage.record(*stage.ab(row_lock(stage, apache), 10, 150))


@case("lock", fast=True, light=True)
def session_lock(stage):
    apache, fpm = stage.roomy_php()
    apache.page("s.php", pages.session(stage.place("sessions"), 30))
    return stage.record(*stage.ab("/s.php", 10, 100))


@case("lock")
def locked_file(stage):
    apache, _ = stage.roomy_php()
    place = stage.place("counters")
    apache.page("f.php", f"<?php $f = fopen('{place}/one', 'c+'); flock($f, LOCK_EX); "
                         "usleep(20000); fwrite($f, 'x'); flock($f, LOCK_UN); echo 'done';")
    return stage.record(*stage.ab("/f.php", 12, 150))


@case("tail application-cpu", also="tail", maybe="application-cpu file lock sleep", light=True)
def sweep_of_sessions(stage):
    """One request of fifty looks through 60,000 sessions for old ones, as session.gc_probability
    asks it to: the others nap for 2 ms."""
    apache, _ = stage.roomy_php()
    place = stage.place("sessions")
    for number in range(60000):
        (place / f"sess_{number:026x}").touch()
    apache.page("s.php", f"<?php session_save_path('{place}'); ini_set('session.gc_divisor', 50); "
                         "ini_set('session.gc_probability', 1); session_start(); "
                         "session_write_close(); usleep(2000); echo 'done';")
    return stage.record(*stage.ab("/s.php", 1, 600))


@case("file disk", maybe="disk cpu")
def files_synced_to_disk(stage):
    apache, _ = stage.roomy_php()
    place = stage.place("synced")
    apache.page("w.php", f"<?php $n = '{place}/' . getmypid(); "
                         "for ($i = 0; $i < 20; $i++) { $f = fopen($n, 'w'); "
                         "fwrite($f, str_repeat('x', 20000)); fsync($f); fclose($f); } "
                         "unlink($n); echo 'done';")
    return stage.record(*stage.ab("/w.php", 4, 200, "-t", "4"))


@case("http", fast=True, light=True)
def slow_service_by_curl(stage):
    backend = stage.backend(0.1)
    apache, _ = stage.roomy_php()
    apache.page("api.php", pages.fetch(backend.url))
    return stage.record(*stage.ab("/api.php", 10, 200))


@case("http")
def serial_service_by_curl(stage):
    backend = stage.backend(0.02, serial=True)
    apache, _ = stage.roomy_php()
    apache.page("api.php", pages.fetch(backend.url))
    return stage.record(*stage.ab("/api.php", 10, 150))


@case("http", also="php-workers", follows="php-workers<http", says="is this server itself")
def page_that_calls_its_own_server(stage):
    """Each of four requests holds a worker of five, and wants a second one."""
    apache, _ = stage.stock_php(manager="pm = static")
    apache.page("inner.php", pages.nap(20))
    apache.page("outer.php", pages.fetch(stage.url("/inner.php")))
    return stage.record(*stage.wrk("/outer.php", 4))


@case("cache", fast=True, light=True)
def slow_cache(stage):
    """Redis lets in one at a time, for 10 ms."""
    server = stage.redis()
    apache, _ = stage.roomy_php()
    apache.page("c.php", f"<?php $r = new Redis(); $r->connect('127.0.0.1', {server.port}); "
                         "$r->rawCommand('DEBUG', 'SLEEP', '0.01'); echo 'done';")
    return stage.record(*stage.ab("/c.php", 10, 250))


@case("process", fast=True, light=True)
def external_program(stage):
    apache, _ = stage.roomy_php()
    apache.page("x.php", "<?php exec('sleep 0.1'); echo 'done';")
    return stage.record(*stage.ab("/x.php", 10, 200))


@case("sleep", fast=True, light=True)
def page_that_sleeps(stage):
    apache, _ = stage.roomy_php()
    return stage.record(*stage.ab(apache.page("nap.php", pages.nap(100)), 10, 200))


@case("dns")
def slow_names_in_php(stage):
    stage.slow_names(0.1)
    apache, _ = stage.roomy_php()
    apache.page("d.php", "<?php gethostbyname('db.example.com'); echo 'done';")
    return stage.record(*stage.ab("/d.php", 10, 200))


@case("stream http", maybe="http stream")
def slow_service_by_stream(stage):
    backend = stage.backend(0.1)
    apache, _ = stage.roomy_php()
    apache.page("f.php", f"<?php $s = fsockopen('127.0.0.1', {backend.port}); fwrite($s, \"GET / "
                         "HTTP/1.0\\r\\n\\r\\n\"); while (!feof($s)) fread($s, 8192); echo 'done';")
    return stage.record(*stage.ab("/f.php", 10, 200))


@case("mail", maybe="process")
def slow_mail(stage):
    mailer = stage.script("sendmail", "#!/bin/sh\ncat > /dev/null\nsleep 0.1\n")
    apache, _ = stage.roomy_php(settings={"sendmail_path": mailer})
    apache.page("m.php", "<?php mail('a@example.com', 's', 'b'); echo 'done';")
    return stage.record(*stage.ab("/m.php", 10, 200))


@case("database", maybe="apache-workers php-workers")
def slow_database_on_mod_php(stage):
    server = stage.mariadb()
    apache = stage.apache("prefork", mod_php=True, workers=30)
    apache.page("q.php", pages.queries(server.port, "SELECT SLEEP(0.1)"))
    return stage.record(*stage.wrk("/q.php", 10))


# ---- Apache's waits --------------------------------------------------------------------

@case("checks dns", also="checks")
def access_by_host_name(stage):
    """`Require host` asks the name server twice for each connection."""
    stage.slow_names(0.05)
    stage.apache("event", '<Location "/">\nRequire host example.com\n</Location>', stock=True)
    return stage.record(*stage.ab("/index.html", 10, 150))


@case("checks", also="apache-workers", follows="apache-workers<checks", fast=True, light=True)
def one_at_a_time_before_the_application(stage):
    """A program of a RewriteMap answers one request after the other, each in 20 ms."""
    program = stage.script("map", "#!/bin/sh\nwhile read key; do sleep 0.02; echo $key; done\n")
    stage.apache("event", f'RewriteEngine On\nRewriteMap slow "prg:{program}"\n'
                 'RewriteRule "^/(.*)$" "/${slow:$1}" [PT]\n', modules=["rewrite"], workers=5,
                 threads=5)
    return stage.record(*stage.ab("/index.html", 15, 150))


@case("compiling", maybe="application-cpu cpu")
def scripts_compiled_each_time(stage):
    """OPcache is off: each request compiles a few thousand functions."""
    apache, _ = stage.roomy_php(20, settings={"opcache.enable": "0"})
    body = "".join(f"function f{n}($a) {{ $b = $a + {n}; return $b * ($a - {n}); }}\n"
                   for n in range(3000))
    apache.page("large.php", f"<?php\n{body}echo 'done';")
    return stage.record(*stage.hey("/large.php", 2, rate=10))


@case("logging dns checks", maybe="dns checks")
def names_of_clients_in_the_log(stage):
    """HostnameLookups: the name is looked up when the request is logged."""
    stage.slow_names(0.05)
    stage.apache("event", 'HostnameLookups On\nLogFormat "%h %r" named\nCustomLog '
                 '"@ROOT@/named.log" named', stock=True)
    return stage.record(*stage.ab("/index.html", 10, 150))


LOG_READER = "import sys, time\nfor line in sys.stdin.buffer:\n    time.sleep(0.01)\n"


@case("logging apache-workers", also="logging", within=2, fast=True, light=True)
def slow_log_program(stage):
    """It reads a line in 10 ms; the lines are long, so the pipe is soon full."""
    reader = stage.script("reader.py", LOG_READER)
    stage.apache("event", f'LogFormat "%h {"x" * 3900}" long\n'
                 f'CustomLog "|/usr/bin/python3 {reader}" long', workers=10, threads=10)
    return stage.record(*stage.ab("/index.html", 20, 350))


@case("server-paced", fast=True, light=True)
def rate_limit_of_apache(stage):
    apache = stage.apache("event", "SetOutputFilter RATE_LIMIT\nSetEnv rate-limit 400\n",
                          stock=True, modules=["ratelimit"])
    return stage.record(*stage.ab(apache.page("large", bytes(600_000)), 8, 24))


@case("backend", fast=True, light=True)
def slow_backend(stage):
    backend = stage.backend(0.1)
    stage.apache("event", f'ProxyPass "/app" "{backend.url}"', stock=True,
                 modules=["proxy", "proxy_http"])
    return stage.record(*stage.ab("/app", 10, 200))


@case("backend")
def serial_backend(stage):
    """It serves one request at a time: more workers help nobody."""
    backend = stage.backend(0.02, serial=True)
    stage.apache("event", f'ProxyPass "/app" "{backend.url}"', stock=True,
                 modules=["proxy", "proxy_http"])
    return stage.record(*stage.ab("/app", 10, 150))


@case("backend process", also="backend", maybe="process cpu")
def slow_cgi(stage):
    apache = stage.apache("event", 'ScriptAlias "/cgi/" "@ROOT@/cgi/"\n<Directory "@ROOT@/cgi">\n'
                          "Require all granted\n</Directory>", modules=["cgid"], workers=30)
    path = apache.cgi("slow.cgi", "sleep 0.1\necho 'Content-Type: text/plain'\necho\necho done\n")
    return stage.record(*stage.ab(path, 8, 150))


@case("tls cpu", also="tls", maybe="cpu generator")
def handshakes(stage):
    """A handshake for each request, with a large key: the signature takes a CPU some 5 ms."""
    stage.apache("event", stage.certificate(4096), modules=["ssl", "socache_shmcb"], workers=50,
                 threads=25)
    return stage.record(*stage.ab("/index.html", 10, 400, scheme="https"))


# ---- bodies and clients ----------------------------------------------------------------

@case("slow-upload", fast=True, light=True)
def slow_posts_on_mod_php(stage):
    apache = stage.apache("prefork", mod_php=True, workers=20)
    apache.page("p.php", "<?php echo strlen(file_get_contents('php://input'));")
    return stage.record(*stage.python(pages.SLOW_POSTS, apache.port, 8, 2, 1, "/p.php"))


@case("slow-upload", fast=True, light=True)
def slow_posts_on_php_fpm(stage):
    apache, _ = stage.stock_php()
    apache.page("p.php", "<?php echo strlen(file_get_contents('php://input'));")
    return stage.record(*stage.python(pages.SLOW_POSTS, apache.port, 8, 2, 1, "/p.php"))


@case("slow-upload", also="apache-workers", follows="apache-workers<slow-upload")
def slow_posts_hold_few_workers(stage):
    apache = stage.apache("event", fpm=stage.fpm(20, "pm = static"), workers=4, threads=4)
    apache.page("p.php", "<?php echo strlen(file_get_contents('php://input'));")
    return stage.record(*stage.python(pages.SLOW_POSTS, apache.port, 12, 3, 1, "/p.php"))


@case("slow-headers", also="apache-workers", follows="apache-workers<slow-headers")
def slow_headers_hold_workers(stage):
    """Without mod_reqtimeout a client sends its header fields as slowly as it likes."""
    apache = stage.apache("prefork", workers=5)
    return stage.record(*stage.python(pages.SLOW_HEADERS, apache.port, 8, 1.2))


@case("slow-clients", fast=True, light=True)
def slow_readers(stage):
    apache = stage.apache("event", "SendBufferSize 16384", stock=True)
    apache.page("large", bytes(700_000))
    return stage.record(*stage.python(pages.SLOW_READERS, apache.port, 6, "/large"))


@case("slow-clients", also="apache-workers", follows="apache-workers<slow-clients")
def slow_readers_hold_prefork(stage):
    apache = stage.apache("prefork", "SendBufferSize 16384", workers=2)
    apache.page("large", bytes(700_000))
    return stage.record(*stage.python(pages.SLOW_READERS, apache.port, 4, "/large"))


@case("slow-network", maybe="apache-workers generator")
def narrow_network(stage):
    """20 Mbit/s, of which a few downloads take all."""
    link = stage.narrow(2_500_000)
    with link.at_server():
        apache = stage.apache("event", f"Listen {link.ADDRESS}:{link.PORT}", stock=True)
    stage.host = link.ADDRESS
    path = apache.page("large", bytes(500_000))
    inside = ["nsenter", f"--net=/proc/{link.holders[1].pid}/ns/net"]
    return stage.record(*stage.ab(path, 8, 24, port=link.PORT), inside=inside)
