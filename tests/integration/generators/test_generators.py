"""A load from several processes, each with a clock and a file of its own: mpmstat import."""
import html
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time

import pytest

import build
from recording import ask, assert_sound, checks, record, recording

MPMSTAT_ROWS = build.SRCDIR / "contrib" / "locust" / "mpmstat_rows.py"
THREADS = 4
HEADER = "metric_name,timestamp,metric_value,status,error_code\n"


def request(port, path):
    """One request: when it began, and for how long it took."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    began = time.time_ns()
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    took = time.time_ns() - began
    connection.close()
    return began, took, answer.status


def load(port, path, count):
    """What `count` requests of several threads at random moments were."""
    rows = []

    def work(seed):
        chance = random.Random(seed)
        for _ in range(count // THREADS):
            rows.append(request(port, path))
            time.sleep(chance.random() / 200)   # the load's own rhythm; nothing waits for it

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(rows)


def k6(path, rows, ahead=0.0, dropped=0):
    """Those as k6 writes them, by a clock that is ahead by so many seconds."""
    with open(path, "w") as file:
        file.write(HEADER)
        if dropped:
            file.write(f"dropped_iterations,{rows[0][0]},{dropped},,\n")
        for began, took, status in rows:
            end = began + took + int(ahead * 1e9)
            file.write(f"http_reqs,{end},1.000000,{status},\n"
                       f"http_req_duration,{end},{took / 1e6:.6f},{status},\n")
    return path


def locust(path, rows, cpu, ends=True):
    """Those as mpmstat_rows.py writes them; cpu is the part of a CPU that its process took."""
    first, last = rows[0][0], max(began + took for began, took, _ in rows)
    lines = ["#mpmstat-locust-rows,1,host,1,2.47.0", f"c,{first},5000"]
    lines += [f"r,{began},{took},{status},," for began, took, status in rows]
    lines += [f"{'e' if ends else 'c'},{last},{5000 + int((last - first) * cpu)}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def run_import(archive, *words, status=0):
    done = subprocess.run([build.TOOL, "import", "--format", "json", archive, *words], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == status, f"exit {done.returncode}: {done.stderr}"
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


@pytest.fixture
def recorded(server, archive):
    """A run of 400 requests that no load tool of mpmstat's made, and what the client knows."""
    apache = server("event")
    with recording(archive, targets=[apache.board]) as started:
        while not archive.exists() or not ask_or_none(archive):
            assert started.poll() is None
            time.sleep(0.05)
        rows = load(apache.port, "/index.html", 400)
        started.send_signal(2)
        started.communicate(timeout=30)
    return rows


def ask_or_none(archive):
    """Whether the recording has begun to sample."""
    try:
        return ask(archive, "SELECT count(*) FROM samples")[0][0] > 1
    except Exception:   # it is being made
        return False


def test_two_generators(recorded, archive, tmp_path):
    """One clock is five minutes ahead, the other an hour behind: all instants become the server's."""
    files = [k6(tmp_path / "a.csv", recorded[::2], 300), k6(tmp_path / "b.csv", recorded[1::2], -3600)]
    summary, err = run_import(archive, *files)
    assert summary["client"]["requests"] == 400 and summary["client"]["rows"] == 400, summary["client"]
    assert checks(summary)["counts"] is True
    for generator, ahead in zip(summary["generators"], (300, -3600)):
        apart = abs(generator["clock_ahead_seconds"] - ahead)
        assert apart <= generator["clock_uncertainty_seconds"], generator
        assert generator["requests"] == 200 and generator["at_limit"] is False
    assert "make sure that the file is of this run" in err
    within = ask(archive, "SELECT count(*) FROM client_requests c WHERE EXISTS (SELECT 1 FROM "
                          "server_requests s WHERE s.start_ns > c.start_ns - 100000000 AND "
                          "s.start_ns < c.start_ns + c.duration_ns + 100000000)")
    assert within == [(400,)]
    assert_sound(archive)


def test_what_is_left_out(recorded, archive, tmp_path):
    """The same file again, another program's, an empty one, another run's: none changes the run."""
    good = k6(tmp_path / "good.csv", recorded)
    run_import(archive, good)
    before = ask(archive, "SELECT * FROM client_results"), ask(archive, "SELECT * FROM generators")
    copy = tmp_path / "copy.csv"
    shutil.copy(good, copy)
    strange, empty, only_header = (tmp_path / name for name in ("strange", "empty", "header"))
    strange.write_text("elapsed,label\n1,2\n")
    empty.write_text("")
    only_header.write_text(HEADER)
    chance = random.Random(1)
    other = k6(tmp_path / "other.csv", [(recorded[0][0] - 7200 * 10**9 + chance.randrange(10**10),
                                        2000000 + chance.randrange(5000000), 200) for _ in range(400)])
    _, err = run_import(archive, copy, strange, empty, only_header, other, tmp_path / "absent",
                        status=1)
    assert err.count("is left out") == 6, err
    assert "in run 1 already, as good.csv" in err and "do not belong to this run" in err
    assert before == (ask(archive, "SELECT * FROM client_results"),
                      ask(archive, "SELECT * FROM generators"))
    _, err = run_import(archive, "--run", "nothing", good, status=3)
    assert "there is no run" in err


def test_killed(recorded, archive, tmp_path):
    """Half a line at the end: the rest counts, and the table says that it was cut."""
    rows = tmp_path / "rows"
    rows.mkdir()
    text = k6(rows / "a.csv", recorded).read_text()
    (rows / "a.csv").write_text(text[:-20])
    summary, err = run_import(archive, rows)
    assert summary["generators"][0]["bad_lines"] == 1 and "1 lines are not rows" in err
    assert summary["client"]["requests"] >= 399


