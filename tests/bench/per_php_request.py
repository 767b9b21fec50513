"""What a request to PHP-FPM costs: bare, with the extension, and with the Excimer profiler
idle in the extension's place, where that is installed; what a call of a timed function costs.
And what a look at FPM costs: its own status page, which a worker answers, against `mpmstat status`,
which no worker sees.

One worker serves a script that only says hello, which OPcache has. The request carries what
Apache hands over (MPMSTAT), which the extension reads. PHP loads OPcache and what is compared,
whatever else the system's configuration would load.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import measure
import build
import handover
import php
from fpm import FPM
from processes import wait_until

FEW, MANY = 100, 600


def extension_directory():
    done = subprocess.run([php.CLI or build.FPM, "-i"], text=True, capture_output=True, check=True)
    return Path(re.search(r"^extension_dir => (\S+)", done.stdout, re.M).group(1))


def has_extension(name):
    return (extension_directory() / f"{name}.so").exists()


def hello(fpm, text="<?php echo 'hello';"):
    """What asks for a page that only says so; returns the answer."""
    script = fpm.script("hello.php", text)
    os.utime(script, (1e9, 1e9))      # OPcache leaves files alone that were written just now
    return lambda: php.fastcgi(fpm.socket, script, timeout=60, MPMSTAT=handover.text(4294967297, 10**9))


def status_page(query):
    def ask(fpm):
        return lambda: php.fastcgi(fpm.socket, "/status", timeout=60, SCRIPT_NAME="/status",
                                   REQUEST_URI="/status", QUERY_STRING=query)
    return ask


def start(settings, wrapper, requests):
    if has_extension("opcache"):
        settings = {"zend_extension": "opcache", **settings}
    return FPM(1, settings=settings, wrapper=["env", "PHP_INI_SCAN_DIR=", *wrapper],
               pool=f"pm.status_path = /status\npm.max_requests = {requests}")


def serve(settings, wrapper, requests, result, page=hello):
    """That many requests to one worker, which then ends by itself; result(root, pid)."""
    with start(settings, wrapper, requests) as fpm:
        ask = page(fpm)
        worker = fpm.workers()[0]
        for _ in range(requests):
            status, body = ask()
            assert status == 200, (status, body)
        wait_until(lambda: worker not in fpm.workers(), 60, "the worker to end")
        return result(fpm.root, worker)


CALLGRIND = ["valgrind", "--tool=callgrind", "--vgdb=no", "--trace-children=no",
             "--callgrind-out-file=/dev/null"]


def collected(said):
    return int(re.search(r"Collected : (\d+)", said).group(1))


def instructions(settings, requests, page=hello, options=()):
    return serve(settings, [*CALLGRIND, *options, "--log-file=@ROOT@/callgrind.%p"], requests,
                 lambda root, worker: collected((root / f"callgrind.{worker}").read_text()), page)


def bookkeeping(settings, requests):
    """Within FPM's notes of each request in its scoreboard, which it always takes."""
    return instructions(settings, requests, options=["--toggle-collect=fpm_request_*"])


def system_calls(settings, requests):
    def total(root, worker):
        lines = (root / "trace").read_text().splitlines()
        return sum(line.startswith(f"{worker} ") for line in lines)

    return serve(settings, ["strace", "-f", "-qq", "-e", "signal=none", "-o", "@ROOT@/trace"],
                 requests, total)


def per_request(count, settings, **options):
    return (count(settings, MANY, **options) - count(settings, FEW, **options)) / (MANY - FEW)


def servers():
    found = [("bare", {}), ("mpmstat", php.settings("@ROOT@/run", profile=0))]
    if has_extension("excimer"):
        found.append(("excimer, idle", {"extension": "excimer"}))
    else:
        measure.progress("Excimer is left out: it is not installed (apt-get install php-excimer)")
    return found


def requests():
    rows, first = [], None
    for name, settings in servers():
        measure.progress(f"PHP-FPM, {name}")
        figures = [per_request(count, settings) for count in (instructions, system_calls)]
        first = first or figures
        rows.append([name, f"{figures[0]:,.0f}", f"{figures[0] - first[0]:+,.0f}",
                     f"{figures[1]:,.2f}", f"{figures[1] - first[1]:+,.2f}"])
    measure.progress("PHP-FPM, its scoreboard")
    noted = per_request(bookkeeping, {})
    rows.append(["FPM's own scoreboard, part of bare",
                 f"{noted:,.0f}" if noted else "not known: php-fpm has no symbols", "", "", ""])
    measure.table("A request to PHP-FPM", ["", "instructions", "added", "system calls", "added"],
                  rows)


def timed_calls():
    """What timing adds to a call of a function that waits, here for nothing."""
    calls, rows = 100, []
    without, timed = ({}, php.settings("@ROOT@/run", profile=0))
    null = "$f = fopen('/dev/null', 'w');"
    connected = ("$s = stream_socket_server('tcp://127.0.0.1:0'); $f = stream_socket_client('tcp://' "
                 ". stream_socket_get_name($s, false)); stream_set_blocking($f, false);")
    for name, before, text in (("flock", null, "flock($f, LOCK_SH)"),
                               ("fwrite, to a file", null, "fwrite($f, 'x')"),
                               ("fread, from a connection", connected, "fread($f, 1)"),
                               ("md5, which is not timed", null, "md5('x')")):
        measure.progress(f"PHP-FPM, {name}")
        script = "<?php " + before + " for ($i = 0; $i < {}; $i++) {};"
        cost = []
        for settings in (without, timed):
            none, some = (per_request(instructions, settings,
                                      page=lambda fpm, n=n: hello(fpm, script.format(n, text)))
                          for n in (0, calls))
            cost.append((some - none) / calls)
        rows.append([name, f"{cost[0]:,.0f}", f"{cost[1] - cost[0]:+,.0f}"])
    measure.table("A call in PHP", ["", "instructions", "added"], rows)


def tool_instructions():
    """Of `mpmstat status` of an FPM of one worker, from its start to its end."""
    with start(php.settings("@ROOT@/run"), [], 0) as fpm:
        assert hello(fpm)() == (200, "hello")
        done = subprocess.run([*CALLGRIND, str(build.TOOL), "status", "--format", "json",
                               str(fpm.board)], text=True, capture_output=True, check=True)
    return collected(done.stderr)


def looks():
    rows = []
    for name, query in (("FPM's status page", "json"), ("the same, full", "json&full")):
        measure.progress(f"PHP-FPM, {name}")
        rows.append([name, f"{per_request(instructions, {}, page=status_page(query)):,.0f}", "1"])
    measure.progress("PHP-FPM, mpmstat status")
    rows.append(["mpmstat status, a process of its own", f"{tool_instructions():,.0f}", "0"])
    measure.table("A look at PHP-FPM with one worker",
                  ["", "instructions", "workers taken"], rows)


def run():
    measure.need("valgrind", "strace")
    if php.why_not_fpm():
        print(f"PHP-FPM is left out: {php.why_not_fpm()}", file=sys.stderr)
        return
    requests()
    timed_calls()
    looks()
