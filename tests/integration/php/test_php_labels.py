"""What PHP's requests are counted under where others than the server's administrator say so:
.user.ini, .htaccess, and what a web server sends with a request."""
import pytest

import build
import php
import tool
from fpm import FPM

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
HELLO = "<?php echo 'hello';"
USER = "user = www-data\ngroup = www-data\nlisten.mode = 0666"
QUOTA = 8


@pytest.fixture
def fpm(as_root):
    """fpm(pool=..., setting=value): a master with the extension, stopped after the test."""
    running = []

    def start(pool="", **more):
        master = FPM(1, pool=pool, settings=php.settings("@ROOT@/run", **more))
        running.append(master.__enter__())
        return master

    yield start
    for master in running:
        master.__exit__(None, None, None)


def pool(name, lines=""):
    return (f"[{name}]\n{USER}\nlisten = @ROOT@/{name}.sock\npm = static\npm.max_children = 1\n"
            f"{lines}\n")


def site(root, label):
    """A script in a directory of its own, whose .user.ini has the label."""
    root.mkdir(parents=True)
    (root / ".user.ini").write_text(f"mpmstat.label = {label}\n")
    script = root / "hello.php"
    script.write_text(HELLO)
    return script


def ask(master, script, socket="fpm", **variables):
    status, body = php.fastcgi(master.root / f"{socket}.sock", script,
                               DOCUMENT_ROOT=str(script.parent), **variables)
    assert (status, body) == (200, "hello")


def counts(board):
    return {e["label"]: e["requests"] for e in tool.labels(tool.status(board)) if e["requests"]}


def test_user_ini_cannot_use_up_the_labels(fpm):
    """Of a hundred labels one pool gets eight, whatever its document roots; its other requests
    are its own. Another pool has its eight."""
    master = fpm(pool("second"))
    for n in range(100):
        ask(master, site(master.root / f"d{n}", f"label{n}"))
    expected = {**{f"label{n}": 1 for n in range(QUOTA)}, "www": 100 - QUOTA}
    assert counts(master.board) == expected
    for n in range(10):
        ask(master, site(master.root / f"s{n}", f"second{n}"), "second")
    expected |= {**{f"second{n}": 1 for n in range(QUOTA)}, "second": 10 - QUOTA}
    assert counts(master.board) == expected


@pytest.mark.parametrize("variable", ["PHP_VALUE", "PHP_ADMIN_VALUE"])
def test_labels_that_come_with_a_request_have_the_quota_too(fpm, variable):
    """mod_env sets these variables in .htaccess, and FPM takes them for configuration."""
    master = fpm()
    script = master.script("hello.php", HELLO)
    for n in range(100):
        ask(master, script, **{variable: f"mpmstat.label=label{n}"})
    assert counts(master.board) == {**{f"label{n}": 1 for n in range(QUOTA)}, "www": 100 - QUOTA}


def test_the_pools_own_labels_have_none(fpm):
    """A third of the table, where all tenants together have a quarter."""
    master = fpm("".join(pool(f"p{n}", f"php_admin_value[mpmstat.label] = own{n}")
                         for n in range(22)))
    script = master.script("hello.php", HELLO)
    for n in range(22):
        ask(master, script, f"p{n}")
    assert counts(master.board) == {f"own{n}": 1 for n in range(22)}


def test_what_is_refused_is_counted_under_what_the_pool_has_set(fpm):
    master = fpm(pool("shop", "php_value[mpmstat.label] = the-shop"), tenant_labels=0)
    script = site(master.root / "d", "wanted")
    for _ in range(3):
        ask(master, script, "shop")
    assert counts(master.board) == {"the-shop": 3}
    # A label that is there can be named; and what is the pool's own is so again afterwards.
    ask(master, site(master.root / "e", "the-shop"))
    ask(master, master.script("plain.php", HELLO), "shop")
    ask(master, master.script("plain.php", HELLO))
    assert counts(master.board) == {"the-shop": 5, "www": 1}


def test_phpinfo_says_that_there_is_no_room(fpm):
    master = fpm(tenant_labels=0)
    script = site(master.root / "d", "wanted")
    script.write_text("<?php ini_set('html_errors', 0); phpinfo(INFO_MODULES);")
    body = php.fastcgi(master.socket, script, DOCUMENT_ROOT=str(script.parent))[1]
    assert "www (there is no room for wanted: see mpmstat.tenant_labels)" in body


@pytest.mark.parametrize("label", ['"two words"', "x" * 64, '"a;b"', '"\xfc"', '"line\x1b[2J"'])
def test_what_is_no_label_is_refused_once(fpm, label):
    """As in Apache's directive; nothing of it is printed that a terminal obeys."""
    master = fpm("catch_workers_output = yes\n")
    script = site(master.root / "d", label)
    for _ in range(5):
        ask(master, script)
    assert counts(master.board) == {"www": 5}
    said = [line for line in master.log_text().splitlines() if "mpmstat" in line]
    assert len(said) == 1 and "mpmstat.label must have 1 to 63 letters" in said[0]
    assert "\x1b" not in said[0]


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(not build.MOD_PHP, reason="needs mod_php")
def test_htaccess_of_mod_php(php_server, mpm, php_boards, as_root):
    """A document root is a tenant; what the configuration sets is not."""
    hosts = "".join(f"""
<VirtualHost *:*>
    ServerName {name}.example
    DocumentRoot "@ROOT@/htdocs/{name}"
    {more}
</VirtualHost>""" for name, more in (("one", ""), ("two", ""), (
        "three", "php_admin_value mpmstat.label third")))
    apache = php_server(mpm, '<Directory "@ROOT@/htdocs">\nAllowOverride Options\n</Directory>'
                        + hosts, workers=1, settings=php.settings(php_boards))
    for name, number in (("one", 20), ("two", 5), ("three", 2)):
        for n in range(number):
            directory = apache.root / "htdocs" / name / f"d{n}"
            directory.mkdir(parents=True)
            (directory / "hello.php").write_text(HELLO)
            (directory / ".htaccess").write_text(f"php_value mpmstat.label {name}{n}\n")
            answer = apache.get(f"/d{n}/hello.php", headers={"Host": f"{name}.example"})
            assert (answer.status, answer.text()) == (200, "hello")
    assert counts(php.board(php_boards, "apache2handler")) == {
        **{f"one{n}": 1 for n in range(QUOTA)}, "default": 20 - QUOTA,
        **{f"two{n}": 1 for n in range(5)}, "third": 2}
