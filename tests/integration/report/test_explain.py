"""mpmstat explain: the same as a recording says, and what one cannot: stuck and dead servers."""
import fcntl
import os
import re
import signal
import socket
import subprocess
from contextlib import ExitStack

import pytest

import build
import control_groups
import php
import tool
from explaining import explain, first, shown
from fpm import FPM
from processes import children, wait_until
from recording import AB, ab, record

WORKERS = 25


@pytest.mark.skipif(not AB, reason="needs ab")
@pytest.mark.parametrize("by_url", (False, True))
def test_as_a_recording_of_the_same_load(server, by_url, tmp_path):
    """404 for every second request: ab counts them, too."""
    apache = server("event", workers=50)
    recorded, _ = record(apache, tmp_path / "run.db", *ab(apache, "/none", "-q", "-n", "60", "-c",
                                                          "4"))
    target = f"http://127.0.0.1:{apache.port}/mpm-status" if by_url else apache.board
    found = explain(target)
    server_then, server_now = recorded["servers"][0], found["past"]["servers"][0]
    assert server_now["requests"] == server_then["requests"] == recorded["client"]["requests"] == 60
    assert server_now["phases"]["total"]["mean_seconds"] == pytest.approx(
        server_then["phases"]["total"]["mean_seconds"], rel=1e-6)
    assert server_now["workers"]["limit"] == server_then["workers"]["limit"] == 50
    assert (first(found)["code"], first(found)["requests"]) == ("answers-4xx", 60)
    # Where no load tool made the requests, nothing is measured, and there is no URL of a load.
    text = recorded["findings"][0]["text"]
    assert text.endswith(": this measures the error page.")
    assert first(found)["text"] == text.replace(": this measures the error page", "")
    assert first(found)["action"] == "Look for their URLs in the access log."
    assert found["now"][0]["running"] is True and found["now"][0]["workers_busy"] == 0
    done = tool.run("explain", "--fail-on", "answers-4xx", target)
    assert done.returncode == 1 and "answers-4xx" in done.stderr


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.skipif(not AB, reason="needs ab")
def test_php_ran_out(php_server, fpm_masters):
    """Eight at once for two workers: most of the time of a request is php_wait."""
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    path = "/sleep.php?seconds=0.05&spread=0"
    subprocess.run(ab(apache, path, "-q", "-n", "64", "-c", "8"), check=True, capture_output=True,
                   timeout=60)
    found = explain(apache.board, fpm_masters[-1].board)
    assert first(found)["code"] == "php-workers", found["past"]["verdict"]
    php_found = found["past"]["servers"][1]
    assert php_found["workers"]["max_busy"] == php_found["workers"]["limit"] == 2


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.skipif(not AB, reason="needs ab")
@pytest.mark.parametrize("clients, requests, code", [(5, 60, "php-spawning"),
                                                     (25, 450, "php-workers")])
def test_too_few_yet_or_too_few(server, fpm_masters, clients, requests, code):
    """A pool begins with two processes of five. Once these are there, five clients wait no more."""
    fpm_masters.append(FPM(5, settings=php.settings("@ROOT@/run"), manager="pm = dynamic\n"
                           "pm.start_servers = 2\npm.min_spare_servers = 1\n"
                           "pm.max_spare_servers = 3"))
    fpm = fpm_masters[-1].__enter__()
    apache = server("event", workers=50, php="fpm", fpm=fpm)
    subprocess.run(ab(apache, "/sleep.php?seconds=0.1&spread=0", "-q", "-n", str(requests), "-c",
                      str(clients)), check=True, capture_output=True, timeout=60)
    past = explain(apache.board, fpm.board)["past"]
    found = {finding["code"] for finding in past["findings"]}
    assert found & {"php-spawning", "php-workers"} == {code}, past["verdict"]


def test_no_requests(server):
    found = explain(server("event", workers=50).board)
    assert first(found)["code"] == "cannot-tell"
    assert "nothing to explain" in found["past"]["verdict"]


