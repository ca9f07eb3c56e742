"""Whether rules can be run a key at a time, each key elsewhere; and the run of one key.

Of modules what works per key can be, and what crosses keys runs on what comes of it. A program runs
as a whole or not at all: everything in it has to work per key. In sorted history, where all keys
have one clock, nothing may be put out by time alone; of what was lived each key has its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from cep.clocks import Mode
from cep.engine.chunks import Chunks
from cep.engine.native import Compiled, Run
from cep.engine.stages import CROSSING, KEYED, Stages
from cep.plan.clocks import clocks
from cep.plan.elapsed import has_clock, put_out_by_time
from cep.plan.expressions import Call
from cep.plan.functions.scalars.records import UUID
from cep.plan.nodes import Plan, nodes_below
from cep.plan.own import own_digests


def mode_of(*, lived: bool) -> Mode:
    """The mode of records as they came, or of history."""
    return "lived" if lived else "sorted"


def is_distributable(
    rules: Compiled, *, lived: bool = False, places_times: bool = False
) -> str | None:
    """None when keys can be run apart; otherwise the reason why they cannot.

    `lived`: records are as they came, so that a clock of all keys shows what no single key tells.
    `places_times`: of history it is known where times stand among the records of all keys.
    """
    mode = mode_of(lived=lived)
    if lived and rules.plan.compat:
        return f"of compat('{rules.plan.compat}') all keys have one clock"
    if rules.is_generated(mode):
        return next(_of_modules(rules.plan, lived), None)
    reasons = _of_program(rules, mode)
    if mode == "sorted" and not places_times:
        reasons = chain(reasons, (f"{name}: {why}" for name, why in put_out_by_time(rules.plan)))
    return next(reasons, None)


def begun_apart(rules: Compiled, keys: Sequence[str], mode: Mode) -> Run:
    """A run of what is run elsewhere, over the records of one of these keys."""
    first, _ = rules.in_parts(mode)
    return first.begun(keys, "lived" if first.module is not None else mode)


def _of_modules(plan: Plan, lived: bool) -> Iterator[str]:
    """What prevents it where modules run the rules."""
    stages = Stages.of(plan, apart=True)
    if KEYED not in stages.used():
        yield "nothing in the rules works per key"
    for stream in plan.sources:
        readers = stages.readers(stream.name, CROSSING)
        if readers:
            yield f"{readers[0].name} reads {stream.name} across all keys"
    for (_, name), cell in stages.clocks.of_part.items():
        if lived and not stages.clocks.clocks[cell].is_by_key:
            yield f"{name} goes by the lived records of all keys"
    for one, other, met in _torn(stages):
        yield f"engines {one} and {other}, which crosses keys, both lead to {met}"


def _torn(stages: Stages) -> Iterator[tuple[str, str, str]]:
    """Engines of different stages whose finds meet, and where: in one stage both hand over in turn.

    Only the first of them, which is in the earlier stage and leads to the other, could be moved.
    """
    chunks = Chunks(stages.plan)
    for one in stages.plan.engines:
        for other in stages.plan.engines:
            if stages.engine(one.name) < stages.engine(other.name):
                met = chunks.meeting(one.name, other.name)
                if met is not None:
                    yield one.name, other.name, met


def _of_program(rules: Compiled, mode: Mode) -> Iterator[str]:
    """The same where a program does."""
    plan, by = rules.plan, rules.stages.by
    if by.key is None:
        yield "nothing in the rules works per key"
    yield from (f"{name}: {why}" for name, why in by.reasons)
    for operator in plan.operators:
        if not by.is_keyed(operator):
            yield f"{operator.name} works for all keys together"
    for shared in (plan.tables, plan.windows, plan.aggregations):
        yield from (f"{one.name} is shared by all keys" for one in shared)
    yield from (f"{one.complex} goes on in {one.engine}" for one in plan.chained)
    yield from (f"{name} goes by the lived records of all keys" for name in _by_all(plan, mode))
    if own_digests(plan):
        yield "functions of the user see what all keys have brought"
    if any(isinstance(one, Call) and one.function == UUID.name for one in nodes_below(plan)):
        yield "UUID() counts the records of all keys"
    if rules.as_program(mode) is None:
        yield rules.why_not_whole


def _by_all(plan: Plan, mode: Mode) -> Iterator[str]:
    """What goes by a clock that the lived records of other keys move."""
    untimed = {("query", one.name) for one in plan.queries if not has_clock(one)}
    for part, clock in clocks(plan).items() if mode == "lived" else ():
        if part not in untimed and not clock.is_by_key:
            yield part[1]
