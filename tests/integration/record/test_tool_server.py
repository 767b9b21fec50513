"""The tool with a real server: what only a kernel, or an Apache, can answer."""
import json

import pytest

import tool
from processes import wait_until
from tool import fails


def url_of(apache, path="/mpm-status"):
    return f"http://127.0.0.1:{apache.port}{path}"


def test_file_and_url_show_the_same(server, mpm):
    """But for what the question by URL itself changes."""
    apache = server(mpm)
    for _ in range(5):
        assert apache.get("/index.html").status == 200
    wait_until(lambda: tool.requests(tool.status(apache.board)) == 5, 5, "five requests")
    by_url, by_file = tool.status(url_of(apache)), tool.status(apache.board)
    for key in ("producer", "mpm", "server", "version", "board", "pid", "started", "board_bytes",
                "listeners"):
        assert by_url[key] == by_file[key], key
    assert by_url.keys() == by_file.keys()
    assert tool.labels(by_url) == tool.labels(by_file)


def test_the_accept_queue_of_a_stuck_server(server, as_root):
    """Four workers held by silent clients, five more connections in the queue."""
    apache = server("prefork", workers=4)
    connections = []
    try:
        for _ in range(9):
            connections.append(apache.connect(timeout=5))
            connections[-1].send(b"GET / HTTP/1.1\r\n")   # TCP_DEFER_ACCEPT waits for data

        def queue():
            (listener,) = tool.status(apache.board)["listeners"]
            assert listener["address"] == f"127.0.0.1:{apache.port}"
            assert listener["queue_limit"] == 511
            return listener["queue"]

        wait_until(lambda: queue() == 5, 10, lambda: f"a queue of 5: {queue()}")
        text = tool.run("status", apache.board).stdout
        assert f"Listener[127.0.0.1:{apache.port}]Queue: 5\n" in text
        done = fails(tool.run("status", "--timeout", "0.5", url_of(apache)), 3, "within 0.5 s",
                     "reads the board file")
        assert done.stdout == ""
    finally:
        for connection in connections:
            connection.reset()


def test_accept_queues_of_a_stopped_server_are_unknown(server):
    apache = server("event")
    apache.stop()
    assert tool.status(apache.board)["listeners"] is None


@pytest.mark.parametrize("status, words", [
    ("", "SetHandler mpm-status is missing"),
    ('<Location "/mpm-status">\nSetHandler mpm-status\nRequire all denied\n</Location>',
     "the endpoint is local only"),
])
def test_a_server_that_does_not_show_it(server, status, words):
    apache = server("event", status=status)
    apache.allow("AH01630")
    fails(tool.run("status", url_of(apache)), 3, words)


@pytest.mark.parametrize("format", ["text", "json", "openmetrics", "prometheus"])
def test_every_format_passes_the_checks(server, mpm, format):
    apache = server(mpm)
    apache.get("/")
    done = tool.run("status", "--format", format, url_of(apache))
    assert (done.returncode, done.stderr) == (0, "")
    if format == "json":
        assert json.loads(done.stdout)["boards"][0]["pid"] == apache.pid
