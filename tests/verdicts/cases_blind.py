"""Ten faults that real sites have, planted by somebody who knew the documents and not the rules.

What each case is expected to be told was written before it was run. Each case has a witness of its
own, which shows in check.py's evidence that the fault had the effect that its docstring claims.
"""
import re
import statistics
import subprocess
import time
import urllib.request
from collections import Counter

import pages
from cases_unlisted import CALL, service
from judge import case
from stage import wait_until

# Writes what the page measured itself: a line for each request.
NOTE = ("file_put_contents('%s/' . getmypid(), sprintf('%%.1f', (hrtime(true) - $t) / 1e6) "
        ". \"\\n\", FILE_APPEND); ")


def witnessed(run, text):
    run["logs"].append(f"witness: {text}")
    return run


def noted(place):
    """What the pages measured, in words."""
    times = sorted(float(line) for file in place.iterdir() for line in file.read_text().split())
    if not times:
        return "nothing noted"
    return (f"{len(times)} times, mean {statistics.mean(times):.1f} ms, median "
            f"{statistics.median(times):.1f}, max {times[-1]:.1f}")


@case("lock cannot-tell", maybe="http", never="php-workers backend application-cpu sleep database",
      light=True)
def semaphore_of_system_v(stage):
    """Pages take a semaphore of System V (sem_acquire, as Symfony's SemaphoreStore does), which
    lets in one at a time, for a call of 25 ms to another server: 40 requests a second are all there
    are, with 30 PHP workers. With 10 clients nine tenths of the time are the wait for the
    semaphore. True: PHP waited for a lock that lets in one at a time; or, as sem_acquire may not be
    timed, nothing tells what PHP waited for. False: the called service is slow (a tenth of the
    time), PHP computes, more workers help."""
    place = stage.place("waited")
    url = service(stage, 9111, 0.025)
    key = 0x5157
    stage.stack.callback(subprocess.run, ["ipcrm", "-S", str(key)], check=False)
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("book.php", f"<?php $s = sem_get({key}, 1, 0666, true); $t = hrtime(true); "
                       f"sem_acquire($s); {NOTE % place} {CALL % url} sem_release($s); "
                       "echo 'done';")
    run = stage.record(*stage.ab(page, 10, 160))
    return witnessed(run, f"sem_acquire took {noted(place)}")


# Answers a query only the second time that it comes; nothing has an IPv6 address.
FORGETFUL_NAMES = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
seen, log = {}, open(sys.argv[1], "w")
while True:
    query, peer = s.recvfrom(2000)
    key = query[:2] + query[12:] + repr(peer).encode()
    seen[key] = seen.get(key, 0) + 1
    print(seen[key], file=log, flush=True)
    if seen[key] < 2:
        continue
    at = 12
    while query[at]:
        at += 1 + query[at]
    kind = struct.unpack_from(">H", query, at + 1)[0]
    answer = (query[:2] + struct.pack(">HHHHH", 0x8580, 1, 1 if kind == 1 else 0, 0, 0)
              + query[12:at + 5])
    if kind == 1:
        answer += struct.pack(">HHHIH", 0xc00c, 1, 1, 0, 4) + bytes([127, 0, 0, 1])
    s.sendto(answer, peer)
