"""Every worker stuck: the page is stuck too, the board is not."""
import json
import socket
from decimal import Decimal
from pathlib import Path

import pytest

import tool
from processes import wait_until

WORKERS = 400


@pytest.fixture
def silent_backend():
    """A server that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1024)
        yield listener


def connections_to(listener):
    """How many there are in the kernel: as many workers wait for an answer. By their own ports: a
    socket can be in the file twice, which the kernel makes piece by piece."""
    port = listener.getsockname()[1]
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return len({row[1] for row in rows
                if int(row[2].split(":")[1], 16) == port and row[3] == "01"})


def all_stuck(apache, backend):
    """A board that shows it, or None. An event MPM whose processes are full now and then
    leaves a worker idle for ever: there, what the kernel says is what must be shown."""
    stuck = connections_to(backend) if apache.mpm == "event" else WORKERS
    board = tool.status(apache.board)
    return board if board["workers"]["states"]["handling"] == stuck > WORKERS * 0.97 else None


@pytest.fixture
def stuck(mpm, server, silent_backend):
    """(an Apache, the path on which its workers get stuck)"""
    if mpm == "prefork":
        return server(mpm, php="mod_php", workers=WORKERS), "/sleep.php?seconds=30&spread=0"
    port = silent_backend.getsockname()[1]
    apache = server(mpm, f'ProxyPass "/stuck" "http://127.0.0.1:{port}/"',
                    modules=["proxy", "proxy_http"], workers=WORKERS, threads=25)
    apache.allow(r"\[proxy")
    return apache, "/stuck"


def test_400_stuck_workers(stuck, silent_backend, mpm):
    apache, path = stuck
    wait_until(lambda: sum(tool.status(apache.board)["workers"]["states"].values()) == WORKERS,
               30, "400 workers")
    connections = []
    try:
        for _ in range(WORKERS + 25):     # event may give one process more than it can serve
            connections.append(apache.connect(timeout=5))
            connections[-1].send_request(path)
        wait_until(lambda: all_stuck(apache, silent_backend), 20,
                   lambda: f"all stuck: {tool.status(apache.board)['workers']}")
        with apache.connect(timeout=1) as asking:
            asking.send_request("/mpm-status?format=json", keep=False)
            with pytest.raises(TimeoutError):
                asking.read_response()
            board, seconds = tool.timed_status(apache.board)
            count = connections_to(silent_backend) if mpm == "event" else WORKERS
    finally:
        for connection in connections:
            connection.reset()
        silent_backend.close()
    if mpm != "prefork":    # httpd itself may crash where it is stopped with threads so stuck
        wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == 0, 20, "an end of it")
    assert seconds < 1, f"mpmstat status took {seconds:.3f} s"
    assert board["workers"]["limit"] == WORKERS and board["workers"]["busy"] == count, (
        board["workers"])
    assert sum(entry["in_flight"] for entry in tool.labels(board)) == count
    handling = [slot for slot in board["slots"] if slot["state"] == "handling"]
    assert len(handling) == count and len({slot["slot"] for slot in handling}) == count
    since = [slot["request_for_seconds"] for slot in handling]
    assert since == sorted(since, reverse=True), "longest in flight first"
    assert since[-1] >= Decimal("0.9"), since[-1]


def test_text_from_the_file(server, mpm):
    """The tool's default format, and its exit code; JSON of several boards at once."""
    first, second = server(mpm), server(mpm)
    done = tool.run("status", first.board)
    assert done.returncode == 0 and not done.stderr, done
    assert done.stdout.startswith("Board: apache\n"), done.stdout[:200]
    assert f"Pid: {first.pid}\n" in done.stdout
    done = tool.run("status", "--format", "json", first.board, second.board)
    if done.returncode == 0:
        pids = {b["pid"] for b in json.loads(done.stdout)["boards"]}
        assert pids == {first.pid, second.pid}
    done = tool.run("status", "--format", "openmetrics", first.board)
    assert done.returncode == 0 and done.stdout.endswith("# EOF\n"), done
