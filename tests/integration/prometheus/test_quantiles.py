"""Prometheus's quantiles, of histograms with bounds and of native ones, against the records."""
import math
import threading
from contextlib import contextmanager

import pytest

import clients
import php
from processes import wait_until
from prometheus import PROGRAM, Prometheus

pytestmark = [pytest.mark.skipif(not PROGRAM, reason="needs prometheus"),
              pytest.mark.mpms("event")]

# Requests and how long their page sleeps: most times are alike, as with time-outs and naps of real
# pages, which is the worst case for a histogram. The quantiles' ranks are amid a group.
GROUPS = ((270, 0.02), (22, 0.15), (8, 0.354))
REQUESTS = sum(count for count, _ in GROUPS)
QUANTILES = (0.5, 0.95, 0.99)
FIRST = 3         # requests before the load, so that Prometheus knows all series when it begins

def limit(kind, q):
    """The documents' largest error of a quantile where times are alike."""
    return {"default": 0.495 if q > 0.5 else 0.25, "bounds": 0.10, "native": 0.10}[kind]


# What Prometheus is asked for, by kind of histogram.
ASKED = {
    "bounds": "histogram_quantile({q}, sum by (le) (rate(mpmstat_phase_seconds_bucket{{{of}}}[10m])))",
    "native": "histogram_quantile({q}, sum(rate(mpmstat_phase_seconds{{{of}}}[10m])))"}
ASKED["default"] = ASKED["bounds"]
COUNTED = {"bounds": "mpmstat_phase_seconds_count{{{of}}}",
           "native": "histogram_count(mpmstat_phase_seconds{{{of}}})"}
COUNTED["default"] = COUNTED["bounds"]

# (labels of Prometheus, the records' table, the time of a record)
SIDES = {
    "total": ('producer="apache",label="test.example",phase="total"', "server_requests",
              "queue_ns + read_ns + handle_ns + send_ns"),
    "handle": ('producer="apache",label="test.example",phase="handle"', "server_requests",
               "handle_ns"),
    "php_run": ('producer="php",label="www",phase="php_run"', "php_requests", "run_ns")}


@contextmanager
def stack(php_server, mpm, directory, extra="", children=20):
    """Apache and FPM whose board Apache may read."""
    directory.chmod(0o755)
    yield php_server(mpm, f'MPMStatPHPBoards "{directory}"\n{extra}', workers=25, children=children,
                     settings=php.settings(directory, group="www-data"))


def nap(apache, count, seconds, clients_=10):
    said = clients.ab(apache.port, f"/sleep.php?seconds={seconds}&spread=0", count,
                      min(count, clients_))
    assert said["complete"] == count and said["non_2xx"] == 0, said["text"]


def rank(times, q):
    return sorted(times)[math.ceil(q * len(times)) - 1]


def test_quantiles_are_the_records(php_server, mpm, php_boards):
    with stack(php_server, mpm, php_boards) as apache:
        nap(apache, FIRST, 0.001)
        with Prometheus([apache.port]) as default, \
                Prometheus([apache.port], parameters={"bounds": ["8"]}) as bounds, \
                Prometheus([apache.port], native=True) as native:
            servers = {"default": default, "bounds": bounds, "native": native}

            def wait_for(count):
                for kind, server in servers.items():
                    for of, _, _ in SIDES.values():
                        server.wait_for(COUNTED[kind].format(of=of), lambda n: n == count)

            wait_for(FIRST)
            with php.recorded(apache.board, php.board(php_boards, "fpm-fcgi")) as archive:
                for count, seconds in GROUPS:
                    nap(apache, count, seconds)
            wait_for(FIRST + REQUESTS)
            wrong = {}
            for phase, (of, table, time) in SIDES.items():
                own = f" WHERE label = '{of.split('label=')[1].split(chr(34))[1]}'"
                times = [row[0] / 1e9 for row in archive.ask(f"SELECT {time} FROM {table}" + own)]
                assert len(times) == REQUESTS
                for kind, server in servers.items():
                    for q in QUANTILES:
                        found = server.value(ASKED[kind].format(q=q, of=of))
                        expected = rank(times, q)
                        print(f"{phase} {kind} p{q * 100:g}: records {expected:.4f} s, "
                              f"Prometheus {found:.4f} s, {found / expected - 1:+.1%}")
                        if abs(found / expected - 1) > limit(kind, q):
                            wrong[phase, kind, q] = (expected, found)
            assert not wrong
            assert not any(server.targets_down() for server in servers.values())


