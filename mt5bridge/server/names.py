"""How one terminal calls its symbols: names are changed here, at the edge, and nowhere else.

Behind it everything has the names of the rules. What is proven of a stream goes by the terminal's
own name, which an aliased stream's key has beside the symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from mt5bridge.aliases import AliasError, Aliases
from mt5bridge.position import Position
from mt5bridge.records import Records, text_of
from mt5bridge.server.batch import StreamKey, ticks_of, wire_name
from mt5bridge.server.requests import Request
from mt5bridge.wire import Ask, Symbol


class Names:
    """Those of one terminal; on a connection each symbol of the rules is one of its names."""

    def __init__(self, aliases: Aliases) -> None:
        self._aliases = aliases
        self._theirs: dict[str, str] = {}  # by symbol, as SYMBOLS has told on this connection

    def reconnected(self) -> None:
        """The terminal tells its symbols anew."""
        self._theirs.clear()

    @property
    def changed(self) -> dict[str, str]:
        """What the terminal calls symbols that have another name here."""
        return {ours: theirs for ours, theirs in self._theirs.items() if ours != theirs}

    def key(self, name: str) -> StreamKey:
        """The stream of a terminal's symbol."""
        return ticks_of(self._symbol_of(name), name)

    def refuses(self, symbols: Iterable[Symbol]) -> str:
        """Why a terminal's symbols cannot be told apart here; empty if they can."""
        found = dict(self._theirs)
        for one in symbols:
            try:
                ours = self._aliases.symbol_of(one.name)
            except AliasError as problem:
                return str(problem)
            known = found.setdefault(ours, one.name)
            if known != one.name:
                return (
                    f"{known} and {one.name} are both {ours} here: change [aliases] in the "
                    "daemon's settings, or take one of them out of the terminal"
                )
        return ""

    def take(self, symbol: Symbol) -> Symbol:
        """A terminal's symbol under its name here; `refuses` was asked before."""
        ours = self._aliases.symbol_of(symbol.name)
        self._theirs[ours] = symbol.name
        return symbol if ours == symbol.name else replace(symbol, name=ours)

    def of_deals(self, records: Records) -> Records:
        """Deals with the names that their symbols have here."""
        if not self._aliases.lines:
            return records
        found = records
        for raw in np.unique(records["symbol"]).tolist():
            name = text_of(raw)
            ours = self._of_deal(name)
            if ours != name:
                found = found.copy() if found is records else found
                found["symbol"][records["symbol"] == raw] = ours.encode()
        return found

    def _of_deal(self, name: str) -> str:
        """A deal is not refused: what cannot be told from another symbol keeps its name."""
        ours = self._symbol_of(name)
        return ours if self._theirs.get(ours, name) == name else name

    def _symbol_of(self, name: str) -> str:
        """What the rules call it; a name that cannot be changed stays."""
        try:
            return self._aliases.symbol_of(name)
        except AliasError:
            return name

    def to_terminal(self, request: Request | Ask) -> Request | Ask | None:
        """A request with the terminal's own name; None before the terminal has told it."""
        if not self._aliases.lines or isinstance(request, Ask) or not request.symbol:
            return request
        theirs = self._theirs.get(request.symbol)
        if theirs is None:
            return None
        return request if theirs == request.symbol else replace(request, symbol=theirs)


def renamed(streams: Mapping[StreamKey, Position], names: Names) -> dict[StreamKey, Position]:
    """Where streams stand, under the keys that they have by the aliases of today.

    The terminal numbers on, whatever a symbol was called here: the furthest position counts.
    """
    found: dict[StreamKey, Position] = {}
    for old, position in streams.items():
        key = names.key(wire_name(old)) if old[0] == "ticks" else old
        known = found.get(key, position)
        found[key] = max(known, position, key=lambda one: one.sequence)
    return found
