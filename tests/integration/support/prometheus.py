"""A real Prometheus with a directory and a port of its own, on loopback.

    with Prometheus([apache.port], native=True) as prometheus:
        prometheus.query("up")
"""
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import build
import processes
from apache import hold_port
from processes import wait_until

PROGRAM = build.find("prometheus")
PROMTOOL = build.find("promtool")
SAMPLE = re.compile(r'^(\w+)\{(.*?)\} (\S+)(?: # \{request_id="\d+"\} \S+ \S+)?$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)')
ESCAPED = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def promtool(*arguments, text=None):
    """(exit status, all that it said)."""
    done = subprocess.run([PROMTOOL, *map(str, arguments)], input=text, text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def read_text(text):
    """{(name, labels): value} of Prometheus's text format, or of OpenMetrics; and {family: type}."""
    samples, types = {}, dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = SAMPLE.match(line).groups()
        labels = {key: re.sub(r"\\.", lambda m: ESCAPED[m[0]], raw)
                  for key, raw in LABEL.findall(labels)}
        if "le" in labels:
            labels["le"] = float(labels["le"])
        key = name, frozenset(labels.items())
        assert key not in samples, f"twice: {line}"
        samples[key] = float(value)
    return samples, types


class Prometheus:
    def __init__(self, servers, *, native=False, parameters=None, rules=(), path="/mpm-status",
                 settings=None, every="1s"):
        """Scrapes the servers, loopback ports or addresses; native: asks for native histograms.
        every: scrapes, and evaluates rules. parameters: of the query, name -> list of values.
        settings: of the scrape, as TLS."""
        self.root = Path(tempfile.mkdtemp(prefix="mpmstat-test-prometheus-"))
        self.holder = hold_port()
        self.port = self.holder.getsockname()[1]
        targets = [f"127.0.0.1:{server}" if isinstance(server, int) else server
                   for server in servers]
        # JSON is YAML, too.
        self.configuration = {
            "global": {"scrape_interval": every, "evaluation_interval": every},
            "rule_files": [str(rule) for rule in rules],
            "scrape_configs": [{"job_name": "mpmstat", "metrics_path": path,
                                "params": parameters or {}, **(settings or {}),
                                "static_configs": [{"targets": targets}]}]}
        features = ["exemplar-storage"] + (["native-histograms"] if native else [])
        self.features = ["--enable-feature=" + ",".join(features)]
        self.process = None

    def __enter__(self):
        (self.root / "prometheus.yml").write_text(json.dumps(self.configuration))
        log = open(self.root / "log", "ab")
        self.process = subprocess.Popen(
            [PROGRAM, f"--config.file={self.root}/prometheus.yml",
             f"--storage.tsdb.path={self.root}/data", f"--web.listen-address=127.0.0.1:{self.port}",
             "--log.level=warn", *self.features],
            env={"PATH": build.PATH, "GOMAXPROCS": "1"}, cwd=self.root, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True)
        log.close()
        try:
            wait_until(self.is_ready, 60, lambda: "Prometheus to be ready:\n" + self.said())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, traceback):
        complaint = processes.end(self.process, str(self.root))
        self.holder.close()
        shutil.rmtree(self.root, ignore_errors=True)
        assert kind is not None or not complaint, complaint

    def kill(self):
        """Entering it again starts it with the same data."""
        self.process.kill()
        self.process.wait(30)

    def said(self):
        return (self.root / "log").read_text(errors="replace")

    def is_ready(self):
        assert self.process.poll() is None, "Prometheus ended:\n" + self.said()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5):
                return True
        except OSError:
            return False

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refusal:
            raise AssertionError(f"{parameters}: {refusal.read().decode()}") from refusal

    def query(self, expression, **parameters):
        """[(labels, value)] of now, or of another time=; NaN is not a value."""
        found = self.ask("query", query=expression, **parameters)
        if found["resultType"] == "scalar":
            return [({}, float(found["result"][1]))]
        return [(row["metric"], float(row["value"][1]) if "value" in row else row["histogram"][1])
                for row in found["result"]
                if "histogram" in row or row["value"][1] != "NaN"]

    def value(self, expression, **parameters):
        """The one value of an expression; None: it has none."""
        found = self.query(expression, **parameters)
        assert len(found) < 2, (expression, found)
        return found[0][1] if found else None

    def wait_for(self, expression, enough, timeout=60):
        """Returns the expression's value when it is enough."""
        def look():
            value = self.value(expression)
            return [value] if value is not None and enough(value) else None
        return wait_until(look, timeout,
                          lambda: f"{expression}: {self.query(expression)}\n{self.said()}")[0]

    def targets_down(self):
        """What is wrong with the scrapes of targets that are not healthy."""
        return [target["lastError"] for target in self.ask("targets")["activeTargets"]
                if target["health"] != "up"]
