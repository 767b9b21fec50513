"""What PHP's board says of single requests: how they ended, their script, memory and CPU
time, labels and marks. And what recording costs in system calls."""
import json
import os
import re
import subprocess
import time

import pytest

import build
import clients
import handover
import php
import processes
import tool
from boards import default_records, documented_bytes, stripes
from fpm import FPM
from nginx import Nginx
from processes import wait_until

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))


@pytest.fixture
def fpm():
    """start(**settings): an FPM with the extension; one worker, unless children says more.
    others: settings that are not the extension's."""
    masters = []

    def start(children=1, pool="", others=None, **settings):
        settings = {"display_errors": 0, **(others or {}),
                    **php.settings("@ROOT@/run", **settings)}
        master = FPM(children, settings=settings, pool=pool)
        masters.append(master)
        return master.__enter__()

    yield start
    for master in masters:
        master.__exit__(None, None, None)


def record_of(master, name, text, **variables):
    """The record of one request for a script of that text, and the answer."""
    script = master.script(name, text)
    with php.recorded(master.board) as archive:
        answer = php.fastcgi(master.socket, script, **variables)
    records = archive.ask("SELECT * FROM php_requests")
    assert len(records) == 1, f"{len(records)} records, {answer}"
    return records[0], answer


@pytest.mark.parametrize("text, status, ending", [
    ("<?php echo 1;", 200, None),
    ("<?php http_response_code(404);", 404, None),
    ("<?php echo 1; exit(255);", 200, None),
    ("<?php no_such_function();", 500, "fatal"),
    ("<?php throw new Exception('nobody takes this');", 500, "fatal"),
    ("<?php register_shutdown_function(function () { @$a['x']; exit; }); no_such();", 500, "fatal"),
    ("<?php this is no php", 500, "fatal"),
    ("<?php ini_set('memory_limit', '8M'); str_repeat('x', 1 << 25);", 500, "fatal"),
    ("<?php trigger_error('x', E_USER_ERROR);", 500, "fatal"),
    ("<?php set_error_handler(function () { return true; });"
     "trigger_error('x', E_USER_ERROR); echo 1;", 200, None),
    ("<?php try { throw new Exception('x'); } catch (Exception $e) { echo 1; }", 200, None),
    ("<?php set_time_limit(1); while (true);", 500, "timeout"),
], ids=str)
def test_how_it_ended(fpm, text, status, ending):
    master = fpm(journal=1024)
    record, _ = record_of(master, "end.php", text)
    assert record["status"] == status
    assert (record["fatal"], record["timeout"]) == (ending == "fatal", ending == "timeout")
    assert record["aborted"] == 0
    label = next(e for e in tool.status(master.board)["labels"] if e["label"] == "www")
    assert label["php"]["fatal_errors"] == (ending == "fatal")
    assert label["php"]["timeouts"] == (ending == "timeout")
    assert label["status"][f"{status // 100}xx"] == 1 == label["requests"]


def test_a_client_that_goes_away(fpm):
    master = fpm()
    script = master.script("long.php", """<?php for ($i = 0; $i < 200; $i++) {
        echo str_repeat('x', 100000); flush(); usleep(20000); }""")
    php.fastcgi(master.socket, script, leave=True)
    board = wait_until(lambda: (b := tool.status(master.board))["workers"]["busy"] == 0 and b, 3,
                       "the request to end")
    label = next(e for e in board["labels"] if e["label"] == "www")
    assert label["status"]["aborted"] == 1 == label["requests"]


