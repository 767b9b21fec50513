"""A fleet: HAProxy, 8 Apaches with a PHP-FPM each, Prometheus with the rules of mixins/, a
collector of OpenTelemetry, and a load from 4 processes. One server has half the PHP workers.

All of it is on loopback addresses in a network namespace of its own: the balancer is 127.0.0.1:80,
the servers are 127.0.0.11:80 to 127.0.0.18:80. Two programs are not packages of Debian. These
variables name them; without, the test has small ones of its own in their place:

    MPMSTAT_LOCUST    Locust's program: a master and 4 workers; else 4 of support/small_locust.py,
                      which run the same locustfile, and call mpmstat_rows.py in the same way
    MPMSTAT_OTELCOL   OpenTelemetry's Collector, with the receiver otlp and the exporter otlp_http;
                      else support/collector.py, which takes what OTLP over HTTP with JSON allows
"""
import html
import json
import math
import os
import re
import shlex
import signal
import sys
from contextlib import ExitStack

import pytest

import build
import haproxy
import php
import processes
import prometheus
import tool
from apache import Apache
from collector import Collector, OpenTelemetryCollector, assert_whole, servers
from fpm import FPM
from haproxy import HAProxy
from network import Unavailable, own_loopback
from processes import wait_until
from prometheus import Prometheus
from recording import ask, checks, has, recording
from test_lost import logged, served

MIXINS = build.SRCDIR / "mixins"
MPMSTAT_ROWS = build.SRCDIR / "contrib" / "locust" / "mpmstat_rows.py"
LOCUSTFILE = build.SRCDIR / "tests" / "integration" / "fleet" / "locustfile.py"
SMALL_LOCUST = build.SRCDIR / "tests" / "integration" / "support" / "small_locust.py"
LOCUST, OTELCOL = os.environ.get("MPMSTAT_LOCUST"), os.environ.get("MPMSTAT_OTELCOL")

SERVERS, ODD = 8, "web8"
PHP_WORKERS, FEWER = 4, 2
# A page needs no CPU. All servers get the same number of requests, so the odd one decides how many:
# its 2 workers do 17 a second. Most users wait there, and its peers have 2 of 4 workers busy.
PAGE = "/sleep.php?seconds=0.12&spread=0.06"
USERS, GENERATORS, SECONDS = 28, 4, 20
SLOW_MS = 400       # no request of the peers takes so long, unless the machine is overloaded
# The greatest error of a quantile that docs/reference/status-page.md states, and of the fleet's.
ONE_SERVER, ALL_SERVERS = 0.124, 0.10
COLLECTOR_PORT = 4318
COUNTED = "mpmstat_requests_total{class='2xx',label='test.example'}"

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm())),
    pytest.mark.skipif(not haproxy.PROGRAM, reason="needs haproxy"),
    pytest.mark.skipif(not prometheus.PROGRAM, reason="needs prometheus")]


# Ids and traces of the client; HAProxy's connections stay.
SETTINGS = """
MPMStatTrustClientId On
MPMStatTraceContext On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
"""


