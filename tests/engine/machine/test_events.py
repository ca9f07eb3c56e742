"""Engines, events, complex events and signals on the machine: as in the interpreter."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.buffer import Buffer
from cep.engine.kernels.state import Ints
from cep.engine.machine import memory
from cep.engine.machine.kernels.words import NEED, TOP
from cep.engine.machine.memory import Memory
from cep.engine.machine.program import Program
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.lang.errors import RuleError
from cep.plan import compile_rules
from cep.plan.nodes import Operator, Plan
from cep.plan.query import Query
from tests.engine.machine.compared import Record, assert_same
from tests.engine.test_against_reference import examples
from tests.reference.generate_rows import SourceRow, cases

TICK = "define stream Tick (symbol string, bid double, kind int);\n"
BEGIN_MS = 1_700_000_000_000


def ticks(seed: int, count: int, keys: Sequence[str | None], late: float = 0.1) -> list[Record]:
    """Ticks of some keys: equal times, late ones, silences, values that are missing."""
    chance, at_ms = random.Random(seed), BEGIN_MS
    found: list[Record] = []
    for _ in range(count):
        at_ms += chance.choice([0, 0, 100, 500, 1_000, 2_500])
        own_ms = at_ms - chance.choice([1, 700, 4_000]) if chance.random() < late else at_ms
        bid = chance.choice([None, -1.0, 0.5, 1.5, 2.5])
        found.append(("Tick", own_ms, [chance.choice(keys), bid, chance.randrange(6)]))
    return found


def check(text: str, records: Sequence[Record]) -> int:
    last_ms = max(time_ms for _, time_ms, _ in records)
    return assert_same(TICK + text, records, last_ms + 60_000)


EVENTS = {
    "edge": "define event Up in E for each symbol as Tick[bid > 1.0];",
    "edge without a key": "define event Up in E as Tick[bid > 1.0] repeat refresh;",
    "every": "define event Up in E for each symbol as every Tick[bid > 1.0] repeat allow;",
    "every row": "define event Up in E for each symbol as every Tick repeat refresh;",
    "reject": "define event Up in E for each symbol as every Tick[bid > 1.0];",
    "opposites": """
        define event Up in E for each symbol as every Tick[bid > 1.0] repeat allow opposite Down;
        define event Down in E for each symbol as Tick[bid < 1.0];
        from Up select key, seq insert into Seen;""",
    "of events": """
        define event Up in E for each symbol as Tick[bid > 1.0];
        define engine F (queue = 2 sec);
        define event Again in F for each key as every Up repeat allow;
        from Again select key, seq insert into Seen;""",
    "of a made key": """
        from Tick select ifThenElse(kind > 2, 'P', symbol) as name, bid insert into Named;
        define event Named1 in E for each name as Named[bid > 1.0];
        define event Up in E for each symbol as Tick[bid > 1.0];""",
    "between queries": """
        from Tick select symbol, bid insert into First;
        define event Up in E for each symbol as every First[bid > 1.0] repeat allow;
        from First select symbol insert into Second;
        from Up select key, number insert into Third;
        from Tick select bid insert into Fourth;""",
    "of a partition": """
        partition with (symbol of Tick) begin
          from Tick[bid > 0.0]#window.length(3) select symbol, avg(bid) as mean insert into Mean;
        end;
        define event Up in E for each symbol as Mean[mean > 1.0];
        define event Down in E for each symbol as every Mean[mean < 1.0] repeat allow;
        define complex Turn in E for each symbol as Up followed by Down within 3 sec;""",
    "of windows": """
        from Tick#window.time(2 sec) select symbol, avg(bid) as mean, count() as n
          group by symbol insert all events into Mean;
        define event Up in E for each symbol as Mean[mean > 1.0 and n > 1] repeat allow;""",
    "of many definitions": "".join(
        f"""
        define event At{n} in E for each symbol as every Tick[kind + bid > {n}.0] repeat allow;
        define complex From{n} in E for each symbol as At{n} followed by At0 within 3 sec;"""
        for n in range(7)
    ),
}
ENGINES = (
    "define engine E (queue = 3 sec);\n",
    "define engine E (queue = 4 sec, late = 'accept', max = 2);\n",
    "define engine E (queue = 1 min, opposites = 'validate', late = 'accept');\n",
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", EVENTS)
def test_simple_events(name: str, engine: str) -> None:
    assert check(engine + EVENTS[name], ticks(len(name), 150, ["A", "B", None, "C"])) > 0


NAMED = """
define event A in E for each symbol as every Tick[kind == 0] repeat allow opposite D;
define event B in E for each symbol as every Tick[kind == 1] repeat allow;
define event C in E for each symbol as every Tick[kind == 2] repeat allow;
define event D in E for each symbol as Tick[kind == 3];
define event X in E as every Tick[kind == 4] repeat allow;
define event R in E for each symbol as every Tick[kind == 5] repeat refresh;
"""
PATTERNS = (
    "A followed by B",
    "A followed by B followed by C",
    "A followed by A",
    "A followed by A followed by A followed by B",
    "A and B",
    "A and B and C",
    "A or B",
    "A followed by (B or (C and D))",
    "A followed by [not B] C",
    "A followed by [not B, X] (C and R)",
    "(A and B) followed by [not C] R",
    "(A followed by [not C] B) and R",
    "(A or (A followed by B)) followed by [not X] (C or A)",
    "A followed by [not R] B followed by [not A] C",
    "(A and A) followed by (B and B)",
    "X followed by A",
    "A and X",
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str, engine: str) -> None:
    text = f"""{engine} {NAMED}
        define complex One in E for each symbol as {pattern} within 3 sec;
        define complex Two in E for each symbol as {pattern} within 2 sec forbid D;
        define signal S on One buy 0.1 lots stop 20 points for 1 min;
        define signal T on Two sell 'EURUSD';"""
    check(text, ticks(len(pattern), 150, ["A", "B"]))


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_that_are_named(engine: str) -> None:
    text = f"""{engine} {NAMED}
        define complex Both in E as A('one') and B('two') within 3 sec;
        define complex Own in E for each symbol as A('one') followed by B within 3 sec;
        define complex Last in E for each symbol as B followed by A('two') within 3 sec;
        define complex Any in E for each symbol as B followed by X within 3 sec;
        define complex Apart in E as X followed by [not A('two')] B('one') within 3 sec
          forbid C('two');"""
    assert check(text, ticks(3, 250, ["one", "two", "three"])) > 100


CHAINED = """
define engine E (queue = 3 sec, late = 'accept');
define engine F (queue = 10 sec, repeat = 'allow', late = 'accept') from E;
define engine G (queue = 10 sec, repeat = 'refresh', late = 'drop') from E, F;
define event A in E for each symbol as every Tick[kind == 0] repeat allow;
define event B in E for each symbol as every Tick[kind == 1] repeat allow;
define event X in E as every Tick[kind == 4] repeat allow;
define event Y in F for each symbol as every Tick[kind == 2];
define complex AB in E for each symbol as A and B within 3 sec;
define complex BX in E as B('one') and X within 3 sec;
define complex Pair in F for each symbol as AB followed by AB within 8 sec;
define complex Mixed in F as AB('one') followed by Y('two') within 8 sec;
define complex Top in G as Pair('one') and BX within 10 sec;
define complex Wide in G as AB('two') and Mixed within 10 sec;
define signal S on Pair close;
define engine H (queue = 3 sec);
from Pair select key as symbol insert into Pairs;
define event Again in H for each symbol as every Pairs repeat allow;
define event Once in H for each symbol as every Tick[kind == 3] repeat allow;
define complex Echo in H for each symbol as Once followed by Again within 3 sec;
from AB select key, number, first_msc insert into Seen;
define event Late in H for each key as every Seen repeat allow;
from S select complex, key, side, symbol, lots, stop_points insert into Signals;
"""


def test_chained_engines() -> None:
    assert check(CHAINED, ticks(7, 400, ["one", "two", "three"])) > 300


def test_signals_as_streams() -> None:
    text = """define engine E (queue = 3 sec);
        define event A in E for each symbol as every Tick[kind == 0] repeat allow;
        define complex C in E for each symbol as A followed by A within 3 sec;
        define signal S on C buy 0.5 lots stop 3 points target 4 points for 5 sec;
        from S select complex, key, side, symbol, lots, stop_points, target_points, valid_ms
          insert into Seen;
        from C select key, number, first_msc insert into Found;
        from C#window.length(2) select key, count() as n insert into Counts;"""
    assert check(text, ticks(7, 100, ["one", "two"])) > 20


