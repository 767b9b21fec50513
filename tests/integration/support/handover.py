"""What Apache hands over in MPMSTAT, made here by another hand: the boot is the SipHash-2-4 of
a constant, with the kernel's boot id as its key."""
import os
import struct
import time
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
TIME_NAMESPACE = os.stat("/proc/self/ns/time").st_ino
MASK = 2 ** 64 - 1


def rotated(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def rounds(v, number):
    for _ in range(number):
        for a, b, left, c, d, right in ((0, 1, 13, 2, 3, 16), (2, 1, 17, 0, 3, 21)):
            v[a] = (v[a] + v[b]) & MASK
            v[c] = (v[c] + v[d]) & MASK
            v[b] = rotated(v[b], left) ^ v[a]
            v[d] = rotated(v[d], right) ^ v[c]
            v[a] = rotated(v[a], 32)


def siphash(key, data):
    k0, k1 = struct.unpack("<QQ", key)
    v = [word ^ k for word, k in zip(struct.unpack(">4Q", b"somepseudorandomlygeneratedbytes"),
                                     (k0, k1, k0, k1))]
    tail = len(data) % 8
    padded = data + bytes(7 - tail) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(v, 2)
        v[0] ^= word
    v[2] ^= 255
    rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def boot():
    return f"{siphash(bytes.fromhex(BOOT_ID.replace('-', '')), b'mpmstat: hand-over'):016x}"


def text(number, age_ns=0):
    """The variable's, of the request `number`, handed over so long ago."""
    return f"{number}:{time.monotonic_ns() - age_ns}:{boot()}:{TIME_NAMESPACE}"
