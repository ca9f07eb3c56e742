"""A backtest in a Python program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from cep.backtest.account_tables import account_tables
from cep.backtest.asked import asked
from cep.backtest.manifest import metrics
from cep.backtest.options import Options, rules_text, whole
from cep.backtest.processes import Sharing
from cep.backtest.tables import Collected
from cep.backtest.work import Finished, Work

if TYPE_CHECKING:
    import pandas as pd

ACCOUNT_TABLES = ("orders", "deals", "trades", "equity", "returns")


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a backtest has come to, as Arrow tables.

    `rows` are those of output streams by their names; `orders`, `deals`, `trades`, `equity` and
    `returns` have the columns of the files of a run's folder, and `metrics` is what its
    `metrics.json` says. `told` is what the run did not find.
    """

    rows: Mapping[str, pa.Table]
    orders: pa.Table
    deals: pa.Table
    trades: pa.Table
    equity: pa.Table
    returns: pa.Table
    metrics: Mapping[str, Any]
    told: tuple[str, ...]
    finished: Finished

    def to_pandas(self) -> dict[str, pd.DataFrame]:
        """A DataFrame by name of each stream, and of `orders`, `deals`, `trades`, `equity` and
        `returns`.

        Times `time_msc` stay numbers of ms UTC.
        """
        own = {name: getattr(self, name) for name in ACCOUNT_TABLES}
        return {name: table.to_pandas() for name, table in {**self.rows, **own}.items()}

    def report(self) -> str:
        """The HTML page of `mt5cep backtest --report`."""
        return self.finished.page()


def run(
    rules: Path | str,
    archive: Path | str,
    *,
    jobs: int = 1,
    kept: Path | str | None = None,
    **options: Unpack[Options],
) -> Backtest:
    """Run rules, the path of a file or their text, over an archive, and fill their signals.

    Options are those of `mt5cep backtest`. `jobs` processes run the rules where these allow it; a
    program that wants several must begin under `if __name__ == "__main__":`. `kept` is a folder for
    parts of time that the next run need not run again. RuleError,
    ParameterError, BacktestError or ArchiveError says what cannot be, and how to mend it.
    """
    jobs = whole("jobs", jobs, 1)
    work = Work(asked(rules_text(rules), archive, options), shows_rows=True, has_report=True)
    told = [work.about_fills, *work.missing()]
    collected = Collected(work.asked.plan, work.asked.shown)
    sharing = Sharing(jobs, None if kept is None else Path(kept), told.append)
    why_alone = work.why_one_task if sharing.is_any else ""
    told += [f"in this process alone: {why_alone}"] if why_alone else []
    is_shared = sharing.is_any and not why_alone
    rows = work.in_processes(sharing) if is_shared else work.in_this_process()
    work.take(rows, [collected.take])
    finished = work.finish()
    told += [work.silent, *finished.unfilled]
    return Backtest(
        collected.tables, **account_tables(finished.outcome, finished.returns),
        metrics=metrics(finished), told=tuple(filter(None, told)), finished=finished,
    )  # fmt: skip
