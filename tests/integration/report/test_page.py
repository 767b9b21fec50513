"""The page of mpmstat report: what comes first, tables that sort, the slowest requests, zoom."""
import json
import sqlite3
from contextlib import closing

import pytest

import build
import tool
from apache import Apache
from browser import show
from tool import report

AB = build.find("ab")
REQUESTS = 240


def record(apache, archive, name, seconds):
    done = tool.run("record", "-o", archive, "--name", name, "-t", apache.board, "--", AB, "-n",
                    REQUESTS, "-c", "6",
                    f"http://127.0.0.1:{apache.port}/sleep.php?seconds={seconds}", timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Two names, each run twice."""
    path = tmp_path_factory.mktemp("page") / "runs.sqlite"
    with Apache("prefork", php="mod_php", workers=3) as apache:
        for _ in range(2):
            record(apache, path, "short", 0.01)
            record(apache, path, "long", 0.03)
    return path


@pytest.fixture(scope="module")
def both(archive, tmp_path_factory):
    path = tmp_path_factory.mktemp("both") / "report.html"
    report("-o", path, archive)
    return path


@pytest.fixture(scope="module")
def one(archive, tmp_path_factory):
    """A run whose requests have thirty labels and intervals: (archive, page)."""
    directory = tmp_path_factory.mktemp("one")
    with sqlite3.connect(archive) as old, closing(sqlite3.connect(directory / "run.db")) as db:
        old.backup(db)
        db.executescript("""
            UPDATE server_requests SET label = 'label ' || (rowid % 30),
                checks_ns = handle_ns / 10, upload_ns = 0, backend_ns = handle_ns / 2,
                tls_ns = 0, h2_wait_ns = queue_ns / 3, handler = 'proxy-server',
                backend = 'http://127.0.0.1:' || (8000 + rowid % 2);
            UPDATE server_requests SET status = 503 WHERE label = 'label 7';""")
    report("-o", directory / "report.html", "--run", "1", directory / "run.db")
    return directory / "run.db", directory / "report.html"


def data_of(page):
    return page.evaluate("JSON.parse(document.getElementById('data').textContent)")


def unfolded(browser, path, width=1280, **options):
    """The page with its repetitions open, and all charts drawn."""
    page = browser.open(path, width=width, height=60000, **options)
    page.evaluate("document.querySelectorAll('.repetition details').forEach(d => d.open = true)")
    page.wait("!document.querySelector('figure:not([data-drawn])')")
    return page


def press(page, selector, key):
    page.evaluate(f"""document.querySelector('{selector}').dispatchEvent(
        new KeyboardEvent("keydown", {{ key: {json.dumps(key)}, cancelable: true }}))""")


# ---- the order ---------------------------------------------------------------------------


def test_two_names_open_with_the_comparison(browser, both):
    page = browser.open(both)
    sections = page.evaluate("""Array.from(document.querySelectorAll("main > section"))
        .map(section => section.id)""")
    assert sections[:3] == ["ab", "verdict", "compared"]
    assert sections[-3:] == ["sizing", "numbers", "provenance"]
    assert len([name for name in sections if name.startswith("run-")]) == 2, "one for each name"
    cards = page.evaluate("""Array.from(document.querySelectorAll("#verdict article")).map(card =>
        [card.querySelector("h3").textContent,
         card.querySelectorAll(".repetitions tbody tr").length])""")
    assert cards == [["short", 2], ["long", 2]]
    links = page.evaluate("""Array.from(document.querySelectorAll(".repetitions th a")).map(link =>
        [link.textContent.includes("(shown)"), link.getAttribute("href")])""")
    assert {href for _, href in links} == {f"#run-{run}" for run in range(1, 5)}
    assert sum(shown for shown, _ in links) == 2, "one of each name"
    rows = page.evaluate("""Array.from(document.querySelectorAll("#ab .compared th[scope=row]")).map(
        name => name.textContent)""")
    assert "server, mean" in rows
    for run in range(1, 5):
        assert page.evaluate(f"document.querySelectorAll('#run-{run}').length") == 1
    assert page.complaints == []


def test_one_run_opens_with_the_verdict(browser, one):
    page = browser.open(one[1])
    sections = page.evaluate("""Array.from(document.querySelectorAll("main > section"))
        .map(section => section.id)""")
    assert sections == ["verdict", "run-1", "sizing", "numbers", "provenance"]
    assert page.evaluate("document.querySelectorAll('#verdict .tiles').length") == 2
    heads = page.evaluate("""Array.from(document.querySelectorAll("#run-1 > h3")).map(
        head => head.textContent)""")
    wanted = ["Where the time went", "Over time", "By label", "By handler and backend",
              "The slowest requests", "Both sides"]
    assert [head for head in heads if head in wanted] == wanted


@pytest.mark.parametrize("client, tile", [("non_2xx = 240", "failed, not 2xx|240"),
                                          ("non_2xx = 0, failed = 7", "failed, not 2xx|7"),
                                          ("failed = NULL", "5xx|8")])
def test_answers_with_an_error_are_no_success(browser, one, tmp_path, client, tile):
    """A load tool's own count of failures leaves out what was answered with an error."""
    with sqlite3.connect(one[0]) as old, closing(sqlite3.connect(tmp_path / "run.db")) as db:
        old.backup(db)
        db.executescript(f"UPDATE client_results SET {client};")
    report("-o", tmp_path / "report.html", "--run", "1", tmp_path / "run.db")
    page = browser.open(tmp_path / "report.html")
    assert page.evaluate("""Array.from(document.querySelectorAll("#verdict .tiles")[0].children)
        .map(tile => tile.children[0].textContent + "|" + tile.children[1].textContent)
        .pop()""") == tile


def test_a_link_opens_what_is_folded(browser, both):
    page = browser.open(both)
    folded = page.evaluate("document.querySelector('.repetition').id")
    page.evaluate(f"location.hash = '{folded}'")
    page.wait(f"document.querySelector('#{folded} details').open")


@pytest.mark.parametrize("dark", (False, True))
def test_narrow(browser, both, one, dark):
    """Nothing scrolls sideways but what scrolls by itself."""
    for path in (both, one[1]):
        page = unfolded(browser, path, 400, dark=dark)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert page.complaints == []


def test_wide(browser, one):
    """Charts stand next to each other where there is room."""
    page = show(browser, one[1], 1280)
    assert page.evaluate("""new Set(Array.from(document.querySelectorAll(
        '.charts[data-run] > figure')).map(figure => figure.offsetLeft)).size""") >= 2


# ---- tables ------------------------------------------------------------------------------


COLUMN = """Array.from(document.querySelector('[aria-label="By label"] tbody').rows).map(
    row => row.cells[%d].querySelector('data')?.value ?? row.cells[%d].textContent)"""
HEAD = """document.querySelector('[aria-label="By label"] thead').rows[0].cells[%d]"""


def column(page, number):
    return page.evaluate(COLUMN % (number, number))


def test_tables_sort(browser, one):
    page = browser.open(one[1])
    shares = [float(value) for value in column(page, 2)]
    assert len(shares) == 20 and shares == sorted(shares, reverse=True)
    assert page.evaluate(HEAD % 2 + ".getAttribute('aria-sort')") == "descending"
    foot = """document.querySelector('[aria-label="By label"] tfoot').textContent"""
    before = page.evaluate(foot)
    assert before.strip().startswith("10 others")
    assert set(column(page, 5)) == {"–"}, "the p95 of few requests"
    for number, numeric in ((4, True), (8, True), (0, False)):
        button = HEAD % number + ".querySelector('button')"
        page.evaluate(f"{button}.focus()")
        assert page.evaluate(f"document.activeElement === {button}"), "the keyboard comes there"
        page.evaluate(f"{button}.click()")
        values = column(page, number)
        first = page.evaluate(HEAD % number + ".getAttribute('aria-sort')")
        assert first == ("descending" if numeric else "ascending")
        assert values == (sorted(values, key=float, reverse=True) if numeric else sorted(values))
        page.evaluate(f"{button}.click()")
        values = column(page, number)
        assert values == (sorted(values, key=float) if numeric else sorted(values, reverse=True))
        assert page.evaluate("document.querySelectorAll('[aria-label=\"By label\"] "
                             "[aria-sort]:not([aria-sort=none])').length") == 1
    assert page.evaluate(foot) == before
    assert page.complaints == []


def test_tables_are_of_all_requests(browser, one):
    archive, path = one
    page = browser.open(path, scripts=False)
    for name in ("By label", "By handler and backend"):
        table = f"""document.querySelector('[aria-label="{name}"] table')"""
        counts = page.evaluate(f"""Array.from({table}.rows).slice(1).map(row =>
            Number(row.cells[1].querySelector('data').value))""")
        assert sum(counts) == REQUESTS
        shares = page.evaluate(f"""Array.from({table}.rows).slice(1).map(row =>
            Number(row.cells[2].querySelector('data').value))""")
        assert sum(shares) == pytest.approx(1, abs=0.02)
        assert page.evaluate(f"{table}.querySelectorAll('button').length") == 0
    with closing(sqlite3.connect(archive)) as db:
        (errors,) = db.execute("SELECT count(*) FROM server_requests WHERE status = 503 "
                               "AND server_id = 1").fetchone()
    shown = page.evaluate("""Array.from(document.querySelector('[aria-label="By label"] table')
        .rows).slice(1).map(row => Number(row.cells[8].querySelector('data').value))""")
    assert sum(shown) == errors > 0


# ---- the slowest -------------------------------------------------------------------------


def test_parts_of_the_slowest_add_up(browser, one):
    archive, path = one
    page = browser.open(path, scripts=False)
    rows = page.evaluate("""Array.from(document.querySelector('.slowest tbody').rows).map(row => ({
        total: row.cells[3].querySelector('data').value,
        parts: Array.from(row.querySelectorAll('rect[data-value]')).map(r => Number(r.dataset.value)),
        said: row.querySelector('svg').getAttribute('aria-label') }))""")
    with closing(sqlite3.connect(archive)) as db:
        slowest = [total for (total,) in db.execute(
            "SELECT queue_ns + read_ns + handle_ns + send_ns AS total FROM server_requests "
            "WHERE server_id = 1 AND ghost = 0 AND label <> 'mpm-status' "
            "ORDER BY total DESC LIMIT 20")]
    assert [sum(row["parts"]) for row in rows] == slowest
    for row, total in zip(rows, slowest):
        assert float(row["total"]) == pytest.approx(total / 1e9)
        assert len(row["parts"]) >= 3 and row["said"].count(";") == len(row["parts"])


def test_a_server_without_work_has_no_charts(browser, one, tmp_path):
    """As a PHP that nothing asked; one whose workers are busy all the time, with no request that
    ends, has them."""
    titles = """Array.from(document.querySelectorAll('.charts[data-run="0"] figure')).filter(
        figure => figure.textContent.includes("What Apache's workers did")).length"""
    for state, shown in (("idle_ns", 0), ("handling_ns", 2)):
        path = tmp_path / f"{state}.db"
        with sqlite3.connect(one[0]) as old, closing(sqlite3.connect(path)) as db:
            old.backup(db)
            columns = [row[1] for row in db.execute("PRAGMA table_info(servers)")][1:]
            wanted = ", ".join("'other.board'" if c == "target" else c for c in columns)
            db.execute(f"INSERT INTO servers SELECT 99, {wanted} FROM servers "
                       "WHERE run_id = 1 AND producer = 'apache'")
            db.execute(f"INSERT INTO samples (server_id, time_ns, moment, workers_limit, idle_ns, "
                       f"reading_ns, handling_ns, sending_ns, keepalive_ns, closing_ns) SELECT 99, "
                       f"time_ns, moment, 3, 0, 0, 0, 0, 0, 0 FROM samples JOIN servers ON "
                       f"servers.id = server_id WHERE run_id = 1 AND producer = 'apache'")
            db.execute(f"UPDATE samples SET {state} = time_ns WHERE server_id = 99")
            db.commit()
        report("-o", path.with_suffix(".html"), "--run", "1", path)
        page = unfolded(browser, path.with_suffix(".html"))
        assert page.evaluate(titles) == shown, state
        assert page.complaints == []


# ---- charts ------------------------------------------------------------------------------


CANVASES = """Array.from(document.querySelectorAll('.charts[data-run="0"] > figure canvas')).map(
    canvas => canvas.toDataURL())"""
FIRST = '.charts[data-run="0"] canvas'
SPAN = """document.querySelector('.charts[data-run="0"] .zoom output').textContent"""


def test_bins_have_a_hundred_requests_where_that_leaves_twenty(browser, both):
    for run in data_of(browser.open(both))["runs"]:
        (server,) = run["servers"]
        bins = len(server["over_time"]["t"])
        assert 1 <= bins <= max(20, REQUESTS // 100)
        assert sum(server["over_time"]["completed"]) == REQUESTS


def test_zoom_moves_all_charts(browser, one):
    page = show(browser, one[1])
    before, whole = page.evaluate(CANVASES), page.evaluate(SPAN)
    assert "UTC" in whole
    press(page, FIRST, "+")
    page.wait(f"{SPAN} !== {json.dumps(whole)}")
    zoomed = page.evaluate(CANVASES)
    moved = [old != new for old, new in zip(before, zoomed)]
    assert sum(moved) >= 5
    press(page, FIRST, "0")
    page.wait(f"{SPAN} === {json.dumps(whole)}")
    assert [old == new for old, new in zip(before, page.evaluate(CANVASES))] == [True] * len(moved)
    buttons = ".charts[data-run=\"0\"] .zoom button"
    page.evaluate(f"document.querySelectorAll('{buttons}')[0].click()")
    narrow = page.evaluate(SPAN)
    page.evaluate(f"document.querySelectorAll('{buttons}')[3].click()")
    assert len({whole, narrow, page.evaluate(SPAN)}) == 3
    page.evaluate(f"document.querySelectorAll('{buttons}')[4].click()")
    assert page.evaluate(SPAN) == whole
    assert page.complaints == []


def test_dragging_zooms(browser, one):
    page = show(browser, one[1])
    whole = page.evaluate(SPAN)
    page.evaluate(f"""{{
        const canvas = document.querySelector('{FIRST}'), box = canvas.getBoundingClientRect();
        canvas.setPointerCapture = () => {{}};
        const send = (type, at) => canvas.dispatchEvent(new PointerEvent(type, {{
            pointerType: "mouse", pointerId: 1, button: 0, clientX: box.left + at * box.width,
            clientY: box.top + 20 }}));
        send("pointerdown", 0.4); send("pointermove", 0.5); send("pointerup", 0.7); }}""")
    assert page.evaluate(SPAN) != whole
    page.evaluate(f"document.querySelector('{FIRST}').dispatchEvent(new MouseEvent('dblclick'))")
    assert page.evaluate(SPAN) == whole
    assert page.complaints == []


def test_legends_toggle(browser, one):
    page = show(browser, one[1])
    figure = ".charts[data-run=\"0\"] figure"
    before = page.evaluate(f"document.querySelector('{figure} canvas').toDataURL()")
    toggle = f"document.querySelector('{figure} .toggle')"
    assert page.evaluate(f"{toggle}.getAttribute('aria-pressed')") == "true"
    page.evaluate(f"{toggle}.click()")
    assert page.evaluate(f"{toggle}.getAttribute('aria-pressed')") == "false"
    assert page.evaluate(f"document.querySelector('{figure} canvas').toDataURL()") != before
    page.evaluate(f"{toggle}.click()")
    assert page.evaluate(f"document.querySelector('{figure} canvas').toDataURL()") == before
    assert page.complaints == []


def test_heat_map_counts_at_the_cursor(browser, one):
    page = show(browser, one[1])
    heat = """Array.from(document.querySelectorAll('.charts[data-run="0"] figure')).find(f =>
        f.querySelector('strong').textContent.startsWith('Latency of all'))"""
    for key in ("ArrowRight", "ArrowUp"):
        page.evaluate(f"""{heat}.querySelector('canvas').dispatchEvent(
            new KeyboardEvent("keydown", {{ key: "{key}" }}))""")
    page.wait(f"{heat}.querySelector('.legend').textContent.includes('of them took')")
    assert "requests, " in page.evaluate("document.querySelector('[aria-live]').textContent")


def test_paper(browser, both, tmp_path):
    """A chart is not wider than the page that it is printed on."""
    page = unfolded(browser, both)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.call("Emulation.setDeviceMetricsOverride", width=720, height=1000, deviceScaleFactor=1,
              mobile=False)
    assert page.evaluate("""Array.from(document.querySelectorAll('figure canvas')).filter(canvas =>
        canvas.getBoundingClientRect().right > 720).length""") == 0
    page.pdf(tmp_path / "report.pdf")
    assert page.complaints == []


# ---- PHP's code -----------------------------------------------------------------------------

FRAMES = [(1, "{main}", "/srv/index.php", 3), (2, "shop", "/srv/wp-content/plugins/shop/a.php", 7),
          (3, "query", "/srv/wp-includes/db.php", 9), (4, "mysqli_query", None, None),
          (5, "<b>evil</b>", "/srv/evil.php", 1)]
STACKS = [(1, None, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4), (5, 1, 5)]
SAMPLES = [(3, "cpu", 300), (4, "database", 600), (5, "cpu", 100)]   # stack, kind, milliseconds


@pytest.fixture(scope="module")
def code(archive, tmp_path_factory):
    """A run with a second of samples."""
    directory = tmp_path_factory.mktemp("code")
    with sqlite3.connect(archive) as old, closing(sqlite3.connect(directory / "run.db")) as db:
        old.backup(db)
        [(server,)] = db.execute("SELECT id FROM servers WHERE run_id = 1")
        for table in ("frames", "stacks", "php_samples"):
            db.execute(f"DELETE FROM {table}")
        db.executemany(f"INSERT INTO frames VALUES ({server}, ?, ?, ?, ?)", FRAMES)
        db.executemany(f"INSERT INTO stacks VALUES ({server}, ?, ?, ?)", STACKS)
        db.executemany(f"INSERT INTO php_samples SELECT {server}, ?, started_ns, started_ns, 1, ?, ?, "
                       "? * 1000000 FROM runs WHERE id = 1",
                       [(key, *sample) for key, sample in enumerate(SAMPLES)])
        db.commit()
    report("-o", directory / "report.html", "--run", "1", directory / "run.db")
    return directory / "report.html"


BOXES = "Array.from(document.querySelectorAll('.flame .boxes > div'), box => box.textContent)"
SAID = "document.querySelector('.flame .said').textContent"


def choose(page, number, value):
    page.evaluate(f"""(select => {{ select.value = {json.dumps(value)};
        select.dispatchEvent(new Event('change')); }})
        (document.querySelectorAll('.flame select')[{number}])""")


def press_in_flame(page, key):
    page.evaluate("document.querySelector('.flame .boxes').dispatchEvent("
                  f"new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))")


def test_a_flame_graph_of_php_code(browser, code):
    page = show(browser, code)
    assert page.evaluate(BOXES) == ["all", "{main}", "shop", "query", "mysqli_query",
                                    "waits: database", "<b>evil</b>"]
    widths = page.evaluate("Array.from(document.querySelectorAll('.flame .boxes > div'), "
                           "box => box.getBoundingClientRect().width)")
    assert widths[2] / widths[0] == pytest.approx(0.9, abs=0.01)
    assert widths[4] / widths[0] == pytest.approx(0.6, abs=0.01)
    choose(page, 0, "cpu")
    assert page.evaluate(BOXES) == ["all", "{main}", "shop", "query", "<b>evil</b>"]
    choose(page, 0, "all")
    choose(page, 1, "component")
    assert page.evaluate(BOXES)[:3] == ["all", "plugins/shop", "{main}"]
    choose(page, 1, "script")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        press_in_flame(page, key)
    assert page.evaluate(BOXES) == ["all", "{main}", "shop", "query", "mysqli_query",
                                    "waits: database"]
    assert "90.0 %" in page.evaluate(SAID) and "plugins/shop/a.php:7" in page.evaluate(SAID)
    press_in_flame(page, "Escape")
    assert len(page.evaluate(BOXES)) == 7
    page.evaluate("""(input => { input.value = 'EVIL'; input.dispatchEvent(new Event('input')); })
        (document.querySelector('.flame input'))""")
    assert "10.0 %" in page.evaluate(SAID)
    assert page.evaluate("document.querySelectorAll('.flame .found').length") == 1
    assert page.complaints == []


def test_bills_of_php_code(browser, code):
    page = show(browser, code)
    rows = page.evaluate("""Array.from(document.querySelectorAll('table.sortable'))
        .map(table => Array.from(table.tBodies[0].rows, row => Array.from(row.cells,
            cell => cell.textContent.trim())))
        .filter(rows => rows.some(row => row[0].includes('plugins/shop')))""")
    assert rows[0] == [["plugins/shop", "90.0 %", "300 ms", "600 ms", "database, 100.0 %"],
                       ["/srv", "10.0 %", "100 ms", "0", ""]]
    assert rows[1][0][0] == "shop, /srv/wp-content/plugins/shop/a.php:7"
