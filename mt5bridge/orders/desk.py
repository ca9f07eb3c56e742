"""Everything that leaves goes guard -> journal -> terminal, and every report comes back here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from loguru import logger

from mt5bridge.orders.book import Book, Entry
from mt5bridge.orders.deals import dealt
from mt5bridge.orders.dispatch import Dispatch, News, Post
from mt5bridge.orders.exposure import ROUNDING
from mt5bridge.orders.guard import names_limit
from mt5bridge.orders.guards import Guards
from mt5bridge.orders.holdings import Claim, Holdings
from mt5bridge.orders.journal import OrderJournal
from mt5bridge.orders.limits import Limits
from mt5bridge.orders.recall import cancelling, outstanding, standing
from mt5bridge.orders.records import (
    Dealt,
    Halted,
    Record,
    Refused,
    Requested,
    RulesHalted,
    Sent,
    Terminal,
    Told,
    requested,
)
from mt5bridge.orders.request import described, differs, has_expired, opens
from mt5bridge.orders.unremembered import of_deal, of_result, witnessed
from mt5bridge.server import Batch, Funds, Outcome, Request, Trader
from mt5bridge.wire import Order, Signal

_DAY_MS = 86_400_000
_TIDY_AT = 2_000
"""A journal with so many records more than are needed is written anew at the start."""
NO_OTHERS: Mapping[int, str] = MappingProxyType({})
RESULTS_MAX = 1_000
"""Reports of one request by one terminal; the final one always counts."""
FULL = (
    "the order journal has come to journal_max_mib: restart the daemon, which forgets what ended "
    "more than keep_days ago, or raise one of both"
)
_LOST = "the damaged order journal has lost what became of it, so it is not sent again"


def _always(_request: Request) -> bool:
    return True


def _warn(name: str, text: str) -> None:
    logger.warning("{}: {}", name, text)


class Desk:
    """Belongs to the server's thread. Times are UTC milliseconds.

    A signal waits for the journal's file, not for the disk: what ends this process makes nobody
    forget it, and after a loss of power its cause leads to the same id again. An order (`durable`)
    is sent when the journal has it on disk. `sends` says whether requests of a kind are sent at
    all; `complain` gets a name to count under and a text.
    """

    def __init__(
        self,
        journal: OrderJournal,
        limits: Limits,
        on_news: Callable[[News], None] = lambda _news: None,
        sends: Callable[[Request], bool] = _always,
        complain: Callable[[str, str], None] = _warn,
        strategies: Mapping[int, str] = NO_OTHERS,
    ) -> None:
        """`strategies`: names of magic numbers beside those that have limits of their own."""
        self.journal = journal
        self.limits = limits
        self.on_news = on_news
        self.sends = sends
        self.complain = complain
        self.guard = Guards(limits)
        self.book = Book()
        self.others = strategies
        self.holdings = Holdings(self.strategies, self._request_of)
        self.on_claim: Callable[[Claim], None] = lambda _claim: None
        """Told what other hands have made of a strategy's position, once."""
        self._dispatch: Dispatch | None = None  # until it is open
        self._since_msc = 0
        self._told_funds: set[str] = set()  # accounts of which a trader has told
        self._noted_at: dict[str, int] = {}  # number of each terminal's newest record
        self.limited: Counter[tuple[str, str]] = Counter()  # refused for a limit: kind, name
        self.results_max = RESULTS_MAX
        self._funds_of: dict[str, str] = {}  # accounts of which others have told, by terminal
        for record in journal.records:
            self._apply(record)
        self.holdings.changed.clear()

    def _request_of(self, identifier: int) -> Request | None:
        entry = self.book.get(identifier)
        return entry.request if entry is not None else None

    @property
    def _out(self) -> Dispatch:
        assert self._dispatch is not None, "open comes first"
        return self._dispatch

    @property
    def strategies(self) -> dict[int, str]:
        """Names by magic number."""
        return {**self.others, **{one.magic: one.name for one in self.limits.named}}

    @property
    def traders(self) -> list[Trader]:
        """The terminals known to trade, for the server's start."""
        return self.book.traders

    def tidy(self, now_msc: int, keep_days: int) -> None:
        """Forget what has ended longer ago, if that is much; before anything else is done."""
        kept = list(self._kept(now_msc - keep_days * _DAY_MS))
        if len(self.journal.records) > len(kept) + _TIDY_AT:
            self.journal.rewrite(kept)
            self.book, self.guard = Book(), Guards(self.limits)
            self.holdings = Holdings(self.strategies, self._request_of)
            self.limited.clear()
            for record in kept:
                self._apply(record)
            self.holdings.changed.clear()
        self.journal.records.clear()

    def change_limits(self, limits: Limits) -> None:
        """Judge by other limits from now on; a day begins, and is counted, as before."""
        self.limits = limits
        self.guard.change(limits)
        self.holdings.strategies |= self.strategies
        for record in self.book.rules_halted.values():
            self.guard.turn_rules(record)

    def open(self, post: Post, market_msc: int, now_msc: int) -> None:
        """Begin to send: first again what has no final result.

        Of requests that were good until before `market_msc`, the newest stored time, and of those
        that are not sent any more, or that find no room, it is only asked what became of them.
        """
        dispatch = self._dispatch = Dispatch(self, post)
        self._since_msc = now_msc if self.journal.is_new else 0
        halted = self.book.halted
        if halted is not None:
            post.halt(halted.halted, halted.reason)
        for entry in [entry for entry in self.book if entry.is_open]:
            if not entry.is_decided:
                self._decide(entry, now_msc, market_msc=market_msc)
                continue
            for identity, fate in entry.fates.items():
                if fate.final is not None:
                    continue
                is_asked = fate.is_asked or self._is_over(entry.request, market_msc)
                if is_asked or dispatch.deliver(entry, identity):
                    dispatch.question(entry, [identity], now_msc)
        for name in self.book.rules_halted:
            self._take_back(name, now_msc)

    def ask(
        self,
        request: Request,
        now_msc: int,
        terminal: str | None = None,
        *,
        durable: bool = False,
        client_id: str = "",
        sent_before_msc: int | None = None,
        judged_msc: int | None = None,
    ) -> Entry:
        """Take a request; one with a known id is the same request, and nothing happens again.

        With `sent_before_msc` it may have been sent before a crash whose journal has lost it, and
        the market has come to that time since: what is not sent again is asked about. What was not
        sent before is refused when it was good until before `judged_msc`, else until before now.
        """
        known = self.book.get(request.id)
        if known is not None:
            if differs(known.request, request):
                logger.warning("{} was asked before as {}", described(request), known.request)
            return known
        lost = self.book.lost.get(request.id)
        is_new = lost is None and sent_before_msc is None
        if is_new and opens(request) and self.journal.is_full:
            return self._turned_away(requested(request, now_msc, terminal, client_id))
        entry = self._noted(requested(request, now_msc, terminal, client_id))
        if lost is not None:
            self._ask_of_lost(entry, lost, now_msc)
        elif sent_before_msc is not None:
            self._decide(entry, now_msc, durable=durable, market_msc=sent_before_msc)
        else:
            self._decide(entry, now_msc, durable=durable, judged_msc=judged_msc)
        return entry

    def refuse(self, request: Request, text: str, now_msc: int, client_id: str = "") -> Entry:
        """Note a request that is not to be sent for another reason than the guard's."""
        known = self.book.get(request.id)
        if known is not None:
            return known
        record = requested(request, now_msc, client_id=client_id)
        if self.journal.is_full:
            return self._turned_away(record)
        entry = self._noted(record)
        self.turn_down(entry, text, now_msc)
        return entry

    def _turned_away(self, record: Requested) -> Entry:
        """Refuse where even the refusal would make the journal longer: it is told, and not kept."""
        text = f"{record.request.name}: {FULL}"
        self.complain("journal_reached", text)
        entry = Entry(record, Refused(record.id, record.time_msc, FULL))
        self.on_news(News(entry))
        return entry

    def halt(self, halted: bool, reason: str, now_msc: int) -> int:
        """Turn the kill switch; the number of the journal's record, for who waits for the disk."""
        self.note(Halted(now_msc, halted, reason))
        if self._dispatch is not None:
            self._dispatch.post.halt(halted, reason)
        return self.journal.last

    def halt_rules(self, name: str, halted: bool, reason: str, now_msc: int) -> int:
        """Turn the kill switch of one rule file: nothing new is sent for it, what terminals have
        not executed they are only asked about, and its pending orders are cancelled. The number of
        the journal's last record of that.
        """
        self.note(RulesHalted(now_msc, name, halted, reason))
        self._take_back(name, now_msc)
        return self.journal.last

    def _take_back(self, name: str, now_msc: int) -> None:
        """What a rule file has open, if it is halted."""
        halted, magic = self.book.rules_halted.get(name), self.guard.magic_of(name)
        if self._dispatch is None or halted is None or not halted.halted or magic is None:
            return
        for entry, identity in list(outstanding(self.book, magic)):
            self._out.question(entry, [identity], now_msc)
            self._cancel(halted, entry, identity, now_msc)

    def _cancel(self, halted: RulesHalted, entry: Entry, identity: str, now_msc: int) -> None:
        """Cancel the order that stands at the broker for a request, if one does."""
        fate = entry.fates[identity]
        ticket = standing(fate)
        if not ticket or not opens(entry.request):
            return
        if self._out.has_changed(fate, identity):
            self.complain("orders_left", f"{identity}: order {ticket} stands on {fate.account}")
            return
        order = cancelling(halted, entry, ticket, now_msc)
        self.ask(order, now_msc, identity, durable=True)

    def on_outcome(self, outcome: Outcome, now_msc: int) -> None:
        """A terminal has reported; a frame's lots and price are numbers."""
        if outcome.was_asked:
            self._out.note_question(outcome.result.id, outcome.identity, now_msc)
        self._tell(Told(now_msc, outcome.identity, outcome.result, outcome.owner))

    def on_trader(self, trader: Trader) -> None:
        """A terminal has said that it trades, and what.

        Nobody waits here for the disk: what is sent to this terminal does, until a restart would
        know whom to ask.
        """
        record = Terminal(trader.identity, trader.owner, int(trader.trades), list(trader.symbols))
        if self.book.terminals.get(trader.identity) == record:
            return
        if self.journal.is_full:
            self.complain("journal_reached", f"{trader.identity}, until it restarts: {FULL}")
            self._apply(record)
        else:
            self.note(record)
            self._noted_at[trader.identity] = self.journal.last

    def _is_stored(self, terminals: Iterable[str]) -> bool:
        """Whether a restart would know these terminals."""
        newest = max((self._noted_at.get(identity, 0) for identity in terminals), default=0)
        return newest <= self.journal.durable

    def on_funds(self, funds: Funds) -> None:
        """A terminal has told how its account stands; who trades on it is believed above others."""
        known = self.book.terminals.get(funds.identity)
        if known is not None and known.owner == funds.owner and known.trades:
            self._told_funds.add(funds.owner)
        elif funds.owner in self._told_funds:
            return
        else:
            self._told_by_another(funds)
        self.guard.funds(funds.owner, funds.account)

    def _told_by_another(self, funds: Funds) -> None:
        """One account for each terminal that does not trade: it may name others without end."""
        before = self._funds_of.get(funds.identity, funds.owner)
        self._funds_of[funds.identity] = funds.owner
        if before != funds.owner and before not in {*self._told_funds, *self._funds_of.values()}:
            self.guard.forget_funds(before)

    def takes_deals(self) -> bool:
        """Whether the journal has room for deals; if not, terminals keep them."""
        if self.journal.is_full:
            self.complain("journal_reached", f"deals wait: {FULL}")
        return not self.journal.is_full

    def on_deals(self, batch: Batch, owner: str) -> None:
        """Deals have come."""
        for told in dealt(owner, batch.records, batch.utc_offset_ms):
            deal = of_deal(told, self.book, self.holdings.strategies, self._since_msc)
            if self.guard.dealt(deal):
                self.journal.add(deal)
                self.book.apply(deal)
                self._name_unknown(deal)
                self.holdings.dealt(deal)
        changed, self.holdings.changed = self.holdings.changed, []
        for claim in changed:
            self.on_claim(claim)

    def release(self) -> None:
        """Send what has waited for the disk and is there now, unless it was taken back since."""
        if self._dispatch is not None:
            self._dispatch.release()

    def flush(self) -> None:
        """Wait for the disk, then send what has waited for it; for programs without a Syncer."""
        self.journal.sync()
        self.release()

    def _decide(
        self,
        entry: Entry,
        now_msc: int,
        *,
        durable: bool = False,
        market_msc: int | None = None,
        judged_msc: int | None = None,
    ) -> None:
        """Refuse or send. `market_msc` given: it may have been sent before."""
        request, post = entry.request, self._out.post
        terminals = list(post.traders(request.symbol, entry.asked.terminal))
        times = (market_msc, judged_msc, now_msc)
        judged_msc = next(time_msc for time_msc in times if time_msc is not None)
        problem = self._problem(entry, terminals, now_msc, judged_msc)
        may_be_sent = market_msc is None or not (problem or self._is_over(request, market_msc))
        if terminals and not may_be_sent:
            self._out.question(entry, terminals, now_msc)
        elif problem:
            self.turn_down(entry, problem, now_msc)
        elif self.limits.dry_run:
            text = f"would be sent to {', '.join(terminals)}: {described(request)}"
            self.turn_down(entry, text, now_msc, is_dry=True)
        else:
            durable = durable or not self._is_stored(terminals)
            self._out.send(entry, terminals, now_msc, durable=durable)

    def _problem(
        self, entry: Entry, terminals: Sequence[str], now_msc: int, judged_msc: int
    ) -> str | None:
        """Why it is not to be sent; the order of the checks is that of docs/orders.md."""
        request, named = entry.request, entry.asked.terminal
        if not self.sends(request):
            return "sending is off in the daemon's settings"
        if has_expired(request, judged_msc):
            late_ms = judged_msc - request.valid_until_msc
            return f"{late_ms:,} ms too late, so it was not sent"
        owners = sorted({self._out.post.owner(identity) for identity in terminals})
        refusal = self.guard.refusal(request, max(1, len(terminals)), owners, now_msc)
        if refusal is not None:
            return refusal
        if not terminals:
            whom = f"terminal {named} does not trade" if named else "no terminal trades"
            return f"{whom} {request.symbol}".rstrip() + ", as far as it has said so"
        if isinstance(request, Order) and len(terminals) > 1:
            return f"{', '.join(terminals)} could do it: name one terminal"
        return None

    def _is_over(self, request: Request, market_msc: int) -> bool:
        """Whether what may have been sent before is not sent again: it is late, or unwanted now."""
        is_unwanted = self.limits.dry_run or not self.sends(request)
        is_halted = self.guard.halt_of(request) is not None
        return is_unwanted or is_halted or has_expired(request, market_msc)

    def _ask_of_lost(self, entry: Entry, lost: Sequence[str], now_msc: int) -> None:
        """It may have been sent to terminals that the journal names, or to any that trade it."""
        terminals = list(lost or self._out.post.traders(entry.request.symbol, entry.asked.terminal))
        if terminals:
            self._out.question(entry, terminals, now_msc)
        else:
            self.turn_down(entry, _LOST, now_msc)

    def turn_down(self, entry: Entry, text: str, now_msc: int, *, is_dry: bool = False) -> None:
        """Refuse a request, for a reason or because this is a dry run."""
        self.note(Refused(entry.request.id, now_msc, text, is_dry))
        level = "INFO" if is_dry else "WARNING"
        logger.log(level, "{} {}: {}", entry.request.name, entry.state, text)
        self.on_news(News(entry))

    def _name_unknown(self, deal: Dealt) -> None:
        odd = [name for name in ("lots", "profit") if getattr(deal, name) is None]
        if odd:
            text = "deal {} of {}: no number for its {}: limits of that refuse until it is revised"
            logger.error(text, deal.ticket, deal.owner, " and ".join(odd))
        if deal.unremembered:
            self.complain("orders_unremembered", witnessed(deal))

    def _noted(self, record: Requested) -> Entry:
        self.note(record)
        entry = self.book.get(record.id)
        assert entry is not None
        return entry

    def _tell(self, record: Told) -> None:
        identity, result = record.terminal, record.result
        entry = self.book.get(result.id)
        if entry is None:
            self._adopt(record)
        elif identity not in entry.fates:
            whom = ", ".join(entry.fates) or "nobody"
            self.complain("results_ignored", f"{record.said}, which was sent to {whom}")
        elif len(entry.fates[identity].results) >= self.results_max and not result.status.final:
            self.complain("results_refused", f"{record.said}, after {self.results_max} others")
        elif self._told(record):
            self.journal.add(record)
            self._check_size(entry, record)
            self.on_news(News(entry, identity, result))
            halted = self.book.rules_halted.get(self.guard.name_of(entry.request.magic))
            if halted is not None and halted.halted:
                self._cancel(halted, entry, identity, record.time_msc)
        elif not entry.fates[identity].knows(result):
            is_of_another = entry.fates[identity].is_of_another(record)
            why = "on another account" if is_of_another else "after the final one or unasked"
            self.complain("results_ignored", f"{record.said}, {why}")

    def _adopt(self, told: Told) -> None:
        """Keep what a terminal has done by a request that the journal does not know."""
        found = None if self.journal.is_full else of_result(told, self.book)
        if found is None:
            self.complain("results_ignored", f"{told.said}, which is unknown here")
        else:
            self.note(found)
            self.complain("orders_unremembered", witnessed(found))

    def _check_size(self, entry: Entry, told: Told) -> None:
        """More lots than were asked for: they are held, so they count, and somebody has to look."""
        asked, filled = entry.request.lots, entry.fates[told.terminal].lots
        if asked and told.result.lots and filled > asked + ROUNDING:
            self.complain("results_overfilled", f"{told.said}: {filled:g} of {asked:g} asked")

    def note(self, record: Record) -> None:
        """Take a record into book and guard, and write it down."""
        self._apply(record)
        self.journal.add(record)

    def _apply(self, record: Record) -> None:
        """Take a record into book and guard."""
        if isinstance(record, Told):
            self._told(record)
            return
        self.book.apply(record)
        match record:
            case Terminal():
                if record.owner:
                    self.guard.owned(record.identity, record.owner)
            case Sent():  # what is asked about may have been sent, too
                entry = self.book.get(record.id)
                if entry is not None:
                    self.guard.sent(entry.request, record.terminals, record.time_msc)
            case Refused():
                entry = self.book.get(record.id)
                for terminal in entry.fates if entry is not None else ():
                    self.guard.unsent(record.id, terminal)
                if entry is not None and names_limit(record.text):
                    kind = "signal" if isinstance(entry.request, Signal) else "order"
                    self.limited[kind, entry.request.name] += 1
            case Dealt():
                if self.guard.dealt(record):
                    self.holdings.dealt(record)
            case Halted():
                self.guard.turn(record)
            case RulesHalted():
                self.guard.turn_rules(record)

    def _told(self, record: Told) -> bool:
        """Take a report into book and guard; whether it is news."""
        entry = self.book.tell(record)
        if entry is None:
            return False
        self.holdings.told(entry.request, record)
        fate = entry.fates[record.terminal]
        is_final, account = fate.final is not None, fate.account
        self.guard.told(entry.request, record.terminal, record.result, is_final, account)
        return True

    def _kept(self, since_msc: int) -> Iterator[Record]:
        """The journal's records that are still needed."""
        yield from self.book.terminals.values()
        if self.book.halted is not None:
            yield self.book.halted
        yield from self.book.rules_halted.values()
        yield from self.guard.exposure.kept(since_msc)
        ended = {
            entry.request.id
            for entry in self.book
            if not entry.is_open and entry.changed_msc < since_msc
        }
        lost = {*self.book.lost, *self.book.unremembered}
        for record in self.journal.records:
            match record:
                case Requested() | Refused() | Sent() | Told():
                    number = record.result.id if isinstance(record, Told) else record.id
                    is_old = number in lost and record.time_msc < since_msc
                    if number not in ended and not is_old:
                        yield record
