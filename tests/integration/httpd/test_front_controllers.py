"""The status page of Debian's package answers on the site of an application that takes every URL:
whatever rules are in its .htaccess, or in the server's configuration."""
import re
from pathlib import Path

import pytest

import build

PACKAGED = build.SRCDIR / "debian" / "mpmstat.conf"
pytestmark = pytest.mark.skipif(not PACKAGED.exists(),
                                reason="the source archive is without debian/")
WORDPRESS = Path("/usr/share/wordpress/wp-includes/class-wp-rewrite.php")
SITE = """
<Directory "@ROOT@/htdocs">
    Options FollowSymLinks
    AllowOverride All
    Require all granted
</Directory>
"""
TAKEN = "<h1>the application</h1>\n"


def wordpress_rules():
    """As WordPress writes them, from its own source: the strings of its function, in their order,
    for a site at / without verbose rules."""
    if not WORDPRESS.exists():
        pytest.skip(f"needs {WORDPRESS}")
    function = WORDPRESS.read_text().split("function mod_rewrite_rules()")[1]
    function = function.split("$rules  = ")[1].split("/**")[0]
    start, branches = function.split("// Add in the rules")
    _, plain = branches.split("} else {\n\t\t\t$rules .= ")
    lines = re.findall(r'"((?:[^"\\]|\\.)*)"', start + plain.replace("'", '"'))
    text = "".join(lines).replace("\\n", "\n").replace("{$home_root}", "/")
    return text.replace("{$this->index}", "index.php").replace("$home_root", "/")


HTACCESS = {
    "WordPress": None,
    "all but files": """
        RewriteEngine On
        RewriteCond %{REQUEST_FILENAME} !-f
        RewriteRule ^ index.html [L]
        """,
    "all": "RewriteEngine On\nRewriteRule !^index.html$ /index.html [END]",
    "in <If>": '<If "true">\nRewriteEngine On\nRewriteRule !index.html$ /index.html [END]\n</If>',
    "FallbackResource": "FallbackResource /index.html",
    "redirect": "RedirectMatch ^/mpm-status /index.html",
    "https": "RewriteEngine On\nRewriteRule ^ https://other.example/ [R=301,L]",
    "404": "RedirectMatch 404 ^/mpm",
    "handler": "SetHandler default-handler\nRequire all denied",
    "mistake": "NoSuchDirective",
}
SERVERS = {
    "virtual host": ("rewrite", """
        <VirtualHost *:*>
            DocumentRoot "@ROOT@/htdocs"
            RewriteEngine On
            RewriteCond %{REQUEST_URI} !^/index.html
            RewriteRule ^ /index.html
        </VirtualHost>"""),
    "https": ("rewrite", """
        RewriteEngine On
        RewriteRule ^ https://other.example/ [R=301]"""),
    "directory": ("rewrite", """
        <Directory "@ROOT@/htdocs">
            RewriteEngine On
            RewriteRule !^index.html$ /index.html
        </Directory>"""),
    "FallbackResource": ("dir", "FallbackResource /index.html"),
    "ProxyPass": ("proxy_http", 'ProxyPass "/" "http://127.0.0.1:9/"'),
    "ProxyPassMatch": ("proxy_http", 'ProxyPassMatch "^(.*)" "http://127.0.0.1:9$1"'),
    "location": ("proxy_http", '<Location "/">\nProxyPass "http://127.0.0.1:9/"\n</Location>'),
}


def assert_answers(apache):
    for path in ("/mpm-status", "/mpm-status?format=json", "/mpm-status/"):
        answer = apache.get(path)
        assert answer.status == 200, (path, answer)
        assert "Board: apache" in answer.text() or '"boards":' in answer.text(), (path, answer)


@pytest.mark.mpms("event")
@pytest.mark.parametrize("rules", HTACCESS)
def test_htaccess_files(server, mpm, rules):
    """A page of the application shows that its rules are in force."""
    apache = server(mpm, SITE, modules=["rewrite"], status=PACKAGED.read_text())
    apache.allow("NoSuchDirective|AH01630")
    htdocs = apache.root / "htdocs"
    for name in ("index.html", "index.php"):
        (htdocs / name).write_text(TAKEN)
    (htdocs / ".htaccess").write_text((HTACCESS[rules] or wordpress_rules()) + "\n")
    taken = apache.get("/mpm-status-of-theirs")
    assert TAKEN in taken.text() if rules in ("WordPress", "all but files", "all", "in <If>",
                                              "FallbackResource") else taken.status != 200
    assert_answers(apache)


@pytest.mark.mpms("event")
@pytest.mark.parametrize("rules", SERVERS)
def test_the_servers_configuration(server, mpm, rules):
    module, text = SERVERS[rules]
    apache = server(mpm, text, modules=["rewrite", "proxy", module], status=PACKAGED.read_text())
    apache.allow("AH00957|AH01114")     # nothing listens at the backend's port
    (apache.root / "htdocs" / "index.html").write_text(TAKEN)
    assert TAKEN in apache.get("/theirs").text() or apache.get("/theirs").status != 200
    assert_answers(apache)


@pytest.mark.mpms("event")
def test_what_the_packaged_location_keeps(server, mpm):
    """The page is only for this machine, and what is beside it is the application's."""
    apache = server(mpm, SITE + 'RemoteIPHeader X-Client\nRemoteIPInternalProxy 127.0.0.1',
                    modules=["rewrite", "remoteip"], status=PACKAGED.read_text())
    apache.allow("AH01630")
    (apache.root / "htdocs" / ".htaccess").write_text('<If "true">\nRequire all granted\n</If>\n')
    assert apache.get("/mpm-status", headers={"X-Client": "192.0.2.1"}).status == 403
    assert_answers(apache)
