"""A site that has a request of every kind, and the clients that send them all.

    with Site(start, mpm, directory) as site:
        for exchange in site.exchanges():
            answer = site.carry_out(exchange)      # answer.raw, answer.statuses

An exchange is one connection: what is sent, step by step, and the answers to it.
`start` makes the Apache: the fixtures `server` and `php_server` do.
"""
import os
import re
import subprocess

import backend
import build
import clients
import tls
from apache import hold_port

HOST = "test.example"
PHP_PAGE = "<?php header('X-From: php'); echo strrev(file_get_contents('php://input')), PHP_EOL;"

CONFIGURATION = '''
ScriptAlias /cgi/ "@ROOT@/cgi/"
<Directory "@ROOT@/cgi">
    Require all granted
</Directory>
SetEnv ap_trust_cgilike_cl
DirectoryIndex index.html page.shtml
ErrorDocument 403 /error/forbidden.html
ErrorDocument 404 /cgi/sorry
<Location "/no.where">
    ErrorDocument 404 "There is no such page."
</Location>
RewriteEngine On
RewriteRule "^/rewritten$" "/inner/page.html" [PT]
AddOutputFilterByType DEFLATE text/x-long
AddType text/x-long .long
LimitRequestBody 100000
<Directory "@ROOT@/htdocs">
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES .shtml
</Directory>
<Location "/forbidden">
    Require all denied
</Location>
'''
TLS_HOST = '''
Listen 127.0.0.1:{port}
<VirtualHost 127.0.0.1:{port}>
{certificate}
</VirtualHost>
'''
# With their length, which httpd is told to trust: whether it sends a script's output in
# chunks is a race otherwise.
SCRIPTS = {
    "echo": 'n=$(wc -c)\nprintf "Content-Type: text/plain\\nContent-Length: ${#n}\\n\\n$n"\n',
    "hello": r"printf 'Content-Type: text/plain\nContent-Length: 6\n\nhello\n'" "\n",
    "unsized": "echo Content-Type: text/plain\necho\necho hello\n",
    "sorry": r"printf 'Status: 404\nContent-Type: text/plain\nContent-Length: 6\n\nsorry\n'"
             "\n",
    "local": "echo Location: /inner/page.html\necho\n",
    "fail": "exit 1\n",
    "complain": "echo something is wrong >&2\n"
                r"printf 'Content-Type: text/plain\nContent-Length: 3\n\nok\n'" "\n",
    # Names only: SERVER_PORT's value is this server's. MPMSTAT is what the module adds.
    "names": "names=$(env | sed -n 's/=.*//p' | grep -v '^MPMSTAT' | sort)\n"
             r'printf "Content-Type: text/plain\nContent-Length: ${#names}\n\n$names"' "\n",
    "flood": "echo Content-Type: text/plain\necho\nexec head -c 20000000 /dev/zero\n",
}
PAGES = {
    "empty": "", "error/forbidden.html": "forbidden\n", "inner/page.html": "inner\n",
    "compressed.long": "all the same " * 10_000, "100k": "x" * 100_000,
    "20m": b"x" * 20_000_000,
    "outer/page.shtml": '<!--#include virtual="/inner/page.html" -->'
                        '<!--#include virtual="/nowhere" -->\n',
}
# What httpd says of such requests, with the module or without.
COMPLAINTS = (r"AH10244|AH01630|AH01215|AH02651|AH01220|AH01229|AH01225|AH01257|AH01270|AH02550|"
              r"AH01071|unable to include|something is wrong|End of script output before headers|"
              r"script '.*' not found")
A_WHILE_AGO = 1_600_000_000     # of every page: in Last-Modified and ETag


