"""A terminal that is not there: tick base, account and dialog, without sockets."""

from __future__ import annotations

from collections.abc import Mapping

from mt5bridge.client import Client, ClientState
from mt5bridge.clock import Now
from mt5bridge.records import Records
from mt5bridge.simulator.account import Account
from mt5bridge.simulator.faults import Faults, Sending
from mt5bridge.simulator.properties import properties
from mt5bridge.simulator.recounts import Recounts
from mt5bridge.simulator.script import Script
from mt5bridge.simulator.tape import Tape
from mt5bridge.simulator.ticks import crowd, delay
from mt5bridge.wire import (
    Account as AccountFrame,
)
from mt5bridge.wire import (
    AccountMode,
    Ask,
    Deals,
    Frame,
    Halt,
    Hello,
    LostReason,
    Order,
    Signal,
    SignalResult,
    Symbol,
    Ticks,
    TradeMode,
)

POINT = 0.00001  # the usual price step
_RELEASE_MAX = 4_096  # ticks a step
_ALLOWED = 31  # everything that Allowed has
_HELD_WINDOWS = 2  # ticks kept unacknowledged at full speed, in windows


class Terminal:
    """Publishes a tape's ticks and the account's deals; executes what it is sent, if it trades.

    `speed` is simulated over real time; None is as fast as the daemon acknowledges.
    """

    def __init__(
        self,
        hello: Hello,
        symbols: Mapping[str, Symbol],
        tape: Tape,
        account: Account,
        script: Script | None = None,
        speed: float | None = None,
    ) -> None:
        self.client = Client(hello)
        self.tape = tape
        self.account = account
        self.faults = Faults(script or Script())
        self.signals: list[Signal] = []  # every signal received, repeated ones too
        self.orders: list[Order] = []
        self._trades = hello.trades
        self._speed = speed
        self._began_ms: int | None = None
        self._begun_after: dict[str, int] = {}  # by symbol, what earlier runs have sent
        self._deals_taken = 0
        self._is_all_taken = False
        self._quiet_until_ms = 0
        self._recounts = Recounts(tape)
        account.utc_offset_ms = hello.utc_offset_ms
        for name in tape.ticks:
            tape.traded(name, account.add(symbols[name]))
            self.client.add_symbol(symbols[name], properties(account.known[name]))

    def connected(self, now: Now) -> None:
        """A connection stands."""
        self.client.connected(self._simulated(now))

    def receive(self, frame: Frame, now: Now) -> None:
        """Take one frame of the daemon."""
        was_live = self.client.state is ClientState.LIVE
        self.client.receive(frame, self._simulated(now))
        if self._began_ms is None and self.client.state is ClientState.LIVE:
            self._begin(now)
        if self.client.state is ClientState.LIVE and not was_live:
            self._tell_account()
        if isinstance(frame, Halt) and frame.halted:
            self._report(self.account.halt(frame.reason))
        requests, self.client.requests = self.client.requests, []
        for request in requests:
            self._handle(request)

    def step(self, now: Now) -> Sending:
        """Let time pass; what to send."""
        if self._began_ms is not None:
            self._release(now.ms - self._began_ms)
        if now.ms < self._quiet_until_ms:
            return Sending()
        sending = self.faults.apply(self.client.outgoing(self._simulated(now)))
        if sending.silence_ms:
            self._quiet_until_ms = now.ms + sending.silence_ms
        for frame in sending.lost:
            self._lose(frame)
        return sending

    @property
    def acknowledged(self) -> int:
        """Ticks of this run that the daemon has on disk."""
        outboxes = self.client.ticks
        return sum(outboxes[name].base - 1 - after for name, after in self._begun_after.items())

    @property
    def finished(self) -> bool:
        """Whether all ticks are released and acknowledged; also true to another thread."""
        return self._is_all_taken and self.client.unacknowledged == 0

    def _simulated(self, now: Now) -> Now:
        return now._replace(utc_msc=self.tape.now_msc - self.client.utc_offset_ms)

    def _begin(self, now: Now) -> None:
        self._began_ms = now.ms
        for name in self.tape.ticks:
            position = self.client.resume(name)
            self.tape.seek(name, position)
            self._begun_after[name] = position.sequence
        self._note_whole()
        self._deals_taken = self.client.resume("").sequence
        self._take_deals()

    def _release(self, elapsed_ms: int) -> None:
        until_msc = None
        if self._speed is not None:
            until_msc = self.tape.start_msc + int(elapsed_ms * self._speed)
        elif self.client.unacknowledged >= self._held_max():
            return
        for name, ticks in self.tape.release(_RELEASE_MAX, until_msc).items():
            self.client.take_ticks(name, ticks)
            for recount in self._recounts.due(name, self.client.ticks[name]):
                self.client.tell(recount)
        self._report(self.account.take_ticks(self.tape.pass_on()))
        self._is_all_taken = self.tape.finished
        self._note_whole(until_msc)

    def _note_whole(self, until_msc: int | None = None) -> None:
        """At a pace the market goes on without ticks, too; else it stands at the last one."""
        if whole_msc := self.tape.whole_msc(until_msc):
            self.client.whole_msc = whole_msc - self.client.utc_offset_ms

    def _held_max(self) -> int:
        welcome = self.client.welcome
        return _HELD_WINDOWS * welcome.window_records if welcome else 0

    def _lose(self, frame: Ticks | Deals) -> None:
        last = frame.first + len(frame.records) - 1
        if outbox := self.client.outbox(frame.stream):
            outbox.lose(frame.first, last, LostReason.OTHER, "as scripted")

    def _handle(self, request: Signal | Order | Ask) -> None:
        if isinstance(request, Ask):
            for asked in request.ids:
                self._report(self.account.answer(asked.id))
            return
        if isinstance(request, Signal):
            self.signals.append(request)
        else:
            self.orders.append(request)
        self._report(self.account.execute(request, self._trades, self.client.halt))

    def _report(self, results: list[SignalResult]) -> None:
        """Tell what became of requests, and the deals that came with it."""
        for result in results:
            self.client.report(result)
        self._take_deals()

    def _tell_account(self) -> None:
        account = self.account
        profit, margin = account.floating, account.margin
        equity = account.balance + profit
        self.client.tell(
            AccountFrame(
                self.tape.now_msc - self.client.utc_offset_ms, account.balance, 0.0, profit, equity,
                margin, equity - margin, account.positions, account.orders, _ALLOWED,
            )
        )  # fmt: skip

    def _take_deals(self) -> None:
        deals: Records = self.account.deals[self._deals_taken :]
        if len(deals):
            self._deals_taken = len(self.account.deals)
            self.client.take_deals(deals)
            self._tell_account()


