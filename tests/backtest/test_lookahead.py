"""The future cut off: honest rules make the same past, others are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.archive import Archive, ArchiveError
from cep.backtest import lookahead
from cep.backtest.cuts import cut_places, mixed, records_before
from cep.backtest.errors import BacktestError
from cep.backtest.selection import Selection, select
from cep.backtest.simulate import Outcome, simulate_all
from cep.functions import load_functions
from cep.plan import compile_rules
from tests.backtest.archives import imported, recorded
from tests.backtest.rules import BANDS, CHAINED, REVERSALS, TICK
from tests.backtest.test_dealt import FED_BACK, POINTS
from tests.campaign import examples

TICKS = "define stream Tick (symbol string, bid double, ask double);\n"
OWN = TICKS + "from Tick select symbol, bid, own:value(symbol, bid) as own insert into Seen;\n"
TRADED = (
    OWN
    + """
from Tick select symbol, ask insert into Plain;
define event Top for each symbol as every Seen[bid == own] repeat allow;
define complex Peak for each symbol as Top within 1 min;
define signal Short on Peak sell 0.1 lots stop 20 points target 20 points;
"""
)
HEAD = "from cep.functions import function\n"
LEAKY = """
SEEN = {}
@function(name="own:value")
def value(symbol: str, bid: float) -> float:
    SEEN[symbol] = max(bid, SEEN.get(symbol, 0.0))
    return SEEN[symbol]
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Any]:
    """Loads a file of functions with a text; none is left behind."""

    def load(text: str) -> Path:
        path = tmp_path / "own.py"
        path.write_text(text)
        load_functions([path])
        return path

    yield load
    load_functions([])


@settings(max_examples=examples(10), deadline=None)
@given(
    st.integers(0, 10_000), st.integers(0, 10_000), st.sampled_from([imported, recorded]),
    st.sampled_from([TICK + BANDS + REVERSALS, CHAINED, FED_BACK]), st.booleans(),
    st.sampled_from([0, 400_000]),
)  # fmt: skip
def test_honest_rules_do_not_look_ahead(
    tmp_path_factory: pytest.TempPathFactory,
    data_seed: int,
    seed: int,
    build: Any,
    text: str,
    hedging: bool,
    latency_ms: int,
) -> None:
    """ "Every row, order and deal made before it must be the same", with any rules that are."""
    sizes = {"rows": 120} if build is imported else {"groups": 12, "rows": 30}
    archive = build(tmp_path_factory.mktemp("any"), seed=data_seed, **sizes)
    found = lookahead(
        text, archive.directory, cuts=3, seed=seed, point=POINTS, hedging=hedging,
        latency=latency_ms,
    )  # fmt: skip
    assert not found.looks_ahead and len(found.cuts) == 3 and found.rows > 50
    assert found.repeats is None


@pytest.mark.parametrize("build", [imported, recorded])
def test_cuts_are_the_records_with_the_smallest_mixed_numbers(tmp_path: Path, build: Any) -> None:
    archive, plan = build(tmp_path), compile_rules(CHAINED)
    selection = select(archive, plan)
    seen = {
        int(row["ingest"])
        for name in ("ticks", "deals", *(["clock"] if selection.is_lived else []))
        for batch in archive.read_batches(name)
        for row in batch.to_pylist()
        if name == "clock" or row["quality"] & 7 == 0
        if name != "deals" or (row["kind"] == 0 and row["revision"] <= 1)
    }
    numbers = np.array(sorted(seen)[:-1], np.int64)
    for count, seed in ((1, 1), (7, 5), (40, 0)):
        expected = numbers[np.argsort(mixed(numbers, seed))[:count]]
        places = cut_places(selection, plan, count, seed)
        assert [place.ingest for place in places] == sorted(expected.tolist())
    shares = [records_before(selection, place) for place in cut_places(selection, plan, 9, 3)]
    assert shares == sorted(shares) and 0 <= shares[0] <= shares[-1] <= selection.rows
    with pytest.raises(BacktestError, match=rf"more than there are .*, {len(numbers):,}$"):
        cut_places(selection, plan, len(numbers) + 1, 1)
    assert len(cut_places(selection, plan, len(numbers), 1)) == len(numbers)


def test_state_that_leaks_between_runs_is_named(tmp_path: Path, own: Any) -> None:
    own(HEAD + LEAKY)
    archive = imported(tmp_path, rows=200)
    found = lookahead(OWN, archive.directory, cuts=4)
    assert found.looks_ahead and found.repeats and len(found.differences) == 4
    first = found.differences[0]
    assert (first.what, first.stream) == ("row", "Seen")
    whole, short = json.loads(first.whole), json.loads(first.short)
    assert whole["own"] < short["own"] and {**whole, "own": 0} == {**short, "own": 0}
    assert first.ingest <= first.cut.ingest


