"""Three terminals of one user, two of them on one account, side by side with one daemon."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cep.cli import main
from mt5bridge.credential import write_credential
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.server import ticks_of
from mt5bridge.terminal.folders import Machine, given
from mt5bridge.terminal.naming import name_of
from tests.bridge.live import Daemon, wait_until
from tests.credentials import CREDENTIAL
from tests.mql5.publishing import PROGRAMS, market, script
from tests.waiting import LONG_S

LOGINS = {"first": 5001, "second": 5001, "third": 5002}
SYMBOLS = {"first": "EURUSD", "second": "GBPUSD", "third": "EURUSD"}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Three data folders that `install` was run for."""
    monkeypatch.setattr(Machine, "here", lambda: Machine("linux", tmp_path, {}))
    monkeypatch.chdir(tmp_path)
    write_credential(tmp_path / "credential.txt", CREDENTIAL)
    folders = {name: tmp_path / name for name in LOGINS}
    for folder in folders.values():
        (folder / "MQL5").mkdir(parents=True)
    chosen = [word for folder in folders.values() for word in ("--folder", str(folder))]
    arguments = ["terminal", "install", "--credential", "credential.txt", *chosen]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return folders


def test_each_publishes_under_a_name_of_its_own(installed: dict[str, Path], tmp_path: Path) -> None:
    with Daemon() as daemon, ExitStack() as running:
        daemon.settings = replace(daemon.settings, bind=daemon.server.address)
        port = daemon.server.address.rpartition(":")[2]
        for name, folder in installed.items():
            session = script(tmp_path / f"{name}.session", market(SYMBOLS[name], 500), port)
            session = session.plus(f"account login={LOGINS[name]}")
            running.enter_context(EmulatedTerminal(PROGRAMS, session, folder))
        called = {name: name_of(given(folder)) for name, folder in installed.items()}
        assert all(called[name].startswith(name) for name in LOGINS)
        wanted = {f"{LOGINS[name]}@Demo/{called[name]}": SYMBOLS[name] for name in LOGINS}
        wait_until(lambda: {*daemon.server.terminals.connected()} >= wanted.keys())
        for identity, symbol in wanted.items():
            wait_until(lambda: count(daemon, identity, symbol) >= 500)  # noqa: B023
            assert count(daemon, identity, symbol) == 500
    assert not daemon.gaps


def test_one_whose_name_is_damaged_publishes_under_no_other(
    installed: dict[str, Path], tmp_path: Path
) -> None:
    """It would have the name of the first: it waits until it has been installed again."""
    folder = installed["second"]
    kept = folder / "MQL5/Files/Mt5Bridge/terminal.txt"
    kept.write_text("a/b\n../x")
    with Daemon() as daemon:
        daemon.settings = replace(daemon.settings, bind=daemon.server.address)
        port = daemon.server.address.rpartition(":")[2]
        session = script(tmp_path / "session", market("GBPUSD", 500), port)
        session = session.plus("account login=5001")
        with EmulatedTerminal(PROGRAMS, session, folder) as terminal:
            terminal.wait_journal("terminal.txt is damaged: run `mt5cep terminal install`", LONG_S)
            assert not daemon.server.terminals.connected()
            kept.write_text("mt5bridge terminal 1\nname second\n")
            wait_until(lambda: {*daemon.server.terminals.connected()} == {"5001@Demo/second"})


def count(daemon: Daemon, identity: str, symbol: str) -> int:
    """How many ticks of a terminal the daemon has."""
    return sum(len(batch.records) for batch in list(daemon.stored[identity, ticks_of(symbol)]))
