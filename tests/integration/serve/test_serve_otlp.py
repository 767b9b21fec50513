"""mpmstat serve --otlp: spans and metrics of running servers; the collector comes and goes."""
import json
import re
import signal
from decimal import Decimal

import pytest

import boards
import php
import tool
from collector import Collector, assert_whole, servers, spans_of
from processes import wait_until
from serving import Authority, Serving, has

ON = "MPMStatTraceContext On\n"
ALL = ("--slower-than", "0ms")


def traceparent(number, flags="01"):
    return {"traceparent": f"00-{number:032x}-{number:016x}-{flags}"}


def serving(collector, *words, **options):
    return Serving("--otlp", collector.url, "--otlp-interval", "1s", *words, **options)


def own(serving, name, value="traces"):
    label = "reason" if "missed" in name else "signal"
    suffix = "" if name in ("up", "queue_bytes") else "_total"
    return serving.sample(f'mpmstat_otlp_{name}{suffix}{{{label}="{value}"}}')


def requests_of(collector):
    return len(servers(collector.spans))


def got(collector, count, at_least=False):
    """So many requests have arrived."""
    wait_until(lambda: requests_of(collector) >= count, 60,
               lambda: f"{count} requests at the collector, {requests_of(collector)} there")
    assert at_least or requests_of(collector) == count


def ready(serving):
    """It knows which boards there are: the first metrics have been sent."""
    wait_until(lambda: own(serving, "sent", "metrics") >= 1, 30, "the first metrics")


def shape(spans):
    """All of them but when they were: the clock's offset is read anew by each program."""
    start = {span.trace: span.start for span in spans if span.kind == 2}
    return sorted((s.trace, s.id, s.parent or "", s.name, s.kind, s.flags, s.failed,
                   s.start - start[s.trace], s.end - s.start, sorted(s.attributes.items()),
                   sorted(s.resource.items())) for s in spans)


def test_the_spans_of_export(server):
    """Of the same load, and with the same rule; each request once."""
    apache = server("event", ON + "RewriteEngine On\nRewriteRule ^/fail$ - [R=500]\n",
                    modules=["rewrite"])
    apache.allow("fail")
    apache.get("/index.html")   # it was before
    wait_until(lambda: tool.requests(tool.status(apache.board)) == 1, 30, "its record")
    with Collector() as collector, serving(collector, *ALL, apache.board) as served:
        ready(served)
        for number in range(1, 6):
            apache.get("/index.html", headers=traceparent(number))
        for number in range(20):
            apache.get("/fail" if number % 2 else "/index.html")
        got(collector, 25)
        with Collector() as other:
            tool.run("export", "--otlp", other.url, *ALL, apache.board)
        ours, theirs = collector.spans, other.spans
        for span in servers(ours):
            assert_whole(ours, span)
        assert len(servers(theirs)) == 26
        known = {span.trace for span in ours}
        assert shape(ours) == shape([s for s in theirs if s.trace in known])
        assert own(served, "sent") == len(ours)
        assert own(served, "dropped") == own(served, "refused") == own(served, "up", "metrics") - 1 == 0
        assert all(own(served, "requests_missed", why) == 0 for why in ("overwritten", "full"))


@pytest.mark.parametrize("words, expected", [
    ((), {1, 2, "failed"}), (("--sampled",), {1, 2}), (("--failed",), {"failed"}),
    (("--failed", "--sampled"), {1, 2, "failed"}), (("--slower-than", "1h"), set())])
