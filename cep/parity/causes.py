"""Which stored record each number of the total order is, and the ids of what it led to."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cep.live.signals import signal_id
from mt5bridge.spool import read


class _Group(NamedTuple):
    """Records that were stored together: the first one's number, source, stream and sequence."""

    ingest: int
    source: str
    stream: str
    sequence: int


class Causes:
    """The records of a spool, without what they hold.

    `base` is what an archive has added to their numbers.
    """

    def __init__(self, spool: Path, base: int = 0) -> None:
        self._base = base
        self._groups = [
            _Group(one.ingest, one.source, "/".join(one.stream), one.sequence)
            for one in read(spool)
        ]
        self._seen: Counter[tuple[str, str | None, int]] = Counter()

    @property
    def first(self) -> int | None:
        """The number of the first record; None without any."""
        return self._groups[0].ingest if self._groups else None

    def identifier(self, spool: str, scope: str, row: Mapping[str, Any], ingest: int) -> int:
        """The id of a signal that the record with an archive's number has led to; rows are asked
        about in their order.

        `spool` is its name; `scope` stands before the names of a rule file's signals.
        """
        ingest -= self._base
        place = (row["stream"], row["key"], ingest)
        nth = self._seen[place]
        self._seen[place] += 1
        at = bisect_right(self._groups, ingest, key=lambda one: one.ingest) - 1
        group = self._groups[at]
        return signal_id(
            spool, scope + row["stream"], row["key"], group.source, group.stream,
            group.sequence + ingest - group.ingest, nth,
        )  # fmt: skip
