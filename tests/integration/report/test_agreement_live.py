"""All outputs of servers that live tell the same: status in each format, Apache's page, mpmstat
serve, top, what a browser shows, the journal, and a recording of the same load."""
import json
import os
import re
from decimal import Decimal
from html import unescape

import pytest

import php
import tool
from agreement import (NAMES, PARTS, PHASES, few_script, fields_def, is_close, load_script, nouns,
                       printed_seconds, terms)
from live import (ANSWERS, OWN, TIME, live_servers, means_of, parts_of, phase_sum, take, times,
                  top_rows, total)
from prometheus import read_text

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))

TERMS = terms()
FIELDS = fields_def()


# ---- a board's numbers, as the table of fields has them ----------------------------------------


def known(element, scope):
    """(field, element of an array or None, number) of a JSON object, of all that is known."""
    for field in FIELDS:
        if field.scope != scope or field.json is None or field.type == "STRING":
            continue
        value = element
        for key in field.json.split("."):
            value = value[key]
        for name, number in value.items() if isinstance(value, dict) else [(None, value)]:
            if number is not None:
                yield field, name, number


def loaded(board):
    """Labels and other ends without what asks."""
    return [entry for kind, key in (("labels", "label"), ("ends", "name"))
            for entry in board[kind] if entry[key] != OWN]


def camel(name):
    return "".join(word[:1].upper() + word[1:] for word in re.split("[_-]", name))


def elements(board):
    """(scope, JSON object, text's prefix, metrics' labels) of all labels, phases and other ends."""
    for label in tool.labels(board):
        name = label["label"]
        yield "LABEL", label, f"Label[{name}]", {"label": name}
        for phase, times in label["phases"].items():
            yield "PHASE", times, f"Label[{name}]{camel(phase)}", {"label": name, "phase": phase}
    for end in board["ends"]:
        name, kind = end["name"], end["kind"]
        if name != OWN:
            title = name if name == kind else f"{kind} {name}"
            yield "END", end, f"End[{title}]", {"end": name, "kind": kind}


def text_of(board):
    """What the text says of that JSON."""
    found = {}
    for scope, element, prefix, _ in elements(board):
        for field, name, number in known(element, scope):
            if field.text and not (field.type in ("INTERVAL", "WAIT") and number == 0):
                found[prefix + field.text.replace("*", camel(name or ""))] = Decimal(number)
    return found


def metrics_of(board):
    """What metrics say of that JSON: of histograms count and sum."""
    found, path = {}, board["board"]
    for scope, element, _, labels in elements(board):
        labels = {"board": os.path.basename(path), "producer": board["producer"], **labels}
        for field, name, number in known(element, scope):
            if field.openmetrics:
                more = {field.type.lower(): name} if name else {}
                suffix = "_total" if field.nature == "COUNTER" else ""
                found[field.openmetrics + suffix, frozenset({**labels, **more}.items())] = number
        if scope == "PHASE":
            for suffix, number in (("count", element["count"]), ("sum", element["sum_seconds"])):
                found[f"mpmstat_phase_seconds_{suffix}", frozenset(labels.items())] = number
    return {key: float(number) for key, number in found.items()}


def read_lines(text):
    """[{key: number}] of each board's text: of its labels and other ends."""
    boards = re.split("^(?=Board: )", text, flags=re.M)[1:]
    return [{key: Decimal(value) for key, value in re.findall(r"^(.*?): ([\d.]+)$", board, re.M)
             if re.match(r"(Label|End)\[", key) and not key.startswith((f"Label[{OWN}]",
                                                                        f"End[handler {OWN}]"))}
            for board in boards]


def read_metrics(text, producer):
    """Of labels, phases and other ends; of histograms count and sum."""
    found = {}
    for (name, labels), value in read_text(text)[0].items():
        of = dict(labels)
        if of.get("producer") == producer and {"label", "end"} & set(of) and "le" not in of and \
                OWN not in (of.get("label"), of.get("end")):
            found[name, labels] = value
    return found


# ---- two loads, and what everything says of each -----------------------------------------------


