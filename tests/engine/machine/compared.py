"""The machine beside the interpreter: the same rows, in the same order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.engine.watermarks import Telling
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from cep.plan.nodes import Plan

Record = tuple[str, int, Sequence[Any]]
"""A stream, a time in ms, the values."""


def resumed(run: Run) -> Run:
    """A run that goes on from a snapshot of this one."""
    return restore(run.rules, take(run))


def assert_same(
    rule: str | Plan,
    records: Sequence[Record],
    until_msc: int | None = None,
    *,
    jit: bool = False,
    cuts: Collection[int] = (),
) -> int:
    """Run rules both ways, uncompiled unless `jit`; how many rows came out, which must be alike.

    The records are sorted history, which ends at `until_msc`; in front of those numbered `cuts` the
    run goes on from a snapshot. Unsupported when the machine cannot run the rules.
    """
    plan = compile_rules(rule) if isinstance(rule, str) else rule
    rules = Compiled(plan, jit=jit, machine="always")
    assert rules.whole is not None, rules.why_not_whole
    run, reference = rules.start(mode="sorted"), InterpretedRun(plan)
    made: list[Any] = []
    meant: list[Any] = []
    for place, (stream, time_msc, values) in enumerate(records):
        if place in cuts:
            run = resumed(run)
        names = plan.stream(stream).schema.names
        columns = {name: [value] for name, value in zip(names, values, strict=True)}
        made += run.push(stream, columns, [time_msc]).dicts()
        meant += reference.push(stream, time_msc, values)
        assert made == meant, next(
            pair for pair in zip(made, meant, strict=False) if pair[0] != pair[1]
        )
    if until_msc is not None:
        made += run.end(until_msc).dicts()
        meant += reference.end(until_msc)
    assert made == meant
    assert run.dropped == reference.dropped
    return len(made)


@dataclass(frozen=True)
class Told:
    """A watermark: of `keys`, and for what has one clock; of None of all keys."""

    time_msc: int
    keys: tuple[str, ...] | None = None
    common_msc: int | None = None
    is_complete: bool = True


def assert_same_lived(
    rule: str | Plan,
    records: Sequence[Record | Told],
    until_msc: int,
    *,
    jit: bool = False,
    cuts: Collection[int] = (),
) -> int:
    """The same for records that were lived, with watermarks among them."""
    plan = compile_rules(rule) if isinstance(rule, str) else rule
    rules = Compiled(plan, jit=jit, machine="always")
    assert rules.whole_lived is not None, rules.why_not_whole
    run, reference = rules.start(mode="lived"), InterpretedRun(plan, mode="lived")
    assert run.machine is not None
    made: list[Any] = []
    meant: list[Any] = []
    for place, record in enumerate(records):
        if place in cuts:
            run = resumed(run)
        if isinstance(record, Told) and record.keys is None:
            made += run.advance(record.time_msc, is_complete=record.is_complete).dicts()
            meant += reference.advance(record.time_msc, is_complete=record.is_complete)
        elif isinstance(record, Told):
            run.watermarks.clock_msc = record.common_msc
            told = Telling(record.time_msc, record.keys, record.is_complete)
            made += run.tell(told, run.next_order).dicts()
            meant += reference.tell(
                record.keys or (), record.time_msc, record.common_msc,
                is_complete=record.is_complete,
            )  # fmt: skip
        else:
            stream, time_msc, values = record
            names = plan.stream(stream).schema.names
            columns = {name: [value] for name, value in zip(names, values, strict=True)}
            made += run.push(stream, columns, [time_msc]).dicts()
            meant += reference.push(stream, time_msc, values)
        assert made == meant, (record, made[-3:], meant[-3:])
    made += run.end(until_msc).dicts()
    meant += reference.end(until_msc)
    assert made == meant, (made[-3:], meant[-3:])
    assert run.dropped == reference.dropped
    return len(made)
