"""`mt5cep orders`: what terminals were asked, what became of it, and the kill switch."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, Literal, NoReturn

import click

from cep.cli.errors import BAD_INPUT, UNANSWERED, UserError
from cep.cli.groups import Commands
from cep.cli.numbers import LOTS, PRICE, SECONDS
from cep.cli.orders_lost import remains, remains_json, remains_text
from cep.cli.orders_positions import command as positions_command
from cep.cli.orders_text import entry_json, entry_row, entry_text
from cep.cli.settings_file import NEEDED_CONFIG
from cep.cli.text import aligned, counted, say
from cep.live.config import Config, read_config
from cep.live.outgoing import HALTED, OFF, inbox_of, journal_path, plain
from cep.live.status_file import running
from mt5bridge.clock import monotonic_ms, now_msc
from mt5bridge.escapes import one_line
from mt5bridge.orders import (
    Book,
    Entry,
    HaltRules,
    OrderError,
    OrderRequest,
    SendOrder,
    TurnHalt,
    as_order,
    described,
    differs,
    order_id,
    read_book,
    read_journal,
    witnessed,
)
from mt5bridge.orders.records import Record
from mt5bridge.server import Request

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
WAIT = click.option(
    "--wait", type=SECONDS, default=5.0, show_default=True, help="Seconds to wait for the daemon."
)
LOOK_S = 0.1
TAKES = {
    "market": "--symbol, --side and --lots",
    "limit": "--symbol, --side, --lots and --price",
    "stop": "--symbol, --side, --lots and --price",
    "modify": "--ticket of a position or pending order, and --sl, --tp or --price",
    "cancel": "--ticket of a pending order",
    "close": "--ticket of a position, or --symbol",
}
"""Which options an order of a kind cannot do without."""
NONE = "no signal or order"


@click.group(cls=Commands)
def command() -> None:
    """List and send orders, ask what became of them, and turn the kill switch."""


command.add_command(positions_command)


@command.command("ls")
@NEEDED_CONFIG
@click.option("--open", "only_open", is_flag=True, help="Only those without a final result.")
@click.option(
    "--last",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="So many, the newest; 0: all.",
)
@JSON
def ls_command(config: Path, only_open: bool, last: int, as_json: bool) -> None:
    """List signals and orders, the newest last, whether the daemon runs or not."""
    book = Book(told_by(read_config(config)))
    found = [entry for entry in book if entry.is_open or not only_open]
    shown = found[-last:] if last else found
    if as_json:
        say(json.dumps([entry_json(entry) for entry in shown], indent=1))
        return
    rows = [["asked (UTC)", "id", "name", "what", "state", "filled", "text"]]
    say("\n".join(aligned([*rows, *map(entry_row, shown)])) if shown else NONE)
    tell_rest(book, len(found), len(shown))


def told_by(config: Config) -> list[Record]:
    """The records of the order journal; says so when a part of it cannot be read."""
    path = journal_path(config)
    content = read_journal(path)
    if content.damaged_lines:
        count = counted(len(content.damaged_lines), "damaged line")
        say(f"{path}: {count} left out", err=True)
    return content.records


def tell_rest(book: Book, found: int, shown: int) -> None:
    if shown < found:
        say(f"the newest {shown:,} of {counted(found, 'request')}; --last 0 shows all")
    for witness in book.unremembered.values():
        say(f"not known here, and executed: {one_line(witnessed(witness))}")
    if book.halted is not None and book.halted.halted:
        say(f"halted: {one_line(book.halted.reason)}; `mt5cep orders resume` ends it", err=True)


@command.command("show")
@click.argument("which", metavar="ID")
@NEEDED_CONFIG
@JSON
def show_command(which: str, config: Path, as_json: bool) -> None:
    """Show what became of one: ID is its number in hexadecimal digits, or its client's id."""
    records, ids = told_by(read_config(config)), ids_of(which)
    entry = next(filter(None, map(Book(records).get, ids)), None)
    if entry is not None:
        say(json.dumps(entry_json(entry), indent=1) if as_json else entry_text(entry))
    elif found := remains(records, ids):
        say(remains_json(found) if as_json else remains_text(found))
    else:
        raise UserError(f"{which}: never asked for", "`mt5cep orders ls --last 0` lists all")


def ids_of(which: str) -> list[int]:
    """What a client's id or hexadecimal digits may mean."""
    numbers = [order_id(which)]
    if 0 < len(which) <= 16 and all(digit in "0123456789abcdefABCDEF" for digit in which):
        numbers.append(int(which, 16))
    return numbers