def test_where_cpu_time_and_memory_went(fpm):
    """Compares them with getrusage() and the allocator, as the script itself sees them."""
    record, (_, said) = record_of(fpm(), "work.php", """<?php
        $text = str_repeat('x', 5000000);
        $before = getrusage();
        for ($until = hrtime(true) + 100000000; hrtime(true) < $until; ) md5($text);
        $after = getrusage();
        echo ($after['ru_utime.tv_sec'] - $before['ru_utime.tv_sec']) * 1000000
             + $after['ru_utime.tv_usec'] - $before['ru_utime.tv_usec'], ' ',
             memory_get_peak_usage();""")
    user_us, peak = map(int, said.split())
    spent = record["user_ns"] + record["system_ns"]
    assert user_us * 1000 <= spent <= record["run_ns"] + 20_000_000
    assert peak <= record["memory_bytes"] < peak + 1_000_000
    assert record["run_ns"] >= 100_000_000


USED = """<?php function used() { $r = getrusage();
    return $r['ru_utime.tv_sec'] * 1e6 + $r['ru_utime.tv_usec']
         + $r['ru_stime.tv_sec'] * 1e6 + $r['ru_stime.tv_usec']; } $began = used(); """


def test_where_compiling_and_garbage_went(fpm):
    """Against what the script's own clock says; the garbage is collected once, when it says so."""
    master = fpm()
    functions = "".join(f"function f{i}($a) {{ return [$a, {i}, 'x{i}', $a + {i}]; }}\n"
                        for i in range(20000))
    file = master.root / "many.php"
    file.write_text(f"<?php\n{functions}", encoding="ascii")
    record, (_, said) = record_of(master, "include.php", f"{USED} include '{file}'; echo used() - $began;")
    assert record["gc_ns"] == 0 and 0.7 < record["compile_ns"] / (float(said) * 1000) < 1.3
    record, (_, said) = record_of(master, "garbage.php", f"{USED} gc_disable(); "
                             "for ($i = 0; $i < 300000; $i++) { $a = new stdClass; $a->a = $a; } "
                             "$began = used(); gc_enable(); gc_collect_cycles(); "
                             "echo used() - $began;")
    assert record["compile_ns"] < record["gc_ns"]
    assert 0.7 < record["gc_ns"] / (float(said) * 1000) < 1.3
    assert record["gc_ns"] + record["compile_ns"] < record["user_ns"] + record["system_ns"]


def test_sleeping_is_no_cpu_time(fpm):
    record, _ = record_of(fpm(), "sleep.php", "<?php usleep(200000);")
    assert record["run_ns"] >= 200_000_000
    assert record["user_ns"] + record["system_ns"] < 100_000_000


def test_output_and_shutdown_functions_are_in_it(fpm):
    """php_run ends when everything that the script left behind is done."""
    record, _ = record_of(fpm(), "late.php", """<?php
        class Late { function __destruct() { usleep(100000); } }
        $late = new Late;
        register_shutdown_function(function () { usleep(100000); });
        ob_start(function ($text) { usleep(100000); return $text; });
        echo 'x';
        if (function_exists('fastcgi_finish_request')) fastcgi_finish_request();""")
    assert record["run_ns"] >= 300_000_000


def test_scripts_and_what_opcache_had(fpm):
    master = fpm()
    directory = master.root / ("long-" * 20)
    directory.mkdir()
    script = directory / "page.php"
    script.write_text("<?php include __DIR__ . '/part.php';")
    (directory / "part.php").write_text("<?php echo 'part';")
    old = time.time() - 60      # OPcache leaves files alone that were written just now
    os.utime(script, (old, old))
    with php.recorded(master.board) as archive:
        for n in range(3):
            assert php.fastcgi(master.socket, script, QUERY_STRING=f"secret={n}") == (200, "part")
        php.fastcgi(master.socket, directory / "none.php")
    records = archive.ask("SELECT * FROM php_requests ORDER BY start_ns")
    assert [r["status"] for r in records] == [200, 200, 200, 404]
    name = records[0]["script"]
    assert len(name) == 63 and str(script).endswith(name) and name.endswith("long-/page.php")
    assert [r["cached"] for r in records] == [0, 1, 1, None]
    label = next(e for e in tool.status(master.board)["labels"] if e["label"] == "www")
    assert label["php"]["uncached"] == 1
    settings = tool.status(master.board)["settings"]
    assert settings.startswith("memory_limit = 128M; ") and "; opcache.enable = 1" in settings


