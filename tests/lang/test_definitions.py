"""Definitions and annotations to trees."""

from __future__ import annotations

import pytest

from cep.lang import RuleError, ast, parse
from cep.lang.annotations import KINDS, AnnotationKind
from cep.lang.unsupported import ANNOTATIONS
from tests.lang.shown import shown


def statement(text: str) -> ast.Statement:
    (node,) = parse(text).statements
    return node


def test_a_stream_has_attributes_of_every_type() -> None:
    types = ("string", "int", "long", "float", "double", "bool", "object")
    node = statement(f"define stream S ({', '.join(f'a{i} {t}' for i, t in enumerate(types))})")
    assert isinstance(node, ast.StreamDefinition)
    assert tuple(attribute.type for attribute in node.attributes) == types


def test_a_table_with_keys() -> None:
    node = statement("@PrimaryKey('a', 'B') @Index('c') define table T (a int, B int, c int)")
    assert isinstance(node, ast.TableDefinition)
    assert [(a.name, a.elements) for a in node.annotations] == [
        ("primarykey", (("", "a"), ("", "B"))),
        ("index", (("", "c"),)),
    ]


@pytest.mark.parametrize(
    ("text", "window", "output"),
    [
        ("length(5)", "#window.length(5)", "all"),
        ("time(1 sec) output expired events", "#window.time(1000ms)", "expired"),
        ("ns:mine() output all events", "#window.ns:mine()", "all"),
        ("batch() output current events", "#window.batch()", "current"),
        ("batch() output events", "#window.batch()", "current"),
    ],
)
def test_a_named_window(text: str, window: str, output: str) -> None:
    node = statement(f"define window W (a int) {text}")
    assert isinstance(node, ast.WindowDefinition)
    assert (shown(node.window), node.output) == (window, output)


def test_triggers() -> None:
    every = statement("define trigger T at every 5 sec")
    at = statement("define trigger T at 'start'")
    assert isinstance(every, ast.TriggerDefinition) and isinstance(at, ast.TriggerDefinition)
    assert every.every is not None and (every.every.ms, every.at) == (5_000, None)
    assert at.at is not None and (at.every, at.at.value) == (None, "start")


@pytest.mark.parametrize(
    ("text", "durations", "is_range"),
    [
        ("sec ... year", "sec min hour day month year", True),
        ("minutes...days", "min hour day", True),
        ("hour ... week", "hour day week", True),
        ("day, SECONDS, day", "sec day", False),
        ("month", "month", False),
    ],
)
def test_aggregations(text: str, durations: str, is_range: bool) -> None:
    node = statement(
        "define aggregation A from S[b > 1] select a, sum(b) as c group by a"
        f" aggregate by S.ts every {text}"
    )
    assert isinstance(node, ast.AggregationDefinition)
    assert (shown(node.source), shown(node.by)) == ("S[(> b 1)]", "S.ts")
    assert ([shown(a) for a in node.group_by], len(node.items or ())) == (["a"], 2)
    assert (" ".join(node.durations), node.is_range) == (durations, is_range)


def test_annotations_inside_annotations() -> None:
    text = "@purge(enable='true', idle.period='5 sec', @retentionPeriod(sec='1 min'))"
    node = statement(f"{text} define aggregation A from S select a aggregate every sec")
    assert isinstance(node, ast.AggregationDefinition)
    (purge,) = node.annotations
    assert purge.elements == (("enable", "true"), ("idle.period", "5 sec"))
    (retention,) = purge.annotations
    assert (retention.name, retention.elements) == ("retentionperiod", (("sec", "1 min"),))


def test_keys_of_annotations_may_stand_in_quotes() -> None:
    script = parse("@app:statistics('idle.time' = '1 sec', increment-by:x='2') define engine A")
    assert script.annotations[0].elements == (("idle.time", "1 sec"), ("increment-by:x", "2"))


def written_before(place: str) -> str:
    """A statement of that kind."""
    definitions = {
        "table": "define table S (a int)",
        "stream": "define stream S (a int)",
        "window": "define window S (a int) batch()",
        "trigger": "define trigger S at 'start'",
        "aggregation": "define aggregation A from S select a aggregate every sec",
        "query": "from S insert into T",
        "partition": "partition with (a of S) begin from S insert into T; end",
        "app": "define engine A",
    }
    return definitions[place]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.written)
def test_annotations_stand_where_they_belong(kind: AnnotationKind) -> None:
    written = kind.written
    for place in kind.places:
        key = kind.keys[0] if kind.keys else "x"
        annotation, before = f"@{written}({key}='1')", place
        if place == "purge":
            annotation, before = f"@purge({annotation})", "aggregation"
        script = parse(f"{annotation} {written_before(before)}")
        assert len(script.statements) == 1


@pytest.mark.parametrize("written", [written for written, _ in ANNOTATIONS.values()])
def test_transports_are_refused_by_name(written: str) -> None:
    with pytest.raises(RuleError, match=f"`@{written}` is not supported") as caught:
        parse(f"@{written}(type='x', @map(type='y')) define stream S (a int)")
    assert caught.value.hint


def test_annotations_do_not_stand_where_they_do_not_belong() -> None:
    with pytest.raises(RuleError, match="`@PrimaryKey` belongs to `define table`"):
        parse("@PrimaryKey('a') define stream S (a int)")
