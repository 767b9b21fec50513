"""What another user may put before a reader: boards that are small files and claim to be large
ones; and a reader that has little memory."""
import os
import resource
import struct
from pathlib import Path

import build
import processes
import tool

NOBODY = 65534

# Places in the header (lib/segment/format.h), and the sections in their order.
FILE_BYTES, PRODUCER, PID, START_TICKS, THREADS, SECTIONS = 16, 32, 36, 40, 84, 592
FIELDS, TOTALS, PROCESSES, WORKERS, IN_FLIGHT, LABELS, TALLIES = range(7)
SECTION_COUNT = 12


def section(content, which):
    """(offset, count, stride) of one of a board's sections."""
    return struct.unpack_from("<QII", content, SECTIONS + 16 * which)


def sparse_board(source, path, workers, owner=NOBODY):
    """A board of one process, process 1, with so many workers, made from a real one: its header,
    its fields and its process are there, all else is a hole. Returns the bytes it claims."""
    content = bytearray(Path(source).read_bytes())
    fields, _, fields_stride = section(content, FIELDS)
    names = content[fields:fields + section(content, FIELDS)[1] * fields_stride]
    counts = {PROCESSES: 1, WORKERS: workers, IN_FLIGHT: 1, LABELS: 2, TALLIES: 2}
    at, places = 4096, {}
    for which in range(SECTION_COUNT):
        _, count, stride = section(content, which)
        count = counts.get(which, count)
        places[which] = at
        struct.pack_into("<QII", content, SECTIONS + 16 * which, at if count else 0, count, stride)
        at += -(-count * stride // 64) * 64
    ticks = int(processes.stat_fields(1)[19])
    struct.pack_into("<Q", content, FILE_BYTES, at)
    struct.pack_into("<IQ", content, PID, 1, ticks)
    struct.pack_into("<II", content, THREADS, workers, 1)
    with open(path, "wb") as file:
        file.write(content[:4096])
        file.seek(places[FIELDS])
        file.write(names)
        file.seek(places[PROCESSES])
        file.write(struct.pack("<QQQQ", 1, ticks, 1, 1))
        file.truncate(at)
    os.chmod(path, 0o644)
    if os.geteuid() == 0:
        os.chown(path, owner, owner)
    return at


def with_little_memory(*arguments, **options):
    """Runs the tool with 256 MB of address space, of which its libraries take a third (but
    sanitizers take terabytes)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))

    return tool.run(*arguments, preexec_fn=None if build.SANITIZE else limit, **options)
