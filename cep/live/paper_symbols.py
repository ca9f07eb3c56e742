"""What terminals have told of the symbols of a paper account, as its log has it.

A symbol is as it was told when its first tick came. What becomes of it afterwards holds from the
first tick on whose time is behind that of telling, as in a backtest of an archive that knows it.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from loguru import logger

from cep.account.account_file import SymbolPart
from cep.account.known import Parts
from cep.account.market import FIXED, Market
from cep.account.specifications import part_of
from cep.live.paper_log import Traded
from cep.live.told import words_of
from mt5bridge.broker import Specification
from mt5bridge.records import Records
from mt5bridge.server import Specified
from mt5bridge.simulator.account import specification
from mt5bridge.wire import Properties, Symbol

Words = dict[str, Any]
SIZES = frozenset({"point", "tick_size", "contract_size"})


class PaperSymbols:
    """`symbols` are those that are traded, by name; `market` knows what was told of them.

    `hear` takes what terminals tell. What that makes of a symbol, `news` gives for the log, when
    one of its ticks comes: so often at most it is written. `follow` takes it from there.
    """

    def __init__(self, market: Market) -> None:
        self.market = self._plain = market
        self.symbols: dict[str, Symbol] = {}
        self._told: dict[str, Words] = {}
        self._heard: dict[str, tuple[str, Words, int]] = {}  # by whom, what, and when
        self._fresh: set[str] = set()
        self._later: list[tuple[int, str, Words]] = []  # by time

    def hear(self, parts: Iterable[Specified]) -> None:
        """The properties of a symbol; those of the terminal that told them first count."""
        for one in parts:
            if isinstance(one.part, Properties):
                identity, before, _ = self._heard.get(one.symbol, (one.identity, {}, 0))
                words = words_of(one.part, one.currency).words
                if identity == one.identity and words != before:
                    self._heard[one.symbol] = identity, words, one.arrival_msc
                    self._fresh.add(one.symbol)

    def news(
        self, name: str, described: Mapping[str, Symbol | None], after: int, time_msc: int
    ) -> Iterator[Traded]:
        """Entries for the log, before a tick of a symbol: of all that its terminal has described,
        if it is the first, or of what it has become. `time_msc` is that of the newest tick.
        """
        if name not in self.symbols:
            for symbol in described.values():
                if symbol and symbol.name not in self.symbols:
                    self._fresh.discard(symbol.name)
                    yield self._entry(symbol, after, 0)
        elif name in self._fresh:
            self._fresh.remove(name)
            entry = self._entry(self.symbols[name], after, max(self._heard[name][2], time_msc + 1))
            if self._may_become(name, entry.told or {}):
                yield entry

    def follow(self, entry: Traded) -> None:
        """What the log has. Of a symbol that is known it holds at its time."""
        name = entry.symbol.name
        words = entry.told or {}
        if name not in self.symbols:
            self.symbols[name] = entry.symbol
            self._know(name, words)
        else:
            insort(self._later, (entry.since_msc, name, words), key=lambda one: one[0])
        self._told[name] = words
        if entry.source:
            self._heard.setdefault(name, (entry.source, {}, 0))

    def specification(self, name: str) -> Specification:
        """What trading a symbol depends on now."""
        return self.market.described(name, specification(self.symbols[name]))

    @property
    def changes(self) -> dict[str, Parts]:
        """What becomes of symbols, as far as no tick has come by which it holds."""
        found: dict[str, Parts] = {}
        for since_msc, name, words in self._later:
            part = self._said_on(name, words)
            found[name] = (*found.get(name, ()), (since_msc, part))
        return found

    def parts(self, ticks: Records) -> Iterator[tuple[Records, Sequence[str]]]:
        """Ticks, cut where something else holds, and the symbols of which it does from there on."""
        while self._later and (is_later := ticks["time_msc"] >= self._later[0][0]).any():
            count = int(np.argmax(is_later))
            yield ticks[:count], ()
            ticks = ticks[count:]
            _, name, words = self._later.pop(0)
            self._know(name, words)
            yield ticks[:0], (name,)
        yield ticks, ()

    def _know(self, name: str, words: Words) -> None:
        if words:  # else the account was begun when nothing of it was kept
            self.market = self.market.knowing(name, self._said_on(name, words))

    def _entry(self, symbol: Symbol, after: int, since_msc: int) -> Traded:
        source, words, _ = self._heard.get(symbol.name, ("", {}, 0))
        told = words_of(symbol).words | words
        return Traded(after=after, symbol=symbol, told=told, source=source, since_msc=since_msc)

    def _may_become(self, name: str, words: Words) -> bool:
        """Whether that is something else, and leaves what is open worth the same."""
        before = self._told[name]
        if words == before or not before.keys() >= SIZES:
            return False
        known = specification(self.symbols[name])
        first, then = (
            self._plain.knowing(name, self._said_on(name, one)).described(name, known)
            for one in (before, words)
        )
        fixed = [key for key in FIXED if getattr(first, key) != getattr(then, key)]
        if fixed:
            logger.warning(
                "paper: {} goes on as it was, as another {} would change what is open; {}",
                name, " and ".join(fixed), "begin a new account in folders of its own",
            )  # fmt: skip
        return not fixed

    def _said_on(self, name: str, words: Words) -> SymbolPart:
        """What the account's file says of a symbol, and terminals where it says nothing."""
        return self._plain.part(name).over(part_of(words, SymbolPart))
