"""The guard of everything that leaves, and beside it one for each strategy that has its own.

A strategy is known by the magic number of its requests and deals. What its own guard refuses is
refused, too; what it allows, the guard of all still judges.
"""

from __future__ import annotations

from collections.abc import Sequence

from mt5bridge.orders.guard import Guard
from mt5bridge.orders.limits import Limits
from mt5bridge.orders.records import Dealt, Halted, RulesHalted
from mt5bridge.orders.request import opens
from mt5bridge.server import Request
from mt5bridge.wire import SignalResult


class Guards(Guard):
    """Judges requests; all times are UTC milliseconds and passed in."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._own = {one.magic: Guard(one.limits) for one in limits.named}
        self._magics = {one.name: one.magic for one in limits.named}
        self._names = {one.magic: one.name for one in limits.named}
        self._position_magics: dict[tuple[str, int], int] = {}

    def change(self, limits: Limits) -> None:
        """Judge by other limits from now on; a strategy that is new has used nothing up."""
        self.limits = limits
        for one in limits.named:
            self._own.setdefault(one.magic, Guard(one.limits)).limits = one.limits
            self._magics[one.name], self._names[one.magic] = one.magic, one.name

    def magic_of(self, name: str) -> int | None:
        """The magic number of a strategy; None where there is none of this name."""
        return self._magics.get(name)

    def name_of(self, magic: int) -> str:
        """The strategy that has a magic number; empty where none has."""
        return self._names.get(magic, "")

    def halt_of(self, request: Request) -> str | None:
        """The refusal while a kill switch is on that stops this request; None: none is."""
        if not opens(request):
            return None
        own = self._own.get(request.magic)
        if self.halt_text is None and own is not None and own.halt_text is not None:
            return f"{self._names[request.magic]} is {own.halt_text}"
        return self.halt_text

    def refusal(
        self, request: Request, count: int, owners: Sequence[str], now_msc: int
    ) -> str | None:
        """Why a request may not go, by the limits of all or those of its strategy; None: it may."""
        found = super().refusal(request, count, owners, now_msc) or self.halt_of(request)
        own = self._own.get(request.magic)
        if found is not None or own is None:
            return found
        found = own.refusal(request, count, owners, now_msc)
        return found and found.replace(":", f" of {self._names[request.magic]}:", 1)

    def sent(self, request: Request, terminals: Sequence[str], time_msc: int) -> None:
        super().sent(request, terminals, time_msc)
        if (own := self._own.get(request.magic)) is not None:
            own.sent(request, terminals, time_msc)

    def told(
        self,
        request: Request,
        terminal: str,
        result: SignalResult,
        is_final: bool,
        account: str = "",
    ) -> None:
        if (own := self._own.get(request.magic)) is not None:
            own.told(request, terminal, result, is_final, account)
        super().told(request, terminal, result, is_final, account)

    def ended(self, identifier: int, terminal: str) -> None:
        super().ended(identifier, terminal)
        for own in self._own.values():
            own.ended(identifier, terminal)

    def unsent(self, identifier: int, terminal: str) -> None:
        for own in self._own.values():
            own.unsent(identifier, terminal)
        super().unsent(identifier, terminal)

    def owned(self, terminal: str, owner: str) -> None:
        super().owned(terminal, owner)
        for own in self._own.values():
            own.owned(terminal, owner)

    def dealt(self, deal: Dealt) -> bool:
        """A deal has come; whether it is news.

        One that closes by another hand than the strategy's belongs to whom the position does.
        """
        is_news, place = super().dealt(deal), (deal.owner, deal.position)
        if deal.magic in self._own and not deal.is_exit:
            self._position_magics[place] = deal.magic
        magic = deal.magic if deal.magic in self._own else self._position_magics.get(place, 0)
        if is_news and (own := self._own.get(magic)) is not None:
            own.dealt(deal)
        return is_news

    def turn_rules(self, halted: RulesHalted) -> None:
        """The kill switch of one strategy; of one that there is not, it is kept elsewhere."""
        magic = self._magics.get(halted.name)
        if magic is not None:
            self._own[magic].turn(Halted(halted.time_msc, halted.halted, halted.reason))
