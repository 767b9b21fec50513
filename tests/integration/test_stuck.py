"""Every worker stuck: the page is stuck too, the board is not."""
import json
import socket
import time
from decimal import Decimal

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
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"] == WORKERS,
                   20, lambda: f"all to be stuck: {tool.status(apache.board)['workers']}")
        with apache.connect(timeout=1) as asking:
            asking.send_request("/mpm-status?format=json", keep=False)
            with pytest.raises(TimeoutError):
                asking.read_response()
            board, seconds = tool.timed_status(apache.board)
    finally:
        for connection in connections:
            connection.reset()
        silent_backend.close()
    if mpm != "prefork":    # httpd itself may crash where it is stopped with threads so stuck
        wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == 0, 20, "an end of it")
    assert seconds < 1, f"mpmstat status took {seconds:.3f} s"
    assert board["workers"]["busy"] == board["workers"]["limit"] == WORKERS, board["workers"]
    assert sum(entry["in_flight"] for entry in tool.labels(board)) == WORKERS
    handling = [slot for slot in board["slots"] if slot["state"] == "handling"]
    assert len(handling) == WORKERS and len({slot["slot"] for slot in handling}) == WORKERS
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
