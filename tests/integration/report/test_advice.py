"""The settings that advice names: applied by a program to configurations as Debian installs them, the
server takes them."""
import json
import re
import subprocess
from pathlib import Path

import pytest

import build
import php
import tool
from apache import Apache
from backend import HTTPBackend
from fpm import FPM
from processes import wait_until

pytestmark = pytest.mark.alone
AB = build.find("ab")

# As in Debian's www.conf, but for what pm decides.
POOLS = {
    "dynamic": "pm = dynamic\npm.start_servers = 2\npm.min_spare_servers = 1\n"
               "pm.max_spare_servers = 3",
    "ondemand": "pm = ondemand",
    "static": "pm = static"}

# As in Debian's mods-available/mpm_*.conf; where more is wanted than MaxRequestWorkers, ServerLimit
# allows it, or not.
MPMS = {
    "prefork": "StartServers 5\nMinSpareServers 5\nMaxSpareServers 10\nMaxRequestWorkers 150\n"
               "MaxConnectionsPerChild 0\n",
    "worker": "StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\n"
              "ThreadsPerChild 25\nMaxRequestWorkers 150\nMaxConnectionsPerChild 0\n",
    "event": "StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\n"
             "ThreadsPerChild 25\nMaxRequestWorkers 150\nMaxConnectionsPerChild 0\n"}


def record(archive, targets, *words):
    done = tool.run("record", "-o", archive, *(word for target in targets for word in ("-t", target)),
                    "--format", "json", "--", AB, "-q", "-l", *words, timeout=120)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def advised(run, *codes):
    """The first of these findings that names settings."""
    return next(f for f in run["findings"] if f["code"] in codes and f["settings"])


def apply(settings, form):
    """What a program does with them. form: of a line, with {name} and {to}."""
    for setting in settings:
        path = Path(setting["file"])
        text = path.read_text()
        line = form.format(**setting)
        old = re.compile(rf"^{re.escape(setting['name'])}\b[ =].*$", re.M)
        if old.search(text):
            assert setting["now"] in old.findall(text)[-1], (setting, text)
            text = old.sub(line, text)
        else:
            text += line + "\n"
        path.write_text(text)


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.parametrize("manager", POOLS)
def test_a_pool_that_is_too_small(php_boards, archive, manager):
    """README's own example: once its advice was one with which FPM did not start."""
    with FPM(5, settings=php.settings(php_boards), manager=POOLS[manager]) as fpm, \
            Apache("event", php="fpm", fpm=fpm) as apache:
        url = f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.1"
        assert apache.get("/sleep.php?seconds=0").status == 200
        run = record(archive, [apache.board, php.board(php_boards, "fpm-fcgi")],
                     "-n", "250", "-c", "25", url)
        finding = advised(run, "php-workers", "php-spawning")
        named = {s["name"]: (s["now"], s["to"]) for s in finding["settings"]}
        assert all(s["file"] == str(fpm.root / "fpm.conf") for s in finding["settings"])
        assert finding["check"] == f"{Path(build.FPM).name} -t"
        if finding["code"] == "php-workers":
            assert named["pm.max_children"] == ("5", "25")
        if manager == "static":
            assert "pm" not in named
        apply(finding["settings"], "{name} = {to}")
        checked = subprocess.run([build.FPM, "-t", *fpm.arguments], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
        fpm.stop()
        fpm.start()
        assert apache.get("/sleep.php?seconds=0").status == 200
        board = tool.status(php.board(php_boards, "fpm-fcgi"))
        if finding["code"] == "php-workers":
            assert board["workers"]["limit"] == 25


@pytest.mark.parametrize("limit", ["", "ServerLimit"])
def test_an_apache_that_is_too_small(archive, mpm, limit):
    """Apache lowers what does not fit its other limits: then the advice would not be followed."""
    most = {"prefork": 150, "worker": 6, "event": 6}[mpm]
    limits = (f"{limit} {most}\n" if limit else "") + MPMS[mpm]
    with HTTPBackend(delay=0.2) as backend, \
            Apache(mpm, f'ProxyPass "/slow" "http://127.0.0.1:{backend.port}/"\n',
                   modules=["proxy", "proxy_http"], limits=limits) as apache:
        apache.allow("AH00484|AH00161|AH10159|AH00485")
        url = f"http://127.0.0.1:{apache.port}/slow"
        record(archive, [apache.board], "-n", "1000", "-c", "190", url)    # all are started
        run = record(archive, [apache.board], "-n", "2000", "-c", "190", url)
        finding = advised(run, "apache-workers", "apache-spawning")
        named = {s["name"]: s["to"] for s in finding["settings"]}
        assert all(s["file"] == str(apache.root / "httpd.conf") for s in finding["settings"])
        assert finding["check"] == "apachectl configtest"
        apply(finding["settings"], "{name} {to}")
        checked = subprocess.run([*apache.command(), "-t"], capture_output=True, text=True)
        assert checked.returncode == 0 and "Syntax OK" in checked.stderr, checked.stderr
        assert "AH00" not in checked.stderr, "it warns of what it lowers"
        apache.stop()
        apache.log.unlink()     # so that start() waits for the new one's line
        apache.start()
        if "MaxRequestWorkers" in named:
            assert named["MaxRequestWorkers"] == {"prefork": "190", "worker": "200",
                                                  "event": "200"}[mpm]
            assert ("ServerLimit" in named) == bool(limit)
            board = wait_until(lambda: tool.status(apache.board), 30, "the board")
            assert board["workers"]["limit"] == int(named["MaxRequestWorkers"])
