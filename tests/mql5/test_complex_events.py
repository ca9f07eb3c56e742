"""Complex events of a daemon's rules in an EA's OnComplexEvent, on an emulated terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.server import Server
from tests.live.service import Service, address, play, terminal, wait_until, walks, write_settings
from tests.mql5.examples import example, printed, shown
from tests.mql5.trading import still
from tests.waiting import LONG_S

IDENTITY = "5001@Demo/EventPrinter"


def settings_of(folder: Path, **sections: dict[str, Any]) -> Path:
    """A daemon that puts out all streams."""
    path = write_settings(folder, {"state": {"snapshot_records": 300, "clock_every_ms": 0}})
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = "\n".join(line for line in lines if not line.startswith("streams"))
    path.write_text(kept + "\n", encoding="utf-8")
    return path


@contextmanager
def emulated(folder: Path, where: str, program: str, *inputs: str) -> Iterator[EmulatedTerminal]:
    """A terminal with the example connected to a daemon at an address."""
    given = " ".join((f"Port={where.rpartition(':')[2]}", "TimerMs=10", *inputs))
    statements = (
        "pace rate=200",
        "clock mode=real offset_ms=7200000",
        f"attach {program} on EURUSD {given}",
    )
    with example(folder, program, {"EURUSD": still(60_000)}, *statements) as found:
        yield found


def is_subscribed(server: Server, identity: str = IDENTITY) -> bool:
    found = server.terminals.sessions.get(identity)
    return found is not None and found.subscription is not None


def events_of(lines: list[str]) -> list[str]:
    return [
        " ".join(line.split()[:2]) for line in lines if " events in " in line or "missed" in line
    ]


def test_complex_events_as_shown(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with (
        Service(settings) as service,
        emulated(tmp_path, address(settings), "EventPrinter") as found,
    ):
        wait_until(lambda: is_subscribed(service.server))
        play(terminal(walks("AB", 400)), address(settings))
        found.wait_journal(shown("EventPrinter")[-1], LONG_S)
        result = found.stop()
    assert printed(result, "EventPrinter") == shown("EventPrinter")


def test_only_what_is_subscribed_comes_and_what_was_missed(tmp_path: Path) -> None:
    """By name, over a restart of the daemon: each number once, none missing."""
    settings = settings_of(tmp_path)
    ticks = walks("AB", 1_500)
    with emulated(tmp_path, address(settings), "EventPrinter", "Events=Broad,Fine") as found:
        with Service(settings) as service:
            wait_until(lambda: is_subscribed(service.server))
            play(terminal({name: one[:800] for name, one in ticks.items()}), address(settings))
            found.wait_journal("Broad 2", LONG_S)
        with Service(settings) as service:
            wait_until(lambda: is_subscribed(service.server))
            play(terminal(ticks), address(settings))
            found.wait_journal("Broad 6", LONG_S)
        result = found.stop()
    told = events_of(printed(result, "EventPrinter"))
    assert told == [f"Broad {number}:" for number in range(1, len(told) + 1)]
