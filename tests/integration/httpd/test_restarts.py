"""What a restart changes, and what it must not; and boards that are not this server's."""
import os
import re
import shutil
import signal
import struct
from collections import Counter
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path

import pytest

import build
import processes
import tool
from apache import assert_serves_unrecorded
from boards import default_records, documented_bytes, stripes
from phases import CGI
from pool import assert_time_adds_up, events, wait_for_pool
from processes import wait_until

GRACEFUL, HARD = signal.SIGUSR1, signal.SIGHUP


def rewrite(apache, *changes):
    """Changes the configuration for the next restart."""
    text = apache.configuration.read_text()
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, flags=re.M)
        assert count, f"{pattern} is not in the configuration"
    apache.configuration.write_text(text)


def workers_there(apache):
    return sum(tool.status(apache.board)["workers"]["states"].values())


def requests_are(apache, count):
    wait_until(lambda: tool.requests(tool.status(apache.board)) == count, 5,
               lambda: f"{count} requests: {tool.status(apache.board)['labels']}")


def shown_are_there(apache, board):
    """Every worker shown is a living child's, and every child's is shown."""
    pids = Counter(slot["pid"] for slot in board["slots"])
    return (set(pids) == set(apache.children())
            and set(pids.values()) == {apache.threads})


# ---- limits ---------------------------------------------------------------------------


@pytest.mark.parametrize("signum", [GRACEFUL, HARD], ids=["graceful", "hard"])
def test_another_limit(server, mpm, signum):
    """MaxRequestWorkers is lowered, and raised again; the board stays."""
    apache = server(mpm, workers=8, threads=2)
    wait_for_pool(apache)
    inode = apache.board.stat().st_ino
    for limit in (4, 6):
        rewrite(apache, (r"^MaxRequestWorkers \d+", f"MaxRequestWorkers {limit}"),
                (r"^StartServers \d+", f"StartServers {limit // apache.threads}"))
        apache.restart(signum)
        # prefork never uses the places again of children that were beyond a lowered limit.
        least = 4 if mpm == "prefork" and signum == GRACEFUL else limit
        board = wait_until(lambda: next((b for b in [tool.status(apache.board)] if least <=
                           sum(b["workers"]["states"].values()) <= limit and shown_are_there(
                               apache, b)), None), 30,
                           lambda: f"{limit} workers: {tool.status(apache.board)['workers']}")
        assert board["workers"]["limit"] == limit, board["workers"]
        assert board["settings"].startswith(f"MaxRequestWorkers {limit}; ")
    # The new limit is what no idle worker is measured by. With two workers a child of event's that
    # wakes up for a connection which another child takes may keep its idle worker for the next
    # one, count itself as full for that, and accept none: the limit is not reached.
    with ExitStack() as held:
        def reached():
            held.enter_context(apache.connect()).send("GET / HTTP/1.1\r\n")
            return tool.status(apache.board)["lifecycle"]["no_idle_worker_seconds"] > 0
        if least == 6 and mpm != "event":
            wait_until(reached, 10, "the limit to be reached")
    assert apache.board.stat().st_ino == inode
    assert not apache.log_lines("keeps the place and the room")


def test_settings(server, mpm):
    """They are shown as configured, also after a restart with others."""
    apache = server(mpm, "KeepAliveTimeout 1500ms\nMaxKeepAliveRequests 42\nTimeout 77")
    said = tool.status(apache.board)["settings"]
    assert said.endswith("; KeepAlive On; KeepAliveTimeout 1500ms; MaxKeepAliveRequests 42; "
                         "Timeout 77"), said
    assert ("; ThreadsPerChild " in said) == (mpm != "prefork"), said
    assert ("; AsyncRequestWorkerFactor 2; " in said) == (mpm == "event"), said
    factor = "\n<IfModule mpm_event_module>\nAsyncRequestWorkerFactor 1.5\n</IfModule>"
    rewrite(apache, (r"^Timeout 77", "Timeout 78\nKeepAlive Off" + factor))
    apache.restart()
    wait_until(lambda: "; KeepAlive Off; " in tool.status(apache.board)["settings"], 10,
               "the new settings")
    assert ("; AsyncRequestWorkerFactor 1.5; " in tool.status(apache.board)["settings"]) == (
        mpm == "event")
    assert tool.status(apache.board)["settings"].endswith("; Timeout 78")


