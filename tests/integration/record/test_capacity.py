"""mpmstat capacity: how much a server takes, on servers whose capacity is known by construction: two
PHP workers and a page that sleeps for 50 ms take 40 requests a second at most."""
import json
import signal
import sqlite3
import subprocess
from contextlib import closing

import pytest

import build
import php
import recording
import tool
from processes import PATIENCE, wait_until

AB, WRK, HEY = (build.find(name) for name in ("ab", "wrk", "hey"))
NAP = "<?php usleep(50000); echo 'done';"
# Two at once are in time; where more wait for each other, most of them are not.
PROMISE = "p50=85ms"

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))


def command(server, archive, *words, options=()):
    targets = [word for target in server.targets for word in ("-t", str(target))]
    return [str(build.TOOL), "capacity", "-o", str(archive), *targets, *options, "--", *words]


def capacity(server, archive, *words, options=(), status=0):
    """What it found, and what it said on stderr."""
    done = subprocess.run(command(server, archive, *words, options=("--json", *options)), text=True,
                          capture_output=True, timeout=400 * PATIENCE)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}\n{done.stdout}"
    return json.loads(done.stdout), done.stderr


def clients(found):
    return [level["clients"] for level in found["levels"]]


def names(archive):
    return [name for name, in recording.ask(archive, "SELECT name FROM runs ORDER BY id")]


@pytest.fixture
def site(php_server, php_boards):
    """An Apache and an FPM of two workers, both recorded; nap is a page's URL."""
    apache = php_server("event", children=2, settings=php.settings(php_boards))
    apache.nap = f"http://127.0.0.1:{apache.port}{apache.page('nap.php', NAP)}"
    apache.targets = [apache.board, php_boards]
    return apache


def expect_next(found, archive):
    """With more of PHP's workers, Apache's ten are next: they answer 200 a second. Where other
    programs disturbed the run, whatif predicts nothing from it, either."""
    if found["next"] is None:
        asked = tool.run("whatif", "--run", found["limit"]["run"], "--load", "x1", archive)
        assert asked.returncode == 1
        return
    assert found["next"]["name"] == "apache-workers"
    assert 160 < found["next"]["requests_per_second"]["value"] < 220
    assert 8 < found["next"]["workers"] <= 10
    assert found["next"]["sentence"].startswith("With more of these workers, next would be Apache")


def expect_page(found, site, archive):
    """Its curves have a point for each level, and where the model predicts, that one's, too."""
    page = subprocess.run(command(site, archive, AB, site.nap, options=("--format", "html")),
                          check=True, text=True, capture_output=True, timeout=60 * PATIENCE).stdout
    lines = 1 if found["next"] is None else 2
    assert page.startswith("<!DOCTYPE html>") and "<script" not in page
    assert page.count("<svg") == 2 and page.count("<polyline") == 2 * lines
    known = sum(level["p95_seconds"] is not None for level in found["levels"])
    assert page.count("<circle") == lines * len(found["levels"]) + known + \
        (lines - 1) * len(found["levels"])
    assert "knee: php-workers" in page and found["verdict"] in page


def test_two_workers(site, archive):
    """The knee is where both workers have something to do, and the workers are what runs out."""
    found, _ = capacity(site, archive, AB, site.nap)
    assert found["ended_by"] == "flat" and found["complete"] and not found["at_least"]
    assert 20 < found["requests_per_second"] < 42
    assert 2 <= found["knee"]["clients"] <= 3 and found["knee"]["low"] < found["knee"]["high"]
    assert found["limit"]["code"] == "php-workers", found
    assert found["limit"]["sentence"].startswith("PHP's workers ran out")
    expect_next(found, archive)
    assert found["verdict"].startswith("The server takes ")
    assert max(clients(found)) <= 16, "it went on beyond the knee"
    knee = found["knee"]["clients"]
    assert sorted(names(archive)) == sorted(
        [f"capacity {n} client{'s' if n > 1 else ''}" for n in clients(found)] +
        [f"capacity {knee} clients again"])
    assert found["again"]["clients"] == knee and "the end" not in found["verdict"]
    assert found["held"] is True and found["again"]["run"] == len(names(archive))
    for level in found["levels"]:
        # The witness of a level is its run, as the report has it.
        [(requests,)] = recording.ask(
            archive, f"SELECT requests FROM client_results WHERE run_id = {level['run']}")
        assert level["requests"] == requests and level["failed"] == 0
        assert level["p50_seconds"] >= 0.05
        assert level["steady"] in (True, None)    # a level with one client has fewer than 200

    expect_page(found, site, archive)
    # All levels are there: nothing more is measured, and the text has them.
    runs = len(names(archive))
    done = tool.run(*command(site, archive, AB, site.nap)[1:], timeout=60)
    assert done.returncode == 0 and len(names(archive)) == runs, done.stderr
    assert done.stdout.split("\n")[0].strip().startswith("The server takes ")
    assert "What ran out first is php-workers" in done.stdout and "(the knee)" in done.stdout

    # --at-least asks the same levels.
    for rate, status in (("10/s", 0), ("400/s", 1)):
        done = tool.run(*command(site, archive, AB, site.nap, options=("--at-least", rate, "-q"))[1:])
        assert done.returncode == status, done.stderr
        assert ("--at-least 400 is not met" in done.stderr) == (status == 1)
        assert done.stdout.count("The server takes ") == 1

    # So does a promise, which forty a second keep and the highest level breaks.
    found, _ = capacity(site, archive, AB, site.nap, options=("--slo", PROMISE))
    assert found["slo"] == PROMISE and found["ended_by"] == "slo-broken"
    assert found["knee"]["clients"] <= 3
    assert all(level["p50_seconds"] > 0.085 for level in found["levels"]
               if level["is"] == "slo-broken")
    assert f" within {PROMISE}" in found["verdict"]

    # Another command's levels are not this one's.
    tool.fails(tool.run(*command(site, archive, AB, "-k", site.nap)[1:]), 2,
               "has levels of another command: run 1 is", "-c 1 -t 20")