class Fleet:
    def __init__(self, stack, directory):
        self.directory, self.requests = directory, 0
        self.fpms, self.apaches, self.addresses = {}, {}, {}
        for number in range(1, SERVERS + 1):
            self.add(stack, f"web{number}", f"127.0.0.{10 + number}:80")
        for apache in self.apaches.values():
            # From now on its series are known.
            assert apache.get("/sleep.php?seconds=0").status == 200
        self.haproxy = stack.enter_context(HAProxy("127.0.0.1:80", self.addresses))
        self.prometheus = Prometheus(self.addresses.values(), every="2s",
                                     parameters={"bounds": ["8"]},
                                     rules=[MIXINS / "rules.yml", self.alerts()])
        stack.enter_context(self.prometheus)
        self.prometheus.wait_for(f"count({COUNTED})", lambda n: n == SERVERS)

    def add(self, stack, name, address):
        fpm = FPM(FEWER if name == ODD else PHP_WORKERS,
                  settings=php.settings("@ROOT@/run", group="www-data"))
        (fpm.root / "run").chmod(0o755)
        self.fpms[name] = stack.enter_context(fpm)
        self.apaches[name] = stack.enter_context(Apache(
            "event", f'Listen {address}\nMPMStatPHPBoards "{fpm.root}/run"\n' + SETTINGS, php="fpm",
            fpm=fpm, workers=40, threads=20))
        self.addresses[name] = address

    def alerts(self):
        """Those of mixins/, but what they report has to be so for seconds, not for minutes."""
        path = self.directory / "alerts.yml"
        path.write_text(re.sub(r"( +for: )\d+m", r"\g<1>2s", (MIXINS / "alerts.yml").read_text()))
        return path

    def targets(self):
        path = self.directory / "targets"
        path.write_text("".join(f"{name}=http://{address}/mpm-status\n"
                                for name, address in self.addresses.items()))
        return path

    def load(self, rows, seconds=SECONDS):
        """A shell's command, and its environment."""
        files = f"{shlex.quote(str(MPMSTAT_ROWS))},{shlex.quote(str(LOCUSTFILE))}"
        if LOCUST:
            locust = f"{shlex.quote(LOCUST)} -f {files} --skip-log"
            command = f"{locust} --worker & " * GENERATORS + \
                f"{locust} --master --headless --expect-workers {GENERATORS} -u {USERS} " \
                f"-r {USERS} -t {seconds}s --stop-timeout 60;"
        else:
            small = shlex.join([sys.executable, str(SMALL_LOCUST)])
            command = f"{small} {files} {USERS // GENERATORS} {seconds} & " * GENERATORS
        return f"{command} wait", {
            **os.environ, "FLEET_URL": "http://127.0.0.1:80", "FLEET_PAGE": PAGE,
            "MPMSTAT_ROWS": str(rows), "PYTHONDONTWRITEBYTECODE": "1"}

    def record(self, archive, rows):
        """The run's summary."""
        command, environment = self.load(rows)
        done = tool.run("record", "-o", archive, "--targets", self.targets(), "--format", "json",
                        "--client-rows", rows, "--", "sh", "-c", command, env=environment,
                        timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def logged(self):
        """Requests of the load, by server; the first one of each was the test's."""
        return {name: logged(apache) - 1 for name, apache in self.apaches.items()}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    with ExitStack() as stack:
        try:
            stack.enter_context(own_loopback())
        except Unavailable as reason:
            pytest.skip(str(reason))
        yield Fleet(stack, tmp_path_factory.mktemp("fleet"))


def new_collector():
    return (OpenTelemetryCollector(OTELCOL, COLLECTOR_PORT) if OTELCOL
            else Collector(port=COLLECTOR_PORT))


def export(what):
    """The slow requests of an archive, or of a board."""
    return tool.run("export", "--otlp", f"http://127.0.0.1:{COLLECTOR_PORT}", "--slower-than",
                    f"{SLOW_MS}ms", what)


APACHES = "server_requests JOIN servers ON servers.id = server_id " \
          "WHERE label <> 'mpm-status' AND ghost = 0"
TOTAL = "queue_ns + read_ns + handle_ns + send_ns"


def ids(archive, table):
    return sorted(row[0] for row in ask(archive, f"SELECT client_id FROM {table}"))


def rank(times, q):
    return sorted(times)[math.ceil(q * len(times)) - 1]


# ---- the load --------------------------------------------------------------------------------


def slow_requests(archive):
    return {f"{number:032x}": time for number, time in ask(
        archive, f"SELECT client_id, {TOTAL} FROM {APACHES} AND {TOTAL} >= {SLOW_MS * 1000000}")}


@pytest.fixture(scope="module")
def run(fleet):
    """(archive, summary) of a load with all of the fleet."""
    archive = fleet.directory / "run.db"
    return archive, fleet.record(archive, fleet.directory / "rows")


def test_each_request_is_in_the_archive_once(fleet, run):
    """As the client's rows and the access logs have it; all are joined, PHP's too."""
    archive, summary = run
    client = ids(archive, "client_requests")
    assert ask(archive, "SELECT DISTINCT status FROM client_requests") == [(200,)]
    assert client == ids(archive, APACHES) and len(set(client)) == len(client) > 0
    by_server = {s["name"]: s["requests"] for s in summary["servers"] if s["name"] in fleet.apaches}
    assert by_server == fleet.logged() and sum(by_server.values()) == len(client)
    assert max(by_server.values()) - min(by_server.values()) <= 1, "the balancer takes them in turn"
    joined = summary["client"]["joined"]
    assert (joined["by"], joined["requests"]) == ("id", len(client))
    assert ask(archive, "SELECT count(*) FROM php_requests WHERE ghost = 0") == [(len(client),)]
    assert checks(summary)["counts"] is True
    assert [g["clock_ahead_seconds"] for g in summary["generators"]] == [0] * GENERATORS
    assert sum(g["requests"] for g in summary["generators"]) == len(client)
    assert all(g["cut_short"] is False for g in summary["generators"])


def test_the_finding_names_the_odd_server(run):
    found = {f["subject"]: f for f in run[1]["findings"] if f["code"] == "odd-server"}
    assert found.keys() <= {ODD, f"{ODD}#php"}, found
    few = f"It has {FEWER} workers (pm.max_children) where most have {PHP_WORKERS}."
    assert few in found[f"{ODD}#php"]["text"] and found[f"{ODD}#php"]["certainty"] == "certain"
    assert f"{ODD}: PHP's workers ran out: all {FEWER} were busy" in run[1]["verdict"]


def test_the_cause_is_found_on_that_server(run):
    codes = [f["code"] for f in run[1]["findings"]]
    cause = next(f for f in run[1]["findings"] if f["code"] == "php-workers")
    assert (cause["server"], cause["servers"]) == (ODD, 1)
    assert cause["action"].startswith(f"{ODD}: Set pm.max_children to ")
    assert codes.index("php-workers") < codes.index("odd-server")


def test_a_server_has_its_own_php_only(run):
    """Requests of all servers have the same ids at the same time: what waited is not mixed up."""
    by_name = {server["name"]: server for server in run[1]["servers"]}
    for name, server in by_name.items():
        if "#" in name:
            apache, mean = by_name[name.split("#")[0]], server["phases"]["php_wait"]["mean_seconds"]
            assert apache["php"]["joined"] == server["joined"] == server["requests"]
            assert apache["php"]["handle"]["php_wait"]["mean_seconds"] == \
                pytest.approx(mean, rel=0.05, abs=0.001), name


def test_the_client_is_compared_with_all_servers(run):
    """Not with one of them: the odd one's users would seem to wait for what no server knows."""
    client, servers_of = run[1]["client"], run[1]["servers"]
    totals = [s["phases"]["total"] for s in servers_of if "#" not in s["name"]]
    mean = sum(t["sum_seconds"] for t in totals) / sum(t["count"] for t in totals)
    apart = client["mean_seconds"] - mean
    assert client["mean_minus_server_seconds"] == pytest.approx(apart, abs=1e-6)
    assert not [f for f in run[1]["findings"] if f["code"] == "client-beyond-server"]


def test_reports_show_each_server_and_all_together(run):
    archive, summary = run
    total = sum(s["requests"] for s in summary["servers"] if "#" not in s["name"])
    shown = {form: html.unescape(tool.report("--format", form, archive))
             for form in ("text", "md", "html")}
    for text in shown.values():
        assert all(server["name"] in text for server in summary["servers"])
        # Apaches and PHPs: what they served, and their sizing.
        assert text.count(f"all {SERVERS} together") == 4
    assert f"| Server: requests | {total} |" in shown["md"]


def test_the_quantiles_of_prometheus_are_the_records(fleet, run):
    times = {name: [] for name in fleet.apaches}
    for name, time in ask(run[0], f"SELECT name, {TOTAL} FROM {APACHES}"):
        times[name].append(time / 1e9)
    everything = sum(times.values(), [])
    fleet.prometheus.wait_for(f"sum({COUNTED})", lambda n: n == len(everything) + SERVERS)
    now = fleet.prometheus.value("time()")
    rule = "mpmstat:server_total_seconds:p99_rate5m"
    fleet.prometheus.wait_for(f"min(timestamp({rule}))", lambda at: at > now)
    found = {labels["instance"]: value for labels, value in fleet.prometheus.query(rule)}
    errors = {name: found[fleet.addresses[name]] / rank(times[name], 0.99) - 1 for name in times}
    of_all = fleet.prometheus.value(
        "histogram_quantile(0.99, sum by (le) (rate(mpmstat_phase_seconds_bucket{"
        "producer='apache',phase='total',label='test.example'}[5m])))") / rank(everything, 0.99) - 1
    print({name: f"{error:+.1%}" for name, error in errors.items()}, f"all {of_all:+.1%}")
    assert abs(of_all) <= ALL_SERVERS
    assert all(abs(error) <= ONE_SERVER for error in errors.values()), errors


def test_the_alerts_name_the_odd_server(fleet, run):
    fired = {}
    for labels, _ in fleet.prometheus.query('count_over_time(ALERTS{alertstate="firing"}[5m])'):
        fired.setdefault(labels["alertname"], set()).add(labels["instance"])
    assert fired.keys() >= {"MpmstatOddServer", "MpmstatPHPWorkersRanOut"}, fired
    assert all(instances == {fleet.addresses[ODD]} for instances in fired.values()), fired


def test_spans_of_slow_requests_arrive(run):
    """Each slow request of the archive once, in the trace of the client that sent it."""
    archive = run[0]
    slow = slow_requests(archive)
    with new_collector() as collector:
        done = export(archive)
        assert done.returncode == 0, done.stderr
        wait_until(lambda: len(servers(collector.spans)) >= len(slow), 30, "the spans")
        spans = collector.spans
    arrived = {span.trace: span.end - span.start for span in servers(spans)}
    assert arrived == slow and len(servers(spans)) == len(slow) > 0
    for span in servers(spans):
        assert span.parent == span.trace[16:]
        assert_whole(spans, span)


# ---- one after the other is killed -------------------------------------------------------------


def killed(apache):
    """Without a word: the parent and all its children at once."""
    for pid in processes.session_members(apache.process.pid, str(apache.root)):
        processes.kill(pid, signal.SIGKILL)
    apache.process.wait(30)


def test_what_is_killed_loses_its_own_only(fleet, run):
    """An Apache, Prometheus and the collector, while a load is recorded."""
    archive, rows, victim = fleet.directory / "killed.db", fleet.directory / "killed.rows", "web3"
    before, peers = fleet.logged(), [name for name in fleet.apaches if name != victim]
    options = ["--targets", fleet.targets(), "--format", "json", "--client-rows", rows]
    command, environment = fleet.load(rows, SECONDS // 2)
    with recording(archive, "sh", "-c", command, targets=(), environment=environment,
                   options=options) as started:
        with new_collector() as collector:
            wait_until(lambda: has(archive, "server_requests", 200), 60, "the load")
            assert export(fleet.apaches[ODD].board).returncode == 0
            wait_until(lambda: collector.spans, 30, "spans while the load runs")
        killed(fleet.apaches[victim])
        wait_until(lambda: ask(archive, "SELECT 1 FROM notes WHERE text LIKE '%refused%'"), 30,
                   "its loss to be noted")
        done = export(fleet.apaches[ODD].board)
        assert done.returncode == 4 and "nothing listens there" in done.stderr
        moment = fleet.prometheus.value("time()") - 2
        known = fleet.prometheus.value(f"sum({COUNTED})", time=moment)
        fleet.prometheus.kill()
        out, err = started.communicate(timeout=120)
        assert started.returncode == 0, err
    took = {name: count - before[name] for name, count in fleet.logged().items()}
    client = dict(ask(archive, "SELECT client_id, status FROM client_requests"))
    recorded = ids(archive, APACHES)
    assert len(set(recorded)) == len(recorded) and set(recorded) <= set(client)
    assert {name: served(archive, name) for name in peers} == {name: took[name] for name in peers}
    # Of the victim: what it logged since the last look. Requests under way there had no answer.
    answered = {number for number, status in client.items() if status == 200}
    assert len(answered - set(recorded)) <= took[victim] - served(archive, victim)
    assert len(client) - len(answered) <= USERS
    lost = [row[0] for row in ask(archive, "SELECT text FROM notes WHERE text LIKE '%was lost %'")]
    assert {text.split(" ")[0].split("#")[0] for text in lost} == {victim}
    assert all(text in err and "it did not come back" in text for text in lost)
    # What is known of the others is judged, each with its own PHP, though one PHP lost its Apache.
    found = [f["text"] for f in json.loads(tool.report("--format", "json", archive))[0]["findings"]
             if f["code"] == "php-workers" and f["server"] == ODD]
    assert found and f"all {FEWER} were busy" in found[0], found
    # The collector was gone: the archive has the requests, and a new one gets all.
    with new_collector() as collector:
        assert export(archive).returncode == 0
        slow = len(slow_requests(archive))
        wait_until(lambda: len(servers(collector.spans)) == slow > 0, 30, "the spans")
    # Prometheus has what it had, and counts on where the servers are.
    with fleet.prometheus:
        assert fleet.prometheus.value(f"sum({COUNTED})", time=moment) == known
        on_peers = COUNTED.replace("}", f",instance!='{fleet.addresses[victim]}'}}")
        total = sum(fleet.logged()[name] + 1 for name in peers)
        fleet.prometheus.wait_for(f"sum({on_peers})", lambda n: n == total)
