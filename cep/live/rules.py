"""The rules of a daemon at work: brought to the end of the spool, fed, acted on, saved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path

from loguru import logger

from cep.callbacks import Delivery, Row, load_callback
from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.functions import load_functions
from cep.lang import ParameterError, with_magic, with_parameters
from cep.live.acting import Acting
from cep.live.checkpoints import Checkpoints, Restored
from cep.live.complex_events import ComplexEvents
from cep.live.config import MAIN, Config, ConfigError
from cep.live.effects import Effects
from cep.live.journal import Journal, set_aside
from cep.live.journal_feed import JournalFeed
from cep.live.outgoing import Outgoing
from cep.live.pipeline import Caused, Pipeline
from cep.live.quarantine import Quarantine, RecordError
from cep.live.rules_log import RulesLog, Since
from cep.live.signals import lots_most
from cep.live.warm_up import WarmUp
from cep.market import DEAL_STREAM, check_market, source
from cep.plan import compile_rules
from cep.plan.nodes import Origin, Plan, says_of
from cep.plan.own import own_digests
from cep.plan.rule_file import read_rule_file
from mt5bridge.clock import Now
from mt5bridge.orders import OrderRequest
from mt5bridge.server import Server, Sink
from mt5bridge.spool import Durable, Group, Spool
from mt5bridge.spool import read as read_spool
from mt5bridge.spool.disk import make_directories
from mt5bridge.troubles import Troubles


def rules_text(config: Config) -> str:
    """The text of the configured rule file. RuleFileError, OSError."""
    return read_rule_file(config.rules.file, config.rules.file_max_kib << 10)


def bound_text(config: Config, text: str) -> str:
    """A text of the rule file with the configured values of its parameters, and its magic number.

    RuleError, ConfigError.
    """
    path = config.rules.file
    try:
        text = with_parameters(text, str(path), config.rules.parameters)
        return with_magic(text, str(path), config.signals.magic)
    except ParameterError as problem:
        remedy = f"; {problem.hint}" if problem.hint else ""
        raise ConfigError(f"[rules] parameters: {path}: {problem}{remedy}") from None


def load_plan(config: Config, text: str | None = None) -> Plan:
    """The plan of the configured rule file, or of a `text` that has its values, fit for ticks and
    deals.
    """
    path = config.rules.file
    if text is None:
        text = bound_text(config, rules_text(config))
    plan = compile_rules(text, str(path))
    check_market(plan)
    derived = {stream.name for stream in plan.streams} - {stream.name for stream in plan.sources}
    for name in config.rules.streams or ():
        if name not in derived:
            known = ", ".join(sorted(derived))
            raise ConfigError(f"[rules] streams: {path} makes no stream {name}; it makes {known}")
    return plan


def load_delivery(config: Config, plan: Plan) -> Delivery | None:
    """The user's callback, if one is configured."""
    path = config.rules.callback
    return Delivery(plan, load_callback(path), live=True) if path else None


def signals_of(plan: Plan) -> set[str]:
    """The streams of signals."""
    return {signal.name for signal in plan.signals}


def events_of(plan: Plan) -> set[str]:
    """The streams of simple events and of complex ones."""
    origins = (Origin.EVENT, Origin.COMPLEX)
    return {stream.name for stream in plan.streams if stream.origin in origins}


class LeftError(Exception):
    """The daemon ends before the rules are warm."""


