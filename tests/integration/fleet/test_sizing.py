"""Sizing of each server of a fleet: one has enough workers, one too few of PHP's, one too few of
Apache's. What each wanted is computed here from the archive's rows alone."""
import html
import json
import math
import re
from contextlib import ExitStack

import pytest

import php
import tool
from apache import Apache
from browser import show
from fpm import FPM
from recording import AB, ask

# The requests of a server: when each began and ended, its time with a worker, its wait for one.
SERVED = {
    "apache": "SELECT start_ns, start_ns + queue_ns + read_ns + handle_ns + send_ns, held_ns, "
              "queue_ns FROM server_requests WHERE ghost = 0 AND label <> 'mpm-status' AND "
              "server_id = {}",
    "php": "SELECT start_ns - wait_ns, start_ns + run_ns, run_ns, wait_ns FROM php_requests WHERE "
           "ghost = 0 AND server_id = {}",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """(archive, its report as JSON)"""
    directory = tmp_path_factory.mktemp("sizing")
    archive, targets = directory / "run.db", directory / "targets"
    #        MPM, Apache's workers, PHP's, connections, requests
    fleet = [("event", 20, 10, 5, 240), ("event", 20, 4, 12, 200), ("prefork", 4, 10, 12, 200)]
    with ExitStack() as stack:
        fpms = [stack.enter_context(FPM(children, settings=php.settings("@ROOT@/run")))
                for _, _, children, _, _ in fleet]
        apaches = [stack.enter_context(Apache(mpm, php="fpm", fpm=fpm, workers=workers))
                   for fpm, (mpm, workers, _, _, _) in zip(fpms, fleet)]
        targets.write_text("".join(
            f"web{i}={apache.board}\nphp{i}={fpm.board}\n"
            for i, (apache, fpm) in enumerate(zip(apaches, fpms), 1)))
        loads = " & ".join(
            f"{AB} -q -n {requests} -c {connections} 'http://127.0.0.1:{apache.port}/sleep.php"
            "?seconds=0.1' >/dev/null"
            for apache, (_, _, _, connections, requests) in zip(apaches, fleet))
        done = tool.run("record", "-o", archive, "--targets", targets, "--", "sh", "-c",
                        f"{loads} & wait", timeout=120)
        assert done.returncode == 0, done.stderr
    return archive, json.loads(tool.report(archive, "--format", "json"))[0]


def needs(run):
    return {need["server"]: need for need in run[1]["sizing"]}


class Measured:
    """What the rows of a server say, without mpmstat's own arithmetic."""
    def __init__(self, archive, name):
        ((self.server, self.kind),) = ask(archive, "SELECT id, producer FROM servers WHERE "
                                          f"name = '{name}'")
        ((duration, ended),) = ask(archive, "SELECT duration_ns, ended_ns FROM runs")
        rows = ask(archive, SERVED[self.kind].format(self.server))
        under_load = min(max(end for _, end, _, _ in rows), ended) - min(row[0] for row in rows)
        self.rate = sum(end <= ended for _, end, _, _ in rows) / (min(under_load, duration) / 1e9)
        self.held = sum(ns for _, _, ns, _ in rows) / len(rows) / 1e9
        self.waited = sum(row[3] for row in rows) / len(rows) / 1e9
        samples = f"FROM samples WHERE server_id = {self.server} AND moment IN ('during', 'end')"
        ((self.limit, self.busy),) = ask(archive, f"SELECT max(workers_limit), max(workers_busy) "
                                         f"{samples}")
        at_once = sorted(n for (n,) in ask(
            archive, f"SELECT coalesce(in_flight, workers_busy) + listen_queue {samples} "
            "AND listen_queue IS NOT NULL"))
        self.at_once = at_once[math.ceil(0.99 * len(at_once)) - 1] if at_once else 0
        memory = ask(archive, "SELECT processes, pss_bytes FROM memory_samples "
                     f"WHERE server_id = {self.server}")
        # With several numbers of processes it is a slope, which the unit tests compute.
        self.process = (sum(pss for _, pss in memory) / sum(n for n, _ in memory)
                        if len({n for n, _ in memory}) in (1, 2) else None)

    def short(self, waited_before=0):
        return max(self.rate * (self.held + self.waited + waited_before), self.at_once)


def assert_whole(number, wanted):
    """The next whole number; a rounding error more or less is none of the test."""
    assert math.ceil(wanted - 1e-6) <= number <= math.ceil(wanted + 1e-6), (number, wanted)


def test_each_server_has_its_own_advice(run):
    found = needs(run)
    assert list(found) == ["web1", "php1", "web2", "php2", "web3", "php3"]
    assert [need["directive"] for need in found.values()] == \
        ["MaxRequestWorkers", "pm.max_children"] * 3
    assert [need["limit"] for need in found.values()] == [20, 10, 20, 4, 4, 10]
    assert {name for name, need in found.items() if need["ran_out"]} == {"php2", "web3"}
    for name, need in found.items():
        measured = Measured(run[0], name)
        assert need["limit"] == measured.limit and need["max_busy"] == measured.busy, name
        if not need["ran_out"]:
            assert need["wanted"] == need["max_busy"] and need["advised"] == need["limit"], name
            assert need["bound"] is need["action"] is None, name
            continue
        before = Measured(run[0], "web2").waited if name == "php2" else 0
        assert_whole(need["wanted"], measured.short(before))
        assert need["wanted"] > need["limit"]
        # Where other work takes the CPUs, they can be what bounds it.
        assert need["bound"] in ("limit", "cpu"), need
        if need["bound"] == "limit":
            assert need["advised"] == need["wanted"]
            to = {setting["name"]: setting["to"] for setting in need["settings"]}
            assert to[need["directive"]] == str(need["wanted"]) and need["check"], need
            assert f"Set {need['directive']} to {need['wanted']} (now {need['limit']})" in \
                need["action"]


def test_the_findings_say_the_same(run):
    found, findings = needs(run), run[1]["findings"]
    for code, behind, name in (("php-workers", "web2", "php2"), ("apache-workers", "web3", "web3")):
        (finding,) = [f for f in findings if f["code"] == code and f["server"] == behind]
        assert finding["numbers"]["workers_advised"] == found[name]["advised"]
        assert finding["numbers"]["wanted"] == found[name]["wanted"]


def threads_of(archive, name):
    """Workers of a process: web1 and web2 are event."""
    if name not in ("web1", "web2"):
        return 1
    setting = "apache_settings" if name == "web1" else "apache2_settings"
    ((value,),) = ask(archive, f"SELECT value FROM environment WHERE name = '{setting}'")
    return int(re.search(r"ThreadsPerChild (\d+)", value).group(1))


def test_memory_for_that_many(run):
    known = 0
    for name, need in needs(run).items():
        process = Measured(run[0], name).process
        if process is None:
            continue
        known += 1
        processes = math.ceil(need["wanted"] / threads_of(run[0], name))
        assert need["memory_bytes"] == pytest.approx(processes * process, rel=1e-6, abs=1), (
            f"{name}: whole bytes")
    assert known >= 3, "FPM with pm = static has as many processes all the time"


def cells_of(page):
    """The rows of the page's table: by server, texts of its cells."""
    table = re.search(r'aria-label="Sizing of each server".*?</table>', page, re.S).group()
    rows = re.findall(r'<tr[^>]*><th scope="row">(.*?)</th>(.*?)</tr>', table, re.S)
    return {name: [html.unescape(re.sub(r"<[^>]*>", "", cell))
                   for cell in re.findall(r"<td[^>]*>(.*?)</td>", cells, re.S)]
            for name, cells in rows}


def test_every_format_shows_each(run):
    shown = {form: tool.report("--format", form, run[0]) for form in ("text", "md", "html")}
    rows = cells_of(shown["html"])
    for name, need in needs(run).items():
        set_to = str(need["advised"]) if need["advised"] > need["limit"] else "as it is"
        enough = need["advised"] if need["ran_out"] else need["enough"]
        start = [str(need["limit"]), str(need["max_busy"]), str(need["wanted"]),
                 "-" if enough is None else str(enough), rows[name][4], set_to]
        assert rows[name][:6] == start
        assert f"| {name} | {' | '.join(start)} |" in shown["md"]
        assert re.search(rf"^ +{' +'.join(start)} .* {name}$", shown["text"], re.M)
    # The servers' own times, beside each other.
    for server in run[1]["servers"]:
        row = re.search(rf'<th scope="row">{server["name"]}</th><td><data value="'
                        rf'{server["requests"]}">(.*?)</tr>', shown["html"], re.S).group()
        times = [float(value) for value in re.findall(r'<data value="([^"]*)"', row)]
        total = server["phases"]["total"]
        assert times[2:5] == [total["mean_seconds"], total["p50_seconds"], total["p95_seconds"]]


@pytest.mark.parametrize("width, dark", ((400, True), (1280, False)))
def test_the_page_is_no_wider_than_the_window(run, browser, tmp_path, width, dark):
    tool.report("-o", tmp_path / "report.html", run[0])
    page = show(browser, tmp_path / "report.html", width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.complaints == []