@pytest.fixture(scope="module")
def loads(browser, tmp_path_factory):
    """[all that was said of each of the two loads]: counters begin at 0 before the first alone."""
    found = []
    with live_servers(browser) as live:
        apache, directory = live.apache, tmp_path_factory.mktemp("live")
        assert apache.get("/mpm-status?format=none").status == 400    # a failure of no load
        for script in (load_script(apache, directory), few_script(apache)):
            live.load(script, tmp_path_factory.mktemp("live") / "run.db")
            found.append({name: getattr(live, name) for name in (
                "growth", "screens", "shown", "summary", "briefs", "answers")})
        found[-1]["journals"] = {"apache": apache.journal()[0], "php": [
            json.loads(line, parse_float=Decimal) for line in apache.get(
                f"/mpm-status?format=journal&since=start&board={live.fpm.board.name}")
            .text().splitlines()]}
        found[-1]["deliveries"] = apache.deliveries()
        found[-1]["complaints"] = [page.page.complaints for page in live.pages.values()]
    return found


@pytest.fixture(params=[0, 1], ids=["first load", "second load"])
def load(request, loads):
    return loads[request.param]


@pytest.fixture(params=["apache", "php"])
def growth(request, load):
    return load["growth"][request.param]


# ---- the sums -------------------------------------------------------------------------------


def test_a_load_of_each_kind(loads):
    """Else the rest proves little."""
    apache, of_php = (loads[0]["growth"][producer] for producer in ("apache", "php"))
    assert len(tool.labels(apache.after)) >= 3 and apache.requests > of_php.requests > 20
    assert {name for name, seconds in apache.parts.items() if seconds} >= {
        "h2_wait", "read", "checks", "upload", "backend", "handle", "send_server", "send"}
    assert {name for name, seconds in of_php.parts.items() if seconds} >= {
        "php_wait", "compile", "cpu", "sleep"}
    for growth in loads[1]["growth"].values():
        assert 0 < growth.requests < tool.requests(growth.before)


def test_counters_agree_with_each_other(growth):
    for label in tool.labels(growth.after):
        assert label["requests"] == sum(n or 0 for n in label["status"].values()), label
        assert {times["count"] for name, times in label["phases"].items() if name != "front"} == \
            {label["requests"]}, label
    assert sum(n for _, n in growth.after["total_buckets"]) == tool.requests(growth.after)
    handled = growth.after["ends"] if not growth.is_php else []
    if handled:
        assert sum(end["calls"] for end in handled if end["kind"] == "handler" and
                   end["name"] != OWN) == tool.requests(growth.after)
    for kind in TERMS["WAITS"] if growth.is_php else []:
        ends = [end for end in growth.after["ends"] if end["kind"] == kind]
        for key, of in (("seconds", "waits_seconds"), ("calls", "waits"),
                        ("failed", "waits_failed")):
            assert sum(end[key] for end in ends) == \
                total(growth.after, lambda label, of=of, kind=kind: label["php"][of][kind]), kind


def test_phases_add_up(growth):
    phases = ("php_wait", "php_run") if growth.is_php else PHASES
    for board in (growth.before, growth.after):
        for label in tool.labels(board):
            sums = {name: times["sum_seconds"] for name, times in label["phases"].items()}
            assert sum(sums[phase] for phase in phases) == sums["total"], label
            if growth.is_php:
                cpu = [label["php"][f"{name}_seconds"] for name in ("user", "system", "cpu_wait")]
                assert sum(cpu) + sum(label["php"]["waits_seconds"].values()) <= \
                    sums["php_run"] * Decimal("1.01"), label    # two clocks measure it
            else:
                for phase in PHASES:
                    assert sum(label["interval_seconds"][name] for within, name in PARTS
                               if within == phase.upper() and name in label["interval_seconds"]) \
                        <= sums[phase], (phase, label)


def test_words_are_the_sources(growth):
    of_php = {"php_wait", "php_run", "total"}
    for label in growth.after["labels"]:
        assert set(label["phases"]) == (of_php if growth.is_php
                                        else set(TERMS["PHASES"]) - of_php | {"total"})
        for key, words in (("interval_seconds", "INTERVALS"), ("intervals", "INTERVALS"),
                           ("status", "CLASSES")):
            assert list(label[key]) == TERMS[words]
        for key in ("waits_seconds", "waits", "waits_failed"):
            assert list(label["php"][key]) == TERMS["WAITS"]
    assert {end["kind"] for end in growth.after["ends"]} <= {
        *TERMS["END_KINDS"], *TERMS["WAITS"]}
    for key in ("states", "state_seconds"):
        assert set(growth.after["workers"][key]) == set(TERMS["STATES"])


