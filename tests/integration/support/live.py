"""Servers that run, a load, and what each live output says of it: status, top, pages, a recording.

    with live_servers(browser) as live:
        live.load(script, archive)
        live.growth["apache"].parts
"""
import json
import os
import re
import signal
import subprocess
import threading
from contextlib import contextmanager
from decimal import Decimal

import build
import processes
import tool
from agreement import NAMES, PARTS, PHASES, printed_seconds, real_servers, terms
from processes import wait_until
from recording import recording
from serving import Serving

WAITS = terms()["WAITS"]
OWN = "mpm-status"      # the label and the handler of what asks: it is no load


# ---- sums of a board -------------------------------------------------------------------------


def total(board, of):
    return sum(of(label) or 0 for label in tool.labels(board))


def phase_sum(board, phase, what="sum_seconds"):
    return total(board, lambda label: label["phases"].get(phase, {}).get(what))


def take(left, wanted):
    """(what it gets, what is left)"""
    got = min(left, wanted or Decimal(0))
    return got, left - got


def split(label):
    """The parts of a label's time: docs/measuring.md, "Parts of a request"."""
    sums = {name: times["sum_seconds"] for name, times in label["phases"].items()}
    intervals, of_php, found = label["interval_seconds"], label["php"], {}
    for phase in PHASES:
        left = sums.get(phase, Decimal(0))
        for within, name in PARTS:
            if within == phase.upper() and name not in (phase, "php_wait"):
                found[name], left = take(left, intervals[name])
        found[phase] = left
    found["php_wait"] = sums.get("php_wait", Decimal(0))
    left = sums.get("php_run", Decimal(0))
    for wait in WAITS:
        found[wait], left = take(left, of_php["waits_seconds"][wait])
    cpu, left = take(left, (of_php["user_seconds"] or 0) + (of_php["system_seconds"] or 0))
    found["compile"], cpu = take(cpu, of_php["compile_seconds"])
    found["gc"], found["cpu"] = take(cpu, of_php["gc_seconds"])
    found["cpu_wait"], found["rest"] = take(left, of_php["cpu_wait_seconds"])
    return found


def parts_of(board):
    found = dict.fromkeys(NAMES, Decimal(0))
    for label in tool.labels(board):
        for name, seconds in split(label).items():
            found[name] += seconds
    return found


def minus(after, before):
    return {name: value - before.get(name, 0) for name, value in after.items()}


class Growth:
    """What happened between two snapshots of a board."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        self.is_php = after["producer"] == "php"
        self.requests = tool.requests(after) - tool.requests(before)
        self.parts = minus(parts_of(after), parts_of(before))
        self.seconds = after["uptime_seconds"] - before["uptime_seconds"]

    def phase(self, name, what="sum_seconds"):
        return phase_sum(self.after, name, what) - phase_sum(self.before, name, what)

    def mean(self, name):
        count = self.phase(name, "count")
        return self.phase(name) / count if count else None

    def label(self, name, of):
        """How much of a label's `of` there was."""
        return sum(sign * (of(label) or 0) for board, sign in ((self.after, 1), (self.before, -1))
                   for label in board["labels"] if label["label"] == name)

    def end(self, kind, name, key):
        return sum(sign * end[key] for board, sign in ((self.after, 1), (self.before, -1))
                   for end in board["ends"] if (end["kind"], end["name"]) == (kind, name))

    def quantile(self, q):
        """[the bounds of the bucket that has it]"""
        buckets = minus({lower: n for lower, n in self.after["total_buckets"]},
                        {lower: n for lower, n in self.before["total_buckets"]})
        below = 0
        for lower, count in sorted(buckets.items()):
            below += count
            if below >= q * self.requests:
                return lower, lower * Decimal("1.125") + Decimal("5.12e-7")
        raise AssertionError(f"{self.requests} requests, but {buckets}")


# ---- what shows them -------------------------------------------------------------------------


