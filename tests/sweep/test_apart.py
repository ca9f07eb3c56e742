"""Rules of few variants cut by symbol and time: what each gives is that of its single run, byte for
byte.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.archive import Archive
from cep.backtest.work import Work
from cep.engine.native import Compiled
from cep.plan.nodes import Plan
from cep.sweep import apart, together
from cep.sweep.alike import Common
from cep.sweep.apart import how_cut, run_apart
from cep.sweep.blocks import kinds_of, swept
from cep.sweep.sweep import Bench, Job, Ruled
from cep.sweep.trials import Trial
from cep.sweep.tried import Tried, filled
from tests.backtest import test_by_time as by_time
from tests.campaign import either

Shared, Task, Result = TypeVar("Shared"), TypeVar("Task"), TypeVar("Result")
POINTS = {"EURUSD": 1e-5, "^GSPC": 1e-5}
HEAD = """
define parameter Width double = 1.0 range 0.5 to 2.0;
define parameter Stop int = 20;
define parameter Times double = 1.5;
define stream Tick (symbol string, bid double, ask double);
"""
SIGNALS = """
define complex Turn in Main for each symbol as High followed by Low within 3 min;
define signal Fade on Turn sell 0.10 lots stop Stop points target Low.bid - Times * 0.0003
  for 30 min;