@pytest.mark.parametrize("native", [False, True], ids=["bounds", "native"])
def test_exemplars_are_requests_of_the_journal(php_server, mpm, php_boards, native):
    """With the id, the time of the phase and the moment that the record has."""
    with stack(php_server, mpm, php_boards) as apache:
        nap(apache, 5, 0.02)
        nap(apache, 3, 0.15)
        wait_until(lambda: sum(r["label"] == "test.example" for r in apache.journal()[0]) == 8, 30,
                   "eight records")
        records = {str(r["id"]): r for r in apache.journal()[0]}
        with Prometheus([apache.port], native=native) as prometheus:
            def exemplars(of):
                name = "mpmstat_phase_seconds" + ("" if native else "_bucket")
                return [exemplar for series in prometheus.ask(
                    "query_exemplars", query=f"{name}{{{of}}}", start="0", end="9999999999")
                    for exemplar in series["exemplars"]]

            for phase in ("total", "handle"):
                of = f'producer="apache",label="test.example",phase="{phase}"'
                found = wait_until(lambda: exemplars(of), 30, "exemplars")
                times = [float(exemplar["value"]) for exemplar in found]
                # Of a native histogram, Prometheus 2.42 keeps the first one of each scrape.
                assert native or (max(times) >= 0.15 and min(times) < 0.15)
                for exemplar in found:
                    record = records[exemplar["labels"]["request_id"]]
                    assert float(exemplar["value"]) == pytest.approx(float(record[phase]), abs=1e-9)
                    assert exemplar["timestamp"] == pytest.approx(
                        float(record["start"] + record["total"]), abs=0.002)
            behind = 'producer="php",label="www",phase="php_run"'
            for exemplar in wait_until(lambda: exemplars(behind), 30, "PHP's exemplars"):
                assert exemplar["labels"]["request_id"] in records


def test_a_restart_is_a_reset_of_counters(php_server, mpm, php_boards):
    """No rate is negative or leaps, and what was counted before stays in the sum."""
    with stack(php_server, mpm, php_boards) as apache:
        of = 'producer="apache",label="test.example",class="2xx"'
        total = f"mpmstat_requests_total{{{of}}}"
        nap(apache, FIRST, 0.001)
        with Prometheus([apache.port], native=True) as prometheus:
            prometheus.wait_for(total, lambda n: n == FIRST)
            nap(apache, 50, 0.001)
            prometheus.wait_for(total, lambda n: n == FIRST + 50)
            apache.restart()
            nap(apache, 10, 0.001)
            prometheus.wait_for(total, lambda n: n == FIRST + 60)
            assert prometheus.value(f"resets({total}[10m])") == 0, "a graceful restart goes on"
            apache.stop()
            prometheus.wait_for("up", lambda up: up == 0)
            apache.log.unlink()     # so that start() waits for the new one's line
            apache.start()
            nap(apache, 20, 0.001)
            prometheus.wait_for(total, lambda n: n == 20)
            assert prometheus.value(f"resets({total}[10m])") == 1
            # increase() takes the 20 for growth from 0, and extrapolates to the window's ends.
            grown = prometheus.value(f"increase({total}[10m])")
            assert 80 <= grown < 80 * 1.5, grown
            assert all(value >= 0 for _, value in prometheus.query("rate(mpmstat_requests_total[10m])"))
            errors = prometheus.targets_down()
            assert not errors, errors


def test_saturation_of_a_pool_is_told(php_server, mpm, php_boards):
    """Limit, busy, time without an idle worker, and who waits: also for readers without rights."""
    with stack(php_server, mpm, php_boards, children=2) as apache:
        nap(apache, 1, 0.001)
        with Prometheus([apache.port]) as prometheus:
            load = threading.Thread(target=clients.ab, args=(
                apache.port, "/sleep.php?seconds=0.5&spread=0", 60, 12))
            load.start()
            try:
                prometheus.wait_for('mpmstat_in_flight{producer="php",label="www"}',
                                    lambda n: n == 2)
                prometheus.wait_for('mpmstat_listen_queue{producer="php"}', lambda n: n >= 5)
                assert prometheus.value('mpmstat_pool_workers_limit{label="www"}') == 2
                assert prometheus.value('mpmstat_workers_limit{producer="php"}') == 2
                info, _ = prometheus.query("mpmstat_listen_info")[0]
                assert info["pool"] == "www" and info["address"] == str(apache.fpm.socket)
                prometheus.wait_for('rate(mpmstat_no_idle_worker_seconds_total{producer="php"}[10s])',
                                    lambda n: n > 0.5)
                prometheus.wait_for('mpmstat_pool_limit_reached_total{label="www"}',
                                    lambda n: n > 0)
            finally:
                load.join()
            wait_until(lambda: prometheus.value('mpmstat_listen_queue{producer="php"}') == 0, 30,
                       "an empty queue")
