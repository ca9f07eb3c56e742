"""A day that was traded on paper: the same rules, orders and account over the same records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from cep.account.account_file import RISK, AccountFile
from cep.account.market import Market
from cep.archive import Archive
from cep.backtest.account import Account
from cep.backtest.dealt import dealt, reads_deals
from cep.backtest.results import picked
from cep.backtest.selection import select
from cep.backtest.simulate import account_of
from cep.engine.native import Compiled
from cep.live.config import Config, Risk
from cep.live.journal_reader import JournalReader
from cep.live.paper import PAPER, market_begun, path_of
from cep.live.paper_log import Asked, Entry, Opened, Traded, Turned, read_entries
from cep.live.paper_symbols import PaperSymbols
from cep.live.rules import load_plan
from cep.live.signals import signal_of
from cep.parity.differences import Difference, deal_differences, differing
from cep.plan.nodes import Plan
from mt5bridge.records import DEAL, Records
from mt5bridge.simulator.deals import as_deals
from mt5bridge.simulator.wish import wish_of
from mt5bridge.spool import RecordKind, list_segments, read, read_checkpoint
from mt5bridge.wire import OrderKind, Signal, Symbol

Advance = Callable[[int], None]
"""Told how many more records were read."""


class ParityError(ValueError):
    """A day that cannot be run again; `hint` says what to do about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Day:
    """What there is of it: rows as JSON lines, signals that became orders, deals (DEAL)."""

    rows: list[bytes]
    signals: list[Signal]
    deals: Records
    by_hand: int = 0
    """Orders of users and callbacks, and turns of the kill switch: no rule has led to them."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Both, and what differs."""

    lived: Day
    again: Day
    differences: list[Difference]

    @property
    def notes(self) -> list[str]:
        """What explains differences, if there are any."""
        count = self.lived.by_hand
        if not count or not self.differences:
            return []
        return [
            f"{count:,} orders of users and callbacks, and turns of the kill switch, are not run "
            "again: what the account has done behind them may differ"
        ]

    @property
    def summary(self) -> str:
        """In one line."""
        orders, deals = len(self.lived.signals), len(self.lived.deals)
        return (
            f"paper: {len(self.lived.rows):,} rows, {orders:,} orders, {deals:,} deals, "
            f"{len(self.differences):,} differences"
        )


def order_text(signal: Signal) -> str:
    """An order as both runs know it, without its number."""
    wish = wish_of(signal)
    side = "" if wish.is_of_held else signal.side.name.lower()
    kind = "" if wish.kind in (OrderKind.MARKET, OrderKind.CLOSE) else f" {wish.kind.name.lower()}"
    names = ("price", "sl", "tp", "stop_distance", "target_distance", "risk_percent")
    prices = [f"{name} {value:.10g}" for name in names if (value := getattr(wish, name))]
    return (
        f"{signal.time_msc} {signal.name} {signal.symbol} {side}{kind} {wish.lots:g} lots stop "
        f"{signal.stop_points:g} target {signal.target_points:g} until {signal.valid_until_msc} "
        + " ".join([f"magic {signal.magic}", *prices])
    )


def order_texts(day: Day) -> list[bytes]:
    """The orders of a day, in their order."""
    return [order_text(signal).encode() for signal in day.signals]


def compared(config: Config, archive: Archive, advance: Advance = lambda n: None) -> Compared:
    """What a daemon with these settings has lived on paper, and the same rules over the `archive`
    of its spool. ParityError when there is nothing to compare.
    """
    entries = entries_of(config)
    lived = lived_day(config, entries)
    again = day_again(config, archive, entries, lived, advance)
    found = [
        *differing("row", lived.rows, again.rows),
        *differing("order", order_texts(lived), order_texts(again)),
        *deal_differences(lived.deals, again.deals),
    ]
    return Compared(lived, again, found)


def entries_of(config: Config) -> list[Entry]:
    """What the paper account of a daemon was asked. ParityError, PaperError."""
    need_no_warm_up(config)
    path = path_of(config.state.folder, spool_name(config.spool.folder))
    if not path.exists():
        raise ParityError(
            f"{path}: no paper account has traded here",
            "name the settings of a daemon that runs with --paper",
        )
    entries = read_entries(path)
    first = next(read(config.spool.folder), None)
    if first is None or first.ingest > entries[0].after + 1:
        raise ParityError(
            f"{config.spool.folder}: the first records of the paper account are gone",
            "let the spool keep more: [spool] max_mib",
        )
    return entries


def need_no_warm_up(config: Config) -> None:
    """ParityError where the rules began with what an archive had then."""
    if config.rules.warm_up_days:
        raise ParityError(
            "rules that have warmed up on an archive are not run again: it may have grown since",
            "only days without [rules] warm_up_days can be compared",
        )


