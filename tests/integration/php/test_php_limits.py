"""What mpmstat knows of FPM's limits without being told: FPM itself is the witness, by what
`php-fpm -tt` prints, by its status and by its log."""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import build
import php
import tool
from apache import hold_port
from fpm import FPM
from processes import wait_until

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
USER = "user = www-data\ngroup = www-data\n" if os.geteuid() == 0 else ""
NAP = "<?php usleep((int)$_SERVER['QUERY_STRING']); echo 'hello';"
STOCK = [path for path in Path("/etc/php").glob("*/fpm") if (path / "pool.d/www.conf").exists()]


def head(root):
    return f"[global]\npid = {root}/fpm.pid\nerror_log = {root}/fpm.log\ndaemonize = no\n"


def pool(root, name, children, lines="pm = static\n", section=None):
    return (f"[{section or name}]\n{USER}listen = {root}/{name}.sock\nlisten.mode = 0666\n"
            f"pm.max_children = {children}\n{lines}\n")


class Limited(FPM):
    """An FPM with these files: name -> text, @ROOT@ is its directory."""

    def __init__(self, files, *, arguments=(), environment=(), **more):
        super().__init__(settings=php.settings("@ROOT@/run", **more))
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("@ROOT@", str(self.root)))
        self.arguments += [a.replace("@ROOT@", str(self.root)) for a in arguments]
        self.environment.update(environment)

    def told(self):
        """pm.max_children by pool, and process.max, as FPM understands its files."""
        said = subprocess.run([build.FPM, "-tt", *self.arguments], env=self.environment,
                              text=True, capture_output=True, check=True).stderr
        pools = re.findall(r"NOTICE: \[(.+)\]$|NOTICE: \tpm.max_children = (\d+)$", said, re.M)
        names, numbers = [p for p, _ in pools if p and p != "global"], [n for _, n in pools if n]
        return dict(zip(names, map(int, numbers), strict=True))


def limits(board):
    return {entry["label"]: entry["workers"]["limit"] for entry in board["labels"]
            if entry["workers"]["limit"] is not None}


@contextmanager
def load(fpm, clients, microseconds=200_000, socket="fpm"):
    """So many clients, each with one request after the other, which keep a worker for so long."""
    script = fpm.script("nap.php", NAP)
    stop = threading.Event()

    def client():
        while not stop.is_set():
            php.fastcgi(fpm.root / f"{socket}.sock", script, QUERY_STRING=str(microseconds))
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)


# ---- pm.max_children -------------------------------------------------------------------------

def stock_files(**pools):
    """A copy of Debian's, in which only the paths are other ones; pools: name -> the lines of its
    own pool that are other ones in a second, a third ..."""
    stock = STOCK[-1]
    main = re.sub(r"^pid = .*", "pid = @ROOT@/fpm.pid", (stock / "php-fpm.conf").read_text(),
                  flags=re.M)
    main = re.sub(r"^error_log = .*", "error_log = @ROOT@/fpm.log", main, flags=re.M)
    www = re.sub(r"^listen = .*", "listen = @ROOT@/fpm.sock",
                 (stock / "pool.d/www.conf").read_text(), flags=re.M)
    files = {"fpm.conf": main.replace(str(stock), "@ROOT@"), "pool.d/www.conf": www}
    for name, lines in pools.items():
        text = www.replace("[www]", f"[{name}]").replace("@ROOT@/fpm.sock", f"@ROOT@/{name}.sock")
        for key, value in lines.items():
            text = re.sub(rf"^{re.escape(key)} = .*", f"{key} = {value}", text, flags=re.M)
        files[f"pool.d/{name}.conf"] = text
    return files


@pytest.mark.skipif(not STOCK, reason="needs Debian's configuration of FPM")
def test_debians_own_configuration(as_root):
    """Nobody has set a limit for mpmstat."""
    with Limited(stock_files()) as fpm:
        told = fpm.told()
        board = tool.status(fpm.board)
        assert board["workers"]["limit"] == sum(told.values()) > 0
        assert limits(board) == told and list(told) == ["www"]
        with php.recorded(fpm.board) as archive, load(fpm, told["www"] + 3):
            wait_until(lambda: tool.status(fpm.board)["lifecycle"]["no_idle_worker_seconds"] > 0.5,
                       60, lambda: fpm.log_text() + str(tool.status(fpm.board)))
        board = tool.status(fpm.board)
        assert board["workers"]["busy_max"] == told["www"]
    rows = archive.ask("SELECT max(workers_limit) AS most, max(workers_busy) AS busy FROM samples")
    assert [tuple(row) for row in rows] == [(told["www"], told["www"])]


