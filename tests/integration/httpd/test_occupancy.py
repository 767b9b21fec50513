"""Worker states: exact time in each, between any two scrapes however far apart."""
import contextlib
import time
from decimal import Decimal

import clients
import pytest
import tool
from phases import CGI, cgi_module
from pool import all_there, assert_time_adds_up, state_deltas
from processes import wait_until


def test_states_add_up_to_workers_times_elapsed(php_server, mpm):
    """Idle and under load; and the occupancy is Little's: throughput x time held."""
    apache = php_server(mpm, workers=10)
    nap = apache.page("nap.php", "<?php usleep(50000); echo 'done';")
    quiet = all_there(apache)
    before = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                        if b["uptime_seconds"] > quiet["uptime_seconds"] + Decimal("0.3")), None),
                        5, "a while")
    assert_time_adds_up(quiet, before, 10)
    assert state_deltas(quiet, before)["idle"] > Decimal("2.9")
    told = clients.ab(apache.port, nap, 100, 5)
    after = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                       if tool.requests(b) >= 100 and b["workers"]["busy"] == 0), None), 5,
                       "the last one to be recorded")
    assert_time_adds_up(before, after, 10)
    deltas = state_deltas(before, after)
    busy = sum(deltas.values()) - deltas["idle"]
    held = tool.phase_sum(after, "held") - tool.phase_sum(before, "held")
    # Besides the requests, workers are busy with closing connections.
    assert held <= busy <= held * Decimal("1.1") + deltas["closing"] + Decimal("0.05"), (
        held, deltas)
    assert deltas["handling"] > Decimal("0.05") * 100, (deltas, told["seconds"])
    little = tool.phase_sum(after, "handle") - tool.phase_sum(before, "handle")
    assert abs(deltas["handling"] - little) < Decimal("0.05"), (deltas, little)


def test_an_idle_kept_alive_connection(server, mpm):
    """It keeps a worker on prefork and worker; on event it does not."""
    apache = server(mpm, "KeepAliveTimeout 30", workers=10)
    all_there(apache)
    connections = [apache.connect() for _ in range(4)]
    try:
        for connection in connections:
            assert connection.request("/").status == 200
        kept = 0 if mpm == "event" else 4
        board = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                           if b["workers"]["busy"] == kept and tool.requests(b) == 4), None), 5,
                           lambda: f"{kept} busy: {tool.status(apache.board)['workers']}")
        states = board["workers"]["states"]
        assert states["keepalive"] == kept and states["idle"] == 10 - kept, states
        assert board["connections"]["open"] == 4, board["connections"]
        assert board["connections"]["accepted_total"] == 4, board["connections"]
    finally:
        for connection in connections:
            connection.close()
    board = wait_until(lambda: next((b for b in [tool.status(apache.board)]
                       if b["workers"]["busy"] == 0 and b["connections"]["open"] == 0), None), 5,
                       lambda: f"all idle: {tool.status(apache.board)['workers']}")
    if mpm != "event":
        assert board["workers"]["state_seconds"]["keepalive"] > 0
    assert board["connections"]["shed_total"] == 0, "the clients closed them"


def test_the_state_of_a_worker(server, mpm):
    """reading, handling and sending are seen as such, from the file, with their request."""
    apache = server(mpm, CGI + "MPMStatPaths On\nEnableSendfile Off", workers=10,
                    modules=[cgi_module(mpm)])
    nap = apache.cgi("nap", "sleep 4\necho Content-Type: text/plain\necho\necho done\n")
    flood = apache.cgi("flood", "echo Content-Type: text/plain\necho\n"
                                "exec head -c 30000000 /dev/zero\n")
    apache.allow("AH01215|AH02651|AH01220|AH01229")
    all_there(apache)
    connections = {"reading": apache.connect(), "handling": apache.connect(),
                   "sending": apache.connect(receive_buffer=65536)}
    try:
        connections["reading"].send("GET / HTTP/1.1\r\nHost: a\r\n")
        connections["handling"].send_request(nap + "?secret=1")
        connections["sending"].send_request(flood)
        wanted = {"reading": 1, "handling": 1, "sending": 1, "idle": 7}
        board = wait_until(lambda: next((b for b in [tool.status(apache.board)] if
                           {k: v for k, v in b["workers"]["states"].items() if v} == wanted),
                           None), 0.9, lambda: f"{wanted}, not {tool.status(apache.board)}")
    finally:
        for connection in connections.values():
            connection.reset()
    slots = {s["state"]: s for s in board["slots"] if s["state"] != "idle"}
    assert slots["handling"]["path"] == nap and slots["sending"]["path"] == flood, slots
    assert slots["handling"]["label"] == "test.example", slots
    assert all(s["pid"] in apache.children() for s in slots.values()), slots
    assert [s["state"] for s in board["slots"]][:3] != ["idle"] * 3, "busy ones first"
    wait_until(lambda: {(s["state"], s["label"], s["path"], s["request_for_seconds"])
                        for s in tool.status(apache.board)["slots"]} == {("idle", *[None] * 3)}, 10,
               lambda: f"nobody to be shown with a request: {tool.status(apache.board)['slots']}")


