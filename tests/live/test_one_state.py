"""One daemon a state folder, one name a spool: nothing is sent twice, nothing new taken for old."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from cep.daemon import Daemon
from cep.live.config import read_config
from cep.live.outgoing import inbox_of, journal_path
from mt5bridge.client import Connection
from mt5bridge.clock import now_msc
from mt5bridge.orders import OrderJournal, TurnHalt, read_book
from mt5bridge.orders.records import Terminal as Trades
from mt5bridge.simulator import Account, Runner, Terminal
from mt5bridge.spool import SpoolLockedError
from tests.credentials import CREDENTIAL
from tests.live.service import (
    Service,
    deadline,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)

SQLITE = {"database": {"url": "sqlite:///rules.db"}}


def live(service: Service, found: Terminal) -> None:
    """Play a terminal until all of its ticks have led to what they lead to, and all is answered."""

    def is_settled() -> bool:
        daemon = service.daemon
        entries = list(daemon.outgoing.desk.book)
        is_taken = daemon.spool.durable_ingest >= len(found.tape)
        return found.finished and is_taken and not any(entry.is_open for entry in entries)

    limit = deadline()
    with Connection(service.daemon.config.server.bind, CREDENTIAL) as connection:
        Runner(found, connection).run(Event(), lambda: is_settled() or limit(), linger_ms=100)
    assert is_settled()


def lose_requests(path: Path) -> None:
    """What was not on the disk yet when the power went: terminals are, before they get anything."""
    journal = OrderJournal(path)
    journal.rewrite([record for record in journal.records if isinstance(record, Trades)])


def share_state(folder: Path, name: str, sections: dict[str, Any]) -> Path:
    """Settings of a daemon of its own, but for the state."""
    state = {"state": {"folder": str(folder / "state")}}
    return write_settings(folder / name, {**sections, **state})


@pytest.mark.parametrize("second", [{}, SQLITE], ids=["engine", "database"])
@pytest.mark.parametrize("first", [{}, SQLITE], ids=["engine", "database"])
def test_a_second_daemon_with_the_same_state_does_not_start(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Both would send what the order journal says is open."""
    running, other = share_state(tmp_path, "a", first), share_state(tmp_path, "b", second)
    config = read_config(other)
    late = Daemon(config)
    with Service(running):
        wait_until(lambda: status_of(running) is not None)
        before = {path.name for path in (tmp_path / "state").iterdir()}
        with pytest.raises(SpoolLockedError) as refused:
            late.run(Event())
        inbox_of(config).put(TurnHalt(False, "no lock is needed for this"), now_msc())
        after = {path.name for path in (tmp_path / "state").iterdir()}
    assert str(tmp_path / "state") in str(refused.value)
    assert "stop it or use another directory" in str(refused.value)
    # the first one tells its status
    added = {name for name in after - before if not name.startswith("status")}
    assert added <= {"inbox"} and not (tmp_path / "b" / "spool").exists()
    with Service(other):
        pass


def test_spool_and_state_may_be_one_folder(tmp_path: Path) -> None:
    one = {"state": {"folder": "data"}, "spool": {"folder": "data"}}
    settings = write_settings(tmp_path, one)
    for _ in range(2):
        with Service(settings) as service:
            assert service.failure is None
        assert service.failure is None


def test_after_a_lost_spool_a_new_signal_is_not_taken_for_an_old_one(tmp_path: Path) -> None:
    """The sequences begin anew, with other ticks; the order journal and the terminal know ids."""
    settings = write_settings(tmp_path)
    found = []
    for seed in (0, 0, 5):
        life = terminal(walks("A", 1_200, seed), account=Account())
        with Service(settings) as service:
            live(service, life)
        found.append({signal.id for signal in life.signals})
        shutil.rmtree(tmp_path / "spool")
    assert min(map(len, found)) > 3
    assert not found[0] & found[1] and not found[0] & found[2] and not found[1] & found[2]


@pytest.mark.parametrize("journal", ["kept", "lost"])
@pytest.mark.parametrize("release", ["this", "older"])
def test_signals_found_again_are_the_same_also_after_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, journal: str
) -> None:
    """A spool that an older release began has another kind of name, and its signals their ids."""
    settings = write_settings(tmp_path, {"state": {"snapshot_records": 1_000_000}})
    account = Account()
    found = terminal(walks("A", 1_200), account=account)
    with monkeypatch.context() as patch:
        if release == "older":
            patch.setattr("mt5bridge.spool.spool.identity", lambda *_: "0" * 32)
        with Service(settings) as service:
            live(service, found)
    executed, deals = dict(account.executed), len(account.deals)
    assert [signal.id for signal in found.signals] == list(executed) and len(executed) > 3
    for snapshot in (tmp_path / "state").glob("*.state"):  # as a kill leaves it: all but the first
        if snapshot.stem.split("-")[1] != "0":
            snapshot.unlink()
    if journal == "lost":
        lose_requests(journal_path(read_config(settings)))
    found.signals.clear()
    with Service(settings) as service:
        live(service, found)
        again = {signal.id for signal in service.daemon.rules.effects.found_again}
    assert again == executed.keys()
    assert account.executed == executed and len(account.deals) == deals
    assert {signal.id for signal in found.signals} == (set() if journal == "kept" else again)
    states = {entry.state for entry in read_book(journal_path(read_config(settings)))}
    assert states == {"executed"}