@pytest.mark.skipif(not STOCK, reason="needs Debian's configuration of FPM")
def test_two_pools_in_debians_layout(as_root):
    """One more file in pool.d: a pool of another size that starts workers on demand. It is at its
    limit, as FPM's log says, while the other one is idle."""
    with Limited(stock_files(shop={"pm": "ondemand", "pm.max_children": 3})) as fpm:
        told = fpm.told()
        assert told == {"www": told["www"], "shop": 3} and told["www"] != 3
        php.fastcgi(fpm.socket, fpm.script("nap.php", NAP))
        board = tool.status(fpm.board)
        assert limits(board) == told and board["workers"]["limit"] == sum(told.values())
        with php.recorded(fpm.board) as archive, load(fpm, 3 + 3, socket="shop"):
            wait_until(lambda: {e["label"]: e["in_flight"] for e in
                                tool.status(fpm.board)["labels"]}.get("shop") == 3, 60,
                       lambda: fpm.log_text() + str(tool.status(fpm.board)))
            wait_until(lambda: re.search(r"\[pool shop\].*reached.*max_children", fpm.log_text()),
                       60, fpm.log_text)
            done = tool.requests(tool.status(fpm.board))
            wait_until(lambda: tool.requests(tool.status(fpm.board)) > done + 10, 60, "requests")
        assert not re.search(r"\[pool www\].*reached", fpm.log_text())
    found = archive.ask("SELECT label, min(workers_limit), max(workers_limit), max(workers_busy), "
                        "max(limit_reached) > 0 FROM pool_samples GROUP BY label ORDER BY label")
    assert [tuple(row) for row in found] == [("shop", 3, 3, 3, 1),
                                             ("www", told["www"], told["www"], 0, 0)]


RULES = {
    "fpm.conf": head("@ROOT@") + """; a comment
include = "@ROOT@/pools/*.conf"   ; and what is behind
include=relative.d/*.conf
include = @ROOT@/pools/*.none
""" + pool("@ROOT@", "last", "07"),
    "pools/a.conf": pool("@ROOT@", "one", '"3" ; three') + "\n;pm.max_children = 9\n",
    "pools/b.conf": pool("@ROOT@", "two", "${CHILDREN}")
    + "pm.max_children = 4\npm.max_children = ${CHILDREN}\n",
    "pools/c.conf": "[ONE]\nPM.Max_Children = 2\n" + pool(
        "@ROOT@", "three", "1|4", "pm = ondemand\nphp_admin_value[mpmstat.label] = a-$pool\n"
        "php_value[mpmstat.label] = other\nphp_admin_value[mpmstat.label] = later\n"),
    "pools/d.conf/not-read": "x",
    "pools/ignored.txt": "[one]\npm.max_children = 50\n",
    "relative.d/e.conf": pool("@ROOT@", "four", "6") + "include = @ROOT@/nested/*",
    "nested/f": "pm.max_children = 8",
}


def test_fpms_own_rules():
    """Includes in place, nested, relative, without a match; sections whatever their case, again;
    the last of two; quotes, comments, variables, expressions."""
    with Limited(RULES, arguments=["-p", "@ROOT@"], environment={"CHILDREN": "5"}) as fpm:
        told = fpm.told()
        assert told == {"one": 2, "two": 5, "three": 5, "four": 8, "last": 7}, told
        board = tool.status(fpm.board)
        assert limits(board) == {("a-three" if name == "three" else name): limit
                                 for name, limit in told.items()}
        assert board["workers"]["limit"] == sum(told.values())
        php.fastcgi(fpm.root / "three.sock", fpm.script("nap.php", NAP))
        assert {entry["label"] for entry in tool.labels(tool.status(fpm.board))
                if entry["requests"]} == {"a-three"}, "FPM reads the labels in the same way"


