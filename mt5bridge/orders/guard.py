"""The daemon's risk guard: says what is too much, from what was sent, filled and dealt.

It is a function of the journal's records (and of the accounts' newest state), so that a restart
finds it as it was. What cannot open or enlarge a position is never refused.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from mt5bridge.orders.exposure import Exposure
from mt5bridge.orders.limits import Limits
from mt5bridge.orders.records import Dealt, Halted
from mt5bridge.orders.request import described, numbers, opens
from mt5bridge.server import Request
from mt5bridge.wire import Account, OrderSide, Side, SignalResult

_MINUTE_MS = 60_000
_LIMITS = (
    "symbols", "lots_per_order", "lots_per_symbol", "lots_per_day", "orders_per_minute",
    "loss_per_day",
)  # fmt: skip
"""What a refusal for a limit begins with."""
_DECIMALS = 8
"""Of lots: what they differ by further on is the rounding of their sums."""


def names_limit(refusal: str) -> bool:
    """Whether it is one of the limits for which something was refused."""
    return refusal.partition(" ")[0] in _LIMITS


@dataclass(slots=True)
class _Working:
    """An opening request at one terminal: `rest` lots are not filled yet."""

    symbol: str
    sign: int
    lots: float
    rest: float
    sent_msc: int


class Guard:
    """Judges requests; all times are UTC milliseconds and passed in."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.halted: Halted | None = None
        self.exposure = Exposure(limits)
        self._working: dict[tuple[int, str], _Working] = {}
        self._day = 0
        self._rests: defaultdict[str, float] = defaultdict(float)  # lots on their way, by symbol
        self._day_lots: dict[tuple[int, str], float] = {}
        self._today = 0.0  # their sum
        self._sent_msc: deque[int] = deque()
        self._accounts: dict[str, Account] = {}
        self._owners: dict[str, str] = {}  # of terminals

    @property
    def is_halted(self) -> bool:
        """Whether the kill switch is on."""
        return self.halted is not None and self.halted.halted

    @property
    def halt_text(self) -> str | None:
        """The refusal of whatever opens a position, while the kill switch is on."""
        return f"halted: {self.halted.reason}" if self.halted and self.is_halted else None

    def refusal(
        self, request: Request, count: int, owners: Sequence[str], now_msc: int
    ) -> str | None:
        """Why a request may not go to `count` terminals of these accounts; None: it may.

        The order of the checks is that of docs/orders.md. Each asks whether what is asked for is
        allowed, not whether it is too much: what is not a number is never allowed.
        """
        odd = next((f"{name} {x}" for name, x in numbers(request) if not _is_size(x)), None)
        if odd is not None:
            return f"{odd} is no size"
        if not opens(request):
            return None
        if self.halt_text is not None:
            return self.halt_text
        lots = self._lots(request)
        checks = (
            self._over_symbols(request),
            self._over_order(request, lots),
            self._over_symbol(request, lots * count),
            self._over_day(request, lots * count, now_msc),
            self._over_minute(request, count, now_msc),
            self._over_loss(owners, now_msc),
        )
        return next((text for text in checks if text), None)

    def sent(self, request: Request, terminals: Sequence[str], time_msc: int) -> None:
        """A request is on its way to these terminals, or may be; it counts once at each."""
        if not opens(request):
            return
        day, lots = self.limits.day(time_msc), self._lots(request)
        self._begin_day(day)
        for terminal in terminals:
            key = (request.id, terminal)
            if key in self._working:
                continue
            self._working[key] = _Working(request.symbol, _sign(request), lots, lots, time_msc)
            self._rests[request.symbol] += lots
            self._sent_msc.append(time_msc)
            if day == self._day:
                self._count_today(key, lots)

    def told(
        self,
        request: Request,
        terminal: str,
        result: SignalResult,
        is_final: bool,
        account: str = "",
    ) -> None:
        """A terminal has reported something new; `account` is empty where only the terminal's
        newest one is known.
        """
        key = (request.id, terminal)
        working = self._working.get(key)
        if result.status.is_fill:
            sign = working.sign if working else _sign(request)
            owner = account or self._owners.get(terminal)
            self.exposure.filled(request.symbol, sign, result.lots, result.deal, owner)
            if working:
                filled = min(working.rest, result.lots)
                working.rest -= filled
                self._rests[request.symbol] -= filled
        if is_final:
            self.ended(request.id, terminal)

    def ended(self, identifier: int, terminal: str) -> None:
        """Nothing more will be filled of a request; what was not is given back."""
        key = (identifier, terminal)
        working = self._working.pop(key, None)
        if working is None:
            return
        self._rests[working.symbol] -= working.rest
        if key in self._day_lots:
            self._count_today(key, working.lots - working.rest)

    def unsent(self, identifier: int, terminal: str) -> None:
        """A request has not left after all: it has used nothing up."""
        working = self._working.get((identifier, terminal))
        if working is not None and working.sent_msc in self._sent_msc:
            self._sent_msc.remove(working.sent_msc)
        self.ended(identifier, terminal)

    def owned(self, terminal: str, owner: str) -> None:
        """Whose account a terminal trades."""
        self._owners[terminal] = owner

    def dealt(self, deal: Dealt) -> bool:
        """A deal has come; whether it is news."""
        return self.exposure.dealt(deal)

    def funds(self, owner: str, account: Account) -> None:
        """How an account stands now."""
        self._accounts[owner] = account

    def forget_funds(self, owner: str) -> None:
        """Nobody tells of this account any more."""
        self._accounts.pop(owner, None)

    def turn(self, halted: Halted) -> None:
        """The kill switch."""
        self.halted = halted

    def lots_of(self, symbol: str) -> float:
        """Lots open and on their way, over all terminals."""
        return self.exposure.lots(symbol) + self._rests[symbol]

    def lots_today(self, now_msc: int) -> float:
        """Lots sent today and not refused."""
        self._begin_day(self.limits.day(now_msc))
        return self._today

    def loss_today(self, owner: str, now_msc: int) -> float:
        """What an account has lost today, open positions included; negative is a gain."""
        account = self._accounts.get(owner)
        floating = account.profit if account else 0.0
        return -(self.exposure.profit(owner, self.limits.day(now_msc)) + floating)

    def _over_symbols(self, request: Request) -> str | None:
        allowed = self.limits.symbols
        if not allowed or request.symbol in allowed:
            return None
        return f"symbols {', '.join(allowed)}: asked for {request.symbol or 'none'}"

    def _over_order(self, request: Request, lots: float) -> str | None:
        limit = self.limits.lots_per_order
        if not limit or _is_within(lots, limit):
            return None
        return f"lots_per_order {limit:g}: asked for {self._asked(request)}"

    def _over_symbol(self, request: Request, lots: float) -> str | None:
        limit = self.limits.lots_per_symbol
        open_lots = self.lots_of(request.symbol) if limit else 0.0
        if not limit or _is_within(open_lots + lots, limit):
            return None
        there = f"with {_shown(open_lots)} open or on their way"
        return f"lots_per_symbol {limit:g}: asked for {self._asked(request)} {there}"

    def _over_day(self, request: Request, lots: float, now_msc: int) -> str | None:
        limit = self.limits.lots_per_day
        today = self.lots_today(now_msc) if limit else 0.0
        if not limit or _is_within(today + lots, limit):
            return None
        return f"lots_per_day {limit:g}: asked for {self._asked(request)} after {today:g} today"

    def _over_minute(self, request: Request, count: int, now_msc: int) -> str | None:
        limit = self.limits.orders_per_minute
        while self._sent_msc and self._sent_msc[0] <= now_msc - _MINUTE_MS:
            self._sent_msc.popleft()
        before = len(self._sent_msc)
        if not limit or before + count <= limit:
            return None
        return f"orders_per_minute {limit}: asked for {self._asked(request)} after {before}"

    def _over_loss(self, owners: Sequence[str], now_msc: int) -> str | None:
        limit = self.limits.loss_per_day
        for owner in owners if limit else ():
            loss = self.loss_today(owner, now_msc)
            if not loss < limit:
                lost = f"{loss:.2f}" if math.isfinite(loss) else "an unknown sum"
                return f"loss_per_day {limit:g}: {owner} has lost {lost} today"
        return None

    def _asked(self, request: Request) -> str:
        text = described(request)
        return text if request.lots else f"{text} (counted as {self.limits.lots_assumed:g} lots)"

    def _lots(self, request: Request) -> float:
        return request.lots or self.limits.lots_assumed

    def _count_today(self, key: tuple[int, str], lots: float) -> None:
        self._today += lots - self._day_lots.get(key, 0.0)
        self._day_lots[key] = lots

    def _begin_day(self, day: int) -> None:
        if day > self._day:
            self._day = day
            self._day_lots.clear()
            self._today = 0.0


def _is_size(number: float) -> bool:
    return math.isfinite(number) and number >= 0


def _is_within(lots: float, limit: float) -> bool:
    return round(lots - limit, _DECIMALS) <= 0


def _shown(lots: float) -> str:
    return f"{lots:g}" if math.isfinite(lots) else "an unknown number"


def _sign(request: Request) -> int:
    """1 to buy, -1 to sell, 0 to close."""
    if request.side in (Side.BUY, OrderSide.BUY):
        return 1
    return -1 if opens(request) else 0
