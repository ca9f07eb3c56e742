"""What the publisher's ledger remembers over a crash."""

from __future__ import annotations

from pathlib import Path

from tests.mql5.running import Scripts


def test_a_late_tick_under_way_is_found_again(scripts: Scripts, tmp_path: Path) -> None:
    """Though 30,000 ticks that are younger, and on the daemon's disk, were taken before it."""
    journal = scripts.run("LedgerProbe", tmp_path)
    assert "late one under way: kept 39990 missing 1 surplus 0" in journal
    assert "many under way: kept 34991 missing 5000 surplus 0" in journal


def test_what_is_on_disk_is_forgotten(scripts: Scripts, tmp_path: Path) -> None:
    journal = scripts.run("LedgerProbe", tmp_path)
    assert "all on disk: kept 32768 missing 0 surplus 0" in journal
