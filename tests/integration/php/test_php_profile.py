"""Samples of PHP's code: what mpmstat.profile = 100 tells of a page, against what the page did."""
import json
import re
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

import build
import php
import tool
from fpm import FPM
from php_site import needs_extension, needs_version
from recording import record
from serving import Serving

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))

# The CPU time of a process so far, in microseconds.
CPU = """function cpu() { $r = getrusage();
    return $r['ru_utime.tv_sec'] * 1e6 + $r['ru_utime.tv_usec']
         + $r['ru_stime.tv_sec'] * 1e6 + $r['ru_stime.tv_usec']; }
"""
# Three functions, of which each takes its part of a page's 200 ms of CPU time.
PAGE = "<?php\n" + CPU + """class Shop {
    static function cart($us) { $end = cpu() + $us; while (cpu() < $end) for ($i = 0; $i < 999; $i++) ; }
    function search($us) { $end = cpu() + $us; while (cpu() < $end) for ($i = 0; $i < 999; $i++) ; }
}
function prices($us) { $end = cpu() + $us; while (cpu() < $end) for ($i = 0; $i < 999; $i++) ; }
Shop::cart(140000);
(new Shop)->search(40000);
prices(20000);
usleep(20000);
echo 'secret-of-the-page';
"""
PARTS = {"Shop::cart": 0.7, "Shop->search": 0.2, "prices": 0.1}
PERIOD_US = 10000
ROOM_FOR_SAMPLES = 2_000_000   # bytes, at least


def folded(archive):
    """{(functions from the outermost on): CPU time in microseconds}"""
    done = tool.run("report", "--format", "folded", archive)
    assert done.returncode == 0, done.stderr
    rows = Counter()
    for line in done.stdout.splitlines():
        stack, _, number = line.rpartition(" ")
        rows[tuple(part.split(" (")[0] for part in stack.split(";"))] += int(number)
    return rows


def record_pages(file, count, page=PAGE, keep=None, **settings):
    """Saves the archive of so many pages; returns the threads of FPM's worker, its board's size,
    and the text of a file that the page wrote."""
    with FPM(1, settings=php.settings("@ROOT@/run", **settings)) as fpm:
        script = fpm.script("shop.php", page)
        with php.recorded(fpm.board) as archive:
            for _ in range(count):
                status, body = php.fastcgi(fpm.socket, script, QUERY_STRING="card=4111")
                assert status == 200 and ("secret" in body or page != PAGE)
            threads = [task.joinpath("comm").read_text().strip() for pid in fpm.workers()
                       for task in Path(f"/proc/{pid}/task").iterdir()]
        size = Path(fpm.board).stat().st_size
        kept = (fpm.root / keep).read_text() if keep else ""
    copy = sqlite3.connect(file)
    archive.db.backup(copy)
    copy.close()
    return archive, threads, size, kept


@pytest.fixture(scope="module", name="recorded")
def fixture_recorded(tmp_path_factory):
    """Twenty pages: 4 s of CPU time, 400 samples."""
    file = tmp_path_factory.mktemp("profile") / "run.db"
    return (file, *record_pages(file, 20, profile=100))


def test_parts_of_the_cpu_time(recorded):
    file, archive, threads, _, _ = recorded
    rows = {stack: time for stack, time in folded(file).items() if stack[-1] != "[sleep]"}
    total = sum(rows.values())
    cpu_ns = archive.ask("SELECT sum(user_ns + system_ns) FROM php_requests")[0][0]
    assert 0.9 * cpu_ns / 1000 < total < 1.05 * cpu_ns / 1000   # what is left at an end is lost
    for function, part in PARTS.items():
        mine = sum(time for stack, time in rows.items() if function in stack) / total
        assert abs(mine - part) < 4 * deviation(part, total / PERIOD_US), (function, mine, part)
    assert all(stack[0] == "{main}" for stack in rows), rows
    assert "mpmstat" in threads


