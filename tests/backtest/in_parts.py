"""The tasks of a run, one after the other in this process."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from cep.backtest.divided import Divided, Wanted, grouped
from cep.backtest.parts import run_task
from cep.backtest.selection import Selection
from cep.dropped import Ended, nobody
from cep.engine.native import Compiled
from cep.engine.rows import Rows


def rows_in_parts(
    rules: Compiled,
    selection: Selection,
    slice_rows: int,
    groups_max: int = 2,
    ended: Ended = nobody,
) -> Iterator[Rows]:
    """The rows of a run that is divided, in the order that groups of tasks would run in."""
    with TemporaryDirectory() as folder:
        divided = Divided.of(rules, selection, folder, Wanted(slice_rows=slice_rows))
        groups = grouped(divided.tasks, groups_max)
        parts = [row for group in groups for task in group for row in run_task(divided.job, task)]
        yield from divided.rows(parts, ended)