pattern = st.recursive(
    st.sampled_from(["A", "B", "C", "D", "R", "X"]),
    lambda one: st.one_of(
        st.builds(lambda a, b: f"({a} followed by {b})", one, one),
        st.builds(
            lambda a, b, c: f"({a} followed by [not {c}] {b})", one, one, st.sampled_from("ABCRX")
        ),
        st.builds(lambda a, b: f"({a} and {b})", one, one),
        st.builds(lambda a, b: f"({a} or {b})", one, one),
    ),
    max_leaves=5,
)


@examples(60)
@given(pattern, st.sampled_from(ENGINES), st.integers(0, 10**6), st.sampled_from(["", "forbid R"]))
def test_any_pattern(pattern: str, engine: str, seed: int, forbid: str) -> None:
    text = f"""{engine} {NAMED}
        define event Z in E for each symbol as every Tick[kind == 0] repeat allow;
        define complex One in E for each symbol as Z and {pattern} within 3 sec {forbid};"""
    with suppress(RuleError):  # of what can never match
        check(text, ticks(seed, 60, ["A", "B"], late=0.2))


def with_schemas(plan: Plan) -> Plan:
    """A plan made by hand, whose queries do not say what they read."""

    def known(one: Operator) -> Operator:
        if not isinstance(one, Query):
            return one
        schema = plan.stream(one.stream_input.stream).schema
        return replace(one, input=replace(one.stream_input, schema=schema))

    return replace(plan, operators=tuple(map(known, plan.operators)))


