"""Every way a request can go: one record for each, its phases add up, and the status,
the bytes and the label are those that the client and Apache's own log saw."""
import gzip
import os
import re
import shutil
import socket
import subprocess
import time
from collections import Counter
from decimal import Decimal

import pytest

import backend
import build
import http2
import tls
import tool
from apache import hold_port
from clients import Connection, NoAnswer
from phases import (CGI, MOST, PAUSE, assert_held_all_the_time, assert_sums, cgi_module,
                    records_of)
from processes import wait_until

NAP = "sleep 0.5\necho Content-Type: text/plain\necho\necho done\n"
# What mod_cgi and mod_cgid say of clients that went away or stalled.
CGI_COMPLAINTS = "AH01215|AH02651|AH01220|AH01229|AH01225|AH01257|AH01270|AH02550"


def nothing_left(apache):
    """Waits until no request is in flight, no connection open and no worker busy."""
    def look():
        board = tool.status(apache.board)
        return (sum(e["in_flight"] for e in tool.labels(board)) == 0
                and board["connections"]["open"] == 0 and board["workers"]["busy"] == 0)
    wait_until(look, 10, lambda: f"nothing left: {tool.status(apache.board)}")


def all_records(apache, count):
    """`count` records, as many as lines in Apache's log, each with phases that add up."""
    records = records_of(apache, count, patience=15)
    assert_sums(records)
    assert len({r["id"] for r in records}) == len(records), "ids repeat"
    lines = wait_until(lambda: rows if len(rows := load_lines(apache)) >= count else None, 10,
                       lambda: f"{count} lines in the access log: {load_lines(apache)}")
    # mod_http2 calls streams aborted whose client has all: there the log's X says nothing.
    logged_ends = not any(r["no_worker"] for r in records)
    assert (Counter((r["status"], r["aborted"] and logged_ends) for r in records)
            == Counter((int(status), end == "X" and logged_ends) for status, end, _ in lines)), (
                records, lines)
    nothing_left(apache)
    return records


def load_lines(apache):
    return [row for row in apache.access_log() if not row[2].startswith("/mpm-status")]


def logged(apache):
    """How many requests Apache's log has, once it has as many as the journal."""
    def recorded():
        return tool.requests(tool.status(apache.board))
    wait_until(lambda: len(load_lines(apache)) == recorded(), 10,
               lambda: f"{recorded()} requests in the log: {load_lines(apache)}")
    return recorded()


# ---- one connection, several requests -------------------------------------------------


