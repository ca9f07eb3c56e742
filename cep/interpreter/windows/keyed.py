"""A window of its own for each key, by the clock of that key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, groupby
from typing import Any

from cep.interpreter.rows import Chunk, Row
from cep.interpreter.windows.base import Setting, WindowPart

Make = Callable[[Setting], WindowPart]


class KeyedWindow(WindowPart):
    """What the rows of a chunk bring about, key by key, goes on as one chunk.

    Only windows that hold each row by itself are split by key: rows of one key then leave as they
    would if there were no other.
    """

    def __init__(self, setting: Setting, make: Make) -> None:
        super().__init__(setting)
        self._make = make
        self._windows: dict[str | None, WindowPart] = {}
        self._open: Chunk | None = None

    def process(self, chunk: Chunk) -> None:
        out: Chunk = []
        self._open = out
        try:
            for key, rows in groupby(chunk, self.setting.context.key_of):
                self._of_key(key).process(list(rows))
        finally:
            self._open = None
        self.setting.emit(out)

    def _of_key(self, key: str | None) -> WindowPart:
        return self._windows.get(key) or self._begin(key)

    def _begin(self, key: str | None) -> WindowPart:
        whole = self.setting
        place = whole.context.of_key(key)
        found = self._windows[key] = self._make(
            Setting(whole.window, whole.schema, place, self._out)
        )
        return found

    def _out(self, chunk: Chunk) -> None:
        if self._open is None:
            self.setting.emit(chunk)
        else:
            self._open += chunk

    def held(self) -> Iterable[Row]:
        return chain.from_iterable(window.held() for window in self._windows.values())

    def state(self) -> Any:
        return [[key, window.state()] for key, window in self._windows.items()]

    def restore(self, state: Any) -> None:
        for key, saved in state:
            self._of_key(key).restore(saved)
