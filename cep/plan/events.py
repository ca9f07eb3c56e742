"""Events and complex events of the syntax tree to operators of the plan."""

from __future__ import annotations

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan.catalog import Catalog
from cep.plan.check import Checker, need_string_attribute
from cep.plan.expressions import Constant, Expression
from cep.plan.kinds import unknown
from cep.plan.nodes import (
    Complex,
    Event,
    Pattern,
    Ref,
    Repeat,
    Stream,
    tells_key,
)
from cep.plan.patterns import PatternBuilder
from cep.plan.possible import Possibility
from cep.plan.problems import Problems, Skip
from cep.plan.scope import one_row
from cep.plan.streams import Streams
from cep.plan.text import duration_text
from cep.plan.types import Type


class EventBuilder:
    """Builds the operators of the simple engine; statement by statement."""

    def __init__(self, catalog: Catalog, streams: Streams) -> None:
        self.catalog = catalog
        self.problems: Problems = catalog.problems
        self.streams = streams
        self.opposites = _symmetric(catalog)

    def event(self, node: ast.EventDefinition) -> Event:
        """A simple event."""
        name = node.header.name.text
        stream = self.streams.find_stream(node.source)
        condition = self.problems.attempt(self._condition, node, stream)
        key = node.header.key
        column = key and self.problems.attempt(
            need_string_attribute, self.problems, stream.name, stream.schema, key
        )
        for opposite in node.opposites:
            self.problems.attempt(self._check_opposite, node, opposite)
        if condition is None or (key is not None and column is None):
            raise Skip
        return Event(
            name=name,
            number=self.catalog.numbers[name],
            engine=self.catalog.engine(name).name,
            source=stream.name,
            condition=condition,
            every=node.every,
            repeat=Repeat(node.repeat or "reject"),
            key=column or None,
            opposites=tuple(e for e in self.catalog.events if e in self.opposites[name]),
        )

    def _condition(self, node: ast.EventDefinition, stream: Stream) -> Expression:
        if node.condition is not None:
            bound = self.streams.bound.get(stream.name)
            scope = one_row(self.problems, stream.name, stream.schema, bound)
            return Checker(scope).condition(node.condition)
        if node.every:
            return Constant(True, Type.BOOL)
        message = f"`{node.header.name.text}` has no condition that could turn true"
        hint = f"write `{stream.name}[condition]`, or `every {stream.name}` for each row"
        raise self.problems.error(node.source.span, message, hint)

    def _check_opposite(self, node: ast.EventDefinition, opposite: ast.Name) -> None:
        name = node.header.name.text
        if opposite.text == name:
            raise self.problems.error(opposite.span, f"`{name}` cannot be its own opposite")
        if opposite.text in self.catalog.complexes:
            message = f"`{opposite.text}` is a complex event; only simple events have opposites"
            raise self.problems.error(opposite.span, message)
        if opposite.text not in self.catalog.events:
            hint = suggestion(opposite.text, self.catalog.events)
            raise unknown(self.problems, opposite, "event", hint)
        theirs, ours = self.catalog.engine(opposite.text).name, self.catalog.engine(name).name
        if theirs != ours:
            message = f"`{opposite.text}` lives in engine `{theirs}`, `{name}` in `{ours}`"
            raise self.problems.error(opposite.span, message, "opposites share one queue")
        if self.catalog.key_attribute(opposite.text) != self.catalog.key_attribute(name):
            message = f"`{opposite.text}` and `{name}` are not `for each` the same attribute"
            raise self.problems.error(opposite.span, message, "opposites are compared per key")

    def complex(self, node: ast.ComplexDefinition) -> Complex:
        """A complex event that can match."""
        name = node.header.name.text
        builder = PatternBuilder(self.catalog, node)
        pattern = self.problems.attempt(builder.pattern, node.pattern)
        forbid = self.problems.attempt(builder.refs, node.forbid)
        within_ms = self.problems.attempt(self._within, node)
        if pattern is None or forbid is None or within_ms is None:
            raise Skip
        self._refuse_impossible(node, pattern, forbid)
        self._need_own_key(node, pattern)
        key = node.header.key.text if node.header.key else None
        number = self.catalog.numbers[name]
        return Complex(name, number, builder.engine.name, pattern, within_ms, key, forbid)

    def _within(self, node: ast.ComplexDefinition) -> int:
        name, engine = node.header.name, self.catalog.engine(node.header.name.text)
        if node.within is None:
            message = f"`{name.text}` does not say within which time it must happen"
            raise self.problems.error(name.span, message, "add `within 3 min`")
        if node.within.ms == 0:
            hint = "for example `within 3 min`"
            raise self.problems.error(node.within.span, "`within` must be more than 0", hint)
        if node.within.ms > engine.span_ms:
            message = (
                f"`within` is {duration_text(node.within.ms)}, but the queue of engine"
                f" `{engine.name}` holds {duration_text(engine.span_ms)}"
            )
            hint = "make `within` shorter or the engine's `queue` longer"
            raise self.problems.error(node.within.span, message, hint)
        return node.within.ms

    def _refuse_impossible(
        self, node: ast.ComplexDefinition, pattern: Pattern, forbid: tuple[Ref, ...]
    ) -> None:
        name = node.header.name
        single = frozenset(e for e, d in self.catalog.events.items() if d.repeat != "allow")
        if self.catalog.engine(name.text).repeat is not Repeat.ALLOW:
            single |= frozenset(self.catalog.complexes)
        judge = Possibility(frozenset(forbid), single, self.opposites)
        reasons = judge.reasons_against(pattern)
        if reasons:
            message = f"complex event `{name.text}` can never match"
            raise self.problems.error(name.span, message, "; ".join(reasons))

    def _need_own_key(self, node: ast.ComplexDefinition, pattern: Pattern) -> None:
        key = node.header.key
        if key is not None and not tells_key(pattern, self._is_keyed):
            message = f"`{node.header.name.text}` can happen without an event of its own {key.text}"
            hint = f"each arrangement needs an event `for each {key.text}`, named without a key"
            raise self.problems.error(key.span, message, hint)

    def _is_keyed(self, event: str) -> bool:
        return self.catalog.key_attribute(event) is not None


def _symmetric(catalog: Catalog) -> dict[str, frozenset[str]]:
    """The opposites of each event, as said by either side."""
    pairs = {
        (name, opposite.text)
        for name, node in catalog.events.items()
        for opposite in node.opposites
        if opposite.text in catalog.events and opposite.text != name
    }
    pairs |= {(b, a) for a, b in pairs}
    found: dict[str, set[str]] = {name: set() for name in catalog.events}
    for a, b in pairs:
        found[a].add(b)
    return {name: frozenset(others) for name, others in found.items()}
