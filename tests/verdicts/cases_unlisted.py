"""Faults of kinds that the documents do not list, planted without a look at the rules.

Ports 9101 to 9106 are those of the cases' own programs; a case is in a network of its own.
"""
import os
import socket
import subprocess
import time

import pages
from judge import case

# An application or service of the case: port, then for how long its answers take, in turn.
SERVICE = """
import itertools, socketserver, sys, time
from http.server import BaseHTTPRequestHandler
port, naps = int(sys.argv[1]), [float(word) for word in sys.argv[2:]]
count = itertools.count()

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        time.sleep(naps[next(count) % len(naps)])
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *words):
        pass

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 256

Server(("127.0.0.1", port), Handler).serve_forever()
"""

# Listens and accepts nothing: its queue is full, so the kernel drops each further SYN.
HANGING = """
import socket, sys, time
port = int(sys.argv[1])
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(0)
held = []
for _ in range(4):
    c = socket.socket()
    c.setblocking(False)
    c.connect_ex(("127.0.0.1", port))
    held.append(c)
time.sleep(120)
"""

# A log's program that takes some 200 KB a second.
SLOW_LOGGER = """
import os, time
while os.read(0, 2048):
    time.sleep(0.01)
"""

# Uses a CPU only while nothing else wants it.
IDLE_BURNER = """
import os
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    pass
"""


def service(stage, port, *naps):
    """Starts it, waits until it listens, and returns its URL."""
    stage.program("/usr/bin/python3", stage.script(f"service{port}.py", SERVICE), port, *naps)
    end = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return f"http://127.0.0.1:{port}/"
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


CALL = ("$c = curl_init('%s'); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); curl_exec($c); "
        "curl_close($c); ")


@case("backend cannot-tell", never="php-workers php-spawning php-connections apache-workers",
      light=True)
def few_connections_to_php(stage):
    """Apache's own limit on connections to FPM (ProxySet max=2, so 2 for each of its 2 children)
    makes requests wait inside mod_proxy, some 80 % of their time. PHP has 30 workers of which at
    most 4 are busy; more workers of either server change nothing, nor is PHP slow (60 ms).
    An honest tool says that requests waited on the way to PHP although PHP's workers were idle."""
    fpm = stage.fpm(30, "pm = static")
    apache = stage.apache(
        "event", f'<Proxy "unix:{fpm.socket}|fcgi://php-fpm">\n ProxySet max=2\n</Proxy>\n',
        stock=True, fpm=fpm, address="fcgi://php-fpm")
    return stage.record(*stage.ab(apache.page("nap.php", pages.nap(60)), 20, 250))


@case("backend", maybe="tail", never="accept-queue php-accept-queue", light=True)
def member_takes_no_connections(stage):
    """Of a balancer's two members one (port 9102) accepts no connections: its SYNs are dropped,
    each attempt waits for connectiontimeout, 1 s, and the request is then answered by the good
    member (9101, 10 ms) with 200. The kernel's count of overflows is that of this member's socket,
    not Apache's: Apache's accept queue is empty. The good member is not to blame."""
    service(stage, 9101, 0.01)
    stage.program("/usr/bin/python3", stage.script("hanging.py", HANGING), 9102)
    stage.pause(1)
    stage.apache(
        "event", '<Proxy "balancer://shop">\n'
                 ' BalancerMember "http://127.0.0.1:9101"\n'
                 ' BalancerMember "http://127.0.0.1:9102" connectiontimeout=1 retry=1\n'
                 '</Proxy>\nProxyPass "/app/" "balancer://shop/"\n',
        stock=True, modules=["proxy", "proxy_http", "proxy_balancer", "lbmethod_byrequests",
                             "slotmem_shm"])
    return stage.record(*stage.hey("/app/cart", 10, seconds=6, rate=5))


