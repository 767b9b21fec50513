#!/usr/bin/env python3
"""dashboard.py - writes dashboard.json, Grafana's dashboard of mpmstat, from the table below.

usage: mixins/dashboard.py > mixins/dashboard.json

A panel has a title, a unit of Grafana's, a look, a description, and queries with their legends. OF
and the others are the labels that the choices at the dashboard's top select.

The tiles at the top answer what ran out in the time shown: each has the highest value of all chosen
servers. A series whose legend ends with "limit" or "wanted" is a dashed line.
"""
import json
import re
from pathlib import Path

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


def of_histogram(what, labels):
    """The sum or the count of these phases, a second."""
    return (f"(sum(rate(mpmstat_phase_seconds_{what}{{{labels}}}{RATE}))"
            f" or sum(histogram_{what}(rate(mpmstat_phase_seconds{{{labels}}}{RATE}))))")


def seconds(labels, phase):
    return of_histogram("sum", f'{labels},phase="{phase}"')


def each(seconds_a_second):
    """For each request of Apache's."""
    requests = of_histogram("count", f'{ALL},phase="total"')
    return f"{seconds_a_second} / ({requests} > 0)"


def rate(metric, labels, by):
    return f"sum by ({by}) (rate({metric}{{{labels}}}{RATE}))"


REAL = 'label!="mpm-status"'
TOTAL = f'{LABEL},{REAL},phase="total"'
BY_POOL = "instance, board, label"
BUSY = (f'sum by (instance, board) (mpmstat_workers{{{APACHE},state!="idle"}})'
        f" / sum by (instance, board) (mpmstat_workers_limit{{{APACHE}}})")
POOL_BUSY = (f"sum by ({BY_POOL}) (mpmstat_in_flight{{{POOL}}})"
             f" / sum by ({BY_POOL}) (mpmstat_pool_workers_limit{{{POOL}}})")
NO_IDLE = f"rate(mpmstat_no_idle_worker_seconds_total{{{OF}}}{RATE})"
QUEUE = (f"mpmstat_listen_queue_fullest{{{OF}}}"
         f" / ((mpmstat_listen_queue_limit{{{OF}}} / mpmstat_listen_sockets{{{OF}}}) > 0)")
ERRORS = rate("mpmstat_requests_total", f'{LABEL},{REAL},class="5xx"', "instance")
ANSWERS = rate("mpmstat_requests_total", f"{LABEL},{REAL}", "instance")
WAIT_AND_RUN = POOL + ',phase=~"php_wait|php_run"'
FAILED = f"{ERRORS} / ({ANSWERS} > 0)"
ALL = f"{APACHE},{REAL}"
PHP_WAIT, PHP_RUN = seconds(PHP, "php_wait"), seconds(PHP, "php_run")
OF_PHP = f"(({PHP_WAIT} or vector(0)) + ({PHP_RUN} or vector(0)))"
# Where PHP has more than all of `handle`, it ran on in `send`.
REST = f"clamp_min({seconds(ALL, 'handle')} - {OF_PHP}, 0)"
SEND = f"({seconds(ALL, 'send')} - clamp_min({OF_PHP} - {seconds(ALL, 'handle')}, 0))"

# Title, unit, description, from where on it is orange and red, query. Titles are short: at a width
# of 1280 there is room for 18 characters.
TILES = [
    ("Apache's workers", "percentunit", "Busy, of MaxRequestWorkers: the highest value.", (0.8, 1),
     f"max({BUSY})"),
    ("PHP's workers", "percentunit",
     "Busy, of pm.max_children, in the fullest pool: the highest value.", (0.8, 1),
     f"max({POOL_BUSY})"),
    ("No idle worker", "percentunit",
     "Part of the time in which all workers were busy and their limit was reached, of Apache or of "
     "PHP: the highest value.", (0.01, 0.1), f"max({NO_IDLE})"),
    ("Accept queue", "percentunit", "How full the fullest one is: the highest value.", (0.5, 0.8),
     f"max({QUEUE})"),
    ("Answers with 5xx", "percentunit",
     "Part of the answers, of the server that has most: the highest value.", (0.01, 0.05),
     f"max({FAILED})"),
    ("p99", "s", "Of a request's whole time, in the slowest server: the highest value.", (),
     f"max({quantile(0.99, TOTAL, 'instance')})"),
]

