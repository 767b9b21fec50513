"""Boards of processes that have no parent in common (php-cgi), and what others may have
put where a board is to be."""
import grp
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

import build
import fcgid
import php
import processes
import tool
from fpm import FPM
from processes import wait_until

pytestmark = [
    pytest.mark.skipif(php.why_not() is not None, reason=str(php.why_not())),
    pytest.mark.skipif(not php.CGI, reason="needs php-cgi")]
HELLO = "<?php echo 'hello';"
USERS = ("www-data", "nobody")


def user(name):
    return pwd.getpwnam(name).pw_uid


def run_cgi(place, script, uid=None, timeout=30, **more):
    """A request to php-cgi as mod_cgi would start it: (exit code, stdout, stderr)."""
    _, ini = place
    environment = {"PATH": build.PATH, "PHPRC": str(ini), "GATEWAY_INTERFACE": "CGI/1.1",
                   "REQUEST_METHOD": "GET", "REDIRECT_STATUS": "200",
                   "SCRIPT_FILENAME": str(script), **more}
    return subprocess.run([php.CGI], env=environment, text=True, capture_output=True, user=uid,
                          extra_groups=[] if uid else None, timeout=timeout, cwd="/")


def script_in(directory, text=HELLO, name="hello.php"):
    path = directory / name
    path.write_text(text)
    path.chmod(0o644)
    return path


def forks(board):
    return board["lifecycle"]["forks"]["php"]


def label(board):
    return next(entry for entry in board["labels"] if entry["label"] == "default")


