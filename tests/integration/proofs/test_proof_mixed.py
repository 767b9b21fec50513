"""Requests of every kind at once: each is on record once, and its phases add up."""
import random
import shutil
import threading
from collections import Counter

import pytest

import build
import clients
import tool
from mixed import UNSIZED_PATHS, Site
from phases import PHASES, assert_sums
from processes import wait_until

CLIENTS, ROUNDS = 4, 2
HTTP2_REQUESTS = 60


class Client(threading.Thread):
    """Carries out all exchanges, in an order of its own, and gives some up."""

    def __init__(self, site, seed):
        super().__init__()
        self.site, self.random = site, random.Random(seed)
        self.statuses, self.error = Counter(), None

    def run(self):
        try:
            for _ in range(ROUNDS):
                exchanges = self.site.exchanges()
                self.random.shuffle(exchanges)
                for exchange in exchanges:
                    self.statuses.update(self.site.carry_out(exchange).statuses)
                for path in ("/20m", "/cgi/flood"):
                    self.site.give_up(path)
                    self.statuses["aborted"] += 1
        except BaseException as error:   # shown by the test's own thread
            self.error = error


def http2_load(site):
    """Requests over several streams at once. Returns the statuses."""
    statuses = Counter()
    for path in UNSIZED_PATHS:
        statuses.update(site.over_http2(path).statuses)
    site.give_up_http2("/cgi/flood")
    statuses["aborted"] += 1
    if shutil.which("h2load", path=build.PATH):
        for url in (f"https://127.0.0.1:{site.tls_port}/100k",
                    f"http://127.0.0.1:{site.apache.port}/cgi/unsized"):
            told = clients.h2load(url, HTTP2_REQUESTS, 2, streams=3)
            assert told["succeeded"] == HTTP2_REQUESTS, told["text"]
            statuses[200] += HTTP2_REQUESTS
    return statuses


def settled(apache, count):
    """Whether so many requests are on record and none is in flight."""
    board = tool.status(apache.board)
    return (tool.requests(board) >= count
            and not any(entry["in_flight"] for entry in tool.labels(board)))


@pytest.mark.parametrize("php", (False, True), ids=("", "PHP"))
def test_a_mixed_load(server, php_server, mpm, tmp_path, php):
    with Site(php_server if php else server, mpm, tmp_path, php=php, workers=30,
              threads=15) as site:
        running = [Client(site, seed) for seed in range(CLIENTS)]
        for client in running:
            client.start()
        expected = http2_load(site) if site.has_http2() else Counter()
        for client in running:
            client.join(120)
            assert not client.is_alive(), "a client is stuck"
            if client.error:
                raise client.error
            expected.update(client.statuses)
        count = sum(expected.values())
        wait_until(lambda: settled(site.apache, count), 20, lambda:
                   f"{count} requests, not {tool.requests(tool.status(site.apache.board))}")
        requests, _, _ = site.apache.journal()
        board = site.apache.status()
    assert {r["ticket"] for r in requests} >= set(range(1, count + 1)), "some are lost"
    records = [r for r in requests if r["label"] != "mpm-status"]
    assert_sums(records)
    assert Counter("aborted" if r["aborted"] else r["status"] for r in records) == expected
    assert len({r["id"] for r in records}) == len(records) == count, "ids repeat"
    # A virtual host without directives of its own has its name as a label, too.
    for load in (entry for entry in tool.labels(board) if entry["requests"]):
        own = [r for r in records if r["label"] == load["label"]]
        assert load["in_flight"] == 0, load
        assert load["requests"] == len(own)
        for phase in (*PHASES, "total", "held"):
            assert load["phases"][phase]["sum_seconds"] == sum(r[phase] for r in own), phase
