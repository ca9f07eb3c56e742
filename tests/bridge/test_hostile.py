"""Clients that send valid frames with whatever their fields can hold, in any order.

Afterwards a good terminal is greeted, acknowledged, and its records are stored exactly once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
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
    SEQUENCE_MAX,
    TIME_MSC_MAX,
    TIME_MSC_MIN,
    Ack,
    Error,
    Frame,
    Heartbeat,
    Hello,
    Mark,
    Symbols,
    Ticks,
    Welcome,
    WireError,
    decode,
    encode,
)
from mt5bridge.wire.layout import Code, Entries, Numbers, RecordArray, parts
from tests.bridge.dialog import symbol
from tests.wire.samples import FRAMES as SAMPLES
from tests.wire.samples import some_ticks

HOSTILE = (b"h1", b"h2", b"h3", b"h4")
IDENTITIES = ("mallory", "trudy", "good", '"', "\U0001f600" * 32)
GOOD_TICKS = 40
NUMBERS = (
    0, 1, 2, 3, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**31), -(2**63),
    SEQUENCE_MAX - 1, 86_400_000, -86_400_000, TIME_MSC_MIN, TIME_MSC_MAX, 1_700_000_000_000,
)  # fmt: skip
DOUBLES = (0.0, -0.0, 1.0, 5e-324, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", "a", "EURUSD", "\x01\x7f", '"\\' * 16, "\U0001f600" * 8, "x" * 1_024, "../../etc")
COUNTS = (0, 1, 2, 3, 17, 300)


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


def odd_records(chance: random.Random, dtype: np.dtype[Any]) -> Records:
    """Records with a field or two at their ends."""
    made = np.zeros(chance.choice((1, 2, 20)), dtype)
    made["time_msc"] = 1_700_000_000_000
    for name in chance.sample(dtype.names or (), 3):
        kind = dtype[name].kind
        if kind == "f":
            made[name] = chance.choice(DOUBLES)
        elif kind in "iu":
            limits = np.iinfo(dtype[name])
            made[name] = min(max(chance.choice(NUMBERS), int(limits.min)), int(limits.max))
        else:
            made[name] = chance.randbytes(dtype[name].itemsize)
    return made


def odd(chance: random.Random, body: Any) -> dict[str, Any]:
    """Some fields of a frame or an entry, at their ends."""
    changes: dict[str, Any] = {}
    for part in parts(type(body)):
        match part:
            case Numbers(names=names):
                codes = part.form.format[1:]
                for name, code in zip(names, codes, strict=True):
                    changes[name] = chance.choice(DOUBLES if code == "d" else NUMBERS)
            case Code(name=name, codes=codes):
                changes[name] = chance.choice(list(codes))
            case Entries(name=name):
                entry = getattr(body, name)[0]
                changes[name] = (mostly_odd(chance, entry),) * chance.choice(COUNTS)
            case RecordArray(name=name, dtype=dtype):
                changes[name] = odd_records(chance, dtype)
            case _:
                changes[part.name] = chance.choice(TEXTS)  # type: ignore[attr-defined]
    chosen = chance.sample(sorted(changes), chance.randint(1, min(3, len(changes))))
    return {name: changes[name] for name in chosen}


def mostly_odd(chance: random.Random, body: Any) -> Any:
    """As odd as a valid one can be, in few attempts."""
    for _ in range(20):
        changes = odd(chance, body)
        # A number in most frames; what an event binds names its stream.
        if isinstance(getattr(body, "stream", None), int) and chance.random() < 0.7:
            changes["stream"] = chance.choice((0, 1, 2))
        if isinstance(body, Hello):
            changes["identity"] = chance.choice(IDENTITIES)
        try:
            return replace(body, **changes)
        except WireError:
            continue
    return body


def hostile_frames(chance: random.Random, count: int) -> Iterator[bytes]:
    names = list(SAMPLES)
    weighted = names + ["hello", "symbols", "ticks", "deals", "lost", "heartbeat"] * 3
    for _ in range(count):
        body = SAMPLES[chance.choice(weighted)][1]
        try:
            yield encode(mostly_odd(chance, body))
        except WireError:
            continue


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
