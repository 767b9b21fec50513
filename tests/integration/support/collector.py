"""A collector of OpenTelemetry's traces and metrics: OTLP over HTTP with JSON, strictly as the
protocol has it. And the real one (otelcol), which passes on what it gets to one of these."""
import json
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import processes
from processes import wait_until

from apache import hold_port

INTERNAL, SERVER, CLIENT = 1, 2, 3
SPAN = {"traceId", "spanId", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano",
        "endTimeUnixNano", "attributes", "status"}


def number(text):
    """OTLP's JSON has 64-bit integers as strings."""
    assert isinstance(text, str) and re.fullmatch(r"0|[1-9][0-9]*", text), text
    assert int(text) < 2 ** 64
    return int(text)


def value_of(value):
    (kind, content), = value.items()
    if kind == "intValue":
        return number(content)
    assert (kind, type(content)) in (("stringValue", str), ("boolValue", bool)), value
    return content


def attributes_of(listed):
    for attribute in listed:
        assert set(attribute) == {"key", "value"}, attribute
    names = [attribute["key"] for attribute in listed]
    assert len(names) == len(set(names)), names
    return {attribute["key"]: value_of(attribute["value"]) for attribute in listed}


class Span:
    def __init__(self, raw, resource):
        assert set(raw) <= SPAN, raw
        assert re.fullmatch("[0-9a-f]{32}", raw["traceId"]) and int(raw["traceId"], 16)
        assert re.fullmatch("[0-9a-f]{16}", raw["spanId"]) and int(raw["spanId"], 16)
        assert "parentSpanId" not in raw or re.fullmatch("[0-9a-f]{16}", raw["parentSpanId"])
        assert raw["kind"] in (INTERNAL, SERVER, CLIENT) and isinstance(raw["flags"], int)
        assert raw["status"] in ({}, {"code": 2}), raw["status"]
        self.trace, self.id, self.parent = raw["traceId"], raw["spanId"], raw.get("parentSpanId")
        self.name, self.kind, self.flags = raw["name"], raw["kind"], raw["flags"]
        self.start = number(raw["startTimeUnixNano"])
        self.end = number(raw["endTimeUnixNano"])
        assert self.start <= self.end
        self.failed = raw["status"] == {"code": 2}
        self.attributes = attributes_of(raw.get("attributes", []))   # an empty list can be left out
        self.resource = resource

    def __repr__(self):
        return f"<{self.name} {self.end - self.start} {self.attributes}>"


def spans_of(request):
    """Of an ExportTraceServiceRequest."""
    found = []
    assert set(request) == {"resourceSpans"}
    for resource_spans in request["resourceSpans"]:
        assert set(resource_spans) == {"resource", "scopeSpans"}
        resource = attributes_of(resource_spans["resource"]["attributes"])
        for scope_spans in resource_spans["scopeSpans"]:
            assert set(scope_spans) == {"scope", "spans"}
            assert scope_spans["scope"]["name"]
            found += [Span(raw, resource) for raw in scope_spans["spans"]]
    return found


def children(spans, parent):
    """In the order of time."""
    return sorted((s for s in spans if s.parent == parent.id and s.trace == parent.trace),
                  key=lambda s: (s.start, s.end))


def servers(spans):
    return [span for span in spans if span.kind == SERVER]


def assert_whole(spans, parent):
    """The children follow each other, and add up to their parent exactly."""
    at = parent.start
    for child in children(spans, parent):
        assert child.start == at, (parent, child)
        at = child.end
    assert at == parent.end, (parent, children(spans, parent))


class Point:
    """A point of a metric: `value` of a sum or a gauge, (count, sum, buckets, bounds) of a
    histogram."""

    def __init__(self, raw, kind):
        attributes = attributes_of(raw.pop("attributes"))
        self.labels = frozenset(attributes.items())
        self.start = number(raw.pop("startTimeUnixNano", "0"))
        self.time = number(raw.pop("timeUnixNano"))
        assert self.start <= self.time
        if kind == "histogram":
            buckets = [number(n) for n in raw.pop("bucketCounts")]
            bounds = raw.pop("explicitBounds")
            self.value = (number(raw.pop("count")), raw.pop("sum"), buckets, bounds)
            assert len(buckets) == len(bounds) + 1 and sum(buckets) == self.value[0]
            assert bounds == sorted(set(bounds))
        else:
            (name, value), = raw.items()
            raw.clear()
            assert (name, type(value)) in (("asInt", str), ("asDouble", Decimal)), (name, value)
            self.value = int(value) if name == "asInt" else value
        assert not raw, raw


