"""Many clients, slow clients, hostile boards: mpmstat serve goes on answering."""
import concurrent.futures
import contextlib
import http.client
import os
import select
import shutil
import socket

import pytest

import boards
import build
import processes
from boards import runtime_directory
from hostile import sparse_board
from processes import wait_until
from serving import Serving, token_file

CLIENTS_MAX = 256
ANSWERS_BYTES = 64 << 20    # of all unread answers


@pytest.fixture(scope="module")
def board():
    with boards.board(2000) as made:
        yield made


def scrape(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", "/metrics?format=openmetrics")
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def threads(serving):
    return len(os.listdir(f"/proc/{serving.process.pid}/task"))


def closed(connections):
    """Of these, those that the server has ended."""
    readable, _, _ = select.select(connections, [], [], 0)
    return [c for c in readable if c.recv(1) == b""]


def test_200_scrapes_at_once(board):
    with Serving(board.path) as serving, concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(scrape, [serving.port] * 200))
        assert [status for status, _ in answers] == [200] * 200
        assert all(text.endswith("# EOF\n") for _, text in answers)
        assert serving.get("/healthz").status == 200
        wait_until(lambda: threads(serving) <= 3, 30, "the threads to end")
        assert serving.said() == ""


def test_clients_that_never_finish_their_request(board):
    """Each sends a piece of a request; a new client is answered nevertheless, and there are never
    more threads than places."""
    slow = []
    with Serving(board.path) as serving:
        try:
            for i in range(CLIENTS_MAX + 60):
                slow.append(serving.connect())
                slow[-1].sendall(b"GET /metrics HTTP/1.1\r\nX: ")
                if i % 20 == 0:
                    assert serving.get("/metrics").status == 200, i
            assert serving.get("/metrics").status == 200
            assert threads(serving) <= 2 * CLIENTS_MAX + 3
            wait_until(lambda: len(closed(slow)) >= 60, 60, "the oldest to be ended")
            # The time for a request is over for the rest, too, though they still send.
            wait_until(lambda: len(closed(slow)) == len(slow), 60, "all to be ended")
            wait_until(lambda: threads(serving) <= 3, 30, "their threads to end")
            assert serving.get("/metrics").status == 200
        finally:
            for client in slow:
                client.close()


def test_clients_that_do_not_read_their_answers(board):
    """The journal's answer is larger than what the kernel holds for them."""
    slow = []
    with Serving(board.path) as serving:
        try:
            for _ in range(30):
                slow.append(serving.connect())
                slow[-1].sendall(b"GET /?format=journal&since=start HTTP/1.1\r\n"
                                 b"Host: localhost\r\n\r\n")
            for client in slow:
                assert client.recv(15).startswith(b"HTTP/1.1 200")
            assert serving.get("/metrics").status == 200
            assert serving.get("/explain").status == 200
        finally:
            for client in slow:
                client.close()
        wait_until(lambda: threads(serving) <= 3, 30, "their threads to end")


def leave(port, times):
    """Connections that end within their request."""
    for _ in range(times):
        with socket.socket() as client:
            client.settimeout(60)
            client.connect(("127.0.0.1", port))
            client.sendall(b"GET / HT")


@pytest.mark.parametrize("token", [False, True])
def test_clients_that_leave_within_their_request(board, tmp_path, token):
    """Thousands of them, faster than threads end: it answers, and ends when it is told to."""
    options = ("--token-file", token_file(tmp_path, "secret" * 6)) if token else ()
    with Serving(board.path, *options) as serving:
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(leave, [serving.port] * 6, [1500] * 6))
        assert serving.get("/healthz", timeout=20).status == 200
        wait_until(lambda: threads(serving) <= 3, 30, "the threads to end")


def private(pid):
    """KB that are this process's alone."""
    text = processes.read(pid, "smaps_rollup").decode()
    return sum(int(line.split()[1]) for line in text.splitlines()
               if line.startswith("Private_Dirty:"))