LINES, AREAS = "lines", "areas"   # areas are stacked: their sum means something, zeros do not
ROWS = [
    ("Fleet", [
        ("Requests a second by server", "reqps", LINES, "", [(ANSWERS, "{{instance}}")]),
        ("p99 by server", "s", LINES, "Of a request's whole time in the server.",
         [(quantile(0.99, TOTAL, "instance"), "{{instance}}")]),
        ("Workers busy by server and pool", "percentunit", LINES,
         "Of MaxRequestWorkers, and of pm.max_children.",
         [(BUSY, "{{instance}} apache"), (POOL_BUSY, "{{instance}} {{label}}")]),
        ("Time with no idle worker by server", "percentunit", LINES,
         "All workers were busy, and their limit was reached. Of Apache and of PHP.",
         [(NO_IDLE, "{{instance}} {{producer}}")]),
        ("Accept queues by server", "percentunit", LINES, "How full the fullest one is.",
         [(QUEUE, "{{instance}} {{producer}}")]),
        ("Answers with 5xx by server", "percentunit", LINES, "",
         [(FAILED, "{{instance}}")]),
    ]),
    ("Server", [
        ("Where a request's time went", "s", AREAS,
         "The mean time of Apache's requests by part. PHP's parts are shared out over all of them, "
         "also those without PHP, so that the parts sum to the whole: of all labels and pools.",
         [(each(seconds(ALL, "queue")), "queue"), (each(seconds(ALL, "read")), "read"),
          (each(PHP_WAIT), "wait for a PHP worker"), (each(PHP_RUN), "PHP"),
          (each(REST), "rest of handle"), (each(SEND), "rest of send")]),
        ("Apache's workers by state", "short", AREAS,
         "Wanted are those that would be busy if no connection waited for one.",
         [(f"sum by (state) (mpmstat_workers{{{APACHE}}})", "{{state}}"),
          (f"sum(mpmstat_workers_limit{{{APACHE}}})", "limit"),
          (f"sum(mpmstat_workers_wanted{{{APACHE}}})", "wanted")]),
        ("Connections that wait to be accepted", "short", LINES,
         "In each accept queue. Fleet has how full they are.",
         [(f"mpmstat_listen_queue{{{OF}}}", "{{instance}} {{address}}")]),
        ("Connections lost", "cps", LINES,
         "An accept queue was full: of all programs on the machine.",
         [(f"rate(mpmstat_listen_overflows_total{{{APACHE}}}{RATE})", "{{instance}}")]),
        ("Connections", "short", LINES, "",
         [(f"mpmstat_connections{{{APACHE}}}", "{{instance}} open"),
          (f"mpmstat_http2_streams{{{APACHE}}}", "{{instance}} HTTP/2 streams")]),
        ("Processes", "ops", LINES, "Starts, and ends by a signal or by being killed.",
         [(rate("mpmstat_forks_total", OF, "kind"), "start of {{kind}}"),
          (rate("mpmstat_exits_total", OF + ',reason=~"signal|killed"', "reason"),
           "end: {{reason}}")]),
    ]),
    ("Labels", [
        ("Requests a second by label", "reqps", AREAS, "",
         [(rate("mpmstat_requests_total", LABEL, "label") + " > 0", "{{label}}")]),
        ("p50, p95 and p99 by label", "s", LINES, "Of a request's whole time in the server.",
         [(f"({quantile(q, TOTAL, 'label')}) > 0",
           f"{{{{label}}}} p{q * 100:g}") for q in (0.5, 0.95, 0.99)]),
        ("Answers by class", "reqps", AREAS, "",
         [(rate("mpmstat_requests_total", f"{LABEL},{REAL}", "class") + " > 0", "{{class}}")]),
        ("Sent", "Bps", AREAS, "",
         [(rate("mpmstat_response_bytes_total", LABEL, "label") + " > 0", "{{label}}")]),
    ]),
    ("PHP", [
        ("Workers of pools", "short", LINES,
         "Busy workers, pm.max_children, and those that would be in use if no connection waited "
         "for one.",
         [(f"sum by (instance, label) (mpmstat_in_flight{{{POOL}}})"
           f" and on (instance, label) mpmstat_pool_workers_limit{{{POOL}}}",
           "{{instance}} {{label}}"),
          (f"sum by (instance, label) (mpmstat_pool_workers_limit{{{POOL}}})",
           "{{instance}} {{label}} limit"),
          (f"sum by (instance, label) (mpmstat_pool_workers_wanted{{{POOL}}})",
           "{{instance}} {{label}} wanted")]),
        ("How often a pool was full", "ops", LINES, "Looked at once a second at most.",
         [(f"rate(mpmstat_pool_limit_reached_total{{{POOL}}}{RATE})", "{{instance}} {{label}}")]),
        ("p99 of the wait for a worker and of the run", "s", LINES, "",
         [(f"({quantile(0.99, WAIT_AND_RUN, 'label, phase')}) >= 0", "{{label}} {{phase}}")]),
        ("Requests that wait, by what PHP waits for", "short", AREAS,
         "How many at once, on average.",
         [(rate("mpmstat_php_waits_seconds_total", POOL, "wait") + " > 0", "{{wait}}"),
          (rate("mpmstat_php_cpu_wait_seconds_total", POOL, "producer") + " > 0", "a CPU")]),
        ("CPU time of PHP", "percentunit", AREAS, "Of one CPU: two that are busy are 200 %.",
         [(rate("mpmstat_php_user_seconds_total", POOL, "label") + " > 0", "{{label}} user"),
          (rate("mpmstat_php_system_seconds_total", POOL, "label") + " > 0",
           "{{label}} system")]),
        ("Failures", "ops", LINES, "",
         [(rate("mpmstat_php_fatal_errors_total", POOL, "label"), "{{label}} fatal"),
          (rate("mpmstat_php_timeouts_total", POOL, "label"), "{{label}} time-out")]),
    ]),
    ("Other ends", [
        ("At once", "short", LINES,
         "Calls under way on average: backends, databases, services.",
         [(rate("mpmstat_end_seconds_total", OF + ',kind!="handler"', "kind, end") + " > 0",
           "{{kind}} {{end}}")]),
        ("Mean time of a call", "s", LINES, "",
         [(rate("mpmstat_end_seconds_total", OF + ',kind!="handler"', "kind, end") + " / "
           + rate("mpmstat_end_calls_total", OF + ',kind!="handler"', "kind, end"),
           "{{kind}} {{end}}")]),
        ("Calls a second", "ops", LINES, "",
         [(rate("mpmstat_end_calls_total", OF, "kind, end") + " > 0", "{{kind}} {{end}}")]),
        ("Failed calls", "percentunit", LINES, "",
         [(rate("mpmstat_end_failed_total", OF, "kind, end") + " / "
           + rate("mpmstat_end_calls_total", OF, "kind, end"), "{{kind}} {{end}}")]),
    ]),
]

