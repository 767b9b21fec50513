"""What PHP's requests waited for: which kind, which other end, how long. The witnesses are the
scripts' own clocks, the servers that they waited for, and the kernel."""
import concurrent.futures
import fcntl
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import build
import data_servers
import php
import php_records
import processes
import tool
from backend import HTTPBackend
from fpm import FPM
from php_site import (MS, Site, check_sum, check_wait, connect, needs, needs_extension, needs_version,
                      seconds, slack, timed, waiting_for_rows)
from processes import wait_until
from recording import has_begun

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
FEW = 0.05          # of a time: how far witnesses may be apart


@pytest.fixture
def site():
    with Site() as started:
        yield started


@pytest.fixture(scope="module")
def mariadb():
    with needs(data_servers.MariaDB, "mysqli", "pdo_mysql") as server:
        yield server


# ---- database -----------------------------------------------------------------------------

@pytest.mark.parametrize("how, query", [
    ("mysqli", '$db->query("SELECT SLEEP(0.2)")'),
    ("mysqli", '$s = $db->prepare("SELECT SLEEP(?)"); $t = 0.2; $s->bind_param("d", $t); '
               '$s->execute(); $s->get_result()'),
    ("mysqli, procedural", 'mysqli_query($db, "SELECT SLEEP(0.2)")'),
    ("mysqli, real_connect", '$db->real_query("SELECT SLEEP(0.2)"); $db->store_result()'),
    ("mysqli, a subclass", '$db->query("SELECT SLEEP(0.2)")'),
    ("mysqli, socket", '$db->query("SELECT SLEEP(0.2)")'),
    ("PDO", '$db->query("SELECT SLEEP(0.2)")'),
    ("PDO", '$s = $db->prepare("SELECT SLEEP(?)"); $s->execute([0.2])'),
    ("PDO", '$db->beginTransaction(); $db->exec("DO SLEEP(0.2)"); $db->commit()'),
    ("PDO, socket", '$db->query("SELECT SLEEP(0.2)")'),
])
def test_a_slow_query(site, mariadb, how, query):
    wall = int(site.ask(timed(query, connect(mariadb)[how])))
    [record] = site.records(1)
    # The connection is made before the script's clock starts.
    check_wait(record, "database", 200 * MS, record["run_ns"])
    assert wall <= record["waits"]["database"] + slack(record)
    name = "mysql localhost" if "socket" in how else f"mysql 127.0.0.1:{mariadb.port}"
    end = site.ends()[name]
    assert end["kind"] == "database" and end["failed"] == 0
    assert end["seconds"] == seconds(record["waits"]["database"])
    assert [e["kind"] for e in record["longest"]] == ["database"]
    assert set(site.ends()) == {name}


class LateServer:
    """Its queue has no room when the first request comes, so that connecting takes the time until
    the kernel tries again, a second. Its answer comes `ANSWER` seconds after that."""
    ANSWER = 0.4

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.port = self.listener.getsockname()[1]
        self.filler = socket.create_connection(("127.0.0.1", self.port))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def is_awaited(self):
        """Whether a client has sent its SYN, and got no answer."""
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return any(row[2] == f"0100007F:{self.port:04X}" and row[3] == "02" for row in rows)

    def serve(self):
        wait_until(self.is_awaited, 30, "a connection without room")
        self.listener.accept()[0].close()
        connection = self.listener.accept()[0]
        connection.recv(65536)
        time.sleep(self.ANSWER)
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\ndone")
        connection.close()

    def __exit__(self, *_):
        self.thread.join(60)
        self.filler.close()
        self.listener.close()


@pytest.mark.parametrize("text", [
    '$c = curl_init("http://127.0.0.1:{port}/"); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); '
    'curl_exec($c);',
    '$s = fsockopen("127.0.0.1", {port}); fwrite($s, "GET / HTTP/1.0\r\n\r\n"); '
    'while (!feof($s)) fread($s, 8192);'], ids=["curl", "fsockopen"])
def test_connecting_apart_from_talking(site, text):
    if "curl" in text:
        needs_extension("curl")
    with LateServer() as server:
        site.ask(text.format(port=server.port))
    (end,) = [end for name, end in site.ends().items() if str(server.port) in name]
    connecting, all_of_it = float(end["connect_seconds"]), float(end["seconds"])
    assert connecting > 0.9, end
    assert all_of_it - connecting > server.ANSWER / 2, end


