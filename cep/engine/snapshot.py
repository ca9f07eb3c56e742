"""A run's state as bytes, exact at any record: save the arrays, load the arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from cep.clocks import Mode
from cep.engine.in_order import InOrder
from cep.engine.jit import kernel_files
from cep.engine.kernels.state import State
from cep.engine.machine.homes import Before
from cep.engine.memory import SCRATCH, with_limits
from cep.engine.native import Compiled, Run, Seed
from cep.engine.stage_run import StageRun
from cep.engine.watermarks import SavedWatermarks
from cep.interpreter.snapshot import SnapshotError

__all__ = ["Snapshot", "SnapshotError", "restore", "seed_of", "take"]

FORMAT = 9
DIGEST_BYTES = 16
MEMORY = "memory"
"""The array of rules that run as one program."""
WAITING = ("waiting.ints", "waiting.floats", "waiting.marks")
"""Those of records that wait for their order."""


class Saved(msgspec.Struct, frozen=True, array_like=True):
    """One array."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: NDArray[Any]) -> Saved:
        return cls(array.dtype.str, array.shape, array.tobytes())

    def array(self) -> NDArray[Any]:
        return np.frombuffer(self.data, self.dtype).reshape(self.shape).copy()


class Snapshot(msgspec.Struct, frozen=True):
    """What is saved; `fingerprint` says for which rules and which kernels.

    The first `seed_strings` and `seed_keys` are the seed of the rules, with `before`.
    """

    format: int
    fingerprint: str
    seed_strings: int
    seed_keys: int
    before: Before
    next_order: int
    strings: list[str]
    key_codes: list[int]
    arrays: dict[str, Saved]
    interpreted: bytes | None
    instances: bytes | None
    """Of indicators of the user, in a program."""
    mode: Mode
    clocks: dict[str, list[int]]
    watermarks: SavedWatermarks


@cache
def kernels_digest() -> str:
    """Identifies the code that gives the arrays their meaning."""
    digest = hashlib.sha256()
    for source in kernel_files():
        digest.update(source.read_bytes())
    return digest.hexdigest()


def take(run: Run) -> bytes:
    """The state of a run between two records."""
    return sealed(captured(run))


def captured(run: Run) -> Snapshot:
    """A copy of that state: the run goes on, while another thread makes bytes of it."""
    return Snapshot(
        FORMAT,
        run.rules.fingerprint + kernels_digest(),
        len(run.rules.seed.strings),
        len(run.rules.seed.keys),
        run.rules.seed.before,
        run.next_order,
        run.strings.values[:],
        run.decoder.key_codes[:],
        dict(_arrays(run)),
        None if run.interpreting is None else run.interpreting.interpreter.snapshot(),
        None if run.machine is None else run.machine.host.instances.saved(),
        run.clocks.mode,
        run.clocks.state(),
        deepcopy(run.watermarks.state()),
    )


def sealed(snapshot: Snapshot) -> bytes:
    """A snapshot as bytes, with their digest."""
    data = msgspec.msgpack.encode(snapshot)
    return _digest(data) + data


def _arrays(run: Run) -> Iterator[tuple[str, Saved]]:
    if run.machine is not None:
        yield MEMORY, Saved.of(run.machine.memory.saved())
        if isinstance(run.runner, InOrder):
            yield from zip(WAITING, map(Saved.of, run.runner.saved()), strict=True)
    elif isinstance(run.runner, StageRun):
        for name in _kept():
            yield name, Saved.of(getattr(run.runner.state, name))


def _kept() -> Iterator[str]:
    return (name for name in State._fields if name not in SCRATCH)


def _digest(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def restore(rules: Compiled, data: bytes) -> Run:
    """A run that goes on where the snapshot was taken. SnapshotError when it does not fit."""
    snapshot = _decoded(data)
    run = _fitting(rules, snapshot).begun(mode=snapshot.mode)
    run.clocks.restore(snapshot.clocks)
    run.adopt(snapshot.strings, snapshot.key_codes, snapshot.next_order)
    if run.machine is not None:
        run.machine.memory.restore(snapshot.arrays[MEMORY].array())
        if isinstance(run.runner, InOrder):
            ints, floats, marks = (snapshot.arrays[name].array() for name in WAITING)
            run.runner.restore((ints, floats, marks))
        if snapshot.instances is not None:
            run.machine.host.instances.restore(snapshot.instances, run.machine.owns)
    elif isinstance(run.runner, StageRun):
        own = {name: snapshot.arrays[name].array() for name in _kept()}
        state, needs = run.runner.state, run.runner.compiled.needs
        run.runner.state = with_limits(state._replace(**own), needs)
    elif run.interpreting is not None and snapshot.interpreted is not None:
        run.interpreting.interpreter.restore(snapshot.interpreted)
    run.watermarks.restore(snapshot.watermarks)
    return run


def _fitting(rules: Compiled, snapshot: Snapshot) -> Compiled:
    """The rules in the way in which they ran. SnapshotError when it was other rules."""
    way: Compiled | None
    if rules.is_chosen:
        way = rules
    elif MEMORY in snapshot.arrays:
        way = rules.as_program(snapshot.mode)
    elif snapshot.interpreted is not None:
        way = rules.by_interpreter
    else:
        way = rules.generated if rules.is_generated(snapshot.mode) else None
    if way is None or snapshot.fingerprint != way.fingerprint + kernels_digest():
        raise SnapshotError("the snapshot was taken with other rules or another version")
    return way


def seed_of(data: bytes) -> Seed:
    """With what seed the rules must be compiled that the snapshot fits. SnapshotError: damaged."""
    snapshot = _decoded(data)
    codes = snapshot.key_codes[1 : 1 + snapshot.seed_keys]
    strings = snapshot.strings
    keys = tuple(strings[code] for code in codes)
    return Seed(tuple(strings[: snapshot.seed_strings]), keys, snapshot.before)


def _decoded(data: bytes) -> Snapshot:
    body = memoryview(data)[DIGEST_BYTES:]
    if _digest(body) != data[:DIGEST_BYTES]:
        raise SnapshotError("the snapshot is damaged")
    try:
        snapshot = msgspec.msgpack.decode(body, type=Snapshot)
    except msgspec.DecodeError as problem:
        raise SnapshotError(f"a snapshot of another version: {problem}") from problem
    if snapshot.format != FORMAT:
        raise SnapshotError(f"snapshot format {snapshot.format}, this program reads {FORMAT}")
    return snapshot
