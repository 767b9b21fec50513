"""mpmstat record with each load tool that Debian has: its numbers against the server's; and
with scripts that behave as the others do, or as none should."""
import json
import os
import shlex
import signal
import subprocess

import pytest

import build
import processes
import tool
from processes import wait_until
from recording import ask, checks, command, has, record

PAGE = "/sleep.php?seconds=0.1&spread=0"
CASES = build.SRCDIR / "tests" / "cases"

# For a number of requests and connections, and what the tool's clock can tell of a mean.
COMMANDS = {
    "ab": (lambda n, c: ["-n", n, "-c", c], 0.001),
    "siege": (lambda n, c: ["-b", "--no-parser", "-c", c, "-r", n // c], 0.01),
    "wrk": (lambda n, c: ["-t", 2, "-c", c, "-d", "2s" if n < 1000 else "60s"], 0.0001),
    "hey": (lambda n, c: ["-n", n, "-c", c], 0.0001),
    "h2load": (lambda n, c: ["--h1", "-n", n, "-c", c], 0.000001),
}
each_tool = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """siege makes itself a directory at home, where its user's settings can be, too."""
    monkeypatch.setenv("HOME", str(tmp_path))


def load(name, url, requests=40, connections=4):
    assert build.find(name), f"{name} is not installed: see check_packages in tools/quickstart"
    return [build.find(name), *map(str, COMMANDS[name][0](requests, connections)), url]


def at(apache, path):
    return f"http://127.0.0.1:{apache.port}{path}"


# ---- the real ones ------------------------------------------------------------------------


@each_tool
@pytest.mark.mpms("prefork", "event")
def test_both_sides(php_server, mpm, name, archive):
    apache = php_server(mpm, workers=20, threads=10, children=10)
    apache.get("/sleep.php?seconds=0")
    summary, _ = record(apache, archive, *load(name, at(apache, PAGE)))
    client, server = summary["client"], summary["servers"][0]
    assert client["tool"] == name and client["failed"] == client["non_2xx"] == 0, client
    assert client["concurrency"] == 4 and summary["run"]["complete"] is True
    assert client["requests"] >= 40 and client["requests"] == 40 or name == "wrk", client
    assert checks(summary)["counts"] is True, summary["checks"]
    assert client["rows"] == (40 if name in ("ab", "hey", "h2load") else 0)
    # The page takes 0.1 s. What else both measure is apart by what no server sees (connecting,
    # waiting for the CPU), and by what the client cannot tell.
    resolution = COMMANDS[name][1]
    assert client["resolution_seconds"] <= resolution
    assert client["mean_seconds"] >= 0.1 - resolution and server["mean_seconds"] >= 0.1
    assert abs(client["mean_seconds"] - server["mean_seconds"]) <= resolution + 0.05, summary
    assert client["max_seconds"] >= client["mean_seconds"] - resolution
    if name != "siege":
        assert client["p50_seconds"] <= client["p99_seconds"] <= client["max_seconds"]


@each_tool
def test_errors(server, name, archive):
    """404s and 503s: answers, which both sides count; siege calls those with 5xx failed."""
    # Apache closes a slow client's connection otherwise, and h2load counts that as a failure.
    apache = server("event", "Redirect 503 /unavailable\nKeepAliveTimeout 300")
    for path, status in (("/not-there", 404), ("/unavailable", 503)):
        for _ in range(5):      # httpd ends a kept-alive connection at times, module or not
            summary, _ = record(apache, archive, *load(name, at(apache, path)))
            client, recorded = summary["client"], summary["servers"][0]
            assert checks(summary)["counts"] is True, (path, summary["checks"])
            if name != "h2load" or client["failed"] == 0:
                break
        assert recorded["requests"] > 0
        if name == "siege" and status == 503:
            assert client["failed"] == 40 and client["requests"] == 0, client
        else:
            # wrk may take it for a failure that Apache closes after MaxKeepAliveRequests.
            assert client["failed"] == (client["failed_receive"] if name == "wrk" else 0), client
            assert client["non_2xx"] == client["requests"], client
    assert {row[0] for row in ask(archive, "SELECT DISTINCT status FROM server_requests WHERE "
                                           "label <> 'mpm-status'")} == {404, 503}


@each_tool
def test_refused(server, name, archive):
    apache = server("event")
    summary, err = record(apache, archive, *load(name, "http://127.0.0.1:1/"),
                          status=1 if name in ("ab", "wrk") else 0)
    if name in ("ab", "wrk"):
        assert "Connection refused" in err, err
        assert summary["run"]["outcome"] == "failed" and summary["client"]["requests"] is None
    else:
        assert summary["client"]["requests"] == 0 and summary["client"]["failed"] == 40
        assert checks(summary)["counts"] is None


@each_tool
def test_interrupted(server, name, archive):
    """^C: most still say what they had; of h2load the rows do. The load is of minutes."""
    apache = server("event", workers=10)
    mark = f"interrupted-{name}"
    words = command(apache, archive, *load(name, at(apache, f"/index.html?{mark}"), 2000000, 4))
    with subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                          ) as started:
        wait_until(lambda: has(archive, "server_requests", 8), 20, "requests")
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=30 * processes.PATIENCE)
    assert started.returncode == 130, err
    summary = json.loads(out)
    assert summary["run"]["outcome"] == "interrupted"
    assert not processes.session_members(-1, mark)
    if summary["client"]["requests"] is None:
        assert checks(summary)["counts"] is None
        assert summary["run"]["exit_status"] is None, "it hung, or had no CPU: killed"
        return
    assert summary["client"]["requests"] >= 4, err
    assert checks(summary)["counts"] is True, summary["checks"]


