"""A terminal of a world: a tick base, accounts at the broker, a program that may begin anew."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np

from mt5bridge.client import Client, ClientState
from mt5bridge.clock import Now
from mt5bridge.position import Position
from mt5bridge.records import DEAL, Records
from mt5bridge.server import owner_of
from mt5bridge.simulator import Account, simulated_hello, simulated_symbol
from mt5bridge.simulator.tape import behind
from mt5bridge.wire import (
    Account as AccountFrame,
)
from mt5bridge.wire import (
    Ask,
    Hello,
    Order,
    Signal,
    SignalResult,
    TradeMode,
    WireError,
    decode,
    encode,
)
from tests.world.machine import Clocks
from tests.world.network import Connection, Lines

_ALLOWED = 31


@dataclass
class Login:
    """An account at the broker, which lives on whatever becomes of the terminal."""

    number: int
    account: Account
    seen: dict[str, int] = field(default_factory=dict)
    """How many ticks of each symbol it has seen."""
    deals_kept: int = 0
    """How many of the account's deals the terminal's store has."""


class Terminal:
    """Publishes the ticks of `published` and trades `traded`, both names of `market`.

    The market goes on by the world's time, whether the terminal is connected or not. Deals have
    numbers in the order in which they came, over all logins.
    """

    def __init__(
        self,
        identity: str,
        market: Mapping[str, Records],
        published: tuple[str, ...],
        traded: tuple[str, ...],
        clocks: Clocks,
        chance: random.Random,
    ) -> None:
        self.identity, self.market, self.published, self.traded = (
            identity,
            market,
            published,
            traded,
        )
        self.chance = chance
        self.line: Connection | None = None
        self.logins = [self._login(10_000_001 + i) for i in range(2)]
        self.login = self.logins[0]
        self.deals: Records = np.empty(0, DEAL)
        self.requests: deque[Signal | Order | Ask] = deque()
        self.unknown: set[int] = set()
        """Requests of which the terminal has said that it never saw them."""
        self.wrong_ms = 0
        self._clocks = clocks
        self._instance = 0
        self.begin()

    def _login(self, number: int) -> Login:
        # two terminals may log in to one account, where a ticket is one deal: none is of both
        first_ticket = (crc32(self.identity.encode()) << 20) + number % 100 * 10_000
        account = Account(fills=self.chance.choice(((1.0,), (0.5, 0.5))), first_ticket=first_ticket)
        for name in self.traded:
            account.add(simulated_symbol(name))
        return Login(number, account, dict.fromkeys(self.traded, 0))

    @property
    def now(self) -> Now:
        """By the terminal's clocks."""
        return Now(self._clocks.ms, self._clocks.utc_msc + self.wrong_ms)

    @property
    def trades(self) -> bool:
        return bool(self.traded)

    @property
    def owner(self) -> str:
        """Names the account that it is logged in to."""
        return owner_of(self._hello())

    def _hello(self) -> Hello:
        mode = TradeMode.LIVE if self.traded else TradeMode.NONE
        hello = simulated_hello(self.identity, self._instance, trades=mode)
        return replace(hello, account=self.login.number)

    def begin(self) -> None:
        """The program begins, and remembers nothing; base and broker do."""
        self._instance += 1
        self.client = Client(self._hello(), batch_records=self.chance.choice((1, 4, 9)))
        for name in dict.fromkeys((*self.published, *self.traded)):
            self.client.add_symbol(simulated_symbol(name))
        self.requests.clear()
        self.taken: dict[str, int] | None = None  # unknown until WELCOME
        self._deals_taken = 0
        self.names = {symbol.stream: symbol.name for symbol in self.client.symbols.values()}

    def switch(self) -> None:
        """Log in to the other account: the program begins anew."""
        self.login = self.logins[1 - self.logins.index(self.login)]
        self.begin()

    def connect(self, lines: Lines, user: str) -> None:
        self.line = lines.connect(user)
        self.client.connected(self.now)

    def drop(self, lines: Lines) -> None:
        """Give a connection up; what has arrived on it is taken before."""
        line, self.line = self.line, None
        if line is not None:
            lines.hang_up(line)
            self._take(line, len(line.down))
        self.client.disconnected()

    def step(self, lines: Lines) -> None:
        """Time has passed: take what has come, and send what is due."""
        if self.line is None:
            return
        if not self.line.is_open or self.client.state is ClientState.REFUSED:
            self.drop(lines)
            return
        self._take(self.line, self.chance.randint(0, len(self.line.down)))
        if self.client.silent(self.now):
            self.drop(lines)
            return
        self._pass_time()
        self._answer()
        frames = self.client.outgoing(self.now, frames_max=self.chance.randint(1, 6))
        self.line.up.extend(map(encode, frames))

    @property
    def is_done(self) -> bool:
        """Whether the daemon has all that there is."""
        taken = self.taken
        return taken is not None and not self.client.unacknowledged and not self.requests and all(
            taken[name] == len(self.market[name]) for name in self.published
        )  # fmt: skip

    def _take(self, line: Connection, count: int) -> None:
        for _ in range(count):
            try:
                frame = decode(line.down.popleft())
            except WireError:
                continue
            self.client.receive(frame, self.now)
            if self.client.state is ClientState.LIVE and self.taken is None:
                self._seek()  # at once: a later WELCOME may tell of what another program sent
            found, self.client.requests = self.client.requests, []
            self.requests.extend(found)

    def _seek(self) -> None:
        """6.7: go on in the tick base by time and count, in the deals by number."""
        self.taken = {name: self._place(name, self.client.resume(name)) for name in self.published}
        self._deals_taken = self.client.resume("").sequence
        self._report([])
        self._tell_account()

    def _place(self, name: str, position: Position) -> int:
        return behind(self.market[name]["time_msc"], position) if position.count_at_msc else 0

    def _pass_time(self) -> None:
        """The market has gone on."""
        if self.taken is None:
            return
        for name in self.published:
            first, end = self.taken[name], self._due(name)
            if end > first:
                self.taken[name] = end
                self.client.take_ticks(name, self.market[name][first:end])
        if self.published:
            self.client.whole_msc = min(map(self._whole_msc, self.published))
        fresh = {}
        for name, seen in self.login.seen.items():
            if (end := self._due(name)) > seen:
                fresh[name], self.login.seen[name] = self.market[name][seen:end], end
        self._report(self.login.account.take_ticks(fresh))

    def _due(self, name: str) -> int:
        """How many ticks of a symbol have come."""
        times = self.market[name]["time_msc"]
        return int(np.searchsorted(times, self._clocks.utc_msc, side="right"))

    def _whole_msc(self, name: str) -> int:
        """All earlier ticks of a symbol are taken."""
        assert self.taken is not None
        times, taken = self.market[name]["time_msc"], self.taken[name]
        return int(times[taken]) if taken < len(times) else self._clocks.utc_msc

    def _answer(self) -> None:
        """Do some of what was asked."""
        for _ in range(self.chance.randint(0, len(self.requests))):
            request = self.requests.popleft()
            if isinstance(request, Ask):
                for asked in request.ids:
                    self._report(self._asked(asked.id))
            else:
                self._report(self.login.account.execute(request, halt=self.client.halt))

    def _asked(self, number: int) -> list[SignalResult]:
        if number not in self.login.account.executed:
            self.unknown.add(number)
        return self.login.account.answer(number)

    def _report(self, results: list[SignalResult]) -> None:
        for result in results:
            self.client.report(result)
        self._keep_deals()
        if self.taken is not None and len(self.deals) > self._deals_taken:
            fresh = self.deals[self._deals_taken :]
            self._deals_taken = len(self.deals)
            self.client.take_deals(fresh)
            self._tell_account()

    def _keep_deals(self) -> None:
        """The program's store of deals is on disk, and has the numbers."""
        made, kept = self.login.account.deals, self.login.deals_kept
        if len(made) > kept:
            self.deals = np.concatenate([self.deals, made[kept:]])
            self.login.deals_kept = len(made)

    def _tell_account(self) -> None:
        account = self.login.account
        profit = account.floating
        equity = account.balance + profit
        self.client.tell(
            AccountFrame(
                self.now.utc_msc, account.balance, 0.0, profit, equity, 0.0, equity,
                account.positions, account.orders, _ALLOWED,
            )
        )  # fmt: skip
