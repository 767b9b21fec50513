"""What scrapers read: Prometheus's messages decoded by Google's library, and promtool's opinion.

The golden files are one snapshot of the same boards in each format, labels of hostile names among
them, so that they can be compared sample by sample.
"""
import http.server
import math
import re
import threading
from collections import Counter
from contextlib import contextmanager

import pytest

import build
import tool
from processes import wait_until
from prometheus import PROGRAM, PROMTOOL, Prometheus, promtool, read_text

GOLDEN = build.SRCDIR / "tests" / "golden"
SCHEMA = 5

# io/prometheus/client/metrics.proto as far as it is published for these fields: message -> field
# -> (number, type, repeated).
MESSAGES = {
    "LabelPair": {"name": (1, "string"), "value": (2, "string")},
    "Gauge": {"value": (1, "double")},
    "Counter": {"value": (1, "double")},
    "Timestamp": {"seconds": (1, "int64"), "nanos": (2, "int32")},
    "Exemplar": {"label": (1, "LabelPair", True), "value": (2, "double"),
                 "timestamp": (3, "Timestamp")},
    "Bucket": {"cumulative_count": (1, "uint64"), "upper_bound": (2, "double"),
               "exemplar": (3, "Exemplar")},
    "BucketSpan": {"offset": (1, "sint32"), "length": (2, "uint32")},
    "Histogram": {
        "sample_count": (1, "uint64"), "sample_sum": (2, "double"), "bucket": (3, "Bucket", True),
        "schema": (5, "sint32"), "zero_threshold": (6, "double"), "zero_count": (7, "uint64"),
        "negative_span": (9, "BucketSpan", True), "negative_delta": (10, "sint64", True),
        "positive_span": (12, "BucketSpan", True), "positive_delta": (13, "sint64", True)},
    "Metric": {"label": (1, "LabelPair", True), "gauge": (2, "Gauge"), "counter": (3, "Counter"),
               "histogram": (7, "Histogram"), "timestamp_ms": (6, "int64")},
    "MetricFamily": {"name": (1, "string"), "help": (2, "string"), "type": (3, "int32"),
                     "metric": (4, "Metric", True)}}
TYPES = {0: "counter", 1: "gauge", 4: "histogram"}


def message_classes():
    """Classes of Google's library for the table above."""
    protobuf = pytest.importorskip("google.protobuf", reason="needs python3-protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    assert protobuf
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", syntax="proto2",
                                              package="io.prometheus.client")
    field_type = descriptor_pb2.FieldDescriptorProto
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, *repeated) in fields.items():
            made = message.field.add(name=field, number=number)
            made.label = field_type.LABEL_REPEATED if repeated else field_type.LABEL_OPTIONAL
            if kind in MESSAGES:
                made.type, made.type_name = field_type.TYPE_MESSAGE, f".io.prometheus.client.{kind}"
            else:
                made.type = getattr(field_type, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("io.prometheus.client.MetricFamily"))


def families(data):
    """The families of an exposition; nothing in it is unknown to the published messages."""
    family_class, found, at = message_classes(), [], 0
    while at < len(data):
        length = shift = 0
        while True:
            byte, at = data[at], at + 1
            length |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        family = family_class.FromString(data[at:at + length])
        assert family.ByteSize() and not unknown(family), family.name
        found.append(family)
        at += length
    assert at == len(data)
    return found


def unknown(message):
    from google.protobuf import descriptor
    return len(message.UnknownFields()) or any(
        unknown(inner) for field, value in message.ListFields()
        if field.type == descriptor.FieldDescriptor.TYPE_MESSAGE
        for inner in (value if field.label == field.LABEL_REPEATED else [value]))