def simulated_terminal(
    ticks: Mapping[str, Records],
    *,
    identity: str = "demo",
    instance: int = 1,
    utc_offset_ms: int = 0,
    script: Script | None = None,
    account: Account | None = None,
    speed: float | None = None,
    points: Mapping[str, float] | None = None,
    trades: TradeMode = TradeMode.LIVE,
) -> Terminal:
    """A terminal that publishes recorded ticks, TICK by symbol, with a script's oddities.

    `points` gives the price step of symbols whose step is not 0.00001.

    Two runs with one `instance` are the same program to the daemon: draw it at random.
    """
    script = script or Script()
    account = account or Account(script.fills, hedging=script.hedging)
    return Terminal(
        simulated_hello(identity, instance, utc_offset_ms, trades, account.hedging),
        {name: simulated_symbol(name, (points or {}).get(name, POINT)) for name in ticks},
        prepare(ticks, script),
        account,
        script,
        speed,
    )


def prepare(ticks: Mapping[str, Records], script: Script) -> Tape:
    """A tape of these ticks with the script's oddities."""
    odd = {}
    for number, (name, array) in enumerate(ticks.items()):
        crowded = crowd(array, script.same_ms, script.seed + number) if script.same_ms else array
        odd[name] = delay(crowded, script.late, script.seed + number) if script.late else crowded
    return Tape(odd)


def simulated_hello(
    identity: str,
    instance: int,
    utc_offset_ms: int = 0,
    trades: TradeMode = TradeMode.LIVE,
    hedging: bool = False,
) -> Hello:
    """A demo account's HELLO."""
    return Hello(
        instance=instance,
        account=10_000_001,
        time_msc=0,
        utc_offset_ms=utc_offset_ms,
        leverage=100,
        account_mode=AccountMode.HEDGING if hedging else AccountMode.NETTING,
        demo=1,
        trades=trades,
        identity=identity,
        broker="Simulated Markets",
        server="Simulated-Demo",
        currency="USD",
        program="mt5bridge.simulator",
    )


def simulated_symbol(name: str, point: float = POINT) -> Symbol:
    """Usual properties; the stream number is set when it is published."""
    return Symbol(
        stream=1,
        digits=max(0, len(f"{point:.10f}".rstrip("0").partition(".")[2])),
        filling_modes=3,
        point=point,
        tick_size=point,
        contract_size=100_000.0,
        volume_min=0.01,
        volume_max=100.0,
        volume_step=0.01,
        name=name,
    )
