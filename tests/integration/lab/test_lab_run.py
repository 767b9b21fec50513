"""mpmstat lab run: a small study of its own, interrupted, killed, with steps that fail; and
that nothing of it is left anywhere but in its output."""
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

import build
import processes
from processes import wait_until

AB = build.find("ab")
STACKS = build.SRCDIR / "tools" / "lab" / "stacks"

pytestmark = [
    pytest.mark.skipif(not AB, reason="needs ab (apt-get install apache2-utils)"),
    pytest.mark.skipif(build.SANITIZE, reason="the lab's servers run without sanitizers"),
]

STUDY = """
%% study
title = two stacks for seconds
%% runs loads
stacks = {stacks}
workload = static
load = {load}
CONCURRENCY = 2 4
N = ${{CONCURRENCY}} * {each}
repetitions = {repetitions}
about = 1
limit = 60
warmup = {warmup}
%% published loads
stack CONCURRENCY requests_per_second
event-static 2 100
%% claims
loads: event-static > prefork-static by requests_per_second "Event is faster."
"""


class Lab:
    """A directory with a study in it, and runs of it that see no other one."""

    def __init__(self, directory):
        self.directory = directory
        self.output = directory / "out"
        self.study = directory / "small.study"
        self.roots = set()
        self.private = [directory / "runtime", directory / "temporary", directory / "home"]
        for path in self.private:
            path.mkdir(mode=0o711)
        directory.chmod(0o711)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.private[0]),
                                TMPDIR=str(self.private[1]), HOME=str(self.private[2]))

    def write(self, load="ab -n ${N} -c ${CONCURRENCY} ${URL}", each=100, repetitions=2, warmup=1,
              stacks="prefork-static event-static", more=""):
        self.study.write_text(STUDY.format(load=load, each=each, repetitions=repetitions,
                                           warmup=warmup, stacks=stacks) + more)

    def command(self, *words):
        return [str(build.TOOL), "lab", "run", *map(str, words)]

    def begin(self, *words):
        return subprocess.Popen(self.command(*words), env=self.environment, text=True,
                                cwd=self.directory, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, *words, status=0):
        done = subprocess.run(self.command(*words), env=self.environment, text=True,
                              cwd=self.directory, capture_output=True, timeout=180)
        assert done.returncode == status, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout, done.stderr

    def ask(self, query):
        # The lab writes to it, and makes it: a file made here would be another study's to the lab.
        with closing(sqlite3.connect(f"file:{self.output}/study.db?mode=rw", uri=True)) as db:
            return db.execute(query).fetchall()

    def states(self):
        try:
            return [state for state, in self.ask("SELECT state FROM steps ORDER BY ordinal")]
        except sqlite3.OperationalError:
            return []

    def processes(self):
        """All that live with this directory in their arguments or environment, or one that
        servers of ours were seen to have."""
        ours = []
        for pid in processes.all_pids():
            words = processes.read(pid, "cmdline") + processes.read(pid, "environ")
            words = words.decode(errors="replace")
            if pid != os.getpid() and any(mark in words
                                          for mark in [str(self.directory), *self.roots]):
                ours.append(pid)
        return [pid for pid in ours if processes.is_alive(pid)]

    def see_servers(self):
        """Notes the directories of the servers that run now, below the lab's process; and
        returns their parents' pids."""
        pids, seen = self.processes(), []
        for pid in pids:
            for child in processes.children(pid):
                words = processes.read(child, "cmdline").decode(errors="replace")
                for root in re.findall(r"/[^\0 ]*/mpmstat-lab\.\w+", words):
                    self.roots.add(root)
                    seen.append(child)
        return seen

    def leftovers(self):
        return [path for private in self.private for path in private.rglob("*")] + \
               [root for root in self.roots if Path(root).exists()]


@pytest.fixture
def lab(tmp_path):
    lab = Lab(tmp_path)
    yield lab
    for pid in lab.processes():
        processes.kill(pid, signal.SIGKILL)


def digest(root):
    """Every file below it, by content, and its mode and owner."""
    found = {}
    for path in sorted(Path(root).rglob("*")):
        st = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (st.st_mode, st.st_uid, st.st_gid, hashlib.sha256(content).hexdigest())
    return found


