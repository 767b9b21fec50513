"""Readers of /mpm-status that take their answers slowly, or not at all: they keep few workers and
little memory, and the server goes on to answer others."""
import json
import os
import signal
import struct
import subprocess
from pathlib import Path

import pytest

import boards
import build
import clients
import processes
import tool
from processes import is_alive, wait_until
from urls import TYPES, Server, rendered, reply

JOURNAL = "/mpm-status?format=journal&since=start"
READERS = 50
KEEPS_FREED = pytest.mark.skipif(build.SANITIZE, reason="sanitizers keep freed memory")
TURNS = 4               # of 60 workers
PER_READER = 256 << 10  # bytes that one may cost; an answer is 8 MB


@pytest.fixture
def full(server, mpm):
    """A server whose journal makes answers that no socket's buffers hold."""
    apache = server(mpm, "MPMStatJournal 65536", workers=60, threads=30)
    assert clients.ab(apache.port, "/", 20000, 10, ["-k"])["complete"] == 20000
    wait_until(lambda: tool.requests(tool.status(apache.board)) == 20000, 10, "all on record")
    return apache


class Reader:
    """It has sent its question, and has taken the head of the answer and little more."""

    def __init__(self, apache, path=JOURNAL):
        self.connection = apache.connect(receive_buffer=4096)
        self.connection.send_request(path, keep=False)
        self.status, self.headers = self.connection.read_head()

    def text(self):
        if self.headers.get("transfer-encoding") == "chunked":
            return self.connection.read_chunks().decode()
        return self.connection.read_to_end().decode()


def held(readers):
    return [reader for reader in readers if reader.status == 200]