def test_a_row_that_another_client_has_locked(site, mariadb):
    """The request waits until the other client commits."""
    db = connect(mariadb)["PDO"]
    site.ask(f'{db}; $db->exec("CREATE OR REPLACE TABLE mysql.held (id INT PRIMARY KEY, n INT)"); '
             '$db->exec("INSERT INTO mysql.held VALUES (1, 1)");')
    holder = subprocess.Popen(
        [php.CLI, "-r", f'{db}; $db->beginTransaction(); '
         '$db->exec("UPDATE mysql.held SET n = 2"); echo "held\n"; fgets(STDIN); $db->commit();'],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(site.ask, timed(f'$db->exec("UPDATE mysql.held SET n = 3")', db))
            wait_until(lambda: answer.done() or "mysql" in waiting_for_rows(mariadb), 60,
                       "the request to wait")
            assert not answer.done(), answer.result()
            holder.communicate("\n", timeout=30)
            wall = int(answer.result(60))
    finally:
        processes.end(holder)
    record = site.records(2)[-1]
    check_wait(record, "database", wall, record["run_ns"])
    assert record["waits"]["database"] > record["run_ns"] / 2


@pytest.mark.parametrize("how", ["mysqli", "PDO"])
def test_fifty_small_queries(site, mariadb, how):
    """The server's own sum of its statements is within the wait; calls are counted one by one."""
    text = (connect(mariadb)[how] + '; $id = "(SELECT thread_id FROM performance_schema.threads '
            'WHERE processlist_id = CONNECTION_ID())"; '
            'for ($i = 0; $i < 50; $i++) $db->query("SELECT SLEEP(0.004), $i"); '
            '$r = $db->query("SELECT COUNT(*) n, SUM(timer_wait) DIV 1000 AS ns FROM '
            'performance_schema.events_statements_history_long WHERE thread_id = $id '
            'AND sql_text LIKE \'SELECT SLEEP(0.004)%\'"); '
            'echo json_encode($r instanceof PDOStatement ? $r->fetch() : $r->fetch_assoc());')
    said = json.loads(site.ask(text))
    [record] = site.records(1)
    assert int(said["n"]) == 50
    check_wait(record, "database", int(said["ns"]), record["run_ns"])
    assert record["longest"][0]["calls"] == 52 == site.label()["waits"]["database"]


def test_a_query_that_fails(site, mariadb):
    site.ask(connect(mariadb)["PDO"] + '; try { $db->query("SELECT no FROM nowhere"); } '
             'catch (PDOException $e) {} '
             '$db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT); $db->query("no SQL"); '
             'try { new PDO("mysql:host=127.0.0.1;port=1", "x"); } catch (PDOException $e) {}')
    ends = site.ends()
    assert (ends[f"mysql 127.0.0.1:{mariadb.port}"]["calls"],
            ends[f"mysql 127.0.0.1:{mariadb.port}"]["failed"]) == (3, 2)
    assert (ends["mysql 127.0.0.1:1"]["calls"], ends["mysql 127.0.0.1:1"]["failed"]) == (1, 1)
    assert site.label()["waits_failed"]["database"] == 3


# libpq waits for a lock of gettext's for ever where AddressSanitizer is preloaded.
WITHOUT_ADDRESS_SANITIZER = pytest.mark.skipif(build.SANITIZE_ADDRESS,
                                               reason="libpq hangs with AddressSanitizer")


@WITHOUT_ADDRESS_SANITIZER
def test_postgresql(site):
    with needs(data_servers.PostgreSQL, "pgsql", "pdo_pgsql") as server:
        port = server.port
        for connection, query in (
                (f'$db = pg_connect("host=127.0.0.1 port={port} user=tester dbname=postgres")',
                 'pg_query($db, "SELECT pg_sleep(0.2)")'),
                (f'$db = pg_connect("host=127.0.0.1 port={port} user=tester dbname=postgres")',
                 'pg_query_params($db, "SELECT pg_sleep($1)", [0.2])'),
                (f'$db = new PDO("pgsql:host=127.0.0.1;port={port};dbname=postgres", "tester")',
                 '$db->query("SELECT pg_sleep(0.2)")')):
            site.ask(timed(query, connection))
        for record in site.records(3):
            check_wait(record, "database", 200 * MS, record["run_ns"])
        assert {n: e["calls"] for n, e in site.ends().items()} == {f"pgsql 127.0.0.1:{port}": 6}


def test_sqlite_files_that_another_has_locked(site):
    """PDO and SQLite3 wait for a lock as long as their time-out says, and fail."""
    path = site.fpm.root / "run" / "data.sqlite"
    site.ask(f'(new PDO("sqlite:{path}"))->exec("CREATE TABLE t (n INT)");')
    with sqlite3.connect(path, isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        site.ask(f'$db = new PDO("sqlite:{path}"); $db->setAttribute(PDO::ATTR_TIMEOUT, 1); '
                 'try { $db->exec("INSERT INTO t VALUES (1)"); } catch (PDOException $e) {}')
        site.ask(f'$db = new SQLite3("{path}"); $db->busyTimeout(300); '
                 '@$db->exec("INSERT INTO t VALUES (1)");')
        holder.execute("ROLLBACK")
    one, two = site.records(3)[1:]
    check_wait(one, "database", 900 * MS, one["run_ns"])
    check_wait(two, "database", 250 * MS, two["run_ns"])
    assert one["longest"][0]["failed"] == two["longest"][0]["failed"] == 1
    assert set(site.ends()) == {"sqlite"}


# ---- cache --------------------------------------------------------------------------------

def test_redis(site):
    with needs(data_servers.Redis, "redis") as server:
        wall = int(site.ask(timed(
            '$r->blPop(["nothing"], 1); $r->set("a", 1); $r->get("a")',
            f'$r = new Redis; $r->connect("127.0.0.1", {server.port})')))
        [record] = site.records(1)
        check_wait(record, "cache", 1000 * MS, record["run_ns"])
        assert wall <= record["waits"]["cache"] + slack(record)
        assert site.ends()[f"redis 127.0.0.1:{server.port}"]["calls"] >= 4


def test_memcached(site):
    with needs(data_servers.Memcached, "memcached") as server:
        site.ask(f'$m = new Memcached; $m->addServer("127.0.0.1", {server.port}); '
                 '$m->set("a", 1); if ($m->get("a") !== 1) echo "not kept";')
        [record] = site.records(1)
        check_sum(record)
        assert site.ends()[f"memcached 127.0.0.1:{server.port}"]["calls"] == 2


# ---- http and streams ---------------------------------------------------------------------

class ClosingBackend(HTTPBackend):
    def serve(self, connection, stream):
        super().serve(connection, stream)
        return False


@pytest.mark.parametrize("text, kind", [
    ('$c = curl_init("{url}"); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); curl_exec($c)',
     "http"),
    ('$c = curl_init(); curl_setopt_array($c, [CURLOPT_URL => "{url}", '
     'CURLOPT_RETURNTRANSFER => true]); $d = curl_copy_handle($c); curl_exec($d)', "http"),
    ('$c = curl_init(); curl_setopt($c, CURLOPT_URL, "{url}"); ob_start(); curl_exec($c); '
     'ob_end_clean()', "http"),
    ('file_get_contents("{url}")', "http"),
    ('$f = fopen("{url}", "r"); stream_get_contents($f)', "http"),
    ('$f = fsockopen("127.0.0.1", {port}); fwrite($f, "GET / HTTP/1.0\\r\\n\\r\\n"); fgets($f)',
     "tcp"),
    ('$f = stream_socket_client("tcp://127.0.0.1:{port}"); '
     'fwrite($f, "GET / HTTP/1.0\\r\\n\\r\\n"); fread($f, 10)', "tcp"),
    ('$s = socket_create(AF_INET, SOCK_STREAM, SOL_TCP); socket_connect($s, "127.0.0.1", {port}); '
     'socket_write($s, "GET / HTTP/1.0\\r\\n\\r\\n"); socket_read($s, 10)', "tcp"),
], ids=["curl", "curl, a copy", "curl_setopt", "file_get_contents", "fopen", "fsockopen",
        "stream_socket_client", "sockets"])
def test_a_backend_that_takes_its_time(site, text, kind):
    with ClosingBackend(delay=0.2) as backend:
        url = f"http://user:secret@127.0.0.1:{backend.port}/path?query=secret"
        wall = int(site.ask(timed(text.replace("{url}", url)
                                  .replace("{port}", str(backend.port)))))
    [record] = site.records(1)
    check_wait(record, "stream" if kind == "tcp" else "http", 200 * MS, wall)
    assert set(site.ends()) == {f"{kind} 127.0.0.1:{backend.port}"}


def test_a_backend_that_is_not_there(site):
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    site.ask(f'@file_get_contents("http://127.0.0.1:{port}/"); $c = curl_init("127.0.0.1:{port}"); '
             f'curl_exec($c); @fsockopen("127.0.0.1", {port});')
    ends = site.ends()
    assert (ends[f"http 127.0.0.1:{port}"]["calls"], ends[f"http 127.0.0.1:{port}"]["failed"]) \
        == (2, 2)
    assert ends[f"tcp 127.0.0.1:{port}"]["failed"] == 1


# ---- locks --------------------------------------------------------------------------------

def test_two_requests_of_one_session():
    """The second waits until the first ends; the first's own sleep is not a lock. PHP 8.6 takes no
    id that it has not made, unless its strict mode is off."""
    session = ('ini_set("session.use_strict_mode", 0); '
               'ini_set("session.save_path", __DIR__ . "/run"); ini_set("session.use_cookies", 0); '
               'session_id("shared"); session_start(); ')
    with Site(children=2) as site:
        begun = site.fpm.root / "run" / "begun"
        first = site.script(session + f'touch("{begun}"); usleep(300000);', "first.php")
        second = site.script(session, "second.php")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            one = pool.submit(php.fastcgi, site.fpm.socket, first)
            wait_until(begun.exists, 30, "the first request to have the lock")
            assert php.fastcgi(site.fpm.socket, second)[0] == one.result(60)[0] == 200
        records = {Path(r["script"]).name: r for r in site.records(2)}
        sleeper, waiter = records["first.php"], records["second.php"]
        check_wait(sleeper, "sleep", 300 * MS, sleeper["run_ns"])
        # The first gives the session up as its last act, before it is over.
        together = sleeper["start_ns"] + sleeper["run_ns"] - waiter["start_ns"]
        check_wait(waiter, "lock", 0, waiter["run_ns"])
        assert waiter["waits"]["lock"] <= max(together, 0) + slack(waiter)
        assert waiter["waits"]["lock"] + slack(waiter) + waiter["run_ns"] * FEW >= \
            together - slack(sleeper) - sleeper["run_ns"] * FEW
        assert site.ends()["lock session"]["calls"] == 2


def test_flock_that_another_process_holds(site):
    """Its holder gives it up when it has seen the request wait (/proc/locks)."""
    path = site.fpm.root / "run" / "lock"
    path.touch()
    path.chmod(0o666)
    with open(path) as held, concurrent.futures.ThreadPoolExecutor() as pool:
        fcntl.flock(held, fcntl.LOCK_EX)
        answer = pool.submit(site.ask, timed('flock($f, LOCK_EX)', f'$f = fopen("{path}", "r")'))
        wait_until(lambda: "-> FLOCK" in Path("/proc/locks").read_text(), 30, "a blocked flock")
        fcntl.flock(held, fcntl.LOCK_UN)
        wall = int(answer.result(60))
    [record] = site.records(1)
    check_wait(record, "lock", wall, wall)
    assert site.ends()["lock flock"]["calls"] == 1


# ---- processes, sleep, names, files -------------------------------------------------------

@pytest.mark.parametrize("text, kind, name, calls, least", [
    ('exec("sleep 0.2")', "process", "process", 1, 200),
    ('`sleep 0.2`', "process", "process", 1, 200),
    ('system("sleep 0.2")', "process", "process", 1, 200),
    ('passthru("sleep 0.2")', "process", "process", 1, 200),
    ('pclose(popen("sleep 0.2", "r"))', "process", "process", 2, 200),
    ('$p = popen("sleep 0.2; echo x", "r"); fgets($p)', "process", "process", 2, 200),
    ('$p = proc_open(["sleep", "0.2"], [], $x); proc_close($p)', "process", "process", 1, 200),
    ('usleep(100000); time_nanosleep(0, 100000000)', "sleep", "sleep", 2, 200),
    ('time_sleep_until(microtime(true) + 0.2)', "sleep", "sleep", 1, 190),
    ('gethostbyname("localhost")', "dns", "dns", 1, 0),
    ('$f = fopen("{run}/file", "w"); fwrite($f, str_repeat("x", 100000)); fsync($f)', "file",
     "file", 3, 0),
    ('file_put_contents("{run}/a", "x"); copy("{run}/a", "{run}/b"); rename("{run}/b", "{run}/c"); '
     'file_get_contents("{run}/c")', "file", "file", 4, 0),
    ('[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0); $r = [$a]; '
     '$w = $e = []; stream_select($r, $w, $e, 0, 200000)', "stream", "stream select", 1, 199),
], ids=str)
def test_what_it_waited_for(site, text, kind, name, calls, least):
    if "fsync" in text:
        needs_version(8, 1, "fsync()")
    wall = int(site.ask(timed(text.replace("{run}", str(site.fpm.root / "run")))))
    [record] = site.records(1)
    check_wait(record, kind, least * MS, wall)
    assert sum(record["waits"].values()) == record["waits"][kind]
    assert {n: (e["kind"], e["calls"]) for n, e in site.ends().items()} == {name: (kind, calls)}


def test_what_does_not_wait_is_not_there(site):
    site.ask('for ($i = 0; $i < 1000; $i++) md5($i); $f = fopen("php://memory", "w+"); '
             'fwrite($f, "x"); rewind($f); fread($f, 1); file_get_contents("data:,x"); echo "x";')
    [record] = site.records(1)
    check_sum(record)
    assert set(record["waits"].values()) == {0} and not record["longest"] and not site.ends()


# ---- the sum ------------------------------------------------------------------------------

MIXED = [
    "usleep(mt_rand(0, 3000));",
    "for ($i = 0; $i < 200; $i++) usleep(10);",
    "for ($until = hrtime(true) + 5000000; hrtime(true) < $until;) md5('x');",
    "exec('true'); usleep(100); file_get_contents(__FILE__); gethostbyname('localhost');",
    "$f = new Fiber(function () { usleep(500); Fiber::suspend(); usleep(500); }); $f->start(); "
    "usleep(500); $f->resume();",
    "register_shutdown_function('usleep', 1000); no_such_function();",
    "fastcgi_finish_request(); usleep(2000);",
    "set_error_handler(fn() => true); sleep(0); @file_get_contents('http://127.0.0.1:1/');",
    "",
]


def test_the_parts_are_never_more_than_the_whole():
    """Of every record of a mixed load on a machine kept busy; and they are what is counted."""
    with Site(children=4) as site:
        scripts = [site.script(text, f"mixed{n}.php") for n, text in enumerate(MIXED)]
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                for _ in range(os.cpu_count())]
        try:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(lambda n: php.fastcgi(site.fpm.socket,
                                                              scripts[n % len(scripts)]),
                                        range(40 * len(scripts))))
        finally:
            for process in busy:
                process.kill()
                process.wait()
        assert {status for status, _ in answers} == {200}
        records = site.records(len(answers))
        for record in records:
            check_sum(record)
            for end in record["longest"]:
                assert 0 < end["calls"] and end["wait_ns"] <= record["waits"][end["kind"]]
            times = [end["wait_ns"] for end in record["longest"]]
            assert times == sorted(times, reverse=True)
        label, ends = site.label(), site.ends()
        for kind in php_records.KINDS:
            total = seconds(sum(record["waits"][kind] for record in records))
            assert label["waits_seconds"][kind] == total
            assert sum(e["seconds"] for e in ends.values() if e["kind"] == kind) == total
            assert label["waits"][kind] == sum(e["calls"] for e in ends.values()
                                               if e["kind"] == kind)
        assert label["cpu_wait_seconds"] == seconds(sum(r["cpu_wait_ns"] for r in records))