def load(apache, path, clients, requests):
    """So many clients, one request after the other each."""
    def loop():
        for _ in range(requests):
            assert apache.get(path, timeout=20).status == 200
            done.append(1)
    done = []
    threads = [threading.Thread(target=loop) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(done) == clients * requests


@pytest.mark.mpms("event", "worker")
@pytest.mark.skipif(not fcgid.FCGID.exists(), reason="needs mod_fcgid")
def test_php_cgi_under_mod_fcgid(server, mpm, place, as_root):
    directory, ini = place
    apache = server(mpm, fcgid.fcgid(5) + f"FcgidInitialEnv PHPRC {ini}\n", modules=["fcgid"])
    apache.page("nap.php", "<?php usleep(20000); echo 'hello';")
    load(apache, "/nap.php", 5, 10)
    path = directory / f"cgi-fcgi-{user('www-data')}.board"
    wait_until(lambda: tool.requests(tool.status(path)) == 50, 10, "all requests")
    board = tool.status(path)
    assert board["running"] == "yes" and board["sapi"] == "cgi-fcgi" and board["pid"] == 0
    assert forks(board) == len(board["slots"]) <= 5
    phases = label(board)["phases"]
    assert phases["php_wait"]["count"] == phases["php_run"]["count"] == 50
    pids = {slot["pid"] for slot in board["slots"]}
    # A killed one is not shown as working, and the next to come clears up after it.
    victim = pids.pop()
    processes.kill(victim, signal.SIGKILL)
    wait_until(lambda: victim not in {s["pid"] for s in tool.status(path)["slots"]}, 10,
               "the killed to be gone")
    for pid in pids:
        processes.kill(pid, signal.SIGKILL)
    wait_until(lambda: tool.status(path)["running"] == "no", 10, "nobody to run")
    apache.allow("End of script output before headers: nap.php")   # by a killed one
    wait_until(lambda: apache.get("/nap.php").status == 200, 30, "a new process")
    board = tool.status(path)
    assert board["running"] == "yes" and board["lifecycle"]["exits"]["killed"] == forks(board) - 1
    apache.stop()
    board = tool.status(path)
    assert board["running"] == "no" and board["stopped"] is not None
    assert board["lifecycle"]["exits"]["clean"] >= 1


@pytest.mark.mpms("prefork")
def test_php_under_plain_cgi(server, mpm, place, as_root):
    """A process for each request; the wait is that of starting it."""
    directory, ini = place
    apache = server(mpm, fcgid.cgi() + f"SetEnv PHPRC {ini}\n", modules=["cgi", "actions"])
    apache.page("hello.php", HELLO)
    load(apache, "/hello.php", 4, 5)
    path = directory / f"cgi-fcgi-{user('www-data')}.board"
    board = wait_until(lambda: (b := tool.status(path))["lifecycle"]["exits"]["clean"] == 20 and b,
                       10, lambda: f"20 ends: {tool.status(path)}")
    assert tool.requests(board) == 20 == forks(board)
    assert board["running"] == "no" and board["slots"] == []
    wait = label(board)["phases"]["php_wait"]
    assert wait["count"] == 20
    assert 0.001 < wait["sum_seconds"] / 20 < 10, "a process had to be started"


def test_a_board_for_each_user(place, as_root):
    directory, _ = place
    script = script_in(directory)
    for name in (*USERS, *USERS):
        done = run_cgi(place, script, uid=user(name))
        assert done.stdout.endswith("hello") and done.stderr == "", done.stderr
    for name in USERS:
        path = directory / f"cgi-fcgi-{user(name)}.board"
        board = tool.status(path)
        assert tool.requests(board) == 2 == board["lifecycle"]["exits"]["clean"]
        state = path.stat()
        assert state.st_uid == user(name) and state.st_mode & 0o777 == 0o640
    assert sorted(p.name for p in directory.iterdir() if ".board." in p.name) == []


def test_many_who_come_at_once_share_one_board(place):
    directory, _ = place
    script = script_in(directory, "<?php usleep(300000);")
    running = []
    for _ in range(3):
        threads = [threading.Thread(target=lambda: running.append(run_cgi(place, script)))
                   for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    board = tool.status(php.board(directory, "cgi-fcgi"))
    assert len(running) == 24 == tool.requests(board) == forks(board)
    assert board["lifecycle"]["exits"]["clean"] == 24 and board["running"] == "no"
    assert [p for p in directory.iterdir() if ".board." in p.name] == []


def own_board(place):
    return place[0] / f"cgi-fcgi-{os.geteuid()}.board"


def assert_not_taken(place, why):
    """The page is served, nothing is recorded and phpinfo() says why. Plain CGI logs
    nothing: it would for each request."""
    page = script_in(place[0], "<?php phpinfo(INFO_MODULES); echo 'hello';", "info.php")
    done = run_cgi(place, page)
    assert done.returncode == 0 and done.stdout.endswith("hello") and done.stderr == ""
    assert why in done.stdout


def test_a_link_is_not_followed(place):
    target = place[0] / "target"
    target.write_bytes(b"precious")
    own_board(place).symlink_to(target)
    assert_not_taken(place, "cannot open the board")
    assert target.read_bytes() == b"precious"


def test_a_file_of_another_user_is_not_written_to(place, as_root):
    path = own_board(place)
    run_cgi(place, script_in(place[0]))
    os.chown(path, user("nobody"), -1)
    before = path.read_bytes()
    assert_not_taken(place, "should be a regular file of user")
    assert path.read_bytes() == before


def test_a_board_that_others_may_write_to_is_not_taken(place):
    path = own_board(place)
    run_cgi(place, script_in(place[0]))
    path.chmod(0o666)
    assert_not_taken(place, "should be a regular file of user")


def test_a_file_that_is_no_board_is_left_alone(place):
    own_board(place).write_bytes(b"a letter to grandmother")
    own_board(place).chmod(0o600)
    assert_not_taken(place, "is a file that is not a board")
    assert own_board(place).read_bytes() == b"a letter to grandmother"


def test_a_directory_and_a_fifo_are_no_boards(place):
    own_board(place).mkdir()
    assert_not_taken(place, "cannot open the board")
    own_board(place).rmdir()
    os.mkfifo(own_board(place), 0o600)
    assert_not_taken(place, "should be a regular file of user")


def test_a_board_of_another_layout_is_replaced_when_nobody_uses_it(place):
    """An update of mpmstat; here, another number of counters' names."""
    path = own_board(place)
    script = script_in(place[0])
    run_cgi(place, script)
    data = bytearray(path.read_bytes())
    data[4096:4100] = b"newf"    # in the name of the first counter
    path.write_bytes(data)
    inode = path.stat().st_ino
    assert run_cgi(place, script).stdout.endswith("hello")
    assert tool.requests(tool.status(path)) == 1 and path.stat().st_ino != inode


def test_a_damaged_board_is_replaced(place):
    path = own_board(place)
    script = script_in(place[0])
    run_cgi(place, script)
    whole = path.read_bytes()
    for damaged in (whole[:len(whole) // 2], whole[:8] + bytes(4088) + whole[4096:], b""):
        path.write_bytes(damaged)
        run_cgi(place, script)
        assert tool.requests(tool.status(path)) == 1


def test_without_its_directory_php_serves_and_says_so_once(as_root, tmp_path):
    """A server whose error log it is."""
    settings = {"extension": php.EXTENSION, "mpmstat.board": "/nonexistent/x.board"}
    with FPM(2, settings=settings, pool="catch_workers_output = yes") as fpm:
        script = fpm.script("hello.php", HELLO)
        for _ in range(10):
            assert php.fastcgi(fpm.socket, script) == (200, "hello")
        fpm.stop()
        said = [line for line in fpm.log_text().splitlines() if "mpmstat" in line]
        assert len(said) == 1, fpm.log_text()
        assert "serving without recording: cannot make the board /nonexistent/x.board" in said[0]


def test_two_masters_do_not_share_a_board(as_root):
    settings = php.settings("@ROOT@/run")
    with FPM(1, settings=settings) as first:
        path = first.board
        with FPM(1, settings={**settings, "mpmstat.board": path}) as second:
            script = second.script("hello.php", HELLO)
            assert php.fastcgi(second.socket, script) == (200, "hello")
            assert "is the board of another running server" in second.log_text()
        assert tool.status(path)["running"] == "yes"
        assert tool.requests(tool.status(path)) == 0


# ---- where boards are, where nothing says so ----------------------------------------------

# "name => value" of each row, as on the command line.
INFO = """<?php ob_start(); phpinfo(INFO_MODULES);
$rows = str_replace([' </td><td class="v">', ' </td></tr>'], [' => ', ''], ob_get_clean());
echo html_entity_decode(strip_tags($rows)), "hello";"""
NO_PLACE = "recording => there is no place for a board of user"


@pytest.fixture
def anywhere(php_boards):
    """A directory with a script, and a php.ini that names no place for boards."""
    php_boards.chmod(0o755)
    php.write_ini(php_boards, {"extension": php.EXTENSION})
    script_in(php_boards, INFO, "info.php")
    return php_boards


def private_run(anywhere, steps, *arguments):
    """What a shell prints that has a /run of its own; `cgi USER [VARIABLE=VALUE...]` in its
    steps is a request to php-cgi."""
    why = subprocess.run(["unshare", "-m", "true"], stderr=subprocess.PIPE, text=True, timeout=30)
    if why.returncode:
        pytest.skip(f"needs a mount namespace: {why.stderr.strip()}")
    command = (f"env -i PATH={build.PATH} PHPRC={anywhere} GATEWAY_INTERFACE=CGI/1.1 "
               f"REQUEST_METHOD=GET REDIRECT_STATUS=200 SCRIPT_FILENAME={anywhere}/info.php")
    prologue = f"""set -e
        mount -t tmpfs -o size=64m,mode=755 tmpfs /run
        cgi() {{
            user=$1; shift
            setpriv --reuid="$user" --regid=nogroup --clear-groups {command} "$@" {php.CGI}
        }}
        """
    done = subprocess.run(["unshare", "-m", "sh", "-c", prologue + steps, "sh",
                           *map(str, arguments)], cwd="/", text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert done.stderr == "", done.stderr
    return done.stdout


def test_nothing_is_made_that_all_users_may_write_to(anywhere, as_root):
    """Root's board is in root's directory; another user has none, and phpinfo() says why."""
    said = private_run(anywhere, """
        cgi root | grep '^board =>'
        cgi nobody | grep -e '^recording =>' -e hello
        echo "open: $(find /run -perm -o+w ! -type l)"
        echo "there: $(cd /run/mpmstat && echo *)" """)
    board, why, hello, opened, there = said.splitlines()
    assert board == "board => /run/mpmstat/cgi-fcgi-0.board"
    assert why.startswith(f"{NO_PLACE} {user('nobody')},") and "mpmstat.board" in why
    assert (hello, opened, there) == ("hello", "open: ", "there: cgi-fcgi-0.board")


def test_a_user_with_a_runtime_directory_has_a_board_there(anywhere, as_root):
    runtime = anywhere / "runtime"
    runtime.mkdir(mode=0o700)
    shutil.chown(runtime, "nobody")
    said = private_run(anywhere, """
        cgi nobody "XDG_RUNTIME_DIR=$1" | grep "^board =>"
        cp "$2" /run/mpmstat-tool
        XDG_RUNTIME_DIR=$1 setpriv --reuid=nobody --clear-groups /run/mpmstat-tool status |
            grep ^BoardPath""", runtime, build.TOOL)
    path = runtime / "mpmstat" / f"cgi-fcgi-{user('nobody')}.board"
    assert said.splitlines() == [f"board => {path}", f"BoardPath: {path}"]
    assert tool.requests(tool.status(path)) == 1
    assert path.parent.stat().st_mode & 0o7777 == 0o700


@pytest.mark.parametrize("owner, mode", [("root", 0o755), ("root", 0o1777), ("nobody", 0o777),
                                         ("www-data", 0o700), ("nobody", None)])
def test_a_runtime_directory_of_others_is_none(anywhere, as_root, owner, mode):
    """Left over from another user's environment, or made for somebody to step into."""
    runtime = anywhere / "runtime"
    if mode is None:
        runtime.touch()
    else:
        runtime.mkdir()
        runtime.chmod(mode)
    shutil.chown(runtime, owner)
    said = private_run(anywhere, 'cgi nobody "XDG_RUNTIME_DIR=$1"', runtime)
    assert NO_PLACE in said and said.endswith("hello")
    assert mode is None or list(runtime.iterdir()) == []


@pytest.mark.skipif(not (build.SRCDIR / "debian").exists(),
                    reason="the source archive is without debian/")
def test_an_upgrade_closes_the_place_where_all_users_could_write(anywhere, as_root):
    """Debian's package: up to 0.1.0 it was on /run. What a process has mapped stays for it; a
    file system that was mounted there is another thing."""
    postinst = (build.SRCDIR / "debian" / "php-mpmstat.postinst").read_text()
    function = re.search(r"^close_shared_boards\(\) \{$.*?^\}$", postinst, re.M | re.S).group() \
        + "\nclose_shared_boards\n"
    hold = anywhere / "hold.py"
    hold.write_text("import mmap, subprocess, sys\n"
                    "board = open('/run/mpmstat/php/live.board', 'r+b')\n"
                    "mapped = mmap.mmap(board.fileno(), 0)\n"
                    "sys.exit(subprocess.run(['sh', '-ec', sys.argv[1]]).returncode)\n")
    said = private_run(anywhere, """
        mkdir -p /run/mpmstat/php
        chmod 1773 /run/mpmstat/php
        mount -t tmpfs -o mode=1773 tmpfs /run/mpmstat/php
        touch /run/mpmstat/php/an.board
        sh -ec "$1"
        stat -c '%a %n' /run/mpmstat/php /run/mpmstat/php/*
        umount /run/mpmstat/php
        echo board >/run/mpmstat/php/live.board
        echo board >'/run/mpmstat/php/a dead.board'
        ln -s /etc/passwd /run/mpmstat/php/link.board
        python3 "$2" "$1"
        stat -c '%a %n' /run/mpmstat/php /run/mpmstat/php/*
        sh -ec "$1"
        ls /run/mpmstat /etc/passwd""", function, hold)
    assert said.splitlines() == [
        "1773 /run/mpmstat/php", "644 /run/mpmstat/php/an.board",
        "755 /run/mpmstat/php", "644 /run/mpmstat/php/live.board",
        "/etc/passwd", "", "/run/mpmstat:"]


def documented_file_systems():
    """The options of those that the document has for php-cgi's boards."""
    text = (build.SRCDIR / "phpapp" / "ext" / "README.md").read_text()
    return re.findall(r"^    tmpfs /run/mpmstat/php tmpfs (\S+) 0 0$", text, re.M)


def test_a_small_file_system_for_all_users_bounds_what_they_fill(anywhere, as_root):
    """A process that finds no room serves and records nothing, and leaves nothing; others
    go on."""
    php.write_ini(anywhere, {"extension": php.EXTENSION, "mpmstat.board": "/run/mpmstat/php/"})
    for_all = re.sub(r"\bsize=\d+m", "size=6m", documented_file_systems()[0])
    said = private_run(anywhere, """
        mount -t tmpfs -o "$3" tmpfs /run/mpmstat/php
        cgi www-data | grep -e '^recording =>' -e hello
        setpriv --reuid=nobody --clear-groups sh -c 'cat /dev/zero >/run/mpmstat/php/junk' \
            2>/dev/null || true
        cgi nobody | grep -e '^recording =>' -e hello
        cgi www-data >/dev/null
        echo "there: $(cd /run/mpmstat/php && echo *)"
        "$1" status --format json "/run/mpmstat/php/cgi-fcgi-$2.board" """,
                       build.TOOL, user("www-data"), for_all)
    on, first, off, second, there, board = said.split("\n", 5)
    assert (on, first, second) == ("recording => on", "hello", "hello")
    assert off.startswith("recording => cannot allocate the ") and "free room there" in off
    assert there == f"there: cgi-fcgi-{user('www-data')}.board junk"
    assert tool.requests(json.loads(board)["boards"][0]) == 2


def test_a_small_file_system_for_one_user(anywhere, as_root):
    php.write_ini(anywhere, {"extension": php.EXTENSION, "mpmstat.board": "/run/mpmstat/php/"})
    said = private_run(anywhere, """
        mount -t tmpfs -o "$1" tmpfs /run/mpmstat/php
        cgi www-data | grep '^recording =>'
        cgi nobody | grep '^recording =>'
        cd /run/mpmstat/php && echo *""", documented_file_systems()[1])
    on, off, there = said.splitlines()
    assert on == "recording => on" and "Permission denied" in off
    assert there == f"cgi-fcgi-{user('www-data')}.board"


@pytest.mark.parametrize("has_place", [True, False])
def test_a_master_that_is_not_roots(anywhere, as_root, has_place):
    """It says once, as it starts, that it has no place."""
    master = FPM(1, settings={"extension": php.EXTENSION})
    for path in (master.root, master.root / "run"):
        shutil.chown(path, "nobody")
    (master.root / "run").chmod(0o700)
    master.wrapper = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    if has_place:
        master.environment["XDG_RUNTIME_DIR"] = str(master.root / "run")
    with master:
        script = master.script("hello.php", HELLO)
        for _ in range(3):
            assert php.fastcgi(master.socket, script) == (200, "hello")
        boards = list((master.root / "run").glob("mpmstat/fpm-fcgi-*.board"))
        said = [line for line in master.log_text().splitlines() if "without recording" in line]
        if has_place:
            assert tool.requests(tool.status(boards[0])) == 3 and said == []
        else:
            assert boards == [] and len(said) == 1 and "there is no place for a board" in said[0]


SUEXEC = Path("/usr/lib/apache2/suexec")
# In a mount namespace of the server's own: suexec's configuration and log are where its
# program says, whatever the server is told.
MOUNTS = """mount --bind "$1/configuration" /etc/apache2/suexec &&
mount -t tmpfs -o size=1m tmpfs /var/log && mkdir /var/log/apache2 &&
mount --bind "$1/log" /var/log/apache2 && shift && exec "$@" """


def why_no_suexec():
    if SUEXEC.resolve().name != "suexec-custom":
        return "needs apache2-suexec-custom"
    if not (build.APACHE_MODULES / "mod_suexec.so").exists():
        return "needs mod_suexec"
    if os.geteuid() != 0:
        return "needs root"
    done = subprocess.run(["unshare", "-m", "mount", "--bind", "/tmp", "/mnt"], timeout=30,
                          stderr=subprocess.PIPE, text=True)
    return done.stderr and f"needs a mount namespace: {done.stderr.strip()}"


@pytest.fixture
def suexec(place):
    """The directory of what php-cgi under suexec needs: `php` is the program."""
    if why_no_suexec():
        pytest.skip(why_no_suexec())
    directory = place[0] / "suexec"
    (directory / "log").mkdir(parents=True)
    (directory / "configuration").mkdir()
    (directory / "configuration" / "www-data").write_text(f"{directory}\n#\n")
    program = directory / "bin" / "php"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexport PHPRC={place[1]}\nexec {php.CGI}\n")
    program.chmod(0o755)
    for path in (program, program.parent):
        shutil.chown(path, "nobody", "nogroup")
    return directory


def suexec_server(server, mpm, directory, extra, modules):
    return server(mpm, "SuexecUserGroup nobody nogroup\n" + extra,
                  modules=["suexec", *modules],
                  wrapper=["unshare", "-m", "sh", "-c", MOUNTS, "sh", str(directory)])


@pytest.mark.mpms("event")
@pytest.mark.skipif(not fcgid.FCGID.exists(), reason="needs mod_fcgid")
def test_php_cgi_under_suexec_has_a_board_of_its_user(server, mpm, place, suexec):
    apache = suexec_server(server, mpm, suexec, fcgid.fcgid(2, suexec / "bin" / "php"), ["fcgid"])
    apache.page("who.php", "<?php echo posix_geteuid();")
    for _ in range(5):
        assert apache.get("/who.php").text() == str(user("nobody"))
    assert [path.name for path in place[0].glob("*.board")] == [f"cgi-fcgi-{user('nobody')}.board"]
    path = php.board(place[0], "cgi-fcgi")
    board = wait_until(lambda: tool.requests(b := tool.status(path)) == 5 and b, 10, "5 requests")
    state = path.stat()
    assert (state.st_uid, state.st_mode & 0o777) == (user("nobody"), 0o640)
    assert board["running"] == "yes" and len(board["slots"]) == forks(board) <= 2
    assert label(board)["phases"]["php_wait"]["count"] == 5


@pytest.mark.mpms("prefork")
def test_plain_cgi_under_suexec_has_one_and_does_not_know_the_wait(server, mpm, place, suexec):
    """suexec leaves out the variables that it does not know, so MPMSTAT."""
    apache = suexec_server(server, mpm, suexec, fcgid.cgi(suexec / "bin" / "php"),
                           ["cgi", "actions"])
    apache.page("who.php", "<?php echo posix_geteuid();")
    for _ in range(3):
        assert apache.get("/who.php").text() == str(user("nobody"))
    path = place[0] / f"cgi-fcgi-{user('nobody')}.board"
    board = wait_until(lambda: (b := tool.status(path))["lifecycle"]["exits"]["clean"] == 3 and b,
                       10, "3 ends")
    assert tool.requests(board) == 3 == label(board)["phases"]["php_run"]["count"]
    assert label(board)["phases"]["php_wait"]["count"] == 0


def test_a_master_for_each_tenant_has_its_own_board(php_boards, as_root):
    """Of the same directory, nothing else being set: the name has the configuration's in it."""
    php_boards.chmod(0o755)
    groups = ("adm", "nogroup")
    with FPM(1, settings=php.settings(php_boards, group=groups[0])) as first, \
            FPM(1, settings=php.settings(php_boards, group=groups[1])) as second:
        php.fastcgi(second.socket, second.script("hello.php", HELLO))
        for master, group, requests in zip((first, second), groups, (0, 1)):
            found = [b for b in php_boards.glob("fpm-fcgi-*.board")
                     if master.root.name in b.name]
            assert len(found) == 1 and tool.requests(tool.status(found[0])) == requests
            assert tool.status(found[0])["pid"] == master.pid
            state = found[0].stat()
            assert (state.st_uid, state.st_gid) == (0, grp.getgrnam(group).gr_gid)
            assert state.st_mode & 0o777 == 0o640


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not build.MOD_PHP, reason="needs mod_php")
def test_mod_php_keeps_its_board_through_restarts(php_server, mpm, php_boards, as_root):
    apache = php_server(mpm, workers=4, settings=php.settings(php_boards))
    apache.page("hello.php", HELLO)
    path = php.board(php_boards, "apache2handler")
    inode, served = path.stat().st_ino, 0
    for signum in (signal.SIGUSR1, signal.SIGHUP, signal.SIGUSR1):
        for _ in range(10):
            assert apache.get("/hello.php").text() == "hello"
        served += 10
        apache.restart(signum)
        board = wait_until(lambda: (b := tool.status(path))["running"] == "yes"
                           and tool.requests(b) == served and b, 10, "the board to go on")
        assert path.stat().st_ino == inode
    assert board["pid"] == apache.pid
    assert board["generation"] == board["lifecycle"]["generations"] == 3
    apache.stop()
    board = tool.status(path)
    assert board["running"] == "no" and board["stopped"] is not None
    assert sum(board["lifecycle"]["exits"].values()) == forks(board) > 0
    assert tool.requests(board) == served == int(label(board)["status"]["2xx"])


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not build.MOD_PHP, reason="needs mod_php")
def test_itk_serves_php_as_another_user(php_server, mpm, php_boards, as_root):
    """A process for each connection, forked by a child of Apache's."""
    module = build.APACHE_MODULES / "mpm_itk.so"
    if not module.exists():
        pytest.skip("needs mpm_itk (libapache2-mpm-itk)")
    extra = f"LoadModule mpm_itk_module {module}\nAssignUserID nobody nogroup\n"
    apache = php_server(mpm, extra, workers=4, settings=php.settings(php_boards))
    apache.page("who.php", "<?php echo posix_geteuid();")
    for _ in range(10):
        assert apache.get("/who.php").text() == str(user("nobody"))
    path = php.board(php_boards, "apache2handler")
    board = wait_until(lambda: (b := tool.status(path)) and sum(b["lifecycle"]["exits"].values())
                       == 10 and b, 10, lambda: f"10 ends: {tool.status(path)}")
    assert tool.requests(board) == 10 == forks(board)
    assert board["lifecycle"]["requests_unfinished"] == 0