def test_a_stuck_apache(server):
    """All workers wait for a backend that says nothing; requests have ended before."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1024)
        apache = server("worker", 'ProxyPass "/stuck" "http://127.0.0.1:%d/"'
                        % silent.getsockname()[1], modules=["proxy", "proxy_http"],
                        workers=WORKERS, threads=WORKERS)
        apache.allow(r"\[proxy")
        apache.get("/index.html")
        connections = []
        try:
            for _ in range(WORKERS):
                connections.append(apache.connect(timeout=5))
                connections[-1].send_request("/stuck")
            wait_until(lambda: first(explain(apache.board))["code"] == "stuck-requests", 30,
                       "Apache to be stuck")
            found = explain(apache.board)
            text = shown(apache.board)
        finally:
            for connection in connections:
                connection.close()
    f = first(found)
    assert f["certainty"] == "cannot-tell" and f["requests"] == WORKERS
    assert f["text"].startswith(f"Apache is stuck: all of its {WORKERS} workers are in the "
                                "state handling, the longest for ")
    workers = found["now"][0]["workers"]
    assert len(workers) == WORKERS and {w["state"] for w in workers} == {"handling"}
    assert all(f["numbers"]["none_taken_ns"] < w["busy_for_seconds"] * 1e9 + 1e6 for w in workers)
    assert f"worker {WORKERS} of {WORKERS} workers busy: {WORKERS} handling" in text


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_php_stuck_in_a_lock(php_server, fpm_masters, tmp_path):
    """The test holds the lock for which all of PHP's workers wait."""
    apache = php_server("event", "MPMStatPaths On", workers=50, children=3,
                        settings=php.settings("@ROOT@/run"))
    lock = fpm_masters[-1].root / "run" / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    apache.page("lock.php", f"<?php flock(fopen('{lock}', 'r'), LOCK_EX); echo 'free';")
    board, connections = fpm_masters[-1].board, []
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            for _ in range(5):
                connections.append(apache.connect(timeout=60))
                connections[-1].send_request("/lock.php")
            wait_until(lambda: "PHP is stuck" in first(explain(apache.board, board))["text"], 30,
                       "PHP to be stuck")
            found = explain(apache.board, board)
            text = shown(apache.board, board)
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)
            for connection in connections:
                connection.close()
    f = first(found)
    assert (f["certainty"], f["requests"]) == ("certain", 3)
    assert f["text"].startswith("PHP is stuck: all of its 3 workers wait for lock ")
    assert re.search(r" 2 connections wait in the accept queue\. All of these are in {main}, "
                     r"\S+/lock\.php:1\. 5 of 5 requests in flight in Apache are for /lock\.php\.$",
                     f["text"])
    assert {w["wait"] for w in found["now"][1]["workers"]} == {"lock"}
    assert "waits for lock" in text


