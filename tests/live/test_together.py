"""Batches that wait together are shown to the rules together, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cep.engine.native import Compiled
from cep.live.config import Trading
from cep.live.effects import Effects
from cep.live.intake import Intake
from cep.live.journal import Journal
from cep.live.pipeline import RECORDS_AT_ONCE, Caused, Pipeline
from cep.plan import compile_rules
from mt5bridge.records import Records
from mt5bridge.server import Batch, ticks_of
from mt5bridge.spool import Group, RecordKind, Spool
from mt5bridge.wire import Signal
from tests.live.service import RULES, STREAMS, walks

EACH = "define stream Tick (bid double); from Tick select bid insert into Each;"
SEEN = Compiled(compile_rules(EACH, "each.cep"), jit=False)
COMPILED = Compiled(compile_rules(RULES, "live.cep"), outputs=STREAMS, jit=False)


def batches(sizes: tuple[int, ...]) -> list[Batch]:
    """Ticks of two symbols in turn."""
    ticks: dict[str, Records] = walks("AB", sum(sizes))
    made, taken = [], dict.fromkeys("AB", 0)
    for number, size in enumerate(sizes):
        symbol = "AB"[number % 2]
        part = ticks[symbol][taken[symbol] : taken[symbol] + size]
        quality = np.zeros(size, np.uint8)
        made.append(Batch("demo", ticks_of(symbol), taken[symbol] + 1, part, quality, 0, 0))
        taken[symbol] += size
    return made


def lived(folder: Path, together: int) -> tuple[bytes, list[Signal], list[int]]:
    """Journal, signals and rows shown at a time, when so many batches wait each time."""
    spool = Spool(folder)
    spool.recover()
    signals: list[Signal] = []
    shown: list[int] = []
    journal = Journal(folder / "events.jsonl")
    effects = Effects({"Fade"}, Trading(send=True), journal, None)

    def act(caused: Caused) -> None:
        shown.append(len(caused.groups))
        effects.act(caused, signals.append)

    pipeline = Pipeline(COMPILED.start(), act)
    intake = Intake(spool, [pipeline])
    for number, batch in enumerate(batches((1, 7, 30) * 40), start=1):
        assert intake.on_batch(batch)
        if number % together == 0:
            pipeline.flush()
    pipeline.flush()
    journal.close()
    spool.close()
    return (folder / "events.jsonl").read_bytes(), signals, shown


def test_rows_and_ids_of_signals_are_those_of_one_batch_at_a_time(tmp_path: Path) -> None:
    alone = lived(tmp_path / "alone", 1)
    together = lived(tmp_path / "together", 4)
    assert len(alone[1]) > 3
    assert together[:2] == alone[:2]
    assert max(alone[2]) == 1 < max(together[2])


def test_nothing_is_shown_before_it_is_stored_or_later_than_it_must(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.recover()
    shown: list[int] = []

    def act(caused: Caused) -> None:
        shown.append(sum(group.width for group in caused.groups))
        assert caused.groups[-1].last_ingest < spool.next_ingest

    pipeline = Pipeline(SEEN.start(), act)
    intake = Intake(spool, [pipeline])
    first, second, third = batches((50, RECORDS_AT_ONCE, 20))
    assert intake.on_batch(first)
    assert not shown
    assert intake.on_batch(second)  # there is so much that it does not wait for more
    assert sum(shown) == 50 + RECORDS_AT_ONCE
    assert intake.on_batch(third)
    pipeline.go_on(SEEN.start())  # other rules see what comes from here on
    assert sum(shown) == 50 + RECORDS_AT_ONCE + 20
    spool.close()


def test_the_record_that_caused_a_row_is_found_among_all() -> None:
    ticks = walks("A", 9)["A"]
    groups = [
        Group(ingest, RecordKind.TICKS, "demo", ("ticks", "A"), 1, ticks[:width])
        for ingest, width in ((5, 3), (8, 1), (20, 9))
    ]
    caused = Caused(COMPILED.start().no_rows(), groups)
    found = [caused.cause(ingest).ingest for ingest in (5, 7, 8, 20, 28)]
    assert found == [5, 5, 8, 20, 20]
    assert not caused.by_clock
