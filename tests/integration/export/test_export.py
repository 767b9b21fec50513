"""mpmstat export: requests as spans of OpenTelemetry, which a collector gets."""
import json
import socket
import subprocess
from decimal import Decimal

import pytest

import build
import php
import tool
from collector import CLIENT, INTERNAL, Collector, assert_whole, children, servers, spans_of
from processes import wait_until
from recording import AB, ab, ask, record

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ON = "MPMStatTraceContext On\n"
SLEEP_US = 20_000
needs_ab = pytest.mark.skipif(not AB, reason="needs ab")


def traceparent(number, flags="01"):
    return {"traceparent": f"00-{number:032x}-{number:016x}-{flags}"}


def export(collector, *words, status=0, **options):
    done = tool.run("export", "--otlp", collector.url, *words, **options)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return done.stderr if status else done.stdout


def recorded(apache, count):
    """The journal's records of so many requests; the last is recorded after its answer."""
    def complete():
        found = [r for r in apache.journal()[0] if r["label"] != "mpm-status"]
        return found if len(found) >= count else None
    return wait_until(complete, 30, f"{count} requests in the journal")


def ns(seconds):
    return int(seconds * 10 ** 9)


def test_requests_of_a_running_server(server):
    """The times are the journal's; the access log says the same, to the millisecond."""
    log = ('LogFormat "%{msec}t %{end:msec}t %{traceparent}i" traces\n'
           "CustomLog traces.log traces\n")
    apache = server("event", ON + log)
    with apache.connect() as connection:
        for number in range(1, 6):
            path = "/index.html" if number < 5 else "/none"
            connection.request(path, headers=traceparent(number))
        connection.request("/index.html")
    records = recorded(apache, 6)
    with Collector() as collector:
        said = export(collector, apache.board)
    spans = collector.spans
    found = servers(spans)
    assert said == f"6 requests (5 of a client's trace) as {len(spans)} spans to " \
                   f"{collector.url}/v1/traces\n"
    assert [s.trace for s in found[:5]] == [f"{n:032x}" for n in range(1, 6)]
    assert [s.parent for s in found] == [f"{n:016x}" for n in range(1, 6)] + [None]
    assert [s.flags for s in found] == [0x301] * 5 + [0x100]
    assert [s.attributes["http.response.status_code"] for s in found] == [200] * 4 + [404, 200]
    assert [s.end - s.start for s in found] == [ns(r["total"]) for r in records]
    assert [s.start for s in found] == [pytest.approx(ns(r["start"]), abs=10 ** 6)
                                        for r in records]
    assert [s.attributes["mpmstat.request.id"] for s in found] == [r["id"] for r in records]
    for span in found:
        assert_whole(spans, span)
        assert span.resource["service.name"] == "apache"
        assert span.resource["host.name"] == socket.gethostname()
        assert span.resource["process.pid"] == apache.status()["pid"]
    with Collector() as collector:
        export(collector, f"http://127.0.0.1:{apache.port}/mpm-status")
    assert [(s.trace, s.id, s.parent) for s in servers(collector.spans)] == \
           [(s.trace, s.id, s.parent) for s in found], "the same by the status URL"
    lines = [line.split() for line in (apache.root / "traces.log").read_text().splitlines()]
    logged = {line[2]: line for line in lines}
    for number, span in enumerate(found[:5], 1):
        begin, end, _ = logged[traceparent(number)["traceparent"]]
        assert span.start // 10 ** 6 <= int(begin) <= span.end // 10 ** 6
        assert int(end) >= span.start // 10 ** 6


def test_which_requests(server, tmp_path):
    apache = server("worker", ON + "RewriteEngine On\nRewriteRule ^/fail$ - [R=500]\n",
                    modules=["rewrite"])
    apache.allow("fail")
    with apache.connect() as connection:
        for number in range(1, 4):
            connection.request("/index.html", headers=traceparent(number, "00"))
        connection.request("/index.html", headers=traceparent(9))
    for _ in range(2):
        apache.get("/fail")
    recorded(apache, 6)
    with Collector() as collector:
        for words, count in ((("--failed",), 2), (("--sampled",), 1), (("--slowest", "3"), 3),
                             (("--failed", "--sampled"), 3), (("--slowest", "0"), 0),
                             (("--slower-than", "0ms"), 6), (("--slower-than", "1h"), 0), ((), 6)):
            collector.requests.clear()
            assert export(collector, *words, apache.board).startswith(f"{count} requests ")
            assert len(servers(collector.spans)) == count
            if words == ("--failed",):
                assert all(s.failed and s.attributes["error.type"] == "500"
                           for s in servers(collector.spans))
    file = tmp_path / "spans.json"
    outputs = [tool.run("export", "-o", name, apache.board) for name in (file, "-", "-")]
    assert [done.returncode for done in outputs] == [0, 0, 0], outputs
    ids = [[(s.trace, s.id, s.parent) for s in spans_of(json.loads(text))]
           for text in (file.read_text(), outputs[1].stdout, outputs[2].stdout)]
    assert ids[0] == ids[1] == ids[2], "ids are stable"
    assert len(set(ids[0])) == len(ids[0])
    assert len(servers(spans_of(json.loads(outputs[1].stdout)))) == 6


