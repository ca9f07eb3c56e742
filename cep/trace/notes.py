"""What is to be said about one record, rule by rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cep.plan.nodes import Plan

INDENT = "  "


class Notes:
    """Lines by rule; they come out in the order in which the rules are defined."""

    def __init__(self, plan: Plan) -> None:
        self._lines: dict[str, list[str]] = {operator.name: [] for operator in plan.operators}

    def add(self, rule: str, text: str, details: Iterable[str] = ()) -> None:
        """Say something about a rule, with details below it."""
        self._lines[rule].append(f"{INDENT}{rule}: {text}")
        self._lines[rule] += [f"{INDENT * 3}{detail}" for detail in details]

    def has(self, rule: str) -> bool:
        """Whether anything has been said about the rule."""
        return bool(self._lines[rule])

    def take(self) -> Iterator[str]:
        """All lines, which are forgotten then."""
        for lines in self._lines.values():
            yield from lines
            lines.clear()
