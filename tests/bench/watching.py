"""CPU time of a page with what watches PHP, beside PHP alone: one that computes, and one of
WordPress from Debian.

Each kind has an FPM of its own with one worker; they have the same files and the same database, and
are asked in turns. The CPU time is that of the worker's threads, so also of the extension's own;
a round gives each kind's ratio to PHP alone, and the median of the rounds is the result. PHP alone
stands twice in the table: how far its second one is from 1 is the noise.
"""
import shutil
import subprocess
import tempfile
from pathlib import Path

import build
import measure
import php
from fpm import FPM

ROUNDS, PAGES = 60, 6
SET_UP = build.SRCDIR / "phpapp" / "real" / "wordpress"
EXCIMER = """<?php
$excimer = new ExcimerProfiler;
$excimer->setEventType(EXCIMER_CPU);
$excimer->setPeriod(0.01);
$excimer->start();
"""
COMPUTING = """<?php
function hashes($n) { for ($x = 'x', $i = 0; $i < $n; $i++) $x = md5($x); return $x; }
function sums($n) { for ($x = 0, $i = 0; $i < $n; $i++) $x = ($x * 31 + $i) % 65521; return $x; }
hashes(100000);
sums(1000000);
echo 'done';
"""
ALONE = "PHP alone"


def kinds():
    """{name: settings}, of what is installed here."""
    extensions = Path(subprocess.run([php.CLI, "-r", "echo ini_get('extension_dir');"], text=True,
                                     check=True, capture_output=True).stdout)
    found = {ALONE: {}, "PHP alone (noise)": {},
             "mpmstat": php.settings("@ROOT@/run"),
             "mpmstat, without code": php.settings("@ROOT@/run", profile=0, places=0)}
    if (extensions / "excimer.so").exists():
        found["excimer at 100 Hz"] = {"extension": "excimer",
                                      "auto_prepend_file": "@ROOT@/excimer.php"}
    if (extensions / "xdebug.so").exists():
        found["xdebug, off"] = {"zend_extension": "xdebug", "xdebug.mode": "off"}
    return found


def start(settings):
    master = FPM(1, settings={"opcache.enable": 1, **settings})
    (master.root / "excimer.php").write_text(EXCIMER)
    (master.root / "computing.php").write_text(COMPUTING)
    return master.start()


def cpu_of_pages(master, ask):
    before = measure.cpu_ns(master.workers())
    for _ in range(PAGES):
        ask(master)
    return (measure.cpu_ns(master.workers()) - before) / PAGES


def ask_wordpress(htdocs):
    def ask(master):
        status, body = php.fastcgi(
            master.socket, htdocs / "index.php", HTTP_HOST="127.0.0.1",
            DOCUMENT_ROOT=str(htdocs), REQUEST_URI="/", SCRIPT_NAME="/index.php")
        assert status == 200 and "</html>" in body, body[-500:]
    return ask


def ask_computing(master):
    assert php.fastcgi(master.socket, master.root / "computing.php") == (200, "done")


def compare(title, masters, ask):
    """{name: [CPU time of a page in each round]}; the order turns from round to round."""
    names, times = list(masters), {name: [] for name in masters}
    for name in names:
        cpu_of_pages(masters[name], ask)                # OPcache is warm
    for turn in range(ROUNDS):
        if turn % 10 == 0:
            measure.progress(f"{title}, round {turn} of {ROUNDS}")
        for k in range(len(names)):
            name = names[(k + turn) % len(names)]
            times[name].append(cpu_of_pages(masters[name], ask))
    rows = []
    for name, of in times.items():
        median, low, high = measure.median_within(
            [time / alone for time, alone in zip(of, times[ALONE])])
        rows.append([name, f"{measure.median_within(of)[0] / 1e6:.2f} ms", f"{median:.3f}",
                     f"{low:.3f} - {high:.3f}"])
    measure.table(f"CPU time of {title}, {ROUNDS} rounds of {PAGES} pages",
                  ["", "a page", "of PHP alone", "95 % interval"], rows)


def run():
    above = Path(tempfile.mkdtemp(prefix="mpmstat-bench-wordpress-"))
    above.chmod(0o755)
    site, masters = above / "site", {}
    subprocess.run([str(SET_UP), "up", str(site)], check=True, capture_output=True)
    try:
        for name, settings in kinds().items():
            masters[name] = start(settings)
        compare("a page that computes", masters, ask_computing)
        compare("a page of WordPress", masters, ask_wordpress(site / "htdocs"))
    finally:
        for master in masters.values():
            master.__exit__(None, None, None)
        subprocess.run([str(SET_UP), "down", str(site)], check=True, capture_output=True)
        shutil.rmtree(above)
