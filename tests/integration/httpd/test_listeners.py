"""Accept queues, and the kernel's counters of what found no room in them. The witnesses
are ss(8) and /proc/net/netstat."""
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import tool
from apache import hold_port
from processes import wait_until

pytestmark = pytest.mark.skipif(not shutil.which("ss"), reason="needs ss (iproute2)")
HELD = b"GET / HTTP/1.1\r\n"   # holds the worker that reads it; TCP_DEFER_ACCEPT waits for data


def ss(*ports):
    """{address: [(connections waiting, limit) of each socket]} of listening sockets."""
    lines = subprocess.check_output(["ss", "-Hltn"], text=True).splitlines()
    found = defaultdict(list)
    for waiting, limit, address in (line.split()[1:4] for line in lines):
        if int(address.rpartition(":")[2]) in ports:
            found[address.replace("*:", "[::]:")].append((int(waiting), int(limit)))
    return dict(found)


def as_shown(sockets):
    """What `listeners` should say where ss says this."""
    return [{"address": address, "pool": None, "sockets": len(rows),
             "queue": sum(q for q, _ in rows), "queue_limit": sum(limit for _, limit in rows),
             "queue_fullest": max(q for q, _ in rows), "connections": None}
            for address, rows in sorted(sockets.items())]


def netstat():
    """(ListenOverflows, ListenDrops) of this network namespace."""
    names, values = (line.split() for line in Path("/proc/net/netstat").read_text().splitlines()
                     if line.startswith("TcpExt:"))
    found = dict(zip(names, values))
    return int(found["ListenOverflows"]), int(found["ListenDrops"])


def assert_counters_are_the_kernels(look):
    before, board, after = netstat(), look(), netstat()
    shown = board["listen"]["overflows_total"], board["listen"]["drops_total"]
    assert all(b <= s <= a for b, s, a in zip(before, shown, after)), (before, shown, after)
    return shown


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
    except OSError:
        return False
    return True


@contextmanager
def waiting(port, count):
    """So many connections that try to get in, some of which may still be trying."""
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            s = stack.enter_context(socket.socket())
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
            made.append(s)
        for s in made:
            try:
                s.send(HELD)
            except OSError:
                pass               # not in yet
        yield made


@contextmanager
def stuck(apache, count):
    """All workers held, and enough connections behind them that some find no room."""
    with waiting(apache.port, apache.workers + count):
        wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == apache.workers, 10,
                   "all workers to be held")
        yield


def test_several_listens(server, mpm):
    """Endpoint and tool show what ss does, for IPv4 and IPv6."""
    with ExitStack() as holders:
        second, sixth = holders.enter_context(hold_port()), holders.enter_context(hold_port())
        ports = [holder.getsockname()[1] for holder in (second, sixth)]
        listens = [f"Listen 127.0.0.1:{ports[0]}"]
        listens += [f"Listen [::1]:{ports[1]}"] if has_ipv6() else []
        apache = server(mpm, "\n".join(listens) + "\nListenBacklog 77")
        expected = as_shown(ss(apache.port, *ports))
        assert len(expected) == 1 + len(listens), expected
        assert {e["queue_limit"] for e in expected} == {77}, expected
        assert apache.status()["listeners"] == expected
        assert tool.status(apache.board)["listeners"] == expected
        assert_counters_are_the_kernels(apache.status)
        assert_counters_are_the_kernels(lambda: tool.status(apache.board))


@pytest.mark.skipif(os.sysconf("SC_NPROCESSORS_ONLN") < 2, reason="buckets need two cores")
def test_buckets(server, mpm):
    """ListenCoresBucketsRatio: each child has one of the sockets, all are shown as one."""
    cores = os.sysconf("SC_NPROCESSORS_ONLN")
    apache = server(mpm, "ListenCoresBucketsRatio 1\nListenBacklog 50", workers=2 * cores,
                    threads=2)
    sockets = ss(apache.port)
    (expected,) = as_shown(sockets)
    assert expected["sockets"] == cores, "this Apache has no buckets"
    assert expected["queue_limit"] == cores * 50
    for _ in range(4 * cores):                 # of whichever bucket the child is
        assert apache.status()["listeners"] == [expected]
    assert tool.status(apache.board)["listeners"] == [expected]
    apache.restart()

    def listeners():
        """httpd resets what waited in the bucket of a child that has just ended."""
        try:
            return apache.status()["listeners"]
        except ConnectionError:
            return None
    # A child has its socket before the next one is there.
    wait_until(lambda: listeners() == as_shown(ss(apache.port)), 30,
               lambda: f"{listeners()} to be {as_shown(ss(apache.port))}")