# Name, colour, whether it is shown at first, query, text. Grafana draws what lasts as an area.
EVENTS = [
    ("Restarts", "blue", True, f"changes(mpmstat_start_time_seconds{{{OF}}}{RATE}) > 0",
     "{{producer}} restarted"),
    ("Graceful restarts", "light-blue", True,
     f"increase(mpmstat_generations_total{{{OF}}}{RATE}) > 0",
     "graceful restart"),
    ("Children died", "red", True,
     f'increase(mpmstat_exits_total{{{OF},reason=~"signal|killed"}}{RATE}) > 0',
     "a child of {{producer}} died: {{reason}}"),
    ("Workers ran out", "orange", True,
     f"increase(mpmstat_no_idle_worker_seconds_total{{{OF}}}{RATE}) > 0",
     "{{producer}} had no idle worker"),
    ("Alerts", "dark-red", False, 'ALERTS{alertname=~"Mpmstat.*",alertstate="firing"}',
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
TILE = 4                # the width and height of a tile


def fixed(colour):
    return {"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}


DASHED = {"limit": "red", "wanted": "purple"}   # by the end of the legend
# As in the report and on the live page, in light: what a series is called here, and there.
PAGES = dict(re.findall(r"--(\w+): light-dark\((#\w+)",
                        (Path(__file__).parent / "../lib/render/assets/colours.css").read_text()))
COLOURS = {name: PAGES[there] for name, there in (
    ("queue", "queue"), ("read", "read"), ("wait for a PHP worker", "php_wait"),
    ("PHP", "php_run"), ("rest of handle", "handle"), ("rest of send", "send"),
    ("reading", "read"), ("handling", "handle"), ("sending", "send"), ("keepalive", "keepalive"),
    ("closing", "closing"), ("logging", "upload"), ("idle", "idle"),
    ("database", "database"), ("cache", "cache"), ("http", "http"), ("lock", "lock"),
    ("sleep", "wait"), ("a CPU", "cpu_wait"),
)} | {"1xx": "blue", "2xx": "green", "3xx": "purple", "4xx": "orange", "5xx": "red"}
# Where the axis of a chart of zeros ends: Grafana's own would end at 100, or 10000 %.
AXIS = {"percentunit": 0.1, "s": 0.001}


def look(kind, unit):
    axis = {"axisSoftMax": AXIS.get(unit, 1)}
    if kind == LINES:
        return {"lineWidth": 2, **axis}
    return {"lineWidth": 1, "fillOpacity": 50, "stacking": {"mode": "normal", "group": "A"}, **axis}


def coloured(queries):
    """For the series that the queries name, or that they make of their labels' values."""
    legends = {legend for _, legend in queries}
    return [{"matcher": {"id": "byName", "options": name},
             "properties": [fixed(colour)]}
            for name, colour in COLOURS.items()
            if name in legends or legends & {"{{state}}", "{{class}}", "{{wait}}"}]


def dashed(queries):
    return [{"matcher": {"id": "byRegexp", "options": f"/{end}$/"},
             "properties": [
                 fixed(colour),
                 {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 6]}},
                 {"id": "custom.fillOpacity", "value": 0},
                 {"id": "custom.stacking", "value": {"mode": "none"}}]}
            for end, colour in DASHED.items()
            if any(legend.endswith(end) for _, legend in queries)]


def targets(queries):
    return [{"refId": chr(ord("A") + n), "datasource": SOURCE, "expr": expression,
             "legendFormat": legend} for n, (expression, legend) in enumerate(queries)]


def tile(number, column, title, unit, description, thresholds, query):
    colours = ("green", "orange", "red") if thresholds else ("text",)
    steps = [{"color": colour, "value": value}
             for colour, value in zip(colours, (None, *thresholds))]
    return {
        "id": number, "type": "stat", "title": title, "description": description,
        "datasource": SOURCE, "gridPos": {"x": column * TILE, "y": 0, "w": TILE, "h": TILE},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "decimals": 1, "color": {
            "mode": "thresholds"}, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": []},
        "options": {"reduceOptions": {"calcs": ["max"]}, "graphMode": "area",
                    "colorMode": "value"},
        "targets": targets([(query, "highest value")])}


def panel(number, column, top, title, unit, kind, description, queries):
    return {
        "id": number, "type": "timeseries", "title": title, "description": description,
        "datasource": SOURCE,
        "gridPos": {"x": column * WIDTH, "y": top, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": look(kind, unit)},
                        "overrides": dashed(queries) + coloured(queries)},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"},
                    "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": targets(queries)}


def panels():
    made = [tile(n + 1, n, *line) for n, line in enumerate(TILES)]
    top = TILE
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
            {"name": name, "datasource": SOURCE, "enable": shown, "iconColor": colour,
             "expr": expression, "titleFormat": title, "tagKeys": "instance,board",
             "step": "15s"}
            for name, colour, shown, expression, title in EVENTS]},
        "panels": panels(), "links": []}


if __name__ == "__main__":
    print(json.dumps(dashboard(), indent=1))
