"""What is stored and cannot be borne is left out by name, and the daemon serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from cep.live.feed import MarketFeed
from cep.live.quarantine import RECORDS_MAX
from mt5bridge.orders import read_journal
from mt5bridge.orders.journal import OrderJournal
from mt5bridge.orders.records import Requested, Terminal
from mt5bridge.spool import Group
from mt5bridge.spool import read as read_spool
from tests.live.service import (
    Service,
    archived,
    journal,
    play,
    replayed,
    terminal,
    walks,
    write_settings,
)
from tests.orders.desk import signal

PLAIN = {"rules": {"numba": False, "watch_ms": 0}}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Settings of a daemon that has stored some ticks and ended."""
    path = write_settings(tmp_path, PLAIN)
    with Service(path) as service:
        play(terminal(walks("AB", 200)), service.server.address)
    return path


def state(settings: Path, pattern: str) -> list[Path]:
    return sorted((settings.parent / "state").glob(pattern))


def forget_snapshots(settings: Path) -> None:
    """All but the one that was taken before the first record."""
    for path in state(settings, "*.state"):
        if "-0-0." not in path.name:
            path.unlink()


def raising_at(monkeypatch: pytest.MonkeyPatch, bad: set[int]) -> None:
    """Rules that cannot bear the groups with these first records."""
    right = MarketFeed.feed

    def feed(self: MarketFeed, groups: Sequence[Group]) -> Iterator[Any]:
        if any(group.ingest in bad for group in groups):
            raise OverflowError("too large for the rules")
        return right(self, groups)

    monkeypatch.setattr(MarketFeed, "feed", feed)


def test_records_that_rules_cannot_bear_are_left_out(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named, counted, the rest run, and the same again at the next start."""
    groups = [g for g in read_spool(settings.parent / "spool") if g.width]
    bad = groups[3]
    forget_snapshots(settings)
    whole = journal(settings)
    raising_at(monkeypatch, {bad.ingest})
    with Service(settings) as service:
        assert service.counters["records_quarantined"] == 1
        (text,) = [one for one in service.daemon.sink.complaints if "quarantined" in one]
        assert f"records {bad.ingest} to {bad.last_ingest}" in text
        assert f"{bad.source} ticks {bad.stream[1]}" in text and "to try again" in text
        play(terminal(walks("C", 20), identity="other"), service.server.address)
    kept = journal(settings)
    assert whole and len(kept.splitlines()) > 0
    monkeypatch.undo()
    forget_snapshots(settings)
    with Service(settings) as service:
        assert service.counters["records_quarantined"] == 1
    assert journal(settings) == kept, "as it ran, so it runs again"
    (file,) = state(settings, "*.quarantine")
    file.unlink()
    forget_snapshots(settings)
    with Service(settings) as service:
        assert "records_quarantined" not in service.counters
    assert journal(settings) == replayed(settings, archived(settings))


def test_rules_that_bear_nothing_are_not_served(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_snapshots(settings)
    groups = [g for g in read_spool(settings.parent / "spool") if g.width]
    assert len(groups) > RECORDS_MAX
    raising_at(monkeypatch, {group.ingest for group in groups})
    service = Service(settings)
    with pytest.raises(OverflowError, match="too large for the rules"):
        service.daemon.run(service.stop)


@pytest.mark.parametrize("rubbish", [b"", b"\xff\xfe", b"{}", b"[1, 2]", b"\0" * 100])
def test_files_that_cannot_be_read_back(settings: Path, rubbish: bytes) -> None:
    """Snapshots, the log of rules and the quarantine itself: none of them is needed to go on."""
    before = journal(settings)
    for pattern in ("*.state", "*.rules"):
        for path in state(settings, pattern):
            path.write_bytes(rubbish)
    (rules,) = state(settings, "*.rules")
    rules.with_suffix(".quarantine").write_bytes(rubbish)
    with Service(settings) as service:
        play(terminal(walks("C", 20), identity="other"), service.server.address)
        is_named = any("files_quarantined" in one for one in service.daemon.sink.complaints)
        assert is_named == bool(rubbish)
    (aside,) = (settings.parent / "state").glob("events-1.jsonl")
    assert aside.read_bytes() == before
    assert journal(settings)


def test_journal_records_about_nothing_are_damage(tmp_path: Path) -> None:
    """They would end the daemon later, where they are needed."""
    path = tmp_path / "orders.journal"
    good = Requested(id=1, time_msc=2, signal=signal(1))
    orders = OrderJournal(path)
    orders.add(good)
    orders.close()
    written = path.read_bytes()
    line = b'{"type":"asked","id":3,"time_msc":4}'
    for text in (line, b'{"type":"terminal","identity":"a","owner":"b","trades":7,"symbols":[]}'):
        path.write_bytes(b"%08x %s\n" % (crc32(text), text) + written)
        content = read_journal(path)
        assert good in content.records and content.damaged_lines == [1]
    with pytest.raises(ValueError, match="either a signal or an order"):
        Requested(id=1, time_msc=2)
    with pytest.raises(ValueError, match="7"):
        Terminal("a", "b", 7, [])