# ---- the formats ----------------------------------------------------------------------------


def board_in(answer, growth):
    """That board of an answer in JSON."""
    boards = [b for b in json.loads(answer, parse_float=Decimal)["boards"]
              if b["producer"] == growth.after["producer"]]
    assert len(boards) == 1, boards
    return boards[0]


@pytest.mark.parametrize("source", ANSWERS)
def test_formats_say_the_same(load, growth, source):
    answer, form = load["answers"][source], source.rsplit(" ", 1)[1]
    if form == "html":
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', answer, re.S)
        assert loaded(board_in(data[1], growth)) == loaded(growth.after)
        answer, form = unescape(re.search("<pre>(.*?)</pre>", answer, re.S)[1]), "text"
    if form == "json":
        assert loaded(board_in(answer, growth)) == loaded(growth.after)
    elif form == "text":
        found, wanted = read_lines(answer)[int(growth.is_php)], text_of(growth.after)
        assert found == wanted
    else:
        assert read_metrics(answer, growth.after["producer"]) == metrics_of(growth.after)


def items_of(brief):
    """{subject: its items} of `mpmstat status --brief`."""
    lines = re.sub(r"\n {16}", " ", brief).splitlines()
    return {line[2:16].strip(): line[16:].split(", ") for line in lines}


@pytest.mark.parametrize("source", ["boards", "URL"])
def test_the_glance_says_the_same(load, growth, source):
    board = growth.after
    items = items_of(load["briefs"][source][board["producer"]])
    parts = parts_of(board)
    assert items["Requests"][0] == f"{tool.requests(board)} since the start"
    assert items["Requests"][-1] == "0 in flight"
    shares = dict(item.rsplit(" ", 2)[:2] for item in items["Time went to"])
    assert list(shares) == [name for name in NAMES if parts[name] > 0]
    for name, share in shares.items():
        assert abs(Decimal(share) - 100 * parts[name] / sum(parts.values())) <= Decimal("0.1"), name
    assert "Longest now" not in items, "what asks is no load"
    failed = total(board, lambda label: label["status"]["4xx"])
    assert items["Errors"] == ([f"{failed} of status 4xx"] if failed else ["none so far"])
    forks, ended = (board["lifecycle"][key]["php" if growth.is_php else "child"]
                    for key in ("forks", "ended"))
    assert items["Processes"][:2] == [f"{forks} started", f"{ended} ended"]


# ---- top ------------------------------------------------------------------------------------


def assert_shown(shown, wanted, what):
    """Three digits of it; None is not known."""
    assert (shown is None) == (wanted is None), (what, shown, wanted)
    assert wanted is None or is_close(shown, wanted), (what, shown, wanted)


def assert_rate(shown, wanted, what):
    """Three digits, and at most two behind the point."""
    room = max(Decimal("0.0051"), wanted / 180)
    assert abs(Decimal(shown) - wanted) <= room, (what, shown, wanted)


# A board's file, and Apache's as a URL: (server in top, producer).
SERVERS = [(1, "apache"), (2, "php"), (3, "apache")]