def test_places(recorded):
    file, archive, _, _, _ = recorded
    names = archive.ask("SELECT function, file, line FROM frames")
    assert all(row["file"] is None or row["file"].endswith("/shop.php") for row in names)
    assert {row["line"] for row in names if row["function"] == "Shop::cart"} == {6}
    strangers = archive.ask(
        "SELECT count(*) FROM php_samples AS s WHERE NOT EXISTS (SELECT 1 FROM php_requests AS r "
        "WHERE r.start_ns = s.request_start_ns AND r.pid = s.pid)")
    assert strangers[0][0] == 0
    assert not any(word in file.read_bytes() for word in (b"4111", b"secret-of"))


def deviation(part, samples):
    return (part * (1 - part) / samples) ** 0.5


def test_beside_excimer(tmp_path):
    """Both sample the same page at the same time, each by a timer of its own."""
    needs_extension("excimer")
    page = PAGE.replace("<?php\n", """<?php
$excimer = new ExcimerProfiler;
$excimer->setEventType(EXCIMER_CPU);
$excimer->setPeriod(0.01);
$excimer->start();
""") + """
$excimer->stop();
file_put_contents(__DIR__ . '/run/collapsed', $excimer->getLog()->formatCollapsed(), FILE_APPEND);
"""
    file, theirs = tmp_path / "run.db", Counter()
    collapsed = record_pages(file, 20, page, profile=100, keep="run/collapsed")[3]
    for line in collapsed.splitlines():
        stack, _, number = line.rpartition(" ")
        theirs[stack.replace("Shop::search", "Shop->search")] += int(number)
    mine = {stack: time for stack, time in folded(file).items() if stack[-1] != "[sleep]"}
    assert theirs.total() > 200 and sum(mine.values()) > 200 * PERIOD_US
    for function, part in PARTS.items():
        in_theirs = sum(n for stack, n in theirs.items() if function in stack) / theirs.total()
        in_mine = sum(time for stack, time in mine.items()
                      if function in stack) / sum(mine.values())
        assert abs(in_mine - in_theirs) < 6 * deviation(part, theirs.total()), (
            function, in_mine, in_theirs)


# Each of these takes the same part of the CPU time, in a way of its own.
KINDS = "<?php\n" + CPU + """function burn() { $end = cpu() + 30000; while (cpu() < $end) for ($i = 0; $i < 999; $i++) ; }
function numbers() { $end = cpu() + 30000; while (cpu() < $end) for ($i = 0; $i < 999; $i++) ;
    yield 1; }
class Magic { public function __get($name) { burn(); return $name; } }
foreach (numbers() as $n) ;
(function () { burn(); })();
$fiber = new Fiber(function () { burn(); Fiber::suspend(); burn(); });
$fiber->start();
$fiber->resume();
include __DIR__ . '/part.php';
eval('function evaluated() { burn(); } evaluated();');
(new Magic)->property;
array_map('burn', [1]);
"""
PART = "<?php burn();"


@pytest.mark.parametrize("jit", [None, "tracing", "function"])
def test_kinds_of_code(tmp_path, jit):
    """Generators, closures, fibers, included files, eval and what PHP itself calls; interpreted,
    and as machine code."""
    needs_version(8, 1, "fibers")
    settings = {"opcache.enable": 1, "opcache.file_update_protection": 0,
                **({"opcache.jit": jit, "opcache.jit_buffer_size": "16M"} if jit else {})}
    with FPM(1, settings={**settings, **php.settings("@ROOT@/run", profile=500)}) as fpm:
        script = fpm.script("kinds.php", KINDS)
        fpm.script("part.php", PART)
        with php.recorded(fpm.board) as archive:
            for _ in range(5):
                assert php.fastcgi(fpm.socket, script)[0] == 200
    rows = Counter()
    for row in archive.ask("SELECT stack, sum(weight_ns) AS ns FROM php_samples WHERE "
                           "kind = 'cpu' GROUP BY stack"):
        rows[tuple(named_stack(archive, row["stack"]))] += row["ns"]
    total = sum(rows.values())
    parts = {"numbers": 1, "{closure": 3, "evaluated": 1, "Magic->__get": 1, "array_map": 1}
    for function, shares in parts.items():
        mine = sum(ns for stack, ns in rows.items()
                   if any(name.startswith(function) for name, _ in stack)) / total
        part = shares / 8
        assert abs(mine - part) < 5 * deviation(part, total / 2e6), (function, mine, part)
    # The included file's own code, and eval's, are in their files.
    assert any(("{main}", "part.php") in stack for stack in rows), rows
    assert any(name == "evaluated" and "eval()" in file for stack in rows for name, file in stack)


