"""A run's state as bytes, exact at any record: save the arrays, load the arrays."""

from __future__ import annotations

import io
import zipfile

import msgspec
import numpy as np

from cep.engine.kernels.state import State
from cep.engine.memory import SCRATCH, with_limits
from cep.engine.native import Compiled, Run

FORMAT = 1
HEAD = "head"


class SnapshotError(ValueError):
    """A snapshot of other rules, another version, or damaged."""


class Head(msgspec.Struct, frozen=True):
    """What a snapshot holds beside arrays."""

    format: int
    fingerprint: str
    next_order: int
    strings: list[str]
    key_codes: list[int]


def take(run: Run) -> bytes:
    """The state of a run between two records."""
    head = Head(
        FORMAT,
        run.rules.fingerprint,
        run.next_order,
        run.strings.values,
        run.decoder.key_codes,
    )
    arrays = {HEAD: np.frombuffer(msgspec.msgpack.encode(head), np.uint8)}
    for number, stage in run.stages.items():
        for name in State._fields:
            if name not in SCRATCH:
                arrays[f"{number}.{name}"] = getattr(stage.state, name)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def restore(rules: Compiled, data: bytes) -> Run:
    """A run that goes on where the snapshot was taken. SnapshotError when it does not fit."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            head = msgspec.msgpack.decode(arrays[HEAD].tobytes(), type=Head)
            saved = {name: arrays[name] for name in arrays.files if name != HEAD}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, msgspec.DecodeError) as problem:
        raise SnapshotError(f"not a readable snapshot: {problem}") from problem
    if head.format != FORMAT:
        raise SnapshotError(f"snapshot format {head.format}, this program reads {FORMAT}")
    if head.fingerprint != rules.fingerprint:
        raise SnapshotError("the snapshot was taken with other rules or another version")
    run = rules.start()
    run.adopt(head.strings, head.key_codes, head.next_order)
    for number, stage in run.stages.items():
        own = {name: saved[f"{number}.{name}"] for name in State._fields if name not in SCRATCH}
        stage.state = with_limits(stage.state._replace(**own), stage.compiled.needs)
    return run