def test_a_reload_with_other_limits_is_followed():
    files = {"fpm.conf": head("@ROOT@") + "include = @ROOT@/*.pool\n",
             "a.pool": pool("@ROOT@", "fpm", 2), "b.pool": pool("@ROOT@", "shop", 1)}
    with Limited(files) as fpm:
        assert limits(tool.status(fpm.board)) == fpm.told() == {"fpm": 2, "shop": 1}
        (fpm.root / "a.pool").write_text(pool(fpm.root, "fpm", 3))
        (fpm.root / "b.pool").write_text(pool(fpm.root, "blog", 4))
        assert limits(tool.status(fpm.board)) == {"fpm": 2, "shop": 1}, "the file is not the server"
        fpm.reload()
        board = tool.status(fpm.board)
        assert limits(board) == fpm.told() == {"fpm": 3, "blog": 4}
        assert board["workers"]["limit"] == 7 and board["generation"] == 1


def test_settings_that_change_the_limit():
    """mpmstat.workers_limit is heeded first; process.max is for all pools together; a pool that
    is not recorded is not busy either."""
    files = {"fpm.conf": head("@ROOT@") + "process.max = 6\n" + pool("@ROOT@", "fpm", 9)
             + pool("@ROOT@", "shop", 4)
             + pool("@ROOT@", "off", 2, "pm = static\nphp_admin_flag[mpmstat.enable] = off\n")}
    with Limited(files) as fpm:
        board = tool.status(fpm.board)
        assert board["workers"]["limit"] == 6 and limits(board) == {"fpm": 6, "shop": 4}
    with Limited(files, workers_limit=3) as fpm:
        board = tool.status(fpm.board)
        assert board["workers"]["limit"] == 3 and limits(board) == {"fpm": 6, "shop": 4}


def test_a_label_of_several_pools_has_their_limits_together():
    files = {"fpm.conf": head("@ROOT@") + pool("@ROOT@", "fpm", 2) + pool("@ROOT@", "shop", 3)}
    with Limited(files, label="all") as fpm:
        assert limits(tool.status(fpm.board)) == {"all": 5}


# ---- all workers busy ---------------------------------------------------------------------------

@pytest.mark.parametrize("manager", [
    "pm = dynamic\npm.start_servers = 1\npm.min_spare_servers = 1\npm.max_spare_servers = 2\n",
    "pm = ondemand\n"])
def test_how_often_a_pool_was_at_its_limit(manager):
    """Where FPM's own log says that a pool reached its limit; also after a reload."""
    files = {"fpm.conf": head("@ROOT@") + pool("@ROOT@", "fpm", 2, manager)
             + pool("@ROOT@", "idle", 1, manager.replace("spare_servers = 2", "spare_servers = 1"))
             + pool("@ROOT@", "wide", 8)}

    def reached(label="fpm"):
        return next(entry["workers"]["limit_reached"] for entry in tool.status(fpm.board)["labels"]
                    if entry["label"] == label)

    def said():
        return len(re.findall(r"\[pool fpm\].*reached.*max_children", fpm.log_text()))

    def provoke(before, counted):
        with load(fpm, 4):
            wait_until(lambda: said() > before and reached() > counted, 30,
                       lambda: f"{reached()} and FPM to say it:\n" + fpm.log_text())
        return said(), reached()

    with Limited(files) as fpm:
        php.fastcgi(fpm.root / "fpm.sock", fpm.script("nap.php", NAP))   # ondemand: the board
        php.fastcgi(fpm.root / "wide.sock", fpm.script("nap.php", NAP))
        assert reached() == 0 == reached("idle") == reached("wide")
        told = provoke(0, 0)
        fpm_workers = set(fpm.workers())
        os.kill(fpm.pid, signal.SIGUSR2)
        wait_until(lambda: fpm.log_text().count("ready to handle") == 2, 30, fpm.log_text)
        php.fastcgi(fpm.root / "fpm.sock", fpm.script("nap.php", NAP))
        assert not fpm_workers & set(fpm.workers()) and reached() >= told[1]
        provoke(*told)
        assert reached("idle") == 0 == reached("wide")


