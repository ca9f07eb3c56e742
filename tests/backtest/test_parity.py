"""Every way through an archive gives the same bytes: sequential, in parts, replayed from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.archive import Archive, compact, import_history, ingest_spool
from cep.backtest.parts import (
    SLICE_ROWS_MIN,
    packed,
    slice_rows_for,
    unpacked,
    why_sequential,
)
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.backtest.slices import SLICE_ROWS
from cep.dropped import Dropped, Ended, nobody
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.replay import read_sources, replay
from mt5bridge.history import TickBlock
from mt5bridge.spool import Spool
from tests.backtest.archives import DAY_MS, START_MSC, exported, imported, recorded
from tests.backtest.in_parts import rows_in_parts
from tests.backtest.rules import ACROSS, CHAINED, KEYED
from tests.campaign import examples
from tests.spool.groups import tick_group, ticks

Build = Callable[[Path], Archive]


def lines_in_sequence(rules: Compiled, selection: Selection, ended: Ended = nobody) -> list[bytes]:
    found = sequential(rules, selection, ended=ended)
    return [line for rows in found for line in rows.json_lines()]


def lines_in_parts(
    rules: Compiled,
    selection: Selection,
    slice_rows: int,
    tasks_max: int,
    ended: Ended = nobody,
) -> list[bytes]:
    found = rows_in_parts(rules, selection, slice_rows, tasks_max, ended)
    return [line for rows in found for line in rows.json_lines()]


@pytest.fixture(scope="module", params=[recorded, imported], ids=["recorded", "imported"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    build: Build = request.param
    return build(tmp_path_factory.mktemp("archive"))


def test_the_archives_hold_what_parity_must_survive(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "i").mkdir()
    both = recorded(tmp_path / "r"), imported(tmp_path / "i")
    assert len(both[0].manifest.files) > 30
    rows = [row for batch in both[0].read_batches() for row in batch.to_pylist()]
    assert any(row["quality"] & 7 for row in rows) and any(row["quality"] & 16 for row in rows)
    ingest = [row["ingest"] for batch in both[1].read_batches() for row in batch.to_pylist()]
    assert len(set(ingest)) < len(ingest)


@pytest.mark.parametrize("text", [KEYED, CHAINED], ids=["keyed", "chained"])
def test_sequential_is_replay(archive: Archive, text: str, tmp_path: Path) -> None:
    plan = compile_rules(text)
    rules = Compiled(plan)
    found = lines_in_sequence(rules, select(archive, plan))
    inputs = [(name, path) for name, path in exported(archive, tmp_path)
              if name in {stream.name for stream in plan.sources}]  # fmt: skip
    expected = [
        line for rows in replay(rules, read_sources(plan, inputs)) for line in rows.json_lines()
    ]
    assert found == expected
    assert any(b'"stream":"Fade"' in line for line in found)


@pytest.mark.parametrize("slice_rows", [1 << 20, 700, 45])
@pytest.mark.parametrize("text", [KEYED, CHAINED], ids=["keyed", "chained"])
def test_parts_are_sequential(archive: Archive, text: str, slice_rows: int) -> None:
    plan = compile_rules(text)
    rules, selection = Compiled(plan), select(archive, plan)
    dropped: list[Dropped] = []
    expected = lines_in_sequence(rules, selection, dropped.append)
    assert lines_in_parts(rules, selection, slice_rows, 2, dropped.append) == expected
    assert dropped[0] == dropped[1]
    assert {"opposite", "repeat"} <= {reason.value for _, reason, _ in dropped[0]}


def test_second_engines_and_deals_are_in_it(tmp_path: Path) -> None:
    archive = recorded(tmp_path)
    plan = compile_rules(CHAINED)
    found = b"\n".join(lines_in_sequence(Compiled(plan), select(archive, plan)))
    for name in ("Leg", "Named", "Filled", "Copies", "Broad", "Mixed", "Fade", "Buy", "Out"):
        assert f'"stream":"{name}"'.encode() in found, name


@pytest.mark.parametrize("outputs", [["Fade"], ["Reversal", "Broad"], ["Leg"]])
def test_fewer_outputs_are_the_same_rows(archive: Archive, outputs: list[str]) -> None:
    plan = compile_rules(CHAINED)
    selection = select(archive, plan)
    everything = lines_in_sequence(Compiled(plan), selection)
    expected = [x for x in everything if any(f'"stream":"{o}"'.encode() in x for o in outputs)]
    assert lines_in_parts(Compiled(plan, outputs=outputs), selection, 500, 3) == expected


def test_ranges_and_symbols_are_cut_alike(archive: Archive) -> None:
    plan = compile_rules(KEYED)
    rules = Compiled(plan)
    part = select(archive, plan, ["GBPUSD", "EURUSD"], START_MSC + DAY_MS // 3, START_MSC + DAY_MS)
    expected = lines_in_sequence(rules, part)
    assert expected == lines_in_parts(rules, part, 300, 2)
    assert expected and not any(b"GSPC" in line for line in expected)
    times = [int(line.split(b'"time_msc":')[1].split(b",")[0]) for line in expected]
    assert min(times) >= START_MSC + DAY_MS // 3 and max(times) < START_MSC + DAY_MS


def test_compacting_changes_nothing(tmp_path: Path) -> None:
    archive = recorded(tmp_path)
    plan = compile_rules(CHAINED)
    rules = Compiled(plan)
    before = lines_in_sequence(rules, select(archive, plan))
    compact(archive)
    assert lines_in_parts(rules, select(archive, plan), 1000, 2) == before


@settings(max_examples=examples(15))
@given(st.integers(0, 10_000), st.integers(20, 400), st.integers(1, 4))
def test_any_archive_any_slices(
    tmp_path_factory: pytest.TempPathFactory, seed: int, slice_rows: int, tasks_max: int
) -> None:
    archive = recorded(tmp_path_factory.mktemp("any"), seed=seed, groups=12, rows=20)
    plan = compile_rules(CHAINED)
    rules, selection = Compiled(plan), select(archive, plan)
    dropped: list[Dropped] = []
    expected = lines_in_sequence(rules, selection, dropped.append)
    told = dropped.append
    assert lines_in_parts(rules, selection, slice_rows, tasks_max, told) == expected
    assert dropped[0] == dropped[1]


def test_what_crosses_symbols_is_named() -> None:
    assert why_sequential(Compiled(compile_rules(KEYED))) is None
    reason = why_sequential(Compiled(compile_rules(ACROSS)))
    assert reason is not None
    comments = "@key('comment') define stream Deal (symbol string, comment string);\n"
    comments += "define event Any for each comment as every Deal[symbol == 'X'];\n"
    reason = why_sequential(Compiled(compile_rules(comments)))
    assert reason == "the key is comment of Deal, the archive is kept by symbol"


@given(st.binary(max_size=300))
def test_packing_loses_nothing(part: bytes) -> None:
    assert unpacked(packed(part)) == part


def test_slices_are_small_where_every_tick_puts_rows_out() -> None:
    plan = compile_rules(CHAINED)
    few, many = Compiled(compile_rules(KEYED), outputs=["Fade"]), Compiled(plan)
    assert slice_rows_for(few, "sorted") == SLICE_ROWS
    assert SLICE_ROWS_MIN <= slice_rows_for(many, "sorted") < SLICE_ROWS
    assert slice_rows_for(Compiled(plan, outputs=["Fade"]), "sorted") > slice_rows_for(
        many, "sorted"
    )


ORDERED = """@reorder(max.delay='2 sec')
define stream Tick (symbol string, bid double);
from Tick select symbol, bid insert into Seen;
"""


def test_sorted_history_ends_with_its_newest_record(tmp_path: Path) -> None:
    """Nothing waits any more; what was lived ends as it did, where more could have come."""
    times = START_MSC + np.array([0, 1_000, 2_500, 4_000])
    rules = Compiled(compile_rules(ORDERED), jit=False)
    history = Archive(tmp_path / "history")
    import_history(history, [TickBlock("EURUSD", ticks(times))])
    found = [row for rows in sequential(rules, select(history, rules.plan)) for row in rows.dicts()]
    assert [row["time_msc"] for row in found] == times.tolist()
    spool = Spool(tmp_path / "spool")
    spool.recover()
    assert spool.append(tick_group(spool, "EURUSD", 1, times))
    spool.commit()
    spool.close()
    lived = Archive(tmp_path / "lived")
    ingest_spool(tmp_path / "spool", lived, include_open=True)
    found = [row for rows in sequential(rules, select(lived, rules.plan)) for row in rows.dicts()]
    assert [row["time_msc"] for row in found] == times[:2].tolist()
