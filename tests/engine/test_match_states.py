"""What compiled matches keep: per partition key, in groups of one shape, within their bounds."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

from cep.engine.memory import FIRST_ARENA, FIRST_MATCHES
from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.plan import Plan, compile_rules

TICK = "define stream S (symbol string, mid double, volume long);\n"
RISE = (
    "from every e1=S -> e2=S[mid > e1.mid + {0}] -> e3=S[mid >= e2.mid + {0} and volume > 1]"
    " within {1} sec select e1.mid as m1, e2.mid as m2, e3.mid as m3 insert into Out;\n"
)
FALL = (
    "from every e1=S, e2=S[e1.mid - mid >= {0}], e3=S[mid < e2.mid] within {1} sec"
    " select e1.mid as m1, e2.mid as m2, e3.mid as m3 insert into Out;\n"
)
RISES = "".join(RISE.format(0.01 * step, 20 + step) for step in range(4))
FALLS = "".join(FALL.format(0.01 * step, 2 + step) for step in range(4))
KEYED = f"{TICK}partition with (symbol of S) begin\n{RISES}{FALLS}end;"
Row = dict[str, Any]
Ticks = tuple[list[str | None], list[float | None], list[int]]


@functools.cache
def ticks(count: int, symbols: int, seed: int = 3) -> Ticks:
    """Random walks with nulls among symbols and prices."""
    rng = np.random.default_rng(seed)
    names = [f"S{number}" for number in rng.integers(0, symbols, count)]
    mids = (100 + 0.01 * np.cumsum(rng.choice([-1, 0, 1], count))).round(2).tolist()
    holes, gaps = rng.random(count) < 0.02, rng.random(count) < 0.02
    prices = [None if hole else mid for hole, mid in zip(holes, mids, strict=True)]
    kept = [None if gap else name for gap, name in zip(gaps, names, strict=True)]
    return kept, prices, rng.integers(1, 4, count).tolist()


def push(run: Run, made: Ticks, start: int = 0, stop: int | None = None) -> list[Row]:
    """A row a second."""
    part = slice(start, stop)
    symbols, mids, volumes = (column[part] for column in made)
    columns = {"symbol": symbols, "mid": mids, "volume": volumes}
    return run.push("S", columns, 1000 * (start + np.arange(len(symbols)))).dicts()


@functools.cache
def keyed(jit: bool) -> Compiled:
    return Compiled(compile_rules(KEYED, "keyed.cep"), jit=jit)


def test_a_partition_is_as_many_runs_as_keys() -> None:
    made = ticks(600, 3)
    found = push(keyed(False).start(), made)
    alone = Compiled(compile_rules(TICK + RISES + FALLS, "alone.cep"), jit=False)
    expected = []
    for symbol in ("S0", "S1", "S2"):
        run = alone.start()
        for place, row in enumerate(zip(*made, strict=True)):
            if row[0] == symbol:
                expected += [
                    (place, one)
                    for one in run.push_row(
                        "S", 1000 * place, dict(zip(("symbol", "mid", "volume"), row, strict=True))
                    ).dicts()
                ]
    expected.sort(key=lambda pair: pair[0])
    assert len(expected) > 300
    assert found == [one for _, one in expected]


@pytest.mark.campaign
def test_numba_finds_the_same() -> None:
    made = ticks(3000, 5)
    assert push(keyed(True).start(), made) == push(keyed(False).start(), made)


@pytest.mark.parametrize("shape", [RISE, FALL])
def test_a_group_of_one_shape_is_written_once(shape: str) -> None:
    def source(count: int) -> str:
        queries = "".join(shape.format(0.01 * step, 20 + step) for step in range(count))
        return Compiled(compile_rules(TICK + queries, "group.cep"), jit=False).generated.source

    lines = [source(count).count("\n") for count in (2, 3, 60)]
    assert len(set(lines)) == 1


def test_a_group_finds_what_its_queries_find_alone() -> None:
    made = ticks(400, 1)
    together = push(Compiled(compile_rules(TICK + RISES, "all.cep"), jit=False).start(), made)
    apart: list[list[Row]] = []
    for step in range(4):
        rules = compile_rules(TICK + RISE.format(0.01 * step, 20 + step), "one.cep")
        apart.append(push(Compiled(rules, jit=False).start(), made))
    expected = [one for found in apart for one in found]
    assert len(together) > 100
    assert sorted(together, key=str) == sorted(expected, key=str)
    assert [row["time_msc"] for row in together] == sorted(row["time_msc"] for row in expected)


@pytest.mark.parametrize("jit", [True, False])
def test_partial_matches_outgrow_their_arrays(jit: bool) -> None:
    """A thousand wait for one row that completes all of them, oldest first."""
    rules = Compiled(waiting(), jit=jit)
    run = rules.start()
    count = 3000
    assert count > FIRST_MATCHES and 3 * count > FIRST_ARENA
    mids: list[float | None] = [float(place % 7) for place in range(count)]
    assert push(run, (["A"] * count, mids, [1] * count)) == []
    last = run.push_row("S", 1000 * count, {"symbol": "A", "mid": 99.0, "volume": 2})
    assert [row["m1"] for row in last.dicts()] == mids


def waiting() -> Plan:
    text = "from every e1=S -> e2=S[volume > 1 and mid > e1.mid] select e1.mid as m1 insert into Q;"
    return compile_rules(TICK + text, "waiting.cep")


@pytest.mark.parametrize("compare", [">", ">=", "<", "<="])
def test_many_thresholds(compare: str) -> None:
    """More than are compared one by one, now and then few again; some rows come late."""
    text = (
        f"from every e1=S -> e2=S[volume > 1 and mid {compare} e1.mid + 0.5] within 90 sec"
        " select e1.mid as m1, e2.mid as m2 insert into Q;"
    )
    run = Compiled(compile_rules(TICK + text, "many.cep"), jit=False).start()
    rng = np.random.default_rng(9)
    quiet = np.arange(3000) % 1000 > 700
    mids = np.round(np.where(quiet, 2 * (np.arange(3000) % 2), rng.normal(0, 0.3, 3000)), 1)
    volumes = np.where(rng.random(3000) < 0.1, 2, 1)
    times = 1000 * (np.arange(3000) - 3 * (rng.random(3000) < 0.05))
    columns = {"symbol": ["A"] * 3000, "mid": mids, "volume": volumes}
    found = run.push("S", columns, times).dicts()
    expected = naive(compare, mids.tolist(), volumes.tolist(), times.tolist())
    assert len(expected) > 500
    assert [(row["time_msc"], row["m1"], row["m2"]) for row in found] == expected


@pytest.mark.parametrize("same", ["symbol == e1.symbol", "e1.volume - volume == 1"])
def test_many_equalities(same: str) -> None:
    """Chains of many hashes, with a further condition, whose ring grows and closes up."""
    text = (
        f"from every e1=S -> e2=S[{same} and mid > e1.mid] within 300 sec"
        " select e1.mid as m1, e2.mid as m2 insert into Q;"
    )
    run = Compiled(compile_rules(TICK.replace("long", "int") + text, "many.cep"), jit=False).start()
    rng = np.random.default_rng(9)
    symbols = [f"S{number}" for number in rng.integers(0, 40, 3000)]
    mids, volumes = rng.normal(size=3000).tolist(), rng.integers(0, 40, 3000).tolist()
    columns = {"symbol": symbols, "mid": mids, "volume": volumes}
    found = run.push("S", columns, 1000 * np.arange(3000)).dicts()
    waiting: list[tuple[int, str, int, float]] = []
    expected = []
    for place, row in enumerate(zip(symbols, volumes, mids, strict=True)):
        waiting = [one for one in waiting if place - one[0] <= 300]
        fits = [
            one
            for one in waiting
            if (one[1] == row[0] if "symbol" in same else one[2] - row[1] == 1) and row[2] > one[3]
        ]
        expected += [(1000 * place, one[3], row[2]) for one in fits]
        waiting = [one for one in waiting if one not in fits] + [(place, *row)]
    assert len(expected) > 1000
    assert [(row["time_msc"], row["m1"], row["m2"]) for row in found] == expected


def naive(
    compare: str, mids: list[float], volumes: list[int], times: list[int]
) -> list[tuple[int, float, float]]:
    """What the pattern of `test_many_thresholds` finds, by a list of what waits."""
    holds = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}[compare]
    waiting: list[tuple[int, float]] = []
    found = []
    for time, mid, volume in zip(times, mids, volumes, strict=True):
        waiting = [one for one in waiting if time - one[0] <= 90_000]
        if volume > 1:
            found += [(time, first, mid) for _, first in waiting if holds(mid, first + 0.5)]
            waiting = [one for one in waiting if not holds(mid, one[1] + 0.5)]
        waiting.append((time, mid))
    return found


def test_the_oldest_give_way_beyond_the_bound() -> None:
    text = (
        "@bound(partials='3') from every e1=S[volume == 1] -> e2=S[volume == 2]"
        " select e1.mid as m1 insert into Q;"
    )
    run = Compiled(compile_rules(TICK + text, "bound.cep"), jit=False).start()
    push(run, (["A"] * 9, [float(place) for place in range(9)], [1] * 9))
    last = run.push_row("S", 9000, {"symbol": "A", "mid": 0.0, "volume": 2})
    assert [row["m1"] for row in last.dicts()] == [6.0, 7.0, 8.0]


def test_memory_stays_when_partial_matches_come_and_go() -> None:
    """One waits for ever in front of those that are completed again and again."""
    text = "from every e1=S -> e2=S[mid > e1.mid] select e1.mid as m1 insert into Q;"
    run = Compiled(compile_rules(TICK + text, "holes.cep"), jit=False).start()
    run.push_row("S", 0, {"symbol": "A", "mid": 1e9, "volume": 1})
    sizes = set()
    for start in range(1, 4000, 500):
        mids = [float(start + place) for place in range(500)]
        run.push("S", {"symbol": ["A"] * 500, "mid": mids, "volume": [1] * 500},
                 1000 * (start + np.arange(500)))  # fmt: skip
        sizes.add(sum(array.nbytes for array in run.runner.state))
    assert len(sizes) == 1


def test_a_snapshot_goes_on_with_the_same_rows() -> None:
    made = ticks(400, 3)
    rules = keyed(False)
    for place in (1, 150, 399):
        whole, first = rules.start(), rules.start()
        before = push(whole, made, 0, place)
        assert push(first, made, 0, place) == before
        second = restore(rules, take(first))
        assert push(second, made, place) == push(whole, made, place)


def test_what_comes_late_is_not_lost_behind_what_has_left() -> None:
    """It waits in front of newer ones, but not in front of those that a bound has taken."""
    text = (
        "define stream U (symbol string); @bound(partials='1')"
        " from every e1=S -> e2=U[symbol == e1.symbol] select e1.volume as v insert into Q;"
    )
    run = Compiled(compile_rules(TICK + text, "late.cep"), jit=False).start(mode="lived")
    for time_ms, volume in ((1001, 1), (1002, 2), (1003, 3), (1001, 4)):
        run.push_row("S", time_ms, {"symbol": "A", "mid": 0.0, "volume": volume})
    last = run.push_row("U", 1004, {"symbol": "A"})
    assert [row["v"] for row in last.dicts()] == [3]
