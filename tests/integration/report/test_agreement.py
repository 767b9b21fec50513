"""All outputs of one archive tell the same: the parts below a row add up to that row, the same part
has the same name and the same time everywhere, and a finding's share is the table's."""
import csv
import io
import json
import os
import re
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

import build
import php
import tool
from agreement import (NAMES, PARTS, PHASES, RUN, is_close, load_script, printed_seconds,
                       real_servers)
from planted_archive import EVERY_US, PHP, Apache, make

COUNT = 40


# ---- archives --------------------------------------------------------------------------------


def streams():
    """PHP goes on while its answer is sent, and while clients and network take what came before."""
    apache = {"queue_ns": 100, "read_ns": 20, "handle_ns": 20_000, "send_ns": 100_000,
              "checks_ns": 50, "backend_ns": 19_900, "send_client_ns": 10_000,
              "send_network_ns": 10_000, "send_server_ns": 80_000, "backend": "fcgi://www"}
    php = {"after": 5200, "wait_ns": 5000, "run_ns": 90_500, "user_ns": 30_000, "system_ns": 2000,
           "cpu_wait_ns": 1000, "waits": {"database": 40_000, "sleep": 15_000}}
    return [Apache([apache] * COUNT), PHP([php] * COUNT)]


def half_and_half():
    """Every second request is FPM's, the others are an HTTP backend's."""
    fpm = {"queue_ns": 10, "read_ns": 10, "handle_ns": 11_000, "send_ns": 100, "checks_ns": 20,
           "backend_ns": 10_900, "backend": "fcgi://www"}
    http = {**fpm, "handle_ns": 31_000, "backend_ns": 30_900, "backend": "http://app"}
    php = [{"after": 1200 + i * EVERY_US, "wait_ns": 1000, "run_ns": 9500, "user_ns": 2000,
            "request_id": 2 * i + 1, "waits": {"http": 7000}} for i in range(COUNT)]
    return [Apache([fpm, http] * COUNT), PHP(php)]


def tls_and_http2():
    apache = {"queue_ns": 3000, "h2_wait_ns": 2500, "read_ns": 5000, "tls_ns": 4800,
              "handle_ns": 2000, "checks_ns": 1500, "send_ns": 10, "handler": "default-handler"}
    return [Apache([apache, {**apache, "tls_ns": 0, "h2_wait_ns": 0}] * COUNT)]


def slow_readers():
    apache = {"read_ns": 10, "handle_ns": 60_000, "upload_ns": 50_000, "checks_ns": 20,
              "send_ns": 200_000, "send_client_ns": 150_000, "send_network_ns": 40_000,
              "send_server_ns": 9_000, "undelivered_ns": 5000, "log_ns": 20,
              "handler": "default-handler"}
    return [Apache([apache] * COUNT)]


def php_alone():
    php = {"wait_ns": 40_000, "run_ns": 30_000, "user_ns": 5000, "cpu_wait_ns": 500,
           "waits": {"database": 20_000, "cache": 2000}}
    return [PHP([php] * 2 * COUNT)]


def fleet():
    """Two Apaches, and a PHP that serves the first of them."""
    one = {"queue_ns": 10, "read_ns": 10, "handle_ns": 9000, "send_ns": 100}
    return [Apache([one] * COUNT, target="http://one/mpm-status"),
            Apache([{**one, "handle_ns": 4000}] * COUNT, target="http://two/mpm-status"),
            PHP([{"after": 500, "wait_ns": 400, "run_ns": 8000, "user_ns": 8000}] * COUNT)]


def thinned():
    apache, php = streams()
    return [Apache([{**r, "weight": 1 + i % 7} for i, r in enumerate(apache.requests)]),
            PHP([{**r, "weight": 1 + i % 7} for i, r in enumerate(php.requests)])]


def repeated():
    """Apache hands a request to PHP twice; what they report is longer than the request."""
    apache = {"handle_ns": 10_000, "send_ns": 1000, "upload_ns": 9000, "checks_ns": 4000,
              "backend_ns": 9000}
    first = {"after": 100, "wait_ns": 50, "run_ns": 9000, "user_ns": 9000}
    again = [{**first, "key": COUNT + i, "after": 2000 - COUNT * EVERY_US, "request_id": i + 1}
             for i in range(COUNT)]
    return [Apache([apache] * COUNT), PHP([first] * COUNT + again)]


