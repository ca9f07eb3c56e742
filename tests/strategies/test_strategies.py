"""Every strategy gives its expected output, on every back end; on real ticks they agree."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from cep.cli.application import main
from cep.dropped import Dropped, Ended, nobody
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan import Plan
from cep.replay import Source, read_sources, replay, replay_interpreted
from tests.campaign import either
from tests.data.real_ticks import needs_real_ticks
from tests.reference.engine import NATIVE, Reference
from tests.strategies.running import (
    FOLDER,
    REAL,
    STRATEGIES,
    found_streams,
    inputs,
    plan_of,
    real_sources,
)

NOTHING_DROPPED = ("swing_break",)
"""Its events enter their queue anew each time."""
Row = dict[str, Any]
BackEnd = Callable[[Plan, Sequence[Source]], list[Row]]


def native(
    plan: Plan, sources: Sequence[Source], ended: Ended = nobody, *, jit: bool = True
) -> list[Row]:
    found = replay(Compiled(plan, jit=jit), list(sources), ended=ended)
    return [row for rows in found for row in rows.dicts()]


def plain(plan: Plan, sources: Sequence[Source], ended: Ended = nobody) -> list[Row]:
    return native(plan, sources, ended, jit=False)


def reference(plan: Plan, sources: Sequence[Source]) -> list[Row]:
    engine = Reference(plan, like=NATIVE)
    rows = [
        (order, source.stream.name, row)
        for source in sources
        for order, row in zip(source.order.tolist(), source.table.to_pylist(), strict=True)
    ]
    rows.sort(key=lambda entry: entry[0])
    return [found for _, name, row in rows for found in engine.push(name, row["time_msc"], row)]


def expected(name: str) -> list[bytes]:
    return (FOLDER / name / "expected.jsonl").read_bytes().splitlines()


def lines(plan: Plan, rows: list[Row]) -> list[bytes]:
    streams = set(found_streams(plan))
    return [msgspec.json.encode(row) for row in rows if row["stream"] in streams]


def interpreted(plan: Plan, sources: Sequence[Source], ended: Ended = nobody) -> list[Row]:
    run = InterpretedRun(plan)
    found = [row for rows in replay_interpreted(run, list(sources)) for row in rows]
    ended(run.dropped)
    return found


@pytest.mark.parametrize("back_end", [interpreted, native, plain, reference])
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_samples_give_exactly_the_expected_rows(name: str, back_end: BackEnd) -> None:
    plan = plan_of(name)
    assert lines(plan, back_end(plan, read_sources(plan, inputs(name)))) == expected(name)


@pytest.mark.parametrize("name", STRATEGIES)
def test_everything_a_strategy_can_find_is_found(name: str) -> None:
    counts = Counter(msgspec.json.decode(line)["stream"] for line in expected(name))
    assert sorted(counts) == sorted(found_streams(plan_of(name)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_replay_writes_the_expected_file(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ["replay", str(FOLDER / name / "rules.cep"), "--out", str(out)]
    for stream, path in inputs(name):
        arguments += ["--input", f"{stream}={path}"]
    arguments += ["--streams", ",".join(found_streams(plan_of(name)))]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, out.read_bytes().splitlines()) == (0, expected(name))


def test_the_samples_are_those_of_the_script(tmp_path: Path) -> None:
    make = runpy.run_path(str(FOLDER / "make_samples.py"))["make"]
    for name in STRATEGIES:
        (tmp_path / name).mkdir()
    make(tmp_path)
    for path in FOLDER.glob("*/*.csv"):
        assert (tmp_path / path.relative_to(FOLDER)).read_bytes() == path.read_bytes(), path


@needs_real_ticks
@pytest.mark.parametrize("name", STRATEGIES)
def test_numba_and_plain_agree_on_real_ticks(name: str) -> None:
    plan = plan_of(name, **REAL)
    sources = real_sources(plan, either(4_000, 15_000))
    dropped: list[Dropped] = []
    rows = native(plan, sources, dropped.append)
    assert rows == plain(plan, sources, dropped.append)
    assert dropped[0] == dropped[1] and bool(dropped[0]) == (name not in NOTHING_DROPPED)
    assert set(found_streams(plan)) & {row["stream"] for row in rows}


@needs_real_ticks
@pytest.mark.parametrize("name", STRATEGIES)
def test_numba_and_the_reference_agree_on_real_ticks(name: str) -> None:
    plan = plan_of(name, **REAL)
    sources = real_sources(plan, either(500, 2_500))
    assert native(plan, sources) == reference(plan, sources)


@needs_real_ticks
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_interpreter_and_the_native_engine_agree_on_real_ticks(name: str) -> None:
    plan = plan_of(name, **REAL)
    sources = real_sources(plan, either(1_000, 15_000))
    dropped: list[Dropped] = []
    rows = interpreted(plan, sources, dropped.append)
    assert rows == plain(plan, sources, dropped.append)
    assert dropped[0] == dropped[1] and bool(dropped[0]) == (name not in NOTHING_DROPPED)
