"""Which page a request was for (MPMStatPaths): the path that the client asked for, folded, in its
record; and that clients cannot use up the names."""
import socket
from collections import Counter

import pytest

import tool
from phases import CGI, cgi_module, records_of
from processes import wait_until

PATHS = CGI + "MPMStatPaths On\n"
HELLO = "echo Content-Type: text/plain\necho\necho hello\n"


def paths_of(apache, count):
    return [record["path"] for record in records_of(apache, count)]


def test_off_nothing_is_recorded(server, mpm):
    apache = server(mpm, CGI)
    apache.get("/index.html")
    assert paths_of(apache, 1) == [None]
    assert b"/index" not in apache.board.read_bytes()


def test_the_path_is_the_clients(server, mpm):
    """Whatever the request is rewritten or redirected to, and whatever its query."""
    apache = server(mpm, PATHS + '''
RewriteEngine On
RewriteRule "^/inside/(.*)$" "/cgi/hello" [PT]
<Directory "@ROOT@/htdocs/blog">
    RewriteEngine On
    RewriteBase "/blog/"
    RewriteCond "%{REQUEST_FILENAME}" "!-f"
    RewriteRule "." "/cgi/hello" [L]
</Directory>
<Location "/quiet">
    MPMStatPaths Off
</Location>
''', modules=["rewrite", cgi_module(mpm)])
    for name in ("blog", "quiet"):
        (apache.root / "htdocs" / name).mkdir()
        (apache.root / "htdocs" / name / "page.html").write_text("x")
    apache.cgi("hello", HELLO)
    asked = {
        "/cgi/hello?token=s3cr3t": "/cgi/hello",
        "/cgi/hello/17": "/cgi/hello/{n}",
        "/inside/550e8400-e29b-41d4-a716-446655440000": "/inside/{n}",
        "/blog/2024/05/a-title/": "/blog/{n}/{n}/a-title/",
        "/blog//2024/./06/../05/%61-title/": "/blog/{n}/{n}/a-title/",
        "/blog/page.html": "/blog/*.html",
        "/quiet/page.html": None,
        "/": "/",
    }
    with apache.connect() as connection:
        for path in asked:
            assert connection.request(path).status == 200, path
    assert paths_of(apache, len(asked)) == list(asked.values())
    assert b"s3cr3t" not in apache.board.read_bytes()


def test_a_fallback_resource_keeps_the_path(server, mpm):
    """mod_dir puts the resource's URI in the place of the request's."""
    apache = server(mpm, PATHS + '<Directory "@ROOT@/htdocs">\nFallbackResource "/cgi/hello"\n'
                    "</Directory>\n", modules=["dir", cgi_module(mpm)])
    apache.cgi("hello", HELLO)
    assert apache.get("/a/pretty/link").status == 200
    assert paths_of(apache, 1) == ["/a/pretty/link"]


def test_only_answers_that_prove_a_page_name_it(server, mpm):
    apache = server(mpm, PATHS + '''
Redirect 302 "/moved" "/index.html"
<Location "/secret">
    Require all denied
</Location>
''', modules=["alias", cgi_module(mpm)])
    apache.allow("AH0")
    cgi = apache.cgi("page", 'if [ -e "$DOCUMENT_ROOT/gone" ]; then echo Status: 404; fi\n' + HELLO)
    with apache.connect() as connection:
        for n in range(40):
            connection.request(f"/nowhere{n}x")
            connection.request(f"/moved/{n}x")
        connection.request("/secret/page")
        assert set(paths_of(apache, 81)) == {"(3xx or 4xx)"}
        assert connection.request(cgi).status == 200
        (apache.root / "htdocs" / "gone").touch()
        assert connection.request(cgi).status == 404
    assert paths_of(apache, 83)[-2:] == [cgi, cgi], "it has its name by then"


def test_failures_name_a_page_too(server, mpm):
    apache = server(mpm, PATHS, modules=[cgi_module(mpm)])
    broken = apache.cgi("broken", "echo Status: 500\n" + HELLO)
    assert apache.get(broken).status == 500
    assert paths_of(apache, 1) == [broken]