def test_server_and_thread_limits_stay(server, mpm):
    """httpd does not change them before it is stopped, so neither does the board."""
    apache = server(mpm, workers=4, threads=2)
    before = wait_for_pool(apache)
    changes = [(r"^ServerLimit \d+", "ServerLimit 64")]
    if mpm != "prefork":
        changes += [(r"^ThreadLimit \d+", "ThreadLimit 30")]
    rewrite(apache, *changes)
    apache.restart()
    assert apache.log_lines("not allowed during restart"), apache.log_text()
    after = wait_for_pool(apache)
    assert (after["board_bytes"], after["workers"]["limit"]) == (
        before["board_bytes"], before["workers"]["limit"])
    assert not apache.log_lines("mpmstat:")


@pytest.mark.mpms("worker", "event")
def test_threads_below_their_limit(server, mpm):
    """ThreadsPerChild can be less than ThreadLimit, and another after a restart: no worker is
    shown, and no time counted, that is not there."""
    apache = server(mpm, workers=6, limits="ThreadLimit 16\nServerLimit 4\nThreadsPerChild 3\n"
                    "MaxRequestWorkers 6\nStartServers 2\nMinSpareThreads 6\nMaxSpareThreads 12")
    before = wait_for_pool(apache)
    assert before["workers"]["limit"] == 6 == len(before["slots"])
    after = wait_until(lambda: next((b for b in [tool.status(apache.board)] if
                       b["uptime_seconds"] > before["uptime_seconds"] + Decimal("0.2")), None), 5,
                       "a while")
    assert_time_adds_up(before, after, 6)
    apache.workers = 8
    rewrite(apache, (r"^ThreadsPerChild 3", "ThreadsPerChild 4"),
            (r"^MaxRequestWorkers 6", "MaxRequestWorkers 8"),
            (r"^MinSpareThreads 6", "MinSpareThreads 8"))
    apache.restart()
    board = wait_for_pool(apache)
    assert board["workers"]["limit"] == 8 == len(board["slots"])


@pytest.mark.skipif(os.sysconf("SC_NPROCESSORS_ONLN") < 2, reason="buckets need two cores")
def test_a_limit_that_buckets_raise(server, mpm):
    """The MPM starts a child for each bucket, whatever MaxRequestWorkers says."""
    cores, threads = os.sysconf("SC_NPROCESSORS_ONLN"), 1 if mpm == "prefork" else 2
    limits = f"ServerLimit {2 * cores}\nMaxRequestWorkers {threads}\nStartServers 1\n"
    if mpm != "prefork":
        limits = f"ThreadLimit 2\nThreadsPerChild 2\n{limits}"
    apache = server(mpm, "ListenCoresBucketsRatio 1", limits=limits, workers=cores * threads)
    wait_until(lambda: workers_there(apache) == cores * threads, 20,
               lambda: f"a child a bucket: {tool.status(apache.board)['workers']}")
    assert tool.status(apache.board)["workers"]["limit"] == cores * threads


def test_more_children_than_the_board_has_entries(server, mpm):
    """httpd keeps within ServerLimit, so this takes a board whose entries are all claimed, by
    a process that lives. Requests are counted all the same, in flight and complete, each
    with an id of its own; workers are not shown; a line says so."""
    apache = server(mpm, CGI, modules=["cgi"], workers=4, threads=2)
    apache.allow("process entries of the board are taken")
    apache.allow("AH0")
    nap = apache.cgi("nap", "sleep 0.3\necho Content-Type: text/plain\necho\necho done\n")
    wait_for_pool(apache)
    assert apache.get("/").status == 200
    requests_are(apache, 1)
    old = set(apache.children())
    claim_all(apache, os.getpid(), int(processes.stat_fields(os.getpid())[19]))
    apache.restart()
    wait_until(lambda: len(apache.children()) == 4 // apache.threads and
               not old & set(apache.children()), 20, "the new children alone")
    for path in ("/", nap, "/nowhere"):
        apache.get(path)
    requests_are(apache, 4)
    count = 2 * apache.workers // apache.threads
    assert apache.log_lines(f"all {count} process entries of the board are taken")
    board = tool.status(apache.board)
    assert not {s["pid"] for s in board["slots"]} & set(apache.children()), board["slots"]
    wait_until(lambda: more_children_served(apache, nap), 20, "requests to both children")
    records = apache.journal()[0]
    assert {r["worker"] for r in records[1:]} == {None}
    assert len({r["id"] for r in records}) == len(records), records
    claim_all(apache, 0, 0)
    apache.restart(HARD)                       # the next children find room again
    before = tool.requests(wait_for_pool(apache))
    assert apache.get("/").status == 200
    requests_are(apache, before + 1)


def more_children_served(apache, nap):
    """Four requests at once, more than a child has workers for: event may leave them to one
    child all the same, whose workers serve one after the other."""
    before = tool.requests(tool.status(apache.board))
    with ExitStack() as stack:
        connections = [stack.enter_context(apache.connect()) for _ in range(4)]
        for connection in connections:
            connection.send(f"GET {nap} HTTP/1.0\r\n\r\n")
        assert {connection.read_response().status for connection in connections} == {200}
    requests_are(apache, before + 4)
    return len({record["pid"] for record in apache.journal()[0][1:]}) > 1


