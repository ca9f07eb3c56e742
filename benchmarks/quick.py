"""The headline figures in about three minutes, as ratios that hold on any machine.

    python -m benchmarks.quick [NAME ..] [--record]

A figure is measured again and again, and a calibration before and after each time: fixed work
of the same nature that none of our code does. The median of our rate times the calibration's
seconds is compared with the ratio recorded in quick.json; a slow or busy machine slows both. The
exit code is 1 when a figure fell by more than a third. `--record` writes what was measured. The
first run compiles, and takes longer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from loguru import logger

from benchmarks.machine import describe
from benchmarks.measure import FOLDER
from benchmarks.quick_calibration import CALIBRATIONS
from benchmarks.quick_figures import FIGURES, ROUNDS, Figure

RECORDED = FOLDER / "quick.json"
FALLEN = 2 / 3
"""A figure below so much of the recorded one is reported; less is noise on a shared machine."""


def ratios(figure: Figure, folder: Path) -> list[float]:
    """What a figure is beside its calibration, once a round."""
    calibration = CALIBRATIONS[figure.beside]
    found = []
    with ExitStack() as stack:
        rate = figure.prepare(stack, folder)
        before = calibration(folder)
        for _ in range(ROUNDS):
            reached = rate()
            after = calibration(folder)
            found.append(reached * (before + after) / 2)
            before = after
    return found


def line(name: str, found: list[float], recorded: dict[str, float]) -> tuple[str, bool]:
    """A line of the table, and whether the figure has fallen."""
    ratio = statistics.median(found)
    spread = f"{min(found):.3g}..{max(found):.3g}"
    before = recorded.get(name)
    if before is None:
        return f"{name:<26} {ratio:>9.3g}  {spread:<18} {'-':>9}  not recorded", False
    change = ratio / before
    verdict = "fallen" if change < FALLEN else "risen" if change > 1 / FALLEN else "as recorded"
    return (
        f"{name:<26} {ratio:>9.3g}  {spread:<18} {before:>9.3g}  {change:.2f}x {verdict}",
        change < FALLEN,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", nargs="*", help="figures; default: all")
    parser.add_argument("--record", action="store_true", help="write quick.json")
    told = parser.parse_args()
    known = {figure.name: figure for figure in FIGURES}
    if unknown := [name for name in told.name if name not in known]:
        parser.error(f"no such figure: {', '.join(unknown)}; there are {', '.join(known)}")
    logger.remove()
    kept = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"ratios": {}}
    measured: dict[str, float] = {}
    fallen: list[str] = []
    began = time.monotonic()
    print(f"{'figure':<26} {'ratio':>9}  {'rounds':<18} {'recorded':>9}")
    for name in told.name or known:
        with tempfile.TemporaryDirectory() as folder:
            found = ratios(known[name], Path(folder))
        text, has_fallen = line(name, found, kept["ratios"])
        print(text, flush=True)
        measured[name] = float(f"{statistics.median(found):.4g}")
        fallen += [name] if has_fallen else []
    print(f"\n{time.monotonic() - began:.0f} s. {describe()}")
    if told.record:
        both = {"ratios": kept["ratios"] | measured, "measured": describe().strip()}
        RECORDED.write_text(json.dumps(both, indent=2) + "\n")
    elif fallen:
        sys.exit(f"fallen below {FALLEN:.0%} of what was recorded: {', '.join(fallen)}")


if __name__ == "__main__":
    main()
