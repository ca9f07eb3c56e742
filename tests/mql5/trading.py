"""A trading floor: a real server on TCP, and the trader EA on an emulated terminal."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.broker_log import BrokerLog, Deal, read_broker_log
from mt5bridge.emulator.build import CompilerMissingError
from mt5bridge.emulator.script import parse_script
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.records import TICK, DealType, Records
from mt5bridge.server import Outcome, Server, Settings, Sink
from mt5bridge.terminal.sources import sources_folder
from mt5bridge.wire import (
    Order,
    OrderKind,
    OrderSide,
    Side,
    Signal,
    SignalResult,
    SignalStatus,
)
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.mql5.reinit import begin_again
from tests.waiting import LONG_MS, LONG_S, wait_until

SETTINGS = Settings(
    bind="tcp://127.0.0.1:*",
    heartbeat_ms=100,
    timeout_ms=LONG_MS,
    resend_after_ms=50,
    passwords=PASSWORDS,
)
IDENTITY = "5001@Floor/trader"
SYMBOL = "EURUSD"
BID, ASK, POINT = 1.10000, 1.10010, 0.00001
SCRIPT = """
seed {seed}
account login=5001 server=Floor name=Tester currency=EUR mode={mode} leverage=100 balance=1000000
symbol EURUSD digits=5 volume_min=0.01 volume_max=50 volume_step=0.01 {symbol}
ticks EURUSD path={ticks}
pace rate=200
sockets allowed=127.0.0.1
clock mode=real offset_ms=7200000
{broker}
attach Trader on EURUSD Address=127.0.0.1 Port={port} TimerMs=10 ReconcileSeconds=1 {inputs}
"""
_FREE = {
    "Trading": "TRADING_LIVE",
    "MaxLotsPerOrder": "0",
    "MaxLotsPerSymbol": "0",
    "MaxLotsPerDay": "0",
    "MaxOrdersPerMinute": "0",
}
_numbers = itertools.count(0x1000_0000_0000_0001)


class Floor:
    """Sends signals and orders, collects what was reported."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outcomes: list[SignalResult] = []
        self.server = Server(SETTINGS, Sink(on_outcome=self._take))
        self.terminal: EmulatedTerminal
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.server.run, args=(self._stop,))
        self._thread.start()

    @property
    def port(self) -> str:
        """Where the server listens."""
        return self.server.address.rpartition(":")[2]

    def close(self) -> None:
        """Stop the server."""
        self._stop.set()
        self.server.wake()
        self._thread.join(LONG_S)
        self.server.close()

    def wait_online(self, symbol: str = SYMBOL, identity: str = IDENTITY) -> None:
        """Wait until the trader has announced its symbol on a living connection."""
        wait_until(lambda: identity in self.server.terminals.connected())
        wait_until(lambda: identity in self.server.traders(symbol))

    def restart(self) -> None:
        """Kill the terminal and start it again; wait until its trader is there."""
        self.terminal.kill()
        self.terminal.start()
        self.wait_online()

    def reinit(
        self,
        change: str,
        *,
        online: bool = True,
        symbol: str = SYMBOL,
        identity: str = IDENTITY,
    ) -> None:
        """Change inputs or chart of the running trader; wait until it is there again."""
        connected = self._connections()
        begin_again(self.terminal, "Trader", change)
        if online:
            wait_until(lambda: self._connections() > connected)
            self.wait_online(symbol, identity)

    def _connections(self) -> int:
        return self.server.counters().get("connections", 0)

    def ask_until(self, request: Signal | Order, status: SignalStatus) -> SignalResult:
        """Send a request; its first result of this status."""
        self.server.send(IDENTITY, request)
        self.wait_status(request.id, status)
        return next(result for result in self.results(request.id) if result.status is status)

    def forget_halt(self) -> None:
        """Let the server not tell of its kill switch any more."""
        self.server._command(lambda terminals: setattr(terminals, "halt", None))

    def ask(self, request: Signal | Order) -> SignalResult:
        """Send a request; its final result."""
        self.server.send(IDENTITY, request)
        return self.final(request.id)

    def question(self, number: int) -> None:
        """Ask what became of an id."""
        self.server._command(lambda terminals: terminals.ask(IDENTITY, [number]))

    def halt(self, halted: bool, reason: str) -> None:
        """Turn the kill switch."""
        self.server._command(lambda _terminals: self.server.halt(halted, reason))

    def results(self, number: int) -> list[SignalResult]:
        """What was reported about an id, each report once."""
        found = [result for result in list(self.outcomes) if result.id == number]
        return list(dict.fromkeys(found))

    def final(self, number: int) -> SignalResult:
        """Wait for the final result of an id."""
        self.wait_status(number)
        return next(result for result in self.results(number) if result.status.final)

    def wait_status(self, number: int, status: SignalStatus | None = None) -> None:
        """Wait for a status of an id, by default for any final one."""
        wait_until(
            lambda: any(
                result.status.final if status is None else result.status is status
                for result in self.results(number)
            )
        )

    def broker(self) -> BrokerLog:
        """What the broker has done."""
        return read_broker_log(self.terminal.folder / "broker.log")

    def trades(self) -> list[Deal]:
        """All deals of the account but deposits, in their order."""
        return [deal for deal in self.broker().deals.values() if deal.type <= DealType.SELL]

    def deals(self, number: int) -> list[Deal]:
        """The deals of an id, by what the requests to the broker carried."""
        log = self.broker()
        made = {
            request.made_order
            for request in log.requests.values()
            if request.made_order and request.comment.startswith(f"{number:016x}")
        }
        return [deal for deal in log.deals.values() if deal.order in made]

    def lots(self, number: int) -> float:
        """The lots the broker has filled for an id."""
        return round(sum(deal.volume for deal in self.deals(number)), 8)

    def _take(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome.result)


