"""An archive of a study that nobody ran: its figures are made up, so that it is known what the
study's report has to say of them.

    make(path)           everything: one load, a sweep, spawning, a ramp, failed steps
    make_behind_nginx(path)   stacks with nginx in front, and one without, by their own files
"""
import json
import random
import sqlite3

import build

SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND

STUDY = """# A study for tests.
%% study
title = Which of them is it?
number = 1
year = 2013
language = es
original = A measurement that nobody made
question = Which of three systems answers most requests, and what happens beyond its limit?

%% runs load
title = One load
stacks = prefork-modphp worker-fpm event-fpm
workload = loop
load = ab -n 100 -c 50 ${URL}
repetitions = 5

%% published load
system              stack          requests_per_second  time_taken_s  failed
"prefork + mod_php" prefork-modphp 2.65                 37.756        14
"worker + php-fpm"  worker-fpm     2.95                 33.945        5
"event + fcgid"     event-fcgid    2.14                 46.755        8
"event + php-fpm"   event-fpm      2.78                 35.976        10

%% runs sweep
title = Beyond the limit
stacks = prefork-modphp event-fpm
workload = sleep
WORKERS = 100 300
CONCURRENCY = 100 200 300 400
load = ab -c ${CONCURRENCY} -n 1000 ${URL}
repetitions = 3

%% runs spawn
title = Spawning
kind = spawn
stacks = prefork-modphp event-fpm
workload = sleep
load = ab -c 50 -n 50 ${URL}
repetitions = 3

%% runs ramp
title = A ramp
kind = ramp
stacks = prefork-modphp event-fpm
workload = subrequest
from = 0
to = 25
over = 20
repetitions = 1

%% claims
load: worker-fpm > prefork-modphp by requests_per_second "worker beats prefork"
load: prefork-modphp > event-fpm by requests_per_second "prefork beats event"
load: event-fpm > worker-fpm by requests_per_second "event beats worker"
load: event-fpm > prefork-modphp by failed "event fails more often"
sweep: prefork-modphp[WORKERS=100] > event-fpm[WORKERS=100] by mean_ms times 1.5 "half as slow"
sweep: prefork-modphp[CONCURRENCY=100] ~ event-fpm[CONCURRENCY=100] by mean_ms "equal below it"
spawn: prefork-modphp > event-fpm by spawn_all_s apart 3 "three seconds earlier"

%% notes
Everything is made up.
"""
STACKS = {"prefork-modphp": "prefork + mod_php", "worker-fpm": "worker + php-fpm",
          "event-fpm": "event + php-fpm"}


BEHIND_NGINX = """# A study for tests.
%% study
title = Behind nginx

%% runs load
stacks = nginx-two-apaches nginx-fpm event-fpm
workload = loop
load = ab -n 40 -c 5 ${URL}
repetitions = 3

%% runs spawn
kind = spawn
stacks = nginx-two-apaches event-fpm
workload = loop
load = ab -n 40 -c 5 ${URL}
repetitions = 1

%% runs ramp
kind = ramp
stacks = nginx-two-apaches
workload = loop
from = 0
to = 25
over = 20
repetitions = 1

%% claims
load: event-fpm > nginx-fpm by peak_pss_mb "Apache takes more memory"
load: nginx-fpm < 95 by php_peak_pss_mb "PHP takes little memory"
"""


