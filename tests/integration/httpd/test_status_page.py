"""/mpm-status in a browser: a page that goes on asking its server, and nobody else."""
import fcntl
import html
import json
import re
import time

import pytest

import boards
import clients
import php
import tool
from phases import CGI, cgi_module
from processes import wait_until

BROWSERS = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
NAP = "sleep {}\necho Content-Type: text/plain\necho\necho done\n"
LIVE = "document.querySelector('#state').className === 'live'"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def cgi_server(server, mpm):
    def start(extra="", **options):
        return server(mpm, CGI + extra, modules=[cgi_module(mpm)], **options)
    return start


def url_of(apache):
    return f"http://127.0.0.1:{apache.port}/mpm-status"


def show(browser, apache, **options):
    page = browser.open(url_of(apache), **options)
    page.wait(LIVE)
    return page


def cell(label, column):
    """JavaScript: a number of the table of labels."""
    return f"""(Array.from(document.querySelectorAll('tbody tr'))
        .filter(row => row.cells[0].textContent === '{label}')
        .map(row => row.cells[{column}].textContent)[0])"""


def tile(name):
    return f"""Array.from(document.querySelectorAll('.tiles > div'))
        .find(tile => tile.firstChild.textContent === '{name}').lastChild.textContent"""


def keys_of(text):
    """Whichever worker it was."""
    return [re.sub(r"\d+", "N", line.split(": ")[0]) for line in text.splitlines()]


def seconds(text):
    """As the page writes them."""
    number, unit = text.split()
    return float(number) * {"µs": 1e-6, "ms": 1e-3, "s": 1}[unit]


# ---- what is sent ----------------------------------------------------------------------------


def test_browsers_get_a_page_and_others_text(server, mpm):
    apache = server(mpm)
    answer = apache.get("/mpm-status", headers=BROWSERS)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store" and answer.headers["vary"] == "Accept"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert apache.get("/mpm-status?format=html").text().startswith("<!DOCTYPE html>")
    for accept in ("*/*", "text/plain", ""):
        answer = apache.get("/mpm-status", headers={"Accept": accept} if accept else {})
        assert answer.text().startswith("Board: apache\n"), answer.text()[:100]
        assert "content-security-policy" not in answer.headers


def test_without_scripts_it_is_the_text(browser, server):
    apache = server("event")
    for path in ("/", "/mpm-status", "/mpm-status"):
        apache.get(path)

    def keys():
        page = apache.get("/mpm-status?format=html").text()
        shown = re.search("<pre>(.*?)</pre>", page, re.S)[1]
        return (keys_of(html.unescape(shown)),
                keys_of(apache.get("/mpm-status?format=text").text()))

    def agree():
        """Each shows the request before it where that has not ended yet."""
        shown, text = keys()
        return shown == text
    wait_until(agree, 30, lambda: "the same keys: {} and {}".format(*keys()))
    page = browser.open(url_of(apache), scripts=False)
    assert page.evaluate("document.querySelector('main pre').textContent.slice(0, 13)") \
        == "Board: apache"
    assert page.complaints == []


# ---- what is shown ---------------------------------------------------------------------------


def test_it_follows_the_server(browser, cgi_server):
    """What it shows is what was asked of the server meanwhile, and it asks nobody else."""
    apache = cgi_server(workers=10)
    nap = apache.cgi("nap", NAP.format(4))
    for _ in range(3):
        assert apache.get("/").status == 200
    page = show(browser, apache)
    page.wait(f"{cell('test.example', 1)} === '3'", 10)   # the last one counts a moment later
    wait_until(lambda: sum(tool.status(apache.board)["workers"]["states"].values()) == 10, 10,
               "all workers")
    with apache.connect() as connection:
        connection.send_request(nap)
        page.wait(f"{cell('test.example', 2)} === '1'", 4)
        squares = page.evaluate("""Array.from(document.querySelectorAll('.process i'))
            .map(square => [square.className, square.title])""")
        assert len(squares) == 10
        busy = [title for state, title in squares if title.startswith("handling")]
        assert sorted("test.example" in title for title in busy) == [False, True], squares
        assert all(state == ("handle" if title.startswith("handling") else "idle")
                   for state, title in squares if title.split()[0] in ("handling", "idle"))
        assert connection.read_response().status == 200
    page.wait(f"{cell('test.example', 1)} === '4' && {cell('test.example', 2)} === '0'", 6)
    own = url_of(apache)
    assert page.complaints == []
    assert {request.split("?")[0] for request in page.requests} == {own}, page.requests


