"""Who may ask mpmstat serve: other sites' pages, other machines, certificates and tokens."""
import base64
import os
import signal
import ssl

import pytest

import boards
import tool
from processes import wait_until
from serving import Authority, Serving, has, token_file

TOKEN = "0123456789abcdef0123456789abcdef"
pytestmark = pytest.mark.skipif(not has("openssl"), reason="needs openssl")


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """(directory, an authority, its certificate for a server)"""
    directory = tmp_path_factory.mktemp("keys")
    ours = Authority(directory, "ours")
    return directory, ours, ours.server()


@pytest.fixture(scope="module")
def board():
    with boards.board(5) as made:
        yield made


def with_tls(keys):
    certificate, key = keys[2]
    return ["--tls-cert", certificate, "--tls-key", key]


def bearer(token):
    return ["-H", f"Authorization: Bearer {token}"]


def basic(user, password):
    coded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return ["-H", f"Authorization: Basic {coded}"]


# ---- names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("host, status", (
    ("localhost", 200), ("LOCALHOST:1", 200), ("127.0.0.1:80", 200), ("127.1.2.3", 200),
    ("[::1]:19117", 200), ("evil.example", 403), ("127.0.0.1.evil.example", 403),
    ("localhost.evil.example:80", 403), ("128.0.0.1", 403), ("[::2]", 403), ("", 403),
    ("localhost:x", 403), ("127.0.0.1:99999", 403), ("x" * 200, 403)))
def test_a_page_of_another_site_cannot_ask(board, host, status):
    with Serving(board.path) as serving:
        answer = serving.get("/metrics", "-H", f"Host: {host}" if host else "Host;")
        assert answer.status == status, answer
        if status == 403:
            assert "no other site's page" in answer.text()
        assert serving.get("/healthz", "-H", "Host: evil.example").status == 200


# ---- TLS, tokens, certificates ------------------------------------------------------------------


def test_tls_with_a_token(board, keys, tmp_path):
    token = token_file(tmp_path, TOKEN)
    with Serving(*with_tls(keys), "--token-file", token, board.path) as serving:
        ours = ["--cacert", keys[1].certificate]
        for path in ("/", "/metrics", "/explain", "/none"):
            answer = serving.get(path, *ours)
            assert answer.status == 401 and "needs the token" in answer.text(), answer
            assert 'Bearer realm="mpmstat"' in answer.headers["www-authenticate"]
            assert 'Basic realm="mpmstat"' in answer.headers["www-authenticate"]
        for wrong in (bearer(TOKEN[:-1]), bearer(TOKEN + "0"), bearer(TOKEN[:-1] + "0"), bearer(""),
                      basic("mpmstat", TOKEN[:-1]), basic("root", TOKEN), basic("", TOKEN),
                      ["-H", f"Authorization: {TOKEN}"], ["-H", f"Authorization: Digest {TOKEN}"],
                      ["-H", "Authorization;"], ["-H", "Authorization: Bearer " + "x" * 20000]):
            assert serving.get("/metrics", *ours, *wrong).status == 401, wrong
        for right in (bearer(TOKEN), ["-H", f"Authorization: bearer {TOKEN}"],
                      basic("mpmstat", TOKEN), ["-u", f"mpmstat:{TOKEN}"]):
            assert serving.get("/metrics", *ours, *right).status == 200, right
        # With the token a client may ask by any name, as through a proxy.
        assert serving.get("/", *ours, *bearer(TOKEN), "-H", "Host: example.net").status == 200
        assert serving.get("/healthz", *ours).status == 200
        assert serving.get("/metrics").failure == 60, "the certificate is not one of the system's"
        plain = serving.get("/metrics", *ours, "--tls-max", "1.1", "--ciphers",
                            "DEFAULT@SECLEVEL=0")
        assert plain.failure == 35, plain


