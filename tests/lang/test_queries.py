"""Queries to trees: inputs, joins, selections, rates, outputs, partitions, on-demand queries."""

from __future__ import annotations

import pytest

from cep.lang import RuleError, ast, parse, parse_duration_ms, parse_expression, parse_on_demand
from tests.lang.shown import shown


def query(text: str) -> ast.Query:
    (node,) = parse(text).statements
    assert isinstance(node, ast.Query)
    return node


def stream(text: str) -> ast.StreamInput:
    source = query(f"from {text} select * insert into T").source
    assert isinstance(source, ast.StreamInput)
    return source


def join(text: str) -> ast.JoinInput:
    source = query(f"from {text} select * insert into T").source
    assert isinstance(source, ast.JoinInput)
    return source


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("S[a]#[b]#window.length(3)[c]", "S[a][b]#window.length(3)[c]"),
        ("S#log('x')[a]#window.time(1 sec)", "S#log('x')[a]#window.time(1000ms)"),
        ("S#ns:f(a, *)", None),
        ("S#ns:f(a)", "S#ns:f(a)"),
        ("S#pol2Cart(*)", "S#pol2Cart(*)"),
        ("#S", "#S"),
        ("!S[a]", "!S[a]"),
        ("S # window . batch ( )", "S#window.batch()"),
    ],
)
def test_streams(text: str, tree: str | None) -> None:
    if tree is None:
        with pytest.raises(RuleError):
            stream(text)
    else:
        assert shown(stream(text)) == tree


def test_a_query_inside_another() -> None:
    source = stream("((from S[a] select b, c return all events))[b > 1]")
    assert source.inner is not None
    assert isinstance(source.inner.output, ast.Return)
    assert source.inner.output.events == "all"
    assert shown(source) == "[(> b 1)]"
    assert shown(source.inner.source) == "S[a]"


@pytest.mark.parametrize(
    ("words", "kind", "unidirectional"),
    [
        ("join", "inner", ""),
        ("inner join", "inner", ""),
        ("left outer join", "left", ""),
        ("right outer join", "right", ""),
        ("FULL OUTER JOIN", "full", ""),
        ("unidirectional join", "inner", "left"),
    ],
)
def test_kinds_of_joins(words: str, kind: str, unidirectional: str) -> None:
    node = join(f"A#window.length(1) as a {words} B on a.x == B.x")
    assert (node.kind, node.unidirectional) == (kind, unidirectional)
    assert shown(node.left) == "A#window.length(1) as a"
    assert node.on is not None and shown(node.on) == "(== a.x B.x)"


def test_the_right_side_may_be_the_only_one_that_triggers() -> None:
    node = join("#A join !B as b unidirectional")
    assert (node.unidirectional, node.on) == ("right", None)
    assert (shown(node.left), shown(node.right)) == ("#A", "!B as b")


def test_a_join_with_an_aggregation() -> None:
    node = join("A as a join G as g on a.x == g.x within a.start, '2024' per a.unit")
    assert [shown(bound) for bound in node.within] == ["a.start", "'2024'"]
    assert node.per is not None and shown(node.per) == "a.unit"


def test_an_alias_hides_the_name_of_its_stream() -> None:
    node = query("from A as a join B on a is null and A is null and B is null insert into T")
    assert isinstance(node.source, ast.JoinInput)
    assert shown(node.source.on) == "(and (and (null? @a) (null? A)) (null? @B))"


def test_every_clause_of_a_selection() -> None:
    text = """from S select x, y as z group by x, S.y having z > 1
    order by z desc, x asc, x limit 5 offset 2 insert into T"""
    selection = query(text).selection
    assert selection.items is not None
    assert [item.alias and item.alias.text for item in selection.items] == [None, "z"]
    assert [shown(reference) for reference in selection.group_by] == ["x", "S.y"]
    assert selection.having is not None and shown(selection.having) == "(> z 1)"
    orders = [(shown(order.reference), order.descending) for order in selection.order_by]
    assert orders == [("z", True), ("x", False), ("x", False)]
    assert (shown(selection.limit), shown(selection.offset)) == ("5", "2")


@pytest.mark.parametrize("selection", ["", "select *"])
def test_everything_is_selected(selection: str) -> None:
    assert query(f"from S {selection} insert into T").selection.items is None


@pytest.mark.parametrize(
    ("text", "kind", "events", "ms"),
    [
        ("output every 3 events", "all", 3, None),
        ("output first every 3 events", "first", 3, None),
        ("output all every 1 min 5 sec", "all", None, 65_000),
        ("output last every 5 sec", "last", None, 5_000),
        ("output snapshot every 1 hour", "snapshot", None, 3_600_000),
    ],
)
def test_rates(text: str, kind: str, events: int | None, ms: int | None) -> None:
    rate = query(f"from S select a {text} insert into T").rate
    assert rate is not None
    assert rate.kind == kind
    assert (rate.events and rate.events.value, rate.time and rate.time.ms) == (events, ms)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("insert into T", "current"),
        ("insert events into T", "current"),
        ("insert current events into T", "current"),
        ("insert expired events into T", "expired"),
        ("insert all events into T", "all"),
        ("return", "current"),
        ("return expired events", "expired"),
        ("delete T on a", "current"),
        ("delete T for expired events on a", "expired"),
        ("update T for all events on a", "all"),
        ("update or insert into T for events on a", "current"),
    ],
)
def test_which_rows_go_out(text: str, events: str) -> None:
    assert query(f"from S select a {text}").output.events == events


