"""The steps of a backtest: rows of the rules, fills of their signals, what came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from cep.account.harsher import DOUBLED
from cep.account.market import Market
from cep.backtest.asked import Asked
from cep.backtest.assumptions import assumptions
from cep.backtest.daily import Daily, Returns, daily, returns
from cep.backtest.dealt import dealt
from cep.backtest.divided import why_whole
from cep.backtest.held_ticks import Held
from cep.backtest.metrics import Metrics, by_signal
from cep.backtest.missing import missing, silent, unfilled
from cep.backtest.orders import orders
from cep.backtest.page import Findings, report
from cep.backtest.processes import Sharing, in_processes
from cep.backtest.results import Results, event_names, picked, stretches
from cep.backtest.sequential import sequential
from cep.backtest.simulate import (
    Outcome,
    account_of,
    outcome_of,
    simulate_all,
    tick_selection,
)
from cep.backtest.trial import Trial
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.market import DEAL_STREAM, SIMULATED, TICK_STREAM, fills_told, source
from cep.plan.nodes import says_of
from cep.report import render
from cep.report.tables import time_text

Advance = Callable[[int], None]
Taker = Callable[[Rows], None]
Progress = Callable[[int], AbstractContextManager[Advance]]
"""Told how many records there will be; what it gives is told how many more are done."""


def no_progress(_records: int) -> AbstractContextManager[Advance]:
    """Nobody looks."""
    return nullcontext(lambda n: None)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a backtest has come to. `notes` are assumptions and what holds of the fills; `doubled`
    is what twice the costs would have made of it, None where nothing was filled.
    """

    asked: Asked
    results: Results
    outcome: Outcome
    metrics: Mapping[str, Metrics]
    notes: list[str]
    daily: Daily
    returns: Returns
    doubled: Trial | None

    @property
    def unfilled(self) -> list[str]:
        """Signals that came to nothing, each with the reasons."""
        if not self.asked.fills:
            return []
        return list(unfilled(len(self.results.signals), self.outcome))

    def page(self) -> str:
        """The HTML report."""
        asked, outcome = self.asked, self.outcome
        first, last = asked.selection.interval_msc
        findings = Findings(
            f"Backtest of {self.asked.title}",
            f"{time_text(first)} to {time_text(last)} UTC",
            self.results, outcome, self.metrics, self.notes, self.daily, self.returns,
            self.doubled,
        )  # fmt: skip
        symbols = set(asked.selection.symbols) | set(outcome.points)
        return render(report(findings, tick_selection(asked.archive, asked.selection, symbols)))


