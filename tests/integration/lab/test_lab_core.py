"""mpmstat lab list, up and try: servers come, serve the right page, and go, whatever happens."""
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

import build
import clients
import processes
import tool
from processes import wait_until

DIRECTORIES = {"/run", "/dev/shm", "/tmp", os.environ.get("XDG_RUNTIME_DIR") or "/tmp"}

pytestmark = pytest.mark.skipif(
    bool(build.SANITIZE), reason="the lab's servers would need the sanitizers preloaded")

# One Apache and nothing else; what the tests change is in it by parameters.
STACK = """
%% stack
title  = one Apache
serves = static
needs  = apache2-bin

%% parameters
WORKERS = 5
MORE =
LISTEN = 127.0.0.1:${PORT}

%% apache web
ServerRoot "${NAME}"
DefaultRuntimeDir "${NAME}"
PidFile "${NAME}/apache2.pid"
Mutex "file:${NAME}" default
ErrorLog "${NAME}/error.log"
ServerName localhost
Listen ${LISTEN}
<IfDefine ROOT>
    User "${USER}"
    Group "${GROUP}"
</IfDefine>
LoadModule mpm_prefork_module "${MODULES}/mod_mpm_prefork.so"
LoadModule authz_core_module "${MODULES}/mod_authz_core.so"
LoadModule mpmstat_module "${MPMSTAT_MODULE}"
MPMStatBoard "${BOARDS}/apache.board"
<Location "/mpm-status">
    SetHandler mpm-status
</Location>
MaxRequestWorkers ${WORKERS}
StartServers ${WORKERS}
DocumentRoot "${DOCROOT}"
${MORE}
"""
WORKLOAD = """
%% workload
title = a page
kind = static
docroot = ${ROOT}/htdocs
url = /page.html
expects = ${TEXT}

%% parameters
TEXT = the right page
MESSAGE = set up

%% file htdocs/page.html
This is the right page.

%% setup
echo "$MESSAGE in $ROOT" >"$ROOT/set-up"
sleep 1000 &

%% teardown
test -s "$ROOT/set-up"
"""


@pytest.fixture
def files(tmp_path):
    """A stack and a workload of the test's own: (stack's path, workload's path)."""
    tmp_path.chmod(0o755)
    (tmp_path / "one.stack").write_text(STACK)
    (tmp_path / "page.workload").write_text(WORKLOAD)
    return str(tmp_path / "one.stack"), str(tmp_path / "page.workload")


def roots(pid):
    """Directories of the `mpmstat lab` with this pid; others can be at work."""
    found = []
    for parent in DIRECTORIES:
        for path in Path(parent).glob("mpmstat-lab.*"):
            try:
                if f"\nrunner {pid} " in (path / "lab.lock").read_text():
                    found.append(str(path))
            except OSError:
                pass    # ended meanwhile
    return found


def left_of(root):
    """Processes that were started in ROOT: by their environment, arguments or directory."""
    found = []
    for pid in processes.all_pids():
        if not processes.is_alive(pid):
            continue
        try:
            directory = os.readlink(f"/proc/{pid}/cwd").encode()
        except OSError:
            continue
        if root.encode() in processes.read(pid, "environ") + processes.read(pid, "cmdline") + \
                directory:
            found.append((pid, processes.read(pid, "comm").decode().strip()))
    return found


def assert_nothing_left(root):
    assert not os.path.exists(root)
    assert left_of(root) == []


class Up:
    """A running `mpmstat lab up`: what it printed."""

    def __init__(self, process):
        self.process = process
        self.text = ""
        while "pid" not in self.text:
            line = process.stdout.readline()
            assert line, f"exit {process.wait()}: {process.stderr.read()}"
            self.text += line
        self.url = re.search(r"page +(\S+)", self.text).group(1)
        self.port = int(re.search(r":(\d+)/", self.url).group(1))
        self.root = re.search(r"boards +mpmstat status (\S+)/boards", self.text).group(1)
        self.pid = int(re.search(r"pid (\d+)", self.text).group(1))
        self.keeper = int(processes.stat_fields(self.pid)[1])

    def get(self, path="/page.html"):
        return clients.get(self.port, path)

    def end(self, signum=signal.SIGINT):
        self.process.send_signal(signum)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


