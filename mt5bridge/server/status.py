"""What a running daemon tells of itself and its terminals: the content of `status.json`."""

from __future__ import annotations

import os
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path

import msgspec

from mt5bridge.troubles import Effect, Trouble

SCHEMA = 1


class RecountStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Intervals of a stream that the terminal has recounted in its tick base."""

    agreed: int = 0
    differing: int = 0
    not_checked: int = 0
    last_difference: str = ""  # names the newest interval that differs, and both counts


class StreamStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One sequence. The terminal's figures are those of its last heartbeat."""

    symbol: str  # empty: the deals
    name: str = ""  # what the terminal calls it, where that is another name
    taken: int  # last number that the terminal has taken from its source
    sent: int  # last number that it has sent
    received: int  # last number that has come, everything before it included
    durable: int  # last number on the daemon's disk
    newest_msc: int  # newest server time of what has come; 0 before the first
    gaps: int = 0  # intervals declared lost, since the daemon's start
    lost: int = 0  # records in them
    recounts: RecountStatus = RecountStatus()


class AccountStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The newest ACCOUNT frame; `allowed` has the bits of `mt5bridge.wire.Allowed`."""

    time_msc: int
    balance: float
    credit: float
    profit: float
    equity: float
    margin: float
    margin_free: float
    positions: int
    orders: int
    allowed: int


class TerminalStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One identity; what HELLO says is empty or 0 for one not seen since the daemon's start."""

    identity: str
    connected: bool
    since_msc: int = 0  # when it last connected, UTC
    heard_ms_ago: int | None = None
    program: str = ""
    broker: str = ""
    server: str = ""
    account: int = 0
    currency: str = ""
    leverage: int = 0
    account_mode: str = ""  # netting, exchange, hedging
    demo: bool = False
    trades: str = "none"  # none, live, dry_run
    utc_offset_ms: int = 0
    round_trip_us: int = 0  # as the terminal measured it, 0 unknown
    clock_difference_ms: int | None = None  # the terminal's UTC minus the daemon's
    complete_msc: int = 0  # UTC; all earlier ticks have come, but for late ones; 0 unknown
    account_state: AccountStatus | None = None
    symbols: list[str] = []
    names: dict[str, str] = {}  # by symbol, what the terminal calls it, where that is another name
    streams: list[StreamStatus] = []
    unanswered: int = 0  # signals and orders without a final result


class LimitStatus(msgspec.Struct, frozen=True):
    """A limit that was reached since the daemon's start, and what came of it the last time."""

    counter: str
    times: int
    setting: str
    effect: str
    reason: str


class PositionStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What a strategy has of a position, or other hands (no magic); lots are negative if sold."""

    account: str
    symbol: str
    position: int
    magic: int | None
    strategy: str
    meant: float  # lots by its own requests
    held: float  # what other hands have left of them
    changed_msc: int = 0  # when they have changed it last


class RuleFileStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One rule file; `main` is that of `[rules]`."""

    name: str
    file: str
    magic: int
    sends_signals: bool
    runs: bool = True
    why: str = ""  # it does not
    refused: str = ""  # why the file as it is now does not run, while the rules before it do
    loaded: float = 1.0  # less: it warms up, and has come past so much of archive and spool
    halted: str = ""  # why what it wants to open is not sent, while its kill switch is on
    changes: int = 0  # of the rules, of which the newest snapshots know
    rows_bytes: int = 0  # written to its journal


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """A daemon at one moment; times are UTC milliseconds."""

    schema: int = SCHEMA
    program: str
    version: str
    pid: int
    bind: str
    since_msc: int
    written_msc: int
    terminals: list[TerminalStatus] = []
    halted: bool = False
    halt_reason: str = ""
    sends_signals: bool = False
    sends_orders: bool = False
    dry_run: bool = False
    paper: AccountStatus | None = None  # the account of `daemon --paper`: no terminal trades
    counters: dict[str, int] = {}
    dropped: dict[str, dict[str, int]] = {}  # by rules and limits: name, reason
    limits: list[LimitStatus] = []  # those that were reached
    memory_bytes: int = 0  # of the process
    complaints: list[str] = []  # the newest ones, oldest first
    unconfirmed: dict[str, str] = {}  # by identity: account that it may not trade on yet
    rules: list[RuleFileStatus] = []
    positions: list[PositionStatus] = []  # as far as deals have told, the first of them
    awaited_deals: int = 0  # fills that traders have told and publishers have not
    unremembered: int = 0  # requests that were executed, and that the order journal does not know
    troubles: list[Trouble] = []  # what fails now, oldest first


_ROOM_BYTES = 2_048
"""Blanks at the end of the file: a full disk shall find room to say so."""


def write_status(path: Path, status: Status) -> None:
    """Replace the file whole, so that nobody reads half of it; on a full disk in its place."""
    data = msgspec.json.format(msgspec.json.encode(status)) + b"\n"
    draft = path.with_suffix(".part")
    try:
        draft.write_bytes(data + b" " * _ROOM_BYTES)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        _write_over(path, data)


def _write_over(path: Path, data: bytes) -> None:
    """Into the room that the file has; OSError when it is too small, and the file is as it was."""
    size = path.stat().st_size
    if size < len(data):
        raise OSError(ENOSPC, os.strerror(ENOSPC), str(path))
    with path.open("r+b") as file:
        file.write(data.ljust(size))


STALE_MS = 10_000
"""A status so old was left behind by a daemon that is gone."""


def running_status(path: Path, now_msc: int) -> Status | None:
    """The status of a daemon that runs; None when none does, or none whose status can be read."""
    try:
        status = read_status(path)
    except (OSError, msgspec.MsgspecError):
        return None
    has_ended = any(trouble.effect is Effect.ENDS for trouble in status.troubles)
    return status if abs(now_msc - status.written_msc) <= STALE_MS and not has_ended else None


def read_status(path: Path) -> Status:
    """The status in a file; OSError without one, msgspec.MsgspecError when it is none."""
    return msgspec.json.decode(path.read_bytes(), type=Status)
