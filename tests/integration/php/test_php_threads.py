"""A PHP with threads (ZTS) in a threaded Apache: each thread's request is its own, in time, waits and
code. No distribution has this PHP: tests/other-php builds it and runs these tests."""
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

import build
import php
import tool
from processes import wait_until

if not php.has_threads():
    pytest.skip("needs mod_php with threads", allow_module_level=True)
pytestmark = pytest.mark.mpms("worker", "event")

MS = 1_000_000
TICK_NS = 4 * MS        # a timer of CPU time expires at a tick of the kernel
THREADS = 5
# Each page has a function of its own, which computes and then sleeps, how long differs by page. The
# last one calls a function of PHP itself.
PAGE = """<?php
function page_NUMBER() {
    for ($i = 0; $i < 4000000; $i++) ;
    usleep(SLEEP000);
    for ($i = 0; $i < HASHES; $i++) hash('sha256', str_repeat('x', 500000));
}
page_NUMBER();
echo 'page NUMBER';
"""
PAGES = 5


def sleep_ns(page):
    return (5 + 5 * page) * MS


def start(server, mpm, boards, tmp_path):
    """Two children of five threads, so that ten requests run at the same time."""
    ini = php.write_ini(tmp_path, {"opcache.enable": 1, **php.settings(boards, profile=500)})
    apache = server(mpm, f'\nPHPINIDir "{ini}"\n', php="mod_php", workers=2 * THREADS,
                    threads=THREADS)
    for number in range(PAGES):
        apache.page(f"page{number}.php", PAGE.replace("NUMBER", str(number)).replace(
            "SLEEP", str(sleep_ns(number) // MS)).replace("HASHES", "20" if number == PAGES - 1 else "0"))
    assert apache.get("/page0.php").status == 200      # the board is there
    return apache, php.board(boards, "apache2handler")


def ask_for_pages(apache, count):
    def ask(i):
        answer = apache.get(f"/page{i % PAGES}.php", timeout=60)
        assert answer.status == 200 and answer.text() == f"page {i % PAGES}"
    with ThreadPoolExecutor(2 * THREADS) as pool:
        list(pool.map(ask, range(count)))


def page_of(script):
    return int(script.rsplit("page", 1)[1].split(".")[0])


def functions_of(archive, stack):
    while stack is not None:
        [row] = archive.ask("SELECT s.caller, f.function FROM stacks s JOIN frames f ON f.server_id "
                            f"= s.server_id AND f.frame = s.frame WHERE s.stack = {stack} "
                            "GROUP BY s.stack")
        yield row["function"]
        stack = row["caller"]


def test_each_request_is_its_threads(server, mpm, php_boards, tmp_path):
    apache, board = start(server, mpm, php_boards, tmp_path)
    with php.recorded(board) as archive:
        ask_for_pages(apache, 150)
    requests = archive.ask("SELECT * FROM php_requests")
    assert len(requests) == 150
    cpu, by_start = Counter(), {}
    for row in requests:
        page = page_of(row["script"])
        [wait] = archive.ask("SELECT w.kind, w.calls, w.wait_ns, f.function FROM php_waits w JOIN "
                             f"frames f ON f.frame = w.frame WHERE w.key = {row['key']}")
        assert (wait["kind"], wait["calls"]) == ("sleep", 1), tuple(wait)
        assert wait["function"] == f"page_{page}"
        # The CPU time of the call, and the wait for a CPU in it, are not part of the wait.
        parts = row["user_ns"] + row["system_ns"] + row["cpu_wait_ns"] + wait["wait_ns"]
        assert sleep_ns(page) <= parts <= row["run_ns"], (page, tuple(row), tuple(wait))
        by_start[row["start_ns"], row["pid"]] = page
        cpu[page] += row["user_ns"] + row["system_ns"]
    check_samples(archive, by_start, cpu)


def check_samples(archive, by_start, cpu):
    """A thread's samples are of its own request, and of nearly all its CPU time."""
    sampled, leaves = Counter(), Counter()
    for row in archive.ask("SELECT * FROM php_samples WHERE kind = 'cpu'"):
        page = by_start[row["request_start_ns"], row["pid"]]
        functions = list(functions_of(archive, row["stack"]))
        assert functions[-1] == "{main}"
        assert all(not name.startswith("page_") or name == f"page_{page}" for name in functions)
        sampled[page] += row["weight_ns"]
        leaves[page, functions[0]] += row["weight_ns"]
    for page, ns in cpu.items():
        assert abs(sampled[page] - ns) < 6 * (ns * TICK_NS) ** 0.5, (page, ns, sampled)
    last = PAGES - 1
    assert leaves[last, "hash"] > 0.1 * sampled[last], leaves
    assert all(leaves[page, "hash"] == 0 for page in range(last)), leaves


def counts(board):
    label = next(e for e in tool.status(board)["labels"] if e["label"] == "default")
    return label["phases"]["php_run"]["count"], label["php"]["waits"]["sleep"]


def test_a_load_on_all_threads(server, mpm, php_boards, tmp_path):
    apache, board = start(server, mpm, php_boards, tmp_path)
    apache.page("short.php", "<?php usleep(100); echo strlen(str_repeat('x', 1000));")
    done = subprocess.run([build.find("ab"), "-q", "-n", "5000", "-c", "20",
                           f"http://127.0.0.1:{apache.port}/short.php"],
                          check=True, capture_output=True, text=True)
    assert "Failed requests:        0" in done.stdout and "Non-2xx" not in done.stdout, done.stdout
    wait_until(lambda: tool.status(board)["workers"]["busy"] == 0, 30, "idle workers")
    assert counts(board) == (5001, 5001)


def test_the_first_requests_of_a_process_come_at_the_same_time(server, mpm, php_boards, tmp_path):
    """One of them makes the process a worker of the board; the others wait for that."""
    apache, board = start(server, mpm, php_boards, tmp_path)
    count = 1
    for _ in range(10):
        before = set(apache.children())
        apache.restart()
        # A child of worker that is to end can close a connection that it has accepted.
        wait_until(lambda: not before & set(apache.children()), 30, "the earlier children to end")
        ask_for_pages(apache, 2 * THREADS)
        count += 2 * THREADS
    wait_until(lambda: tool.status(board)["workers"]["busy"] == 0, 30, "idle workers")
    assert counts(board) == (count, count)