def test_client_certificates(board, keys, tmp_path):
    theirs = Authority(tmp_path, "theirs")
    ours = ["--cacert", keys[1].certificate]

    def as_client(pair):
        return [*ours, "--cert", pair[0], "--key", pair[1]]

    with Serving(*with_tls(keys), "--client-ca", keys[1].certificate, board.path) as serving:
        answer = serving.get("/metrics", *ours)
        assert answer.status == 403 and "needs a client's certificate" in answer.text(), answer
        assert serving.get("/metrics", *as_client(theirs.client())).status in (0, 403)
        assert serving.get("/metrics", *as_client(keys[2])).status == 403, "one for servers only"
        assert serving.get("/metrics", *as_client(keys[1].client())).status == 200
        assert serving.get("/healthz", *ours).status == 200
    token = token_file(tmp_path, TOKEN)
    with Serving(*with_tls(keys), "--client-ca", keys[1].certificate, "--token-file", token,
                 board.path) as serving:
        pair = as_client(keys[1].client())
        assert serving.get("/metrics", *ours, *bearer(TOKEN)).status == 403
        assert serving.get("/metrics", *pair).status == 401
        assert serving.get("/metrics", *pair, *bearer(TOKEN)).status == 200


def test_an_address_for_other_machines(board, keys, tmp_path):
    """0.0.0.0 stands for one: tests send nothing to other machines."""
    token = token_file(tmp_path, TOKEN)
    holder = Serving()
    with Serving(*with_tls(keys), "--token-file", token, board.path,
                 listen=f"0.0.0.0:{holder.port}") as serving:
        serving.url = f"https://127.0.0.1:{holder.port}"
        assert serving.get("/metrics", "-k", *bearer(TOKEN)).status == 200
        assert serving.get("/metrics", "-k").status == 401
    holder.holder.close()


# ---- refused -------------------------------------------------------------------------------


def refused(*words, said, status=2):
    done = tool.run("serve", *words)
    assert done.returncode == status and said in done.stderr, done
    assert done.stderr.startswith("mpmstat: ") and done.stdout == "", done


@pytest.mark.parametrize("words, said", (
    (["--listen", "0.0.0.0:19000"], "needs TLS (--tls-cert"),
    (["--listen", "[::]:19000"], "needs TLS (--tls-cert"),
    (["--listen", "192.0.2.1:19000", "--token-file", "x"], "needs TLS (--tls-cert"),
    (["--listen", "192.0.2.1:19000", "--tls-cert", "c", "--tls-key", "k"],
     "needs --token-file or --client-ca"),
    (["--tls-cert", "c"], "--tls-cert and --tls-key need each other"),
    (["--tls-key", "k"], "--tls-cert and --tls-key need each other"),
    (["--client-ca", "a"], "--client-ca needs TLS"),
    (["--listen", "localhost:80"], "with an address in numbers"),
    (["--listen", "127.0.0.1"], "expected ADDRESS:PORT"),
    (["--listen", "127.0.0.1:0"], "expected ADDRESS:PORT"),
    (["--listen", "70000"], "expected ADDRESS:PORT"),
    (["--listen", "::1:80"], "expected ADDRESS:PORT"),
    (["--listen", "[::1:80"], "expected ADDRESS:PORT"),
    (["--listen", "x" * 300], "expected ADDRESS:PORT"),
    (["--listen", "1"] * 8, "expected at most"),
    (["http://127.0.0.1/mpm-status"], "expected a board file or a directory"),
    (["--listen"], "--listen wants an argument"),
    (["--lisen", "1"], "the nearest is --listen"),
    (["--token-file", "none.token"], "none.token: No such file"),
    (["--tls-cert", "none.crt", "--tls-key", "none.key"], "none.crt: No such file")))
def test_refused(words, said):
    refused(*words, said=said)


