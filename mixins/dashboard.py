#!/usr/bin/env python3
"""dashboard.py - writes dashboard.json, Grafana's dashboard of mpmstat, from the table below.

usage: mixins/dashboard.py > mixins/dashboard.json

A panel is a line of text, a unit of Grafana's, and its queries with their legends. OF and the
others are the labels that the choices at the dashboard's top select.
"""
import json

OF = 'job=~"$job",instance=~"$instance"'
APACHE = OF + ',producer="apache"'
PHP = OF + ',producer="php"'
LABEL = APACHE + ',label=~"$label"'
POOL = PHP + ',label=~"$pool"'
RATE = "[$__rate_interval]"


def quantile(q, labels, by):
    """Of histograms with bounds, or of native ones, whichever Prometheus scrapes."""
    return (f"histogram_quantile({q}, sum by ({by}, le) "
            f"(rate(mpmstat_phase_seconds_bucket{{{labels}}}{RATE})))"
            f" or histogram_quantile({q}, sum by ({by}) "
            f"(rate(mpmstat_phase_seconds{{{labels}}}{RATE})))")


def mean(labels, by):
    return (f"(sum by ({by}) (rate(mpmstat_phase_seconds_sum{{{labels}}}{RATE}))"
            f" / sum by ({by}) (rate(mpmstat_phase_seconds_count{{{labels}}}{RATE})))"
            f" or (histogram_sum(sum by ({by}) (rate(mpmstat_phase_seconds{{{labels}}}{RATE})))"
            f" / histogram_count(sum by ({by}) (rate(mpmstat_phase_seconds{{{labels}}}{RATE}))))")


def rate(metric, labels, by):
    return f"sum by ({by}) (rate({metric}{{{labels}}}{RATE}))"


REAL = 'label!="mpm-status"'
ROWS = [
    ("Fleet", [
        ("Requests a second by server", "reqps", "",
         [(rate("mpmstat_requests_total", f"{LABEL},{REAL}", "instance"), "{{instance}}")]),
        ("Slowest hundredth by server", "s", "p99 of a request's whole time in the server.",
         [(quantile(0.99, f'{LABEL},{REAL},phase="total"', "instance"), "{{instance}}")]),
        ("Answers with 5xx by server", "percentunit", "",
         [(rate("mpmstat_requests_total", f'{LABEL},{REAL},class="5xx"', "instance") + " / "
           + rate("mpmstat_requests_total", f"{LABEL},{REAL}", "instance"), "{{instance}}")]),
        ("Time with no idle worker by server", "percentunit",
         "All workers were busy, and their limit was reached. Of Apache and of PHP.",
         [(f"rate(mpmstat_no_idle_worker_seconds_total{{{OF}}}{RATE})",
           "{{instance}} {{producer}}")]),
    ]),
    ("Server", [
        ("Apache's workers by state", "short", "",
         [(f"sum by (state) (mpmstat_workers{{{APACHE}}})", "{{state}}"),
          (f"sum(mpmstat_workers_limit{{{APACHE}}})", "limit")]),
        ("Where a request's time went", "s", "The mean time of a request by phase.",
         [(mean(f'{LABEL},{REAL},phase=~"queue|read|handle|send"', "phase"), "{{phase}}")]),
        ("Accept queues", "short", "Connections that wait to be accepted, and the room for them.",
         [(f"mpmstat_listen_queue{{{OF}}}", "{{instance}} {{address}}"),
          (f"mpmstat_listen_queue_limit{{{OF}}}", "{{instance}} {{address}} limit")]),
        ("Connections lost", "cps", "An accept queue was full: of all programs on the machine.",
         [(f"rate(mpmstat_listen_overflows_total{{{APACHE}}}{RATE})", "{{instance}}")]),
        ("Connections", "short", "",
         [(f"mpmstat_connections{{{APACHE}}}", "{{instance}} open"),
          (f"mpmstat_http2_streams{{{APACHE}}}", "{{instance}} HTTP/2 streams")]),
        ("Processes", "ops", "Starts, and ends by a signal or by being killed.",
         [(rate("mpmstat_forks_total", OF, "kind"), "start of {{kind}}"),
          (rate("mpmstat_exits_total", OF + ',reason=~"signal|killed"', "reason"),
           "end: {{reason}}")]),
    ]),
    ("Labels", [
        ("Requests a second by label", "reqps", "",
         [(rate("mpmstat_requests_total", LABEL, "label"), "{{label}}")]),
        ("Median, and slowest twentieth and hundredth", "s", "",
         [(quantile(q, f'{LABEL},{REAL},phase="total"', "label"), f"{{{{label}}}} p{q * 100:g}")
          for q in (0.5, 0.95, 0.99)]),
        ("Answers by class", "reqps", "",
         [(rate("mpmstat_requests_total", f"{LABEL},{REAL}", "class"), "{{class}}")]),
        ("Sent", "Bps", "",
         [(rate("mpmstat_response_bytes_total", LABEL, "label"), "{{label}}")]),
    ]),
    ("PHP", [
        ("Workers of pools", "short", "Busy workers, and pm.max_children.",
         [(f"sum by (instance, label) (mpmstat_in_flight{{{POOL}}})", "{{instance}} {{label}}"),
          (f"sum by (instance, label) (mpmstat_pool_workers_limit{{{POOL}}})",
           "{{instance}} {{label}} limit")]),
        ("How often a pool was full", "ops", "Looked at once a second at most.",
         [(f"rate(mpmstat_pool_limit_reached_total{{{POOL}}}{RATE})", "{{instance}} {{label}}")]),
        ("Wait for a worker and run, slowest hundredth", "s", "",
         [(quantile(0.99, f'{POOL},phase=~"php_wait|php_run"', "label, phase"),
           "{{label}} {{phase}}")]),
        ("What PHP waits for", "s", "Seconds a second: how many requests wait on average.",
         [(rate("mpmstat_php_waits_seconds_total", POOL, "wait"), "{{wait}}"),
          (rate("mpmstat_php_cpu_wait_seconds_total", POOL, "producer"), "a CPU")]),
        ("CPU time", "s", "Seconds a second: CPUs that PHP keeps busy.",
         [(rate("mpmstat_php_user_seconds_total", POOL, "label"), "{{label}} user"),
          (rate("mpmstat_php_system_seconds_total", POOL, "label"), "{{label}} system")]),
        ("Failures", "ops", "",
         [(rate("mpmstat_php_fatal_errors_total", POOL, "label"), "{{label}} fatal"),
          (rate("mpmstat_php_timeouts_total", POOL, "label"), "{{label}} time-out")]),
    ]),
    ("Other ends", [
        ("At once", "short", "Calls under way on average: backends, databases, services.",
         [(rate("mpmstat_end_seconds_total", OF + ',kind!="handler"', "kind, end"),
           "{{kind}} {{end}}")]),
        ("Mean time of a call", "s", "",
         [(rate("mpmstat_end_seconds_total", OF + ',kind!="handler"', "kind, end") + " / "
           + rate("mpmstat_end_calls_total", OF + ',kind!="handler"', "kind, end"),
           "{{kind}} {{end}}")]),
        ("Calls a second", "ops", "",
         [(rate("mpmstat_end_calls_total", OF, "kind, end"), "{{kind}} {{end}}")]),
        ("Failed calls", "percentunit", "",
         [(rate("mpmstat_end_failed_total", OF, "kind, end") + " / "
           + rate("mpmstat_end_calls_total", OF, "kind, end"), "{{kind}} {{end}}")]),
    ]),
]

