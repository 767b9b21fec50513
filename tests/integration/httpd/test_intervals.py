"""Intervals of a request, each against a witness that is not mpmstat: a client, a backend, a
program or a log that takes a known time."""
import threading
import time
from decimal import Decimal

import pytest

import backend
import build
import clients
import fcgid
import network
import php
import tls
import tool
from apache import hold_port
from phases import CGI, MOST, PAUSE, assert_sums, cgi_module, records_of
from processes import wait_until


def only_record(apache):
    records = records_of(apache, 1)
    assert_sums(records)
    return records[0]


def ends_of(apache, kind):
    """{name: its numbers} of the other ends of that kind."""
    return {end["name"]: end for end in tool.status(apache.board)["ends"] if end["kind"] == kind}


def assert_tally(apache, name, records):
    """The backend's tally is that of the records, all of which it answered."""
    end = ends_of(apache, "backend")[name]
    assert (end["calls"], end["failed"], end["status"]["2xx"]) == (len(records), 0, len(records))
    told = sum(r["backend_time"] for r in records)
    assert abs(Decimal(str(end["seconds"])) - told) < Decimal("0.000001")


def interval(apache, name):
    """(requests, seconds) of the host's own label."""
    label = next(e for e in tool.labels(tool.status(apache.board)) if e["label"] == "test.example")
    return label["intervals"][name], Decimal(str(label["interval_seconds"][name]))


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


# ---- checks -------------------------------------------------------------------------------


def test_checks_are_what_runs_before_the_handler(server, mpm, tmp_path):
    """A program that mod_rewrite asks takes its time; the file is there at once."""
    slow = script(tmp_path / "map", f"while read key; do sleep {PAUSE}; echo $key; done\n")
    apache = server(mpm, f"""
        RewriteEngine On
        RewriteMap slow "prg:{slow}"
        RewriteRule "^/slow$" "/${{slow:index.html}}" [PT]
    """, modules=["rewrite"])
    assert apache.get("/slow").status == 200
    record = only_record(apache)
    assert record["checks"] >= MOST and record["handle"] - record["checks"] < record["checks"]
    assert (record["handler"], record["backend"]) == ("default-handler", None)
    count, seconds = interval(apache, "checks")
    assert count == 1 and abs(seconds - record["checks"]) < Decimal("0.000001")


def test_checks_are_all_where_no_handler_was_called(server, mpm):
    apache = server(mpm, "<Location /no>\nRequire all denied\n</Location>")
    apache.allow("AH01630")
    assert apache.get("/no").status == 403
    record = only_record(apache)
    assert record["checks"] == record["handle"] > 0 and record["handler"] is None


# ---- log ----------------------------------------------------------------------------------


def test_log_is_after_the_total(server, mpm, tmp_path):
    """A logger that does not read lets its pipe fill; the request that finds it full waits in a
    state of its own."""
    go = tmp_path / "go"
    logger = script(tmp_path / "logger",
                    f"while ! [ -e {go} ]; do sleep 0.05; done\nexec cat >/dev/null\n")
    apache = server(mpm, f'LogFormat "%{{Long}}i" long\nCustomLog "|{logger}" long')

    def fill():
        with apache.connect() as connection:
            for _ in range(20):
                connection.request("/", headers={"Long": "x" * 7000})

    client = threading.Thread(target=fill)
    client.start()
    try:
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["logging"] == 1, 20,
                   "a worker that logs")
        began = time.monotonic()
        time.sleep(PAUSE)      # the logger's slowness itself
        waited = Decimal(time.monotonic() - began)
    finally:
        go.touch()
        client.join(30)
    records = records_of(apache, 20)
    assert_sums(records)
    slowest = max(records, key=lambda r: r["log"])
    assert slowest["log"] >= waited and slowest["total"] < waited
    assert slowest["held"] >= slowest["log"]
    count, seconds = interval(apache, "log")
    assert count == 20 and seconds >= waited


# ---- upload -------------------------------------------------------------------------------

READING = "cat >/dev/null\necho Content-Type: text/plain\necho\necho done\n"
BODY = b"x" * 100000