def test_a_row_more_and_a_row_less_are_seen(tmp_path: Path, own: Any) -> None:
    """A function whose condition holds in the first run only, or in all but the first."""
    archive = imported(tmp_path, rows=100)
    for is_more, number in ((True, 1), (False, 1)):
        own(
            f"{HEAD}CALLS = []\n@function(name='own:value')\n"
            "def value(symbol: str, bid: float) -> float:\n"
            f"    CALLS.append(bid)\n    return float((len(CALLS) > 290) == {is_more})\n"
        )
        text = TICKS + "from Tick[own:value(symbol, bid) == 1.0] select bid insert into Some;\n"
        (one,) = lookahead(text, archive.directory, cuts=1).differences
        texts = (one.short, one.whole) if is_more else (one.whole, one.short)
        assert texts[0] and not texts[1] and (one.number, one.stream) == (number, "Some")


def test_orders_are_compared_where_rows_are_not_asked_for(tmp_path: Path, own: Any) -> None:
    own(HEAD + LEAKY)
    archive = imported(tmp_path, rows=400)
    found = lookahead(TRADED, archive.directory, cuts=4, streams=["Plain"], point=POINTS)
    assert {(one.what, one.stream) for one in found.differences} == {("order", "Short")}
    assert '"side":"sell"' in found.differences[0].whole


def test_deals_are_compared_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that fills worse when it knows that the market goes on."""

    def unfair(
        ticks: Selection, wanted: Any, points: Any, markets: Any, *others: Any
    ) -> list[Outcome]:
        worse = 0.0 if ticks.last_ingest is not None else 1.0
        harsh = [replace(market, slippage_points=worse) for market in markets]
        return simulate_all(ticks, wanted, points, harsh, *others)

    monkeypatch.setattr("cep.backtest.work.simulate_all", unfair)
    archive = imported(tmp_path, rows=400)
    found = lookahead(TICK + BANDS + REVERSALS, archive.directory, cuts=2, point=POINTS)
    first = found.differences[-1]
    assert (first.what, first.stream) == ("deal", "Fade")
    whole, short = json.loads(first.whole), json.loads(first.short)
    assert whole["price"] != short["price"] and whole["ingest"] <= first.cut.ingest


def test_the_same_cuts_come_to_the_same(tmp_path: Path) -> None:
    archive = imported(tmp_path, rows=100)
    first, second, other = (
        lookahead(TICK + BANDS, archive.directory, cuts=3, seed=seed) for seed in (4, 4, 5)
    )
    assert first == second and first.cuts != other.cuts


def test_what_functions_read_is_named_with_its_line(tmp_path: Path, own: Any) -> None:
    archive = imported(tmp_path, rows=50)
    model, table = tmp_path / "model.txt", tmp_path / "some.db"
    model.write_text("1.0")
    path = own(
        f"import sqlite3, sys\nfrom pathlib import Path\n{HEAD}"
        f"SCALE = float(Path({str(model)!r}).read_text())\n"
        "@function(name='own:value')\ndef value(symbol: str, bid: float) -> float:\n"
        f"    next(Path({str(archive.directory)!r}).iterdir())\n"
        f"    sqlite3.connect({str(table)!r}).close()\n"
        f"    open({str(tmp_path / 'log')!r}, 'w').close()\n"
        "    import colorsys\n    return bid * SCALE\n"
    )
    found = lookahead(OWN, archive.directory, cuts=1)
    assert not found.differences and found.looks_ahead
    assert [read.text for read in found.reads] == [
        f"{path}:4 reads {model}",
        f"{path}:7 lists {archive.directory}",
        f"{path}:8 opens the database {table}",
    ]
    known = lookahead(OWN, archive.directory, cuts=1, known=[model, table, tmp_path / "archive"])
    assert not known.looks_ahead


def test_marks_that_look_ahead_are_told(tmp_path: Path) -> None:
    archive = imported(tmp_path, rows=50)
    quiet = lookahead(TICK + BANDS, archive.directory, cuts=1, reject=["repeated"])
    told = lookahead(TICK + BANDS, archive.directory, cuts=1, reject=["gap", "outlier"])
    assert quiet.told == [] and "--reject outlier,gap" in told.told[0]


def test_too_little_to_cut_is_refused(tmp_path: Path) -> None:
    archive = imported(tmp_path, rows=1)  # of three symbols, which share their number
    with pytest.raises(BacktestError, match="no record behind which anything could be cut off"):
        lookahead(TICK + BANDS, archive.directory)
    with pytest.raises(BacktestError, match="cuts: 0 is out of its range"):
        lookahead(TICK + BANDS, archive.directory, cuts=0)
    Archive(tmp_path / "empty").directory.mkdir()
    with pytest.raises(ArchiveError, match="no archive here"):
        lookahead(TICK + BANDS, tmp_path / "empty")


def test_rows_are_read_up_to_a_number(tmp_path: Path) -> None:
    """A selection that ends earlier has the same symbols, the same mode, and no end."""
    archive, plan = recorded(tmp_path), compile_rules(CHAINED)
    whole = select(archive, plan)
    (place,) = cut_places(whole, plan, 1, 1)
    short = whole.until(place.ingest)
    assert (short.symbols, short.is_lived) == (whole.symbols, whole.is_lived)
    assert whole.until(None) == whole and not short.ends_sorted
    assert len(short.read_of(short.files)) < len(short.files)
