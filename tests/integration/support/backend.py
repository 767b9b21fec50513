"""Small servers behind a proxy: one for HTTP, one that echoes what a WebSocket sends.

Each serves every connection in a thread of its own until the end of the block.
"""
import base64
import hashlib
import socket
import threading
import time

WEBSOCKET_KEY = "dGhlIHNhbXBsZSBub25jZQ=="
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accept_key(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def frame(payload, mask=None):
    """A short final text frame of the WebSocket protocol; a client's is masked."""
    assert len(payload) < 126
    head = bytes([0x81, len(payload) | (0x80 if mask else 0)])
    if not mask:
        return head + payload
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload))


class Backend:
    """Listens on a free loopback port. `connections` counts what it accepted."""

    def __init__(self, delay=0):
        self.delay = delay
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open = []
        self.threads = [threading.Thread(target=self.accept)]

    def __enter__(self):
        self.threads[0].start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(10)
            assert not thread.is_alive(), "a backend's thread is stuck"

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.open.append(connection)
            thread = threading.Thread(target=self.serve_and_close, args=(connection,))
            self.threads.append(thread)
            thread.start()

    def serve_and_close(self, connection):
        with connection, connection.makefile("rb") as stream:
            try:
                while self.serve(connection, stream):
                    pass
            except OSError:
                pass

    @staticmethod
    def read_head(stream):
        """The request line's words and the headers; None at the end."""
        line = stream.readline().decode()
        headers = {}
        for header in iter(lambda: stream.readline().decode().strip(), ""):
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        return (line.split(), headers) if line else None


class HTTPBackend(Backend):
    """Answers with the request's path and body, `delay` seconds late, and keeps alive."""

    def serve(self, connection, stream):
        head = self.read_head(stream)
        if not head:
            return False
        body = stream.read(int(head[1].get("content-length", 0)))
        time.sleep(self.delay)            # the slowness itself
        answer = head[0][1].encode() + b" " + body
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        return True


class EarlyHintsBackend(HTTPBackend):
    """Sends a 103 at once."""

    def serve(self, connection, stream):
        if stream.peek(1):
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n"
                               b"Link: </a.css>; rel=preload\r\n\r\n")
        return super().serve(connection, stream)


class WebSocketBackend(Backend):
    """Accepts the upgrade, then sends every frame back, unmasked."""

    def serve(self, connection, stream):
        head = self.read_head(stream)
        if not head:
            return False
        connection.sendall(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept_key(head[1]['sec-websocket-key'])}\r\n\r\n".encode())
        while True:
            start = stream.read(2)
            if len(start) < 2:
                return False
            mask = stream.read(4)
            payload = stream.read(start[1] & 0x7f)
            connection.sendall(frame(bytes(b ^ mask[i % 4] for i, b in enumerate(payload))))