@pytest.mark.parametrize("server, producer", SERVERS)
def test_top_says_the_same(load, server, producer):
    growth, screen = load["growth"][producer], load["screens"][server]
    means = means_of(screen, server)
    p99 = means.pop("p99")
    assert set(means) == {*PHASES, "php_wait", "php_run", "total"}
    for phase, mean in means.items():
        assert_shown(mean, growth.mean(phase), phase)
    if server != 3:    # a URL has none
        low, high = growth.quantile(Decimal("0.99"))
        assert low * Decimal("0.99") <= p99 <= high * Decimal("1.01")
    figures = next(line for line in screen if re.match(rf" {server}  (apache|php) ", line))
    kind, rate, busy, limit = re.search(r"(\w+) \S+  ([\d.]+) req/s  (\d+) of (\d+) busy",
                                        figures).groups()
    workers = growth.after["workers"]
    assert (kind, int(busy), int(limit)) == (producer, workers["busy"], workers["limit"])
    if producer == "apache":
        states = screen[screen.index(figures) + 1]
        assert f" {workers['wanted']} wanted " in states.replace(" - ", " None "), screen
    labels = top_rows(screen, "LABEL", server)
    after = {label["label"]: label for label in tool.labels(growth.after)}
    assert {row.split()[0] for row in labels} == set(after)
    for row in labels:
        name, in_flight, wanted, *_ = row.split()
        known = after[name].get("workers", {}).get("wanted")
        assert wanted == ("-" if known is None else str(known)), row
        requests = growth.label(name, lambda label: label["requests"])
        found = times(re.sub(r"^\S+ +\S+ +\S+ +\S+", "", row))
        seconds = growth.label(name, lambda label: label["phases"]["total"]["sum_seconds"])
        assert_shown(found[0], seconds / requests if requests else None, row)
        per_second = [Decimal(row.split()[3]), *map(Decimal, row.split()[-2:])]
        for shown, status in zip(per_second, (None, "4xx", "5xx"), strict=True):
            count = requests if status is None else \
                growth.label(name, lambda label, status=status: label["status"][status])
            # A rate has two digits behind the point.
            assert abs(shown - Decimal(rate) * count / growth.requests) <= \
                Decimal("0.011") + shown * Decimal("0.01"), row
        assert in_flight.split("/")[0] == "0"


@pytest.mark.parametrize("server, producer", SERVERS)
def test_tops_other_ends(load, server, producer):
    growth, screen = load["growth"][producer], load["screens"][server]
    rows = top_rows(screen, "KIND +OTHER END", server)
    found = {}
    for row in rows:
        kind, name, rest = re.fullmatch(rf"(\w+) +(.+?) +([\d.]+ +{TIME} +[\d.]+ +[\d.]+)",
                                        row).groups()
        found[kind, name] = rest
    ends = [end for end in growth.after["ends"] if end["name"] != OWN]
    assert set(found) == {(end["kind"], end["name"]) for end in ends}
    for (kind, name), rest in found.items():
        calls, seconds = (growth.end(kind, name, key) for key in ("calls", "seconds"))
        assert_shown(times(rest.split(maxsplit=1)[1])[0], seconds / calls if calls else None, rest)
        rate, at_once = Decimal(rest.split()[0]), Decimal(rest.split()[-2])
        assert abs(at_once - (rate * seconds / calls if calls else 0)) <= \
            Decimal("0.011") + at_once * Decimal("0.02"), rest


def test_tops_parts_of_php(load):
    growth, screen = load["growth"]["php"], load["screens"][2]
    line = next(line for line in screen if line.startswith(" 2  waiting now: none  time: "))
    shares = dict(re.findall(r"(\w+) ([\d.]+) %", line))
    whole = sum(growth.parts.values())
    assert whole == growth.phase("total")
    assert set(shares) == {name for name, seconds in growth.parts.items() if seconds > 0}
    for name, share in shares.items():
        assert abs(Decimal(share) - 100 * growth.parts[name] / whole) <= Decimal("0.1"), line


# ---- the page in a browser --------------------------------------------------------------------


def with_php(growths):
    """Of Apache's time the parts with what PHP's board says: it takes the place of `backend` and of
    the rest of `handle`, as far as it fits."""
    apache, of_php = growths
    found, needed = dict(apache.parts), sum(of_php.parts.values())
    left = needed
    for name in ("backend", "handle"):
        got, left = take(left, found[name])
        found[name] -= got
    for name, seconds in of_php.parts.items():
        found[name] += seconds * (1 - left / needed)
    return found


PAGES = ["Apache's page", "serve's page"]


@pytest.fixture(params=PAGES)
def page(request, load):
    """(what the browser shows, what happened between the page's two latest answers)"""
    return load["shown"][request.param]


@pytest.fixture(params=[0, 1], ids=["apache", "php"])
def article(request, page):
    shown, growths = page
    return shown["boards"][request.param], growths[request.param]


def test_the_page_has_no_complaints(loads):
    assert loads[1]["complaints"] == [[], []]


def test_the_page_was_answered_the_same(load, page):
    """So what follows is about what is compared with the other outputs, too."""
    _, growths = page
    for growth in growths:
        wanted = load["growth"][growth.after["producer"]]
        assert loaded(growth.after) == loaded(wanted.after)
        assert growth.parts == wanted.parts and growth.requests == wanted.requests


