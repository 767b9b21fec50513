"""A server that runs without the module or the extension: mpmstat says which, and the command.

In namespaces of its own, with programs that are called as the servers are: what is on this machine
does not matter.
"""
import os
import shutil
import subprocess

import pytest

import boards
import build

SET_UP = """
set -e
mount -t tmpfs none /run
mkdir -p /run/mpmstat /run/apache2 $1/etc/apache2 $1/etc/php
for place in apache2 php; do
    if [ -d /etc/$place ]; then mount --bind $1/etc/$place /etc/$place; fi
done
unset MPMSTAT_RUNDIR XDG_RUNTIME_DIR
cd $1
. ./script
"""

pytestmark = pytest.mark.usefixtures("as_root")


@pytest.fixture
def stage(tmp_path):
    """Runs a script where /run, /etc/apache2 and /etc/php have nothing; what it prints."""
    program = shutil.which("sleep")
    for name in ("apache2", "php-fpm8.2"):
        shutil.copy(program, tmp_path / name)
    for package in ("apache2", "php"):
        if not os.path.isdir(f"/etc/{package}"):
            pytest.skip(f"there is no /etc/{package}")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mpmstat").symlink_to(build.TOOL)

    def run(script):
        (tmp_path / "script").write_text(script)
        done = subprocess.run(
            ["unshare", "-m", "-p", "-f", "--mount-proc", "bash", "-c", SET_UP, "bash", tmp_path],
            env={"PATH": f"{tmp_path}/bin:{build.PATH}", "LC_ALL": "C.UTF-8"}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        if "unshare failed" in done.stdout:
            pytest.skip("needs namespaces")
        return " ".join(done.stdout.split())
    return run


def test_neither_is_loaded(stage):
    said = stage("""
        mkdir -p /etc/apache2/mods-available /etc/php/8.2/mods-available
        touch /etc/apache2/mods-available/mpmstat.load /etc/php/8.2/mods-available/mpmstat.ini
        ./apache2 60 & ./php-fpm8.2 60 &
        mpmstat record -o run.db -- true || echo status $?
        kill %1 %2
    """)
    assert "runs without mod_mpmstat: a2enmod mpmstat, then systemctl reload apache2." in said
    assert ("runs without the extension mpmstat: phpenmod -v 8.2 -s fpm mpmstat, then systemctl "
            "reload php8.2-fpm") in said
    assert "status 3" in said


def test_it_is_enabled_and_the_server_not_reloaded(stage):
    said = stage("""
        mkdir -p /etc/apache2/mods-enabled /etc/php/8.2/fpm/conf.d
        touch /etc/apache2/mods-enabled/mpmstat.load /etc/php/8.2/fpm/conf.d/20-mpmstat.ini
        ./apache2 60 & ./php-fpm8.2 60 &
        mpmstat status || true
        kill %1 %2
    """)
    assert "without mod_mpmstat, although that is enabled: systemctl reload apache2." in said
    assert "mpmstat, although that is enabled: systemctl reload php8.2-fpm" in said


def test_it_is_not_installed(stage):
    said = stage("""
        ./apache2 60 & ./php-fpm8.2 60 &
        mpmstat explain || true
        kill %1 %2
    """)
    assert "install libapache2-mod-mpmstat, or load mod_mpmstat.so" in said
    assert "install php-mpmstat, or set extension=mpmstat.so" in said


def test_one_of_two_is_missing(stage):
    """Where the board of an Apache that has ended is there, that is one line, and the last."""
    said = stage(f"""
        {boards.MAKE_BOARD} /run/apache2/mpmstat.board </dev/null
        ./apache2 60 &
        mpmstat record -o run.db -- true || true
        echo named:
        mpmstat record -o run.db -t /run/apache2/mpmstat.board -- true || true
        kill %1
    """)
    found, named = said.split("named:")
    missing = "runs without mod_mpmstat"
    assert found.count(missing) == named.count(missing) == 1, said
    assert found.endswith("left out: the board of a server that has ended, "
                          "/run/apache2/mpmstat.board (rm removes it) "), said
    assert "the server of /run/apache2/mpmstat.board is not running. apache2 (process " in named
    assert "start it first" not in said


@pytest.mark.parametrize("other, said_last", [
    ("", "left out: PHP-FPM, which does not run: it was killed, or crashed. Start it"),
    ("./php-fpm8.2 60 &", "left out: the board of a server that has ended, /run/mpmstat/fpm.board"),
], ids=["no other PHP", "another without the extension"])
def test_a_fpm_that_ended_before(stage, other, said_last):
    """It is why Apache answers 503, unless another PHP runs in its place."""
    said = stage(f"""
        mkfifo go
        {boards.MAKE_BOARD} /run/apache2/mpmstat.board <go >/dev/null & exec 3>go
        {boards.MAKE_BOARD} /run/gone.board /run/mpmstat/fpm.board </dev/null >/dev/null
        rm /run/gone.board
        {other}
        until mpmstat status >/dev/null 2>&1; do sleep 0.1; done
        mpmstat record -o run.db -- true || true
        exec 3>&-
    """)
    assert said_last in said, said


def test_no_server_at_all(stage):
    said = stage("mpmstat status || true")
    assert "Is a server with mpmstat running?" in said and "without" not in said


def test_a_second_instance_of_apache(stage):
    """As Debian's apache2@two."""
    said = stage(f"""
        mkdir /run/apache2-two
        {boards.MAKE_BOARD} /run/apache2-two/mpmstat.board </dev/null
        mpmstat status
    """)
    assert "Board: apache" in said, said


@pytest.mark.parametrize("closed, group", [
    ("chgrp adm $board; chmod 640 $board", "adm"),
    ("chgrp adm /run/apache2; chmod 750 /run/apache2", "adm"),
    ("chmod 700 /run/apache2", None)])
def test_the_group_that_may_read(stage, closed, group):
    said = stage(f"""
        board=/run/apache2/mpmstat.board
        {boards.MAKE_BOARD} $board </dev/null
        chmod 755 /run /run/apache2
        {closed}
        chmod 711 . ..
        cp {build.TOOL} /run/mpmstat/tool    # the build is closed to other users
        setpriv --reuid=nobody --regid=nogroup --clear-groups /run/mpmstat/tool status || true
    """)
    assert "may not be read by this user (permission denied): " in said, said
    if group:
        assert (f" is for root and the group {group}. Use sudo, or join the group: usermod -aG "
                f"{group} nobody as root, and a new login") in said, said
    else:
        assert "/run/apache2 is for root (user 0) alone. Use sudo" in said, said
