"""Hypothesis strategies for frames, made from their layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from mt5bridge.records import Records
from mt5bridge.wire import FRAMES, Deals, Frame, Symbol, Ticks
from mt5bridge.wire.layout import Code, Entries, Numbers, RecordArray, parts

_RANGES = {
    "B": (0, 2**8 - 1),
    "H": (0, 2**16 - 1),
    "I": (0, 2**32 - 1),
    "Q": (0, 2**64 - 1),
    "i": (-(2**31), 2**31 - 1),
    "q": (-(2**63), 2**63 - 1),
}
_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
_NAME = st.text(st.sampled_from("ABCxyz.#€"), min_size=1, max_size=10)
_SIZE = st.floats(0, 1e9)
_NAMED: dict[str, st.SearchStrategy[Any]] = {
    "utc_offset_ms": st.integers(-86_400_000, 86_400_000),
    "first": st.integers(1, 2**62),
    "last": st.integers(2**62, 2**63 - 1),
    "identity": _NAME,
    "lots": _SIZE,
    "stop_points": _SIZE,
    "target_points": _SIZE,
}


def bodies(cls: type) -> st.SearchStrategy[Any]:
    """Valid instances of a frame or of an entry in one."""
    arguments: dict[str, st.SearchStrategy[Any]] = {}
    for part in parts(cls):
        arguments.update(_strategies(part))
    arguments.update({name: made for name, made in _NAMED.items() if name in arguments})
    if cls in (Ticks, Symbol):
        arguments["stream"] = st.integers(1, 2**32 - 1)
    if cls is Deals:
        arguments["stream"] = st.just(0)
    if cls is Symbol:
        arguments["name"] = _NAME
    return st.builds(cls, **arguments)


def frames() -> st.SearchStrategy[Frame]:
    """Valid frames of all types."""
    return st.one_of([bodies(cls) for cls in FRAMES])


def records(dtype: np.dtype[Any]) -> st.SearchStrategy[Records]:
    """One to three records of any bytes."""
    return st.integers(1, 3).flatmap(
        lambda count: st.binary(
            min_size=count * dtype.itemsize, max_size=count * dtype.itemsize
        ).map(lambda raw: np.frombuffer(raw, dtype))
    )


def _strategies(part: Any) -> dict[str, st.SearchStrategy[Any]]:
    if isinstance(part, Numbers):
        codes = part.form.format[1:]
        return {name: _number(code) for name, code in zip(part.names, codes, strict=True)}
    if isinstance(part, Code):
        return {part.name: st.sampled_from(list(part.codes))}
    if isinstance(part, RecordArray):
        return {part.name: records(part.dtype)}
    if isinstance(part, Entries):
        return {part.name: st.lists(bodies(part.entry), max_size=3).map(tuple)}
    return {part.name: _TEXT}


def _number(code: str) -> st.SearchStrategy[Any]:
    return st.floats() if code == "d" else st.integers(*_RANGES[code])
