"""What `mpmstat record` samples of resources that can run out: descriptors, local ports, and the
control group that limits a server. The witnesses are /proc, the client, and the limit itself."""
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

import build
import control_groups
import php
import processes
import tool
from apache import Apache
from fpm import FPM
from phases import CGI, cgi_module
from processes import wait_until
from recording import ask, has, recording

HOLDS = ("<?php for ($i = 0; $i < 40; $i++) $open[] = fopen('/dev/null', 'r'); touch($argv[1] ?? "
         "$_SERVER['BEGAN']); while (!file_exists($_SERVER['STOP'])) usleep(5000); echo 'done';")
BURNS = "<?php $end = microtime(true) + 1.5; while (microtime(true) < $end); echo 'done';"


def rows(path, query):
    with sqlite3.connect(path) as db:
        return db.execute(query).fetchall()


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_open_files_of_each_process(as_root):
    """A worker holds forty files more than the others; the pool sets the limit."""
    with FPM(3, settings=php.settings("@ROOT@/run"), pool="rlimit_files = 97") as fpm:
        script = fpm.script("holds.php", HOLDS)
        with php.recorded(fpm.board) as archive:
            began, stop = fpm.root / "run" / "began", fpm.root / "run" / "stop"
            client = subprocess.Popen(
                ["/usr/bin/python3", "-c", "import sys, php; php.fastcgi(*sys.argv[1:3], "
                 "BEGAN=sys.argv[3], STOP=sys.argv[4])", str(fpm.socket), str(script), str(began),
                 str(stop)], env={**os.environ, "PYTHONPATH": os.path.dirname(php.__file__)})
            try:
                wait_until(began.exists, 20, "the script to run")
                found = {pid: len(processes.open_files(pid)) for pid in fpm.workers()}
            except BaseException:
                client.kill()
                raise
            # The round at the end of the load is read while the script still runs.
        stop.touch()
        assert client.wait(30) == 0
    told = archive.ask("SELECT pid, files, files_limit FROM process_samples ORDER BY time_ns")
    last = {row["pid"]: (row["files"], row["files_limit"]) for row in told}
    assert max(found.values()) > 40
    for pid, files in found.items():   # a process in accept() has a descriptor in reserve
        assert last[pid][0] - files in (0, 1), (last, found)
    assert {last[pid][1] for pid in found} == {97}, "rlimit_files"


NAMESPACE = """
ip link set lo up && echo "40000 40099" > /proc/sys/net/ipv4/ip_local_port_range &&
exec {tool} record -o {archive} -t {board} -- /usr/bin/python3 -c '{client}'
"""
CLIENT = """
import socket, time
server = socket.create_server(("127.0.0.1", 8099), backlog=100)
clients = [socket.create_connection(("127.0.0.1", 8099)) for _ in range(60)]
refused = 0
for _ in range(60):
    try:
        clients.append(socket.create_connection(("127.0.0.1", 8099)))
    except OSError:
        refused += 1
assert refused == 20, refused
deadline = time.monotonic() + 2.5
while time.monotonic() < deadline:
    time.sleep(0.1)
"""


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.skipif(not (shutil.which("unshare") and shutil.which("ip")),
                    reason="needs unshare and ip")
