"""Indicators of the user: an instance for each group, and a state that goes on exactly."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.app import App
from cep.engine.snapshot import SnapshotError
from cep.functions import FunctionError, indicator
from cep.lang import RuleError
from cep.plan.functions import StateError, as_it_was, unregister
from cep.plan.functions.plain import Plain
from tests.functions.own import EXPECTED, FILE, RULES, STREAM, TICKS, loaded


def app(text: str = RULES) -> App:
    return App(text, jit=False)


def fed(running: App, ticks: Any = TICKS) -> list[dict[str, Any]]:
    return [row for tick in ticks for row in running.send("Tick", tick[1:], tick[0])]


def values(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row.values())[3:] for row in rows]


def one(text: str, ticks: Any = TICKS) -> list[Any]:
    """The last attribute of each row that a query makes."""
    return [row[-1] for row in values(fed(app(STREAM + text), ticks))]


def test_each_group_has_its_own(tmp_path: Path) -> None:
    loaded(tmp_path)
    assert values(fed(app())) == list(EXPECTED)


def test_without_groups_there_is_one(tmp_path: Path) -> None:
    loaded(tmp_path)
    text = "from Tick#own:range(bid) select high insert into Out;"
    assert one(text) == [1.0, 5.0, 5.0, 7.0, 7.0, 7.0]


def test_each_key_of_a_partition_has_its_own(tmp_path: Path) -> None:
    loaded(tmp_path)
    text = (
        "partition with (symbol of Tick) begin "
        "from Tick#own:range(bid) select symbol, high insert into Out; end;"
    )
    assert one(text) == [row[2] for row in EXPECTED]


def test_rows_that_leave_a_window_change_nothing(tmp_path: Path) -> None:
    loaded(tmp_path)
    text = "from Tick#window.length(1)#own:range(bid) select high, own:mean(bid, 2) as mean {}"
    assert one(text.format("insert into Out;")) == [None, 3.0, 4.0, 5.0, 5.0, 4.5]


def test_a_batch_begins_anew_as_a_built_in_indicator_does(tmp_path: Path) -> None:
    loaded(tmp_path)
    ticks = [(n, "A", float(n), None) for n in range(1, 7)]
    text = "from Tick#window.lengthBatch(3) select {} as x insert into Out;"
    assert one(text.format("own:mean(bid, 2)"), ticks) == [2.5, 5.5]
    assert one(text.format("wma(bid, 1)"), ticks) == [3.0, 6.0]


def test_in_having_patterns_joins_and_windows(tmp_path: Path) -> None:
    loaded(tmp_path)
    assert one("from Tick select own:mean(bid, 1) as m having m > 4.0 insert into O;") == [
        5.0, 7.0, 7.0,
    ]  # fmt: skip
    pattern = "from every e1=Tick#own:range(bid)[high > 4.0] select e1.high as high insert into O;"
    assert one(pattern) == [5.0, 5.0, 7.0, 7.0, 7.0]
    condition = "from Tick#window.expression('own:pips(bid, ask) > 1.0') select bid insert into O;"
    assert one(condition)[:2] == [1.0, 5.0]


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        ("own:mean(bid, 0)", "`own:mean` cannot begin: ValueError: n must be at least 1", "class"),
        ("own:mean(bid, bid)", "constant as `n`", "own:mean(x, n)"),
        ("own:mean(symbol)", "needs a number as `x`", "own:mean(x)"),
        ("own:mean()", "does not take 0 arguments", "own:mean(x)"),
        ("own:range(bid)", "`own:range` gives 2 values", "from S#own:range(..)"),
        ("own:men(bid)", "unknown function `own:men`", "did you mean `own:mean`?"),
        ("other(bid)", "unknown function `other`", "--functions FILE"),
    ],
)
def test_what_cannot_be_is_named(tmp_path: Path, call: str, message: str, hint: str) -> None:
    path = loaded(tmp_path)
    with pytest.raises(RuleError) as refused:
        app(STREAM + f"from Tick select {call} as x insert into Out;")
    assert message in refused.value.message and hint in refused.value.hint
    if hint == "class":
        assert str(path) in refused.value.hint


def test_an_unknown_one_behind_a_stream_is_named_with_the_remedy() -> None:
    with pytest.raises(RuleError) as refused:
        app(STREAM + "from Tick#zigzag(bid) select bid insert into Out;")
    assert "--functions FILE" in refused.value.hint


def test_aggregations_take_none(tmp_path: Path) -> None:
    loaded(tmp_path)
    text = "define aggregation A from Tick select own:mean(bid) as m aggregate every min;"
    with pytest.raises(RuleError, match="own:mean"):
        app(STREAM + text)


def test_a_failing_row_is_lost_and_the_next_one_goes_on(tmp_path: Path) -> None:
    text = FILE.replace("self.recent.append(x)", "self.recent.append(1 / (x - 5.0) and x)")
    loaded(tmp_path, text)
    rules = "@OnError(action='stream')\n" + RULES + "from !Tick select _error insert into Wrong;\n"
    found = fed(app(rules))
    assert [row["_error"] for row in found if row["stream"] == "Wrong"] == [
        "ZeroDivisionError: float division by zero"
    ]
    assert [row["mean"] for row in found if row["stream"] == "Out"] == [None, 2.0, None, 2.0, 2.5]


ticks_of_any_kind = st.lists(
    st.tuples(
        st.sampled_from("AB"),
        st.none() | st.floats(-9, 9, allow_nan=False),
        st.none() | st.floats(-9, 9, allow_nan=False),
    ),
    max_size=12,
)


@given(ticks_of_any_kind)
def test_a_snapshot_at_every_record_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, ticks: list[tuple[Any, ...]]
) -> None:
    loaded(tmp_path_factory.getbasetemp())
    ticks = [(1_000 * n, *tick) for n, tick in enumerate(ticks, 1)]
    whole, plan = fed(app(), ticks), app().plan
    for cut in range(len(ticks) + 1):
        first, second = App(plan, jit=False), App(plan, jit=False)
        before = fed(first, ticks[:cut])
        second.restore(first.snapshot())
        assert before + fed(second, ticks[cut:]) == whole


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text("aé")
keys = st.integers() | st.text("ab") | st.tuples(st.integers(), st.text("ab"))
trees = st.recursive(
    scalars | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(keys, inner)
        | st.sets(keys)
        | st.frozensets(keys)
        | st.builds(deque, st.lists(inner), st.none() | st.integers(0, 9))
    ),
    max_leaves=12,
)


def kinds(value: Any) -> Any:
    """The types in a tree, which `==` alone would not tell apart."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    is_tree = isinstance(value, list | tuple | dict | deque)
    return type(value), [kinds(one) for one in inner] if is_tree else getattr(value, "maxlen", None)


