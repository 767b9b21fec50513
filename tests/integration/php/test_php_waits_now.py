"""What the board says that a PHP worker waits for now. The test itself holds what it waits for: a
lock, a socket, a row of the database's locks."""
import concurrent.futures
import contextlib
import fcntl
import signal
import socket
import subprocess
import time

import pytest

import data_servers
import php
import processes
import tool
from php_site import Site, connect, needs, needs_extension, needs_version
from processes import wait_until

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))


@pytest.fixture
def site():
    with Site() as started:
        yield started


@contextlib.contextmanager
def held_file(site, name="lock"):
    """What locks the file that this process has locked."""
    path = site.fpm.root / "run" / name
    path.touch()
    path.chmod(0o666)
    with open(path) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield f'flock($f = fopen("{path}", "r"), LOCK_EX);'


@contextlib.contextmanager
def silent_server():
    """A server that says nothing: its port. The connections are reset at the end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextlib.contextmanager
def held_in_database(server):
    """What asks for a lock that another client of the database has."""
    db = connect(server)["mysqli"]
    holder = subprocess.Popen(
        [php.CLI, "-r", f'{db}; $db->query("SELECT GET_LOCK(\'held\', 60)"); echo "held\n"; '
         'fgets(STDIN);'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        yield f'{db}; $db->query("SELECT GET_LOCK(\'held\', 600)");'
        holder.communicate("\n", timeout=30)
    finally:
        processes.end(holder)


def slot_of(site):
    """The one worker's."""
    [slot] = wait_until(lambda: tool.status(site.fpm.board)["slots"], 30, "a worker")
    return slot


def shown(site, wait, end):
    """The same, when it is there and shows that wait."""
    def look():
        return next((slot for slot in tool.status(site.fpm.board)["slots"]
                     if (slot["wait"], slot["wait_end"]) == (wait, end)), None)
    return wait_until(look, 30, lambda: f"{wait} {end}: {tool.status(site.fpm.board)['slots']}")


@contextlib.contextmanager
def asking(site, text):
    """A client at the script, which must be answered after the block."""
    script = site.script(text)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        yield pool.submit(php.fastcgi, site.fpm.socket, script)


def check_none(slot):
    assert (slot["wait"], slot["wait_end"], slot["wait_for_seconds"]) == (None, None, None), slot


def check_shown(site, wait, end, began):
    """Between two looks the time grows by what passes, on the clock that all processes share."""
    first = shown(site, wait, end)
    between = time.monotonic()
    second = shown(site, wait, end)
    now = time.monotonic()
    assert first["state"] == second["state"] == "handling"
    grown = second["wait_for_seconds"] - first["wait_for_seconds"]
    assert 0 < grown <= now - began
    assert 0 <= first["wait_for_seconds"] <= between - began
    assert second["wait_for_seconds"] <= second["request_for_seconds"]
    text = tool.run("status", site.fpm.board).stdout
    assert f"Wait: {wait}\n" in text and "WaitForSeconds: " in text
    assert (f"WaitEnd: {end}\n" in text) == (end is not None)


def check_wait_now(site, held, wait, end):
    """`held` gives the script, and lets go of what it waits for at its end."""
    check_none(slot_of(site))
    with contextlib.ExitStack() as holding:
        text = holding.enter_context(held)
        began = time.monotonic()
        with asking(site, text) as answer:
            with holding:
                check_shown(site, wait, end, began)
            assert answer.result(60)[0] == 200
    check_none(slot_of(site))


def test_a_lock(site):
    check_wait_now(site, held_file(site), "lock", "lock flock")