class Study:
    def __init__(self, path, text=STUDY, stacks=None):
        self.db = sqlite3.connect(path)
        self.db.executescript((build.SRCDIR / "tools/archive/schema.sql").read_text())
        self.random = random.Random(1)
        self.ordinal = self.time = 0
        self.insert("studies", id=1, name="made-up", title="Which of them is it?", size="quick",
                    seed=42, text=text, started_ns=START, ended_ns=START + 3600 * SECOND,
                    interrupted=0)
        if stacks is None:
            stacks = {name: f"%% stack\ntitle = {title}\nfamily = fpm\n"
                      for name, title in STACKS.items()}
        for name, stack in stacks.items():
            self.insert("study_files", study_id=1, kind="stack", name=name, text=stack)

    def insert(self, table, **values):
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        return self.db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})",
                               list(values.values())).lastrowid

    def step(self, runs, stack, workload, repetition, load, parameters=None, state="done",
             **values):
        self.ordinal += 1
        return self.insert("steps", study_id=1, ordinal=self.ordinal, block=repetition,
                           repetition=repetition, start=self.ordinal, runs=runs, stack=stack,
                           workload=workload, load=load, parameters=json.dumps(parameters or {}),
                           state=state, **values)

    def run(self, load, seconds, rate, mean, requests, concurrency, failed=0, p99=3.0):
        """A run with its load tool's results; returns (run, its start)."""
        self.time += 60 * SECOND
        start = START + self.time
        run = self.insert(
            "runs", command=json.dumps(load.split()), command_line=load, tool="ab",
            started_ns=start, ended_ns=start + int(seconds * SECOND),
            duration_ns=int(seconds * SECOND), complete=1, outcome="complete", exit_status=0,
            tool_cpu_ns=SECOND // 10, tool_threads=1, mpmstat_version="1.0", repetition=1)
        self.insert(
            "client_results", run_id=run, requests=requests, requested=requests, unfinished=0,
            abandons=0, failed=failed, failed_length=failed, failed_connect=0, failed_receive=0,
            failed_other=0, non_2xx=0, concurrency=concurrency, bytes=70000 * requests,
            duration_ns=int(seconds * SECOND), requests_per_1000s=round(rate * 1000),
            mean_ns=int(mean * SECOND), p50_ns=int(mean * 0.9 * SECOND),
            p90_ns=int(mean * 1.5 * SECOND), p99_ns=int(mean * p99 * SECOND),
            max_ns=int(mean * 4 * SECOND))
        for name, value in (("cpus", "2"), ("kernel", "Linux 6.1"), ("os", "Debian 12")):
            self.insert("environment", run_id=run, name=name, value=value)
        return run, start

    def server(self, run, start, seconds, producer, limit, busy, pss, processes, mpm=None,
               sapi=None, forks=0, no_idle=0.0):
        server = self.insert(
            "servers", run_id=run, target=f"/run/{producer}.board", producer=producer,
            server="Apache/2.4" if producer == "apache" else "PHP 8.2", mpm=mpm, sapi=sapi,
            version="1.0", pid=1, local=1, lost=0, restarts=0, cpu_ns=int(seconds * SECOND / 2))
        for i, moment in enumerate(("before", "during", "end", "after")):
            at = max(0, i - 1) * seconds / 2 if i < 3 else seconds
            self.insert(
                "samples", server_id=server, time_ns=start + int(at * SECOND) - (i == 0),
                moment=moment, workers_limit=limit, workers_busy=busy,
                idle_ns=int((limit - busy) * at * SECOND), reading_ns=0,
                handling_ns=int(busy * at * SECOND), sending_ns=0, keepalive_ns=0, closing_ns=0,
                forks=processes + (forks if i else 0), exits=0, forks_failed=0, shed=0,
                unfinished=0, generations=0, requests=0, in_flight=0,
                no_idle_ns=int(no_idle * at / seconds * SECOND), listen_queue=0,
                listen_queue_limit=511)
        self.insert("memory_samples", server_id=server, time_ns=start, began_ns=start,
                    processes=processes, pss_bytes=pss, cost_ns=1, rss_bytes=pss * 4)
        return server

    def requests(self, server, start, seconds, count, queue, handle, bytes_of=70000, send=50e-6):
        """Evenly over the time, each with that much of either."""
        for i in range(count):
            at = start + int(i * seconds / count * SECOND)
            self.insert(
                "server_requests", server_id=server, key=i, start_ns=at,
                queue_ns=int(queue * SECOND), read_ns=10000, handle_ns=int(handle * SECOND),
                send_ns=int(send * SECOND), held_ns=int((handle + send) * SECOND) + 10000,
                bytes=bytes_of + i % 7,
                label="site", status=200, aborted=0, no_worker=0, pid=1, worker=i % 5, nth=0,
                request_id=i + 1, ghost=0)

    def php_requests(self, server, start, seconds, count, before, wait, run):
        """Those that an Apache has handed over `before` seconds after it had them."""
        for i in range(count):
            at = start + int(i * seconds / count * SECOND) + int((before + wait) * SECOND)
            self.insert(
                "php_requests", server_id=server, key=i, start_ns=at, request_id=i + 1,
                wait_ns=int(wait * SECOND), run_ns=int(run * SECOND), label="www", status=200,
                aborted=0, fatal=0, timeout=0, pid=2, worker=i % 5, ghost=0)

    def forks(self, server, start, times, kind):
        for i, seconds in enumerate(times):
            self.insert("lifecycle", server_id=server, key=i,
                        time_ns=start + int(seconds * SECOND), event="fork", kind=kind, pid=i + 2,
                        parent=1)


def one_load(study):
    rates = {"prefork-modphp": 40, "worker-fpm": 60, "event-fpm": 60}
    load = "ab -n 100 -c 50 http://127.0.0.1:8080/loop.php"
    for repetition in range(1, 6):
        for stack, rate in rates.items():
            rate *= study.random.uniform(0.98, 1.02)
            seconds = 100 / rate
            run, start = study.run(load, seconds, rate, 50 / rate, 100, 50,
                                   failed=14 if stack == "prefork-modphp" else 0)
            prefork = stack == "prefork-modphp"
            server = study.server(run, start, seconds, "apache", 50, 40 if prefork else 8,
                                  (120 if prefork else 30) * 10**6, 50 if prefork else 3,
                                  mpm=stack.split("-")[0], no_idle=seconds / 2 if prefork else 0)
            study.requests(server, start, seconds, 100, 0.6 if prefork else 0.001, 0.05)
            if not prefork:
                study.server(run, start, seconds, "php", 50, 30, 90 * 10**6, 51, sapi="fpm-fcgi")
            for i in range(100):
                study.insert("client_requests", run_id=run, start_ns=start, connect_ns=100_000,
                             duration_ns=int(50 / rate * SECOND), status=200)
            study.step("load", stack, "loop", repetition, load, {}, run_id=run, page_bytes=70000)


def sweep(study):
    for repetition in range(1, 4):
        for stack in ("prefork-modphp", "event-fpm"):
            for workers in (100, 300):
                for concurrency in (100, 200, 300, 400):
                    over = max(1, concurrency / workers)
                    mean = over * (2 if over > 1 and stack == "prefork-modphp" else 1)
                    mean *= study.random.uniform(0.99, 1.01)
                    load = f"ab -c {concurrency} -n 1000 http://127.0.0.1:8080/sleep.php"
                    parameters = {"WORKERS": str(workers), "CONCURRENCY": str(concurrency)}
                    if stack == "prefork-modphp" and workers == 100 and concurrency == 400:
                        study.step("sweep", stack, "sleep", repetition, load, parameters,
                                   "failed", failure="the page was not right: expected OK, found "
                                   "nothing\n[mpm_prefork:error] AH00161: server reached "
                                   "MaxRequestWorkers setting")
                        continue
                    run, start = study.run(load, 10, concurrency / mean, mean, 1000, concurrency)
                    server = study.server(run, start, 10, "apache", workers,
                                          min(workers, concurrency), 10**6 * workers, workers,
                                          mpm=stack.split("-")[0])
                    study.requests(server, start, 9, 30, mean - 1 if mean > 1 else 0, 1)
                    study.step("sweep", stack, "sleep", repetition, load, parameters, run_id=run,
                               page_bytes=2)


def spawning(study):
    load = "ab -c 50 -n 50 http://127.0.0.1:8080/sleep.php"
    for repetition in range(1, 4):
        for stack, delay in (("prefork-modphp", 3.5), ("event-fpm", 0.5)):
            delay += study.random.uniform(-0.05, 0.05)
            run, start = study.run(load, 10, 5, 3, 50, 50)
            prefork = stack == "prefork-modphp"
            server = study.server(run, start, 10, "apache", 100, 30, 10**8, 10,
                                  mpm=stack.split("-")[0])
            study.requests(server, start, 5, 50, 0.5, 1)
            times = [delay + i * 0.1 for i in range(40)]
            if prefork:
                study.forks(server, start, times, "child")
            else:
                php = study.server(run, start, 10, "php", 50, 30, 10**8, 10, sapi="fpm-fcgi")
                study.forks(php, start, times, "php")
            study.step("spawn", stack, "sleep", repetition, load, {}, run_id=run, page_bytes=2)


def ramp(study):
    for stack, mean, repetition in (("prefork-modphp", 1.0, 1), ("event-fpm", 0.4, 1),
                                    ("event-fpm", 0.8, 2)):
        run, start = study.run("oha --no-tui -z 20s", 20, 12, mean, 250, 20)
        server = study.server(run, start, 20, "apache", 20, 10, 10**8, 10,
                              mpm=stack.split("-")[0])
        if stack == "prefork-modphp":
            study.requests(server, start, 19, 250, mean / 2, mean / 2)
        else:   # PHP goes on while its output is sent
            study.requests(server, start, 19, 250, mean / 2, mean / 8, send=mean * 3 / 8)
            php = study.server(run, start, 20, "php", 50, 10, 10**8, 51, sapi="fpm-fcgi")
            study.php_requests(php, start, 19, 250, mean / 2, 0.01, 0.18)
        # Two CPUs, busy with the requests; the load tool takes its time before and after.
        for seconds, busy in ((-5, 0), (0, 0), (20, 40), (30, 40)):
            study.insert("machine_samples", run_id=run, time_ns=start + seconds * SECOND,
                         moment="during", busy_ns=busy * SECOND, total_ns=2 * seconds * SECOND)
        study.step("ramp", stack, "subrequest", repetition, "", {}, run_id=run, page_bytes=2)


def make(path):
    study = Study(path)
    one_load(study)
    sweep(study)
    spawning(study)
    ramp(study)
    study.step("load", "event-fcgid", "loop", 1, "ab", {}, "skipped",
               failure="the package libapache2-mod-fcgid is not installed")
    study.db.commit()
    study.db.close()
    return path


def two_apaches(study, run, start, seconds):
    """One of them has three times as many requests as the other, and faster ones."""
    for limit, busy, count, handle, shed in ((50, 10, 30, 0.1, 3), (30, 5, 10, 0.3, 1)):
        server = study.server(run, start, seconds, "apache", limit, busy, 40 * 10**6, 5,
                              mpm="prefork", no_idle=1)
        study.requests(server, start, seconds - 1, count, 0.02, handle, bytes_of=limit * 100)
        study.db.execute("UPDATE samples SET shed = ? WHERE server_id = ? AND moment <> 'before'",
                         (shed, server))
        study.insert("servers", run_id=run, target="/run/php.board", producer="php", server="PHP",
                     sapi="apache2handler", version="1.0", pid=1, local=1)


def behind_nginx(study):
    load = "ab -n 40 -c 5 http://127.0.0.1:8080/loop.php"
    for repetition in range(1, 4):
        for stack in ("nginx-two-apaches", "nginx-fpm", "event-fpm"):
            run, start = study.run(load, 10, 4, 0.2, 40, 5)
            if stack == "nginx-two-apaches":
                two_apaches(study, run, start, 10)
            if stack == "event-fpm":
                server = study.server(run, start, 10, "apache", 50, 5, 30 * 10**6, 3, mpm="event")
                study.requests(server, start, 9, 40, 0.001, 0.1)
            if stack != "nginx-two-apaches":
                php = study.server(run, start, 10, "php", 50, 5, 90 * 10**6, 51, sapi="fpm-fcgi")
                study.php_requests(php, start, 9, 40, 0.001, 0.01, 0.09)
            study.step("load", stack, "loop", repetition, load, {}, run_id=run, page_bytes=70000)
    for stack in ("nginx-two-apaches", "event-fpm"):
        run, start = study.run(load, 10, 4, 0.2, 40, 5)
        if stack == "nginx-two-apaches":
            two_apaches(study, run, start, 10)
        else:
            study.server(run, start, 10, "apache", 50, 5, 30 * 10**6, 3, mpm="event")
            study.server(run, start, 10, "php", 50, 5, 90 * 10**6, 51, sapi="fpm-fcgi")
        for server, kind in study.db.execute(
                "SELECT id, iif(producer = 'php', 'php', 'child') FROM servers WHERE run_id = ? "
                "AND mpm IS NOT 'event' AND sapi IS NOT 'apache2handler'", (run,)).fetchall():
            study.forks(server, start, (1, 2, 3), kind)
        study.step("spawn", stack, "loop", 1, load, {}, run_id=run, page_bytes=70000)
    run, start = study.run("oha --no-tui -z 20s", 20, 12, 0.2, 40, 5)
    two_apaches(study, run, start, 20)
    study.step("ramp", "nginx-two-apaches", "loop", 1, "", {}, run_id=run, page_bytes=70000)


def make_behind_nginx(path):
    stacks = build.SRCDIR / "tools/lab/stacks"
    study = Study(path, BEHIND_NGINX, {name: (stacks / f"{name}.stack").read_text() for name in
                                       ("nginx-two-apaches", "nginx-fpm", "event-fpm")})
    behind_nginx(study)
    study.db.commit()
    study.db.close()
    return path


if __name__ == "__main__":
    import sys
    make(sys.argv[1])