def test_a_path_is_shown_where_its_directory_says_so(server, mpm):
    """Which is not known before the request's path is; until then nothing is shown."""
    apache = server(mpm, CGI + "MPMStatPaths On\n"
                    "<Location /cgi/hidden>\nMPMStatPaths Off\n</Location>\n"
                    "<Location /cgi/off>\nMPMStat Off\n</Location>\n",
                    workers=10, modules=[cgi_module(mpm)])
    script = "sleep 1\necho Content-Type: text/plain\necho\n"
    paths = [apache.cgi(name, script) for name in ("shown", "hidden", "off")]
    with contextlib.ExitStack() as stack:
        asking = [stack.enter_context(apache.connect()) for _ in paths]
        for connection, path in zip(asking, paths):
            connection.send_request(path)
        slots = wait_until(lambda: next((busy for busy in [[
            s for s in tool.status(apache.board)["slots"] if s["state"] == "handling"]]
            if len(busy) == 3 and any(s["path"] for s in busy)), None), 0.9, "three requests")
        assert b"hidden" not in apache.board.read_bytes()
        assert sorted(s["path"] or "" for s in slots) == ["", "", paths[0]], slots
        assert sorted(s["label"] or "" for s in slots) == ["", *["test.example"] * 2], slots
        for connection in asking:    # mod_cgid complains of a script that outlives its server
            assert connection.read_response().status == 200


@pytest.mark.mpms("event")
def test_a_response_that_is_sent_without_a_worker(server, mpm):
    """Its worker is shown with it no longer; it is in flight until the client has it."""
    apache = server(mpm, "MPMStatPaths On\nEnableSendfile On", workers=10)
    big = apache.page("big", b"x" * 30_000_000)
    with apache.connect(receive_buffer=65536) as connection:
        connection.send_request(big, keep=False)
        wait_until(lambda: {(s["state"], s["label"], s["path"], s["request_for_seconds"])
                            for s in tool.status(apache.board)["slots"]}
                   == {("idle", None, None, None)} and in_flight(apache) == 1, 5,
                   lambda: f"nobody to be shown with it: {tool.status(apache.board)['slots']}")
        assert len(connection.read_response().body) == 30_000_000
    wait_until(lambda: in_flight(apache) == 0, 5, "the end of the request")


def in_flight(apache):
    return sum(label["in_flight"] for label in tool.labels(tool.status(apache.board)))


@pytest.mark.mpms("event")
def test_a_busy_event_sheds_kept_alive_connections(server, mpm):
    """Connections that wait for their client's next request are closed when no worker is
    idle, and counted, so that a client's errors can be explained."""
    apache = server(mpm, CGI + "KeepAliveTimeout 60", modules=["cgid"],
                    workers=2, threads=2)
    nap = apache.cgi("nap", "sleep 1\necho Content-Type: text/plain\necho\necho done\n")
    kept = [apache.connect() for _ in range(3)]
    busy = []

    def closed():
        """How many of the kept connections the server has closed."""
        ended = 0
        for connection in kept:
            connection.socket.setblocking(False)
            try:
                ended += connection.socket.recv(1) == b""
            except BlockingIOError:
                pass
        return ended

    def shed():
        return tool.status(apache.board)["connections"]["shed_total"]
    try:
        for connection in kept:
            connection.request("/")
        # event looks for connections to close when one comes in while all workers are busy: of
        # four at once for two workers one does so in about every second round.
        while not closed() and len(busy) < 160:
            clients = [apache.connect() for _ in range(4)]
            busy += clients
            for connection in clients:
                connection.send_request(nap, keep=False)
            for connection in clients:
                connection.read_response()
        assert closed() > 0, "this test did not make event shed anything"
        wait_until(lambda: shed() == closed(), 30,
                   lambda: f"{closed()} closed by the server, {shed()} counted")
    finally:
        for connection in kept + busy:
            connection.close()


def test_stopped_time_stands_still(server, mpm):
    """After a stop nobody's time goes on."""
    apache = server(mpm)
    all_there(apache)
    assert not apache.stop()
    first = tool.status(apache.board)
    time.sleep(0.05)
    second = tool.status(apache.board)
    assert first == second
    assert first["running"] == "no" and first["stopped"], first