"""


@case("database", says="connections to a database", maybe="tail", never="php-workers sleep",
      light=True)
def database_name_is_answered_at_the_second_try(stage):
    """PHP connects to a database by its name, and the name server loses each first query, so the
    resolver asks again after its time-out, 1 s here (5 s where nothing is set). The connection and
    the query then take some milliseconds. True: PHP waited for connections to the database, in
    which its name is looked up. False: the database is slow, its slow log has nothing; PHP's
    workers (30) are too few."""
    place, asked = stage.place("waited"), stage.scratch / "asked"
    for name, text in (("resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:3\n"),
                       ("hosts", ""), ("nsswitch.conf", "hosts: files dns\n")):
        stage.script(name, text)
        subprocess.run(["mount", "--bind", stage.scratch / name, f"/etc/{name}"], check=True)
    database = stage.mariadb()
    stage.program("/usr/bin/python3", stage.script("names.py", FORGETFUL_NAMES), asked)
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("list.php", "<?php $db = new mysqli('db.shop.example', 'root', '', '', "
                       f"{database.port}); $t = hrtime(true); $db->query('SELECT 1'); "
                       f"{NOTE % place} echo 'done';")
    run = stage.record(*stage.ab(page, 10, 60))
    tries = Counter(asked.read_text().split())
    return witnessed(run, f"queries to the name server by try: {tries};"
                          f" after the connection, the database took {noted(place)}")


@case("cpu", says="that PHP may use", maybe="application-cpu",
      never="php-workers cpu-neighbour cpu-stolen cpu-quota sleep backend")
def php_is_pinned_to_one_cpu(stage):
    """PHP-FPM may use one of the machine's 2 CPUs only (CPUAffinity in its unit, or a taskset that
    was forgotten), Apache and the load tool may use both. Eight clients ask for a page that
    computes for 10 ms: PHP waits for its CPU for most of the time while the other one is mostly
    idle. True: PHP waited for a CPU; the one that it may use is full. False: all CPUs of the
    machine were full, a faster or larger machine is needed, other programs had the CPUs, PHP's
    workers ran out. The cure is to take the affinity away."""
    fpm = stage.fpm(20, "pm = static", wrapper=["taskset", "-c", "0"])
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("price.php", pages.burn(10))

    def usage():
        lines = [line.split() for line in open("/proc/stat") if re.match(r"cpu\d", line)]
        return {line[0]: (int(line[4]) + int(line[5]), sum(map(int, line[1:9]))) for line in lines}
    before = usage()
    run = stage.record(*stage.ab(page, 8, 600))
    busy = {cpu: f"{1 - (now[0] - before[cpu][0]) / (now[1] - before[cpu][1]):.0%}"
            for cpu, now in usage().items()}
    pinned = subprocess.run(["taskset", "-p", str(fpm.workers()[0])], text=True,
                            capture_output=True, check=False).stdout.strip()
    return witnessed(run, f"busy, idle seconds of the recorder included: {busy}; {pinned}")


# Another client of the cache: every 0.4 s a script of some 0.25 s, in which Redis serves nobody.
LUA_JOB = """<?php
$r = new Redis();
$r->connect('127.0.0.1', (int) $argv[1]);
$r->setOption(Redis::OPT_READ_TIMEOUT, -1);
$count = 1000000;
while (true) {
    $began = hrtime(true);
    $r->eval('local n = 0 for i = 1, tonumber(ARGV[1]) do n = (n * 31 + i) % 65521 end return n',
             [$count], 0);
    $took = (hrtime(true) - $began) / 1e9;
    file_put_contents($argv[2], sprintf("%.1f\\n", $took * 1000), FILE_APPEND);
    $count = (int) max(10000, min($count * 4, $count * 0.25 / $took));
    usleep((int) max(1000, 400000 - $took * 1e6));
}
"""


@case("cache", maybe="tail cpu", never="php-workers sleep lock application-cpu", light=False)
def another_client_blocks_the_cache(stage):
    """A statistics job, that is none of the site's, runs a Lua script in Redis every 0.4 s, which
    takes 0.25 s; meanwhile Redis answers nobody. Pages ask it for five keys and so wait now and
    then for up to 0.25 s, though each of their own commands takes Redis some microseconds. 12
    requests a second by each of 5 clients: no worker is short (30), half of the CPUs is free. True:
    PHP waited for a cache. False: the pages' own commands are slow or too many, it is their number
    that makes them wait, CPUs or workers ran out. SLOWLOG GET names the script."""
    place, jobs = stage.place("waited"), stage.place("jobs")
    redis = stage.redis()
    stage.program(stage.php_cli(), stage.script("job.php", LUA_JOB), redis.port, jobs / "times")
    stage.pause(2)
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("item.php", "<?php $r = new Redis(); $t = hrtime(true); "
                       f"$r->connect('127.0.0.1', {redis.port}); for ($i = 0; $i < 5; $i++) "
                       f"$r->get('item:' . $i); {NOTE % place} echo 'done';")
    run = stage.record(*stage.hey(page, 5, seconds=6, rate=12))
    stats = subprocess.run(["redis-cli", "-p", str(redis.port), "info", "commandstats"], text=True,
                           capture_output=True, check=False).stdout
    lines = [line for line in stats.split() if "_get:" in line or "_eval:" in line]
    return witnessed(run, f"connect and five GETs took {noted(place)}; the job's scripts "
                          f"{noted(jobs)}; {' '.join(lines)}")


# Holds connections until it is ended: as many as it gets, less some that it leaves free.
CONNECTION_HOLDER = """<?php
$held = [];
try { while (true) $held[] = new mysqli('127.0.0.1', 'root', '', '', (int) $argv[1]); }
catch (mysqli_sql_exception $e) { }
for ($i = 0; $i < (int) $argv[2]; $i++) array_pop($held)->close();
file_put_contents($argv[3], count($held));
sleep(100);
"""


@case("answers-5xx", says="PHP itself answered so", maybe="database sleep",
      never="php-down php-workers backend requests-died php-fatal descriptors", light=True)
def database_connections_are_taken(stage):
    """MariaDB lets in 20 connections, and a batch job that is none of the site's keeps all but two
    of them open. A page whose connection is refused says so with 503 in some milliseconds ("Too
    many connections"). True: so many answers were 503, by PHP itself and fast. False: PHP-FPM was
    down or not reached, a backend was slow, PHP crashed or had an uncaught exception, workers ran
    out. The cure is at the database."""
    place, ready = stage.place("refused"), stage.scratch / "ready"
    database = stage.mariadb()
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    apache.page("set.php", pages.queries(database.port, "SET GLOBAL max_connections = 20"))
    assert apache.get("/set.php").text() == "done"
    stage.program(stage.php_cli(), stage.script("hold.php", CONNECTION_HOLDER), database.port, 2,
                  ready)
    wait_until(ready.exists, 10, "the connections to be held")
    page = apache.page("shop.php", f"""<?php $t = hrtime(true);
try {{ $db = new mysqli('127.0.0.1', 'root', '', '', {database.port}); }}
catch (mysqli_sql_exception $e) {{
    {NOTE % place}
    http_response_code(503); echo 'Error establishing a database connection: ', $e->getMessage();
    exit;
}}
$db->query('SELECT SLEEP(0.05)'); echo 'done';""")
    run = stage.record(*stage.hey(page, 8, seconds=5, rate=8))
    return witnessed(run, f"{ready.read_text()} connections held; refused: {noted(place)}")


@case("checks", maybe="cpu tail", never="application-cpu backend php-workers database file",
      light=False)
def htaccess_of_twenty_thousand_lines(stage):
    """The site's .htaccess has 20,000 lines of Redirect, which a plugin wrote after a move of the
    site. Apache reads and parses the file for each request, and compares the path with each line:
    some tens of ms of Apache's CPU before PHP begins, which is done in one. One client: half of the
    machine's CPUs is free. True: requests waited before the application began (.htaccess,
    rewriting). False: PHP computes, a name look-up or a password is slow, all CPUs are full."""
    fpm = stage.fpm(10, "pm = static")
    apache = stage.apache("event", '<Directory "@ROOT@/htdocs">\nAllowOverride All\n</Directory>\n',
                          stock=True, fpm=fpm)
    page = apache.page("page.php", "<?php echo 'done';")

    def mean():
        began = time.monotonic()
        for _ in range(20):
            assert apache.get(page).text() == "done"
        return 1000 * (time.monotonic() - began) / 20
    without = mean()
    apache.page(".htaccess", "".join(
        f"Redirect 301 /old-catalogue/product-{n}.html /shop/item/{n}\n" for n in range(20000)))
    run = stage.record(*stage.ab(page, 1, 120))
    return witnessed(run, f"without the file a request takes {without:.1f} ms, with it "
                          f"{mean():.1f}")


@case("server-paced cannot-tell", maybe="cpu",
      never="application-cpu backend slow-clients slow-network file php-workers database")
def export_is_compressed_at_level_nine(stage):
    """A page sends 24 MB of an export as fast as it is taken, which is some ms of PHP's time.
    Apache compresses it with DeflateCompressionLevel 9: some 0.25 s of its CPU a request, while PHP
    waits for its output to be taken. The client reads at once, and gets some 100 KB or more. One
    client: one CPU is free. True: the server itself sent slowly, because of a filter; or that
    nothing tells what Apache did. False: PHP computes or waits for a file, the client or the
    network is slow."""
    place = stage.place("alone")
    fpm = stage.fpm(10, "pm = static")
    apache = stage.apache("event", '<Location "/">\nSetOutputFilter DEFLATE\n</Location>\n'
                          "DeflateCompressionLevel 9\n", stock=True, fpm=fpm)
    page = apache.page("export.php", r"""<?php header('Content-Type: text/csv');
