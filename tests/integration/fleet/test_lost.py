"""One of several servers is lost during the run: it costs its own rows, and comes back."""
import json
import signal
import threading

import tool
from apache import Apache
from processes import wait_until as wait
from recording import ask, has, has_begun, recording
from urls import Server, reply

SERVED = "SELECT count(*) FROM server_requests JOIN servers ON servers.id = server_id " \
         "WHERE name = '{}' AND label <> 'mpm-status' AND NOT ghost"


def wait_until(condition, what="the archive to have it"):
    wait(condition, 20, what)


def logged(apache):
    return sum(not row[2].startswith("/mpm-status") for row in apache.access_log())


def served(archive, name):
    return ask(archive, SERVED.format(name))[0][0]


def load(apache, count):
    for _ in range(count):
        assert apache.get("/").status == 200


def targets_of(tmp_path, **urls):
    file = tmp_path / "targets"
    file.write_text("".join(f"{name}={url}\n" for name, url in urls.items()))
    return ["--targets", str(file), "--format", "json"]


def url_of(apache):
    return f"http://127.0.0.1:{apache.port}/mpm-status"


def finish(started):
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 0, err
    return json.loads(out), err


def test_one_is_killed_and_comes_back(tmp_path):
    archive = tmp_path / "run.sqlite"
    with Apache("event") as web1, Apache("event") as web2, Apache("prefork") as web3:
        options = targets_of(tmp_path, web1=url_of(web1), web2=web2.board, web3=url_of(web3))
        with recording(archive, targets=(), options=options) as started:
            wait_until(lambda: has_begun(archive))
            for apache in (web1, web2, web3):
                load(apache, 20)
            wait_until(lambda: served(archive, "web1") == 20)
            web1.stop()
            wait_until(lambda: ask(archive, "SELECT count(*) FROM notes WHERE text LIKE "
                                   "'%refused%'") == [(1,)])
            load(web2, 30)
            load(web3, 30)
            web1.log.write_text("")     # or it seems ready already
            web1.start()
            load(web1, 15)
            wait_until(lambda: ask(archive, "SELECT count(*) FROM notes WHERE text LIKE "
                                   "'%answers again%'") == [(1,)])
            load(web1, 5)
            wait_until(lambda: served(archive, "web1") == 40)
            summary, err = finish(started)
        # The access logs of both starts are one file.
        assert (logged(web1), logged(web2), logged(web3)) == (40, 50, 50)
    assert {s["name"]: s["requests"] for s in summary["servers"]} == \
        {"web1": 40, "web2": 50, "web3": 50}
    (rows, keys), = ask(archive, "SELECT count(*), count(DISTINCT server_id || ':' || key) "
                        "FROM server_requests")
    assert rows == keys
    restarts = dict(ask(archive, "SELECT name, restarts FROM servers"))
    assert restarts == {"web1": 1, "web2": 0, "web3": 0}
    lost = dict(ask(archive, "SELECT name, lost FROM servers"))
    assert lost["web2"] == 0 and lost["web3"] == 0
    note, = ask(archive, "SELECT text FROM notes WHERE text LIKE '%was lost from%'")
    assert note[0].startswith("web1 was lost from ") and "it answers again" in note[0]
    assert note[0] in err and note[0] in tool.report(archive, "--format", "text").replace(
        "\n" + 23 * " ", " ")


def test_one_does_not_come_back(tmp_path):
    archive = tmp_path / "run.sqlite"
    with Apache("event") as web1, Apache("event") as web2:
        options = targets_of(tmp_path, web1=url_of(web1), web2=url_of(web2))
        with recording(archive, targets=(), options=options) as started:
            wait_until(lambda: has_begun(archive))
            load(web1, 10)
            wait_until(lambda: served(archive, "web1") == 10)
            web1.stop()
            wait_until(lambda: ask(archive, "SELECT count(*) FROM notes WHERE text LIKE "
                                   "'%refused%'") == [(1,)])
            load(web2, 25)
            summary, err = finish(started)
    assert [s["requests"] for s in summary["servers"]] == [10, 25]
    assert "web1 was lost from" in err and "it did not come back" in err
    assert ask(archive, "SELECT lost FROM servers WHERE name = 'web2'") == [(0,)]


def test_one_that_hangs_delays_no_other(tmp_path):
    """While one server does not answer at all, the other's rows go on coming."""
    archive, hang, release = tmp_path / "run.sqlite", threading.Event(), threading.Event()

    def pass_on(handler):
        """Answers as web2 does, until it hangs."""
        if hang.is_set():
            release.wait(60)
        answer = web1.get(handler.path)
        reply(handler, answer.body, answer.headers["content-type"], answer.status)

    with Apache("event") as web1, Apache("event") as web2, Server(pass_on) as slow:
        options = targets_of(tmp_path, web1=slow.url, web2=url_of(web2))
        with recording(archive, targets=(), options=options) as started:
            wait_until(lambda: has_begun(archive))
            hang.set()
            asked = len(slow.asked)
            wait_until(lambda: len(slow.asked) > asked)
            load(web2, 25)
            wait_until(lambda: served(archive, "web2") == 25)
            assert len(slow.asked) == asked + 1     # it still waits for that one answer
            release.set()
            load(web1, 10)
            wait_until(lambda: served(archive, "web1") == 10)
            summary, err = finish(started)
    assert [s["requests"] for s in summary["servers"]] == [10, 25]


def test_one_answers_503_for_a_while(tmp_path):
    archive, busy = tmp_path / "run.sqlite", threading.Event()

    def pass_on(handler):
        if busy.is_set():
            return reply(handler, b"busy", "text/plain", 503)
        answer = web1.get(handler.path)
        reply(handler, answer.body, answer.headers["content-type"], answer.status)

    with Apache("event") as web1, Apache("event") as web2, Server(pass_on) as server:
        options = targets_of(tmp_path, web1=server.url, web2=web2.board)
        with recording(archive, targets=(), options=options) as started:
            wait_until(lambda: has_begun(archive))
            busy.set()
            load(web1, 10)
            wait_until(lambda: has(archive, "notes", 0))
            busy.clear()
            wait_until(lambda: served(archive, "web1") == 10)
            load(web2, 10)
            summary, err = finish(started)
    assert [s["requests"] for s in summary["servers"]] == [10, 10]
    assert "answered 503" in err and "it answers again" in err
    assert ask(archive, "SELECT name, lost FROM servers") == [("web1", 0), ("web2", 0)]