def run_delay(pid):
    return int(processes.read(pid, "schedstat").split()[1])


def test_waiting_for_a_cpu_that_others_use():
    """cpu_wait is the scheduler's run delay: at least what the script reads of it within, at most
    what there is before and after the request; and no other wait has it."""
    cpu = str(min(os.sched_getaffinity(0)))
    text = ('function delay() { return (int)explode(" ", file_get_contents('
            '"/proc/thread-self/schedstat"))[1]; } $before = delay(); '
            'for ($i = 0; $i < 300000; $i++) md5($i); usleep(20000); exec("true"); '
            'echo delay() - $before;')
    with Site(wrapper=["taskset", "-c", cpu]) as site:
        busy = [subprocess.Popen(["taskset", "-c", cpu, sys.executable, "-c", "while True: pass"])
                for _ in range(2)]
        try:
            [worker] = site.fpm.workers()
            before = run_delay(worker)
            within = int(site.ask(text))
            [record] = site.records(1)
            around = run_delay(worker) - before
        finally:
            for process in busy:
                process.kill()
                process.wait()
    check_sum(record)
    left = record["run_ns"] - record["user_ns"] - record["system_ns"] - \
        sum(record["waits"].values())
    assert min(within, left) <= record["cpu_wait_ns"] <= around
    assert record["cpu_wait_ns"] >= within * (1 - FEW)
    check_wait(record, "sleep", 20 * MS, record["run_ns"])