# ---- hostile paths ------------------------------------------------------------------------


def send(apache, target):
    with socket.create_connection(("127.0.0.1", apache.port)) as raw:
        raw.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: test.example\r\n"
                    b"Connection: close\r\n\r\n")
        while raw.recv(65536):
            pass


def test_any_bytes_are_printable_in_every_format(server, mpm):
    apache = server(mpm, PATHS + "HttpProtocolOptions Unsafe\n", modules=[cgi_module(mpm)])
    apache.allow("AH")
    base = apache.cgi("hello", HELLO).encode()
    targets = [base + b"/" + part for part in (
        b"%00", b"\xff\xfe", b"%1b[31m", b"\x1b[31m", b"<script>", b'"\\', b"{n}", b"aa/" * 500,
        b"%e2%82%ac", b"a%0ab", b"'; DROP TABLE runs; --", b";jsessionid=s3cr3t", b"%", b"%zz")]
    for target in targets:
        send(apache, target)
    send(apache, b"http://test.example" + base)
    send(apache, b"*")
    lines = wait_until(lambda: (lambda r: r if len(r) >= len(targets) + 1 else None)(
        [r for r in apache.journal()[0] if r["label"] != "mpm-status"]), 10, "the records")
    for record in lines:
        path = record["path"]
        assert path in (None, "(3xx or 4xx)") or (
            len(path) <= 111 and path.isascii() and path.isprintable()
            and not set(path) & set('<>"\\;? ')), path
    assert base.decode() in [r["path"] for r in lines]
    assert any(r["path"] and r["path"].endswith("...") for r in lines)
    assert b"s3cr3t" not in apache.board.read_bytes()


@pytest.mark.mpms("event")
def test_more_paths_than_there_is_room_for(server, mpm):
    """Of a page that takes any path: 509 names, and all others together; the board is as large."""
    apache = server(mpm, PATHS + 'AliasMatch "^/any/" "@ROOT@/htdocs/index.html"\n'
                    'AcceptPathInfo On\n<Location "/any">\nSetHandler any\n</Location>\n'
                    "MPMStatJournal 32768\nMaxKeepAliveRequests 0\n", modules=["alias"])
    size, burst = apache.board.stat().st_size, 200
    with socket.create_connection(("127.0.0.1", apache.port)) as raw:
        answers = raw.makefile("rb")
        for first in range(0, 20_000, burst):
            raw.sendall(b"".join(b"HEAD /any/p%dx HTTP/1.1\r\nHost: test.example\r\n\r\n" % n
                                 for n in range(first, first + burst)))
            for _ in range(burst):
                assert answers.readline().startswith(b"HTTP/1.1 200")
                while answers.readline() != b"\r\n":
                    pass
    wait_until(lambda: tool.requests(apache.status()) == 20_000, 30, "all of them to be counted")
    found = Counter(r["path"] for r in apache.journal()[0] if r["label"] != "mpm-status")
    assert len(found) == 510 and found["(other)"] == 20_000 - 509, len(found)
    assert apache.board.stat().st_size == size


def test_names_stay_through_restarts(server, mpm):
    apache = server(mpm, PATHS, modules=[cgi_module(mpm)])
    pages = [apache.cgi(f"p{n}x", HELLO) for n in range(5)]
    for page in pages:
        apache.get(page)
    apache.restart()
    for page in reversed(pages):
        apache.get(page)
    assert sorted(paths_of(apache, 10)) == sorted(pages * 2)


@pytest.mark.mpms("event")
def test_a_reload_can_switch_it_on(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    page = apache.cgi("page", HELLO)
    apache.get(page)
    with open(apache.configuration, "a") as configuration:
        configuration.write("MPMStatPaths On\n")
    apache.restart()

    def is_on():
        """A child of the old configuration can answer first: it ends when it is idle."""
        apache.get(page)
        return any(record["path"] == page for record in apache.journal()[0])
    assert paths_of(apache, 1) == [None]
    wait_until(is_on, 10, "an answer by a child of the new configuration")
