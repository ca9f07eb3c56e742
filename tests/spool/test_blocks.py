"""Record groups and blocks as bytes: round trips, and damage of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt5bridge.spool import Group, GroupError, RecordKind, gap
from mt5bridge.spool.block import BLOCK_MAGIC, Block, Damage, encode, scan
from tests.spool.groups import ticks

texts = st.text(max_size=12)
payloads = st.lists(st.binary(max_size=60), min_size=1, max_size=8)


@given(
    ingest=st.integers(0, 2**62),
    sequence=st.integers(0, 2**62),
    offset=st.integers(-(2**40), 2**40),
    source=texts,
    symbol=texts,
    times=st.lists(st.integers(-(2**60), 2**60), max_size=6),
    marked=st.booleans(),
)
def test_a_tick_group_comes_back_as_it_was(
    ingest: int,
    sequence: int,
    offset: int,
    source: str,
    symbol: str,
    times: list[int],
    marked: bool,
) -> None:
    quality = np.arange(len(times), dtype=np.uint8) if marked else np.empty(0, np.uint8)
    group = Group(
        ingest, RecordKind.TICKS, source, ("ticks", symbol), sequence, ticks(times), offset, quality
    )
    back = Group.decode(memoryview(group.encode()))
    assert (back.ingest, back.kind, back.source, back.stream) == (
        ingest, RecordKind.TICKS, source, ("ticks", symbol)
    )  # fmt: skip
    assert (back.sequence, back.utc_offset_ms) == (sequence, offset)
    np.testing.assert_array_equal(back.records, group.records)
    np.testing.assert_array_equal(back.quality, quality)


def test_a_gap_takes_no_ingest_number() -> None:
    lost = gap(7, ("terminal", ("deals",)), 3, 9, "terminal was off")
    back = Group.decode(memoryview(lost.encode()))
    assert (back.width, back.last_ingest, back.note) == (0, 6, "terminal was off")
    assert back.records.tolist() == [(3, 9)]
    assert back.stream == ("deals",)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_group_are_refused_and_nothing_else(data: bytes) -> None:
    try:
        group = Group.decode(memoryview(data))
    except GroupError:
        return
    assert group.encode() == data


def test_quality_must_match_the_records() -> None:
    group = Group(
        1, RecordKind.TICKS, "t", ("ticks", "A"), 1, ticks([1, 2]), 0, np.zeros(3, np.uint8)
    )
    with pytest.raises(GroupError, match="3 quality marks for 2 records"):
        group.encode()


@given(payloads)
def test_whole_blocks_are_all_found(written: list[bytes]) -> None:
    data = b"".join(encode(payload, 0) for payload in written)
    items = list(scan(data))
    assert all(isinstance(item, Block) for item in items)
    assert [bytes(item.payload) for item in items if isinstance(item, Block)] == written


@given(payloads, st.data())
def test_a_flipped_bit_costs_its_own_block_and_no_other(
    written: list[bytes], data: st.DataObject
) -> None:
    blocks = [encode(payload, 0) for payload in written]
    whole = bytearray(b"".join(blocks))
    bit = data.draw(st.integers(0, len(whole) * 8 - 1))
    whole[bit // 8] ^= 1 << (bit % 8)
    ends = np.cumsum([len(block) for block in blocks])
    hit = int(np.searchsorted(ends, bit // 8, side="right"))
    found = [bytes(item.payload) for item in scan(bytes(whole)) if isinstance(item, Block)]
    assert found == written[:hit] + written[hit + 1 :]


def test_what_only_looks_like_a_block_is_part_of_the_damage() -> None:
    good = encode(b"good", 0)
    bad = b"\x07" + BLOCK_MAGIC + b"\x07" * 40 + BLOCK_MAGIC
    first, damage, last = scan(good + bad + good)
    assert isinstance(first, Block) and isinstance(last, Block)
    assert damage == Damage(len(good), len(good + bad))


@given(payloads, st.data())
def test_a_cut_file_gives_the_blocks_before_the_cut(
    written: list[bytes], data: st.DataObject
) -> None:
    blocks = [encode(payload, 0) for payload in written]
    whole = b"".join(blocks)
    cut = data.draw(st.integers(0, len(whole)))
    ends = np.cumsum([len(block) for block in blocks])
    kept = int(np.searchsorted(ends, cut, side="right"))
    items = list(scan(whole[:cut]))
    assert [bytes(item.payload) for item in items if isinstance(item, Block)] == written[:kept]
    assert sum(isinstance(item, Damage) for item in items) == (cut not in (0, *ends))
