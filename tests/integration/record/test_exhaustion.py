"""What `mpmstat record` has of a server that runs out of local ports, descriptors or memory, and of
a neighbour that does. The witnesses are the kernel's own files, ss, and what the server logs."""
import re
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

import control_groups
import network
import php
import processes
from backend import HTTPBackend
from control_groups import inside
from fpm import FPM
from processes import wait_until
from recording import ask, has, has_begun, recording

needs_fpm = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))


# ---- local ports ------------------------------------------------------------------------------

FIRST, PORTS, TOO_MANY = 20000, 16, 5    # below the ports on which the servers listen


class Holding(HTTPBackend):
    """Answers when it may."""

    def __init__(self):
        super().__init__()
        self.may_answer = threading.Event()

    def serve(self, connection, stream):
        stream.peek(1)
        self.may_answer.wait(60)
        return super().serve(connection, stream)

    def __exit__(self, *error):
        self.may_answer.set()
        super().__exit__(*error)


@pytest.mark.skipif(not shutil.which("ss"), reason="needs ss (iproute2)")
def test_local_ports_towards_a_backend(server, mpm, as_root, archive):
    """The server's network has sixteen, all in use towards one backend: it refuses others, and
    says why."""
    narrow = network.Narrow()
    try:
        narrow.__enter__()
    except network.Unavailable as reason:
        pytest.skip(str(reason))
    namespace = narrow.holders[0].pid
    with ExitStack() as stack:
        stack.callback(narrow.__exit__)
        stack.enter_context(narrow.at_server())
        behind = stack.enter_context(Holding())
        apache = server(mpm, f"Listen {narrow.ADDRESS}:{narrow.PORT}\n"
                        f"ProxyPass /app/ http://127.0.0.1:{behind.port}/ retry=0",
                        modules=["proxy", "proxy_http"], workers=PORTS + TOO_MANY + 4)
        apache.allow("AH0095|AH01114|AH00957|AH00958|AH00959|AH01079")
        network.run_in(namespace, "sh", "-c", f"echo {FIRST} {FIRST + PORTS - 1} "
                       ">/proc/sys/net/ipv4/ip_local_port_range")
        recorder = stack.enter_context(recording(archive, targets=[apache.board]))
        wait_until(lambda: has_begun(archive), 30, "the recording to begin")
        asking = [stack.enter_context(narrow.connect()) for _ in range(PORTS + TOO_MANY)]
        for connection in asking:
            connection.send_request("/app/x")
        wait_until(lambda: len(apache.log_lines("Cannot assign requested address")) == TOO_MANY and
                   behind.connections == PORTS, 30, apache.log_text)
        seen = network.run_in(namespace, "ss", "-Htn", "state", "established", "dst",
                              f"127.0.0.1:{behind.port}").splitlines()
        wait_until(lambda: has(archive, "port_samples", 0) and ask(
            archive, "SELECT max(ports) FROM port_samples") == [(PORTS,)], 30, "a sample")
        behind.may_answer.set()
        statuses = [connection.read_response().status for connection in asking]
        recorder.send_signal(signal.SIGINT)
        said = recorder.communicate(timeout=60)
    assert recorder.returncode == 0, said
    assert len(seen) == PORTS
    assert (statuses.count(200), statuses.count(503)) == (PORTS, TOO_MANY)
    assert ask(archive, "SELECT remote, max(ports), ports_limit FROM port_samples GROUP BY 1") == [
        (f"127.0.0.1:{behind.port}", PORTS, PORTS)]


# ---- descriptors ------------------------------------------------------------------------------

FILES = 60


