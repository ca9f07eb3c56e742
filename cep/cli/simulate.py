"""`mt5cep simulate`: a terminal that is not there."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from threading import Event

import click

from cep.account.market import market_of
from cep.account.simulated import account_at
from cep.cli.access import access
from cep.cli.account import ACCOUNT_FILE
from cep.cli.errors import UserError
from cep.cli.numbers import SECONDS, SPEED
from cep.cli.paths import FILE
from cep.cli.points import given_points
from cep.cli.progress import Bar, progress
from cep.cli.settings_file import CONFIG
from cep.cli.text import counted, say
from cep.cli.tick_files import load_ticks, made_up_ticks, points_of
from cep.report.tables import time_text
from mt5bridge.broker import Terms
from mt5bridge.client import ClientState, Connection
from mt5bridge.clock import monotonic_ms
from mt5bridge.escapes import one_line
from mt5bridge.history import ServerTime
from mt5bridge.simulator import (
    DEPOSIT,
    NotLetInError,
    RefusedError,
    Runner,
    Script,
    Terminal,
    prepare,
    read_script,
    simulated_hello,
    simulated_symbol,
)
from mt5bridge.wire import Hello, Side, Signal

WRONG = (
    "name the daemon's settings with --config, or its credential with --credential: of another "
    "daemon, or from before it was made anew, it is not let in; with --user, see MT5CEP_PASSWORD"
)
HINT = "name the daemon's settings with --config, or another terminal's name with --identity"


@click.command()
@click.option("--connect", help="The daemon's address, tcp://HOST:PORT; else that of its settings.")
@CONFIG
@click.option("--ticks", "files", multiple=True, type=FILE, help="Tick file; may be repeated.")
@click.option("--symbol", help="The symbol, where neither a column nor the file's name tells it.")
@click.option("--server-time", help="Clock of zoneless times: UTC, +02:00, Europe/Athens, ny+7.")
@click.option(
    "--decimal-comma", is_flag=True, help="Commas in numbers are decimal, also before 3 digits."
)
@click.option("--random", "names", multiple=True, help="Make ticks up for a symbol; repeatable.")
@click.option(
    "--count",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Ticks made up per symbol.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Other seeds make other ticks.",
)
@click.option(
    "--point", "points", multiple=True, metavar="SYMBOL=SIZE",
    help="Size of a point (default: the prices' decimals, where they suffice). Repeat it.",
)  # fmt: skip
@ACCOUNT_FILE
@click.option("--speed", type=SPEED, help="Times real time; as fast as possible if left out.")
@click.option("--script", type=FILE, help="TOML file of faults to act out.")
@click.option("--identity", default="simulator", show_default=True, help="The terminal's name.")
@click.option("--credential", type=FILE, help="A copy of the daemon's credential.txt.")
@click.option("--user", help="One of [server] users; the password is taken from MT5CEP_PASSWORD.")
@click.option(
    "--patience",
    type=SECONDS,
    default=10.0,
    show_default=True,
    help="Seconds to wait for the daemon.",
)
@click.option(
    "--stay", type=SECONDS, default=1.0, show_default=True, help="Seconds to wait for last signals."
)
def command(
    connect: str | None,
    config: Path | None,
    files: tuple[Path, ...],
    symbol: str | None,
    server_time: str | None,
    decimal_comma: bool,
    names: tuple[str, ...],
    count: int,
    seed: int,
    points: tuple[str, ...],
    account_file: Path | None,
    hedging: bool,
    speed: float | None,
    script: Path | None,
    identity: str,
    credential: Path | None,
    user: str | None,
    patience: float,
    stay: float,
) -> None:
    """Play ticks to a daemon like a terminal would.

    It speaks the terminal's protocol, executes the signals it gets, prints them, and ends when all
    ticks are acknowledged.
    """
    if bool(files) == bool(names):
        raise UserError("which ticks?", "give either --ticks FILE or --random SYMBOL")
    server = ServerTime.parse(server_time) if server_time else None
    odd = read_script(script) if script else Script()
    plain = Terms(hedging or odd.hedging, DEPOSIT, money_digits=2)
    market = market_of(account_file, plain, 0, 0.0)
    given = given_points(points)
    if files:
        ticks = load_ticks(files, symbol, server, given, decimal_comma=decimal_comma)
    else:
        ticks = made_up_ticks(names, count, seed)
    said = {} if market.account is None else market.account.points
    known = {**{name: size for name, size in said.items() if name in ticks}, **given}
    sizes = points_of(ticks, known, made_up=bool(names))
    market.check_told(ticks)  # archives believe what it tells
    symbols = {name: simulated_symbol(name, sizes[name]) for name in ticks}
    account, told = account_at(market, symbols, odd.fills)
    hello = hello_of(identity, market.terms)
    terminal = Terminal(hello, told, prepare(ticks, odd), account, odd, speed)
    daemon = access(connect, config, credential, user)
    with Connection(daemon.address, daemon.credential) as connection:
        watch = Watch(terminal, daemon.address, round(1000 * patience), round(1000 * stay))
        play(Runner(terminal, connection), watch)


def hello_of(identity: str, terms: Terms) -> Hello:
    """What the terminal says of itself and its account."""
    said = simulated_hello(identity, secrets.randbits(63), hedging=terms.hedging)
    return replace(said, leverage=round(terms.leverage), currency=terms.currency or said.currency)


class Watch:
    """Looks at a running simulation: prints its signals and says when it is done."""

    def __init__(self, terminal: Terminal, address: str, patience_ms: int, stay_ms: int) -> None:
        self.terminal = terminal
        self.address = address
        self.stay_ms = stay_ms
        self.answer_by_ms = monotonic_ms() + patience_ms
        self.end_ms: int | None = None
        self.printed: set[int] = set()
        self._seen = 0

    def done(self, bar: Bar, refusal: str) -> bool:
        """Called after every step; `refusal` is what the daemon has said, if it said one."""
        now_ms = monotonic_ms()
        client = self.terminal.client
        if client.welcome is None and now_ms > self.answer_by_ms:
            if refusal:
                raise RefusedError(refusal)
            raise UserError(f"no daemon answers at {self.address}", "start `mt5cep daemon` first")
        tape = self.terminal.tape
        bar.advance_to(self.terminal.acknowledged, len(tape) - tape.skipped)
        self._print_signals()
        if not (client.state is ClientState.LIVE and self.terminal.finished):
            self.end_ms = None
        elif self.end_ms is None:
            self.end_ms = now_ms + self.stay_ms
        return self.end_ms is not None and now_ms >= self.end_ms

    def _print_signals(self) -> None:
        signals = self.terminal.signals[self._seen :]
        self._seen += len(signals)
        for signal in signals:
            if signal.id not in self.printed:
                say(one_line(signal_text(signal)))
            self.printed.add(signal.id)


def play(runner: Runner, watch: Watch) -> None:
    """Run to the end, or until Ctrl-C, and say what happened."""
    try:
        with progress("simulate", unit="ticks") as bar:
            runner.run(Event(), lambda: watch.done(bar, runner.refusal))
    except KeyboardInterrupt:
        say("stopped", err=True)
    except RefusedError as error:
        hint = WRONG if isinstance(error, NotLetInError) else HINT
        raise UserError(f"the daemon refused this terminal: {error}", hint) from None
    terminal = watch.terminal
    parts = [
        f"{counted(terminal.acknowledged, 'tick')} acknowledged",
        counted(len(watch.printed), "signal"),
        counted(len(terminal.account.deals), "deal"),
        f"{counted(runner.drops, 'connection')} lost",
    ]
    if skipped := terminal.tape.skipped:
        parts.append(f"{counted(skipped, 'tick')} skipped: sent before, or older than what was")
    say(", ".join(parts))


def signal_text(signal: Signal) -> str:
    size = f" {signal.lots:g} lots" if signal.lots else ""
    side = Side(signal.side).name.lower()
    return f"signal {time_text(signal.time_msc)} {signal.name}: {side} {signal.symbol}{size}"