def claim_all(apache, pid, start_ticks):
    """Makes that process the owner of every entry."""
    data = apache.board.read_bytes()
    offset, count, stride = section(data, "PROCESSES")
    with open(apache.board, "r+b") as board:
        for i in range(count):
            board.seek(offset + i * stride)
            board.write(struct.pack("<QQ", pid, start_ticks))


FORMAT = (build.SRCDIR / "lib" / "segment" / "format.h").read_text()
SECTIONS = re.findall(r"^    MST_SECTION_([A-Z_]+),", FORMAT, re.M)


def table_at(data):
    """Where the header's table of sections is: the first section begins a page later."""
    for at in range(0, 1024, 8):
        offset, count, stride = struct.unpack_from("<QII", data, at)
        if (offset, stride) == (4096, 64) and 5 < count < 200:
            return at
    raise AssertionError("no table of sections")


def section(data, name):
    return struct.unpack_from("<QII", data, table_at(data) + 16 * SECTIONS.index(name))


def patch(apache, offset, value):
    """A word of a board, changed under its server's feet."""
    with open(apache.board, "r+b") as board:
        board.seek(offset)
        board.write(struct.pack("<I", value))


# ---- the module comes and goes ---------------------------------------------------------------


def test_loaded_twice(server, mpm):
    """By a second LoadModule, and from a copy: httpd takes the first, each request counts once."""
    apache = server(mpm)
    copy = shutil.copy(build.MODULE, apache.root / "mod_mpmstat_copy.so")
    line = f"LoadModule mpmstat_module {build.MODULE}"
    rewrite(apache, (f"^{re.escape(line)}$",
                     f"{line}\n{line}\nLoadModule mpmstat_module {copy}"))
    code, said = apache.configtest()
    assert code == 0 and said.count("already loaded") >= 2, said
    apache.restart()
    for _ in range(5):
        assert apache.get("/").status == 200
    requests_are(apache, 5)
    wait_for_pool(apache)
    forks = [e["pid"] for e in events(apache, "fork")]
    assert len(forks) == len(set(forks)), forks


def test_removed_and_brought_back(server, mpm):
    """By graceful restarts, the LoadModule line gone and there again: the board stays and
    goes on, and children that ended meanwhile are told of."""
    apache = server(mpm, workers=4, threads=2)
    first = wait_for_pool(apache)
    inode = apache.board.stat().st_ino
    assert apache.get("/").status == 200
    requests_are(apache, 1)
    with_module = apache.configuration.read_text()
    rewrite(apache, (r"^LoadModule mpmstat_module .*$", ""),
            (r'(?s)<Location "/mpm-status">.*?</Location>', ""))
    old = {slot["pid"] for slot in first["slots"]}
    apache.restart()
    wait_until(lambda: not old & set(apache.children()), 20, "the old children to end")
    assert apache.get("/").status == 200 and apache.get("/mpm-status").status == 404
    assert tool.status(apache.board)["running"] == "yes", "this may be a restart yet"
    apache.configuration.write_text(with_module)
    apache.restart()
    board = wait_for_pool(apache)
    assert apache.board.stat().st_ino == inode
    assert board["generation"] == 2 and not board["stopped"], board
    wait_until(lambda: shown_are_there(apache, tool.status(apache.board)), 10,
               lambda: f"{apache.children()}: {tool.status(apache.board)['slots']}")
    assert apache.get("/").status == 200
    requests_are(apache, 2)
    wait_until(lambda: old <= {e["pid"] for e in events(apache, "exit")}, 20,
               lambda: f"exits of {old}: {events(apache, 'exit')}")
    ended = {e["pid"]: e["reason"] for e in events(apache, "exit")}
    assert {ended[pid] for pid in old} == {"clean"}, ended


def test_removed_for_good(server):
    """A server that goes on without the module is shown as one that records no more."""
    apache = server("event")
    wait_for_pool(apache)
    rewrite(apache, (r"^LoadModule mpmstat_module .*$", ""),
            (r'(?s)<Location "/mpm-status">.*?</Location>', ""))
    apache.restart()
    wait_until(lambda: tool.status(apache.board)["running"] == "no", 30, "it to be no restart")
    board = tool.status(apache.board)
    assert board["stopped"] and board["slots"] == [] and board["workers"]["busy"] == 0, board
    assert board == tool.status(apache.board), "time stands still"