def ask_and_not_read(port):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(60)
    client.connect(("127.0.0.1", port))
    client.sendall(b"GET /metrics?bounds=8 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client


@pytest.mark.skipif(build.SANITIZE, reason="sanitizers keep freed memory")
def test_memory_of_unread_answers(tmp_path):
    """More clients than places ask for large answers, and none of them reads: their answers
    have a bounded size together, and another client is answered nevertheless."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(runtime_directory())
        for i in range(4):
            made = boards.Board(directory / f"b{i}.board", directory / f"p{i}.board")
            stack.callback(made.stop)
            made.serve(10)
        serving = stack.enter_context(Serving(directory))
        answer = len(serving.get("/metrics?bounds=8").body)
        before = private(serving.process.pid)
        assert 200 * answer > 2 * ANSWERS_BYTES, "the answers are too small for this test"
        asked = [stack.enter_context(ask_and_not_read(serving.port)) for _ in range(300)]
        peak = []

        def all_have_something():
            """An answer's beginning, or the connection's end."""
            peak.append(private(serving.process.pid) - before)
            return len(select.select(asked, [], [], 0)[0]) == len(asked)

        wait_until(all_have_something, 120, "answers")
        assert serving.get("/metrics?bounds=8").status == 200
        assert max(peak) < (ANSWERS_BYTES >> 10) * 1.5 + 16384, peak


def test_memory_does_not_grow(board):
    """After a thousand answers of each kind it is as large as after the first hundred."""
    paths = ("/metrics", "/?format=json", "/?format=html", "/?format=journal&since=start",
             "/explain?format=json", "/none")
    with Serving(board.path) as serving:
        sizes = []
        connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=60)
        for _ in range(6):
            for path in paths * 15:
                connection.request("GET", path)
                connection.getresponse().read()
            sizes.append(private(serving.process.pid))
        connection.close()
        assert build.SANITIZE or sizes[-1] <= sizes[0] * 1.1 + 1024, sizes


def test_hostile_boards(board, tmp_path):
    """Boards that are cut short, of no server, or claim to be huge: sentences, and the good one."""
    with runtime_directory() as directory:
        shutil.copy(board.path, directory / "good.board")
        whole = board.path.read_bytes()
        (directory / "cut.board").write_bytes(whole[:5000])
        (directory / "empty.board").touch()
        (directory / "junk.board").write_bytes(os.urandom(65536))
        (directory / "zero.board").write_bytes(b"\0" * 65536)
        (directory / "link.board").symlink_to("/etc/passwd")
        os.mkfifo(directory / "fifo.board")
        sparse_board(board.path, directory / "huge.board", 1_000_000)
        with Serving(directory) as serving:
            for path in ("/", "/metrics", "/?format=html", "/?format=journal&since=start",
                         "/explain", "/?format=journal&board=huge.board&since=start",
                         "/?format=journal&board=junk.board&since=start"):
                answer = serving.get(path)
                assert answer.status in (200, 404, 503), (path, answer)
                assert "root:" not in answer.text()
            shown = serving.get("/?format=json").json()
            assert any(b["board"].endswith("good.board") for b in shown["boards"])
            reasons = " ".join(entry["reason"] for entry in shown["unreadable"])
            for name in ("cut", "empty", "junk", "zero", "link", "fifo"):
                assert f"{name}.board" in reasons, reasons
            assert serving.process.poll() is None


def test_a_board_that_changes_under_it(board):
    """A board of random bytes in place of the board, and back, while it is asked."""
    with runtime_directory() as directory:
        path, whole = directory / "mpmstat.board", board.path.read_bytes()
        path.write_bytes(whole)
        with Serving(path) as serving, concurrent.futures.ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(serving.get, where) for where in
                     ("/metrics", "/?format=json", "/?format=journal&since=start", "/explain") * 15]
            while not all(one.done() for one in asked):
                for size in (100, 5000, len(whole)):
                    with open(path, "r+b") as file:
                        file.write(os.urandom(4096) + whole[4096:size])
                        file.truncate(size)
                    path.write_bytes(whole)
            assert all(one.result().status in (200, 500, 503) for one in asked)
            assert serving.get("/metrics").status == 200
