"""Rules run once for variants that differ in numbers of signals, constant or computed from what a
complex event bound: each row is still its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cep.backtest
from cep.backtest.results import Results
from cep.clocks import Mode
from cep.engine.native import Compiled
from cep.lang.parameters import Value
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from cep.sweep import sweep
from cep.sweep.alike import Common, like
from cep.sweep.blocks import blocks, kinds_of
from cep.sweep.sweep import Bench, Job
from cep.sweep.together import Variant, run_together
from cep.sweep.trials import Trial
from tests.backtest.archives import imported
from tests.campaign import either, examples

POINTS = {"EURUSD": 1e-5, "GBPUSD": 1e-5, "^GSPC": 1e-5}
RULES = """
define parameter Width double = 1.0;
define parameter Stop int = 25;
define parameter Target int = 30;
define parameter Lots double = 0.1;
define parameter Good time = 30 min;
define parameter Times double = 1.5;
define stream Tick (symbol string, bid double, ask double);
from Tick#window.time(5 min)
select symbol, bid, avg(bid) as ma, stdDev(bid) as sd group by symbol insert into Band;
define engine Main (queue = 30 min);
define event Up for each symbol as Band[bid > ma + Width * sd];
define event Down for each symbol as Band[bid < ma - Width * sd];
define complex Turn for each symbol as Up followed by Down within 9 min;
define signal Fade on Turn sell Lots lots stop Stop points target Target points for Good;
define signal Tighten on Turn modify stop Stop points for Good;
define complex Rise for each symbol as Down followed by Up within 9 min;
define signal Follow on Rise buy Lots * Up.sd / 0.0001 lots stop Times * Down.sd
  target Up.bid + Times * (Up.bid - Up.ma) for Good;
