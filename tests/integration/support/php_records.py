"""The records of PHP's requests as they are on a board (docs/reference/board.md)."""
import struct
from pathlib import Path

KINDS = ("database", "cache", "http", "lock", "file", "process", "dns", "mail", "sleep", "stream")
UNKNOWN = 2 ** 64 - 1
SECTION, SECTION_BYTES, PHP_REQUESTS, WRITTEN = 592, 16, 9, 1088   # of the header
PAYLOAD = struct.Struct("<9Q64sQ6Q16Q")                            # behind the ticket


def one(payload):
    words = PAYLOAD.unpack_from(payload, 8)
    waits = words[17:17 + len(KINDS)]
    longest = [words[11:14], words[14:17]]
    return {
        "start_ns": words[1], "run_ns": words[3], "user_ns": words[4], "system_ns": words[5],
        "pid": words[8] >> 32, "script": words[9].rstrip(b"\0").decode(),
        "cpu_wait_ns": None if words[10] == UNKNOWN else words[10],
        "waits": None if waits[0] == UNKNOWN else dict(zip(KINDS, waits)),
        "longest": [{"kind": KINDS[w[0] >> 32], "end": w[0] & 0xffffffff, "calls": w[1] >> 32,
                     "failed": w[1] & 0xffffffff, "wait_ns": w[2]} for w in longest if w[1]],
    }


def records(board):
    """All that the ring holds, oldest first. No request may end meanwhile."""
    data = Path(board).read_bytes()
    offset, count, stride = struct.unpack_from("<QII", data, SECTION + PHP_REQUESTS * SECTION_BYTES)
    written, = struct.unpack_from("<Q", data, WRITTEN)
    return [one(data[offset + (ticket % count) * stride:][:stride])
            for ticket in range(max(1, written - count + 1), written + 1)]
