"""A sweep in a Python program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Unpack

from cep.backtest.options import Options, rules_text, whole
from cep.backtest.pool import Helpers, Processes
from cep.sweep.found import Found
from cep.sweep.search import Wish
from cep.sweep.sweep import Bench, Job
from cep.sweep.trials import LIMIT
from cep.sweep.walk import Walk, Walked, walked, windows


def helpers_of(jobs: int) -> Helpers | None:
    """Who works beside this process. BacktestError for less than one process."""
    return Processes(jobs) if whole("jobs", jobs, 1) > 1 else None


def walkforward(
    rules: Path | str,
    archive: Path | str,
    tried: Mapping[str, str] | None = None,
    *,
    train_ms: int,
    test_ms: int,
    random: int | None = None,
    optuna: int | None = None,
    by: str = "net",
    seed: int = 1,
    jobs: int = 1,
    limit: int = LIMIT,
    **options: Unpack[Options],
) -> list[Walked]:
    """The best of those tried on each stretch of `train_ms`, traded on the `test_ms` behind it.

    All others are as for `run`; a search by Optuna is one for each stretch. SweepError says where
    that cannot be.
    """
    helpers, lengths = (
        helpers_of(jobs),
        (whole("train_ms", train_ms, 1), whole("test_ms", test_ms, 1)),
    )
    bench = Bench(Job(rules_text(rules), str(archive), options))
    search = Wish(random, optuna, by, seed, limit).search(bench, tried or {})
    some = windows(*bench.asked.selection.interval_msc, *lengths)
    return list(walked(Walk(bench, search, by), some, helpers))


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
    helpers = helpers_of(jobs)
    bench = Bench(Job(rules_text(rules), str(archive), options))
    search = Wish(random, optuna, by, seed, limit).search(bench, tried or {})
    rows = [one for block in search.rows(bench, helpers) for one in block]
    return Found(sorted(rows, key=lambda one: one.number), len(rows))
