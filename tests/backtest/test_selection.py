"""What is read: selections, their errors, keys in order, slices and tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.archive import Archive, File, ingest_spool
from cep.backtest.divided import grouped
from cep.backtest.errors import BacktestError
from cep.backtest.parts import Task
from cep.backtest.records import (
    Moment,
    encoded,
    ingest_of,
    keys_in_order,
    lived,
    order_of,
)
from cep.backtest.selection import Selection, select
from cep.backtest.slices import cuts, sliced
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER, OUT_TIME
from cep.engine.native import Compiled
from cep.plan import compile_rules
from mt5bridge.spool import Spool
from tests.backtest.archives import DAY_MS, imported, recorded
from tests.backtest.rules import CHAINED, KEYED, TICK
from tests.spool.groups import clock_group, tick_group

PLAN = compile_rules(CHAINED)
TICKS_ONLY = compile_rules(KEYED)


def file(symbol: str, first: int, last: int, rows: int) -> File:
    path = f"{symbol}-{first}"
    return File("ticks", symbol, "2024-03-01", path, rows, 1, "", first, last, 0, 9, ())


def apart(selection: Selection) -> list[Task]:
    """A task for each symbol."""
    parts = selection.by_symbol().items()
    return [Task(place, symbol, own) for place, (symbol, own) in enumerate(parts)]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return recorded(tmp_path_factory.mktemp("archive"), groups=30)


def test_streams_of_the_plan_are_read(archive: Archive) -> None:
    assert {file.stream for file in select(archive, PLAN).files} == {"ticks", "deals"}
    assert {file.stream for file in select(archive, TICKS_ONLY).files} == {"ticks"}
    assert select(archive, PLAN).symbols == ["", "EURUSD", "GBPUSD", "^GSPC"]


@pytest.mark.parametrize(
    ("symbols", "span", "message", "hint"),
    [
        (["EURUSDD"], (None, None), "no symbol EURUSDD", "did you mean EURUSD?"),
        (["eurusd"], (None, None), "no symbol eurusd", "did you mean EURUSD?"),
        (["ZZZ"], (None, None), "no symbol ZZZ", "it has , EURUSD"),
        (None, (0, 1000), "in the range: .* holds ticks from 2023-11-15 to", "archive ls"),
        (None, (1000, 1000), "ends before it begins", "--from"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_named(
    archive: Archive,
    symbols: list[str] | None,
    span: tuple[int | None, int | None],
    message: str,
    hint: str,
) -> None:
    with pytest.raises(BacktestError, match=message) as caught:
        select(archive, TICKS_ONLY, symbols, *span)
    assert caught.value.hint is not None and hint in caught.value.hint


def test_an_empty_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(BacktestError, match="holds no ticks"):
        select(Archive(tmp_path), TICKS_ONLY)


def test_the_interval_is_cut_to_the_range(archive: Archive) -> None:
    whole = select(archive, TICKS_ONLY)
    middle, last = whole.interval_msc[0] + DAY_MS // 2, whole.interval_msc[1]
    assert select(archive, TICKS_ONLY, None, middle, last).interval_msc == (middle, last - 1)
    assert select(archive, TICKS_ONLY, None, 0, 2 * last).interval_msc == whole.interval_msc
    assert select(archive, TICKS_ONLY, None, middle, last).span_ms == last - 1 - middle


def test_rules_of_the_clock_alone_need_its_records(tmp_path: Path) -> None:
    text = "define trigger Minute at every 1 min; from Minute select * insert into Minutes;"
    with pytest.raises(BacktestError, match="holds no record of the clock"):
        select(Archive(tmp_path), compile_rules(text))


@pytest.mark.parametrize("word", ["t", "tc", "cct", "ttccctctt", "tctcc", "ctt"])
def test_the_clock_is_read_between_the_records_where_time_counts(tmp_path: Path, word: str) -> None:
    """`t` is a tick, `c` the clock."""
    spool = Spool(tmp_path / "spool")
    spool.recover()
    for at, kind in enumerate(word):
        made = tick_group(spool, "A", at + 1, [at]) if kind == "t" else clock_group(spool, at)
        assert spool.append(made)
    spool.close()
    archive = Archive(tmp_path / "archive")
    ingest_spool(spool.directory, archive)
    trigger = "define trigger Minute at every 1 min; from Minute select * insert into Minutes;"
    run = Compiled(compile_rules(TICK + trigger), jit=False).start()
    selection, found = select(archive, run.rules.plan), []
    for piece in lived(selection, run):
        if isinstance(piece, Moment):
            found.append((ingest_of(np.array(piece.order)), "c", piece.time_msc))
        else:
            assert len(piece)
            orders, times = piece.ints[:, OUT_ORDER], piece.ints[:, OUT_TIME].tolist()
            found += zip(ingest_of(orders), "t" * len(piece), times, strict=True)
    assert [row[1:] for row in found] == [(kind, at) for at, kind in enumerate(word)]
    assert np.all(np.diff([row[0] for row in found]) == 1)
    rows = np.concatenate([piece.ints[:, OUT_TIME] for piece in encoded(selection, run)])
    assert rows.tolist() == [at for at, kind in enumerate(word) if kind == "t"]


@pytest.mark.parametrize("build", [recorded, imported])
def test_keys_are_in_order_of_the_first_record_shown(build: object, tmp_path: Path) -> None:
    archive = build(tmp_path)  # type: ignore[operator]
    rows = [
        (2 * row["ingest"], row["symbol"])
        for batch in archive.read_batches("ticks")
        for row in batch.to_pylist()
        if row["quality"] & 7 == 0
    ]
    rows += [
        (2 * row["ingest"] + 1, row["symbol"])
        for batch in archive.read_batches("deals")
        for row in batch.to_pylist()
        if row["revision"] <= 1
    ]
    expected = list(dict.fromkeys(symbol for _, symbol in sorted(rows)))
    assert keys_in_order(select(archive, PLAN), PLAN) == expected


def test_order_numbers_keep_ticks_before_deals() -> None:
    ingest = np.array([5, 6], np.int64)
    ticks, deals = order_of(ingest, "Tick"), order_of(ingest, "Deal")
    assert ticks[0] < deals[0] < ticks[1] < deals[1]
    assert ingest_of(ticks).tolist() == ingest_of(deals).tolist() == [5, 6]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 500)), min_size=1, max_size=20),
    st.integers(1, 6),
)
def test_groups_hold_every_task_once_and_are_balanced(
    sizes: list[tuple[int, int]], tasks_max: int
) -> None:
    files = tuple(file(f"S{name}", i, i, rows) for i, (name, rows) in enumerate(sizes))
    selection = Selection("", files)
    found = grouped(apart(selection), tasks_max)
    placed = {task.place: task.symbol for group in found for task in group}
    assert [placed[place] for place in sorted(placed)] == selection.symbols
    loads = [sum(task.selection.rows for task in group) for group in found]
    largest = max(part.rows for part in selection.by_symbol().values())
    assert loads == sorted(loads, reverse=True) and len(loads) <= tasks_max
    assert max(loads) - min(loads) <= largest


def test_the_largest_symbols_are_placed_first() -> None:
    files = tuple(
        file(name, i, i, rows)
        for i, (name, rows) in enumerate(zip("ABCDE", [1, 1, 1, 1, 4], strict=True))
    )
    found = grouped(apart(Selection("", files)), 2)
    assert [sum(task.selection.rows for task in group) for group in found] == [4, 4]


def test_files_after_a_record_hold_later_ones() -> None:
    files = (file("A", 1, 5, 5), file("A", 6, 9, 4))
    for ingest, count in ((4, 2), (5, 1), (8, 1), (9, 0)):
        assert len(Selection("", files).after(ingest).files) == count


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 300)), min_size=1, max_size=12),
    st.integers(10, 400),
)
def test_slices_are_about_as_large_as_asked(spans: list[tuple[int, int]], slice_rows: int) -> None:
    base = 1_700_000_000_000 << 20
    files = [file("X", base + first, base + first + n - 1, n) for first, n in spans]
    numbers = np.concatenate([base + first + np.arange(n) for first, n in spans])
    found = cuts(files, slice_rows)
    assert found == sorted(set(found))
    counts = np.bincount(np.searchsorted(found, numbers, side="right"), minlength=1)
    assert counts.sum() == len(numbers)
    assert max(counts) <= slice_rows + 2 * len(files)


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9), max_size=8),
    st.lists(st.integers(0, 90), max_size=6, unique=True),
)
def test_slicing_keeps_every_row_in_its_place(steps: list[list[int]], bounds: list[int]) -> None:
    bounds.sort()
    batches, at = [], 0
    for batch in steps:
        orders = at + np.cumsum(batch)
        at = int(orders[-1])
        ints = np.zeros((len(orders), OUT_ORDER + 1), np.int64)
        ints[:, OUT_ORDER] = orders
        batches.append(InputRows(ints, np.zeros((len(orders), 1))))
    found = [
        (index, int(order))
        for index, pieces in sliced(iter(batches), np.array(bounds, np.int64))
        for piece in pieces
        for order in piece.ints[:, OUT_ORDER]
    ]
    everything = [int(order) for batch in batches for order in batch.ints[:, OUT_ORDER]]
    assert found == [(sum(bound <= order for bound in bounds), order) for order in everything]