@pytest.mark.parametrize("then_us, words", [
    (400_000, "It did not hold that: once more at the end"),
    (10_000, "It was not warm yet: once more at the end")])
def test_the_server_changes(site, archive, then_us, words):
    """The level of the knee is measured once more at the end: a server that has become another one
    until then is said to be."""
    pace = site.root / "pace"
    pace.write_text("100000")
    pace.chmod(0o644)
    page = site.page("paced.php", f"<?php usleep((int) file_get_contents('{pace}'));")
    url = f"http://127.0.0.1:{site.port}{page}"
    found, _ = capacity(site, archive, AB, url)
    assert found["held"] and found["again"]["clients"] == found["knee"]["clients"]
    with closing(sqlite3.connect(archive)) as db:
        db.execute("UPDATE runs SET name = 'another' WHERE name LIKE '% again'")
        db.commit()
    pace.write_text(str(then_us))
    changed, _ = capacity(site, archive, AB, url)
    assert changed["levels"] == found["levels"] and changed["held"] is False
    assert words in changed["verdict"] and "mpmstat compare" in changed["verdict"]
    again = changed["again"]["requests_per_second"]
    assert (again < found["requests_per_second"]) == (then_us > 100_000)
    done = tool.run(*command(site, archive, AB, url, options=("--at-least", "15/s"))[1:])
    assert words in " ".join(done.stdout.split()) and "(once more)" in done.stdout
    assert done.returncode == (then_us > 100_000), done.stderr


def test_answers_fail(site, archive):
    """It ends where answers fail, and does not raise the load further."""
    site.page("fail.php", "<?php usleep(50000); $at = fopen(__DIR__ . '/fail.lock', 'c');"
              "if (!flock($at, LOCK_EX | LOCK_NB)) http_response_code(503); else usleep(20000);")
    (site.root / "htdocs").chmod(0o777)
    url = site.nap.replace("nap.php", "fail.php")
    found, _ = capacity(site, archive, AB, url)
    assert found["ended_by"] == "failed" and found["knee"]["clients"] == 1
    assert clients(found) == [1, 2]
    assert found["levels"][1]["is"] == "failed" and found["levels"][1]["failed"] > 0
    assert "requests fail" in found["verdict"]
    assert found["limit"]["code"] == "answers-5xx", "the rate grew until they failed"


def test_the_limit_is_elsewhere(site, archive):
    """A load tool that makes few requests, however many clients it is told: the workers are idle
    for most of the time, so the server takes more."""
    script = (f"for i in $(seq $(({{seconds}} * 100))); do curl -so /dev/null {site.nap}; "
              "sleep 0.15; done; : {clients}")
    found, _ = capacity(site, archive, "sh", "-c", script)
    assert found["at_least"] and found["knee"] is None and found["ended_by"] == "flat"
    assert "the load tool, or what is between it and the server, is the limit" in found["verdict"]
    assert found["limit"]["code"] == "client-beyond-server"
    assert "the servers had 0." in found["limit"]["sentence"]


def test_the_lowest_load_is_too_much(site, archive):
    site.page("fail.php", "<?php http_response_code(500);")
    url = site.nap.replace("nap.php", "fail.php")
    found, _ = capacity(site, archive, AB, url, status=1)
    assert found["requests_per_second"] is None and found["knee"] is None
    assert clients(found) == [1] and "does not take the lowest load" in found["verdict"]
    assert found["limit"]["code"] == "answers-5xx"


