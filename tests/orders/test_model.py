"""Desk, guard, journal and restarts against a slow and obvious reference, on any sequence."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mt5bridge.orders import Desk, Limits, OrderJournal
from mt5bridge.orders.records import Dealt
from mt5bridge.server import Funds, Outcome, Request
from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.campaign import examples
from tests.orders.desk import NOON_MSC, Memory, order, result, signal, trader
from tests.orders.reference import DAY_MS, Attempt, Reference
from tests.orders.test_guard import account

SYMBOLS = ("EURUSD", "GBPUSD", "XAUUSD")
TERMINALS = {"one": ("EURUSD", "GBPUSD"), "two": ("EURUSD",)}
LOTS = st.sampled_from([0.1, 0.2, 0.5])
STATUSES = st.sampled_from(SignalStatus)
LIMITS = st.builds(
    Limits,
    lots_per_order=st.sampled_from([0.0, 0.0, 0.4]),
    lots_per_symbol=st.sampled_from([0.0, 0.6, 3.0]),
    lots_per_day=st.sampled_from([0.0, 0.8, 4.0]),
    orders_per_minute=st.sampled_from([0, 2, 9]),
    loss_per_day=st.sampled_from([0.0, 5.0]),
    lots_assumed=st.sampled_from([0.1, 1.0]),
    day_begins_minutes=st.sampled_from([0, 12 * 60 + 1]),
    dry_run=st.sampled_from([False] * 9 + [True]),
)


class Desks(RuleBasedStateMachine):
    """Every step is done to both; what left and what is counted must be the same."""

    @initialize(limits=LIMITS)
    def begin(self, limits: Limits) -> None:
        self.folder = tempfile.TemporaryDirectory()
        owners = {name: (f"account of {name}", symbols) for name, symbols in TERMINALS.items()}
        self.reference = Reference(limits, owners)
        self.now_msc = self.market_msc = NOON_MSC
        self.deals = 0
        self.open()
        for name, symbols in TERMINALS.items():
            self.desk.on_trader(trader(name, *symbols))

    def open(self) -> None:
        journal = OrderJournal(Path(self.folder.name) / "orders.journal")
        self.desk = Desk(journal, self.reference.limits)
        self.desk.tidy(self.now_msc, keep_days=30)
        self.post = Memory(TERMINALS)
        self.desk.open(self.post, self.market_msc, self.now_msc)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.desk.journal.close()
            self.folder.cleanup()

    @rule(
        number=st.integers(1, 20), symbol=st.sampled_from(["EURUSD", *SYMBOLS]),
        lots=LOTS | st.just(0.0),
        side=st.sampled_from(Side), valid_ms=st.sampled_from([0, -1, 0, 30_000, 90_000]),
        named=st.sampled_from([None, None, "one", "two"]), before=st.booleans(),
    )  # fmt: skip
    def signals(
        self, number: int, symbol: str, lots: float, side: Side, valid_ms: int,
        named: str | None, before: bool,
    ) -> None:  # fmt: skip
        until = self.now_msc + valid_ms if valid_ms else 0
        made = signal(number, symbol=symbol, lots=lots, side=side, valid_until_msc=until)
        self.ask(made, named, before=before)

    @rule(number=st.integers(101, 106), lots=LOTS, kind=st.sampled_from(["MARKET", "CLOSE"]),
          named=st.sampled_from([None, "one", "two"]))  # fmt: skip
    def orders(self, number: int, lots: float, kind: str, named: str | None) -> None:
        side = OrderSide.BUY if kind == "MARKET" else OrderSide.NONE
        made = order(number, lots=lots, kind=OrderKind[kind], side=side, price=0.0)
        self.ask(made, named, durable=True)

    def ask(
        self, request: Request, named: str | None, *, before: bool = False, durable: bool = False
    ) -> None:
        sent, asked = len(self.post.sent), len(self.post.asked)
        market_msc = self.now_msc if before else None
        entry = self.desk.ask(request, self.now_msc, named, durable=durable,
                              sent_before_msc=market_msc)  # fmt: skip
        if durable:
            assert len(self.post.sent) == sent, "an order waits for the disk"
        self.desk.flush()
        found = self.reference.take(request, named, self.now_msc, before)
        to = [(name, request.id) for name in self.reference.to(request, named)]
        assert self.post.sent[sent:] == (to if found == "sent" else [])
        assert self.post.asked[asked:] == (to if found == "asked" else [])
        if found not in ("sent", "asked", "known"):
            assert entry.refusal is not None and entry.text.startswith(found), found

    def fates(self) -> list[Attempt]:
        return self.reference.attempts

    @precondition(lambda self: self.reference.attempts)
    @rule(which=st.integers(0, 99), status=STATUSES, lots=LOTS, again=st.booleans())
    def told(self, which: int, status: SignalStatus, lots: float, again: bool) -> None:
        attempt = self.reference.attempts[which % len(self.reference.attempts)]
        is_fill = status in (SignalStatus.PARTIAL, SignalStatus.EXECUTED)
        self.deals += is_fill and not again
        told = result(attempt.request.id, status, lots=lots if is_fill else 0.0,
                      deal=1 + self.deals // 2 if is_fill else 0)  # fmt: skip
        if again and attempt.told:
            told = attempt.told[which % len(attempt.told)]
        self.tell(attempt, told)

    @precondition(lambda self: any(not one.is_over for one in self.reference.attempts))
    @rule(which=st.integers(0, 99), part=st.sampled_from([0.5, 1.0, 1.0, 1.5]))
    def filled(self, which: int, part: float) -> None:
        """As it mostly goes."""
        attempts = [one for one in self.reference.attempts if not one.is_over]
        attempt = attempts[which % len(attempts)]
        self.deals += 1
        status = SignalStatus.PARTIAL if part < 1 else SignalStatus.EXECUTED
        lots = part * (attempt.request.lots or 0.2)
        self.tell(attempt, result(attempt.request.id, status, lots=lots, deal=1 + self.deals // 2))

    def tell(self, attempt: Attempt, told: object) -> None:
        news: list[object] = []
        self.desk.on_news = news.append
        self.desk.on_outcome(Outcome(attempt.terminal, told), self.now_msc)  # type: ignore[arg-type]
        is_news = self.reference.tell(attempt, told, self.now_msc)  # type: ignore[arg-type]
        assert len(news) == is_news

    @rule(
        owner=st.sampled_from(sorted(TERMINALS)), ticket=st.integers(1, 6),
        position=st.integers(1, 3), lots=LOTS, profit=st.sampled_from([0.0, 2.0, -3.0, -6.0]),
        revision=st.integers(0, 2), sells=st.booleans(), back_ms=st.sampled_from([0, DAY_MS]),
    )  # fmt: skip
    def dealt(
        self, owner: str, ticket: int, position: int, lots: float, profit: float, revision: int,
        sells: bool, back_ms: int,
    ) -> None:  # fmt: skip
        """Sells are exits; a revision keeps time, position and direction."""
        name = f"account of {owner}"
        known = self.reference.deals().get((name, ticket))
        made = Dealt(name, ticket, revision, self.now_msc - back_ms, position, "EURUSD",
                     -lots if sells else lots, profit, sells)  # fmt: skip
        if known is not None:
            first = next(fact for fact in self.reference.happened
                         if isinstance(fact, Dealt) and fact.owner == name
                         and fact.ticket == ticket)  # fmt: skip
            made = Dealt(name, ticket, revision, first.time_msc, first.position, first.symbol,
                         -lots if first.is_exit else lots, profit, first.is_exit)  # fmt: skip
        is_news = known is None or known.revision < revision
        assert self.desk.guard.dealt(made) == is_news
        if is_news:
            self.desk.journal.add(made)
            self.reference.happened.append(made)

    @rule(owner=st.sampled_from(sorted(TERMINALS)), profit=st.sampled_from([0.0, -2.0, -5.0]))
    def funds(self, owner: str, profit: float) -> None:
        self.desk.on_funds(Funds(owner, f"account of {owner}", account(profit)))
        self.reference.floating[f"account of {owner}"] = profit

    @rule(halted=st.sampled_from([True, False, False, False]))
    def turned(self, halted: bool) -> None:
        self.desk.halt(halted, "a test", self.now_msc)
        self.reference.halted = halted

    @rule(ms=st.sampled_from([1, 20_000, 59_999, 60_000, 3_600_000, DAY_MS]))
    def passed(self, ms: int) -> None:
        self.now_msc += ms

    @rule(market_ms=st.sampled_from([0, -60_000]))
    def restarted(self, market_ms: int) -> None:
        self.market_msc = self.now_msc + market_ms
        self.desk.journal.close()
        sent, asked = self.reference.restart(self.market_msc)
        self.open()
        assert (set(self.post.sent), set(self.post.asked)) == (sent, asked)
        assert len(self.post.sent) + len(self.post.asked) == len(sent) + len(asked)

    @invariant()
    def counts_are_the_same(self) -> None:
        if not hasattr(self, "desk"):
            return
        guard, reference = self.desk.guard, self.reference
        for symbol in SYMBOLS:
            assert guard.lots_of(symbol) == pytest.approx(reference.open_lots(symbol), abs=1e-6)
        today = reference.lots_today(self.now_msc)
        assert guard.lots_today(self.now_msc) == pytest.approx(today, abs=1e-6)
        for owner, _ in reference.terminals.values():
            loss = pytest.approx(reference.loss(owner, self.now_msc), abs=1e-6)
            assert guard.loss_today(owner, self.now_msc) == loss
        for attempt in reference.attempts:
            entry = self.desk.book.get(attempt.request.id)
            assert entry is not None
            fate = entry.fates[attempt.terminal]
            assert fate.results == attempt.told and (fate.final is not None) == attempt.is_over


def test_any_sequence_is_counted_as_by_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    monkeypatch.setattr("os.fsync", lambda _file: None)  # nobody cuts the power here
    run_state_machine_as_test(
        Desks, settings=settings(max_examples=examples(150), stateful_step_count=40, deadline=None)
    )
