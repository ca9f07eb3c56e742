"""What each part of a plan remembers, as `explain` says it."""

from __future__ import annotations

import pytest

from cep.plan.memory import NOTHING, Hop, Memory, behind, for_ms, last_rows, together, until_silence
from cep.plan.remembered import remembered, split_text
from tests.plan.rules import plan

EVENTS = """
    define engine Main (queue = 1 min{option});
    define event Up in Main for each symbol as every S[n > 1] {repeat};
    define event Down in Main for each symbol as every S[n < 1] {repeat};
    define event Third in Main for each symbol as every S[n == 5] {repeat};
    define complex Found in Main for each symbol as {pattern} within 1 min;
"""


def memory_of(text: str) -> str:
    """What the first query remembers."""
    return str(remembered(plan(text)).own["query", "query1"])


def engine_of(pattern: str, repeat: str = "repeat allow", option: str = "") -> str:
    text = EVENTS.format(pattern=pattern, repeat=repeat, option=option)
    return str(remembered(plan(text)).own["engine", "Main"])


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("from S[n > 3] select n insert into O;", "nothing"),
        ("from S#window.time(5 sec) select avg(price) as a insert into O;", "5 sec"),
        ("from S#window.timeLength(5 sec, 3) select sum(n) as a insert into O;", "5 sec"),
        ("from S#window.delay(5 sec) select n insert into O;", "5 sec"),
        ("from S#window.length(20) select max(n) as a insert into O;", "the last 20 rows of S"),
        ("from S#window.timeBatch(5 sec, 0) select sum(n) as a insert into O;", "10 sec"),
        ("from S#bars:time(price, n, 1 min) select close group by symbol insert into O;", "1 min"),
        ("from S#window.session(5 sec) select sum(n) as a insert into O;",
         "5 sec after a silence of more than 5 sec"),
        ("from every e1=S -> e2=S[n > e1.n] within 2 sec select e1.n as n insert into O;",
         "2 sec 1 ms"),
        ("from S#window.time(5 sec) join R#window.time(9 sec) on S.n == R.n"
         " select S.n as n insert into O;", "9 sec"),
    ],
)  # fmt: skip
def test_what_a_query_remembers(text: str, memory: str) -> None:
    assert memory_of(text) == memory


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from S select avg(price) as a insert into O;", "are of all rows"),
        ("from S#window.time(5 sec) select ema(price, 9) as a insert into O;", "ema follows"),
        ("from S[ok]#window.length(3) select n insert into O;", "its length window may be of any"),
        ("from S#window.timeBatch(5 sec) select n insert into O;", "begins with the first row"),
        ("from S#window.hopping(5 sec, 1 sec) select n insert into O;", "hopping window follows"),
        ("from S#macd(price, 3, 5, 2) select macd insert into O;", "macd follows"),
        ("from S select n output last every 3 events insert into O;", "output is limited"),
        ("from e1=S -> e2=S within 2 sec select e1.n as n insert into O;", "pattern waits"),
        ("from every e1=S -> e2=S select e1.n as n insert into O;", "no `within`"),
        ("from every e1=S, e2=S within 1 sec select e1.n as n insert into O;", "sequence waits"),
        ("from S[(n == T.n) in T] select n insert into O;", "asks a table"),
        ("from S#window.time(5 sec) select sum(currentTimeMillis() - n) as a insert into O;",
         "another value than it came with"),
        ("partition with (symbol of S) begin from S join R#window.length(1) select S.n as n"
         " insert into O; end;", "reach every key there has been"),
        ("partition with (n of S) begin from S#window.length(3) select sum(n) as a"
         " insert into O; end;", "its length window may be of any age"),
    ],
)  # fmt: skip
def test_what_may_follow_from_all_there_ever_was(text: str, why: str) -> None:
    found = remembered(plan(text))
    assert why in found.own["query", "query1"].forever
    assert found.plan.forever.startswith("query1: ")
    assert split_text(found.plan).startswith("in one piece, query1: ")


def test_events_that_turn_true_remember_the_last_row() -> None:
    found = remembered(plan("define event Up for each symbol as S[n > 1];"))
    assert str(found.own["event", "Up"]) == "the last row of S"
    sparse = (
        "from S[ok] select symbol, n insert into O; define event Up for each symbol as O[n > 1];"
    )
    assert "may be of any age" in remembered(plan(sparse)).own["event", "Up"].forever
    other = (
        "define stream N (symbol string, note string); define event Up for each note as N[true];"
    )
    assert "of each note" in remembered(plan(other)).own["event", "Up"].forever


@pytest.mark.parametrize(
    "pattern",
    [
        "Up",
        "Up or Down",
        "Up followed by Down",
        "Up followed by [not Third] Down",
        "Up followed by Down followed by Third",
    ],
)
def test_events_that_follow_one_another_are_bound_by_what_comes_later(pattern: str) -> None:
    assert engine_of(pattern) == engine_of(pattern, "repeat refresh") == "1 min"


@pytest.mark.parametrize(
    ("pattern", "repeat", "option"),
    [
        ("Up followed by Down", "repeat reject", ""),
        ("Up and Down", "repeat allow", ""),
        ("Up followed by Up", "repeat allow", ""),
        ("Up followed by [not Third] Down followed by Third", "repeat allow", ""),
    ],
)
def test_other_queues_follow_from_all_since_a_silence(
    pattern: str, repeat: str, option: str
) -> None:
    assert engine_of(pattern, repeat, option) == "1 min after a silence of more than 1 min"


def test_memory_adds_up_behind_one_another() -> None:
    found = remembered(
        plan("""
        from S#window.time(5 sec) select symbol, avg(price) as a group by symbol insert into M;
        define engine Main (queue = 1 min);
        define event Up in Main for each symbol as M[a > 1.0];
        define complex Found in Main for each symbol as Up within 1 min;
        from Found#window.time(10 sec) select key, count() as c group by key insert into O;
        """)
    )
    assert found.describe() == [
        "5 sec: query1",
        "the last row of S: Up",
        "1 min after a silence of more than 1 min: Main",
        "10 sec: query2",
        "by time: in parts that begin after a silence of more than 1 min 15 sec, and first read"
        " 1 min 10 sec, before that the last row of S, before that 5 sec",
    ]
    assert found.of(["query1"]) == for_ms(5000)


def test_rows_of_before_a_silence_cannot_be_counted() -> None:
    """They are the last ones there were, and follow from what was before them."""
    assert behind(last_rows(1, "S"), until_silence(10)).forever
    assert behind(until_silence(10), last_rows(1, "S")).silence_ms == 10


def test_the_way_back_goes_over_times_and_rows() -> None:
    times = {"S": [0, 100, 200, 300, 400]}

    def back(at_msc: int, rows: int, source: str) -> int:
        return [time for time in times[source] if time < at_msc][-rows]

    memory = behind(for_ms(150), behind(last_rows(2, "S"), for_ms(5)))
    assert memory.paths == {(Hop(150, 2, "S"), Hop(5))}
    assert memory.begins_msc(400, back) == 100 - 5
    assert last_rows(1, "S").begins_msc(400, back) == 400
    assert for_ms(150).begins_msc(400, back) == 250
    assert NOTHING.begins_msc(400, back) == 401


def test_of_ways_back_the_longest_is_kept() -> None:
    both = together([for_ms(5), for_ms(7), behind(for_ms(7), last_rows(1, "S")), NOTHING])
    assert both == Memory(frozenset({(Hop(7, 1, "S"),)}), lasting_ms=7)
