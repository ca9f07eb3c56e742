"""What goes where and in which order: hand-over, chained engines, stages, numbers, rows."""

from __future__ import annotations

from dataclasses import replace

from cep.plan.expressions import Aggregate, Aggregated, Column, Comparison, Constant
from cep.plan.nodes import (
    Chained,
    Engine,
    Leaf,
    Origin,
    Ref,
    Repeat,
    Stream,
)
from cep.plan.query import Query
from cep.plan.types import Schema, Type
from tests.reference.engine import Reference
from tests.reference.expressions import Value
from tests.reference.plans import (
    SOURCE,
    both,
    compound,
    feed,
    followed_by,
    length,
    pass_on,
    per_symbol,
    plan,
    query,
    ref,
    signal,
    simple,
)

COPY = Stream("T", SOURCE.schema, Origin.QUERY)
TRUE = Constant(True, Type.BOOL)
MAIN = Engine("Main", span_ms=300_000)
NEXT = Engine("Next", span_ms=300_000, upstream=("Main",))


def streams(rows: list[dict[str, Value]]) -> list[Value]:
    return [row["stream"] for row in rows]


def test_found_events_are_handed_over_in_definition_order() -> None:
    """13. Only after all complex events of the engine were examined for e, the found ones are
    handed over in definition order.
    """
    rules = plan(
        simple(1),
        simple(2),
        compound(8, followed_by(1, 2)),
        compound(9, both(1, 2)),
        signal("Late", "c9", "sell", "X"),
        signal("Soon", "c8", "buy", "X"),
    )
    assert streams(feed(Reference(rules), (1, 1), (2, 2))) == [
        *("e1", "e2", "c8", "c9", "Soon", "Late")
    ]


def test_the_engine_is_never_re_entered() -> None:
    """13. What a callback sends back is queued and handled afterwards; the engine is never
    re-entered. An event raised from a complex event enters after both found ones were put out.
    """
    echo = simple(3, source="c8", condition=TRUE)
    rules = plan(simple(1), compound(8, 1), compound(9, 1), echo, compound(7, followed_by(1, 3)))
    rows = feed(Reference(rules), (1, 1))
    assert streams(rows) == ["e1", "c8", "c9", "e3", "c7"]


def test_queries_are_depth_first() -> None:
    """A query's row is offered to its readers before the next reader of the upstream stream."""
    rules = plan(
        pass_on("first", "S", "T"),
        simple(2, condition=Comparison("==", Column(0, "n", Type.INT), Constant(1, Type.INT))),
        simple(1, source="T"),
        streams=(SOURCE, COPY),
    )
    assert streams(feed(Reference(rules), (1, 1))) == ["T", "e1", "e2"]


def test_a_chained_engine() -> None:
    """14. A chained engine receives each complex event as a simple event, numbered by its own map,
    under its own `repeat` policy.
    """
    twice = replace(compound(9, followed_by(Ref("c8"), Ref("c8"))), engine="Next")
    rules = plan(
        simple(1, repeat=Repeat.ALLOW),
        compound(8, 1),
        twice,
        engines=(MAIN, NEXT),
        chained=[Chained("c8", 20, "Next", Repeat.ALLOW)],
    )
    rows = feed(Reference(rules), (1, 1), (2, 1))
    assert streams(rows) == ["e1", "c8", "e1", "c8", "c9"]
    assert rows[-1] == {
        "stream": "c9",
        "time_msc": 2,
        "kind": "current",
        "key": None,
        "number": 9,
        "first_msc": 1,
        "arrangement": [20, 20],
        "events": [1, 2],
    }
    rejecting = replace(rules, chained=(Chained("c8", 20, "Next", Repeat.REJECT),))
    assert streams(feed(Reference(rejecting), (1, 1), (2, 1))) == ["e1", "c8", "e1", "c8"]