@needs_ab
@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.parametrize("context", ["On", "Parent"])
def test_an_archive_with_php_and_the_application_itself(php_server, fpm_masters, archive, context):
    """A PHP application that traces itself sends a span of its own: both are in one trace, next to
    each other, or Apache's above the application's."""
    apache = php_server("event", f"MPMStatTraceContext {context}\n", workers=20, children=4,
                        settings=php.settings("@ROOT@/run"))
    with Collector() as collector:
        apache.page("traced.php", f"""<?php
            [, $trace, $parent] = explode("-", $_SERVER["HTTP_TRACEPARENT"]);
            usleep({SLEEP_US});
            $now = (string)(int)(microtime(true) * 1e9);
            $span = ["traceId" => $trace, "spanId" => bin2hex(random_bytes(8)), "flags" => 1,
                     "parentSpanId" => $parent, "name" => "application", "kind" => 1,
                     "startTimeUnixNano" => $now, "endTimeUnixNano" => $now, "attributes" => [],
                     "status" => new stdClass];
            $scope = ["scope" => ["name" => "application"], "spans" => [$span]];
            $resource = ["attributes" => []];
            echo file_get_contents("{collector.url}/v1/traces", false, stream_context_create([
                "http" => ["method" => "POST", "header" => "Content-Type: application/json",
                           "content" => json_encode(["resourceSpans" => [
                               ["resource" => $resource, "scopeSpans" => [$scope]]]])]]));""")
        target = [apache.board, "-t", fpm_masters[-1].board]
        words = [str(build.TOOL), "record", "-q", "-o", str(archive), "-t", *map(str, target), "--",
                 *ab(apache, "/traced.php", "-n", "8", "-c", "2", "-H",
                     f"traceparent: 00-{TRACE}-{PARENT}-01")]
        done = subprocess.run(words, text=True, capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert ask(archive, "SELECT DISTINCT trace_id, parent_span, sampled FROM server_requests "
                            "WHERE label <> 'mpm-status'") == [(TRACE, PARENT, 1)]
        assert len(collector.spans) == 8
        export(collector, archive)
    spans = collector.spans
    assert {span.trace for span in spans} == {TRACE}
    application = [s for s in spans if s.name == "application"]
    assert len(application) == len(servers(spans)) == 8
    assert {s.parent for s in servers(spans)} == {PARENT}
    assert sorted(s.parent for s in application) == \
        sorted(s.id if context == "Parent" else PARENT for s in servers(spans))
    spans = [s for s in spans if s not in application]
    for span in servers(spans):
        assert_whole(spans, span)
        run, = [child for child in children(spans, span) if child.name == "php_run"]
        assert run.attributes["code.file.path"].endswith("/traced.php")
        assert_whole(spans, run)
        slept, = [child for child in children(spans, run) if child.name == "sleep"]
        assert slept.kind == INTERNAL
    # What it had no CPU for is no wait: on a busy machine a part of the sleep can be that.
    slept = ask(archive, "SELECT w.wait_ns, p.cpu_wait_ns FROM php_waits w JOIN php_requests p "
                         "ON p.server_id = w.server_id AND p.key = w.key WHERE w.kind = 'sleep'")
    assert all(wait + cpu_wait >= SLEEP_US * 1000 * 0.9 for wait, cpu_wait in slept), slept
    assert sorted(s.end - s.start for s in spans if s.name == "sleep") == \
        sorted(wait for wait, _ in slept)
    # Where PHP gets no CPU until the answer is there, that is not a wait for the collector.
    waits = [s for s in spans if s.attributes.get("mpmstat.wait") == "http"]
    assert len(waits) == ask(archive, "SELECT count(*) FROM php_waits WHERE kind = 'http' AND "
                                      "wait_ns > 0")[0][0]
    for wait in waits:
        assert wait.kind == CLIENT and wait.attributes["server.address"] == "127.0.0.1"
        assert wait.attributes["server.port"] == collector.port
        assert wait.attributes["code.function.name"] == "{main}"
        assert wait.attributes["code.file.path"].endswith("/traced.php")
        assert wait.attributes["code.line.number"] == 11
    total, = ask(archive, "SELECT sum(queue_ns + read_ns + handle_ns + send_ns) FROM "
                          "server_requests WHERE label <> 'mpm-status'")
    assert sum(s.end - s.start for s in servers(spans)) == total[0]


def test_a_busy_collector_gets_them_again(server):
    apache = server("event")
    apache.get("/index.html")
    recorded(apache, 1)
    busy = [(503, {"Retry-After": "1"}, b""), (429, {"Retry-After": "1"}, b"")]
    with Collector(busy) as collector:
        said = export(collector, "--header", "X-Scope: one", apache.board,
                      env={"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer abc,x-other=2",
                           "PATH": "/usr/bin:/bin"})
    assert said.startswith("1 requests ") and len(collector.requests) == 1
    assert len(collector.headers) == 3
    assert all((h["authorization"], h["x-other"], h["X-Scope"]) == ("Bearer abc", "2", "one")
               for h in collector.headers)


@pytest.mark.parametrize("answer, status, words", [
    ((200, {}, b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}'), 1,
     "the collector refused 2 of the spans: too old"),
    ((404, {}, b"404 page not found"), 4, "receive OTLP over HTTP there"),
    ((401, {}, b'{"code": 16, "message": "no token"}'), 4, "answered 401: no token. Give"),
    ((400, {}, b"\x1b[31mred"), 4, "answered 400: ?[31mred. Its log says why"),
])
def test_what_a_collector_refuses(server, answer, status, words):
    apache = server("event")
    apache.get("/index.html")
    recorded(apache, 1)
    with Collector([answer]) as collector:
        said = export(collector, apache.board, status=status)
    assert words in said and "\x1b" not in said, said


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_a_php_without_its_apache(php_server, fpm_masters):
    php_server("event", workers=20, children=2, settings=php.settings("@ROOT@/run"))
    done = tool.run("export", "-o", "-", fpm_masters[-1].board)
    assert (done.returncode, done.stdout) == (0, "") and "found only PHP's" in done.stderr


def test_no_collector(server):
    apache = server("event")
    apache.get("/index.html")
    recorded(apache, 1)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        done = tool.run("export", "--otlp", url, apache.board)
    assert done.returncode == 4 and "nothing listens there" in done.stderr


def test_a_stuck_apache_and_what_no_output_replaces(server):
    """All workers wait for a backend that says nothing; what has ended before is exported."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        apache = server("worker", 'ProxyPass "/stuck" "http://127.0.0.1:%d/"'
                        % silent.getsockname()[1], modules=["proxy", "proxy_http"], workers=5,
                        threads=5)
        apache.allow(r"\[proxy")
        apache.get("/index.html")
        recorded(apache, 1)
        connections = [apache.connect() for _ in range(5)]
        try:
            for connection in connections:
                connection.send_request("/stuck")
            wait_until(lambda: "stuck-requests" in tool.run("explain", "--format", "json",
                                                            apache.board).stdout, 30,
                       "Apache to be stuck")
            done = tool.run("export", "-o", "-", apache.board)
            replaced = tool.run("export", "-o", apache.board, apache.board)
        finally:
            for connection in connections:
                connection.close()
    assert done.returncode == 0, done.stderr
    assert len(servers(spans_of(json.loads(done.stdout)))) == 1
    assert replaced.returncode == 2 and "would replace" in replaced.stderr


@pytest.mark.parametrize("words", [
    (), ("--otlp", "http://127.0.0.1:1", "-o", "x"), ("--otlp", "ftp://127.0.0.1"),
    ("--otlp", "collector:4318"), ("--otlp", "http://user:secret@127.0.0.1"), ("-o", ""),
    ("-o", "-", "--slowest", "-1"), ("-o", "-", "--slower-than", "500"),
    ("-o", "-", "--last", "0s"),
    ("--otlp", "http://127.0.0.1:1", "--header", "none"), ("-o", "-", "--run", "1"),
])
def test_wrong_usage(words):
    done = tool.run("export", *words)
    assert done.returncode == 2 and "See mpmstat export --help" in done.stderr, done
    assert "secret" not in done.stderr


@needs_ab
def test_runs_of_an_archive(server, archive):
    apache = server("worker")
    for count in (3, 5):
        record(apache, archive, *ab(apache, "/index.html", "-n", str(count)))
    with Collector() as collector:
        for words, count in (((), 8), (("--run", "2"), 5)):
            assert export(collector, *words, archive).startswith(f"{count} requests ")
        said = export(collector, "--run", "7", archive, status=3)
        assert 'no run "7"' in said
    total = sum(Decimal(s.end - s.start) for s in servers(spans_of(collector.requests[0])))
    assert total == ask(archive, "SELECT sum(queue_ns + read_ns + handle_ns + send_ns) FROM "
                                 "server_requests JOIN servers ON servers.id = server_id "
                                 "WHERE run_id = 1 AND label <> 'mpm-status'")[0][0]