def test_which_requests(server, words, expected):
    apache = server("worker", ON + "RewriteEngine On\nRewriteRule ^/fail$ - [R=500]\n",
                    modules=["rewrite"])
    apache.allow("fail")
    with Collector() as collector, serving(collector, *words, apache.board) as served:
        ready(served)
        for _ in range(3):
            apache.get("/index.html")
        for number in (1, 2):
            apache.get("/index.html", headers=traceparent(number))
        apache.get("/index.html", headers=traceparent(3, "00"))
        apache.get("/fail")
        wait_until(lambda: len([r for r in apache.journal()[0] if r["label"] != "mpm-status"]) == 7,
                   30, "the journal")
        if expected:
            got(collector, len(expected))
        served.end()
        assert {"failed" if s.failed else int(s.trace, 16) for s in servers(collector.spans)} == \
            expected


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_what_php_did_is_in_them(php_server, fpm_masters):
    apache = php_server("event", workers=20, children=4, settings=php.settings("@ROOT@/run"))
    apache.page("nap.php", "<?php usleep(20000); echo 'ok';")
    with Collector() as collector:
        with serving(collector, *ALL, apache.board, fpm_masters[-1].board) as served:
            ready(served)
            for _ in range(8):
                apache.get("/nap.php")
            got(collector, 8)
            with Collector() as other:
                tool.run("export", "--otlp", other.url, *ALL, apache.board,
                         fpm_masters[-1].board)
            assert shape(collector.spans) == shape(other.spans)
            sleeps = [s.attributes for s in collector.spans if s.name == "sleep"]
            assert [(a["code.file.path"].rsplit("/", 1)[1], a["code.line.number"])
                    for a in sleeps] == 8 * [("nap.php", 1)]
            producers = {m.resource["service.name"] for m in collector.metrics}
            assert producers == {"apache", "php", "mpmstat"}


# ---- metrics -----------------------------------------------------------------------------


def openmetrics(served):
    """{(sample's name, labels): value}"""
    found = {}
    text = served.get("/metrics?format=openmetrics").text()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"(\w+)\{(.*?)\} (\S+)(?: # .*)?", line).groups()
        labels = frozenset(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels))
        assert (name, labels) not in found
        found[name, labels] = Decimal(value)
    return found


def as_openmetrics(metrics):
    found = {}
    for metric in metrics:
        for point in metric.points:
            if metric.kind != "histogram":
                suffix = "_total" if metric.kind == "sum" else ""
                found[metric.name + suffix, point.labels] = Decimal(point.value)
                continue
            count, total, buckets, bounds = point.value
            found[f"{metric.name}_count", point.labels] = Decimal(count)
            found[f"{metric.name}_sum", point.labels] = Decimal(total)
            below = 0
            for n, bound in zip(buckets, [*map(str, bounds), "+Inf"]):
                below += n
                found[f"{metric.name}_bucket", point.labels | {("le", bound)}] = Decimal(below)
    return found


def test_metrics_are_those_of_openmetrics():
    """Of boards that nothing happens to any more."""
    with boards.board(500, php="php.board") as board:
        with Collector() as collector, serving(collector, board.path, board.php) as served:
            wait_until(lambda: len(collector.sets) >= 2, 30, "metrics")
            latest = collector.metrics
            theirs, ours = openmetrics(served), as_openmetrics(latest)
        changing = {key for key in theirs if "_otlp_" in key[0]}
        assert len(theirs) > 1000 and changing
        assert set(ours) == set(theirs)
        different = [(key, ours[key], theirs[key]) for key in theirs
                     if ours[key] != theirs[key] and key not in changing]
        assert all("state_seconds" in name or "window" in name for (name, _), _, _ in different)
        assert {m.resource["service.instance.id"].split(":", 1)[1] for m in latest} == \
            {str(board.path), str(board.php), "mpmstat serve"}
        units = {metric.name: metric.unit for metric in latest}
        assert units["mpmstat_phase_seconds"] == "s" and units["mpmstat_requests"] is None


# ---- a collector that comes and goes -------------------------------------------------------


def test_the_collector_is_away_for_a_while(server):
    apache = server("event", ON)
    collector = Collector()
    with serving(collector, *ALL, apache.board) as served:
        wait_until(lambda: own(served, "up", "metrics") == 0, 30, "it finds no collector")
        for number in range(1, 4):
            apache.get("/index.html", headers=traceparent(number))
        wait_until(lambda: own(served, "queue_bytes") > 0, 30, "spans that wait")
        assert own(served, "sent") == 0
        with collector:
            got(collector, 3)
            wait_until(lambda: own(served, "up", "metrics") == 1, 30, "the collector's answer")
            ready(served)
        for number in range(4, 7):
            apache.get("/index.html", headers=traceparent(number))
        wait_until(lambda: own(served, "up", "metrics") == 0, 30, "it misses the collector")
        with collector:
            got(collector, 6)
            assert sorted(int(s.trace, 16) for s in servers(collector.spans)) == [*range(1, 7)]
            wait_until(lambda: own(served, "sent") == len(collector.spans), 30, "the count")
            assert own(served, "dropped") == 0


