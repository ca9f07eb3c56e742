"""A sweep in a Python program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from cep.backtest.asked import Options, rules_text
from cep.sweep.found import Found
from cep.sweep.guided import Guide, guided
from cep.sweep.sweep import Bench, Job, swept
from cep.sweep.trials import LIMIT, Trial, axes, draws, grid
from cep.sweep.walk import Walk, Walked, walked, windows


def trials_of(
    bench: Bench, tried: Mapping[str, str], random: int | None, seed: int, limit: int
) -> list[Trial]:
    """What is to be tried: a grid, or so many draws by chance. SweepError, ParameterError."""
    found = axes(bench.known, tried)
    return grid(found, limit) if random is None else draws(found, random, seed)


def guide_of(bench: Bench, tried: Mapping[str, str], by: str, seed: int) -> Guide:
    """What chooses trials by those before. SweepError, ParameterError."""
    return Guide(axes(bench.known, tried), by, seed)


def walkforward(
    rules: Path | str,
    archive: Path | str,
    tried: Mapping[str, str] | None = None,
    *,
    train_ms: int,
    test_ms: int,
    by: str = "net",
    **options: Unpack[Options],
) -> list[Walked]:
    """The best of a grid on each stretch of `train_ms`, traded on the `test_ms` behind it.

    Rules, archive, `tried` and options are as for `run`. SweepError says where that cannot be.
    """
    job = Job(rules_text(rules), str(archive), options)
    bench = Bench(job)
    trials = trials_of(bench, tried or {}, None, 1, LIMIT)
    some = windows(*bench.asked.selection.interval_msc, train_ms, test_ms)
    walk = Walk(job, trials, by, bench.is_worth_compiling(len(trials)))
    return list(walked(walk, some))


def run(
    rules: Path | str,
    archive: Path | str,
    tried: Mapping[str, str] | None = None,
    *,
    random: int | None = None,
    optuna: int | None = None,
    by: str = "net",
    seed: int = 1,
    jobs: int = 1,
    limit: int = LIMIT,
    **options: Unpack[Options],
) -> Found:
    """Run rules, the path of a file or their text, with all values of their parameters, or with
    those `tried`: texts such as `1:3:0.1` and `1,2,3` by name.

    A grid, or so many draws by chance as `random` says, or so many trials as `optuna` says, which
    Optuna chooses for the measure `by`. `jobs` processes work at it; a program that
    wants several must begin under `if __name__ == "__main__":`. Options are those of
    `cep.backtest.run`. SweepError, ParameterError and what that raises say what cannot be.
    """
    bench = Bench(Job(rules_text(rules), str(archive), options))
    if optuna is not None:
        guide = guide_of(bench, tried or {}, by, seed)
        chosen = [one for batch in guided(bench, guide, optuna, jobs) for one in batch]
        return Found(chosen, len(chosen))
    trials = trials_of(bench, tried or {}, random, seed, limit)
    rows = [one for block in swept(bench, trials, jobs) for one in block]
    return Found(sorted(rows, key=lambda one: one.number), len(trials))
