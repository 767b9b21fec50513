"""mpmstat serve: what it answers at each path, whatever Apache does meanwhile."""
import hashlib
import json
import os
import re
import shutil
import signal
import socket

import pytest

import boards
import tool
from boards import runtime_directory
from processes import wait_until
from serving import Serving, curl

HTML = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROMETHEUS_2 = ("Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
WORKERS = 10
LIVE = "document.querySelector('#state').className === 'live'"


@pytest.fixture(scope="module")
def made():
    """(an Apache's board with a PHP's, a server of both)"""
    with boards.board(50, php="php.board") as board, Serving(board.path, board.php) as serving:
        yield board, serving


# ---- paths and formats -------------------------------------------------------------------


@pytest.mark.parametrize("path, header, type_, begins", (
    ("/", None, TEXT, "Board: apache\n"),
    ("/mpm-status", None, TEXT, "Board: apache\n"),
    ("/", HTML, "text/html; charset=utf-8", "<!DOCTYPE html>"),
    ("/?format=html", None, "text/html; charset=utf-8", "<!DOCTYPE html>"),
    ("/", "Accept: application/json", "application/json", '{"boards"'),
    ("/?format=json", HTML, "application/json", '{"boards"'),
    ("/?format=openmetrics", None, OPENMETRICS, "# TYPE mpmstat"),
    ("/?format=prometheus", None, PROMETHEUS, "# TYPE mpmstat"),
    ("/?format=journal&since=start", None, "application/x-ndjson", "{"),
    ("/metrics", None, PROMETHEUS, "# TYPE mpmstat"),
    ("/metrics", HTML, PROMETHEUS, "# TYPE mpmstat"),
    ("/metrics", "Accept: text/plain;version=0.0.4", PROMETHEUS, "# TYPE mpmstat"),
    ("/metrics", PROMETHEUS_2, OPENMETRICS, "# TYPE mpmstat"),
    ("/metrics?format=openmetrics", None, OPENMETRICS, "# TYPE mpmstat"),
    ("/explain", None, TEXT, ""),
    ("/explain?format=json", None, "application/json", "{"),
    ("/explain", "Accept: application/json", "application/json", "{"),
    ("/healthz", None, TEXT, "ok\n")))
def test_each_path_and_format(made, path, header, type_, begins):
    answer = made[1].get(path, *(["-H", header] if header else []))
    assert answer.status == 200 and answer.failure == 0, answer
    assert answer.headers["content-type"] == type_
    assert answer.text().startswith(begins), answer
    assert answer.headers["cache-control"] == "no-store" and answer.headers["vary"] == "Accept"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ("content-security-policy" in answer.headers) == ("html" in type_)
    if type_ == OPENMETRICS:
        assert answer.text().endswith("# EOF\n")
    head = made[1].get(path, "-I", *(["-H", header] if header else []))
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"] == type_


def test_what_a_scraper_can_ask_for(made):
    """Native histograms, exemplars, and how fine histograms are, as of Apache's status page."""
    protobuf = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
                "encoding=delimited")
    answer = made[1].get("/metrics", "-H", f"Accept: {protobuf},{PROMETHEUS_2[8:]}")
    assert answer.status == 200 and b"mpmstat_phase_seconds" in answer.body
    assert answer.headers["content-type"].replace(" ", "") == protobuf
    fine = made[1].get("/metrics?bounds=8", "-H", PROMETHEUS_2).text()
    assert "request_id=" in fine and made[0].path.name in fine
    coarse = made[1].get("/metrics?bounds=1").text()
    assert 0 < coarse.count("_bucket{") < fine.count("_bucket{") / 2


