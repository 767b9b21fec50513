"""From where in PHP's code a request waited (mpmstat.places, as shipped), against what its script
counted; also while the call is under way."""
import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest

import build
import php
import tool
from fpm import FPM
from processes import wait_until

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))

# Two functions wait for the same thing: one forty times, the other four times, for half the time.
PAGE = """<?php
class Repository {
    function find() { usleep(1000); }
    function findAll($count) { for ($i = 0; $i < $count; $i++)
        $this->find(); }
}
function prices() { usleep(5000); }
(new Repository)->findAll(40);
for ($i = 0; $i < 4; $i++) prices();
"""

LOOP = """<?php
set_time_limit(5);
function spin() {
    for ($i = 0; ; $i++)
        $x = $i * 2;
}
spin();
"""

PLUGIN = """<?php
function slow_plugin_report() {
    wp_remote_sleep(6);
}
"""

CORE = """<?php
function wp_remote_sleep($seconds) {
    sleep($seconds);
}
"""

MAIN = """<?php
require __DIR__ . '/wp-includes/http.php';
require __DIR__ . '/wp-content/plugins/slow/slow.php';
slow_plugin_report();
"""

STACK = """WITH RECURSIVE way(stack, depth, function, file, line, caller) AS (
    SELECT s.stack, 0, f.function, f.file, f.line, s.caller FROM stacks s JOIN frames f
        ON f.frame = s.frame WHERE s.stack = %d
    UNION ALL SELECT s.stack, depth + 1, f.function, f.file, f.line, s.caller FROM way
        JOIN stacks s ON s.stack = way.caller JOIN frames f ON f.frame = s.frame)
SELECT function, line FROM way ORDER BY depth"""


def record(count, **settings):
    with FPM(1, settings=php.settings("@ROOT@/run", **settings)) as fpm:
        script = fpm.script("shop.php", PAGE)
        with php.recorded(fpm.board) as archive:
            for _ in range(count):
                php.fastcgi(fpm.socket, script)
    return archive


@pytest.fixture(scope="module", name="archive")
def fixture_archive():
    return record(5)


def test_the_place_of_most_of_the_time(archive):
    rows = archive.ask("SELECT * FROM php_waits WHERE end IS NOT NULL")
    assert len(rows) == 5
    for row in rows:
        assert (row["kind"], row["calls"], row["stack_calls"]) == ("sleep", 44, 40)
        assert 40e6 < row["stack_ns"] < row["wait_ns"] - 20e6
        [frame] = archive.ask(f"SELECT * FROM frames WHERE frame = {row['frame']}")
        assert (frame["function"], frame["line"]) == ("Repository->find", 3)
        assert Path(frame["file"]).name == "shop.php"
        way = [tuple(frame) for frame in archive.ask(STACK % row["stack"])]
        assert way == [("usleep", None), ("Repository->find", 3), ("Repository->findAll", 5),
                       ("{main}", 8)]


def test_samples_of_all_of_it(archive):
    """Together they stand for all waits but what is left at the end."""
    waited = archive.ask("SELECT sum(wait_ns) AS ns FROM php_waits")[0]["ns"]
    rows = archive.ask("SELECT kind, weight_ns, f.function FROM php_samples p JOIN stacks s ON "
                       "s.stack = p.stack JOIN stacks c ON c.stack = s.caller "
                       "JOIN frames f ON f.frame = c.frame")
    rows = [row for row in rows if row["kind"] != "cpu"]
    assert {row["kind"] for row in rows} == {"sleep"}
    assert waited - 10e6 <= sum(row["weight_ns"] for row in rows) <= waited
    found = {name: sum(row["weight_ns"] for row in rows if row["function"] == name)
             for name in ("Repository->find", "prices")}
    assert 0.5 < found["Repository->find"] / found["prices"] / 2 < 2, found


@pytest.mark.parametrize("setting", ["places", "waits"])
def test_switched_off(setting):
    archive = record(1, **{setting: 0})
    assert archive.ask("SELECT count(*) FROM php_waits WHERE stack IS NOT NULL")[0][0] == 0
    assert archive.ask("SELECT count(*) FROM php_samples")[0][0] == 0


def slot_of(fpm):
    [slot] = [slot for slot in tool.status(fpm.board)["slots"] if slot["state"] == "handling"]
    return slot


def test_while_the_call_is_under_way():
    """The function of the plugin, not that of the library which waits."""
    with FPM(1, settings=php.settings("@ROOT@/run")) as fpm:
        root = Path(fpm.script("index.php", MAIN)).parent
        for name, text in (("wp-includes/http.php", CORE),
                           ("wp-content/plugins/slow/slow.php", PLUGIN)):
            (root / name).parent.mkdir(parents=True)
            (root / name).write_text(text, encoding="ascii")
        asking = threading.Thread(target=php.fastcgi, args=(fpm.socket, str(root / "index.php")))
        asking.start()
        wait_until(lambda: any(slot["wait"] for slot in tool.status(fpm.board)["slots"]), 30,
                   "the call")
        slot = slot_of(fpm)
        assert (slot["wait"], slot["code"]["function"]) == ("sleep", "slow_plugin_report")
        assert slot["code"]["file"].endswith("/wp-content/plugins/slow/slow.php")
        assert (slot["code"]["line"], slot["code"]["component"]) == (3, "plugins/slow")
        asking.join()
        [slot] = tool.status(fpm.board)["slots"]
        assert slot["code"] == {"function": None, "file": None, "line": None, "component": None}


