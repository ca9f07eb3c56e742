"""The order desk once more, slow and obvious: a list of facts, and everything counted anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mt5bridge.orders import Limits
from mt5bridge.orders.records import Dealt
from mt5bridge.server import Request
from mt5bridge.wire import Order, OrderKind, Side, Signal, SignalResult, SignalStatus

MINUTE_MS, DAY_MS = 60_000, 86_400_000
FILLS = (SignalStatus.PARTIAL, SignalStatus.EXECUTED)


@dataclass
class Attempt:
    """A request at one terminal; `asked`: only what became of it was asked."""

    request: Request
    terminal: str
    at_msc: int
    asked: bool = False
    unsent: bool = False
    told: list[SignalResult] = field(default_factory=list)
    known_msc: int = 0

    @property
    def is_over(self) -> bool:
        ends = [r.status.final or (self.asked and r.status is SignalStatus.UNKNOWN)
                for r in self.told]  # fmt: skip
        return self.unsent or any(ends)

    @property
    def filled(self) -> float:
        return sum(r.lots for r in self.told if r.status in FILLS)


def opens(request: Request) -> bool:
    if isinstance(request, Signal):
        return request.side is not Side.CLOSE
    return request.kind in (OrderKind.MARKET, OrderKind.LIMIT, OrderKind.STOP)


@dataclass
class Reference:
    """All that has happened, in order; terminals are `{name: (owner, symbols)}`."""

    limits: Limits
    terminals: dict[str, tuple[str, tuple[str, ...]]]
    decided: dict[int, str] = field(default_factory=dict)  # id: "sent" or the refusal's begin
    attempts: list[Attempt] = field(default_factory=list)
    happened: list[tuple[str, SignalResult, Request] | Dealt] = field(default_factory=list)
    floating: dict[str, float] = field(default_factory=dict)
    halted: bool = False

    # -- judging -------------------------------------------------------------------------------

    def judge(self, request: Request, named: str | None, now_msc: int, before: bool) -> str:
        """What becomes of a new request: sent, asked, or the begin of the refusal."""
        to = self.to(request, named)
        why = self.refusal(request, named, to, now_msc)
        if before and to and (why is not None or self.unwanted(request, now_msc)):
            return "asked"
        return why or "sent"

    def to(self, request: Request, named: str | None) -> list[str]:
        return [name for name, (_, symbols) in self.terminals.items()
                if named in (None, name) and request.symbol in symbols]  # fmt: skip

    def unwanted(self, request: Request, market_msc: int) -> bool:
        late = 0 < request.valid_until_msc < market_msc
        return late or self.limits.dry_run or (self.halted and opens(request))

    def refusal(
        self, request: Request, named: str | None, to: Sequence[str], now_msc: int
    ) -> str | None:
        if 0 < request.valid_until_msc < now_msc:
            return f"{now_msc - request.valid_until_msc:,} ms too late"
        if opens(request) and (over := self.over(request, to, now_msc)):
            return over
        if not to:
            return f"terminal {named} does not trade" if named else "no terminal trades"
        if isinstance(request, Order) and len(to) > 1:
            return ", ".join(to)
        return "would be sent" if self.limits.dry_run else None

    def over(self, request: Request, to: Sequence[str], now_msc: int) -> str | None:
        limits, lots = self.limits, request.lots or self.limits.lots_assumed
        each = lots * max(1, len(to))
        if self.halted:
            return "halted"
        if limits.lots_per_order and lots > limits.lots_per_order + 1e-6:
            return "lots_per_order"
        if limits.lots_per_symbol and (
            self.open_lots(request.symbol) + each > limits.lots_per_symbol + 1e-6
        ):
            return "lots_per_symbol"
        if limits.lots_per_day and self.lots_today(now_msc) + each > limits.lots_per_day + 1e-6:
            return "lots_per_day"
        if limits.orders_per_minute and (
            self.last_minute(now_msc) + max(1, len(to)) > limits.orders_per_minute
        ):
            return "orders_per_minute"
        losses = [self.loss(owner, now_msc) for owner in {self.terminals[t][0] for t in to}]
        if limits.loss_per_day and any(loss >= limits.loss_per_day - 1e-6 for loss in losses):
            return "loss_per_day"
        return None

    # -- counting ------------------------------------------------------------------------------

    def counted(self) -> Iterator[tuple[Attempt, float]]:
        """What was sent to open, with its lots."""
        for attempt in self.attempts:
            if opens(attempt.request) and not attempt.unsent:
                yield attempt, attempt.request.lots or self.limits.lots_assumed

    def last_minute(self, now_msc: int) -> int:
        return sum(attempt.at_msc > now_msc - MINUTE_MS for attempt, _ in self.counted())

    def lots_today(self, now_msc: int) -> float:
        return sum(
            min(lots, attempt.filled) if attempt.is_over else lots
            for attempt, lots in self.counted()
            if self.day(attempt.at_msc) == self.day(now_msc)
        )

    def day(self, time_msc: int) -> int:
        return (time_msc - self.limits.day_begins_minutes * MINUTE_MS) // DAY_MS

    def loss(self, owner: str, now_msc: int) -> float:
        brought = sum(
            deal.profit or 0.0
            for deal in self.deals().values()
            if deal.owner == owner and self.day(deal.time_msc) == self.day(now_msc)
        )
        return -(brought + self.floating.get(owner, 0.0))

    def open_lots(self, symbol: str) -> float:
        rests = sum(max(0.0, lots - attempt.filled) for attempt, lots in self.counted()
                    if attempt.request.symbol == symbol and not attempt.is_over)  # fmt: skip
        positions: dict[tuple[str, int], float] = {}
        for deal in self.deals().values():
            if deal.symbol == symbol:
                key = (deal.owner, deal.position)
                positions[key] = positions.get(key, 0.0) + (deal.lots or 0.0)
        return rests + sum(map(abs, positions.values())) + abs(self.net_of_fills(symbol))

    def deals(self) -> dict[tuple[str, int], Dealt]:
        """The newest revision of each; exits of positions nobody has seen opened have no lots."""
        found: dict[tuple[str, int], Dealt] = {}
        strangers = set()
        held: dict[tuple[str, int], float] = {}
        for deal in [fact for fact in self.happened if isinstance(fact, Dealt)]:
            key, position = (deal.owner, deal.ticket), (deal.owner, deal.position)
            if key not in found and deal.is_exit and abs(held.get(position, 0.0)) < 1e-6:
                strangers.add(key)
            kept = replace_lots(deal, 0.0) if key in strangers else deal
            before = found.get(key)
            held[position] = held.get(position, 0.0) + (kept.lots or 0.0)
            held[position] -= (before.lots or 0.0) if before else 0.0
            found[key] = kept
        return found

    def net_of_fills(self, symbol: str) -> float:
        """Fills in order, each until its deal comes; a close takes from what is there."""
        pending: dict[tuple[str, int], tuple[str, float]] = {}
        seen: set[tuple[str, int]] = set()
        for fact in self.happened:
            if isinstance(fact, Dealt):
                seen.add((fact.owner, fact.ticket))
                pending.pop((fact.owner, fact.ticket), None)
                continue
            terminal, told, request = fact
            key = (self.terminals[terminal][0], told.deal)
            if key in seen:
                continue
            net = sum(lots for name, lots in pending.values() if name == request.symbol)
            if opens(request):
                buys = request.side.name == "BUY"
                lots = told.lots if buys else -told.lots
            else:
                lots = -min(told.lots, net) if net > 1e-6 else min(told.lots, -net)
            pending[key] = (request.symbol, lots)
        return sum(lots for name, lots in pending.values() if name == symbol)

    # -- happening -----------------------------------------------------------------------------

    def take(self, request: Request, named: str | None, now_msc: int, before: bool) -> str:
        """A request is asked for; how it is decided, `known` when it was before."""
        if request.id in self.decided:
            return "known"
        found = self.decided[request.id] = self.judge(request, named, now_msc, before)
        if found in ("sent", "asked"):
            self.attempts += [Attempt(request, name, now_msc, found == "asked",
                                      known_msc=now_msc)
                              for name in self.to(request, named)]  # fmt: skip
        return found

    def tell(self, attempt: Attempt, result: SignalResult, now_msc: int) -> bool:
        """A terminal reports; whether it is news."""
        marks = [(r.status, r.deal, r.order) for r in attempt.told]
        if attempt.is_over or (result.status, result.deal, result.order) in marks:
            return False
        if result.status is SignalStatus.UNKNOWN and not attempt.asked:
            return False
        attempt.told.append(result)
        attempt.known_msc = now_msc
        if result.status in FILLS:
            self.happened.append((attempt.terminal, result, attempt.request))
        return True

    def restart(self, market_msc: int) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
        """What is sent again, and what is asked about."""
        sent, asked = set(), set()
        for attempt in [attempt for attempt in self.attempts if not attempt.is_over]:
            attempt.asked |= self.unwanted(attempt.request, market_msc)
            (asked if attempt.asked else sent).add((attempt.terminal, attempt.request.id))
        self.floating.clear()
        return sent, asked


def replace_lots(deal: Dealt, lots: float) -> Dealt:
    """The same deal of another size."""
    return Dealt(deal.owner, deal.ticket, deal.revision, deal.time_msc, deal.position,
                 deal.symbol, lots, deal.profit, deal.is_exit)  # fmt: skip
