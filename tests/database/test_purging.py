"""When rows go: as soon as no window holds them any more, and never before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.database import purging
from cep.database.batches import Arrivals
from cep.database.drivers import connect
from cep.database.progress import Progress
from cep.database.purging import MOMENT_ROWS, Horizon
from cep.database.steps import Kept, Retention
from tests.database.runs import events, pushed, started

NAMES = ("s", "t")
BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(NAMES)), min_size=1, max_size=12),
    max_size=12,
)
"""Of each event the time since the one before, and its stream."""


def _kept(window_ms: int) -> Kept:
    return Kept(sa.Table("s", sa.MetaData()), (), Retention(window_ms), (), ())


def _arrivals(times: Sequence[int], streams: Sequence[str]) -> list[Arrivals]:
    places = {name: np.flatnonzero(np.array(streams) == name) for name in NAMES}
    whole = np.array(times, np.int64)
    return [Arrivals(name, own, whole[own], ()) for name, own in places.items() if len(own)]


class Taken:
    """Batches taken, and when which rows might go; nothing else is done with them."""

    def __init__(self, *windows_ms: int) -> None:
        self.kept = dict(zip(NAMES, map(_kept, windows_ms), strict=False))
        self.times: dict[str, list[int]] = {name: [] for name in self.kept}
        self._horizon = Horizon()
        self._progress = Progress(last=dict.fromkeys(self.kept, 0))

    def due(self, first_msc: int, now_msc: int) -> dict[str, int]:
        """The last rows that may go before the next batch."""
        self._progress = self._progress.of_batch(0, first_msc, now_msc)
        return dict(self._horizon.due(self.kept, self._progress))

    def take(self, batch: Sequence[Arrivals]) -> None:
        """The batch that `due` was asked about."""
        for one in batch:
            self.times.get(one.stream, []).extend(one.times.tolist())
        rows = {name: len(times) for name, times in self.times.items()}
        self._progress = self._progress.with_rows(rows, {})
        self._horizon.remember(self.kept, self._progress, batch)


@settings(deadline=None)
@given(BATCHES, st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
def test_the_newest_row_that_is_too_old_stays_with_all_behind_it(
    batches: list[list[tuple[int, str]]], first_ms: int, second_ms: int, moments: int
) -> None:
    taken, now = Taken(first_ms, second_ms), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(purging, "PURGE_ROWS", 1)
        patch.setattr(purging, "MOMENT_ROWS", 1)
        patch.setattr(purging, "MOMENTS", moments)
        for steps in batches:
            times = (now + np.cumsum([step for step, _ in steps])).tolist()
            now = times[-1]
            due = taken.due(times[0], now)
            for name, window_ms in zip(NAMES, (first_ms, second_ms), strict=True):
                old = sum(time <= times[0] - window_ms for time in taken.times[name])
                assert due.get(name, 0) < max(old, 1)
            taken.take(_arrivals(times, [name for _, name in steps]))


def test_rows_go_while_later_ones_of_their_batch_stay() -> None:
    taken, window_ms, count = Taken(300), 300, 1_000
    taken.due(0, count - 1)
    taken.take(_arrivals(range(count), ["s"] * count))
    old = count - window_ms
    assert old - 1 - MOMENT_ROWS <= taken.due(count, count)["s"] < old


def test_rows_without_a_window_go_by_their_number() -> None:
    taken = Taken(0)
    taken.due(0, 0)
    taken.take(_arrivals([0] * 1_000, ["s"] * 1_000))
    assert taken.due(0, 0) == {"s": 999}


def test_no_statement_looks_at_what_went_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PURGE_ROWS", "MOMENT_ROWS", "LOOK_EVENTS"):
        monkeypatch.setattr(purging, name, 1)
    run, asked = started(connect("sqlite://"), 20), list[tuple[int, int]]()
    delete, execute = run.program.kept["s"].purges[-1].text, run._driver.execute

    def heard(text: str, values: Any = ()) -> int:
        if text == delete:
            asked.append(values)
        return execute(text, values)

    monkeypatch.setattr(run._driver, "execute", heard)
    pushed(run, events(100))
    run.close()
    begun, ended = zip(*asked, strict=True)
    assert begun == (0, *ended[:-1])
    assert list(ended) == sorted(set(ended))