def wait_for_lock(path):
    return f"<?php flock(fopen('{path}', 'r'), LOCK_EX); echo 'free';"


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not build.MOD_PHP, reason="there is no mod_php")
def test_mod_php_stuck_in_a_lock(php_server, php_boards):
    """Its board has no limit: Apache's workers are stuck, and say what PHP in them waits for."""
    apache = php_server("prefork", workers=3, settings=php.settings(php_boards))
    lock = apache.root / "htdocs" / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    apache.page("lock.php", wait_for_lock(lock))
    connections = []
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            for _ in range(5):
                connections.append(apache.connect(timeout=60))
                connections[-1].send_request("/lock.php")
            board = php.board(php_boards, "apache2handler")
            wait_until(lambda: "Apache is stuck" in first(explain(apache.board, board))["text"],
                       30, "Apache to be stuck")
            found = explain(apache.board, board)
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)
            for connection in connections:
                connection.close()
    f = first(found)
    assert f["text"].startswith("Apache is stuck: all of its 3 workers wait for lock "), f
    assert "not measured" not in f["action"] and f["certainty"] == "certain"
    assert {w["wait"] for w in found["now"][0]["workers"]} == {"lock"}


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_a_lock_that_is_passed_on(php_server, fpm_masters):
    """It is free every three seconds, so a worker takes a request now and then: none is stuck, and
    all the others wait for it. What ended before tells nothing of that."""
    apache = php_server("event", workers=50, children=6, settings=php.settings("@ROOT@/run"))
    lock = fpm_masters[-1].root / "run" / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    apache.page("lock.php", f"<?php $f = fopen('{lock}', 'r'); flock($f, LOCK_EX); sleep(3);")
    board, connections = fpm_masters[-1].board, []
    try:
        for _ in range(10):
            connections.append(apache.connect(timeout=60))
            connections[-1].send_request("/lock.php")
        wait_until(lambda: "5 of PHP's 6 workers" in first(explain(apache.board, board))["text"],
                   30, "the lock to be passed on")
        f = first(explain(apache.board, board))
    finally:
        for connection in connections:
            connection.close()
    assert f["code"] == "lock" and "wait for lock " in f["text"], f
    assert f["action"].endswith("More workers would wait there, too."), f


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_apache_stuck_for_php(php_server, fpm_masters):
    """Both are stuck: PHP's lock comes first, and Apache's workers follow from it. When the lock is
    free again, the time in which PHP stood still comes before its workers."""
    apache = php_server("worker", workers=WORKERS, threads=WORKERS, children=3,
                        settings=php.settings("@ROOT@/run"))
    lock = fpm_masters[-1].root / "run" / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    apache.page("lock.php", wait_for_lock(lock))
    board, connections = fpm_masters[-1].board, []
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            for _ in range(WORKERS):
                connections.append(apache.connect(timeout=60))
                connections[-1].send_request("/lock.php")
            wait_until(lambda: [f["code"] for f in explain(apache.board, board)["past"]["findings"]
                                if "stuck" in f["text"]] == ["lock", "backend"], 30,
                       "both to be stuck")
            found = explain(apache.board, board)
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)
        for connection in connections:
            assert connection.read_response().body == b"free"
            connection.close()
    behind = next(f for f in found["past"]["findings"] if f["code"] == "backend")
    assert behind["text"].startswith(
        f"Apache is stuck: all of its {WORKERS} workers wait for PHP (3 of their requests "
        f"are with its workers, {WORKERS - 3} wait for one)")
    assert behind["caused_by"]["code"] == "lock" and behind["action"] is None, behind
    assert " So Apache is stuck behind it." in found["past"]["verdict"], found["past"]["verdict"]
    wait_until(lambda: explain(apache.board, board)["past"]["servers"][1]["requests"] == WORKERS,
               30, "the journal")
    found = explain(apache.board, board)
    assert first(found)["code"] == "lock" and first(found)["requests"] == 3
    assert first(found)["text"].startswith("PHP stood still from "), found["past"]["verdict"]
    workers = [f for f in found["past"]["findings"] if f["code"] == "php-workers"]
    assert all(f["caused_by"]["code"] == "lock" and f["action"] is None for f in workers), workers


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_all_in_flight_wait(php_server, fpm_masters):
    """Workers are idle, and yet no page answers: what ended says less."""
    apache = php_server("event", workers=50, children=8, settings=php.settings("@ROOT@/run"))
    lock = fpm_masters[-1].root / "run" / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    apache.page("lock.php", wait_for_lock(lock))
    apache.page("nap.php", "<?php usleep(50000);")
    apache.page("long.php", "<?php sleep(20);")   # an earlier one was longer than those
    for page in ["/long.php"] + 20 * ["/nap.php"]:
        assert apache.get(page).status == 200
    connections = [apache.connect(timeout=60) for _ in range(4)]
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            for connection in connections:
                connection.send_request("/lock.php")
            wait_until(lambda: "stuck-requests" in {f["code"] for f in explain(
                apache.board, fpm_masters[-1].board)["past"]["findings"]}, 30, "long requests")
            found = explain(apache.board, fpm_masters[-1].board)
        finally:
            fcntl.flock(held, fcntl.LOCK_UN)
            for connection in connections:
                connection.close()
    text = first(found)["text"]
    assert text.startswith("4 of PHP's 8 workers have had one request for more than 2.00 s"), text


def end(fpm, how):
    workers = fpm.workers()
    os.kill(fpm.pid, how)
    for pid in workers if how == signal.SIGKILL else []:
        os.kill(pid, how)
    fpm.process.wait(30)


