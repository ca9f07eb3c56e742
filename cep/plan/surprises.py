"""What is no mistake but does other than its text suggests, each with its remedy.

Most of it is one thing: `group by` keeps aggregates apart, and nothing else. What counts rows, or
wants one right behind another, meets the rows of all groups and all keys; a partition keeps these
apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cep.plan.explain_queries import window_text
from cep.plan.expressions import (
    Arithmetic,
    Column,
    Comparison,
    Constant,
    Expression,
    Logical,
    walk,
)
from cep.plan.keys import Held, key_attributes
from cep.plan.nodes import Plan
from cep.plan.query import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    Join,
    LogicalState,
    Match,
    MatchState,
    NextState,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.separable import expressions
from cep.plan.steps import Holder, Slice, Window
from cep.plan.windows import kind_of

WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
TOGETHER = ("rows", "rows and clock", "values", "condition")
"""What makes rows leave windows in which one group's rows push out another's."""
UNUSED = "this parameter is used nowhere", "write its name where its value shall stand"


class Surprise(NamedTuple):
    """Of the parameter, query or window `name`: `what` happens, and what to write instead."""

    name: str
    what: str
    remedy: str


def surprises(plan: Plan) -> list[Surprise]:
    """In the order of the plan's queries; those of parameters and named windows come first."""
    held = key_attributes(plan)
    named = {one.name: one.window for one in plan.windows}
    found = [Surprise(one.name, *UNUSED) for one in plan.parameters if not one.uses]
    found += [Surprise(name, *none) for name, window in named.items() if (none := _empty(window))]
    for query in plan.queries:
        found += [Surprise(query.name, *said) for said in _of_query(query, named, held)]
    for event in plan.events:
        found += [Surprise(event.name, *said) for said in _by_zero([event.condition])]
    return list(dict.fromkeys(found))


Said = tuple[str, str]


def _of_query(query: Query, named: dict[str, Window], held: Held) -> Iterator[Said]:
    for one in query.inputs:
        if one.window is not None and (said := _empty(one.window)):
            yield said
    if any(isinstance(step, Slice) and step.limit == 0 for step in query.steps):
        yield "`limit 0` lets no row pass", "leave it out, or give a number from 1 on"
    yield from _by_zero(expressions(query))
    if query.partition is not None:
        return
    match query.input:
        case StreamInput() if query.group_by:
            yield from _grouped(query, query.input, named)
        case Join():
            yield from _joined(query.input, held)
        case Match():
            yield from _matched(query.input, held)


def _by_zero(expressions: Iterable[Expression]) -> Iterator[Said]:
    """Divisions that have no result, whatever comes."""
    for one in (part for expression in expressions for part in walk(expression)):
        if isinstance(one, Arithmetic) and one.op in ("/", "%") and _is_zero(one.right):
            yield f"`{one.op} 0` is null, whatever comes", "divide by something else"


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value == 0


def _empty(window: Window) -> Said | None:
    """SiddhiQL allows a window of no rows."""
    kind = kind_of(window)
    counts = [
        argument
        for parameter, argument in zip(kind.signature.parameters, window.arguments, strict=False)
        if parameter.name == "n" and kind.by in ("rows", "rows and clock")
    ]
    if any(isinstance(count, Constant) and count.value == 0 for count in counts):
        return f"`{window_text(window)}` holds no row", "give a number of rows from 1 on"
    return None


def _grouped(query: Query, source: StreamInput, named: dict[str, Window]) -> Iterator[Said]:
    names = ", ".join(column.name for column in query.group_by)
    by, window, whose = query.group_by[0].name, source.window, ""
    remedy = _partition({source.stream: by})
    if source.holder is Holder.WINDOW:
        window, whose = named[source.stream], f" of `{source.stream}`"
        remedy = f"for each {by} its own: write the window in the query, in a partition by {by}"
    if window is not None and _is_shared(window):
        yield (
            f"`{window_text(window)}`{whose} takes the rows of all groups together;"
            f" `group by {names}` keeps aggregates apart, not rows",
            remedy,
        )
    rate = query.rate
    if rate is not None and rate.events is not None and rate.kind == "last":
        counted = f"`output last every {rate.events} events`"
        yield f"{counted} counts the rows of all groups together", remedy


