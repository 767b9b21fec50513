"""Memory stays what it is: RSS of parent and children over many requests and connections.

MPMSTAT_SOAK_REQUESTS (make soak) says how many, instead of fifty thousand.
"""
import os

import pytest

import build
import clients
import tool
from pool import wait_for_pool
from processes import wait_until

REQUESTS = int(os.environ.get("MPMSTAT_SOAK_REQUESTS", "50000"))
# The least that malloc() can lose is 32 bytes, with its header. A quarter of that leaves
# room for what allocators round up, over as many requests as these.
BYTES_PER_REQUEST = 8

pytestmark = pytest.mark.skipif(build.SANITIZE, reason="sanitizers keep freed memory")


def resident(apache):
    """Bytes of RSS, the parent's and the children's."""
    total = 0
    for pid in (apache.pid, *apache.children()):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            total += sum(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    return total * 1024


def load(apache, requests, options):
    """Puts so many requests on it; ab may not open more than it has ports at once."""
    for begun in range(0, requests, 100_000):
        part = min(requests - begun, 100_000)
        told = clients.ab(apache.port, "/index.html", part, 8, options)
        assert told["complete"] == part, told["text"]
    wait_until(lambda: not any(e["in_flight"] for e in tool.labels(tool.status(apache.board))),
               10, "all requests to be complete")


@pytest.mark.parametrize("options, share", ((["-k"], 1), ([], 2)), ids=("kept-alive", "fresh"))
def test_memory_is_flat(server, mpm, options, share):
    """A small journal: its pages are all resident after the warm-up."""
    apache = server(mpm, "MPMStatJournal 1024\nMaxKeepAliveRequests 1000\nMPMStatPaths On",
                    workers=12, threads=6)
    wait_for_pool(apache)
    requests = REQUESTS // share
    pids = apache.children()
    load(apache, requests // 10, [])            # so that every child has its share
    load(apache, requests // 10, options)
    before = resident(apache)
    load(apache, requests, options)
    grown = resident(apache) - before
    board = tool.status(apache.board)
    # ab takes kept-alive connections that a busy event closes unanswered for complete,
    # most of them as failed.
    assert tool.requests(board) + board["connections"]["shed_total"] >= requests * 6 // 5, (
        tool.requests(board), board["connections"])
    assert apache.children() == pids, "other children: nothing was measured"
    print(f"\n{mpm} {options}: {requests} requests, {before} bytes, {grown} more")
    assert grown < BYTES_PER_REQUEST * requests, (
        f"{grown} bytes more after {requests} requests, of {before}")