def test_charts_agree_with_the_client(browser, cgi_server):
    """What is over time is exact however long the page did not look."""
    apache = cgi_server(workers=10)
    nap = apache.cgi("nap", NAP.format("0.05"))
    page = show(browser, apache)
    page.evaluate("document.querySelector('button').click()")
    asked = len(page.requests)
    before = tool.status(apache.board)["uptime_seconds"]
    client = clients.ab(apache.port, nap, 60, 5)
    time.sleep(2.5)
    page.evaluate("1")
    assert len(page.requests) == asked, "it asked although it had been told to pause"
    page.evaluate("document.querySelector('button').click()")
    page.wait(f"{cell('test.example', 1)} === '60'", 10)
    since = float(tool.status(apache.board)["uptime_seconds"] - before)
    rate = float(page.evaluate(tile("requests/s")).removesuffix("/s"))
    assert 60 / (since + 4) < rate < 60 / (since - 4 if since > 5 else 1), (rate, since)
    assert 0.05 < seconds(page.evaluate(tile("mean time"))) < client["mean"] * 1.02, client
    median, p95, p99 = page.evaluate("""Array.from(Array.from(document.querySelectorAll('figure'))
        .find(f => f.textContent.startsWith('The slower requests')).querySelectorAll('output'))
        .map(output => output.textContent)""")
    assert 0.05 * 0.88 < seconds(median) <= seconds(p95) and p99 == "–", "60 have no 99th hundredth"
    assert page.evaluate(tile("p99")) == "too few"
    assert page.complaints == []


def test_the_99th_hundredth_is_of_the_last_minute(browser, cgi_server):
    """Many fast answers of before the page was opened do not hide that all are slow now."""
    apache = cgi_server(workers=10)
    clients.ab(apache.port, "/index.html", 20000, 8)
    nap = apache.cgi("nap", NAP.format("0.2"))
    page = show(browser, apache)
    assert page.evaluate(tile("p99")) in ("…", "too few")
    client = clients.ab(apache.port, nap, 120, 10)
    page.wait(f"{cell('test.example', 1)} === '20120'", 10)
    wait_until(lambda: page.evaluate(tile("p99")).endswith("s"), 10, "enough for it")
    # The client's own waits for a CPU are in its time, and in none of the server's.
    assert 0.88 * (client["p99"] - client["delayed"]) < seconds(page.evaluate(tile("p99"))) \
        < 1.13 * client["p99"], client
    assert page.complaints == []


def test_what_was_before_the_page(browser, server, mpm):
    """The journal's requests, all of them, where the button is pressed."""
    apache = server(mpm, workers=10)
    clients.ab(apache.port, "/", 450, 5)
    assert apache.get("/none").status == 404
    page = show(browser, apache)
    page.evaluate("document.querySelector('article section button').click()")
    page.wait("document.body.textContent.includes('451 requests: all that the journal still has.')", 10)
    charts = page.evaluate("""Array.from(document.querySelectorAll('article section figure'))
        .map(figure => [figure.querySelector('strong').textContent, Array.from(
            figure.querySelectorAll('li')).filter(li => !li.hidden).map(li =>
                li.textContent.split(' ')[0])])""")
    assert [title for title, _ in charts] == ["Requests a second", "Where a request's time went",
                                              "The slower requests"]
    assert charts[0][1] == ["2xx", "4xx"] and "handle" in charts[1][1], charts
    assert charts[2][1] == ["p50", "p95", "p99"]
    assert page.complaints == []