def spool_name(folder: Path) -> str:
    """The name of the spool in a folder. ParityError when there is none."""
    for segment in list_segments(folder):
        if checkpoint := read_checkpoint(segment.path):
            return checkpoint.spool
    raise ParityError(f"{folder}: holds no records", "name the settings of a daemon that has run")


def lived_day(config: Config, entries: Sequence[Entry]) -> Day:
    """What is stored of a day on paper."""
    asked = [entry for entry in entries if isinstance(entry, Asked)]
    deals = [
        group.records
        for group in read(config.spool.folder)
        if group.kind is RecordKind.DEALS and group.source == PAPER
    ]
    others = sum(
        isinstance(one, Turned) or (isinstance(one, Asked) and one.order is not None)
        for one in entries
    )
    return Day(
        journal_rows(config),
        [one.request for one in asked if isinstance(one.request, Signal)],
        np.concatenate([np.empty(0, DEAL), *deals]),
        others,
    )


def journal_rows(config: Config) -> list[bytes]:
    """The rows that a daemon has written. ParityError when not all of them are there."""
    if config.state.journal is None:
        raise ParityError("the settings keep no journal of rows", "name one in [state] journal")
    reader, rows = JournalReader(config.state.journal), list[bytes]()
    while lines := reader.read():
        rows += (line for _, line in lines)
    if reader.missed_bytes:
        raise ParityError(
            f"{config.state.journal}: its first {reader.missed_bytes:,} bytes are gone",
            "let the daemon keep more of them: [state] journal_files",
        )
    return rows


def described(entries: Sequence[Entry]) -> list[Symbol]:
    """The symbols that the account could trade."""
    found = {one.symbol.name: one.symbol for one in entries if isinstance(one, Traded)}
    return list(found.values())


def market_of_log(config: Config, entries: Sequence[Entry]) -> Market:
    """The account as it was begun; its symbols are those that were described then, and become what
    terminals have told.
    """
    begun = [entry for entry in entries if isinstance(entry, Opened)]
    told = PaperSymbols(replace(market_begun(begun[-1]), magic=config.signals.magic))
    for entry in entries:
        if isinstance(entry, Traded):
            told.follow(entry)
    market, known = told.market, {name: told.specification(name) for name in told.symbols}
    limits = {name: getattr(config.risk, name) for name in RISK} if config.risk != Risk() else {}
    account = msgspec.structs.replace(market.account or AccountFile(), risk=limits)
    return replace(market, symbols=known, account=account, changes=told.changes)


def day_again(
    config: Config, archive: Archive, entries: Sequence[Entry], lived: Day, advance: Advance
) -> Day:
    """The rules over the archive of the spool, at a new account like the one that was lived."""
    plan, market = load_plan(config), market_of_log(config, entries)
    shown = shown_streams(config, plan)
    outputs = sorted({*shown, *(signal.name for signal in plan.signals)})
    rules = Compiled(plan, outputs=outputs, jit=config.rules.numba, waits=False)
    points = {name: symbol.point for name, symbol in market.symbols.items()}
    valid_ms = 1000 * config.signals.valid_seconds
    selection = select(archive, plan)
    account = account_of(archive, selection, plan, points, market, valid_ms)
    account.identifiers = [signal.id for signal in lived.signals]
    rows: list[bytes] = []
    for found in dealt(rules, selection, account, advance, shows_deals=reads_deals(plan)):
        rows += picked(found, shown).json_lines()
    signals = signals_of(account)
    return Day(rows, signals, deals_of(account, signals, described(entries)))


def shown_streams(config: Config, plan: Plan) -> list[str]:
    """The streams whose rows a daemon writes: those of signals in any case."""
    if config.rules.streams is not None:
        return [*config.rules.streams, *(signal.name for signal in plan.signals)]
    return [stream.name for stream in plan.streams if stream not in plan.sources]


def signals_of(account: Account) -> list[Signal]:
    """The signals that became orders of an account, with the numbers they had when lived."""
    magic, numbers = account.trading.market.magic, account.identifiers
    return [
        signal_of(one, numbers[at] if at < len(numbers) else at + 1, magic)
        for at, one in enumerate(account.trading.orders)
    ]


def deals_of(account: Account, signals: Sequence[Signal], symbols: Sequence[Symbol]) -> Records:
    """The deals of an account as a terminal sends them."""
    by_name = {symbol.name: symbol for symbol in symbols}
    rows = [by_name[name] for name in account.trading.symbols]
    return as_deals(account.trading.deals, rows, [wish_of(signal) for signal in signals])
