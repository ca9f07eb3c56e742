"""Ticks that rules have passed are those that fills would read, and no file is read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from cep.archive import Archive
from cep.archive.store import Folder
from cep.backtest import Backtest, held_ticks, run
from cep.backtest.options import Options
from tests.backtest.archives import START_MSC, imported, recorded
from tests.backtest.rules import CHAINED, KEYED

HOUR_MS = 3_600_000
ONE = f"{KEYED}define signal Other on Reversal buy 'GBPUSD' 0.20 lots for 30 min;"
NARROW = """
define stream Tick (symbol string, bid double);
define event Cheap for each symbol as Tick[bid < 1.1];
define complex Signed for each symbol as Cheap within 1 min;
define signal Go on Signed buy 0.10 lots stop 20 points target 30 points;
"""
RANGE: Options = {"start": START_MSC + 3 * HOUR_MS, "end": START_MSC + 30 * HOUR_MS}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file of ticks is read."""
    found: Counter[str] = Counter()
    read = Folder.read

    def counted(self: Folder, path: str) -> bytes:
        found[path] += path.startswith("ticks/")
        return read(self, path)

    monkeypatch.setattr(Folder, "read", counted)
    return found


def told(found: Backtest) -> list[object]:
    """All that a run has come to."""
    accounts = (found.orders, found.deals, found.trades, found.equity, found.returns)
    return [found.rows, *accounts, found.metrics, found.told]


@pytest.mark.parametrize("filled", [recorded, imported], ids=lambda made: made.__name__)
@pytest.mark.parametrize("rules", [KEYED, ONE, NARROW, CHAINED], ids=["each", "one", "bids", "all"])
@pytest.mark.parametrize("options", [{}, RANGE, {"symbols": ["EURUSD"]}, {"hedging": True}])
def test_fills_are_those_of_ticks_that_are_read(
    filled: Callable[[Path], Archive],
    rules: str,
    options: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = {"deals": "recorded", **options}
    filled(tmp_path)
    held = run(rules, tmp_path / "archive", **options)
    monkeypatch.setattr(held_ticks, "HELD_ROWS", 0)
    assert told(held) == told(run(rules, tmp_path / "archive", **options))
    assert len(held.deals) > 0


@pytest.mark.parametrize("filled", [recorded, imported], ids=lambda made: made.__name__)
def test_no_file_is_read_twice(
    filled: Callable[[Path], Archive], reads: Counter[str], tmp_path: Path
) -> None:
    archive = filled(tmp_path)
    reads.clear()
    assert len(run(KEYED, tmp_path / "archive").deals) > 0
    files = {file.path: 1 for file in archive.files("ticks")}
    assert {path: count for path, count in reads.items() if count} == files


def test_more_than_are_held_are_read_again(
    reads: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = imported(tmp_path)
    rows = sum(file.rows for file in archive.files("ticks"))
    monkeypatch.setattr(held_ticks, "HELD_ROWS", rows - 1)
    reads.clear()
    run(KEYED, tmp_path / "archive")
    assert max(reads.values()) == 2
