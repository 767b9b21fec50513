"""Intervals of a request that others keep waiting: a name server that answers late, backends that
do not answer, clients that send slowly, HTTP/2 workers that are too few, keys that are long. Their
own clocks are the witnesses."""
import os
import re
import signal
import subprocess
import time
from decimal import Decimal

import pytest

import backend
import build
import clients
import http2
import name_server
import tls
import tool
from phases import CGI, assert_sums, cgi_module, records_of
from processes import wait_until


def interval(apache, name):
    """(requests, seconds) of the host's own label."""
    label = next(e for e in tool.labels(tool.status(apache.board)) if e["label"] == "test.example")
    return label["intervals"][name], Decimal(str(label["interval_seconds"][name]))


# ---- names ------------------------------------------------------------------------------------

@pytest.fixture
def names():
    """It answers 0.4 s late, and says that every address is client.test.example."""
    server = name_server.NameServer({"client.test.example": "127.0.0.1"}, delay=0.4)
    try:
        server.__enter__()
    except name_server.Unavailable as reason:
        pytest.skip(str(reason))
    yield server
    server.__exit__()


def only_record(apache):
    [record] = records = records_of(apache, 1, 30)
    assert_sums(records)
    return record


def test_who_may_see_a_page_is_asked_of_a_name_server(server, mpm, names):
    apache = server(mpm, '<Location "/known">\nRequire host test.example\n</Location>',
                    wrapper=names.wrapper)
    assert apache.get(apache.page("known", "hello")).status == 200
    waited = Decimal(names.waited_ns()) / 10 ** 9
    asked = {(question.type, question.name) for question in names.log}
    record = only_record(apache)
    assert (name_server.PTR, "1.0.0.127.in-addr.arpa") in asked
    assert (name_server.A, "client.test.example") in asked
    assert record["checks"] >= waited > Decimal("0.8"), (record, names.log)
    assert record["log"] < record["checks"]


def test_names_of_clients_in_the_log(server, mpm, names):
    """The client has its answer before the name server gives one."""
    apache = server(mpm, 'HostnameLookups On\nLogFormat "%h" host\n'
                    'CustomLog "@ROOT@/hosts.log" host', wrapper=names.wrapper)
    names.may_answer.clear()
    assert apache.get("/").status == 200
    assert not names.log
    names.may_answer.set()
    wait_until(lambda: names.log, 30, "the name server to answer")
    waited = Decimal(names.log[0].answered_ns - names.log[0].asked_ns) / 10 ** 9
    record = only_record(apache)
    assert record["log"] >= waited >= Decimal("0.4"), (record, names.log)
    assert record["held"] >= record["log"]
    assert (apache.root / "hosts.log").read_text().startswith("client.test.example\n")


# ---- backends that do not answer ------------------------------------------------------------

TIMEOUT = "ProxyTimeout 1"


