"""mpmstat record against servers that do not keep to what it asks for: more records than its
limit=, pages without end, answers that never come. It says so, and ends when it is to."""
import json
import re
import signal
import sqlite3
import threading
from contextlib import contextmanager

import pytest

import boards
import tool
from processes import wait_until
from recording import recording
from urls import Server, rendered, reply

PAGE = 10000     # records of a kind that record asks for
SLOW = 0.25      # seconds that a page of an endless journal takes
REQUEST = {"id": 1, "start": 1700000000.5, "queue": 0.0, "read": 0.1, "handle": 0.2, "send": 0.3,
           "held": 0.4, "total": 0.6, "front": None, "bytes": 5, "label": "www", "status": 200,
           "aborted": False, "no_worker": False, "pid": 7, "worker": 0, "connection": 1, "port": 80,
           "nth": 0, "client_id": None}
EVENT = {"event": "exit", "kind": "child", "time": 1700000000.5, "pid": 7, "parent": 1, "slot": 0,
         "generation": 0, "duration": 1.0, "requests": 0, "unfinished": 0, "reason": "clean"}


def lines(kind, first, count):
    """So many records of a kind, as an answer has them."""
    text = json.dumps(kind, separators=(",", ":"))[1:]
    return "".join(f'{{"ticket":{first + i},{text}\n' for i in range(count))


def page(body, next, more):
    trailer = {"next": next, "lost": 0, "more": more}
    return (body + json.dumps(trailer, separators=(",", ":")) + "\n").encode()


class Journal(Server):
    """A server whose status is a board's, and whose journal is what page_of(number) returns, from
    0 on; after `slow` seconds each."""

    def __init__(self, status, page_of, slow=0.0):
        self.pages, self.closing = 0, threading.Event()

        def answer(handler):
            if "format=json" in handler.path:
                return reply(handler, status)
            if "since=now" in handler.path:
                return reply(handler, page("", "abc-1-1", False), "application/x-ndjson")
            number, self.pages = self.pages, self.pages + 1
            self.closing.wait(slow)
            return reply(handler, page_of(number), "application/x-ndjson")

        super().__init__(answer)

    def __exit__(self, *_):
        self.closing.set()
        super().__exit__(*_)


@contextmanager
def journal(page_of, slow=0.0):
    with boards.board(1) as board:
        board.stop()
        status = rendered(board, "json")
    with Journal(status, page_of, slow) as server:
        yield server


def ask(archive, query):
    with sqlite3.connect(archive) as db:
        return db.execute(query).fetchall()


def record(server, archive, *options, timeout=120):
    """The command takes long where it does not end by itself."""
    return tool.run("record", "-o", archive, "-t", server.url, *options, timeout=timeout)


@pytest.mark.parametrize("what, kind", [("request", REQUEST), ("event", EVENT),
                                        ("newer", {"a newer server's": 1})])
def test_more_records_than_asked_for_are_refused(what, kind, tmp_path):
    archive = tmp_path / "a.sqlite"
    body = page(lines(kind, 1, PAGE + 1), "abc-20000-20000", False)
    with journal(lambda number: body) as server:
        done = record(server, archive, "--timeout", "2")
        assert all(f"limit={PAGE}" in path for path, _ in server.asked if "journal" in path)
    assert f"expected at most {PAGE} records of a kind, as limit= asked" in done.stderr
    assert ask(archive, "SELECT count(*) FROM server_requests") == [(0,)]
    assert ask(archive, "SELECT lost FROM servers") == [(None,)], "nobody knows"
    noted = ask(archive, "SELECT text FROM notes WHERE text LIKE '%as limit= asked%'")
    assert len(noted) == 1, noted


def test_two_kinds_of_trouble_in_turn_are_noted_once_each(tmp_path):
    archive = tmp_path / "a.sqlite"
    bad = [page(lines(REQUEST, 1, PAGE + 1), "abc-20000-20000", False), b"no JSON\n"]
    with journal(lambda number: bad[number % 2]) as server:
        with recording(archive, targets=[server.url]) as started:
            wait_until(lambda: server.pages >= 4, 60, "two answers of each kind")
            started.send_signal(signal.SIGINT)
            _, said = started.communicate(timeout=120)
    assert started.returncode == 0, said
    noted = [text for text, in ask(archive, "SELECT text FROM notes")]
    assert len(noted) == len(set(noted)) and len(noted) >= 2, noted


