"""One world of the crash proof: a terminal and a server that die, and the account at the end."""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event

import numpy as np

from benchmarks.faults import told
from benchmarks.orders_faults import ACCOUNTS, closes, life
from benchmarks.orders_plan import ASK, BID, MAGICS, is_change, is_close, meant_for, requests
from benchmarks.orders_server import BEGUN, DONE, JOURNAL, KILLED, Work, serve
from mt5bridge.clock import monotonic_ms
from mt5bridge.emulator.broker_log import BrokerLog, Deal, read_broker_log
from mt5bridge.emulator.script import Script, parse_script
from mt5bridge.emulator.terminal import EmulatedTerminal, EmulatorError, Result
from mt5bridge.orders import read_book
from mt5bridge.orders.book import Entry
from mt5bridge.records import TICK, DealType
from mt5bridge.terminal.sources import sources_folder
from mt5bridge.wire import Order, Signal, SignalStatus
from tests.credentials import CREDENTIAL

_NOTHING_DONE = (SignalStatus.REJECTED, SignalStatus.EXPIRED, SignalStatus.UNKNOWN)
_FINAL = (SignalStatus.EXECUTED, SignalStatus.CANCELLED, *_NOTHING_DONE)
PATIENCE_S = 600.0
_UNTOLD = 255  # by a fork server that was ended itself; one that fails ends with 1
SCRIPT = """
seed {seed}
account login=5001 server=Crash currency=EUR mode={mode} leverage=500 balance=100000000
symbol EURUSD digits=5 volume_min=0.01 volume_max=50 volume_step=0.01 execution=3 filling_modes=2
ticks EURUSD path={ticks}
pace rate=100
sockets allowed=127.0.0.1 short=0.2 dummy=0.3
clock mode=real offset_ms=7200000
broker latency_ms=0..4 fills=1..3 fill_delay_ms=0..6 history_delay_ms=0..4 duplicates=0.1
broker timeout=0.05 lost=0.03 in_flight=0.5 in_flight_delay_ms=0..300 comments={comments}
broker liquidity={liquidity} reject=10006:0.02 reject=10004:0.1 reject=10020:0.1
attach Trader on EURUSD Trading=TRADING_LIVE Address=127.0.0.1 Port={port} TimerMs=5 \
ReconcileSeconds=1 MaxLotsPerOrder=0 MaxLotsPerSymbol=0 MaxLotsPerDay=0 MaxOrdersPerMinute=0 \
Filling=FILLING_AVAILABLE CarryId={carrier}
"""


@dataclass
class Account:
    """What a world has come to; everything is counted from the logs of both sides."""

    points: int = 0
    terminal_crashes: int = 0
    server_crashes: int = 0
    both: int = 0
    reinitialisations: int = 0
    account_switches: int = 0
    file_failures: int = 0
    requests: int = 0
    executed: int = 0
    cancelled: int = 0
    expired: int = 0
    rejected: int = 0
    not_found: int = 0  # of the rejected: in doubt, and the broker has never heard of it
    unknown: int = 0  # asked about only, since its time had passed, and never seen by the terminal
    deals: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, other: Account) -> None:
        """Sum up."""
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


# Servers are forked from a process that has imported everything, so that a life begins at once.
_NURSERY = multiprocessing.get_context("forkserver")
_NURSERY.set_forkserver_preload(["benchmarks.orders_server"])