@command.command("send")
@NEEDED_CONFIG
@click.option("--client-id", help="Makes it happen once, however often it is sent; else random.")
@click.option(
    "--kind",
    type=click.Choice(["market", "limit", "stop", "modify", "cancel", "close"]),
    default="market",
    show_default=True,
    help="What it does.",
)
@click.option("--symbol", default="", help="The symbol.")
@click.option("--side", type=click.Choice(["buy", "sell"]), help="For market, limit and stop.")
@click.option("--lots", type=LOTS, default=0.0, help="The size; with close, 0 is all.")
@click.option("--price", type=PRICE, default=0.0, help="For limit and stop.")
@click.option("--sl", type=PRICE, default=0.0, help="Stop loss, a price.")
@click.option("--tp", type=PRICE, default=0.0, help="Take profit, a price.")
@click.option(
    "--ticket",
    type=click.IntRange(0, 2**64 - 1),
    default=0,
    help="The position or pending order meant.",
)
@click.option("--terminal", help="The terminal's name, if several could do it.")
@click.option(
    "--magic",
    type=click.IntRange(-(2**63), 2**63 - 1),
    help="Magic number; else that of the settings.",
)
@click.option(
    "--valid-seconds",
    type=click.IntRange(0, 1_000_000_000),
    help="How long it is good; 0: for ever.",
)
@click.option(
    "--deviation-points",
    type=click.IntRange(0, 2**32 - 1),
    help="How far the price may have moved.",
)
@click.option(
    "--wait", type=SECONDS, default=10.0, show_default=True, help="Seconds to wait for an answer."
)
@JSON
def send_command(
    config: Path,
    client_id: str | None,
    side: Literal["buy", "sell"] | None,
    wait: float,
    as_json: bool,
    **rest: Any,
) -> None:
    """Hand an order to the running daemon, and wait for what becomes of it.

    The daemon's risk guard judges it; `[orders] send` must be true. The exit code is 2 when it was
    refused, rejected or came too late, 4 when there was no answer yet.
    """
    settings = read_config(config)
    request = OrderRequest(
        client_id=client_id or f"cli-{secrets.token_hex(6)}", side=side or "", **rest
    )
    try:
        check_client_id(settings, request)
    except OrderError as error:
        raise UserError(str(error), f"{request.kind} takes {TAKES[request.kind]}") from error
    check_running(settings)
    if not settings.orders.send:
        raise UserError(OFF)
    asked_msc = now_msc()
    inbox_of(settings).put(SendOrder(request, asked_msc), asked_msc)
    entry = awaited(lambda: answered(settings, order_id(request.client_id)), wait)
    report(entry, request.client_id, as_json)


def check_client_id(config: Config, request: OrderRequest) -> None:
    """UserError when another order was asked for by this id: nothing would become of this one."""
    defaults = config.orders.defaults()
    order = as_order(request, defaults, now_msc())
    waiting = inbox_of(config).waiting()  # before the journal, which they go to
    before: list[tuple[Request, str | None]] = [
        (as_order(one.order, defaults, one.asked_msc), one.order.terminal or defaults.terminal)
        for one in waiting
        if isinstance(one, SendOrder) and one.order.client_id == request.client_id
    ]
    if (known := read_book(journal_path(config)).get(order.id)) is not None:
        before.append((known.request, known.asked.terminal))
    for other, terminal in before:
        is_elsewhere = request.terminal is not None and request.terminal != terminal
        if is_elsewhere or differs(other, order):
            raise UserError(
                f"{request.client_id}: was asked before as {described(other)}"
                f"{told_apart(other, order)}" + f", for {terminal}" * is_elsewhere,
                "use another --client-id for another order",
            )


def told_apart(before: Request, now: Request) -> str:
    """What an order said elsewhere than in its words."""
    names = ("sl", "tp", "ticket", "magic", "deviation_points")
    pairs = [(name, getattr(before, name, None), getattr(now, name, None)) for name in names]
    return "".join(f", {name} {old}" for name, old, new in pairs if old != new)


def check_running(config: Config) -> None:
    """UserError when no daemon runs with these settings: an order must not wait for one."""
    if running(config) is None:
        raise UserError("no daemon runs with these settings", "start `mt5cep daemon` first")


def answered(config: Config, identifier: int) -> Entry | None:
    """The order, once there is an answer that stays."""
    entry = read_book(journal_path(config)).get(identifier)
    if entry is None or not entry.is_decided:
        return None
    is_placed = all(fate.state == "placed" for fate in entry.fates.values())
    return entry if is_placed or not entry.is_open else None


def awaited(look: Callable[[], Any], seconds: float) -> Any:
    """What `look` finds, None after so many seconds."""
    end_ms, pause = monotonic_ms() + 1_000 * seconds, Event()
    while (found := look()) is None and monotonic_ms() < end_ms:
        pause.wait(LOOK_S)
    return found


def unanswered(text: str) -> NoReturn:
    """Say that there was no answer in time, which has an exit code of its own."""
    say(text)
    raise click.exceptions.Exit(UNANSWERED)


def report(entry: Entry | None, client_id: str, as_json: bool) -> None:
    """Print an answer; a bad one ends with exit code 2."""
    if entry is None:
        unanswered(f"{client_id}: handed over, no answer yet; `mt5cep orders show {client_id}`")
    say(json.dumps(entry_json(entry), indent=1) if as_json else entry_text(entry))
    if entry.state in ("refused", "rejected", "expired", "unknown"):
        raise click.exceptions.Exit(BAD_INPUT)


@command.command("halt")
@NEEDED_CONFIG
@click.option("--reason", default="by hand", show_default=True, help="Why; terminals show it.")
@WAIT
def halt_command(config: Path, reason: str, wait: float) -> None:
    """Turn the kill switch on: nothing that opens or enlarges a position leaves any more.

    Terminals are told too. Works also when the daemon is down: it comes up halted.
    """
    turn(read_config(config), TurnHalt(True, plain(reason)), HALTED[True], wait)


@command.command("resume")
@NEEDED_CONFIG
@click.option("--reason", default="by hand", show_default=True, help="Why.")
@WAIT
def resume_command(config: Path, reason: str, wait: float) -> None:
    """Turn the kill switch off."""
    turn(read_config(config), TurnHalt(False, plain(reason)), HALTED[False], wait)


def turn(config: Config, command: TurnHalt | HaltRules, what: str, wait: float) -> None:
    """Hand the turn of a kill switch over, and tell what becomes of it: `what` is so then."""
    asked_msc = now_msc()
    path = inbox_of(config).put(command, asked_msc)
    if running(config) is None:
        say(f"no daemon runs: {what} as soon as one does")
    elif awaited(lambda: None if path.exists() else path, wait) is None:
        unanswered(f"handed over, not taken yet: {what} when the daemon looks")
    else:
        say(HALTED[command.halted])