@case("client-beyond-server", maybe="keepalive client-errors answers-length", light=True)
def content_length_too_large(stage):
    """The page announces a Content-Length that is 6 bytes more than it sends (it measures before
    it trims), so clients that keep the connection wait for the rest until Apache closes it after
    KeepAliveTimeout, 1 s. The server knows of some milliseconds and did all work in these; it did
    not run out of anything. An honest tool says that the client saw a second that the server did
    not, after the server thought it was done."""
    apache = stage.apache(
        "prefork", "KeepAlive On\nMaxKeepAliveRequests 100\nKeepAliveTimeout 1\n", mod_php=True,
        limits="StartServers 30\nMinSpareServers 10\nMaxSpareServers 40\nMaxRequestWorkers 60\n"
               "MaxConnectionsPerChild 0")
    page = apache.page("catalogue.php", r"""<?php
ob_start();
echo "\n\n\n", str_repeat("<li>one line of the catalogue</li>\n", 1500), "\n\n";
header('Content-Length: ' . ob_get_length());
echo trim(ob_get_clean());
flush();
""")
    return stage.record(*stage.ab(page, 20, 80, "-k"))


@case("logging cannot-tell", never="server-paced php-workers application-cpu", light=True)
def error_log_pipe_is_slow(stage):
    """Each request logs 120 warnings of PHP. FPM sends them to Apache, whose error log is a pipe to
    a program that takes 200 KB a second: Apache's workers wait in the write to their error log,
    some 0.6 s a request. PHP is done after some milliseconds, FPM (the backend) is idle, and the
    access log is not slow. An honest tool that does not time error logs says that Apache itself
    took the time after PHP had ended, and that it cannot tell in what."""
    fpm = stage.fpm(20, "pm = static")
    logger = stage.script("logger.py", SLOW_LOGGER)
    apache = stage.apache(
        "event", '<VirtualHost *>\n ServerName shop.example\n LogLevel warn\n'
                 f' ErrorLog "|/usr/bin/python3 {logger}"\n</VirtualHost>\n', stock=True, fpm=fpm)
    page = apache.page("cart.php", r"""<?php
ini_set('error_log', '');
for ($i = 1; $i <= 120; $i++)
    error_log("PHP Deprecated:  Creation of dynamic property Line::price is deprecated in "
              . "/srv/shop/vendor/cart/Line.php on line $i");
echo 'done';
""")
    return stage.record(*stage.ab(page, 10, 60))


@case("slow-clients php-workers", also="slow-clients php-workers",
      never="file disk application-cpu php-spawning", light=True)
def downloads_through_php(stage):
    """Two causes: clients read slowly (less than 1 MB/s each), and a script hands the downloads out
    with readfile(), so each slow client holds one of PHP's 5 workers and the other 7 clients wait
    for one. readfile() waits for its output to be taken, not for the file: the file is 1.2 MB in
    the page cache, and no disk or file is slow. The cure is to let Apache send the file."""
    fpm = stage.fpm(5, "pm = static")
    apache = stage.apache("event", "SendBufferSize 65536\n", stock=True, fpm=fpm)
    manual = stage.scratch / "manual.pdf"
    manual.write_bytes(os.urandom(1200000))
    manual.chmod(0o644)
    page = apache.page("download.php", "<?php header('Content-Type: application/pdf'); "
                                       f"readfile('{manual}');")
    return stage.record(*stage.python(pages.SLOW_READERS, apache.port, 12, page))


@case("answers-5xx requests-died", also="http", maybe="child-churn backend cold-start", light=True,
      never="php-workers php-spawning")
def killed_while_api_is_slow(stage):
    """Two causes: the API that the page asks is slow (0.5 s for three of ten requests, 3 s for one
    of ten), and FPM's request_terminate_timeout of 1 s kills the workers of the latter, which
    clients see as 503 after 1.0 to 1.4 s. FPM is not down, did not crash by itself, and has workers
    enough; pm.max_requests has nothing to do with the ends of its workers."""
    url = service(stage, 9103, 3, 0.5, 0.01, 0.01, 0.5, 0.01, 0.01, 0.5, 0.01, 0.01)
    fpm = stage.fpm(25, "pm = static", pool="request_terminate_timeout = 1s")
    apache = stage.apache("event", stock=True, fpm=fpm)
    return stage.record(*stage.ab(apache.page("pay.php", pages.fetch(url)), 10, 150))