@given(trees)
def test_what_is_remembered_comes_back_exactly(value: Any) -> None:
    found = as_it_was(Plain("here", "help").of(value))
    assert found == value and kinds(found) == kinds(value)


def test_what_cannot_be_saved_is_named() -> None:
    shared: list[int] = []
    for value, what in (
        ({"a": object()}, "holds a object, which cannot be saved"),
        ([1 + 2j], "holds a complex"),
        ([shared, shared], "holds one list in two places"),
        ("\ud800", "no text"),
    ):
        with pytest.raises(StateError, match=f"here .*{what}.*; help"):
            Plain("here", "help").of(value)


def test_state_that_cannot_be_saved_later_names_the_class(tmp_path: Path) -> None:
    text = FILE.replace("self.low = x if", "self.odd = object()\n        self.low = x if")
    loaded(tmp_path, text)
    running = app()
    running.snapshot()
    fed(running)
    with pytest.raises(SnapshotError, match=r"`own:range` holds a object.*Extremes.*`state"):
        running.snapshot()


def test_state_that_the_class_does_not_take_names_the_class(tmp_path: Path) -> None:
    loaded(tmp_path, FILE.replace("self._found = state", "self._found = state['found']"))
    first, second = app(), app()
    fed(first)
    with pytest.raises(SnapshotError, match=r"`own:nulls`: its `restore\(state\)`: TypeError"):
        second.restore(first.snapshot())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "has no method `update`"),
        ("def update(self, x) -> float: ...", "annotate its argument `x`"),
        ("def update(self, x: float): ...", "annotate its result of `update`"),
        ("def update(self, x: list) -> float: ...", "annotate its argument `x`"),
        ("def update(self, *x: float) -> float: ...", "cannot give `\\*x"),
        ("def update(self, x: 'Nothing') -> float: ...", "annotations: name 'Nothing'"),
        ("def update(self, x: float) -> float: ...\n    def state(self): ...", "only one of"),
        ("__slots__ = ()\n    def update(self, x: float) -> float: ...", "has slots"),
        ("def __init__(self, n) -> None: ...\n    def update(self, x: float) -> float: ...",
         "annotate its argument `n`"),
        ("def __init__(self, n: int) -> None: ...\n"
         "    def update(self, x: float = 1.0) -> float: ...", "`x` of `update` may be left out"),
    ],
)  # fmt: skip
def test_classes_that_are_no_indicators(body: str, message: str) -> None:
    space: dict[str, Any] = {}
    exec(f"class Own:\n    {body}\n", space)
    with pytest.raises(FunctionError, match=message):
        indicator(space["Own"])


def test_one_made_known_in_a_program_is_used_like_that_of_a_file() -> None:
    @indicator
    class Counted:
        def __init__(self) -> None:
            self.n = 0

        def update(self) -> int:
            self.n += 1
            return self.n

    try:
        assert one("from Tick select counted() as n group by symbol insert into Out;") == [
            1, 1, 2, 2, 3, 4,
        ]  # fmt: skip
    finally:
        unregister("counted")
