"""The settings that advice names: applied by a program to configurations as Debian installs them, the
server takes them.

Each kind of advice that names a directive is in a table below, with what makes it: a change of a real
recording's figures, so that every server has each kind. The limits of workers, which are predictions,
too, are found by real loads.
"""
import json
import re
import shlex
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

import build
import php
import tool
from backend import HTTPBackend
from fpm import FPM
from processes import wait_until

AB = build.find("ab")

# As in Debian's www.conf.
POOLS = {
    "dynamic": "pm = dynamic\npm.max_children = 5\npm.start_servers = 2\n"
               "pm.min_spare_servers = 1\npm.max_spare_servers = 3\n",
    "ondemand": "pm = ondemand\npm.max_children = 5\n",
    "static": "pm = static\npm.max_children = 5\n"}
# As in Debian's mods-available/mpm_*.conf.
THREADS = ("StartServers            2\nMinSpareThreads         25\nMaxSpareThreads         75\n"
           "ThreadLimit             64\nThreadsPerChild         25\nMaxRequestWorkers       150\n"
           "MaxConnectionsPerChild  0\n")
MPMS = {"prefork": "StartServers            5\nMinSpareServers         5\n"
                   "MaxSpareServers         10\nMaxRequestWorkers       150\n"
                   "MaxConnectionsPerChild  0\n",
        "worker": THREADS, "event": THREADS}
CUTS = "AH00161|AH00484|AH00485|AH10159"   # it ran out of workers; that is not a complaint


def record(archive, targets, *words):
    done = tool.run("record", "-o", archive, *(word for target in targets for word in ("-t", target)),
                    "--format", "json", "--", AB, "-q", "-l", *words, timeout=120)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def advised(run, *codes):
    """The first of these findings that names settings."""
    found = [f for f in run["findings"] if f["code"] in codes]
    assert found, (codes, [(f["code"], f["text"]) for f in run["findings"]])
    assert found[0]["settings"], found[0]
    return found[0]


def apply(advice, environment=None):
    """What a program does with it. Returns what it has changed."""
    for setting in advice["settings"]:
        path = Path(setting["file"])
        lines = path.read_text().split("\n")
        line = f"{setting['name']} {'= ' if setting['section'] else ''}{setting['to']}"
        if setting["line"] is None:
            lines += [f"[{setting['section']}]", line] if setting["section"] else [line]
        else:
            was = lines[setting["line"] - 1].replace("=", " ").split()
            assert was[:2] == [setting["name"], setting["now"]], (setting, was)
            lines[setting["line"] - 1] = line
        path.write_text("\n".join(lines) + "\n")
        assert advice["action"].count(f"{setting['name']} to {setting['to']} (now {setting['now']}")
        assert setting["file"] in advice["action"]
    done = subprocess.run(shlex.split(advice["check"]), env=environment, text=True, timeout=60,
                          capture_output=True)
    assert done.returncode == 0, (advice, done.stderr)
    assert "AH0" not in done.stderr, "it warns of what it lowers"
    return {setting["name"]: setting["to"] for setting in advice["settings"]}


def with_facts(archive, facts):
    """A copy of the archive in which these are so, as a report."""
    copy = archive.with_suffix(".changed")
    shutil.copy(archive, copy)
    with sqlite3.connect(copy) as db:
        db.executescript(facts)
    db.close()
    return json.loads(tool.run("report", "--format", "json", copy).stdout)[0]


# ---- a pool of PHP-FPM -----------------------------------------------------------------------------

def pool(manager, more=""):
    """An FPM whose pool stands in a file of its own, as Debian's."""
    master = FPM(settings=php.settings("@ROOT@/run"))
    file = master.root / "fpm.conf"
    text = file.read_text()
    begin = text.index("[www]")
    directory = master.root / "pool.d"
    directory.mkdir()
    own = "\n".join(line for line in text[begin:].split("\n")
                    if not re.match(r"pm|listen\.backlog", line))
    (directory / "www.conf").write_text(own + POOLS[manager] + more)
    file.write_text(f"{text[:begin]}include={directory}/*.conf\n")
    return master


PHP = "(SELECT id FROM servers WHERE producer = 'php')"
PHP_WAITED = ("UPDATE php_requests SET start_ns = start_ns + run_ns / 2, wait_ns = run_ns / 2, "
              "run_ns = run_ns / 2;")
