"""Expressions over the events of a match: where each value stands while a row is looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_shapes import MatchGroup
from cep.engine.codegen.writer import Writer
from cep.engine.kernels.partials import FOREVER
from cep.engine.layout import is_float
from cep.plan.expressions import Column, EventTime, Expression, walk
from cep.plan.families import PARAMETER

TIME = -1
"""The position of an event's time among its attributes."""

Place = tuple[int, int]
"""A slot and the position of an attribute, or TIME."""


@dataclass(frozen=True, slots=True)
class SlotScope(Scope):
    """A scope in which columns have slots; `cells` tells the source of each place."""

    cells: Mapping[Place, str] = field(default_factory=dict)

    def value(self, expression: Expression) -> str:
        place = place_of(expression)
        if place is not None:
            return self.cells[place]
        return Scope.value(self, expression)


def place_of(expression: Expression) -> Place | None:
    """The place of a column or of an event's time; None for any other expression."""
    match expression:
        case Column():
            return expression.slot, expression.position
        case EventTime(int() as slot):
            return slot, TIME
        case _:
            return None


def places(expression: Expression) -> dict[Place, bool]:
    """The places an expression reads, parameters left out, and whether each is a float."""
    return {
        place: is_float(node.type)
        for node in walk(expression)
        if (place := place_of(node)) is not None and place[0] != PARAMETER
    }


def slots(expression: Expression) -> set[int]:
    """The slots an expression reads, PARAMETER among them."""
    return {place[0] for node in walk(expression) if (place := place_of(node)) is not None}


@dataclass(frozen=True, slots=True)
class Tables:
    """The module's tables of a group's constants, and how its source names them."""

    ints: str
    floats: str
    parameters: Mapping[Place, str]
    within: str

    def write(self, w: Writer, group: MatchGroup) -> None:
        """The tables as constants of the module; a group of one has none."""
        if len(group) == 1:
            return
        columns = list(zip(group.types, zip(*group.constants, strict=True), strict=True))
        whole = [values for type_, values in columns if not is_float(type_)]
        if len(set(group.within_ms)) > 1:
            whole.append(tuple(ms or 0 for ms in group.within_ms))
        if whole:
            rows = list(zip(*whole, strict=True))
            w(f"{self.ints} = np.array({[list(map(int, row)) for row in rows]}, np.int64)")
        broken = [values for type_, values in columns if is_float(type_)]
        if broken:
            rows = list(zip(*broken, strict=True))
            w(f"{self.floats} = np.array({[list(map(float, row)) for row in rows]}, np.float64)")


def tables_of(group: MatchGroup, number: int, constants: Constants) -> Tables:
    """The names of a group's constants: `q` is the number of the query at work."""
    ints, floats = f"I{number}", f"F{number}"
    parameters: dict[Place, str] = {}
    counts = {True: 0, False: 0}
    for index, type_ in enumerate(group.types):
        broken = is_float(type_)
        parameters[PARAMETER, index] = f"{floats if broken else ints}[q, {counts[broken]}]"
        counts[broken] += 1
    if len(set(group.within_ms)) > 1:
        within = f"{ints}[q, {counts[False]}]"
    else:
        (within_ms,) = set(group.within_ms)
        within = str(FOREVER) if within_ms is None else constants.whole(within_ms)
    return Tables(ints, floats, parameters, within)


Emission = Callable[[Writer, tuple[str, ...], Scope, str], None]
"""Writes what happens with a row that has been selected: output values, scope, key."""
