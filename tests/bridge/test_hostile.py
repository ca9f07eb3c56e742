"""Clients that send valid frames with whatever their fields can hold, in any order.

Afterwards a good terminal is greeted, acknowledged, and its records are stored exactly once.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from mt5bridge.clock import Now
from mt5bridge.records import Records
from mt5bridge.server import Batch, Gap, Settings, Sink
from mt5bridge.server.survey import survey
from mt5bridge.server.terminals import Terminals
from mt5bridge.spool import Group, RecordKind, Spool, gap, read
from mt5bridge.wire import (
    FRAMES,
    Ack,
    Error,
    Frame,
    Heartbeat,
    Mark,
    Symbols,
    Ticks,
    Welcome,
    decode,
    encode,
)
from tests.bridge.dialog import symbol
from tests.bridge.odd import IDENTITIES, hostile_frames
from tests.wire.samples import FRAMES as SAMPLES
from tests.wire.samples import some_ticks

HOSTILE = (b"h1", b"h2", b"h3", b"h4")
GOOD_TICKS = 40


class Store:
    """A spool behind terminals, which acknowledges what it has committed."""

    def __init__(self, folder: Path) -> None:
        self.spool = Spool(folder, segment_bytes=20_000, on_durable=self._on_durable)
        self.spool.recover()
        sink = Sink(self._take, self._lose)
        self.terminals = Terminals(Settings(terminals_max=len(IDENTITIES) + 1), sink, {})
        self.ms = 1_000

    @property
    def now(self) -> Now:
        return Now(self.ms, 1_700_000_000_000 + self.ms)

    def say(self, route: bytes, data: bytes) -> list[Frame]:
        """The answers to a route, each of which is one that can be sent."""
        self.ms += 7
        found = self.terminals.receive(route, [data], self.now)
        found += self.terminals.outgoing() + self.terminals.remind(self.now)
        return [decode(encode(frame)) for to, frame in found if to == route]

    def _take(self, batch: Batch) -> bool:
        kind = RecordKind.TICKS if batch.stream[0] == "ticks" else RecordKind.DEALS
        return self.spool.append(
            Group(
                self.spool.next_ingest, kind, batch.identity, batch.stream, batch.first,
                batch.records, batch.utc_offset_ms, batch.quality,
            )
        )  # fmt: skip

    def _lose(self, lost: Gap) -> bool:
        key = (lost.identity, lost.stream)
        return self.spool.append(gap(self.spool.next_ingest, key, lost.first, lost.last, lost.text))

    def _on_durable(self, durable: Any) -> None:
        for (identity, stream), sequence in durable.sequences.items():
            self.terminals.acknowledge(identity, stream, sequence)


def test_every_frame_has_a_sample() -> None:
    assert {type(frame) for _, frame in SAMPLES.values()} == set(FRAMES)


@pytest.mark.parametrize("seed", range(6))
def test_nobody_suffers_from_hostile_clients(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    store = Store(tmp_path / "spool")
    good = some_ticks(GOOD_TICKS)
    for number, data in enumerate(hostile_frames(chance, 1_500)):
        store.say(chance.choice(HOSTILE), data)
        if number % 50 == 0:
            store.spool.commit(store.ms)
    assert msgspec.json.encode(survey(store.terminals, "tcp://127.0.0.1:1", 0, store.now))
    assert store.terminals.sink.counters["sessions_failed"] == 0
    store.ms += Settings().timeout_ms + 1
    hello = replace(SAMPLES["hello"][1], identity="honest")
    (welcome,) = store.say(b"g", encode(hello))
    assert isinstance(welcome, Welcome) and not any(one.name for one in welcome.streams)
    store.say(b"g", encode(Symbols((symbol("EURUSD", 1),))))
    frames = hostile_frames(chance, 400)
    for first in [1, 21, 1, 11, 31, 31]:
        for data in [data for data, _ in zip(frames, range(20), strict=False)]:
            store.say(chance.choice(HOSTILE), data)
        answers = store.say(b"g", encode(Ticks(1, 0, first, good[first - 1 : first + 9])))
        assert not [one for one in answers if isinstance(one, Error)]
    store.say(b"g", encode(Ticks(1, 0, 21, good[20:])))
    store.spool.commit(store.ms)
    beat = Heartbeat(9, 0, 0, 0, 0, (Mark(1, GOOD_TICKS, GOOD_TICKS),))
    answers = store.say(b"g", encode(beat))
    (ack,) = [one for one in answers if isinstance(one, Ack)]
    assert ack.streams[0].sequence == GOOD_TICKS
    store.spool.close()
    assert stored(store.spool, "honest").tobytes() == good.tobytes()
    again = Spool(store.spool.directory).recover()
    assert again.damages == () and again.streams["honest", ("ticks", "EURUSD")].sequence == 40


def stored(spool: Spool, source: str) -> Records:
    """The ticks of a source; each of its streams, and of all others, is without a break."""
    expected: dict[Any, int] = {}
    for group in read(spool.directory):
        assert group.sequence == expected.get(group.key, 1)
        last = (
            int(group.records["last"][0]) if group.kind is RecordKind.GAP else group.last_sequence
        )
        expected[group.key] = last + 1
    kept = [group.records for group in read(spool.directory) if group.source == source]
    return np.concatenate(kept)