class LiveRules(ABC):
    """What a daemon has of its rules, wherever they run. Belongs to the server's thread, but for
    what says otherwise.
    """

    compiled: Compiled
    """What our engine runs."""
    spool: Spool
    pipeline: Pipeline
    journal: Journal
    effects: Effects
    outgoing: Outgoing
    events: ComplexEvents

    def __init__(self, config: Config, name: str = MAIN) -> None:
        """Read them; errors say what is wrong with file, functions or callback.

        `name` tells them from those of other rule files, and begins the names of what they find.
        """
        self.config, self.name = config, name
        self.scope = "" if name == MAIN else f"{name}/"
        load_functions(config.rules.functions)
        self.written = rules_text(config)
        self.text = bound_text(config, self.written)
        self.plan = load_plan(config, self.text)
        self.delivery = load_delivery(config, self.plan)
        self.market_msc = 0
        """The newest time of the records that were stored before, UTC ms."""
        self.acts_again = True
        """On what a start finds again that may not have been acted on."""
        self.stored = 0
        """The last record that was stored before they came."""
        self.refused = ""
        """Why the file as it is now does not run, where it was changed."""
        self.is_left = False
        """Set from another thread: the daemon ends, so there is no use in going on warming up."""
        self.warm_up: WarmUp | None = None
        """On what the archive has of before the spool, where it was asked for."""

    def open(self, spool: Spool, outgoing: Outgoing, sink: Sink, troubles: Troubles) -> None:
        """Take what is kept for them beside a spool, which is recovered."""
        folder, name = self.config.state.folder, spool.recovered.spool
        self.spool, self.outgoing, self.sink, self.troubles = spool, outgoing, sink, troubles
        make_directories(folder, mode=0o700)
        wanted = self.config.server
        self.events = ComplexEvents(wanted.events_max, wanted.bindings_max, sink.complain)
        self.events.scope = self.scope
        self.checkpoints = Checkpoints(folder, name, troubles, complain=sink.complain)
        self.quarantine = Quarantine(folder, name, sink.complain)
        self.acting = Acting(folder / f"{name}.acting", sink.complain)
        self.log = RulesLog(folder / f"{name}.rules", sink.complain)

    @property
    def outputs(self) -> list[str] | None:
        """The streams whose rows are wanted; None is all."""
        return self.outputs_of(self.plan)

    def outputs_of(self, plan: Plan) -> list[str] | None:
        """The same of other rules."""
        streams = self.config.rules.streams
        if streams is None:
            return None
        return [*streams, *(signals_of(plan) | events_of(plan)) - {*streams}]

    def hidden_of(self, plan: Plan) -> set[str]:
        """The streams whose rows are wanted for terminals alone."""
        streams = self.config.rules.streams
        return set() if streams is None else events_of(plan) - {*streams}

    @property
    def dropped(self) -> Dropped:
        """What the rules have dropped so far."""
        if not hasattr(self, "pipeline"):
            return Dropped()  # it has not come so far
        found = self.pipeline.run.dropped + self.effects.unusable
        return Dropped(((kind, self.scope + name), why, n) for (kind, name), why, n in found)

    def expect(self) -> None:
        """They come with the daemon's start: what it stores from now on is theirs to act on."""
        self.stored = self.spool.next_ingest - 1
        if self.log.newest is None or self.log.newest.text != self.text:
            self.acting.expect(self.stored, self.text)

    def recover(self, stack: ExitStack) -> None:
        """Bring everything to record `stored`, past records that the rules cannot bear."""
        if not self.acts_again:
            self.acting.begin(self.stored)
        while True:
            with ExitStack() as attempt:
                try:
                    self.catch_up(attempt)
                except RecordError as error:
                    self.quarantine.add(error)
                    continue
                except FileNotFoundError as problem:
                    if not self._has_left_the_spool(problem):
                        raise
                    continue
                stack.push(attempt.pop_all())
                return

    def _has_left_the_spool(self, problem: FileNotFoundError) -> bool:
        """Whether this is a segment that made room for what comes, before it could be read."""
        path = Path(problem.filename or "")
        is_one = path.parent == self.spool.directory and not path.exists()
        if is_one:
            logger.warning("{} has left the spool: the rules begin again behind it", path)
        return is_one

    def going(self, groups: Iterable[Group]) -> Iterator[Group]:
        """The groups, until the daemon ends: then LeftError."""
        for group in groups:
            if self.is_left:
                raise LeftError
            yield group

    def behind(self, ingest: int, last: int) -> Iterator[Group]:
        """What is stored behind one record up to another one, without what is left out."""
        groups = takewhile(
            lambda group: group.last_ingest <= last, read_spool(self.spool.directory, ingest + 1)
        )
        return self.going(self.quarantine.rest(groups))

    def act_on_stored(self, caused: Caused) -> None:
        """Act on rows of what was stored before, as far as a run before this one would have."""
        is_noted = caused.groups[-1].last_ingest <= self.acting.after
        (self.effects.note if is_noted else self.effects.act_again)(caused)

    def send_late(self) -> None:
        """Send the signals of what has come while the rules were on their way."""
        late, self.effects.late = self.effects.late, []
        for signal in late:
            self.outgoing.signal(signal)

    @abstractmethod
    def catch_up(self, stack: ExitStack) -> None:
        """Bring the rules to record `stored` and the journal to the end of the rules.

        RecordError at a group that the rules cannot bear.
        """

    @abstractmethod
    def go_on(self, until: int) -> None:
        """The same from there to a later record, which is on disk, for the first time: signals wait
        for `send_late`. Called beside the server.
        """

    @abstractmethod
    def begin(self, wake: Callable[[], None]) -> None:
        """Terminals are served from now on; `wake` makes the server look here soon."""

    @abstractmethod
    def end(self) -> None:
        """They are served no longer."""

    @abstractmethod
    def look(self, now: Now) -> None:
        """Do what there is to do, again and again."""

    @abstractmethod
    def reload(self) -> None:
        """Take the rule file as it is now, soon, if its meaning is another one."""

    @abstractmethod
    def on_durable(self, durable: Durable) -> None:
        """A commit made this safe; called in the commit thread."""

    @abstractmethod
    def on_taken(self) -> None:
        """The server has taken all that waited."""

    @abstractmethod
    def send_held(self) -> None:
        """Send the signals that have waited for the disk, if they need no longer."""

    @abstractmethod
    def on_rows(self, caused: Caused) -> None:
        """Act on rows found for the first time."""

    @abstractmethod
    def snapshot(self) -> None:
        """Remember the state of the rules as it is now."""

    def save(self) -> None:
        """Write the snapshots that hold nothing a crash can undo; called in any thread."""
        self.checkpoints.save(self.spool.durable_ingest, self._sync_journals)

    def _sync_journals(self) -> None:
        """What a snapshot makes nobody find again has to be on disk."""
        self.journal.sync()
        self.outgoing.journal.sync()

    def write_journal(self) -> None:
        """Write down the rows that wait; called in any thread."""
        with self.troubles.attempt(self.journal.path):
            self.journal.write()

    def open_journal(self, stack: ExitStack, found: Restored) -> None:
        """Have the journal of rows, cut to what a state knows, and what acts on them."""
        state = self.config.state
        self.events.begin(found.events)
        self.journal = Journal(
            state.journal,
            found.journal_bytes,
            self.outgoing.journal.write,
            file_bytes=state.journal_mib << 20,
            files_max=state.journal_files,
        )
        stack.callback(self._close_journal)
        name, take = self.spool.recovered.spool, self.outgoing.take_orders
        self.effects = Effects(
            (), self.config.signals, self.journal, None, take, name, self.events.take
        )
        self.effects.scope = self.scope
        magic, desk = self.config.signals.magic, self.outgoing.desk
        self.effects.lots_most = lambda: lots_most(desk.limits, magic)

    def takes_deals(self) -> bool:
        """Whether the rules may be shown new texts, which they never forget; if not, terminals keep
        their deals: symbols, the only texts of ticks, have a limit of their own.
        """
        texts, most = len(self.pipeline.run.strings), self.config.rules.texts_max
        if texts < most or source(self.plan, DEAL_STREAM) is None:
            return True
        self.sink.complain("texts_reached", f"deals wait: the rules remember {texts:,} texts")
        return False

    def _close_journal(self) -> None:
        with self.troubles.attempt(self.journal.path):
            self.journal.close()

    def act_for(self, plan: Plan) -> None:
        """Send the signals of these rules, and deliver their rows."""
        if self.delivery is not None:
            self.delivery = Delivery(plan, self.delivery.callback, live=True)
        deliver = self.delivery.deliver if self.delivery else None
        self.effects.go_on(signals_of(plan), deliver, self.hidden_of(plan), says_of(plan))
        self.events.go_on(plan)

    def serve_rows(self, server: Server) -> None:
        """Let programs read the rows; before anybody can ask for some."""
        self.rows = JournalFeed(self.journal)
        if self.journal.path is not None and self.name == MAIN:
            self.effects.on_added = self.rows.note
            server.feeds.add(self.rows)

    def deliver_result(self, row: Row) -> None:
        """Tell the user's callback what became of an order."""
        if self.delivery is not None:
            self.delivery.deliver_result(row)

    def ordered(self) -> list[OrderRequest]:
        """What the user's callback has ordered since."""
        return self.delivery.callback.take_orders() if self.delivery is not None else []

    def is_the_same(self, since: Since | None) -> bool:
        """Whether rules mean the same as those in the file."""
        try:
            return (
                since is not None
                and load_plan(self.config, since.text) == self.plan
                and since.functions == own_digests(self.plan)
            )
        except ValueError as problem:
            logger.warning("the rules of the last run are none today: {}", problem)
            return False

    def begun(self) -> Restored:
        """A run from the first record of the spool on, and a journal of its own."""
        if not self.acting.expects(self.text):
            self.acting.begin(self.stored)
        first = next(read_spool(self.spool.directory), None)
        if first is not None:
            logger.warning("no snapshot fits these rules: they run from record {}", first.ingest)
        self.checkpoints.forget()
        aside = set_aside(self.config.state.journal)
        if aside is not None:
            logger.warning("the journal of other rules or another spool is now {}", aside)
        self.events.begin()
        run = self.compiled.start()
        if self.config.rules.warm_up_days:
            self.warm_up = WarmUp(self.config, self.spool, first)
            self.events.go_on(self.plan)
            self.warm_up.feed(run, self.events.take, self.going)
        ingest, events = first.ingest - 1 if first else 0, self.events.state()
        fresh = Restored(run, ingest, 0, events)
        self.log.begin(Since(fresh.ingest, self.text, own_digests(self.plan)))
        self.checkpoints.take(fresh.run, fresh.ingest, 0, events)
        self.checkpoints.save(fresh.ingest, lambda: None)
        self.acting.begin(self.acting.after)
        return fresh