@contextmanager
def up(*words):
    """`mpmstat lab up` with these; ended, and nothing left of it, afterwards."""
    with subprocess.Popen([str(build.TOOL), "lab", "up", *map(str, words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        started = None
        try:
            started = Up(process)
            yield started
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
            if started:
                wait_until(lambda: not os.path.exists(started.root), 60, "ROOT's removal")
    assert_nothing_left(started.root)


def run(*words):
    """`mpmstat lab` with these, to its end: (status, stdout, stderr). Nothing is left of it."""
    with subprocess.Popen([str(build.TOOL), "lab", *map(str, words)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert not roots(process.pid)
    return process.returncode, out, said


def fail(*words, status=1):
    """What a command that fails says."""
    code, out, said = run(*words)
    assert code == status, f"exit {code}: {out}{said}"
    return said


# ---- list ---------------------------------------------------------------------------------


def test_list():
    listed = json.loads(tool.run("lab", "list", "--format", "json").stdout)
    assert set(listed) == {"stacks", "workloads", "studies"}
    names = {entry["name"] for entry in listed["stacks"]}
    assert {"event-fpm", "prefork-modphp"} <= names
    assert "sleep" in {entry["name"] for entry in listed["workloads"]}
    for entry in listed["stacks"] + listed["workloads"]:
        assert entry["title"] and Path(entry["path"]).is_file()
    text = tool.run("lab", "list").stdout
    assert all(name in text for name in names)


@pytest.mark.parametrize("words", [["list"], ["up", "event-fpm", "sleep"], ["run", "mpm-event"]])
def test_data_that_are_not_installed_are_named_by_their_package(tmp_path, words):
    done = tool.run("lab", *words, env={**os.environ, "MPMSTAT_DATADIR": str(tmp_path)})
    assert done.returncode in (1, 2) and done.stdout == ""
    assert f"{tmp_path}/lab, found none" in done.stderr
    assert "apt-get install mpmstat-lab" in done.stderr


def test_list_names_a_file_without_its_section(tmp_path):
    data = tmp_path / "data"
    shutil.copytree(build.BUILDDIR / "share" / "mpmstat", data)
    broken = data / "lab" / "stacks" / "x.stack"
    broken.write_text("%% stak\ntitle = misspelt\n")
    done = tool.run("lab", "list", env={**os.environ, "MPMSTAT_DATADIR": str(data)})
    assert done.returncode != 0 and "event-fpm" in done.stdout
    assert done.stderr == f'mpmstat: {broken}: expected a section "%% stack", found none\n'


def test_help():
    done = tool.run("lab", "--help")
    assert done.returncode == 0
    for word in ("list", "up", "try", "run", "--dry-run", "${URL}", "Examples:", "Exit status:"):
        assert word in done.stdout
    assert tool.run("lab", "up", "--help").stdout == done.stdout


@pytest.mark.parametrize("words, said", [
    ([], "list, up, try or run is missing"),
    (["start"], 'there is no "start"'),
    (["up"], "up takes a stack and a workload"),
    (["up", "event-fpm", "WORKERS=3"], "up takes a stack and a workload"),
    (["up", "event-fpn", "sleep"], 'there is no stack "event-fpn"; there are: '),
    (["up", "event-fpm", "slip"], 'there is no workload "slip"; there are: '),
    (["up", "event-fpm", "sleep", "workers=3"], "expected PARAMETER=VALUE"),
    (["up", "--frob", "event-fpm", "sleep"], "--frob is not an option"),
    (["try", "event-fpm", "sleep"], "try takes a load tool's command after --"),
    (["try", "event-fpm", "sleep", "--"], "try takes a load tool's command after --"),
    (["try", "event-fpm", "sleep", "--", "ab", "-n", "1"], "the load command has no ${URL}"),
    (["list", "--format", "xml"], 'there is no format "xml"'),
    (["list", "--dry-run"], "list does not take --dry-run"),
    (["list", "stacks"], 'list takes no "stacks"'),
    (["up", "event-fpm", "sleep", "--name", "mine"], "up does not take --name"),
    (["up", "-v", "event-fpm", "sleep"], "up does not take --verbose"),
])
def test_wrong_usage(words, said):
    assert said in fail(*words, status=2)


# ---- a dry run ----------------------------------------------------------------------------


def test_dry_run(files):
    code, out, said = run("up", "--dry-run", *files, "WORKERS=7", "PORT=12345")
    assert code == 0 and said == ""
    root = re.search("# ROOT = (.*)", out).group(1)
    assert root.endswith("/mpmstat-lab.XXXXXX")
    for line in (f"#### {root}/web/httpd.conf", "MaxRequestWorkers 7", "Listen 127.0.0.1:12345",
                 "This is the right page.", "# WORKERS = 7", f"#### {root}/php.ini",
                 f'DocumentRoot "{root}/htdocs"'):
        assert line in out, out


def test_dry_run_of_every_stack():
    listed = json.loads(tool.run("lab", "list", "--format", "json").stdout)
    for stack in listed["stacks"]:
        served = 0
        for workload in listed["workloads"]:
            done = tool.run("lab", "up", "-n", stack["name"], workload["name"])
            served += done.returncode == 0
            assert done.returncode == 0 or "choose another of the two" in done.stderr, done.stderr
            assert "${PORT" not in done.stdout
        assert served, stack


# ---- up -----------------------------------------------------------------------------------


def test_up(files):
    system = {path: path.read_bytes() for path in
              (Path("/etc/passwd"), Path("/etc/group")) if path.exists()}
    with up(*files) as lab:
        assert "right page" in lab.get().text()
        assert (Path(lab.root) / "set-up").read_text() == f"set up in {lab.root}\n"
        status = tool.status(f"{lab.root}/boards/apache.board")
        assert status["workers"]["limit"] == 5
        assert f"http://127.0.0.1:{lab.port}/mpm-status" in lab.text
        assert clients.get(lab.port, "/mpm-status").status == 200
        assert any(name == "sleep" for _, name in left_of(lab.root))
        assert os.stat(lab.root).st_mode & 0o777 == 0o711
        code, said = lab.end()
        assert code == 0 and said == "", said
    assert system == {path: path.read_bytes() for path in system}


def test_values(files):
    with up(*files, "WORKERS=3", "TEXT=right", "MESSAGE=it's $HOME; `x`") as lab:
        assert tool.status(f"{lab.root}/boards/apache.board")["workers"]["limit"] == 3
        assert (Path(lab.root) / "set-up").read_text().startswith("it's $HOME; `x` in /")


def test_given_port(files):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with up(*files, f"PORT={port}") as lab:
        assert lab.port == port


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP])
def test_signals(files, signum):
    with up(*files) as lab:
        assert lab.end(signum)[0] == 0


def test_two_at_once(files):
    with up(*files) as one, up(*files) as other:
        assert one.port != other.port and one.root != other.root
        one.end()
        assert_nothing_left(one.root)
        assert "right page" in other.get().text()


@contextmanager
def starting(files, tmp_path):
    """`mpmstat lab up` whose setup takes long: (its process, ROOT)."""
    workload = tmp_path / "slow.workload"
    workload.write_text(WORKLOAD.replace("sleep 1000 &", "touch \"$ROOT/began\"\nsleep 1000"))
    with subprocess.Popen([str(build.TOOL), "lab", "up", files[0], str(workload)], text=True,
                          stderr=subprocess.PIPE) as process:
        try:
            root, = wait_until(lambda: [root for root in roots(process.pid)
                                        if os.path.exists(root + "/began")], 30, "the setup")
            yield process, root
        finally:
            if process.poll() is None:
                process.kill()
    wait_until(lambda: not os.path.exists(root), 30, "the keeper's work")
    assert_nothing_left(root)


def test_interrupted_while_it_starts(files, tmp_path):
    with starting(files, tmp_path) as (process, root):
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[1]
        assert process.returncode == 130 and said == ""
        assert not os.path.exists(root)


# ---- what is killed -----------------------------------------------------------------------


def test_runner_is_killed(files):
    with up(*files) as lab:
        lab.process.kill()
        lab.process.wait()
        wait_until(lambda: not os.path.exists(lab.root), 30, "the keeper's work")
        wait_until(lambda: not processes.is_alive(lab.keeper), 30, "the keeper's end")
        assert_nothing_left(lab.root)


def test_runner_is_killed_while_it_starts(files, tmp_path):
    with starting(files, tmp_path) as (process, _):
        process.kill()


def test_keeper_is_killed(files):
    with up(*files) as lab:
        processes.kill(lab.keeper, signal.SIGKILL)
        out, said = lab.process.communicate(timeout=60)
        assert lab.process.returncode == 1
        assert "the process that keeps the servers was killed" in said
        assert_nothing_left(lab.root)


@pytest.mark.alone
def test_both_are_killed(files):
    """The next start removes it: the Apache, what the setup has left, the directory. (Any start of
    a lab on the machine does so.)"""
    with up(*files) as lab:
        # The runner cannot see the keeper's end before it is killed itself.
        processes.kill(lab.process.pid, signal.SIGSTOP)
        for pid in (lab.keeper, lab.process.pid):
            processes.kill(pid, signal.SIGKILL)
        lab.process.wait()
        assert os.path.exists(lab.root)
        assert any(name == "sleep" for _, name in left_of(lab.root)), "it outlives the keeper"
        with up(*files) as other:
            assert_nothing_left(lab.root)
            code, said = other.end()
        assert f"removing {lab.root}, which a killed mpmstat lab has left" in said


@contextmanager
def directory(name, lock, mode):
    """One as the lab makes them, where it looks for leftovers."""
    path = Path("/run" if os.geteuid() == 0 else "/tmp") / f"mpmstat-lab.{name}"
    path.mkdir()
    (path / "lab.lock").write_text(lock)
    path.chmod(mode)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.alone
def test_not_ours_is_left_alone(files):
    """A directory that is in use or can be anybody's, and processes that have a pid of its."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with subprocess.Popen(["sleep", "60"]) as bystander:
        lock = f"mpmstat-lab 1\nboot {boot}\nkeeper {bystander.pid} 1\nserver {bystander.pid} 2\n"
        with directory("00test", lock, 0o711) as leftover, \
                directory("11test", lock, 0o777) as open_to_all:
            with up(*files) as lab, up(*files):
                assert os.path.exists(lab.root), "it is locked"
                assert not leftover.exists()
                assert open_to_all.exists(), "anybody may have made it what it is"
                assert bystander.poll() is None, "the pid is another process's now"
        bystander.kill()


# ---- what goes wrong ----------------------------------------------------------------------


def test_server_dies_at_its_start(files):
    said = fail("up", *files, "MORE=NoSuchDirective on")
    assert "the server web (apache2) has ended, with exit status 1" in said
    assert "web: Invalid command 'NoSuchDirective'" in said, "its own words"


def test_server_dies_later(files):
    with up(*files) as lab:
        processes.kill(lab.pid, signal.SIGTERM)
        out, said = lab.process.communicate(timeout=60)
        assert lab.process.returncode == 1
        assert "the server web (apache2) has ended, with exit status 0" in said
        assert "caught SIGTERM, shutting down" in said


def test_wrong_page(files):
    said = fail("up", *files, "TEXT=another page")
    assert 'expected a page with the text "another page", found 25 bytes without it that begin: ' \
        "This is the right page." in said


def test_forbidden(files, tmp_path):
    (tmp_path / "one.stack").write_text(STACK + '<Directory "/">\nRequire all denied\n</Directory>\n')
    assert "/page.html: expected status 200, found 403" in fail("up", *files)


def test_setup_fails(files, tmp_path):
    (tmp_path / "page.workload").write_text(
        WORKLOAD.replace("sleep 1000 &", "echo 'this is why' >&2\nfalse"))
    said = fail("up", *files)
    assert "%% setup.workload failed (exit status 1): this is why" in said


def test_teardown_fails(files, tmp_path):
    (tmp_path / "page.workload").write_text(
        WORKLOAD.replace('test -s "$ROOT/set-up"', "echo 'cannot tear down'\nexit 3"))
    with up(*files) as lab:
        code, said = lab.end()
        assert code == 1
        assert "%% teardown.workload failed (exit status 3): cannot tear down" in said


def test_taken_port(files):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is taken" in fail("up", *files, f"PORT={port}")
        said = fail("up", *files, f"LISTEN=127.0.0.1:{port}")
        assert "the server web (apache2) has ended" in said and "Address already in use" in said


@pytest.mark.parametrize("port", ["0", "65536", "http", ""])
def test_no_port(files, port):
    assert f'expected PORT=NUMBER with a number from 1 to 65535, found "{port}"' in fail(
        "up", *files, f"PORT={port}")


def test_missing_package(files, tmp_path):
    if not build.find("dpkg-query"):
        pytest.skip("needs dpkg")
    (tmp_path / "one.stack").write_text(
        STACK.replace("apache2-bin", "no-such-package apache2-bin nor-this"))
    said = fail("up", *files)
    assert said == ("mpmstat: these Debian packages are missing; as root: apt-get install "
                    "--no-install-recommends no-such-package nor-this\n")


def test_no_dpkg(files, tmp_path):
    """Elsewhere than on Debian it cannot be told what is missing; then it is tried."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    with subprocess.Popen([str(build.TOOL), "lab", "up", *files], text=True,
                          env={**os.environ, "PATH": str(programs)}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        lab = Up(process)
        code, said = lab.end()
    assert code == 0 and "cannot tell which packages are installed" in said
    assert_nothing_left(lab.root)


def test_does_not_serve_that(files):
    assert "the stack one serves static, and the workload sleep is php" in fail(
        "up", files[0], "sleep")


def test_unknown_variable(files, tmp_path):
    (tmp_path / "one.stack").write_text(STACK + "Define x ${NO_SUCH}\n")
    line = (STACK + "Define x").count("\n") + 1
    assert f"one.stack:{line}: expected a parameter or a variable of the lab, found ${{NO_SUCH}}" \
        in fail("up", *files)


def test_unknown_parameter(files):
    said = fail("up", *files, "WORKER=3")
    assert "found WORKER; there are: PORT WORKERS MORE LISTEN TEXT MESSAGE" in said


def system_files():
    """What of the system a lab with users of its own could have changed."""
    files = [Path("/etc/passwd"), Path("/etc/group"), Path("/etc/shadow")]
    for directory in ("/etc/apache2", "/etc/php", "/etc/nginx", "/var/log/apache2"):
        files += Path(directory).rglob("*")
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_size) for path in files
            if path.exists()}


def test_users_of_its_own(files, tmp_path):
    """They are there for the servers alone, also where the runner is killed."""
    (tmp_path / "one.stack").write_text(
        STACK.replace("title ", "tenants = yes\ntitle ")
        + "\n%% file of-a/x mode=0600 owner=TENANT_A\n${TENANT_A}\n")
    if os.geteuid() != 0:
        assert "can be run by root alone: it needs users of its own" in fail("up", *files)
        return
    before = system_files()
    with up(*files) as lab:
        passwd = Path(f"/proc/{lab.pid}/root/etc/passwd").read_text()
        owner = int(re.search("^mpmstat-a:x:([0-9]+):", passwd, re.M).group(1))
        assert "mpmstat-b:x:" in passwd and "root:x:0:" in passwd
        made = Path(lab.root) / "of-a"
        assert made.stat().st_uid == (made / "x").stat().st_gid == owner
        assert (made / "x").read_text() == "mpmstat-a\n"
        assert (made / "x").stat().st_mode & 0o777 == 0o600
        assert "mpmstat-lab" not in Path("/proc/self/mountinfo").read_text()
        assert system_files() == before
        lab.process.kill()
        lab.process.wait()
    assert system_files() == before


# ---- try ----------------------------------------------------------------------------------


def ask(archive, query):
    with sqlite3.connect(archive) as db:
        return db.execute(query).fetchall()


def test_try(files, tmp_path):
    archive = tmp_path / "try.sqlite"
    code, out, said = run("try", *files, "WORKERS=4", "-o", archive, "--format", "json", "--",
                          build.find("ab"), "-n", "200", "-c", "2", "${URL}")
    assert code == 0, said
    summary = json.loads(out)
    assert summary["client"]["requests"] == summary["servers"][0]["requests"] == 200
    assert summary["servers"][0]["workers"]["limit"] == 4
    assert ask(archive, "SELECT name, complete FROM runs") == [("one page", 1)]


def test_try_passes_on(files, tmp_path):
    """Options of record, wherever they stand before --; the URL also as a variable."""
    archive = tmp_path / "try.sqlite"
    done = tool.run("lab", "try", "--name", "mine", *files, "--no-memory", "--repeat", "2",
                    "--output", archive, "--", "sh", "-c", "curl -fsS \"$URL\" >/dev/null",
                    timeout=60)
    assert done.returncode == 0, done.stderr
    assert ask(archive, "SELECT name, repetition FROM runs") == [("mine", 1), ("mine", 2)]


def test_load_fails(files, tmp_path):
    archive = tmp_path / "try.sqlite"
    said = fail("try", *files, "-o", archive, "--", "sh", "-c", "exit 7 # URL")
    assert "7" in said
    assert len(ask(archive, "SELECT id FROM runs")) == 1


@contextmanager
def trying(files, tmp_path):
    """`mpmstat lab try` with a load that sleeps: (its process, ROOT)."""
    words = ["lab", "try", *files, "-o", str(tmp_path / "try.sqlite"), "--", "sh", "-c",
             f"touch {tmp_path}/began; sleep 4321 # URL"]
    with subprocess.Popen([str(build.TOOL), *words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        try:
            wait_until((tmp_path / "began").exists, 30, "the load")
            root, = roots(process.pid)
            yield process, root
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=60)
    wait_until(lambda: not os.path.exists(root), 30, "the keeper's work")
    wait_until(lambda: not processes.session_members(-1, "sleep\0004321"), 30, "the load's end")
    assert_nothing_left(root)


def test_server_dies_under_load(files, tmp_path):
    with trying(files, tmp_path) as (process, root):
        pid = int(Path(f"{root}/web/apache2.pid").read_text())
        processes.kill(pid, signal.SIGTERM)
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 30, "Apache's end")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 1
        assert "the server web (apache2) has ended, with exit status 0" in said


def test_try_interrupted(files, tmp_path):
    with trying(files, tmp_path) as (process, _):
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)
        assert process.returncode == 130, said
    assert ask(tmp_path / "try.sqlite", "SELECT complete FROM runs") == [(0,)]


def test_try_is_killed_under_load(files, tmp_path):
    """Neither the load nor the servers live on."""
    with trying(files, tmp_path) as (process, _):
        process.kill()


# ---- real stacks --------------------------------------------------------------------------


@pytest.mark.parametrize("stack", ["event-fpm", "prefork-modphp"])
def test_php(stack, tmp_path):
    """PHP reads the lab's settings and nothing else; both boards are recorded."""
    done = tool.run("lab", "up", stack, "loop", "PORT=http")
    if "packages are missing" in done.stderr:
        pytest.skip(done.stderr)
    archive = tmp_path / "try.sqlite"
    done = tool.run("lab", "try", stack, "loop", "-o", archive, "--", build.find("ab"), "-n", "60",
                    "-c", "4", "-l", "${URL}", timeout=120)
    assert done.returncode == 0, done.stderr
    assert ask(archive, "SELECT count(*) FROM server_requests WHERE label <> 'mpm-status'"
               ) == [(60,)]
    if build.WORKLOADS and tool.run("lab", "up", "-n", stack, "loop").stdout.find(
            "# MPMSTAT_EXTENSION = /") > 0:
        assert ask(archive, "SELECT count(*), sum(cached) FROM php_requests")[0] == (60, 60)
