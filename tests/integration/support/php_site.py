"""An FPM with the extension, its scripts and their records; what records must say of a wait.

A wait is without the CPU time and the run delay in it. So what passed on a witness's clock is at
least the wait, and at most the wait, the CPU time and `cpu_wait` of the request together."""
import subprocess
from decimal import Decimal

import pytest

import build
import data_servers
import php
import php_records
import tool
from fpm import FPM
from processes import wait_until

MS = 1_000_000


class Site:
    """An FPM with the extension: asks for scripts, knows their records."""

    def __init__(self, children=1, **options):
        settings = {"display_errors": 1, "html_errors": 0, **options.pop("settings", {}),
                    **php.settings("@ROOT@/run", journal=4096, **options.pop("mpmstat", {}))}
        self.fpm = FPM(children, settings=settings, **options)

    def __enter__(self):
        self.fpm.__enter__()
        return self

    def __exit__(self, *error):
        self.fpm.__exit__(*error)

    def script(self, text, name="script.php"):
        return self.fpm.script(name, "<?php " + text)

    def ask(self, text, name="script.php"):
        status, body = php.fastcgi(self.fpm.socket, self.script(text, name))
        assert status == 200, body
        return body

    def records(self, count):
        """All records, of which there must be that many: a record is written after its answer."""
        wait_until(lambda: len(php_records.records(self.fpm.board)) >= count, 30, "the records")
        found = php_records.records(self.fpm.board)
        assert len(found) == count
        return found

    def ends(self):
        [board] = [tool.status(self.fpm.board)]
        return {end["name"]: end for end in board["ends"]}

    def label(self):
        return next(e for e in tool.status(self.fpm.board)["labels"] if e["label"] == "www")["php"]


def check_sum(record):
    """run = user + system + cpu_wait + waits + rest, and the rest is not negative."""
    parts = [record["user_ns"], record["system_ns"], record["cpu_wait_ns"] or 0,
             *(record["waits"] or {}).values()]
    assert all(part >= 0 for part in parts)
    assert sum(parts) <= record["run_ns"], record


def seconds(ns):
    """As the tool's JSON has them, which are exact."""
    return Decimal(ns).scaleb(-9)


def slack(record):
    """What a witness's clock can have passed in a wait, that does not count as wait."""
    return record["user_ns"] + record["system_ns"] + (record["cpu_wait_ns"] or 0)


def check_wait(record, kind, at_least, at_most):
    """The wait of that kind is what the witness says; of the others there is no mention."""
    check_sum(record)
    assert record["waits"][kind] <= at_most
    assert record["waits"][kind] + slack(record) >= at_least, record


def needs_extension(*names):
    have = subprocess.run([build.FPM, "-m"], text=True, capture_output=True, check=True).stdout
    for name in names:
        if name not in have.split():
            pytest.skip(f"PHP has no {name}")


def needs_version(major, minor, what):
    if php.version() < (major, minor):
        pytest.skip(f"PHP has {what} since {major}.{minor}")


def needs(server, *extensions):
    """A started server; skips the test where it, or an extension of PHP, is not here."""
    if data_servers.lacks(server):
        pytest.skip(f"needs {data_servers.lacks(server)}")
    needs_extension(*extensions)
    return server()


def timed(text, before=""):
    """A script that does `before`, then `text`, and prints how long that took in nanoseconds."""
    return f"{before}; $began = hrtime(true); {text}; echo hrtime(true) - $began;"


def connect(server):
    return {
        "mysqli": f'$db = new mysqli("127.0.0.1", "root", "", "mysql", {server.port})',
        "mysqli, procedural": f'$db = mysqli_connect("127.0.0.1", "root", "", "", {server.port})',
        "mysqli, real_connect": '$db = mysqli_init(); '
                                f'$db->real_connect("127.0.0.1", "root", "", "", {server.port})',
        "mysqli, a subclass": 'class DB extends mysqli {} '
                              f'$db = new DB("127.0.0.1", "root", "", "", {server.port})',
        "mysqli, socket": f'$db = new mysqli("localhost", "root", "", "", 0, "{server.socket}")',
        "PDO": f'$db = new PDO("mysql:host=127.0.0.1;port={server.port};dbname=mysql", "root")',
        "PDO, socket": f'$db = new PDO("mysql:unix_socket={server.socket}", "root")',
    }


def waiting_for_rows(server):
    return subprocess.run(
        [php.CLI, "-r", f'{connect(server)["PDO"]}; echo json_encode($db->query("SELECT '
         '\'mysql\' FROM information_schema.global_status WHERE variable_value > 0 '
         'AND variable_name = \'INNODB_ROW_LOCK_CURRENT_WAITS\'")->fetchAll());'],
        text=True, capture_output=True, check=True).stdout