def test_the_pages_tiles(article):
    shown, growth = article
    tiles, workers = shown["tiles"], growth.after["workers"]
    assert_rate(tiles["requests/s"].removesuffix("/s"), growth.requests / growth.seconds, tiles)
    assert_shown(printed_seconds(tiles["mean time"]), growth.mean("total"), tiles)
    assert tiles["workers busy"] == f"{workers['busy']} of {workers['limit']}"
    if growth.after["producer"] == "apache":
        assert tiles["workers wanted"] == str(workers["wanted"])
    assert tiles["in flight"] == "0"


def test_the_pages_charts(page):
    shown, growths = page
    for board, growth in zip(shown["boards"], growths, strict=True):
        charts = board["charts"]
        for status, rate in charts["Requests a second"].items():
            count = sum(growth.label(label["label"], lambda entry: entry["status"][status])
                        for label in tool.labels(growth.after))
            assert_rate(rate.removesuffix("/s"), count / growth.seconds, status)
        parts = growth.parts if growth.is_php else with_php(growths)
        means = charts["Where a request's time went"]
        assert set(means) >= {name for name in NAMES if parts[name] > Decimal("1e-9")}
        for name, mean in means.items():
            assert_shown(printed_seconds(mean), parts[name] / growth.requests, name)
        assert is_close(sum(map(printed_seconds, means.values())), growth.mean("total"),
                        Decimal("0.01")), means
        for name, q in (("p50", Decimal("0.5")), ("p95", Decimal("0.95"))):
            value = charts["The slower requests"][name]
            if growth.requests * (1 - q) >= 1:
                low, high = growth.quantile(q)
                assert low * Decimal("0.99") <= printed_seconds(value) <= high * Decimal("1.01")
            else:
                assert value == "–"
        before, after = (b["workers"]["state_seconds"] for b in (growth.before, growth.after))
        for state, count in charts["What the workers did"].items():
            assert_rate(count, (after[state] - before[state]) / growth.seconds, state)


def shown_bytes(text):
    number, unit = text.split()
    return Decimal(number) * {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}[unit]


def or_unknown(text, of):
    return None if text == "not known" else of(text)


def test_the_pages_labels(article):
    shown, growth = article
    rows = {name: rest for name, *rest in shown["tables"]["By label"] if name != OWN}
    labels = {label["label"]: label for label in tool.labels(growth.after) if label["requests"]}
    assert set(rows) == set(labels)
    for name, (requests, in_flight, failed, aborted, size, *quantiles) in rows.items():
        label = labels[name]
        assert [requests, in_flight, failed, aborted] == [
            str(n) for n in (label["requests"], label["in_flight"], label["status"]["5xx"],
                             label["status"]["aborted"])]
        assert_shown(or_unknown(size, shown_bytes), label["bytes"], name)
        for shown_time, key in zip(quantiles, ("p50", "p90", "p99", "max"), strict=True):
            assert_shown(printed_seconds(shown_time), label["phases"]["total"][f"{key}_seconds"],
                         (name, key))


def test_the_pages_intervals_and_waits(article):
    shown, growth = article
    rows = shown["tables"]["Within the phases, by label"]
    wanted = {}
    for label in tool.labels(growth.after):
        seconds, counts = ((label["php"]["waits_seconds"], label["php"]["waits"]) if growth.is_php
                           else (label["interval_seconds"], label["intervals"]))
        wanted.update({(label["label"], name): (counts[name], seconds[name])
                       for name in seconds if seconds[name] > 0})
    assert {(label, name) for label, name, *_ in rows} == set(wanted) and len(rows) == len(wanted)
    for label, name, count, mean, together in rows:
        assert count == str(wanted[label, name][0])
        assert_shown(printed_seconds(together), wanted[label, name][1], (label, name))
        assert_shown(printed_seconds(mean), wanted[label, name][1] / int(count), (label, name))


