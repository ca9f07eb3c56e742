"""What readers of several streams meet, and in which order, against the interpreter.

Small rule files whose streams meet again in one target, join, pattern, table or engine; whose
queries put out several rows at once; and of which modules can run parts, in front of others, behind
them and between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal, get_args

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from cep.engine.apart import begun_apart, is_distributable
from cep.engine.distributed import Merge
from cep.engine.input_rows import InputRows
from cep.engine.native import Compiled, Run
from cep.engine.part import run_part
from cep.interpreter.run import InterpretedRun
from cep.plan.build import compile_rules
from tests.engine.test_against_interpreter import by_stream
from tests.engine.test_against_reference import Row, examples
from tests.semantics.loader import InputRow

HEAD = """
define stream S (symbol string, n long);
define stream R (symbol string, n long);
define engine One (queue = 1 min);
define engine Two (queue = 1 min) from One;
"""
TABLE = "@primaryKey('symbol') define table T (symbol string, n long);\n"
WINDOW = "define window W (symbol string, n long) lengthBatch(2);\n"
TRIGGER = "define trigger Tr at every 1 sec;\n"
PER_KEY = (
    "from {a}[n > {k}] select symbol, n insert into {t};",
    "from {a} select symbol, sum(n) as n group by symbol insert into {t};",
    "from {a}#window.time(2 sec) select symbol, count() as n group by symbol insert into {t};",
)
COMPILED = (
    *PER_KEY,
    "from {a} select symbol, count() as n insert into {t};",
    "from {a}#window.length(2) select symbol, sum(n) as n insert into {t};",
    "from every x={a}[n > 0] -> y={b}[n > {k}]"
    " select y.symbol as symbol, x.n as n insert into {t};",
    "from every x={a}[n > 0], y={b}[n > {k}] select y.symbol as symbol, x.n as n insert into {t};",
    "from {a}#window.length(2) as l join {b}#window.length(2) as r on l.symbol == r.symbol"
    " select l.symbol as symbol, r.n as n insert into {t};",
    "partition with (symbol of {a}) begin"
    " from {a}#window.length(2) select symbol, sum(n) as n insert into {t};"
    " from {a}[n > 1] select symbol, count() as n insert into {t}; end;",
)
INTERPRETED = (
    "from {a}#window.lengthBatch(2) select symbol, n insert into {t};",
    "from {a}#window.timeBatch(1 sec) select symbol, n insert into {t};",
    "from {a}#window.delay(1 sec) select symbol, n insert into {t};",
    "from {a}#window.length(1) select symbol, n insert all events into {t};",
    "from {a} select symbol, n output every 2 events insert into {t};",
    "from {a} select symbol, n output every 1 sec insert into {t};",
    "from {a} join T on {a}.symbol == T.symbol select {a}.symbol as symbol, T.n as n"
    " insert into {t};",
    "from W select symbol, n insert into {t};",
    "partition with (symbol of {a}) begin"
    " from {a}#window.lengthBatch(2) select symbol, n insert into {t};"
    " from {a}[n > 0] select symbol, n insert into {t};"
    " from {a} select symbol, n output every 2 events insert into {t}; end;",
)
HELD = (
    "from {a} select symbol, n update or insert into T set T.n = n on T.symbol == symbol;",
    "from R select symbol, n insert into W;",
    "from Tr select 'A' as symbol, triggered_time as n insert into Told;",
)
KEYS = ("", " for each symbol", " for each symbol")


SOURCES = ["S", "R"]
Style = Literal["compiled", "mixed", "apart"]
"""`mixed`: some is interpreted; `apart`: what reads a source works by the key."""


@dataclass
class Rules:
    """Rules being made up; `streams` are what further ones may read, in order of definition."""

    random: Random
    style: Style
    text: list[str] = field(default_factory=list)
    streams: list[str] = field(default_factory=lambda: list(SOURCES))
    events: list[tuple[str, bool]] = field(default_factory=list)

    def add_query(self, number: int) -> None:
        pick = self.random
        a, b = pick.choice(self.streams), pick.choice(self.streams)
        kinds = COMPILED + (INTERPRETED + HELD if self.style == "mixed" else ())
        if self.style == "apart" and {a, b}.intersection(SOURCES):
            kinds = PER_KEY
        last = max(1, self.streams.index(a), self.streams.index(b))
        target = pick.choice([f"Q{number}", *self.streams[last + 1 :]])
        kind = pick.choice(kinds)
        self.text.append(kind.format(a=a, b=b, t=target, k=pick.randint(0, 2)))
        if "{t}" in kind and target not in self.streams:
            self.streams.append(target)

    def add_event(self, number: int) -> None:
        pick = self.random
        stream, limit = pick.choice(self.streams), pick.randint(0, 2)
        key = pick.choice(KEYS)
        if self.style == "apart" and stream in SOURCES:
            key = KEYS[-1]
        head = f"define event E{number} in One{key}"
        self.text.append(f"{head} as every {stream}[n > {limit}] repeat allow;")
        self.events.append((f"E{number}", bool(key)))

    def add_complex(self, number: int) -> None:
        (one, one_keyed), (two, two_keyed) = self.random.sample(self.events, 2)
        if one_keyed and two_keyed:
            found = f"C{number} in One for each symbol as {one} followed by {two}"
        else:
            names = one + "('A')" * one_keyed, two + "('B')" * two_keyed
            found = f"C{number} in One as {names[0]} followed by {names[1]}"
        self.text.append(f"define complex {found} within 1 min;")
        self.text += self.random.sample(
            (
                f"define signal G{number} on C{number} close 'A';",
                f"from C{number} select key as symbol, number as n insert into X;",
                f"from {one} select key as symbol, number as n insert into X;",
                f"define complex D{number} in Two for each symbol as C{number} within 1 min;"
                if one_keyed and two_keyed
                else f"define complex D{number} in Two as C{number} within 1 min;",
            ),
            self.random.randint(0, 3),
        )


def made_up(random: Random, style: Style) -> str:
    """A rule file."""
    rules = Rules(random, style)
    for number in range(random.randint(4, 9)):
        (rules.add_event if random.random() < 0.3 else rules.add_query)(number)
    for number in range(random.randint(1, 2) if len(rules.events) > 1 else 0):
        rules.add_complex(number)
    held = TABLE + WINDOW + TRIGGER if style == "mixed" else ""
    return HEAD + held + "\n".join(rules.text)


def input_rows(random: Random) -> list[InputRow]:
    """Rows in order of time, several in a millisecond."""
    rows: list[InputRow] = []
    time = 1000
    for _ in range(14):
        time += random.choice([0, 1, 500, 1500])
        row = {"symbol": random.choice("AB"), "n": random.randint(0, 3)}
        rows.append((random.choice("SSR"), time, row))
    return rows


def encoded(run: Run, rows: list[InputRow], symbol: str | None = None) -> InputRows:
    """The rows, or those of a symbol, as one batch."""
    found = [
        run.encoder.encode(
            stream, {name: [value] for name, value in row.items()}, [time], np.array([place])
        )
        for place, (stream, time, row) in enumerate(rows)
        if symbol in (None, row["symbol"])
    ]
    return InputRows.merge(found)


def one_by_one(rules: Compiled, rows: list[InputRow]) -> tuple[list[Row], list[Row]]:
    """What the engine and the interpreter make of the rows, and of the end behind them."""
    run, meant = rules.start(mode="sorted"), InterpretedRun(rules.plan)
    found: list[Row] = []
    expected: list[Row] = []
    for row in rows:
        found += run.push_row(*row).dicts()
        expected += meant.push_row(*row)
    end = rows[-1][1] + 3000
    return found + run.end(end).dicts(), expected + meant.end(end)


def compiled(random: Random, style: Style) -> Compiled:
    """Made-up rules."""
    return Compiled(compile_rules(made_up(random, style)), jit=False)


SEEDS = st.integers(0, 10**9).map(Random)
STYLES = st.sampled_from(get_args(Style))


@examples(600)
@given(SEEDS, STYLES)
def test_readers_of_several_streams_meet_their_rows_in_order(random: Random, style: Style) -> None:
    rules, rows = compiled(random, style), input_rows(random)
    found, expected = one_by_one(rules, rows)
    assert by_stream(found) == by_stream(expected), rules.plan.text


@examples(200)
@given(SEEDS, STYLES)
def test_batches_change_nothing(random: Random, style: Style) -> None:
    rules, rows = compiled(random, style), input_rows(random)
    run, whole = rules.start(mode="sorted"), rules.start(mode="sorted")
    found = [one for row in rows for one in run.push_row(*row).dicts()]
    assert whole.feed(encoded(whole, rows)).dicts() == found, rules.plan.text


@examples(200)
@given(SEEDS)
def test_keys_run_apart_and_put_together_keep_every_row_in_its_place(random: Random) -> None:
    rules, rows = compiled(random, "apart"), input_rows(random)
    assume(is_distributable(rules) is None)
    assert apart(rules, rows) == together(rules, rows), rules.plan.text


def apart(rules: Compiled, rows: list[InputRow]) -> list[Row]:
    keys = list(dict.fromkeys(row["symbol"] for _, _, row in rows))
    parts = [begun_apart(rules, keys, "sorted") for _ in keys]
    made = [run_part(run, [encoded(run, rows, key)]) for run, key in zip(parts, keys, strict=True)]
    return Merge(rules, keys).push(enumerate(made)).dicts()


def together(rules: Compiled, rows: list[InputRow]) -> list[Row]:
    run = rules.start(list(dict.fromkeys(row["symbol"] for _, _, row in rows)))
    return [one for row in rows for one in run.push_row(*row).dicts()]


CHAIN = """
define stream S (symbol string, n long);
define engine Low (queue = 1 min, repeat = 'allow');
define engine Middle (queue = 1 min, repeat = 'allow') from Low;
define engine High (queue = 1 min, repeat = 'allow') from Middle;
define event One in Low for each symbol as every S[n > 0];
define complex First in Low for each symbol as One within 1 min;
define complex Second in Low for each symbol as One within 1 min;
define complex Any in Middle as First('A') or Second('A') within 1 min;
define complex Other in Middle as Second('A') within 1 min;
define complex Top in High as Any or Other within 1 min;
define signal Buy on First buy 'A' 0.1 lots;
define signal Sell on Any sell 'A' 0.1 lots;
define signal Close on Top close 'A';
"""


def test_what_is_found_first_is_handed_over_first_across_stages() -> None:
    rules = Compiled(compile_rules(CHAIN), jit=False)
    assert is_distributable(rules) is None
    rows = [("S", at, {"symbol": key, "n": n}) for at, (key, n) in enumerate(
        [("A", 1), ("B", 1), ("A", 0), ("A", 2), ("B", 3), ("A", 1)]
    )]  # fmt: skip
    found = together(rules, rows)
    assert apart(rules, rows) == found
    assert [row["stream"] for row in found[:12]] == [
        "One", "First", "Second", "Buy", "Any", "Any", "Other", "Sell", "Top", "Sell", "Top", "Top"
    ]  # fmt: skip
    interpreted = InterpretedRun(rules.plan)
    assert [one for row in rows for one in interpreted.push_row(*row)] == found


KEPT = """
define stream N (symbol string, note string, n long);
define event Up for each symbol as every N[n > 0] repeat allow;
define complex Rise for each symbol as Up within 1 min;
define signal Buy on Rise[Up.note != 'none'] buy Up.n lots;
from Rise select key, Up.note as note insert into Notes;
"""


def test_texts_that_complex_events_keep_are_those_of_their_part() -> None:
    """Each part numbers the texts that it sees by itself."""
    rules = Compiled(compile_rules(KEPT), jit=False)
    assert is_distributable(rules) is None
    rows: list[InputRow] = [
        ("N", 1_000, {"symbol": "A", "note": "first", "n": 1}),
        ("N", 2_000, {"symbol": "B", "note": "second", "n": 2}),
        ("N", 3_000, {"symbol": "A", "note": "third", "n": 3}),
    ]
    found = apart(rules, rows)
    assert found == together(rules, rows)
    kept = [row["Up_note"] for row in found if row["stream"] == "Rise"]
    assert kept == ["first", "second", "third"]