@pytest.mark.mpms("worker", "event")
def test_a_server_that_may_open_sixty_files(server, mpm):
    """Near the limit the server answers; a few connections later it complains, and its only child
    ends: a parent that has not looked since it started gives up, too (AH02324)."""
    apache = server(mpm, "KeepAliveTimeout 300\nMaxKeepAliveRequests 0", workers=FILES,
                    threads=FILES, wrapper=["sh", "-c", f'ulimit -n {FILES} && exec "$@"', "sh"])
    apache.allow("Too many open files|AH02324")
    [child] = apache.children()
    with ExitStack() as stack:
        with php.recorded(apache.board) as archive:
            while len(processes.open_files(child)) < FILES - 5:
                connection = stack.enter_context(apache.connect())
                assert connection.request("/index.html").status == 200
            # The round at the end of the load is read while the connections are open.
        found = len(processes.open_files(child))
        limit = re.search(r"^Max open files +(\d+)", processes.read(child, "limits").decode(), re.M)
        assert FILES - 7 <= found < FILES == int(limit[1])
        assert not apache.log_lines("Too many open files")
        for _ in range(FILES - found + 2):
            stack.enter_context(apache.connect()).send_request("/index.html")
        wait_until(lambda: apache.log_lines("Too many open files"), 30, apache.log_text)
    told = archive.ask(f"SELECT files, files_limit FROM process_samples WHERE pid = {child} "
                       "ORDER BY time_ns")
    # A thread in accept() has a descriptor in reserve.
    assert told[-1]["files"] - found in (0, 1) and told[-1]["files_limit"] == FILES
    [[parent]] = archive.ask(f"SELECT max(files) FROM process_samples WHERE pid = {apache.pid}")
    assert 0 < parent < FILES / 2


# ---- memory -----------------------------------------------------------------------------------

LIMIT, HELD = 128 << 20, 48 << 20
EAT = ("<?php ini_set('memory_limit', -1); $held = str_repeat('x', (int)$_SERVER['BYTES']); "
       "touch($_SERVER['BEGAN']); while (!file_exists($_SERVER['STOP'])) usleep(5000); echo 'done';")


def memory_of(group):
    """(bytes in use, most that were in use)."""
    names = {2: ("memory.current", "memory.peak"),
             1: ("memory.usage_in_bytes", "memory.max_usage_in_bytes")}[group.version]
    now = int(group.read(names[0]))
    return now, int(group.read(names[1])) if (group.path / names[1]).exists() else 1 << 62


def kills_of(group):
    return group.keys("memory.events" if group.version == 2 else "memory.oom_control")["oom_kill"]


@contextmanager
def eating(fpm, size, name="eat"):
    """A request that holds so many bytes."""
    began, stop = fpm.root / "run" / f"{name}-began", fpm.root / "run" / f"{name}-stop"
    script = fpm.script("eat.php", EAT)
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(php.fastcgi, fpm.socket, script, BYTES=str(size), BEGAN=str(began),
                             STOP=str(stop))
        try:
            wait_until(lambda: began.exists() or answer.done(), 60, "the script to hold its memory")
            yield answer
        finally:
            stop.touch()


@needs_fpm
def test_the_memory_limit_above_the_servers_group(as_root):
    """The server's own group has none. What is in use is what the kernel says of the group that
    has the limit, and who is killed is counted."""
    with control_groups.nested(control_groups.MEMORY) as (upper, lower):
        upper.limit_memory(LIMIT)
        with FPM(2, settings=php.settings("@ROOT@/run"), wrapper=inside(lower)) as fpm:
            with eating(fpm, HELD) as answer:
                with php.recorded(fpm.board) as held:
                    before = memory_of(upper)[0]
                after, most = memory_of(upper)
            assert answer.result(60) == (200, "done") and before > HELD and after > HELD
            killed = kills_of(lower)
            with php.recorded(fpm.board) as full:
                with eating(fpm, 2 * LIMIT, "more") as answer:
                    pass
                wait_until(lambda: re.search("exited on signal 9", fpm.log_text()), 30,
                           fpm.log_text)
            killed = kills_of(lower) - killed
            fpm.stop()
    used = held.ask("SELECT min(group_memory_bytes) AS least, max(group_memory_bytes) AS most, "
                    "min(group_memory_limit_bytes) AS limit_least, max(group_memory_limit_bytes) "
                    "AS limit_most FROM samples")[0]
    assert used["limit_least"] == used["limit_most"] == LIMIT
    assert HELD < used["least"] <= used["most"] <= most
    server = full.ask("SELECT cgroup, memory_limit_bytes, oom_kills FROM servers")[0]
    assert server["cgroup"].endswith(f"{upper.path.name}/service")
    assert server["memory_limit_bytes"] == LIMIT and server["oom_kills"] == killed > 0
    assert held.ask("SELECT oom_kills FROM servers")[0][0] == 0


# ---- a neighbour ------------------------------------------------------------------------------

# Reads 64 MB over and over, of which its group may keep a quarter, until it is to stop.
THRASHES = """
import os, sys
path, began, stop = sys.argv[1:]
with open(path, "wb") as file:      # its own pages: they count where they are made
    for _ in range(64):
        file.write(b"x" * (1 << 20))
    os.fsync(file.fileno())
with open(path, "rb") as file:
    while not os.path.exists(stop):
        file.seek(0)
        while file.read(1 << 20):
            pass
        open(began, "w").close()
"""
SMALL = 16 << 20


