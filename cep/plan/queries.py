"""Queries of the syntax tree to query operators."""

from __future__ import annotations

from collections.abc import Iterable

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.lang.unsupported import WINDOWS
from cep.plan.check import Checker
from cep.plan.expressions import Column, Expression
from cep.plan.nodes import Aggregate, LengthWindow, Query, TimeWindow
from cep.plan.problems import Problems, Skip
from cep.plan.streams import Streams, stream_name
from cep.plan.types import Attribute, Schema

Projection = tuple[tuple[str, Expression], ...]


class QueryBuilder:
    """Builds one query; every clause is checked even when another one is wrong."""

    def __init__(self, problems: Problems, streams: Streams, node: ast.Query) -> None:
        self.problems = problems
        self.streams = streams
        self.node = node
        self.stream = streams.find(node.source.stream)
        self.aggregates: list[Aggregate] = []
        self.broken = False

    def build(self, name: str) -> Query:
        """The operator; the target stream is declared on the way."""
        source = self.node.source
        filters = self._conditions(source.filters)
        window = self._attempt_window()
        window_filters = self._conditions(source.window_filters)
        projection = self._projection()
        group_by = self._group_by()
        schema = Schema(tuple(Attribute(key, value.type) for key, value in projection))
        having = self._having(schema)
        if self.broken:
            raise Skip
        self.streams.insert(self.node.target, schema)
        return Query(
            name=name,
            source=self.stream.name,
            filters=filters,
            window=window,
            window_filters=window_filters,
            aggregates=tuple(self.aggregates),
            group_by=group_by,
            projection=projection,
            having=having,
            target=self.node.target.text,
        )

    def _conditions(self, nodes: tuple[ast.Expression, ...]) -> tuple[Expression, ...]:
        checker = Checker(self.problems, self.stream)
        return tuple(
            condition
            for node in nodes
            if (condition := self._note(self.problems.attempt(checker.condition, node)))
        )

    def _note(self, result: Expression | None) -> Expression | None:
        self.broken |= result is None
        return result

    def _attempt_window(self) -> LengthWindow | TimeWindow | None:
        node = self.node.source.window
        if node is None:
            return None
        window = self.problems.attempt(_window, self.problems, node)
        self.broken |= window is None
        return window

    def _projection(self) -> Projection:
        if self.node.items is None:
            attributes = enumerate(self.stream.schema.attributes)
            return tuple((a.name, Column(i, a.name, a.type)) for i, a in attributes)
        checker = Checker(self.problems, self.stream, self.aggregates)
        projection: dict[str, Expression] = {}
        for item in self.node.items:
            value = self._note(self.problems.attempt(checker.selected, item.expression))
            name = self.problems.attempt(self._free_output, item, projection)
            if value is not None and name is not None:
                projection[name] = value
            self.broken |= name is None
        return tuple(projection.items())

    def _free_output(self, item: ast.SelectItem, taken: Iterable[str]) -> str:
        """The output name of a selected item."""
        if item.alias is not None:
            name = item.alias
        elif isinstance(item.expression, ast.Reference):
            name = item.expression.name
        else:
            hint = "write `... as name`"
            message = "a selected expression needs a name"
            raise self.problems.error(item.span, message, hint)
        if name.text in taken:
            message = f"`{name.text}` is selected twice"
            raise self.problems.error(name.span, message, "give one of them another name")
        return name.text

    def _group_by(self) -> tuple[Column, ...]:
        checker = Checker(self.problems, self.stream)
        columns: list[Column] = []
        for node in self.node.group_by:
            column = self.problems.attempt(checker.check, node)
            if isinstance(column, Column):
                columns.append(column)
            self.broken |= column is None
        return tuple(columns)

    def _having(self, schema: Schema) -> Expression | None:
        node = self.node.having
        if node is None or self.broken:
            return None
        checker = Checker(self.problems, self.stream, outputs=schema)
        return self._note(self.problems.attempt(checker.condition, node))


def _window(problems: Problems, node: ast.Window) -> LengthWindow | TimeWindow:
    kind = node.name.text.lower()
    if kind not in ("length", "time"):
        raise _unknown_window(problems, node)
    if len(node.arguments) != 1:
        message = f"window `{kind}` takes one argument, {len(node.arguments)} given"
        raise problems.error(node.span, message)
    argument = node.arguments[0]
    if kind == "time" and isinstance(argument, ast.Duration) and argument.ms > 0:
        return TimeWindow(argument.ms)
    integer = _positive_integer(argument)
    if kind == "time" and integer is not None:
        return TimeWindow(integer)
    if kind == "length" and integer is not None:
        return LengthWindow(integer)
    wanted = "a number of rows such as `20`" if kind == "length" else "a time such as `5 min`"
    raise problems.error(argument.span, f"window `{kind}` needs {wanted}, and more than 0")


def _positive_integer(node: ast.Expression) -> int | None:
    if not isinstance(node, ast.Literal) or node.type not in ("int", "long"):
        return None
    value = node.value
    return value if isinstance(value, int) and value > 0 else None


def _unknown_window(problems: Problems, node: ast.Window) -> Exception:
    name = node.name.text
    if name.lower() in (known.lower() for known in WINDOWS):
        message = f"window `{name}` is not supported yet"
        return problems.error(node.name.span, message, "use `length(n)` or `time(t)`")
    hint = suggestion(name, ("length", "time"))
    return problems.error(node.name.span, f"unknown window `{name}`", hint)


def query_names(problems: Problems, script: ast.Script) -> list[str]:
    """The name of each query in order: that of `@info`, or `query1`, `query2`, .. .

    Names of operators are unique: no query shares one with another query or an event.
    """
    queries = [node for node in script.statements if isinstance(node, ast.Query)]
    taken = {
        made.text
        for node in script.statements
        if not isinstance(node, ast.Query) and (made := stream_name(node)) is not None
    }
    given = [_given_name(node) for node in queries]
    names: list[str] = []
    for position, (node, name) in enumerate(zip(queries, given, strict=True), start=1):
        if name in taken:
            message = f"the name `{name}` is taken"
            problems.report(node.annotations[0].span, message, "choose another name")
        chosen = name or _free_name(f"query{position}", taken.union(filter(None, given)))
        taken.add(chosen)
        names.append(chosen)
    return names


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _given_name(node: ast.Query) -> str | None:
    values = (a.value("name") for a in node.annotations if a.name == "info")
    return next((value for value in values if value), None)
