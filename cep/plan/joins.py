"""Joins of the syntax tree to joins of the plan."""

from __future__ import annotations

from typing import Literal

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan.check import Checker
from cep.plan.expressions import Constant, Expression
from cep.plan.inputs import InputBuilder, need_whole
from cep.plan.nodes import Aggregation
from cep.plan.problems import Problems, with_article
from cep.plan.query import Join, StreamInput
from cep.plan.scope import Place, Scope
from cep.plan.steps import Holder
from cep.plan.streams import Known, Streams
from cep.plan.types import Type

STATIC = (Holder.TABLE, Holder.AGGREGATION)
UNITS = {
    "sec": ("sec", "second", "seconds"),
    "min": ("min", "minute", "minutes"),
    "hour": ("h", "hour", "hours"),
    "day": ("day", "days"),
    "week": ("week", "weeks"),
    "month": ("month", "months"),
    "year": ("year", "years"),
}
"""Calendar units and the words for them in `per`."""


class JoinBuilder:
    """Builds one join; `left` and `right` are what its sides read."""

    def __init__(
        self, problems: Problems, streams: Streams, node: ast.JoinInput, left: Known, right: Known
    ) -> None:
        self.problems = problems
        self.streams = streams
        self.node = node
        self.known = (left, right)

    def build(self) -> tuple[Join, Scope]:
        """The join, and the scope of what is behind it."""
        node = self.node
        builder = InputBuilder(self.problems, self.streams)
        left = builder.stream(node.left, self.known[0])
        right = builder.stream(node.right, self.known[1])
        need_whole(builder)
        self._need_live(left, right)
        scope = Scope(
            self.problems,
            (
                Place(side_name(node.left), left.schema, 0),
                Place(side_name(node.right), right.schema, 1),
            ),
        )
        checker = Checker(scope, None, self.streams.tables)
        on = checker.condition(node.on) if node.on is not None else None
        within, per = self._range(checker)
        kinds: dict[str, Literal["inner", "left", "right", "full"]]
        kinds = {"inner": "inner", "left": "left", "right": "right", "full": "full"}
        trigger = self._trigger(left, right)
        return Join(left, right, kinds[node.kind], trigger, on, within, per), scope

    def _need_live(self, left: StreamInput, right: StreamInput) -> None:
        if left.holder in STATIC and right.holder in STATIC:
            message = f"neither `{left.stream}` nor `{right.stream}` has rows that arrive"
            hint = "join a stream with a table; or ask with an on-demand query"
            raise self.problems.error(self.node.span, message, hint)

    def _trigger(self, left: StreamInput, right: StreamInput) -> Literal["both", "left", "right"]:
        """Which side's rows cause output; tables and aggregations never do."""
        if self.node.unidirectional:
            side = left if self.node.unidirectional == "left" else right
            if side.holder in STATIC:
                message = (
                    f"`{side.stream}` is {with_article(side.holder)}, whose rows cause no output"
                )
                raise self.problems.error(self.node.span, message, "put it on the other side")
            return "left" if self.node.unidirectional == "left" else "right"
        if right.holder in STATIC:
            return "left"
        return "right" if left.holder in STATIC else "both"

    def _range(self, checker: Checker) -> tuple[tuple[Expression, ...], Expression | None]:
        """`within .. per ..`, which an aggregation needs and nothing else takes."""
        node = self.node
        aggregations = [known for known in self.known if isinstance(known, Aggregation)]
        if not aggregations:
            if node.within:
                message = "neither side is an aggregation, so there is nothing to range over"
                hint = "remove `within .. per ..`; windows bound a join of streams"
                raise self.problems.error(node.within[0].span, message, hint)
            return (), None
        if not node.within or node.per is None:
            message = f"aggregation `{aggregations[0].name}` is joined for a time and a unit"
            hint = "add `within '2024-**-** **:**:**' per 'hours'`"
            raise self.problems.error(node.span, message, hint)
        return check_range(self.problems, checker, aggregations[0], node.within, node.per)


def side_name(node: ast.StreamInput) -> str:
    """What a side of a join is called."""
    return node.alias.text if node.alias else node.marker + node.stream.text


def check_range(
    problems: Problems,
    checker: Checker,
    aggregation: Aggregation,
    within: tuple[ast.Expression, ...],
    per: ast.Expression,
) -> tuple[tuple[Expression, ...], Expression]:
    """`within` (one pattern of a time, or start and end) and `per` of an aggregation."""
    times = tuple(_time(problems, checker, node, alone=len(within) == 1) for node in within)
    unit = checker.check(per)
    if unit.type is not Type.STRING:
        raise problems.error(per.span, "`per` needs a unit in quotes", "for example `per 'hours'`")
    if isinstance(unit, Constant):
        unit = Constant(_unit(problems, aggregation, per, str(unit.value)), Type.STRING)
    return times, unit


def unit_named(word: str) -> str | None:
    """The calendar unit of a word such as 'hours'."""
    return next((unit for unit, words in UNITS.items() if word.strip().lower() in words), None)


def _unit(problems: Problems, aggregation: Aggregation, node: ast.Expression, word: str) -> str:
    unit = unit_named(word)
    if unit is None:
        hint = suggestion(word, [words[-1] for words in UNITS.values()])
        raise problems.error(node.span, f"unknown unit '{word}'", hint)
    if unit not in aggregation.durations:
        message = f"`{aggregation.name}` does not aggregate per {unit}"
        hint = "it has " + ", ".join(aggregation.durations)
        raise problems.error(node.span, message, hint)
    return unit


def _time(problems: Problems, checker: Checker, node: ast.Expression, *, alone: bool) -> Expression:
    value = checker.check(node)
    if value.type is Type.STRING or (value.type is Type.LONG and not alone):
        return value
    message = f"`within` needs a time, {checker.described_as(node, value)}"
    hint = "for example `within '2024-06-** **:**:**'`, or a start and an end"
    raise problems.error(node.span, message, hint)
