"""What a paper account was asked, and behind which record: with the spool, all that it is made of.

A line is the CRC-32 of its text in 8 hexadecimal digits, a blank, and one entry as JSON.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias
from zlib import crc32

import msgspec

from cep.account.account_file import FILLINGS, AccountFile, SymbolPart
from cep.account.market import Market
from cep.account.slippage import NONE, Slippage
from mt5bridge.orders.records import named
from mt5bridge.server import Request
from mt5bridge.simulator.account import DEPOSIT
from mt5bridge.spool.disk import Disk, make_directories, replace_file
from mt5bridge.wire import Order, Signal, SignalOrder, Symbol


class PaperError(ValueError):
    """A paper account that cannot go on; the text says why, and what to do."""


class Opened(msgspec.Struct, frozen=True, tag="account", kw_only=True):
    """What the account is, as its first entry."""

    after: int
    account: AccountFile | None
    hedging: bool
    latency_ms: int
    slippage_points: float
    slippage: Slippage = NONE


class Traded(msgspec.Struct, frozen=True, tag="symbol", kw_only=True):
    """A symbol is traded from here on, or its terminal has told of it anew, from `since_msc` on.

    `told` are keys of an account's file; None was written by releases that did not keep them.
    `source` is who has told the symbol's properties, if somebody has.
    """

    after: int
    symbol: Symbol
    told: dict[str, Any] | None = None
    source: str = ""
    since_msc: int = 0


class Asked(msgspec.Struct, frozen=True, tag="asked", kw_only=True, omit_defaults=True):
    """A signal or an order waits for a tick from here on, not before the account's latency."""

    after: int
    earliest_msc: int = 0
    signal: Signal | None = None
    order: Order | None = None
    signal_order: SignalOrder | None = None

    @property
    def request(self) -> Request:
        found = self.signal or self.order or self.signal_order
        assert found is not None
        return found


class Turned(msgspec.Struct, frozen=True, tag="halt", kw_only=True):
    """The kill switch was turned."""

    after: int
    halted: bool
    reason: str


Entry: TypeAlias = Opened | Traded | Asked | Turned
"""`after`: the ingest number of the last record that had come."""

_encode = msgspec.json.Encoder().encode
_decoder: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)


def opened(market: Market, after: int) -> Opened:
    """The entry of an account; what its risk guard allows may change."""
    file = market.account
    return Opened(
        after=after,
        account=None if file is None else msgspec.structs.replace(file, risk={}),
        hedging=market.terms.hedging,
        latency_ms=market.latency_ms,
        slippage_points=market.slippage_points,
        slippage=market.slippage,
    )


def differences(before: Opened, now: Opened) -> list[str]:
    """What two accounts do not have in common, such as `latency_ms 5, which was 0`."""
    old, new = (dict(_said(one)) for one in (before, now))
    return [
        f"{name} {new.get(name, 'left out')}, which was {old.get(name, 'left out')}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
        and (name in new or old[name] != _ONCE_TOLD.get(name.rpartition(".")[2]))
    ]


def _said(entry: Opened) -> Iterator[tuple[str, Any]]:
    """What an account is; of symbols, what is not as if nobody had said it. One without a file is
    that of an empty file.
    """
    plain = msgspec.to_builtins(SymbolPart())
    account = entry.account or AccountFile()
    found = msgspec.to_builtins(msgspec.structs.replace(entry, account=account))
    for name, value in _values(found):
        if name.startswith("account.symbols.") and value == plain[name.rpartition(".")[2]]:
            continue
        if name != "after":
            yield name, value


_ONCE_TOLD = {
    "balance": DEPOSIT, "contract_size": 1.0, "filling_modes": FILLINGS, "sessions": (),
    "swap_mode": "none", "swap_triple_day": "wednesday",
    **dict.fromkeys(("stops_level_points", "freeze_level_points", "swap_long", "swap_short"), 0.0),
    **dict.fromkeys(("volume_min", "volume_max", "volume_step"), 0.0),
}  # fmt: skip
"""What earlier releases wrote of an account's file that left a key out; such accounts go on."""


def _values(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _values(value, f"{before}{name}.")
        elif value is not None:
            yield f"{before}{name}", value


def asked(request: Request, after: int, earliest_msc: int) -> Asked:
    """The entry of a request."""
    return Asked(after=after, earliest_msc=earliest_msc, **named(request))


def _line(entry: Entry) -> bytes:
    text = _encode(entry)
    return b"%08x %s\n" % (crc32(text), text)


def read_entries(path: Path) -> list[Entry]:
    """What a log holds, also while a daemon writes it. PaperError when a line is damaged."""
    *lines, _torn = path.read_bytes().split(b"\n") if path.exists() else [b""]
    return [_entry(path, line, number) for number, line in enumerate(lines, 1)]


def _entry(path: Path, line: bytes, number: int) -> Entry:
    text = line[9:]
    try:
        if line[:9] == b"%08x " % crc32(text):
            return _decoder.decode(text)
    except (msgspec.MsgspecError, ValueError):
        pass
    raise PaperError(
        f"{path}:{number}: damaged, so what the paper account holds is not known; begin a "
        "new one with other folders in [state] and [spool]"
    )


class PaperLog:
    """The one writer of a log. `entries` is what it held.

    Who adds does not wait for the disk; `sync`, in any thread, takes everything that was added so
    far. No record may be on disk before the entries that came before it are.
    """

    def __init__(self, path: Path, newest: int, disk: Disk | None = None) -> None:
        """`newest` is the last record on disk. A signal that came behind others, which a crash has
        undone, is no more: the rules will find it again. What else came behind those comes behind
        this one now. PaperError when a line is damaged; one that is torn off was never acted on.
        """
        self.path = path
        self._disk = disk or Disk()
        found = read_entries(path)
        self.entries = [
            msgspec.structs.replace(entry, after=min(entry.after, newest))
            for entry in found
            if entry.after <= newest or not (isinstance(entry, Asked) and entry.order is None)
        ]
        data = b"".join(map(_line, self.entries))
        make_directories(path.parent, self._disk, mode=0o700)
        if self.entries != found:
            replace_file(path, data, self._disk)
        self._waiting: deque[bytes] = deque()
        self._mutex = Lock()
        self._size = len(data)
        self._file = self._disk.open(path)
        self._disk.truncate(self._file, self._size)
        self._disk.sync_directory(path.parent)

    def add(self, entry: Entry) -> None:
        """Take an entry for the next `sync`."""
        self._waiting.append(_line(entry))

    def sync(self) -> None:
        """Wait until what was added is on disk. OSError when it fails: it is tried again."""
        with self._mutex:
            if not (count := len(self._waiting)):
                return
            data = b"".join(self._waiting[at] for at in range(count))
            self._disk.write_at(self._file, data, self._size)
            self._disk.sync(self._file)
            self._size += len(data)
            for _ in range(count):
                self._waiting.popleft()

    def close(self) -> None:
        """Sync, and let go of the file. OSError when not all is on disk."""
        try:
            self.sync()
        finally:
            self._disk.close(self._file)