$line = ''; for ($i = 0; $i < 400; $i++)
    $line .= "$i;" . md5("$i") . ";customer " . $i % 17 . ";paid;2024-0" . $i % 9 . "-11\n";
for ($i = 0; $i < 1500; $i++) echo $line;
$r = getrusage(); """ + f"file_put_contents('{place}/' . getmypid(), 0 + "
                        "$r['ru_utime.tv_usec'] / 1e3 + $r['ru_utime.tv_sec'] * 1e3 + "
                        "$r['ru_stime.tv_usec'] / 1e3 . \"\\n\");")

    def seconds(encoding):
        began = time.monotonic()
        for _ in range(3):
            urllib.request.urlopen(urllib.request.Request(
                stage.url(page), headers={"Accept-Encoding": encoding})).read()
        return 1000 * (time.monotonic() - began) / 3
    plain, packed = seconds("identity"), seconds("gzip")
    run = stage.record(*stage.ab(page, 1, 15, "-H", "Accept-Encoding: gzip"))
    return witnessed(run, f"plain {plain:.0f} ms, compressed {packed:.0f} ms a request; CPU time "
                          f"of each FPM worker since its start (ms): {noted(place)}")


# Reads each body, answers at once, and knows nothing of "100 Continue", as many small servers.
NO_CONTINUE = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
log = open(sys.argv[2], "w")

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_expect_100(self):
        return True

    def do_POST(self):
        began = time.monotonic()
        left = int(self.headers["Content-Length"])
        first = self.rfile.read(1)
        came = time.monotonic()
        self.rfile.read(left - 1)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")
        print(f"{1000 * (came - began):.1f} {1000 * (time.monotonic() - came):.1f}", file=log,
              flush=True)

    def log_message(self, *words):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 256

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


@case("http", maybe="tail cold-start", light=True,
      never="php-workers cpu application-cpu slow-upload slow-network")
def api_that_never_says_continue(stage):
    """PHP sends 1.2 MB by POST to another server. cURL asks first (Expect: 100-continue, for bodies
    of more than 1 MB), the server does not know that, and so cURL waits for its own time-out, 1 s,
    before it sends the body. The server answers some milliseconds after that. True: PHP waited for
    another HTTP server, 1 s for each call. False: this server took the second to answer or let in
    one at a time; upload or network to our clients is slow. The cure is an empty header Expect in
    PHP."""
    log = stage.scratch / "api.log"
    stage.program("/usr/bin/python3", stage.script("api.py", NO_CONTINUE), 9113, log)
    stage.pause(1)
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("order.php", "<?php $c = curl_init('http://127.0.0.1:9113/orders'); "
                       "curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); curl_setopt($c, "
                       "CURLOPT_POSTFIELDS, str_repeat('x', 1200000)); curl_exec($c); echo 'done';")
    run = stage.record(*stage.ab(page, 8, 48))
    waits, works = zip(*[map(float, line.split()) for line in log.read_text().splitlines()])
    return witnessed(run, f"the API waited {statistics.mean(waits):.0f} ms for the body, and took "
                          f"{statistics.mean(works):.1f} ms from its first byte to the answer, "
                          f"{len(waits)} times")


@case("process", maybe="stream", never="php-workers sleep application-cpu http cpu", light=True)
def program_by_proc_open(stage):
    """PHP runs a converter as libraries do (Symfony's Process): proc_open(), then stream_select()
    and fread() on its pipes until it has ended, and proc_close(). The converter takes 0.12 s. True:
    PHP waited for a program that it started. "For a stream" is true of the call, and is not the
    cause; to look into the log of another end, or at a network, does not help. False: PHP sleeps,
    computes, or waits for another server; its 30 workers are too few."""
    place = stage.place("waited")
    tool = stage.script("convert", "#!/bin/sh\nsleep 0.12\necho converted\n")
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("thumb.php", f"""<?php $t = hrtime(true);
$p = proc_open(['{tool}'], [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
foreach ($pipes as $pipe) stream_set_blocking($pipe, false);
while ($pipes) {{
    $r = $pipes; $w = $e = null;
    if (stream_select($r, $w, $e, 0, 200000) === false) break;
    foreach ($r as $n => $pipe) {{
        fread($pipe, 16384);
        if (feof($pipe)) {{ fclose($pipe); unset($pipes[$n]); }}
    }}
}}
proc_close($p); {NOTE % place} echo 'done';""")
    run = stage.record(*stage.ab(page, 8, 200))
    return witnessed(run, f"from proc_open to proc_close: {noted(place)}")


# A syslog daemon that takes 60 messages a second: its disk is slow, or it sends them on.
SLOW_SYSLOG = """
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log")
os.chmod("/dev/log", 0o666)
log = open(sys.argv[1], "w")
while s.recv(8192):
    print("x", file=log, flush=True)
    time.sleep(1 / 60)
"""

# A /dev of the case's own, in which a socket can be made. It is moved away from the case's
# directory, which is emptied when the case ends: the machine's /dev/shm may not be below it then.
OWN_DEV = """
set -e
mount -t tmpfs -o mode=755 dev "$1"
for name in null zero full random urandom; do
    touch "$1/$name"
    mount --bind /dev/$name "$1/$name"
done
mkdir "$1/shm" "$1/pts"
mount -t tmpfs -o mode=1777 shm "$1/shm"
mount --rbind /dev/pts "$1/pts"
ln -s /proc/self/fd "$1/fd"
ln -s /proc/self/fd/0 "$1/stdin"
ln -s /proc/self/fd/1 "$1/stdout"
ln -s /proc/self/fd/2 "$1/stderr"
mount --move "$1" /dev
"""


@case("stream", says="stream error_log", light=True,
      never="php-workers application-cpu backend sleep lock file database cannot-tell")
def syslog_is_slow(stage):
    """PHP logs to syslog (error_log = syslog, 4 lines a request), and the syslog daemon takes only
    60 messages a second: its socket is full, so PHP waits in the sending of each line. That is 15
    requests a second in all, with 30 PHP workers of which 8 are busy. True: PHP waited
    to write to a log. False: PHP computes, Apache or its log is
    slow, workers ran out, a lock, a file or another server is waited for."""
    place, taken = stage.place("waited"), stage.scratch / "taken"
    own_dev = stage.place("dev")
    subprocess.run(["sh", "-c", OWN_DEV, "sh", own_dev], check=True)
    assert not any(own_dev.iterdir()), "it was not moved"
    stage.program("/usr/bin/python3", stage.script("syslogd.py", SLOW_SYSLOG), taken)
    stage.pause(0.5)
    fpm = stage.fpm(30, "pm = static", settings={"error_log": "syslog", "log_errors": "1"})
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("cart.php", "<?php $t = hrtime(true); for ($i = 0; $i < 4; $i++) "
                       "error_log('cart: the price of line ' . $i . ' is deprecated'); "
                       f"{NOTE % place} echo 'done';")
    run = stage.record(*stage.ab(page, 8, 100))
    return witnessed(run, f"four lines to the log took {noted(place)}; the daemon took "
                          f"{taken.read_text().count('x')} messages")