def test_more_than_it_keeps_for_a_collector_that_is_away():
    """The oldest go; all are counted. HTTP is answered all the time."""
    collector = Collector()
    with boards.board() as board, serving(collector, *ALL, board.path) as served:
        wait_until(lambda: own(served, "up", "metrics") == 0, 30, "it finds no collector")
        while own(served, "dropped") == 0:
            board.serve(2000)
        with collector:
            wait_until(lambda: own(served, "queue_bytes") == 0, 60, "an empty queue")
            served.end()
            spans = collector.spans
            ids = [s.attributes["mpmstat.request.id"] for s in servers(spans)]
            assert ids == sorted(set(ids)), "each once, in order"
            metrics = {(m.name, dict(p.labels).get("signal")): p.value
                       for m in collector.metrics for p in m.points if "_otlp_" in m.name}
        assert metrics["mpmstat_otlp_dropped", "traces"] > 0
        assert metrics["mpmstat_otlp_sent", "traces"] <= len(spans)


@pytest.mark.parametrize("answers, refused", [
    ([(503, {"Retry-After": "1"}, b""), (429, {"Retry-After": "1"}, b""), (504, {}, b"")], 0),
    ([(200, {}, b'{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}')], 2)])
def test_a_busy_collector_and_one_that_refuses_some(server, answers, refused):
    apache = server("event")
    with Collector(answers) as collector, serving(collector, *ALL, apache.board) as served:
        ready(served)
        apache.get("/index.html")
        got(collector, 1)
        wait_until(lambda: own(served, "sent") == len(collector.spans) - refused, 30, "the count")
        assert own(served, "refused") == refused and own(served, "dropped") == 0
        assert not collector.answers


def test_a_collector_that_refuses_a_request_gets_the_next(server):
    apache = server("event", ON)
    with Collector([(400, {}, b"\x1b[31mno")]) as collector:
        with serving(collector, *ALL, apache.board) as served:
            ready(served)
            apache.get("/index.html", headers=traceparent(1))
            wait_until(lambda: own(served, "refused") > 0, 30, "the refusal")
            apache.get("/index.html", headers=traceparent(2))
            got(collector, 1)
            assert int(servers(collector.spans)[0].trace, 16) == 2


# ---- boards that come and go ---------------------------------------------------------------


def test_apache_is_restarted(server, tmp_path):
    """Requests of both starts, each once; those of the new one are of another server."""
    apache = server("event", ON)
    board = tmp_path / "run" / apache.board.name   # stop() ends what has Apache's path in its words
    board.parent.symlink_to(apache.board.parent)
    with Collector() as collector, serving(collector, *ALL, board) as served:
        ready(served)
        apache.get("/index.html", headers=traceparent(1))
        got(collector, 1)
        apache.get("/index.html", headers=traceparent(2))
        apache.stop()
        apache.log.write_text("")   # start() waits for its first line
        apache.start()
        apache.get("/index.html", headers=traceparent(3))
        apache.restart()
        apache.get("/index.html", headers=traceparent(4))
        got(collector, 4)
        found = sorted(servers(collector.spans), key=lambda s: s.trace)
        assert [int(s.trace, 16) for s in found] == [1, 2, 3, 4]
        pids = [s.resource["process.pid"] for s in found]
        assert pids[0] == pids[1] != pids[2] == pids[3] == apache.status()["pid"]
        with Collector() as other:
            tool.run("export", "--otlp", other.url, *ALL, board)
        assert shape(other.spans) == shape([s for s in collector.spans
                                            if s.resource["process.pid"] == pids[3]])


def test_a_board_that_is_there_later():
    with boards.runtime_directory() as directory, Collector() as collector:
        with serving(collector, *ALL, directory):
            wait_until(lambda: collector.sets, 30, "the first metrics")
            made = boards.Board(directory / "late.board")
            try:
                made.serve(5)
                got(collector, 5)
                (directory / "none.board").write_bytes(b"\0" * 100_000)
                (directory / "pipe.board").symlink_to("/dev/zero")
                made.serve(5)
                got(collector, 10)
            finally:
                made.stop()


