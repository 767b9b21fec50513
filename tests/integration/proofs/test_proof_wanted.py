"""Workers wanted: those in use, and one for each connection that waits. The witnesses are the
test's own connections, and ss(8)."""
import json
import os
import shutil
import socket
import subprocess
import threading
from contextlib import ExitStack, contextmanager

import pytest

import build
import gate
import php
import tool
from apache import hold_port
from clients import Connection
from fpm import FPM
from phases import CGI, cgi_module
from pool import all_there
from processes import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("ss"), reason="needs ss (iproute2)")
needs_fpm = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
WORKERS, WAITING = 4, 5
HELD = b"GET / HTTP/1.1\r\n"   # holds the worker that reads it; TCP_DEFER_ACCEPT waits for data


def ss(option, column):
    """[(address, connections in its accept queue)] of each listening socket."""
    rows = [line.split() for line in
            subprocess.check_output(["ss", option], text=True).splitlines()]
    return [(row[column], int(row[column - 2])) for row in rows]


def waiting_at(*ports):
    return sum(n for address, n in ss("-Hltn", 3) if int(address.rpartition(":")[2]) in ports)


def workers(server):
    return tool.status(server.board)["workers"]


def wait_for(server, **expected):
    """Until the board says so of its workers."""
    return wait_until(lambda: expected.items() <= workers(server).items(), 30,
                      lambda: f"{expected}: {tool.status(server.board)}")


def metric(board, name):
    """The values of that family, by what follows its name."""
    lines = tool.run("status", "--format", "openmetrics", board).stdout.splitlines()
    return [int(line.split()[-1]) for line in lines if line.startswith(name + "{")]


# ---- Apache's ----------------------------------------------------------------------------------

def test_busy_and_waiting_at_two_ports(server, mpm):
    """Idle, busy, more than all busy, and idle again. A connection that a client keeps counts where
    it keeps a worker: not on event, which has one child here: with several, one whose workers were
    all busy can stop accepting (docs/developer.md)."""
    with hold_port() as holder:
        second = holder.getsockname()[1]
        apache = server(mpm, f"{CGI}Listen 127.0.0.1:{second}\nKeepAliveTimeout 60",
                        modules=[cgi_module(mpm)], workers=WORKERS,
                        threads=WORKERS if mpm == "event" else 2)
    gated = gate.make_for(apache)
    all_there(apache)
    wait_for(apache, busy=0, wanted=0)
    # The request that asks has a worker. The end of the one before can still be in a queue.
    asked = {"busy": 1, "wanted": 1}
    wait_until(lambda: asked.items() <= apache.status()["workers"].items(), 10,
               lambda: f"{asked}: {apache.status()['workers']}")
    with ExitStack() as stack:
        kept = stack.enter_context(apache.connect())
        assert kept.request("/").status == 200
        keeping = 0 if mpm == "event" else 1
        wait_for(apache, busy=keeping, wanted=keeping)
        kept.close()
        wait_for(apache, busy=0, wanted=0)
        holding = [stack.enter_context(apache.connect()) for _ in range(WORKERS)]
        for n, connection in enumerate(holding, 1):
            connection.send_request(gated, keep=False)
            wait_for(apache, busy=n, wanted=n)
        waiting = [stack.enter_context(Connection(second if n % 2 else apache.port))
                   for n in range(WAITING)]
        for connection in waiting:
            connection.send_request("/", keep=False)
        wait_until(lambda: waiting_at(apache.port, second) == WAITING, 10, "all to wait")
        wait_for(apache, busy=WORKERS, wanted=WORKERS + WAITING)
        assert waiting_at(apache.port) and waiting_at(second), "both have some"
        assert metric(apache.board, "mpmstat_workers_wanted") == [WORKERS + WAITING]
        assert f"WorkersWanted: {WORKERS + WAITING}\n" in tool.run("status", apache.board).stdout
        gate.open_once(apache.root)
        for connection in holding + waiting:
            assert connection.read_response().status == 200
            connection.close()            # or its worker lingers
    wait_for(apache, busy=0, wanted=0)


