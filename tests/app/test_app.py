"""Rules in a Python program: feeding, callbacks, questions, own functions, going on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cep.app import (
    App,
    ArgumentError,
    InputError,
    ParameterError,
    RuleError,
    SnapshotError,
    function,
)
from cep.app.frames import columns, times
from cep.plan.functions import unregister

RULES = """
define stream Tick (symbol string, bid double);
define table Last (symbol string, bid double);
@info(name='n') from Tick#window.length(2) select symbol, sum(bid) as total insert into Total;
@info(name='all') from Tick#window.length(1) select symbol, bid insert all events into Moved;
from Tick select symbol, bid update or insert into Last on Last.symbol == symbol;
"""
TICKS = [(1_000, "A", 1.0), (2_000, "B", 2.0), (3_000, "A", 4.0)]


def app(**options: Any) -> App:
    return App(RULES, jit=False, **options)


def send_all(to: App, ticks: list[tuple[int, str, float]] = TICKS) -> list[dict[str, Any]]:
    return [row for time, *values in ticks for row in to.send("Tick", values, time)]


def test_what_was_dropped_is_told_and_kept() -> None:
    text = "define stream S (symbol string, n int); define event Up as every S[n > 0];"
    with App(text, jit=False) as first:
        first.send_all("S", [(1000, "A", 1), (2000, "A", 1), (1500, "B", 1), (3000, "A", 1)])
        assert first.dropped.by_name() == {"event Up": {"repeat": 3}}
        saved = first.snapshot()
    second = App(text, jit=False)
    second.restore(saved)
    assert second.dropped == first.dropped


def test_rows_are_returned_in_order() -> None:
    rows = send_all(app(outputs=["Total"]))
    assert [(row["time_msc"], row["symbol"], row["total"]) for row in rows] == [
        (1_000, "A", 1.0),
        (2_000, "B", 3.0),
        (3_000, "A", 6.0),
    ]


FRAME = {"time_msc": [1_000, 2_000, 3_000], "symbol": ["A", "B", "A"], "bid": [1.0, 2.0, 4.0]}


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        {name: np.array(values) for name, values in FRAME.items()},
        pa.table(FRAME),
        pa.RecordBatch.from_pydict(FRAME),
        pd.DataFrame(FRAME),
    ],
    ids=["dict", "numpy", "table", "batch", "pandas"],
)
def test_rows_pushed_as_columns_are_rows_sent_one_by_one(frame: Any) -> None:
    assert app().push("Tick", frame) == send_all(app())


def test_rows_sent_together_are_rows_sent_one_by_one() -> None:
    assert app().send_all("Tick", TICKS) == send_all(app())
    assert app().send_all("Tick", []) == []


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "A")], "rows of 2 values; give a time, then symbol, bid"),
        ([(1, "A", 1.0), (2, "A")], "rows of unequal length"),
        ([(1, "A", "high")], r"Tick\.bid: not double"),
    ],
)
def test_rows_sent_together_that_do_not_fit_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        app().send_all("Tick", rows)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_may_be_timestamps(unit: str) -> None:
    stamps = np.array([1, 2], "datetime64[s]").astype(f"datetime64[{unit}]")
    for given in (stamps, pa.array(stamps), pd.DataFrame({"t": stamps})):
        is_frame = isinstance(given, pd.DataFrame)
        found = times(columns(given), "t", "S") if is_frame else times({}, given, "S")
        assert found.tolist() == [1_000, 2_000]


def test_callbacks_of_streams_hear_the_rows_of_one_event_together() -> None:
    heard: list[list[str]] = []
    own = app()
    own.on_stream("Moved", lambda rows: heard.append([row["symbol"] for row in rows]))
    send_all(own)
    assert heard == [["A"], ["A", "B"], ["B", "A"]]


def test_callbacks_do_not_add_to_what_is_returned() -> None:
    heard: list[Any] = []
    own = app(outputs=["Total"])
    own.on_stream("Moved", heard.extend)
    assert {row["stream"] for row in send_all(own)} == {"Total"} and heard


def test_callbacks_of_queries_hear_current_and_expired_rows() -> None:
    heard: list[tuple[int, Any, Any]] = []
    own = app()
    own.on_query("all", lambda *told: heard.append(told))
    send_all(own, TICKS[:2])
    (_, first, nothing), (time_msc, current, expired) = heard
    assert nothing is None and [row["bid"] for row in first] == [1.0]
    assert time_msc == 2_000
    assert [(row["kind"], row["symbol"]) for row in current + expired] == [
        ("current", "B"),
        ("expired", "A"),
    ]


def test_callbacks_come_before_the_first_row() -> None:
    own = app()
    send_all(own, TICKS[:1])
    with pytest.raises(RuntimeError, match="before the first row"):
        own.on_stream("Moved", print)


def test_callbacks_may_be_given_inside_with() -> None:
    heard: list[Any] = []
    with app() as own:
        own.on_stream("Total", heard.extend)
        send_all(own)
    assert heard


def test_a_restore_comes_before_the_first_row() -> None:
    own = app()
    send_all(own, TICKS[:1])
    with pytest.raises(RuntimeError, match="restore before the first row, in an App that has not"):
        own.restore(own.snapshot())


def test_the_name_of_a_file_is_no_rule_text() -> None:
    with pytest.raises(ArgumentError, match=r"names a file; give Path\('own rules.cep'\)"):
        App("own rules.cep")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"variables": {"least": 2}}, r"variables\['least'\] is of type int; give .*: '2'"),
        ({"variables": ["least"]}, "variables is of type list; give a dictionary of texts"),
        ({"jit": "no"}, "jit is of type str; give whether there is to be machine code"),
    ],
)
def test_arguments_of_another_kind_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        App(RULES, **given)


EVERY = "define stream S (b bool, i int, l long, f float, d double, s string, o object);"
NUMPY = (
    np.bool_(True), np.int32(-5), np.int64(2**40), np.float32(1.5), np.float64(0.1), np.str_("x"),
)  # fmt: skip


def test_scalars_of_numpy_are_values() -> None:
    own = App(f"{EVERY} from S select b, i, l, f, d, s insert into T;", jit=False)
    [row] = own.send("S", (*NUMPY, None), 1)
    assert [row[name] for name in "bilfds"] == [True, -5, 2**40, 1.5, 0.1, "x"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("yes", 1, 1, 1.0, 1.0, "x", 1), "S.b: 'yes' does not fit bool: give True or False"),
        ((True, 1.0, 1, 1.0, 1.0, "x", 1), "S.i: 1.0 does not fit int: give a whole number"),
        ((True, 1, 1.5, 1.0, 1.0, "x", 1), "S.l: 1.5 does not fit long: give a whole number"),
        ((True, 1, 1, "1", 1.0, "x", 1), "S.f: '1' does not fit float"),
        ((True, 1, 1, 1.0, [1.0], "x", 1), r"S.d: \[1.0\] does not fit double: give a number"),
        ((True, 1, 1, 1.0, 1.0, 7, 1), "S.s: 7 does not fit string: give a text"),
    ],
)
def test_a_value_of_another_type_is_told_with_what_to_give(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        App(f"{EVERY} from S select b insert into T;", jit=False).send("S", values, 1)


@pytest.mark.parametrize("column", [["1.5"], pa.array(["1.5"]), np.array(["1.5"], dtype=object)])
@pytest.mark.parametrize("name", ["b", "i", "l", "f", "d"])
def test_texts_are_no_numbers_in_columns_either(name: str, column: Any) -> None:
    own = App(f"{EVERY} from S select b insert into T;", jit=False)
    columns = {**{one: [None] for one in "bilfdso"}, name: column}
    with pytest.raises(InputError, match=rf"^S\.{name}: .*a column of texts; give (numbers|True)"):
        own.push("S", columns, [1])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(KeyError, match="no query 'x'; there are n, all"):
        app().on_query("x", print)
    with pytest.raises(KeyError, match="no derived stream 'x'; there are Moved, Total"):
        app().on_stream("x", print)
    with pytest.raises(InputError, match="no source stream 'x'"):
        app().send("x", (1,), 1)


@pytest.mark.parametrize(
    ("row", "time_msc", "message"),
    [
        ({"symbol": "A", "price": 1.0}, 1, "no attribute 'price'; there are symbol, bid"),
        ({"symbol": "A", "bid": 1.0}, None, "a row without `time_msc`"),
        (("A",), 1, "1 values; give symbol, bid"),
        (("A", "high"), 1, "Tick.bid: 'high' does not fit double: give a number"),
        ({"symbol": "A", "Bid": 1.0}, 1, "Tick: no attribute 'Bid'"),
        (("A", 1.0), -5, "before 1970"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_changes_nothing(
    row: Any, time_msc: int | None, message: str
) -> None:
    own = app(outputs=["Total"])
    send_all(own, TICKS[:1])
    with pytest.raises(InputError, match=message):
        own.send("Tick", row, time_msc)
    assert send_all(own, TICKS[1:])[0]["total"] == 3.0


def test_frames_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="no column 'time_msc'"):
        app().push("Tick", {"symbol": ["A"], "bid": [1.0]})
    with pytest.raises(InputError, match="give a dictionary of columns, an Arrow table"):
        app().push("Tick", [("A", 1.0)], [1])
    with pytest.raises(InputError, match=r"Tick\.bid: the input has no such column"):
        app().push("Tick", {"time_msc": [1], "symbol": ["A"]})


def test_tables_can_be_asked() -> None:
    own = app()
    send_all(own)
    found = own.ask("from Last on bid > 1.5 select symbol, bid order by symbol")
    assert found == [{"symbol": "A", "bid": 4.0}, {"symbol": "B", "bid": 2.0}]
    with pytest.raises(RuleError, match="unknown"):
        own.ask("from Lost select symbol")


def test_time_can_pass_without_rows() -> None:
    rules = """
    define stream Tick (symbol string);
    from not Tick[symbol == 'A'] for 5 sec select 'silent' as what insert into Silence;
    """
    own = App(rules, jit=False)
    own.start(1_000)
    assert own.advance(5_999) == []
    assert [row["what"] for row in own.advance(6_000)] == ["silent"]


def test_a_snapshot_goes_on_in_another_app() -> None:
    first = app()
    send_all(first, TICKS[:2])
    second = app()
    second.restore(first.snapshot())
    assert send_all(second, TICKS[2:]) == send_all(first, TICKS[2:])
    assert second.ask("from Last select symbol, bid") == first.ask("from Last select symbol, bid")


def test_a_snapshot_of_other_rules_is_refused() -> None:
    other = App(RULES.replace("length(2)", "length(3)"), jit=False)
    with pytest.raises(SnapshotError, match="other rules"):
        other.restore(app().snapshot())


def test_rules_may_be_a_file_with_variables(tmp_path: Path) -> None:
    path = tmp_path / "rules.cep"
    path.write_text("define stream S (x int); from S[x > ${least}] select x insert into T;")
    with App(path, jit=False, variables={"least": "2"}) as own:
        assert [row["x"] for row in own.push("S", {"time_msc": [1, 2], "x": [2, 3]})] == [3]
    with pytest.raises(RuleError, match="least"):
        App(path)


@pytest.fixture
def pips() -> Any:
    @function(name="trader:pips")
    def pips(bid: float, ask: float | None) -> float | None:
        return None if ask is None else round((ask - bid) * 10_000, 1)

    yield pips
    unregister("trader:pips")


def test_own_functions_take_part_in_rules(pips: Any) -> None:
    rules = """
    define stream S (bid double, ask double);
    from S select trader:pips(bid, ask) as spread insert into Spread;
    """
    own = App(rules, jit=False)
    assert [own.send("S", row, 1)[0]["spread"] for row in ((1.0, 1.0002), (1.0, None))] == [
        2.0,
        None,
    ]
    with pytest.raises(RuleError, match="pips"):
        App(rules.replace("bid, ask)", "bid)"))


def test_functions_need_annotations_that_rules_have() -> None:
    with pytest.raises(ValueError, match="`f`: annotate its argument `x` with one of float, int"):

        @function
        def f(x) -> float:  # type: ignore[no-untyped-def]
            return 1.0

    with pytest.raises(ValueError, match="annotate its result"):

        @function
        def g(x: float) -> list[float]:
            return [x]


USES: dict[str, Callable[[App], object]] = {
    "send": lambda own: own.send("Tick", ("A", 1.0), 4_000),
    "send_all": lambda own: own.send_all("Tick", TICKS),
    "push": lambda own: own.push("Tick", FRAME),
    "advance": lambda own: own.advance(9_000),
    "wall": lambda own: own.wall(9_000),
    "ask": lambda own: own.ask("from Last select symbol"),
    "snapshot": lambda own: own.snapshot(),
    "restore": lambda own: own.restore(b""),
    "change": lambda own: own.change(RULES),
    "start": lambda own: own.start(),
    "with": lambda own: own.__enter__(),
    "run": lambda own: own.run,
    "on_stream": lambda own: own.on_stream("Total", print),
    "on_query": lambda own: own.on_query("n", print),
}


@pytest.mark.parametrize("is_started", [False, True])
def test_a_closed_app_refuses_everything_but_to_be_closed_again(is_started: bool) -> None:
    own = app()
    if is_started:
        with own:
            send_all(own)
    own.close()
    own.close()
    for name, use in USES.items():
        with pytest.raises(RuntimeError, match="this App is closed; make a new one"):
            use(own)
        assert own._run is None, name


def test_outputs_that_the_rules_do_not_make_are_refused() -> None:
    with pytest.raises(KeyError, match=r"no derived stream 'Totl'; there are .*Total"):
        app(outputs=["Total", "Totl"])
    with pytest.raises(KeyError, match="no derived stream 'Tick'"):
        app(outputs=["Tick"])
    with pytest.raises(TypeError, match=r"outputs='Total' is one name; give a list: \['Total'\]"):
        app(outputs="Total")
    assert send_all(app(outputs=[])) == []


PARAMETERS = """
define stream S (x double);
define parameter Least double = 2.0 range 1.0 to 5.0;
from S[x >= Least] select x insert into Out;
"""


def test_parameters_have_other_values() -> None:
    """Those of the text, of `parameters`, and of rules that follow, each of its own."""
    with App(PARAMETERS, jit=False, parameters={"Least": 3.0}) as own:
        assert [own.send("S", {"x": x}, 1) for x in (2.5, 2.9)] == [[], []]
        own.change(PARAMETERS)
        assert [row["x"] for row in own.send("S", {"x": 2.5}, 2)] == [2.5]
        own.change(PARAMETERS, parameters={"Least": 5})
        assert own.send("S", {"x": 4.0}, 3) == []
    with pytest.raises(ParameterError, match=r"Least: 9\.0 is not within 1\.0 and 5\.0"):
        App(PARAMETERS, parameters={"Least": 9.0})
    with pytest.raises(TypeError, match="parameters belong to a rule text"):
        App(app().plan, parameters={"Least": 2.0})


def test_variables_of_a_plan_are_refused() -> None:
    with pytest.raises(TypeError, match="variables belong to a rule text"):
        App(app().plan, variables={"gap": "5"})


# -- arguments of the wrong kind -------------------------------------------------------------------

NONE_OF_IT: list[tuple[Callable[[App], object], str]] = [
    (lambda one: App(None), "rules is of type NoneType; give a rule text"),  # type: ignore[arg-type]
    (lambda one: App(123), "rules is of type int; give a rule text"),  # type: ignore[arg-type]
    (lambda one: App(RULES.encode()), "rules is of type bytes"),  # type: ignore[arg-type]
    (lambda one: App(RULES, variables=5), "variables is of type int"),  # type: ignore[arg-type]
    (lambda one: App(RULES, outputs=5), "outputs is of type int"),  # type: ignore[arg-type]
    (lambda one: App(RULES, outputs=[None]), "outputs is of type NoneType"),  # type: ignore[list-item]
    (lambda one: one.change(None), "rules is of type NoneType"),  # type: ignore[arg-type]
    (lambda one: one.ask(None), "query is of type NoneType"),  # type: ignore[arg-type]
    (lambda one: app().restore(None), "snapshot is of type NoneType"),  # type: ignore[arg-type]
    (lambda one: app().on_stream(["Total"], print), "stream is of type list"),  # type: ignore[arg-type]
    (lambda one: app().on_query("n", None), "callback is of type NoneType"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "message"), NONE_OF_IT, ids=[told for _, told in NONE_OF_IT])
def test_an_argument_of_another_kind_is_named(call: Callable[[App], object], message: str) -> None:
    one = app()
    with pytest.raises(ArgumentError, match=f"^{message}"):
        call(one)
    assert one.send("Tick", TICKS[0][1:], 1_000), "nothing else is disturbed"


@pytest.mark.parametrize("row", [None, 5, "AB", b"AB", object()])
def test_a_row_of_another_kind_is_refused(row: Any) -> None:
    one = app()
    kind = type(row).__name__
    with pytest.raises(InputError, match=f"^Tick: a row of type {kind}; give a dictionary"):
        one.send("Tick", row, 1)
    with pytest.raises(InputError, match=r"^Tick: .*give a time, then symbol, bid"):
        one.send_all("Tick", row if row is None else [row])
    with pytest.raises(InputError, match=r"no source stream \['Tick'\]; the rules define: Tick"):
        one.send(["Tick"], ("A", 1.0), 1)  # type: ignore[arg-type]
    assert one.send("Tick", ("A", 1.0), 1)


LONG = "define stream S (n long, d double); from S select n, d insert into Out;"


@pytest.mark.parametrize("value", [2**63, 2**70, -(2**70)])
def test_whole_numbers_beyond_64_bits_are_named(value: int) -> None:
    one = App(LONG, jit=False)
    for push in (
        lambda: one.send("S", (value, 1.0), 1),
        lambda: one.send_all("S", [(1, value, 1.0)]),
        lambda: one.push("S", {"time_msc": [1], "n": [value], "d": [1.0]}),
        lambda: one.push("S", pd.DataFrame({"time_msc": [1], "n": [value], "d": [1.0]})),
    ):
        with pytest.raises(InputError, match=r"^S\.n: .*(beyond|not in range)"):
            push()
    with pytest.raises(InputError, match=r"^S\.time_msc: row 0: -?\d+ ms is (before|after)"):
        one.push("S", {"time_msc": [value], "n": [1], "d": [1.0]})
    double = {"time_msc": [1], "n": [1], "d": [value]}
    assert [row["d"] for row in one.push("S", double)] == [float(value)]


@pytest.mark.parametrize("column", [None, 5, "1", {1: 2}, {1}])
def test_a_column_of_another_kind_is_refused(column: Any) -> None:
    one = App(LONG, jit=False)
    kind = type(column).__name__
    with pytest.raises(InputError, match=f"^S.n: a column of type {kind}; give a list"):
        one.push("S", {"time_msc": [1], "n": column, "d": [1.0]})
    if not isinstance(column, str):
        with pytest.raises(InputError, match=f"^S.time_msc: a column of type {kind}; give"):
            one.push("S", {"time_msc": column, "n": [1], "d": [1.0]})


LIVED = """
define stream Tick (symbol string, bid double);
define event Up for each symbol as every Tick[bid > 0.0] repeat allow;
from Tick#bars:time(bid, 1.0, 1 min) select symbol, close group by symbol insert into Bar;
"""


def test_a_program_gives_the_watermarks_of_what_was_lived() -> None:
    """`advance(time_msc, keys=["EURUSD"])` says it of the rows of these keys alone."""
    own = App(LIVED, jit=False, mode="lived")
    for symbol in ("A", "B"):
        own.send("Tick", (symbol, 1.0), 10_000)
    assert [row["symbol"] for row in own.advance(60_000, keys=["B"])] == ["B"]
    assert [row["stream"] for row in own.send("Tick", ("A", 2.0), 50_000)] == ["Up"]
    assert own.send("Tick", ("B", 2.0), 50_000) == [], "it is late"
    assert [row["close"] for row in own.advance(60_000)] == [2.0]
    assert own.send("Tick", ("A", 3.0), 59_000) == [], "now this is late, too"


def test_sorted_rows_have_one_watermark() -> None:
    with pytest.raises(ArgumentError, match="keys: sorted rows have one clock"):
        App(LIVED, jit=False).advance(60_000, keys=["A"])
    with pytest.raises(ArgumentError, match="keys"):
        App(LIVED, jit=False, mode="lived").advance(60_000, keys="A")


def test_rules_that_stay_have_a_module_and_no_others_follow() -> None:
    rules = "define stream S (n long); from S#window.length(2) select sum(n) as s insert into T;"
    with App(rules, jit=False) as one, App(rules, jit=False, changes=False) as other:
        assert one.run.rules.program is not None and other.run.rules.module is not None
        for at in range(4):
            assert one.send("S", (at,), at) == other.send("S", (at,), at)
        one.change(rules.replace("length(2)", "length(3)"))
        with pytest.raises(ArgumentError, match="made with changes=False"):
            other.change(rules)