def test_flags_are_the_tools_own_business(server, archive):
    apache = server("event")
    words = load("hey", at(apache, "/"))
    summary, _ = record(apache, archive, *words)
    assert "-o (a template" in summary["run"]["added"] and summary["client"]["rows"] == 40
    summary, _ = record(apache, archive, *words[:-1], "-o", "csv", words[-1])
    assert summary["run"]["added"] is None and summary["client"]["rows"] == 40
    _, err = record(apache, archive, words[0], "-nonsense", status=1)
    assert "mpmstat had added -o (a template of rows and summary) to it: --no-flags" in err, err


# ---- scripts under a load tool's name -----------------------------------------------------


@pytest.fixture
def script(tmp_path):
    """script(name, text): a program of that name."""

    def make(name, text):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    return make


def test_one_that_does_not_stop(server, script, archive):
    """As siege may hang at the end of -t: it hears neither SIGINT nor SIGTERM."""
    apache = server("event")
    siege = script("siege", "trap '' INT TERM\nwhile :; do sleep 0.1 'never-stops'; done\n")
    words = command(apache, archive, siege, "-t", "1s", "never-stops")
    words[words.index("--"):words.index("--")] = ["--timeout", "1"]
    done = subprocess.run(words, text=True, capture_output=True, timeout=30)
    assert done.returncode == 1 and "siege had not ended after 1 s" in done.stderr, done.stderr
    summary = json.loads(done.stdout)
    assert summary["run"]["outcome"] == "timeout" and summary["client"]["requests"] is None
    assert not processes.session_members(-1, "never-stops")


@pytest.mark.parametrize("printed, complete", [(True, True), (False, False)])
def test_one_that_ends_unhappily(server, script, archive, printed, complete):
    """Locust's exit status 1 says that there were failures, or that it could not run."""
    apache = server("event")
    results = CASES / "locust" / "some-not-found" / "stdout"
    locust = script("locust", f"cat {shlex.quote(str(results)) if printed else '/dev/null'}\n"
                              "exit 1\n")
    summary, _ = record(apache, archive, locust, "--headless", status=0 if complete else 1)
    assert summary["run"]["complete"] is complete and summary["run"]["added"] == "--json"
    if complete:
        assert summary["client"]["requests"] == 34 and summary["client"]["failed"] == 11
        assert any("exit status 1" in note for note in summary["notes"]), summary["notes"]


@pytest.mark.parametrize("encode, requests, said", [
    ("cat \"$4\"", 10, None),
    ("exit 3", None, "the conversion of its results failed"),
    ("echo junk", None, "not one of 1 lines is a row as vegeta writes them"),
])
def test_one_whose_results_are_converted(server, script, archive, encode, requests, said):
    """vegeta's: the attack's output goes through `vegeta encode -to csv`."""
    apache = server("event")
    rows = CASES / "vegeta" / "plain" / "rows"
    vegeta = script("vegeta", f"""
        if [ "$1" = encode ]; then {encode}; exit; fi
        for word; do case $word in -output=*) exec cat {rows} >"${{word#-output=}}";; esac; done
        exit 2""")
    summary, err = record(apache, archive, vegeta, "attack", "-duration=1s")
    added = summary["run"]["added"]
    assert added.startswith("-output=/dev/fd/") and added.endswith(" -max-body=0"), added
    assert summary["client"]["requests"] == requests, err
    assert said is None or said in err, err
    assert ask(archive, "SELECT count(*) FROM client_requests") == [(requests or 0,)]


# tsung.log, of six users of whom four had an answer and one a broken connection; what the dump
# has of them; requests, failed, and what is said. The dump may lack answers: no failures.
TSUNG_LOG = """# stats: dump at 1795283968
stats: users_count 4 4
stats: 200 2 2
# stats: dump at 1795283978
stats: users_count 2 6
stats: 200 1 3
stats: 404 1 1
"""
TSUNG_ROW = "179528396{0}.5;<0.17{0}.0>;{0};get;127.0.0.1;/;{1};113;72.5;-;;;\n"


