"""Batches, changes, restarts and what is kept: the results are those of one event at a time."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from cep.database.batches import Arrivals
from cep.database.drivers import connect, values_of
from cep.database.errors import DatabaseError, EventError
from cep.database.runner import Options, Runner
from cep.jepc import Aggregator, EventProcessor, Filter, NativeProvider, Stream, TimeWindow, count
from cep.jepc.database import DatabaseProvider
from cep.jepc.provider import Provider, Result
from tests.database.runs import OUTPUTS, catalog, events, native, pushed, refuse_odd, started, told

EVENTS = 120


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_batches_are_invisible(url: str, size: int) -> None:
    run = started(connect(url), size)
    found = pushed(run, events(EVENTS))
    assert found == native(catalog().plan(), events(EVENTS))
    run.close()


def _changing(provider: Provider) -> list[Result]:
    """Queries that come and go between events."""
    found: list[Result] = []
    with EventProcessor(provider) as processor:
        processor.register_stream("s", {"a": "int", "k": "string"})
        for least in range(4):
            processor.create_query(f"f{least}", Filter(Stream("s"), f"a > {least}"))
            processor.add_output_processor(f"f{least}", found.append)
        counted = Aggregator(Filter(Stream("s"), "a > 1").window(TimeWindow(8)), {"n": count()})
        processor.create_query("old", counted)
        processor.add_output_processor("old", found.append)
        processor.push_events([(e.stream, e.values, e.time_msc) for e in events(40)])
        processor.create_query("new", counted)
        processor.add_output_processor("new", found.append)
        processor.remove_query("f2")
        processor.push_events([(e.stream, e.values, e.time_msc) for e in events(40, 40)])
        processor.remove_query("old")
        processor.push_events([(e.stream, e.values, e.time_msc) for e in events(40, 80)])
    return found


def test_queries_come_and_go_while_others_keep_their_windows(url: str) -> None:
    found = _changing(DatabaseProvider(url))
    assert found == _changing(NativeProvider(jit=False))
    new = [result.values["n"] for result in found if result.query == "new"]
    assert new[0] == 1


def _making_anew(provider: Provider) -> list[Result]:
    """A stream of many rows goes, and comes again under its name."""
    found: list[Result] = []
    with EventProcessor(provider) as processor:
        processor.register_stream("s", {"a": "int"})

        def make(least: int) -> None:
            processor.create_query("mid", Filter(Stream("s"), f"a > {least}"))
            counted = Aggregator(Stream("mid").window(TimeWindow(2_000)), {"n": count()})
            processor.create_query("counted", counted)
            processor.add_output_processor("counted", found.append)

        make(0)
        processor.push_events([("s", (5,), 10 * number) for number in range(6_000)])
        processor.remove_query("counted")
        processor.remove_query("mid")
        make(1)
        processor.push_events([("s", (5,), 60_000 + number) for number in range(6_000)])
    return found


def test_a_stream_made_anew_is_purged_by_its_own_rows() -> None:
    found = _making_anew(DatabaseProvider("sqlite://", batch_events=500))
    assert found == _making_anew(NativeProvider(jit=False))


def test_a_restart_goes_on_where_it_was(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'events.db'}"
    found = []
    for start in (0, 50, 100):
        run = started(connect(url), 20)
        assert run.progress.seq == start
        found += pushed(run, events(50, start))
        run.close()
    assert found == native(catalog().plan(), events(150))


def test_results_of_the_last_batch_can_be_had_once_more(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'events.db'}"
    run = started(connect(url), 20)
    before, last = pushed(run, events(40)), pushed(run, events(20, 40))
    run.close()
    again = started(connect(url), 20)
    assert (again.progress.done, again.progress.seq) == (40, 60)
    assert told(again, again.again()) == last
    assert before + last == native(catalog().plan(), events(60))
    again.close()


def test_runs_of_one_database_do_not_meet(url: str) -> None:
    driver = connect(url)
    runs = [started(driver, prefix=prefix) for prefix in ("one_", "two_")]
    found = [pushed(run, events(30)) for run in runs]
    assert found[0] == found[1] == native(catalog().plan(), events(30))
    driver.close()


def test_what_is_kept_is_bounded(url: str) -> None:
    run = started(connect(url), 500)
    for start in range(0, 12_000, 3_000):
        pushed(run, events(3_000, start))
        assert max(_sizes(run)) < 3_500
    found = pushed(run, events(40, 12_000))
    before = events(1)[0].time_msc + 6_000
    expected = native(catalog().plan(), events(140, 11_900))
    assert found == [one for one in expected if one[1] >= before]
    run.close()


def _sizes(run: Runner) -> list[int]:
    """How many rows the tables of streams have."""
    found = []
    for kept in run.program.kept.values():
        counted = sa.select(sa.func.count()).select_from(kept.table)
        (column,) = run._driver.fetch(*run.dialect.text(counted))
        found += values_of(column)
    return found


def test_a_late_event_is_refused_before_anything_is_stored() -> None:
    run = started(connect("sqlite://"))
    pushed(run, events(10))
    late = Arrivals("s", np.arange(2), np.array([1_005, 1_004]), ([1, 2], ["x", "y"]))
    with pytest.raises(EventError, match=re.escape("event 1 of time 1004 ms comes after")):
        list(run.push([late]))
    assert run.progress.seq == 10


def test_a_value_of_another_type_is_refused_by_name() -> None:
    run = started(connect("sqlite://"))
    wrong = Arrivals("s", np.arange(1), np.array([1_000]), ([1.5], ["x"]))
    with pytest.raises(EventError, match=re.escape("s.a: not int")):
        list(run.push([wrong]))
    large = Arrivals("s", np.arange(1), np.array([1_000]), ([2**40], ["x"]))
    with pytest.raises(EventError, match="beyond 32 bits"):
        list(run.push([large]))


def test_a_refused_plan_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_odd(monkeypatch)
    run = Runner(connect("sqlite://"), Options())
    made = catalog()
    made.create("odd", Filter(Stream("s"), "a > 1"))
    with pytest.raises(DatabaseError, match="does not run odd: never: it is odd"):
        run.change(made.plan(), OUTPUTS)
    assert run.progress.tables == {}