@pytest.mark.mpms("worker", "event")
@pytest.mark.parametrize("buckets", [False, True], ids=["one-queue", "a-queue-for-each-child"])
def test_children_that_share_the_load_unevenly(server, mpm, buckets):
    """With a queue each, one child has no worker left while another has: each connection
    that waits counts."""
    if buckets and os.sysconf("SC_NPROCESSORS_ONLN") < 2:
        pytest.skip("buckets need two cores")
    apache = server(mpm, "ListenCoresBucketsRatio 1" * buckets, workers=2 * 2, threads=2)
    all_there(apache)
    with ExitStack() as stack:
        for n in range(1, WORKERS + WAITING + 1):
            stack.enter_context(apache.connect()).send(HELD)
            wait_for(apache, wanted=n)
        assert workers(apache)["busy"] + waiting_at(apache.port) == WORKERS + WAITING
        assert waiting_at(apache.port) >= WAITING
    wait_for(apache, busy=0, wanted=0)


@pytest.mark.parametrize("filter", ["data", "none"])
def test_connections_that_send_nothing(server, mpm, filter):
    """They count where the kernel has them in the queue, as ss says: with AcceptFilter none."""
    apache = server(mpm, f"AcceptFilter http {filter}", workers=2, threads=2)
    all_there(apache)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(apache.connect()).send(HELD)
        wait_for(apache, busy=2, wanted=2)
        for _ in range(3):
            stack.enter_context(apache.connect())
        silent = 3 if filter == "none" else 0
        wait_until(lambda: waiting_at(apache.port) == silent, 10, "the queue")
        wait_for(apache, busy=2, wanted=2 + silent)
    wait_for(apache, busy=0, wanted=0)


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare (util-linux)")
def test_unknown_in_another_network(server, mpm, as_root):
    """The tool does not see the queues from there. It knows who is busy, which is less."""
    apache = server(mpm, workers=2, threads=2)
    all_there(apache)
    with apache.connect() as connection:
        connection.send(HELD)
        wait_for(apache, busy=1, wanted=1)
        text, metrics = (subprocess.run(
            ["unshare", "--net", build.TOOL, "status", "--format", format, apache.board],
            stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
            for format in ("json", "openmetrics"))
    assert '"busy":1,"wanted":null,' in text
    assert "mpmstat_workers{" in metrics and "mpmstat_workers_wanted{" not in metrics


# ---- FPM's ---------------------------------------------------------------------------------------

CHILDREN = 3
GATED = "<?php {before} readfile('{gate}'); echo 'passed';"


def pools(fpm):
    """{label: workers wanted}, of FPM's pools."""
    return {label["label"]: label["workers"]["wanted"]
            for label in tool.status(fpm.board)["labels"]
            if label["workers"]["limit"] is not None}


def wait_for_pools(fpm, **expected):
    wait_until(lambda: pools(fpm) == expected, 30,
               lambda: f"{expected}: {pools(fpm)}")


def pool(name, more=""):
    user = "user = www-data\ngroup = www-data\n" if os.geteuid() == 0 else ""
    return (f"[{name}]\n{user}listen = @ROOT@/{name}.sock\nlisten.mode = 0666\n"
            f"pm = static\npm.max_children = {CHILDREN}\n{more}")


@contextmanager
def two_pools(more="", shop=""):
    """FPM with the pools www (fpm.sock) and shop (shop.sock), all of whose workers are there."""
    with FPM(CHILDREN, settings=php.settings("@ROOT@/run"),
             pool=more + "\n" + pool("shop", shop)) as fpm:
        gate.make(fpm.root)
        yield fpm


def gated(fpm, before=""):
    return fpm.script("gated.php", GATED.format(before=before, gate=fpm.root / "gate"))


@contextmanager
def requests(fpm, script, count, name="fpm", **variables):
    """So many at once; at the end, all of them are answered."""
    answers = []

    def ask():
        answers.append(php.fastcgi(fpm.root / f"{name}.sock", script, **variables))
    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        wait_until(lambda: pass_gate(fpm) or len(answers) == count, 60, "all to pass")
        for thread in threads:
            thread.join(60)
    assert [status for status, _ in answers] == [200] * count, answers


def pass_gate(fpm):
    """Lets those pass that wait at the gate, if there are any."""
    try:
        os.close(os.open(fpm.root / "gate", os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        pass


@needs_fpm
def test_busy_and_waiting_in_each_pool():
    """One pool is more than full, the other has a request; then none has any."""
    with two_pools() as fpm:
        script = gated(fpm)
        wait_for_pools(fpm, www=0, shop=0)
        with requests(fpm, script, 1, "shop"):
            wait_for_pools(fpm, www=0, shop=1)
            with requests(fpm, script, CHILDREN + WAITING):
                wait_for_pools(fpm, www=CHILDREN + WAITING, shop=1)
                assert dict(ss("-Hlx", 4))[str(fpm.socket)] == WAITING
                assert sorted(metric(fpm.board, "mpmstat_pool_workers_wanted")) == [
                    1, CHILDREN + WAITING]
                text = tool.run("status", fpm.board).stdout
                assert f"Label[www]WorkersWanted: {CHILDREN + WAITING}\n" in text
                board = tool.status(fpm.board)["workers"]
                assert (board["busy"], board["wanted"]) == (CHILDREN + 1, None)
        wait_for_pools(fpm, www=0, shop=0)


@needs_fpm
def test_a_pool_on_tcp():
    with hold_port() as holder:
        port = holder.getsockname()[1]
    with two_pools(shop=f"listen = 127.0.0.1:{port}\n") as fpm, ExitStack() as stack:
        made = [stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                for _ in range(CHILDREN + WAITING)]
        wait_until(lambda: waiting_at(port) == WAITING, 30, "the others to wait")
        wait_for_pools(fpm, www=0, shop=CHILDREN + WAITING)
        while made:
            made.pop().close()
        wait_for_pools(fpm, www=0, shop=0)


def kept_connection(fpm, script):
    """FPM has answered on it, and its client keeps it."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(fpm.socket))
    variables = {"SCRIPT_FILENAME": str(script), "REQUEST_METHOD": "GET"}
    keep = b"\0\1\1" + bytes(5)
    connection.sendall(php.record(1, keep) + php.record(
        4, b"".join(php.pair(*v) for v in variables.items())) + php.record(4, b"")
        + php.record(5, b""))
    assert b"hello" in connection.recv(65536)
    return connection


@needs_fpm
def test_workers_that_connections_hold_count():
    """As Apache keeps them with enablereuse=on: the worker has no request, and takes no other."""
    with two_pools() as fpm, ExitStack() as stack:
        hello = fpm.script("hello.php", "<?php echo 'hello';")
        for n in range(1, CHILDREN + 1):
            stack.enter_context(kept_connection(fpm, hello))
            wait_for_pools(fpm, www=n, shop=0)
        assert workers(fpm)["busy"] == 0
        for _ in range(WAITING):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(str(fpm.socket))
        wait_for_pools(fpm, www=CHILDREN + WAITING, shop=0)
        assert workers(fpm)["busy"] == 0


@needs_fpm
def test_requests_without_a_connection_or_with_another_label_count():
    with two_pools() as fpm:
        with requests(fpm, gated(fpm, "fastcgi_finish_request();"), 2):
            wait_for_pools(fpm, www=2, shop=0)
        wait_for_pools(fpm, www=0, shop=0)
        with requests(fpm, gated(fpm), 2, PHP_VALUE="mpmstat.label=mine"):
            wait_until(lambda: any(label["label"] == "mine" and label["in_flight"] == 2
                                   for label in tool.status(fpm.board)["labels"]), 30, "the label")
            wait_for_pools(fpm, www=2, shop=0)
        wait_for_pools(fpm, www=0, shop=0)


@needs_fpm
def test_unknown_where_pools_share_a_label():
    label = "php_admin_value[mpmstat.label] = site\n"
    with two_pools(label, label) as fpm:
        wait_for_pools(fpm, site=None)


@needs_fpm
def test_the_status_page_knows_the_pools(php_server, php_boards):
    """Apache's user may not see FPM's sockets: it asks the kernel by the pool's address."""
    php_boards.chmod(0o755)
    apache = php_server("event", f'MPMStatPHPBoards "{php_boards}"', workers=10, children=2,
                        settings=php.settings(php_boards, group="www-data"))
    gated_path = apache.page("gated.php", GATED.format(before="", gate=gate.make(apache.root)))

    def shown():
        boards = json.loads(apache.get("/mpm-status?format=json").text())["boards"]
        return {b["producer"]: b for b in boards}
    with ExitStack() as stack:
        asking = [stack.enter_context(apache.connect()) for _ in range(5)]
        for connection in asking:
            connection.send_request(gated_path, keep=False)

        def wanted():
            board = shown()
            www = [e for e in board["php"]["labels"] if e["label"] == "www"] if "php" in board else []
            return (board["apache"]["workers"]["wanted"], www and www[0]["workers"]["wanted"])
        wait_until(lambda: wanted() == (5 + 1, 5), 30, lambda: f"{wanted()}")
        wait_until(lambda: pass_gate(apache) or wanted() == (1, 0), 30, lambda: f"{wanted()}")
        for connection in asking:
            assert connection.read_response().text() == "passed"