def decoded(data):
    """{(name, labels): value} of messages, as the text would have it; and {family: type}."""
    samples, types = Counter(), {}
    for family in families(data):
        types[family.name] = TYPES[family.type]
        for metric in family.metric:
            labels = {pair.name: pair.value for pair in metric.label}
            for suffix, more, value in values(metric):
                key = family.name + suffix, frozenset({**labels, **more}.items())
                assert key not in samples, key
                samples[key] = value
    return samples, types


def values(metric):
    if metric.HasField("histogram"):
        h = metric.histogram
        for bucket in h.bucket:
            yield "_bucket", {"le": bucket.upper_bound}, bucket.cumulative_count
        yield "_bucket", {"le": math.inf}, h.sample_count
        yield "_count", {}, h.sample_count
        yield "_sum", {}, h.sample_sum
    else:
        yield "", {}, (metric.gauge if metric.HasField("gauge") else metric.counter).value


def native_buckets(histogram):
    """[(lower, upper, count)] as Prometheus understands it."""
    index, count, deltas = 0, 0, iter(histogram.positive_delta)
    base = 2 ** (2 ** -histogram.schema)
    for span in histogram.positive_span:
        index += span.offset
        for _ in range(span.length):
            count += next(deltas)
            assert count > 0
            yield base ** (index - 1), base ** index, count
            index += 1
    assert next(deltas, None) is None


def test_messages_have_the_samples_of_the_text():
    samples, types = decoded((GOLDEN / "boards.pb").read_bytes())
    expected, expected_types = read_text((GOLDEN / "boards.prom").read_text())
    assert types == expected_types
    assert samples.keys() == expected.keys()
    for key, value in expected.items():
        assert samples[key] == pytest.approx(value, rel=1e-12), key
    assert any('"' in value and "\n" in value for _, labels in samples for _, value in labels
               if isinstance(value, str)), "a hostile label"


def test_native_buckets_are_near_the_bounds():
    """Up to each bound, there are as many as in native buckets that are up to 7.8 % away."""
    histograms = [metric.histogram for family in families((GOLDEN / "boards.pb").read_bytes())
                  for metric in family.metric if metric.HasField("histogram")]
    assert any(h.sample_count for h in histograms)
    for h in histograms:
        native = list(native_buckets(h))
        assert h.schema == SCHEMA and h.zero_threshold == 512e-9
        assert h.zero_count + sum(count for _, _, count in native) == h.sample_count
        for bucket in h.bucket:
            bound = bucket.upper_bound
            surely, perhaps = (h.zero_count + sum(c for _, upper, c in native if upper <= limit)
                               for limit in (bound * (1 - 0.078), bound * (1 + 0.078)))
            assert surely <= bucket.cumulative_count <= perhaps, (bound, native)


@pytest.mark.skipif(not PROMTOOL, reason="needs prometheus")
@pytest.mark.parametrize("name", ["boards.prom", "php.prom"])
def test_promtool_finds_nothing_wrong(name):
    assert promtool("check", "metrics", text=(GOLDEN / name).read_text()) == (0, "")


# ---- Prometheus's own opinion ------------------------------------------------------------------

CONTENT_TYPES = {
    "boards.om": "application/openmetrics-text; version=1.0.0; charset=utf-8",
    "boards.prom": "text/plain; version=0.0.4; charset=utf-8",
    "boards.pb": "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                 "encoding=delimited"}


@contextmanager
def serving_file(name):
    """A port where every answer is a golden file."""
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            data = (GOLDEN / name).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPES[name])
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.skipif(not PROGRAM, reason="needs prometheus")
@pytest.mark.parametrize("name", CONTENT_TYPES)
def test_prometheus_takes_every_sample(name):
    """Hostile labels as they are, and none of two boards' samples in place of the other's."""
    expected, _ = read_text((GOLDEN / "boards.prom").read_text())
    with serving_file(name) as port, Prometheus([port], native=name == "boards.pb") as prometheus:
        prometheus.wait_for("up", lambda up: up == 1)
        # What Prometheus adds to each series.
        own = {"__name__", "job", "instance", "le"}
        found = {(labels["__name__"], frozenset((key, value) for key, value in labels.items()
                                                if key not in own))
                 for labels, _ in prometheus.query('{__name__=~"mpmstat_.*"}')}
        wanted = {(re.sub("_(bucket|count|sum)$", "", key[0]) if name == "boards.pb"
                   and key[0].startswith("mpmstat_phase_seconds") else key[0],
                   frozenset((label, value) for label, value in key[1]
                             if label != "le" and value != "")) for key in expected}
        assert found == wanted
        assert "duplicate" not in prometheus.said() and "out of order" not in prometheus.said()


