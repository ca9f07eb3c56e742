"""`mt5cep terminals`: what it prints, and a terminal that a real daemon lets go."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cep.cli import main
from cep.cli.errors import UNANSWERED
from cep.live.config import read_config
from cep.live.outgoing import inbox_of
from cep.live.status_file import status_path
from mt5bridge.clock import now_msc
from mt5bridge.orders import ConfirmAccount, ForgetTerminal
from mt5bridge.server.status import Status, StreamStatus, TerminalStatus, write_status
from mt5bridge.simulator import RefusedError, Terminal
from tests.live.service import Service, play, terminal, wait_until, walks, write_settings

AWAY = TerminalStatus(
    identity="old", connected=False, trades="live", symbols=["A"], unanswered=2,
    streams=[StreamStatus(symbol="A", taken=0, sent=0, received=1200, durable=1200, newest_msc=1)],
)  # fmt: skip
HERE = TerminalStatus(
    identity="new", connected=True, since_msc=1_704_110_400_000, account=5001,
    complete_msc=1_704_112_200_000,
)  # fmt: skip


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["terminals", *map(str, words)])


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Settings with the status of a daemon that seems to run."""
    path = write_settings(tmp_path)
    found = status_path(read_config(path))
    found.parent.mkdir(parents=True, exist_ok=True)
    write_status(
        found,
        Status(
            program="mt5cep", version="", pid=1, bind="", since_msc=0, written_msc=now_msc(),
            terminals=[HERE, AWAY], unconfirmed={"old": "2@New"},
        ),
    )  # fmt: skip
    return path


def test_ls(settings: Path) -> None:
    lines = run("ls", "--config", settings).output.splitlines()
    told = "old may not trade on account 2@New yet: `mt5cep terminals confirm old 2@New` lets it"
    assert lines.pop() == told
    assert [line.split() for line in lines[1:]] == [
        [
            "new",
            "connected",
            "2024-01-01",
            "12:00:00.000",
            "2024-01-01",
            "12:30:00.000",
            "none",
            "5001",
            "0",
            "0",
            "0",
        ],
        ["old", "away", "live", "1", "1,200", "2"],
    ]
    assert lines[0].startswith("identity  state")
    found = json.loads(run("ls", "--config", settings, "--json").output)
    assert [one["identity"] for one in found] == ["new", "old"]


def test_without_a_daemon(tmp_path: Path) -> None:
    path = write_settings(tmp_path)
    for words in (["ls"], ["forget", "old"], ["confirm", "old", "2@New"]):
        found = run(*words, "--config", path)
        assert found.exit_code == 2 and "no daemon runs" in found.output


def test_who_cannot_be_forgotten(settings: Path) -> None:
    found = run("forget", "nobody", "--config", settings)
    assert found.exit_code == 2 and "the daemon knows new, old" in found.output
    found = run("forget", "new", "--config", settings)
    assert found.exit_code == 2 and "stop its program first" in found.output
    assert inbox_of(read_config(settings)).take() == []


def test_forget_waits_no_longer_than_it_is_told(settings: Path) -> None:
    found = run("forget", "old", "--config", settings, "--wait", 0)
    assert found.exit_code == UNANSWERED and "not taken yet" in found.output
    ((_, command),) = inbox_of(read_config(settings)).take()
    assert command == ForgetTerminal("old")


def test_a_daemon_lets_a_terminal_go_and_knows_where_its_streams_stand(tmp_path: Path) -> None:
    """Another has its place; after a restart its numbers go on, and no record is there twice."""
    server = {"terminals_max": 1}
    path = write_settings(tmp_path, {"server": server, "rules": {"numba": False, "watch_ms": 0}})
    ticks = walks("A", 60)
    with Service(path) as service:
        play(terminal(ticks, identity="old"), service.server.address)
        wait_until(lambda: not service.server.terminals.connected())
        with pytest.raises(Exception, match="raise terminals_max"):
            play(terminal(ticks, identity="new"), service.server.address)
        wait_until(lambda: "away" in run("ls", "--config", path).output)
        found = run("forget", "old", "--config", path, "--wait", 60)
        assert (found.exit_code, found.output) == (0, "forgotten\n")
        play(terminal(ticks, identity="new"), service.server.address)
    with Service(path) as service:
        assert list(service.server.terminals.sessions) == ["new"]
        old = service.server.terminals.resting["old"]
        assert old.streams["ticks", "A"].expected == 61


@pytest.mark.parametrize("words", [("new", "2@New"), ("nobody", "2@New"), ("old", "1@New")])
def test_only_what_waits_can_be_confirmed(settings: Path, words: tuple[str, str]) -> None:
    found = run("confirm", *words, "--config", settings)
    assert found.exit_code == 2 and "waiting: old for 2@New" in found.output
    assert inbox_of(read_config(settings)).take() == []


def test_confirm_waits_no_longer_than_it_is_told(settings: Path) -> None:
    found = run("confirm", "old", "2@New", "--config", settings, "--wait", 0)
    assert found.exit_code == UNANSWERED and "not taken yet" in found.output
    ((_, command),) = inbox_of(read_config(settings)).take()
    assert command == ConfirmAccount("old", "2@New")


def test_another_account_trades_once_it_is_confirmed(tmp_path: Path) -> None:
    """Over TCP, with a restart of the daemon in between."""
    path = write_settings(tmp_path, {"rules": {"numba": False, "watch_ms": 0}})
    with Service(path) as service:
        play(terminal(walks("A", 5), identity="desk"), service.server.address)

    def other() -> Terminal:
        found = terminal(walks("A", 5), identity="desk", instance=2)
        found.client._hello = replace(found.client._hello, account=2, server="New")
        return found

    with Service(path) as service:
        with pytest.raises(RefusedError, match="terminals confirm desk 2@New"):
            play(other(), service.server.address)
        wait_until(lambda: "desk may not trade" in run("ls", "--config", path).output)
        found = run("confirm", "desk", "2@New", "--config", path, "--wait", 60)
        assert found.exit_code == 0 and "confirmed" in found.output
        play(other(), service.server.address)
        assert service.server.owner("desk") == "2@New"