def upload(apache, path, content_type="application/octet-stream"):
    """Sends the head, and the body a PAUSE after the server began to handle the request: a script
    has to begin before it reads, and on a busy machine that takes half of it."""
    with apache.connect() as connection:
        connection.send(f"POST {path} HTTP/1.1\r\nHost: test.example\r\n"
                        f"Content-Type: {content_type}\r\n"
                        f"Content-Length: {len(BODY)}\r\n\r\n")
        wait_until(lambda: any(slot["state"] == "handling"
                               for slot in tool.status(apache.board)["slots"]), 30, "a worker")
        time.sleep(PAUSE)      # the client's slowness itself
        connection.send(BODY)
        assert connection.read_response("POST").status == 200
    return only_record(apache)


def test_upload_to_a_script(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    record = upload(apache, apache.cgi("read", READING))
    assert record["upload"] >= MOST and record["backend_time"] < record["upload"]
    assert interval(apache, "upload")[0] == 1


def test_upload_after_an_internal_redirect(server, mpm):
    apache = server(mpm, CGI + "FallbackResource /cgi/read\n"
                    "<Directory @ROOT@/htdocs>\nRewriteEngine On\n"
                    'RewriteRule "^pretty$" "/cgi/read" [L]\n</Directory>',
                    modules=[cgi_module(mpm), "rewrite", "dir"])
    apache.cgi("read", READING)
    assert upload(apache, "/pretty")["upload"] >= MOST


def test_upload_that_no_handler_reads(server, mpm):
    """httpd itself reads the body, and forgets it."""
    apache = server(mpm)
    record = upload(apache, "/index.html")
    assert record["upload"] >= MOST and record["backend"] is None


def test_upload_to_a_backend(server, mpm):
    with backend.HTTPBackend() as behind:
        apache = server(mpm, f"ProxyPass /app/ http://127.0.0.1:{behind.port}/",
                        modules=["proxy", "proxy_http"])
        record = upload(apache, "/app/x")
    assert record["upload"] >= MOST and record["backend_time"] < record["upload"]


def test_upload_to_php(php_server, mpm):
    apache = php_server(mpm)
    record = upload(apache, apache.page("read.php", "<?php echo strlen(file_get_contents("
                                        "'php://input'));"))
    assert record["upload"] >= MOST


@pytest.mark.skipif(php.why_not() is not None, reason=str(php.why_not()))
def test_a_form_that_php_reads_is_no_php_wait(php_server, mpm, php_boards):
    """PHP reads a form before its request begins: mod_php on prefork, FPM on the others."""
    apache = php_server(mpm, settings=php.settings(php_boards))
    record = upload(apache, apache.page("form.php", "<?php echo count($_POST);"),
                    "application/x-www-form-urlencoded")
    [board] = php_boards.glob("*.board")
    label = wait_until(lambda: next((e for e in tool.labels(tool.status(board))
                                     if e["requests"] == 1), None), 30, "PHP's record")
    assert record["upload"] >= MOST
    assert label["phases"]["php_wait"]["sum_seconds"] < record["upload"] / 2


def test_a_request_without_a_body_has_no_upload(server, mpm):
    apache = server(mpm)
    assert apache.get("/").status == 200
    assert only_record(apache)["upload"] == 0


# ---- handlers and backends ----------------------------------------------------------------


def test_backend_is_named_and_timed(server, mpm):
    with backend.HTTPBackend(delay=PAUSE) as slow, backend.HTTPBackend() as fast, \
            hold_port() as nobody:
        closed = nobody.getsockname()[1]
        apache = server(mpm, f"""
            ProxyPass /slow/ http://127.0.0.1:{slow.port}/
            ProxyPass /fast/ http://127.0.0.1:{fast.port}/
            ProxyPass /closed/ http://127.0.0.1:{closed}/
        """, modules=["proxy", "proxy_http"])
        apache.allow("AH0095|AH01114|AH00957|AH00958|AH00959|AH01079")
        statuses = [apache.get(f"/{name}/x").status for name in ("slow", "fast", "fast", "closed")]
    assert statuses == [200, 200, 200, 503]
    records = records_of(apache, 4)
    assert_sums(records)
    names = [f"http://127.0.0.1:{port}/" for port in (slow.port, fast.port, closed)]
    assert sorted(r["backend"] for r in records) == sorted([names[0], *names[1:2] * 2, names[2]])
    assert {r["handler"] for r in records} == {"proxy-server"}
    by_name = {r["backend"]: r for r in records}
    assert by_name[names[0]]["backend_time"] >= MOST
    ends = ends_of(apache, "backend")
    assert [(ends[name]["calls"], ends[name]["failed"]) for name in names] == [(1, 0), (2, 0),
                                                                              (1, 1)]
    for name in names:
        told = sum(r["backend_time"] for r in records if r["backend"] == name)
        assert abs(Decimal(str(ends[name]["seconds"])) - told) < Decimal("0.000001")
    assert ends_of(apache, "handler")["proxy-server"]["calls"] == 4
    assert ends[names[2]]["status"]["5xx"] == 1 and ends[names[1]]["status"]["2xx"] == 2


def test_backends_of_a_balancer(server, mpm):
    """Members by name; one that refuses counts its own failures, and the other one answers."""
    with backend.HTTPBackend() as good, hold_port() as nobody:
        closed = nobody.getsockname()[1]
        apache = server(mpm, f"""
            <Proxy balancer://both>
                BalancerMember http://127.0.0.1:{closed} retry=0
                BalancerMember http://127.0.0.1:{good.port}
                ProxySet maxattempts=2
            </Proxy>
            ProxyPass /app/ balancer://both/
        """, modules=["proxy", "proxy_http", "proxy_balancer", "lbmethod_byrequests",
                      "slotmem_shm"])
        apache.allow("AH0095|AH01114|AH00957|AH00958|AH00959|AH01079")
        assert [apache.get("/app/x").status for _ in range(4)] == [200] * 4
    assert_sums(records_of(apache, 4))
    ends = ends_of(apache, "backend")
    assert ends[f"http://127.0.0.1:{good.port}"]["calls"] == 4
    refused = ends[f"http://127.0.0.1:{closed}"]
    assert refused["calls"] == refused["failed"] > 0


def test_backend_of_a_script(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    nap = f"sleep {PAUSE}\necho Content-Type: text/plain\necho\necho done\n"
    assert apache.get(apache.cgi("nap", nap)).status == 200
    record = only_record(apache)
    assert (record["handler"], record["backend"]) == ("cgi-script", "cgi-script")
    assert MOST <= record["backend_time"] <= record["handle"] - record["checks"]


@pytest.mark.skipif(not fcgid.FCGID.exists() or not php.CGI, reason="needs mod_fcgid, php-cgi")
def test_backend_of_fcgid(server, mpm):
    apache = server(mpm, fcgid.fcgid(), modules=["fcgid"])
    nap = apache.page("nap.php", f"<?php usleep({int(PAUSE * 1e6)}); echo 'done';")
    assert [apache.get(nap).status for _ in range(2)] == [200] * 2
    records = records_of(apache, 2)
    assert_sums(records)
    for record in records:
        assert (record["handler"], record["backend"]) == ("fcgid-script", "fcgid-script")
        assert MOST <= record["backend_time"] <= record["handle"] - record["checks"]
    assert_tally(apache, "fcgid-script", records)


def test_backend_of_http2(server, mpm):
    """Another Apache, which speaks HTTP/2 without TLS: two streams, of which one is slow."""
    behind = server("event", CGI + "Protocols h2c", modules=["cgid", "http2"], module=False)
    behind.cgi("nap", f"sleep {PAUSE}\necho Content-Type: text/plain\necho\necho done\n")
    apache = server(mpm, f"ProxyPass /app/ h2c://127.0.0.1:{behind.port}/",
                    modules=["proxy", "http2", "proxy_http2"])
    assert [apache.get(path).status for path in ("/app/cgi/nap", "/app/index.html")] == [200] * 2
    records = records_of(apache, 2)
    assert_sums(records)
    name = f"h2c://127.0.0.1:{behind.port}/"
    assert {(r["handler"], r["backend"]) for r in records} == {("proxy-server", name)}
    fast, slow = sorted(r["backend_time"] for r in records)
    assert slow >= MOST and slow - fast >= MOST / 2
    assert_tally(apache, name, records)


def test_a_backend_has_room_whatever_htaccess_files_name(server, mpm):
    with backend.HTTPBackend() as behind:
        apache = server(mpm, f"ProxyPass /app/ http://127.0.0.1:{behind.port}/\n"
                        '<Directory "@ROOT@/htdocs">\nAllowOverride FileInfo\n</Directory>',
                        modules=["proxy", "proxy_http"])
        for n in range(70):
            page = apache.root / "htdocs" / str(n)
            page.mkdir()
            (page / "page.html").write_text("hello")
            (page / ".htaccess").write_text(f"SetHandler made-up-{n}\n")
        with apache.connect() as connection:
            for n in range(70):
                assert connection.request(f"/{n}/page.html").status == 200
        assert apache.get("/app/x").status == 200
    records_of(apache, 71)
    assert ends_of(apache, "backend")[f"http://127.0.0.1:{behind.port}/"]["calls"] == 1
    handlers = ends_of(apache, "handler")
    assert handlers["proxy-server"]["calls"] == 1
    assert sum(name.startswith("made-up-") for name in handlers) == 32


def test_backend_of_php(php_server, mpm):
    apache = php_server(mpm)
    nap = f"<?php usleep({int(PAUSE * 1e6)}); echo 'done';"
    assert apache.get(apache.page("nap.php", nap)).status == 200
    record = only_record(apache)
    if mpm == "prefork":     # mod_php is in the same process
        assert (record["handler"], record["backend"]) == ("application/x-httpd-php", None)
        assert record["backend_time"] == 0
    else:
        assert record["backend"].startswith(f"unix:{apache.fpm.socket}"[:55]), record
        assert record["backend_time"] >= MOST


@pytest.mark.mpms("event")
def test_the_name_of_a_socket_with_a_long_path(server, mpm):
    """The host of what does not fit is left out: it is none. Each gets 503, as nothing listens."""
    deep = "/nowhere" + "/deeper" * 4
    names = {f"{deep}/a": f"unix:{deep}/a|fcgi://localhost",
             f"{deep}/php.sock": f"unix:{deep}/php.sock|fcgi://",
             f"{deep}{deep}/php.sock": f"unix:{deep}{deep}/php.sock"[:63]}
    assert [len(name) for name in names.values()] == [60, 58, 63]
    apache = server(mpm, modules=["proxy", "proxy_fcgi"], extra="".join(
        f'<Location "/{nth}">\nSetHandler "proxy:unix:{path}|fcgi://localhost"\n</Location>\n'
        for nth, path in enumerate(names)))
    apache.allow("AH02454|AH01079|AH00957|AH00959")
    for nth in range(len(names)):
        assert apache.get(f"/{nth}").status == 503
    assert list(ends_of(apache, "backend")) == list(names.values())


# ---- sending ------------------------------------------------------------------------------

LARGE = 8_000_000


def read_slowly(apache, path):
    """Half of the response, and the rest PAUSE later."""
    with apache.connect(receive_buffer=65536) as connection:
        connection.send_request(path, keep=False)
        connection.read_exactly(100)
        time.sleep(PAUSE)      # the client's slowness itself
        connection.read_to_end()


def test_sending_to_a_slow_reader(server, mpm):
    apache = server(mpm)
    read_slowly(apache, apache.page("large", b"x" * LARGE))
    record = only_record(apache)
    assert record["send"] >= MOST and record["send_client"] >= record["send"] * Decimal("0.8")


def test_sending_by_a_slow_server(server, mpm):
    """mod_ratelimit sends 100 KB in a second."""
    apache = server(mpm, '<Location "/limited">\nSetOutputFilter RATE_LIMIT\n'
                    "SetEnv rate-limit 100\n</Location>", modules=["ratelimit"])
    with apache.connect() as connection:
        assert connection.request("/index.html").status == 200
        assert connection.request(apache.page("limited", b"x" * 160_000)).status == 200
    records = records_of(apache, 2)
    assert_sums(records)
    record = max(records, key=lambda r: r["nth"])
    assert record["send"] >= MOST and record["send_server"] >= record["send"] * Decimal("0.8")


def test_what_was_sent_at_once_is_not_asked_about(server, mpm):
    apache = server(mpm)
    with apache.connect() as connection:
        assert [connection.request("/").status for _ in range(3)] == [200] * 3
    fast = [r for r in records_of(apache, 3) if r["send"] < Decimal("0.01")]
    assert fast and all(r["send_client"] is None for r in fast)


@pytest.fixture
def narrow(request):
    """A network of 1 MB in a second, or of as much as a test says."""
    link = network.Narrow(getattr(request, "param", 1_000_000))
    try:
        link.__enter__()
    except network.Unavailable as reason:
        pytest.skip(str(reason))
    yield link
    link.__exit__()


def send_through(narrow, server, mpm, size, read, extra="", modules=(), receive_buffer=None):
    """A page that a client behind the narrow network reads. The request's record, with `busy` and
    `closed`: how long the kernel says that data was on its way, and of that with a closed
    window."""
    with narrow.at_server():
        apache = server(mpm, f"Listen {narrow.ADDRESS}:{narrow.PORT}\n" + extra, modules=modules)
        with narrow.connect(receive_buffer=receive_buffer) as connection:
            connection.send_request(apache.page("page", b"x" * size))
            read(connection)
            busy, closed = narrow.kernel_says(connection.port)
        record = only_record(apache)
    assert record["send"] >= MOST
    return {**record, "busy": Decimal(str(busy)), "closed": Decimal(str(closed))}


def assert_most_of_send(record, interval):
    assert record[interval] >= record["send"] * Decimal("0.9"), record


@pytest.mark.parametrize("narrow", [200_000], indirect=True)
def test_sending_through_a_narrow_network(server, mpm, narrow):
    """tbf has counted the bytes: it needs as long for them as the network is said to have had."""
    record = send_through(narrow, server, mpm, 600_000, clients.Connection.read_response,
                          "SendBufferSize 65536")
    assert_most_of_send(record, "send_network")
    passed, full = narrow.passed()
    assert passed >= 600_000 and full > 0
    assert record["send_network"] * Decimal("0.9") <= Decimal(passed) / narrow.rate
    assert record["busy"] - record["closed"] >= record["send"] * Decimal("0.9"), record


def test_sending_by_a_server_slower_than_a_narrow_network(server, mpm, narrow):
    record = send_through(narrow, server, mpm, 80_000, clients.Connection.read_response,
                          "SetOutputFilter RATE_LIMIT\nSetEnv rate-limit 50", ["ratelimit"])
    assert_most_of_send(record, "send_server")
    assert record["busy"] <= record["send"] / 10, record


def test_sending_to_a_reader_slower_than_a_narrow_network(server, mpm, narrow):
    """The window is closed for most of the time."""
    def read(connection):
        connection.read_head()
        for _ in range(20):
            connection.read_exactly(10_000)
            time.sleep(PAUSE / 10)     # the client's slowness itself

    record = send_through(narrow, server, mpm, 200_000, read, "SendBufferSize 32768",
                          receive_buffer=16384)
    assert_most_of_send(record, "send_client")
    assert record["closed"] >= record["busy"] * Decimal("0.9"), record


def slowly(size, piece, pause):
    """A client that reads so many bytes at a time, and then none for a while."""
    def read(connection):
        connection.read_head()
        for _ in range(size // piece):
            connection.read_exactly(piece)
            time.sleep(pause)      # the client's slowness itself
    return read


def limited(kilobytes):
    return f"SetOutputFilter RATE_LIMIT\nSetEnv rate-limit {kilobytes}"


@pytest.mark.parametrize("narrow", [200_000], indirect=True)
def test_a_network_narrower_than_the_servers_own_limit(server, mpm, narrow):
    """The kernel has data while mod_ratelimit pauses, for 0.2 s at a time."""
    record = send_through(narrow, server, mpm, 800_000, clients.Connection.read_response,
                          "SendBufferSize 200000\n" + limited(600), ["ratelimit"])
    # While Apache has no CPU after a pause, the kernel can run out of data.
    assert record["send_network"] > record["send_server"] + record["send_client"], record
    assert record["busy"] - record["closed"] >= record["send"] * Decimal("0.9"), record
    assert narrow.passed()[1] > 0


@pytest.mark.parametrize("narrow", [200_000], indirect=True)
def test_a_network_narrower_than_a_slow_reader(server, mpm, narrow):
    """The reader's buffer holds what comes while it reads nothing."""
    record = send_through(narrow, server, mpm, 600_000, slowly(600_000, 20_000, 0.02),
                          "SendBufferSize 65536")
    assert_most_of_send(record, "send_network")
    assert record["busy"] - record["closed"] >= record["send"] * Decimal("0.9"), record
    assert narrow.passed()[1] > 0


def test_a_reader_slower_than_the_servers_own_limit(server, mpm, narrow):
    """100 KB in a second where the server would send 400."""
    record = send_through(narrow, server, mpm, 600_000, slowly(600_000, 20_000, 0.2),
                          "SendBufferSize 32768\n" + limited(400), ["ratelimit"],
                          receive_buffer=16384)
    assert_most_of_send(record, "send_client")
    assert record["closed"] >= record["busy"] * Decimal("0.9"), record


def test_a_servers_own_limit_below_a_slow_readers(server, mpm, narrow):
    """200 KB in a second where the server sends 50."""
    record = send_through(narrow, server, mpm, 80_000, slowly(80_000, 10_000, 0.05), limited(50),
                          ["ratelimit"])
    assert_most_of_send(record, "send_server")
    assert record["busy"] <= record["send"] / 10, record


def deliver_late(apache, keep):
    """The delivery of a file that the socket's buffers hold, of which the client reads nothing for a
    while."""
    path = apache.page("buffered", b"x" * 300_000)
    with apache.connect(receive_buffer=16384) as connection:
        connection.send_request(path, keep=keep)
        record = only_record(apache)             # complete for Apache
        time.sleep(PAUSE)      # the client's slowness itself
        assert len(connection.read_response().body) == 300_000
        if keep:
            connection.request("/")
        else:
            assert connection.read_to_end() == b""
    wait_until(lambda: apache.deliveries(), 10, "a delivery")
    return apache.deliveries()[record["id"]]


@pytest.mark.parametrize("keep", [True, False], ids=["kept-alive", "closed"])
def test_undelivered(server, mpm, keep):
    """Not known where the client has not read it when Apache stops to linger, after two seconds: that
    is so on a busy machine, which gets another try."""
    for _ in range(4):
        apache = server(mpm)
        delivery = deliver_late(apache, keep)
        if keep or delivery["undelivered"] is not None:
            break
    assert delivery["undelivered"] >= MOST
    assert 100_000 < delivery["undelivered_bytes"] < 310_000
    assert interval(apache, "undelivered") == (1, delivery["undelivered"])


def test_undelivered_when_the_client_goes_away(server, mpm):
    apache = server(mpm)
    path = apache.page("buffered", b"x" * 300_000)
    with apache.connect(receive_buffer=16384) as connection:
        connection.send_request(path)
        record = only_record(apache)
        connection.reset()
    wait_until(lambda: apache.deliveries(), 10, "a delivery")
    assert apache.deliveries()[record["id"]]["undelivered"] is None


# ---- TLS and HTTP/2 -----------------------------------------------------------------------


def test_tls_is_the_first_request_s(server, mpm, tmp_path):
    apache = server(mpm, tls.make_certificate(tmp_path), modules=["ssl", "socache_shmcb"])
    with tls.Connection(apache.port, pause=lambda: time.sleep(PAUSE)) as connection:
        assert [connection.request("/").status for _ in range(2)] == [200] * 2
    wait_until(lambda: interval(apache, "log")[0] == 2, 10, "both requests on record")
    count, seconds = interval(apache, "tls")
    assert count == 1 and seconds >= MOST, (count, seconds)


def test_streams_wait_for_workers_of_http2(server, mpm):
    if mpm == "prefork" or not build.find("h2load"):
        pytest.skip("mod_http2 is for threads")
    apache = server(mpm, CGI + "Protocols h2c http/1.1\nH2MinWorkers 2\nH2MaxWorkers 2",
                    modules=["cgid", "http2"])
    path = apache.cgi("nap", f"sleep {PAUSE / 2}\necho Content-Type: text/plain\necho\n"
                             "echo done\n")
    done = clients.h2load(f"http://127.0.0.1:{apache.port}{path}", 8, 1, streams=8)
    assert done["succeeded"] == 8
    records = records_of(apache, 8)
    assert_sums(records)
    waits = sorted(r["h2_wait"] for r in records)
    assert all(r["h2_wait"] == r["queue"] for r in records)
    # Two at a time: the last two wait for three rounds.
    assert waits[0] < waits[-1] - 2 * MOST and waits[-1] >= 3 * MOST, waits
