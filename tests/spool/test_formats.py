"""Formats of segments: the oldest that can have what is written, and newer ones are refused."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import msgspec
import pytest

from mt5bridge.spool import Group, Spool, SpoolError, read
from mt5bridge.spool.segment import HEADER_BYTES, VERSION, header
from tests.spool.groups import START_MSC, opened, put, same, tick_group

ALIASED = ("ticks", "EURUSD", "EURUSD.m")


def put_aliased(spool: Spool, sequence: int) -> Group:
    found = tick_group(spool, "EURUSD", sequence, [START_MSC + sequence])
    found = msgspec.structs.replace(found, stream=ALIASED)
    assert spool.append(found)
    return found


def formats(folder: Path) -> list[int]:
    paths = sorted(folder.glob("segment-*"))
    return [struct.unpack_from("<I", path.read_bytes(), 8)[0] for path in paths]


def test_a_header_is_these_bytes() -> None:
    """Format 1, as every version so far has written it."""
    fields = b"MT5SPOOL" + b"\x01\x00\x00\x00"
    assert header(1) == fields + struct.pack("<I", zlib.crc32(fields))
    assert len(header()) == HEADER_BYTES


def test_only_what_needs_it_is_of_a_newer_format(tmp_path: Path) -> None:
    """So that the version before reads a spool without aliases: a way back."""
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    assert formats(tmp_path) == [1]


def test_a_segment_that_cannot_have_an_alias_ends_before_it(tmp_path: Path) -> None:
    spool = opened(tmp_path)
    first = put(spool, 1)
    spool.commit()
    second = put_aliased(spool, 1)
    spool.commit()
    third = put(spool, 6)
    spool.close()
    assert formats(tmp_path) == [1, 2]
    again = opened(tmp_path)  # its first block names the stream, so this segment needs it, too
    fourth = put_aliased(again, 2)
    again.close()
    assert formats(tmp_path) == [1, 2, 2]
    written = [first, second, third, fourth]
    found = list(read(tmp_path))
    assert all(same(one, other) for one, other in zip(written, found, strict=True))
    assert [one.stream for one in found][1::2] == [ALIASED, ALIASED]
    assert found[1].own_key == ("terminal", ("ticks", "EURUSD.m"))
    assert found[0].own_key == found[0].key
    assert opened(tmp_path).recovered.streams["terminal", ALIASED].sequence == 2


@pytest.mark.parametrize("version", [0, VERSION + 1])
def test_a_spool_of_another_version_is_refused_and_stays_as_it_is(
    tmp_path: Path, version: int
) -> None:
    spool = opened(tmp_path)
    put(spool, 1)
    spool.close()
    path = spool.segments()[0].path
    path.write_bytes(header(version) + path.read_bytes()[HEADER_BYTES:])
    before = path.read_bytes()
    with pytest.raises(SpoolError, match=rf"written in format {version}.*the newer release"):
        Spool(tmp_path).recover()
    assert path.read_bytes() == before