EVENTS = [
    ("Restarts", "blue", f"changes(mpmstat_start_time_seconds{{{OF}}}{RATE}) > 0",
     "{{producer}} restarted"),
    ("Graceful restarts", "light-blue", f"increase(mpmstat_generations_total{{{OF}}}{RATE}) > 0",
     "graceful restart"),
    ("Children died", "red",
     f'increase(mpmstat_exits_total{{{OF},reason=~"signal|killed"}}{RATE}) > 0',
     "a child of {{producer}} died: {{reason}}"),
    ("Workers ran out", "orange",
     f"increase(mpmstat_no_idle_worker_seconds_total{{{OF}}}{RATE}) > 0",
     "{{producer}} had no idle worker"),
    ("Alerts", "dark-red", 'ALERTS{alertname=~"Mpmstat.*",alertstate="firing"}',
     "{{alertname}} {{instance}} {{label}}"),
]

CHOICES = [
    ("job", "label_values(mpmstat_start_time_seconds, job)"),
    ("instance", 'label_values(mpmstat_start_time_seconds{job=~"$job"}, instance)'),
    ("label", f"label_values(mpmstat_requests_total{{{APACHE}}}, label)"),
    ("pool", f"label_values(mpmstat_requests_total{{{PHP}}}, label)"),
]

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT = 12, 8   # of a panel; a row has 24 columns


def panel(number, column, top, title, unit, description, queries):
    return {
        "id": number, "type": "timeseries", "title": title, "description": description,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": top, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"},
                    "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [{"refId": chr(ord("A") + n), "datasource": SOURCE, "expr": expression,
                     "legendFormat": legend} for n, (expression, legend) in enumerate(queries)]}


def panels():
    made, top = [], 0
    for row, lines in ROWS:
        made.append({"id": len(made) + 1, "type": "row", "title": row, "collapsed": False,
                     "panels": [], "gridPos": {"x": 0, "y": top, "w": 24, "h": 1}})
        top += 1
        for n, line in enumerate(lines):
            made.append(panel(len(made) + 1, n % 2, top + n // 2 * HEIGHT, *line))
        top += -(-len(lines) // 2) * HEIGHT
    return made


def choice(name, query):
    return {"name": name, "label": name, "type": "query", "datasource": SOURCE,
            "definition": query, "query": {"query": query, "refId": name}, "refresh": 2,
            "includeAll": True, "multi": True, "allValue": ".*", "sort": 1,
            "current": {"text": ["All"], "value": ["$__all"]}}


def dashboard():
    source = {"name": "datasource", "label": "data source", "type": "datasource",
              "query": "prometheus", "current": {}}
    return {
        "uid": "mpmstat", "title": "mpmstat: Apache and PHP", "tags": ["mpmstat"],
        "schemaVersion": 38, "version": 1, "editable": True, "graphTooltip": 1,
        "time": {"from": "now-1h", "to": "now"}, "refresh": "30s", "timezone": "",
        "templating": {"list": [source] + [choice(*line) for line in CHOICES]},
        "annotations": {"list": [
            {"name": name, "datasource": SOURCE, "enable": True, "iconColor": colour,
             "expr": expression, "titleFormat": title, "tagKeys": "instance,board", "step": ""}
            for name, colour, expression, title in EVENTS]},
        "panels": panels(), "links": []}


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