PHP_KINDS = [
    # what it is advised by, where, the facts, what it changes
    ("php-spawning", "dynamic", f"{PHP_WAITED} UPDATE samples SET idle = 0, no_idle_ns = 0, "
     "workers_busy = iif(moment = 'before', 0, 4), "
     f"forks = (moment IN ('end', 'after')) * 3 WHERE server_id = {PHP};",
     {"pm.start_servers": "4", "pm.max_spare_servers": "4"}),
    ("php-spawning", "ondemand", f"{PHP_WAITED} UPDATE samples SET idle = 0, no_idle_ns = 0, "
     "workers_busy = iif(moment = 'before', 0, 4), "
     f"forks = (moment IN ('end', 'after')) * 3 WHERE server_id = {PHP};", {"pm": "static"}),
    ("php-accept-queue", "dynamic ondemand static",
     f"UPDATE samples SET listen_queue = 511, listen_queue_limit = 511 WHERE server_id = {PHP}; "
     "UPDATE server_requests SET status = 503 WHERE key % 9 = 0; "
     "UPDATE environment SET value = '4096' WHERE name = 'somaxconn';", {"listen.backlog": "1022"}),
    ("descriptors", "dynamic ondemand static",
     "UPDATE process_samples SET files = 1024, files_limit = 1024 WHERE server_id = " + PHP,
     {"rlimit_files": "2048"}),
    ("child-churn", "dynamic", "UPDATE samples SET exits = (moment IN ('end', 'after')) * 50, "
     f"workers_busy = 5 WHERE server_id = {PHP};",
     {"pm.start_servers": "5", "pm.max_spare_servers": "5"}),
    ("child-churn", "ondemand", "UPDATE samples SET exits = (moment IN ('end', 'after')) * 50 "
     f"WHERE server_id = {PHP};", {"pm.process_idle_timeout": "60s"}),
]


def serves(master, script):
    wait_until(lambda: php.fastcgi(master.socket, script) == (200, "served"), 30, master.log_text)


def take_up(advice, restart, reload):
    (restart if advice["restart"] else reload)()


def restart_fpm(master):
    master.stop()
    master.start()


def reload_fpm(master, manager):
    """Without processes there is nothing that tells that it has reloaded."""
    restart_fpm(master) if manager == "ondemand" else master.reload()