def test_nobody_answers(site, archive):
    """A load tool that fails at once says that the command is wrong: there is no level."""
    done = tool.run(*command(site, archive, AB, "http://127.0.0.1:1/")[1:], timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    assert "Connection refused" in done.stderr


def test_interrupted_and_resumed(site, archive):
    """^C keeps what was recorded and says what is known; the same command goes on from there."""
    started = subprocess.Popen(command(site, archive, AB, site.nap, options=("--json",)), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: recording.has(archive, "runs", 1), 120, "the second level")
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60 * PATIENCE)
    finally:
        if started.poll() is None:
            started.kill()
            started.wait()
    assert started.returncode == 130, err
    found = json.loads(out)
    assert found["interrupted"] and not found["complete"] and found["at_least"]
    assert clients(found)[0] == 1 and found["knee"] is None
    measured = [level["run"] for level in found["levels"]]

    found, _ = capacity(site, archive, AB, site.nap)
    assert found["complete"] and not found["interrupted"]
    assert [level["run"] for level in found["levels"]][:len(measured)] == measured


def test_time_is_up(site, archive):
    """A second is too short for a second level."""
    done = tool.run(*command(site, archive, AB, site.nap, options=("--within", "1s"))[1:],
                    timeout=60)
    assert done.returncode == 0, done.stderr
    assert "at least" in done.stdout and "The time is up" in done.stdout
    assert names(archive) == ["capacity 1 client"]


def test_the_load_tool_fails_later(site, archive):
    """That is too much load, too; the levels below it are searched."""
    script = f"test {{clients}} -lt 4 || exit 3; exec {AB} -c {{clients}} -t {{seconds}} {site.nap}"
    found, said = capacity(site, archive, "sh", "-c", script)
    assert found["ended_by"] == "failed" and 3 in clients(found) and max(clients(found)) == 4
    assert "with 4 clients the load tool fails" in found["verdict"]
    assert "sh failed with exit status 3" in said


def test_no_answer(site, archive):
    """A page that is slower than the longest level: the load is not raised."""
    site.page("slow.php", "<?php sleep(10);")
    found, _ = capacity(site, archive, AB, site.nap.replace("nap.php", "slow.php"), status=1,
                        options=("--within", "4s"))
    assert clients(found) == [1] and "no request is answered" in found["verdict"]


# A load tool that computes for most of its time, and asks for little.
SPINNER = """#!/usr/bin/python3
import os, sys, time, urllib.request
while os.fork() == 0:
    while True:
        pass
while True:
    began = time.process_time()
    while time.process_time() < began + 0.1:
        pass
    urllib.request.urlopen(sys.argv[-1]).read()
"""


@pytest.mark.alone
def test_the_load_tool_is_the_limit(site, archive, tmp_path):
    tool_of_its_own = tmp_path / "siege"
    tool_of_its_own.write_text(SPINNER)
    tool_of_its_own.chmod(0o755)
    found, _ = capacity(site, archive, tool_of_its_own, site.nap)
    assert found["ended_by"] in ("flat", "load-tool") and found["complete"]
    assert found["at_least"] and found["knee"] is None
    # A tool that others take the CPU from looks as one that only has its clients wait.
    code, words = found["limit"]["code"], found["verdict"]
    assert code in ("generator", "client-beyond-server")
    assert words.startswith("The server takes at least ")
    assert ("the load tool itself is the limit" in words) == (code == "generator")
    done = tool.run(*command(site, archive, tool_of_its_own, site.nap,
                             options=("--at-least", "400/s"))[1:])
    assert done.returncode == 1 and "--at-least 400 is not shown" in done.stderr


def test_a_hostile_archive(site, archive):
    """Runs with the names of levels, which no capacity made, are none."""
    capacity(site, archive, AB, site.nap, options=("--most", "1"))
    with closing(sqlite3.connect(archive)) as db:
        columns = ", ".join(row[1] for row in db.execute("PRAGMA table_info(runs)")
                            if row[1] not in ("id", "name"))
        for name in ("capacity 18446744073709551615 clients", "capacity 0 clients", "capacity x",
                     "capacity 4 clients and more", "capacity 1 client again and again",
                     "capacity again"):
            db.execute(f"INSERT INTO runs (name, {columns}) SELECT ?, {columns} FROM runs "
                       "WHERE id = 1", [name])
        db.commit()
    found, _ = capacity(site, archive, AB, site.nap, options=("--most", "1"))
    assert clients(found) == [1]

    # A level that was measured once more, but never before.
    with closing(sqlite3.connect(archive)) as db:
        db.execute("UPDATE runs SET name = 'capacity 1 client again' WHERE id = 1")
        db.commit()
    found, _ = capacity(site, archive, AB, site.nap, options=("--most", "1"))
    assert clients(found) == [1] and found["levels"][0]["run"] > 1 and found["again"] is None


