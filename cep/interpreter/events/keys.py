"""The slots of keys, from which the numbers of events follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cep.plan.keys import key_position
from cep.plan.nodes import Plan


class KeySlots:
    """Keys that the rules name have the first slots, others follow as they first appear."""

    def __init__(self, plan: Plan) -> None:
        self._stride = plan.number_stride
        self._slots: dict[str, int] = {}
        self._of_rules = plan.keys
        self._positions = _positions(plan)
        self.open(plan.keys)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._slots))

    def open(self, keys: Iterable[str]) -> None:
        """Give keys the next slots; those that have one keep it."""
        for key in keys:
            self._slots.setdefault(key, len(self._slots))

    def see(self, stream: str, values: list[Any]) -> None:
        """A record has come: its key appears, whether it raises an event or not."""
        position = self._positions.get(stream)
        if position is not None and isinstance(values[position], str):
            self.open([values[position]])

    def number(self, first: int, key: str | None) -> int:
        """The number of a definition on a key, `first` being that of slot 0."""
        return first if key is None else first + self._slots[key] * self._stride

    def state(self) -> Any:
        return list(self._slots)

    def restore(self, state: Any) -> None:
        """Keys of a snapshot come first: under changed rules they keep their slots."""
        self._slots = {}
        self.open([*state, *self._of_rules])


def _positions(plan: Plan) -> dict[str, int]:
    """By source: the place of the attribute that is the key of its records.

    Without engines no number has to be known.
    """
    keyed = {stream.name: key_position(stream) for stream in plan.sources if plan.engines}
    return {name: place for name, place in keyed.items() if place is not None}
