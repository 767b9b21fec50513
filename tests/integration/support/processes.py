"""Processes of a server under test, from /proc; and ending them, and only them."""
import os
import re
import signal
import time
from pathlib import Path


# Time-outs end what never happens. They are of a machine that has nothing else to do; one that has
# takes several times as long for the same.
PATIENCE = 4


def wait_until(condition, timeout, what):
    """Polls until condition() is true, and returns it. `what` names it in the failure. A condition
    that runs a program takes CPU time from what it waits for: so the pause is longer then."""
    timeout *= PATIENCE
    deadline = time.monotonic() + timeout
    while True:
        began = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now > deadline:
            text = what() if callable(what) else what
            raise AssertionError(f"waited {timeout} s in vain for: {text}")
        time.sleep(min(max(0.01, 3 * (now - began)), 0.05))


def read(pid, name):
    """A file of /proc/PID as bytes; b"" where the process is gone."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def all_pids():
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def open_files(pid):
    """Descriptors of a process and what each one is of; without those that it closes while
    they are read."""
    found = {}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[int(link.name)] = os.readlink(link)
        except FileNotFoundError:
            pass
    return found


def stat_fields(pid):
    """Fields of /proc/PID/stat from the third (state) on; [] where it is gone."""
    text = read(pid, "stat").decode(errors="replace")
    return text[text.rindex(")") + 2:].split() if text else []


def cpu_seconds(pid):
    """User and system time of a process, and of its children that it has waited for."""
    fields = stat_fields(pid)
    return sum(map(int, fields[11:15])) / 100


def is_alive(pid):
    fields = stat_fields(pid)
    return bool(fields) and fields[0] not in "ZX"


def children(pid):
    """Pids of the living children of pid."""
    return [int(p) for p in read(pid, f"task/{pid}/children").split() if is_alive(int(p))]


def session_members(session, mark):
    """Living processes of a session, or with `mark` in an argument of theirs; None: no mark."""
    found = []
    for pid in all_pids():
        fields = stat_fields(pid)
        if pid == os.getpid() or not fields or fields[0] in "ZX":
            continue
        if int(fields[3]) == session or (mark and mark.encode() in read(pid, "cmdline")):
            found.append(pid)
    return found


def kill(pid, signum):
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        pass


def end(process, mark=None, timeout=15):
    """Ends a Popen started in a session of its own, politely, then all that is left of it: `mark`
    is a path of this test's alone, since each process that names it is killed. Returns a complaint
    where politeness did not do, else None."""
    assert mark is None or mark.startswith("/"), f"other programs can have {mark}, too"
    complaint = None
    timeout *= PATIENCE
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout)
        except Exception:
            complaint = f"pid {process.pid} did not end within {timeout} s of SIGTERM"
    for _ in range(500):
        left = session_members(process.pid, mark)
        if not left:
            break
        for pid in left:
            kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    process.wait(timeout)
    return complaint


def straced_forks(path):
    """Pids that clone, clone3 and fork returned, without those of threads and of
    vfork. A call that strace shows in two pieces is put together again."""
    begun, forks = {}, []
    for line in path.read_text().splitlines():
        who, _, call = line.partition(" ")
        if "<unfinished ...>" in call:
            begun[who] = call
            continue
        if "resumed>" in call:
            call = begun.pop(who, "") + call
        if "CLONE_THREAD" in call or "CLONE_VFORK" in call:
            continue
        made = re.search(r"= (\d+)$", call)
        if made:
            forks.append(int(made.group(1)))
    return forks