def test_opcache_that_is_off_has_nothing(fpm):
    master = fpm(pool="php_admin_value[opcache.enable] = 0")
    script = master.script("page.php", "<?php echo 1;")
    for _ in range(3):
        php.fastcgi(master.socket, script)
    label = next(e for e in tool.status(master.board)["labels"] if e["label"] == "www")
    assert label["php"]["uncached"] == 3
    assert opcache_of(master)["state"] == "off"


def opcache_of(master):
    return tool.status(master.board)["opcache"]


def look_at_opcache(master, script):
    """Serves a request a second after the last one, so that OPcache is asked."""
    time.sleep(1.1)
    php.fastcgi(master.socket, script)
    return opcache_of(master)


def old_scripts(directory, count, text):
    """Scripts that OPcache takes: it leaves files alone that were written just now."""
    old = time.time() - 60
    for n in range(count):
        path = directory / f"part{n}.php"
        path.write_text(text.replace("@N@", str(n)))
        os.utime(path, (old, old))


STATUS = """<?php
foreach (glob(__DIR__ . "/part*.php") as $part) include $part;
$s = opcache_get_status(false);
$m = $s["memory_usage"]; $o = $s["opcache_statistics"];
echo json_encode([$m["used_memory"], $m["wasted_memory"],
                  $m["used_memory"] + $m["wasted_memory"] + $m["free_memory"],
                  $o["num_cached_scripts"], $o["num_cached_keys"], $o["max_cached_keys"],
                  $o["hits"], $o["misses"],
                  $o["oom_restarts"] + $o["hash_restarts"] + $o["manual_restarts"],
                  $s["cache_full"]]);"""
NUMBERS = ("used_bytes", "wasted_bytes", "limit_bytes", "scripts", "keys", "keys_limit", "hits",
           "misses", "restarts")


def test_opcache_as_the_script_sees_it(fpm):
    master = fpm()
    assert opcache_of(master)["state"] == "unknown"
    script = master.script("status.php", STATUS)
    old_scripts(master.root, 10, "<?php function f@N@() { return @N@; }")
    php.fastcgi(master.socket, script)
    time.sleep(1.1)
    said = json.loads(php.fastcgi(master.socket, script)[1])
    seen = opcache_of(master)
    assert seen["state"] == "on" and seen["scripts"] >= 10
    assert [seen[name] for name in NUMBERS] == said[:-1]
    php.fastcgi(master.socket, master.script("reset.php", "<?php opcache_reset();"))
    seen = look_at_opcache(master, script)
    seen = look_at_opcache(master, script)      # the reset waits for the next request
    assert seen["restarts"] == 1 and seen["state"] == "on"


def test_an_opcache_that_is_full_and_is_asked_once_a_second(fpm):
    """By memory: OPcache calls itself full where less than 64 KiB are free."""
    master = fpm(others={"opcache.memory_consumption": 8, "opcache.interned_strings_buffer": 6})
    script = master.script("status.php", STATUS)
    big = "<?php return [" + ",".join(f"[{n}, 'a{n}']" for n in range(300)) + "];"
    old_scripts(master.root, 200, big)
    php.fastcgi(master.socket, script)
    time.sleep(1.1)
    said = json.loads(php.fastcgi(master.socket, script)[1])
    assert said[-1] is True, said
    assert opcache_of(master)["state"] == "full"
    assert opcache_of(master)["limit_bytes"] == 8 << 20
    hits = opcache_of(master)["hits"]
    looked = time.monotonic()
    while time.monotonic() < looked + 0.5:
        php.fastcgi(master.socket, script)
    assert opcache_of(master)["hits"] == hits


