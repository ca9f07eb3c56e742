"""The short way of a row into a run, generated for the types of its stream.

All cells of a row lie behind each other, so that one call packs them. Names of attributes are not
in the generated text: it holds types and places alone. Whatever is not usual goes the long way,
value by value, which has the last word: nulls, new keys and texts, values that are not finite or do
not fit.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from cep.engine.generated import load_module
from cep.engine.kernels.state import OUT_KEY, OUT_ORDER, OUT_STREAM, OUT_TIME
from cep.plan.types import Type

Push = Callable[..., Any]
WORD = 8
LARGEST_FLOAT = float(np.finfo(np.float32).max)
LARGEST = {Type.BOOL: 1, Type.INT: 2**31 - 1, Type.LONG: 2**63 - 1}

SOURCE = '''\
"""Taking a row of a stream: generated, do not edit."""


def pusher(run, row, words, pack_into, problems, known, codes, put_object, isfinite, single, put):
    feed_row = run.feed_row
    absent = object()

    def push(time_msc, {defaults}*more):
        try:
            if more or {last}time_msc < 0{checks}:
                raise ValueError
            {key}pack_into(words, 0, {cells})
        except problems:
            put(time_msc, tuple(v for v in ({names}*more,) if v is not absent))
        return feed_row(row)

    return push
'''


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value goes: its type, its word among all of the row, and whether it is the key."""

    type: Type
    word: int
    is_key: bool


@dataclass(frozen=True, slots=True)
class Target:
    """A row's words as bytes, and what the values of a stream become; see `RowFeed`."""

    run: Any
    row: Any
    words: memoryview[int]
    known: dict[str | None, tuple[int, int]]
    codes: dict[str, int]
    put_object: Callable[[Any], int]
    put: Callable[[int, tuple[Any, ...]], None]
    """The long way of the time and the values."""


def pusher(places: Sequence[Place], stream: int, width: int, target: Target) -> Push:
    """What takes a row, its time in ms UTC and its values, and runs the rules.

    `width` are the words of a row, `stream` is the number of its stream.
    """
    text, format_ = _source(tuple(places), stream, width)
    problems = (TypeError, ValueError, KeyError, OverflowError, struct.error)
    made: Push = load_module(text).pusher(
        target.run, target.row, target.words, struct.Struct(format_).pack_into, problems,
        target.known, target.codes, target.put_object, math.isfinite, np.float32, target.put,
    )  # fmt: skip
    return made


@cache
def _source(places: tuple[Place, ...], stream: int, width: int) -> tuple[str, str]:
    """The text of the module, and the format of the row's words."""
    cells = {OUT_ORDER: "run.next_order", OUT_STREAM: str(stream), OUT_TIME: "time_msc"}
    letters = {}
    checks, reals, key = [], [], ""
    for number, place in enumerate(places):
        name = f"v{number}"
        cells[place.word] = _cell(place, name)
        if place.type.is_real:
            letters[place.word] = "d"
            if place.type is Type.FLOAT:  # what is beyond its largest becomes infinite
                checks.append(f" or not {-LARGEST_FLOAT!r} <= {name} <= {LARGEST_FLOAT!r}")
            else:
                reals.append(name)
        elif place.type in LARGEST:
            largest = LARGEST[place.type]
            checks.append(f" or not {-largest - 1} <= {name} <= {largest}")
        elif place.is_key:
            key = f"code, key = known[{name}]\n            "
            cells[OUT_KEY] = "key"
    if reals:  # of all at once, as one that is not makes the sum so, too
        checks.append(f" or not isfinite({' + '.join(reals)})")
    words = "".join(letters.get(word, "q") if word in cells else "8x" for word in range(width))
    # given by place, values need no tuple, which takes longer to pack and to unpack
    names = [f"v{number}" for number in range(len(places))]
    text = SOURCE.format(
        defaults="".join(f"{name}=absent, " for name in names),
        last=f"{names[-1]} is absent or " if names else "",
        names="".join(f"{name}, " for name in names),
        checks="".join(checks),
        key=key,
        cells=", ".join(cells[word] for word in sorted(cells)),
    )
    return text, "=" + words


def _cell(place: Place, name: str) -> str:
    """What a value's word becomes."""
    match place.type:
        case Type.STRING:
            return "code" if place.is_key else f"codes[{name}]"
        case Type.OBJECT:
            return f"put_object({name})"
        case Type.FLOAT:
            return f"single({name})"
        case _:
            return name
