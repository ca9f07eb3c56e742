"""Rows that machine code writes against those of NumPy: cells, key rows, clocks, outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine import intake, text_codes
from cep.engine.encode import InputError
from cep.engine.input_rows import Given, InputRows
from cep.engine.kernels.state import OUT_KEY
from cep.engine.native import Compiled, Run
from cep.plan import compile_rules
from tests.campaign import examples

MODULE = """
define stream S (symbol string, mid double, volume long, size int, is_last bool, small float);
define stream T (symbol string, mid double);
@info(name='q1') from S#window.time(3 sec) select symbol, avg(mid) as mean, volume, size, is_last,
small group by symbol insert into Out;
from T#window.time(2 sec) select count() as n insert into Counts;
from S#window.time(2 sec) join T#window.time(2 sec) on S.symbol == T.symbol
select S.mid as s, T.mid as t insert into Both;
partition with (symbol of S, symbol of T) begin
from every a=S -> b=T[mid > a.mid] within 3 sec select a.mid as low, b.mid as high insert into Rise;
end;
"""
PROGRAM = MODULE + "define table Known (symbol string);\nfrom S select symbol insert into Known;\n"
SYMBOLS = [f"X{number}" for number in range(4)]


@pytest.fixture(autouse=True, scope="module")
def no_batch_is_too_small() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "FEW", 1)
        patch.setattr(text_codes, "FEW", 1)
        yield


def texts(values: list[str | None], how: str) -> Any:
    """A column of texts as a user may give it."""
    if how == "list":
        return values
    if how == "dictionary":
        return pa.array(values, pa.string()).dictionary_encode()
    if how == "wide":  # of more texts than come, in places of another width
        known = pa.array([*reversed(SYMBOLS), "never"])
        places = [None if text is None else known.to_pylist().index(text) for text in values]
        return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), known)
    return pa.array(values, pa.string())


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[str, dict[str, Any], Any]]:
    """Batches of both streams; most are in order."""
    made, time_ms = [], 1_000
    for _ in range(draw(st.integers(1, 5))):
        n = draw(st.integers(0, 7))
        steps = draw(st.lists(st.sampled_from([0, 1, 400, 900, -700]), min_size=n, max_size=n))
        steps = steps if draw(st.booleans()) else [abs(step) for step in steps]
        times = [max(0, time_ms := time_ms + step) for step in steps]
        keys = st.sampled_from([*SYMBOLS, None] if draw(st.booleans()) else SYMBOLS[:2])
        symbols = draw(st.lists(keys, min_size=n, max_size=n))
        how = draw(st.sampled_from(["list", "dictionary", "wide", "plain"]))
        reals = st.lists(st.sampled_from([1.5, 2.5, np.nan, np.inf, -3.0]), min_size=n, max_size=n)
        mids = np.array(draw(reals), draw(st.sampled_from([np.float64, np.float32])))
        columns: dict[str, Any] = {"symbol": texts(symbols, how), "mid": mids}
        if (stream := draw(st.sampled_from("SST"))) == "S":
            volumes = np.arange(2 * n)[::2] if draw(st.booleans()) else [None, *range(n)][:n]
            columns |= {"volume": volumes, "size": np.arange(n, dtype=np.int8)}
            columns |= {"is_last": np.arange(n) % 2 == 0, "small": np.full(n, 0.1)}
        made.append((stream, columns, np.array(times, np.int64)))
    return made


def started(rules: str, mode: Mode, *, by_code: bool) -> Run:
    run = RULES[rules].start(mode=mode)
    if not by_code:
        run.encoder.intake = run.encoder.text_codes = None
    return run


RULES = {text: Compiled(compile_rules(text, "intake.cep")) for text in (MODULE, PROGRAM)}


def test_one_of_the_rules_is_a_module_and_one_a_program() -> None:
    module, program = (RULES[text].in_mode("lived") for text in (MODULE, PROGRAM))
    assert module.module is not None and program.program is not None


ROW: tuple[str, dict[str, Any], Any] = ("T", {"symbol": ["X0"], "mid": [1.5]}, np.array([1_000]))


@settings(max_examples=examples(300), deadline=None)
@example([ROW, ROW], MODULE, "sorted")  # the key has its row with the second
@given(batches(), st.sampled_from([MODULE, PROGRAM]), st.sampled_from(["lived", "sorted"]))
def test_columns_written_by_machine_code_lead_to_what_numpy_leads_to(
    given_batches: list[tuple[str, dict[str, Any], Any]], rules: str, mode: Mode
) -> None:
    fast, slow = (started(rules, mode, by_code=by_code) for by_code in (True, False))
    newest = 0
    for stream, columns, times in given_batches:
        if mode == "sorted":
            times = np.maximum.accumulate(np.maximum(times, newest))
            newest = int(times[-1]) if len(times) else newest
        found, wanted = (run.push(stream, columns, times).dicts() for run in (fast, slow))
        assert found == wanted
        assert fast.keys == slow.keys and fast.next_order == slow.next_order
        if fast.has_clocks:
            assert fast.clocks.state() == slow.clocks.state()
            assert fast.clocks.words.tolist() == slow.clocks.words.tolist()
    assert fast.dropped == slow.dropped


@settings(max_examples=examples(200), deadline=None)
@given(
    batches(),
    st.sampled_from([MODULE, PROGRAM]),
    st.sampled_from(["lived", "sorted"]),
    st.lists(st.integers(-1, 3), min_size=5, max_size=5),
)
def test_rows_that_an_even_run_was_fed_lead_to_what_own_ones_lead_to(
    given_batches: list[tuple[str, dict[str, Any], Any]],
    rules: str,
    mode: Mode,
    told: list[int],
) -> None:
    head, behind, alone = (started(rules, mode, by_code=False) for _ in range(3))
    newest = 0
    for (stream, columns, times), passed in zip(given_batches, told, strict=False):
        if mode == "sorted":
            times = np.maximum.accumulate(np.maximum(times, newest))
            newest = int(times[-1]) if len(times) else newest
        if passed > 0:  # seconds have passed for all keys
            newest = max(newest, 1_000 * passed)
            assert (
                len({repr(run.advance(1_000 * passed).dicts()) for run in (head, behind, alone)})
                == 1
            )
        rows = head.encoder.encode(
            stream, columns, times, range(head.next_order, head.next_order + len(times))
        )
        for run in (behind, alone):
            for text in head.strings.values[len(run.strings) :]:
                run.strings.code(text)
        own = InputRows(rows.ints.copy(), rows.floats)
        if not len(rows):
            continue
        assert behind.is_even_with(head)
        wanted = alone.feed(own).dicts()
        assert head.feed(rows).dicts() == wanted
        assert behind.feed_behind(head, rows).dicts() == wanted
        assert behind.keys == alone.keys and behind.next_order == alone.next_order
        assert behind.clocks.state() == alone.clocks.state()
    assert behind.dropped == alone.dropped


def test_runs_that_know_other_keys_or_times_are_not_even() -> None:
    head, other = (started(MODULE, "lived", by_code=False) for _ in range(2))
    assert other.is_even_with(head)
    head.push(*ROW)
    assert not other.is_even_with(head)
    other.push(*ROW)
    assert other.is_even_with(head)
    other.push("T", {"symbol": ["X0"], "mid": [1.5]}, [2_000])
    assert not other.is_even_with(head)
    assert not started(MODULE, "sorted", by_code=False).is_even_with(head)


@settings(max_examples=examples(200), deadline=None)
@given(batches(), st.booleans())
def test_the_cells_are_those_that_numpy_writes(
    given_batches: list[tuple[str, dict[str, Any], Any]], has_places: bool
) -> None:
    run = started(MODULE, "lived", by_code=True)
    assert run.encoder.intake is not None
    for stream, columns, times in given_batches:
        n = len(times)
        orders = np.arange(n)[::-1] if has_places else range(5, 5 + n)
        columns_given = run.encoder.given(stream, columns, times, orders)
        found = run.encoder.intake.rows(columns_given)
        same(found, columns_given.rows(run.encoder.widths))


def same(found: InputRows, wanted: InputRows) -> None:
    np.testing.assert_array_equal(found.ints, wanted.ints)
    np.testing.assert_array_equal(found.floats, wanted.floats)


def test_rows_that_were_given_keep_their_key_rows_until_others_come() -> None:
    run = started(MODULE, "lived", by_code=True)
    columns = {"symbol": ["X1", "X2", "X1"], "mid": [1.0, 2.0, 3.0]}
    run.push("T", columns, [1, 2, 3])
    assert run.encoder.intake is not None
    given_columns = run.encoder.given("T", columns, np.array([4, 5, 6]), range(3, 6))
    rows, is_assigned = run.encoder.intake.assigned(given_columns, run.key_rows, run.clocks)
    assert is_assigned and rows.ints[:, OUT_KEY].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"symbol": ["X1"], "mid": np.ones((1, 2))}, "T.mid: not double: an array of 2 dimensions"),
        ({"symbol": np.ones(1), "mid": [1.0]}, "T.symbol: not string: a column of double"),
    ],
)
def test_a_column_of_another_shape_is_refused(columns: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        started(MODULE, "lived", by_code=True).push("T", columns, [1])


def test_places_beyond_a_dictionary_are_refused_as_numpy_refuses_them() -> None:
    run = started(MODULE, "lived", by_code=True)
    places = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(np.array([0, 9], np.int32))])
    beyond = pa.DictionaryArray.from_arrays(places, pa.array(["X1"]), safe=False)
    with pytest.raises((InputError, IndexError)):
        run.push("T", {"symbol": beyond, "mid": [1.0, 2.0]}, [1, 2])
    assert isinstance(run.encoder.given("T", {"symbol": ["X1"], "mid": [1.0]}, [1], [0]), Given)
