"""The rules, alerts and dashboard of mixins/: promtool's unit tests, and a real Prometheus that has
the data of a loaded stack."""
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import build
from processes import wait_until
from prometheus import PROGRAM, PROMTOOL, Prometheus, promtool
from test_quantiles import nap, stack

MIXINS = build.SRCDIR / "mixins"
ALERTS = (MIXINS / "alerts.yml").read_text()
DASHBOARD = json.loads((MIXINS / "dashboard.json").read_text())

# The kernel counts a process's system time by its ticks, which a short request can miss.
SYSTEM_TIME = """<?php
for ($end = hrtime(true) + 3e8; hrtime(true) < $end; clearstatcache()) {
    @lstat('/nowhere');
}
"""

needs_promtool = pytest.mark.skipif(not PROMTOOL, reason="needs prometheus")


def names_of_alerts():
    return re.findall(r"^ +- alert: (\w+)$", ALERTS, re.M)


@needs_promtool
def test_promtool_takes_the_rules():
    status, said = promtool("check", "rules", MIXINS / "rules.yml", MIXINS / "alerts.yml")
    assert status == 0 and said.count("SUCCESS") == 2, said


@needs_promtool
def test_promtool_runs_the_rules_tests():
    status, said = promtool("test", "rules", MIXINS / "tests.yml")
    assert status == 0 and "SUCCESS" in said, said


def test_each_alert_fires_in_a_test():
    cases = re.findall(r"alertname: (\w+)\n +eval_time: \w+\n +exp_alerts:\n",
                       (MIXINS / "tests.yml").read_text())
    assert sorted(set(cases)) == sorted(names_of_alerts())


def anchors(path):
    """The anchors that GitHub makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_each_alert_names_a_part_of_the_guide():
    guides = re.findall(r'^ +guide: "(\S+)#(\S+)"$', ALERTS, re.M)
    assert len(guides) == len(names_of_alerts())
    for document, anchor in guides:
        assert anchor in anchors(build.SRCDIR / document), (document, anchor)


# ---- the dashboard -----------------------------------------------------------------------------


def test_the_dashboard_is_what_its_script_writes():
    made = subprocess.run([sys.executable, MIXINS / "dashboard.py"], capture_output=True, text=True,
                          check=True)
    assert made.stdout == (MIXINS / "dashboard.json").read_text()


def panels():
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def test_the_dashboard_is_sound():
    """What Grafana expects: unique numbers, no panel over another, choices that exist."""
    assert DASHBOARD["schemaVersion"] >= 36 and DASHBOARD["uid"] and DASHBOARD["title"]
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
    choices = {choice["name"] for choice in DASHBOARD["templating"]["list"]}
    for panel in panels():
        assert panel["targets"] and panel["title"] and panel["fieldConfig"]["defaults"]["unit"]
        for target in panel["targets"]:
            used = set(re.findall(r"\$(\w+)", target["expr"])) - {"__rate_interval"}
            assert used <= choices, (panel["title"], used)
            for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                assert label in target["expr"] or label in ("instance", "producer", "address")


def filled_in(expression):
    """For all of the test: a slow machine takes minutes for it."""
    return re.sub(r"\$(\w+)", lambda name: {"__rate_interval": "1h", "job": "mpmstat"}.get(
        name[1], ".*"), expression)


def since_the_start(expression):
    """The same of the counters themselves: rate() extrapolates to the edges of its window, from
    each counter's own first value, and so by another factor for each."""
    found = re.sub(r"rate\(([^()]+)\[1h\]\)", r"\1", filled_in(expression))
    assert "rate(" not in found, found
    return found