# ---- settings, descriptors, other SAPIs ---------------------------------------------------

def test_it_can_be_turned_off_for_a_pool():
    pools = "".join(f"[{name}]\nlisten = @ROOT@/{name}.sock\nlisten.mode = 0666\npm = static\n"
                    f"pm.max_children = 1\nphp_admin_value[mpmstat.{name}] = 0\n"
                    + ("user = www-data\ngroup = www-data\n" if os.geteuid() == 0 else "")
                    for name in ("waits", "ends"))
    with Site(pool=pools) as site:
        script = site.script("usleep(1000); @fsockopen('127.0.0.1', 1);")
        for name in ("waits", "ends"):
            assert php.fastcgi(site.fpm.root / f"{name}.sock", script)[0] == 200
        without, unnamed = site.records(2)
        check_sum(without)
        check_sum(unnamed)
        assert without["waits"] is None and not without["longest"]
        assert unnamed["waits"]["sleep"] > 0 and {e["end"] for e in unnamed["longest"]} == {0}
        ends = site.ends()
        assert set(ends) == {"other"}
        assert (ends["other"]["calls"], ends["other"]["failed"]) == (2, 1)


def test_one_descriptor_is_kept_for_the_run_delay(site):
    """By each worker, of its own thread; none by the master, none by what a script starts."""
    def held(pid):
        return [path for path in processes.open_files(pid).values() if "schedstat" in path]

    for _ in range(3):
        inherited = site.ask('echo shell_exec("ls -l /proc/self/fd");')
        assert "schedstat" not in inherited
    [worker] = site.fpm.workers()
    assert held(worker) == [f"/proc/{worker}/task/{worker}/schedstat"]
    assert held(site.fpm.pid) == []


