"""What must hold when a world has come to rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cep.live.config import Config, each_file, read_config
from cep.live.journal_files import parts_of
from cep.plan import compile_rules
from mt5bridge.orders import read_book
from mt5bridge.orders.book import Book, Entry
from mt5bridge.orders.journal import read_journal
from mt5bridge.orders.request import opens
from mt5bridge.records import Records
from mt5bridge.spool import Group, RecordKind, StreamKey, read
from mt5bridge.wire import SignalStatus
from tests.world.again import rows_again
from tests.world.settings import LOTS_PER_DAY, LOTS_PER_ORDER
from tests.world.terminal import Terminal

if TYPE_CHECKING:
    from tests.world.world import World

_DAY_MS = 86_400_000
_NOTHING_DONE = (SignalStatus.REJECTED, SignalStatus.EXPIRED, SignalStatus.UNKNOWN)
_EPSILON = 1e-9


def check_end(world: World) -> None:
    """All of it; what is wrong is a problem of the world's record."""
    groups = list(read(world.folder / "spool"))
    for text in (*_records(world, groups), *_orders(world), *_rows(world, groups)):
        world.record.problem(text)


# -- every acknowledged tick and deal is stored once, and in order -------------------------------


def _records(world: World, groups: list[Group]) -> Iterator[str]:
    expected: Counter[StreamKey] = Counter()
    for group in groups:
        if group.sequence != expected[group.key] + 1:
            yield f"{group.key}: {group.sequence} follows {expected[group.key]}"
        is_gap = group.kind is RecordKind.GAP
        last = int(group.records["last"].max()) if is_gap else group.last_sequence
        expected[group.key] = last
    for terminal in world.terminals:
        for name in terminal.published:
            key: StreamKey = (terminal.identity, ("ticks", name))
            yield from _same(key, world.market[name], _stored(groups, key))
        key = (terminal.identity, ("deals",))
        yield from _same(key, terminal.deals, _stored(groups, key))
        for (identity, name), number in world.watch.stored.items():
            key = (identity, ("ticks", name) if name else ("deals",))
            if identity == terminal.identity and expected[key] < number:
                yield f"{key}: {number} was called stored, and {expected[key]} are there"


def _stored(groups: list[Group], key: StreamKey) -> list[Records]:
    return [one.records for one in groups if one.key == key and one.kind is not RecordKind.GAP]


def _same(key: StreamKey, sent: Records, stored: list[Records]) -> Iterator[str]:
    found = np.concatenate([sent[:0], *stored])
    if found.tobytes() != sent.tobytes():
        yield f"{key}: {len(found)} records are stored, not the {len(sent)} that were sent"


# -- no order is executed twice, none that was refused, none for another account -----------------


def _orders(world: World) -> Iterator[str]:
    path = world.folder / "state" / "orders.journal"
    if damaged := read_journal(path).damaged_lines:
        yield f"the order journal is damaged in lines {damaged}"
    book = read_book(path)
    for entry in book:
        yield from _entry(world, entry)
    for terminal in world.terminals:
        yield from _broker(terminal, book)
    yield from _limits(world)


def _entry(world: World, entry: Entry) -> Iterator[str]:
    name = f"{entry.request.name} {entry.request.id:016x}"
    sent = [identity for identity, number in world.watch.sent if number == entry.request.id]
    if entry.refusal is not None and sent and not entry.fates:
        yield f"{name} was refused ({entry.refusal.text}), and sent to {sent}"
    if entry.is_open:
        yield f"{name} has no end: {entry.state} {list(entry.fates)}"


def _broker(terminal: Terminal, book: Book) -> Iterator[str]:
    """What the broker did is what the journal says."""
    for login in terminal.logins:
        deals: dict[int, list[Any]] = {}
        for deal in login.account.deals:
            deals.setdefault(int(bytes(deal["comment"])[:16], 16), []).append(deal)
        for number, made in deals.items():
            entry = book.get(number)
            name = f"{number:016x} at {terminal.identity}"
            fate = entry.fates.get(terminal.identity) if entry is not None else None
            if entry is None or fate is None:
                yield f"{name} was executed, and the journal does not know it"
                continue
            lots = float(sum(deal["volume"] for deal in made))
            if opens(entry.request) and lots > (entry.request.lots or 1.0) + _EPSILON:
                yield f"{name}: {lots} lots were made of {entry.request.lots}"
            if fate.final is None:
                continue
            if fate.final.status in _NOTHING_DONE:
                yield f"{name}: {fate.final.status.name}, and {lots} lots were made"
            elif abs(fate.lots - lots) > _EPSILON:
                yield f"{name}: {fate.lots} lots were told, {lots} were made"


def _limits(world: World) -> Iterator[str]:
    """What the limits of the settings leave, counted from the brokers' deals alone."""
    lots: dict[int, float] = {}
    for terminal in world.terminals:
        for login in terminal.logins:
            for deal in login.account.deals:
                number = int(bytes(deal["comment"])[:16], 16)
                if int(deal["entry"]) == 0:
                    lots[number] = lots.get(number, 0.0) + float(deal["volume"])
    for number, made in lots.items():
        if made > 2 * LOTS_PER_ORDER + _EPSILON:
            yield f"{number:016x}: {made} lots, more than lots_per_order"
    days = 1 + abs(world.clocks.wrong_ms) // _DAY_MS + world.record.counts["jump"]
    if sum(lots.values()) > LOTS_PER_DAY * days + _EPSILON:
        yield f"{sum(lots.values()):.2f} lots were made in {days} days"


# -- the journal of rows is what a replay makes of the spool ---------------------------------------


def _rows(world: World, groups: list[Group]) -> Iterator[str]:
    for config in each_file(read_config(world.settings)):
        journal = config.state.journal
        assert journal is not None
        texts = [text for text in sorted(world.texts[config.rules.file]) if _is_good(text)]
        if journal.exists() and not any(_is_same(config, text, texts, groups) for text in texts):
            yield f"{journal.relative_to(world.folder)}: a replay makes other rows"


def _is_same(config: Config, first: str, texts: list[str], groups: list[Group]) -> bool:
    """Whether the journal is that of a run which began with the rules `first`."""
    assert config.state.journal is not None
    lived = _lines(config.state.journal)
    again = rows_again(config, first, texts, groups, lived)
    is_stopped = (config.state.folder / "stopped").exists()  # somewhere on the way
    return again[: len(lived)] == lived if is_stopped else again == lived


def _lines(path: Path) -> list[bytes]:
    parts = [*(part.path for part in parts_of(path)), path]
    data = b"".join(part.read_bytes() for part in parts if part.exists())
    return data.splitlines()


def _is_good(text: str) -> bool:
    try:
        compile_rules(text, "rules")
    except ValueError:
        return False
    return True