@examples(300)
@given(cases())
def test_rule_sets(case: tuple[Plan, list[SourceRow]]) -> None:
    """Several engines, one behind the other, with what the rules of events know."""
    plan, rows = with_schemas(case[0]), case[1]
    rules = Compiled(plan, jit=False, machine="always")
    assert rules.whole is not None, rules.why_not_whole
    run, meant = rules.start(mode="sorted"), InterpretedRun(plan)
    for row in rows:
        assert run.push_row(*row).dicts() == meant.push_row(*row)
    assert run.dropped == meant.dropped


def test_many_rows_at_once() -> None:
    """What comes at once is as what comes one by one: numbers of keys, lists, order."""
    plan = compile_rules(TICK + CHAINED)
    rules = Compiled(plan, jit=False, machine="always")
    records = ticks(11, 300, ["three", "one", None, "two"])
    one, whole = rules.start(mode="sorted"), rules.start(mode="sorted")
    columns = {
        name: [one[2][place] for one in records]
        for place, name in enumerate(("symbol", "bid", "kind"))
    }
    made: list[Any] = []
    for _, at_ms, values in records:
        row = dict(zip(("symbol", "bid", "kind"), values, strict=True))
        made += one.push_row("Tick", at_ms, row).dicts()
    assert len(made) > 100
    assert whole.push("Tick", columns, [r[1] for r in records]).dicts() == made
    assert whole.dropped == one.dropped


@pytest.mark.parametrize("outputs", [{"S", "Pair"}, {"Signals", "A"}, {"Mixed"}])
def test_only_some_streams_are_put_out(outputs: set[str]) -> None:
    plan = compile_rules(TICK + CHAINED)
    run = Compiled(plan, outputs=outputs, jit=False, machine="always").start(mode="sorted")
    meant = InterpretedRun(plan, outputs=outputs)
    for stream, at_ms, values in ticks(3, 300, ["one", "two", "three"]):
        row = dict(zip(("symbol", "bid", "kind"), values, strict=True))
        assert run.push_row(stream, at_ms, row).dicts() == meant.push(stream, at_ms, values)


