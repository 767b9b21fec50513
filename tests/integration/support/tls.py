"""A self-signed certificate, and HTTP over TLS with it."""
import ssl
import subprocess

import build
import clients

ELLIPTIC = ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")


def make_certificate(directory, key_type=ELLIPTIC):
    """Makes server.key and server.crt in `directory`; returns the directives to use them."""
    program = build.find("openssl")
    assert program, "there is no openssl: install openssl"
    key, certificate = directory / "server.key", directory / "server.crt"
    subprocess.run(
        [program, "req", "-x509", "-newkey", *key_type, "-nodes", "-days", "2",
         "-subj", "/CN=test.example", "-keyout", str(key), "-out", str(certificate)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    return (f'SSLEngine On\nSSLCertificateFile "{certificate}"\n'
            f'SSLCertificateKeyFile "{key}"\n')


class Connection(clients.Connection):
    """A TLS connection. `pause` is called in the middle of the handshake, when the
    client's hello is sent and nothing of the server's answer is read."""

    def __init__(self, server_port, pause=lambda: None, **options):
        super().__init__(server_port, **options)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.received, self.to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.received, self.to_send)
        paused = False
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.flush()
                if not paused:
                    pause()
                paused = True
                self.receive()
        self.flush()

    def flush(self):
        self.socket.sendall(self.to_send.read())

    def receive(self):
        data = self.socket.recv(65536)
        if not data:
            raise clients.NoAnswer(f"closed after {self.buffer[:200]!r}")
        self.received.write(data)

    def send(self, data):
        self.tls.write(data if isinstance(data, bytes) else data.encode())
        self.flush()

    def fill(self):
        while True:
            try:
                data = self.tls.read(65536)
                break
            except ssl.SSLWantReadError:
                self.receive()
        if not data:
            raise clients.NoAnswer(f"closed after {self.buffer[:200]!r}")
        self.buffer += data
