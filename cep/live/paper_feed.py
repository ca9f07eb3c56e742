"""Ticks for a paper account one by one, so that whatever each sets off comes right behind it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from cep.live.intake import Intake
from cep.live.paper import Paper
from mt5bridge.server import Batch
from mt5bridge.server.batch import StreamKey
from mt5bridge.wire import Symbol

Described = Mapping[str, Symbol | None]
"""What a terminal has said of its symbols, by their names."""


class PaperFeed:
    """Stores ticks, and after each its deals.

    The rules see a tick before the account does: they know no more than in a backtest, and what
    they ask for is executed behind it.
    """

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._next: dict[tuple[str, StreamKey], int] = {}  # of batches that were taken in part

    def take(self, intake: Intake, batch: Batch, symbols: Described) -> bool:
        """False when there is no room: what was taken by then is not taken again."""
        key = (batch.identity, batch.stream)
        start = max(0, self._next.pop(key, 0) - batch.first)
        for at in range(start, len(batch.records)):
            part = msgspec.structs.replace(
                batch, first=batch.first + at, records=batch.records[at : at + 1],
                quality=batch.quality[at : at + 1],
            )  # fmt: skip
            if not self._store(intake, part, symbols):
                self._next[key] = part.first
                return False
        return True

    def _store(self, intake: Intake, tick: Batch, symbols: Described) -> bool:
        if not self._paper.store_deals():
            return False
        ingest = intake.spool.next_ingest
        if not intake.on_batch(tick):
            return False
        self._paper.begin(tick.stream[1], ingest, symbols)
        intake.flush()
        self._paper.take(tick)
        if self._paper.store_deals():  # else before the next tick
            intake.flush()
        return True
