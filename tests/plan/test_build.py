"""Rule text to plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from cep.lang import RuleError
from cep.plan import Plan, compile_rules
from cep.plan.expressions import Column, Constant, Expression
from cep.plan.nodes import (
    COMPLEX_SCHEMA,
    EVENT_SCHEMA,
    Both,
    Chained,
    Engine,
    Leaf,
    Origin,
    Pattern,
    Ref,
    Repeat,
    Sequence,
    leaves,
)
from cep.plan.signals import ATTRIBUTES
from cep.plan.steps import Window
from cep.plan.text import pattern_text
from cep.plan.types import Schema, Type
from tests.plan.patterns import patterns

BAND = Path(__file__).parents[1] / "lang" / "formatted" / "band_reversal.cep"
S = "define stream S (symbol string, side string, bid double, n int, ok bool);\n"


@pytest.fixture(scope="module")
def band() -> Plan:
    return compile_rules(BAND.read_text())


def plan(text: str) -> Plan:
    return compile_rules(S + text)


def numbers(plan: Plan) -> dict[str, int]:
    found = {event.name: event.number for event in plan.events}
    return found | {complex_.name: complex_.number for complex_ in plan.complexes}


def test_streams_in_order_with_their_origin(band: Plan) -> None:
    assert [(stream.name, stream.origin) for stream in band.streams] == [
        ("Tick", Origin.SOURCE),
        ("Deal", Origin.SOURCE),
        ("Mid", Origin.QUERY),
        ("Band", Origin.QUERY),
        ("AboveUpper", Origin.EVENT),
        ("BelowLower", Origin.EVENT),
        ("BelowMa", Origin.EVENT),
        ("LegFilled", Origin.EVENT),
        ("NewsHalt", Origin.EVENT),
        ("Reversal", Origin.COMPLEX),
        ("BroadReversal", Origin.COMPLEX),
        ("Fade", Origin.SIGNAL),
    ]


def test_schemas_of_statements(band: Plan) -> None:
    assert band.stream("AboveUpper").schema == EVENT_SCHEMA
    assert band.stream("Reversal").schema == COMPLEX_SCHEMA
    assert band.stream("Fade").schema == Schema.of(**dict(ATTRIBUTES))
    assert band.stream("Band").schema.names == ("symbol", "mid", "ma", "sd")


def said(plan: Plan, signal: str) -> dict[str, Expression]:
    """What a signal says, by attribute."""
    return dict(next(query for query in plan.queries if query.name == signal).projection)


def test_engines(band: Plan) -> None:
    assert band.engines == (
        Engine("Tactical", 300_000),
        Engine("Portfolio", 1_800_000, upstream=("Tactical",)),
    )


def test_events(band: Plan) -> None:
    above, below, _, filled, news = band.events
    assert (above.opposites, below.opposites) == (("BelowLower",), ("AboveUpper",))
    assert (above.every, above.repeat, filled.every, filled.repeat) == (
        False,
        Repeat.REJECT,
        True,
        Repeat.ALLOW,
    )
    assert above.key == Column(0, "symbol", Type.STRING)
    assert news.key is None


def test_complex_events(band: Plan) -> None:
    reversal, broad = band.complexes
    assert (reversal.key, reversal.within_ms) == ("symbol", 180_000)
    assert reversal.forbid == (Ref("NewsHalt"),)
    assert broad.pattern == Both(Leaf(Ref("Reversal", "MSFT")), Leaf(Ref("Reversal", "^GSPC")))


def test_numbers_keys_and_chain(band: Plan) -> None:
    assert list(numbers(band).values()) == [1, 2, 3, 4, 5, 6, 7]
    assert band.chained == (Chained("Reversal", 8, "Portfolio", Repeat.ALLOW),)
    assert (band.number_stride, band.keys) == (100, ("MSFT", "^GSPC"))


def test_name_text_and_signal(band: Plan) -> None:
    assert (band.name, band.compat, band.text) == ("band-reversal", "", BAND.read_text())
    (signal,) = band.signals
    assert (signal.name, signal.source) == ("Fade", "BroadReversal")
    assert (signal.side, signal.symbol) == ("sell", "MSFT")
    assert {"lots", "stop_points", "target_points"} <= {*signal.says}
    says = said(band, "Fade")
    assert says["lots"] == Constant(0.1, Type.DOUBLE)
    points = [says["stop_points"], says["target_points"]]
    assert points == [Constant(200, Type.LONG), Constant(400, Type.LONG)]
    assert says["valid_ms"] == Constant(None, Type.LONG)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text is empty"),
        (" \n\t\r\n", "the text is empty"),
        ("\ufeff", "the text is empty"),
        ("-- nothing\n", "no statement stands in this text"),
        ("/* from S select * insert into T; */", "no statement stands in this text"),
        (";;", "no statement stands in this text"),
        ("@app:name('x')", "no statement stands in this text"),
    ],
)
def test_a_text_without_rules_is_refused(text: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        compile_rules(text, "a.cep")
    assert caught.value.render().startswith(f"a.cep:1:1: error: {message}")
    assert caught.value.hint.endswith("is this the right file?")


def test_definitions_alone_are_rules() -> None:
    assert compile_rules("define stream S (a int);").sources


def test_windows() -> None:
    text = "from S#window.length(3) insert into A; from S#window.time(90) insert into B;"
    windows = [query.stream_input.window for query in plan(text).queries]
    assert windows == [
        Window("length", (Constant(3, Type.INT),)),
        Window("time", (Constant(90, Type.INT),)),
    ]


def test_query_names() -> None:
    text = """@info(name='query2') from S insert into A; from S insert into B;
    define event query3 as S[ok]; from S insert into C;"""
    assert [query.name for query in plan(text).queries] == ["query2", "query2_", "query3_"]


def test_aggregates_are_shared() -> None:
    text = "from S select sum(bid) as a, SUM(bid) / count() as b, Count(n) as c insert into T;"
    (query,) = plan(text).queries
    assert [aggregate.function for aggregate in query.aggregates] == ["sum", "count"]


def test_rows_may_be_inserted_into_a_fitting_stream() -> None:
    text = "define stream T (n int); from S select n insert into T; from S select n insert into T;"
    assert plan(text).stream("T").origin is Origin.SOURCE


def test_explicit_numbers_come_first_and_automatic_ones_fill_up() -> None:
    text = """define event A as S[ok]; define complex C number 1 as A within 1 min;
    define event B number 3 as S[ok]; define event D as S[ok];
    define complex E as D within 1 min;"""
    assert numbers(plan(text)) == {"A": 2, "B": 3, "D": 4, "C": 1, "E": 5}


@pytest.mark.parametrize(("number", "stride"), [(99, 100), (100, 1000), (999_999, 1_000_000)])
def test_the_stride_is_above_every_number(number: int, stride: int) -> None:
    assert plan(f"define event A number {number} as S[ok];").number_stride == stride


def test_numbers_stand_for_names_in_patterns() -> None:
    text = """define event A number 10 as S[ok]; define event B number 11 as S[not ok];
    define complex C as 10 followed by 11 within 1 min;
    define complex D as arrangements (10, 11), (B) within 1 min;"""
    patterns = [pattern_text(complex_.pattern) for complex_ in plan(text).complexes]
    assert patterns == ["A followed by B", "(A followed by B) or B"]


def test_a_chained_number_stands_for_the_upstream_event() -> None:
    text = """define engine X; define engine Y from X; define event A in X as S[ok];
    define complex C number 20 in X as A within 1 min;
    define complex D in Y as 20 within 1 min; define complex E in Y as 4 within 1 min;"""
    found = plan(text)
    assert [chained.number for chained in found.chained] == [4]
    with pytest.raises(RuleError):
        plan(text.replace("as 4", "as 5"))


def test_keys_count_in_the_order_of_the_text() -> None:
    text = """define event A for each symbol as S[ok];
    define complex C as A('b') followed by [not A('c')] A('a') within 1 min forbid A('d');
    define complex D as A('a') and A('e') within 1 min;"""
    assert plan(text).keys == ("b", "c", "a", "d", "e")


def test_absent_events() -> None:
    text = """define event A as S[ok]; define event B as S[not ok];
    define complex C as A followed by [not B, B] A -> B within 1 min;"""
    with pytest.raises(RuleError, match="never match"):
        plan(text)
    (complex_,) = plan(text.replace("S[ok];", "S[ok] repeat allow;")).complexes
    assert complex_.pattern == Sequence(
        Sequence(Leaf(Ref("A")), Leaf(Ref("A")), (Ref("B"),)), Leaf(Ref("B"))
    )


def test_the_engine_may_be_left_out_when_there_is_one() -> None:
    found = plan("define event A as S[ok]; define complex C as A within 1 min;")
    assert [engine.name for engine in found.engines] == ["Main"]
    assert (found.events[0].engine, found.complexes[0].engine) == ("Main", "Main")
    found = plan("define engine X; define event A as S[ok]; define complex C as A within 1 min;")
    assert (found.events[0].engine, found.complexes[0].engine) == ("X", "X")


def test_a_complex_event_lives_where_its_events_live() -> None:
    text = """define engine X; define engine Y from X; define event A in Y as S[ok];
    define event B in X as S[ok]; define complex D in X as B within 1 min;
    define complex C as A and D within 1 min;"""
    assert plan(text).complexes[1].engine == "Y"


def test_engine_options() -> None:
    text = """define engine X (QUEUE = 1 hour, opposites = 'validate', late = 'accept', max = 10,
    repeat = 'refresh');"""
    assert plan(text).engines == (Engine("X", 3_600_000, "validate", "accept", 10, Repeat.REFRESH),)


def test_an_engine_is_only_made_up_when_needed() -> None:
    assert plan("from S insert into T;").engines == ()


def test_opposites_are_made_symmetric_in_definition_order() -> None:
    text = """define event A as S[ok]; define event B as S[ok];
    define event C as S[ok] opposite B, A;"""
    assert [event.opposites for event in plan(text).events] == [("C",), ("C",), ("A", "B")]


def test_every_row_may_be_an_event() -> None:
    (event,) = plan("define event A as every S;").events
    assert event.condition == Constant(True, Type.BOOL)


def test_events_and_signals_are_streams() -> None:
    text = """define event A for each symbol as S[ok];
    from A select key, seq insert into Seen;
    define complex C for each symbol as A within 1 min;
    from C select key, events insert into Found;
    define signal G on C buy 1 lots for 1 min;
    from G[side == 'buy'] select symbol, lots insert into Sent;"""
    found = plan(text)
    assert found.stream("Found").schema.attributes[1].type is Type.LIST
    assert found.signals[0].symbol is None
    assert said(found, "G")["valid_ms"] == Constant(60_000, Type.LONG)


def test_a_second_engine_may_take_events_made_from_the_first() -> None:
    text = """define engine X; define engine Y; define event A in X as S[ok];
    from A select seq insert into T; define event B in Y as T[seq > 3];"""
    assert len(plan(text).events) == 2


@pytest.mark.parametrize(
    "pattern",
    [
        "G('a') and X",
        "X or G('a') or Y",
        "G('a') -> [not G('b')] G('c')",
        "X",
        "X and Y and X",
    ],
)
def test_accepted_keys(pattern: str) -> None:
    text = f"""define event G for each symbol as S[ok] repeat allow;
    define event X as S[ok] repeat allow; define event Y as S[ok];
    define complex C as {pattern} within 1 min;"""
    assert leaves(plan(text).complexes[0].pattern)


@pytest.mark.parametrize("pattern", ["G", "G and X", "G -> G('a')", "(X or G('b')) and G"])
def test_accepted_own_keys(pattern: str) -> None:
    text = f"""define event G for each symbol as S[ok] repeat allow; define event X as S[ok];
    define complex C for each symbol as {pattern} within 1 min;"""
    assert plan(text).complexes[0].key == "symbol"


def test_within_may_be_as_long_as_the_queue() -> None:
    (complex_,) = plan("define event A as S[ok]; define complex C as A within 5 min;").complexes
    assert complex_.within_ms == 300_000


def test_an_impossible_alternative_is_no_error() -> None:
    text = """define event Up as S[ok] opposite Down; define event Down as S[not ok];
    define event X as S[ok]; define complex C as Up and (Down or X) within 1 min;"""
    assert len(plan(text).complexes) == 1


def test_chained_events_repeat_as_their_engine_says() -> None:
    text = """define engine X; define engine Y (repeat = 'reject') from X;
    define event A in X as S[ok]; define complex C in X as A within 1 min;
    define complex D in Y as C and C within 1 min;"""
    with pytest.raises(RuleError, match="never match"):
        plan(text)
    assert plan(text.replace("'reject'", "'allow'")).chained[0].repeat is Repeat.ALLOW


def test_compatibility() -> None:
    assert compile_rules("@app:compat('siddhi') define engine X;").compat == "siddhi"


@given(patterns(leaves_max=6))
def test_the_text_of_a_pattern_means_the_pattern(pattern: Pattern) -> None:
    events = "".join(
        f"define event {name} for each symbol as S[ok] repeat allow;" for name in "abc"
    )
    text = f"""{events} define event d as S[ok] repeat allow;
    define event own for each symbol as S[ok];
    define complex C for each symbol as own followed by ({pattern_text(pattern)}) within 1 min;"""
    assert plan(text).complexes[0].pattern == Sequence(Leaf(Ref("own")), pattern)


def test_many_rules_compile_in_linear_time() -> None:
    """2,000 complex events over 200 events; a quadratic step would take minutes."""
    events = "".join(f"define event E{i} as S[n == {i}];" for i in range(200))
    complexes = "".join(
        f"define complex C{i} as E{i % 200} -> E{(i + 7) % 200} within 1 min;" for i in range(2_000)
    )
    assert len(plan(events + complexes).complexes) == 2_000
