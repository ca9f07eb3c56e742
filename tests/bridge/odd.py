"""Valid frames with whatever their fields can hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mt5bridge.records import Records
from mt5bridge.wire import (
    SEQUENCE_MAX,
    TIME_MSC_MAX,
    TIME_MSC_MIN,
    Hello,
    WireError,
    encode,
)
from mt5bridge.wire.layout import Code, Entries, Numbers, RecordArray, parts
from tests.wire.samples import FRAMES as SAMPLES

IDENTITIES = ("mallory", "trudy", "good", '"', "\U0001f600" * 32)
NUMBERS = (
    0, 1, 2, 3, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**31), -(2**63),
    SEQUENCE_MAX - 1, 86_400_000, -86_400_000, TIME_MSC_MIN, TIME_MSC_MAX, 1_700_000_000_000,
)  # fmt: skip
DOUBLES = (0.0, -0.0, 1.0, 5e-324, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
TEXTS = ("", "a", "EURUSD", "\x01\x7f", '"\\' * 16, "\U0001f600" * 8, "x" * 1_024, "../../etc")
COUNTS = (0, 1, 2, 3, 17, 300)


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
    """About `count` of them, encoded."""
    names = list(SAMPLES)
    weighted = names + ["hello", "symbols", "ticks", "deals", "lost", "heartbeat"] * 3
    for _ in range(count):
        body = SAMPLES[chance.choice(weighted)][1]
        try:
            yield encode(mostly_odd(chance, body))
        except WireError:
            continue
