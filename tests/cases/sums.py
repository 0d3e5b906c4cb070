"""Renews or removes the checksum of a file's table of contents, see docs/file-format.md."""

import struct
import zlib

SUPERBLOCK, RECORD, MAGIC = 96, 32, b"HEATSUM1"


def record_of(content):
    """The record's offset, and the length of the contents that it begins."""
    (root,) = struct.unpack_from("<Q", content, 64)
    magic, base, length = struct.unpack_from("<8sQQ", content, root - RECORD)
    assert magic == MAGIC and base == root - RECORD
    return base, length


def renew(path):
    """Makes the checksum fit again after a change in place, as if heatsolve had written the file itself."""
    content = bytearray(path.read_bytes())
    base, length = record_of(content)
    struct.pack_into("<Q", content, base + 24, 0)
    crc = zlib.crc32(content[base : base + length], zlib.crc32(content[:SUPERBLOCK]))
    struct.pack_into("<I", content, base + 24, crc)
    path.write_bytes(content)


def strip(path):
    """Removes the checksum, as in files of earlier versions."""
    content = bytearray(path.read_bytes())
    base, _ = record_of(content)
    content[base : base + RECORD] = bytes(RECORD)
    path.write_bytes(content)


def contents_of(path):
    """The offsets of all bytes of the superblock and the contents."""
    base, length = record_of(path.read_bytes())
    return [*range(SUPERBLOCK), *range(base, base + length)]