def test_pipelined_in_one_packet(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    echo = apache.cgi("echo", "echo Content-Type: text/plain; echo; exec cat\n")
    head = "HTTP/1.1\r\nHost: a\r\n"
    with apache.connect() as connection:
        connection.send(f"GET / {head}\r\n" f"HEAD / {head}\r\n"
                        f"POST {echo} {head}Content-Length: 4\r\n\r\nbody"
                        f"GET /nowhere {head}\r\n" f"GET / {head}Connection: close\r\n\r\n")
        answers = [connection.read_response(m) for m in ("GET", "HEAD", "POST", "GET", "GET")]
        assert connection.read_to_end() == b""
    assert answers[2].text() == "body"
    records = sorted(all_records(apache, 5), key=lambda r: r["nth"])
    assert [r["nth"] for r in records] == [0, 1, 2, 3, 4], records
    assert [r["status"] for r in records] == [a.status for a in answers]
    assert [r["bytes"] for r in records] == [len(a.body) for a in answers]
    for before, after in zip(records, records[1:]):
        assert after["start"] >= before["start"], (before, after)


def test_many_kept_alive(server, mpm):
    """Several connections at once, 25 requests on each, with pauses and without."""
    apache = server(mpm)
    connections = [apache.connect() for _ in range(4)]
    for nth in range(25):
        for connection in connections:
            connection.send_request("/index.html")
        for connection in connections:
            assert connection.read_response().status == 200
        if nth % 8 == 0:
            time.sleep(0.05)
    for connection in connections:
        connection.close()
    records = all_records(apache, 100)
    for connection in connections:
        mine = [r["nth"] for r in records if r["port"] == connection.port]
        assert sorted(mine) == list(range(25)), mine


# ---- request bodies ---------------------------------------------------------------------


def test_a_chunked_body_that_is_slow(server, mpm):
    """Waiting for the body is the handler's time."""
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    echo = apache.cgi("echo", "echo Content-Type: text/plain; echo; exec wc -c\n")
    with apache.connect() as connection:
        connection.send(f"POST {echo} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(4):
            connection.send(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
            time.sleep(PAUSE / 4)
        connection.send(b"0\r\n\r\n")
        assert connection.read_response().text().strip() == "4000"
        assert connection.request("/").status == 200
    first, second = sorted(all_records(apache, 2), key=lambda r: r["nth"])
    assert first["handle"] > MOST, first
    assert second["total"] < MOST, second


def test_expect_100_and_a_late_body(server, mpm):
    """The interim response does not end `handle`, and is not another request."""
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    echo = apache.cgi("echo", "echo Content-Type: text/plain; echo; exec cat\n")
    with apache.connect() as connection:
        for _ in range(2):
            connection.send(f"POST {echo} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                            "Content-Length: 4\r\n\r\n")
            assert connection.read_response().status == 100
            time.sleep(PAUSE)
            connection.send("late")
            assert connection.read_response().text() == "late"
    for record in all_records(apache, 2):
        assert record["handle"] >= MOST > record["send"], record


# ---- requests that come to nothing --------------------------------------------------------


def test_aborted_while_the_handler_works(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    apache.allow(CGI_COMPLAINTS)
    path = apache.cgi("nap", NAP)
    for _ in range(3):
        with apache.connect() as connection:
            connection.send_request(path)
            wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"], 5,
                       "a worker that handles it")
            connection.reset()
    for record in all_records(apache, 3):
        # That the client is gone shows when the answer is written, after the nap.
        assert record["total"] > Decimal("0.45") and record["status"] == 200, record


def test_aborted_while_sending(server, mpm):
    apache = server(mpm, "EnableSendfile Off")
    path = apache.page("big", b"x" * 30_000_000)
    for _ in range(3):
        with apache.connect(receive_buffer=65536) as connection:
            connection.send_request(path)
            connection.read_exactly(1000)
            connection.reset()
    for record in all_records(apache, 3):
        assert record["aborted"] and record["status"] == 200, record


def test_aborted_in_the_headers_and_in_the_body(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    apache.allow(CGI_COMPLAINTS)
    echo = apache.cgi("echo", "echo Content-Type: text/plain; echo; exec cat\n")
    for end in ("reset", "close"):
        for start in ("GET / HT", "GET / HTTP/1.1\r\nHost: a\r\nX-Half",
                      f"POST {echo} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf"):
            with apache.connect() as connection:
                connection.send(start)
                wait_until(lambda: tool.status(apache.board)["workers"]["busy"], 5, "a worker")
                getattr(connection, end)()
            nothing_left(apache)
    assert apache.get("/").status == 200
    all_records(apache, logged(apache))


def test_timeouts(server, mpm):
    """408 in the middle of the request line, of the headers, of the body."""
    apache = server(mpm, CGI + "RequestReadTimeout handshake=0 header=1 body=1\nTimeout 5",
                    modules=["reqtimeout", cgi_module(mpm)])
    apache.allow(CGI_COMPLAINTS)
    echo = apache.cgi("echo", "echo Content-Type: text/plain; echo; exec cat\n")
    connections = [apache.connect() for _ in range(3)]
    for connection, start in zip(connections, (
            "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\nX-Half",
            f"POST {echo} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf")):
        connection.send(start)
    for connection in connections:
        try:
            assert connection.read_response().status == 408
        except NoAnswer:
            pass
        connection.close()
    for record in all_records(apache, 3):
        assert record["status"] == 408, record
        assert Decimal("0.9") < record["total"] < 10, record
        late = record["port"] == connections[2].port
        assert (record["handle"] > Decimal("0.5")) == late, record


def test_requests_that_httpd_refuses(server, mpm):
    apache = server(mpm, "LimitRequestBody 10\nTraceEnable Off")
    apache.allow("AH0158[78]|AH00235|AH00135|AH10244")
    head = "HTTP/1.1\r\nHost: a\r\n"
    refused = {f"GET / {head}X: {'x' * 9000}\r\n\r\n": 400, "nonsense\r\n\r\n": 400,
               f"GET /{'x' * 9000} {head}\r\n": 414, f"GET / {head}No Colon\r\n\r\n": 400,
               "GET / HTTP/1.1\r\n\r\n": 400, f"GET /%zz {head}\r\n": 400,
               f"GET / {head}{'X: y' * 1}\r\n" + "A: b\r\n" * 200 + "\r\n": 400,
               f"POST / {head}Content-Length: -1\r\n\r\n": 400, "GET / HTTP/9.9\r\n\r\n": 400,
               f"POST / {head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n": 400,
               f"TRACE / {head}\r\n": 405, f"GET / {head}Expect: wonders\r\n\r\n": 417,
               f"POST / {head}Transfer-Encoding: rot13\r\n\r\n": 501}
    got = []
    for request in refused:
        with apache.connect() as connection:
            connection.send(request)
            got.append(connection.read_response().status)
    records = all_records(apache, len(refused))
    assert Counter(r["status"] for r in records) == Counter(got), (refused, got)
    assert all(400 <= status < 600 for status in got), got


# ---- filters and internal requests --------------------------------------------------------


def test_deflate(server, mpm):
    """`bytes` is what went over the wire, not what was compressed."""
    apache = server(mpm, "AddOutputFilterByType DEFLATE text/html",
                    modules=["filter", "deflate"])
    path = apache.page("long.html", "all the same " * 100_000)
    with apache.connect() as connection:
        packed = connection.request(path, headers={"Accept-Encoding": "gzip"})
        plain = connection.request(path)
    assert gzip.decompress(packed.body) == plain.body
    first, second = sorted(all_records(apache, 2), key=lambda r: r["nth"])
    assert (first["bytes"], second["bytes"]) == (len(packed.body), len(plain.body))
    assert len(packed.body) < len(plain.body) / 10


REDIRECTS = CGI + '''
ErrorDocument 403 /error/page.html
ErrorDocument 404 /cgi/sorry
RewriteEngine On
RewriteRule "^/rewritten$" "/inner/page.html" [PT]
DirectoryIndex page.shtml
<Directory "@ROOT@/htdocs">
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES .shtml
</Directory>
<Location "/outer">
    MPMStatLabel outer
</Location>
<Location "/outer/forbidden">
    Require all denied
</Location>
<Location "/inner">
    MPMStatLabel inner
</Location>
<Location "/error">
    MPMStatLabel error
</Location>
<Location "/cgi">
    MPMStatLabel cgi
</Location>
'''


def test_internal_redirects_and_subrequests(server, mpm):
    """One record each, the outer request's, under its label."""
    apache = server(mpm, REDIRECTS, modules=["rewrite", "include", cgi_module(mpm)])
    apache.allow("AH01630|AH00128|unable to include")
    for name in ("outer", "inner", "error"):
        (apache.root / "htdocs" / name).mkdir()
    apache.page("inner/page.html", "inner\n")
    apache.page("error/page.html", "error\n")
    apache.page("outer/page.shtml", '<!--#include virtual="/inner/page.html" -->'
                                    '<!--#include virtual="/cgi/hello" -->'
                                    '<!--#include virtual="/nowhere" -->\n')
    apache.cgi("hello", "echo Content-Type: text/plain\necho\necho hello\n")
    apache.cgi("sorry", "echo Status: 404\necho Content-Type: text/plain\necho\necho sorry\n")
    local = apache.cgi("local", "echo Location: /inner/page.html\necho\n")
    expected, size = Counter(), 0
    for path, status, label, text in (
            ("/outer/page.shtml", 200, "outer", "inner"), ("/outer/", 200, "outer", "hello"),
            ("/outer", 301, "outer", ""), ("/outer/nowhere", 404, "outer", "sorry"),
            ("/outer/forbidden", 403, "outer", "error"), ("/rewritten", 200, "inner", "inner"),
            (local, 200, "cgi", "inner"), ("/inner/page.html", 200, "inner", "inner")):
        answer = apache.get(path)
        assert answer.status == status and text in answer.text(), (path, answer)
        expected[(status, label)] += 1
        size += len(answer.body)
    records = all_records(apache, sum(expected.values()))
    assert Counter((r["status"], r["label"]) for r in records) == expected
    assert sum(r["bytes"] for r in records) == size


# ---- proxied ------------------------------------------------------------------------------


def test_proxied_to_a_slow_backend(server, mpm):
    """The backend's time is `handle`, and connections to it are not clients'."""
    with backend.HTTPBackend(delay=PAUSE) as behind:
        apache = server(mpm, f'ProxyPass "/back/" "http://127.0.0.1:{behind.port}/"',
                        modules=["proxy", "proxy_http"])
        with apache.connect() as connection:
            for n in range(3):
                answer = connection.request(f"/back/{n}", "POST", body=b"x" * 5000)
                assert answer.text() == f"/{n} " + "x" * 5000
            port = connection.port
        records = all_records(apache, 3)
        board = tool.status(apache.board)
        assert behind.connections >= 1
    assert {r["port"] for r in records} == {port}
    assert all(MOST <= r["handle"] and r["send"] < MOST for r in records), records
    assert sum(r["bytes"] for r in records) == 3 * 5003
    # Also the test's own for the journal; those of the proxy would be more.
    assert board["connections"]["accepted_total"] == 1 + len(
        [r for r in apache.journal()[0] if r["label"] == "mpm-status"]), board["connections"]


def test_proxied_to_an_apache(server, mpm):
    """Both count the same requests, and the one behind takes part of the other's time: until its
    response begins. (It ends after the other has it all; its queue is known to a kernel's tick.)"""
    behind = server(mpm)
    front = server(mpm, f'ProxyPass "/back/" "http://127.0.0.1:{behind.port}/"',
                   modules=["proxy", "proxy_http"])
    size = sum(len(front.get(path).body) for path in ["/back/index.html"] * 20 + ["/back/no"])
    for apache in (front, behind):
        records = records_of(apache, 21)
        assert_sums(records)
        assert Counter(r["status"] for r in records) == {200: 20, 404: 1}
        assert sum(r["bytes"] for r in records) == size
    assert sum(r["read"] + r["handle"] for r in records_of(behind, 21)) < sum(
        r["total"] for r in records_of(front, 21))


def test_a_backend_that_is_not_there(server, mpm):
    with backend.HTTPBackend() as gone:
        port = gone.port
    apache = server(mpm, f'ProxyPass "/back/" "http://127.0.0.1:{port}/" retry=0',
                    modules=["proxy", "proxy_http"])
    apache.allow("AH00957|AH01114|AH00959|AH01106")
    assert [apache.get("/back/").status for _ in range(3)] == [503] * 3
    assert [r["status"] for r in all_records(apache, 3)] == [503] * 3


@pytest.mark.parametrize("by", ("proxy_http", "proxy_wstunnel"))
def test_a_websocket(server, mpm, by):
    """One record, from the handshake to the end, and in flight meanwhile. What passes
    is not a response: all of it is `handle`."""
    with backend.WebSocketBackend() as behind:
        url = (f"http://127.0.0.1:{behind.port}/ upgrade=websocket" if by == "proxy_http"
               else f"ws://127.0.0.1:{behind.port}/")
        apache = server(mpm, f"ProxyPass /ws/ {url}", modules=["proxy", "proxy_http", by])
        with apache.connect() as connection:
            connection.send("GET /ws/echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
                            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                            f"Sec-WebSocket-Key: {backend.WEBSOCKET_KEY}\r\n\r\n")
            status, headers = connection.read_head()
            assert status == 101, (status, headers)
            assert headers["sec-websocket-accept"] == backend.accept_key(backend.WEBSOCKET_KEY)
            for n in range(5):
                connection.send(backend.frame(b"hello %d" % n, mask=os.urandom(4)))
                assert connection.read_exactly(9) == backend.frame(b"hello %d" % n)
                time.sleep(0.1)
            board = tool.status(apache.board)
            assert sum(e["in_flight"] for e in tool.labels(board)) == 1, board["labels"]
            assert not [r for r in apache.journal()[0] if r["port"] == connection.port]
        (record,) = all_records(apache, 1)
    assert record["status"] == 101 and record["port"] == connection.port, record
    assert Decimal("0.45") < record["handle"] < 10, record
    if mpm != "event":
        assert_held_all_the_time(record)


# ---- TLS and HTTP/2 -------------------------------------------------------------------------


@pytest.fixture
def secure_server(server, tmp_path):
    """secure_server(mpm, ...): an Apache, and the port on which it speaks TLS."""
    holders = []

    def start(mpm, extra="", *, modules=(), **options):
        holders.append(hold_port())
        port = holders[-1].getsockname()[1]
        return server(mpm, f"Listen 127.0.0.1:{port}\n{extra}\n<VirtualHost 127.0.0.1:{port}>\n"
                      f"{tls.make_certificate(tmp_path)}</VirtualHost>",
                      modules=["ssl", *modules], **options), port

    yield start
    for holder in holders:
        holder.close()


def test_tls(secure_server, mpm):
    """The handshake is in the first request's `read`; the next one has none."""
    apache, port = secure_server(mpm)
    with tls.Connection(port, pause=lambda: time.sleep(PAUSE)) as connection:
        assert [connection.request("/index.html").status for _ in range(3)] == [200] * 3
    first, *others = sorted(all_records(apache, 3), key=lambda r: r["nth"])
    assert first["read"] > MOST and first["handle"] < MOST, first
    assert all(r["total"] < MOST for r in others), others


def test_tls_that_fails(secure_server, mpm):
    """Plain HTTP to a TLS port is answered and recorded; what is neither is not."""
    apache, port = secure_server(mpm)
    for data in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\0\x02\x01\0", b"\0" * 50):
        with Connection(port) as connection:
            connection.send(data)
            connection.socket.shutdown(socket.SHUT_WR)
            try:
                connection.read_to_end()
            except ConnectionResetError:
                pass
    with tls.Connection(port) as connection:
        assert connection.request("/").status == 200
    nothing_left(apache)
    records = all_records(apache, logged(apache))
    assert Counter(r["status"] for r in records) == {200: 1, 400: 1}, records


HTTP2 = CGI + "Protocols h2 h2c http/1.1\nProtocolsHonorOrder On\nH2Direct On"


def curl(url, *options, requests=1):
    """What curl says of each answer, `requests` in as many processes at once: several
    URLs of one curl 7.88 fail against any Apache."""
    program = build.find("curl")
    assert program, "there is no curl: install curl"
    running = [subprocess.Popen([program, "-sSk", "-o", "/dev/null", *options,
                                 "-w", "%{http_version} %{http_code} %{size_download}", url],
                                stdout=subprocess.PIPE, text=True) for _ in range(requests)]
    return [process.communicate(timeout=60)[0] for process in running]


@pytest.mark.mpms("worker", "event")
def test_http2(secure_server, mpm):
    """Streams are requests, of no worker."""
    apache, port = secure_server(mpm, HTTP2, modules=["http2", cgi_module(mpm)])
    nap = apache.cgi("nap", NAP)
    page = apache.page("page", "x" * 100_000)
    base = f"https://127.0.0.1:{port}"
    told = (curl(base + nap, "--http2", requests=3) + curl(base + page, "--http2", requests=5)
            + curl(base + "/nowhere", "--http2"))
    assert all(line.startswith("2 ") for line in told), told
    records = all_records(apache, 9)
    assert Counter(r["status"] for r in records) == {200: 8, 404: 1}
    assert sum(r["bytes"] for r in records) == sum(int(line.split()[2]) for line in told)
    assert all(r["no_worker"] and r["worker"] is None for r in records), records
    naps = [r for r in records if r["handle"] > Decimal("0.4")]
    assert len(naps) == 3, records


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not shutil.which("nghttp"), reason="needs nghttp (nghttp2-client)")
def test_http2_by_upgrade(server, mpm):
    """The request that asks for HTTP/2 is its first stream: one record, though httpd logs
    it twice."""
    apache = server(mpm, HTTP2, modules=["http2", cgi_module(mpm)])
    for path in ("/index.html", apache.cgi("nap", NAP)):
        done = subprocess.run([build.find("nghttp"), "-u", "-n", "-s",
                               f"http://127.0.0.1:{apache.port}{path}"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert re.search(rf" 200 +\d+ {path}$", done.stdout, re.M), done.stdout
    wait_until(lambda: len(load_lines(apache)) == 4, 10, "two lines each in the access log")
    records = records_of(apache, 2)
    assert_sums(records)
    assert all(r["status"] == 200 and r["no_worker"] for r in records), records
    nothing_left(apache)


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not shutil.which("h2load"), reason="needs h2load (nghttp2-client)")
@pytest.mark.parametrize("scheme", ("https", "http"))
def test_http2_under_load(secure_server, mpm, scheme):
    """As many as the client counts, also when streams are reset half-way."""
    apache, port = secure_server(mpm, HTTP2, modules=["http2", cgi_module(mpm)])
    base = f"{scheme}://127.0.0.1:{port if scheme == 'https' else apache.port}"
    page = apache.page("page", "x" * 3000)
    for _ in range(5):      # of its sessions httpd ends one in some hundred, module or not
        nothing_left(apache)
        before = logged(apache)
        done = subprocess.run(
            [build.find("h2load"), "-n", "1000", "-c", "4", "-m", "10", "-t", "1", base + page],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        if "1000 succeeded, 0 failed" in done.stdout:
            break
    else:
        raise AssertionError(done.stdout)
    records = sorted(all_records(apache, before + 1000), key=lambda r: r["ticket"])[before:]
    assert sum(r["bytes"] for r in records) == 3_000_000
    assert all(r["no_worker"] and r["status"] == 200 and not r["aborted"] for r in records)
    big = apache.page("big", b"x" * 20_000_000)
    def in_flight():
        return sum(e["in_flight"] for e in tool.labels(tool.status(apache.board)))
    for _ in range(3):                       # given up half-way
        client = subprocess.Popen([build.find("curl"), "-sk", "--http2-prior-knowledge",
                                   "--limit-rate", "1000k", "-o", "/dev/null", base + big])
        wait_until(in_flight, 10, "a request in flight")
        client.kill()
        client.wait(10)
        wait_until(lambda: in_flight() == 0, 10, "the end of what was given up")
    wait_until(lambda: tool.requests(tool.status(apache.board)) == before + 1003, 10,
               lambda: f"{before} + 1003 requests, not {tool.requests(tool.status(apache.board))}")
    nothing_left(apache)
    assert_sums(records_of(apache, before + 1003))
    assert apache.get("/").status == 200


def session_seen(apache, state, streams, session=None, patience=5):
    """Waits for the board to show the one connection's worker in `state` (None: no worker has
    it) and so many streams. The status page is not asked: it would be another worker.
    A session may notice the end of a stream only when something happens: a ping does."""
    start = time.monotonic()

    def look():
        board = tool.status(apache.board)
        if session and time.monotonic() - start > 1:
            session.ping()
            time.sleep(0.1)
        busy = {s: n for s, n in board["workers"]["states"].items() if n and s != "idle"}
        return (busy == ({state: 1} if state else {})
                and board["connections"]["http2_streams"] == streams and board)
    return wait_until(look, patience, lambda: f"{state}, {streams}: {tool.status(apache.board)}")


@pytest.mark.mpms("worker", "event")
def test_the_worker_of_an_http2_session(server, mpm):
    """It handles while streams are in flight, whose threads are not workers and counted apart;
    then it keeps the connection alive, or lets go of it where event does."""
    apache = server(mpm, HTTP2 + "\nKeepAliveTimeout 30", workers=4, threads=4,
                    modules=["http2", cgi_module(mpm)])
    apache.allow("AH0")
    go, handled = apache.root / "go", 0
    until = apache.cgi("until", f"while ! test -e {go}; do sleep 0.02; done\n"
                       "echo Content-Type: text/plain\necho\necho done\n")
    waiting = None if mpm == "event" else "keepalive"
    with http2.Session(apache.port) as session:
        session_seen(apache, "reading" if mpm == "worker" else None, 0)
        for _ in range(2):
            began = time.monotonic()
            streams = [session.send_get(until) for _ in range(3)]
            board = session_seen(apache, "handling", 3)
            assert board["workers"]["busy"] == 1 and board["connections"]["open"] == 1, board
            wait_until(lambda: any(s["state"] == "handling" and s["state_for_seconds"] > 0.5
                                   for s in tool.status(apache.board)["slots"]), 30, "half a second")
            go.touch()
            assert [session.read_stream(s) for s in streams] == [b"done\n"] * 3
            session_seen(apache, waiting, 0, session)
            handled += time.monotonic() - began
            go.unlink()
        time.sleep(PAUSE)
    session_seen(apache, None, 0)
    board = tool.status(apache.board)
    assert board["connections"]["http2_requests_total"] == 6, board["connections"]
    assert board["connections"]["shed_total"] == 0, board["connections"]
    seconds = board["workers"]["state_seconds"]
    assert 1 < seconds["handling"] < handled, seconds
    assert (waiting is None) == (seconds["keepalive"] < MOST), seconds
    records = all_records(apache, 6)
    assert all(r["no_worker"] for r in records), records
    # mod_http2 may notice the end of a stream only when the session goes on, or ends.
    assert all(r["send"] < Decimal("5") for r in records), records


@pytest.mark.mpms("worker", "event")
def test_http2_response_in_two_parts(server, mpm):
    """`handle` ends with the first part, though HTTP/2's headers are before it."""
    apache = server(mpm, HTTP2, modules=["http2", cgi_module(mpm)])
    parts = apache.cgi("parts", "echo Content-Type: text/plain\necho\necho one\n"
                       f"sleep {PAUSE}\necho two\n")
    with http2.Session(apache.port) as session:
        assert session.read_stream(session.send_get(parts)) == b"one\ntwo\n"
    (record,) = all_records(apache, 1)
    assert record["handle"] < MOST and record["send"] > MOST, record


@pytest.mark.mpms("worker", "event")
def test_http2_to_a_proxied_backend(server, mpm):
    """mod_proxy_http behind streams: its connections are not clients'."""
    with backend.HTTPBackend(delay=PAUSE) as behind:
        apache = server(mpm, HTTP2 + f'\nProxyPass "/back/" "http://127.0.0.1:{behind.port}/"',
                        modules=["http2", "proxy", "proxy_http", cgi_module(mpm)])
        with http2.Session(apache.port) as session:
            streams = {session.send_get(f"/back/{n}"): n for n in range(4)}
            for stream, n in streams.items():
                assert session.read_stream(stream) == f"/{n} ".encode()
            board = tool.status(apache.board)
        assert board["connections"]["accepted_total"] == 1, board["connections"]
        records = all_records(apache, 4)
    assert all(r["handle"] >= MOST and r["no_worker"] for r in records), records


def test_early_hints(server, mpm):
    """A 103 that a backend sends first is not the response: waiting for that is `handle`."""
    with backend.EarlyHintsBackend(delay=PAUSE) as behind:
        apache = server(mpm, f'ProxyPass "/back/" "http://127.0.0.1:{behind.port}/"\n'
                             "SetEnv proxy-interim-response RFC", modules=["proxy", "proxy_http"])
        with apache.connect() as connection:
            connection.send_request("/back/")
            status, headers = connection.read_head()
            assert status == 103 and "preload" in headers["link"], headers
            assert connection.read_response().text() == "/ "
        (record,) = all_records(apache, 1)
    assert record["status"] == 200 and record["handle"] >= MOST, record
    assert record["send"] < MOST, record


@pytest.mark.mpms("worker", "event")
def test_early_hints_of_http2(server, mpm):
    """mod_http2 sends them itself, before the handler runs; and pushes, a stream of its own."""
    apache = server(mpm, HTTP2 + "\nH2EarlyHints On\n<Location /cgi/nap>\n"
                    "H2PushResource add /a.css\n</Location>",
                    modules=["http2", cgi_module(mpm)])
    nap = apache.cgi("nap", NAP)
    with http2.Session(apache.port) as session:
        stream = session.send_get(nap)
        assert session.read_stream(stream) == b"done\n"
        assert len(session.heads[stream]) == 2, "a 103 and the response"
    records = all_records(apache, 2)
    assert Counter(r["status"] for r in records) == {200: 1, 404: 1}, records
    assert max(r["handle"] for r in records) >= Decimal("0.4"), records
