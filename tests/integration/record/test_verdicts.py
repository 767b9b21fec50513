"""mpmstat record's verdicts: each on a run that was made to fail in one known way.

Too few workers of Apache's, and of PHP's behind event, are in test_record.py and
test_both_boards.py.
"""
import json
import os
import re
from contextlib import contextmanager

import pytest

import build
import control_groups
import processes
import tool

pytestmark = pytest.mark.alone
AB = build.find("ab")
WRK = build.find("wrk")

# Reads from four connections, a little every so often, until all are at their end.
SLOW_CLIENT = """
import select, socket, sys, time
connections = []
for _ in range(4):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    connection.connect(("127.0.0.1", int(sys.argv[1])))
    connection.sendall(b"GET /large HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    connections.append(connection)
while connections:
    time.sleep(0.01)
    for connection in select.select(connections, [], [], 10)[0]:
        if not connection.recv(8192):
            connections.remove(connection)
"""
LARGE_BYTES = 700_000
SMALL_SEND_BUFFER = "SendBufferSize 16384"     # the response is not to fit into the kernel's

# A generator whose own arithmetic takes all of its one thread's time.
BUSY_GENERATOR = """
request = function()
    local x = 1
    for i = 1, 2000000 do x = x * 48271 % 2147483647 end
    return wrk.format("GET", "/index.html?" .. x)
end
"""


def record(apache, archive, *words, may_fail=False):
    """The run's summary; the words are the load tool's."""
    done = tool.run("record", "-o", archive, "-t", apache.board, "--format", "json", "--", *words,
                    timeout=60)
    assert done.stdout and (may_fail or done.returncode == 0), done.stderr
    return json.loads(done.stdout)


def ab(apache, path, *options):
    return [AB, "-q", "-l", *options, f"http://127.0.0.1:{apache.port}{path}"]


def skip_if_others_were_busy(summary, php=False, cpus=None):
    """The CPUs are no test's alone: nothing is shown where others took a quarter of them. cpus: how
    many the servers may use."""
    run = summary["run"]
    cpus = cpus or len(os.sched_getaffinity(0))
    others = run["machine_cpu_busy"] * run["duration_seconds"] * cpus
    others -= summary["client"]["cpu_seconds"] + run["recorder_cpu_seconds"]
    others -= sum(server["cpu_seconds"] for server in summary["servers"])
    others -= sum(program["cpu_seconds"] for program in run["programs"]
                  if php and program["program"].startswith("php"))
    if others > run["duration_seconds"] * cpus / 4:
        pytest.skip(f"other programs took {others:.1f} s of the CPUs")


def codes(summary):
    return [finding["code"] for finding in summary["findings"]]


def check_of(summary, name):
    return next(check for check in summary["checks"] if check["name"] == name)


# ---- the CPUs --------------------------------------------------------------------------


def test_cpus_were_the_limit(php_server, tmp_path):
    """Many at once compute on a few cores; no limit of workers is near."""
    apache = php_server("event", workers=60, threads=20, children=40)
    concurrency = 8 * os.cpu_count()
    summary = record(apache, tmp_path / "a", *ab(apache, "/loop.php?iterations=1000000", "-c",
                                                 str(min(concurrency, 32)), "-n",
                                                 str(200 * os.cpu_count())))
    skip_if_others_were_busy(summary, php=True)
    assert codes(summary)[0] == "cpu", summary["findings"]
    assert summary["servers"][0]["workers"]["max_busy"] < 60


@pytest.mark.skipif(os.cpu_count() == 1, reason="there is one CPU")
def test_cpus_of_pinned_servers_were_the_limit(php_server, tmp_path):
    """The same where the servers may use one CPU of several: the machine is half idle."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        apache = php_server("event", workers=60, threads=20, children=40)
    finally:
        os.sched_setaffinity(0, every)
    summary = record(apache, tmp_path / "a", *ab(apache, "/loop.php?iterations=1000000", "-c", "16",
                                                 "-n", "600"))
    skip_if_others_were_busy(summary, php=True, cpus=1)
    assert codes(summary)[0] == "cpu", summary["findings"]
    assert f"more than 1 of the machine's {os.cpu_count()} CPUs" in summary["findings"][0]["action"]


# ---- the clients -----------------------------------------------------------------------


@pytest.mark.mpms("prefork", "event")
def test_clients_were_slow(server, mpm, tmp_path):
    """The time is in `send`; on event no worker is held by it."""
    apache = server(mpm, SMALL_SEND_BUFFER, workers=10)
    apache.page("large", bytes(LARGE_BYTES))
    summary = record(apache, tmp_path / "a", "python3", "-c", SLOW_CLIENT, str(apache.port))
    recorded = summary["servers"][0]
    assert recorded["requests"] == 4
    assert recorded["phases"]["send"]["sum_seconds"] > (
        0.9 * recorded["phases"]["total"]["sum_seconds"])
    skip_if_others_were_busy(summary)
    assert codes(summary)[0] == "slow-clients", summary["findings"]


def test_slow_clients_held_all_workers(server, tmp_path):
    """Two workers, four slow clients: what ran out, and what they did meanwhile."""
    apache = server("prefork", SMALL_SEND_BUFFER, workers=2)
    apache.page("large", bytes(LARGE_BYTES))
    summary = record(apache, tmp_path / "a", "python3", "-c", SLOW_CLIENT, str(apache.port))
    assert codes(summary)[0] == "slow-clients", summary["findings"]
    assert " So Apache's workers ran out." in summary["verdict"], summary["verdict"]


@pytest.mark.skipif(not WRK, reason="needs wrk")
def test_generator_was_the_limit(server, tmp_path):
    """One thread that computes what to ask for, and a server that has nothing to do."""
    apache = server("event", workers=50)
    script = tmp_path / "busy.lua"
    script.write_text(BUSY_GENERATOR)
    summary = record(apache, tmp_path / "a", WRK, "-t1", "-c4", "-d2s", "-s", script,
                     f"http://127.0.0.1:{apache.port}/")
    skip_if_others_were_busy(summary)
    assert check_of(summary, "generator")["ok"] is False, summary["checks"]
    assert summary["verdict"].startswith("wrk was the limit, not the server: "), summary["verdict"]


# ---- connections -----------------------------------------------------------------------


def test_accept_queue_was_full(server, tmp_path):
    """A hundred at once, and one may wait: the kernel's counter tells."""
    apache = server("event", limits="MaxRequestWorkers 50\nThreadsPerChild 25\nListenBacklog 1")
    summary = record(apache, tmp_path / "a", *ab(apache, "/index.html", "-t", "3", "-n", "100000",
                                                 "-c", "100"),
                     may_fail=True)
    assert check_of(summary, "accept-queue")["ok"] is False, summary["checks"]
    assert summary["run"]["listen_overflows"] > 0
    assert "accept-queue" in codes(summary)[:3], summary["findings"]


