"""/mpm-status is for the clients that the server's own configuration lets in, at the place where
it puts the page, whatever tenants write into their .htaccess files and whatever proxies are in
between."""
import base64

import pytest

import http2
import tool
from apache import Apache
from processes import wait_until

MODULES = ["rewrite", "actions", "headers", "access_compat", "include", "remoteip", "auth_basic",
           "authn_core", "authn_file", "authz_user", "proxy", "proxy_http"]
STATUS = """
<Location "/mpm-status">
    SetHandler mpm-status
    Require local
</Location>
<Location "/nobodys">
    SetHandler mpm-status
    Require ip 192.0.2.1
</Location>
<Directory "@ROOT@/htdocs/closed">
    SetHandler mpm-status
    Require ip 192.0.2.1
</Directory>
<Location "/secret">
    SetHandler mpm-status
    AuthType Basic
    AuthName status
    AuthUserFile "@ROOT@/users"
    Require valid-user
</Location>
"""
TENANTS = """
<Directory "@ROOT@/htdocs">
    Options All
    AllowOverride All
</Directory>
ProxyRequests Off
"""
PASSWORD = "admin:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n"     # of "secret"
ADMIN = {"Authorization": "Basic " + base64.b64encode(b"admin:secret").decode()}


def is_status(answer):
    return "Board: apache" in answer.text()


@pytest.fixture(scope="module")
def apache(mpm):
    apache = Apache(mpm, TENANTS, modules=MODULES, log_level="info",
                    status=STATUS)
    apache.status_block = STATUS.replace("@ROOT@", str(apache.root))
    apache.write_configuration()
    (apache.root / "users").write_text(PASSWORD)
    apache.allow("AH01630|AH01617|AH01797")     # denied, as it should be
    with apache:
        yield apache


FILES = ("page", "some.page")


@pytest.fixture
def tenant(apache, request):
    """tenant(.htaccess): the URL path of a new directory with that, and with the files."""
    made = []

    def make(htaccess, directory=None):
        name = directory if directory is not None else f"tenant{len(made)}"
        path = apache.root / "htdocs" / name
        path.mkdir(exist_ok=True)
        made.append(path)
        for file in FILES:
            (path / file).write_text("a page\n")
        (path / ".htaccess").write_text(htaccess.replace("@URL@", f"/{name}") + "\n")
        return f"/{name}" if name else ""

    yield make
    for path in made:
        for name in (*FILES, ".htaccess"):
            (path / name).unlink()
        if path.name != "htdocs":
            path.rmdir()


# ---- where it is --------------------------------------------------------------------------


