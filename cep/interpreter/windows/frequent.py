"""`frequent(n, ..)` and `lossyFrequent(support, error, ..)`: the rows of frequent values.

Sources: Misra and Gries, "Finding repeated elements" (1982); Manku and Motwani, "Approximate
frequency counts over data streams" (2002).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.tables.hash_order import slots_for, text_hash
from cep.interpreter.windows.base import Setting, WindowPart
from cep.plan.functions.convert import as_text
from cep.plan.groups import Group, group_of


class CountedRows(WindowPart):
    """The newest row of each value, and how often the value came.

    The value is made of the attributes from argument `first` on, of all when there are none. Rows
    that leave together do so in the order of Siddhi's hash table of the values' texts.
    """

    def __init__(self, setting: Setting, first: int) -> None:
        super().__init__(setting)
        self._columns = setting.columns(first) or list(range(len(setting.schema)))
        self._rows: dict[Group, Row] = {}

    def process(self, chunk: Chunk) -> None:
        now = self.setting.now_ms
        self.setting.emit([out for row in chunk for out in self.take(row, now)])

    @abstractmethod
    def take(self, row: Row, now: int) -> Chunk:
        """What comes of a row."""

    def _key(self, row: Row) -> Group:
        return group_of([row.values[position] for position in self._columns])

    def _gone(self, keys: Iterable[Group], now: int) -> Chunk:
        """The rows of values that are no longer counted, as they leave."""
        mask = slots_for(len(self._rows) + 1) - 1
        ordered = sorted(keys, key=lambda key: self._hash(key) & mask)
        return [self._rows.pop(key).copy(RowKind.EXPIRED, now) for key in ordered]

    def _hash(self, key: Group) -> int:
        attributes = self.setting.schema.attributes
        types = [attributes[position].type for position in self._columns]
        texts = [
            "null" if value is None else as_text(value, type_)
            for value, type_ in zip(key, types, strict=True)
        ]
        return text_hash("".join(texts))

    def held(self) -> Iterable[Row]:
        return self._rows.values()


class FrequentWindow(CountedRows):
    """Counts n values; a new one takes one from the count of each, and a place that falls free."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, 1)
        self._most: int = setting.constant(0)
        self._counts: dict[Group, int] = {}

    def take(self, row: Row, now: int) -> Chunk:
        key = self._key(row)
        if key in self._counts:
            self._counts[key] += 1
            self._rows[key] = row
            return [row]
        out = self._make_room(now) if len(self._counts) >= self._most else []
        if len(self._counts) >= self._most:
            return out
        self._counts[key] = 1
        self._rows[key] = row
        return [*out, row]

    def _make_room(self, now: int) -> Chunk:
        counts = {key: count - 1 for key, count in self._counts.items()}
        self._counts = {key: count for key, count in counts.items() if count}
        return self._gone([key for key, count in counts.items() if not count], now)

    def state(self) -> Any:
        return [[row, self._counts[key]] for key, row in self._rows.items()]

    def restore(self, state: Any) -> None:
        for row, count in state:
            self._rows[self._key(row)] = row
            self._counts[self._key(row)] = count


class LossyFrequentWindow(CountedRows):
    """Passes rows whose value has at least the share `support` - `error` of all rows so far.

    Every 1 / `error` rows, values that were too rare are forgotten.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting, 2)
        self._share: float = setting.constant(0) - setting.constant(1)
        self._width = math.ceil(1 / setting.constant(1))
        self._total = 0
        self._counts: dict[Group, tuple[int, int]] = {}
        """Per value how often it came, and how often at most it came before that unseen."""

    def take(self, row: Row, now: int) -> Chunk:
        self._total += 1
        bucket = math.ceil(self._total / self._width)
        key = self._key(row)
        count, missed = self._counts.get(key, (0, bucket - 1))
        self._counts[key] = (count + 1, missed)
        self._rows[key] = row
        out = [row] if count + 1 >= self._share * self._total else []
        return [*out, *self._forget(bucket, now)] if self._total % self._width == 0 else out

    def _forget(self, bucket: int, now: int) -> Chunk:
        counts = self._counts.items()
        gone = [key for key, (count, missed) in counts if count + missed <= bucket]
        for key in gone:
            del self._counts[key]
        return self._gone(gone, now)

    def state(self) -> Any:
        rows = [[row, *self._counts[key]] for key, row in self._rows.items()]
        return [self._total, rows]

    def restore(self, state: Any) -> None:
        self._total, rows = state
        for row, count, missed in rows:
            self._rows[self._key(row)] = row
            self._counts[self._key(row)] = (count, missed)