class Work:
    """A backtest at work: `take` its rows, in order, then `finish`."""

    def __init__(
        self, asked: Asked, *, shows_rows: bool, has_report: bool, rules: Compiled | None = None
    ) -> None:
        """`rules` are those of the plan, compiled before for the same rows."""
        plan = asked.plan
        self.asked = asked
        self.results = Results(plan, keep_events=has_report)
        self._shown = asked.shown if shows_rows else []
        needed = {signal.name for signal in plan.signals} | set(self._shown)
        if has_report:
            needed.update(event_names(plan))
        self.rules = rules or Compiled(plan, outputs=needed, waits=False)
        self.account = None
        self._held = None
        if asked.fills and plan.signals and source(plan, TICK_STREAM) is not None:
            self._held = Held(asked.selection.stream(TICK_STREAM))
        if asked.has_account:
            self.account = account_of(
                asked.archive, asked.selection, plan, asked.points, asked.market,
                1000 * asked.valid_seconds,
            )  # fmt: skip

    @property
    def shows_deals(self) -> bool:
        """Whether rules see the fills of this run."""
        return self.asked.seen_deals == SIMULATED

    @property
    def about_fills(self) -> str:
        """What holds of rules that read fills; empty when there are none."""
        return fills_told(self.asked.plan, self.asked.seen_deals)

    def missing(self) -> Iterator[str]:
        """What rules and the account's file name, and the records have not; and points that the
        records contradict.
        """
        made, asked = [DEAL_STREAM] if self.shows_deals else (), self.asked
        yield from missing(asked.archive, asked.plan, asked.selection, made, asked.market.named)
        yield from asked.doubted()

    @property
    def silent(self) -> str:
        """The signals of which there was none."""
        return silent(self.asked.plan, self.results.counts)

    def in_this_process(self, advance: Advance = lambda n: None) -> Iterator[Rows]:
        """The rows, in order."""

        def passed(n: int) -> None:
            self.results.add_records(n)
            advance(n)

        selection, ended = self.asked.selection, self.results.end
        if self.account is None:
            return sequential(self.rules, selection, passed, ended, self._held)
        return dealt(
            self.rules, selection, self.account, passed, ended, shows_deals=self.shows_deals
        )

    @property
    def why_one_task(self) -> str:
        """Why there is nothing to share in this run; empty where there is."""
        if self.account is None:
            return why_whole(self.rules, self.asked.selection)
        if self.shows_deals:
            return "rules that see the fills of one account are one task"
        return "signals that the risk guard judges by one account are one task"

    def in_processes(self, sharing: Sharing, advance: Advance = lambda n: None) -> Iterator[Rows]:
        """The rows, in order, where nothing says `why_one_task`."""

        def passed(n: int) -> None:
            self.results.add_records(n)
            advance(n)

        return in_processes(self.rules, self.asked.selection, sharing, passed, self.results.end)

    def take(self, all_rows: Iterator[Rows], takers: list[Taker]) -> None:
        """Note all rows, and give those of the streams that are wanted to `takers`."""
        for rows in all_rows:
            self.results.take(rows)
            for some in stretches(picked(rows, self._shown)) if takers else ():
                for take in takers:
                    take(some)

    def finish(self, progress: Progress = no_progress, *, is_tried: bool = True) -> Finished:
        """Fill the signals, unless that is done; `progress` is told how much there is to do.

        What doubled costs come to is found out beside it, if it `is_tried`.
        """
        asked, span_ms = self.asked, self.asked.selection.span_ms
        is_tried = is_tried and asked.fills and bool(asked.plan.signals)
        harsh = [replace(asked.market, harsher=DOUBLED)] if is_tried else []
        outcome, *tried = self.outcomes([asked.market, *harsh], progress)
        notes = []
        if asked.fills:
            notes = assumptions(
                outcome.points, asked.valid_seconds, outcome.why_points, asked.market
            )
        notes += filter(None, [self.about_fills])
        metrics = by_signal(outcome.trades, span_ms)
        days = returns(outcome.equity, *asked.selection.interval_msc)
        doubled = Trial.of(tried[0], span_ms) if tried else None
        ratios = daily(days.shares)
        return Finished(asked, self.results, outcome, metrics, notes, ratios, days, doubled)

    def outcomes(
        self, markets: Sequence[Market], progress: Progress = no_progress
    ) -> list[Outcome]:
        """What comes of the signals at each of some markets.

        Ticks are read once for all. Where rules or the risk guard see the account, each market but
        that of this run is a run of its own, as signals depend on it.
        """
        asked = self.asked
        if self.account is not None:
            others = [market for market in markets if market != asked.market]
            with progress(len(others) * asked.selection.rows) as advance:
                return [
                    outcome_of(self.account) if market == asked.market
                    else self._again(market, advance)
                    for market in markets
                ]  # fmt: skip
        wanted, unusable = orders(
            self.results.signals, 1000 * asked.valid_seconds, says_of(asked.plan)
        )
        if not asked.fills:
            found = [Outcome() for _ in markets]
        else:
            symbols = {order.symbol for order in wanted}
            ticks = tick_selection(asked.archive, asked.selection, symbols, asked.market)
            with progress(ticks.rows) as advance:
                found = simulate_all(ticks, wanted, asked.points, markets, advance, self._held)
                self._held = None
        for outcome in found:
            outcome.refused += unusable
        return found

    def _again(self, market: Market, advance: Advance) -> Outcome:
        """The whole run at another market."""
        other = replace(self.asked, market=market)
        work = Work(other, shows_rows=False, has_report=False, rules=self.rules)
        for _ in work.in_this_process(advance):
            pass
        assert work.account is not None, "the same rules at another account"
        return outcome_of(work.account)