def test_compiling_is_also_what_opcache_does_with_the_script(fpm):
    """It optimizes each time what it has no room for, for as long as PHP compiles it."""
    master = fpm(others={"opcache.memory_consumption": 8, "opcache.interned_strings_buffer": 2})
    script = master.script("all.php", """<?php
        foreach (glob(__DIR__ . "/part*.php") as $part) include $part;""")
    old_scripts(master.root, 8, "<?php " + "".join(
        f"function f@N@_{n}($a) {{ return $a . '{n}' . strlen($a) * {n}; }}\n"
        for n in range(3000)))
    php.fastcgi(master.socket, script)
    with php.recorded(master.board) as archive:
        for _ in range(3):
            php.fastcgi(master.socket, script)
    spent, compiled = archive.ask("SELECT sum(user_ns + system_ns) AS spent, sum(compile_ns) AS "
                                  "compiled FROM php_requests")[0]
    assert compiled > 0.85 * spent


@pytest.mark.parametrize("others", [{"opcache.restrict_api": "/nowhere"},
                                    {"disable_functions": "opcache_get_status"}])
def test_an_opcache_that_is_not_to_be_asked(fpm, others):
    """Nothing is logged, and the application's handler of errors is not called."""
    master = fpm(others=others)
    script = master.script("quiet.php", """<?php
        set_error_handler(function ($n, $text) { file_put_contents(__DIR__ . "/called", $text); });
        echo "ok";""")
    assert php.fastcgi(master.socket, script) == (200, "ok")
    assert opcache_of(master)["state"] == "unknown"
    assert "opcache" not in master.log_text().lower() and not (master.root / "called").exists()


@pytest.mark.parametrize("off", ["Off", "no", "0"])
def test_settings_that_are_off_are_shown_as_0(fpm, off):
    """php.ini's Off and no reach an extension as an empty text."""
    names = ("output_buffering", "opcache.enable", "opcache.validate_timestamps", "opcache.jit")
    master = fpm(others={name: off for name in names})
    shown = tool.status(master.board)["settings"].split("; ")
    assert [s for s in shown if s.partition(" = ")[0] in names] == [f"{name} = 0" for name in names]


@pytest.mark.parametrize("setting, value", [("journal", "1G"), ("processes", "2M"),
                                            ("workers_limit", "4G")])
def test_a_number_out_of_bounds_leaves_the_default(fpm, setting, value):
    """And is not a reason not to record."""
    master = fpm(**{setting: value})
    assert php.fastcgi(master.socket, master.script("x.php", "<?php echo 1;")) == (200, "1")
    assert "without recording" not in master.log_text()
    board = tool.status(master.board)
    assert tool.requests(board) == 1 and board["workers"]["limit"] == 1
    assert board["journal"]["requests"]["capacity"] == default_records()


def test_the_size_is_as_documented(fpm):
    master = fpm()
    php.fastcgi(master.socket, master.script("x.php", "<?php echo 1;"))
    assert master.board.stat().st_size == documented_bytes(
        "PHP", processes=1024, threads=1, labels=64, rows=4, stripes=stripes(),
        records=default_records())
    assert master.board.stat().st_blocks * 512 == master.board.stat().st_size


POOLS = """
php_admin_value[mpmstat.label] =
[shop]
{user}
listen = @ROOT@/shop.sock
pm = static
pm.max_children = 1
[blog]
{user}
listen = @ROOT@/blog.sock
pm = static
pm.max_children = 1
php_admin_value[mpmstat.label] = the-blog
[quiet]
{user}
listen = @ROOT@/quiet.sock
pm = static
pm.max_children = 1
php_admin_value[mpmstat.enable] = 0
"""


def test_labels_are_pools_or_what_is_set(fpm, as_root):
    user = "user = www-data\ngroup = www-data\nlisten.mode = 0666"
    master = fpm(pool=POOLS.replace("{user}", user))
    script = master.script("hello.php", "<?php echo 1;")
    for socket, requests in (("fpm", 1), ("shop", 2), ("blog", 3), ("quiet", 4)):
        for _ in range(requests):
            assert php.fastcgi(master.root / f"{socket}.sock", script) == (200, "1")
    found = {e["label"]: e["requests"] for e in tool.labels(tool.status(master.board))}
    assert found == {"other": 0, "www": 1, "shop": 2, "the-blog": 3}