@case("php-workers", light=True)
def work_after_the_answer(stage):
    """The page answers at once and then works on (fastcgi_finish_request(), then 0.25 s for a
    tracking service), so its PHP worker is held for 0.25 s although the answer took 2 ms. All 5
    workers are busy with that, and requests wait for one. The cause is what PHP waits for after
    the answer: another HTTP server. A tool that only says that 5 workers are too few knows half."""
    url = service(stage, 9104, 0.25)
    fpm = stage.fpm(5, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("hit.php", "<?php echo 'done'; fastcgi_finish_request(); " + CALL % url)
    return stage.record(*stage.ab(page, 12, 90))


@case("sleep lock php-workers", also="sleep", maybe="cache http", light=True)
def spin_lock_in_redis(stage):
    """Pages take a lock in Redis (SET NX) that lets in one at a time, hold it during a call of
    25 ms, and poll for it with usleep(5000). The time that PHP sleeps is the wait for the lock: a
    rate of some 35/s is all there is, however many workers PHP has (8, all busy), and neither
    Redis nor the called service is slow. Advice to raise pm.max_children, or a higher rate
    predicted for it, is wrong."""
    redis = stage.redis()
    url = service(stage, 9105, 0.025)
    fpm = stage.fpm(8, "pm = static")
    apache = stage.apache("event", stock=True, fpm=fpm)
    page = apache.page("buy.php", "<?php $r = new Redis(); "
                       f"$r->connect('127.0.0.1', {redis.port}); "
                       "while (!$r->set('lock:stock', getmypid(), ['nx', 'px' => 10000])) "
                       "usleep(5000); " + CALL % url + "$r->del('lock:stock'); echo 'done';")
    return stage.record(*stage.ab(page, 16, 140))


@case("checks database", also="checks database", maybe="cpu application-cpu",
      never="dns memory-neighbour")
def costly_password_and_many_queries(stage):
    """Two causes, for one client alone: Basic authentication checks a bcrypt hash (cost 10) for
    every request, 40 to 100 ms of a CPU in Apache; and the page asks the database 700 small
    queries one after the other, each fast. No name is looked up, no query is slow, no program that
    is foreign to the site uses CPUs: mariadbd's CPU time is the page's own queries. About half of
    the 2 CPUs is free."""
    database = stage.mariadb()
    made = subprocess.run([stage.php_cli(), "-n", "-r",
                           'echo password_hash("secret", PASSWORD_BCRYPT, ["cost" => 10]);'],
                          text=True, capture_output=True, check=True).stdout.strip()
    users = stage.script("users", f"kim:{made}\n")
    fpm = stage.fpm(5, "pm = static")
    apache = stage.apache(
        "event", '<LocationMatch "orders\\.php$">\n AuthType Basic\n AuthName shop\n'
                 f' AuthBasicProvider file\n AuthUserFile "{users}"\n Require valid-user\n'
                 '</LocationMatch>\n', stock=True, fpm=fpm,
        modules=["auth_basic", "authn_core", "authn_file", "authz_core", "authz_user"])
    page = apache.page("orders.php", "<?php $db = new mysqli('127.0.0.1', 'root', '', '', "
                       f"{database.port}); for ($i = 0; $i < 700; $i++) "
                       "$db->query(\"SELECT $i AS id, SHA2($i, 256) AS name\")->fetch_assoc(); "
                       "echo 'done';")
    return stage.record(*stage.ab(page, 1, 60, "-A", "kim:secret"))


@case("nothing", maybe="generator", never="cpu cpu-stolen checks tail")
def healthy_under_idle_jobs(stage):
    """Healthy: two batch jobs of the class SCHED_IDLE use whatever of the 2 CPUs is left, so the
    machine shows 100 % busy and a load of 2, but they give way at once. 160 requests a second for
    a small file, as many as the paced load wants, are answered in well under a millisecond, and
    would be no faster without these jobs. To say that other programs hurt is wrong."""
    apache = stage.apache("event", stock=True)
    page = apache.page("catalogue.html", "<li>one line of the catalogue</li>\n" * 300)
    burner = stage.script("burner.py", IDLE_BURNER)
    for _ in range(2):
        stage.program("/usr/bin/python3", burner)
    stage.pause(0.5)
    return stage.record(*stage.hey(page, 8, seconds=5, rate=20))