class Top:
    """A mpmstat top that is stopped while the load runs: so one of its screens is about all of it.
    Of each server that a load reaches, that screen is kept."""

    def __init__(self, *targets):
        self.screens, self.lines, self.process = [], [], subprocess.Popen(
            [build.TOOL, "top", "--batch", "-d", "0.5", *map(str, targets)], text=True,
            stdout=subprocess.PIPE, env={**os.environ, "COLUMNS": "200", "LC_ALL": "C.UTF-8"})
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            if line == "\n":
                self.screens.append(self.lines)
                self.lines = []
            else:
                self.lines.append(line.rstrip("\n"))

    def freeze(self):
        """Right after a screen: the next look is half a second away."""
        seen = len(self.screens)
        wait_until(lambda: len(self.screens) > seen, 30, "a screen of top")
        self.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: processes.stat_fields(self.process.pid)[0] == "T", 30, "top to stop")
        self.frozen = len(self.screens)

    def go_on(self, servers):
        """{server: the screen that has its load}"""
        self.process.send_signal(signal.SIGCONT)
        found = {}

        def has_all():
            for screen in self.screens[self.frozen:]:
                found.update({n: screen for n in range(1, servers + 1)
                              if n not in found and means_of(screen, n)["total"] is not None})
            return len(found) == servers
        wait_until(has_all, 30, lambda: f"all servers' load: {self.screens[self.frozen:]}")
        return found

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.thread.join(60)
        self.process.wait(60)
        self.process.stdout.close()


TIME = r"(?:[\d.]+ (?:us|ms|s)|0|-)"


def top_rows(screen, heading, server):
    """The lines of that server below a heading, without the server's number."""
    begin = next((i for i, line in enumerate(screen) if re.match(rf" +{heading}\b", line)), None)
    assert begin is not None, (heading, screen)
    found = []
    for line in screen[begin + 1:]:
        if not re.match(r" ?\d", line):
            break
        if int(line[:2]) == server:
            found.append(line[4:])
    return found


def times(text):
    return [None if word == "-" else printed_seconds(word)
            for word in re.findall(rf"(?<!\S){TIME}(?!\S)", text)]


def means_of(screen, server):
    """{phase: its mean}"""
    heading = next(line for line in screen if re.match(" +MEAN ", line)).split()[1:]
    row = top_rows(screen, "MEAN", server)[0]
    return dict(zip(heading, times(row), strict=True))


# Of each board: what the page says of it, in the page's own words.
SHOWN = """(() => {
    const texts = (of, which) => Array.from(of.querySelectorAll(which), e => e.textContent);
    return {
        minute: document.querySelector("#minute").textContent,
        boards: Array.from(document.querySelectorAll("article"), article => ({
            head: article.querySelector("h2").textContent,
            tiles: Object.fromEntries(Array.from(article.querySelectorAll(".tiles > div"),
                tile => [tile.firstChild.textContent, tile.lastChild.textContent])),
            charts: Object.fromEntries(Array.from(article.querySelectorAll("figure"), figure =>
                [figure.querySelector("strong").textContent,
                 Object.fromEntries(Array.from(figure.querySelectorAll("li"))
                    .filter(li => !li.hidden).map(li => [li.textContent.split(" ")[0],
                                li.querySelector("output").textContent]))])),
            tables: Object.fromEntries(Array.from(article.querySelectorAll("section"))
                .filter(section => section.querySelector("table"))
                .map(section => [section.firstChild.textContent,
                    Array.from(section.querySelectorAll("tbody tr"),
                               row => texts(row, "th, td"))])),
        })),
    };
})()"""


# What the page is answered is kept; and it looks more often than every two seconds, as the test
# waits for that.
BEFORE_THE_PAGE = """
    const ask = window.fetch, wait = window.setTimeout;
    window.answers = [];
    window.fetch = async (query, ...more) => {
        const answer = await ask(query, ...more);
        if (query === "?format=json") answers.push(await answer.clone().text());
        return answer;
    };
    window.setTimeout = (what, ms) => wait(what, ms === 2000 ? 100 : ms);
"""
# One look, and what is shown then: the page is told to pause before the next one, which is due
# later than this test's own timer.
LOOK = f"""new Promise(done => {{
    const pause = document.querySelector("header button"), state = document.querySelector("#state");
    const seen = answers.length;
    const wait = () => {{
        if (state.className !== "live" || answers.length === seen) return setTimeout(wait, 20);
        pause.click();
        done({SHOWN});
    }};
    pause.click();
    wait();
}})"""


class LivePage:
    """A page that is told to pause while the load runs."""

    def __init__(self, browser, url):
        self.page = browser.open(url)
        self.page.call("Page.addScriptToEvaluateOnNewDocument", source=BEFORE_THE_PAGE)
        self.page.call("Page.reload")
        self.page.wait("""window.answers && answers.length > 0 && document.querySelector("#state")
            && document.querySelector("#state").className === "live"
            && (document.querySelector("header button").click(), true)""", 60)

    def look(self):
        """(what it shows, what happened to each board since its look before)"""
        self.page.call("Page.bringToFront")    # behind another page it does not look
        shown = self.page.evaluate(LOOK)
        before, after = [json.loads(text, parse_float=Decimal)["boards"]
                         for text in self.page.evaluate("answers.slice(-2)")]
        return shown, [Growth(*pair) for pair in zip(before, after, strict=True)]


