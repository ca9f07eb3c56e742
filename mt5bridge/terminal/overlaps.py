"""What several terminals of one daemon do twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mt5bridge.server.status import TerminalStatus
from mt5bridge.terminal.findings import Finding, Level, finding


def judge_overlaps(connected: Sequence[TerminalStatus]) -> Iterator[Finding]:
    """Symbols that two publish from one trade server, or that two traders of one account trade."""
    publishes: dict[tuple[str, str], list[str]] = defaultdict(list)
    trades: dict[tuple[str, int, str], list[TerminalStatus]] = defaultdict(list)
    for one in connected:
        if one.trades != "none":
            for symbol in one.symbols:
                trades[one.server, one.account, symbol].append(one)
            continue
        for symbol in _published(one):
            publishes[one.server, symbol].append(one.identity)
    for (_, symbol), identities in publishes.items():
        if len(identities) > 1:
            yield finding("ticks twice", symbol, f"published by {', '.join(sorted(identities))}")
    for (_, _, symbol), traders in trades.items():
        if len(traders) > 1:
            names = ", ".join(sorted(one.identity for one in traders))
            live = sum(one.trades == "live" for one in traders) > 1
            level = None if live else Level.WARNING
            yield finding("traders overlap", symbol, f"executed by {names}", level)


def _published(terminal: TerminalStatus) -> Iterator[str]:
    """Symbols of which ticks have come."""
    for stream in terminal.streams:
        if stream.symbol and (stream.taken or stream.received):
            yield stream.symbol
