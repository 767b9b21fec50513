"""traceparent: which trace a request is in, as its record has it."""
import http2
import tool
from clients import NoAnswer
from collector import SERVER, Collector, servers
from phases import CGI, cgi_module
from processes import wait_until

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{PARENT}-01"
ON = "MPMStatTraceContext On\n"

HEADERS = [
    (GOOD, GOOD),
    (f"00-{TRACE}-{PARENT}-00", f"00-{TRACE}-{PARENT}-00"),
    (f"00-{TRACE}-{PARENT}-ff", f"00-{TRACE}-{PARENT}-ff"),
    (f"00-{'f' * 32}-{'f' * 16}-01", f"00-{'f' * 32}-{'f' * 16}-01"),
    (f"01-{TRACE}-{PARENT}-ff", f"00-{TRACE}-{PARENT}-01"),        # a later version's flags
    (f"cc-{TRACE}-{PARENT}-00-what-else", f"00-{TRACE}-{PARENT}-00"),
    (f"00-{TRACE}-{PARENT}-01-more", None),
    (f"01-{TRACE}-{PARENT}-01.more", None),
    (f"ff-{TRACE}-{PARENT}-01", None),
    (GOOD.upper(), None),
    (f"00-{TRACE.upper()}-{PARENT}-01", None),
    (f"00-{'0' * 32}-{PARENT}-01", None),
    (f"00-{TRACE}-{'0' * 16}-01", None),
    (f"00-{TRACE}-{PARENT}", None),
    (f"00-{TRACE}-{PARENT}-1", None),
    (f"00-{TRACE}-{PARENT}-0g", None),
    (f"00-{TRACE[1:]}-{PARENT}-01", None),
    (f"00_{TRACE}_{PARENT}_01", None),
    (f"0x-{TRACE}-{PARENT}-01", None),
    ("", None),
    ("00", None),
    (f"{GOOD}, {GOOD}", None),
    (f"{GOOD}\r\ntraceparent: {GOOD}", None),                      # two headers
    ("0" * 8000, None),
]


def traces(apache, count):
    """Of so many requests without the status page's. The last is recorded after its answer."""
    def recorded():
        found = [r["traceparent"] for r in apache.journal()[0] if r["label"] != "mpm-status"]
        return found if len(found) >= count else None
    return wait_until(recorded, 30, f"{count} requests in the journal")


def test_headers(server):
    apache = server("event", ON)
    with apache.connect() as connection:
        for header, _ in HEADERS:
            assert connection.request("/index.html",
                                      headers={"traceparent": header}).status == 200
        assert connection.request("/index.html").status == 200
    expected = [expected for _, expected in HEADERS] + [None]
    assert traces(apache, len(expected)) == expected


def test_a_megabyte_of_headers(server):
    """httpd refuses the request (400): the first of them is all that it has read, or nothing is."""
    apache = server("event", ON)
    apache.allow("LimitRequestFields|too (large|many|long)|request header|failed on header")
    with apache.connect() as connection:
        try:
            connection.send(b"GET / HTTP/1.1\r\nHost: x\r\n" +
                            f"traceparent: {GOOD}\r\n".encode() * 15_000 + b"\r\n")
            assert connection.read_response().status == 400
        except (NoAnswer, ConnectionError):
            pass
    assert apache.get("/index.html", headers={"traceparent": GOOD}).status == 200
    assert set(traces(apache, 2)) <= {GOOD, None}


def test_off_by_default(server):
    apache = server("worker")
    apache.get("/index.html", headers={"traceparent": GOOD})
    assert traces(apache, 1) == [None]


def test_by_directory_and_what_the_configuration_removes(server):
    apache = server("prefork", ON + """
        <Location /private>
            MPMStatTraceContext Off
        </Location>
        <Location /outside>
            RequestHeader unset traceparent
        </Location>
        """, modules=["headers"])
    with apache.connect() as connection:
        for path in ("/private", "/outside", "/index.html"):
            connection.request(path, headers={"traceparent": GOOD})
    assert traces(apache, 3) == [None, None, GOOD]


