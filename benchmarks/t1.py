"""T1: where exponential means of 5-minute closes cross, of 5,504 symbols (DEBS challenge of 2022).

The rules are in `t1.cep`. Ticks are generated in the shape of the challenge's: few symbols have
most of them, and one in four has no price. They come in batches of 10,000, each of which asks for
some symbols' newest means and last three crossovers, as the challenge's batches do. All answers are
compared with those of a plain Python program.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.measure import RUNS, keep_garbage_apart, millions, table, write_results
from cep.engine.native import Compiled
from cep.engine.results import Results
from cep.plan import compile_rules

SYMBOLS, BATCH, TICKS = 5_504, 10_000, 4_000_000
WINDOW_MSC = 300_000
TICKS_A_WINDOW = 344_000  # 289 million in five days of fourteen hours
ASKED = 50
"""Symbols a batch asks for."""
PRICED = 0.75
"""The share of ticks that have a price."""
START_MSC = 1_636_351_200_000  # 2021-11-08 06:00 UTC
RULES = Path(__file__).with_suffix(".cep")
NAMES = pa.array([f"{n:04d}.{'FR NL ETR'.split()[n % 3]}" for n in range(SYMBOLS)])
SECURITIES = pa.array(["E", "I"])

Crossover = tuple[int, str]
"""The time of the tick that closed the window, and the advice."""
Answer = tuple[str, tuple[float, float] | None, list[Crossover]]
"""A symbol, its means, its last crossovers."""


@dataclass(frozen=True)
class Batch:
    """Columns of ticks, and the symbols that are asked for."""

    which: np.ndarray
    last: np.ndarray
    times: np.ndarray
    asked: Sequence[str]

    @property
    def columns(self) -> dict[str, object]:
        codes = pa.array(self.which, pa.int32())
        kinds = pa.array((self.which % 50 == 0).astype(np.int32))
        return {
            "symbol": pa.DictionaryArray.from_arrays(codes, NAMES),
            "security": pa.DictionaryArray.from_arrays(kinds, SECURITIES),
            "last": self.last,
            "traded_msc": self.times,
        }


def batches(
    count: int, size: int = BATCH, symbols: int = SYMBOLS, a_window: int = TICKS_A_WINDOW
) -> Iterator[Batch]:
    """So many ticks, `a_window` of them in five minutes; the n-th symbol's share falls with n."""
    random = np.random.default_rng(7)
    shares = 1.0 / (np.arange(symbols) + 20.0)
    which = random.choice(symbols, count, p=shares / shares.sum()).astype(np.int32)
    last = np.maximum(_walks(which, random), 0.01)
    last[random.random(count) >= PRICED] = 0.0
    times = START_MSC + (np.arange(count) * (WINDOW_MSC / a_window)).astype(np.int64)
    for first in range(0, count, size):
        part = slice(first, first + size)
        asked = NAMES.take(pa.array(random.choice(symbols, ASKED))).to_pylist()
        yield Batch(which[part], last[part], times[part], asked)


def _walks(which: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Prices in cents: each symbol's first one, and steps of up to three cents from there."""
    order = np.argsort(which, kind="stable")
    steps = np.cumsum(random.integers(-3, 4, len(which)))
    firsts = np.flatnonzero(np.diff(which[order], prepend=-1))
    begun = np.repeat(steps[firsts], np.diff(firsts, append=len(which)))
    prices = np.empty(len(which))
    prices[order] = 5_000 + 13 * which[order] + steps - begun
    return prices / 100


@dataclass
class Newest:
    """What can be asked for."""

    means: dict[str, tuple[float, float]] = field(default_factory=dict)
    crossovers: dict[str, deque[Crossover]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=3))
    )

    def of(self, symbols: Sequence[str]) -> list[Answer]:
        return [(one, self.means.get(one), list(self.crossovers.get(one, ()))) for one in symbols]