def test_a_chroot_without_proc():
    """What is measured there was opened before."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with Site(pool="chroot = @ROOT@") as site:
        (site.fpm.root / "in.php").write_text("<?php usleep(20000); echo file_exists('/proc');")
        assert php.fastcgi(site.fpm.socket, "/in.php") == (200, "")
        [record] = site.records(1)
    check_wait(record, "sleep", 20 * MS, record["run_ns"])
    assert record["cpu_wait_ns"] is not None


SCRIPT = "<?php usleep(50000); file_get_contents(__FILE__); array_map('usleep', [1000]);"


def check_board(board):
    records = wait_until(lambda: php_records.records(board), 30, "a record")
    for record in records:
        check_wait(record, "sleep", 51 * MS, record["run_ns"])
        assert record["cpu_wait_ns"] is not None
    ends = {end["name"]: end["calls"] for end in tool.status(board)["ends"]}
    assert ends == {"sleep": 2 * len(records), "file": len(records)}


def test_mod_php(php_server, php_boards):
    """Also after a graceful restart, which loads PHP anew."""
    apache = php_server("prefork", settings=php.settings(php_boards))
    apache.page("wait.php", SCRIPT)
    assert apache.get("/wait.php").status == 200
    apache.restart()
    assert apache.get("/wait.php").status == 200
    check_board(php.board(php_boards, "apache2handler"))


def test_cgi(server, php_boards, tmp_path):
    if not php.CGI:
        pytest.skip("needs php-cgi")
    php_boards.chmod(0o1777)
    ini = php_boards / "ini"
    ini.mkdir()
    php.write_ini(ini, php.settings(php_boards))
    script = tmp_path / "wait.php"
    script.write_text(SCRIPT)
    subprocess.run([php.CGI], check=True, capture_output=True, cwd="/", timeout=30, env={
        "PATH": build.PATH, "PHPRC": str(ini), "GATEWAY_INTERFACE": "CGI/1.1",
        "REQUEST_METHOD": "GET", "REDIRECT_STATUS": "200", "SCRIPT_FILENAME": str(script)})
    check_board(php.board(php_boards, "cgi-fcgi"))


@pytest.mark.parametrize("jit", [None, "tracing", "function"])
def test_opcache_and_its_compiler(jit):
    """Hot loops are compiled to machine code, which calls the same functions."""
    if jit:
        needs_version(8, 0, "a JIT")
    text = ('function hot() { $n = 0; for ($i = 0; $i < 2000; $i++) { usleep(1); $n += $i; } '
            'return $n; } hot(); $status = opcache_get_status(false); '
            'echo json_encode([$status["opcache_enabled"], $status["jit"]["on"] ?? false]);')
    settings = {"opcache.jit": jit, "opcache.jit_buffer_size": "16M"} if jit else {}
    fpm = FPM(1, settings={"opcache.enable": 1, **settings,
                           **php.settings("@ROOT@/run", journal=1024)})
    with fpm:
        script = fpm.script("hot.php", "<?php " + text)
        os.utime(script, (1e9, 1e9))
        for _ in range(3):
            status, body = php.fastcgi(fpm.socket, script)
            assert (status, json.loads(body)) == (200, [True, jit is not None])
        found = wait_until(lambda: [r for r in [php_records.records(fpm.board)] if len(r) == 3],
                           30, "three records")[0]
        for record in found:
            check_sum(record)
            assert record["longest"][0]["calls"] == 2000


def test_after_fastcgi_finish_request(site):
    """The worker is at the request until its script ends, which the client does not see."""
    body = site.ask('echo "x"; fastcgi_finish_request(); usleep(200000); '
                    'register_shutdown_function("usleep", 20000);')
    assert body == "x"
    [record] = site.records(1)
    check_wait(record, "sleep", 220 * MS, record["run_ns"])
    assert record["longest"][0]["calls"] == 2


@pytest.mark.parametrize("after", [0, 30])
def test_a_client_that_goes_away_within_a_call(site, after):
    """PHP leaves the session's handler as it writes to nobody: the call has no return value. It has
    ended when a shutdown function sleeps, for so many milliseconds after it."""
    script = site.script(
        (f"register_shutdown_function('usleep', {after * 1000}); " if after else "") +
        "class H implements SessionHandlerInterface {"
        "function open($p, $n): bool { usleep(20000); for (;;) { echo str_repeat('x', 9000); flush(); } }"
        "function close(): bool { return true; } function read($i): string { return ''; }"
        "function write($i, $d): bool { return true; } function destroy($i): bool { return true; }"
        "function gc($l): int { return 0; } } session_set_save_handler(new H, false);"
        "ini_set('session.use_cookies', 0); ini_set('session.cache_limiter', ''); session_start();")
    php.fastcgi(site.fpm.socket, script, leave=True)
    [record] = site.records(1)
    check_wait(record, "lock", 20 * MS, record["run_ns"])
    expected = [("lock", 1, 1)]
    if after:
        check_wait(record, "sleep", after * MS, record["run_ns"])
        expected.append(("sleep", 1, 0))
    assert sorted((e["kind"], e["calls"], e["failed"]) for e in record["longest"]) == expected


def test_mail():
    """mail() waits for the program that takes it."""
    with Site(settings={"sendmail_path": '"cat >/dev/null; sleep 0.2; true"'}) as site:
        wall = int(site.ask(timed('mail("nobody@localhost", "subject", "text")')))
        [record] = site.records(1)
        check_wait(record, "mail", 200 * MS, wall)
        assert {n: e["calls"] for n, e in site.ends().items()} == {"mail": 1}


def test_soap():
    with ClosingBackend(delay=0.2) as backend, Site() as site:
        needs_extension("soap")
        wall = int(site.ask(timed(
            '$c = new SoapClient(null, ["location" => "http://127.0.0.1:%d/x", "uri" => "x"]); try { $c->__soapCall("f", []); } catch (SoapFault $e) {}' % backend.port)))
        [record] = site.records(1)
        check_wait(record, "http", 200 * MS, wall)
        assert {n: e["calls"] for n, e in site.ends().items()} == {
            f"http 127.0.0.1:{backend.port}": 1}


@WITHOUT_ADDRESS_SANITIZER
def test_ports_and_hosts_in_names(site):
    """Nothing but these is in a name, whatever a script passes."""
    site.ask('foreach (["http://u:p@[::1]:1/x", "https://LOCALHOST:1?q", "http://127.0.0.1:1#f", '
             '"ftp://u:p@127.0.0.1:1/x"] as $url) @file_get_contents($url); '
             '@stream_socket_client("unix:///secret/path"); @fsockopen("udp://127.0.0.1", 9); '
             '@stream_socket_client("127.0.0.1:1"); @fopen("/secret/path", "r"); '
             'foreach (["mysql:unix_socket=/secret;user=u", "pgsql:host=/secret;password=p", '
             '"pgsql:host=127.0.0.1;port=1;user=u", "sqlite:/secret/path"] as $dsn) '
             'try { new PDO($dsn, "user", "secret"); } catch (PDOException $e) {}')
    assert set(site.ends()) == {
        "http [::1]:1", "http localhost:1", "http 127.0.0.1:1", "ftp 127.0.0.1:1", "unix localhost",
        "udp 127.0.0.1:9", "tcp 127.0.0.1:1", "file", "mysql localhost", "pgsql localhost",
        "pgsql 127.0.0.1:1", "sqlite"}


def test_a_socket_is_not_named_after_one_before_it(site):
    """An object of PHP's gets the address of one that is gone."""
    needs_extension("sockets")
    port = site.ask(
        '$l = socket_create_listen(0); socket_getsockname($l, $a, $port); '
        '$c = socket_create(AF_INET, SOCK_STREAM, SOL_TCP); socket_connect($c, "127.0.0.1", $port); '
        'socket_write($c, "x"); '
        'for ($i = 0; $i < 9; $i++) $f[] = stream_socket_client("tcp://127.0.0.1:$port"); '
        '$n = socket_accept($l); socket_close($c); unset($c); '
        'for ($i = 0; $i < 9; $i++) { $a = socket_accept($l); socket_write($a, "x"); '
        'socket_close($a); unset($a); } echo $port;')
    calls = {n: (e["kind"], e["calls"]) for n, e in site.ends().items()}
    assert calls == {f"tcp 127.0.0.1:{port}": ("stream", 2 + 9), "stream": ("stream", 1 + 2 * 9)}


