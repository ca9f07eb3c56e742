"""Queries of one shape: equal but for constants, the sizes of their windows, and perhaps targets.

How long a matching may take (`within_ms`), and what it calls its symbols, may differ, too.

A thousand filters with a thousand thresholds are one piece of work over a table of constants: what
a back end writes, and with it the time to prepare it, grows with the number of shapes, not of
queries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from cep.plan.expressions import Call, Column, Constant, Expression
from cep.plan.families.parameters import PARAMETER, Value, parametrised
from cep.plan.query import Definition, Input, Join, Matching, Query, StreamInput
from cep.plan.rewrite.expressions import map_children, map_step
from cep.plan.steps import Filter, Insert, Project, Step, Window
from cep.plan.types import Type

ANY_TARGET = ""
"""The target of a shape whose queries may write different streams."""


@dataclass(frozen=True, slots=True)
class Family:
    """`query` stands for all members: constants that differ are columns of slot PARAMETER.

    `constants` has a row per member, a column per parameter; `types` are theirs. `windows` has a
    row per member, a window per input.
    """

    members: tuple[Query, ...]
    query: Query
    constants: tuple[tuple[Value, ...], ...]
    types: tuple[Type, ...]
    windows: tuple[tuple[Window | None, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def name(self) -> str:
        """The first member's name: the family is written in its place."""
        return self.members[0].name

    @property
    def targets(self) -> tuple[str, ...]:
        """The stream each member writes."""
        return tuple(target for query in self.members if (target := query.target) is not None)

    def sizes(self, slot: int) -> tuple[int, ...]:
        """The size of each member's window on an input; 0 without a window."""
        return tuple(
            0 if (window := windows[slot]) is None else window.constant(0)
            for windows in self.windows
        )


def shape_of(query: Query, leaves: Collection[str]) -> Query:
    """What is equal for queries of one shape; `leaves` are targets that nothing reads."""
    return _rewritten(_bare(query, leaves), _blank)


def family_of(members: Sequence[Query]) -> Family:
    """The family of queries of one shape."""
    shared = parametrised(members, _rewritten)
    return Family(
        tuple(members),
        shared.query,
        shared.constants,
        shared.types,
        tuple(tuple(one.window for one in query.inputs) for query in members),
    )


def is_parameter(expression: Expression) -> bool:
    """Whether this is a constant in which members differ."""
    return isinstance(expression, Column) and expression.slot == PARAMETER


def _bare(query: Query, leaves: Collection[str]) -> Query:
    """The query without what tells it from others of its shape, but for constants."""
    output = query.output
    if isinstance(output, Insert) and output.target in leaves:
        output = replace(output, target=ANY_TARGET)
    match query.input:
        case StreamInput() as source:
            bare: Input = _without_size(source)
        case Join() as join:
            left, right = _without_size(join.left), _without_size(join.right)
            bare = replace(join, left=left, right=right)
        case Matching() as matching:
            symbols = tuple(replace(symbol, name="") for symbol in matching.symbols)
            bare = replace(matching, symbols=symbols, within_ms=0)
        case _:
            raise TypeError(f"{query.name} is a match")
    steps = tuple(_nameless(step) for step in query.steps)
    return replace(query, name="", input=bare, output=output, steps=steps)


def _nameless(step: Step) -> Step:
    if isinstance(step, Project):
        return Project(tuple(("", value) for _, value in step.columns))
    return step


def _without_size(source: StreamInput) -> StreamInput:
    window = None if source.window is None else Window(source.window.name)
    return replace(source, window=window)


def _blank(constant: Constant) -> Expression:
    return replace(constant, value="" if isinstance(constant.value, str) else 0)


def _rewritten(query: Query, change: Callable[[Constant], Expression]) -> Query:
    """The query with the constants in which members may differ changed.

    What feeds a window is left alone, for members share its rows; so are aggregates, and constant
    arguments of functions, which may decide what is called.
    """

    def rewrite(expression: Expression) -> Expression:
        match expression:
            case Constant(value) if value is not None and expression.type is not Type.BOOL:
                return change(expression)
            case Call():
                arguments = tuple(
                    one if isinstance(one, Constant) else rewrite(one)
                    for one in expression.arguments
                )
                return replace(expression, arguments=arguments)
            case _:
                return map_children(expression, rewrite)

    source = query.input
    if isinstance(source, Join) and source.on is not None:
        source = replace(source, on=rewrite(source.on))
    elif isinstance(source, Matching):
        symbols = tuple(_definition(symbol, rewrite) for symbol in source.symbols)
        source = replace(source, symbols=symbols)
    elif isinstance(source, StreamInput) and source.window is None:
        before = tuple(
            Filter(rewrite(one.condition)) if isinstance(one, Filter) else one
            for one in source.before
        )
        source = replace(source, before=before)
    steps = tuple(
        map_step(step, rewrite) if isinstance(step, Project | Filter) else step
        for step in query.steps
    )
    return replace(query, input=source, steps=steps)


def _definition(symbol: Definition, rewrite: Callable[[Expression], Expression]) -> Definition:
    sets = tuple((position, rewrite(value)) for position, value in symbol.sets)
    return replace(symbol, condition=rewrite(symbol.condition), sets=sets)
