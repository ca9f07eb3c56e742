"""`timeJump(t, jump)`, `lengthJump(n, jump, key..)`: windows that give up rows a jump at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows.base import Setting, WindowPart, current
from cep.interpreter.windows.time import TimeWindow


class TimeJumpWindow(TimeWindow):
    """A row is there until floor((time + t) / jump) * jump.

    One whose time begins and ends in the same jump, as may be with a jump above t, never is.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._jump_ms: int = setting.constant(1)

    def process(self, chunk: Chunk) -> None:
        super().process(
            [row for row in chunk if row.kind is not RowKind.CURRENT or self._is_ever(row)]
        )

    def end_ms(self, row: Row) -> int:
        return super().end_ms(row) // self._jump_ms * self._jump_ms

    def _is_ever(self, row: Row) -> bool:
        return self.end_ms(row) > row.time // self._jump_ms * self._jump_ms


class LengthJumpWindow(WindowPart):
    """`timeJump` with the row's number for its time, counted from 0 per value of the keys."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._length: int = setting.constant(0)
        self._jump: int = setting.constant(1)
        self._keys = setting.columns(2)
        self._counts: dict[tuple[Any, ...], int] = {}
        self._rows: dict[tuple[Any, ...], deque[tuple[int, int, Row]]] = {}
        self._arrived = 0

    def process(self, chunk: Chunk) -> None:
        self.setting.emit([out for row in current(chunk) for out in self._slide(row)])

    def _slide(self, row: Row) -> Chunk:
        key = tuple(row.values[position] for position in self._keys)
        number = self._counts.get(key, 0)
        self._counts[key] = number + 1
        self._arrived += 1
        rows = self._rows.setdefault(key, deque())
        out: Chunk = []
        while rows and rows[0][0] <= number:
            out.append(rows.popleft()[2].copy(RowKind.EXPIRED, self.setting.now_ms))
        end = (number + self._length) // self._jump * self._jump
        if end > number // self._jump * self._jump:
            rows.append((end, self._arrived, row))
            out.append(row)
        return out

    def held(self) -> Iterable[Row]:
        """All keys' rows, in the order they came."""
        rows = (held for rows in self._rows.values() for held in rows)
        return [row for _, _, row in sorted(rows, key=lambda held: held[1])]

    def state(self) -> Any:
        counts = [[list(key), count] for key, count in self._counts.items()]
        rows = [[list(key), list(map(list, rows))] for key, rows in self._rows.items()]
        return [self._arrived, counts, rows]

    def restore(self, state: Any) -> None:
        self._arrived, counts, rows = state
        self._counts = {tuple(key): count for key, count in counts}
        self._rows = {tuple(key): deque(map(tuple, held)) for key, held in rows}