def test_keep_alive_starved_the_others(server, tmp_path):
    """ab -k sends nothing more on its last connections, and leaves them open."""
    apache = server("prefork", "KeepAlive On\nKeepAliveTimeout 2", workers=4)
    summary = record(apache, tmp_path / "a", *ab(apache, "/index.html", "-k", "-n", "3000", "-c",
                                                 "20"))
    workers = summary["servers"][0]["workers"]
    assert workers["mean_states"]["keepalive"] > 2
    assert summary["verdict"].startswith("Idle keep-alive connections held Apache's workers: of "
                                         "all 4, "), summary["verdict"]


@pytest.mark.skipif(not WRK, reason="needs wrk")
def test_keep_alive_clients_took_turns(server, tmp_path):
    """Eight clients on four workers: only the first request of a connection waits for one.
    (Its page takes time, but no CPU: that would be what ran out.)"""
    apache = server("prefork", "KeepAlive On\nKeepAliveTimeout 5", php="mod_php", workers=4)
    nap = apache.page("nap.php", "<?php usleep(5000); echo 'done';")
    summary = record(apache, tmp_path / "a", WRK, "-t1", "-c8", "-d3s",
                     f"http://127.0.0.1:{apache.port}{nap}")
    assert summary["servers"][0]["workers"]["max_busy"] == 4
    assert not summary["verdict"].startswith("Nothing ran out"), summary["verdict"]
    advice = tool.run("report", "--format", "text", tmp_path / "a").stdout
    up_to = re.search(r"MaxRequestWorkers  more than 4: up to (\d+)", advice)
    # Where other programs had the machine's CPUs meanwhile, that is what it has to say.
    shared = "MaxRequestWorkers  4, as it is" in advice and "the CPUs are full" in advice
    assert shared or int(up_to[1]) > 4, advice


# ---- memory ----------------------------------------------------------------------------

HUNGRY = "<?php ini_set('memory_limit', -1); echo strlen(str_repeat('x', 96 << 20));"


@contextmanager
def memory_limit(size):
    """A new control group whose processes may have `size` bytes."""
    with control_groups.group(control_groups.MEMORY) as group:
        group.limit_memory(size)
        yield group


@pytest.mark.skipif(not build.MOD_PHP, reason="needs mod_php")
def test_memory_ran_out(php_server, as_root, tmp_path):
    with memory_limit(64 << 20) as group:
        apache = php_server("prefork", workers=4)
        apache.allow("exit signal Killed")
        apache.page("hungry.php", HUNGRY)
        group.take(apache.pid, *apache.children())
        summary = record(apache, tmp_path / "a", *ab(apache, "/hungry.php", "-r", "-n", "8", "-c",
                                                     "2"), may_fail=True)
        complaint = apache.stop()
    assert not complaint, complaint
    cgroup = summary["servers"][0]["cgroup"]
    assert cgroup["memory_limit_bytes"] == 64 << 20 and cgroup["oom_kills"] > 0, cgroup
    assert summary["verdict"].startswith("Memory ran out: the kernel killed "), summary
    assert "of the server's control group (its limit is 67.1 MB)" in summary["verdict"]


# Into the other group, and more than it may have; the pages between are answered with 503.
OTHERS = """
import os, signal, subprocess, sys, time
group, url = sys.argv[1:]
subprocess.run(["curl", "-s", "-o", os.devnull, url], check=True)
child = os.fork()
if child == 0:
    open(group, "w").write(str(os.getpid()))
    ballast = b"x" * (96 << 20)
    os._exit(0)
assert os.waitpid(child, 0)[1] == signal.SIGKILL
time.sleep(0.8)
"""


def test_memory_of_others_did(server, as_root, tmp_path):
    """A process of another group is killed, and requests fail for another reason."""
    with memory_limit(1 << 30) as group, memory_limit(32 << 20) as others:
        apache = server("event", "Redirect 503 /unavailable")
        group.take(apache.pid, *apache.children())
        summary = record(apache, tmp_path / "a", "python3", "-c", OTHERS,
                         str(others.path / "cgroup.procs"),
                         f"http://127.0.0.1:{apache.port}/unavailable")
        apache.stop()
    assert summary["run"]["oom_kills"] > 0 and summary["servers"][0]["errors_5xx"] == 1
    assert summary["servers"][0]["cgroup"]["oom_kills"] == 0, summary["servers"]
    assert "emory" not in summary["verdict"], summary["verdict"]
