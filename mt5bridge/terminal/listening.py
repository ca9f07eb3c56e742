"""Stands in for a daemon that does not run: hears terminals out, and takes nothing from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mt5bridge.clock import monotonic_ms
from mt5bridge.server import Server, Settings, Sink, Trader
from mt5bridge.server.status import Status
from mt5bridge.spool import SpoolLockedError
from mt5bridge.spool.disk import lock
from mt5bridge.spool.recovery import examine

POLL_MS = 50


def is_settled(status: Status) -> bool:
    """Whether enough has been heard for a judgement: every terminal has measured a round trip."""
    connected = [terminal for terminal in status.terminals if terminal.connected]
    return bool(connected) and all(
        terminal.round_trip_us and terminal.account_state is not None for terminal in connected
    )


def listen(settings: Settings, spool: Path, wait_ms: int, traders: Iterable[Trader] = ()) -> Status:
    """What terminals tell within `wait_ms`, or as soon as it is enough.

    Nothing is acknowledged, so terminals keep everything for the daemon; they are told what is on
    its disk, so that they go on numbering where they are; `traders` are those that it knows, with
    their accounts. SpoolLockedError when a daemon runs,
    BindError when another program has the address.
    """
    with _locked(spool):
        streams = examine(spool)[0].streams if spool.is_dir() else {}
        resumes = {key: state.position for key, state in streams.items()}
        with Server(
            settings, Sink(on_batch=lambda _batch: False), resumes, traders=traders
        ) as server:
            _poll(server, lambda: is_settled(server.status()), wait_ms)
            status = server.status()
    # That it takes no record is what this is for, not a reason to complain.
    complaints = [text for text in status.complaints if not text.startswith("refused")]
    return msgspec.structs.replace(status, complaints=complaints)


def _poll(server: Server, enough: Callable[[], bool], wait_ms: int) -> None:
    end_ms = monotonic_ms() + wait_ms
    while monotonic_ms() < end_ms and not enough():
        server.poll_once(POLL_MS)


@contextmanager
def _locked(spool: Path) -> Iterator[None]:
    """No daemon may start meanwhile; a spool that is not there needs no lock."""
    if not spool.is_dir():
        yield
        return
    held = lock(spool / "LOCK")
    try:
        yield
    finally:
        os.close(held)


def daemon_holds(spool: Path) -> bool:
    """Whether a daemon is running on this spool."""
    if not spool.is_dir():
        return False
    try:
        with _locked(spool):
            return False
    except SpoolLockedError:
        return True