# ---- real loads --------------------------------------------------------------------------------


def record_real(path, directory):
    with real_servers() as (apache, fpm):
        targets = directory / "targets"
        targets.write_text(f"one={apache.board}\ntwo={fpm.board}\n")
        tool.run("record", "-o", path, "--targets", targets, "--", "sh", "-c",
                 load_script(apache, directory), timeout=120)
    return path


def try_wordpress(path, stack):
    """WordPress with its own MariaDB; some of its requests are for a page that is not there."""
    done = tool.run("lab", "try", stack, "wordpress", "PHP_WORKERS=4", "-o", path, "--", "sh", "-c",
                    "ab -q -l -n 30 -c 6 ${URL} && ab -q -l -n 10 -c 6 ${URL}not-there",
                    timeout=180)
    if "packages are missing" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return path


CASES = [streams, half_and_half, tls_and_http2, slow_readers, php_alone, fleet, thinned, repeated]


WITHOUT_SANITIZERS = pytest.mark.skipif(
    build.SANITIZE, reason="the lab's servers run without sanitizers")
REAL = ["real", *(pytest.param(f"wordpress {stack}", marks=WITHOUT_SANITIZERS)
                  for stack in ("event-fpm", "prefork-modphp"))]
# Recordings of this machine's own servers, or of other tests, are checked where this names them.
MORE = os.environ.get("MPMSTAT_ARCHIVES", "").split()


@pytest.fixture(scope="module",
                params=[case.__name__ for case in CASES] + ["version_1", *REAL, *MORE])
def archive(request, tmp_path_factory):
    if request.param in MORE:
        return Path(request.param)
    directory = tmp_path_factory.mktemp("agreement")
    path = directory / "run.db"
    if request.param.startswith("wordpress "):
        return try_wordpress(path, request.param.split()[1])
    if request.param == "real":
        if php.why_not_fpm() is not None:
            pytest.skip(str(php.why_not_fpm()))
        return record_real(path, directory)
    if request.param == "version_1":     # of mpmstat 0.1.0
        with sqlite3.connect(path) as db:
            db.executescript((build.SRCDIR / "tests/cases/archive/version-1.sql").read_text())
        return path
    return make(path, globals()[request.param]())


@pytest.fixture(scope="module")
def servers(archive):
    """Of the first run: {what it is called: its object in JSON}, with requests."""
    summary, *_ = json.loads(tool.report("--format", "json", archive), parse_float=Decimal)
    found = {s["name"] or s["target"]: s for s in summary["servers"] if s["requests"] > 0}
    assert found
    return found


def seconds(server, name):
    """A part's sum."""
    part = server["parts"].get(name)
    return part["sum_seconds"] if part else Decimal(0)


def front(servers):
    apaches = [s for s in servers.values() if s["producer"] == "apache"]
    return max(apaches or servers.values(), key=lambda s: s["requests"])


@pytest.mark.parametrize("form", ["text", "md", "html", "csv"])
def test_what_is_not_known_is_not_null(archive, form):
    """C's printf() writes (null) for a text that is not there."""
    said = tool.report("--format", form, "-o", "-", archive)
    assert "(null)" not in re.sub("<script.*?</script>", "", said, flags=re.S)


# ---- JSON is the reference -------------------------------------------------------------------


def test_parts_add_up_in_json(servers):
    for server in servers.values():
        total = server["phases"]["total"]["sum_seconds"]
        assert sum(seconds(server, name) for name in NAMES) == total > 0
        assert set(server["parts"]) <= set(NAMES)
        run = sum(seconds(server, name) for name in RUN)
        if server["producer"] == "php":
            assert run == server["phases"]["php_run"]["sum_seconds"]
            assert seconds(server, "php_wait") == server["phases"]["php_wait"]["sum_seconds"]
            continue
        of_php = server.get("php") or {}
        runs = {phase: (of_php.get(phase) or {}).get("php_run") for phase in ("handle", "send")}
        runs = {phase: times["sum_seconds"] if times else Decimal(0) for phase, times in runs.items()}
        assert sum(runs.values()) == run
        for phase in PHASES:
            within = sum(seconds(server, name) for inside, name in PARTS if inside == phase.upper())
            assert within + runs.get(phase, 0) == server["phases"][phase]["sum_seconds"], phase