def named_stack(archive, stack):
    """(function, file's name) of a stack, the innermost first."""
    while stack is not None:
        [row] = archive.ask("SELECT s.caller, f.function, f.file FROM stacks s JOIN frames f ON "
                            "f.server_id = s.server_id AND f.frame = s.frame WHERE s.stack = "
                            f"{stack} "
                            "GROUP BY s.stack")
        yield row["function"], (row["file"] or "").rsplit("/", 1)[-1]
        stack = row["caller"]


def test_mod_php(php_server, php_boards):
    apache = php_server("prefork", settings=php.settings(php_boards, profile=500))
    apache.page("shop.php", PAGE)
    assert apache.get("/shop.php").status == 200      # the board is there
    with php.recorded(php.board(php_boards, "apache2handler")) as archive:
        for _ in range(3):
            assert apache.get("/shop.php").status == 200
    check_shop(archive, 3)


def test_the_verdict_on_an_application_of_classes(php_server, php_boards, archive):
    """Its files are found by an autoloader: the time is not the kernel's that calls all of it. The
    function that compares entries takes half of the time, a little more with PHP 8.6."""
    apache = php_server("event", workers=20, children=2,
                        settings=php.settings(php_boards, profile=500))
    page = f"http://127.0.0.1:{apache.port}/subrequest/index.php?blocks=100&work=500"
    assert apache.get("/subrequest/index.php?blocks=100&work=500").status == 200
    summary, _ = record(apache, archive, build.find("ab"), "-n", "30", "-c", "1", page,
                        options=("-t", str(php.board(php_boards, "fpm-fcgi"))))
    finding = next(f for f in summary["findings"] if f["code"] == "application-cpu")
    function = finding["place"]["function"]
    assert re.match(r"Subrequest\\Catalogue(->entries$|::.*\{closure)", function), finding
    assert finding["place"]["file"].endswith("/subrequest/src/Catalogue.php")
    assert 17 <= finding["place"]["line"] <= 27
    assert f"Begin with {function}" in finding["action"], finding


def check_shop(archive, pages):
    """The samples have all of the CPU time, nearly, and the functions of the page."""
    [(cpu_ns,)] = archive.ask("SELECT sum(user_ns + system_ns) FROM php_requests")
    [(sampled_ns,)] = archive.ask("SELECT sum(weight_ns) FROM php_samples WHERE kind = 'cpu'")
    assert pages * 190_000_000 < cpu_ns and 0.85 * cpu_ns < sampled_ns < 1.1 * cpu_ns
    names = {row["function"] for row in archive.ask("SELECT function FROM frames")}
    assert set(PARTS) <= names, names


@pytest.mark.parametrize("sapi", ["cli", "cgi-fcgi"])
def test_processes_of_one_request(php_boards, tmp_path, sapi):
    """php-cgi, and the command line where it is recorded."""
    program = php.CLI if sapi == "cli" else php.CGI
    if not program:
        pytest.skip("needs php-cgi")
    php_boards.chmod(0o1777)
    script = tmp_path / "shop.php"
    script.write_text(PAGE)
    ini = php_boards / "ini"
    ini.mkdir()
    php.write_ini(ini, php.settings(php_boards, profile=500, enable_cli=1))
    environment = {"PATH": build.PATH, "PHPRC": str(ini), "GATEWAY_INTERFACE": "CGI/1.1",
                   "REQUEST_METHOD": "GET", "REDIRECT_STATUS": "200",
                   "SCRIPT_FILENAME": str(script)}
    command = [program, *([str(script)] if sapi == "cli" else [])]

    def run():
        subprocess.run(command, check=True, capture_output=True, cwd="/", timeout=30,
                       env=environment)

    run()                                             # the board is there
    with php.recorded(php.board(php_boards, sapi)) as archive:
        for _ in range(3):
            run()
    check_shop(archive, 3)


