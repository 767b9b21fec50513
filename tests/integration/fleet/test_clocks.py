"""Servers with other clocks: their offset is measured, shown, and taken off their instants."""
import re
import threading
import time
from datetime import datetime, timezone

import pytest

import tool
from apache import Apache
from recording import ask, has_begun, recording
from test_lost import finish, load, served, targets_of, url_of, wait_until
from urls import Server, reply

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
SECONDS = re.compile(r'"(start|time|request_start)":(\d{10})\.(\d{9})\b')
UPTIME = re.compile(r'"uptime_seconds":(\d+)')
NS = 1_000_000_000


def shifted(text, by_ns):
    def shift(match):
        whole = datetime.strptime(match.group()[:19], "%Y-%m-%dT%H:%M:%S").replace(
            tzinfo=timezone.utc)
        ns = int(whole.timestamp()) * NS + int(match.group()[20:29]) + by_ns
        return datetime.fromtimestamp(ns // NS, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + \
            f".{ns % NS:09d}Z"


    def shift_seconds(match):
        ns = int(match.group(2)) * NS + int(match.group(3)) + by_ns
        return f'"{match.group(1)}":{ns // NS}.{ns % NS:09d}'
    return SECONDS.sub(shift_seconds, INSTANT.sub(shift, text))


class Elsewhere(Server):
    """An Apache as another machine shows it: its clock is ahead, its board not to be found here."""

    def __init__(self, apache, ahead_ns, wait_s=0):
        self.ahead_ns, self.lie_s = ahead_ns, 0

        def answer(handler):
            if "format=json" in handler.path:
                threading.Event().wait(wait_s)    # as where all workers are busy
            got = apache.get(handler.path)
            text = shifted(got.text(), self.ahead_ns).replace(str(apache.board), "/nonexistent")
            text = UPTIME.sub(lambda m: f'"uptime_seconds":{int(m.group(1)) + self.lie_s}', text)
            reply(handler, text.encode(), got.headers["content-type"], got.status)
        super().__init__(answer)


@pytest.mark.parametrize("ahead_ns", [3600 * NS + 5, -90 * NS, 0])
def test_two_clocks_are_one_time_line(tmp_path, ahead_ns):
    """The test's own clock is the witness: each request began between its two readings."""
    archive, windows = tmp_path / "run.sqlite", []
    with Apache("event") as web1, Apache("event") as web2, Elsewhere(web1, ahead_ns) as elsewhere:
        options = targets_of(tmp_path, web1=elsewhere.url, web2=url_of(web2))
        with recording(archive, targets=(), options=options) as started:
            wait_until(lambda: has_begun(archive))
            for _ in range(10):
                for name, apache in (("web1", web1), ("web2", web2)):
                    before = time.time_ns()
                    load(apache, 1)
                    windows.append((name, before, time.time_ns()))
            wait_until(lambda: served(archive, "web1") + served(archive, "web2") == 20)
            summary, err = finish(started)
    (ahead, uncertainty), = ask(archive, "SELECT clock_ahead_ns, clock_uncertainty_ns "
                                "FROM servers WHERE name = 'web1'")
    assert abs(ahead - ahead_ns) <= uncertainty < NS
    assert ask(archive, "SELECT clock_ahead_ns FROM servers WHERE name = 'web2'") == [(None,)]
    for server in ("web1", "web2"):
        starts = [row[0] for row in ask(
            archive, "SELECT start_ns FROM server_requests JOIN servers ON servers.id = server_id "
            f"WHERE name = '{server}' AND label <> 'mpm-status' ORDER BY start_ns")]
        slack = 2 * uncertainty if server == "web1" else 0
        # queue is known to a jiffy of the kernel: what it is, is before the request was sent.
        for start, (_, before, after) in zip(starts, [w for w in windows if w[0] == server]):
            assert before - slack - NS // 100 <= start <= after + slack
    clock = summary["servers"][0]["clock"]
    assert clock["ahead_seconds"] == pytest.approx(ahead / NS, abs=1e-6)
    assert summary["servers"][1]["clock"] == {"ahead_seconds": None, "uncertainty_seconds": None}
    if ahead_ns:
        words = "ahead of the recorder's" if ahead_ns > 0 else "behind the recorder's"
        assert words in tool.report(archive, "--format", "text")
    page = tmp_path / "run.html"
    assert tool.run("report", "-o", page, archive).returncode == 0
    assert "its clock was" in page.read_text()


def test_a_server_that_answers_slowly_has_an_uncertain_clock(tmp_path):
    archive, ahead_ns = tmp_path / "run.sqlite", 100 * NS
    with Apache("event") as web1, Elsewhere(web1, ahead_ns, wait_s=0.3) as elsewhere:
        with recording(archive, targets=(), options=targets_of(tmp_path, web1=elsewhere.url)) as on:
            wait_until(lambda: has_begun(archive))
            before = time.time_ns()
            load(web1, 1)
            after = time.time_ns()
            wait_until(lambda: served(archive, "web1") == 1)
            finish(on)
    (ahead, uncertainty, start), = ask(
        archive, "SELECT clock_ahead_ns, clock_uncertainty_ns, start_ns FROM servers JOIN "
        "server_requests ON server_id = servers.id WHERE label <> 'mpm-status'")
    assert abs(ahead - ahead_ns) <= uncertainty and uncertainty > NS // 10
    # The wait was before the status was made: the estimate is better than its bound.
    assert before - uncertainty <= start <= after + uncertainty


def test_a_clock_that_lies(tmp_path):
    """A status that contradicts itself is found out; the other server's rows are as they are."""
    archive = tmp_path / "run.sqlite"
    with Apache("event") as web1, Apache("event") as web2, Elsewhere(web1, NS) as elsewhere:
        options = targets_of(tmp_path, web1=elsewhere.url, web2=web2.board)
        with recording(archive, targets=(), options=options) as started:
            wait_until(lambda: has_begun(archive))
            load(web2, 10)
            looks = len(elsewhere.asked)
            elsewhere.lie_s = 500
            wait_until(lambda: len(elsewhere.asked) > looks + 3)
            summary, err = finish(started)
    assert "the clock of web1 jumped by" in err and "do not compare its instants" in err
    assert "the clock of web2" not in err
    assert {s["name"]: s["requests"] for s in summary["servers"]} == {"web1": 0, "web2": 10}
