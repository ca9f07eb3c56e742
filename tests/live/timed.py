"""Rules that mind the time, and a pipeline that lives through ticks and silence without a clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from cep.archive import Archive, ingest_spool
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.engine.native import Compiled, Run
from cep.live.intake import Intake
from cep.live.pipeline import Caused, Pipeline
from cep.live.timekeeper import Timekeeper
from cep.plan import compile_rules
from mt5bridge.clock import Now
from mt5bridge.records import Records
from mt5bridge.server import Batch, ticks_of
from mt5bridge.simulator import Walk, random_walk
from mt5bridge.spool import Spool, read

RULES = """@app:name('timed')
define stream Tick (symbol string, bid double, ask double);
define table Last (symbol string, bid double);
define trigger Beat at every 7 sec;
from Tick select symbol, bid update or insert into Last on Last.symbol == symbol;
from Tick select symbol, bid output last every 3 sec insert into Sampled;
from every t=Tick[symbol == 'A'] -> not Tick[symbol == 'A'] for 5 sec
select t.symbol as symbol, t.bid as bid insert into Silent;
from Tick#window.time(4 sec) select symbol, count() as n group by symbol
output snapshot every 2 sec insert into Held;
from Beat join Last select Last.symbol as symbol, Last.bid as bid, Beat.triggered_time as beat
insert into Beaten;
from Tick select symbol, (bid + ask) / 2 as mid insert into Mid;
define engine Tactical (queue = 1 min);
define event High in Tactical for each symbol as Mid[mid > 1.1];
define event Quiet in Tactical for each symbol as every Silent[bid > 0.0] repeat allow;
define event Sample in Tactical for each symbol as every Sampled[bid > 0.0] repeat allow;
define complex Calm in Tactical for each symbol as High followed by Quiet within 1 min;
define complex Seen in Tactical for each symbol as Sample within 1 min;
define signal Fade on Calm sell 0.10 lots for 1000 hours;
"""
BY_TIME = ("Sampled", "Silent", "Held", "Beaten", "Quiet", "Sample", "Calm", "Seen", "Fade")
"""Streams on which rows may come when nothing but time makes them."""
START_MSC = 1_700_000_000_000
CLOCK_EVERY_MS = 1_000
AWAY_MS = 5_000
SILENCES_MS = (0, 0, 2_500, 0, 0, 9_000, 0, 31_000)


@cache
def compiled(text: str = RULES) -> Compiled:
    """The rules, as plain Python."""
    return Compiled(compile_rules(text), jit=False)


Step = tuple[str, Records] | int
"""A batch of ticks of a symbol, or the time in ms UTC up to which nothing comes."""


def script(seed: int, batches: int) -> list[Step]:
    """Batches of two symbols in the course of a market, with silence here and there."""
    random = np.random.default_rng(seed)
    steps: list[Step] = []
    now_msc = START_MSC
    for number in range(batches):
        symbol = "AB"[int(random.integers(2))]
        ticks = random_walk(
            Walk(ticks=int(random.integers(1, 30)), seed=seed + number, start_msc=now_msc)
        )
        # the next batch, of another symbol, may begin before this one ends
        now_msc = int(ticks["time_msc"][-1]) - int(random.integers(0, 400))
        steps.append((symbol, ticks))
        if silent_ms := SILENCES_MS[int(random.integers(len(SILENCES_MS)))]:
            now_msc += silent_ms
            steps.append(now_msc)
    return steps


class Life:
    """A pipeline on a spool in `folder`, and the rows it gave as (kind of cause, JSON line).

    `sequences` are the next numbers of the ticks by symbol.
    """

    def __init__(self, folder: Path, run: Run, sequences: dict[str, int] | None = None) -> None:
        self.spool = Spool(folder / "spool")
        self.spool.recover()
        self.pipeline = Pipeline(run, self.take)
        self.intake = Intake(self.spool, [self.pipeline])
        self.silence = self.keeper(CLOCK_EVERY_MS, AWAY_MS)
        self.sequences = sequences if sequences is not None else {"A": 1, "B": 1}
        self.rows: list[tuple[str, bytes]] = []
        self.now_msc = START_MSC

    def keeper(self, every_ms: int, away_ms: int) -> Timekeeper:
        """One that knows what the rules know."""
        found = Timekeeper(self.intake, every_ms, away_ms)
        found.know(self.pipeline.run.watermarks)
        return found

    def take(self, caused: Caused) -> None:
        kind = caused.groups[0].kind.name
        self.rows += [(kind, line) for line in caused.rows.json_lines()]

    def live(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if isinstance(step, int):
                self._be_silent(step)
            else:
                self._receive(*step)
        self.pipeline.flush()  # what came without silence in between is shown together

    def _be_silent(self, until_msc: int) -> None:
        for moment in range(self.now_msc, until_msc + 1, 100):
            self.silence.look(Now(moment, moment))
        self.now_msc = until_msc

    def _receive(self, symbol: str, ticks: Records) -> None:
        first, quality = self.sequences[symbol], np.zeros(len(ticks), np.uint8)
        batch = Batch("demo", ticks_of(symbol), first, ticks, quality, 0, 0)
        assert self.intake.on_batch(batch)
        self.sequences[symbol] = first + len(ticks)
        self.now_msc = int(ticks["time_msc"][-1])

    def catch_up(self, after_ingest: int) -> None:
        self.pipeline.catch_up(read(self.spool.directory, after_ingest + 1), self.take)

    @property
    def lines(self) -> list[bytes]:
        return [line for _, line in self.rows]


def archived(folder: Path) -> Archive:
    """The spool of a life that is over, as an archive."""
    archive = Archive(folder / "archive")
    ingest_spool(folder / "spool", archive, include_open=True)
    return archive


def backtested(archive: Archive, rules: Compiled) -> Iterator[bytes]:
    """The rows of a backtest of all there is."""
    for rows in sequential(rules, select(archive, rules.plan)):
        yield from rows.json_lines()
