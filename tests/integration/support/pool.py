"""An Apache's pool of workers: waits for it, and tells its events and its states' times."""
from decimal import Decimal

import tool
from processes import wait_until


def events(apache, name):
    return [e for e in apache.journal()[1] if e["event"] == name]


DYING = 0.1   # a process's threads may outlive its first by a moment, with its connections


def wait_for_pool(apache):
    """Until all its workers are there again, and no request is in flight."""
    def settled():
        board = tool.status(apache.board)
        return (board if sum(board["workers"]["states"].values()) == apache.workers
                and board["workers"]["busy"] == 0 else None)
    return wait_until(settled, 40, lambda: f"a pool of {apache.workers} idle: "
                      f"{tool.status(apache.board)['workers']}")


STATES = ["idle", "reading", "handling", "sending", "keepalive", "closing", "logging"]


def state_deltas(before, after):
    return {s: after["workers"]["state_seconds"][s] - before["workers"]["state_seconds"][s]
            for s in STATES}


def assert_time_adds_up(before, after, workers):
    elapsed = after["uptime_seconds"] - before["uptime_seconds"]
    deltas = state_deltas(before, after)
    assert abs(sum(deltas.values()) - workers * elapsed) < workers * Decimal("0.002"), (
        f"{workers} workers x {elapsed} s, but the states' time is {sum(deltas.values())}: "
        f"{deltas}")


def all_there(apache):
    """A board with all workers claimed."""
    def look():
        board = tool.status(apache.board)
        return board if sum(board["workers"]["states"].values()) == apache.workers else None
    return wait_until(look, 10, lambda: f"all workers: {tool.status(apache.board)['workers']}")


def ends(apache, kind):
    """Exit events of a kind, by pid; each process has one."""
    found = [e for e in apache.journal()[1] if e["event"] == "exit" and e["kind"] == kind]
    assert len({e["pid"] for e in found}) == len(found), found
    return {e["pid"]: e for e in found}
