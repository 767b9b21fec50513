"""A file of targets, URLs with TLS and a token: what is recorded, and what is said where it cannot
be."""
import json
import ssl
import subprocess

import pytest

import boards
import build
import tool
from apache import Apache
from recording import AB, ask
from tool import fails
from urls import TYPES, Server, rendered, reply

TOKEN = "s3cret-of-web1"
# httpd has no bearer tokens of its own: an expression compares the header.
GUARDED = """
<Location "/mpm-status">
    SetHandler mpm-status
    Require expr "%{HTTP:Authorization} == 'Bearer """ + TOKEN + """'"
</Location>
"""


def make_certificate(directory, name):
    """A self-signed certificate for 127.0.0.1."""
    key, certificate = directory / f"{name}.key", directory / f"{name}.crt"
    program = build.find("openssl")
    words = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    *words, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return key, certificate


def make_expired(key, certificate):
    """The same, which ended yesterday."""
    expired = certificate.with_suffix(".old")
    subprocess.run([build.find("openssl"), "x509", "-in", certificate, "-signkey", key, "-days", "-1",
                    "-out", expired], check=True, capture_output=True)
    return expired


def tls_of(key, certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def status_of(board, token=None):
    """An mpm-status with that board, for those who have the token."""
    def answer(handler):
        format = handler.path.partition("format=")[2] or "text"
        if token and handler.headers.get("Authorization") != f"Bearer {token}":
            reply(handler, b"no", "text/plain", 401)
        else:
            reply(handler, rendered(board, format), TYPES[format])
    return answer


def written(path, text):
    path.write_text(text)
    return path


# ---- what is recorded ------------------------------------------------------------------------


def test_a_file_of_targets(tmp_path):
    """One Apache by TLS with a token, one by its board; each request is in the archive once."""
    key, certificate = make_certificate(tmp_path, "server")
    guarded = f'SSLEngine On\nSSLCertificateFile "{certificate}"\nSSLCertificateKeyFile "{key}"\n'
    with Apache("event", guarded, modules=["ssl"], status=GUARDED) as web1, \
            Apache("event") as web2:
        written(tmp_path / "web1.token", TOKEN + "\n")
        targets = written(tmp_path / "targets", f"""
            # the fleet
            web1=https://127.0.0.1:{web1.port}/mpm-status token-file={tmp_path}/web1.token
            web2={web2.board}    # by its board
        """)
        archive = tmp_path / "run.sqlite"
        load = (f"{AB} -q -n 30 https://127.0.0.1:{web1.port}/ >/dev/null && "
                f"{AB} -q -n 50 http://127.0.0.1:{web2.port}/ >/dev/null")
        done = tool.run("record", "-o", archive, "--targets", targets, "--ca-file", certificate,
                        "--format", "json", "--", "sh", "-c", load, timeout=60)
        assert done.returncode == 0, done.stderr
        servers = json.loads(done.stdout)["servers"]
        assert [(s["name"], s["requests"]) for s in servers] == [("web1", 30), ("web2", 50)]
        assert ask(archive, "SELECT name FROM servers ORDER BY id") == [("web1",), ("web2",)]
        logged = [row for row in web1.access_log() if not row[2].startswith("/mpm-status")]
        assert len(logged) == 30
        text = tool.report(archive, "--format", "text")
        assert "web1: apache event" in text and "all 2 together" in text
        for file in (archive, targets):
            assert TOKEN.encode() not in file.read_bytes()
        for verb in (["status"], ["explain"], ["top", "--batch", "--count", "1"]):
            done = tool.run(*verb, "--targets", targets, "--ca-file", certificate)
            assert done.returncode == 0, done.stderr
            if verb != ["status"]:
                assert "web1" in done.stdout and "web2" in done.stdout
                assert str(web2.board) not in done.stdout
        done = tool.run("explain", "--format", "json", "--targets", targets, "--ca-file",
                        certificate)
        assert [s["name"] for s in json.loads(done.stdout)["now"]] == ["web1", "web2"]


def test_the_options_are_for_each_url(tmp_path):
    """A token of the line is before the one of the command line."""
    both = {"a": written(tmp_path / "a", "token-a"), "b": written(tmp_path / "b", "token-b")}
    with boards.board(2) as board, Server(status_of(board, "token-a")) as a, \
            Server(status_of(board, "token-b")) as b:
        targets = written(tmp_path / "targets", f"{a.url}\n{b.url} token-file={both['b']}\n")
        done = tool.run("status", "--targets", targets, "--token-file", both["a"], "--all")
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("Label[www]Requests: 2") == 2


def test_one_server_by_two_names_is_recorded_once(tmp_path):
    with Apache("event") as apache:
        targets = written(tmp_path / "targets", f"by-board={apache.board}\n"
                          f"by-url=http://127.0.0.1:{apache.port}/mpm-status\n"
                          f"again=http://localhost:{apache.port}/mpm-status\n")
        done = tool.run("record", "-o", tmp_path / "run.sqlite", "--targets", targets, "--format",
                        "json", "--", AB, "-q", "-n", "20", f"http://127.0.0.1:{apache.port}/")
        assert done.returncode == 0, done.stderr
        servers = json.loads(done.stdout)["servers"]
        assert [(s["name"], s["requests"]) for s in servers] == [("by-board", 20)]
        assert done.stderr.count("it is recorded once") == 2


# ---- what cannot be read ---------------------------------------------------------------------


@pytest.mark.parametrize("line, words", [
    ("web1=", ["line 2", "the name web1 alone"]),
    ("a=/x.board\na=/y.board", ["line 3", "the name a is given twice"]),
    ("/x.board\n/x.board", ["line 3", "/x.board is named twice"]),
    ("http://127.0.0.1:9/ colour=red", ["line 2", "colour=red", "token-file=FILE"]),
    ("https://127.0.0.1:9/ token-file=/nonexistent", ["line 2", "token file /nonexistent"]),
    ("https://127.0.0.1:9/ ca-file=/nonexistent", ["line 2", "authorities /nonexistent"]),
    ("http://192.0.2.1/ token-file=/dev/null", ["line 2", "in clear text"]),
    ("http://127.0.0.1:9/ token-file=/dev/null", ["line 2", "expected a token"]),
    ("", ["names none"]),
])
def test_a_wrong_file(tmp_path, line, words):
    targets = written(tmp_path / "targets", f"# targets\n{line}\n")
    fails(tool.run("status", "--targets", targets), 3, *words)


def test_a_file_that_is_not_there():
    fails(tool.run("record", "--targets", "/nonexistent", "--", "true"), 3,
          "file of targets /nonexistent")


def test_a_wrong_token(tmp_path):
    wrong, bad = written(tmp_path / "wrong", "wrong"), written(tmp_path / "bad", "a\tb")
    with boards.board(2) as board, Server(status_of(board, TOKEN)) as server:
        fails(tool.run("status", server.url), 3, "(401)", "--token-file")
        done = fails(tool.run("status", "--token-file", wrong, server.url), 3, "refuses the token")
        assert "wrong\n" not in done.stderr
        fails(tool.run("status", "--token-file", bad, server.url), 3, "expected a token")


def test_certificates(tmp_path):
    """One of an unknown authority, one that has expired, and the file of authorities itself."""
    key, certificate = make_certificate(tmp_path, "server")
    _, other = make_certificate(tmp_path, "other")
    old = make_expired(key, certificate)
    with boards.board(2) as board:
        with Server(status_of(board), tls_of(key, certificate)) as server:
            fails(tool.run("status", server.url), 3, "not trusted", "--ca-file")
            fails(tool.run("status", "--ca-file", other, server.url), 3, "not trusted")
            fails(tool.run("status", "--ca-file", "/nonexistent", server.url), 3,
                  "authorities /nonexistent")
            empty = written(tmp_path / "empty", "no certificate\n")
            fails(tool.run("status", "--ca-file", empty, server.url), 3, "--ca-file")
            assert tool.run("status", "--ca-file", certificate, server.url).returncode == 0
            named = server.url.replace("127.0.0.1", "localhost")
            fails(tool.run("status", "--ca-file", certificate, named), 3, "name the host")
        with Server(status_of(board), tls_of(key, old)) as server:
            fails(tool.run("status", "--ca-file", old, server.url), 3, "expired", "a new one")
