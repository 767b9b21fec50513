"""The report of a study: its sentences and figures against an archive that is known, and the
page as a browser shows it."""
import json
import math
import re
import sqlite3

import pytest

import study_archive
from browser import assert_charts_are_drawn, show
from tool import report


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    return study_archive.make(tmp_path_factory.mktemp("study") / "study.db")


@pytest.fixture(scope="module")
def page_file(archive):
    path = archive.with_name("report.html")
    report("-o", path, archive)
    return path


def data_of(page_file):
    return json.loads(page_file.read_text().split('id="data">', 1)[1].split("</script>", 1)[0])


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def values_of(archive, stack, column, runs="load"):
    with sqlite3.connect(archive) as db:
        return [row[0] for row in db.execute(
            f"SELECT {column} FROM steps JOIN client_results USING (run_id) "
            "WHERE runs = ? AND stack = ? AND state = 'done'", (runs, stack))]


# ---- sentences -------------------------------------------------------------------------


HOLDS, FAILS, UNSURE = "What still holds", "What does not hold", "What cannot be told"


@pytest.mark.parametrize("claim, where, said", (
    ("worker beats prefork", HOLDS, r"1\.5\d times as much \(1\.\d+ to 1\.\d+; 5 repetitions\)"),
    ("prefork beats event", FAILS, r"0\.6\d times as much"),
    ("event beats worker", UNSURE, r"the interval includes 1"),
    ("event fails more often", FAILS, r"less in each repetition \(5 and 5\)"),
    ("half as slow", UNSURE, r"In 2 of 4 cases it holds, in 2 it cannot be told"),
    ("equal below it", HOLDS, r"In each of 2 cases it holds"),
    ("three seconds earlier", HOLDS, r"3\.0\d s apart .*, 3\.00 s was said"),
))
def test_claims(archive, claim, where, said):
    markdown = report("--format", "md", archive)
    part = markdown.split(f"### {where}\n", 1)[1].split("###", 1)[0]
    line = next(line for line in part.splitlines() if f"*{claim}*" in line)
    assert re.search(said, line), line


@pytest.mark.parametrize("said", (
    r"calls 70 of 1500 requests failed: 70 of them only because the answer was of another length "
    r"than the first one; the pages were of 70000 to 70006 bytes\. The server answered 1500, 0 "
    r"with a 5xx: none of them was a failure",
    r"The machine's CPUs were busy for about 100\.0 % of the time",
    r"Running PHP took 30\.0 % \(event \+ php-fpm\) of a request's time at the server",
    r"Waiting for one of Apache's workers took from 2\.0 % \(worker \+ php-fpm\) to 92\.3 % "
    r"\(prefork \+ mod_php\) of a request's time at the server",
    r"adding up RSS, as is usual, would have said up to 4\.00 times as much",
    r"first request to the first fork it took from \d+ ms \(event \+ php-fpm\) to 3\.5\d s",
    r"event-fcgid, loop \| skipped \| the package libapache2-mod-fcgid is not installed",
    r"69 of 73 runs were made; 3 failed, 1 was skipped",
    r"of the 3 pairs of published systems 2 are in the same order here, 0 are reversed, and 1 "
    r"cannot be told apart",
))
def test_what_else_is_said(archive, said):
    assert re.search(said, report("--format", "md", archive).replace("\\", ""))