def answer_some(apache, good, bad=0):
    for i in range(good + bad):
        assert apache.get("/hello.php").status == (200 if i < good else 503)


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.parametrize("how", (signal.SIGTERM, signal.SIGKILL))
def test_php_is_down(php_server, fpm_masters, how):
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    apache.allow(r"\[proxy")
    apache.page("hello.php", "<?php echo 'hello';")
    fpm = fpm_masters[-1]
    answer_some(apache, 20)
    end(fpm, how)
    answer_some(apache, 0, 6)
    wait_until(lambda: explain(apache.board, fpm.board)["past"]["servers"][0]["requests"] == 26, 30,
               "the journal")
    found = explain(apache.board, fpm.board)
    assert first(found)["code"] == "php-down" and first(found)["requests"] == 6
    assert ("was stopped at" if how == signal.SIGTERM else
            "was killed or crashed after") in first(found)["text"]
    assert [s["running"] for s in found["now"]] == [True, False]
    assert "php fpm-fcgi does not run" in shown(apache.board, fpm.board)


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_php_without_its_master(php_server, fpm_masters, archive):
    """explain and record say it; removing the board, which serves no longer, would not help."""
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    apache.page("hello.php", "<?php echo 'hello';")
    fpm = fpm_masters[-1]
    answer_some(apache, 20)
    workers = fpm.workers()
    os.kill(fpm.pid, signal.SIGKILL)
    try:
        wait_until(lambda: first(explain(apache.board, fpm.board))["code"] == "php-down", 30,
                   "the end")
        text = first(explain(apache.board, fpm.board))["text"]
        answer_some(apache, 4)
        recorded = tool.run("record", "-o", archive, "-t", apache.board, "-t", fpm.board.parent,
                            "--timeout", "1")
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
    assert text.startswith("PHP-FPM's master process does not run") and "2 of its workers" in text
    said = " ".join(recorded.stderr.split())
    assert "PHP-FPM's master process does not run, and 2 of its workers serve" in said, said
    assert "rm removes" not in said


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_php_was_down(php_server, fpm_masters):
    """The outage comes before the failures that follow from it, also where nothing else failed."""
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    apache.allow(r"\[proxy")
    apache.page("hello.php", "<?php echo 'hello';")
    fpm = fpm_masters[-1]
    answer_some(apache, 2)
    fpm.stop()
    answer_some(apache, 0, 20)
    fpm.start()
    found = explain(apache.board, fpm.board)["past"]["findings"]
    assert found[0]["code"] == "php-down" and found[0]["requests"] == 20, found
    assert found[0]["text"].startswith("PHP-FPM was started at ")


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_php_without_its_socket(php_server, fpm_masters):
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    fpm = fpm_masters[-1]
    found = explain(apache.board, fpm.board)["past"]["findings"]
    assert "php-down" not in {f["code"] for f in found}
    os.unlink(fpm.socket)
    found = explain(apache.board, fpm.board)
    assert first(found)["code"] == "php-down" and first(found)["subject"] == str(fpm.socket)


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.skipif(not AB, reason="needs ab")
def test_no_more_than_the_cpus_allow(php_server, fpm_masters):
    """Five workers compute: what is predicted, if anything, the CPUs can do."""
    apache = php_server("event", workers=50, children=5, settings=php.settings("@ROOT@/run"))
    apache.page("burn.php", "<?php for ($i = 0; $i < 400000; $i++) md5('x'); "
                            "echo 'done';")
    subprocess.run(ab(apache, "/burn.php", "-q", "-n", "250", "-c", "15"), check=True,
                   capture_output=True, timeout=120)
    past = explain(apache.board, fpm_masters[-1].board)["past"]
    cpu = past["servers"][1]["run"]["cpu"]["mean_seconds"]
    for f in past["findings"]:
        rate = f["numbers"].get("predicted_rate_milli")
        assert rate is None or rate / 1000 <= 1.01 * os.cpu_count() / cpu, f
    assert any(f["code"] in ("cpu", "cpu-neighbour") for f in past["findings"]), past["verdict"]


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_slow_uploads_have_all_of_php(php_server, fpm_masters):
    """A worker of FPM that reads a request is neither idle nor runs a script."""
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    apache.page("up.php", "<?php echo strlen(file_get_contents('php://input'));")
    head = b"POST /up.php HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n"
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", apache.port)))
                   for _ in range(6)]
        for client in clients:
            client.sendall(head + 500 * b"x")

        def found():
            return explain(apache.board, fpm_masters[-1].board)["past"]["findings"]
        wait_until(lambda: any(f["code"] == "slow-upload" for f in found()), 30, found)
        assert found()[0]["text"].startswith(
            "PHP-FPM takes no request: none of its 2 workers runs a script, and 4 connections wait")
        for client in clients:
            client.sendall(8500 * b"x")
        assert [client.recv(4096)[:12] for client in clients] == 6 * [b"HTTP/1.1 200"]