def test_events_are_shown_as_they_happen(browser, server, mpm):
    apache = server(mpm, workers=10)
    page = show(browser, apache)
    rows = """Array.from(document.querySelectorAll('article section')).find(section =>
        section.firstChild.textContent === 'Latest events').querySelectorAll('tbody tr')"""
    forked = f"""Array.from({rows}).map(row => row.cells[1].textContent + ' '
        + row.cells[2].textContent)"""
    page.wait(f"{rows}.length > 0")
    assert {f"fork child {pid}" for pid in apache.children()} <= set(page.evaluate(forked))
    apache.restart()
    page.wait(f"Array.from({rows}).some(row => row.cells[1].textContent.startsWith('generation'))", 10)
    wait_until(lambda: {f"fork child {pid}" for pid in apache.children()}
               <= set(page.evaluate(forked)), 10, "the new children's forks")
    assert page.complaints == []


def test_a_page_waits_for_its_turn(browser, server, mpm):
    """Where others keep all answers of the journal, the page shows the rest, and the events
    later."""
    apache = server(mpm, workers=10)
    clients.ab(apache.port, "/", 20000, 5, ["-k"])
    held = [apache.connect(receive_buffer=4096) for _ in range(4)]
    for connection in held:
        connection.send_request("/mpm-status?format=journal&since=start", keep=False)
        assert connection.read_head()[0] == 200
    page = show(browser, apache)
    wait_until(lambda: sum(row[0] == "503" for row in apache.access_log()) >= 2, 20,
               "the page to have been put off")
    assert page.evaluate(LIVE) and page.evaluate(cell("test.example", 1)) is not None
    assert "fork child" not in page.evaluate("document.body.textContent")
    for connection in held:
        connection.reset()
    page.wait("document.body.textContent.includes('fork child')", 15)
    refused = [complaint for complaint in page.complaints if "503" not in complaint]
    assert refused == [], refused


def test_what_a_client_sent_is_text(browser, cgi_server):
    apache = cgi_server("MPMStatPaths On\nAcceptPathInfo On\n", workers=4)
    nap = apache.cgi("nap", NAP.format(5))
    page = show(browser, apache)
    with apache.connect() as connection:
        connection.send_request(nap + "/" + HOSTILE.replace(" ", "%20"))
        page.wait("document.body.textContent.includes('<img src=x')", 4)
        assert page.evaluate("document.querySelectorAll('main img').length") == 0
        assert page.evaluate("Array.from(document.querySelectorAll('td'))"
                             f".some(cell => cell.textContent === '{nap}/{HOSTILE}')")
        fresh = show(browser, apache)     # it came with the page
        assert fresh.evaluate("document.body.textContent.includes('<img src=x')")
        assert fresh.evaluate("document.querySelectorAll('img').length") == 0
        assert connection.read_response().status == 200
    assert page.complaints == [] and fresh.complaints == []


def test_nothing_else_can_run_or_connect(browser, server):
    page = show(browser, server("event"))
    page.evaluate("""{ const script = document.createElement("script");
        script.textContent = "window.intruder = 1"; document.body.append(script); }""")
    assert page.evaluate("typeof window.intruder") == "undefined"
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', e => 'refused')") \
        == "refused"
    assert any("Content Security Policy" in complaint for complaint in page.complaints)