def _is_shared(window: Window) -> bool:
    """Whether rows of one group push out those of another, or end what they are in."""
    kind = kind_of(window)
    names = [one.name for one in kind.signature.parameters]
    if "key" in names:  # a session, or jumps, of each value of it
        at = window.arguments[names.index("key") :]
        return not any(isinstance(argument, Column) for argument in at)
    return kind.by in TOGETHER


def _joined(join: Join, held: Held) -> Iterator[Said]:
    """Windows of the last rows where the join is of rows of one key."""
    if join.on is None or not any(map(_is_of_one_key, conjuncts(join.on))):
        return
    for side, prober in ((join.left, "right"), (join.right, "left")):
        is_probed = join.trigger in ("both", prober)
        if side.window is not None and is_probed and _is_shared(side.window):
            positions = held.get(side.stream)
            if positions:
                key = side.schema.names[min(positions)]
                yield (
                    f"`{window_text(side.window)}` of `{side.stream}` takes the rows of all values"
                    f" of `{key}` together, though the join is of equal ones",
                    _partition(_joined_keys(join, held)),
                )


def _is_of_one_key(one: Expression) -> bool:
    match one:
        case Comparison(op="==", left=Column() as left, right=Column() as right):
            return left.slot != right.slot
        case _:
            return False


def _matched(match: Match, held: Held) -> Iterator[Said]:
    """Sequences and counts that meet the rows of all keys."""
    keys = {
        one.stream: one.schema.names[min(held[one.stream])]
        for one in (state.input for state in match.states)
        if held.get(one.stream)
    }
    if not keys:
        return
    key = next(iter(keys.values()))
    if match.kind == "sequence":
        yield (
            f"a row of another `{key}` in between ends a sequence, whatever its conditions say",
            _partition(keys),
        )
        return
    for state in _counted(match.root):
        positions = held.get(state.state.input.stream)
        if positions and not any(_names(one, positions) for one in state.state.input.filters):
            yield (
                f"`{state.state.reference or state.state.input.stream}` counts the rows of all"
                f" values of `{key}` together",
                _partition(keys),
            )


def _counted(state: MatchState) -> Iterator[CountState]:
    """The states that collect more than one row."""
    match state:
        case CountState():
            if state.most != 1:
                yield state
        case NextState() | LogicalState():
            for part in (state.left, state.right):
                yield from _counted(part)
        case EveryState() | GroupState():
            yield from _counted(state.state)
        case StreamState() | AbsentState():
            return


def _names(expression: Expression, positions: frozenset[int]) -> bool:
    """Whether a condition compares the key of a row with something."""
    match expression:
        case Logical():
            return _names(expression.left, positions) or _names(expression.right, positions)
        case Comparison():
            sides = (expression.left, expression.right)
            return any(isinstance(one, Column) and one.position in positions for one in sides)
        case _:
            return False


def _joined_keys(join: Join, held: Held) -> dict[str, str]:
    """The key of each side that is a stream and has one."""
    return {
        one.stream: one.schema.names[min(held[one.stream])]
        for one in (join.left, join.right)
        if one.holder is Holder.STREAM and held.get(one.stream)
    }


def written(name: str) -> str:
    """A name as rules write it: in backticks where it has other letters than a word."""
    return name if WORD.fullmatch(name) else f"`{name}`"


def _partition(keys: dict[str, str]) -> str:
    of = ", ".join(f"{written(key)} of {written(stream)}" for stream, key in keys.items())
    return f"for each {next(iter(keys.values()))} its own: `partition with ({of}) begin .. end`"
