"""A day that terminals traded: the same rules over the same records, and the orders once more.

Rows and orders have to be the same, as the terminals' deals are records, too. A live broker answers
when it pleases: what it made of the orders is compared with the broker here, and only told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cep.account.market import Market
from cep.account.orders import Order
from cep.archive import Archive
from cep.backtest.orders import orders
from cep.backtest.points import Point
from cep.backtest.results import Results, picked
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.backtest.simulate import Outcome, simulate, tick_selection
from cep.engine.native import Compiled
from cep.live.config import MAIN, Config, limits_of
from cep.live.outgoing import journal_path
from cep.live.rules import load_plan
from cep.live.signals import SignalError, as_signal, lots_most
from cep.parity.causes import Causes
from cep.parity.differences import NOTHING, Difference, differing
from cep.parity.fills import (
    CHANGE,
    Fill,
    Pair,
    Summary,
    again_change,
    again_exits,
    again_fill,
    lived_change,
    lived_exits,
    lived_fill,
)
from cep.parity.paper import (
    ParityError,
    journal_rows,
    need_no_warm_up,
    order_text,
    shown_streams,
    spool_name,
)
from cep.plan.nodes import Plan, says_of
from mt5bridge.broker import codes
from mt5bridge.orders import Book, Entry, read_book
from mt5bridge.records import DealKind
from mt5bridge.simulator.wish import wish_of
from mt5bridge.wire import Side, Signal

Advance = Callable[[int], None]


class Here(NamedTuple):
    """At which account orders are dealt once more, and the sizes of points that are known."""

    market: Market
    points: Mapping[str, float | Point]


@dataclass(frozen=True, slots=True)
class Traded:
    """What differs in rows and orders, and what became of each order there and here."""

    rows: int
    orders: int
    differences: list[Difference]
    pairs: list[Pair]
    notes: list[str]

    @property
    def summary(self) -> list[str]:
        """As lines."""
        first = f"{self.rows:,} rows, {self.orders:,} orders, {len(self.differences):,} differences"
        return [first, *(Summary(self.pairs).lines if self.pairs else ())]


class _Again(NamedTuple):
    """Rows as JSON lines, and signals by their ids with the orders that they are here."""

    rows: list[bytes]
    signals: dict[int, Signal]
    orders: dict[int, Order]
    says: Mapping[str, Collection[str]]


def traded(
    config: Config,
    archive: Archive,
    here: Here,
    name: str = MAIN,
    advance: Advance = lambda n: None,
) -> Traded:
    """What a daemon with these settings has lived, and the same rules over the `archive` of its
    spool. `name` is that of the rule file. ParityError, BacktestError: what cannot be compared.
    """
    own = config if name == MAIN else config.of(name)
    need_no_warm_up(own)
    causes = Causes(config.spool.folder, archive.manifest.origins[0].base)
    if causes.first != 1:
        raise ParityError(
            f"{config.spool.folder}: its first records are gone",
            "let the spool keep more: [spool] max_mib",
        )
    lived_rows = journal_rows(own)
    plan = load_plan(own)
    selection = select(archive, plan)
    again = _again(own, selection, plan, causes, "" if name == MAIN else f"{name}/", advance)
    book = read_book(journal_path(config))
    lived = {one.asked.id: one for one in book if _is_of(one, own)}
    found = [
        *differing("row", lived_rows, again.rows),
        *_order_differences(lived, again.signals),
    ]
    sent = {number: one for number, one in lived.items() if one.fates and number in again.orders}
    pairs = _pairs(sent, again, archive, selection, here) if sent else []
    return Traded(len(lived_rows), len(lived), found, pairs, list(_notes(book, lived, sent)))


def _again(
    config: Config, selection: Selection, plan: Plan, causes: Causes, scope: str, advance: Advance
) -> _Again:
    """The rules over the records, deals of the terminals included."""
    shown, signals = shown_streams(config, plan), {signal.name for signal in plan.signals}
    rules = Compiled(plan, outputs=sorted({*shown, *signals}), jit=config.rules.numba, waits=False)
    results, rows = Results(plan), list[bytes]()
    for found in sequential(rules, selection, advance):
        results.take(found)
        rows += picked(found, shown).json_lines()
    again = _Again(rows, {}, {}, says_of(plan))
    most = lots_most(limits_of(config), config.signals.magic)
    spool, valid_ms = spool_name(config.spool.folder), 1000 * config.signals.valid_seconds
    for place, row in results.signals if config.signals.send else ():
        number = causes.identifier(spool, scope, row, place >> 1)
        try:
            says = again.says.get(row["stream"], ())
            signal = as_signal({**row}, number, config.signals.magic, valid_ms, says, most)
        except SignalError:
            continue  # which the daemon has not sent either
        again.signals[number] = _named(signal, scope)
        for one in orders([(place, row)], valid_ms, again.says, most)[0]:
            again.orders[number] = one
    return again


def _named(signal: Signal, scope: str) -> Signal:
    """As the daemon calls it, where there are several rule files."""
    return replace(signal, name=scope + signal.name)


def _is_of(entry: Entry, config: Config) -> bool:
    """Whether it is a signal of a rule file, which its magic number names."""
    request = entry.request
    return isinstance(request, Signal) and request.magic == config.signals.magic


def _order_differences(lived: Mapping[int, Entry], again: Mapping[int, Signal]) -> list[Difference]:
    """Orders that are not the same, matched by their ids."""
    found = []
    for at, number in enumerate(dict.fromkeys((*lived, *again)), 1):
        entry = lived.get(number)
        request = None if entry is None else entry.request
        signal = request if isinstance(request, Signal) else None
        texts = [
            NOTHING if one is None else f"{number:016x} {order_text(one)}"
            for one in (signal, again.get(number))
        ]
        if texts[0] != texts[1]:
            found.append(Difference("order", at, *texts))
    return found


def _pairs(
    sent: Mapping[int, Entry], again: _Again, archive: Archive, selection: Selection, here: Here
) -> list[Pair]:
    """What became of the orders that were sent, at each terminal and here."""
    numbers = sorted(sent, key=lambda number: again.orders[number].order)
    wanted = [again.orders[number] for number in numbers]
    symbols = {one.symbol for one in wanted}
    ticks = tick_selection(archive, selection, symbols, here.market)
    outcome = simulate(ticks, wanted, here.points, here.market)
    by_order = {id(one): number for one, number in zip(wanted, numbers, strict=True)}
    tags = {tag: by_order[id(one)] for tag, one in enumerate(outcome.orders, 1)}
    exits, deals = again_exits(outcome, tags), _deals(archive)
    found = []
    for terminal in sorted({name for one in sent.values() for name in one.fates}):
        closed = lived_exits(one for one in deals if one["source"] == terminal)
        for tag, number in sorted(tags.items()):
            fate, signal = sent[number].fates.get(terminal), again.signals[number]
            if fate is None:
                continue
            if wish_of(signal).is_of_held:
                changes = lived_change(fate), again_change(outcome, tag)
                found.append(Pair(terminal, signal, CHANGE, *changes, False, 1.0))
                continue
            point, is_buy = outcome.points.get(signal.symbol, 1.0), _is_buy(signal, outcome, tag)
            fills = lived_fill(fate), again_fill(outcome, tag)
            found.append(Pair(terminal, signal, "order", *fills, is_buy, point))
            if number in closed or number in exits:
                ends = closed.get(number, Fill.of([])), exits.get(number, Fill.of([]))
                found.append(Pair(terminal, signal, "exit of", *ends, not is_buy, point))
    return found


def _is_buy(signal: Signal, outcome: Outcome, tag: int) -> bool:
    """Which side an order deals; a close the one that it has dealt here."""
    if signal.side is not Side.CLOSE:
        return signal.side is Side.BUY
    types = outcome.deals["type"][outcome.deals["tag"] == tag]
    return bool(len(types)) and int(types[0]) == codes.BUY


def _deals(archive: Archive) -> list[dict[str, Any]]:
    """All deals of terminals that rules see, in their order."""
    return [
        row
        for batch in archive.read_batches("deals")
        for row in batch.to_pylist()
        if row["kind"] == DealKind.ADD and row["revision"] <= 1
    ]


def _notes(book: Book, lived: Mapping[int, Entry], sent: Mapping[int, Entry]) -> Iterable[str]:
    """What is not compared."""
    others = len(book) - len(lived)
    if others:
        yield (
            f"{others:,} orders of users, callbacks and other rule files are not dealt once more: "
            "what the account has made of these may differ by them"
        )
    unsent = len(lived) - len(sent)
    if unsent:
        yield f"{unsent:,} orders were not sent, or are not made again: see `mt5cep orders ls`"