def of_the_system():
    """What a careless lab could change: configurations, users, and directories with our name."""
    state = {}
    for root in ("/etc/apache2", "/etc/php", "/etc/nginx"):
        state.update(digest(root))
    for path in ("/etc/passwd", "/etc/group"):
        state[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    state["runtime"] = sorted(p.name for p in Path("/run").iterdir()
                              if not p.name.startswith("mpmstat-lab."))
    return state


def mounts():
    """But for those of other tests, which come and go."""
    mounted = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [path for path in mounted if "/mpmstat-test-" not in path]


# ---- a study --------------------------------------------------------------------------------


def test_a_study_from_its_file_to_its_report(lab):
    lab.write()
    out, err = lab.run(lab.study, "-o", lab.output, "--seed", "5")
    assert "8 steps done" in out and "report.html" in out
    assert lab.states() == ["done"] * 8
    assert {path.name for path in lab.output.iterdir()} == {"study.db", "report.html", "report.md"}
    assert "two stacks for seconds" in (lab.output / "report.html").read_text()
    (study,) = lab.ask("SELECT name, title, size, seed, text, ended_ns > started_ns, interrupted "
                       "FROM studies")
    assert study == ("small", "two stacks for seconds", "quick", 5, lab.study.read_text(), 1, 0)
    steps = lab.ask("SELECT block, steps.repetition, start, stack, parameters, load, page_bytes, "
                    "failure, name, run.repetition, complete, requests, tool FROM steps "
                    "JOIN runs run ON run.id = steps.run_id JOIN client_results USING (run_id) "
                    "ORDER BY ordinal")
    assert len(steps) == 8
    for block, repetition, start, stack, parameters, load, size, failure, *run in steps:
        parameters = json.loads(parameters)
        requests = parameters["CONCURRENCY"] * 100
        assert parameters["N"] == requests
        assert load.startswith(f"ab -n {requests} -c {parameters['CONCURRENCY']} http://127.0.0.1:")
        assert size == 10701 and failure is None and block == repetition
        assert run == [f"loads {stack} static CONCURRENCY={parameters['CONCURRENCY']}", repetition,
                       1, requests, "ab"]
    # Repetitions are apart: each block has every case, and each stack is started once in it.
    assert [step[0] for step in steps] == [1] * 4 + [2] * 4
    assert [step[2] for step in steps] == [1, 1, 2, 2, 3, 3, 4, 4]
    for block in (1, 2):
        cases = [(step[3], step[4]) for step in steps if step[0] == block]
        assert len(set(cases)) == 4
    # The servers are the stack's, and their side is known.
    rows = lab.ask("SELECT stack, mpm, count(*), min(requests) FROM steps JOIN servers USING "
                   "(run_id) JOIN (SELECT server_id, count(*) AS requests FROM server_requests "
                   "WHERE ghost = 0 GROUP BY 1) r ON r.server_id = servers.id GROUP BY 1, 2")
    assert rows == [("event-static", "event", 4, 200), ("prefork-static", "prefork", 4, 200)]
    assert not lab.processes() and not lab.leftovers()


def test_the_plan_is_shown_and_nothing_started(lab):
    lab.write()
    out, _ = lab.run(lab.study, "--dry-run", "--seed", "5")
    again, _ = lab.run(lab.study, "--dry-run", "--seed", "5")
    other, _ = lab.run(lab.study, "--dry-run", "--seed", "6")
    assert "8 steps with 4 starts" in out and "seed 5" in out
    assert out.count("ab -n 400 -c 4") == 4
    assert "mpm_event_module" in out and "mpm_prefork_module" in out

    def plan(text):
        return [line for line in text.splitlines() if " block " in line]
    assert plan(out) == plan(again) != plan(other)
    assert not lab.output.exists() and not lab.leftovers()


def test_only_some_stacks(lab):
    lab.write(repetitions=1)
    lab.run(lab.study, "-o", lab.output, "--only", "event-static")
    assert lab.ask("SELECT DISTINCT stack FROM steps") == [("event-static",)]
    _, err = lab.run(lab.study, "-o", lab.output, "--only", "event-static", status=4)
    assert "there is a study in" in err and "--resume" in err
    _, err = lab.run(lab.study, "--only", "worker-static", status=2)
    assert "no stack \"worker-static\"" in err


@pytest.mark.parametrize("words, says", [
    (["nothing-like-it"], "nothing-like-it"), ([], "which study"),
    (["--resume", "/nonexistent"], "/nonexistent"), (["1", "2"], "one study at a time"),
    (["1", "--quick", "--full"], "either --quick or --full"), (["1", "--seed", "x"], "--seed"),
    (["--resume", "x", "--full"], "--resume goes on"),
    (["1", "--only", ""], "names of stacks"), (["1", "--only", " , "], "names of stacks"),
])
def test_wrong_words(lab, words, says):
    _, err = lab.run(*words, status=4 if words == ["--resume", "/nonexistent"] else 2)
    assert says in err


def test_what_is_missing_is_said_at_once(lab):
    lab.write(more="%% runs more\nstacks = mine\nworkload = static\nload = hey -n 1 ${URL}\n")
    text = (STACKS / "event-static.stack").read_text()
    (lab.directory / "mine.stack").write_text(
        text.replace("needs  = apache2-bin", "needs  = apache2-bin no-such-package nor-this-one"))
    _, err = lab.run(lab.study, "-o", lab.output, status=3)
    assert "apt-get install" in err and "no-such-package nor-this-one" in err
    assert not lab.output.exists()


def test_what_nginx_takes_is_known(lab):
    """It has no board: the lab looks at its processes itself."""
    lab.write(stacks="nginx-fpm event-fpm", repetitions=1, each=10)
    lab.study.write_text(lab.study.read_text().replace("workload = static", "workload = loop"))
    lab.run(lab.study, "-o", lab.output)
    seen = lab.ask("SELECT stack, environment.name, CAST(value AS INTEGER) FROM environment "
                   "JOIN steps USING (run_id) WHERE environment.name LIKE 'others%'")
    assert {stack for stack, _, _ in seen} == {"nginx-fpm"}
    for name, low, high in (("others_processes", 2, 99), ("others_pss_bytes", 10**6, 10**8),
                            ("others_rss_bytes", 10**6, 10**9), ("others_cpu_ns", 1, 10**11)):
        values = [value for _, what, value in seen if what == name]
        assert len(values) == 2 and all(low <= value <= high for value in values), (name, values)


# ---- steps that fail ------------------------------------------------------------------------


def test_a_step_that_fails_does_not_stop_the_study(lab):
    """Servers that do not start, a load that cannot be, a server that dies: each is one step's."""
    text = (STACKS / "event-static.stack").read_text()
    (lab.directory / "wrong.stack").write_text(text + "\nNoSuchDirective On\n")
    lab.write(repetitions=1, stacks="event-static", more="""
%% runs wrong
stacks = wrong
workload = static
load = ab -n 10 -c ${CONCURRENCY} ${URL}
CONCURRENCY = 1 2
%% runs impossible
stacks = prefork-static
workload = static
load = ab -n 2 -c 10 ${URL}
warmup = 1
%% runs hangs
stacks = prefork-static
workload = static
load = sleep 60
limit = 1
warmup = 0
""")
    out, err = lab.run(lab.study, "-o", lab.output, status=1)
    rows = lab.ask("SELECT runs, state, failure, run_id IS NOT NULL FROM steps ORDER BY runs")
    failed = {runs: (state, failure, run) for runs, state, failure, run in rows}
    assert [row[1] for row in rows if row[0] == "loads"] == ["done", "done"]
    assert "2 steps done, 4 failed" in out
    assert failed["wrong"][0] == "failed" and "NoSuchDirective" in failed["wrong"][1]
    assert failed["impossible"][0] == "failed" and failed["impossible"][2] == 1
    assert "Cannot use concurrency level greater than" in failed["impossible"][1]
    assert failed["hangs"][0] == "failed" and "had not ended after 1 s" in failed["hangs"][1]
    assert "NoSuchDirective" in err
    assert (lab.output / "report.html").exists()
    assert not lab.processes() and not lab.leftovers()


def test_a_server_that_is_killed_fails_its_step_alone(lab):
    """The load goes on without it, or fails: either way the step says so, and the next one
    has servers of its own."""
    lab.write(load="ab -r -s 5 -n ${N} -c ${CONCURRENCY} ${URL}", each=1000000, repetitions=1,
              warmup=0, stacks="event-static",
              more="%% runs after\nstacks = prefork-static\nworkload = static\n"
                   "load = ab -n 100 -c 1 ${URL}\nwarmup = 0\n")
    process = lab.begin(lab.study, "-o", lab.output)

    def recorded():
        """How many runs of the two have begun to have requests in the archive."""
        try:
            return lab.ask("SELECT count(DISTINCT servers.run_id) FROM server_requests JOIN "
                           "servers ON servers.id = server_id WHERE mpm = 'event'")[0][0]
        except sqlite3.OperationalError:
            return 0
    for count in (1, 2):
        wait_until(lambda: recorded() == count, 90, lambda: f"{lab.states()}, {process.poll()}")
        for pid in lab.see_servers():
            processes.kill(pid, signal.SIGKILL)
        wait_until(lambda: lab.states().count("failed") == count, 90, lambda: str(lab.states()))
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 1, out
    rows = lab.ask("SELECT runs, state, failure FROM steps ORDER BY runs")
    assert [row[:2] for row in rows] == [("after", "done"), ("loads", "failed"),
                                         ("loads", "failed")]
    assert not lab.processes() and not lab.leftovers()


# ---- interrupted, killed --------------------------------------------------------------------


def begin_and_wait(lab, done):
    """A study that runs, with so many steps done and another one running."""
    process = lab.begin(lab.study, "-o", lab.output)
    wait_until(lambda: lab.states().count("done") >= done and "running" in lab.states(), 90,
               lambda: f"{lab.states()}, {process.poll()}")
    return process


def assert_resumed(lab, before, interrupted):
    """The rest is done, and what was done is as it was."""
    out, err = lab.run("--resume", lab.output)
    assert lab.states() == ["done"] * 8
    after = lab.ask("SELECT ordinal, run_id FROM steps WHERE state = 'done'")
    assert before and set(before) <= set(after)
    assert len({run for _, run in after}) == 8
    assert lab.ask("SELECT interrupted, ended_ns IS NOT NULL FROM studies") == [(interrupted, 1)]
    assert lab.ask("PRAGMA integrity_check") == [("ok",)]
    assert lab.ask("SELECT count(*) FROM steps JOIN runs ON runs.id = run_id "
                   "WHERE complete = 0") == [(0,)]
    assert {path.name for path in lab.output.iterdir()} == {"study.db", "report.html", "report.md"}
    assert not lab.processes() and not lab.leftovers()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_gone_on_with(lab, signum):
    lab.write()
    process = begin_and_wait(lab, 1)
    wait_until(lab.see_servers, 30, "servers")
    process.send_signal(signum)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, out
    assert f"--resume {lab.output}" in out
    assert not lab.processes() and not lab.leftovers()
    assert "running" not in lab.states()
    assert_resumed(lab, lab.ask("SELECT ordinal, run_id FROM steps WHERE state = 'done'"), 1)


def kill_and_wait(lab, process):
    """kill -9 while it has servers, until all that it started has ended by itself."""
    wait_until(lab.see_servers, 30, "servers")
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: not lab.processes(), 30, lambda: f"the end of {lab.processes()}")
    wait_until(lambda: not lab.leftovers(), 10, lambda: f"the removal of {lab.leftovers()}")