class World:
    """A seed decides everything but the scheduling of the two processes."""

    def __init__(self, folder: Path, seed: int, points: int, wanted: int) -> None:
        self.folder, self.seed, self.points, self.wanted = folder, seed, points, wanted
        self.random = random.Random(seed)
        self.account = Account(requests=wanted)
        self.traders = list(ACCOUNTS)[: 1 + seed % 2]  # every second world has two accounts
        self.port = _free_port()
        folder.mkdir(parents=True, exist_ok=True)
        mode = self.random.choice(("netting", "hedging"))
        # What partial closes leave of many small positions would be closed in vain for ever.
        liquidity = self.random.choice(("1", "0.7")) if mode == "netting" else "1"
        carrier = self.random.choice(("ID_IN_COMMENT", "ID_IN_MAGIC"))
        kept = ("keep", "cut:20") if carrier == "ID_IN_COMMENT" else ("drop", "keep")
        self.script: Script = parse_script(
            SCRIPT.format(
                seed=seed,
                mode=mode,
                ticks=_write_ticks(folder / "eurusd.bin"),
                comments=self.random.choice(kept),
                liquidity=liquidity,
                port=self.port,
                carrier=carrier,
            )
        )
        program = sources_folder() / "Experts" / "Mt5Bridge" / "Trader.mq5"
        self.terminal = EmulatedTerminal(
            [program], self.script, folder / "terminal", credential=CREDENTIAL
        )

    def run(self) -> Account:
        """Crash at all points, then let everything come to its end, and check."""
        server = None
        with self.terminal:
            self.terminal.kill()
            for _ in range(self.points):
                server = self._point(server)
            self._begin(0, last=True)
            server = server or self._serve(0)
            if not _until(lambda: (self.folder / DONE).exists(), PATIENCE_S):
                self.account.problems.append("not everything came to an end")
            _end(server)
            self._count(self.terminal.stop())
        self._check()
        return self.account

    def _point(self, server: BaseProcess | None) -> BaseProcess | None:
        """One crash of the terminal, of the server, or of both; whoever lives on goes on."""
        dies = self.random.choice(("terminal", "server", "both"))
        terminal_at = self.random.randint(1, 160) if dies != "server" else 0
        server_at = self.random.randint(1, 80) if dies != "terminal" else 0
        if server is not None and server_at:
            _end(server)
            server = None
        server = server or self._serve(server_at)
        self._begin(terminal_at)
        self.account.points += 1
        self.account.terminal_crashes += dies == "terminal"
        self.account.server_crashes += dies == "server"
        self.account.both += dies == "both"
        self._wait_end(server if server_at else None, bool(terminal_at))
        self._count(self.terminal.kill())
        if not server_at:
            return server
        if _end(server) not in (KILLED, -9, _UNTOLD):
            self.account.problems.append(f"the server ended with {server.exitcode}")
        return None

    def _wait_end(self, server: BaseProcess | None, terminal: bool) -> None:
        """Wait for the first crash, and a moment for the other, which may never come alone.

        With nothing left to do there is none, and the caller's kill is the crash.
        """

        def ended() -> bool:
            server_ended = server is not None and not server.is_alive()
            return server_ended or (terminal and not self.terminal.running)

        if (close := closes(self.random)) is not None:
            self._close(close, ended)
        if not _until(lambda: ended() or (self.folder / DONE).exists(), PATIENCE_S):
            self.account.problems.append("a crash that was due did not come")
        if server is not None and terminal:
            moment_s = self.random.random() * 0.3
            _until(lambda: not server.is_alive() and not self.terminal.running, moment_s)

    def _close(self, command: str, ended: Callable[[], bool]) -> None:
        """Close the terminal at a moment of its life, unless that has ended before."""
        _until(ended, self.random.random() * 0.4)
        if self.terminal.running:
            with contextlib.suppress(EmulatorError):  # it has ended just now
                self.terminal.act(command)

    def _begin(self, crash_at: int, *, last: bool = False) -> None:
        crash = (f"crash effect={crash_at}",) if crash_at else ()
        more = life(self.random, switches=len(self.traders) > 1, last=last)
        self.terminal.script = self.script.plus(*crash, *more)
        self.terminal.start()

    def _count(self, result: Result) -> None:
        for name, count in told(result.journal).items():
            setattr(self.account, name, getattr(self.account, name) + count)

    def _serve(self, die_at: int) -> BaseProcess:
        work = Work(self.port, self.seed, self.wanted, tuple(self.traders))
        process = _NURSERY.Process(target=serve, args=(self.folder, work, die_at), daemon=True)
        process.start()
        return process

    def _check(self) -> None:
        logs = {name: read_broker_log(self._log_path(name)) for name in self.traders}
        book = read_book(self.folder / JOURNAL)
        begun = int((self.folder / BEGUN).read_text())
        claimed: dict[str, set[int]] = {name: set() for name in self.traders}
        for request in requests(self.seed, self.wanted, begun):
            entry, name = book.get(request.id), meant_for(request, self.traders)
            if entry is None:
                self.account.problems.append(f"{request.id:016x} is not in the server's journal")
                continue
            claimed[name] |= self._check_one(request, entry, logs[name], name)
        for name, log in logs.items():
            trades = {deal.ticket for deal in log.deals.values() if deal.type <= DealType.SELL}
            self.account.deals += len(trades)
            if unclaimed := trades - claimed[name]:
                self.account.problems.append(f"{name}: nobody asked for {sorted(unclaimed)}")

    def _log_path(self, trader: str) -> Path:
        """Of the account that a trader has."""
        first = trader == self.traders[0]
        name = "broker" if first else f"broker-{trader.partition('/')[0]}"
        return self.terminal.folder / f"{name}.log"

    def _check_one(
        self, request: Signal | Order, entry: Entry, log: BrokerLog, trader: str
    ) -> set[int]:
        """One id: executed at most once, told completely, and as it was."""
        name = f"{request.id:016x}"
        sent = [each for each in log.requests.values() if each.comment.startswith(name)]
        sent = [each for each in sent if each.action in (1, 5)]
        problem = self.account.problems.append
        if len({each.comment.split(" ")[0] for each in sent}) != len(sent):
            problem(f"{name} was sent {len(sent)} times")
        if len(sent) > 1 and not is_close(request):
            problem(f"{name} took {len(sent)} orders")
        orders = {each.made_order for each in sent if each.made_order}
        deals = {deal.ticket: deal for deal in log.deals.values() if deal.order in orders}
        fate = entry.fates.get(trader)
        finals = [each for each in fate.results if each.status in _FINAL] if fate else []
        if entry.state == "refused" and request.valid_until_msc and not sent:
            self.account.expired += 1  # before a slow server came to ask it
            return set()
        if fate is None or len(finals) != 1 or len(entry.fates) != 1:
            problem(f"{name} has {len(finals)} final results ({entry.state}: {entry.text})")
            return set(deals)
        told = {each.deal: each for each in fate.results if each.deal}
        if {number: (each.lots, each.price) for number, each in told.items()} != {
            number: (deal.volume, deal.price) for number, deal in deals.items()
        }:
            problem(f"{name}: told deals {sorted(told)}, the broker made {sorted(deals)}")
        self._check_final(request, finals[0].status, finals[0].text, list(deals.values()))
        return set(deals)

    def _check_final(
        self, request: Signal | Order, status: SignalStatus, text: str, deals: list[Deal]
    ) -> None:
        lots = round(sum(deal.volume for deal in deals), 8)
        self.account.executed += status is SignalStatus.EXECUTED
        self.account.cancelled += status is SignalStatus.CANCELLED
        self.account.expired += status is SignalStatus.EXPIRED
        self.account.rejected += status is SignalStatus.REJECTED
        self.account.not_found += text == "not found at the broker"
        self.account.unknown += status is SignalStatus.UNKNOWN
        whole = is_close(request) or lots == request.lots
        if is_change(request) and deals:
            self.account.problems.append(f"{request.id:016x} deals nothing, but {lots} lots")
        is_dealt = (deals and whole) or is_change(request)
        if status is SignalStatus.EXECUTED and not is_dealt:
            self.account.problems.append(f"{request.id:016x} executed, but {lots} lots")
        if status in _NOTHING_DONE and deals:
            self.account.problems.append(f"{request.id:016x} {status.name}, but {lots} lots")
        if any(deal.magic not in (*MAGICS, request.id) for deal in deals):
            self.account.problems.append(f"{request.id:016x}: a deal has another magic number")


def _end(server: BaseProcess) -> int | None:
    """Kill a server, unless it has died by itself; how it ended."""
    server.kill()
    server.join()
    return server.exitcode


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    end_ms = monotonic_ms() + int(1_000 * seconds)
    pause = Event()
    while not condition():
        if monotonic_ms() > end_ms:
            return False
        pause.wait(0.003)
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_ticks(path: Path) -> Path:
    ticks = np.zeros(200_000, TICK)
    ticks["time_msc"] = 1_750_000_000_000 + 10 * np.arange(len(ticks))
    ticks["time"] = ticks["time_msc"] // 1_000
    ticks["bid"], ticks["ask"], ticks["flags"] = BID, ASK, 6
    path.write_bytes(ticks.tobytes())
    return path


def worlds(points: int, each: int, seed: int) -> Iterator[tuple[int, int]]:
    """Seeds and numbers of points of the worlds that make `points` together."""
    while points > 0:
        yield seed, min(points, each)
        points -= each
        seed += 1
