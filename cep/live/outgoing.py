"""The daemon's desk: signals, orders of callbacks and of users, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from loguru import logger

from cep.dropped import Dropped, Reason
from cep.live.account_feed import AccountFeed
from cep.live.config import Config, limits_of, others_of
from cep.live.health import claim_text
from cep.live.order_feed import OrderFeed
from cep.live.paper import PAPER, Paper
from cep.live.set_aside import remove_oldest
from cep.live.state_folder import inbox_folder
from mt5bridge import clock
from mt5bridge.clock import Now
from mt5bridge.orders import (
    ConfirmAccount,
    Desk,
    ForgetTerminal,
    HaltRules,
    Inbox,
    News,
    OrderError,
    OrderJournal,
    OrderRequest,
    SendOrder,
    Syncer,
    TurnHalt,
    TurnRules,
    as_order,
)
from mt5bridge.orders.dispatch import Post
from mt5bridge.orders.holdings import Claim
from mt5bridge.orders.inbox import BAD, Command
from mt5bridge.server import Batch, Funds, Outcome, Request, Server, Sink, Trader
from mt5bridge.server.feeds import Feeds
from mt5bridge.server.status import PositionStatus
from mt5bridge.troubles import Troubles
from mt5bridge.wire import Signal, SignalResult, SignalStatus

LOOK_MS = 200
"""How often the inbox is looked at."""
REASON_CHARACTERS = 200
POSITIONS_MAX = 1_000
"""In the status; `mt5cep orders positions` has all."""
TURNED = {"stop": "stopped", "load": "loaded"}
HALTED = {True: "halted", False: "released"}
OFF = "orders are off: set [orders] send = true in the daemon's settings"

Row = Mapping[str, Any]


def journal_path(config: Config) -> Path:
    """Where the order journal is."""
    return config.state.folder / "orders.journal"


def inbox_of(config: Config) -> Inbox:
    """Where commands for the daemon are put."""
    return Inbox(inbox_folder(config))


class Outgoing:
    """Everything that leaves the daemon for a terminal. Belongs to the server's thread.

    `deliver` gets a row for each report; `orders` gives what a callback has ordered since.
    """

    def __init__(
        self,
        config: Config,
        deliver: Callable[[Row], None],
        orders: Callable[[], Iterable[OrderRequest]],
        troubles: Troubles | None = None,
        paper: Paper | None = None,
    ) -> None:
        """With `paper` everything goes to the paper account, and nothing to a terminal."""
        self.config = config
        self.paper = paper
        self._troubles = troubles or Troubles()
        most = config.orders.journal_max_mib << 20
        self.journal = OrderJournal(journal_path(config), bytes_max=most)
        self.desk = Desk(
            self.journal, limits_of(config), self._tell, self._sends, strategies=others_of(config)
        )
        self.desk.on_claim = self._tell_claim
        self.desk.results_max = config.orders.results_max
        self._deliver = deliver
        self._orders = orders
        self._inbox = inbox_of(config)
        self._done: list[tuple[int, Path]] = []  # commands whose effect is to be on disk first
        self._stored_first = 0  # number of the newest record of a deal or a terminal that trades
        self._look_ms = self._begun_ms = 0
        self._is_begun = False
        self._found_again: list[tuple[Sequence[Signal], int]] = []
        self.accounts = AccountFeed()
        self._feeds = Feeds()
        self.on_rules: Callable[[str, str], str] = lambda _name, _action: "there are no rule files"
        """Stops or loads a rule file; why not, if not."""
        self._terminals = {one.magic: one.terminal for one in config.rule_files.values()}
        self._is_trading = config.signals.send or config.orders.send

    def positions(self) -> list[PositionStatus]:
        """Who holds what, as far as deals have told: not more than a status can have."""
        names = PositionStatus.__struct_fields__
        claims = islice(self.desk.holdings.claims(), POSITIONS_MAX)
        return [PositionStatus(**{name: getattr(one, name) for name in names}) for one in claims]

    @property
    def dropped(self) -> Dropped:
        """What was refused for a limit, as far back as the order journal goes."""
        refused = self.desk.limited.items()
        return Dropped((part, Reason.LIMIT, count) for part, count in refused)

    def listen(self, sink: Sink) -> None:
        """Hear what terminals report; the paper account has no terminal."""
        self.desk.complain = sink.complain
        if self.paper is not None:
            self.paper.tell, self.paper.on_trader = self._on_outcome, self._on_trader
            self.paper.hear = self._hear
            self.paper.introduce()
            return
        sink.on_outcome = self._on_outcome
        sink.on_trader = self._on_trader
        sink.on_funds = self._on_funds

    def begin(self, stack: ExitStack, server: Server, market_msc: int) -> None:
        """Go on where the last run ended; `market_msc` is the newest stored time."""
        self.server = server
        self._post: Post = self.paper or server
        now = clock.now()
        self._begun_ms = now.ms
        stack.callback(self._close)
        self.desk.tidy(market_msc if self.paper else now.utc_msc, self.config.orders.keep_days)
        with self._troubles.attempt(self.journal.path):
            self.journal.open()
        self._turn_halts(now)
        self.desk.open(self._post, market_msc, now.utc_msc)
        if self.paper is not None:
            self.paper.is_open = True
        self._is_begun = True
        for signals, known_msc in self._found_again:
            self.find_again(signals, known_msc)
        self.take_orders()
        self.syncer = Syncer(self.journal, self._on_synced, self._troubles)
        self.syncer.start()
        stack.callback(self.syncer.stop)

    def find_again(self, signals: Sequence[Signal], market_msc: int) -> None:
        """Signals of stored records, which may have been sent before; `market_msc` is the newest
        time of these. Before `begin` they wait for it.
        """
        if not self._is_begun:
            self._found_again.append((signals, market_msc))
            return
        now_msc = clock.now().utc_msc
        for signal in signals:
            if self.paper is not None:
                self._trade_on(self.paper, signal)
                continue
            terminal = self._terminal_of(signal)
            self.desk.ask(signal, now_msc, terminal, sent_before_msc=market_msc)

    def signal(self, signal: Signal) -> None:
        """Send a signal, unless it is too much or too late; it does not wait for the disk, only for
        the file of the order journal.

        One of before this start may have been sent by an earlier run, which had its tick and was
        ended before that was stored: what is not sent (again) then is asked about.
        """
        if self.paper is not None:
            self._trade_on(self.paper, signal)
            return
        now, terminal = clock.now(), self._terminal_of(signal)
        judged_msc = self._terminals_msc(signal.symbol, terminal, now.utc_msc)
        if signal.time_msc < self._newest_msc(now.utc_msc) - (now.ms - self._begun_ms):
            self.desk.ask(signal, now.utc_msc, terminal, sent_before_msc=judged_msc)
        else:
            self.desk.ask(signal, now.utc_msc, terminal, judged_msc=judged_msc)

    def _terminal_of(self, signal: Signal) -> str | None:
        """The only terminal for the signals of a rule file, which their magic number names."""
        return self._terminals.get(signal.magic) or self.config.signals.terminal

    def _terminals_msc(self, symbol: str, terminal: str | None, now_msc: int) -> int:
        """What time it is at the terminals, whose own clocks decide whether a signal is too late.

        The earliest of those that would get it, else of all that are known; 0, at which nothing is
        late, before one has told its time.
        """
        for found in (self.server.traders(symbol, terminal), self.server.terminals.sessions):
            if known := self._clocks_ahead_ms(found):
                return now_msc + min(known)
        return 0

    def _newest_msc(self, now_msc: int) -> int:
        """What time it is by the clock that is ahead of all others: the tick that a signal has its
        time from may have come from another terminal than trades. 0 before one has told its time.
        """
        known = self._clocks_ahead_ms(self.server.terminals.sessions)
        return now_msc + max(known) if known else 0

    def _clocks_ahead_ms(self, terminals: Iterable[str]) -> list[int]:
        """How far the clocks of these are ahead of ours, of those that have told their time."""
        differences = map(self.server.clock_difference_ms, terminals)
        return [difference for difference in differences if difference is not None]

    def _trade_on(self, paper: Paper, signal: Signal) -> None:
        """A signal for the paper account, by the market's time; its broker says what is too late.

        What the desk has sent before a crash, which may have undone it, comes there again.
        """
        self.desk.on_funds(paper.funds())
        entry = self.desk.ask(signal, signal.time_msc, judged_msc=0)
        if entry.fates and not paper.knows(signal.id):
            paper.send_now(PAPER, signal)

    def _hear(self, result: SignalResult) -> None:
        """The guard knows at once what the paper account does; others when it is on disk."""
        entry = self.desk.book.get(result.id)
        if entry is not None:
            is_final = result.status.final
            self.desk.guard.told(entry.request, PAPER, result, is_final, PAPER)

    def _now_msc(self) -> int:
        """The market's time on paper."""
        return (self.paper.time_msc if self.paper else 0) or clock.now_msc()

    def take_orders(self) -> None:
        """Send what the callback has ordered, when it is on disk."""
        for request in self._orders():
            now_msc = self._now_msc()
            self._order(request, now_msc, now_msc)

    def look(self, now: Now) -> None:
        """To be called often: commands of users, and what has waited for the disk."""
        self.take_orders()
        self.desk.release()
        if self.paper is not None:
            self.paper.look()
        while self._done and self._done[0][0] <= self.journal.durable:
            if not self._inbox.remove(self._done[0][1]):
                break
            self._done.pop(0)
        if now.ms >= self._look_ms:
            self._look_ms = now.ms + LOOK_MS
            if self.paper is not None:
                self._on_funds(self.paper.funds())
            self._obey(now)

    def takes_deals(self) -> bool:
        """Whether deals may be stored, which the guard then counts."""
        return not self._is_trading or self.desk.takes_deals()

    def before_deals(self, batch: Batch) -> None:
        """Deals are about to be stored: the guard counts them."""
        if self._is_trading:
            self.desk.on_deals(batch, self._post.owner(batch.identity))
            self._stored_first = self.journal.last

    def before_storing(self) -> bool:
        """Who trades is known before later records are stored, and what the guard has counted of
        deals before these are; called in the commit thread.

        Else a restart would run them again, and find nobody to send their signals to, or it would
        know deals that no terminal sends again, and that the guard has forgotten. Whether it is
        known: if not, nothing may be stored. A paper account stores nothing before it is on disk
        what was asked of it.
        """
        if self.paper is None:
            return self._is_durable(self._stored_first)
        is_synced = False
        with self._troubles.attempt(self.paper.log.path):
            self.paper.log.sync()
            is_synced = True
        return is_synced and self._is_durable(self.journal.last)

    def _is_durable(self, number: int) -> bool:
        """Whether a record of the journal is on disk now."""
        if self.journal.durable < number:
            with self._troubles.attempt(self.journal.path):
                self.journal.sync()
        return self.journal.durable >= number

    def serve(self, feeds: Feeds) -> None:
        """Let programs read along; before anybody can ask for something."""
        self._feeds = feeds
        feeds.add(OrderFeed(self.journal))
        feeds.add(self.accounts)

    def _on_synced(self) -> None:
        """Called in the thread that syncs."""
        self.server.wake()
        self._feeds.wake()

    def _on_funds(self, funds: Funds) -> None:
        self.desk.on_funds(funds)
        self.accounts.take(funds)
        self._feeds.wake()

    def _on_trader(self, trader: Trader) -> None:
        newest = self.journal.last
        self.desk.on_trader(trader)
        if self.journal.last > newest:
            self._stored_first = self.journal.last

    def _turn_halts(self, now: Now) -> None:
        """The kill switch comes before everything else."""
        for path, command in self._taken():
            if isinstance(command, TurnHalt):
                self._halt(path, command, now)
            elif isinstance(command, HaltRules):
                self._halt_rules(path, command, now)

    def _taken(self) -> list[tuple[Path, Command]]:
        """The commands that wait, in order; one that nobody can read may have been a halt."""
        commands = self._inbox.take()
        if self._inbox.has_set_aside:
            self._inbox.has_set_aside = False
            remove_oldest(self.config, self.desk.complain)
        for path in self._inbox.take_unclear():
            text = f"{path.name} in the inbox is damaged and may have been a halt"
            commands.append((path, TurnHalt(True, f"{text}: look, then `mt5cep orders resume`")))
        return sorted(commands, key=lambda found: found[0].stem)

    def _obey(self, now: Now) -> None:
        waiting = {path for _, path in self._done}
        for path, command in self._taken():
            if path in waiting:
                continue
            match command:
                case TurnHalt():
                    self._halt(path, command, now)
                case HaltRules():
                    self._halt_rules(path, command, now)
                case TurnRules():
                    self._turn_rules(path, command)
                case ForgetTerminal():
                    self._forget(path, command)
                case ConfirmAccount():
                    self._confirm(path, command)
                case _:
                    self._obey_order(path, command, now)

    def _halt(self, path: Path, command: TurnHalt, now: Now) -> None:
        reason = plain(command.reason)
        number = self.desk.halt(command.halted, reason, now.utc_msc)
        if path.suffix != BAD:
            self._done.append((number, path))
        logger.warning("{}: {}", HALTED[command.halted], reason)

    def _halt_rules(self, path: Path, command: HaltRules, now: Now) -> None:
        name, reason = plain(command.name), plain(command.reason)
        self._done.append((self.desk.halt_rules(name, command.halted, reason, now.utc_msc), path))
        logger.warning("rules {}: {}: {}", name, HALTED[command.halted], reason)

    def _turn_rules(self, path: Path, command: TurnRules) -> None:
        problem = self.on_rules(command.name, command.action)
        if problem:
            logger.error("rules {}: not {}: {}", command.name, TURNED[command.action], problem)
        else:
            logger.warning("rules {}: {}", command.name, TURNED[command.action])
        self._done.append((self.journal.last, path))

    def add_rules(self, config: Config) -> None:
        """Rule files may be new in these settings."""
        self.desk.change_limits(limits_of(config))
        self._terminals |= {one.magic: one.terminal for one in config.rule_files.values()}

    def _forget(self, path: Path, command: ForgetTerminal) -> None:
        problem = self.server.forget(command.identity)
        if problem:
            logger.error("not forgotten: {}", problem)
        else:
            logger.warning("{} is forgotten", command.identity)
        self._done.append((self.journal.last, path))

    def _confirm(self, path: Path, command: ConfirmAccount) -> None:
        problem = self.server.confirm(command.identity, command.account)
        if problem:
            logger.error("not confirmed: {}", problem)
        else:
            logger.warning("{} may trade on account {}", command.identity, command.account)
        self._done.append((self.journal.last, path))

    def _obey_order(self, path: Path, command: SendOrder, now: Now) -> None:
        try:
            self._order(command.order, command.asked_msc, now.utc_msc)
        except OrderError as problem:
            logger.error("{}", problem)
        self._done.append((self.journal.last, path))

    def _order(self, request: OrderRequest, asked_msc: int, now_msc: int) -> None:
        order = as_order(request, self.config.orders.defaults(), asked_msc)
        if not self.config.orders.send:
            self.desk.refuse(order, OFF, now_msc, request.client_id)
            return
        terminal = request.terminal or self.config.orders.terminal
        self.desk.ask(order, now_msc, terminal, durable=True, client_id=request.client_id)

    def _sends(self, request: Request) -> bool:
        is_signal = isinstance(request, Signal)
        return self.config.signals.send if is_signal else self.config.orders.send

    def _on_outcome(self, outcome: Outcome) -> None:
        self.desk.on_outcome(outcome, self._now_msc())

    def _tell(self, news: News) -> None:
        row = result_row(news)
        logger.info(
            "{name} {symbol}: {state} {lots:g} lots at {price:g} {text} ({terminal})",
            **{**row, "terminal": row["terminal"] or "daemon"},
        )
        self._deliver(row)

    def _tell_claim(self, claim: Claim) -> None:
        """Once for each change, at a level at which people are alerted."""
        logger.error("positions: {}", claim_text(claim))

    def _close(self) -> None:
        with self._troubles.attempt(self.journal.path):
            self.journal.close()


def plain(reason: str) -> str:
    """A reason as every terminal can take it: one short line. A halt is never refused for it."""
    text = reason.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return " ".join(text.split())[:REASON_CHARACTERS]


_NOTHING = SignalResult(0, 0, 0, 0, 0.0, 0.0, 0, SignalStatus.RECEIVED, "")


def result_row(news: News) -> dict[str, Any]:
    """A report as a row for callbacks."""
    entry, result = news.entry, news.result
    fate = entry.fates.get(news.terminal) if news.terminal else None
    found = result or _NOTHING
    return {
        "id": entry.request.id,
        "client_id": entry.asked.client_id,
        "name": entry.request.name,
        "symbol": entry.request.symbol,
        "state": fate.state if fate else entry.state,
        "terminal": news.terminal,
        "account": fate.account if fate else "",
        "lots": found.lots,
        "price": found.price,
        "deal": found.deal,
        "order": found.order,
        "retcode": found.retcode,
        "text": result.text if result else entry.text,
        "time_msc": result.time_msc if result else entry.changed_msc,
        "is_final": fate.final is not None if fate else True,
    }
