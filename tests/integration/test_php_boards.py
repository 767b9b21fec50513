"""Boards of processes that have no parent in common (php-cgi), and what others may have
put where a board is to be."""
import grp
import os
import pwd
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

@pytest.fixture
def place(php_boards, tmp_path):
    """A directory for boards that everybody may write to, and one with a php.ini for it."""
    php_boards.chmod(0o1777)
    ini = php_boards / "ini"
    ini.mkdir()
    ini.chmod(0o755)
    php.write_ini(ini, php.settings(php_boards))
    return php_boards, ini


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
    assert_not_taken(place, "is a file that is no board")
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


SUEXEC = Path("/usr/lib/apache2/suexec")
# In a mount namespace of the server's own: suexec's configuration and log are where its
# program says, whatever the server is told.
MOUNTS = """mount --bind "$1/configuration" /etc/apache2/suexec &&
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
