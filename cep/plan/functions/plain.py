"""What a class of the user remembers as plain data, and back, exactly."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

INT64 = range(-(2**63), 2**63)
CONTAINERS: dict[str, Callable[[Iterable[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


class StateError(TypeError):
    """State of an indicator that cannot be saved; the text says what and how to help."""


class Plain:
    """Turns values into the types of MessagePack; StateError, which begins with `place`."""

    def __init__(self, place: str, remedy: str) -> None:
        self._place = place
        self._remedy = remedy
        self._seen: set[int] = set()

    def of(self, value: Any) -> Any:
        """What `as_it_was` makes this value of again: a tuple stays one, a deque its length."""
        kind = type(value)
        if value is None or kind in (bool, float, bytes):
            return value
        if kind is int:
            return value if value in INT64 else ["int", str(value)]
        if kind is str:
            return self._text(value)
        if kind not in (dict, deque, *CONTAINERS.values()):
            raise self._error(f"holds a {kind.__name__}, which cannot be saved")
        self._need_one(value, kind)
        if kind is dict:
            return ["dict", [[self.of(key), self.of(item)] for key, item in value.items()]]
        items = [self.of(item) for item in value]
        if kind is deque:
            return ["deque", items, value.maxlen]
        return [kind.__name__, sorted(items, key=repr) if kind in (set, frozenset) else items]

    def _text(self, value: str) -> str:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self._error(f"holds {value!r}, which is no text that can be saved") from None
        return value

    def _need_one(self, value: Any, kind: type) -> None:
        """What is in two places would be two afterwards, each changed by itself."""
        if kind in (tuple, frozenset):
            return
        if id(value) in self._seen:
            raise self._error(f"holds one {kind.__name__} in two places")
        self._seen.add(id(value))

    def _error(self, message: str) -> StateError:
        return StateError(f"{self._place} {message}; {self._remedy}")


def as_it_was(plain: Any) -> Any:
    """The value of which `Plain.of` made this."""
    if not isinstance(plain, list):
        return plain
    kind, body, *rest = plain
    if kind == "int":
        return int(body)
    if kind == "dict":
        return {as_it_was(key): as_it_was(item) for key, item in body}
    if kind == "deque":
        return deque(map(as_it_was, body), rest[0])
    return CONTAINERS[kind](map(as_it_was, body))