def ask(path, method="GET", body=b"", close=False, version="1.1", **headers):
    """A request's bytes. Header names are written with _ for -."""
    lines = [f"{method} {path} HTTP/{version}", f"Host: {HOST}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body or method in ("POST", "PUT"):
        lines.append(f"Content-Length: {len(body)}")
    if close:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Exchange:
    """steps: (bytes to send, methods of the requests that are answered then)."""

    def __init__(self, name, *steps, tls=False):
        self.name, self.steps, self.tls = name, steps, tls

    def over_tls(self):
        return Exchange(self.name + ", TLS", *self.steps, tls=True)


def one(name, request, method="GET"):
    return Exchange(name, (request, (method,)))


def plain_exchanges():
    """Those that need no more than the server itself."""
    chunked = (b"POST /cgi/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"3\r\nabc\r\n", b"0\r\n\r\n")
    late = (b"POST /cgi/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
            b"Content-Length: 4\r\n\r\n", b"late")
    mix = [ask("/"), ask("/", "HEAD"), ask("/cgi/echo", "POST", b"x" * 5000), ask("/nowhere"),
           ask("/100k"), ask("/", "OPTIONS"), ask("/empty"), ask("/outer/page.shtml"),
           ask("/index.html", close=True)]
    methods = ["GET", "HEAD", "POST", "GET", "GET", "OPTIONS", "GET", "GET", "GET"]
    return [
        one("static", ask("/index.html", close=True)),
        one("HTTP/1.0", ask("/index.html", version="1.0")),
        one("HEAD", ask("/100k", "HEAD", close=True), "HEAD"),
        one("a part", ask("/100k", close=True, Range="bytes=10-19")),
        one("two parts", ask("/100k", close=True, Range="bytes=90000-")),
        one("not modified", ask("/index.html", close=True,
                                If_Modified_Since="Sun, 13 Sep 2020 12:26:40 GMT")),
        one("an index", ask("/inner/page.html", close=True)),
        one("to a directory", ask("/outer", close=True)),
        one("rewritten", ask("/rewritten", close=True)),
        one("compressed", ask("/compressed.long", close=True, Accept_Encoding="gzip")),
        one("method not allowed", ask("/", "DELETE", close=True)),
        one("TRACE", ask("/", "TRACE", close=True)),
        one("forbidden", ask("/forbidden/x", close=True)),
        one("not there", ask("/nowhere", close=True)),
        one("included", ask("/outer/", close=True)),
        one("CGI", ask("/cgi/hello", close=True)),
        one("CGI, its environment", ask("/cgi/names", close=True)),
        one("CGI, local redirect", ask("/cgi/local", close=True)),
        one("CGI that fails", ask("/cgi/fail", close=True)),
        one("CGI that complains", ask("/cgi/complain", close=True)),
        one("too large", ask("/cgi/echo", "POST", b"x" * 200_000, close=True)),
        Exchange("chunked body", (chunked[0], ()), (chunked[1], ("POST",))),
        Exchange("expect", (late[0], ("POST",)), (late[1], ("POST",))),
        Exchange("kept alive", *((request, (method,)) for request, method in zip(mix, methods))),
        Exchange("pipelined", (b"".join(mix), methods)),
        one("no Host", b"GET / HTTP/1.1\r\n\r\n"),
        one("nonsense", b"nonsense\r\n\r\n"),
        one("bad escape", b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
        one("bad header", b"GET / HTTP/1.1\r\nHost: a\r\nNo Colon\r\n\r\n"),
        one("long line", b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
        one("bad encoding", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: rot13\r\n\r\n"),
        one("TLS to a plain port", b"\x16\x03\x01\x02\r\n\r\n"),
        Exchange("nothing"),
    ]


class Answer:
    """Of an exchange: all bytes, and the final responses' statuses."""

    def __init__(self, raw, statuses):
        self.raw, self.statuses = raw, statuses


class Site:
    def __init__(self, start, mpm, directory, *, behind=None, php=False, **options):
        self.start, self.mpm, self.options = start, mpm, options
        self.directory, self.php = directory, php
        self.own_backend = None if behind else backend.HTTPBackend()
        self.behind = behind or self.own_backend
        self.tls_holder = hold_port()
        self.tls_port = self.tls_holder.getsockname()[1]

    def __enter__(self):
        extra, modules = CONFIGURATION, ["cgi" if self.mpm == "prefork" else "cgid", "include",
                                         "rewrite", "filter", "deflate", "proxy", "proxy_http",
                                         "ssl"]
        extra += f'ProxyPass "/back/" "http://127.0.0.1:{self.behind.port}/"\n'
        if self.has_http2():
            extra += "Protocols h2 h2c http/1.1\n"
            modules.append("http2")
        extra += TLS_HOST.format(port=self.tls_port,
                                 certificate=tls.make_certificate(self.directory))
        options = dict(self.options)
        extra += options.pop("extra", "")
        if self.own_backend:
            self.own_backend.__enter__()
        self.apache = self.start(self.mpm, extra, modules=modules, **options)
        self.apache.allow(COMPLAINTS)
        self.furnish()
        return self

    def __exit__(self, *_):
        if self.own_backend:
            self.own_backend.__exit__(None, None, None)
        self.tls_holder.close()

    def has_http2(self):
        """mod_http2 wants threads."""
        return self.mpm != "prefork"

    def furnish(self):
        for name, script in SCRIPTS.items():
            self.apache.cgi(name, script)
        for name, content in {**PAGES, **({"page.php": PHP_PAGE} if self.php else {})}.items():
            (self.apache.root / "htdocs" / name).parent.mkdir(exist_ok=True)
            self.apache.page(name, content)
        for path in (self.apache.root / "htdocs").rglob("*"):
            os.utime(path, (A_WHILE_AGO, A_WHILE_AGO))

    def exchanges(self):
        """All that this site can answer."""
        plain = plain_exchanges()
        found = plain + [e.over_tls() for e in plain
                         if e.name in ("static", "CGI", "kept alive", "pipelined", "not there")]
        for n in range(2):
            found.append(one(f"proxied {n}", ask(f"/back/{n}", "POST", b"x" * 5000, close=True)))
        if self.php:
            found.append(one("PHP", ask("/page.php", "POST", b"drawkcab", close=True)))
            found.append(one("no PHP there", ask("/no.php", close=True)))
        return found

    def carry_out(self, exchange):
        connection = (tls.Connection(self.tls_port) if exchange.tls
                      else clients.Connection(self.apache.port))
        raw, statuses = Transcript(connection), []
        with connection:
            for data, methods in exchange.steps:
                connection.send(data)
                for method in methods:
                    status = connection.read_response(method).status
                    statuses += [status] if status >= 200 else []
        return Answer(raw.bytes, statuses)

    def give_up(self, path):
        """Asks, and resets the connection in the middle of the response."""
        with clients.Connection(self.apache.port) as connection:
            connection.send(ask(path))
            connection.read_exactly(1000)
            connection.reset()

    def over_http2(self, path):
        """The answer's status, headers and body as curl shows them, through HTTP/2."""
        done = subprocess.run(
            [build.find("curl"), "-sSi", "--http2-prior-knowledge", "-H", f"Host: {HOST}",
             f"http://127.0.0.1:{self.apache.port}{path}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == 0, done.stderr
        return Answer(done.stdout, [int(done.stdout.split()[1])])

    def give_up_http2(self, path):
        """Ends the client in the middle of the response."""
        client = subprocess.Popen(
            [build.find("curl"), "-sS", "--http2-prior-knowledge", "--limit-rate", "1000k",
             "-H", f"Host: {HOST}", f"http://127.0.0.1:{self.apache.port}{path}"],
            stdout=subprocess.PIPE)
        with client:
            client.stdout.read(1000)
            client.kill()


# With a script's Content-Length curl is gone before httpd knows that the output has ended.
UNSIZED_PATHS = ("/index.html", "/100k", "/no.where", "/cgi/unsized", "/outer/", "/back/x",
                 "/empty")
SIZED_PATHS = ("/nowhere", "/cgi/hello")


class Transcript:
    """All that a connection receives from now on, as bytes."""

    def __init__(self, connection):
        self.bytes = b""
        self.connection, self.fill = connection, connection.fill
        connection.fill = self.fill_and_note

    def fill_and_note(self):
        before = len(self.connection.buffer)
        self.fill()
        self.bytes += self.connection.buffer[before:]


def without_time(raw):
    """A response without the headers that say when it was made, and with the methods of
    Allow, whose order is httpd's whim, sorted."""
    raw = re.sub(rb"(?mi)^(Date|Server-Timing): [^\r\n]*\r\n", b"", raw)
    return re.sub(rb"(?mi)^(Allow: )([A-Z,]+)",
                  lambda m: m[1] + b",".join(sorted(m[2].split(b","))), raw)