def check_parts_of_the_time(prometheus):
    """Of 10 clients and 2 workers of PHP: a request waits longer than it runs, and what the chart
    stacks is as high as a request's whole time."""
    panel, = (panel for panel in panels() if panel["title"] == "Where a request's time went")
    of = '{phase="total",producer="apache",label!="mpm-status"}'
    seconds = f"mpmstat_phase_seconds_sum{of} or histogram_sum(mpmstat_phase_seconds{of})"
    requests = f"mpmstat_phase_seconds_count{of} or histogram_count(mpmstat_phase_seconds{of})"

    def add_up():
        """What each part is, once they are the whole: two boards are read at two moments, so that
        they are once the counters of both rest."""
        now = time.time()
        part.update({target["legendFormat"]: prometheus.value(
            since_the_start(target["expr"]), time=now) for target in panel["targets"]})
        part["whole"] = prometheus.value(f"sum({seconds}) / sum({requests})", time=now)
        return sum(part.values()) - part["whole"] == pytest.approx(part["whole"], rel=1e-6)

    part = {}
    wait_until(add_up, 60, lambda: f"parts that add up to the whole: {part}")
    assert part["wait for a PHP worker"] > 2 * part["PHP"] > 0, part


@pytest.mark.skipif(not PROGRAM, reason="needs prometheus")
@pytest.mark.mpms("event")
@pytest.mark.parametrize("native", [False, True], ids=["bounds", "native"])
def test_every_query_has_data(php_server, mpm, php_boards, native):
    """Of a stack with too few workers of PHP whose child was killed, and which was restarted."""
    with stack(php_server, mpm, php_boards, children=2) as apache:
        apache.allow("AH00052")
        nap(apache, 3, 0.001)
        with Prometheus([apache.port], native=native,
                        rules=[MIXINS / "rules.yml", MIXINS / "alerts.yml"]) as prometheus:
            prometheus.wait_for('sum(mpmstat_requests_total{producer="php"})', lambda n: n == 3)
            nap(apache, 60, 0.2, clients_=10)
            for producer in ("apache", "php"):
                prometheus.wait_for('sum(mpmstat_requests_total{label!="mpm-status",producer="'
                                    f'{producer}"}})', lambda n: n == 63)
            check_parts_of_the_time(prometheus)
            os.kill(apache.children()[0], signal.SIGKILL)
            prometheus.wait_for('sum(mpmstat_exits_total{reason=~"signal|killed"})',
                                lambda n: n == 1)
            apache.restart()
            prometheus.wait_for('mpmstat_generations_total{producer="apache"}', lambda n: n == 1)
            firing = 'ALERTS{alertname="MpmstatChildrenDying",alertstate="firing"}'
            prometheus.wait_for(f"count({firing})", lambda n: n == 1)
            # PHP's alert waits for minutes: what it looks at says which pool was full.
            (labels, times), = prometheus.query("increase(mpmstat_pool_limit_reached_total[5m]) > 0")
            assert (labels["label"], labels["instance"]) == ("www", f"127.0.0.1:{apache.port}")
            assert prometheus.value("max_over_time(mpmstat:pool_full:bool[5m])") == 1
            apache.stop()
            prometheus.wait_for("up", lambda up: up == 0)
            apache.log.unlink()     # so that start() waits for the new one's line
            apache.start()
            assert apache.get(apache.page("system.php", SYSTEM_TIME)).status == 200
            nap(apache, 2, 0.001)
            prometheus.wait_for('sum(changes(mpmstat_start_time_seconds{producer="apache"}[1h]))',
                                lambda n: n == 1)
            prometheus.wait_for('sum(rate(mpmstat_requests_total{producer="apache"}[1h]))',
                                lambda n: n > 0)
            empty = {f"{panel['title']}: {target['expr']}"
                     for panel in panels() for target in panel["targets"]
                     if not prometheus.query(filled_in(target["expr"]))}
            empty |= {f"{event['name']}: {event['expr']}"
                      for event in DASHBOARD["annotations"]["list"]
                      if not prometheus.query(filled_in(event["expr"]))}
            assert not empty, "\n".join(sorted(empty))
            recorded = re.findall(r"- record: (\S+)", (MIXINS / "rules.yml").read_text())
            assert not [name for name in recorded
                        if not prometheus.query(f"last_over_time({name}[5m])")]
            for choice in DASHBOARD["templating"]["list"]:
                values = re.match(r"label_values\((.*), (\w+)\)$", str(choice.get("definition")))
                assert choice["type"] == "datasource" or prometheus.query(
                    f"count by ({values[2]}) ({filled_in(values[1])})"), choice["name"]