@pytest.mark.parametrize("text, wait, name", [
    ('$f = stream_socket_client("tcp://127.0.0.1:{port}"); fread($f, 10);', "stream", "tcp"),
    ('$c = curl_init("http://user:secret@127.0.0.1:{port}/path"); curl_exec($c);', "http", "http"),
    ('@file_get_contents("http://127.0.0.1:{port}/path");', "http", None),
], ids=["fread", "curl", "file_get_contents"])
def test_a_server_that_says_nothing(site, text, wait, name):
    if "curl" in text:
        needs_extension("curl")
    with contextlib.ExitStack() as server:
        port = server.enter_context(silent_server())

        @contextlib.contextmanager
        def held():
            yield text.replace("{port}", str(port))
            server.close()
        check_wait_now(site, held(), wait, name and f"{name} 127.0.0.1:{port}")


@pytest.mark.parametrize("how", ["mysqli", "PDO"])
def test_a_query(site, how):
    with needs(data_servers.MariaDB, "mysqli", "pdo_mysql") as server:
        @contextlib.contextmanager
        def held():
            with held_in_database(server) as text:
                yield text.replace(connect(server)["mysqli"], connect(server)[how])
        check_wait_now(site, held(), "database", f"mysql 127.0.0.1:{server.port}")


def test_without_the_names_of_ends():
    with Site(mpmstat={"ends": 0}) as site:
        check_wait_now(site, held_file(site), "lock", None)


def test_a_call_that_begins_adds_no_name(site):
    """What its end alone can tell is open until then, and in no table."""
    with silent_server() as port:
        with asking(site, f'@file_get_contents("http://127.0.0.1:{port}/");') as answer:
            shown(site, "http", None)
            assert f"127.0.0.1:{port}".encode() not in site.fpm.board.read_bytes()
            processes.kill(slot_of(site)["pid"], signal.SIGKILL)
            with contextlib.suppress(OSError, AssertionError, ValueError):
                answer.result(60)


def test_killed_in_the_wait(site):
    """Neither the dead worker nor the one that takes its entry shows its wait."""
    with asking(site, "sleep(600);") as answer:
        victim = shown(site, "sleep", "sleep")
        processes.kill(victim["pid"], signal.SIGKILL)
        assert answer.exception(60) or answer.result(60)[0] != 200
    another = wait_until(
        lambda: [slot for slot in tool.status(site.fpm.board)["slots"]
                 if slot["pid"] != victim["pid"]], 30, "another worker")[0]
    assert another["slot"] == victim["slot"] and another["state"] == "idle"
    check_none(another)
    assert site.ask("echo 'served';") == "served"
    check_none(slot_of(site))


HANDLER = ('class H implements SessionHandlerInterface { '
           'function open($p, $n): bool { %s return true; } '
           'function close(): bool { return true; } '
           'function read($i): string { return ""; } '
           'function write($i, $d): bool { return true; } '
           'function destroy($i): bool { return true; } '
           'function gc($l): int { return 0; } } session_set_save_handler(new H, false); '
           'ini_set("session.use_cookies", 0); ini_set("session.cache_limiter", "");')


def test_a_fatal_error_ends_the_wait(site):
    """What the request waits for after it is shown."""
    with contextlib.ExitStack() as held:
        lock = held.enter_context(held_file(site))
        text = (HANDLER % 'str_repeat("x", 1 << 40);'
                + f'register_shutdown_function(function () {{ {lock} }}); session_start();')
        with asking(site, text) as answer, held:
            shown(site, "lock", "lock flock")
            held.close()
            assert "Allowed memory size" in answer.result(60)[1]
    check_none(slot_of(site))


def test_fibers(site):
    """A wait is shown while its fiber runs: session_start() leaves one, and comes back."""
    needs_version(8, 1, "fibers")
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        outside = first.enter_context(held_file(site, "outside"))
        within = second.enter_context(held_file(site, "within"))
        text = (HANDLER % f"Fiber::suspend(); {within}"
                + f'$b = new Fiber("session_start"); $b->start(); {outside} $b->resume();')
        with asking(site, text) as answer, first, second:
            shown(site, "lock", "lock flock")
            first.close()
            shown(site, "lock", "lock session")
            second.close()
            assert answer.result(60)[0] == 200
    check_none(slot_of(site))
