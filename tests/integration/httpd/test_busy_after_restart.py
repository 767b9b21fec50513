"""How many workers are busy after a restart. The witnesses are mod_status's scoreboard and the
backend, which has the requests."""
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

import processes
import tool
from processes import wait_until

HELD = 5
# Processes of the generation before end only with their requests; the new ones need room meanwhile.
ROOM = {"prefork": "ServerLimit 40\nMaxRequestWorkers 20\nStartServers 20\n"
                   "MinSpareServers 20\nMaxSpareServers 21\n"}
ROOM_OF_THREADS = ("ThreadLimit 10\nServerLimit 8\nThreadsPerChild 10\nMaxRequestWorkers 20\n"
                   "StartServers 2\nMinSpareThreads 20\nMaxSpareThreads 30\n")


def scoreboard(apache):
    """What mod_status says, less the worker that makes the page."""
    said = dict(line.split(": ", 1) for line in
                apache.get("/server-status?auto").text().splitlines() if ": " in line)
    return int(said["BusyWorkers"]) - 1


def listening(pid, inodes):
    """Whether the process has one of the server's sockets, from which it could accept."""
    try:
        held = processes.open_files(pid).values()
    except (FileNotFoundError, PermissionError):
        return False    # it has ended; what is left of it until then is root's
    return any(f"socket:[{inode}]" in held for inode in inodes)


def restart(apache, mpm, signum):
    """Until no process of the generation before takes requests. On a busy machine one can do so
    for a while after the parent has said that it resumes; prefork's, which have a request each,
    keep the socket and do not accept."""
    before = apache.children()
    inodes = [line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
              if line.split()[1].endswith(f":{apache.port:04X}") and line.split()[3] == "0A"]
    assert inodes
    apache.restart(signum)
    can_stay = HELD if mpm == "prefork" and signum == signal.SIGUSR1 else 0
    wait_until(lambda: sum(listening(pid, inodes) for pid in before) <= can_stay, 10,
               "the processes of the generation before to stop accepting")


def accept(listener, count, stack):
    listener.settimeout(20)
    for _ in range(count):
        stack.enter_context(listener.accept()[0])


@pytest.mark.parametrize("signum", [signal.SIGUSR1, signal.SIGHUP], ids=["graceful", "hard"])
def test_workers_of_the_new_generation(server, mpm, signum):
    """Requests that a backend holds: the board shows as many busy workers, before a restart, after
    it, and those of both generations together."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        apache = server(
            mpm, f'ProxyPass "/app" "http://127.0.0.1:{listener.getsockname()[1]}/"\n'
            '<Location "/server-status">\nSetHandler server-status\n</Location>',
            modules=["proxy", "proxy_http", "status"], limits=ROOM.get(mpm, ROOM_OF_THREADS))
        # A hard restart ends the requests of the generation before.
        kept = HELD if signum == signal.SIGUSR1 else 0
        apache.allow("AH01102|AH0111[04]|AH00898")

        def hold(count, expected):
            for _ in range(count):
                client = stack.enter_context(apache.connect())
                client.send_request("/app", keep=False)
            accept(listener, count, stack)
            wait_until(lambda: tool.status(apache.board)["workers"]["busy"] == expected, 10,
                       lambda: f"{expected} busy: {tool.status(apache.board)['workers']}")
        hold(HELD, HELD)
        restart(apache, mpm, signum)
        hold(HELD, kept + HELD)
        states = tool.status(apache.board)["workers"]["states"]
        assert states["handling"] == kept + HELD, states
        hold(1, kept + HELD + 1)
        # mod_status leaves out a child until httpd has noted its generation.
        wait_until(lambda: HELD + 1 <= scoreboard(apache) <= kept + HELD + 1, 10,
                   lambda: f"{HELD + 1} to {kept + HELD + 1} busy: {scoreboard(apache)}")
