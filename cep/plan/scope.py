"""What the names of an expression mean: the rows a statement can speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cep.lang import ast
from cep.lang.errors import listing, suggestion
from cep.plan import habits
from cep.plan.bound_names import BoundNames
from cep.plan.expressions import TABLE_SLOT, Collected, Column, Constant, Expression, Output
from cep.plan.problems import Problems, with_article
from cep.plan.types import Schema, Type


@dataclass(frozen=True, slots=True)
class Place:
    """One row that can be named: its slot, and the stream, alias or reference it goes by.

    `counted`: the slot collects several rows.
    """

    name: str
    schema: Schema
    slot: int = 0
    counted: bool = False

    def column(self, name: str, index: int = 0) -> Column:
        """The attribute of that name, which is there."""
        position = self.schema.position(name)
        return Column(position, name, self.schema.attributes[position].type, self.slot, index)


@dataclass(frozen=True)
class Scope:
    """The places of one statement or clause.

    A bare attribute belongs to `own` where there is one (the state of a filter, the row of `set`),
    else to any place; then it must not be in two. `outputs` are the selected attributes, which
    come first in `having`, `on` and `set`. In a state's filter rows are the newest unless
    indexed; elsewhere a counted state without index is the list of its values. `bound` says what
    a complex event, the only place then, has of its events.
    """

    problems: Problems
    places: tuple[Place, ...]
    own: Place | None = None
    outputs: Schema | None = None
    in_filter: bool = False
    bound: BoundNames | None = None

    def with_outputs(self, outputs: Schema) -> Scope:
        """The same rows, seen behind the selection."""
        return replace(self, outputs=outputs)

    def with_table(self, name: str, schema: Schema) -> Scope:
        """The same rows, and that of a table."""
        return replace(self, places=(*self.places, Place(name, schema, TABLE_SLOT)))

    def attribute(self, node: ast.Reference) -> Expression:
        """The attribute a reference names; raises for none, and for several."""
        if self.bound is not None and (position := self.bound.position(node)) is not None:
            return self.places[0].column(self.places[0].schema.names[position])
        if node.stream is None:
            return self._bare(node)
        place = self._place(node.stream, node.marker)
        if node.name.text not in place.schema.names:
            raise self._unknown(node, place)
        return self._value(place, node)

    def event(self, name: ast.Name, marker: str = "") -> Place:
        """The place a name stands for, for `e1 is null` and `eventTimestamp(e1)`."""
        return self._place(name, marker)

    def is_event(self, name: str) -> bool:
        """Whether a place goes by that name."""
        return any(place.name == name for place in self.places)

    def index(self, place: Place, index: ast.Index | None) -> int | None:
        """The plan's index into a slot; None where there can be no such row."""
        own = self.in_filter and place is self.own
        if index is None:
            return -1 if place.counted and self.in_filter else 0
        number = index.number if index.from_last is None else -1 - index.from_last
        if place.counted:
            return number - 1 if own and number < 0 else number
        return 0 if number == 0 or (number == -1 and not own) else None

    def _bare(self, node: ast.Reference) -> Expression:
        name = node.name.text
        if self.outputs is not None and name in self.outputs.names:
            position = self.outputs.position(name)
            return Output(position, name, self.outputs.attributes[position].type)
        for places in self._preferred():
            found = [place for place in places if name in place.schema.names]
            if len(found) > 1:
                raise self._ambiguous(node, found)
            if found:
                return self._value(found[0], node)
        raise self._unknown(node, None)

    def _preferred(self) -> tuple[Sequence[Place], Sequence[Place]]:
        """Where bare attributes are looked for: in a table's row only when nothing else has it."""
        tables = [place for place in self.places if place.slot == TABLE_SLOT]
        rows = [place for place in self.places if place.slot != TABLE_SLOT]
        return ((self.own,) if self.own is not None else rows), tables

    def _value(self, place: Place, node: ast.Reference) -> Expression:
        name = node.name.text
        if place.counted and node.index is None and not self.in_filter:
            return Collected(place.schema.position(name), name, place.slot)
        index = self.index(place, node.index)
        if index is None:
            return Constant(None, place.column(name).type)
        return place.column(name, index)

    def _place(self, name: ast.Name, marker: str) -> Place:
        wanted = marker + name.text
        for place in self.places:
            if place.name in (wanted, name.text):
                return place
        names = [place.name for place in self.places if place.name]
        known = f"known here: {listing(names)}" if names else ""
        near = suggestion(wanted, names)
        hint = near if near.startswith("did") else known
        kind = self.problems.kinds.get(name.text)
        message = f"`{wanted}` is not read here"
        if kind is not None and kind.noun not in ("stream", "engine"):
            message = f"`{wanted}` is {with_article(kind.noun)} that is not read here"
        raise self.problems.error(name.span, message, hint)

    def _ambiguous(self, node: ast.Reference, found: list[Place]) -> Exception:
        name = node.name.text
        message = f"`{name}` is an attribute of {listing([place.name for place in found])}"
        hint = f"say which: `{found[0].name}.{name}`"
        if len({place.name for place in found}) < len(found):
            stream = found[0].name
            hint = f"give them names, `{stream} as a` in a join, `e1={stream}` in a pattern"
        return self.problems.error(node.name.span, message, hint)

    def _unknown(self, node: ast.Reference, place: Place | None) -> Exception:
        name = node.name.text
        only = place or self.own
        places = (only,) if only else self.places
        known = [attribute for one in places for attribute in one.schema.names]
        known += self.outputs.names if self.outputs and place is None else ()
        near = suggestion(name, known)
        hint = near if near.startswith("did") else habits.attribute(name) or near
        message = f"there is no attribute `{name}` here"
        if len(places) == 1:
            message = f"`{places[0].name}` has no attribute `{name}`"
        if name in self.problems.kinds:
            noun = with_article(self.problems.kinds[name].noun)
            message = f"`{name}` is {noun}, not an attribute of what is read here"
        return self.problems.error(node.name.span, message, hint)


def one_row(
    problems: Problems, name: str, schema: Schema, bound: BoundNames | None = None
) -> Scope:
    """The scope of a statement over one stream."""
    return Scope(problems, (Place(name, schema),), bound=bound)


def is_list(expression: Expression) -> bool:
    """Whether the value is a list, which can be selected but not computed with."""
    return expression.type is Type.LIST
