"""Signals: each is a query that makes a row of orders' sizes and prices of each row of its source.

So engines know nothing of signals: they run one query more, at its place in the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from cep.lang import ast
from cep.plan.catalog import Catalog
from cep.plan.check import Checker
from cep.plan.expressions import Column, Constant, Expression
from cep.plan.levels import LevelKind, level_kind
from cep.plan.nodes import Origin, Signal, Stream, usual_key
from cep.plan.problems import Problems
from cep.plan.query import Query, StreamInput
from cep.plan.scope import Scope, one_row
from cep.plan.steps import Filter, Insert, Projection, selecting
from cep.plan.streams import Streams
from cep.plan.types import Schema, Type

LOTS_MIN, LOTS_MAX = 1e-8, 1_000_000
"""Volumes of MetaTrader have 8 digits; more than the other is no order of anybody."""
PERCENT_MAX = 100
ATTRIBUTES = (
    ("complex", Type.STRING),
    ("key", Type.STRING),
    ("side", Type.STRING),
    ("symbol", Type.STRING),
    ("lots", Type.DOUBLE),
    ("stop_points", Type.LONG),
    ("target_points", Type.LONG),
    ("valid_ms", Type.LONG),
)
"""What each signal has; `complex` is what it is made of."""
FURTHER: dict[str, Type] = {
    "risk_percent": Type.DOUBLE,
    "order": Type.STRING,
    "price": Type.DOUBLE,
    "stop": Type.DOUBLE,
    "target": Type.DOUBLE,
    "stop_distance": Type.DOUBLE,
    "target_distance": Type.DOUBLE,
}
"""What a signal has that says it."""
COLUMN_OF: dict[LevelKind, str] = {"points": "{}_points", "at": "{}", "by": "{}_distance"}
WORD_OF = {
    "lots": "lots",
    "risk_percent": "risk",
    "order": "at",
    "stop": "stop",
    "target": "target",
    "valid": "for",
}
CLAUSES_OF: dict[str, Collection[str]] = {
    "close": ("lots", "valid"),
    "modify": ("stop", "target", "valid"),
    "cancel": ("valid",),
}
"""What else than a symbol the sides take that open nothing."""


class SignalBuilder:
    """Builds signals: their streams first, their queries when all other statements are known."""

    def __init__(self, catalog: Catalog, streams: Streams) -> None:
        self.catalog = catalog
        self.problems: Problems = catalog.problems
        self.streams = streams

    def declare(self, node: ast.SignalDefinition) -> None:
        """The stream of a signal, which others may read."""
        levels = [(name, getattr(node, name)) for name in ("stop", "target")]
        said = {COLUMN_OF[self._kind(name, level)].format(name) for name, level in levels if level}
        said |= {"risk_percent"} if node.risk_percent is not None else set()
        said |= {"order", "price"} if node.order is not None else set()
        further = {name: type_ for name, type_ in FURTHER.items() if name in said}
        schema = Schema.of(**dict(ATTRIBUTES), **further)
        self.streams.declare_stream(node.name, schema, Origin.SIGNAL)

    def _kind(self, clause: str, level: ast.Level) -> LevelKind:
        return level_kind(self.problems, clause, level)

    def build(self, node: ast.SignalDefinition) -> tuple[Query, Signal]:
        """The query of a signal, and what it is about."""
        self._check_clauses(node)
        source = self._source(node.source)
        symbol = self._symbol(node, source)
        checker = Checker(self._scope(source))
        values = dict(self._values(checker, node, source, symbol))
        filters = () if node.condition is None else (Filter(checker.condition(node.condition)),)
        target = self.streams.find_stream(node.name)
        projection: Projection = tuple(
            (one.name, values.get(one.name, Constant(None, one.type)))
            for one in target.schema.attributes
        )
        query = Query(
            name=node.name.text,
            input=StreamInput(source.name, source.schema, filters),
            steps=selecting(projection),
            output=Insert(node.name.text, "current"),
        )
        named = str(symbol.value) if isinstance(symbol, Constant) else None
        return query, Signal(node.name.text, source.name, node.side, named, tuple(values))

    def _source(self, name: ast.Name) -> Stream:
        if name.text in self.catalog.events:
            message = f"`{name.text}` is a simple event; signals are made of complex ones"
            hint = f"define a complex event of it: `define complex X as {name.text} within 1 sec;`"
            raise self.problems.error(name.span, message, hint)
        return self.streams.find_stream(name)

    def _scope(self, source: Stream) -> Scope:
        bound = self.streams.bound.get(source.name)
        return one_row(self.problems, source.name, source.schema, bound)

    def _symbol(self, node: ast.SignalDefinition, source: Stream) -> Expression:
        """What is traded: the symbol that is named, else the key or the symbol of the source."""
        if node.symbol is not None:
            if not node.symbol.value:
                raise self.problems.error(node.symbol.span, "the symbol is empty")
            return Constant(str(node.symbol.value), Type.STRING)
        found = self._key(source)
        if found is not None:
            return found
        message = f"signal `{node.name.text}` has no symbol"
        lacks = "key" if source.origin is Origin.COMPLEX else "text attribute `symbol`"
        hint = f"name one: `{node.side} 'EURUSD'`; `{source.name}` has no {lacks} to use"
        raise self.problems.error(node.name.span, message, hint)

    def _key(self, source: Stream) -> Column | None:
        """The attribute of the source that is the symbol where none is named."""
        if source.origin is Origin.COMPLEX:
            if self.catalog.key_attribute(source.name) is None:
                return None
            return Column(0, "key", Type.STRING)
        name = usual_key(source.schema)
        return None if name is None else Column(source.schema.position(name), name, Type.STRING)

    def _values(
        self, checker: Checker, node: ast.SignalDefinition, source: Stream, symbol: Expression
    ) -> Iterator[tuple[str, Expression]]:
        """What a row says, by the names of its attributes."""
        is_complex = source.origin is Origin.COMPLEX
        key = Column(0, "key", Type.STRING) if is_complex else self._key(source)
        yield "complex", Constant(source.name, Type.STRING)
        yield "key", key or Constant(None, Type.STRING)
        yield "side", Constant(node.side, Type.STRING)
        yield "symbol", symbol
        if node.lots is not None:
            yield "lots", self._size(checker, "lots", node.lots, LOTS_MIN, LOTS_MAX)
        if node.risk_percent is not None:
            yield "risk_percent", self._size(checker, "risk", node.risk_percent, 0, PERCENT_MAX)
        if node.order is not None and node.price is not None:
            yield "order", Constant(node.order, Type.STRING)
            yield "price", self._size(checker, "at", node.price)
        if node.valid is not None:
            yield "valid_ms", self._whole(checker, "for", node.valid, rounds=False)
        for clause, level in (("stop", node.stop), ("target", node.target)):
            if level is not None:
                yield self._level(checker, clause, level)

    def _level(self, checker: Checker, clause: str, level: ast.Level) -> tuple[str, Expression]:
        kind = self._kind(clause, level)
        if kind == "points":
            return f"{clause}_points", self._whole(checker, clause, level.value, rounds=True)
        return COLUMN_OF[kind].format(clause), self._size(checker, clause, level.value)

    def _number(self, checker: Checker, clause: str, node: ast.Expression) -> Expression:
        value = checker.check(node)
        if not value.type.is_numeric:
            message = f"`{clause}` must be a number, {checker.described_as(node, value)}"
            raise self.problems.error(node.span, message)
        return value

    def _size(
        self,
        checker: Checker,
        clause: str,
        node: ast.Expression,
        least: float = 0,
        most: float | None = None,
    ) -> Expression:
        """A number of more than 0; of a constant that is known now."""
        value = self._number(checker, clause, node)
        if isinstance(value, Constant):
            self._check_size(clause, node, value.value, least, most)
            return Constant(float(value.value), Type.DOUBLE) if value.value is not None else value
        return value if value.type is Type.DOUBLE else checker.check(_converted(node, "double"))

    def _check_size(
        self,
        clause: str,
        node: ast.Expression,
        value: str | int | float | bool | None,
        least: float,
        most: float | None,
    ) -> None:
        """What no broker can trade is a mistake of the rule."""
        number = float(value) if value is not None else 0.0
        if most is not None and not (least <= number <= most and number > 0):
            shown = f"{least:.8f} to" if least else "more than 0 and at most"
            message = f"`{clause}` must be {shown} {most:,}"
            examples = {"lots": "for example `0.10 lots`", "risk": "for example `risk 1 percent`"}
            raise self.problems.error(node.span, message, examples[clause])
        if not number > 0:
            hint = f"leave it out, or write `{clause} 200 points`"
            raise self.problems.error(node.span, f"`{clause}` must be more than 0", hint)

    def _whole(
        self, checker: Checker, clause: str, node: ast.Expression, *, rounds: bool
    ) -> Expression:
        """A whole number of more than 0, of points or ms."""
        value = self._number(checker, clause, node)
        if isinstance(value, Constant) and value.value is not None:
            self._check_size(clause, node, value.value, 0, None)
            if not float(value.value).is_integer():
                hint = "write `200 points`" if rounds else "write `for 10 min`"
                raise self.problems.error(node.span, f"`{clause}` must be a whole number", hint)
            return Constant(int(value.value), Type.LONG)
        if value.type is Type.LONG:
            return value
        if value.type is Type.INT:
            return checker.check(_converted(node, "long"))
        if not rounds:
            message = f"`{clause}` must be a whole number of milliseconds"
            hint = "write `for 10 min`, or convert it: `for convert(x, 'long')`"
            raise self.problems.error(node.span, message, hint)
        return checker.check(_rounded(node))

    def _check_clauses(self, node: ast.SignalDefinition) -> None:
        """Each side takes what makes sense of it."""
        said = [one for one in WORD_OF if getattr(node, one) is not None]
        for one in said:
            if one not in CLAUSES_OF.get(node.side, WORD_OF):
                message = f"`{node.side}` takes no `{WORD_OF[one]}`"
                raise self.problems.error(node.span, message, "leave it out")
        if node.side == "modify" and not {"stop", "target"} & set(said):
            hint = "for example `modify stop at Swing.low`"
            raise self.problems.error(node.span, "`modify` changes nothing", hint)
        if "risk_percent" in said and "lots" in said:
            raise self.problems.error(
                node.span, "lots are said twice", "leave out `lots` or `risk`"
            )
        if "risk_percent" in said and "stop" not in said:
            hint = "what is risked is the way to the stop: add one"
            raise self.problems.error(node.span, "`risk` needs a `stop`", hint)


def _converted(node: ast.Expression, type_: str) -> ast.Expression:
    literal = ast.Literal(type_, "string", span=node.span)
    return ast.Call(ast.Name("convert", span=node.span), (node, literal), span=node.span)


def _rounded(node: ast.Expression) -> ast.Expression:
    namespace, name = ast.Name("math", span=node.span), ast.Name("round", span=node.span)
    return ast.Call(name, (node,), namespace, span=node.span)