JAILS = """
chroot = @ROOT@
[jail]
{user}
listen = @ROOT@/jail.sock
pm = ondemand
pm.max_children = 1
chroot = @ROOT@
[quiet]
{user}
listen = @ROOT@/quiet.sock
pm = static
pm.max_children = 1
chroot = @ROOT@
php_admin_value[mpmstat.enable] = 0
"""


def command_lines_held(pid):
    """How often a process has the command line of one open, its own or another's."""
    return list(processes.open_files(pid).values()).count(f"/proc/{pid}/cmdline")


def test_pools_with_a_root_of_their_own_have_their_names(fpm, as_root):
    """There is no /proc in it when FPM names its workers; what is kept open for that is
    closed at the first request, recorded or not."""
    user = "user = www-data\ngroup = www-data\nlisten.mode = 0666"
    master = fpm(pool=JAILS.replace("{user}", user))
    master.script("pid.php", "<?php echo getmypid();")
    for socket, requests in (("fpm", 1), ("jail", 2), ("quiet", 3)):
        pids = {php.fastcgi(master.root / f"{socket}.sock", "/pid.php") for _ in range(requests)}
        [(status, pid)] = pids
        assert status == 200 and command_lines_held(int(pid)) == 0
    found = {e["label"]: e["requests"] for e in tool.labels(tool.status(master.board))}
    assert found == {"other": 0, "www": 1, "jail": 2}
    assert command_lines_held(master.pid) == 0


def test_marks(fpm):
    """Bounded in length and number; their times are the script's."""
    master = fpm()
    script = master.script("marks.php", """<?php
        mpmstat_mark('begin');
        usleep(50000);
        mpmstat_mark(str_repeat('long', 20));
        for ($i = 0; $i < 100; $i++) mpmstat_mark("step $i");
        echo 'done';""")
    with php.recorded(master.board) as archive:
        for _ in range(2):
            assert php.fastcgi(master.socket, script) == (200, "done")
    marks = archive.ask("SELECT * FROM marks ORDER BY time_ns, key")
    requests = archive.ask("SELECT * FROM php_requests ORDER BY start_ns")
    assert len(marks) == 2 * 64
    for request, of_it in zip(requests, (marks[:64], marks[64:])):
        assert [m["name"] for m in of_it[:3]] == ["begin", ("long" * 20)[:39], "step 0"]
        assert all(m["request_start_ns"] == request["start_ns"] and m["pid"] == request["pid"]
                   for m in of_it)
        assert of_it[1]["time_ns"] - of_it[0]["time_ns"] >= 50_000_000
        assert request["start_ns"] <= of_it[0]["time_ns"]
        assert of_it[-1]["time_ns"] <= request["start_ns"] + request["run_ns"]


# ---- the wait without Apache --------------------------------------------------------------

def test_nothing_to_tell_the_wait_makes_it_unknown(fpm):
    record, _ = record_of(fpm(), "hello.php", "<?php echo 1;", HTTP_X_REQUEST_START="t=1.0")
    assert record["wait_ns"] is None and record["request_id"] is None


@pytest.mark.parametrize("trusted", [0, 1])
def test_x_request_start_is_believed_where_it_is_trusted(fpm, trusted):
    """It can be forged: by default it is not."""
    began = time.time()
    record, _ = record_of(fpm(trust_request_start=trusted), "hello.php", "<?php echo 1;",
                          HTTP_X_REQUEST_START=f"t={began - 2:.3f}")
    if trusted:
        assert 2e9 - 2e6 <= record["wait_ns"] <= 2e9 + (time.time() - began) * 1e9
    else:
        assert record["wait_ns"] is None


@pytest.mark.parametrize("text", ["", "nonsense", "1:2", "1:2:3:4:5", "1:2:not-this-boot:0",
                                  "99999999999999999999:1:a:0", ":" * 5000])
