"""How fast a sweep is: `python -m benchmarks.sweeps`.

Figures are millions of ticks by variants a second of one core's CPU time, and the milliseconds in
which a variant begins that nobody has run before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

import numpy as np

from cep.account.specifications import Version
from cep.archive import Archive, import_history, specify
from cep.sweep.alike import Common
from cep.sweep.sweep import Bench, Job
from cep.sweep.together import Variant, run_together
from cep.sweep.trials import Trial, axes, grid
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK

TICKS = 1_000_000
TICK_STREAM = "define stream Tick (symbol string, bid double, ask double);\n"
LEVEL = (
    "define parameter Level double = 1.1 range 1.099 to 1.102 step 0.0001;\n"
    + TICK_STREAM
    + "define event Up for each symbol as Tick[bid > Level];\n"
    "define complex Cross for each symbol as Up within 1 min;\n"
    "define signal Buy on Cross buy 0.1 lots stop 40 points target 60 points for 1 min;\n"
)
BANDS = (
    "define parameter Width double = 2.0 range 1.0 to 3.0 step 0.2;\n"
    "define parameter Stop int = 40 range 20 to 60 step 20;\n"
    + TICK_STREAM
    + "from Tick#window.time(5 min)"
    " select symbol, bid, avg(bid) as ma, stdDev(bid) as sd group by symbol insert into Band;\n"
    "define engine Main (queue = 30 min);\n"
    "define event Up for each symbol as Band[bid > ma + Width * sd];\n"
    "define event Down for each symbol as Band[bid < ma - Width * sd];\n"
    "define complex Turn for each symbol as Up followed by Down within 9 min;\n"
    "define signal Sell on Turn sell 0.1 lots stop Stop points target 60 points for 1 min;\n"
)
LEVELS = BANDS.replace(" range 1.0 to 3.0 step 0.2", "").replace(
    "range 20 to 60 step 20", "range 20 to 80 step 2"
)
"""The bands again, of which only a number of the signal is tried: rules run once."""
COMPUTED = LEVELS.replace("stop Stop points", "stop by 0.05 * Stop * Down.sd")
"""The same with stops that are computed from what the events bound."""
RULES = {"level": LEVEL, "bands": BANDS, "stops": LEVELS, "computed": COMPUTED}
VARIANTS = 31


class Speed(NamedTuple):
    """Millions of tick-variants a second of rules alone, fills alone, and a whole sweep."""

    begins_ms: float
    rules: float
    fills: float
    sweep: float


def ticks(count: int = TICKS) -> TickBlock:
    """One symbol that swings, four ticks a second."""
    random = np.random.default_rng(3)
    found = np.zeros(count, TICK)
    found["time_msc"] = 1_700_006_400_000 + np.arange(count) * 250 + random.integers(0, 200, count)
    found["time"] = found["time_msc"] // 1000
    swing = np.sin(np.arange(count) / 3000) * 0.003
    walk = np.cumsum(random.integers(-3, 4, count)) * 3e-6
    found["bid"] = np.round(1.1 + swing + walk, 5)
    found["ask"] = np.round(found["bid"] + 2e-5, 5)
    found["flags"] = 6
    return TickBlock("EURUSD", found)


def measured(rules: str, archive: Path) -> Speed:
    """A sweep of some variants, once to have machine code, then for its time."""
    bench = Bench(Job((rules, "rules"), str(archive), {}), is_long=True)
    trials = list(enumerate(grid(axes(bench.known, {}))[:VARIANTS]))
    bench.run(trials)
    whole = _seconds(lambda: bench.run(trials))
    begun_all: list[tuple[Common, Variant]] = []
    begun = _seconds(lambda: begun_all.extend(_begun(bench, [trial for _, trial in trials])))
    selection, variants = bench.asked.selection, [variant for _, variant in begun_all]
    ruled = _seconds(lambda: run_together(variants, selection, lambda n: None))
    results = [common.results(variant.results) for common, variant in begun_all]
    filled = _seconds(lambda: list(bench.fills.filled(results, lambda n: None)))
    work = selection.rows * len(variants) / 1e6
    return Speed(1e3 * begun / len(variants), work / ruled, work / filled, work / whole)


def _begun(bench: Bench, trials: Sequence[Trial]) -> list[tuple[Common, Variant]]:
    some = [Common.of(bench.variant(trial).plan) for trial in trials]
    return [(one, Variant.of(one.plan, bench.asked.selection)) for one in some]


def _seconds(work: Callable[[], object]) -> float:
    before = process_time()
    work()
    return process_time() - before


def main() -> None:
    """Print the figures."""
    with TemporaryDirectory() as folder:
        archive = Archive(Path(folder) / "archive")
        import_history(archive, [ticks()])
        specify(archive, [Version(symbol="EURUSD", told={"point": 1e-5})])
        for name, rules in RULES.items():
            found = measured(rules, Path(folder) / "archive")
            print(
                f"{name}: a variant begins in {found.begins_ms:.1f} ms; M tick-variants/s: "
                f"rules {found.rules:.1f}, fills {found.fills:.1f}, sweep {found.sweep:.1f}"
            )


if __name__ == "__main__":
    main()