WAYS = {
    "SetHandler": ("SetHandler mpm-status", "/page"),
    "SetHandler of no file": ("SetHandler mpm-status", "/anything/below"),
    "SetHandler of the directory": ("SetHandler mpm-status", "/"),
    "SetHandler, capitals": ("SetHandler MPM-Status", "/page"),
    "an expression": ('SetHandler "mpm-%{tolower:STATUS}"', "/page"),
    "AddHandler": ("AddHandler mpm-status .page", "/some.page"),
    "ForceType": ("ForceType mpm-status", "/page"),
    "<Files>": ("<Files page>\nSetHandler mpm-status\n</Files>", "/page"),
    "<FilesMatch>": ("<FilesMatch ^p>\nSetHandler mpm-status\n</FilesMatch>", "/page"),
    "<If>": ('<If "true">\nSetHandler mpm-status\n</If>', "/page"),
    "<If> in <Files>": ('<Files page>\n<If "-f %{REQUEST_FILENAME}">\nSetHandler mpm-status\n</If>\n'
                        "</Files>", "/page"),
    "RewriteRule": ('RewriteEngine On\nRewriteRule "^page$" "-" [H=mpm-status]', "/page"),
    "RewriteRule to a file": ('RewriteEngine On\nRewriteRule "^other$" "page" [H=mpm-status]',
                              "/other"),
    "RewriteRule to a path": ("SetHandler mpm-status\n"
                              'RewriteEngine On\nRewriteRule "^other$" "@URL@/page"', "/other"),
    "DirectoryIndex": ("DirectoryIndex some.page\nAddHandler mpm-status .page", "/"),
    "FallbackResource": ("FallbackResource @URL@/some.page\nAddHandler mpm-status .page",
                         "/other"),
    "ErrorDocument": ("ErrorDocument 404 @URL@/page\n<Files page>\nSetHandler mpm-status\n</Files>",
                      "/missing"),
    "Action": ("AddHandler theirs theirs\nAction theirs @URL@/page virtual\n"
               "<Files page>\nSetHandler mpm-status\n</Files>", "/some.theirs"),
    "include": ("Options +Includes\nAddOutputFilter INCLUDES .shtml\nAddType text/html .shtml\n"
                "<Files page>\nSetHandler mpm-status\n</Files>", "/in.shtml"),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_htaccess_puts_it_anywhere(apache, tenant, way):
    htaccess, path = WAYS[way]
    url = tenant(htaccess)
    included = apache.root / "htdocs" / url[1:] / "in.shtml"
    if way == "include":
        included.write_text('<!--#include virtual="page" -->')
    try:
        for query in ("", "?format=text", "?format=journal&since=start"):
            answer = apache.get(url + path + query)
            assert not is_status(answer), (way, answer)
            assert '"next":' not in answer.text() and '"boards":' not in answer.text(), answer
    finally:
        included.unlink(missing_ok=True)


@pytest.mark.parametrize("htaccess", ["SetHandler mpm-status", "AddHandler mpm-status .page",
                                      '<If "true">\nSetHandler mpm-status\n</If>'])
def test_its_refusal_says_why(apache, tenant, htaccess):
    """To the client, and once in the log. It is the tenant's request, not the page's."""
    # A request of the test before may end after its answer.
    before = wait_until(lambda: (b := tool.status(apache.board))["workers"]["busy"] == 0 and b, 30,
                        "all workers idle")
    lines = len(apache.log_lines("MPMSTAT40"))
    answer = apache.get(tenant(htaccess) + "/some.page")
    assert answer.status == 403 and answer.headers["content-type"].startswith("text/plain")
    assert "only where the server's own configuration sets it" in answer.text(), answer
    assert "put SetHandler mpm-status into a <Location>" in answer.text(), answer
    (line,) = apache.log_lines("MPMSTAT40")[lines:]
    assert "mpmstat:info" in line and "put SetHandler mpm-status into a <Location>" in line
    wait_until(lambda: tool.requests(tool.status(apache.board)) == tool.requests(before) + 1, 5,
               "one request more that is not the page's own")


HARMLESS = """
Options +Indexes
AddType text/x-nothing .nothing
<Files "*.secret">
    Require all denied
</Files>
"""
READ = '\n<Directory "@ROOT@/htdocs">\nOptions All\nAllowOverride All\n</Directory>\n'
SERVERS_WAYS = {
    "Location": '<Location "/way">\nSetHandler mpm-status\n</Location>',
    "LocationMatch": '<LocationMatch "^/way">\nSetHandler mpm-status\n</LocationMatch>',
    "Directory": '<Directory "@ROOT@/htdocs/way">\nSetHandler mpm-status\n</Directory>',
    "Files": '<Directory "@ROOT@/htdocs">\n<Files "page.*">\nSetHandler mpm-status\n</Files>\n'
             "</Directory>",
    "If": '<If "%{REQUEST_URI} =~ m#^/way#">\nSetHandler mpm-status\n</If>',
    "expression": '<Location "/way">\nSetHandler "%{tolower:MPM}-status"\n</Location>',
    "virtual host": "<VirtualHost *:*>\nServerName main.example\n</VirtualHost>\n<VirtualHost *:*>\n"
                    'ServerName way.example\n<Location "/way">\nSetHandler mpm-status\n'
                    "</Location>\n</VirtualHost>",
    "whole host": "<VirtualHost *:*>\nServerName main.example\n</VirtualHost>\n<VirtualHost *:*>\n"
                  "ServerName way.example\nSetHandler mpm-status\n</VirtualHost>",
    "AddHandler": "AddHandler mpm-status .way",
    "RewriteRule": 'RewriteEngine On\nRewriteRule "^/way" "-" [H=mpm-status]',
    "rewritten": '<Location "/there">\nSetHandler mpm-status\n</Location>\n'
                 'RewriteEngine On\nRewriteRule "^/way" "/there" [PT]',
    "alias": '<Location "/way">\nSetHandler mpm-status\n</Location>\nAlias "/way" "@ROOT@/none"',
}


@pytest.mark.parametrize("way", SERVERS_WAYS)
@pytest.mark.parametrize("files", [None, "", HARMLESS], ids=["unread", "empty", "harmless"])
def test_the_servers_configuration_puts_it_anywhere(server, mpm, way, files):
    """Whether .htaccess files are read on the way to it or not, and say something else or not."""
    apache = server(mpm, SERVERS_WAYS[way] + (READ if files is not None else ""),
                    modules=["rewrite"])
    htdocs = apache.root / "htdocs"
    if way == "Directory":
        (htdocs / "way").mkdir()
    (htdocs / "page.way").write_text("a page\n")
    if files is not None:
        (htdocs / ".htaccess").write_text(files)
    url = {"AddHandler": "/page.way", "Files": "/page.way", "Directory": "/way/"}.get(way, "/way")
    for path in (url, url + "?format=json", f"http://way.example{url}"):
        answer = apache.get(path, headers={"Host": "way.example"})
        assert answer.status == 200, (path, answer)
        assert is_status(answer) or '"boards":' in answer.text(), (path, answer)
    with apache.connect() as connection:
        assert connection.request(url, "HEAD", headers={"Host": "way.example"},
                                  keep=False).status == 200


# ---- clients let in --------------------------------------------------------------------------


OPENED = {
    "<If>": '<If "true">\nRequire all granted\n</If>',
    "Satisfy": "Satisfy Any\nOrder allow,deny\nAllow from all",
    "both": '<If "true">\nSatisfy Any\nAllow from all\nRequire all granted\n</If>',
}


@pytest.mark.parametrize("way", OPENED)
def test_no_htaccess_lets_anybody_in(apache, tenant, way):
    assert apache.get("/nobodys").status == 403
    assert apache.get("/secret").status == 401
    tenant(OPENED[way], "")
    answer = apache.get("/nobodys")
    assert answer.status == 403 and not is_status(answer), answer
    answer = apache.get("/secret")
    assert answer.status == 401 and not is_status(answer), answer
    assert answer.headers["www-authenticate"] == 'Basic realm="status"', answer
    assert is_status(apache.get("/secret", headers=ADMIN))
    assert is_status(apache.get("/mpm-status"))


@pytest.mark.parametrize("way", OPENED)
def test_no_htaccess_lets_anybody_into_a_directory(apache, tenant, way):
    """Where no <Location> has the page, httpd reads the file, and what it allows is found out."""
    answer = apache.get(tenant(OPENED[way], "closed") + "/page")
    assert answer.status == 403 and not is_status(answer), answer
    assert "what an .htaccess file allows does not count" in answer.text(), answer


def test_an_htaccess_keeps_nobody_out(apache, tenant):
    tenant('<If "true">\nRequire all denied\n</If>', "")
    assert is_status(apache.get("/mpm-status"))


# ---- proxies ------------------------------------------------------------------------------


PROXIES = {"Forwarded": "for=192.0.2.60;proto=http", "X-Forwarded-For": "192.0.2.60",
           "X-Forwarded-Host": "status.example", "X-Real-IP": "192.0.2.60", "Via": "1.1 proxy"}


@pytest.mark.parametrize("header", PROXIES)
def test_what_came_through_a_proxy_is_not_local(apache, header):
    lines = len(apache.log_lines("MPMSTAT40"))
    for value in (PROXIES[header], ""):
        answer = apache.get("/mpm-status", headers={header: value})
        assert answer.status == 403 and not is_status(answer), answer
        assert header in answer.text() and "MPMStatTrustProxy On" in answer.text(), answer
    assert len(apache.log_lines("MPMSTAT40")) == lines + 2
    assert is_status(apache.get("/mpm-status", headers={"X-Something": PROXIES[header]}))


def test_a_tenant_does_not_ask_itself(apache, tenant):
    """mod_proxy from .htaccess: the server's own request to itself. What it is, mod_proxy adds
    after the tenant's headers are set."""
    rule = f'RewriteEngine On\nRewriteRule "^page$" "http://127.0.0.1:{apache.port}/mpm-status" [P]'
    for more in ("", "RequestHeader unset X-Forwarded-For\nRequestHeader unset X-Forwarded-Host\n"
                 "RequestHeader unset Via\n"):
        answer = apache.get(tenant(more + rule) + "/page")
        assert answer.status == 403 and "MPMStatTrustProxy" in answer.text(), answer


def test_a_proxy_may_be_trusted(server, mpm):
    apache = server(mpm, """
        <Location "/mpm-status">
            MPMStatTrustProxy On
        </Location>
        <Location "/proxied">
            SetHandler mpm-status
        </Location>
        <Location "/proxied/trusted">
            MPMStatTrustProxy On
        </Location>
        <Location "/proxied/trusted/not">
            MPMStatTrustProxy Off
        </Location>
        """)
    through = {"X-Forwarded-For": "192.0.2.60"}
    for path, answered in (("/mpm-status", True), ("/proxied", False), ("/proxied/trusted", True),
                           ("/proxied/trusted/not", False)):
        assert is_status(apache.get(path, headers=through)) == answered, path
        assert is_status(apache.get(path)), path


def test_a_proxy_may_be_trusted_everywhere_but_not_by_a_tenant(server, mpm):
    apache = server(mpm, 'MPMStatTrustProxy On\n<Directory "@ROOT@/htdocs">\nAllowOverride All\n'
                    "</Directory>")
    assert is_status(apache.get("/mpm-status", headers={"Via": "1.1 proxy"}))
    apache.allow("MPMStatTrustProxy not allowed here")
    (apache.root / "htdocs" / ".htaccess").write_text("MPMStatTrustProxy Off\n")
    assert apache.get("/").status == 500


def test_remoteip_says_who_it_is(server, mpm):
    """Where it has found out, that is the client, and what is left in the headers says nothing."""
    apache = server(mpm, """
        RemoteIPHeader X-Forwarded-For
        RemoteIPInternalProxy 127.0.0.1
        <Location "/mpm-status">
            Require local
        </Location>
        """, modules=["remoteip"])
    apache.allow("AH01630")
    for client, answered in (("192.0.2.60", False), ("127.0.0.2", True), ("::1", True),
                             ("127.0.0.2, 192.0.2.60", False)):
        answer = apache.get("/mpm-status", headers={"X-Forwarded-For": client, "Via": "1.1 proxy",
                                                    "X-Forwarded-Host": "status.example"})
        assert (answer.status == 200) == is_status(answer) == answered, (client, answer)
    answer = apache.get("/mpm-status", headers={"Via": "1.1 proxy"})   # it found nothing out
    assert answer.status == 403 and "MPMStatTrustProxy" in answer.text(), answer


def test_a_client_that_is_not_local_may_have_any_header(server, mpm):
    """Whom an address of its own lets in, no header keeps out."""
    apache = server(mpm, "RemoteIPHeader X-Client\nRemoteIPInternalProxy 127.0.0.1",
                    modules=["remoteip"])
    answer = apache.get("/mpm-status", headers={"X-Client": "192.0.2.60", **PROXIES})
    assert is_status(answer), answer


@pytest.mark.mpms("worker", "event")
def test_streams_of_http2_have_the_same_rules(server, mpm):
    apache = server(mpm, "Protocols h2c http/1.1\n" + READ, modules=["http2", "access_compat"])
    apache.allow("AH10|AH03")
    tenant = apache.root / "htdocs" / "tenant"
    tenant.mkdir()
    (tenant / ".htaccess").write_text("SetHandler mpm-status\n")
    via = bytes([0x0f, 60 - 0x0f, 3]) + b"1 p"       # HPACK's static table: via
    with http2.Session(apache.port) as session:
        assert session.read_stream(session.send_get("/mpm-status")).startswith(b"Board: apache")
        assert b"own configuration sets it" in session.read_stream(session.send_get("/tenant/x"))
        stream = session.send_get("/mpm-status", via)
        assert b"(it has the header Via)" in session.read_stream(stream)


# ---- methods ------------------------------------------------------------------------------


def test_options_and_other_methods(apache):
    with apache.connect() as connection:
        answer = connection.request("/mpm-status", "OPTIONS")
        assert answer.status == 200 and answer.headers["allow"] == "GET,HEAD,OPTIONS", answer
        assert answer.body == b""
        for method, body in (("POST", b"x" * 1000), ("PUT", b"x"), ("DELETE", b""), ("PATCH", b"")):
            answer = connection.request("/mpm-status", method, body=body)
            assert answer.status == 405 and answer.headers["allow"] == "GET,HEAD,OPTIONS", answer
            assert "expected is GET or HEAD" in answer.text(), answer
        assert is_status(connection.request("/mpm-status"))
