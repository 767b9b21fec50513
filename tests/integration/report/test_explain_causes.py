"""What mpmstat explain says of the last minutes and of now, where the cause is not a number of
workers: a reload, processes that ended or were stopped, a server that calls itself."""
import fcntl
import os
import signal
import socket
import subprocess
from contextlib import ExitStack, contextmanager

import pytest

import php
from explaining import explain, first
from php_site import needs_extension
from processes import children, open_files, wait_until
from recording import AB, ab


@pytest.fixture
def site(php_server, fpm_masters):
    """(an Apache, its FPM of two workers)"""
    if php.why_not_fpm():
        pytest.skip(php.why_not_fpm())
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    return apache, fpm_masters[-1]


def findings(*boards):
    return {f["code"]: f for f in explain(*boards)["past"]["findings"]}


@contextmanager
def asking(apache, path, count):
    """So many clients that wait for the page."""
    connections = [apache.connect(timeout=60) for _ in range(count)]
    try:
        for connection in connections:
            connection.send_request(path)
        yield connections
    finally:
        for connection in connections:
            connection.close()


def keep_both_busy(apache):
    """60 requests of eight clients."""
    subprocess.run(ab(apache, "/sleep.php?seconds=0.05&spread=0", "-q", "-n", "60", "-c", "8"),
                   check=True, capture_output=True, timeout=60)


@pytest.mark.skipif(not AB, reason="needs ab")
def test_the_limit_of_before_a_reload(site):
    """All of two workers were busy; the pool has twenty now, of which one has been."""
    apache, fpm = site
    keep_both_busy(apache)
    configuration = fpm.root / "fpm.conf"
    configuration.write_text(configuration.read_text().replace("pm.max_children = 2",
                                                               "pm.max_children = 20"))
    fpm.reload()
    apache.page("hello.php", "<?php echo 'hello';")
    assert apache.get("/hello.php").status == 200
    wait_until(lambda: explain(apache.board, fpm.board)["past"]["servers"][1]["requests"] == 61, 30,
               "the journal")
    found = explain(apache.board, fpm.board)["past"]
    assert found["servers"][1]["workers"]["max_busy"] < 20
    assert not [f["text"] for f in found["findings"] if "all 20" in f["text"]]


@pytest.mark.skipif(not AB, reason="needs ab")
def test_before_a_start_of_php(site):
    """A PHP that has been started since, and has no request yet, leaves the rest to be told."""
    apache, fpm = site
    keep_both_busy(apache)
    fpm.stop()
    fpm.start()
    assert explain(apache.board, fpm.board)["past"]["servers"][0]["requests"] == 60


def test_requests_that_died(site):
    """A signal ends a worker at its request: the answer is 503 for that."""
    apache, fpm = site
    apache.allow(r"\[proxy")
    apache.page("nap.php", "<?php sleep(20);")
    apache.page("hello.php", "<?php echo 'hello';")
    for _ in range(12):
        assert apache.get("/hello.php").status == 200
    with asking(apache, "/nap.php", 2) as connections:
        wait_until(lambda: sum(s["workers_busy"] for s in explain(fpm.board)["now"]) == 2, 30,
                   "both to be at work")
        for pid in children(fpm.pid):
            os.kill(pid, signal.SIGKILL)
        assert [c.read_response().status for c in connections] == [503, 503]
    wait_until(lambda: "requests-died" in findings(apache.board, fpm.board), 30,
               lambda: explain(apache.board, fpm.board)["past"]["findings"])
    found = findings(apache.board, fpm.board)
    assert found["requests-died"]["requests"] == 2
    assert found["answers-5xx"]["caused_by"]["code"] == "requests-died"


@contextmanager
def stopped(pids):
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def suspended(*boards):
    """The first finding, once it is that a process is stopped."""
    wait_until(lambda: "suspended" in first(explain(*boards))["text"], 30,
               lambda: explain(*boards)["past"]["findings"])
    return first(explain(*boards))


