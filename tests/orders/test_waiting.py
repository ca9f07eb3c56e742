"""What must be on disk before anything leaves."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

from tests.durability.recording import Fault, recording
from tests.orders.desk import Office, signal, trader


def test_nothing_is_sent_to_a_terminal_that_a_restart_would_not_know(tmp_path: Path) -> None:
    with recording(tmp_path, Fault(1, ENOSPC, "sync")) as disk:
        office = Office(tmp_path / "o.journal")
        office.desk.on_trader(trader("one", "EURUSD"))
        assert disk.steps == 1 and office.journal.durable == 0
        office.ask(signal(7))
        office.desk.release()
        assert office.post.sent == []
        office.desk.flush()
        assert office.post.sent == [("one", 7)]
        office.ask(signal(8))
        assert office.post.sent == [("one", 7), ("one", 8)], "nothing waits any more"
