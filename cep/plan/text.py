"""Expressions, patterns and times of a plan, written as in rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cep.lang.tokens import DAY_MS, SECOND_MS
from cep.plan.expressions import (
    TABLE_SLOT,
    Aggregate,
    Aggregated,
    Arithmetic,
    Call,
    Collected,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    InTable,
    IsNull,
    Logical,
    Missing,
    Not,
    Output,
)
from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref, Sequence
from cep.plan.types import Type

LEVELS = {"or": 1, "and": 2, "in": 3, "==": 4, "!=": 4, "<": 5, ">": 5, "<=": 5, ">=": 5}
LEVELS |= {"+": 6, "-": 6, "*": 7, "/": 7, "%": 7}
NOT, SINGLE = 8, 9
UNITS_MS = (
    ("day", DAY_MS),
    ("hour", 3_600 * SECOND_MS),
    ("min", 60 * SECOND_MS),
    ("sec", SECOND_MS),
    ("ms", 1),
)


def duration_text(ms: int) -> str:
    """A time literal, such as `1 min 30 sec`."""
    parts: list[str] = []
    for unit, unit_ms in UNITS_MS:
        count, ms = divmod(ms, unit_ms)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 ms"


def ref_text(ref: Ref) -> str:
    return ref.event if ref.key is None else f"{ref.event}('{ref.key}')"


def refs_text(refs: tuple[Ref, ...]) -> str:
    return ", ".join(ref_text(ref) for ref in refs)


def pattern_text(pattern: Pattern, level: int = 0) -> str:
    """A pattern; `level` is how tight the operator around it binds."""
    match pattern:
        case Leaf():
            return ref_text(pattern.ref)
        case Sequence():
            own, absent = 0, f"[not {refs_text(pattern.absent)}] " if pattern.absent else ""
            operator = f"followed by {absent}".rstrip()
        case Either():
            own, operator = 1, "or"
        case Both():
            own, operator = 2, "and"
    left, right = pattern_text(pattern.left, own), pattern_text(pattern.right, own + 1)
    text = f"{left} {operator} {right}"
    return f"({text})" if own < level else text


@dataclass(frozen=True, slots=True)
class Speech:
    """How expressions are written: the query's aggregates, its slots by name, and the table.

    `own` is the slot whose filter is written, where the candidate goes by bare names; `counted`
    are the slots that collect rows.
    """

    aggregates: tuple[Aggregate, ...] = ()
    slots: tuple[str, ...] = ()
    table: str = ""
    own: int | None = None
    counted: frozenset[int] = frozenset()

    def row(self, slot: int, index: int = 0) -> str:
        """`e1`, `e1[2]`, `e1[last - 1]`; empty where there is one row only."""
        if slot == TABLE_SLOT:
            return self.table
        name = self.slots[slot] if slot < len(self.slots) else "" if slot == 0 else f"slot {slot}"
        if slot not in self.counted:
            return name
        from_last = -1 - index - (slot == self.own)
        place = str(index) if index >= 0 else f"last - {from_last}" if from_last else "last"
        return f"{name}[{place}]"

    def attribute(self, column: Column) -> str:
        """`e1.price`, or `price` where there is one row only."""
        candidate = -1 if column.slot in self.counted else 0
        if column.slot == self.own and column.index == candidate:
            return column.name
        row = self.row(column.slot, column.index)
        return f"{row}.{column.name}" if row else column.name

    def text(self, expression: Expression, level: int = 0) -> str:
        """An expression; `level` is how tight the operator around it binds."""
        match expression:
            case Arithmetic() | Comparison() | Logical():
                own = LEVELS[expression.op]
                left = self.text(expression.left, own)
                text = f"{left} {expression.op} {self.text(expression.right, own + 1)}"
            case Not():
                own, text = NOT, "not " + self.text(expression.operand, NOT)
            case IsNull():
                own, text = SINGLE, self.text(expression.operand, SINGLE + 1) + " is null"
            case Missing():
                row = self.row(expression.slot, expression.index) or "event"
                own, text = SINGLE, f"{row} is null"
            case InTable():
                inside = replace(self, table=expression.table)
                own = LEVELS["in"]
                text = f"{inside.text(expression.condition, own + 1)} in {expression.table}"
            case Constant():
                own, text = SINGLE, _constant_text(expression)
            case _:
                return self._simple(expression)
        return f"({text})" if own < level else text

    def _simple(self, expression: Expression) -> str:
        match expression:
            case Column():
                return self.attribute(expression)
            case Collected():
                return f"{self.slots[expression.slot]}.{expression.name}"
            case Output():
                return expression.name
            case Aggregated():
                return self.aggregate(self.aggregates[expression.position])
            case EventTime():
                slot = len(self.slots) if expression.slot is None else expression.slot
                return f"eventTimestamp({''.join(self.slots[slot : slot + 1])})"
            case Call():
                return f"{expression.function}({self.listed(expression.arguments)})"
            case _:
                raise TypeError(f"no text for {type(expression).__name__}")

    def listed(self, expressions: Iterable[Expression]) -> str:
        """Arguments, with commas."""
        return ", ".join(self.text(expression) for expression in expressions)

    def aggregate(self, aggregate: Aggregate) -> str:
        """An aggregate over the rows of the window."""
        return f"{aggregate.function}({self.listed(aggregate.arguments)})"


def expression_text(
    expression: Expression,
    aggregates: tuple[Aggregate, ...] = (),
    level: int = 0,
    slots: tuple[str, ...] = (),
) -> str:
    """An expression; `aggregates` are those of its query, `slots` the names of its rows."""
    return Speech(aggregates, slots).text(expression, level)


def _constant_text(constant: Constant) -> str:
    value = constant.value
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        quote = "'" if "'" not in value else '"' if '"' not in value else '"""'
        return f"{quote}{value}{quote}"
    return f"{value}{ {Type.LONG: 'L', Type.FLOAT: 'f'}.get(constant.type, '') }"
