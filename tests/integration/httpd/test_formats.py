"""/mpm-status: what it says by default, in every format, and to a wrong question.

The configuration is the least there can be: LoadModule and SetHandler.
"""
import json
import re
from decimal import Decimal

import pytest

import tool
from apache import Apache
from boards import default_records
from processes import wait_until

PHASES = ["queue", "read", "handle", "send", "total", "held", "front"]
STATES = ["idle", "reading", "handling", "sending", "keepalive", "closing"]
CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx", "aborted"]
NUMBER = (int, Decimal)
MAYBE = (int, Decimal, type(None))
TEXT = (str, type(None))

# design.md, "Names that are promises". A list of one stands for any number of such.
PROMISED_BOARD = {
    "producer": str, "mpm": TEXT, "sapi": TEXT, "board": str, "pid": int, "generation": int,
    "started": str, "uptime_seconds": NUMBER,
    "workers": {"limit": int, "busy": int, "wanted": int, "states": {s: int for s in STATES},
                "state_seconds": {s: NUMBER for s in STATES}},
    "connections": {"open": int, "accepted_total": int, "shed_total": int},
    "listeners": [{"address": str, "queue": int, "queue_limit": int}],
    "lifecycle": {"forks": {k: int for k in ("child", "request", "helper", "php")},
                  "exits": {r: int for r in ("clean", "signal", "killed", "unknown")},
                  "forks_failed": int, "no_idle_worker_seconds": MAYBE, "generations": int},
    "labels": [{"label": str, "requests": int, "bytes": int, "in_flight": int,
                "status": {c: int for c in CLASSES},
                "phases": {p: {"count": int, "sum_seconds": NUMBER, "p50_seconds": MAYBE,
                               "p90_seconds": MAYBE, "p99_seconds": MAYBE, "max_seconds": MAYBE}
                           for p in PHASES}}],
    "slots": [{"slot": int, "pid": int, "state": str, "state_for_seconds": NUMBER,
               "requests": int, "label": TEXT, "path": TEXT}],
    "journal": {"requests": {"capacity": int, "written": int},
                "lifecycle": {"capacity": int, "written": int}},
    "total_buckets": [[NUMBER]]}

# The same of OpenMetrics: family -> (type, labels besides board and producer).
PROMISED_FAMILIES = {
    "mpmstat_requests": ("counter", {"label", "class"}),
    "mpmstat_response_bytes": ("counter", {"label"}),
    "mpmstat_phase_seconds": ("histogram", {"label", "phase"}),
    "mpmstat_in_flight": ("gauge", {"label"}),
    "mpmstat_workers": ("gauge", {"state"}),
    "mpmstat_workers_limit": ("gauge", set()),
    "mpmstat_workers_wanted": ("gauge", set()),
    "mpmstat_worker_state_seconds": ("counter", {"state"}),
    "mpmstat_no_idle_worker_seconds": ("counter", set()),
    "mpmstat_connections": ("gauge", set()),
    "mpmstat_connections_shed": ("counter", set()),
    "mpmstat_listen_queue": ("gauge", {"address"}),
    "mpmstat_listen_queue_limit": ("gauge", {"address"}),
    "mpmstat_forks": ("counter", {"kind"}),
    "mpmstat_exits": ("counter", {"reason"}),
    "mpmstat_start_time_seconds": ("gauge", set()),
    "mpmstat_up": ("gauge", set()),
    "mpmstat_info": (None, {"version", "server", "mpm"})}   # sapi: PHP's boards have one

