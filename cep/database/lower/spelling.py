"""A word of symbols as conditions on its rows, with the variables replaced by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cep.database.errors import Refusal
from cep.database.invisible_gaps import VARIABLES
from cep.plan.expressions import (
    Call,
    Column,
    Constant,
    EventTime,
    Expression,
    Output,
    children,
)
from cep.plan.query import Matching, Query
from cep.plan.rewrite.expressions import map_children
from cep.plan.types import Type
from cep.plan.words import Word

ROW = 0
"""The slot of the row in a matching's expressions."""
SIZE_MAX = 1_000
"""The largest expression that variables may grow to, in operations."""

_WIDENING = {
    Type.LONG: (Type.INT,),
    Type.DOUBLE: (Type.INT, Type.LONG, Type.FLOAT),
}
Replace = Callable[[Column | EventTime], Expression]


@dataclass(frozen=True, slots=True)
class Spelled:
    """What must hold of the rows of a word, and what is selected: row n is in slot n, from 0."""

    length: int
    conditions: tuple[Expression, ...]
    values: tuple[Expression, ...]


def spelled(query: Query, matching: Matching, word: Word) -> Spelled:
    """One word of a matching; variables are null before they are set."""
    variables: list[Expression] = [
        Constant(None, attribute.type) for attribute in matching.variables.attributes
    ]
    conditions = []
    for place, symbol in enumerate(word):
        definition = matching.symbols[symbol]
        conditions.append(_seen(definition.condition, place, variables))
        for position, value in definition.sets:
            variables[position] = _seen(value, place, variables)
    last = len(word) - 1
    values = tuple(_seen(value, last, variables) for _, value in query.projection)
    if query.having is not None:
        conditions.append(_seen(selected(query.having, query), last, variables))
    return Spelled(len(word), tuple(conditions), values)


def selected(having: Expression, query: Query) -> Expression:
    """A condition on what is selected as one on what it is made of."""
    if isinstance(having, Output):
        return query.projection[having.position][1]
    return map_children(having, lambda child: selected(child, query))


def need_types(matching: Matching) -> None:
    """Refusal where a variable would have to hold what its type does not."""
    for definition in matching.symbols:
        for position, value in definition.sets:
            variable = matching.variables.attributes[position]
            if value.type is not variable.type and value.type not in _WIDENING.get(
                variable.type, ()
            ):
                raise Refusal(
                    "never", f"{variable.name}, of type {variable.type}, is set to a {value.type}"
                )


def replaced(expression: Expression, find: Replace) -> Expression:
    """The expression with attributes and times replaced; those of other slots, too."""
    match expression:
        case Column() | EventTime():
            return find(expression)
        case Call(function="eventTimestamp"):
            return find(EventTime())
        case _:
            return map_children(expression, lambda child: replaced(child, find))


def _seen(expression: Expression, place: int, variables: Sequence[Expression]) -> Expression:
    """An expression of the row at a place of the word."""

    def find(node: Column | EventTime) -> Expression:
        if isinstance(node, EventTime):
            return EventTime(place)
        if node.slot == VARIABLES:
            return variables[node.position]
        return replace(node, slot=place) if node.slot == ROW else node

    found = replaced(expression, find)
    if _size(found) > SIZE_MAX:
        raise Refusal("notimpl", f"variables made of more than {SIZE_MAX} operations")
    return found


def _size(expression: Expression) -> int:
    return 1 + sum(map(_size, children(expression)))