class Engine:
    """The rules at work."""

    def __init__(self, rules: Compiled) -> None:
        self.run = rules.start(mode="sorted")
        self.newest = Newest()

    def answer(self, batch: Batch) -> list[Answer]:
        self._take(Results(self.run.push("Tick", batch.columns, batch.times)))
        return self.newest.of(batch.asked)

    def _take(self, results: Results) -> None:
        for column in results.columns():
            symbols, *values = results.decoded(column)
            if column.stream == "Means":
                fast, slow = values[:2]
                self.newest.means.update(zip(symbols, zip(fast, slow, strict=True), strict=True))
                continue
            for symbol, closed_msc, advice in zip(symbols, *values, strict=True):
                self.newest.crossovers[symbol].append((closed_msc, advice))


class ByHand:
    """The same as a plain Python program, tick by tick."""

    def __init__(self) -> None:
        self.newest = Newest()
        self.closes: dict[str, tuple[float, int]] = {}
        self.end_msc = 0

    def answer(self, batch: Batch) -> list[Answer]:
        names = NAMES.to_pylist()
        ticks = zip(batch.which.tolist(), batch.last.tolist(), batch.times.tolist(), strict=True)
        for which, last, time_msc in ticks:
            if time_msc >= self.end_msc:
                self._close()
                self.end_msc = time_msc - time_msc % WINDOW_MSC + WINDOW_MSC
            if last > 0.0:
                self.closes[names[which]] = last, time_msc
        return self.newest.of(batch.asked)

    def _close(self) -> None:
        for symbol, (close, closed_msc) in self.closes.items():
            before, before100 = self.newest.means.get(symbol, (0.0, 0.0))
            fast = close * (2.0 / 39.0) + before * (1.0 - 2.0 / 39.0)
            slow = close * (2.0 / 101.0) + before100 * (1.0 - 2.0 / 101.0)
            self.newest.means[symbol] = fast, slow
            if fast > slow and before <= before100:
                self.newest.crossovers[symbol].append((closed_msc, "BUY"))
            if fast < slow and before >= before100:
                self.newest.crossovers[symbol].append((closed_msc, "SELL"))
        self.closes.clear()


def rules(*, jit: bool = True) -> Compiled:
    """The rule file as one program."""
    plan = compile_rules(RULES.read_text(encoding="utf-8"), RULES.name)
    return Compiled(plan, outputs=["Means", "Crossover"], jit=jit, machine="always")


def timed(engine: Engine | ByHand, given: Sequence[Batch]) -> tuple[list[float], list[object]]:
    """Seconds of each batch, and the answers."""
    found: list[object] = []
    taken_s = []
    for batch in given:
        start = time.perf_counter()
        found.append(engine.answer(batch))
        taken_s.append(time.perf_counter() - start)
    return taken_s, found


def row(name: str, runs: Sequence[Sequence[float]], ticks: int) -> list[str]:
    """Of the run of median length."""
    seconds = sorted(runs, key=sum)[len(runs) // 2]
    middle, high, most = np.quantile(seconds, [0.5, 0.9, 1.0]) * 1_000
    return [
        name,
        millions(ticks / sum(seconds)),
        *(f"{one:.2f} ms" for one in (middle, high, most)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.t1", description=__doc__)
    parser.add_argument("--ticks", type=int, default=TICKS, help="how many (default: %(default)s)")
    ticks = parser.parse_args().ticks
    given, compiled = list(batches(ticks)), rules()
    compiled.start(mode="sorted").warm_up()
    keep_garbage_apart()
    runs, hand = [timed(Engine(compiled), given) for _ in range(RUNS)], timed(ByHand(), given)
    assert all(found == hand[1] for _, found in runs), "the answers differ"
    rows = [
        row("our engine", [taken_s for taken_s, _ in runs], ticks),
        row("plain Python, by hand", [hand[0]], ticks),
    ]
    write_results(
        "t1",
        "T1: crossing means of 5,504 symbols",
        f"{ticks:,} generated ticks of {SYMBOLS:,} symbols in batches of {BATCH:,}, from Arrow "
        f"columns to the answers about {ASKED} symbols a batch. All answers are those of a program "
        "written by hand. The challenge's best team had 3.56 M ticks/s and 25.7 ms at the 90th "
        "percentile, with decoding and transport.",
        table(["", "ticks/s", "median batch", "90th percentile", "longest"], rows),
    )


if __name__ == "__main__":
    main()