class Metric:
    def __init__(self, raw, resource):
        self.name, self.unit = raw.pop("name"), raw.pop("unit", None)
        assert self.unit in (None, "s", "By") and isinstance(raw.pop("description"), str)
        (self.kind, data), = raw.items()
        expected = {"sum": {"isMonotonic": True, "aggregationTemporality": 2}, "gauge": {},
                    "histogram": {"aggregationTemporality": 2}}[self.kind]
        points = data.pop("dataPoints")
        assert data == expected, data
        self.points = [Point(point, self.kind) for point in points]
        assert self.points
        labels = [point.labels for point in self.points]
        assert len(labels) == len(set(labels))
        self.resource = resource


def metrics_of(request):
    """Of an ExportMetricsServiceRequest."""
    found = []
    assert set(request) == {"resourceMetrics"}
    for resource_metrics in request["resourceMetrics"]:
        assert set(resource_metrics) == {"resource", "scopeMetrics"}
        resource = attributes_of(resource_metrics["resource"]["attributes"])
        for scope_metrics in resource_metrics["scopeMetrics"]:
            assert set(scope_metrics) == {"scope", "metrics"}
            metrics = [Metric(raw, resource) for raw in scope_metrics["metrics"]]
            names = [metric.name for metric in metrics]
            assert len(names) == len(set(names))
            found += metrics
    return found


class Collector:
    """answers: what it says to the first requests of traces, as (status, headers, body); then 200.
    Outside of `with` nothing listens there, and the port remains its own, unless it is given."""

    def __init__(self, answers=(), certificate=None, port=0):
        self.answers, self.requests, self.headers = list(answers), [], []
        self.sets = []   # of metrics, the bodies as they came
        self.certificate, self.connections = certificate, []
        self.holder = None if port else hold_port()
        self.port = port or self.holder.getsockname()[1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"

    def take(self, path, body):
        """What it answers."""
        if path == "/v1/metrics":
            self.sets.append(body)
            return 200, {}, b"{}"
        if path != "/v1/traces":
            return 404, {}, b"no such path"
        answer = self.answers.pop(0) if self.answers else (200, {}, b"{}")
        if answer[0] == 200:
            self.requests.append(json.loads(body))
        return answer

    def __enter__(self):
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                collector.connections.append(self.connection)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/json"
                collector.headers.append(dict(self.headers))
                status, headers, answer = collector.take(self.path, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        for connection in self.connections:   # kept ones would be answered on
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @property
    def spans(self):
        return [span for request in self.requests for span in spans_of(request)]

    @property
    def metrics(self):
        """The latest set."""
        return metrics_of(json.loads(self.sets[-1], parse_float=Decimal))

OTELCOL = """
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:{port}
exporters:
  otlp_http:
    endpoint: {behind}
    encoding: json
    compression: none
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    traces: {{receivers: [otlp], exporters: [otlp_http]}}
"""


class OpenTelemetryCollector:
    """The real one, with the receiver `otlp` and the exporter `otlp_http`."""

    def __init__(self, program, port):
        self.program, self.port = program, port
        self.url = f"http://127.0.0.1:{port}"
        self.behind = Collector()

    def __enter__(self):
        self.root = Path(tempfile.mkdtemp(prefix="mpmstat-test-otelcol-"))
        (self.root / "config.yaml").write_text(OTELCOL.format(port=self.port,
                                                              behind=self.behind.url))
        self.behind.__enter__()
        with open(self.root / "log", "wb") as log:
            self.process = subprocess.Popen([self.program, "--config", self.root / "config.yaml"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        try:
            wait_until(self.listens, 60, lambda: "otelcol to listen:\n" + self.said())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Ends it as a crash does: what it has not passed on is lost."""
        processes.kill(self.process.pid, 9)
        processes.end(self.process, str(self.root))
        self.behind.__exit__()
        shutil.rmtree(self.root, ignore_errors=True)

    def said(self):
        return (self.root / "log").read_text(errors="replace")

    def listens(self):
        assert self.process.poll() is None, "otelcol ended:\n" + self.said()
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    @property
    def spans(self):
        return self.behind.spans