@pytest.mark.parametrize("rows, requests, failed, said", [
    (("200", "200", "200", "404", "error_closed"), 4, 2, None),
    (("200", "200", "error_closed"), 2, 2, "2 lines among the load tool's rows are not rows"),
    ((), None, None, "in its configuration, and use sessions of HTTP"),
])
def test_answers_that_tsung_loses(php_server, script, archive, tmp_path, rows, requests, failed,
                                  said):
    apache = php_server("event")
    written = tmp_path / "written" / "20261121-1759"
    written.mkdir(parents=True)
    (written / "tsung.log").write_text(TSUNG_LOG)
    (written / "tsung.dump").write_text("")
    (written / "tsung-123456.dump").write_text(
        "".join(TSUNG_ROW.format(n, status) for n, status in enumerate(rows)))
    tsung = script("tsung", f"cp -r {written} \"$2\"\n")
    (tmp_path / "log").mkdir()
    with apache.connect() as earlier:   # it is waited for: rows may begin long after all is prepared
        earlier.send("GET /sleep.php?seconds=1.5&spread=0 HTTP/1.0\r\n\r\n")
        wait_until(lambda: tool.status(apache.board)["workers"]["states"]["handling"], 5, "it")
        summary, err = record(apache, archive, tsung, "-l", tmp_path / "log")
    assert said is None or said in err, err
    assert summary["client"]["requests"] == requests, err
    assert summary["client"]["failed"] == failed
    assert summary["client"]["non_2xx"] == (rows.count("404") if rows else None)


def test_rows_in_a_file_of_the_users(server, tmp_path, archive):
    """h2load appends: what an earlier run left there is not of this one."""
    apache = server("event")
    words = load("h2load", at(apache, "/index.html"))
    words.insert(1, f"--log-file={tmp_path / 'rows'}")
    rows = []
    for run in (1, 2):
        summary, err = record(apache, archive, *words)
        client = summary["client"]
        # A request that Apache closes its kept-alive connection for has failed, and has no row.
        assert summary["run"]["added"] is None and client["rows"] == 40 - client["failed"], (run, err)
        rows.append(client["rows"])
    assert rows[0] > 0 and len((tmp_path / "rows").read_text().splitlines()) == sum(rows)
    assert ask(archive, "SELECT count(*) FROM client_requests WHERE status = 200") == [(sum(rows),)]
    assert os.path.exists(tmp_path / "rows")


# ---- the same request on both sides ---------------------------------------------------------

# As vegeta does: a number in each request, and in its results, which `vegeta encode` makes
# lines of. Eight at once, so that the time alone does not tell them apart.
VEGETA = """#!/usr/bin/python3
import http.client, sys, time
from concurrent.futures import ThreadPoolExecutor
if sys.argv[1] == "encode":
    sys.exit(print(open(sys.argv[-1]).read(), end=""))
output = next(word[8:] for word in sys.argv if word.startswith("-output="))
host, path = sys.argv[-1].removeprefix("http://").split("/", 1)
def ask(number):
    start, clock = time.time_ns(), time.monotonic_ns()
    connection = http.client.HTTPConnection(host)
    headers = {"X-Vegeta-Seq": str(number)} | ({"X-MPMStat-Id": f"{number}x"} if number < 4 else {})
    connection.request("GET", f"/{path}&seconds={0.01 * (number % 7)}", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return f"{start},{status},{time.monotonic_ns() - clock},0,0,,,,{number},GET,{path},\\n"
with ThreadPoolExecutor(8) as pool, open(output, "w") as results:
    results.writelines(pool.map(ask, range(80)))
"""
# A pair's server side slept as long as that client asked it to, and was in flight with it. More is
# not certain: a program without a CPU reads its clock late.
PAIRS = """SELECT count(*), total(s.handle_ns >= 10000000 * (c.client_id % 7) AND c.start_ns <
s.start_ns + s.queue_ns + s.read_ns + s.handle_ns + s.send_ns AND c.start_ns + c.duration_ns > s.start_ns) FROM client_requests c
JOIN server_requests s ON s.client_id = c.client_id"""


@pytest.mark.parametrize("trusted", [True, False])
def test_a_request_on_both_sides(php_server, tmp_path, archive, trusted):
    """By the number that the client sent with it, exactly; else by time."""
    apache = php_server("event", f"MPMStatTrustClientId {'On' if trusted else 'Off'}", workers=20,
                        threads=10, children=10)
    vegeta = tmp_path / "vegeta"
    vegeta.write_text(VEGETA)
    vegeta.chmod(0o755)
    summary, err = record(apache, archive, vegeta, "attack", at(apache, "/sleep.php?spread=0"))
    assert summary["client"]["requests"] == 80 and checks(summary)["counts"] is True, err
    joined = summary["client"]["joined"]
    assert joined["by"] == ("id" if trusted else "time"), joined
    if trusted:
        # The first four sent an X-MPMStat-Id that is not a number.
        assert joined["requests"] == 76 and joined["ambiguous"] == 0, joined
        assert ask(archive, PAIRS) == [(76, 76)], "a pair is of two requests"
    else:
        assert ask(archive, "SELECT count(client_id) FROM server_requests") == [(0,)]
        # A client that had no CPU says of some that they began after the server had them.
        assert joined["requests"] >= 60 and joined["ambiguous"] > 0, joined
    assert 0 <= joined["p50_seconds"] <= joined["max_seconds"]