def test_the_limit_is_named(recorded, archive, tmp_path):
    """Of two processes of Locust one had no CPU left."""
    files = [locust(tmp_path / "idle.csv", recorded[::2], 0.2),
             locust(tmp_path / "busy.csv", recorded[1::2], 0.97, ends=False)]
    summary, err = run_import(archive, *files)
    assert [g["at_limit"] for g in summary["generators"]] == [False, True]
    assert [g["cut_short"] for g in summary["generators"]] == [False, True]
    finding = next(f for f in summary["findings"] if f["code"] == "generator")
    assert finding["subject"] == "busy.csv" and "busy.csv" in finding["text"], finding
    assert checks(summary)["generator"] is False and "did not end by itself" in err


def test_dropped_iterations(recorded, archive, tmp_path):
    summary, _ = run_import(archive, k6(tmp_path / "a.csv", recorded, dropped=40))
    assert summary["generators"][0]["dropped"] == 40
    finding = next(f for f in summary["findings"] if f["code"] == "generator")
    assert "40" in finding["text"], finding


def test_reports_show_generators(recorded, archive, tmp_path):
    run_import(archive, k6(tmp_path / "a<b>.csv", recorded, ahead=2))
    for form in ("text", "md", "html", "json"):
        text = subprocess.run([build.TOOL, "report", "--format", form, archive], text=True,
                              capture_output=True, check=True).stdout
        assert "a<b>.csv" in html.unescape(text.replace("\\", "")), form


def test_a_run_with_rows_takes_none(server, archive, tmp_path):
    apache = server("event")
    record(apache, archive, build.find("ab"), "-n", 20, f"http://127.0.0.1:{apache.port}/")
    rows = k6(tmp_path / "a.csv", load(apache.port, "/", 40))
    done = subprocess.run([build.TOOL, "import", archive, rows], text=True, capture_output=True)
    assert done.returncode == 1 and "has the single requests of ab already" in done.stderr


def test_client_rows_of_a_command(server, archive, tmp_path):
    """mpmstat record adds them right after its command."""
    apache = server("event")
    script = tmp_path / "load.py"
    script.write_text(f"import sys\nsys.path[:0] = {sys.path!r}\n"
                      "from pathlib import Path\nimport test_generators as g\n"
                      f"g.k6(Path(sys.argv[1]), g.load({apache.port}, '/index.html', 200))\n")
    done = subprocess.run([build.TOOL, "record", "-o", archive, "-t", apache.board, "--format", "json",
                           "--client-rows", tmp_path / "a.csv", "--", sys.executable, script,
                           tmp_path / "a.csv"], text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["client"]["tool"] == "k6" and summary["client"]["rows"] == 200
    assert summary["generators"][0]["clock_ahead_seconds"] == 0


# ---- the real ones ------------------------------------------------------------------------

K6_SCRIPT = """
import http from "k6/http";
export const options = { scenarios: { s: { executor: "constant-vus", vus: 4, duration: "3s" } } };
export default function () { http.get(__ENV.URL); }
"""
LOCUST_FILE = """
import os
from locust import HttpUser, constant, task
class Visitor(HttpUser):
    host = os.environ["BASE"]
    wait_time = constant(0.01)
    @task
    def page(self):
        self.client.get("/index.html")
"""


def record_processes(apache, archive, rows, script, env):
    done = subprocess.run([build.TOOL, "record", "-o", archive, "-t", apache.board, "--format", "json",
                           "--client-rows", rows, "--", "sh", "-c", script], text=True,
                          capture_output=True, timeout=120, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    # Locust abandons the requests that are under way at its end.
    missing = summary["servers"][0]["requests"] - summary["client"]["requests"]
    assert 0 <= missing <= 4 and summary["client"]["requests"] > 0, summary["client"]
    for generator in summary["generators"]:
        assert generator["clock_ahead_seconds"] == 0, generator
    return summary


@pytest.mark.skipif(not shutil.which("k6"), reason="k6 is not installed")
def test_real_k6(server, archive, tmp_path):
    apache = server("event")
    (tmp_path / "load.js").write_text(K6_SCRIPT)
    (tmp_path / "rows").mkdir()
    script = "".join(f"k6 run -q --no-usage-report --address '' --execution-segment {segment} "
                     "--execution-segment-sequence 0,1/2,1 "
                     f"--out {out} -e URL=http://127.0.0.1:{apache.port}/index.html load.js & "
                     for segment, out in (("0:1/2", "json=rows/a.json"),
                                          ("1/2:1", "csv=fileName=rows/b.csv,timeFormat=unix_nano")))
    summary = record_processes(apache, archive, tmp_path / "rows",
                               f"cd {tmp_path}; {script} wait", {})
    assert [g["name"] for g in summary["generators"]] == ["a.json", "b.csv"]


@pytest.mark.skipif(not shutil.which("locust"), reason="Locust is not installed")
def test_real_locust(server, archive, tmp_path):
    apache = server("event")
    (tmp_path / "locustfile.py").write_text(LOCUST_FILE)
    summary = record_processes(
        apache, archive, tmp_path / "rows",
        f"cd {tmp_path} && exec locust -f {MPMSTAT_ROWS},locustfile.py --headless -u 4 -r 100 -t 3s "
        "--processes 2 --skip-log", {"MPMSTAT_ROWS": str(tmp_path / "rows"),
                                     "BASE": f"http://127.0.0.1:{apache.port}"})
    assert len(summary["generators"]) == 2
    assert all(g["cut_short"] is False for g in summary["generators"]), summary["generators"]