LEAVES = """<?php
function hashes($text) { for ($i = 0; $i < 60; $i++) $h = hash('sha256', $text); return $h; }
function sorted($n) { $a = range(1, $n); shuffle($a); sort($a); return count($a); }
function after() { $x = 0; for ($i = 0; $i < 100; $i++) $x += $i; return $x; }
$text = str_repeat('x', 400000);
for ($i = 0; $i < 5; $i++) { hashes($text); after(); sorted(150000); after(); }
"""


def test_functions_of_php_itself_are_leaves(tmp_path):
    """They are the innermost ones, and what is called after them pays nothing for them."""
    file = tmp_path / "run.db"
    record_pages(file, 3, page=LEAVES, profile=1000)
    rows = folded(file)
    total = sum(rows.values())
    share = {stack: time / total for stack, time in rows.items()}
    of = lambda function: sum(part for stack, part in share.items() if function in stack)
    assert share["{main}", "hashes", "hash"] > 0.9 * of("hashes") > 0.2, share
    assert share["{main}", "sorted", "sort"] > share["{main}", "sorted", "shuffle"] > 0, share
    assert of("after") < 0.02, share


def varints(data):
    """The bytes as numbers, seven bits a byte."""
    numbers, number, shift = [], 0, 0
    for byte in data:
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number, shift = 0, 0
    return numbers


def fields(data):
    """(number, value) of each field of a message of protobuf: a number, or bytes."""
    at = 0
    while at < len(data):
        ends = [i for i in range(at, len(data)) if data[i] < 0x80][:2]
        [tag], (value,) = varints(data[at:ends[0] + 1]), varints(data[ends[0] + 1:ends[1] + 1])
        at = ends[1] + 1
        if tag & 7 == 2:
            yield tag >> 3, data[at:at + value]
            at += value
        else:
            assert tag & 7 == 0
            yield tag >> 3, value


def test_pprof_has_the_same(recorded):
    file, archive, _, _, _ = recorded
    done = subprocess.run([build.TOOL, "report", "--format", "pprof", file], check=True,
                          capture_output=True)
    message = list(fields(done.stdout))
    texts = [value.decode() for number, value in message if number == 6]
    functions = {dict(fields(value))[1]: texts[dict(fields(value))[2]]
                 for number, value in message if number == 5}
    assert texts[0] == "" and {"Shop::cart", "Shop->search", "prices", "usleep"} <= set(
        functions.values())
    total = Counter()
    for number, value in message:
        if number == 2:
            sample = list(fields(value))
            cpu, wait = [v for n, v in sample if n == 2]
            stack = [functions[v] for n, v in sample if n == 1]
            assert stack[-1] == "{main}"
            total["cpu"] += cpu
            total["wait"] += wait
    kinds = {row["kind"]: row["ns"] for row in archive.ask(
        "SELECT kind, sum(weight_ns) AS ns FROM php_samples GROUP BY kind")}
    assert total == {"cpu": kinds["cpu"], "wait": kinds["sleep"]}


def test_speedscope_has_the_same(recorded):
    file, archive, _, _, _ = recorded
    done = tool.run("report", "--format", "speedscope", file)
    assert done.returncode == 0, done.stderr
    profile = json.loads(done.stdout)
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    for part, kind in zip(profile["profiles"], ("cpu", "sleep")):
        [row] = archive.ask(f"SELECT sum(weight_ns) AS ns FROM php_samples WHERE kind = '{kind}'")
        assert sum(part["weights"]) == part["endValue"] == row["ns"]
        assert len(part["weights"]) == len(part["samples"])
        assert all(names[stack[0]] == "{main}" for stack in part["samples"])