def test_a_handover_that_is_none(fpm, text):
    record, (status, _) = record_of(fpm(), "hello.php", "<?php echo 1;", MPMSTAT=text)
    assert status == 200 and record["wait_ns"] is None and record["request_id"] is None


def test_a_handover_of_this_boot_and_of_an_earlier_version(fpm):
    """Which has the boot id in place of its hash: then neither the wait nor the request's id is
    known."""
    master = fpm()
    record, _ = record_of(master, "hello.php", "<?php echo 1;", MPMSTAT=handover.text(77, 10**9))
    assert record["request_id"] == 77 and record["wait_ns"] >= 10**9
    earlier = handover.text(78).replace(handover.boot(), handover.BOOT_ID)
    record, _ = record_of(master, "hello.php", "<?php echo 1;", MPMSTAT=earlier)
    assert record["request_id"] is None and record["wait_ns"] is None


@pytest.mark.skipif(not build.find("nginx") or not build.find("ab"), reason="needs nginx and ab")
def test_the_wait_behind_nginx(fpm):
    """Few workers, many clients; what a client sends under that name does not count."""
    master = fpm(children=2, trust_request_start=1)
    with Nginx(master) as nginx:
        said = clients.ab(nginx.port, "/sleep.php?seconds=0.05&spread=0", 60, 20,
                          options=["-H", "X-Request-Start: t=1.0"])
    assert said["complete"] == 60 and said["non_2xx"] == 0, said["text"]
    phases = next(e for e in tool.status(master.board)["labels"] if e["label"] == "www")["phases"]
    waited, ran = (float(phases[p]["sum_seconds"]) for p in ("php_wait", "php_run"))
    assert phases["php_wait"]["count"] == 60 == phases["total"]["count"]
    # nginx's time is in milliseconds: half of one early, at the mean.
    assert waited + ran == pytest.approx(60 * said["total_mean"], rel=0.05)
    assert waited > ran


# ---- system calls -------------------------------------------------------------------------

@pytest.mark.skipif(not build.find("strace"), reason="needs strace")
def test_no_system_calls_but_those_for_the_cpu(fpm):
    """Its time, and the wait for it; of a worker that has served before. OPcache does not take a
    script that was written just now: before and after it is compiled, and after OPcache is done
    with it, the thread's clock is read. Samples cost some for each 10 ms of CPU time, and none of
    them is the request's."""
    requests = 20
    counts = {}
    for name, enabled in (("with", 1), ("without", 0)):
        master = fpm(enable=enabled, profile=0)
        script = master.script("hello.php", "<?php echo 1;")
        php.fastcgi(master.socket, script)
        trace = master.root / "trace"
        strace = subprocess.Popen([build.find("strace"), "-qq", "-f", "-e", "signal=none", "-o",
                                   str(trace), "-p", str(master.workers()[0])])
        try:
            attached(master, strace.pid)
            for _ in range(requests + 1):
                php.fastcgi(master.socket, script)
            wait_until(lambda: trace.read_text().count("accept(") > requests, 10,
                       "the worker to have served them all")
        finally:
            strace.terminate()
            strace.wait(10)
        # From one wait for a request to another: strace may have come in the middle of the wait
        # before the first of them, or at the end of the request before that.
        calls = re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.M)
        waits = [i for i, call in enumerate(calls) if call == "accept"]
        calls = calls[waits[0]:waits[requests]]
        counts[name] = {call: calls.count(call) for call in set(calls)}
    assert [counts["with"].pop(call) / requests
            for call in ("getrusage", "pread64", "clock_gettime")] == [2, 2, 3]
    assert counts["with"] == counts["without"]


def attached(master, tracer):
    worker = master.workers()[0]

    def is_traced():
        with open(f"/proc/{worker}/status") as status:
            return f"TracerPid:\t{tracer}\n" in status.read()
    wait_until(is_traced, 10, "strace to attach")