def private_bytes(pids):
    """Memory of these processes that nobody shares."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) << 10 for line in lines
                     if line.startswith("Private_Dirty:"))
    return total


def let_go(readers):
    for reader in readers:
        reader.connection.reset()


def wait_for_turns(apache):
    """Until nobody has an answer of the journal any more."""
    wait_until(lambda: tool.status(apache.board)["workers"]["states"]["sending"] == 0, 10,
               lambda: f"no answer in flight: {tool.status(apache.board)['workers']}")


# ---- the journal --------------------------------------------------------------------------


def test_few_journals_are_given_at_once(full):
    readers = [Reader(full) for _ in range(READERS)]
    assert [reader.status for reader in readers] == [200] * TURNS + [503] * (READERS - TURNS)
    for refused in readers[TURNS:]:
        assert refused.headers["retry-after"] == "1"
        text = refused.text()
        assert f"gives {TURNS} answers of the journal at once" in text and "ask again" in text
        refused.connection.close()
    board = tool.status(full.board)
    assert board["workers"]["states"]["sending"] <= TURNS, board["workers"]
    for _ in range(READERS):          # others are answered, and what is short
        assert full.get("/").status == 200
        assert full.get("/mpm-status?format=json").status == 200
        assert json.loads(full.get("/mpm-status?format=journal&since=now").text())["lost"] == 0
    assert full.get(JOURNAL).status == 503
    let_go(readers[1:TURNS])
    *records, trailer = [json.loads(line) for line in readers[0].text().splitlines()]
    readers[0].connection.close()
    assert len([r for r in records if "id" in r]) == 20000 and trailer["lost"] == 0, trailer
    wait_until(lambda: full.get(JOURNAL + "&limit=1").status == 200, 10, "a turn again")


@KEEPS_FREED
def test_a_journal_costs_little_memory(full):
    for _ in range(3):
        assert full.get(JOURNAL).status == 200
    pids = full.children()
    before = private_bytes(pids)
    readers = [Reader(full) for _ in range(READERS)]
    assert len(held(readers)) == TURNS
    assert private_bytes(pids) - before < READERS * PER_READER
    let_go(readers)
    wait_for_turns(full)
    assert private_bytes(pids) - before < READERS * PER_READER


def test_a_killed_process_gives_its_turns_back(full):
    full.allow(r"AH0005[12]: child pid \d+ exit signal Killed")
    readers = [Reader(full) for _ in range(TURNS)]
    assert len(held(readers)) == TURNS and full.get(JOURNAL).status == 503
    givers = {slot["pid"] for slot in tool.status(full.board)["slots"]
              if slot["label"] == "mpm-status" and slot["pid"] is not None}
    assert givers
    for pid in givers:
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid), 10, f"{pid} to be gone")
    let_go(readers)

    def all_turns():
        try:
            again = [Reader(full) for _ in range(TURNS)]
        except OSError:     # a connection that a killed child had taken already
            return False
        let_go(again)
        wait_for_turns(full)
        return len(held(again)) == TURNS
    wait_until(all_turns, 30, "all turns again")    # once the parent knows


def test_all_turns_come_back(full):
    """However the readers end."""
    for end in ("reset", "close"):
        for _ in range(3):
            readers = [Reader(full) for _ in range(TURNS)]
            assert len(held(readers)) == TURNS
            for reader in readers:
                getattr(reader.connection, end)()
            wait_until(lambda: full.get(JOURNAL + "&limit=1").status == 200, 10, "a turn")
            wait_for_turns(full)


JOURNAL_ANSWERS = 13 * 8     # struct mst_process: the word that counts them


def entries(apache):
    """Where the children's entries are in the board's file."""
    board = apache.board.read_bytes()
    found = []
    for pid in apache.children():
        owner = struct.pack("<QQ", pid, int(processes.stat_fields(pid)[19]))
        found += [at for at in range(0, len(board) - 128, 64) if board[at:at + 16] == owner]
    return found


@pytest.mark.parametrize("nonsense", [5, 2 ** 32, 2 ** 63, 2 ** 64 - 1])
def test_nonsense_on_the_board_is_at_worst_a_refusal(server, mpm, as_root, nonsense):
    """Until the process whose entry it is gives an answer, or refuses one."""
    apache = server(mpm, workers=10)
    assert apache.get(JOURNAL).status == 200
    wait_until(lambda: len(entries(apache)) == len(apache.children()), 10, "all entries")
    places = entries(apache)
    with open(apache.board, "r+b", buffering=0) as board:
        for at in places:
            os.pwrite(board.fileno(), struct.pack("<Q", nonsense), at + JOURNAL_ANSWERS)
    assert apache.get(JOURNAL).status == 503 or len(places) == 1
    assert apache.get("/").status == 200 and apache.get("/mpm-status").status == 200
    wait_until(lambda: apache.get(JOURNAL, headers={"Connection": "close"}).status == 200, 30,
               "answers again")


@pytest.mark.parametrize("workers, turns", [(1, 1), (2, 1), (6, 3), (10, 4), (64, 4)])
def test_never_all_workers(server, workers, turns):
    apache = server("prefork", workers=workers)
    clients.ab(apache.port, "/", 20000, workers, ["-k"])
    readers = [Reader(apache) for _ in range(min(turns + 1, workers))]
    assert len(held(readers)) == turns
    let_go(readers)


def test_recording_waits_for_its_turn(full, tmp_path):
    """What is refused for a while is recorded later, and nothing is lost."""
    archive = tmp_path / "run.sqlite"
    url = f"http://127.0.0.1:{full.port}/mpm-status"
    readers = [Reader(full) for _ in range(TURNS)]
    assert len(held(readers)) == TURNS
    script = tmp_path / "load"
    marker = tmp_path / "loaded"
    script.write_text(f"#!/bin/sh\nab -q -n 500 http://127.0.0.1:{full.port}/index.html >/dev/null\n"
                      f": >{marker}\nwhile test -e {marker}; do sleep 0.05; done\n")
    script.chmod(0o755)
    recording = subprocess.Popen([str(build.TOOL), "record", "-o", archive, "-t", url, script],
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(marker.exists, 30, "the load")
    before = len(full.access_log())
    wait_until(lambda: sum(row[0] == "503" for row in full.access_log()[before:]) >= 3, 30,
               "some polls that were refused")
    let_go(readers)
    wait_for_turns(full)
    marker.unlink()
    stdout, stderr = recording.communicate(timeout=60)
    assert recording.returncode == 0, stderr
    assert "503" not in stderr, stderr
    summary = json.loads(tool.report("--format", "json", archive))[0]
    server_side = summary["servers"][0]
    assert server_side["requests"] == 500, server_side
    assert server_side["records_lost"] == 0, server_side


def test_a_journal_that_is_refused_to_the_end_is_not_known(tmp_path):
    archive = tmp_path / "run.sqlite"

    def answer(handler):
        if "since=now" in handler.path:
            return reply(handler, b'{"next":"a-1-1","lost":0,"more":false}\n',
                         "application/x-ndjson")
        if "format=journal" in handler.path:
            return reply(handler, b"not now", "text/plain", 503, **{"Retry-After": "1"})
        return reply(handler, rendered(board, "json"), TYPES["json"])

    with boards.board(3) as board, Server(answer) as server:
        done = tool.run("record", "-o", archive, "-t", server.url, "true", timeout=60)
    assert done.returncode == 0, done.stderr
    summary = json.loads(tool.report("--format", "json", archive))[0]
    assert summary["servers"][0]["records_lost"] is None, summary["servers"][0]


# ---- a PHP's board, which anybody may cut ----------------------------------------------------


def test_an_answer_of_a_board_that_is_cut_is_seen_to_be_cut(server, mpm):
    """HTTP itself says that it is not whole."""
    with boards.runtime_directory() as directory:
        made = boards.Board(directory / "own.board", directory / "php.board")
        try:
            made.serve(60000)
            made.php.chmod(0o644)
            directory.chmod(0o755)
            # The kernel is not to take the whole answer before the board is cut.
            apache = server(mpm, f'MPMStatPHPBoards "{directory}"\nSendBufferSize 16384')
            apache.allow("MPMSTAT41")
            reader = Reader(apache, JOURNAL + "&board=php.board")
            assert reader.status == 200
            os.truncate(made.php, 4096)
            with pytest.raises(clients.NoAnswer):
                reader.text()
            (line,) = wait_until(lambda: apache.log_lines("MPMSTAT41"), 10, "a line in the log")
            assert "ends early" in line and str(made.php) in line
            reader.connection.close()
        finally:
            made.stop()


# ---- snapshots ----------------------------------------------------------------------------


HOSTS = 900
VIRTUAL_HOSTS = f"MPMStatMaxLabels {HOSTS + 10}\n" + "\n".join(
    f"<VirtualHost *:*>\nServerName h{i}.example\n</VirtualHost>" for i in range(HOSTS))


@KEEPS_FREED
def test_a_snapshot_is_not_kept_for_its_reader(server, mpm):
    """What an answer is made of takes 16 MB, it itself 1 MB. (What malloc keeps of that is for each
    of its arenas, of which there are otherwise as many as threads, or eight for each CPU.)"""
    apache = server(mpm, VIRTUAL_HOSTS, workers=30, threads=15,
                    environment={"MALLOC_ARENA_MAX": "2"})
    path = "/mpm-status?format=json"
    assert len(apache.get(path).body) > 500_000
    pids = apache.children()
    before = private_bytes(pids)
    readers = [Reader(apache, path) for _ in range(20)]
    assert len(held(readers)) == 20
    cost = private_bytes(pids) - before
    assert apache.get("/").status == 200
    assert cost < 20 * (8 << 20), cost
    let_go(readers)