def test_too_few_repetitions_tell_nothing(tmp_path):
    path = study_archive.make(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM steps WHERE repetition > 2")
    markdown = report("--format", "md", path)
    assert HOLDS not in markdown and FAILS not in markdown
    assert "but with 2 and 2 repetitions; it takes 3 each" in markdown


def test_a_study_not_at_its_end(tmp_path):
    path = study_archive.make(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE studies SET ended_ns = NULL")
        db.execute("UPDATE steps SET state = 'planned', run_id = NULL WHERE repetition > 3")
    page = report(path)
    assert "This study has not come to its end" in page and "6 were not reached" in page


@pytest.mark.parametrize("ended, said", (
    (True, "It was interrupted, and went on later."), (False, "It was interrupted."),
))
def test_whether_it_went_on(tmp_path, ended, said):
    path = study_archive.make(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE studies SET interrupted = 1, ended_ns = iif(?, ended_ns, NULL)",
                   (ended,))
    for text in (report("--format", "md", path).replace("\\", ""), report(path)):
        assert said in text and ("went on later" in text) == ended


def test_runs_of_which_no_client_is_known_were_made(tmp_path):
    path = study_archive.make(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE runs SET tool = 'generic'")
        db.execute("DELETE FROM client_results")
        db.execute("DELETE FROM steps WHERE runs = 'sweep'")
    sections = report("--format", "md", path).replace("\\", "").split("\n## ")[1:]
    unrun = {section.split("\n", 1)[0]: "Nothing of this was run" in section
             for section in sections}
    assert unrun == {"One load": False, "Beyond the limit": True, "Spawning": False,
                     "A ramp": False, "What was not run": False, "Provenance": False}
    assert re.search(r"\| all of them after \| 7\.\d\d s", sections[2]), "and have their column"


def test_single_runs_are_still_reported(archive):
    assert "mpmstat lab" not in report("--run", "1", archive)
    with sqlite3.connect(archive) as db:
        (runs,) = db.execute("SELECT count(*) FROM runs").fetchone()
    assert len(json.loads(report("--format", "json", archive))) == runs


def test_a_broken_study_is_a_sentence(tmp_path):
    path = study_archive.make(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE studies SET text = replace(text, '%% runs spawn', '%% runs other')")
    assert "spawn" in report(path, status=3)


# ---- figures ---------------------------------------------------------------------------


def test_figures_are_those_of_the_archive(archive, page_file):
    sections = {section["name"]: section for section in data_of(page_file)["sections"]}
    for line, stack in zip(sections["load"]["lines"], study_archive.STACKS):
        values = line["cases"][0]["values"]
        rates = [v / 1000 for v in values_of(archive, stack, "requests_per_1000s")]
        mean, low, high = values["requests_per_second"]
        assert mean == pytest.approx(geometric(rates), rel=1e-5)
        assert min(rates) * 0.95 < low < mean < high < max(rates) * 1.05
        p99 = [v / 1e9 for v in values_of(archive, stack, "p99_ns")]
        assert values["server_requests"][0] == 100
        # The client's rows are there: its percentiles are those of the rows.
        assert values["p99_seconds"][0] <= geometric(p99)
        assert values["peak_rss_bytes"][0] == 4 * values["peak_pss_bytes"][0]


def test_the_sweep_has_a_line_for_each_limit(page_file):
    section = data_of(page_file)["sections"][1]
    assert section["x"] == "concurrency"
    assert [line["label"] for line in section["lines"]] == [
        "prefork + mod_php, workers 100", "prefork + mod_php, workers 300",
        "event + php-fpm, workers 100", "event + php-fpm, workers 300"]
    assert [[case["x"] for case in line["cases"]] for line in section["lines"]] == [
        [100, 200, 300], [100, 200, 300, 400], [100, 200, 300, 400], [100, 200, 300, 400]]


def test_spawning_is_that_of_the_fork_events(archive, page_file):
    section = data_of(page_file)["sections"][2]
    assert len(section["over_time"]) == 6
    for run in section["over_time"]:
        curve = run["spawn"]
        assert curve["processes"][0] == 10 and max(curve["processes"]) == 50
        assert curve["t"] == sorted(curve["t"])
    with sqlite3.connect(archive) as db:
        firsts = [row[0] / 1e9 for row in db.execute(
            "SELECT min(time_ns) - runs.started_ns FROM lifecycle "
            "JOIN servers ON servers.id = server_id "
            "JOIN runs ON runs.id = servers.run_id JOIN steps ON steps.run_id = runs.id "
            "WHERE stack = 'prefork-modphp' AND steps.runs = 'spawn' GROUP BY runs.id")]
    mean = section["lines"][0]["cases"][0]["values"]["spawn_first_seconds"][0]
    assert mean == pytest.approx(geometric(firsts), rel=1e-5)


def test_tables_show_the_same(browser, archive, page_file):
    page = show(browser, page_file)
    shown = page.evaluate("""Array.from(document.querySelectorAll(
        "#runs-1 .beside td[data-metric=requests_per_second]")).map(cell =>
            [cell.querySelector("data")?.value ?? null,
             cell.querySelector(".theirs").textContent])""")
    assert [theirs for _, theirs in shown] == ["2.65/s", "2.95/s", "2.14/s", "2.78/s"]
    expected = [geometric(values_of(archive, stack, "requests_per_1000s")) / 1000
                for stack in study_archive.STACKS]
    ours = [float(ours) for ours, _ in shown if ours is not None]
    assert ours == pytest.approx(expected, rel=1e-5)
    assert shown[2][0] is None, "what was not run has no figure"


# ---- a server that is not recorded, several that are --------------------------------------


@pytest.fixture(scope="module")
def behind_nginx(tmp_path_factory):
    return study_archive.make_behind_nginx(tmp_path_factory.mktemp("nginx") / "study.db")


def cases_of(path):
    """The values of each stack of its first section, by the stack's title."""
    page = path.with_name("report.html")
    report("-o", page, path)
    return {line["label"]: {name: value[0] for name, value in line["cases"][0]["values"].items()}
            for line in data_of(page)["sections"][0]["lines"]}


TWO, FPM, EVENT = ("nginx over two Apaches (prefork + mod_php)", "nginx + php-fpm (socket)",
                   "event + php-fpm (socket)")
OF_ALL = {"peak_pss_bytes", "peak_rss_bytes", "peak_pss_processes", "pss_per_process_bytes",
          "rss_per_process_bytes", "server_cpu_per_request_seconds"}


def test_what_all_processes_took_is_known_where_all_servers_were_recorded(behind_nginx):
    cases = cases_of(behind_nginx)
    assert OF_ALL <= cases[EVENT].keys()
    assert cases[EVENT]["peak_pss_bytes"] == 120e6
    assert not OF_ALL & cases[FPM].keys() and not OF_ALL & cases[TWO].keys()
    assert cases[FPM]["php_peak_pss_bytes"] == cases[EVENT]["php_peak_pss_bytes"] == 90e6


def test_what_the_lab_saw_of_nginx_is_part_of_it(tmp_path):
    path = study_archive.make_behind_nginx(tmp_path / "study.db")
    seen = {"others_pss_bytes": 7 * 10**6, "others_rss_bytes": 20 * 10**6,
            "others_processes": 3, "others_cpu_ns": 4 * 10**9}
    with sqlite3.connect(path) as db:
        for name, value in seen.items():
            db.execute("INSERT INTO environment SELECT run_id, ?, ? FROM steps "
                       "WHERE stack = 'nginx-fpm'", (name, str(value)))
    cases = cases_of(path)
    assert OF_ALL <= cases[FPM].keys() and not OF_ALL & cases[TWO].keys()
    assert cases[FPM]["peak_pss_bytes"] == 97e6 and cases[FPM]["php_peak_pss_bytes"] == 90e6
    assert cases[FPM]["peak_pss_processes"] == 54
    assert cases[FPM]["server_cpu_per_request_seconds"] == pytest.approx((5 + 4) / 40)
    markdown = report("--format", "md", path).replace("\\", "")
    assert f"are not known of {TWO}: not every server" in markdown


def test_what_is_not_known_of_nginx_is_said_and_not_compared(behind_nginx):
    markdown = report("--format", "md", behind_nginx).replace("\\", "")
    assert (f"Memory and CPU time of all processes together are not known of {TWO}, of {FPM}: "
            "not every server there was recorded") in markdown
    assert f"took (PSS: what is shared counts once) 120 MB ({EVENT})" in markdown
    unsure = markdown.split(f"### {UNSURE}\n", 1)[1].split("###", 1)[0]
    assert "Apache takes more memory" in unsure
    assert "PHP takes little memory" in markdown.split(f"### {HOLDS}\n", 1)[1].split("###", 1)[0]


def test_a_php_that_was_not_recorded_is_missed(tmp_path):
    path = study_archive.make_behind_nginx(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM servers WHERE sapi = 'fpm-fcgi'")
    assert not OF_ALL & cases_of(path)[EVENT].keys()


def test_two_apaches_are_one_side(behind_nginx):
    two = cases_of(behind_nginx)[TWO]
    assert two["server_requests"] == 40
    assert two["workers_limit"] == 80
    assert two["workers_busy_mean"] == pytest.approx(15, rel=1e-3)
    assert two["occupancy"] == pytest.approx(15 / 80, rel=1e-3)
    assert two["connections_shed"] == 4
    assert two["handle_mean_seconds"] == pytest.approx((30 * 0.1 + 10 * 0.3) / 40)
    assert two["queue_mean_seconds"] == pytest.approx(0.02)
    assert two["server_mean_seconds"] == pytest.approx(0.15 + 0.02 + 0.00001 + 0.00005)
    assert (two["page_bytes_min"], two["page_bytes_max"]) == (3000, 5006)
    assert not {"server_p50_seconds", "server_p99_seconds", "no_idle_worker_seconds"} & two.keys()


def test_what_one_of_two_apaches_served_alone_is_known(tmp_path):
    path = study_archive.make_behind_nginx(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM server_requests WHERE bytes < 4000")
    two = cases_of(path)[TWO]
    assert two["server_p99_seconds"] == pytest.approx(0.12006)
    assert two["workers_limit"] == 80 and "no_idle_worker_seconds" not in two


def test_one_of_two_apaches_does_not_tell_when_all_processes_were_there(behind_nginx):
    page = behind_nginx.with_name("report.html")
    report("-o", page, behind_nginx)
    two, event = (line["cases"][0]["values"]
                  for line in data_of(page)["sections"][1]["lines"])
    assert not {"spawned", "spawn_first_seconds", "spawn_all_seconds"} & two.keys()
    assert two["forks"][0] == 6
    assert event["spawned"][0] == 3 and event["spawn_all_seconds"][0] == pytest.approx(3)


def test_the_ramp_of_two_apaches_has_all_requests(behind_nginx):
    page = behind_nginx.with_name("report.html")
    report("-o", page, behind_nginx)
    (run,) = data_of(page)["sections"][2]["over_time"]
    over_time = run["server"]["over_time"]
    assert sum(over_time["completed"]) == sum(over_time["2xx"]) == 40
    assert {p50 for p50 in over_time["p50"]} == {None}, "there is no sum of percentiles"


# ---- the page --------------------------------------------------------------------------


@pytest.mark.parametrize("width", (390, 1280))
@pytest.mark.parametrize("dark", (False, True))
def test_charts_are_drawn(browser, page_file, width, dark):
    """The charts of four kinds of measurement."""
    assert_charts_are_drawn(browser, page_file, 25, width, dark=dark)


def test_without_scripts(browser, page_file):
    page = browser.open(page_file, scripts=False)
    shown = page.evaluate("document.querySelector('main').innerText")
    for words in ("worker beats prefork", "none of them was a failure", "not comparable",
                  "seed of the order", "Everything is made up.", "AH00161"):
        assert words in shown


def test_tables_behind_the_charts(browser, page_file):
    page = show(browser, page_file)
    page.evaluate("document.querySelectorAll('figure details').forEach(d => { d.open = true; })")
    page.wait("""Array.from(document.querySelectorAll("figure")).every(figure =>
        figure.querySelectorAll("tbody tr").length > 0)""")
    assert page.complaints == []


def test_what_is_hostile_stays_text(browser, tmp_path):
    evil = "</script><script>window.intruder = 1</script><b title='\"'>"
    path = study_archive.make(tmp_path / "study.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE studies SET text = replace(text, 'worker beats prefork', ?)",
                   (evil.replace('"', "''"),))
        db.execute("UPDATE studies SET text = replace(text, 'Which of them is it?', ?)", (evil,))
        db.execute("UPDATE study_files SET text = ? WHERE name = 'event-fpm'",
                   (f"%% stack\ntitle = {evil}\n",))
        db.execute("UPDATE steps SET failure = ? WHERE failure IS NOT NULL", (evil,))
    report("-o", tmp_path / "report.html", path)
    page = show(browser, tmp_path / "report.html")
    assert page.complaints == []
    assert page.evaluate("typeof window.intruder") == "undefined"
    assert page.evaluate("document.querySelectorAll('main b').length") == 0
    assert page.evaluate("document.querySelector('h1').textContent") == evil
    assert "<script>" not in report("--format", "md", path)