SAMPLE = re.compile(r'^(\w+)(?:\{(.*?)\})? (\S+)(?: # \{request_id="\d+"\} \S+ \S+)?$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)')
# Bounds of histograms in ns: the powers of two are promised, the others are by default.
POWERS = [2 ** e for e in range(14, 43)]
HALVES = sorted(POWERS + [2 ** e // 8 * 12 for e in range(19, 36)])
BOUNDS = sorted(POWERS + [2 ** e // 8 * (8 + n) for e in range(19, 36) for n in range(1, 8)])


@pytest.fixture(scope="module")
def apache(mpm):
    with Apache(mpm) as apache:
        for _ in range(5):
            apache.get("/")
        apache.get("/missing")
        wait_until(lambda: tool.requests(apache.status()) == 6, 5, "six requests on record")
        yield apache


def missing(promise, found, where="board"):
    """What of a promise is not there, or is of another type."""
    if isinstance(promise, dict):
        if not isinstance(found, dict):
            return [f"{where}: {found!r} is not an object"]
        return [m for key, inner in promise.items() for m in
                (missing(inner, found[key], f"{where}.{key}") if key in found
                 else [f"{where}.{key}: not there"])]
    if isinstance(promise, list):
        if not isinstance(found, list) or not found:
            return [f"{where}: {found!r} is not a list with something in it"]
        return [m for i, entry in enumerate(found)
                for m in missing(promise[0], entry, f"{where}[{i}]")]
    return [] if isinstance(found, promise) else [f"{where}: {found!r} is no {promise}"]


def samples(text):
    """[(name, labels, value)] of an exposition."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = SAMPLE.match(line)
            assert match, f"no sample: {line!r}"
            found.append((match[1], dict(LABEL.findall(match[2] or "")), Decimal(match[3])))
    return found


def test_plain_curl_gets_text(apache):
    answer = apache.get("/mpm-status")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain"), answer.headers
    lines = answer.text().splitlines()
    key = r"([A-Z]\S*|End\[[^]]+\]\S*)"
    bad = [line for line in lines if line and not re.match(f"^{key}: ?.*$", line)]
    assert not bad, bad
    pairs = dict(line.split(":", 1) for line in lines if line)
    assert lines[0] == "Board: apache", lines[0]
    assert pairs["Mpm"].strip() == apache.mpm
    assert int(pairs["Pid"]) == apache.pid
    assert "Label[test.example]Requests" in pairs, pairs.keys()


def test_json_keeps_the_promised_names(apache):
    answer = apache.get("/mpm-status?format=json")
    assert answer.headers["content-type"].startswith("application/json"), answer.headers
    boards = json.loads(answer.text(), parse_float=Decimal)["boards"]
    assert len(boards) == 1
    assert not missing(PROMISED_BOARD, boards[0])


def test_total_buckets_are_the_records(apache):
    """Each of a server's requests is in the bucket of its total; the page's own are in none."""
    totals = [record["total"] for record in apache.journal()[0] if record["label"] != "mpm-status"]
    buckets = apache.status()["total_buckets"]
    bounds = [bound for bound, _ in buckets]
    assert bounds == sorted(set(bounds)) and all(count > 0 for _, count in buckets)
    for bound, count in buckets:
        octave = max(int(bound * 10 ** 9), 512)
        width = Decimal(2 ** (octave.bit_length() - 4)) / 10 ** 9 if bound else Decimal("512e-9")
        assert sum(bound <= total < bound + width for total in totals) == count
    assert sum(count for _, count in buckets) == len(totals) == 6


def test_json_tells_what_happened(apache):
    def alone():
        """The board when all workers have begun, and only the one that answers is busy."""
        workers = (board := apache.status())["workers"]
        return board if workers["busy"] == 1 and sum(
            workers["states"].values()) == apache.workers else None
    board = wait_until(alone, 30, lambda: f"one busy worker: {apache.status()['workers']}")
    load = next(entry for entry in board["labels"] if entry["label"] == "test.example")
    assert (load["requests"], load["status"]["2xx"], load["status"]["4xx"]) == (6, 5, 1), load
    assert board["producer"] == "apache" and board["mpm"] == apache.mpm
    assert board["pid"] == apache.pid
    assert board["workers"]["limit"] == apache.workers
    assert board["workers"]["states"]["handling"] == 1, board["workers"]
    assert [listener["address"] for listener in board["listeners"]] == [
        f"127.0.0.1:{apache.port}"]
    assert board["listeners"][0]["queue_limit"] == 511
    assert board["journal"]["requests"]["capacity"] == default_records()


def test_accept_json(apache):
    answer = apache.get("/mpm-status", headers={"Accept": "application/json"})
    assert answer.headers["content-type"].startswith("application/json"), answer.headers
    json.loads(answer.text())


def test_openmetrics(apache):
    accept = "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5"
    answer = apache.get("/mpm-status", headers={"Accept": accept})
    assert answer.headers["content-type"].startswith("application/openmetrics-text"), answer
    text = answer.text()
    assert text.endswith("# EOF\n")
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    by_family = {}
    for name, labels, value in samples(text):
        family = next((f for f in (name, re.sub(r"_(total|bucket|count|sum|info)$", "", name))
                       if f in types), None)
        assert family, f"{name} has no TYPE"
        by_family.setdefault(family, []).append((name, labels, value))
        assert labels.get("producer") == "apache" and labels.get("board"), (name, labels)
    # What nobody measured is left out, never shown as 0.
    unknown = {"mpmstat_no_idle_worker_seconds"} if (
        apache.status()["lifecycle"]["no_idle_worker_seconds"] is None) else set()
    assert not unknown & by_family.keys(), unknown & by_family.keys()
    for family, (kind, wanted) in PROMISED_FAMILIES.items():
        if family in unknown:
            continue
        name = family if family in by_family else family.replace("_info", "")
        assert name in by_family, f"no {family} in {sorted(by_family)}"
        assert kind in (None, types[name]), (family, types[name])
        for _, labels, _ in by_family[name]:
            assert wanted <= labels.keys(), (family, labels)
        if kind == "counter":
            assert {n for n, _, _ in by_family[name]} == {family + "_total"}, by_family[name][0]


def test_openmetrics_histograms(apache):
    check_histograms(apache.get("/mpm-status?format=openmetrics").text(), HALVES, status=[])
    check_histograms(apache.get("/mpm-status?format=openmetrics&bounds=8").text(), BOUNDS, BOUNDS)
    check_histograms(apache.get("/mpm-status?format=openmetrics&bounds=1").text(), POWERS, POWERS)


def check_histograms(text, bounds_ns, status):
    """status: the bounds of the page's own requests."""
    series = {}
    for name, labels, value in samples(text):
        if name.startswith("mpmstat_phase_seconds"):
            key = (labels["label"], labels["phase"])
            part = series.setdefault(key, {"buckets": [], "count": None, "sum": None})
            if name.endswith("_bucket"):
                part["buckets"].append((labels["le"], value))
            else:
                part[name.rsplit("_", 1)[1]] = value
    assert {phase for label, phase in series if label == "test.example"} == set(PHASES)
    for key, part in series.items():
        bounds = [bound for bound, _ in part["buckets"]]
        expected = status if key[0] == "mpm-status" else bounds_ns
        assert bounds[-1] == "+Inf", (key, bounds)
        assert [Decimal(b) * 10 ** 9 for b in bounds[:-1]] == expected, (key, bounds)
        values = [value for _, value in part["buckets"]]
        assert values == sorted(values) and values[-1] == part["count"], (key, part)
    assert series["test.example", "total"]["count"] == 6


def test_prometheus_text(apache):
    answer = apache.get("/mpm-status", headers={"Accept": "text/plain;version=0.0.4"})
    assert "version=0.0.4" in answer.headers["content-type"], answer.headers
    names = {name for name, _, _ in samples(answer.text())}
    assert {"mpmstat_requests_total", "mpmstat_phase_seconds_bucket",
            "mpmstat_workers"} <= names, names


def test_formats_agree(apache):
    """One snapshot, one field table: the same numbers in each (of what does not move)."""
    board = apache.status()
    text = dict(line.split(": ", 1) for line in
                apache.get("/mpm-status?format=text").text().splitlines() if ": " in line)
    metrics = {(name, labels.get("label"), labels.get("class")): value for name, labels, value
               in samples(apache.get("/mpm-status?format=openmetrics").text())}
    load = next(entry for entry in board["labels"] if entry["label"] == "test.example")
    assert int(text["Label[test.example]Requests"]) == load["requests"]
    assert int(text["Label[test.example]Bytes"]) == load["bytes"]
    assert metrics["mpmstat_response_bytes_total", "test.example", None] == load["bytes"]
    for name, count in load["status"].items():
        assert metrics["mpmstat_requests_total", "test.example", name] == count, name


@pytest.mark.parametrize("query, valid", [
    ("format=xml", ["text", "json", "openmetrics", "prometheus", "journal"]),
    ("format=", ["text", "json", "openmetrics"]),
    ("colour=red", ["format"]),
    ("format=journal&since=yesterday", ["start", "now"]),
    ("format=journal&limit=-1", ["limit"]),
    ("format=journal&limit=many", ["limit"])])
def test_a_wrong_parameter_is_told_what_is_valid(apache, query, valid):
    answer = apache.get("/mpm-status?" + query)
    assert answer.status == 400, answer
    assert all(word in answer.text() for word in valid), answer.text()


def test_head(apache):
    with apache.connect() as connection:
        answer = connection.request("/mpm-status", "HEAD")
        assert answer.status == 200
        assert connection.request("/").status == 200, "no body came in between"


def test_the_tool_reads_the_same_from_file_and_url(apache):
    """Whichever way, the same board (of what one more status request does not move)."""
    url = f"http://127.0.0.1:{apache.port}/mpm-status"
    from_file, from_url = tool.status(apache.board), tool.status(url)
    for key in ("pid", "mpm", "started", "board_bytes", "producer"):
        assert from_file[key] == from_url[key], key

    def labelled(target):
        return {entry["label"]: entry for entry in tool.status(target)["labels"]}["test.example"]
    # A request of the test before may end after its answer, between the two.
    wait_until(lambda: labelled(apache.board) == labelled(url), 30,
               lambda: f"the same from both: {labelled(apache.board)}, {labelled(url)}")


def test_status_requests_have_a_label_of_their_own(apache):
    def own(board):
        return next(e for e in board["labels"] if e["label"] == "mpm-status")["requests"]

    before = apache.status()
    after = wait_until(lambda: next((b for b in [apache.status()] if own(b) > own(before)), None),
                       5, "more requests of the label mpm-status")
    assert tool.requests(before) == tool.requests(after)


@pytest.mark.mpms("event")
def test_the_tool_asks_for_bounds_and_phases(server, mpm):
    """mpmstat status, of the board and of the page."""
    apache = server(mpm)
    apache.get("/")

    def buckets(text, phase):
        return len(re.findall(rf'^mpmstat_phase_seconds_bucket{{.*test.example.*phase="{phase}"',
                              text, re.M))

    words = ("--format", "prometheus", "--bounds", "2", "--phase", "total", "--phase", "queue")
    for target in (apache.board, f"http://127.0.0.1:{apache.port}/mpm-status"):
        wait_until(lambda: "test.example" in tool.run("status", "--all", apache.board).stdout, 30,
                   "the request to be recorded")
        done = tool.run("status", *words, target)
        assert done.returncode == 0, done.stderr
        assert [buckets(done.stdout, p) for p in ("total", "queue", "handle")] == [47, 47, 1]
        for wrong in (("--bounds", "3"), ("--phase", "nap"), ("--phase", "total&x=1")):
            tool.fails(tool.run("status", "--format", "openmetrics", *wrong, target), 2)
        tool.fails(tool.run("status", "--bounds", "4", target), 2, "with metrics only")
