"""The phase `queue`: connections that nobody accepts for a time that the client knows."""
import time

import pytest

import gate
import tool
from phases import CGI, cgi_module, record_of
from processes import wait_until

WORKERS, WAITING = 2, 4
# The kernel tells the age of data in jiffies (10 ms at most), at both ends.
GRAIN = 0.02


@pytest.mark.parametrize("body", [b"", b"sent late"], ids=["whole", "rest-of-body-later"])
def test_as_long_as_all_workers_were_held(server, mpm, body):
    """Also where a client that waits goes on sending: the wait began with its first bytes."""
    apache = server(mpm, CGI, modules=[cgi_module(mpm)], workers=WORKERS, threads=WORKERS)
    gated = gate.make_for(apache)
    holding = [apache.connect() for _ in range(WORKERS)]
    waiting, sent = [], []
    try:
        for connection in holding:
            connection.send_request(gated, keep=False)
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"] == WORKERS,
                   10, lambda: f"all held: {tool.status(apache.board)['workers']}")
        for _ in range(WAITING):
            waiting.append(apache.connect())
            before = time.monotonic()
            waiting[-1].send("GET / HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n"
                             f"Content-Length: {len(body)}\r\n\r\n")
            sent.append((before, time.monotonic()))
            time.sleep(0.1)               # so that each waits for a time of its own
        for connection in waiting:
            connection.send(body)
        opened = time.monotonic()
        gate.open_once(apache.root)
        answered = []
        for connection in waiting:
            assert connection.read_response().status == 200
            answered.append(time.monotonic())
            connection.close()            # or its worker lingers
        for connection in holding:
            assert connection.read_response().text() == "passed\n"
            connection.close()
        if mpm == "event":
            apache.restart()              # it may have stopped accepting: see developer.md
        records = [record_of(apache, connection.port) for connection in waiting]
        held = [record_of(apache, connection.port) for connection in holding]
    finally:
        for connection in holding + waiting:
            connection.close()
    for record, (before, after), end in zip(records, sent, answered):
        queue = float(record["queue"])
        assert opened - after - GRAIN <= queue <= end - before + GRAIN, (
            f"unaccepted for {opened - after:.3f} s at least, {end - before:.3f} s at most, "
            f"but queue is {queue} s: {record}")
    assert all(r["queue"] < r["handle"] for r in held), held