def test_rows() -> None:
    """18. `seq` counts, from 1, the events that entered that engine's queue. A simple event's row
    carries `key`, `number`, `seq`. A complex event's row carries `key`, `number`, `first_msc`,
    `arrangement` and `events` (the `seq` of each bound simple event, in order).
    """
    rules = plan(
        per_symbol(1),
        per_symbol(2),
        compound(9, followed_by(1, 2), key="symbol"),
        signal("Buy", "c9", "buy", None, 0.5, 200, 1000),
    )
    rows = feed(Reference(rules), (1, 1, "B"), (2, 1, "A"), (3, 1, "A"), (4, 2, "A"))
    head = {"time_msc": 4, "kind": "current"}
    assert [row["seq"] for row in rows if "seq" in row] == [1, 2, 3]
    assert rows[-3:] == [
        {"stream": "e2", **head, "key": "A", "number": 102, "seq": 3},
        {
            "stream": "c9",
            **head,
            "key": "A",
            "number": 109,
            "first_msc": 2,
            "arrangement": [101, 102],
            "events": [2, 3],
        },
        {
            "stream": "Buy",
            **head,
            "complex": "c9",
            "key": "A",
            "side": "buy",
            "symbol": "A",
            "lots": 0.5,
            "stop_points": 200,
            "target_points": None,
            "valid_ms": 1000,
        },
    ]
    assert list(rows[-2])[3:] == ["key", "number", "first_msc", "arrangement", "events"]


def test_columns_of_the_schematic() -> None:
    """19. Expose per event its number, time and bind columns (as in the article's schematic)."""
    rules = plan(simple(1), simple(2), compound(9, followed_by(1, 2)))
    engine = Reference(rules)
    feed(engine, (1, 1), (2, 2))
    bound = (("c9", None),)
    assert engine.binders["Main"].rows() == [(2, 2, bound), (1, 1, bound)]


def test_numbers_are_unique_per_key() -> None:
    """Keys named in the rules have the first slots, others follow in order of first appearance in
    the input, whether they raise an event or not; a null key raises none.
    """
    rules = plan(
        per_symbol(1),
        compound(9, both(ref(1, "MSFT"), ref(1, "^GSPC"))),
    )
    engine = Reference(rules, keys=["EURUSD"])
    rows = feed(engine, (1, 0, "X"), (2, 1, None), (3, 1, "Y"), (4, 1, "EURUSD"), (5, 1, "MSFT"))
    assert [(row["key"], row["number"]) for row in rows] == [
        ("Y", 401),
        ("EURUSD", 201),
        ("MSFT", 1),
    ]


def test_a_constant_key_serves_every_instance() -> None:
    """A `for each` complex that waits for another key's event is found for each key, by slot."""
    rules = plan(
        per_symbol(1, repeat=Repeat.ALLOW),
        per_symbol(2),
        compound(9, followed_by(1, ref(2, "M")), key="symbol"),
    )
    rows = feed(Reference(rules), (1, 1, "B"), (2, 1, "A"), (3, 2, "M"))
    assert [(row["key"], row["arrangement"]) for row in rows if "events" in row] == [
        ("B", [101, 2]),
        ("A", [201, 2]),
    ]


def test_what_crosses_keys_runs_second_in_the_native_engine() -> None:
    """Whether an operator works by the key is no matter of when it gets a row."""
    rules = plan(
        pass_on("copy", "S", "T"),
        per_symbol(1),
        compound(8, Leaf(Ref("e1")), key="symbol"),
        replace(compound(9, both(Ref("c8", "A"), ref(2))), engine="Next"),
        simple(2, engine="Next"),
        _count("total", "S"),
        _count("copies", "T"),
        per_symbol(3, condition=Comparison("==", Column(0, "n", Type.INT), Constant(1, Type.INT))),
        engines=(MAIN, NEXT),
        chained=[Chained("c8", 20, "Next", Repeat.ALLOW)],
        streams=(SOURCE, COPY, _counted("total"), _counted("copies")),
    )
    engine = Reference(rules)
    assert streams(feed(engine, (1, 2, "A"))) == ["T", "copies", "e2", "total"]
    assert streams(feed(engine, (2, 1, "A"))) == ["T", "copies", "e1", "c8", "c9", "total", "e3"]


def test_a_keyed_edge_enters_a_crossing_engine_in_its_place() -> None:
    rules = plan(
        per_symbol(1),
        pass_on("copy", "S", "T"),
        compound(9, both(ref(1, "A"), ref(1, "B"))),
        _count("total", "S"),
        streams=(SOURCE, COPY, _counted("total")),
    )
    assert streams(feed(Reference(rules), (1, 1, "A"))) == ["e1", "T", "total"]


def _counted(name: str) -> Stream:
    return Stream(name, Schema.of(rows=Type.LONG), Origin.QUERY)


def _count(name: str, source: str) -> Query:
    """A count over all keys, which is what makes it stage 2."""
    count = Aggregate("count", (), Type.LONG)
    projection = (("rows", Aggregated(0, Type.LONG)),)
    return query(name, source, name, projection, window=length(10), aggregates=(count,))