def test_off_for_a_host_and_a_directory(server, mpm):
    """Where recording is off there is no record, no count, no request shown as in flight;
    the worker's time is the server's and counts all the same."""
    apache = server(mpm, CGI + '''
<VirtualHost *>
    ServerName test.example
</VirtualHost>
<VirtualHost *>
    ServerName off.example
    MPMStat Off
    <Location "/on">
        MPMStat On
    </Location>
</VirtualHost>
<Directory "@ROOT@/htdocs/off">
    MPMStat Off
</Directory>
MPMStatPaths On
''', modules=["cgi"], workers=4, threads=4)
    apache.allow("AH0")
    (apache.root / "htdocs" / "off").mkdir()
    go = apache.root / "go"
    nap = apache.cgi("nap", f"until [ -e {go} ]; do sleep 0.1; done\n"
                            "sleep 0.2\necho Content-Type: text/plain\necho\necho done\n")
    for host, path in (("test.example", "/"), ("off.example", "/"), ("off.example", "/on"),
                       ("test.example", "/off/"), ("test.example", "/off/none")):
        apache.get(path, headers={"Host": host})
    wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == 0, 30, "all workers idle")
    with apache.connect() as connection:
        connection.send_request(nap, headers={"Host": "off.example"}, keep=False)
        board = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                           if b["workers"]["states"]["handling"]), None), 30, "a busy worker")
        go.touch()
        assert connection.read_response().status == 200
    assert sum(entry["in_flight"] for entry in tool.labels(board)) == 0, board["labels"]
    requests_are(apache, 2)
    after = wait_for_pool(apache)
    counts = {entry["label"]: entry["requests"] for entry in tool.labels(after)
              if entry["requests"]}
    assert counts == {"test.example": 1, "off.example": 1}, counts
    spent = (after["workers"]["state_seconds"]["handling"]
             - board["workers"]["state_seconds"]["handling"])
    assert spent > 0.1, "it was handling"
    assert len(apache.journal()[0]) >= 2
    assert {r["label"] for r in apache.journal()[0]} <= {*counts, "mpm-status"}


# ---- boards of other builds ------------------------------------------------------------------

VERSION_AT = 8                                # in the header, in every version


def test_a_live_servers_board_of_another_format(server, mpm):
    """It is not replaced, whatever format it has; once that server is gone it is."""
    first = server(mpm)
    patch(first, VERSION_AT, 99)
    second = server(mpm, f'MPMStatBoard "{first.board}"')
    assert_serves_unrecorded(second, str(first.board), str(first.pid), "format 99")
    inode = first.board.stat().st_ino
    assert first.get("/").status == 200
    answer = first.get("/mpm-status")
    assert answer.status == 500 and "newer" in answer.text(), answer
    second.stop()
    place = Path(str(first.board) + ".kept")
    os.link(first.board, place)
    first.stop()
    third = server(mpm, board=place)
    assert third.get("/").status == 200
    requests_are(third, 1)
    assert place.stat().st_ino != inode
    third.stop()


def test_a_board_of_another_build(server, mpm):
    """Of the same format, but with other strides: readers say so; at the next restart the
    server itself makes a new one, rather than write to places that are not there."""
    apache = server(mpm)
    assert apache.get("/").status == 200
    data = apache.board.read_bytes()
    at = table_at(data) + 16 * SECTIONS.index("WORKERS") + 12
    (stride,) = struct.unpack_from("<I", data, at)
    inode = apache.board.stat().st_ino
    patch(apache, at, stride - 128)
    done = tool.run("status", apache.board)
    assert done.returncode == 3 and "another build" in done.stderr and "`workers`" in done.stderr
    apache.restart()
    assert apache.log_lines("mpmstat:notice.*another build"), apache.log_text()
    assert apache.board.stat().st_ino != inode
    board = wait_for_pool(apache)
    assert board["generation"] == 1 and tool.requests(board) == 0, board
    assert apache.get("/").status == 200
    requests_are(apache, 1)


# ---- the size ----------------------------------------------------------------------------------


@pytest.mark.parametrize("journal, labels", [(None, 64), (65536, 64), (1024, 5)])
def test_the_size_is_as_documented(server, mpm, journal, labels):
    configured = f"MPMStatJournal {journal}\n" if journal else ""
    apache = server(mpm, f"{configured}MPMStatMaxLabels {labels}", workers=12, threads=3)
    entries = 2 * apache.workers // apache.threads
    size = documented_bytes("Apache", processes=entries, threads=apache.threads, labels=labels,
                            rows=-(-labels // 16), stripes=stripes(),
                            records=journal or default_records())
    assert apache.board.stat().st_size == size
    shown = tool.run("status", apache.board).stdout
    assert f"\nBoardBytes: {size}\n" in shown, shown