# By the rule of docs/measuring.md, by hand: milliseconds of a request.
PLANTED = {
    # 14.92 of PHP's 90.5 lie in handle, 75.58 in send. It was certainly active for 88, of which 14.92
    # fit into handle: 73.08 of send are its. Then client and network have theirs, and the rest of
    # PHP's run what is left of its 75.58.
    "streams": {"queue": "0.1", "read": "0.02", "checks": "0.05", "php_wait": "5", "database": "40",
                "sleep": "15", "cpu": "32", "cpu_wait": "1", "rest": "2.5", "handle": "0.03",
                "send_client": "10", "send_network": "10", "send_server": "4.42"},
    "half_and_half": {"php_wait": "0.5", "http": "3.5", "cpu": "1", "rest": "0.25",
                      "backend": "15.65"},
    "tls_and_http2": {"queue": "1.75", "h2_wait": "1.25", "tls": "2.4", "read": "2.6"},
    "slow_readers": {"upload": "50", "handle": "9.98", "send_client": "150", "send_network": "40",
                     "send_server": "9", "send": "1"},
    "php_alone": {"php_wait": "40", "database": "20", "cache": "2", "cpu": "5", "cpu_wait": "0.5",
                  "rest": "2.5"},
    "repeated": {"cpu": "11", "upload": None, "backend": None},
}


@pytest.mark.parametrize("case", PLANTED)
def test_planted_parts(case, tmp_path):
    path = make(tmp_path / "run.db", globals()[case]())
    (summary,) = json.loads(tool.report("--format", "json", path), parse_float=Decimal)
    server = summary["servers"][0]
    found = {name: seconds(server, name) * 1000 / server["requests"] for name in PLANTED[case]}
    assert found == {name: Decimal(wanted or 0) for name, wanted in PLANTED[case].items()}


# ---- the others ------------------------------------------------------------------------------


ROW = re.compile(r"  (\| )?(\w+) +([\d.]+ \w+|0) +.* ([\d.]+) %")


def text_tables(archive, target):
    """Of the text: {target: [(is below a phase, name, mean in seconds, share in %)]}. The only target
    is not named."""
    tables, rows, begun = {}, None, ""
    for line in tool.report("--format", "text", archive).splitlines():
        if begun:    # a long path: the rest of its heading is in the next line
            line = f"  {begun}{' ' if begun[-1] == ':' else ''}{line.strip()}"
        begun = line.strip() if re.fullmatch(r"  /\S+", line) else ""
        if heading := re.match(r"  (\S+): (apache|php)", line):
            target = heading[1]
        elif line.startswith("  phase "):
            rows = tables.setdefault(target, [])
        elif rows is not None and (found := ROW.match(line)):
            level, name, mean, share = found.groups()
            rows.append((bool(level), name, printed_seconds(mean), Decimal(share)))
        else:
            rows = None
    return tables


def row_of(name):
    """What the text calls a part: beneath its phase."""
    return "other" if name in PHASES else name.removeprefix("send_")


def test_text_says_the_same(archive, servers):
    tables = text_tables(archive, next(iter(servers)))
    assert set(tables) == set(servers)
    for target, server in servers.items():
        total, rows = server["phases"]["total"]["mean_seconds"], tables[target]
        means = {name: mean for is_part, name, mean, _ in rows if not is_part}
        below = {}
        for is_part, name, mean, _ in rows:
            if not is_part:
                phase = name
            elif phase != "held":
                below.setdefault(phase, []).append((name, mean))
        for phase, parts in below.items():
            assert is_close(sum(mean for _, mean in parts), means[phase], Decimal("0.02")), parts
        is_php = server["producer"] == "php"
        if not is_php:
            run = sum(seconds(server, name) for name in RUN) / server["requests"]
            assert is_close(sum(mean for parts in below.values() for name, mean in parts
                                if name == "php_run"), run, Decimal("0.02"))
            assert is_close(means.get("php_run", 0), run)
        for name, times in server["parts"].items():
            mean = times["sum_seconds"] / server["requests"]
            alike = [share for _, shown, other, share in rows
                     if shown in (name, row_of(name)) and is_close(other, mean)]
            alike += [share for _, shown, other, share in rows     # all of it is one part
                      if shown == "php_run" and name in RUN and is_close(other, mean)]
            assert mean < Decimal("1e-8") or \
                any(abs(share - 100 * mean / total) <= Decimal("0.2") for share in alike), (name, rows)


