"""What must be on disk before anything leaves, and what waits for no disk."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

import pytest

from tests.durability.recording import Fault, recording
from tests.orders.desk import Office, signal, trader


def test_nothing_is_sent_to_a_terminal_that_a_restart_would_not_know(tmp_path: Path) -> None:
    with recording(tmp_path, Fault(1, ENOSPC, "sync")) as disk:
        office = Office(tmp_path / "o.journal")
        office.desk.on_trader(trader("one", "EURUSD"))
        assert disk.steps == 0, "who tells of a terminal waits for no disk"
        office.ask(signal(7))
        with pytest.raises(OSError, match="No space left"):
            office.desk.flush()
        assert office.journal.durable == 0
        office.desk.release()
        assert office.post.sent == []
        office.desk.flush()
        assert office.post.sent == [("one", 7)]
        office.ask(signal(8))
        assert office.post.sent == [("one", 7), ("one", 8)], "nothing waits any more"


def test_a_new_terminal_makes_the_signals_of_no_other_wait(tmp_path: Path) -> None:
    office = Office(tmp_path / "o.journal", traders={"one": ("EURUSD",), "two": ("GBPUSD",)})
    office.desk.on_trader(trader("one", "EURUSD"))
    office.desk.flush()
    office.desk.on_trader(trader("two", "GBPUSD"))
    office.ask(signal(7))
    office.ask(signal(8, symbol="GBPUSD"))
    office.desk.release()
    assert office.post.sent == [("one", 7)], "the disk has not taken the record of the other one"
    office.desk.flush()
    assert office.post.sent == [("one", 7), ("two", 8)]
