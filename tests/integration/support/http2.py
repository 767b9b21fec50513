"""A small client of HTTP/2 over plain TCP (prior knowledge): one frame after the other, so
that a session can be looked at between them."""
import struct

import clients

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY = 0, 1, 4, 6, 7
INITIAL_WINDOW_SIZE = 4                    # of SETTINGS
END_STREAM, ACK, END_HEADERS = 1, 1, 4
ALREADY_INDEXED = b"\x82\x86"              # HPACK's static table: GET, http


def literal(name_index, value):
    return bytes([name_index, len(value)]) + value.encode()


class Session(clients.Connection):
    """Frames go out by request(), and come in until a response is complete."""

    def __init__(self, server_port, **options):
        super().__init__(server_port, **options)
        self.next_stream = 1
        self.bodies, self.heads, self.ended = {}, {}, set()
        self.send(PREFACE)
        self.send_frame(SETTINGS, 0, 0, b"")

    def send_frame(self, kind, flags, stream, payload):
        head = struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream)
        self.send(head + payload)

    def send_get(self, path, more=b""):
        """Begins a stream, and returns its number. more: encoded header fields."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        fields = ALREADY_INDEXED + literal(4, path) + literal(1, "test.example") + more
        self.send_frame(HEADERS, END_STREAM | END_HEADERS, stream, fields)
        return stream

    def allow(self, size):
        """How many bytes the server may send of each stream."""
        self.send_frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, size))

    def ping(self):
        self.send_frame(PING, 0, 0, b"12345678")

    def read_frame(self):
        head = self.read_exactly(9)
        length = int.from_bytes(head[:3], "big")
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        payload = self.read_exactly(length)
        if kind == SETTINGS and not flags & ACK:
            self.send_frame(SETTINGS, ACK, 0, b"")
        elif kind == HEADERS:
            self.heads.setdefault(stream, []).append(payload)
        elif kind == DATA:
            self.bodies[stream] = self.bodies.get(stream, b"") + payload
        elif kind == GOAWAY:
            raise clients.NoAnswer(f"GOAWAY {payload!r}")
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            self.ended.add(stream)

    def read_stream(self, stream):
        """Its body, once it is complete."""
        while stream not in self.ended:
            self.read_frame()
        return self.bodies.get(stream, b"")