@pytest.mark.parametrize("content, mode, said", (
    (TOKEN, 0o644, "others cannot read, found the mode 0644"),
    (TOKEN, 0o660, "only its owner can write"), ("short", 0o600, "16 to 512 printable"),
    (TOKEN + "\n" + TOKEN, 0o600, "one line of"), (TOKEN + " x", 0o600, "without blanks"),
    ("", 0o600, "one line of"), ("x" * 600, 0o600, "16 to 512"),
    (TOKEN + "\0", 0o600, "found a NUL"), (TOKEN + "\x7f", 0o600, "printable")))
def test_tokens_that_are_refused(tmp_path, content, mode, said):
    refused("--token-file", token_file(tmp_path, content, mode), said=said)


def test_no_file(tmp_path):
    refused("--token-file", tmp_path, said="expected a file of at most")
    os.mkfifo(tmp_path / "fifo", 0o600)
    refused("--token-file", tmp_path / "fifo", said="expected a file of at most")


def test_someone_elses_file(tmp_path, as_root):
    path = token_file(tmp_path, TOKEN)
    os.chown(path, 65534, 65534)
    refused("--token-file", path, said="expected a file of root or of the user that serves")


def test_certificates_that_are_refused(keys, tmp_path):
    certificate, key = keys[2]
    other = keys[1].client()[1]
    refused("--tls-cert", certificate, "--tls-key", other, said="expected a certificate and its")
    refused("--tls-cert", key, "--tls-key", key, said="expected a certificate and its key")
    junk = token_file(tmp_path, "junk", name="junk")
    refused("--tls-cert", certificate, "--tls-key", junk, said="expected a certificate and its")
    refused("--tls-cert", certificate, "--tls-key", key, "--client-ca", junk,
            said="expected certificates of authorities in PEM")
    open_key = tmp_path / "open.key"
    open_key.write_bytes(key.read_bytes())
    open_key.chmod(0o644)
    refused("--tls-cert", certificate, "--tls-key", open_key, said="chmod 600")


def test_the_port_is_taken(board):
    with Serving(board.path) as serving:
        refused("--listen", serving.listen, board.path, said="another program listens at 127.0.0.1")


# ---- signals ---------------------------------------------------------------------------------


def test_sighup_reads_the_token_and_the_certificate_again(board, keys, tmp_path):
    certificate, key = tmp_path / "server.crt", tmp_path / "server.key"

    def take(pair):
        certificate.write_bytes(pair[0].read_bytes())
        key.write_bytes(pair[1].read_bytes())
        key.chmod(0o600)

    def shown(port):
        return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", port)))

    take(keys[2])
    token = token_file(tmp_path, TOKEN)
    with Serving("--tls-cert", certificate, "--tls-key", key, "--token-file", token,
                 board.path) as serving:
        first = shown(serving.port)
        take(keys[1].sign("fresh", "subjectAltName=IP:127.0.0.1"))
        token_file(tmp_path, TOKEN[::-1])
        assert serving.get("/metrics", "-k", *bearer(TOKEN)).status == 200
        serving.process.send_signal(signal.SIGHUP)
        wait_until(lambda: serving.get("/metrics", "-k", *bearer(TOKEN[::-1])).status == 200, 30,
                   "the new token")
        assert serving.get("/metrics", "-k", *bearer(TOKEN)).status == 401
        assert shown(serving.port) != first
        token_file(tmp_path, "short")
        serving.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "remain those of before" in serving.said(), 30, "a complaint")
        assert serving.get("/metrics", "-k", *bearer(TOKEN[::-1])).status == 200


@pytest.mark.parametrize("signum", (signal.SIGTERM, signal.SIGINT))
def test_signals_end_it(board, signum):
    """With an idle connection, and one in the middle of its request."""
    with Serving(board.path) as serving, serving.connect() as idle, serving.connect() as begun:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(100).startswith(b"HTTP/1.1 200")
        begun.sendall(b"GET / HTT")
        assert serving.end(signum) == 0
        assert serving.said() == ""
