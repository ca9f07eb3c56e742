"""A plan goes on with the functions it was made with; another one under the name is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.app import App, function
from cep.engine.snapshot import SnapshotError
from cep.functions import load_functions
from cep.plan import Plan, compile_rules
from cep.plan.functions import unregister
from cep.plan.own import own_digests, own_lines
from tests.functions.own import EXPECTED, FILE, RULES, STREAM, TICKS, loaded
from tests.functions.test_indicators import fed, values

OTHER = FILE.replace("* scale, 1", "* scale, 0")


def test_other_text_and_no_other_place_is_another_version(tmp_path: Path) -> None:
    def digests(name: str, text: str = FILE) -> tuple[str, ...]:
        loaded(tmp_path, text, name)
        return own_digests(compile_rules(RULES))

    before = digests("a.py")
    assert len(before) == 4
    assert digests("b.py") == before
    assert not set(digests("a.py", OTHER)) & set(before)
    assert digests("a.py") == before


def test_rules_without_them_are_not_touched(tmp_path: Path) -> None:
    assert own_digests(compile_rules(STREAM + "from Tick select bid insert into Out;")) == ()


def test_a_snapshot_with_other_functions_is_refused(tmp_path: Path) -> None:
    loaded(tmp_path)
    before = App(RULES, jit=False)
    fed(before)
    loaded(tmp_path, OTHER)
    with pytest.raises(SnapshotError, match="other rules"):
        App(RULES, jit=False).restore(before.snapshot())
    loaded(tmp_path)
    App(RULES, jit=False).restore(before.snapshot())


@pytest.mark.parametrize(
    "call",
    ["own:pips(bid, ask)", "sum(own:pips(bid, ask))", "own:mean(bid, 2)"],
)
@pytest.mark.parametrize(
    "source",
    ["Tick", "Tick#window.expression('own:pips(bid, ask) > 0.0')", "Tick#own:range(bid)"],
)
def test_wherever_it_stands_another_version_makes_another_plan(
    tmp_path: Path, call: str, source: str
) -> None:
    def plan(text: str, of: str, select: str) -> Plan:
        loaded(tmp_path, text)
        return compile_rules(STREAM + f"from {of} select {select} as x insert into Out;")

    assert plan(FILE, source, call) != plan(OTHER, source, call)
    assert plan(FILE, source, "bid") == plan(FILE, source, "bid")
    assert (plan(FILE, source, "bid") == plan(OTHER, source, "bid")) == (source == "Tick")


def test_a_run_goes_on_with_its_own_version(tmp_path: Path) -> None:
    """Also where it makes a new instance, or a new key of a partition, after the change."""
    loaded(tmp_path)
    running = App(RULES, jit=False)
    found = fed(running, TICKS[:1])
    loaded(tmp_path, OTHER.replace("return Range(", "return 1 / 0  # ("))
    assert values(found + fed(running, TICKS[1:])) == list(EXPECTED)


def test_a_change_of_rules_resets_what_calls_another_version(tmp_path: Path) -> None:
    loaded(tmp_path)
    rules = STREAM + (
        "from Tick select count() as n insert into Counts;"
        "from Tick#own:range(bid) select high insert into Highs;"
    )
    running = App(rules, jit=False)
    fed(running)
    loaded(tmp_path, OTHER)
    report = running.change(rules)
    assert [str(part) for part in report.kept if part.kind == "query"] == ["query query1"]
    assert [str(part) for part in report.reset] == ["query query2: its definition changed"]
    assert values(fed(running, [(9_000, "A", 1.5, None)])) == [(7,), (1.5,)]


def test_conditions_that_come_as_texts_call_no_functions_of_the_user(tmp_path: Path) -> None:
    """No snapshot would know of them."""
    loaded(tmp_path)
    rules = (
        "@OnError(action='stream') define stream S (bid double, keep string);"
        "from S#window.expression(keep) select count() as n insert into Out;"
        "from !S select _error insert into Wrong;"
    )
    running = App(rules, jit=False)
    assert running.send("S", (1.0, "bid > 0.0"), 1)[0]["n"] == 1
    wrong = running.send("S", (1.0, "own:pips(bid, bid) >= 0.0"), 2)[-1]
    assert "call it in a query before the window" in wrong["_error"]


def test_values_around_a_function_are_part_of_it() -> None:
    def made(factor: float) -> Plan:
        @function(name="own:times")
        def times(x: float) -> float:
            return x * factor

        return compile_rules(STREAM + "from Tick select own:times(bid) as x insert into Out;")

    try:
        two, three = made(2.0), made(3.0)
        assert two != three and made(2.0) == two
        results = [App(one, jit=False).send("Tick", ("A", 1.0, 1.0), 1)[0]["x"] for one in
                   (two, three)]  # fmt: skip
        assert results == [2.0, 3.0]
    finally:
        unregister("own:times")


def test_explain_names_the_files(tmp_path: Path) -> None:
    path = loaded(tmp_path)
    assert own_lines(compile_rules(RULES)) == [
        f"own:{name}  {path}" for name in ("mean", "nulls", "pips", "range")
    ]
    load_functions([])


def test_a_change_of_other_rules_keeps_what_is_remembered(tmp_path: Path) -> None:
    loaded(tmp_path)
    whole, changing = App(RULES, jit=False), App(RULES, jit=False)
    fed(whole, TICKS[:3])
    fed(changing, TICKS[:3])
    changing.change(RULES + "from Tick select bid insert into Bids;")
    found = [row for row in fed(changing, TICKS[3:]) if row["stream"] == "Out"]
    assert found == fed(whole, TICKS[3:])
