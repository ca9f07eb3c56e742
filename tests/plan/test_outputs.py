"""Selection, rates and outputs."""

from __future__ import annotations

import pytest

from cep.plan.expressions import (
    TABLE_SLOT,
    Column,
    Comparison,
    InTable,
    Output,
)
from cep.plan.steps import (
    Assignment,
    Delete,
    Holder,
    Insert,
    Order,
    Rate,
    Return,
    Slice,
    Sort,
    Update,
)
from cep.plan.types import Type
from tests.plan.rules import join, plan, query, refused

SYMBOL = Column(0, "symbol", Type.STRING)


def test_everything_is_selected_when_nothing_is_said() -> None:
    assert query("from S insert into Out;").schema == plan("").stream("S").schema


def test_order_limit_and_offset() -> None:
    found = query("""from S#window.length(5) select symbol as name, price
    order by name desc, price, symbol, n limit 3 offset 1 insert into Out;""")
    assert found.step(Sort) == Sort(
        (
            Order(0, True),
            Order(1, False),
            Order(0, False),
            Order(-1, False, Column(3, "n", Type.INT)),
        )
    )
    assert found.step(Slice) == Slice(3, 1, passes_expired=True)


@pytest.mark.parametrize(
    ("selected", "rate", "steps"),
    [
        ("n", "", "Project Sort Slice"),
        ("n group by symbol having n > 1", "", "GroupBy Project Filter Last Sort Slice"),
        ("count() as n", "", "GroupBy Project Last Slice"),
        ("count() as n", "output snapshot every 1 sec", "GroupBy Project Sort Slice Rate"),
        ("n group by symbol", "output snapshot every 1 sec", "GroupBy Project Slice Rate"),
        ("n", "output last every 2 events", "Project Sort Slice Rate"),
    ],
)
def test_steps(selected: str, rate: str, steps: str) -> None:
    """Where one row of a chunk is selected there is nothing to sort."""
    text = f"from S select {selected} order by n limit 3 offset 1 {rate} insert into Out;"
    assert " ".join(type(step).__name__ for step in query(text).steps) == steps


@pytest.mark.parametrize("clause", ["limit -1", "offset -1", "limit n", "limit 1.5"])
def test_refused_cuts(clause: str) -> None:
    assert refused(f"from S select n {clause} insert into Out;").message.startswith("`")


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("output every 3 events", Rate("all", 3, None)),
        ("output first every 2 sec", Rate("first", None, 2000)),
        ("output last every 1 events", Rate("last", 1, None)),
        ("output snapshot every 1 min", Rate("snapshot", None, 60_000)),
    ],
)
def test_rates(text: str, rate: Rate) -> None:
    assert query(f"from S select n {text} insert into Out;").rate == rate


def test_kinds_of_rows() -> None:
    assert query("from S select n insert all events into Out;").output == Insert("Out", "all")
    assert query("from S select n insert expired events into O;").output == Insert("O", "expired")
    assert query("from S select n return;").output == Return("current")
    assert query("from S select n return;").target is None
    fill = query("from S insert into T;").output
    assert fill == Insert("T", "current", Holder.TABLE)


def test_delete() -> None:
    found = query("from S select symbol as name delete T for all events on T.symbol == name;")
    row = Column(0, "symbol", Type.STRING, TABLE_SLOT)
    assert found.output == Delete("T", "all", Comparison("==", row, Output(0, "name", Type.STRING)))


def test_names_in_conditions_mean_what_is_selected_then_the_table() -> None:
    found = query("from S select symbol delete T on symbol == T.symbol and price > 2.0;").output
    assert isinstance(found, Delete)
    text = str(found.on)
    assert "Output(position=0, name='symbol'" in text
    assert "Column(position=1, name='price', type=<Type.DOUBLE: 'double'>, slot=-1" in text


def test_update() -> None:
    found = query("from S select symbol, price as p update T set T.price = p on T.n == 2;").output
    assert isinstance(found, Update)
    assert found.assignments == (Assignment(1, Output(1, "p", Type.DOUBLE)),)
    assert not found.or_insert