def test_the_page_says_the_same(archive, servers, tmp_path):
    tool.report("-o", tmp_path / "page.html", archive)
    page = (tmp_path / "page.html").read_text()
    table = re.search(r'<table class="phases">.*?</table>', page, re.DOTALL)[0]
    rows = re.findall(r'<tr><th scope="row"><span class="swatch \w+"></span>(\w+)</th>(.*?)</tr>',
                      table, re.DOTALL)
    server, count = front(servers), 0
    for name, cells in rows:
        if name not in server["parts"]:
            continue
        value = re.search(r'<data value="([\d.]+)"', cells)
        assert Decimal(value[1]) == server["parts"][name]["mean_seconds"], name
        count += 1
    assert count == len(server["parts"]), rows
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page,
                                re.DOTALL)[1], parse_float=Decimal)
    summary = data["summaries"][0]
    again = {s["name"] or s["target"]: s["parts"] for s in summary["servers"] if s["requests"] > 0}
    assert again == {target: s["parts"] for target, s in servers.items()}


def test_markdown_says_the_same(archive, servers):
    """The first run's table of parts; "Where the time went" is also the name of a group of numbers,
    so the heading's level is asked for."""
    text = tool.report("--format", "md", archive)
    section = text.split("#### Where the time went\n", 1)[1]
    table = section.split("\n\n| part |", 1)[1].split("\n\n")[0]
    server, count = front(servers), 0
    for name, mean in re.findall(r"^\| (\w+) \| ([^|]*) \|", table, re.MULTILINE):
        if name in server["parts"]:
            assert is_close(printed_seconds(mean), server["parts"][name]["mean_seconds"]), name
            count += 1
    assert count == len(server["parts"]), table


def test_the_chart_adds_up(archive, servers, tmp_path):
    """Each bin's parts are the mean latency of its requests."""
    tool.report("-o", tmp_path / "page.html", archive)
    page = (tmp_path / "page.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page,
                                re.DOTALL)[1])
    seen = 0
    for run in data["runs"]:
        for server in run["servers"]:
            parts, over = server["parts"], server["over_time"]
            for i, mean in enumerate(over["mean"]):
                if mean is None:
                    continue
                found = [parts[name][i] for name in NAMES if parts.get(name)]
                assert sum(value or 0 for value in found) == pytest.approx(mean, rel=1e-5, abs=2e-9)
                seen += 1
    assert seen > 0


def test_csv_says_the_same(archive, servers):
    """Phases, of all front servers together; and intervals as they were measured: they overlap, as
    JSON's do."""
    row, *_ = csv.DictReader(io.StringIO(tool.report("--format", "csv", archive)))
    fronts = [s for s in servers.values() if s["producer"] == front(servers)["producer"]]
    requests, seen = sum(s["requests"] for s in fronts), 0
    for kind in ("phases", "intervals"):
        for name in fronts[0].get(kind, {}):
            times = [s[kind][name] for s in fronts if s[kind].get(name, {}).get("count")]
            if len(times) == len(fronts) and f"{name}_mean_seconds" in row:
                mean = sum(t["sum_seconds"] for t in times) / requests
                assert abs(Decimal(row[f"{name}_mean_seconds"]) - mean) <= Decimal("1e-9"), name
                seen += 1
    assert seen >= (2 if fronts[0]["producer"] == "php" else 5), row


