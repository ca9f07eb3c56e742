"""Input of the native engine: batches, several streams in one order, nulls, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.encode import InputError
from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.mixed import Row, compiled, encoded, mixed, one_by_one, plan
from tests.reference.engine import NATIVE, Reference


def test_the_rules_find_something_and_the_reference_agrees() -> None:
    engine = Reference(plan(), like=NATIVE)
    assert one_by_one() == [found for row in mixed() for found in engine.push(*row)]
    assert {row["stream"] for row in one_by_one()} >= {
        "Up",
        "Down",
        "Fill",
        "Caught",
        "Both",
        "Out",
    }


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(0, 600), max_size=12))
def test_any_split_into_batches_gives_the_same_rows(cuts: list[int]) -> None:
    run = compiled().start()
    bounds = [0, *sorted(cuts), 600]
    found: list[Row] = []
    for start, stop in itertools.pairwise(bounds):
        found += run.feed(encoded(run, mixed()[start:stop], start)).dicts()
    assert found == one_by_one()


def test_runs_of_the_same_rules_share_nothing() -> None:
    first, second = compiled().start(), compiled().start()
    found: tuple[list[Row], list[Row]] = ([], [])
    for row in mixed():
        found[0].extend(first.push_row(*row).dicts())
        found[1].extend(second.push_row(*row).dicts())
    assert found == (one_by_one(), one_by_one())


def test_rows_name_the_record_that_caused_them() -> None:
    run = compiled().start()
    rows = run.feed(encoded(run, mixed(), 1_000))
    times = [row["time_msc"] for row in rows.dicts()]
    assert [mixed()[order - 1_000][1] for order in rows.orders.tolist()] == times


def test_a_null_key_raises_no_event_and_is_a_group_of_its_own() -> None:
    run = compiled().start()
    rows = [
        {"symbol": symbol, "bid": bid} for symbol, bid in (("A", 1.0), (None, 3.0), (None, 5.0))
    ]
    found = [
        one for place, row in enumerate(rows) for one in run.push_row("Tick", place, row).dicts()
    ]
    assert [(row["stream"], row["symbol"], row["ma"]) for row in found] == [
        ("Band", "A", 1.0), ("Band", None, 3.0), ("Band", None, 4.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [list, np.array, pa.array, lambda values: pa.chunked_array([values[:1], values[1:]])],
    ids=["list", "numpy", "arrow", "chunks"],
)
def test_columns_may_be_lists_or_arrays(make: Any) -> None:
    columns = {"symbol": pa.array(["A", "B", "A"]), "bid": make([1.0, 2.0, 3.0])}
    found = compiled().start().push("Tick", columns, [1, 2, 3]).of("Band")
    assert [row["ma"] for row in found] == [1.0, 2.0, 2.0]


def test_dictionaries_of_strings_and_not_a_number_are_understood() -> None:
    symbols = pa.array(["A", None, "A"]).dictionary_encode()
    columns = {"symbol": symbols, "bid": np.array([1.0, np.nan, np.inf])}
    found = compiled().start().push("Tick", columns, [1, 2, 3]).of("Band")
    assert [(row["symbol"], row["bid"], row["ma"]) for row in found] == [
        ("A", 1.0, 1.0), (None, None, None), ("A", None, 1.0)
    ]  # fmt: skip


TICK = {"symbol": ["A", "B"], "bid": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("stream", "columns", "times", "message"),
    [
        ("Quote", TICK, [1, 2], r"no source stream 'Quote'; the rules define: Tick, Deal"),
        ("Band", TICK, [1, 2], r"no source stream 'Band'"),
        ("Tick", {"symbol": ["A", "B"]}, [1, 2], r"Tick.bid: the input has no such column"),
        ("Tick", TICK, [1], r"Tick.symbol: 2 values for 1 rows"),
        ("Tick", TICK | {"bid": [1.0]}, [1, 2], r"Tick.bid: 1 values for 2 rows"),
        ("Tick", TICK | {"bid": ["x", "y"]}, [1, 2], r"Tick.bid: not double"),
        ("Tick", TICK | {"symbol": [1, 2]}, [1, 2], r"Tick.symbol: not string"),
        ("Tick", TICK, [-1, 2], r"Tick: times before 1970"),
        (
            "Deal",
            {"symbol": ["A"], "magic": np.array([1.5]), "lots": [1.0], "hot": [True]},
            [1],
            r"Deal.magic: not long",
        ),
        (
            "Deal",
            {"symbol": ["A"], "magic": [1.5], "lots": [1.0], "hot": [True]},
            [1],
            r"Deal.magic: not long",
        ),
    ],
)
def test_bad_input_is_named_and_disturbs_nothing(
    stream: str, columns: dict[str, Any], times: list[int], message: str
) -> None:
    run = compiled().start()
    with pytest.raises(InputError, match=message):
        run.push(stream, columns, times)
    found = [one for row in mixed() for one in run.push_row(*row).dicts()]
    assert found == one_by_one()


def test_slots_of_keys_made_inside_do_not_depend_on_batches() -> None:
    """Keys of the input and keys made by a query get their slots row by row."""
    plan = compile_rules(
        "define stream S (symbol string, venue string, n int);\n"
        "from S select symbol, ifThenElse(n > 1, venue, 'none') as place, n insert into T;\n"
        "define engine E (queue = 1 min);\n"
        "define event A in E for each symbol as every S[n > 0];\n"
        "define event B in E for each symbol as every S[n > 1];\n"
        "define event P in E for each place as every T[n > 0];\n"
    )
    rules = Compiled(plan, jit=False)
    columns = {
        "symbol": ["X", "Y", "Z", "X"],
        "venue": ["v1", "v2", "v3", "v4"],
        "n": np.array([2, 1, 2, 2]),
    }
    times = np.arange(4) + 1000
    whole = rules.start().push("S", columns, times).dicts()
    run = rules.start()
    single = []
    for i in range(4):
        part = {name: values[i : i + 1] for name, values in columns.items()}
        single += run.push("S", part, times[i : i + 1]).dicts()
    assert whole == single
    assert [row["key"] for row in whole if row["stream"] == "P"] == ["v1", "none", "v3", "v4"]
