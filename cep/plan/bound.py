"""What a complex event keeps of the rows that raised its events, where somebody reads it.

`Swing.high` in a query, signal or event over a complex event is the attribute of the row that
raised the newest `Swing` of the match, `Swing[0].high` of the first. In signals and events `high`
alone is that of the event that every match ends with, else of the only one that has it. Such values
become further attributes of the complex event, `Swing_high`, and the events carry them from the row
to the match.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from cep.lang import ast
from cep.lang.errors import listing, suggestion
from cep.plan.bound_names import NEWEST, BoundNames, called
from cep.plan.catalog import Catalog, pattern_events
from cep.plan.envelope import ENVELOPE
from cep.plan.expressions import Column
from cep.plan.nodes import (
    COMPLEX_SCHEMA,
    Bound,
    Chained,
    Complex,
    Event,
    Operator,
    Stream,
    nodes_below,
)
from cep.plan.streams import Streams
from cep.plan.types import Attribute, Schema, Type


class BoundBuilder:
    """Finds what each complex event has to keep."""

    def __init__(self, catalog: Catalog, streams: Streams, script: ast.Script) -> None:
        self.catalog = catalog
        self.problems = catalog.problems
        self.streams = streams
        self._read: dict[str, list[ast.Reference]] = {}
        for node in script.statements:
            for name, references in _references(node):
                self._read.setdefault(name, []).extend(references)

    def build(self, node: ast.ComplexDefinition) -> tuple[Schema, tuple[Bound, ...], BoundNames]:
        """The attributes of a complex event, what it keeps, and by which names that is read."""
        name = node.header.name.text
        attributes, names = list(COMPLEX_SCHEMA.attributes), BoundNames()
        found: dict[Bound, int] = {}
        for reference in self._read.get(name, ()):
            bound = self._bound(node, reference)
            if bound is None:
                continue
            if bound not in found:
                found[bound] = len(attributes)
                taken = {*ENVELOPE, *(one.name for one in attributes)}
                attributes.append(Attribute(_free(bound, taken), bound.column.type))
            names.positions[called(reference)] = found[bound]
        return Schema(tuple(attributes)), tuple(found), names

    def _bound(self, node: ast.ComplexDefinition, reference: ast.Reference) -> Bound | None:
        """What a reference reads of an event; None where it reads something else."""
        engine = self.catalog.engine(node.header.name.text).name
        events = {self.catalog.name_of(one, engine) for one in pattern_events(node.pattern)}
        event, place, attribute = called(reference)
        if event:
            return self._of(node, event, place, reference) if event in events else None
        if attribute in COMPLEX_SCHEMA.names:
            return None
        having = [one for one in sorted(filter(None, events)) if self._has(one, attribute)]
        ends = {self.catalog.name_of(one, engine) for one in _last(node.pattern)}
        if len(having) > 1 and len(ends) == 1 and ends <= set(having):
            having = [one for one in having if one in ends]  # which every match ends with
        if len(having) > 1:
            message = f"`{attribute}` is an attribute of {listing(having)}"
            hint = f"say which: `{having[0]}.{attribute}`"
            raise self.problems.error(reference.span, message, hint)
        return self._of(node, having[0], place, reference) if having else None

    def _source(self, event: str) -> Stream | None:
        """The stream whose rows raise an event; None where that is not known yet."""
        if event in self.catalog.complexes:
            return self.streams.known(event)
        return self.streams.known(self.catalog.events[event].source.text)

    def _has(self, event: str, attribute: str) -> bool:
        source = self._source(event)
        return source is not None and attribute in source.schema.names

    def _of(
        self, node: ast.ComplexDefinition, event: str, place: int, reference: ast.Reference
    ) -> Bound:
        attribute, source = reference.name.text, self._source(event)
        if source is None:
            message = f"`{event}` stands behind `{node.header.name.text}`, which keeps its values"
            raise self.problems.error(reference.span, message, f"define `{event}` in front of it")
        if attribute not in source.schema.names:
            message = f"`{source.name}`, whose rows raise `{event}`, has no attribute `{attribute}`"
            hint = suggestion(attribute, source.schema.names)
            raise self.problems.error(reference.name.span, message, hint)
        position = source.schema.position(attribute)
        type_ = source.schema.attributes[position].type
        if type_ in (Type.LIST, Type.OBJECT):
            message = f"`{event}.{attribute}` is of type {type_}, which no event carries"
            raise self.problems.error(reference.span, message)
        return Bound(event, Column(position, attribute, type_), place)


def _last(pattern: ast.Pattern) -> list[ast.PatternEvent]:
    """The events of a pattern with which a match may end."""
    match pattern:
        case ast.PatternEvent():
            return [pattern]
        case ast.FollowedBy():
            return _last(pattern.right)
        case _:
            return _last(pattern.left) + _last(pattern.right)


def _references(node: ast.Statement) -> Iterator[tuple[str, list[ast.Reference]]]:
    """What a statement reads, and its references to that; bare ones of signals and events only:
    those of queries may be names that they select.
    """
    match node:
        case ast.SignalDefinition() | ast.EventDefinition():
            yield node.source.text, [one for one in nodes_below(node) if _is_reference(one)]
        case ast.Query(source=ast.StreamInput(inner=None, marker="") as source):
            below = [one for one in nodes_below(node) if _is_reference(one)]
            yield source.stream.text, [one for one in below if one.stream is not None]
        case ast.Partition():
            for query in node.queries:
                yield from _references(query)


def _is_reference(node: object) -> bool:
    return isinstance(node, ast.Reference) and not node.marker


def _free(bound: Bound, taken: Iterable[str]) -> str:
    """What the attribute is called in rows."""
    place = "" if bound.place == NEWEST else f"_{bound.place}".replace("-", "last_")
    name = f"{bound.event}{place}_{bound.column.name}"
    while name in set(taken):
        name += "_"
    return name


def with_values(
    operators: Iterable[Operator], chained: Iterable[Chained]
) -> tuple[tuple[Operator, ...], tuple[Chained, ...]]:
    """Events that carry what complex events keep of them."""
    operators = tuple(operators)
    kept: dict[tuple[str, str], set[Column]] = {}
    for one in operators:
        if isinstance(one, Complex):
            for bound in one.bound:
                kept.setdefault((one.engine, bound.event), set()).add(bound.column)
    return (
        tuple(
            replace(one, carries=_carried(kept, one.engine, one.name))
            if isinstance(one, Event)
            else one
            for one in operators
        ),
        tuple(replace(one, carries=_carried(kept, one.engine, one.complex)) for one in chained),
    )


def _carried(
    kept: Mapping[tuple[str, str], set[Column]], engine: str, event: str
) -> tuple[Column, ...]:
    return tuple(sorted(kept.get((engine, event), ()), key=lambda column: column.position))