def test_a_pool_that_is_stuck_in_a_loop():
    """explain names the function; the line is one of the loop's."""
    with FPM(2, settings=php.settings("@ROOT@/run", max_execution_time=0)) as fpm:
        script = fpm.script("loop.php", LOOP)
        asking = [threading.Thread(target=php.fastcgi, args=(fpm.socket, script))
                  for _ in range(2)]
        for thread in asking:
            thread.start()
        wait_until(lambda: "PHP is stuck" in tool.run("explain", fpm.board).stdout, 30,
                   "the pool to be stuck")
        said = " ".join(tool.run("explain", fpm.board).stdout.split())
        [*_, finding] = json.loads(tool.run("explain", "--format", "json", fpm.board).stdout)["now"]
        for thread in asking:
            thread.join()
    assert re.search(r"All of these are in spin, \S+/loop\.php:[45]\.", said), said
    assert "Look there for a loop" in said
    assert {worker["code"]["function"] for worker in finding["workers"]} == {"spin"}


NAP = "<?php function nap() { sleep(60); }\nnap();"


def ask_in_vain(fpm, script):
    with contextlib.suppress(OSError):
        php.fastcgi(fpm.socket, script)


def test_where_workers_were_as_their_server_was_killed():
    """A kill leaves the board as it was: which requests there were, since when, and where."""
    with FPM(3, settings=php.settings("@ROOT@/run", max_execution_time=0)) as fpm:
        php.fastcgi(fpm.socket, fpm.script("done.php", "<?php usleep(1);"))
        began = time.time()
        scripts = (fpm.script("nap.php", NAP),    # both outlast what a busy machine takes
                   fpm.script("loop.php", LOOP.replace("set_time_limit(5)", "set_time_limit(120)")))
        asking = [threading.Thread(target=ask_in_vain, args=(fpm, script)) for script in scripts]
        for thread in asking:
            thread.start()
        wait_until(lambda: sum(slot["code"]["function"] in ("nap", "spin")
                               for slot in tool.status(fpm.board)["slots"]) == 2, 30, "both")
        for pid in (fpm.pid, *fpm.workers()):
            os.kill(pid, signal.SIGKILL)
        for thread in asking:
            thread.join()
        board = wait_until(lambda: tool.status(fpm.board)["running"] == "no"
                           and tool.status(fpm.board), 30, "the end of the server")
        text = tool.run("explain", fpm.board).stdout
        explained = json.loads(tool.run("explain", "--format", "json", fpm.board).stdout)
    assert board["workers"]["busy"] == 0
    assert {(slot["code"]["function"], slot["wait"]) for slot in board["slots"]} == {
        ("nap", "sleep"), ("spin", None)}
    for slot in board["slots"]:
        since = datetime.fromisoformat(slot["request_since"][:19] + "+00:00").timestamp()
        assert began - 1 <= since <= began + 30
        assert slot["request_for_seconds"] is None and slot["wait_for_seconds"] is None
    # Another PHP-FPM, without the extension, can run on the machine: explain says that, too.
    assert "it ended without being stopped (killed, or crashed)" in " ".join(text.split())
    left = text.split("Requests that died with ")[1]
    assert re.search(r"waits for sleep\n +in nap, \S+/nap\.php:1\n", left)
    assert re.search(r"last seen in spin, \S+/loop\.php:[45]\n", left)
    [server] = explained["now"]
    assert server["workers"] == []
    assert {worker["code"]["function"] for worker in server["died_with_it"]} == {"nap", "spin"}


GDB = build.find("gdb")


@pytest.mark.skipif(not GDB or build.SANITIZE, reason="needs gdb, and no sanitizer")
def test_the_place_that_gdb_sees():
    """gdb has the worker call the engine's own functions that say where it is."""
    asked = ("(char *)get_active_function_name()", "(char *)zend_get_executed_filename()",
             "(unsigned)zend_get_executed_lineno()")
    with FPM(1, settings=php.settings("@ROOT@/run", max_execution_time=0)) as fpm:
        script = fpm.script("loop.php", LOOP)
        asking = threading.Thread(target=php.fastcgi, args=(fpm.socket, script))
        asking.start()
        code = wait_until(lambda: next((slot["code"] for slot in tool.status(fpm.board)["slots"]
                                        if slot["code"]["function"]), None), 30, "a sample")
        words = [word for print_it in asked for word in ("-ex", f"print {print_it}")]
        said = subprocess.run([GDB, "-nx", "-batch", "-p", str(fpm.workers()[0]), *words],
                              text=True, capture_output=True, timeout=60, check=True).stdout
        asking.join()
    [function] = re.findall(r'^\$1 = .*"(.*)"$', said, re.M)
    [file] = re.findall(r'^\$2 = .*"(.*)"$', said, re.M)
    [line] = re.findall(r"^\$3 = (\d+)$", said, re.M)
    assert (code["function"], code["file"]) == (function, file), said
    assert {code["line"], int(line)} <= {4, 5}, said