class Silent(backend.Backend):
    """Reads requests, and says when."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def serve(self, connection, stream):
        if not self.read_head(stream):
            return False
        self.asked.append(time.monotonic())
        return True


def assert_gave_up(apache, name, since):
    """The only request failed at the time-out, which the backend has all of; `since` is when the
    backend, or else the client, saw it."""
    seen = Decimal(time.monotonic() - since)
    record = only_record(apache)
    assert record["backend"].startswith(name[:63]) and record["status"] in (502, 503, 504)
    assert Decimal("0.9") <= record["backend_time"] <= record["handle"]
    assert seen >= Decimal("0.9")
    [end] = [e for e in tool.status(apache.board)["ends"] if e["kind"] == "backend"]
    assert (end["calls"], end["failed"], end["status"]["5xx"]) == (1, 1, 1)


def test_a_backend_that_does_not_answer_in_time(server, mpm):
    with Silent() as behind:
        apache = server(mpm, f"{TIMEOUT}\nProxyPass /app/ http://127.0.0.1:{behind.port}/",
                        modules=["proxy", "proxy_http"])
        apache.allow("AH0110|AH00898|AH00957")
        assert apache.get("/app/x").status in (502, 504)
        assert apache.log_lines("timeout specified has expired")
        assert_gave_up(apache, f"http://127.0.0.1:{behind.port}/", behind.asked[0])


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not build.FPM, reason="needs PHP-FPM")
def test_an_fpm_that_was_stopped(php_server, mpm):
    """Its processes do not run, and the kernel still takes connections for them."""
    apache = php_server(mpm, TIMEOUT, children=1)
    apache.allow("AH0107|AH0106|AH00957|AH0110")
    page = apache.page("hello.php", "<?php echo 'hello';")
    stopped = [apache.fpm.pid, *apache.fpm.workers()]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert apache.get(page).status >= 500
        assert_gave_up(apache, f"unix:{apache.fpm.socket}", began)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not build.FPM, reason="needs PHP-FPM")
def test_an_fpm_that_has_ended(php_server, mpm):
    apache = php_server(mpm, children=1)
    apache.allow("AH02454|AH01079|AH00957|AH00959")
    apache.fpm.stop()
    assert apache.get(apache.page("hello.php", "<?php echo 'hello';")).status == 503
    record = only_record(apache)
    assert record["backend"].startswith(f"unix:{apache.fpm.socket}"[:63])
    [end] = [e for e in tool.status(apache.board)["ends"] if e["kind"] == "backend"]
    assert (end["calls"], end["failed"], end["status"]["5xx"]) == (1, 1, 1)


# ---- uploads ----------------------------------------------------------------------------------

# Pauses are much longer than the slice of a CPU that others take: what comes while Apache waits for
# a CPU is not waited for.
PIECE, PIECES = b"x" * 250_000, 4


def upload(apache, path):
    """A megabyte in a second; for how long the client sent it."""
    with apache.connect() as connection:
        connection.send(f"POST {path} HTTP/1.1\r\nHost: test.example\r\n"
                        "Content-Type: application/octet-stream\r\n"
                        f"Content-Length: {len(PIECE) * PIECES}\r\n\r\n")
        began = time.monotonic()
        for _ in range(PIECES):
            time.sleep(1 / PIECES)      # the client's slowness itself
            connection.send(PIECE)
        sent = time.monotonic() - began
        assert connection.read_response("POST").status == 200
    return Decimal(sent)


@pytest.mark.parametrize("to", ["a script", "a backend", "a file", "PHP"])
def test_a_megabyte_that_takes_a_second(php_server, server, mpm, to):
    """Most of the client's time is upload; none of it is the backend's."""
    with backend.HTTPBackend() as behind:
        extra = f"{CGI}\nProxyPass /app/ http://127.0.0.1:{behind.port}/"
        modules = [cgi_module(mpm), "proxy", "proxy_http"]
        apache = (php_server if to == "PHP" else server)(mpm, extra, modules=modules)
        path = {"a script": lambda: apache.cgi(
                    "read", "cat >/dev/null\necho Content-Type: text/plain\necho\necho done\n"),
                "a backend": lambda: "/app/x",
                "a file": lambda: "/index.html",
                "PHP": lambda: apache.page("read.php", "<?php echo strlen(file_get_contents("
                                           "'php://input'));")}[to]()
        sent = upload(apache, path)
    record = only_record(apache)
    # A client without a CPU sends for longer; its pauses alone take a second.
    assert Decimal("0.8") <= record["upload"] <= record["handle"], (sent, record)
    assert record["backend_time"] + record["upload"] <= record["handle"]


# ---- HTTP/2 -----------------------------------------------------------------------------------

STREAMS = 100


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not build.find("h2load"), reason="needs h2load")
def test_a_hundred_streams_for_two_workers(server, mpm):
    """From when h2load sent its requests, until the scripts began: by their own clocks."""
    apache = server(mpm, CGI + "Protocols h2c http/1.1\nH2MinWorkers 2\nH2MaxWorkers 2",
                    modules=["cgid", "http2"])
    (apache.root / "began").mkdir()
    (apache.root / "began").chmod(0o777)
    nap = apache.cgi("nap", f'date +%s%N >"{apache.root}/began/$QUERY_STRING"\nsleep 0.05\n'
                     "echo Content-Type: text/plain\necho\necho done\n")
    *others, last = [f"http://127.0.0.1:{apache.port}{nap}?{n}" for n in range(STREAMS)]
    done = clients.h2load(last, STREAMS, 1, streams=STREAMS, options=others)
    assert done["succeeded"] == len(done["rows"]) == STREAMS
    began = [int(file.read_text()) / 1e9 for file in (apache.root / "began").iterdir()]
    assert len(began) == STREAMS
    waited = Decimal(sum(began) - sum(start for start, _ in done["rows"]))
    records = records_of(apache, STREAMS, 30)
    assert_sums(records)
    assert all(record["h2_wait"] == record["queue"] for record in records)
    told = sum(record["h2_wait"] for record in records)
    # Two at a time: on average they waited for 49 rounds of two.
    assert waited > STREAMS * Decimal("0.05") * 49 / 2
    assert waited * Decimal("0.8") <= told <= waited, (waited, told)
    assert interval(apache, "h2_wait") == (sum(record["h2_wait"] > 0 for record in records), told)


def http2_workers(apache):
    """(busy, limit): of the child that has most at work."""
    connections = tool.status(apache.board)["connections"]
    return connections["http2_workers_busy"], connections["http2_workers_limit"]


@pytest.mark.mpms("worker", "event")
@pytest.mark.skipif(not build.find("h2load"), reason="needs h2load")
def test_workers_of_http2_that_are_busy(server, mpm):
    """Those whose scripts run: each script leaves a file when it begins, and waits."""
    apache = server(mpm, CGI + "Protocols h2c http/1.1\nH2MinWorkers 3\nH2MaxWorkers 3",
                    modules=["cgid", "http2"])
    began = apache.root / "began"
    began.mkdir()
    began.chmod(0o777)
    waits = apache.cgi("waits", f'touch "{began}/$$"\nwhile [ ! -e "{began}/stop" ]; do sleep 0.02;'
                       " done\necho Content-Type: text/plain\necho\necho done\n")
    url = f"http://127.0.0.1:{apache.port}{waits}"
    assert http2_workers(apache) == (0, 3)
    with subprocess.Popen([build.find("h2load"), "-n", "20", "-c", "1", "-m", "20", url],
                          stdout=subprocess.PIPE, text=True) as load:
        try:
            wait_until(lambda: http2_workers(apache) == (3, 3), 30, "all of them to be busy")
            wait_until(lambda: len(list(began.iterdir())) == 3, 30, "their scripts")
        finally:
            (began / "stop").touch()
        said = load.communicate(timeout=60)[0]
    assert "20 succeeded" in said, said
    wait_until(lambda: http2_workers(apache) == (0, 3), 30, "all of them to be idle")


@pytest.mark.mpms("worker", "event")
def test_a_worker_of_http2_is_idle_behind_its_stream(server, mpm):
    """A client that lets nothing through has streams in flight, and their workers are free."""
    apache = server(mpm, "Protocols h2c http/1.1\nH2MinWorkers 3\nH2MaxWorkers 3", modules=["http2"])
    page = apache.page("page.txt", "x" * 100)
    with http2.Session(apache.port) as session:
        session.allow(0)
        streams = [session.send_get(page) for _ in range(5)]

        def look():
            return tool.status(apache.board)["connections"]["http2_streams"], http2_workers(apache)
        wait_until(lambda: look() == (5, (0, 3)), 30, lambda: f"idle workers, not {look()}")
        session.allow(1000)
        assert [session.read_stream(stream) for stream in streams] == [b"x" * 100] * 5


WORKERS_OF_HTTP2 = (
    "", "H2MinWorkers 40", "H2MinWorkers 1", "H2MinWorkers 2\nh2maxworkers 7",
    '<IfModule mod_http2.c>\nH2MinWorkers 2\nH2MaxWorkers 9\n</IfModule>\nInclude "@ROOT@/more"\n'
    "<VirtualHost 127.0.0.9:1>\nServerName other.example\nH2MaxWorkers 5\n</VirtualHost>\n")


@pytest.mark.mpms("worker", "event")
@pytest.mark.parametrize("directives", WORKERS_OF_HTTP2)
def test_the_limit_of_workers_of_http2(server, mpm, directives, tmp_path):
    """It is what mod_http2 says of itself when a child begins."""
    more = tmp_path / "more"
    more.write_text('H2MaxWorkers "11"\n')
    apache = server(mpm, "Protocols h2c http/1.1\n" + directives.replace("@ROOT@/more", str(more)),
                    modules=["http2"], log_level="notice http2:info", threads=4)

    def told():
        return [int(n) for n in re.findall(r"h2_workers: created with min=\d+ max=(\d+)",
                                           apache.log_text())]
    wait_until(told, 30, "mod_http2 to begin")
    assert http2_workers(apache) == (0, told()[-1])
    more.write_text("H2MaxWorkers 12\n")
    apache.restart()
    wait_until(lambda: http2_workers(apache)[1] == told()[-1], 30, "the new limit")
    assert told()[-1] == (12 if "more" in directives else told()[0])


def test_without_mod_http2_its_workers_are_unknown(server, mpm):
    assert http2_workers(server(mpm)) == (None, None)


# ---- TLS --------------------------------------------------------------------------------------

HANDSHAKES = 20


def signing_seconds():
    """CPU time of a signature with a key of that length, as OpenSSL itself measures it."""
    said = subprocess.run([build.find("openssl"), "speed", "-seconds", "1", "rsa4096"],
                          text=True, capture_output=True, check=True, timeout=60).stdout
    return Decimal(re.search(r"^rsa +4096 bits +([\d.]+)s ", said, re.M)[1])


@pytest.fixture(scope="module")
def long_key(tmp_path_factory):
    """The directives for it; it takes long to make."""
    return tls.make_certificate(tmp_path_factory.mktemp("key"), ("rsa:4096",))


def test_handshakes_with_long_keys(server, mpm, long_key):
    """Each needs at least half a signature's CPU time, and is over when the client has its answer."""
    signature = signing_seconds()
    apache = server(mpm, long_key, modules=["ssl", "socache_shmcb"])
    seen = 0.0
    for _ in range(HANDSHAKES):
        began = time.monotonic()
        with tls.Connection(apache.port) as connection:
            assert connection.request("/").status == 200
            seen += time.monotonic() - began
    wait_until(lambda: interval(apache, "log")[0] == HANDSHAKES, 30, "all requests on record")
    count, seconds = interval(apache, "tls")
    assert count == HANDSHAKES
    assert HANDSHAKES * signature / 2 <= seconds <= Decimal(seen), (signature, seconds, seen)
