"""Indicators of the user, fed by the rows of one group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cep.interpreter.rows import Evaluator, Row
from cep.interpreter.snapshot import SnapshotError
from cep.plan.expressions import Expression
from cep.plan.functions import as_it_was, indicator_of


class Fed:
    """An instance of the user's class and what it gave last."""

    def __init__(
        self,
        name: str,
        digest: str,
        arguments: Sequence[Expression],
        read: Sequence[Evaluator] = (),
    ) -> None:
        self._maker = maker = indicator_of(name, digest).maker
        self._constants = maker.constants(arguments)
        self._read = read[: maker.values]
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._made = self._maker.make(*self._constants)
        self.given: list[Any] = [None] * self._maker.outputs

    def take(self, row: Row) -> list[Any]:
        """What is given after a row has come."""
        return self.feed([read(row) for read in self._read])

    def feed(self, values: Sequence[Any]) -> list[Any]:
        """The same, of the values of the row."""
        if all(_is_known(values[place]) for place in self._maker.needed):
            self.given = self._maker.update(self._made, *values)
        return self.given

    def state(self) -> Any:
        return [self._maker.plain(self.given), self._maker.state(self._made)]

    def restore(self, state: Any) -> None:
        given, made = state
        self.given = as_it_was(given)
        try:
            self._made = self._maker.restored(self._constants, made)
        except Exception as problem:
            text = f"indicator `{self._maker.name}`: its `restore(state)`"
            raise SnapshotError(f"{text}: {type(problem).__name__}: {problem}") from problem


def _is_known(value: Any) -> bool:
    return value is not None and value == value