def csv_parts(archive):
    """Each run's row, and its means of the parts."""
    rows = list(csv.DictReader(io.StringIO(tool.report("--format", "csv", archive))))
    return rows, [{name: Decimal(row[f"part_{name}_mean_seconds"] or 0) for name in NAMES}
                  for row in rows]


def test_csv_parts_add_up(archive, servers):
    (row, *_), (parts, *_) = csv_parts(archive)
    fronts = [s for s in servers.values() if s["producer"] == front(servers)["producer"]]
    requests = sum(s["requests"] for s in fronts)
    for name, mean in parts.items():
        assert abs(sum(seconds(s, name) for s in fronts) / requests - mean) <= Decimal("2e-9"), name
    assert abs(sum(parts.values()) - Decimal(row["server_mean_seconds"])) <= Decimal("4e-8"), parts


def test_comparison_says_the_same(archive):
    """Its rows of parts have the means of the CSV, and so add up, too."""
    _, runs = csv_parts(archive)
    done = tool.run("compare", "--format", "json", archive, archive)
    assert done.returncode == 0, done.stderr
    compared = {m["metric"]: m["a"] for m in json.loads(done.stdout)["metrics"]}
    for name in NAMES:
        mean = float(sum(parts[name] for parts in runs) / len(runs))
        assert compared.get(f"part_{name}_mean_seconds", 0) == pytest.approx(mean, rel=1e-8), name


def test_spans_add_up(archive, servers):
    """The children of each request's span are the request; over all they are the report's parts."""
    done = tool.run("export", "-o", "-", "--slowest", "100000", archive)
    assert done.returncode == 0, done.stderr
    if front(servers)["producer"] == "php":
        assert done.stdout == "" and "expected requests of an Apache" in done.stderr
        return
    spans = [span for line in done.stdout.splitlines()
             for resource in json.loads(line)["resourceSpans"]
             for scope in resource["scopeSpans"] for span in scope["spans"]]

    def took(span):
        return int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])
    children = {}
    for span in spans:
        children.setdefault(span.get("parentSpanId"), []).append(span)
    roots = [span for span in spans if span["name"].startswith("HTTP ")]
    assert roots
    for root in roots:
        below = children[root["spanId"]]
        assert sum(took(span) for span in below) == took(root), (root, below)
        assert {span["name"].split()[0] for span in below} <= {*NAMES, "php_run"}, below
    apaches = [s for s in servers.values() if s["producer"] == "apache"]
    (summary, *_) = json.loads(tool.report("--format", "json", archive))
    if "thinned" in summary["run"]:
        return    # its rows stand for several requests each, and are exported once
    assert len(roots) == sum(s["requests"] for s in apaches)
    for name in {"queue", "h2_wait", "tls", "read", "checks", "upload", "php_wait", "send_client",
                 "send_network", "send_server", "send"}:
        summed = sum(took(s) for root in roots for s in children[root["spanId"]] if s["name"] == name)
        assert summed == sum(int(seconds(s, name) * 10**9) for s in apaches), name


# A finding's code: the part whose share it says. Others have their part's own name.
SHARES = {"slow-upload": "upload", "h2-workers": "h2_wait", "slow-clients": "send_client",
          "slow-network": "send_network", "server-paced": "send_server"}
FOUND = {"streams": {"database", "sleep"}, "half_and_half": {"backend", "http"},
         "tls_and_http2": {"h2-workers", "tls"}, "slow_readers": {"slow-clients", "slow-upload"},
         "php_alone": {"database"}, "thinned": {"database", "sleep"}}


@pytest.mark.parametrize("case", FOUND)
def test_findings_have_the_tables_shares(case, tmp_path):
    path = make(tmp_path / "run.db", globals()[case]())
    (summary,) = json.loads(tool.report("--format", "json", path), parse_float=Decimal)
    server = summary["servers"][0]
    total, seen = server["phases"]["total"]["sum_seconds"], set()
    for finding in summary["findings"]:
        part = SHARES.get(finding["code"], finding["code"])
        if part in NAMES and finding["share_of"] == "time":
            share = seconds(server, part) / total
            assert abs(finding["share"] - share) <= Decimal("0.001"), finding
            seen.add(finding["code"])
    assert FOUND[case] <= seen, summary["findings"]