@pytest.mark.parametrize("path, status, said", (
    ("/none", 404, "/metrics is for Prometheus"),
    ("/../../etc/passwd", 404, "there is nothing here"),
    ("/metrics/", 404, "there is nothing here"),
    ("/%2e%2e/etc/passwd", 404, "there is nothing here"),
    ("//metrics", 404, "there is nothing here"),
    ("/?format=xml", 400, "valid are text, json, openmetrics"),
    ("/?nonsense", 400, "there is no parameter"),
    ("/?format=journal&board=none.board", 404, "there is no board none.board"),
    ("/?format=journal&since=x", 400, "since=x is not valid"),
    ("/metrics?format=json", 400, "valid here are format=openmetrics"),
    ("/metrics?x=y", 400, "there is no parameter"),
    ("/explain?last=0", 400, "valid here are format=text"),
    ("/explain?last=" + "9" * 200, 400, "the query is too long"),
    ("/explain?format=html", 400, "valid here are format=text"),
    ("/debug/pprof/profile?seconds=x", 400, "valid here are seconds=TIME"),
    ("/debug/pprof/profile?format=svg", 400, "and format=pprof, folded or speedscope"),
    ("/debug/pprof/profile?" + "9" * 200, 400, "the query is too long"),
    ("/?" + "x" * 1000, 400, "the query is too long")))
def test_what_is_wrong_gets_a_sentence(made, path, status, said):
    answer = made[1].get(path)
    assert (answer.status, answer.headers["content-type"]) == (status, TEXT), answer
    assert said in answer.text() and answer.text().count("\n") == 1, answer
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("options", (
    ["-X", "POST", "-d", "x=y"], ["-X", "PUT", "--data-binary", "x" * 100000], ["-X", "DELETE"],
    ["-X", "OPTIONS"], ["-X", "NONSENSE"]))
def test_it_is_only_read(made, options):
    answer = made[1].get("/", *options)
    assert answer.status == 405 and answer.headers["allow"] == "GET,HEAD", answer
    assert answer.text() == "the status page is only read: expected is GET or HEAD\n"
    assert made[1].get("/healthz").status == 200


def test_no_bodies_and_no_long_heads(made):
    _, serving = made
    assert serving.get("/", "-X", "GET", "-d", "x=y").status == 400
    assert serving.get("/", "-X", "GET", "-H", "Transfer-Encoding: chunked", "-d",
                       "x").status == 400
    assert serving.get("/", "-H", "X: " + "x" * 60000).status in (413, 431)
    assert serving.get("/" + "x" * 60000).status in (414, 431)
    for wrong in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 1000):
        with socket.create_connection(("127.0.0.1", serving.port), 30) as client:
            client.sendall(wrong)
            client.shutdown(socket.SHUT_WR)
            while client.recv(65536):
                pass
    assert serving.get("/healthz").text() == "ok\n"


# ---- as Apache says -----------------------------------------------------------------------


def families(text):
    return set(re.findall(r"^# TYPE (\w+) ", text, re.M))


def steady(board):
    """What two looks at an idle server have in common."""
    return {"path": board["board"], "pid": board["pid"], "started": board["started"],
            "limit": board["workers"]["limit"], "generation": board["generation"],
            "forks": board["lifecycle"]["forks"], "requests": tool.requests(board),
            "labels": {entry["label"]: (entry["requests"], entry["bytes"], entry["status"],
                                        entry["phases"]) for entry in tool.labels(board)}}


@pytest.mark.mpms("event")
def test_the_same_numbers_as_the_status_page(server, mpm):
    apache = server(mpm)
    for _ in range(20):
        apache.get("/index.html")
    apache.get("/none")
    wait_until(lambda: tool.requests(tool.status(apache.board)) == 21, 30, "the requests")
    with Serving(apache.board) as serving:
        assert steady(serving.boards()[0]) == steady(apache.status())
        for format_ in ("openmetrics", "prometheus"):
            ours = serving.get(f"/metrics?format={format_}").text()
            assert families(ours) == families(apache.get(f"/mpm-status?format={format_}").text())
        # The journal goes on with what is asked of the status page: the later one has it all.
        theirs = apache.get("/mpm-status?format=journal&since=start").text().splitlines()
        ours = serving.get("/?format=journal&since=start").text().splitlines()
        records = {line for line in theirs if '"next"' not in line}
        assert records <= set(ours) and len(records) > 20
        # The other verbs take it for a server's status URL.
        done = tool.run("status", "--format", "json", f"{serving.url}/mpm-status")
        assert done.returncode == 0, done.stderr
        said = serving.get("/explain?format=json").json()["past"]["findings"]
        done = tool.run("explain", "--format", "json", apache.board)
        assert [f["code"] for f in said] == re.findall(r'"code": ?"([^"]+)"', done.stdout)


