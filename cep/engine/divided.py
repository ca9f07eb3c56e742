"""A plan in two fragments: one runs in front, and hands what it makes of each record to the rest.

The two meet in an exchange: rows of the streams that the front makes and the rest reads, each with
the place, the clocks and the lateness of the record that it follows from (`cep.engine.elsewhere`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cep.plan.clocks import followed_sources
from cep.plan.keys import NOWHERE, fed_from_outside, key_attributes
from cep.plan.nodes import Elsewhere, Operator, Origin, Plan, Stream
from cep.plan.outlets import streams_read, streams_written
from cep.plan.query import Query


@dataclass(frozen=True, slots=True)
class Divided:
    """A plan in two; `why` says by operator of the rest why it is not in front."""

    plan: Plan
    front: Plan
    rest: Plan
    why: Mapping[str, str]

    @property
    def passed(self) -> frozenset[str]:
        """The streams that the front makes and the rest reads."""
        read = {stream for one in self.rest.operators for stream in streams_read(one)}
        return frozenset(made_by(self.front.operators) & read)

    def feeding(self) -> dict[str, int]:
        """In which order one record's rows are fed to the rest: when its first reader is told."""
        readers: defaultdict[str, list[Operator]] = defaultdict(list)
        for one in self.plan.operators:
            for stream in dict.fromkeys(streams_read(one)):
                readers[stream].append(one)
        fed: dict[str, int] = {}

        def follow(stream: str) -> None:
            for one in readers[stream]:
                if one.name in self.why:
                    fed.setdefault(stream, len(fed))
                elif isinstance(one, Query) and one.target is not None:
                    follow(one.target)

        for source in self.front.sources:
            follow(source.name)
        return fed


def divided(plan: Plan, why: Mapping[str, str], front: str) -> Divided:
    """The plan with what `why` gives a reason for in the rest, and all that reads what that makes.

    Only queries can stand in front; `front` is what runs them, for reasons.
    """
    found = dict(why)
    while True:
        made = {n for one in plan.operators if one.name in found for n in streams_written(one)}
        more = {
            one.name: f"it reads {stream}, which {front} does not make"
            for one in plan.operators
            for stream in streams_read(one)
            if one.name not in found and stream in made
        }
        if not more:
            break
        found |= more
    own = [one for one in plan.operators if one.name not in found]
    rest = [one for one in plan.operators if one.name in found]
    made = made_by(own)
    streams = tuple(s for s in plan.streams if s.origin is Origin.SOURCE or s.name in made)
    return Divided(
        plan,
        replace(plan, streams=streams, operators=tuple(own)),
        replace(plan, streams=_fed(plan, made), operators=tuple(rest)),
        found,
    )


def made_by(operators: Sequence[Operator]) -> set[str]:
    """The streams that queries among these fill with what they select."""
    return {one.target for one in operators if isinstance(one, Query) and one.target is not None}


def _fed(plan: Plan, made: Collection[str]) -> tuple[Stream, ...]:
    """The streams of the rest; those made in front keep the clocks of their records."""
    held, followed = key_attributes(plan), followed_sources(plan)
    return tuple(
        replace(one, elsewhere=Elsewhere(followed[one.name], held.get(one.name, NOWHERE)))
        if one.name in made
        else one
        for one in fed_from_outside(plan, made)
    )
