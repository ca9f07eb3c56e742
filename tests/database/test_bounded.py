"""However long it runs, a database holds what its queries need and little more."""

from __future__ import annotations

import numpy as np
import pytest
import sqlalchemy as sa

from cep.database.batches import Arrivals
from cep.database.drivers import connect, values_of
from cep.database.runner import Runner
from tests.database.runs import started

EVENTS = 100_000
STEP = 20_000


@pytest.mark.parametrize("is_by_parts", [False, True])
def test_tables_stay_small_over_many_events(url: str, is_by_parts: bool) -> None:
    run = started(connect(url))
    name = run.dialect.name
    batch = run.dialect.batch_events
    allowed = 2 * 2_000 + 2 * batch + 1_000  # what is not worth a purge, two batches, the windows
    numbers = np.arange(EVENTS)
    times, first, second = 1_000 + numbers // 2, numbers * 7 % 6, np.array(["x", "y", "z"])
    step = 700 if is_by_parts and name != "duckdb" else STEP
    most = 0
    for start in range(0, EVENTS if step == STEP else EVENTS // 5, step):
        some = slice(start, start + step)
        columns = (first[some], second[numbers[some] % 3].tolist())
        places = np.arange(len(times[some]))
        for _ in run.push([Arrivals("s", places, times[some], columns)]):
            pass
        most = max(most, *_sizes(run).values())
    assert most <= allowed, _sizes(run)
    assert most > 0
    run.close()


def _sizes(run: Runner) -> dict[str, int]:
    """How many rows each table has."""
    found = {}
    for one in run.program.tables:
        counted = sa.select(sa.func.count()).select_from(one.table)
        (column,) = run._driver.fetch(*run.dialect.text(counted))
        found[one.table.name] = int(values_of(column)[0])
    return found