def test_http2(server):
    apache = server("event", ON + "Protocols h2c http/1.1", modules=["http2"])
    with http2.Session(apache.port) as session:
        for header in (GOOD, "nothing"):
            stream = session.send_get("/index.html",
                                      b"\x00\x0btraceparent" + bytes([len(header)]) +
                                      header.encode())
            while stream not in session.ended:
                session.read_frame()
    assert sorted(map(str, traces(apache, 2))) == sorted([GOOD, "None"])


def test_the_own_span_for_what_is_behind(server):
    """With Parent a backend gets the request's own span, and only where the trace is sampled."""
    behind = server("worker", ON)
    apache = server("event", f"""MPMStatTraceContext Parent
        ProxyPass /far/ http://127.0.0.1:{behind.port}/
        ProxyPass /plain/ http://127.0.0.1:{behind.port}/
        <Location /plain>
            MPMStatTraceContext On
        </Location>
        """, modules=["proxy", "proxy_http"])
    unsampled, broken = GOOD[:-2] + "00", GOOD.upper()
    with apache.connect() as connection:
        for path, header in (("/far/index.html", GOOD), ("/far/index.html", unsampled),
                             ("/far/index.html", broken), ("/plain/index.html", GOOD),
                             ("/index.html", GOOD)):
            assert connection.request(path, headers={"traceparent": header}).status == 200
        assert connection.request("/far/index.html").status == 200
    assert traces(apache, 6) == [GOOD, unsampled, None, GOOD, GOOD, None]
    with Collector() as collector:
        tool.run("export", "--otlp", collector.url, "--slower-than", "0ms", apache.board,
                 behind.board)
    pid = apache.status()["pid"]
    found = servers(collector.spans)
    own = [span for span in found if span.resource["process.pid"] == pid][0]
    got = traces(behind, 5)
    assert got == [f"00-{TRACE}-{own.id}-01", unsampled, None, GOOD, None]
    child, = [span for span in found if span.parent == own.id and span.kind == SERVER]
    assert child.trace == own.trace == TRACE and own.parent == PARENT


def test_the_own_span_for_a_program(server, mpm):
    """Also after an internal redirect, to what makes the page of an error."""
    apache = server(mpm, CGI + """MPMStatTraceContext Parent
        ErrorDocument 404 /cgi/trace
        """, modules=[cgi_module(mpm)])
    apache.cgi("trace", "printf 'Content-Type: text/plain\\n\\n%s' \"$HTTP_TRACEPARENT\"\n")
    texts = [apache.get(path, headers={"traceparent": GOOD}).text() for path in
             ("/cgi/trace", "/none")]
    assert traces(apache, 2) == [GOOD, GOOD]
    with Collector() as collector:
        tool.run("export", "--otlp", collector.url, "--slower-than", "0ms", apache.board)
    # Spans come in the order of their requests' ids, which says nothing of their times.
    assert set(texts) == {f"00-{TRACE}-{span.id}-01" for span in servers(collector.spans)}
    assert len(set(texts)) == 2


def test_what_the_directive_takes(server):
    apache = server("event", ON)
    conf = apache.root / "httpd.conf"
    conf.write_text(conf.read_text().replace(ON, "MPMStatTraceContext Child\n"))
    status, said = apache.configtest()
    assert status != 0 and 'must be On, Off or Parent, not "Child"' in said


def test_a_proxied_request_and_a_sub_request(server):
    """Both servers' requests are in the client's trace; DirectoryIndex makes a sub-request."""
    behind = server("worker", ON + "DirectoryIndex index.html\n", modules=["dir"])
    apache = server("event", ON + f"ProxyPass /far/ http://127.0.0.1:{behind.port}/\n",
                    modules=["proxy", "proxy_http"])
    assert apache.get("/far/", headers={"traceparent": GOOD}).status == 200
    assert traces(apache, 1) == traces(behind, 1) == [GOOD]
