"""What is separable by the key, and why the rest is not."""

from __future__ import annotations

import re

import pytest

from cep.lang import RuleError
from cep.plan import compile_rules
from cep.plan.separable import separability
from tests.plan.rules import plan

VOTE = "define event Vote for each symbol as S[ok];"


def reason(text: str) -> str:
    """Why the first query is not keyed; empty when it is."""
    found = separability(plan(text + VOTE))
    assert found.key == "symbol"
    return "" if "query1" in found.operators else dict(found.reasons)["query1"]


def inside(text: str, keys: str = "symbol of S, symbol of R") -> str:
    return f"partition with ({keys}) begin {text} end;"


@pytest.mark.parametrize(
    "text",
    [
        "from S[n > 3] select symbol, n insert into Out;",
        "from S#window.time(1 sec) select symbol, avg(price) as a group by symbol insert into O;",
        "from S#window.length(3) select symbol insert into Out;",
        inside("from S#window.length(3) select symbol, avg(price) as a insert into Out;"),
        inside("from S#window.lengthBatch(3) select n insert all events into Out;"),
        inside("from e1=S -> e2=R[n > e1.n] within 1 sec select e1.n insert into Out;"),
        inside("from S#window.length(2) join R#window.length(2) select S.n insert into Out;"),
        inside("from S select n insert into #I; from #I select sum(n) as t insert into Out;"),
        inside("from S#bollinger(price, 5) select symbol, upper insert into Out;"),
    ],
)
def test_keyed(text: str) -> None:
    assert reason(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from S select avg(price) as a insert into Out;", "not grouped"),
        ("from S#window.length(3) select avg(price) as a group by symbol insert into Out;", "push"),
        ("from S#window.lengthBatch(3) select n insert into Out;", "lengthBatch window"),
        ("from S#window.time(1 sec) select n insert all events into Out;", "time window"),
        ("from S#bollinger(price, 5) select symbol, upper insert into Out;", "functions"),
        ("from S select n output last every 3 events insert into Out;", "chooses"),
        ("from S select n limit 1 insert into Out;", "chooses"),
        ("from S insert into T;", "shared by all keys"),
        ("from S[(n == T.n) in T] select n insert into Out;", "asks a table"),
        ("from e1=S -> e2=R select e1.n insert into Out;", "pattern outside"),
        ("from S#window.length(1) join R#window.length(1) select S.n insert into O;", "join"),
        (inside("from S select n insert into Out;", "n of S"), "not by symbol"),
        (inside("from S select n insert into Out;", "n > 1 as 'a' of S"), "not by symbol"),
        (inside("from S join R#window.length(1) select S.n insert into O;", "symbol of S"),
         "reach every key"),
    ],
)  # fmt: skip
def test_crossing(text: str, why: str) -> None:
    assert why in reason(text)


def test_what_reads_crossing_rows_crosses() -> None:
    first = "from S select symbol, n limit 1 insert into Out;"
    found = separability(plan(first + "from Out select symbol insert into Out2;" + VOTE))
    assert found.operators == {"Vote"}


def test_what_reads_rows_of_a_key_is_keyed_but_not_across_a_mixed_stream() -> None:
    one = inside("from S select symbol, n insert into Mid;")
    read = "from Mid select symbol insert into Out;"
    assert "query2" in separability(plan(one + read + VOTE)).operators
    two = "from S select symbol, n limit 1 insert into Mid;"
    assert "query2" not in separability(plan(one + read + two + VOTE)).operators


def test_a_stream_put_in_order_crosses() -> None:
    text = """@reorder(max.delay='1 sec') define stream F (symbol string, n int);
    from F select symbol, n insert into Out;"""
    found = separability(plan(text + VOTE))
    assert "query1" not in found.operators
    assert dict(found.reasons)["F"] == "it is put in order over all keys"


def test_partitions_vote_for_the_key() -> None:
    assert separability(plan(inside("from S select n insert into Out;"))).key == "symbol"


@pytest.mark.parametrize(
    "more",
    [
        "from S select n, count() as c group by n insert into Counts;",
        "".join(
            f"from S select note, avg(price) as a group by note insert into N{i};" for i in range(3)
        ),
        "define event Other for each note as S[ok];",
        "define event Any as every S[ok] repeat allow; define complex Cross as Any within 1 sec;",
        "define stream T2 (symbol string, x int); from T2 select x insert into Xs;",
    ],
)
def test_the_key_is_declared_and_never_elected(more: str) -> None:
    """No statement that is added changes what is keyed of the others."""
    own = (
        """
    define stream S (symbol string, note string, price double, n int, ok bool);
    from S#window.time(1 sec) select symbol, avg(price) as a group by symbol insert into O;
    """
        + VOTE
    )
    alone, together = (separability(compile_rules(text)) for text in (own, own + more))
    assert alone.operators == {"query1", "Vote"}
    assert alone.operators <= together.operators
    assert together.key == "symbol"


def test_a_key_of_another_name_is_inherited_under_any_name() -> None:
    text = """
    @key('note') define stream T (symbol string, note string, x double);
    from T select note as place, x insert into Moved;
    from Moved#window.time(1 sec) select place, avg(x) as a group by place insert into Means;
    from T#window.time(1 sec) select symbol, avg(x) as a group by symbol insert into Others;
    define event Up for each place as Means[a > 1.0];
    """
    found = separability(compile_rules(text))
    assert found.key == "note"
    assert {"query1", "query2", "Up"} <= found.operators
    assert "query3" not in found.operators


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ("@key('sybol')", "stream `T` has no attribute `sybol`"),
        ("@key('x')", "`x` is no text, which a key must be"),
        ("@key('symbol', 'note')", "`@key` names one attribute"),
    ],
)
def test_keys_that_cannot_be(note: str, message: str) -> None:
    with pytest.raises(RuleError, match=re.escape(message)):
        compile_rules(f"{note} define stream T (symbol string, note string, x double);")
