"""Variants that differ in nothing but the numbers of their signals: rules that run once for all.

A signal is a row of values. A number that follows from the row of its source alone, such as
`Width * atr`, says what is to be ordered and nothing of when, where no other rule reads the signal.
So rules run without such numbers: signals bring what these are made of, and each variant makes its
own of it, as the interpreter does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cep.backtest.results import Results
from cep.engine.rows import Row
from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row as Values
from cep.plan.expressions import (
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    Expression,
    IsNull,
    Logical,
    Not,
    walk,
)
from cep.plan.functions import scalar_of
from cep.plan.functions.scalars.records import CURRENT_TIME, EVENT_TIME, UUID
from cep.plan.nodes import Operator, Plan
from cep.plan.query import Query
from cep.plan.readers import is_read
from cep.plan.rewrite.expressions import map_children
from cep.plan.steps import Project
from cep.plan.types import Type

READ = "read_{}"
"""What a signal of rules for all has besides its own attributes: values of its source's row."""
_NUMBERS = (Type.DOUBLE, Type.LONG)
_READABLE = (*_NUMBERS, Type.INT, Type.FLOAT, Type.BOOL, Type.STRING)
_OF_VALUES = (Arithmetic, Call, Column, Comparison, Constant, IsNull, Logical, Not)
_OF_THE_MOMENT = (CURRENT_TIME.name, EVENT_TIME.name, UUID.name)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a signal by attribute: expressions whose columns count its values `read`."""

    read: tuple[str, ...]
    made: Mapping[str, Expression]

    def maker(self, context: Context) -> Callable[[Row], Row]:
        """Gives the row of a signal its numbers."""
        made = {name: evaluator(value, context) for name, value in self.made.items()}

        def of(row: Row) -> Row:
            values: list[Any] = [row[name] for name in self.read]
            given = Values(row["time_msc"], values)
            return {**row, **{name: value(given) for name, value in made.items()}}

        return of


@dataclass(frozen=True, slots=True)
class Common:
    """Rules for all that are alike (`plan`), and what one of them, `own`, makes of their signals:
    `numbers` by name of the signal.
    """

    own: Plan
    plan: Plan
    numbers: Mapping[str, Numbers]

    @classmethod
    def of(cls, own: Plan) -> Common:
        """The rules without the numbers of signals that nobody reads."""
        free = {one.name for one in own.signals if not is_read(own, one.name)}
        numbers: dict[str, Numbers] = {}
        operators: list[Operator] = []
        for one in own.operators:
            if isinstance(one, Query) and one.name in free:
                one, numbers[one.name] = _without_numbers(one)
            operators.append(one)
        schemas = {
            one.into: one.schema for one in operators if isinstance(one, Query) and one.name in free
        }
        streams = tuple(
            replace(one, schema=schemas.get(one.name, one.schema)) for one in own.streams
        )
        return cls(own, replace(own, operators=tuple(operators), streams=streams), numbers)

    @property
    def likeness(self) -> str:
        """Plans are alike where this is the same: a text, as 0.0 equals -0.0."""
        return repr(replace(self.plan, text="", parameters=()))

    def results(self, common: Results) -> Results:
        """What its own rules give, where those for all have given this."""
        found = Results(self.own)
        found.records, found.counts, found.dropped = common.records, common.counts, common.dropped
        context = Context(Shared(self.own.compat == "siddhi"))
        made = {name: numbers.maker(context) for name, numbers in self.numbers.items()}
        found.signals = [
            (place, made[row["stream"]](row) if row["stream"] in made else row)
            for place, row in common.signals
        ]
        return found


def like(some: Sequence[Common]) -> dict[str, list[int]]:
    """The places of those that are alike by their likeness, each group in order."""
    groups: dict[str, list[int]] = {}
    for place, one in enumerate(some):
        groups.setdefault(one.likeness, []).append(place)
    return groups


def _without_numbers(query: Query) -> tuple[Query, Numbers]:
    """The query of a signal whose numbers are 0, with what they are made of; and those."""
    made = {name: value for name, value in query.projection if _is_made_of_values(value)}
    columns = {one for value in made.values() for one in walk(value) if isinstance(one, Column)}
    places = {
        column: place
        for place, column in enumerate(sorted(columns, key=lambda column: column.position))
    }
    read = tuple(READ.format(place) for place in places.values())
    projection = (
        *((name, _blank(value) if name in made else value) for name, value in query.projection),
        *zip(read, places, strict=True),
    )
    steps = tuple(
        replace(step, columns=projection) if isinstance(step, Project) else step
        for step in query.steps
    )
    moved = {name: _moved(value, places) for name, value in made.items()}
    return replace(query, steps=steps), Numbers(read, moved)


def _blank(value: Expression) -> Expression:
    return Constant(0, value.type)


def _moved(value: Expression, places: Mapping[Column, int]) -> Expression:
    """An expression of the values that a signal brings."""
    if isinstance(value, Column):
        return replace(value, position=places[value])
    return map_children(value, lambda child: _moved(child, places))


def _is_made_of_values(value: Expression) -> bool:
    """Whether it is a number, which null is not, that is the same whenever it is computed."""
    is_null = isinstance(value, Constant) and value.value is None
    return value.type in _NUMBERS and not is_null and all(map(_is_of_values, walk(value)))


def _is_of_values(node: Expression) -> bool:
    match node:
        case Column():
            return node.type in _READABLE
        case Call():
            known = None if node.digest else scalar_of(node.function)
            is_sure = known is not None and not known.can_fail
            return is_sure and node.function not in _OF_THE_MOMENT
        case _:
            return isinstance(node, _OF_VALUES)