def test_a_client_is_not_named_after_one_before_it(site):
    needs_extension("memcached")
    site.ask('foreach ([1, 2] as $port) { $m = new Memcached; $m->addServer("127.0.0.1", $port); '
             '$m->get("a"); unset($m); }')
    calls = {n: (e["kind"], e["calls"]) for n, e in site.ends().items()}
    assert calls == {f"memcached 127.0.0.1:{port}": ("cache", 1) for port in (1, 2)}


def test_an_end_without_a_name_is_shown_once(site, tmp_path):
    """By its kind, in everything that people read; figures keep kind and name."""
    archive = tmp_path / "runs.sqlite"
    with subprocess.Popen([str(build.TOOL), "record", "-o", str(archive), "-t", str(site.fpm.board),
                           "--", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as recorder:
        wait_until(lambda: has_begun(archive), 30, "the recording has begun")
        site.ask("usleep(1000); flock(fopen(__FILE__, 'r'), LOCK_SH);")
        site.records(1)
        recorder.communicate(timeout=60)
    text = tool.report("--format", "text", archive)
    assert {(e["kind"], e["name"]) for e in site.ends().values()} == {
        ("sleep", "sleep"), ("file", "file"), ("lock", "lock flock")}
    status = tool.run("status", "--format", "text", site.fpm.board).stdout
    for name in ("sleep", "file", "lock lock flock"):
        assert f"End[{name}]Calls: 1\n" in status
    for name in ("sleep", "file", "lock flock"):
        assert re.search(rf"\n +1 [^\n]* {name}\n", text)
        assert f"{name.split()[0]} {name}" not in text
    page = tool.report("--format", "html", archive)
    ends = re.findall(r'<table class="ends">.*?</table>', page, re.DOTALL)
    names = re.findall(r'<th scope="row">(.*?)</th>', "".join(ends))
    assert sorted(names) == ["file", "lock flock", "sleep"]


def test_functions_in_preloaded_classes():
    """OPcache preloads after the functions were replaced: inherited methods are timed, too."""
    user = {"opcache.preload_user": "www-data"} if os.geteuid() == 0 else {}
    fpm = FPM(1, settings={"opcache.enable": 1, "opcache.preload": "@ROOT@/preload.php", **user,
                           **php.settings("@ROOT@/run", journal=1024)})
    fpm.script("preload.php", "<?php class Held extends SplFileObject { function hold() { "
                              "usleep(1000); return $this->flock(LOCK_SH); } }")
    with fpm:
        script = fpm.script("use.php", "<?php echo (int)(new Held('/dev/null', 'r'))->hold();")
        assert php.fastcgi(fpm.socket, script) == (200, "1")
        [record] = wait_until(lambda: php_records.records(fpm.board), 30, "a record")
        check_sum(record)
        assert {(e["kind"], e["calls"]) for e in record["longest"]} == {("lock", 1), ("sleep", 1)}