@pytest.mark.skipif(not WRK, reason="needs wrk")
def test_most_and_wrk(site, archive):
    """wrk takes no more threads than connections, and has no 95th percentile of its own."""
    found, _ = capacity(site, archive, WRK, site.nap, options=("--most", "1"))
    assert found["ended_by"] == "most" and found["at_least"] and clients(found) == [1]
    assert found["levels"][0]["p95_seconds"] >= 0.05


def test_a_warm_up(site, archive):
    """Its first 25 requests keep the page for two and a half seconds: the level, which is over after
    twenty, is not steady, and its rate is that of all the time."""
    seen = site.root / "seen"
    seen.touch()
    seen.chmod(0o666)
    page = site.page("cold.php", f"""<?php $seen = fopen('{seen}', 'a');
        fwrite($seen, 'x'); usleep(fstat($seen)['size'] <= 25 ? 100000 : 10000);""")
    words = AB, f"http://127.0.0.1:{site.port}{page}"
    found, _ = capacity(site, archive, *words, options=("--most", "1"))
    [level] = found["levels"]
    assert level["steady"] is False and level["is"] == "good"
    [(answers, took_ns)] = recording.ask(archive, "SELECT count(*), max(start_ns) - min(start_ns) "
                                         "FROM server_requests WHERE server_id = 1 AND ghost = 0")
    assert took_ns > 18e9 and 0.9 < level["requests_per_second"] / (answers / took_ns * 1e9) < 1.1
    text = tool.run(*command(site, archive, *words, options=("--most", "1"))[1:]).stdout
    assert " (not steady)" in text and "its rate and its times include a warm-up" in text


@pytest.mark.skipif(not HEY, reason="needs hey")
def test_places_of_another_tool(site, archive):
    """Of a command that no adapter knows, the servers tell the rate."""
    script = f"exec {HEY} -z {{seconds}}s -c {{clients}} {site.nap}"
    found, _ = capacity(site, archive, "sh", "-c", script, options=("--most", "2"))
    assert clients(found) == [1, 2]
    assert 10 < found["levels"][1]["requests_per_second"] < 42
    assert found["command"] == f"sh -c {script}"


@pytest.mark.skipif(not HEY, reason="needs hey")
def test_a_rate(site, archive):
    """hey asks for {rate} requests a second of each of its clients: of one."""
    words = [HEY, "-c", "1", "-q", "{rate}", site.nap]
    found, _ = capacity(site, archive, *words)
    assert found["ended_by"] == "too-few" and "clients" not in found["knee"]
    assert 4 < found["requests_per_second"] < 21 and found["knee"]["low"] == found["knee"]["rate"]
    assert set(names(archive)) == {f"capacity {level['rate']}/s" for level in found["levels"]} | {
        f"capacity {found['again']['rate']}/s again"}


def test_by_url(site, archive):
    """A status URL in place of a board."""
    site.targets = [f"http://127.0.0.1:{site.port}/mpm-status"]
    found, _ = capacity(site, archive, AB, site.nap, options=("--most", "1"))
    assert 5 < found["requests_per_second"] < 42 and found["levels"][0]["is"] == "good"


@pytest.mark.parametrize("arguments, words", [
    ([], "it takes the command of a load tool"),
    (["--", "./load.sh", "-c", "10"], "write {clients} or {rate}"),
    (["--", "ab", "-c", "{clients}", "-n", "{rate}", "URL"], "{clients} and {rate}"),
    (["--", "ab", "-kc10", "http://127.0.0.1/"], "another number of them itself"),
    (["--slo", "p97=1s", "--", "ab", "URL"], "expected --slo to be a percentile"),
    (["--slo", "p95", "--", "ab", "URL"], "expected --slo to be a percentile"),
    (["--slo", "p95=soon", "--", "ab", "URL"], "expected --slo to be a time"),
    (["--at-least", "much", "--", "ab", "URL"], "expected --at-least to be a rate"),
    (["--at-least", "-4/s", "--", "ab", "URL"], "expected --at-least to be a rate"),
    (["--within", "10", "--", "ab", "URL"], "expected --within to be a time"),
    (["--most", "0", "--", "ab", "URL"], "expected --most to be a whole number"),
    (["--format", "xml", "--", "ab", "URL"], 'no format "xml"'),
    (["-q", "-v", "--", "ab", "URL"], "exclude each other"),
    (["--rotate", "1h", "--", "ab", "URL"], "--rotate is not an option"),
], ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "")
def test_wrong_usage_is_a_sentence(arguments, words, tmp_path):
    done = tool.fails(tool.run("capacity", *arguments, cwd=tmp_path), 2, words)
    assert done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())
