"""Joins by definition: every row so far is looked at, and whether it is in its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cep.plan.expressions import (
    Arithmetic,
    Column,
    Comparison,
    Constant,
    Expression,
    Logical,
)
from tests.reference.generate_joins import JoinCase, Values

Found = tuple[int, str, Values | None, Values | None]
"""Time, kind, left values, right values."""


@dataclass(eq=False, slots=True)
class Seen:
    """A row that has come; `gone` once it has been shown to leave its window."""

    time: int
    values: Values
    gone: bool = False


class NaiveJoin:
    """What a join finds, row by row."""

    def __init__(self, case: JoinCase) -> None:
        self.join = case.join
        self.come: list[tuple[str, Seen]] = []
        self.sides = {"L": case.join.left, "R": case.join.right}

    def send(self, stream: str, time: int, values: Values) -> list[list[Found]]:
        """What a row brings forth: a list per row that comes or goes and finds something."""
        chunks = [
            chunk for at, side, rows in self._due(time) for chunk in self._leave(side, rows, at)
        ]
        row = Seen(time, values)
        window = self.sides[stream].window
        held = self._held(stream)
        if window is not None and window.name == "length" and len(held) == window.constant(0):
            chunks += self._gone(stream, held[0], time)
        if window is not None:
            self.come.append((stream, row))
        chunks += self._match(stream, row, time, "CURRENT")
        if window is None:
            chunks += self._match(stream, row, time, "EXPIRED")
        return chunks

    def _due(self, now: int) -> Iterator[tuple[int, str, list[Seen]]]:
        """What has left by time: when, of which side, and the rows; who came first leaves first."""
        due: dict[tuple[int, str], list[Seen]] = {}
        for stream, row in self.come:
            window = self.sides[stream].window
            if window is not None and window.name == "time" and not row.gone:
                due.setdefault((row.time + window.constant(0), stream), []).append(row)
        left = ((at, stream, rows) for (at, stream), rows in due.items() if at <= now)
        return iter(sorted(left, key=lambda item: item[0]))

    def _leave(self, stream: str, rows: list[Seen], now: int) -> list[list[Found]]:
        """All leave before any of them is matched: the window works on a chunk."""
        for row in rows:
            row.gone = True
        return [chunk for row in rows for chunk in self._match(stream, row, now, "EXPIRED")]

    def _gone(self, stream: str, row: Seen, now: int) -> list[list[Found]]:
        return self._leave(stream, [row], now)

    def _held(self, stream: str) -> list[Seen]:
        return [row for name, row in self.come if name == stream and not row.gone]

    def _match(self, stream: str, row: Seen, time: int, kind: str) -> list[list[Found]]:
        if self.join.trigger not in ("both", "left" if stream == "L" else "right"):
            return []
        pairs = [
            self._pair(stream, row.values, other.values) for other in self._held(OTHER[stream])
        ]
        on = self.join.on
        found = [pair for pair in pairs if on is None or holds(on, pair) is True]
        if not found and self.join.kind in ("full", "left" if stream == "L" else "right"):
            found = [self._pair(stream, row.values, None)]
        return [[(time, kind, left, right) for left, right in found]] if found else []

    def _pair(
        self, stream: str, own: Values, other: Values | None
    ) -> tuple[Values | None, Values | None]:
        return (own, other) if stream == "L" else (other, own)


OTHER = {"L": "R", "R": "L"}
ORDERS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def holds(expression: Expression, pair: tuple[Values | None, Values | None]) -> object:
    """The value of a condition of `generate_joins`, with Siddhi's null."""
    match expression:
        case Constant():
            return expression.value
        case Column():
            values = pair[expression.slot]
            return None if values is None else values[expression.position]
        case Arithmetic(op="+"):
            left, right = holds(expression.left, pair), holds(expression.right, pair)
            return None if left is None or right is None else left + right  # type: ignore[operator]
        case Comparison():
            left, right = holds(expression.left, pair), holds(expression.right, pair)
            if left is None or right is None:
                return expression.op == "!="
            return ORDERS[expression.op](left, right)
        case Logical():
            parts = [holds(side, pair) is True for side in (expression.left, expression.right)]
            return all(parts) if expression.op == "and" else any(parts)
        case _:
            raise NotImplementedError(type(expression).__name__)