def fills_and_final(floor: Floor, number: int) -> list[SignalResult]:
    """The fills and the final result of an id, each once."""
    return [result for result in floor.results(number) if result.status.final or result.deal]


@contextmanager
def trading(
    folder: Path,
    *,
    mode: str = "hedging",
    symbol: str = "",
    broker: str = "",
    inputs: Mapping[str, str] | None = None,
    prices: Records | None = None,
    trades: bool = True,
    seed: int = 1,
) -> Iterator[Floor]:
    """A floor whose trader is online, unless it is one that does not trade."""
    folder.mkdir(parents=True, exist_ok=True)
    ticks = folder / "eurusd.bin"
    ticks.write_bytes((still(60_000) if prices is None else prices).tobytes())
    given = {**_FREE, **(inputs or {})}
    floor = Floor(folder)
    try:
        script = parse_script(
            SCRIPT.format(
                seed=seed,
                mode=mode,
                symbol=symbol,
                ticks=ticks,
                broker=broker,
                port=floor.port,
                inputs=" ".join(f"{name}={value}" for name, value in given.items()),
            )
        )
        program = sources_folder() / "Experts" / "Mt5Bridge" / "Trader.mq5"
        try:
            terminal = EmulatedTerminal(
                [program], script, folder / "terminal", credential=CREDENTIAL
            )
        except CompilerMissingError as missing:
            pytest.skip(str(missing))
        with terminal:
            floor.terminal = terminal
            if trades:
                floor.wait_online()
            yield floor
    finally:
        floor.close()


def still(count: int) -> Records:
    """A market that stands still: `count` ticks of the same price, one each 5 ms."""
    ticks = np.zeros(count, TICK)
    ticks["time_msc"] = 1_750_000_000_000 + 5 * np.arange(count)
    ticks["time"] = ticks["time_msc"] // 1_000
    ticks["bid"], ticks["ask"], ticks["flags"] = BID, ASK, 6
    return ticks


def signal(side: Side, lots: float = 0.0, magic: int = 7, **more: float) -> Signal:
    """A signal with an id of its own; points and validity in `more`."""
    return Signal(
        id=next(_numbers),
        time_msc=0,
        valid_until_msc=int(more.get("valid_until_msc", 0)),
        magic=magic,
        lots=lots,
        stop_points=more.get("stop_points", 0.0),
        target_points=more.get("target_points", 0.0),
        side=side,
        name="test",
        symbol=SYMBOL,
    )


def order(
    kind: OrderKind,
    side: OrderSide = OrderSide.NONE,
    lots: float = 0.0,
    price: float = 0.0,
    *,
    magic: int = 7,
    ticket: int = 0,
    sl: float = 0.0,
    tp: float = 0.0,
    valid_until_msc: int = 0,
    symbol: str = SYMBOL,
) -> Order:
    """An order with an id of its own."""
    return Order(
        id=next(_numbers),
        time_msc=0,
        valid_until_msc=valid_until_msc,
        magic=magic,
        ticket=ticket,
        lots=lots,
        price=price,
        sl=sl,
        tp=tp,
        deviation_points=0,
        kind=kind,
        side=side,
        name="test",
        symbol=symbol,
    )
