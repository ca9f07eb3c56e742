"""What must hold of orders: executed once, none that was refused, none that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cep.live.config import MAIN
from cep.live.signals import signal_id
from mt5bridge.orders.book import Book, Entry
from mt5bridge.orders.journal import read_journal
from mt5bridge.orders.records import Dealt, Halted, Record, RulesHalted, Sent
from mt5bridge.orders.request import opens, order_id
from mt5bridge.records import Records
from mt5bridge.spool import Group
from mt5bridge.spool.recovery import examine
from mt5bridge.wire import Signal, SignalStatus
from tests.world.settings import LOTS_PER_DAY, LOTS_PER_ORDER, MAGIC, OTHER, OTHER_MAGIC
from tests.world.terminal import Terminal

if TYPE_CHECKING:
    from tests.world.world import World

_NOTHING_DONE = (SignalStatus.REJECTED, SignalStatus.EXPIRED, SignalStatus.UNKNOWN)
_SIGNALS = ("Fade", "Ride", "Slow", "Late", f"{OTHER}/Sink")
_EPSILON = 1e-9


def order_problems(world: World, groups: list[Group]) -> Iterator[str]:
    """All of it."""
    content = read_journal(world.folder / "state" / "orders.journal")
    if content.damaged_lines:
        yield f"the order journal is damaged in lines {content.damaged_lines}"
    book, is_torn = Book(content.records), any(map(_tells_of_damage, content.records))
    dealt = {record.ticket for record in content.records if isinstance(record, Dealt)}
    causes = _ids(examine(world.folder / "spool")[0].spool, groups)
    yield from _asked(world, book, causes)
    yield from _switched(world, content.records)
    for entry in book:
        yield from _entry(world, entry)
    for terminal in world.terminals:
        yield from _broker(world, terminal, book, dealt if is_torn else set())
        yield from _counted(terminal, dealt)
    yield from _limits(world)


def _asked(world: World, book: Book, causes: set[int]) -> Iterator[str]:
    """What is in the journal is what stored records and users have asked for."""
    orders = {order_id(client_id): client_id for client_id in world.orders}
    for entry in book:
        number = entry.request.id
        known: Any = causes if isinstance(entry.request, Signal) else orders
        if number not in known and not (isinstance(entry.request, Signal) and not entry.fates):
            yield f"{entry.request.name} {number:016x}: nobody has asked for it"
    for number, client_id in orders.items():
        if book.get(number) is None:
            yield f"order {client_id!r} was handed over, and is not in the journal"


def _ids(spool: str, groups: list[Group]) -> set[int]:
    """Of all signals that any record could lead to."""
    keys = {group.stream[1] for group in groups if group.stream[0] == "ticks"}
    return {
        signal_id(spool, name, key, group.source, "/".join(group.stream), group.sequence + at, nth)
        for group in groups
        for at in range(group.width)
        for name in _SIGNALS
        for key in keys
        for nth in range(2)
    }


def _switched(world: World, records: list[Record]) -> Iterator[str]:
    """Nothing that opens is sent while the kill switch is on. It stands as it was turned last, or
    is on after a loss of power that has torn lines in the middle of what was not synced: before
    that a release may be missing, and only `Watch` knows.
    """
    asked = Book(records)
    suspects: list[str] = []
    is_halted = is_damaged = False
    halted: dict[str, bool] = {}
    for record in records:
        if isinstance(record, RulesHalted):
            halted[record.name] = record.halted
        elif isinstance(record, Halted):
            is_halted = record.halted
            if _tells_of_damage(record):
                is_damaged = True
                suspects.clear()
        elif isinstance(record, Sent) and not record.is_question:
            entry = asked.get(record.id)
            if entry is None or not opens(entry.request):
                continue
            if is_halted or halted.get(_file_of(entry.request.magic)):
                suspects.append(f"{entry.request.name} {record.id:016x} was sent while halted")
    yield from suspects
    if world.halts and is_halted != world.halts[-1] and not is_damaged:
        yield f"the kill switch was turned to {world.halts[-1]}, and is {is_halted}"
    for name, wanted in world.rule_halts.items():
        if halted.get(name) != wanted and not is_damaged:
            yield f"the kill switch of {name} was turned to {wanted}, and is {halted.get(name)}"


def _tells_of_damage(record: Record) -> bool:
    return isinstance(record, Halted) and record.reason.startswith("damaged order journal")


def _file_of(magic: int) -> str:
    return {MAGIC: MAIN, OTHER_MAGIC: OTHER}.get(magic, "")


def _entry(world: World, entry: Entry) -> Iterator[str]:
    name = f"{entry.request.name} {entry.request.id:016x}"
    sent = [identity for identity, number in world.watch.sent if number == entry.request.id]
    if entry.refusal is not None and sent and not entry.fates:
        yield f"{name} was refused ({entry.refusal.text}), and sent to {sent}"
    is_ours = any(one.identity in entry.fates for one in world.terminals)
    if entry.is_open and is_ours and entry.request.id in world.asked_in_time:
        yield f"{name} has no end: {entry.state} {list(entry.fates)}"


def _broker(world: World, terminal: Terminal, book: Book, torn: set[int]) -> Iterator[str]:
    """What the broker did is what the journal says. Of what a loss of power has taken from it, it
    has what the deals say; where its lines are torn, deals with these tickets say all.
    """
    for login in terminal.logins:
        for number, made in _by_request(login.account.deals).items():
            entry = book.get(number)
            name = f"{number:016x} at {terminal.identity}"
            fate = entry.fates.get(terminal.identity) if entry is not None else None
            if number in book.unremembered:
                continue
            is_dealt = torn.issuperset(int(deal["ticket"]) for deal in made)
            if entry is None or fate is None:
                if not is_dealt:
                    yield f"{name} was executed, and the journal does not know it"
                continue
            is_forgotten = world.watch.sent.get((terminal.identity, number)) == ""
            if is_forgotten and not fate.account.startswith(f"{login.number}@"):
                continue  # asked about where the terminal trades today: its account is forgotten
            lots = float(sum(deal["volume"] for deal in made))
            if opens(entry.request) and lots > (entry.request.lots or 1.0) + _EPSILON:
                yield f"{name}: {lots} lots were made of {entry.request.lots}"
            if fate.final is None or is_dealt:
                continue
            if fate.final.status in _NOTHING_DONE:
                yield f"{name}: {fate.final.status.name}, and {lots} lots were made"
            elif abs(fate.lots - lots) > _EPSILON:
                yield f"{name}: {fate.lots} lots were told, {lots} were made"


def _by_request(deals: Records) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for deal in deals:
        found.setdefault(int(bytes(deal["comment"])[:16], 16), []).append(deal)
    return found


def _counted(terminal: Terminal, known: set[int]) -> Iterator[str]:
    """Each deal is in the journal that the limits are counted by after a start."""
    missing = [int(ticket) for ticket in terminal.deals["ticket"] if int(ticket) not in known]
    if missing:
        yield f"deals of {terminal.identity} are stored, and not in the order journal: {missing}"


def _limits(world: World) -> Iterator[str]:
    """What the limits of the settings leave, counted from the brokers' deals alone."""
    total = 0.0
    for terminal in world.terminals:
        for login in terminal.logins:
            for number, made in _by_request(login.account.deals).items():
                lots = float(sum(deal["volume"] for deal in made if int(deal["entry"]) == 0))
                total += lots
                if lots > LOTS_PER_ORDER + _EPSILON:
                    yield f"{number:016x}: {lots} lots, more than lots_per_order"
    if total > LOTS_PER_DAY * len(world.days) + _EPSILON:
        yield f"{total:.2f} lots were made in {len(world.days)} days"