def test_switched_off(recorded, tmp_path):
    """No sample, no thread of its own, no room for samples on the board."""
    file = tmp_path / "run.db"
    archive, threads, size, _ = record_pages(file, 2, profile=0, places=0)
    assert archive.ask("SELECT count(*) FROM php_samples")[0][0] == 0
    assert folded(file) == {} and "mpmstat" not in threads
    assert recorded[3] - size > ROOM_FOR_SAMPLES


def test_served_for_collectors():
    """What serve gives is what the board has of the last minute."""
    with FPM(1, settings=php.settings("@ROOT@/run")) as fpm:
        script = fpm.script("shop.php", PAGE)
        for _ in range(3):
            assert php.fastcgi(fpm.socket, script)[0] == 200
        with Serving(fpm.board) as serving:
            lines = serving.get("/debug/pprof/profile?format=folded").text().splitlines()
            answer = serving.get("/debug/pprof/profile?seconds=30")
            speedscope = serving.get("/debug/pprof/profile?format=speedscope").json()
            none = serving.get("/debug/pprof/profile?seconds=1&format=folded")
    total = Counter()
    for line in lines:
        stack, _, number = line.rpartition(" ")
        total["wait" if stack.endswith("[sleep]") else "cpu"] += int(number)
    assert 400_000 < total["cpu"] < 700_000 and 50_000 <= total["wait"] < 80_000, total
    assert answer.headers["content-type"] == "application/octet-stream"
    values = [[v for n, v in fields(value) if n == 2]
              for number, value in fields(answer.body) if number == 2]
    assert sum(cpu for cpu, _ in values) == total["cpu"] * 1000
    assert [part["endValue"] // 1000 for part in speedscope["profiles"]] == [total["cpu"],
                                                                             total["wait"]]
    assert none.status == 200


def switches(pids):
    """{thread: how often it has left a CPU}"""
    return {task.name: re.findall(r"ctxt_switches:\s+(\d+)", (task / "status").read_text())
            for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()}


def test_workers_that_wait_for_a_request_are_not_woken():
    with FPM(2, settings=php.settings("@ROOT@/run", profile=1000)) as fpm:
        script = fpm.script("shop.php", PAGE)
        for _ in range(2):
            assert php.fastcgi(fpm.socket, script)[0] == 200
        time.sleep(0.5)
        before = switches(fpm.workers())
        assert len(before) > 2                            # the threads that look are there
        time.sleep(2)
        assert switches(fpm.workers()) == before


def test_the_bill_by_script(tmp_path):
    """Where requests began in several files; the function's own file is another one."""
    file = tmp_path / "run.db"
    burn = ("<?php " + CPU + "function burn($us) { for ($end = cpu() + $us; cpu() < $end;) "
            "for ($i = 0; $i < 999; $i++) ; }")
    with FPM(1, settings=php.settings("@ROOT@/run", profile=500)) as fpm:
        fpm.script("burn.php", burn)
        scripts = [fpm.script(f"{name}.php", "<?php include __DIR__ . '/burn.php'; burn(200000);")
                   for name in ("cart", "search")]
        with php.recorded(fpm.board) as archive:
            for script in (*scripts, scripts[0]):
                assert php.fastcgi(fpm.socket, script)[0] == 200
    copy = sqlite3.connect(file)
    archive.db.backup(copy)
    copy.close()
    done = tool.run("report", "--format", "md", file)
    text = done.stdout
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| \S*/(\w+\.php) \| ([\d.]+) %",
                      text.split("PHP's code by script")[1], re.M)
    assert [name for name, _ in rows] == ["cart.php", "search.php"], text
    assert abs(float(rows[0][1]) - 66.7) < 15, rows