@pytest.mark.mpms("worker")
def test_all_workers_stuck(server, mpm):
    """curl gets no answer of Apache's, and every answer of ours."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1024)
        apache = server(mpm, 'ProxyPass "/stuck" "http://127.0.0.1:%d/"' % silent.getsockname()[1],
                        modules=["proxy", "proxy_http"], workers=WORKERS, threads=WORKERS)
        apache.allow(r"\[proxy")
        connections = []
        try:
            for _ in range(WORKERS):
                connections.append(apache.connect(timeout=5))
                connections[-1].send_request("/stuck")
            wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"]
                       == WORKERS, 30, "all workers to be stuck")
            with Serving(apache.board) as serving:
                assert curl(f"http://127.0.0.1:{apache.port}/mpm-status", timeout=2).failure == 28
                assert serving.boards()[0]["workers"]["states"]["handling"] == WORKERS
                assert serving.sample("mpmstat_up") == 1
                handling = re.search(r'^mpmstat_workers{.*state="handling"} (\d+)$',
                                     serving.get("/metrics").text(), re.M)
                assert int(handling[1]) == WORKERS
                assert serving.get("/", "-H", HTML).status == 200
                wait_until(lambda: "Apache is stuck" in serving.get("/explain").text(), 30,
                           "the explanation")
                now = json.loads(serving.get("/?format=json").text())["now"]
                assert now[0]["stuck"] and now[0]["sentence"].startswith(
                    f"Apache is stuck: all of its {WORKERS} workers are in the state handling")
                assert re.search(r"^Now: Apache is stuck: ", serving.get("/").text(), re.M)
        finally:
            for connection in connections:
                connection.close()


@pytest.mark.mpms("event")
def test_apache_is_killed(server, mpm):
    apache = server(mpm)
    apache.get("/index.html")
    with Serving(apache.board) as serving:
        assert serving.sample("mpmstat_up") == 1
        children = apache.children()
        os.kill(apache.pid, signal.SIGKILL)
        for child in children:
            os.kill(child, signal.SIGKILL)
        wait_until(lambda: serving.boards()[0]["running"] == "no", 30, "the end to be seen")
        assert serving.sample("mpmstat_up") == 0
        assert "Running: no\n" in serving.get("/").text()
        assert tool.requests(serving.boards()[0]) == 1
        assert serving.get("/", "-H", HTML).status == 200
        assert "does not run" in serving.get("/explain").text()


def test_no_board_yet_and_then_one():
    """It may start before the servers do, and outlives them."""
    with runtime_directory() as directory:
        with Serving(environment={"MPMSTAT_RUNDIR": str(directory)}) as serving:
            for path in ("/", "/metrics", "/?format=journal", "/explain"):
                answer = serving.get(path)
                assert answer.status == 503 and "no board found in" in answer.text(), answer
            assert serving.get("/healthz").status == 200
            made = boards.Board(directory / "mpmstat.board")
            try:
                made.serve(3)
                assert tool.requests(serving.boards()[0]) == 3
                made.process.kill()
                made.process.wait()
                wait_until(lambda: serving.boards()[0]["running"] == "no", 30, "its end")
            finally:
                made.stop()


def test_a_named_board_that_is_missing_or_wrong(tmp_path):
    wrong = tmp_path / "wrong.board"
    wrong.write_bytes(b"no board at all" * 1000)
    with boards.board(5) as board, Serving(wrong, tmp_path / "none.board") as serving:
        answer = serving.get("/metrics")
        assert answer.status == 503, answer
        assert "wrong.board" in answer.text() and "none.board" in answer.text()
        shutil.copy(board.path, tmp_path / "none.board")
        answer = serving.get("/?format=json").json()
        assert len(answer["boards"]) == 1 and "wrong.board" in answer["unreadable"][0]["reason"]


@pytest.mark.mpms("event")
def test_two_apaches(server, mpm):
    first, second = server(mpm), server(mpm)
    for _ in range(3):
        second.get("/index.html")
    wait_until(lambda: tool.requests(tool.status(second.board)) == 3, 30, "the requests")
    with Serving(first.board, second.board) as serving:
        shown = serving.boards()
        assert [board["pid"] for board in shown] == [first.pid, second.pid]
        assert [tool.requests(board) for board in shown] == [0, 3]
        samples = re.findall(r'^mpmstat_up\{board="([^"]+)"', serving.get("/metrics").text(), re.M)
        assert samples == [str(first.board), str(second.board)]
        # Both files have the same base name: their paths tell their journals apart.
        for apache, count in ((first, 0), (second, 3)):
            answer = serving.get(f"/?format=journal&since=start&board={apache.board}")
            assert answer.text().count('"label":"test.example"') == count, answer


def test_apaches_boards_come_first(made):
    board, _ = made
    with Serving(board.php, board.path) as serving:
        assert [b["producer"] for b in serving.boards()] == ["apache", "php"]
        for name in (board.path.name, board.php.name):
            lines = serving.get(f"/?format=journal&since=start&board={name}").text().splitlines()
            assert len(lines) > 50
        own = serving.get("/?format=journal&since=start").text()
        assert own == serving.get("/?format=journal&since=start&board="
                                  + board.path.name).text()


def test_looking_changes_nothing(made):
    """Not one byte of the boards, which it opens to read only."""
    board, serving = made
    before = [hashlib.sha256(path.read_bytes()).digest() for path in (board.path, board.php)]
    for path in ("/", "/metrics", "/?format=json", "/?format=journal&since=start", "/explain"):
        assert serving.get(path).status == 200
    after = [hashlib.sha256(path.read_bytes()).digest() for path in (board.path, board.php)]
    assert before == after
    assert serving.process.poll() is None and serving.said() == ""


# ---- in a browser --------------------------------------------------------------------------


@pytest.mark.mpms("event")
def test_the_page_is_live(server, mpm, browser):
    apache = server(mpm)
    with Serving(apache.board) as serving:
        page = browser.open(serving.url + "/")
        page.wait(LIVE)
        for _ in range(7):
            apache.get("/index.html")
        page.wait("document.body.textContent.includes('fork child')")
        page.wait("""Array.from(document.querySelectorAll('tbody tr')).some(row =>
                  row.cells[0].textContent === 'other' || row.cells[1].textContent === '7')""")
        page.evaluate("""Array.from(document.querySelectorAll('button'))
                      .find(b => b.textContent.startsWith('Show what was')).click()""")
        page.wait("document.body.textContent.includes('7 requests: all that the journal')")
        assert page.complaints == []
        assert all(url.startswith((serving.url, "data:")) for url in page.requests), page.requests


@pytest.mark.mpms("event")
def test_the_page_of_two_apaches(server, mpm, browser):
    """Each has its own heading, its own numbers and its own events, though both files have the same
    base name."""
    first, second = server(mpm), server(mpm)
    with Serving(first.board, second.board) as serving:
        page = browser.open(serving.url + "/")
        page.wait(LIVE)
        for _ in range(4):
            second.get("/index.html")
        titles = page.evaluate("Array.from(document.querySelectorAll('h2')).map(h => h.textContent)")
        assert titles == [f"Apache · event · {first.board}", f"Apache · event · {second.board}"]
        for apache, other in ((first, second), (second, first)):
            article = f"document.querySelectorAll('article')[{[first, second].index(apache)}]"
            for child in apache.children():
                page.wait(f"{article}.textContent.includes('{child}')")
            assert not any(page.evaluate(f"{article}.textContent.includes('fork child{child}')")
                           for child in other.children())
        page.wait("""Array.from(document.querySelectorAll('article')[1].querySelectorAll('tr'))
                  .some(row => row.cells[0].textContent === 'test.example')""")
        assert page.complaints == []