def test_it_is_killed(server):
    """What comes next begins where it begins, and sends nothing twice."""
    apache = server("event", ON)
    with Collector() as collector:
        with serving(collector, *ALL, apache.board) as served:
            ready(served)
            apache.get("/index.html", headers=traceparent(1))
            got(collector, 1)
            served.process.kill()
            served.process.wait()
        apache.get("/index.html", headers=traceparent(2))
        with serving(collector, *ALL, apache.board) as served:
            ready(served)
            apache.get("/index.html", headers=traceparent(3))
            got(collector, 2)
        assert [int(s.trace, 16) for s in servers(collector.spans)] == [1, 3]


def test_what_is_left_is_sent_at_the_end(server):
    apache = server("event", ON)
    with Collector() as collector, serving(collector, *ALL, apache.board) as served:
        ready(served)
        for number in range(1, 11):
            apache.get("/index.html", headers=traceparent(number))
        wait_until(lambda: len([r for r in apache.journal()[0] if r["traceparent"]]) == 10, 30,
                   "the journal")
        assert served.end() == 0
        got(collector, 10)


# ---- who may send ----------------------------------------------------------------------------


@pytest.mark.skipif(not has("openssl"), reason="needs openssl")
def test_tls_and_a_secret(server, tmp_path):
    """SIGHUP reads the file of headers again."""
    authority = Authority(tmp_path, "ca")
    headers = tmp_path / "headers"
    headers.write_text("# of the collector\nAuthorization: Bearer one\n\nX-Scope: a b\n")
    apache = server("event")
    with Collector(certificate=authority.server()) as collector:
        with serving(collector, *ALL, "--header-file", headers, "--header", "X-Other: 3",
                     "--ca-file", authority.certificate, apache.board) as served:
            ready(served)
            sent = collector.headers[0]
            assert (sent["Authorization"], sent["X-Scope"], sent["X-Other"]) == \
                ("Bearer one", "a b", "3")
            headers.write_text("nothing\n")
            served.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "remains as before" in served.said(), 30, "the complaint")
            headers.write_text("Authorization: Bearer two\n")
            served.process.send_signal(signal.SIGHUP)
            wait_until(lambda: collector.headers[-1]["Authorization"] == "Bearer two", 30,
                       "the new token")
        with serving(collector, apache.board) as served:
            wait_until(lambda: own(served, "up", "metrics") == 0, 30, "no trust without the authority")


@pytest.mark.parametrize("words, sentence", [
    (("--otlp", "127.0.0.1:4318"), "expected --otlp to be the URL of a collector"),
    (("--otlp", "http://u:p@127.0.0.1:4318"), "put them into ~/.netrc"),
    (("--otlp", "http://127.0.0.1:1", "--header", "none"), "found a header without a colon"),
    (("--otlp", "http://127.0.0.1:1", "--header-file", "/none"), "the header file /none: No such"),
    (("--otlp", "http://127.0.0.1:1", "--ca-file", "/none"), "the file of authorities /none: No"),
    (("--otlp", "http://127.0.0.1:1", "--otlp-interval", "1"), "a time with its unit"),
    (("--slower-than", "1s"), "--otlp URL is missing"),
    (("--otlp-interval", "1s"), "--otlp URL is missing")])
def test_what_is_wrong_on_the_command_line(words, sentence):
    done = tool.run("serve", *words)
    assert done.returncode == 2 and sentence in done.stderr, done.stderr


def test_without_a_collector_there_are_no_such_metrics():
    with boards.board(5) as board, Serving(board.path) as served:
        assert "otlp" not in served.get("/metrics").text()


def test_a_hanging_collector_delays_no_answer(server):
    """It takes the request, and says nothing."""
    apache = server("event")

    class Hanging(Collector):
        def take(self, path, body):
            hangs.append(path)
            wait_until(lambda: over, 120, "the test's end")
            return 200, {}, b"{}"

    hangs, over = [], []
    with Hanging() as collector:
        with serving(collector, *ALL, apache.board) as served:
            wait_until(lambda: hangs, 30, "a request at the collector")
            apache.get("/index.html")
            for path in ("/metrics", "/healthz", "/?format=json", "/explain"):
                assert served.get(path).status == 200
            assert served.end() == 0
        over.append(True)


def test_the_json_is_one_request_a_body(server):
    apache = server("event")
    with Collector() as collector, serving(collector, *ALL, apache.board) as served:
        ready(served)
        apache.get("/index.html")
        got(collector, 1)
        assert all(spans_of(request) for request in collector.requests)
        assert all(json.loads(body)["resourceMetrics"] for body in collector.sets)
