"""What a credential lets its holder do: roles, identity, account, symbols and limits."""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import Annotated

import msgspec

from mt5bridge.wire import Hello, Order, OrderKind, Side, Signal, TradeMode

_MINUTE_MS = 60_000
_OPENING = (OrderKind.MARKET, OrderKind.LIMIT, OrderKind.STOP)


class Role(StrEnum):
    """What a holder is for."""

    PUBLISH = "publish"  # ticks and deals
    TRADE = "trade"  # signals and orders
    READ = "read"  # complex events, rows, orders and accounts


class Grant(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is allowed; what is empty or 0 is not limited.

    `identity` is a terminal's, and those of its programs: with `demo`, `demo/trader` too. `account`
    is a login and `server` its trade server; both are given or none.
    """

    roles: tuple[Role, ...] = tuple(Role)
    identity: str = ""
    account: Annotated[int, msgspec.Meta(ge=0)] = 0
    server: str = ""
    allow_real: bool = False
    symbols: tuple[str, ...] = ()
    lots_per_order: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    orders_per_minute: Annotated[int, msgspec.Meta(ge=0)] = 0

    def may(self, role: Role) -> bool:
        """Whether the holder has a role."""
        return role in self.roles

    def refuses_hello(self, hello: Hello) -> str:
        """Why a terminal may not come as it says it is; empty if it may."""
        if not self._names(hello.identity):
            return f"the credential is for identity {self.identity}"
        if self.account and not self.names_account(hello):
            came = f"{hello.account}@{hello.server}"
            return f"the credential is for account {self.account}@{self.server}, not {came}"
        if not (self.allow_real or hello.demo):
            return "the account is a real one, and the credential does not allow any"
        if hello.trades is not TradeMode.NONE and not self.may(Role.TRADE):
            return "the credential does not have the role `trade`"
        if hello.trades is TradeMode.NONE and not (self.may(Role.PUBLISH) or self.may(Role.READ)):
            return "the credential has neither the role `publish` nor `read`"
        return ""

    @property
    def named_account(self) -> str:
        """The account that it is for; empty: any."""
        return f"{self.account}@{self.server}" if self.account else ""

    def names_account(self, hello: Hello) -> bool:
        """Whether it is for this very account."""
        return bool(self.account) and (self.account, self.server) == (hello.account, hello.server)

    def refuses_symbol(self, name: str) -> str:
        """Why a symbol may be neither published nor traded; empty if it may."""
        if self.symbols and name not in self.symbols:
            return f"symbol {name} is not one of the credential's: {', '.join(self.symbols)}"
        return ""

    def refuses_request(self, request: Signal | Order) -> str:
        """Why a signal or order may not be sent to the holder; empty if it may."""
        if not self.may(Role.TRADE):
            return "the credential does not have the role `trade`"
        if request.symbol and (refusal := self.refuses_symbol(request.symbol)):
            return refusal
        most = self.lots_per_order
        if most and opens(request) and not 0 < request.lots <= most:
            return f"lots {request.lots:g}: the credential allows up to {most:g}, which are given"
        return ""

    def _names(self, identity: str) -> bool:
        own = self.identity
        return not own or identity == own or identity.startswith(f"{own}/")


ANYTHING = Grant(allow_real=True)
"""What the daemon's own credential allows, and the users in its settings."""


def opens(request: Signal | Order) -> bool:
    """Whether a request can open or enlarge a position."""
    if isinstance(request, Signal):
        return request.side is not Side.CLOSE
    return request.kind in _OPENING


class Pace:
    """How many requests that open were sent within a minute, by the times they bear."""

    def __init__(self) -> None:
        self._times_msc: deque[int] = deque()

    def refuses(self, request: Signal | Order, most: int) -> str:
        """Why one more is too many; empty if it is not, and then it is counted. 0: no limit."""
        if not most or not opens(request):
            return ""
        times = self._times_msc
        while times and times[0] <= request.time_msc - _MINUTE_MS:
            times.popleft()
        if len(times) >= most:
            return f"the credential allows {most} a minute"
        times.append(request.time_msc)
        return ""