def has_connection(pid):
    """Whether a worker of FPM has accepted one: it has a socket besides the one that listens."""
    return len({link for link in open_files(pid).values() if link.startswith("socket:")}) > 1


def test_stopped_workers(site):
    """Both without a request, and then at their requests, which wait for a lock."""
    apache, fpm = site
    lock = fpm.root / "run" / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    apache.page("lock.php", f"<?php flock(fopen('{lock}', 'r'), LOCK_EX); echo 'free';")
    workers = children(fpm.pid)
    with stopped(workers), asking(apache, "/lock.php", 2):
        found = suspended(apache.board, fpm.board)
        assert found["code"] == "stuck-requests" and "kill -CONT" in found["action"]
        assert found["numbers"]["stopped_pid"] in workers
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with asking(apache, "/lock.php", 2) as connections:
            wait_until(lambda: len([w for s in explain(fpm.board)["now"]
                                    for w in s["workers"]]) == 2, 30, "both to be at work")
            with stopped(workers):
                found = suspended(apache.board, fpm.board)
                assert found["code"] == "lock" and found["numbers"]["stopped_pid"] in workers
            fcntl.flock(held, fcntl.LOCK_UN)
            assert [c.read_response().status for c in connections] == [200, 200]


def test_stopped_workers_that_read_a_request(site):
    """Each has its connection: nothing waits in the accept queue, and no script runs."""
    apache, fpm = site
    apache.page("up.php", "<?php echo strlen(file_get_contents('php://input'));")
    head = b"POST /up.php HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n"
    workers = children(fpm.pid)
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", apache.port)))
                   for _ in workers]
        for client in clients:
            client.sendall(head + 500 * b"x")
        wait_until(lambda: all(has_connection(pid) for pid in workers), 30,
                   "each worker to have a connection")
        with stopped(workers):
            found = suspended(apache.board, fpm.board)
            assert found["code"] == "stuck-requests" and found["numbers"]["queue"] == 0
            assert found["numbers"]["stopped_pid"] in workers
        for client in clients:
            client.sendall(8500 * b"x")
        assert [client.recv(4096)[:12] for client in clients] == len(workers) * [b"HTTP/1.1 200"]


def test_a_server_that_calls_itself(site):
    """Both workers wait for an answer of their own server, which has none left."""
    needs_extension("curl")
    apache, fpm = site
    apache.allow(r"\[proxy")       # it is stopped while they wait
    apache.page("hello.php", "<?php echo 'hello';")
    gate = fpm.root / "gate"       # else one can have its answer before the other begins
    apache.page("self.php", f"<?php while (!file_exists('{gate}')) {{ usleep(10000); "
                            "clearstatcache(); } "
                            f"$c = curl_init('http://127.0.0.1:{apache.port}/hello.php'); "
                            "curl_setopt($c, CURLOPT_TIMEOUT, 600); curl_exec($c);")
    with asking(apache, "/self.php", 2):
        wait_until(lambda: sum(s["workers_busy"] for s in explain(fpm.board)["now"]) == 2, 30,
                   "both to be at work")
        gate.touch()
        wait_until(lambda: first(explain(apache.board, fpm.board))["code"] in ("http", "stream"),
                   30, lambda: explain(apache.board, fpm.board)["past"]["findings"])
        found = first(explain(apache.board, fpm.board))
        assert "is this server itself" in found["text"], found
        assert "More workers would wait" not in found["action"]


@pytest.mark.mpms("prefork")
def test_idle_connections(server):
    """Three connections that say nothing have the three workers, and others wait for them."""
    apache = server("prefork", "KeepAlive On\nKeepAliveTimeout 3\n", workers=3)
    for _ in range(2):
        with asking(apache, "/index.html", 9) as connections:
            assert [c.read_response().status for c in connections[:3]] == 3 * [200]
            assert [c.read_response().status for c in connections[3:6]] == 3 * [200]
    wait_until(lambda: "keepalive" in findings(apache.board), 30,
               lambda: explain(apache.board)["past"]["findings"])
    assert "apache-workers" not in findings(apache.board)