def test_the_pages_other_ends(article):
    shown, growth = article
    ends = {(end["name"], end["kind"]): end for end in growth.after["ends"]}
    rows = {(name, kind or name): rest for name, kind, *rest in shown["tables"]["Other ends"]}
    assert set(rows) == set(ends)
    for key, (calls, failed, mean, at_once) in rows.items():
        end = ends[key]
        assert [calls, failed] == [str(end["calls"]), str(end["failed"])]
        assert_shown(printed_seconds(mean), end["seconds"] / end["calls"], key)
        assert abs(Decimal(at_once) - end["seconds"] / growth.after["uptime_seconds"]) <= \
            Decimal("0.006"), key


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_sentences(loads, name):
    """What it says of the last minute, of which the first load is all."""
    shown, growths = loads[0]["shown"][name]
    said, parts = shown["minute"], with_php(growths)
    words = {noun: part for part, noun in nouns().items()}
    found = re.findall(r"([A-Z][^.%(]*?) took ([\d.]+ \S+) a request (?:on average )?"
                       r"\(([\d.]+) % of its time\)", said)
    assert found, said
    for noun, mean, share in found:
        part = words[noun]
        assert_shown(printed_seconds(mean), parts[part] / growths[0].requests, said)
        wanted = 100 * parts[part] / sum(parts.values())
        assert abs(Decimal(share) - wanted) <= Decimal("0.06"), said
    failed = sum(growths[0].label(label["label"], lambda entry: entry["status"]["4xx"])
                 for label in tool.labels(growths[0].after))
    assert f"Of {growths[0].requests} answers {failed} were 4xx." in said


# ---- single requests ---------------------------------------------------------------------------


def test_the_journal_adds_up_to_the_counters(loads):
    for producer, records in loads[1]["journals"].items():
        board = loads[1]["growth"][producer].after
        requests = [r for r in records if r.get("label") not in (None, OWN)]
        assert len(requests) == tool.requests(board)
        names = {"php_wait": "php_wait", "php_run": "php_run"} if producer == "php" else {
            name: name for name in (*PHASES, "total", "held")}
        for member, phase in names.items():
            assert sum(r[member] or 0 for r in requests) == phase_sum(board, phase), phase
        for wait in TERMS["WAITS"] if producer == "php" else []:
            assert sum(r["waits"].get(wait, 0) for r in requests) == \
                total(board, lambda label, wait=wait: label["php"]["waits_seconds"][wait]), wait
        for name in set(TERMS["INTERVALS"]) - {"undelivered"} if producer == "apache" else []:
            member = "backend_time" if name == "backend" else name
            assert sum(r[member] or 0 for r in requests) == \
                total(board, lambda label, name=name: label["interval_seconds"][name]), name
        if producer == "apache":
            late = loads[1]["deliveries"]
            assert sum(late[r["id"]]["undelivered"] for r in requests if r["id"] in late) == \
                total(board, lambda label: label["interval_seconds"]["undelivered"])


# ---- a recording --------------------------------------------------------------------------------


def test_a_recording_says_the_same(load, growth):
    server, = (s for s in load["summary"]["servers"]
               if s["producer"] == growth.after["producer"])
    assert (server["requests"], server["ghosts"], server["records_lost"]) == (growth.requests, 0, 0)
    assert set(server["phases"]) <= set(growth.after["labels"][0]["phases"])
    assert "total" in server["phases"]
    for phase, of in server["phases"].items():
        assert of["sum_seconds"] == growth.phase(phase), phase
        assert of["count"] == growth.phase(phase, "count"), phase
    if growth.is_php:
        assert {name for name, seconds in growth.parts.items() if seconds} == set(server["parts"])
        for name, part in server["parts"].items():
            assert is_close(part["sum_seconds"], growth.parts[name], Decimal("0.001")), name
    else:
        intervals = {name: sum(growth.label(label["label"], lambda entry: entry["interval_seconds"][
            name]) for label in tool.labels(growth.after)) for name in TERMS["INTERVALS"]}
        assert {name: of["sum_seconds"] for name, of in server["intervals"].items()} == \
            {name: seconds for name, seconds in intervals.items() if seconds}
    ends = {(end["kind"], end["name"]): [growth.end(end["kind"], end["name"], key)
                                         for key in ("calls", "failed", "seconds")]
            for end in growth.after["ends"] if end["name"] != OWN}
    assert {(end["kind"], end["end"]): [end["calls"], end["failed"], end["seconds"]]
            for end in server["ends"]} == {key: of for key, of in ends.items() if of[0]}