@pytest.mark.skipif(os.sysconf("SC_NPROCESSORS_ONLN") < 2, reason="buckets need two cores")
def test_one_bucket_overflows_while_others_have_room(server, mpm):
    """Why the fullest is shown: connections are lost though not all the room is taken."""
    apache = server(mpm, "ListenCoresBucketsRatio 1\nListenBacklog 8", workers=4, threads=2)
    before = netstat()[0]
    with ExitStack() as more:
        for _ in range(300):
            more.enter_context(waiting(apache.port, 1))
            (seen,) = as_shown(ss(apache.port))
            if netstat()[0] > before and seen["queue_fullest"] >= 8:
                break
        assert seen["queue_fullest"] >= 8, f"nothing overflowed: {seen}"
        wait_until(lambda: tool.status(apache.board)["listeners"] == as_shown(ss(apache.port)), 10,
                   lambda: f"{ss(apache.port)}, not {tool.status(apache.board)['listeners']}")


def test_an_overflow(server, mpm):
    """Nobody accepts: the queue fills up, and what finds no room is counted."""
    apache = server(mpm, "ListenBacklog 3", workers=2, threads=2)
    before = netstat()
    with stuck(apache, 12):
        wait_until(lambda: netstat()[0] > before[0], 10, "an overflow")

        def agree():
            board = tool.status(apache.board)
            return board["listeners"] == as_shown(ss(apache.port)) and board
        board = wait_until(agree, 10, lambda: f"{ss(apache.port)} as the queue")
        assert board["listeners"][0]["queue_limit"] == 3, board["listeners"]
        shown = assert_counters_are_the_kernels(lambda: tool.status(apache.board))
        assert shown[0] > before[0] and shown[1] > before[1], (before, shown)
    wait_until(lambda: apache.get("/").status == 200, 20, "it serves again")
    by_url = assert_counters_are_the_kernels(apache.status)
    assert by_url >= shown, "counters only grow"
    for format, line in (("text", "ListenOverflows: "), ("text", "ListenDrops: "),
                         ("openmetrics", "mpmstat_listen_overflows_total{"),
                         ("prometheus", "mpmstat_listen_drops_total{")):
        answer = apache.get(f"/mpm-status?format={format}").text()
        (value,) = [row.split()[-1] for row in answer.splitlines() if row.startswith(line)]
        assert int(value) >= shown["Drops" in line or "drops" in line], (line, value)


# ---- where the kernel may not be asked ------------------------------------------------------

# Runs a command to which netlink sockets are refused, as some containers do.
WITHOUT_NETLINK = r'''
import ctypes, os, struct, sys
AF_NETLINK, EAFNOSUPPORT = 16, 97
nr, = [int(sys.argv[1])]
def op(code, jt, jf, k): return struct.pack("HBBI", code, jt, jf, k)
program = (op(0x20, 0, 0, 0) + op(0x15, 0, 3, nr)             # the system call: socket?
           + op(0x20, 0, 0, 16) + op(0x15, 0, 1, AF_NETLINK)  # its first argument
           + op(0x06, 0, 0, 0x00050000 | EAFNOSUPPORT)        # refused
           + op(0x06, 0, 0, 0x7fff0000))                      # allowed
buffer = ctypes.create_string_buffer(program)
class Filter(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
filter = Filter(len(program) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0                       # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execv(sys.argv[2], sys.argv[2:])
'''
SOCKET_CALL = {"x86_64": 41, "aarch64": 198}.get(platform.machine())


@pytest.mark.skipif(SOCKET_CALL is None, reason="the number of socket(2) is not known here")
@pytest.mark.parametrize("buckets", [False, True])
def test_without_netlink(server, mpm, buckets):
    """A child asks its own sockets then: what others hold it does not know, and says so."""
    if buckets and os.sysconf("SC_NPROCESSORS_ONLN") < 2:
        pytest.skip("buckets need two cores")
    apache = server(mpm, "ListenBacklog 33\n" + "ListenCoresBucketsRatio 1" * buckets, workers=4,
                    threads=2, wrapper=[sys.executable, "-c", WITHOUT_NETLINK, str(SOCKET_CALL)])
    (expected,) = as_shown(ss(apache.port))
    if buckets:
        expected.update(queue=None, queue_limit=None, queue_fullest=None)
    board = apache.status()
    assert board["listeners"] == [expected]
    assert board["workers"]["wanted"] == (None if buckets else board["workers"]["busy"])
    assert_counters_are_the_kernels(apache.status)
    (text,) = [row for row in apache.get("/mpm-status").text().splitlines()
               if row.startswith("Listener[") and "QueueLimit" in row] or [None]
    assert (text is None) == buckets, text
