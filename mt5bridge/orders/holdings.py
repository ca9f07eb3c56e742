"""Which strategy holds what of which position, and what other hands have made of it.

A function of the order journal's deals and fills, so that a restart finds it as it was. A deal is a
strategy's by its magic number, or by its ticket, which the report of a request has named. On a
netting account several strategies have shares of one position, also opposite ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from mt5bridge.orders.book import Book
from mt5bridge.orders.exposure import ROUNDING
from mt5bridge.orders.records import Dealt, Record, Told
from mt5bridge.orders.request import opens
from mt5bridge.server import Request

Place = tuple[str, int]
"""An account and a position, or a deal's ticket."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a strategy has of a position; lots are negative where it is sold.

    `magic` None: what other hands have, by no request of ours.
    """

    account: str
    symbol: str
    position: int
    magic: int | None
    strategy: str
    requests: tuple[str, ...]  # the names of those that made it
    meant: float  # by its own requests, since it was flat
    held: float  # with what other hands have closed of it
    opened_msc: int
    changed_msc: int  # when other hands have changed it last; 0: never

    @property
    def difference(self) -> float:
        """What other hands have made of it."""
        return round(self.held - self.meant, 8)


class Awaited(msgspec.Struct, frozen=True, kw_only=True):
    """A fill that a trader has told, and whose deal no publisher has sent yet."""

    account: str
    symbol: str
    deal: int
    name: str
    lots: float
    told_msc: int


@dataclass(slots=True)
class _Share:
    meant: float = 0.0
    held: float = 0.0
    opened_msc: int = 0
    changed_msc: int = 0
    names: dict[str, None] = field(default_factory=dict)

    def add(self, lots: float, time_msc: int, name: str) -> None:
        """An own deal; from nothing on it begins anew."""
        if abs(self.held) <= ROUNDING:
            self.meant, self.changed_msc, self.opened_msc = 0.0, 0, time_msc
            self.names.clear()
        self.meant, self.held = _rounded(self.meant + lots), _rounded(self.held + lots)
        if name:
            self.names[name] = None

    def cut(self, lots: float, time_msc: int, *, is_meant: bool = False) -> float:
        """Let another hand close up to so many lots; how many are left of them.

        With `is_meant` it is the trade server's, by a stop or target that the strategy has set.
        """
        if self.held * lots >= 0:
            return lots
        done = min(abs(lots), abs(self.held)) * (1 if lots > 0 else -1)
        self.held = _rounded(self.held + done)
        if is_meant:
            self.meant = _rounded(self.meant + done)
        else:
            self.changed_msc = time_msc
        return _rounded(lots - done)


class Holdings:
    """What all accounts hold, as far as their deals were seen.

    A position that was open before the first deal seen is unknown, as it is to the guard.
    """

    def __init__(
        self,
        strategies: Mapping[int, str],
        request_of: Callable[[int], Request | None] = lambda _id: None,
    ) -> None:
        """`strategies`: their names by magic number; `request_of` finds a request by its id."""
        self.strategies = dict(strategies)
        self._request_of = request_of
        self.changed: list[Claim] = []
        """What other hands have changed since somebody has taken it from here."""
        self._deals: defaultdict[Place, dict[int, Dealt]] = defaultdict(dict)
        self._tickets: dict[Place, Place] = {}  # the position of a deal
        self._fills: dict[Place, tuple[Request, Told]] = {}
        self._shares: dict[Place, dict[int | None, _Share]] = {}
        self._over: dict[Place, dict[int | None, _Share]] = {}  # of which nothing is left
        self._awaited: dict[Place, None] = {}
        self._newest: dict[tuple[str, str, int | None], Place] = {}

    def dealt(self, deal: Dealt) -> None:
        """A deal, or a later revision of one."""
        place = (deal.owner, deal.position)
        deals = self._deals[place]
        if place in self._over:
            self._shares[place] = self._over.pop(place)
        is_next = deal.ticket not in deals and (not deals or place in self._shares)
        deals[deal.ticket] = deal
        self._tickets[deal.owner, deal.ticket] = place
        self._awaited.pop((deal.owner, deal.ticket), None)
        before = self._differences(place)
        if is_next:
            self._take(self._shares.setdefault(place, {}), deal)
        else:
            self._shares[place] = self._shared(place)
        self._compare(place, before)

    def told(self, request: Request, record: Told) -> None:
        """A trader has told of a fill: its deal is that request's, whatever magic it has."""
        result = record.result
        if not result.status.is_fill or not result.deal or not record.account:
            return
        ticket = (record.account, result.deal)
        place = self._tickets.get(ticket)
        if place is None:
            self._fills[ticket] = (request, record)
            self._awaited[ticket] = None
            return
        deal = self._deals[place][result.deal]
        magic, _, is_close = self._whose(deal)
        self._fills[ticket] = (request, record)
        if (magic, is_close) == (request.magic, not opens(request)):
            if (share := self._shares.get(place, {}).get(magic)) is not None:
                share.names[request.name] = None
            return  # nothing that counts has changed
        before = self._differences(place)
        self._over.pop(place, None)
        self._shares[place] = self._shared(place)
        self._compare(place, before)

    def claims(self) -> Iterator[Claim]:
        """What is held, and what other hands have closed since its strategy has begun it."""
        for place, shares in self._shares.items():
            for magic, share in shares.items():
                claim = self._claim(place, magic, share)
                is_newest = self._newest.get((claim.account, claim.symbol, magic)) == place
                if claim.held or (claim.difference and is_newest):
                    yield claim

    def awaited(self) -> Iterator[Awaited]:
        """Fills whose deal has not come."""
        for account, ticket in self._awaited:
            request, record = self._fills[account, ticket]
            yield Awaited(
                account=account,
                symbol=request.symbol,
                deal=ticket,
                name=request.name,
                lots=record.result.lots,
                told_msc=record.time_msc,
            )

    @property
    def awaited_count(self) -> int:
        """How many these are."""
        return len(self._awaited)

    def _differences(self, place: Place) -> dict[int | None, float]:
        shares = self._shares.get(place, {})
        return {magic: share.held - share.meant for magic, share in shares.items()}

    def _compare(self, place: Place, before: dict[int | None, float]) -> None:
        """Note what other hands have changed, and put aside what is over."""
        shares = self._shares[place]
        for magic, share in shares.items():
            difference = abs(share.held - share.meant)
            if magic is not None and difference > abs(before.get(magic, 0.0)) + ROUNDING:
                self.changed.append(self._claim(place, magic, share))
        if not any(share.held or share.meant for share in shares.values()):
            self._over[place] = self._shares.pop(place)

    def _shared(self, place: Place) -> dict[int | None, _Share]:
        """The shares of a position from all its deals: what `_take` comes to one by one."""
        shares: dict[int | None, _Share] = {}
        for deal in self._deals[place].values():
            self._take(shares, deal)
        return shares

    def _take(self, shares: dict[int | None, _Share], deal: Dealt) -> None:
        """One deal more."""
        if not deal.lots or (deal.is_exit and not shares):
            return  # what it closes was opened before all that was seen; or no number
        magic, name, is_close = self._whose(deal)
        lots = deal.lots
        own = shares.get(magic)
        is_of_others = is_close and (own is None or own.held * lots >= 0)
        if magic is None or deal.by_broker or is_of_others:
            for other, share in shares.items():
                if other is not None or deal.by_broker:
                    lots = share.cut(lots, deal.time_msc, is_meant=deal.by_broker)
        if lots:
            shares.setdefault(magic, _Share()).add(lots, deal.time_msc, name)
            self._newest[deal.owner, deal.symbol, magic] = (deal.owner, deal.position)

    def _whose(self, deal: Dealt) -> tuple[int | None, str, bool]:
        """The strategy of a deal, the request that it is of, and whether that only closes."""
        fill = self._fills.get((deal.owner, deal.ticket))
        # a terminal may carry ids in magic numbers, where its broker rewrites comments
        request = fill[0] if fill is not None else self._request_of(deal.magic % (1 << 64))
        if request is not None:
            return request.magic, request.name, not opens(request)
        return (deal.magic if deal.magic in self.strategies else None), "", False

    def _claim(self, place: Place, magic: int | None, share: _Share) -> Claim:
        first = next(iter(self._deals[place].values()))
        return Claim(
            account=place[0],
            symbol=first.symbol,
            position=place[1],
            magic=magic,
            strategy="" if magic is None else self.strategies.get(magic, str(magic)),
            requests=tuple(share.names),
            meant=share.meant,
            held=share.held,
            opened_msc=share.opened_msc,
            changed_msc=share.changed_msc,
        )


def _rounded(lots: float) -> float:
    """Without what sums of lots have behind the eighth decimal."""
    return round(lots, 8) + 0.0


def holdings_of(records: Iterable[Record], strategies: Mapping[int, str]) -> Holdings:
    """What the records of an order journal lead to."""
    book = Book()

    def request_of(identifier: int) -> Request | None:
        entry = book.get(identifier)
        return entry.request if entry is not None else None

    found = Holdings(strategies, request_of)
    revisions: dict[Place, int] = {}
    for record in records:
        if isinstance(record, Dealt):
            if record.revision > revisions.get((record.owner, record.ticket), -1):
                revisions[record.owner, record.ticket] = record.revision
                found.dealt(record)
            continue
        book.apply(record)
        if isinstance(record, Told) and (request := request_of(record.result.id)) is not None:
            found.told(request, record)
    found.changed.clear()
    return found