def refaults(group):
    """Pages that the group lost and had to read again."""
    return sum(number for key, number in group.keys("memory.stat").items()
               if key.startswith("workingset_refault"))


def pressure(group):
    """Nanoseconds for which any process of a group of version 2 waited for memory."""
    return 1000 * int(re.search(r"^some .*total=(\d+)", group.read("memory.pressure"), re.M)[1])


@contextmanager
def own_groups(pressure):
    """{what it is for: a group} for one server: version 1 has several. With version 1 the pressure
    is that of a group of version 2, if it is to have one."""
    made = {}
    try:
        made["memory"] = control_groups.make(*control_groups.MEMORY)
        if not made["memory"]:
            pytest.skip("this machine gives no control group with a memory limit")
        if made["memory"].version == 2:
            made["cpu"] = made["pressure"] = made["memory"]
        else:
            made["cpu"] = control_groups.make(*control_groups.CPU_TIME)
            made["pressure"] = control_groups.make_unified() if pressure else None
        if not (made["pressure"] or not pressure):
            pytest.skip("this machine gives no control group with pressures")
        yield made
    finally:
        for group in {id(group): group for group in made.values() if group}.values():
            group.remove()


@contextmanager
def thrashing(group, directory):
    """A neighbour in that group, of which it has more to read than it may keep."""
    group.limit_memory(SMALL)
    began, stop = directory / "began", directory / "stop"
    process = subprocess.Popen([*inside(group), sys.executable, "-c", THRASHES,
                                str(directory / "file"), str(began), str(stop)])
    try:
        wait_until(lambda: began.exists() or process.poll() is not None, 60, "the neighbour")
        assert process.poll() is None
        yield process
        stop.touch()
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@needs_fpm
@pytest.mark.parametrize("pressure_of_its_own", [True, False])
def test_a_neighbour_that_thrashes_in_its_own_group(as_root, tmp_path, pressure_of_its_own):
    """Nothing of it is the server's: no memory, no stall, no CPU time, no one killed."""
    with own_groups(pressure_of_its_own) as own, own_groups(False) as others, \
            FPM(2, settings=php.settings("@ROOT@/run"),
                wrapper=inside(*{g.path: g for g in own.values() if g}.values())) as fpm:
        own["memory"].limit_memory(LIMIT)
        with thrashing(others["memory"], tmp_path) as neighbour:
            lost, burnt = refaults(others["memory"]), processes.cpu_seconds(neighbour.pid)
            with php.recorded(fpm.board) as archive:
                hello = fpm.script("hello.php", "<?php echo 'hello';")
                assert php.fastcgi(fpm.socket, hello) == (200, "hello")
                wait_until(lambda: refaults(others["memory"]) - lost > 10000 and
                           processes.cpu_seconds(neighbour.pid) - burnt > 0.5, 120, "the neighbour")
        fpm_seconds = sum(processes.cpu_seconds(pid) for pid in [fpm.pid, *fpm.workers()])
        most = memory_of(own["memory"])[1]
        used = own["cpu"].cpu_ns() if own["cpu"] else None
        stalled = pressure(own["pressure"]) if own["pressure"] else 0
        assert kills_of(own["memory"]) == 0
        fpm.stop()
    sample = archive.ask("SELECT max(group_memory_bytes) AS memory, max(group_memory_limit_bytes) "
                         "AS memory_limit, max(group_cpu_ns) - min(group_cpu_ns) AS cpu "
                         "FROM samples")[0]
    server = archive.ask("SELECT cpu_ns, oom_kills, memory_stall_ns FROM servers")[0]
    assert 0 < sample["memory"] <= most and sample["memory_limit"] == LIMIT
    assert server["oom_kills"] == 0 and (server["memory_stall_ns"] or 0) <= stalled
    assert (server["memory_stall_ns"] is None) == (own["pressure"] is None)
    assert server["cpu_ns"] <= fpm_seconds * 1e9
    assert sample["cpu"] is None or 0 < sample["cpu"] <= used
    stall = archive.ask("SELECT max(memory_stall_ns) - min(memory_stall_ns) FROM machine_samples")
    assert stall[0][0] != 0, "the machine's own figure has the neighbour"
