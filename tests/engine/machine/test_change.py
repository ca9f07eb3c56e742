"""A change of rules while they run as one program: what did not change goes on."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine.change import changed
from cep.engine.native import Compiled
from cep.engine.snapshot import restore, seed_of, take
from cep.interpreter.change import go_on
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from cep.plan.change import Report, compared
from cep.plan.nodes import Plan
from tests.campaign import either
from tests.engine.chains import apps
from tests.engine.test_against_reference import examples
from tests.engine.test_change import check
from tests.interpreter.test_change import START_MS
from tests.interpreter.test_snapshot import QUERIES
from tests.reference.generate_changes import changes
from tests.reference.generate_families import filter_plans, window_plans
from tests.reference.generate_queries import query_plans, query_rows
from tests.reference.generate_rows import cases

MODES = pytest.mark.parametrize("mode", ["sorted", "lived"])


@MODES
@examples(150)
@given(st.data())
def test_events(mode: Mode, data: st.DataObject) -> None:
    plan, rows = data.draw(cases())
    cut = data.draw(st.integers(0, len(rows)))
    check(data.draw(changes(plan)), rows, cut, machine="always", mode=mode)


@MODES
@examples(150)
@given(st.data())
def test_queries(mode: Mode, data: st.DataObject) -> None:
    case = data.draw(changes(data.draw(query_plans())))
    rows = data.draw(query_rows(moderate=True))
    check(case, rows, data.draw(st.integers(0, len(rows))), machine="always", mode=mode)


@MODES
@examples(100)
@given(st.data())
def test_families(mode: Mode, data: st.DataObject) -> None:
    case = data.draw(changes(data.draw(st.one_of(filter_plans(), window_plans()))))
    rows = data.draw(query_rows(moderate=True))
    check(case, rows, data.draw(st.integers(0, len(rows))), machine="always", mode=mode)


@MODES
@examples(100)
@given(st.data())
def test_matches(mode: Mode, data: st.DataObject) -> None:
    text, rows = data.draw(apps())
    case = data.draw(changes(compile_rules(text, "app.cep")))
    cut = data.draw(st.integers(0, len(rows)))
    check(case, rows, cut, machine="always", mode=mode)


STREAMS = (
    "define stream A (k string, v long, p double); define stream B (k string, v long); ",
    "@key('k') define stream A (k string, v long, p double); define stream B (k string, v long); ",
    "@key('k') define stream A (k string, v long, p double); "
    "@key('k') define stream B (k string, v long); ",
)
PURGE = "@purge(enable='true', interval='900 milliseconds', idle.period='700 milliseconds') "
PARTITION = "partition with (k of A, k of B) begin {queries} end;"
MORE = (
    "from A#bars:time(p, v, 500 milliseconds) select k, open, close insert into O{n};",
    "from A#window.frequent(2, k) select k, count() as c insert all events into O{n};",
    "from A#window.expression('count() <= 3') select k, sum(v) as s insert into O{n};",
    "from G as g join B as b on g.k == b.k within 0l, 9999999999999l per 'seconds' "
    "select g.k as k, g.s as s insert into O{n};",
)
INSIDE = (
    "from A#window.time(700 milliseconds) select k, sum(v) as s insert all events into I0;",
    "from A select k, count() as c output first every 500 milliseconds insert into I1;",
    "from A[v > 3] -> B[v < 4] select A.k as x insert into I2;",
    "from a=A -> not B for 300 milliseconds select a.v as x insert into I3;",
    "from A#bars:time(p, v, 300 milliseconds) select k, open, close insert into I4;",
    "from A select k, v output last every 400 milliseconds insert into I5;",
)
ENGINE = (
    "define event Big in E {keyed} as every A[v > 3];",
    "define event Small in E {keyed} as A[v < 3];",
    "define event Other in E {keyed} as every B[v == 2] repeat allow;",
    "define complex Up in E {keyed} as Small followed by Big within 2 sec;",
    "define complex Two in E {keyed} as Small and Big within 1 sec;",
    "define complex Three in E {keyed} as Other followed by Big within 2 sec;",
    "define complex Named in E as Big{x} followed by Other{y} within 2 sec;",
)
NEEDED = {3: (0, 1), 4: (0, 1), 5: (0, 2), 6: (0, 2)}
HOLDERS = (
    "define table T (k string, v long); define window W (k string, v long) length(3); "
    "define trigger Tick at every 700 milliseconds; define engine E (queue = 3 sec); "
    "define aggregation G from A select k, sum(v) as s group by k aggregate every sec, min; "
)
CATALOGUE = QUERIES + MORE


def rules_of(streams: str, parts: tuple[frozenset[int], ...]) -> Plan:
    """The queries, queries in a partition and definitions of an engine with these numbers; where
    the streams say so (`PURGE`), the partition forgets idle keys.
    """
    purge, streams = (PURGE if PURGE in streams else ""), streams.replace(PURGE, "")
    alone, inside, events = parts
    texts = [CATALOGUE[n].format(n=n) for n in sorted(alone)]
    texts = [text if "partition" in text else f"@info(name='q{n}') {text}"
             for n, text in zip(sorted(alone), texts, strict=True)]  # fmt: skip
    if inside:
        queries = " ".join(f"@info(name='p{n}') {INSIDE[n]}" for n in sorted(inside))
        texts.append(purge + PARTITION.format(queries=queries))
    whole = events.union(*(NEEDED.get(n, ()) for n in events))
    keyed = ("for each k", "('x')", "('y')") if streams != STREAMS[0] else ("", "", "")
    names = dict(zip(("keyed", "x", "y"), keyed, strict=True))
    texts += [ENGINE[n].format(**names) for n in sorted(whole)]
    return compile_rules(streams + HOLDERS + "\n".join(texts))


def numbers(texts: tuple[str, ...], most: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(0, len(texts) - 1), max_size=most)


parts = st.tuples(numbers(CATALOGUE, 3), numbers(INSIDE, 3), numbers(ENGINE, 4))
records = st.lists(
    st.tuples(
        st.sampled_from("AAB"), st.integers(-50, 400), st.sampled_from("xyz"), st.integers(0, 6)
    ),
    min_size=2,
    max_size=30,
)


@MODES
@settings(max_examples=either(10, 400), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from((*STREAMS, PURGE + STREAMS[1])),
    parts,
    st.lists(parts, min_size=1, max_size=3),
    records,
    st.data(),
)
def test_what_goes_on_is_what_goes_on_in_the_interpreter(
    mode: Mode,
    streams: str,
    before: tuple[frozenset[int], ...],
    changes: list[tuple[frozenset[int], ...]],
    rows: list[tuple[str, int, str, int]],
    data: st.DataObject,
) -> None:
    """Also where there are several changes, and snapshots behind them."""
    plan = rules_of(streams, before)
    run = Compiled(plan, jit=False, machine="always").start(mode=mode)
    meant = InterpretedRun(plan, mode=mode)
    time_ms = START_MS
    cuts = sorted(data.draw(st.integers(0, len(rows))) for _ in changes)
    for place, (stream, gap_ms, key, value) in enumerate(rows):
        while cuts and cuts[0] == place:
            del cuts[0]
            plan = rules_of(streams, changes[len(cuts)])
            run, report = changed(run, plan)
            assert run.machine is not None
            meant, expected = changed_meaning(meant, plan, mode)
            assert report == expected
            if data.draw(st.booleans()):
                saved = take(run)
                rules = Compiled(plan, jit=False, seed=seed_of(saved), machine="always")
                run = restore(rules, saved)
        time_ms += gap_ms
        values = [key, value, value / 3] if stream == "A" else [key, value]
        row = dict(zip(plan.stream(stream).schema.names, values, strict=True))
        assert run.push_row(stream, time_ms, row).dicts() == meant.push_row(stream, time_ms, row)
    assert run.end(time_ms + 5_000).dicts() == meant.end(time_ms + 5_000)
    assert run.dropped == meant.dropped


def changed_meaning(run: InterpretedRun, plan: Plan, mode: Mode) -> tuple[InterpretedRun, Report]:
    after = InterpretedRun(plan, mode=mode)
    change = compared(run.interpreter.plan, plan)
    go_on(run.interpreter, after.interpreter, change)
    return after, change.report()


@MODES
def test_keys_that_only_dropped_rules_named_keep_their_slots(mode: Mode) -> None:
    """Numbers of events follow from these; no key has come yet when the rules go."""
    nothing: frozenset[int] = frozenset()
    plan = rules_of(STREAMS[1], (nothing, nothing, frozenset({0, 6})))
    run = Compiled(plan, jit=False, machine="always").start(mode=mode)
    meant = InterpretedRun(plan, mode=mode)
    plan = rules_of(STREAMS[1], (nothing, nothing, frozenset({0, 1})))
    run, _ = changed(run, plan)
    meant, _ = changed_meaning(meant, plan, mode)
    for key, number in (("y", 102), ("x", 2)):
        row = {"k": key, "v": 0, "p": 0.0}
        rows = run.push_row("A", START_MS, row).dicts()
        assert rows == meant.push_row("A", START_MS, row)
        assert [one["number"] for one in rows if one["stream"] == "Small"] == [number]