def test_killed_and_gone_on_with(lab):
    """kill -9: what it started ends by itself, and the system is as it was."""
    before, mounted = of_the_system(), mounts()
    lab.write()
    process = begin_and_wait(lab, 1)
    kill_and_wait(lab, process)
    assert of_the_system() == before and mounts() == mounted
    done = lab.ask("SELECT ordinal, run_id FROM steps WHERE state = 'done'")
    assert "running" in lab.states()
    assert_resumed(lab, done, 1)
    assert of_the_system() == before and mounts() == mounted


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: tenants are users of their own")
def test_killed_with_users_of_its_own(lab):
    """The same where users and files of the system are stood in for by others."""
    before, mounted = of_the_system(), mounts()
    lab.write(stacks="event-static itk-modphp")
    process = lab.begin(lab.study, "-o", lab.output, "--only", "itk-modphp")
    wait_until(lambda: "running" in lab.states() and lab.ask("SELECT count(*) FROM servers")[0][0],
               90, lambda: f"{lab.states()}, {process.poll()}")
    kill_and_wait(lab, process)
    assert of_the_system() == before and mounts() == mounted


def test_not_gone_on_with_by_two_or_with_other_files(lab):
    (lab.directory / "mine.stack").write_text((STACKS / "event-static.stack").read_text())
    lab.write(stacks="mine", repetitions=4)
    process = begin_and_wait(lab, 1)
    _, err = lab.run("--resume", lab.output, status=4)
    assert "another mpmstat lab run is writing" in err
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    with (lab.directory / "mine.stack").open("a") as stack:
        stack.write("# changed\n")
    _, err = lab.run("--resume", lab.output, status=2)
    assert "the stack mine has changed since the study began" in err


def test_not_gone_on_with_other_included_files(lab):
    """The MPM's limits are in files that stacks include: with others, runs of before and after
    could not be compared."""
    data = lab.directory / "data"
    shutil.copytree(build.BUILDDIR / "share" / "mpmstat", data)
    lab.environment["MPMSTAT_DATADIR"] = str(data)
    lab.write(repetitions=4)
    process = begin_and_wait(lab, 1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    with (data / "lab" / "stacks" / "include" / "mpm-event.conf").open("a") as included:
        included.write("# changed\n")
    _, err = lab.run("--resume", lab.output, status=2)
    assert "the include mpm-event.conf has changed since the study began" in err


def test_a_directory_with_something_in_it_is_not_taken(lab):
    """What a study replaces and removes is its own."""
    lab.write()
    (lab.output / "step").mkdir(parents=True)
    (lab.output / "step" / "thesis").write_text("all of it\n")
    _, err = lab.run(lab.study, "-o", lab.output, status=4)
    assert f"{lab.output} is not empty" in err
    assert [str(path.relative_to(lab.output)) for path in sorted(lab.output.rglob("*"))] == [
        "step", "step/thesis"]
