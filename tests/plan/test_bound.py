"""What complex events keep of their events: names, places and errors."""

from __future__ import annotations

import pytest

from cep.lang import RuleError
from cep.plan import Plan, compile_rules
from cep.plan.nodes import COMPLEX_SCHEMA

HEAD = """
define stream Bar (symbol string, high double, low double, n int, what object);
from Bar select symbol, high - low as wide, n insert into Range;
define event Up for each symbol as every Bar[n > 0];
define event Down for each symbol as every Bar[n < 0];
define event Calm for each symbol as every Range[wide < 1.0];
define complex Turn for each symbol as Up followed by Calm followed by Down within 1 min;
define complex Either for each symbol as Up or Down within 1 min;
"""


def plan(text: str) -> Plan:
    return compile_rules(HEAD + text)


def kept(plan: Plan, name: str) -> tuple[str, ...]:
    return plan.stream(name).schema.names[len(COMPLEX_SCHEMA) :]


def test_what_nobody_reads_is_not_kept() -> None:
    found = plan(
        "define signal X on Turn buy 1 lots; from Turn select key, first_msc insert into O;"
    )
    assert kept(found, "Turn") == ()
    assert all(event.carries == () for event in found.events)


def test_each_value_is_kept_once_and_events_carry_what_is_kept_of_them() -> None:
    text = """
    define signal X on Turn buy Up.n lots stop Up.high;
    define signal Y on Turn[Up.n > 5] sell 1 lots stop at Up[last].high;
    from Turn[Up.high > 1.0] select Up[0].n as first, Calm.wide as wide insert into O;
    """
    found = plan(text)
    assert kept(found, "Turn") == ("Up_n", "Up_high", "Up_0_n", "Calm_wide")
    carried = {event.name: [one.name for one in event.carries] for event in found.events}
    assert carried == {"Up": ["high", "n"], "Down": [], "Calm": ["wide"]}


def test_an_attribute_alone_is_that_of_the_event_that_ends_the_match_or_of_the_only_one() -> None:
    found = plan("define signal X on Turn buy n lots stop by wide;")
    assert kept(found, "Turn") == ("Down_n", "Calm_wide")


def test_own_attributes_of_a_complex_event_come_first() -> None:
    found = plan("define signal X on Turn buy 1 lots for first_msc;")
    assert kept(found, "Turn") == ()


def test_names_of_rows_stay_apart() -> None:
    text = """
    define event time for each symbol as every Stamp[msc > 0];
    define complex Late for each symbol as time within 1 min;
    define signal X on Late buy 1 lots for time.msc;
    """
    found = compile_rules("define stream Stamp (symbol string, msc long);" + text)
    assert kept(found, "Late") == ("time_msc_",), "`time_msc` is what each row says of itself"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "define signal X on Either buy n lots;",
            "`n` is an attribute of `Down`, `Up`",
            "Down.n",
        ),
        ("define signal X on Turn buy Up.hihg lots;", "has no attribute `hihg`", "`high`"),
        ("define signal X on Turn buy Up.what lots;", "type object", ""),
        ("define signal X on Turn buy Bar.high lots;", "`Bar` is not read here", ""),
        ("define signal X on Turn buy hihg lots;", "`Turn` has no attribute `hihg`", ""),
        ("from Turn select n insert into O;", "`Turn` has no attribute `n`", ""),
        (
            "define complex Soon for each symbol as Late within 1 sec;"
            "define signal X on Soon buy Late.n lots;"
            "from Bar select symbol, n insert into Rest;"
            "define event Late for each symbol as every Rest[n > 0];",
            "`Late` stands behind `Soon`, which keeps its values",
            "define `Late` in front of it",
        ),
    ],
)
def test_errors_name_the_place_and_the_remedy(text: str, message: str, hint: str) -> None:
    with pytest.raises(RuleError) as caught:
        plan(text)
    assert message in str(caught.value) and hint in str(caught.value)


def test_an_error_in_a_complex_event_is_the_only_one() -> None:
    text = "define complex Bad for each symbol as Up followed by Nobody within 1 min;"
    with pytest.raises(RuleError) as caught:
        plan(text + "define signal X on Bad buy Up.n lots stop at Up.high;")
    assert "unknown event `Nobody`" in str(caught.value)
    assert str(caught.value).count("error:") == 1