# ---- how many series there are -------------------------------------------------------------------

def serving(server, mpm):
    """An Apache that has one request on record."""
    apache = server(mpm)
    apache.get("/")
    wait_until(lambda: tool.requests(apache.status()) == 1, 30, "a request on record")
    return apache


def series_by_label(text):
    """{label: series of mpmstat_phase_seconds}"""
    return Counter(dict(labels)["label"] for name, labels in read_text(text)[0]
                   if name.startswith("mpmstat_phase_seconds"))


@pytest.mark.mpms("event")
@pytest.mark.parametrize("query, series", [
    ("", 343), ("&bounds=8", 1057), ("&bounds=4", 581), ("&bounds=2", 343), ("&bounds=1", 224),
    ("&phase=total", 67)])
def test_series_are_as_many_as_the_guide_says(server, mpm, query, series):
    apache = serving(server, mpm)
    found = series_by_label(apache.get("/mpm-status?format=prometheus" + query).text())
    assert set(found) == {"test.example", "mpm-status", "other"}
    assert found["mpm-status"] == (series if query else 7 * 3)      # the scrapes themselves
    assert found["test.example"] == found["other"] == series
    guide = (build.SRCDIR / "docs" / "administrator.md").read_text()
    assert re.search(rf"= {series} \||\| {series} \|", guide), series


@pytest.mark.mpms("event")
def test_phases_can_be_asked_for_together(server, mpm):
    apache = serving(server, mpm)
    for query, series in (("&bounds=4&phase=total&phase=handle", 2 * 83 + 5 * 3),
                          ("&phase=php_run", 7 * 3)):
        found = series_by_label(apache.get("/mpm-status?format=prometheus" + query).text())
        assert set(found.values()) == {series}


@pytest.mark.mpms("event")
def test_a_scraper_with_native_histograms_gets_messages(server, mpm):
    """And the query counts for them, too."""
    apache = serving(server, mpm)
    accept = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
              "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,"
              "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
    for query, bounds in (("", 46), ("?bounds=8", 148), ("?bounds=1", 29), ("?phase=queue", 0)):
        answer = apache.get("/mpm-status" + query, headers={"Accept": accept})
        assert answer.headers["content-type"] == (
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
            "encoding=delimited")
        times = next(f for f in families(answer.body) if f.name == "mpmstat_phase_seconds")
        totals = [m.histogram for m in times.metric
                  if {"phase": "total", "label": "test.example"}.items()
                  <= {pair.name: pair.value for pair in m.label}.items()]
        assert [len(h.bucket) for h in totals] == [bounds]
        assert sum(count for _, _, count in native_buckets(totals[0])) == 1


@pytest.mark.mpms("prefork")
def test_an_answer_is_whole_or_none(server, mpm):
    """While it restarts, gracefully and hard: no scraper reads a part for the whole."""
    apache = server(mpm)
    whole = 0
    for n in range(12):
        apache.restart(wait=n % 3 == 0)
        try:
            answer = apache.get("/mpm-status?format=openmetrics")
        except OSError:
            continue
        if answer.status == 200:
            assert answer.text().endswith("# EOF\n")
            read_text(answer.text())
            whole += 1
    apache.wait_ready(1)
    assert whole > 0
    assert tool.status(apache.board)["running"] == "yes"