# ---- accept queues -------------------------------------------------------------------------------

def ss(option, address):
    """(connections waiting, limit) of the socket that listens there."""
    column = 4 if "x" in option else 3
    said = subprocess.check_output(["ss", option], text=True)
    rows = [line.split() for line in said.splitlines()]
    return next((int(row[column - 2]), int(row[column - 1])) for row in rows
                if row[column] == address)


@pytest.mark.skipif(not shutil.which("ss"), reason="needs ss (iproute2)")
def test_accept_queues_of_pools(as_root):
    """Of a Unix and a TCP socket, while their only worker is busy and others wait: as ss(8)
    says. The recording has the fullest."""
    with hold_port() as holder:
        port = holder.getsockname()[1]
        files = {"fpm.conf": head("@ROOT@") + pool("@ROOT@", "fpm", 1, "listen.backlog = 40\n"
                                                   "pm = static\n")
                 + pool("@ROOT@", "tcp", 1, "pm = static\nphp_admin_value[mpmstat.label] = shop\n")
                 .replace("@ROOT@/tcp.sock", f"127.0.0.1:{port}")
                 + pool("@ROOT@", "hidden", 1, "listen.backlog = 9\npm = static\n")
                 .replace("hidden.sock", "$pool.sock")}
        with ExitStack() as stack:
            fpm = stack.enter_context(Limited(files))
            unix, tcp = str(fpm.socket), f"127.0.0.1:{port}"

            def queue(address):
                found = {entry["address"]: entry for entry in tool.status(fpm.board)["listeners"]}
                assert set(found) == {unix, tcp, f"{fpm.root}/hidden.sock"}
                assert found[address]["sockets"] == 1
                assert {entry["pool"] for entry in found.values()} == {"fpm", "shop", "hidden"}
                assert (found[unix]["pool"], found[tcp]["pool"]) == ("fpm", "shop")
                return found[address]["queue"], found[address]["queue_limit"]
            archive = stack.enter_context(php.recorded(fpm.board))
            with load(fpm, 4, 500_000), ExitStack() as waiting:
                wait_until(lambda: queue(unix)[0] == 3, 30, lambda: str(queue(unix)))
                wait_until(lambda: queue(unix) == ss("-Hlx", unix), 30, "ss to say the same")
                assert queue(unix)[1] == 40
                for _ in range(3):
                    waiting.enter_context(socket.create_connection(("127.0.0.1", port)))
                wait_until(lambda: queue(tcp)[0] == 2, 30, lambda: str(queue(tcp)))
                assert queue(tcp) == ss("-Hltn", tcp)
        found = archive.ask("SELECT max(listen_queue) AS queue, listen_queue_limit AS most, "
                            "listen_address AS address, listen_pool AS pool FROM samples")
        # All four wait in it, until the worker takes the first.
        assert [tuple(row) for row in found] in ([(3, 40, unix, "fpm")], [(4, 40, unix, "fpm")])


# ---- pools, in a recording -----------------------------------------------------------------------

def test_the_limit_of_one_pool_of_two():
    """One is full, while all workers together are not: the recording has each with its limit."""
    files = {"fpm.conf": head("@ROOT@") + pool("@ROOT@", "fpm", 2) + pool("@ROOT@", "large", 8)}
    with Limited(files) as fpm:
        with php.recorded(fpm.board) as archive, load(fpm, 4):
            wait_until(lambda: {e["label"]: e["in_flight"] for e in
                                tool.status(fpm.board)["labels"]}["fpm"] == 2, 30, "a full pool")
            done = tool.requests(tool.status(fpm.board))
            wait_until(lambda: tool.requests(tool.status(fpm.board)) > done + 10, 60, "requests")
    found = archive.ask("SELECT label, max(workers_limit) AS most, max(workers_busy) AS busy, "
                        "count(*) AS rows FROM pool_samples GROUP BY label ORDER BY label")
    samples = archive.ask("SELECT count(*), max(workers_busy), max(workers_limit) FROM samples")[0]
    assert [tuple(row)[:3] for row in found] == [("fpm", 2, 2), ("large", 8, 0)]
    assert {row["rows"] for row in found} == {samples[0]} and tuple(samples)[1:] == (2, 10)