"""
MODULE = f"""{HEAD}
from Tick#window.time(5 min)
select symbol, bid, avg(bid) as mean, stdDev(bid) as sd group by symbol insert into Band;
define engine Main (queue = 5 min);
define event High in Main for each symbol as Band[bid > mean + Width * sd] repeat allow;
define event Low in Main for each symbol as Band[bid < mean - Width * sd] repeat allow;
{SIGNALS}"""
PROGRAM = f"""{HEAD}
from Tick#window.time(3 min)
select symbol, bid, median(bid) as middle group by symbol insert into Middle;
define engine Main (queue = 5 min);
define event High in Main for each symbol as Middle[bid > middle + 0.00002 * Width] repeat allow;
define event Low in Main for each symbol as Middle[bid < middle - 0.00002 * Width] repeat allow;
{SIGNALS}"""
FOR_EVER = MODULE.replace("Tick#window.time(5 min)", "Tick")
days = by_time.archive


def sent(what: Shared) -> Shared:
    """A copy, as it comes to another process."""
    found: Shared = pickle.loads(pickle.dumps(what))  # noqa: S301 -- our own
    return found


class Beside:
    """Helpers who work in this process, and get copies of everything as others would."""

    def __init__(self, jobs: int = 4) -> None:
        self.jobs = jobs
        self.asked: list[int] = []
        """How many tasks each time."""

    def each(
        self, work: Callable[[Shared, Task], Result], common: Shared, tasks: Sequence[Task]
    ) -> Iterator[Result]:
        self.asked.append(len(tasks))
        known = sent(common)
        for task in tasks:
            yield sent(work(known, sent(task)))


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Few records are cut, too, and modules run uncompiled, which is fast enough for these."""

    def compiled(plan: Plan, *, is_long: bool) -> Compiled:
        rules = together.compiled(plan, is_long=is_long)
        return Compiled(plan, outputs=rules.outputs, jit=not rules.is_generated("sorted"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "ROWS_MIN", 1)
        patch.setattr(apart, "compiled", compiled)
        yield


def bench_of(archive: Archive, rules: str, **options: Any) -> Bench:
    return Bench(Job((rules, "rules"), str(archive.directory), {"point": POINTS, **options}))


def trials() -> st.SearchStrategy[list[Trial]]:
    one = st.fixed_dictionaries(
        {
            "Width": st.sampled_from([0.5, 1.0]),
            "Stop": st.integers(5, 60),
            "Times": st.floats(0.25, 4.0),
        }
    )
    return st.lists(one, min_size=1, max_size=4, unique_by=repr)  # type: ignore[arg-type]


def single(bench: Bench, trial: Trial) -> Work:
    """A run of its own, of the rules as a program."""
    wanted = bench.variant(trial)
    signals = {signal.name for signal in wanted.plan.signals}
    rules = Compiled(wanted.plan, outputs=signals, machine="always")
    work = Work(wanted, shows_rows=False, has_report=False, rules=rules)
    work.take(work.in_this_process(), [])
    return work


def rows(bench: Bench, some: Sequence[Trial], helpers: Beside | None) -> list[Tried]:
    found = [one for block in swept(bench, some, helpers) for one in block]
    return sorted(found, key=lambda one: one.number)


@pytest.mark.parametrize("rules", [MODULE, PROGRAM], ids=["module", "program"])
@settings(max_examples=either(2, 20), deadline=None)
@given(some=trials())
def test_each_variant_gives_what_its_single_run_does(
    days: Archive, rules: str, some: list[Trial]
) -> None:
    bench, helpers, passed = bench_of(days, rules), Beside(), list[int]()
    kinds = kinds_of(bench, some)
    ruled = run_apart(bench, kinds, helpers, passed.append)
    assert helpers.asked[0] >= 2 * helpers.jobs, "symbols are cut by time"
    found = rows(bench, some, helpers)
    records = 0
    for kind, known in zip(kinds, ruled, strict=True):
        for number, trial in kind:
            work = single(bench, trial)
            _compare(bench, work, known)
            outcome = work.finish(is_tried=False).outcome
            expected = filled(number, trial, bench.asked.selection, outcome)
            assert repr(found[number]) == repr(expected)
            records += work.results.records
    assert sum(passed) == records


def _compare(bench: Bench, work: Work, known: Ruled | None) -> None:
    """Rows, fills and trades of rules that were cut with those of one run."""
    assert known is not None
    found = Common.of(work.asked.plan).results(known.results)
    signals = [
        (place, {name: value for name, value in row.items() if not name.startswith("read_")})
        for place, row in found.signals
    ]
    assert repr(signals) == repr(work.results.signals)
    assert found.dropped == work.results.dropped and found.records == work.results.records
    (outcome,) = bench.fills.filled([found], lambda n: None)
    expected = work.finish(is_tried=False).outcome
    assert repr(outcome.trades) == repr(expected.trades) and outcome.trades
    assert outcome.deals.tobytes() == expected.deals.tobytes()


SOME: list[Trial] = [{"Width": 1.0, "Stop": stop, "Times": 1.5} for stop in (10, 20, 40)]


def test_what_is_remembered_for_ever_is_cut_by_symbol_alone(days: Archive) -> None:
    rules = FOR_EVER.replace("queue = 5 min", "queue = 1 day").replace("repeat allow", "")
    for symbols, asked, how in (
        (None, [2, 3], "symbols apart, each in one piece, "),
        (["EURUSD"], [3], "in one piece: there is one symbol, and "),
    ):
        bench, helpers = bench_of(days, rules, symbols=symbols), Beside()
        assert how_cut(bench).startswith(how)
        assert repr(rows_of(bench, helpers)) == repr(rows_of(bench, None))
        assert helpers.asked == asked


def rows_of(bench: Bench, helpers: Beside | None) -> list[Tried]:
    return rows(bench, SOME, helpers)


def test_a_guess_that_was_wrong_changes_nothing(
    days: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variants that are not alike are taken for one kind: the others run their own rules."""
    monkeypatch.setattr("cep.sweep.blocks._names_of_rules", lambda bench, trials: [])
    bench, helpers = bench_of(days, MODULE), Beside()
    some: list[Trial] = [*SOME, {**SOME[0], "Width": 0.5}]
    found = rows(bench, some, helpers)
    assert repr(found) == repr(rows(bench, some, None))
    assert len(helpers.asked) == 2 and len({repr(one.measures) for one in found}) == 4


@pytest.mark.parametrize(("jobs", "rows_min"), [(1, 1), (4, 1_000_000)])
def test_few_helpers_or_records_are_not_worth_it(
    days: Archive, monkeypatch: pytest.MonkeyPatch, jobs: int, rows_min: int
) -> None:
    monkeypatch.setattr(apart, "ROWS_MIN", rows_min)
    bench, helpers = bench_of(days, MODULE), Beside(jobs)
    assert repr(rows_of(bench, helpers)) == repr(rows_of(bench, None))
    assert helpers.asked == [min(jobs, 3)]


def test_rules_that_see_fills_are_one_task_with_their_account(days: Archive) -> None:
    rules = MODULE.replace("define engine", "define stream Deal (symbol string, lots double);"
        "from Deal select symbol, lots insert into Seen; define engine")  # fmt: skip
    bench, helpers = bench_of(days, rules), Beside()
    assert how_cut(bench) == "in one piece, with the account"
    assert repr(rows_of(bench, helpers)) == repr(rows_of(bench, None))
    assert helpers.asked == [3]


def test_values_that_make_no_rules_say_why(days: Archive) -> None:
    rules = MODULE.replace("range 0.5 to 2.0", "").replace("within 3 min", "within Wait")
    rules = "define parameter Wait time = 3 min;" + rules
    bench = bench_of(days, rules)
    some: list[Trial] = [{**SOME[0], "Wait": 60_000 * minutes} for minutes in (9, 2)]
    first, second = rows_by(bench, some)
    assert "but the queue of engine `Main` holds 5 min" in first.error and not second.error


def rows_by(bench: Bench, some: Sequence[Trial]) -> list[Tried]:
    found = rows(bench, some, Beside())
    assert repr(found) == repr(rows(bench, some, None))
    return found