# ---- servers, and all that watches them --------------------------------------------------------


# A browser's connections end with each answer, so that all clients' are known to have ended.
PAGES_CONFIGURATION = """MPMStatPHPBoards "@RUN@"
<Location "/mpm-status">
SetEnv nokeepalive 1
</Location>
"""


def is_settled(board):
    return (all(label["in_flight"] == 0 for label in board["labels"])
            and board["workers"]["busy"] == 0 and not board["connections"]["open"])


class Live:
    """An Apache and an FPM, and all that watches them."""

    def __init__(self, apache, fpm, serving, browser):
        self.apache, self.fpm, self.serving = apache, fpm, serving
        self.url = f"http://127.0.0.1:{apache.port}/mpm-status"
        self.pages = {name: LivePage(browser, url) for name, url in (
            ("Apache's page", self.url), ("serve's page", serving.url + "/"))}

    def settle(self):
        """{producer: its board} once all that clients asked for is counted."""
        found = {}

        def has_settled():
            found.update((b["producer"], b) for b in map(tool.status, (self.apache.board,
                                                                       self.fpm.board)))
            asked = [path for _, _, path in self.apache.access_log() if OWN not in path]
            return all(map(is_settled, found.values())) and \
                tool.requests(found["apache"]) == len(asked) and \
                tool.requests(found["php"]) == sum(".php" in path for path in asked)
        wait_until(has_settled, 60, lambda: f"the servers to be idle: {found}")
        return found

    def load(self, script, archive):
        """Runs a load, and takes what everything says of it."""
        before = self.settle()
        top = Top(self.apache.board, self.fpm.board, self.serving.url + "/mpm-status")
        try:
            top.freeze()
            done, settled = archive.parent / "done", archive.parent / "settled"
            words = f"{script}\ntouch {done}\nwhile [ ! -e {settled} ]; do sleep 0.02; done"
            with recording(archive, "sh", "-c", words,
                           targets=[self.apache.board, self.fpm.board]) as recorder:
                wait_until(lambda: done.exists() or recorder.poll() is not None, 60, "the load")
                after = self.settle()
                settled.touch()
                said = recorder.communicate(timeout=60 * tool.PATIENCE)
            assert recorder.returncode == 0, said
            self.screens = top.go_on(3)    # the third is the URL, which is about Apache's board
        finally:
            top.close()
        self.growth = {producer: Growth(before[producer], after[producer]) for producer in after}
        self.shown = {name: page.look() for name, page in self.pages.items()}
        (self.summary,) = json.loads(tool.report("--format", "json", archive), parse_float=Decimal)
        self.briefs = {"boards": brief(self.apache.board, self.fpm.board), "URL": brief(self.url)}
        self.answers = {name: ask(self) for name, ask in ANSWERS.items()}


@contextmanager
def live_servers(browser):
    with real_servers(PAGES_CONFIGURATION) as (apache, fpm):
        fpm.board.parent.chmod(0o755)
        fpm.board.chmod(0o644)     # for Apache's user, as its group would
        with Serving(apache.board, fpm.board) as serving:
            yield Live(apache, fpm, serving, browser)


def brief(*targets):
    """{producer: what the glance says}"""
    done = tool.run("status", "--brief", *targets)
    assert done.returncode == 0, done.stderr
    return dict(zip(("apache", "php"), done.stdout.split("\n\n"), strict=True))


def status(live, form):
    done = tool.run("status", "--format", form, live.apache.board, live.fpm.board)
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_url(live, form):
    done = tool.run("status", "--format", form, live.url)
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(live, form):
    answer = live.apache.get(f"/mpm-status?format={form}")
    assert answer.status == 200, answer
    return answer.text()


def served(live, form):
    answer = live.serving.get(f"/?format={form}")
    assert answer.status == 200, answer
    return answer.text()


ASKERS = {"status": status, "status URL": by_url, "page": asked, "serve": served}
ANSWERS = {f"{name} {form}": lambda live, ask=ask, form=form: ask(live, form)
           for name, ask in ASKERS.items()
           for form in ("json", "text", "openmetrics", "prometheus", "html")
           if form != "html" or ask in (asked, served)}
