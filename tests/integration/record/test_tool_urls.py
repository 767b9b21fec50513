"""mpmstat status over a URL: servers that answer well, badly, slowly or not at all."""
import json
import socket
import ssl
import subprocess
import threading
import time

import pytest

import boards
import tool
from tool import fails
from urls import TYPES, Server, rendered, reply


def status_of(board):
    """What an mpm-status with that board would answer."""
    def answer(handler):
        format = handler.path.partition("format=")[2] or "text"
        reply(handler, rendered(board, format), TYPES[format])
    return answer


# ---- good answers ------------------------------------------------------------------

@pytest.mark.parametrize("format", list(TYPES))
def test_the_servers_own_rendering_is_passed_on(format):
    with boards.board(4) as board:
        board.stop()    # so that it renders the same twice
        body = rendered(board, format)
        with Server(lambda handler: reply(handler, body, TYPES[format])) as server:
            done = tool.run("status", "--format", format, server.url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.encode() == body
    (path, headers), = server.asked
    assert path == f"/mpm-status?format={format}"
    assert headers["User-Agent"].startswith("mpmstat/")


def test_a_query_of_its_own_is_kept_and_a_fragment_is_not():
    with boards.board() as board, Server(status_of(board)) as server:
        assert tool.run("status", server.url + "?key=a%20b#top").returncode == 0
        assert server.asked[0][0] == "/mpm-status?key=a%20b&format=text"


def test_files_and_urls_together():
    with boards.board(2) as here, boards.board(3) as there, Server(status_of(there)) as server:
        done = tool.run("status", "--format", "json", server.url, here.path)
        assert done.returncode == 0, done.stderr
        assert [tool.requests(b) for b in json.loads(done.stdout)["boards"]] == [2, 3]
        done = tool.run("status", here.path, server.url)
        assert done.stdout.count("Board: apache\n") == 2
        fails(tool.run("status", "--format", "openmetrics", server.url, here.path), 2,
              "one at a time")
        done = fails(tool.run("status", "http://127.0.0.1:9/mpm-status", here.path), 3, "refused")
        assert "Label[www]Requests: 2" in done.stdout


def test_no_proxy_is_used(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with boards.board() as board, Server(status_of(board)) as server:
        assert tool.run("status", server.url).returncode == 0


def test_a_password_comes_from_netrc(tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login someone password secret\n")
    (tmp_path / ".netrc").chmod(0o600)

    def answer(handler):
        if handler.headers.get("Authorization") == "Basic c29tZW9uZTpzZWNyZXQ=":
            return status_of(board)(handler)
        return reply(handler, b"who are you?", "text/plain", 401)

    with boards.board() as board, Server(answer) as server:
        fails(tool.run("status", server.url, env={"HOME": "/nonexistent"}), 3, "~/.netrc")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert tool.run("status", server.url).returncode == 0
    done = fails(tool.run("status", "http://me:hush@127.0.0.1:9/mpm-status"), 3, "~/.netrc")
    assert "hush" not in done.stderr


# ---- no answer, or not in time --------------------------------------------------------

def test_nothing_listens():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/mpm-status"
        done = fails(tool.run("status", url), 3, url, "connection refused")
        assert done.stdout == ""


def test_a_name_that_nobody_has():
    fails(tool.run("status", "http://nobody.invalid/mpm-status"), 3, "nobody.invalid")


@pytest.mark.parametrize("manner", ["silent", "dribbling"])
def test_a_server_that_is_stuck(manner):
    stop = threading.Event()

    def answer(handler):
        if manner == "dribbling":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while not stop.wait(0.1):
            if manner == "dribbling":
                handler.wfile.write(b"K: v\n")

    with Server(answer) as server:
        begun = time.monotonic()
        try:
            done = tool.run("status", "--timeout", "1", server.url)
        finally:
            stop.set()
        assert 0.9 < time.monotonic() - begun < 5
        fails(done, 3, "within 1.0 s", "reads the board file")
        assert done.stdout == ""


# ---- bad answers -----------------------------------------------------------------------

def raw(text):
    return lambda handler: handler.wfile.write(text)


GOOD_JSON = b'{"boards": []}\n'
BAD = {
    "a web page": (lambda h: reply(h, b"<html>", "text/html"),
                   "expected application/json, found text/html"),
    "no type": (lambda h: reply(h, GOOD_JSON, None), "found no content type"),
    "a type that commands": (lambda h: reply(h, GOOD_JSON, "\x1b[31m/\xff"), "found ?[31m/?"),
    "no JSON": (lambda h: reply(h, b"hello"), "expected JSON"),
    "other JSON": (lambda h: reply(h, b'{"up": true}'), '{"boards": [...]}'),
    "half the JSON": (lambda h: reply(h, b'{"boards": [{"pid": 5'), "expected JSON"),
    "nothing": (lambda h: reply(h, b""), "the answer is empty"),
    "cut short": (lambda h: reply(h, GOOD_JSON, length=1000), "before the answer was complete"),
    "hung up": (lambda h: None, "before the answer was complete"),
    "not HTTP": (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "no answer"),
    "random bytes": (raw(bytes(range(256)) * 20), "no answer"),
    "bad chunks": (raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
                   "before the answer was complete"),
    "endless header": (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2000000), "mpm-status: "),
    "local only": (lambda h: reply(h, b"no", "text/html", 403), "the endpoint is local only"),
    "not there": (lambda h: reply(h, b"no", "text/html", 404), "SetHandler mpm-status is missing"),
    "elsewhere": (lambda h: reply(h, b"", None, 301, Location="https://x.example/s"),
                  "redirects (301) to https://x.example/s"),
    "a file elsewhere": (lambda h: reply(h, b"", None, 302, Location="file:///etc/passwd"),
                         "redirects (302) to file:///etc/passwd"),
    "a bad request": (lambda h: reply(h, b"there is no format \"x\"\nmore", "text/plain", 400),
                      'answered 400: there is no format "x"\n'),
    "not recording": (lambda h: reply(h, b"\x1b[31mnothing is recorded", "text/plain", 503),
                      "answered 503: ?[31mnothing is recorded"),
    "interim": (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), "answered 204"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_a_bad_answer_is_a_sentence(name):
    answer, words = BAD[name]
    with Server(answer) as server:
        done = fails(tool.run("status", "--format", "json", server.url), 3, server.url, words)
    assert done.stdout == "" and "\x1b" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("format, body, words", [
    ("text", b"Total Accesses: 5\n", 'begin with "Board: "'),
    ("text", b"Board: apache\nPid: 12", "in the middle of a line"),
    ("text", b"Board: apache\nLabel: \x1b[2J\n", "control characters"),
    ("openmetrics", b"# TYPE mpmstat_workers gauge\n", "# EOF"),
    ("prometheus", b"up 1\n", "# HELP"),
])
def test_a_wrong_body_of_the_right_type(format, body, words):
    with Server(lambda handler: reply(handler, body, TYPES[format])) as server:
        done = fails(tool.run("status", "--format", format, server.url), 3, words)
    assert done.stdout == ""


def test_an_answer_that_is_too_large():
    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
        for _ in range(100):
            handler.wfile.write(b"1," * (1 << 19))

    with Server(answer) as server:
        fails(tool.run("status", "--format", "json", server.url), 3, "larger than 32 MiB")


@pytest.mark.parametrize("url, words", [
    ("http://", "not a URL"), ("http://127.0.0.1:99999/", "not a URL"), ("http://[::1/x", "not a URL"),
    ("http://127.0.0.1:9/mpm-status?format=json", "without format="),
    ("ftp://127.0.0.1/mpm-status", "only http:// and https://"),
    ("127.0.0.1:80/mpm-status", "begin it with http://"),
])
def test_a_wrong_url(url, words):
    fails(tool.run("status", url), 3, words)


def test_a_certificate_that_nobody_knows(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                           "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                           "-keyout", key, "-out", certificate], capture_output=True)
    assert made.returncode == 0, made.stderr
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with boards.board(2) as board, Server(status_of(board), context) as server:
        fails(tool.run("status", server.url), 3, "certificate is not trusted", "SSL_CERT_FILE")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        done = tool.run("status", server.url)
        assert done.returncode == 0 and "Label[www]Requests: 2" in done.stdout, done.stderr