def test_trouble_that_is_always_another_one_fills_no_archive(tmp_path):
    """Each answer has a status that none had before: the archive has the first sentences."""
    archive, asked, said = tmp_path / "a.sqlite", [], []
    with boards.board(1) as board:
        board.stop()
        status = rendered(board, "json")

    def answer(handler):
        asked.append(handler.path)
        if len(asked) > 4:
            said.append(400 + len(said))
            handler.send_error(said[-1], "no")
        elif "format=json" in handler.path:
            reply(handler, status)
        else:
            reply(handler, page("", "abc-1-1", False), "application/x-ndjson")

    with Server(answer) as server, recording(archive, targets=[server.url]) as started:
        wait_until(lambda: len(said) > 24, 60, "answers of other kinds")
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=120)
    noted = [text for text, in ask(archive, "SELECT text FROM notes")]
    about = [text for text in noted if any(re.search(rf"\b{code}\b", text) for code in said)]
    assert len(about) == len(set(about)) == 16, noted
    assert sum("are not noted" in text for text in noted) == 1


def test_a_full_page_of_each_kind_is_taken(tmp_path):
    archive = tmp_path / "a.sqlite"

    def page_of(number):
        if number > 0:
            return page("", "abc-20000-20000", False)
        return page(lines(EVENT, 1, PAGE) + lines(REQUEST, 1, PAGE), "abc-20000-20000", False)

    with journal(page_of) as server:
        done = record(server, archive, "--timeout", "2")
    assert done.returncode == 0 and "expected at most" not in done.stderr, done.stderr
    assert ask(archive, "SELECT count(*) FROM server_requests") == [(PAGE,)]
    assert ask(archive, "SELECT count(*) FROM lifecycle WHERE event <> 'stopped'") == [(PAGE,)]
    assert ask(archive, "SELECT lost FROM servers") == [(0,)]


def endless(number):
    """Each page is well, and says that there are more."""
    return page(lines(REQUEST, 1 + 10 * number, 10), f"abc-{11 + 10 * number}-1", True)


def test_an_endless_journal_ends_at_the_timeout(tmp_path):
    """Its pages are counted: as many as there is time for, and no more."""
    archive = tmp_path / "a.sqlite"
    with journal(endless, SLOW) as server:
        done = record(server, archive, "--timeout", "2")
    assert done.returncode == 0, done.stderr
    # 2 s of recording and 15 s for the end.
    assert 2 <= server.pages <= 17 / SLOW + 8, server.pages
    assert ask(archive, "SELECT complete, outcome FROM runs") == [(1, "complete")]
    assert ask(archive, "SELECT lost FROM servers") == [(None,)], "not all was read"
    assert ask(archive, "SELECT count(*) FROM server_requests")[0][0] >= 10 * 2


def test_an_endless_journal_ends_at_an_interrupt(tmp_path):
    archive = tmp_path / "a.sqlite"
    with journal(endless, SLOW) as server, \
            recording(archive, targets=[server.url]) as started:
        wait_until(lambda: server.pages > 3, 30, "pages")
        started.send_signal(signal.SIGINT)
        before = server.pages
        out, err = started.communicate(timeout=120)
        pages = server.pages
    assert started.returncode == 0, err
    assert pages - before < 15 / SLOW + 8, (before, pages)
    assert ask(archive, "SELECT complete, outcome FROM runs") == [(1, "complete")]


def test_an_interrupt_between_two_pages_is_seen(tmp_path):
    """The poll that is under way ends with its page, and the end begins: a sample."""
    archive = tmp_path / "a.sqlite"
    with journal(endless, SLOW) as server, \
            recording(archive, targets=[server.url]) as started:
        wait_until(lambda: server.pages > 3, 30, "pages")
        begun = len(server.asked)
        started.send_signal(signal.SIGINT)
        wait_until(lambda: any("format=json" in path for path, _ in server.asked[begun:]), 60,
                   "the sample at the end")
        until = next(i for i, (path, _) in enumerate(server.asked[begun:])
                     if "format=json" in path)
        assert until <= 2, [path for path, _ in server.asked[begun:]]
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=120)
    assert started.returncode == 0


@pytest.mark.parametrize("when", ["timeout", "interrupt"])
def test_a_status_that_never_comes_does_not_hold_up_the_end(when, tmp_path):
    """From some time on the server answers nothing: the load ends, and the run with it."""
    archive = tmp_path / "a.sqlite"
    closing, asked = threading.Event(), []
    with boards.board(1) as board:
        board.stop()
        status = rendered(board, "json")

    def answer(handler):
        asked.append(handler.path)
        if len(asked) > 6:
            closing.wait(200)
        elif "format=json" in handler.path:
            reply(handler, status)
        else:
            reply(handler, page("", "abc-1-1", False), "application/x-ndjson")

    options = ["--timeout", "2"] if when == "timeout" else []
    with Server(answer) as server:
        try:
            with recording(archive, targets=[server.url], options=options) as started:
                wait_until(lambda: len(asked) > 6, 30, "the question that is not answered")
                if when == "interrupt":
                    started.send_signal(signal.SIGINT)
                _, err = started.communicate(timeout=120)
        finally:
            closing.set()
    assert started.returncode == 0, err
    assert "no complete answer before the recording's end" in err, err
    # The one that was waited for, and those of the end: the tool does not wait again for each.
    assert len(asked) - 6 <= 3, asked[6:]