def test_local_ports_of_a_namespace(as_root, archive):
    """A hundred ports, all of which a client takes towards one address: the kernel refuses it
    more."""
    if subprocess.run(["unshare", "-n", "true"], check=False).returncode != 0:
        pytest.skip("needs network namespaces")
    with FPM(1, settings=php.settings("@ROOT@/run")) as fpm:
        script = NAMESPACE.format(tool=build.TOOL, archive=archive, board=fpm.board, client=CLIENT)
        done = subprocess.run(["unshare", "-n", "sh", "-c", script], text=True,
                              capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = rows(archive, "SELECT remote, max(ports), ports_limit FROM port_samples GROUP BY 1")
    assert found == [("127.0.0.1:8099", 100, 100)]


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_the_quota_above_the_servers_group(as_root):
    """The server's own group has no limit, and the one above it a twentieth of a
    CPU, so it is stopped however busy the machine is."""
    with control_groups.nested(control_groups.CPU) as (upper, lower), \
            FPM(2, settings=php.settings("@ROOT@/run")) as fpm:
        upper.limit_cpus(0.05)
        lower.take(fpm.pid, *fpm.workers())
        script = fpm.script("burns.php", BURNS)
        key, unit = ("throttled_usec", 1000) if upper.version == 2 else ("throttled_time", 1)

        def throttled():
            return upper.keys("cpu.stat")[key] * unit
        before = throttled()
        with php.recorded(fpm.board) as archive:
            assert php.fastcgi(fpm.socket, script)[1] == "done"
        grown = throttled() - before
        fpm.stop()
    found = archive.ask("SELECT min(group_cpu_limit_milli) AS lowest, max(group_cpu_limit_milli) "
                        "AS most, max(group_throttled_ns) - min(group_throttled_ns) AS throttled, "
                        "max(group_cpu_ns) - min(group_cpu_ns) AS cpu FROM samples")[0]
    server = archive.ask("SELECT throttled_ns FROM servers")[0]
    assert found["lowest"] == found["most"] == 50
    assert 0 < found["throttled"] <= grown and 0 < server["throttled_ns"] <= grown
    if upper.version == 2:
        assert found["cpu"] > 0


BURN = """
import pathlib, sys, time
while time.process_time() < 1:
    pass
pathlib.Path(sys.argv[1]).touch()
"""


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare")
def test_cpu_of_another_pid_namespace(as_root, archive, tmp_path):
    """A recording in a namespace of its own, as in a container: what burns outside is said to be
    unseen, and the server's processes are."""
    inside = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if subprocess.run([*inside, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs pid namespaces")
    wait = f"touch {tmp_path}/began; while [ ! -e {tmp_path}/burnt ]; do sleep 0.05; done"
    with FPM(1, settings=php.settings("@ROOT@/run")) as fpm:
        recorder = subprocess.Popen([*inside, str(build.TOOL), "record", "-o", str(archive), "-t",
                                     str(fpm.board), "--", "sh", "-c", wait],
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            wait_until((tmp_path / "began").exists, 30, "the recording to begin")
            subprocess.run(["/usr/bin/python3", "-c", BURN, str(tmp_path / "burnt")], check=True)
            said = recorder.communicate(timeout=60)[0]
        finally:
            processes.end(recorder, str(tmp_path))
    assert recorder.returncode == 0, said
    unseen = rows(archive, "SELECT cpu_ns FROM programs WHERE program = "
                           "'processes that cannot be seen from here' AND owner = 'unseen'")
    assert unseen and unseen[0][0] >= 900_000_000, unseen
    [(local, why)] = rows(archive, "SELECT local, unknown FROM servers")
    assert local == 0 and "another pid namespace" in why


# ---- whose CPU time it is ------------------------------------------------------------------

NEIGHBOUR = """
import ctypes, pathlib, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
pathlib.Path(sys.argv[2]).touch()
end = time.monotonic() + 60
while not pathlib.Path(sys.argv[3]).exists() and time.monotonic() < end:
    sum(range(10000))
"""


@contextmanager
def neighbour(name, directory):
    """A program of that name that burns CPU time, and is nobody's."""
    began, stop = directory / f"{name}.began", directory / f"{name}.stop"
    process = subprocess.Popen(["/usr/bin/python3", "-c", NEIGHBOUR, name, str(began), str(stop)])
    try:
        wait_until(began.exists, 20, "the neighbour to begin")
        yield process
    finally:
        stop.touch()
        process.wait(20)


def owners(archive):
    """{(program, owner): seconds}"""
    return {(program, owner): cpu_ns / 1e9 for program, owner, cpu_ns in
            rows(archive, "SELECT program, owner, cpu_ns FROM programs")}


BURNS_ONE = "<?php $u = getrusage(); do { $n = getrusage(); } while ($n['ru_utime.tv_sec'] * 1e6 + " \
            "$n['ru_utime.tv_usec'] - $u['ru_utime.tv_sec'] * 1e6 - $u['ru_utime.tv_usec'] < 5e5);"


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_cpu_is_of_a_tree_and_of_no_name(as_root, archive, tmp_path):
    """An FPM without the extension works for Apache; programs of the same names do not."""
    with FPM(2) as fpm, Apache("event", php="fpm", fpm=fpm) as apache:
        apache.page("burn.php", BURNS_ONE)
        name = Path(f"/proc/{fpm.pid}/comm").read_text().strip()
        with neighbour("apache2", tmp_path), neighbour(name, tmp_path):
            done = subprocess.run([build.TOOL, "record", "-o", archive, "-t", apache.board, "--",
                                   build.find("ab"), "-n", "4",
                                   f"http://127.0.0.1:{apache.port}/burn.php"],
                                  capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    told = owners(archive)
    assert told[name, "server"] > 1.5, told
    assert told["apache2", "other"] > 0.1 and told[name, "other"] > 0.1, told
    assert ("apache2", "server") not in told or told["apache2", "server"] < 1, told


LEAVES = """<?php
exec("setsid /usr/bin/python3 -c " . escapeshellarg(<<<'PYTHON'
import ctypes, os, pathlib, time
if os.fork():
    os._exit(0)
ctypes.CDLL(None).prctl(15, b"left-behind")
while time.process_time() < 1:
    pass
pathlib.Path("@BURNT@").touch()
end = time.monotonic() + 60
while not os.path.exists("@STOP@") and time.monotonic() < end:
    time.sleep(0.05)
PYTHON) . " > /dev/null 2>&1");
while (!file_exists("@BURNT@")) usleep(20000);
echo 'done';
"""


@pytest.mark.parametrize("apart", (True, False))
@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_cpu_of_a_process_whose_parent_has_ended(as_root, apart, tmp_path):
    """It is the server's where the server's group is not the recorder's, too; elsewhere nobody
    can tell."""
    with FPM(2, settings=php.settings("@ROOT@/run")) as fpm:
        run = fpm.root / "run"
        script = fpm.script("leaves.php", LEAVES.replace("@BURNT@", str(run / "burnt"))
                            .replace("@STOP@", str(run / "stop")))
        with control_groups.group(control_groups.ANY) as group, neighbour("left-too", tmp_path):
            try:
                if apart:
                    group.take(fpm.pid, *fpm.workers())
                with php.recorded(fpm.board) as archive:
                    assert php.fastcgi(fpm.socket, script)[1] == "done"
            finally:
                (run / "stop").touch()
                fpm.stop()
    told = {row["program"]: (row["owner"], row["cpu_ns"])
            for row in archive.ask("SELECT program, owner, cpu_ns FROM programs")}
    owner, cpu_ns = told["left-behind"]
    assert owner == ("server" if apart else "other") and cpu_ns > 9e8, told
    assert told["left-too"][0] == "other", told


WRITES = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b"writes-much")
with open(sys.argv[1], "wb") as file:
    file.write(bytes(%d))
    file.flush()
    os.fsync(file.fileno())
sys.stdout.write("written\\n")
sys.stdout.flush()
sys.stdin.read()
"""


def test_what_programs_read_and_write(server, tmp_path):
    """A program of nobody's writes 40 MB to a disk while the load runs."""
    written = 40 << 20
    apache = server("event")
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True,
                          check=True).stdout.strip()
    if kind not in ("ext2/ext3", "xfs", "btrfs", "overlayfs"):
        pytest.skip(f"{tmp_path} is on no disk: {kind}")
    with php.recorded(apache.board) as archive:
        process = subprocess.Popen(["/usr/bin/python3", "-c", WRITES % written, tmp_path / "file"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"written\n"
    process.communicate(timeout=30)
    told = {row["program"]: (row["owner"], row["disk_bytes"])
            for row in archive.ask("SELECT program, owner, disk_bytes FROM programs")}
    owner, found = told["writes-much"]
    assert owner == "other" and written <= found < written * 1.5, told


# Starts the server, and then a neighbour in the same control group: as a container's does.
SUPERVISOR = """began=$1 stop=$2; shift 2
"$@" &
sleep 0.1
/usr/bin/python3 -c "$0" beside "$began" "$stop" &
wait
"""


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_cpu_of_a_program_of_the_same_container(as_root, tmp_path):
    began, stop = tmp_path / "began", tmp_path / "stop"
    with control_groups.group(control_groups.ANY) as group, \
            FPM(2, settings=php.settings("@ROOT@/run"),
                wrapper=[*control_groups.inside(group), "sh", "-c", SUPERVISOR, NEIGHBOUR, str(began),
                         str(stop)]) as fpm:
        try:
            wait_until(began.exists, 20, "the neighbour to begin")
            (beside,) = [pid for pid in group.read("cgroup.procs").split()
                         if Path(f"/proc/{pid}/comm").read_text() == "beside\n"]
            with php.recorded(fpm.board) as archive:
                before = processes.cpu_seconds(beside)
                wait_until(lambda: processes.cpu_seconds(beside) > before + 0.5, 60,
                           "it to burn CPU time")
        finally:
            stop.touch()
    told = {row["program"]: row["owner"] for row in archive.ask("SELECT * FROM programs")}
    assert told["beside"] == "other", told


@pytest.mark.mpms("event")
@pytest.mark.skipif(not build.find("h2load"), reason="needs h2load")
def test_http2_workers_of_a_recording(server, mpm, tmp_path):
    """Two scripts run at once, until a sample was taken while they did, and others wait: so many that
    the scripts' own time is far from the tenth that makes them the cause."""
    apache = server(mpm, CGI + "Protocols h2c http/1.1\nH2MinWorkers 2\nH2MaxWorkers 2",
                    modules=[cgi_module(mpm), "http2"])
    path, stop = tmp_path / "runs.sqlite", apache.root / "stop"
    waits = apache.cgi("waits", f'while [ ! -e "{stop}" ]; do sleep 0.02; done\n'
                       "echo Content-Type: text/plain\necho\necho done\n")
    load = [build.find("h2load"), "-n", "60", "-c", "1", "-m", "60",
            f"http://127.0.0.1:{apache.port}{waits}"]
    with recording(path, *load, targets=[apache.board]) as recorder:
        wait_until(lambda: has(path, "samples WHERE http2_workers_busy = 2", 4), 60, "samples")
        stop.touch()
        said = recorder.communicate(timeout=60)[0]
    assert ask(path, "SELECT DISTINCT http2_workers_limit FROM samples") == [(2,)]
    assert ask(path, "SELECT max(http2_workers_busy) FROM samples") == [(2,)]
    text = tool.report("--format", "text", path)
    assert "HTTP/2 workers 2 of 2 in the fullest child; all of them busy for " in " ".join(text.split())
    assert ("Allow more of HTTP/2's workers in each child. Set H2MaxWorkers to 4 (now 2)"
            in " ".join(said.split()))
    (summary,) = json.loads(tool.report("--format", "json", path))
    found = summary["servers"][0]["resources"]
    assert (found["http2_workers_max"], found["http2_workers_limit"]) == (2, 2)
    assert 0 < found["http2_workers_full"] <= 1