def test_update_by_names() -> None:
    found = query("from S select n, symbol update T on T.symbol == symbol;").output
    assert isinstance(found, Update)
    assert found.assignments == (
        Assignment(3, Output(0, "n", Type.INT)),
        Assignment(0, Output(1, "symbol", Type.STRING)),
    )


def test_update_or_insert_needs_a_whole_row() -> None:
    assert query("from S update or insert into T on T.symbol == symbol;").output.events == "current"
    text = "from S select symbol update or insert into T on T.symbol == symbol;"
    assert "do not fit" in refused(text).message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delete S on S.n == 1", "no table"),
        ("update T set T.n = symbol on T.n == 1", "value is a string"),
        ("update T set T.x = n on T.n == 1", "no attribute `x`"),
        ("update T on T.z == 1", "no attribute `z`"),
        ("insert into T", "do not fit"),
    ],
)
def test_refused_changes(text: str, message: str) -> None:
    assert message in refused(f"from S select symbol, n {text};").message


def test_membership() -> None:
    condition = query("from S[(symbol == T.symbol) in T] insert into Out;").stream_input.filters[0]
    row = Column(0, "symbol", Type.STRING, TABLE_SLOT)
    assert condition == InTable("T", Comparison("==", SYMBOL, row))
    assert query("from S[symbol in T] insert into Out;").stream_input.filters[0] == condition
    assert "unknown table" in refused("from S[(n == 1) in U] insert into Out;").message
    assert "needs a condition" in refused("from S[price in T] insert into Out;").message


def test_joins() -> None:
    found = join("S#window.length(3) as a left outer join R#window.time(1 sec) as b on a.n == b.n")
    assert (found.kind, found.trigger) == ("left", "both")
    left, right = (Column(3, "n", Type.INT, slot) for slot in (0, 1))
    assert found.on == Comparison("==", left, right)


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("S join T on S.n == T.n", "left"),
        ("T join S on S.n == T.n", "right"),
        ("S#window.length(1) unidirectional join R#window.length(1)", "left"),
        ("S#window.length(1) join R#window.length(1) unidirectional", "right"),
        ("S as a join S#window.length(2) as b", "both"),
    ],
)
def test_which_side_causes_output(text: str, trigger: str) -> None:
    assert join(text).trigger == trigger


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T as a join T as b on a.n == b.n select a.n", "has rows that arrive"),
        ("S join R on S.n == R.n select n", "attribute of `S`, `R`"),
        ("S as a join R on S.n == R.n select R.n", "`S` is not read here"),
        ("S join R select *", "twice"),
        ("S join R within '2020' per 'days' select S.n", "neither side is an aggregation"),
        ("S join T unidirectional select S.n", "cause no output"),
    ],
)
def test_refused_joins(text: str, message: str) -> None:
    assert message in refused(f"from {text} insert into Out;").message


AGGREGATION = "define aggregation A from S select sum(n) as total aggregate every sec ... day; "


def test_join_with_an_aggregation() -> None:
    found = plan(AGGREGATION + """from R join A within '2020-**-** **:**:**' per 'hours'
    select AGG_TIMESTAMP, total insert into Out;""").queries[0].input  # fmt: skip
    assert found.per.value == "hour"  # type: ignore[union-attr]
    assert found.right.holder is Holder.AGGREGATION  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "for a time and a unit"),
        ("within '2020' per 'test'", "unknown unit 'test'"),
        ("within '2020' per 'years'", "does not aggregate per year"),
        ("within 5 per 'days'", "needs a time"),
    ],
)
def test_refused_ranges(text: str, message: str) -> None:
    error = refused(f"{AGGREGATION} from R join A {text} select total insert into Out;")
    assert message in error.message
    assert error.hint


def test_a_snapshot_has_no_expired_rows_of_its_own() -> None:
    text = "from S#window.length(2) select n output snapshot every 1 sec insert {} events into Out;"
    assert "no expired rows" in refused(text.format("expired")).message
    assert plan(text.format("all")).queries[0].output.events == "all"