@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
def test_it_fits(browser, server, width, dark):
    page = show(browser, server("event"), width=width, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_php_beside_apache(browser, php_server, php_boards):
    apache = php_server("event", f'MPMStatPHPBoards "{php_boards}"', workers=10, children=2,
                        settings=php.settings(php_boards, workers_limit=2))
    assert apache.get("/sleep.php?seconds=0.1&spread=0").status == 200
    board = php.board(php_boards, "fpm-fcgi")
    php_boards.chmod(0o755)
    board.chmod(0o644)     # for the server's user, as its group would
    page = show(browser, apache)
    heads = page.evaluate("Array.from(document.querySelectorAll('h2')).map(h => h.textContent)")
    assert heads == ["Apache · event", f"PHP · fpm-fcgi · {board.name}"]
    assert page.evaluate("""Array.from(document.querySelectorAll('article:nth-child(2) .legend li'))
        .some(entry => entry.textContent.startsWith('php_wait'))""")
    page.wait("""Array.from(document.querySelectorAll('article:nth-child(2) tbody td'))
        .some(cell => cell.textContent === 'fork php')""")
    assert page.complaints == []


def table(nth, title):
    """JavaScript: the texts of a table's rows, in the section of the nth board; null: not shown."""
    return f"""(section => section.hidden ? null : Array.from(section.querySelectorAll('tbody tr'))
        .map(row => Array.from(row.cells).map(cell => cell.textContent)))(Array.from(
            document.querySelectorAll('article:nth-child({nth}) section')).find(section =>
                section.firstChild.textContent === '{title}'))"""


@pytest.fixture
def saved_page(server, tmp_path):
    """saved_page(snapshot): the path of the page with these boards in it. It has no server."""
    apache = server("event")

    def save(snapshot):
        text = apache.get("/mpm-status", headers=BROWSERS).text()
        data = json.dumps(snapshot).replace("<", "\\u003c")
        page = re.sub(r'(<script[^>]* id="data"[^>]*>).*?(</script>)',
                      lambda found: found[1] + data + found[2], text, flags=re.DOTALL)
        path = tmp_path / "saved.html"
        path.write_text(page)
        return path
    return save


def test_tables_show_what_the_boards_say(browser, saved_page):
    """Four requests of a made-up server and of its PHP, of which every interval, wait and end is
    known; and two pools, of which one has a hostile name."""
    with boards.board(4, php="php.board") as board:
        done = tool.run("status", "--format", "json", board.path, board.php)
        assert done.returncode == 0, done.stderr
    snapshot = json.loads(done.stdout)
    snapshot["boards"][0]["connections"].update(http2_workers_limit=25, http2_workers_busy=6)
    labels = snapshot["boards"][1]["labels"]
    pool, = (label for label in labels if label["label"] == "www")
    pool["in_flight"], pool["workers"] = 2, {"limit": 5, "limit_reached": 3, "wanted": 9}
    labels.append(json.loads(json.dumps({**pool, "label": HOSTILE, "in_flight": 7,
                                         "workers": {"limit": 7, "limit_reached": None,
                                                     "wanted": None}})))
    page = browser.open(saved_page(snapshot))
    assert page.evaluate(table(1, "By label"))[0][:6] == ["www", "4", "0", "0", "0", "280 kB"]
    assert page.evaluate(table(1, "Within the phases, by label")) == [
        ["www", *words] for words in (
            ["undelivered", "4", "5.00 ms", "20.0 ms"], ["backend", "4", "2.70 ms", "10.8 ms"],
            ["send_client", "4", "300 µs", "1.20 ms"], ["send_network", "4", "70.0 µs", "280 µs"],
            ["checks", "4", "60.0 µs", "240 µs"], ["log", "4", "50.0 µs", "200 µs"],
            ["upload", "4", "40.0 µs", "160 µs"], ["send_server", "4", "30.0 µs", "120 µs"],
            ["tls", "4", "8.00 µs", "32.0 µs"], ["h2_wait", "4", "0.60 µs", "2.40 µs"])]
    assert page.evaluate(table(2, "Within the phases, by label"))[:2] == [
        ["www", "database", "12", "8.33 µs", "100 µs"], ["www", "cache", "4", "10.0 µs", "40.0 µs"]]
    ends = {nth: [row[:5] for row in page.evaluate(table(nth, "Other ends"))] for nth in (1, 2)}
    assert ends[1] == [["proxy:unix:/run/php.sock", "handler", "4", "0", "2.94 ms"],
                       ["fcgi://localhost", "backend", "4", "0", "2.70 ms"]]
    assert ends[2] == [["mysql 127.0.0.1:3306", "database", "8", "0", "10.0 µs"],
                       ["redis 127.0.0.1:6379", "cache", "4", "4", "10.0 µs"],
                       ["sqlite /srv/app.db", "database", "4", "0", "5.00 µs"]]
    assert page.evaluate(tile("workers wanted")) == "not known"   # no server has the listeners
    assert page.evaluate(tile("HTTP/2 workers")) == "6 of 25"
    assert page.evaluate("Array.from(document.querySelectorAll('dt')).filter(term => "
                         "term.textContent === 'HTTP/2 workers').length") == 1
    assert page.evaluate(table(1, "Pools")) is None
    assert page.evaluate(table(2, "Pools")) == [["www", "2", "5", "3", "9"],
                                                [HOSTILE, "7", "7", "not known", "not known"]]
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert page.complaints == []


# ---- what the last minute says ---------------------------------------------------------------


def test_percentiles_of_a_step(browser, saved_page):
    """Within an eighth of the times themselves; of too few requests there is none."""
    page = browser.open(saved_page({"boards": [], "unreadable": []}))

    def quantile(times, q):
        return page.evaluate(f"minute.quantile({json.dumps({'times': times})}, {q})")
    for took in (0, 1e-7, 5.12e-7, 0.001, 0.0011, 0.354, 1.0, 59.9):
        bound = page.evaluate(f"minute.bins([{{...minute.request({{start: 0, total: {took}, "
                              "status: 200, label: 'a'}), parts: {}}])[0].times")
        (lower, count), = bound.items()
        assert count == 1 and float(lower) <= took <= float(lower) * 1.125 + 5.12e-7, (took, bound)
    # 90 requests of 1.00 to 1.13 ms and 10 of 0.512 to 0.576 s: the bounds of their buckets.
    times = {"0.001048576": 90, "0.536870912": 10, "0.002": 0}
    assert quantile(times, 0.5) == pytest.approx(0.001048576 + 131.072e-6 * 50 / 90)
    assert quantile(times, 0.95) == pytest.approx(0.536870912 * (1 + 0.125 / 2))
    assert quantile(times, 0.99) == pytest.approx(0.536870912 * (1 + 0.125 * 0.9))
    assert quantile(times, 0.999) is None and quantile({}, 0.5) is None


def step(requests, seconds=60, no_idle=0, **parts):
    """The sums of a minute, as minute.js makes them of two snapshots. Times are of all requests."""
    failed = {name: parts.pop(name, 0) for name in ("4xx", "5xx")}
    return {"seconds": seconds, "requests": requests, "no_idle": no_idle, "workers": {},
            "status": {"2xx": requests - sum(failed.values()), **failed}, "parts": parts}


def board_of(sums, limit=5):
    return {"step": sums, "limit": limit, "busy": 1}


SLEEPERS = step(100, no_idle=54, php_wait=38, sleep=10, cpu=1)
MINUTES = [
    # (Apache's, PHP's boards, what is said)
    (step(100, backend=48, handle=2), [SLEEPERS], "PHP's workers ran out: none of 5 was idle for "
     "90.0 % of this time. Waiting for a PHP worker took 380 ms a request on average (76.0 % of its "
     "time). PHP's waiting for its own sleep took 100 ms a request (20.0 % of its time)."),
    (None, [SLEEPERS], "PHP's workers ran out: none of 5 was idle for 90.0 % of this time. Waiting "
     "for a PHP worker took 380 ms a request on average (77.6 % of its time). PHP's waiting for its "
     "own sleep took 100 ms a request (20.4 % of its time)."),
    (step(100, queue=30, handle=10, no_idle=30), [], "Apache's workers ran out: none of 50 was idle "
     "for 50.0 % of this time. Waiting for a worker took 300 ms a request on average (75.0 % of "
     "its time). The application, or what it waits for took 100 ms a request (25.0 % of its time)."),
    # Idle workers, and yet requests waited: nothing ran out.
    (step(100, queue=30, handle=10), [], "Waiting for a worker took 300 ms a request on average "
     "(75.0 % of its time). The application"),
    (step(100, handle=20), [step(100, database=15, cpu=4)],
     "Workers did not run out: 1 of 50 were busy at the last look. PHP's waiting for a database took "
     "150 ms a request (75.0 % of its time)."),
    (step(100, handle=20, **{"4xx": 10, "5xx": 90}), [], "Of 100 answers 10 were 4xx, 90 were 5xx."),
    (step(100, handle=20, **{"4xx": 2}), [], "Workers did not run out"),
    (step(0), [], "No request was complete."),
    (step(19, handle=20), [], "Only 19 requests were complete: too few to say more."),
    # PHP serves another server, too: its parts are never more than Apache waited for.
    (step(100, backend=1, handle=1, send=8), [step(900, http=200)],
     "Workers did not run out: 1 of 50 were busy at the last look. Sending the answer took 80.0 ms "
     "a request (80.0 % of its time)."),
]


def test_parts_of_a_board_add_up(browser, saved_page):
    """Of an Apache's phases and intervals, of PHP's times, and of both together."""
    page = browser.open(saved_page({"boards": [], "unreadable": []}))
    of = {"start": 0, "queue": 1, "h2_wait": 0.25, "read": 2, "tls": 0.5, "handle": 40, "checks": 1,
          "upload": 3, "backend": "fcgi", "backend_time": 30, "send": 5, "send_client": 2,
          "send_network": 1, "send_server": 0.5, "log": 9, "total": 48, "label": "a"}
    php = {"start": 0, "php_wait": 8, "php_run": 20, "user": 1, "system": 1, "cpu_wait": 2,
           "waits": {"database": 12}, "label": "a"}
    apaches = page.evaluate(f"minute.request({json.dumps(of)}).parts")
    phps = page.evaluate(f"minute.request({json.dumps(php)}).parts")
    both = page.evaluate(f"minute.partsWithPHP({json.dumps(apaches)}, [{{parts: {json.dumps(phps)}}}])")
    named = {name: value for name, value in apaches.items() if value}
    assert named == {"queue": 0.75, "h2_wait": 0.25, "read": 1.5, "tls": 0.5, "checks": 1, "upload": 3,
                     "backend": 30, "handle": 6, "send_client": 2, "send_network": 1,
                     "send_server": 0.5, "send": 1.5}
    assert {name: value for name, value in phps.items() if value} == {
        "php_wait": 8, "cpu": 2, "cpu_wait": 2, "database": 12, "rest": 4}
    assert sum(both.values()) == sum(apaches.values()) == 48 and both["database"] == 12
    assert (both["backend"], both["handle"]) == (2, 6)


def test_what_the_last_minute_says(browser, saved_page):
    page = browser.open(saved_page({"boards": [], "unreadable": []}))
    for apache, phps, wanted in MINUTES:
        front = "undefined" if apache is None else json.dumps(board_of(apache, 50))
        said = page.evaluate(f"minute.say({front}, {json.dumps([board_of(php) for php in phps])})")
        assert said.startswith(wanted), said


def test_the_page_says_what_runs_out(browser, php_server, php_boards):
    """Eight clients at a time for two PHP workers, while the page looks."""
    apache = php_server("event", f'MPMStatPHPBoards "{php_boards}"', workers=20, children=2,
                        settings=php.settings(php_boards, workers_limit=2))
    assert apache.get("/sleep.php?seconds=0.01&spread=0").status == 200
    php_boards.chmod(0o755)
    php.board(php_boards, "fpm-fcgi").chmod(0o644)
    page = show(browser, apache)
    said = "document.querySelector('#minute').textContent"
    clients.ab(apache.port, "/sleep.php?seconds=0.1&spread=0", 80, 8)
    page.wait(f"{said}.includes(\"PHP's workers ran out: none of 2 was idle\")", 10)
    # One of 81 was short, before the page was opened.
    assert re.search("PHP's waiting for its own sleep took (9[6-9]|10)", page.evaluate(said))
    legend = page.evaluate("""Array.from(document.querySelectorAll('article:first-child figure')[1]
        .querySelectorAll('li')).filter(li => !li.hidden).map(li => li.textContent.split(' ')[0])""")
    assert {"php_wait", "sleep", "handle"} <= set(legend) and "database" not in legend, legend
    assert page.complaints == []


@pytest.fixture
def locked_php(php_server, php_boards, tmp_path):
    """(Apache with two PHP workers and a page that waits for a lock, what takes and frees the lock)"""
    apache = php_server("event", f'MPMStatPHPBoards "{php_boards}"', workers=20, children=2,
                        settings=php.settings(php_boards, workers_limit=2))
    lock = tmp_path / "lock"
    lock.touch(0o666)
    lock.chmod(0o666)
    for folder in [tmp_path, *tmp_path.parents]:
        if str(folder).startswith("/tmp/pytest"):
            folder.chmod(0o755)
    apache.page("lock.php", f"<?php flock(fopen('{lock}', 'r'), LOCK_EX); echo 'free';")
    assert apache.get("/lock.php").status == 200
    php_boards.chmod(0o755)
    php.board(php_boards, "fpm-fcgi").chmod(0o644)
    return apache, lock


def now_of(apache):
    return json.loads(apache.get("/mpm-status?format=json").text())["now"]


def test_the_page_says_who_is_stuck(browser, locked_php):
    """The test holds the lock for which both workers of PHP wait, and two more requests with them."""
    apache, lock = locked_php
    head = "document.querySelector('#now')"
    connections = []
    with open(lock) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for _ in range(4):
            connections.append(apache.connect(timeout=60))
            connections[-1].send_request("/lock.php")
        now = wait_until(lambda: next((held for held in now_of(apache) if held["stuck"]), None), 30,
                         "PHP to be stuck")
        page = show(browser, apache)
        page.wait(f"{head}.className === 'stuck'")
        said = page.evaluate(head + ".textContent")
        minute = page.evaluate("document.querySelector('#minute').textContent")
        title = page.evaluate("document.title")
        waits = page.evaluate("""Array.from(document.querySelectorAll('article:first-child tr'))
            .map(row => Array.from(row.cells, cell => cell.textContent))
            .filter(row => row.includes('handling') && row.some(text => text.startsWith('lock ')))""")
        fcntl.flock(held, fcntl.LOCK_UN)
    assert (now["held"], now["alike"], now["wait"], now["workers_limit"]) == (2, 2, "lock", 2)
    assert now["longest_seconds"] >= now["none_taken_for_seconds"] >= 2
    for sentence in (said, now["sentence"]):
        assert re.match(r"PHP is stuck: all of its 2 workers wait for lock .*, the longest for [\d.]+ s\. "
                        r"All are busy, and none has taken a request for [\d.]+ s\. 2 connections wait "
                        r"in the accept queue\. All of these are in {main}, \S+:1\.$", sentence), sentence
    assert "too few" not in minute and title.startswith("stuck · ")
    assert len(waits) == 2, waits    # of Apache's four workers those whose requests PHP has taken
    page.wait(f"{head}.hidden", 20)
    assert page.complaints == []
    for connection in connections:
        connection.close()


def test_the_charts_begin_with_the_journal(browser, server):
    """Requests of before the page was opened, in steps of two seconds, and nothing besides."""
    apache = server("event")
    clients.ab(apache.port, "/", 200, 2)
    assert apache.get("/none").status == 404
    time.sleep(2.5)
    page = show(browser, apache)
    page.wait("document.querySelector('article figure svg path')?.getAttribute('d').length > 0", 5)
    kinds = page.evaluate("""Array.from(document.querySelector('article figure').querySelectorAll('li'))
        .filter(li => !li.hidden).map(li => li.textContent.split(' ')[0])""")
    assert kinds == ["2xx", "4xx"], kinds
    assert page.evaluate("document.querySelectorAll('article section button').length") == 1
    assert page.complaints == []


def test_steps_of_the_past(browser, saved_page):
    """Each request in the step in which it ended; its worker's states in those in which they were."""
    page = browser.open(saved_page({"boards": [], "unreadable": []}))
    board = {"started": "2026-01-01T00:00:00Z", "uptime_seconds": 10.5, "slots": [
        {"state": "handling", "request_for_seconds": 3, "label": "www"},
        {"state": "handling", "request_for_seconds": 3, "label": "mpm-status"},
        {"state": "idle", "request_for_seconds": None, "label": None}]}
    start = 1767225600
    line = {"start": start + 1, "queue": 1, "read": 0.5, "handle": 4, "send": 0.5, "total": 6,
            "status": 200, "label": "www"}
    late = {**line, "start": start + 9}     # it ended after the snapshot
    steps = page.evaluate(f"""minute.past([{json.dumps(line)}, {json.dumps(late)}]
        .map(minute.request), {json.dumps(board)}, true)""")
    assert [step["at"] for step in steps] == [0.5, 2.5, 4.5, 6.5, 8.5, 10.5]
    assert [step["requests"] for step in steps] == [0, 0, 0, 0, 1, 0]
    assert [step["workers"].get("handling", 0) for step in steps] == [0, 0, 2, 2, 1, 2]
    assert [step["workers"].get("reading", 0) for step in steps] == [0, 0.5, 0, 0, 0, 0]
    assert [step["workers"].get("sending", 0) for step in steps] == [0, 0, 0, 0, 0.5, 0]
    assert {step["watched"] for step in steps} == {0}
    whole = page.evaluate(f"""minute.past([{json.dumps(line)}].map(minute.request),
        {json.dumps(board)}, false)""")
    assert [step["at"] for step in whole] == [10.5]     # it is not known what was before


# ---- when there is no answer -----------------------------------------------------------------


@pytest.fixture
def stuck(browser, cgi_server, mpm):
    """(A page of a server all of whose workers are busy, what ends that)"""
    apache = cgi_server(workers=4, threads=2)
    apache.allow("AH01259")   # mod_cgid: a script that still sleeps as its client has gone
    nap = apache.cgi("nap", NAP.format(9 if mpm == "event" else 5))
    page = show(browser, apache)
    held = [apache.connect() for _ in range(8)]
    for connection in held:
        connection.send_request(nap)
    yield page
    for connection in held:
        connection.close()


@pytest.mark.mpms("event")
def test_a_server_that_cannot_answer_is_said(stuck, mpm):
    """The page's own question waits, as everybody's does."""
    stuck.wait("document.querySelector('#state').textContent.startsWith('No answer yet')", 10)


@pytest.mark.mpms("prefork", "worker")
def test_a_page_that_keeps_its_worker_shows_what_the_others_do(stuck, mpm):
    stuck.wait("document.querySelector('.warning').textContent.startsWith('All workers are busy')",
               10)
    assert stuck.evaluate(LIVE)
    assert stuck.evaluate(tile("workers busy")) == "4 of 4"
    assert stuck.complaints == []


def test_a_restarted_server_is_followed(browser, server, mpm):
    apache = server(mpm)
    for _ in range(5):
        apache.get("/")
    page = show(browser, apache)
    page.wait(f"{cell('test.example', 1)} === '5'", 10)   # the last one counts a moment later
    assert apache.stop() is None
    page.wait("document.querySelector('#state').textContent.startsWith('No answer: ')", 10)
    apache.log.rename(apache.log.with_suffix(".first"))
    apache.start()
    apache.get("/")
    page.wait(f"{LIVE} && {cell('test.example', 1)} === '1'", 20)
    page.wait("document.body.textContent.includes('fork child')", 10)
    assert page.evaluate("document.querySelectorAll('article').length") == 1