def test_keys_given_at_the_start_have_the_first_slots() -> None:
    text = "define event Up for each symbol as every Tick[bid > 1.0] repeat allow;"
    rules = Compiled(compile_rules(TICK + text), jit=False, machine="always")
    run = rules.start(keys=["B", "A"], mode="sorted")
    rows = [run.push_row("Tick", 0, {"symbol": k, "bid": 2.0, "kind": 0}) for k in "ABC"]
    first = rules.plan.events[0].number
    stride = rules.plan.number_stride
    assert [row["number"] for one in rows for row in one.dicts()] == [
        first + stride, first, first + 2 * stride,
    ]  # fmt: skip


def test_what_cannot_be_put_out_is_said() -> None:
    text = """define event A for each symbol as every Tick[kind == 0] repeat allow;
        define complex C for each symbol as A followed by A within 3 sec;
        from C select key, events insert into Seen;"""
    rules = Compiled(compile_rules(TICK + text), jit=False, machine="always")
    assert rules.whole is None
    assert "objects" in rules.why_not_whole


def test_late_deals_count() -> None:
    text = """define stream Deal (symbol string, magic long);
        define event Low for each symbol as every Tick[bid < 1.0] repeat allow;
        define event Filled for each symbol as every Deal[magic == 77] repeat allow;
        define complex Both for each symbol as Low and Filled within 1 min;"""
    chance = random.Random(3)
    records: list[Record] = []
    for number in range(200):
        at_ms = BEGIN_MS + 500 * number - chance.choice([0, 0, 3_000])
        values = [chance.choice("AB"), chance.choice([77, 1])]
        records.append(("Deal", at_ms, values) if number % 2 else ("Tick", at_ms, ["A", 0.5, 0]))
    assert check(text, records) > 50


def test_there_is_room_whenever_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With memory that grows by no more than what is asked for, every step is begun anew."""
    made = Memory.__init__

    def filled(words: Ints, more: int = 0) -> Buffer:
        found = Buffer(len(words) + more)
        found.words()[: len(words)] = words
        return found

    def tight(self: Memory, program: Program) -> None:
        made(self, program)
        self._take(filled(self.i[0, : int(self.i[0, TOP])]))

    def grow(self: Memory) -> None:
        old = self.i[0]
        self._take(filled(old, int(old[NEED])))

    monkeypatch.setattr(memory, "FIRST_BLOCKS", dict.fromkeys(memory.FIRST_BLOCKS, 16))
    monkeypatch.setattr(Memory, "__init__", tight)
    monkeypatch.setattr(Memory, "grow", grow)
    assert check(CHAINED, ticks(9, 150, ["one", "two", "three"])) > 100
    text = f"""{ENGINES[2]} {NAMED}
        define complex One in E for each symbol as (A and B and A) followed by [not C] R
          within 3 sec;"""
    assert check(text, ticks(4, 150, ["one", "two"])) > 50


ROOT = Path(__file__).parents[3]
STRATEGIES = ("article", "band_reversal", "fills_and_market")


def trades(seed: int, count: int) -> list[Record]:
    """Ticks and deals as the rules of strategies read them."""
    chance, at_ms = random.Random(seed), BEGIN_MS
    bids = {"MSFT": 100.0, "^GSPC": 50.0, "EURUSD": 1.1, "GBPUSD": 1.3}
    found: list[Record] = []
    for number in range(count):
        at_ms += chance.choice([0, 200, 1_000, 5_000])
        symbol = chance.choice(list(bids))
        bids[symbol] *= 1 + chance.gauss(0, 0.003)
        bid = bids[symbol]
        values: list[Any] = [symbol, bid, bid + chance.choice([0.02, 0.7]), bid, 1.0, 0]
        found.append(("Tick", at_ms, values))
        if number % 3 == 0:
            deal = [symbol, number, number, chance.choice([77, 77, 77, 0])]
            deal += [chance.choice(["grid", "exit", None]), "buy", "in", 0.4, bid]
            found.append(("Deal", at_ms, deal))
    return found


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies(name: str) -> None:
    text = (ROOT / "strategies" / name / "rules.cep").read_text()
    records = [one for one in trades(5, 700) if f"stream {one[0]} " in text]
    assert assert_same(text, records, records[-1][1] + 60_000) > 50
