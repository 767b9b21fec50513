"""mpmstat report: every format of recorded runs, and the page as a browser shows it."""
import csv
import html
import io
import json
import os
import pty
import re
import signal
import sqlite3
import stat
import subprocess
from contextlib import closing
from decimal import Decimal

import pytest

import build
import processes
import tool
from apache import Apache
from browser import assert_charts_are_drawn, show
from processes import wait_until
from tool import report

AB = build.find("ab")
EVIL = '</script><b title="x">run & 2'


def record(apache, archive, name, *ab):
    done = tool.run("record", "-o", archive, "--name", name, "-t", apache.board, "--format", "json",
                    "--", AB, *ab, f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.05",
                    timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """(archive, what record said of each run): too few workers, then enough."""
    archive = tmp_path_factory.mktemp("report") / "runs.sqlite"
    said = []
    for name, workers in (("two workers", 2), (EVIL, 8)):
        with Apache("prefork", php="mod_php", workers=workers) as apache:
            said.append(record(apache, archive, name, "-n", "120", "-c", "6"))
    return archive, said


@pytest.fixture(scope="module")
def page_file(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    report("-o", path, runs[0])
    return path


def exact(text):
    return json.loads(text, parse_float=Decimal)


# ---- the formats -----------------------------------------------------------------------


def test_json_is_what_record_said(runs):
    archive, said = runs
    assert exact(report("--format", "json", archive)) == [exact(text) for text in said]


def test_csv(runs):
    archive, said = runs
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv", archive))))
    assert [row["name"] for row in rows] == ["two workers", EVIL]
    for row, text in zip(rows, said):
        summary = exact(text)
        client, (server,) = summary["client"], summary["servers"]
        assert Decimal(row["client_requests_per_second"]) == client["requests_per_second"]
        assert Decimal(row["client_p99_seconds"]) == client["p99_seconds"]
        assert Decimal(row["queue_mean_seconds"]) == server["phases"]["queue"]["mean_seconds"]
        assert int(row["workers_limit"]) == server["workers"]["limit"]
        assert row["php_requests"] == "", "not known is empty, not 0"
        assert row["check_counts"] == "yes" and row["verdict"] == summary["verdict"]


def test_csv_of_every_second(runs):
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv", "--series", runs[0]))))
    for run in ("1", "2"):
        mine = [row for row in rows if row["run"] == run]
        assert sum(int(row["completed"]) for row in mine) == 120
        assert [Decimal(row["t"]) for row in mine] == list(range(len(mine)))


def test_markdown_and_text(runs):
    archive, said = runs
    markdown, text = report("--format", "md", archive), report("--format", "text", archive)
    own = r"</?details>|<summary>[^<]*</summary>"
    assert "<" not in re.sub(own, "", markdown), "nothing else in it is HTML"
    markdown = html.unescape(re.sub(r"\\(.)", r"\1", markdown))
    assert f"### {EVIL}\n" in markdown
    for summary in map(json.loads, said):
        assert summary["verdict"] in markdown
        # Of two sentences, each has in text what to do below it.
        for finding in summary["findings"]:
            if finding["text"] in summary["verdict"]:
                assert " ".join(finding["text"].split()) in " ".join(text.split())
    for words in ("MaxRequestWorkers", "ListenBacklog", "The knee"):
        assert words in markdown and words in text


def test_one_run(runs):
    archive, said = runs
    assert exact(report("--format", "json", "--run", "2", archive)) == [exact(said[1])]
    assert exact(report("--format", "json", "--run", "two workers", archive)) == [exact(said[0])]
    assert len(exact(report("--format", "json", archive, archive))) == 4


def test_stdout_and_file_are_the_same(runs, page_file):
    assert report(runs[0]) == page_file.read_text()


# ---- the page in a browser --------------------------------------------------------------


@pytest.mark.parametrize("width", (390, 1280))
@pytest.mark.parametrize("dark", (False, True))
def test_charts_are_drawn(browser, page_file, width, dark):
    """The charts of two runs, and of both."""
    assert_charts_are_drawn(browser, page_file, 15, width, dark=dark)


def test_numbers_are_those_of_the_json(browser, page_file, runs):
    page = show(browser, page_file)
    summaries = [json.loads(text) for text in runs[1]]
    shown = page.evaluate("""Object.fromEntries(Array.from(
        document.querySelectorAll("[data-metric]")).map(row => [row.dataset.metric, Array.from(
            row.querySelectorAll("td")).map(cell => cell.firstChild.value ?? null)]))""")
    rows = list(csv.DictReader(io.StringIO(report("--format", "csv", runs[0]))))
    for name, values in shown.items():
        assert [value or "" for value in values] == [row[name] for row in rows], name
    expected = [str(s["servers"][0]["requests"]) for s in summaries]
    assert shown["server_requests"] == expected
    assert page.evaluate("JSON.parse(document.getElementById('data').textContent).summaries") \
        == summaries
    verdicts = page.evaluate(
        "Array.from(document.querySelectorAll('p.verdict')).map(p => p.textContent)")
    assert verdicts == [s["verdict"] for s in summaries]
    assert EVIL in page.evaluate("document.querySelector('#numbers thead').textContent")


def test_chart_data_is_of_all_requests(page_file, runs):
    text = page_file.read_text().split('id="data">', 1)[1].split("</script>", 1)[0]
    for run in json.loads(text)["runs"]:
        (server,) = run["servers"]
        assert sum(server["over_time"]["completed"]) == 120
        assert sum(server["heatmap"]["requests"]) == 120
        assert sum(server["workers"]["requests"]) == 120
        slowest = server["spectrum"]["seconds"][-1]
        with sqlite3.connect(runs[0]) as db:
            title = run["title"]
            (most,) = db.execute(
                "SELECT max(queue_ns + read_ns + handle_ns + send_ns) FROM server_requests "
                "JOIN servers ON servers.id = server_id JOIN runs ON runs.id = run_id "
                "WHERE runs.name = ?", (title,)).fetchone()
        assert slowest == pytest.approx(most / 1e9, rel=1e-5)


@pytest.fixture(scope="module")
def limited(runs, tmp_path_factory):
    """A page of a run that came near to every limit: its server has 40 of 50 files open, uses
    three quarters of a CPU's limit, 90 of 100 MB, waits for a disk a fifth of the time, and has two
    pools, of which one is full."""
    archive = tmp_path_factory.mktemp("limited") / "runs.sqlite"
    with sqlite3.connect(runs[0]) as old, closing(sqlite3.connect(archive)) as db:
        old.backup(db)
        db.executescript(f"""
            DELETE FROM samples WHERE server_id NOT IN (SELECT id FROM servers WHERE run_id = 1);
            UPDATE samples SET group_cpu_ns = time_ns % 1000000000000000 * 3 / 4,
                group_cpu_limit_milli = 1000, group_throttled_ns = 0,
                group_memory_bytes = 90000000, group_memory_limit_bytes = 100000000,
                group_io_stall_ns = time_ns % 1000000000000000 / 5;
            UPDATE machine_samples SET io_stall_ns = time_ns % 1000000000000000 / 10;
            UPDATE process_samples SET files = 40, files_limit = 50;
            INSERT INTO pool_samples SELECT server_id, time_ns, moment, 'shop', 4, 4, rowid, 1
                FROM samples;
            INSERT INTO pool_samples SELECT server_id, time_ns, moment, '{EVIL}', 8, 2, 0, 1
                FROM samples;
            DELETE FROM port_samples;
            INSERT INTO port_samples SELECT 1, started_ns + 1000000, '127.0.0.1:9000', 50, 100
                FROM runs WHERE id = 1;""")
    path = archive.with_suffix(".html")
    report("-o", path, "--run", "1", archive)
    return archive, path


def test_limits_are_drawn(browser, limited):
    page = show(browser, limited[1])
    page.evaluate("document.querySelectorAll('figure details').forEach(d => { d.open = true; })")
    page.wait("""Array.from(document.querySelectorAll("figure")).every(figure =>
        figure.querySelectorAll("tbody tr").length > 0)""")
    figures = page.evaluate("""Object.fromEntries(Array.from(document.querySelectorAll("figure"))
        .map(figure => [figure.querySelector("figcaption, h3, h4").textContent, Array.from(
            figure.querySelectorAll("tr")).map(row => Array.from(row.cells).map(
                cell => cell.textContent))]))""")

    def last(title):
        rows, = (rows for name, rows in figures.items() if name.startswith(title))
        return rows[0][1:], rows[-1][1:]
    assert last("Pools of PHP-FPM") == ([f"{EVIL}, limit 8", "shop, limit 4"],
                                        ["25.0 %", "100.0 %"])
    assert last("CPU time of the control group") == (["CPUs used", "limit"], ["0.75", "1"])
    assert last("Memory of the control group") == (["used", "limit"], ["90.0 MB", "100 MB"])
    assert last("Open files") == (["open", "limit"], ["40", "50"])
    assert last("Local ports towards 127.0.0.1:9000") == (["in use", "limit"], ["50", "100"])
    assert last("Waiting for a disk (machine)") == (["any program waited"], ["10.0 %"])
    assert page.complaints == []


def test_limits_in_every_format(limited):
    archive, path = limited
    run, = json.loads(report("--format", "json", "--run", "1", archive))
    server, = run["servers"]
    assert server["resources"]["open_files"] == 40
    assert server["resources"]["open_files_limit"] == 50
    assert run["run"]["ports"] == [{"remote": "127.0.0.1:9000", "max": 50, "limit": 100}]
    text = report("--format", "text", "--run", "1", archive)
    assert "had 40 files open, limit 50" in text and "  shop\n" in text
    assert "50 of 100 local ports were in use towards 127.0.0.1:9000" in text
    row, = csv.DictReader(io.StringIO(report("--format", "csv", "--run", "1", archive)))
    assert row["open_files_share"] == "0.800" and row["local_ports_share"] == "0.500"
    assert row["cgroup_memory_share"] == "0.900"
    markdown = report("--format", "md", "--run", "1", archive)
    assert "| shop | 4 | 4.00 | 4 | 100.0 % |" in markdown and "<b" not in markdown
    assert "<h3>Pools of PHP-FPM</h3>" in path.read_text()


def test_nothing_else_can_run_or_connect(browser, page_file):
    page = show(browser, page_file)
    page.evaluate("""{ const script = document.createElement("script");
                       script.textContent = "window.intruder = 1";
                       document.body.append(script); }""")
    assert page.evaluate("typeof window.intruder") == "undefined"
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', e => 'refused')") \
        == "refused"
    page.evaluate("1")
    assert any("Content Security Policy" in complaint for complaint in page.complaints)
    assert not any("http://127.0.0.1:9/" == url for url in page.requests)


def test_keyboard_moves_the_cursor_of_all_charts(browser, page_file):
    page = show(browser, page_file)
    charts = '.charts[data-run="0"]'
    page.evaluate(f"""document.querySelector('{charts} canvas').dispatchEvent(
        new KeyboardEvent("keydown", {{ key: "ArrowRight" }}))""")
    said = page.evaluate("document.querySelector('[aria-live]').textContent")
    assert "queue: waiting for a worker" in said
    page.wait(f"""Array.from(document.querySelectorAll('{charts} .legend output'))
        .filter(output => output.textContent.startsWith("at ")).length >= 4""")


def test_theme_switch(browser, page_file):
    page = show(browser, page_file)
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    drawn = page.evaluate("document.querySelector('figure canvas').toDataURL()")
    page.evaluate("document.querySelector('#controls button').click()")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert page.evaluate("document.querySelector('figure canvas').toDataURL()") != drawn
    assert page.complaints == []


def test_tables_behind_the_charts(browser, page_file):
    page = show(browser, page_file)
    page.evaluate("document.querySelectorAll('figure details').forEach(d => { d.open = true; })")
    page.wait("""Array.from(document.querySelectorAll("figure")).every(figure =>
        figure.querySelectorAll("tbody tr").length > 0)""")
    assert page.evaluate("document.querySelectorAll('figure tbody').length") >= 15
    assert page.complaints == []


def test_without_scripts(browser, page_file, runs):
    page = browser.open(page_file, scripts=False)
    shown = page.evaluate("document.querySelector('main').innerText")
    for text in runs[1]:
        assert json.loads(text)["verdict"] in shown
    assert "MaxRequestWorkers" in shown
    assert page.evaluate("document.querySelectorAll('figure').length") == 0


def test_print(browser, page_file, tmp_path):
    page = show(browser, page_file, dark=True)
    page.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert page.complaints == []
    assert page.evaluate("document.documentElement.dataset.theme ?? null") is None


# ---- what may go wrong ------------------------------------------------------------------


def test_killed_recording(tmp_path, browser):
    archive, path = tmp_path / "runs.sqlite", tmp_path / "report.html"
    with Apache("prefork", php="mod_php", workers=2) as apache:
        recording = subprocess.Popen(
            [str(build.TOOL), "record", "-o", str(archive), "-t", str(apache.board), "--", AB,
             "-n", "10000", "-c", "4", f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.05"],
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: requests_in(archive) > 20, 60, "requests in the archive")
        os.killpg(recording.pid, signal.SIGKILL)
        recording.wait(30)
        processes.end(recording, str(archive))
    report("-o", path, archive)
    page = show(browser, path)
    assert page.complaints == []
    assert "This run is not complete" in page.evaluate("document.body.innerText")
    (summary,) = exact(report("--format", "json", archive))
    assert summary["run"]["complete"] is False and summary["run"]["duration_seconds"] is None


def requests_in(archive):
    try:
        with closing(sqlite3.connect(archive)) as db:
            return db.execute("SELECT count(*) FROM server_requests").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_bad_arguments(runs, tmp_path):
    archive = runs[0]
    other = tmp_path / "other"
    other.write_text("not an archive, and long enough for none\n" * 20)
    assert "archives to report" in report(status=2)
    assert "html, md, csv, json, text, folded, speedscope or pprof" in report("--format", "pdf", archive, status=2)
    assert "--series goes with" in report("--series", archive, status=2)
    assert "not an empty one" in report("-o", "", archive, status=2)
    assert "No such file" in report(tmp_path / "none", status=3)
    assert "not an archive" in report(other, status=3)
    assert 'no run "9"' in report("--run", "9", archive, status=3)
    said = report("--run", "1", "--run", "9", "--run", "2", "--run", "none", archive, status=3)
    assert 'no run "9"' in said and 'no run "none"' in said and said.count("no run") == 2


def test_no_page_onto_a_terminal(runs):
    terminal, theirs = pty.openpty()
    try:
        done = subprocess.run([str(build.TOOL), "report", str(runs[0])], stdout=theirs,
                              stderr=subprocess.PIPE, text=True, timeout=30)
    finally:
        os.close(theirs)
        os.close(terminal)
    assert done.returncode == 2 and "-o FILE" in done.stderr


def test_a_report_that_cannot_be_written(runs, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("the one before")
    report("-o", tmp_path / "none" / "report.html", runs[0], status=4)
    report("-o", path, tmp_path / "none", status=3)
    assert path.read_text() == "the one before"
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(build.TOOL), "report", str(runs[0])], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=30)
    assert done.returncode == 4 and "No space left" in done.stderr
    report("-o", path, runs[0])
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_output_is_no_archive_of_the_report(runs, tmp_path):
    archive, link = tmp_path / "runs.sqlite", tmp_path / "link"
    archive.write_bytes(runs[0].read_bytes())
    link.symlink_to(archive.name)
    for output in (archive, link):
        said = report("--format", "md", "-o", output, runs[0], archive, status=2)
        assert "would replace the archive" in said
    assert archive.read_bytes() == runs[0].read_bytes() and link.is_symlink()


def test_a_link_stays_and_what_it_leads_to_is_replaced(runs, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for name in ("there", "not yet"):
        link = tmp_path / f"to {name}"
        link.symlink_to(other / name)
        if name == "there":
            link.write_text("the one before")
        report("--format", "md", "-o", link, runs[0])
        assert link.is_symlink()
        assert (other / name).read_text() == report("--format", "md", runs[0])
    assert sorted(path.name for path in other.iterdir()) == ["not yet", "there"]


def test_a_link_beside_the_output_is_not_followed(runs, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("somebody's")
    (tmp_path / "report.md.part").symlink_to(victim)
    report("--format", "md", "-o", tmp_path / "report.md", runs[0])
    assert victim.read_text() == "somebody's"


def test_a_device_or_a_pipe_is_written_to(runs, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        try:
            report("--format", "md", "-o", pipe, runs[0])
            assert reader.communicate(timeout=30)[0] == report("--format", "md", runs[0])
        finally:
            reader.kill()
    if os.geteuid() == 0:
        null = tmp_path / "null"
        os.mknod(null, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        report("-o", null, runs[0])
        assert null.is_char_device()
    assert pipe.is_fifo()


def test_what_is_before_in_stdout_by_another_name_stays(runs, tmp_path):
    """Not by /dev/stdout: a tool that replaced it would do so for the whole machine."""
    path = tmp_path / "all.md"
    for _ in range(2):
        with open(path, "a") as file:
            subprocess.run([build.TOOL, "report", "--format", "md", "-o", "/proc/self/fd/1",
                            runs[0]], stdout=file, check=True, timeout=30)
    assert path.read_text() == report("--format", "md", runs[0]) * 2