@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.parametrize("manager", POOLS)
def test_a_pool_takes_what_is_advised(server, fpm_masters, archive, manager):
    master = pool(manager)
    fpm_masters.append(master)
    master.start()
    script = master.script("served.php", "<?php echo 'served';")
    apache = server("event", workers=60, php="fpm", fpm=master)
    assert apache.get("/sleep.php?seconds=0").status == 200   # pm = ondemand makes its board
    record(archive, [apache.board, master.board], "-n", "100", "-c", "4",
           f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.05")
    file = master.root / "pool.d" / "www.conf"
    stock = file.read_text()
    for code, managers, facts, changes in PHP_KINDS:
        if manager not in managers.split():
            continue
        advice = advised(with_facts(archive, facts), code)
        assert apply(advice) == changes, advice
        take_up(advice, lambda: restart_fpm(master), lambda: reload_fpm(master, manager))
        serves(master, script)
        file.write_text(stock)
        restart_fpm(master)


@pytest.mark.alone
@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
@pytest.mark.parametrize("manager", POOLS)
def test_a_pool_that_is_too_small(server, fpm_masters, archive, manager):
    """README's own example: once its advice was one with which FPM did not start. The prediction is
    met."""
    master = pool(manager)
    fpm_masters.append(master)
    master.start()
    apache = server("event", workers=60, php="fpm", fpm=master)
    targets = [apache.board]
    assert apache.get("/sleep.php?seconds=0").status == 200
    load = ["-n", "250", "-c", "25", f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.1&spread=0"]
    record(archive, [*targets, master.board], *load)   # all processes are started
    run = record(archive, [*targets, master.board], *load)
    advice = advised(run, "php-workers")
    told = json.loads(tool.run("explain", "--format", "json", "--last", "20s", *targets,
                               master.board).stdout)
    assert advised(told["past"], "php-workers", "php-spawning")["check"] == advice["check"]
    changed = apply(advice)
    assert changed == {"pm.max_children": "25", **({"pm.start_servers": "25",
                       "pm.max_spare_servers": "25"} if manager == "dynamic" else {})}
    assert advice["restart"] is False
    reload_fpm(master, manager)
    assert apache.get("/sleep.php?seconds=0").status == 200
    if manager == "ondemand":   # starts its processes with the load
        record(archive, [*targets, master.board], *load)
    after = record(archive, [*targets, master.board], *load)
    assert tool.status(master.board)["workers"]["limit"] == 25
    predicted = advice["numbers"]["predicted_rate_milli"] / 1000
    before, rate = (r["client"]["requests_per_second"] for r in (run, after))
    print(f"{manager}: {before} requests/s, predicted {predicted}, measured {rate}")
    assert before < predicted / 2 < rate   # half of it: other programs can have the CPUs


@pytest.mark.alone
@pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
def test_process_max_and_max_requests(server, fpm_masters, archive):
    """process.max would keep the pool from what it may have. A value that stands twice is changed
    where it is in force."""
    master = pool("static", "pm.max_requests = 9\npm.max_requests = 10 ; of each\n")
    file = master.root / "fpm.conf"
    file.write_text(file.read_text().replace("[global]", "[global]\nprocess.max = 8"))
    fpm_masters.append(master)
    master.start()
    script = master.script("served.php", "<?php echo 'served';")
    apache = server("event", workers=60, php="fpm", fpm=master)
    run = record(archive, [apache.board, master.board], "-n", "500", "-c", "20",
                 f"http://127.0.0.1:{apache.port}/sleep.php?seconds=0.05&spread=0")
    advice = advised(run, "child-churn")
    assert apply(advice) == {"pm.max_requests": "0"}
    advice = advised(run, "php-workers")
    workers = int(advice["numbers"]["workers_advised"])
    assert 8 < workers <= 20, advice    # fewer than the load tool's 20 where the CPUs are full before
    assert apply(advice) == {"pm.max_children": f"{workers}", "process.max": f"{workers + 3}"}
    master.reload()
    serves(master, script)
    wait_until(lambda: len(master.workers()) == workers, 30, master.log_text)


# ---- Apache ----------------------------------------------------------------------------------------

def files_of(directory, mpm, text):
    """mods-enabled and mods-available, as Debian has them."""
    for name in ("mods-available", "mods-enabled"):
        (directory / name).mkdir()
    directory.chmod(0o755)
    (directory / "mods-available" / f"mpm_{mpm}.conf").write_text(
        f"# {mpm} MPM\n\n<IfModule mpm_{mpm}_module>\n{text}</IfModule>\n")
    (directory / "mods-enabled" / f"mpm_{mpm}.conf").symlink_to(
        f"../mods-available/mpm_{mpm}.conf")
    return f"Define WHERE {directory}\nIncludeOptional ${{WHERE}}/mods-enabled/*.conf"


APACHE = "(SELECT id FROM servers WHERE producer = 'apache')"
WAITED = "UPDATE server_requests SET queue_ns = handle_ns / 2, handle_ns = handle_ns / 2;"
APACHE_KINDS = [
    ("apache-spawning", "prefork", f"{WAITED} UPDATE samples SET idle = 0, workers_busy = 40, "
     f"no_idle_ns = 0, forks = (moment IN ('end', 'after')) * 9 WHERE server_id = {APACHE};",
     {"StartServers": "40", "MinSpareServers": "40", "MaxSpareServers": "41"}),
    ("apache-spawning", "worker event", f"{WAITED} UPDATE samples SET idle = 0, workers_busy = 60, "
     "no_idle_ns = 0, connections = 0, forks = (moment IN ('end', 'after')) * 9 "
     f"WHERE server_id = {APACHE};",
     {"StartServers": "3", "MinSpareThreads": "60", "MaxSpareThreads": "85"}),
    ("keepalive", "prefork worker", f"{WAITED} UPDATE samples SET workers_busy = workers_limit, "
     "idle_ns = 0, handling_ns = 0, keepalive_ns = workers_limit * (time_ns - "
     f"(SELECT min(time_ns) FROM samples)), forks = 0 WHERE server_id = {APACHE};",
     {"KeepAliveTimeout": "1"}),
    ("event-connections", "event", f"{WAITED} UPDATE samples SET idle = 5, connections = 20, "
     f"workers_busy = 4, no_idle_ns = 0, forks = 0 WHERE server_id = {APACHE};",
     {"AsyncRequestWorkerFactor": "4"}),
    ("h2-workers", "worker event", "UPDATE server_requests SET h2_wait_ns = handle_ns / 2, "
     "queue_ns = queue_ns + handle_ns / 2; UPDATE "
     f"samples SET http2_workers_limit = 37, http2_workers_busy = 37 WHERE server_id = {APACHE};",
     {"H2MaxWorkers": "74"}),
    ("accept-queue", "prefork worker event", "UPDATE samples SET listen_queue = 511, "
     f"listen_queue_limit = 511 WHERE server_id = {APACHE}; UPDATE environment SET value = '4096' "
     "WHERE name = 'somaxconn';", {"ListenBacklog": "1022"}),
    ("child-churn", "prefork", "UPDATE samples SET exits = (moment IN ('end', 'after')) * 50, "
     f"workers_busy = 40 WHERE server_id = {APACHE};",
     {"StartServers": "40", "MinSpareServers": "40", "MaxSpareServers": "41"}),
]


def restart_apache(apache):
    apache.stop()
    apache.log.unlink()     # so that start() waits for the new one's line
    apache.start()


def test_an_apache_takes_what_is_advised(server, archive, tmp_path, mpm):
    modules = ["proxy", "proxy_http"] + ([] if mpm == "prefork" else ["http2"])
    with HTTPBackend(delay=0.05) as backend:
        apache = server(mpm, f'ProxyPass "/slow" "http://127.0.0.1:{backend.port}/"\n',
                        modules=modules, limits=files_of(tmp_path, mpm, MPMS[mpm]))
        record(archive, [apache.board], "-n", "100", "-c", "4",
               f"http://127.0.0.1:{apache.port}/slow")
        files = [apache.configuration, tmp_path / "mods-available" / f"mpm_{mpm}.conf"]
        stock = [file.read_text() for file in files]
        for code, mpms, facts, changes in APACHE_KINDS:
            if mpm not in mpms.split():
                continue
            advice = advised(with_facts(archive, facts), code)
            assert apply(advice, apache.full_environment()) == changes, advice
            take_up(advice, lambda: restart_apache(apache), apache.restart)
            assert apache.get("/index.html").status == 200
            assert not apache.log_lines("exceed|decreasing|increasing|not allowed"), advice
            for file, text in zip(files, stock):
                file.write_text(text)
            restart_apache(apache)


@pytest.mark.alone
@pytest.mark.parametrize("limit", ["", "ServerLimit"])
def test_an_apache_that_is_too_small(server, archive, tmp_path, mpm, limit):
    """Apache lowers what does not fit its other limits: then the advice would not be followed."""
    most = {"prefork": 150, "worker": 6, "event": 6}[mpm]
    limits = (f"{limit} {most}\n" if limit else "") + MPMS[mpm]
    with HTTPBackend(delay=0.2) as backend:
        apache = server(mpm, f'ProxyPass "/slow" "http://127.0.0.1:{backend.port}/"\n',
                        modules=["proxy", "proxy_http"], limits=files_of(tmp_path, mpm, limits))
        apache.allow(CUTS)
        url = f"http://127.0.0.1:{apache.port}/slow"
        record(archive, [apache.board], "-n", "1000", "-c", "190", url)    # all are started
        run = record(archive, [apache.board], "-n", "2000", "-c", "190", url)
        advice = advised(run, "apache-workers", "apache-spawning")
        changed = apply(advice, apache.full_environment())
        assert all(s["file"] == str(tmp_path / "mods-available" / f"mpm_{mpm}.conf")
                   for s in advice["settings"])
        assert advice["restart"] == ("ServerLimit" in changed)
        take_up(advice, lambda: restart_apache(apache), apache.restart)
        if "MaxRequestWorkers" in changed:
            assert changed["MaxRequestWorkers"] == {"prefork": "190", "worker": "200",
                                                    "event": "200"}[mpm]
            assert ("ServerLimit" in changed) == bool(limit)
            wait_until(lambda: tool.status(apache.board)["workers"]["limit"] ==
                       int(changed["MaxRequestWorkers"]), 30, "the board")