@pytest.mark.usefixtures("as_root")
@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.skipif(not AB, reason="needs ab")
def test_the_share_of_the_cpus_is_used_up(php_server, fpm_masters, archive):
    """No advice for more workers or more CPUs, where a control group allows two tenths of one."""
    apache = php_server("event", workers=50, children=5, settings=php.settings("@ROOT@/run"))
    apache.page("burn.php", "<?php for ($i = 0; $i < 40000; $i++) md5('x'); echo 'done';")
    with control_groups.group(control_groups.CPU) as group:
        group.limit_cpus(0.2)
        master = fpm_masters[-1]
        group.take(master.pid, *children(master.pid))
        try:
            recorded, _ = record(apache, archive, *ab(apache, "/burn.php", "-q", "-t", "4", "-n",
                                                      "100000", "-c", "15"),
                                 options=("-t", str(master.board)))
            past = explain(apache.board, master.board)["past"]
        finally:
            control_groups.Group(group.path.parent, group.version).take(
                *group.read("cgroup.procs").split())
    for findings in past["findings"], recorded["findings"]:
        said = {f["code"]: f for f in findings}
        assert said.keys() & {"cpu", "cpu-quota"}, findings
        assert said["php-workers"]["caused_by"]["code"] in ("cpu", "cpu-quota"), findings
        assert said["php-workers"]["action"] is None, findings
        assert not [f for f in findings if "add CPUs" in (f["action"] or "") or f["settings"]]
    assert "of the 0.20 CPUs that" in first({"past": past})["text"]


def test_a_killed_server(server):
    """What its board still has explains the time before."""
    apache = server("event", workers=50)
    for _ in range(20):
        assert apache.get("/none").status == 404
    wait_until(lambda: explain(apache.board)["past"]["servers"][0]["requests"] == 20, 30,
               "the journal")
    children = apache.children()
    os.kill(apache.pid, signal.SIGKILL)
    for child in children:
        os.kill(child, signal.SIGKILL)
    wait_until(lambda: not explain(apache.board)["now"][0]["running"], 30, "the end")
    found = explain(apache.board)
    assert first(found)["code"] == "server-restarted"
    assert "ended without being stopped" in first(found)["text"]
    assert found["past"]["findings"][1]["code"] == "answers-4xx"
    assert found["past"]["findings"][1]["requests"] == 20
    text = shown(apache.board)
    assert "does not run" in text and "Requests that ended apache 20 requests" in text
    assert "\n\n\n" not in tool.run("explain", apache.board).stdout


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_no_request_has_ended(php_server, fpm_masters):
    """A heading has something below it while one request is long, and none ends."""
    apache = php_server("event", workers=50, children=2, settings=php.settings("@ROOT@/run"))
    apache.page("hello.php", "<?php echo 'hello';")
    apache.page("long.php", "<?php sleep(30);")
    answer_some(apache, 2)
    connection = apache.connect(timeout=60)
    connection.send_request("/long.php")
    wait_until(lambda: "Requests that ended none Not known" in
               shown("--last", "2", apache.board, fpm_masters[-1].board), 30, "nothing to end")
    connection.close()


@pytest.mark.parametrize("words, said", (
    (["--last", "0"], "expected --last to be a time"), (["--last", "5y"], "expected --last"),
    (["--last"], "--last wants an argument"),
    (["--format", "xml"], 'there is no format "xml": expected text or json'),
    (["--fail-on", "none-such"], "none-such"), (["--no-such"], "--no-such is not an option")))
def test_wrong_usage(words, said):
    done = tool.run("explain", *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_no_such_target(tmp_path):
    done = tool.run("explain", tmp_path / "none.board")
    assert done.returncode == 3 and "none.board" in done.stderr