"""
MS_A_MINUTE = 60_000


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("alike")
    imported(folder, rows=800)
    return Bench(Job((RULES, "rules"), str(folder / "archive"), {"point": POINTS}))


def alone(bench: Bench, trial: Trial) -> dict[str, Any]:
    """What a backtest with these values says."""
    given = {**trial, "Good": f"{trial['Good']} ms"}
    found = cep.backtest.run(RULES, bench.job.archive, parameters=given, point=POINTS).metrics
    return {
        **found["results"]["all"],
        "equity_drawdown": found["equity"]["drawdown"],
        "daily_sharpe": found["daily"]["sharpe"],
    }


@st.composite
def trials(draw: st.DrawFn) -> list[Trial]:
    one = st.fixed_dictionaries(
        {
            "Width": st.sampled_from([0.5, 1.0]),
            "Stop": st.integers(5, 60),
            "Target": st.integers(5, 60),
            "Lots": st.sampled_from([0.01, 0.1, 2.5]),
            "Good": st.sampled_from([1, 5, 30]).map(lambda minutes: minutes * MS_A_MINUTE),
            "Times": st.floats(0.25, 4.0),
        }
    )
    found: list[dict[str, Value]] = draw(st.lists(one, min_size=3, max_size=6))
    return found


@settings(max_examples=either(3, 30), deadline=None)
@given(trials())
def test_each_row_is_that_of_its_backtest_alone(bench: Bench, trials: list[Trial]) -> None:
    found = [one for block in blocks(kinds_of(bench, trials), 32) for one in bench.run(block)]
    assert sorted(one.number for one in found) == list(range(len(trials)))
    for one in found:
        said = alone(bench, trials[one.number])
        assert one.measures == {name: said[name] for name in one.measures}


def test_rules_run_once_for_all_numbers_of_their_signals(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []

    def counted(variants: Sequence[Variant], *rest: Any) -> None:
        ran.append(len(variants))
        run_together(variants, *rest)

    monkeypatch.setattr(sweep, "run_together", counted)
    good = 5 * MS_A_MINUTE
    some: list[Trial] = [
        {"Width": width, "Stop": stop, "Target": 30, "Lots": 0.1, "Good": good, "Times": times}
        for stop in (5, 25, 45)
        for width in (0.5, 1.0)
        for times in (0.5, 2.5)
    ]
    found = [one for block in blocks(kinds_of(bench, some), 6) for one in bench.run(block)]
    assert ran == [1, 1], "widths stand together, whatever order they are tried in"
    assert len({str(one.measures) for one in found}) > 4


def computed() -> st.SearchStrategy[str]:
    """Numbers of what the event bound: some are null, infinite, or farther than any long."""
    leaf = st.sampled_from(
        ["Up.bid", "Up.ma", "Down.sd", "Down.sd", "2.5", "3", "0", "7L", "1.5f", "1e300"]
    )

    def larger(smaller: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        two = st.tuples(smaller, st.sampled_from(["+", "-", "*", "/", "%"]), smaller)
        return st.one_of(
            two.map(lambda parts: f"({' '.join(parts)})"),
            smaller.map("math:sqrt({})".format),
            smaller.map("math:floor({})".format),
            st.tuples(smaller, smaller).map(
                lambda two: "ifThenElse({0} > {1} or {1} is null, 1.0 * {0}, 1.0 * {1})".format(
                    *two
                )
            ),
        )

    return st.recursive(leaf, larger, max_leaves=6).map(lambda text: f"(1.0 * {text})")


def signals(bench: Bench, plan: Plan) -> list[tuple[int, dict[str, Any]]]:
    """What the rules of a plan give, as they are."""
    mode: Mode = "lived" if bench.asked.selection.is_lived else "sorted"
    wanted = {signal.name for signal in plan.signals}
    run = Compiled(plan, outputs=wanted, machine="always").start(mode=mode)
    variant = Variant(run, Results(plan))
    run_together([variant], bench.asked.selection, lambda n: None)
    return variant.results.signals


@settings(max_examples=examples(60), deadline=None)
@given(computed(), computed(), computed())
def test_numbers_made_behind_the_rules_are_those_that_rules_make(
    bench: Bench, lots: str, stop: str, far: str
) -> None:
    head = RULES.partition("define signal Follow")[0]
    levels = f"stop {stop} points target by {far}"
    plan = compile_rules(f"{head}define signal Follow on Rise buy {lots} lots {levels};")
    common = Common.of(plan)
    results = Results(common.plan)
    results.signals = signals(bench, common.plan)
    found = [
        (place, {name: value for name, value in row.items() if not name.startswith("read_")})
        for place, row in common.results(results).signals
    ]
    assert repr(found) == repr(signals(bench, plan))
    assert {"Follow", "Fade"} <= {row["stream"] for _, row in found}


ONE = "define signal S on Turn sell {}\n"


@pytest.mark.parametrize(
    ("first", "second", "groups"),
    [
        ("0.1 lots stop 20 points;", "0.3 lots stop 25 points;", 1),
        ("0.1 lots for 5 min;", "0.1 lots for 6 min;", 1),
        ("0.1 lots;", "0.1 lots stop 20 points;", 2),
        ("0.1 lots stop by Down.sd;", "0.1 lots stop by 2.0 * Down.sd;", 1),
        ("0.1 lots stop by 2.0 * Down.sd;", "0.1 lots stop by 2.0 * Down.bid / 9;", 2),
        ("0.1 lots for currentTimeMillis() / 2L;", "0.1 lots for currentTimeMillis() / 3L;", 2),
        ("0.1 lots for eventTimestamp() / 2L;", "0.1 lots for eventTimestamp() / 3L;", 2),
        ("'EURUSD' 0.1 lots;", "'GBPUSD' 0.1 lots;", 2),
        (
            "0.1 lots; from S[lots > 0.2] select key insert into Large;",
            "0.3 lots; from S[lots > 0.2] select key insert into Large;",
            2,
        ),
    ],
    ids=[
        "numbers",
        "a time",
        "another clause",
        "computed",
        "of other values",
        "of the clock",
        "of the row's time",
        "another symbol",
        "read by a rule",
    ],
)
def test_rules_are_alike_but_for_numbers_that_nobody_reads(
    first: str, second: str, groups: int
) -> None:
    head = RULES.partition("define signal")[0]
    plans = [compile_rules(head + ONE.format(text)) for text in (first, second)]
    assert len(like([Common.of(plan) for plan in plans])) == groups