@pytest.mark.parametrize("marker", ["", "#", "!"])
def test_where_rows_are_inserted(marker: str) -> None:
    output = query(f"from S insert into {marker}T").output
    assert isinstance(output, ast.Insert)
    assert (output.marker, output.target.text) == (marker, "T")


@pytest.mark.parametrize("verb", ["update", "update or insert into"])
def test_what_is_updated(verb: str) -> None:
    output = query(f"from S select a {verb} T set T.a = a + 1, b = 2 on T.a == a").output
    assert isinstance(output, ast.Update)
    assert output.or_insert == (verb != "update")
    assigned = [(shown(part.target), shown(part.value)) for part in output.assignments]
    assert assigned == [("T.a", "(+ a 1)"), ("b", "2")]
    assert shown(output.on) == "(== T.a a)"


def test_a_partition() -> None:
    text = """@info(name='p') partition with (symbol of S, math:abs(n) of U,
      n >= 5 as 'large' or n < 5 or false as 'small' of V)
    begin
      @info(name='q') from S select a insert into #I;
      from #I select a insert into T
    end;"""
    (node,) = parse(text).statements
    assert isinstance(node, ast.Partition)
    by_value, by_call, ranges = node.keys
    assert isinstance(by_value, ast.ValuePartition) and isinstance(by_call, ast.ValuePartition)
    assert isinstance(ranges, ast.RangePartition)
    assert [key.stream.text for key in node.keys] == ["S", "U", "V"]
    assert [shown(by_value.expression), shown(by_call.expression)] == ["symbol", "(math:abs n)"]
    assert [(shown(condition), key.value) for condition, key in ranges.ranges] == [
        ("(>= n 5)", "large"),
        ("(or (< n 5) False)", "small"),
    ]
    assert [inner.annotations[0].value("name") for inner in node.queries[:1]] == ["q"]
    assert [inner.output.marker for inner in node.queries if isinstance(inner.output, ast.Insert)]


def test_annotations_of_a_query() -> None:
    node = query("@info(name = 'q') @synchronized('true') from S insert into T")
    assert [(a.name, a.value("name")) for a in node.annotations] == [
        ("info", "q"),
        ("synchronized", "true"),
    ]


def test_a_stream_and_its_clauses_may_be_called_like_keywords() -> None:
    node = query(
        "from join as join join on as on on join.on == on.join select select insert into i"
    )
    assert isinstance(node.source, ast.JoinInput)
    assert shown(node.source.on) == "(== join.on on.join)"


@pytest.mark.parametrize(
    ("text", "source", "output"),
    [
        ("from T", "T", ast.Return),
        ("from T as t on t.a > 5 select a order by a limit 2;", "T", ast.Return),
        ("from G within 0L, 5L per 'days' select a", "G", ast.Return),
        ("select 1 as a insert into T", None, ast.Insert),
        ("select 1 as a update T set T.a = a on T.b == 2", None, ast.Update),
        ("select 1 as a update or insert into T on T.b == 2", None, ast.Update),
        ("select 1 as a delete T on T.b == a", None, ast.Delete),
        ("update T set T.a = 1 on true", None, ast.Update),
        ("delete T on T.a == 1", None, ast.Delete),
    ],
)
def test_on_demand_queries(text: str, source: str | None, output: type) -> None:
    node = parse_on_demand(text)
    assert (node.source and node.source.text) == source
    assert isinstance(node.output, output)


def test_every_clause_of_an_on_demand_query() -> None:
    node = parse_on_demand(
        "from G as g on g.a > 5 within 'x', 'y' per 'days' select b having b > 1"
    )
    assert node.alias is not None and node.alias.text == "g"
    assert node.on is not None and shown(node.on) == "(> g.a 5)"
    assert [shown(bound) for bound in node.within] == ["'x'", "'y'"]
    assert node.per is not None and shown(node.per) == "'days'"
    assert shown(node.selection.having) == "(> b 1)"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "T",
        "from T insert into U",
        "insert into T",
        "select * insert into T",
        "select 1 as a",
        "from T[a > 5]",
        "from T; a",
    ],
)
def test_what_is_no_on_demand_query(text: str) -> None:
    with pytest.raises(RuleError):
        parse_on_demand(text)


def test_an_expression_alone() -> None:
    assert shown(parse_expression("last.a - first.a > 5")) == "(> (- last.a first.a) 5)"
    with pytest.raises(RuleError):
        parse_expression("a b")


def test_a_time_alone() -> None:
    assert parse_duration_ms("1 min 100 millisecond") == 60_100
    for text in ("2", "", "2 sec x"):
        with pytest.raises(RuleError):
            parse_duration_ms(text)
