"""The rule files of a daemon beside each other: one spool, one way of a tick, all else their own.

What one of several cannot bear stops that one. With a single file there is nobody to go on beside
it: then a failure is the daemon's. That of `[rules]` is one like the others, but that a mistake in
it lets the daemon not start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

import msgspec
from loguru import logger

from cep.callbacks import Row
from cep.dropped import Dropped
from cep.live.coming import Coming
from cep.live.config import MAIN, Config
from cep.live.intake import Intake, Shown
from cep.live.numbering import Numbering
from cep.live.outgoing import Outgoing
from cep.live.reload import shown_problem
from cep.live.rules import LiveRules
from cep.live.stopped import keep_proven, mark, mark_of, unmark
from mt5bridge.clock import Now
from mt5bridge.orders import OrderRequest
from mt5bridge.server import Server, Sink
from mt5bridge.server.status import RuleFileStatus
from mt5bridge.spool import Durable
from mt5bridge.troubles import Effect, Troubles

BY_HAND = "by hand"
"""Why it does not run: somebody has stopped it."""


def rules_of(config: Config, name: str = MAIN) -> LiveRules:
    """The rules of the settings, where these want them to run; errors say what is wrong."""
    if config.database.url is None:
        from cep.live.rules_on_engine import RulesOnEngine

        return RulesOnEngine(config, name)
    from cep.live.rules_on_database import RulesOnDatabase

    return RulesOnDatabase(config, name)


@dataclass(slots=True)
class _File:
    """One of them: its settings, its rules where they could be read, and why they do not run."""

    config: Config
    rules: LiveRules | None
    why: str = ""
    is_warm: bool = False
    coming: Coming | None = None
    is_to_reload: bool = False
    stack: ExitStack = field(default_factory=ExitStack)


class RuleFiles:
    """Belongs to the server's thread, but for what `LiveRules` says otherwise."""

    def __init__(self, config: Config) -> None:
        """Read all; errors say what is wrong with the main one, others are stopped by theirs."""
        self.config = config
        self.reread: Callable[[], Config] = lambda: config
        self.on_warm: Callable[[LiveRules], None] = lambda _rules: None
        """Told of those that have come to the end of what was stored."""
        self._wake: Callable[[], None] | None = None
        self._server: Server | None = None
        self._files = {MAIN: self._read(config, MAIN)}
        self._numbering = Numbering(config.state.folder)
        for name in config.rule_files:
            self._files[name] = self._read(config.of(name), name)

    def _read(self, config: Config, name: str) -> _File:
        if mark_of(config).exists():
            return _File(config, None, BY_HAND)
        try:
            return _File(config, rules_of(config, name))
        except (ValueError, OSError) as problem:
            if name == MAIN:
                raise
            why = shown_problem(problem)
            logger.error("rules {}: not read, so they do not run:\n{}", name, why)
            return _File(config, None, why)

    def __iter__(self) -> Iterator[LiveRules]:
        """Those that were brought to the end of the spool, stopped since or not."""
        files = list(self._files.values())
        return (one.rules for one in files if one.rules is not None and one.is_warm)

    @property
    def main(self) -> LiveRules:
        """Those of `[rules]`, which run."""
        return next(one for one in self if one.name == MAIN)

    @property
    def warming(self) -> int:
        """How many that the daemon began with are not warm yet."""
        coming = [file.coming for file in self._files.values() if file.coming is not None]
        return sum(one.is_first for one in coming)

    def open(self, intake: Intake, outgoing: Outgoing, sink: Sink, troubles: Troubles) -> None:
        """Take what is kept for them beside a spool, which is recovered."""
        self._intake, self.outgoing, self._troubles = intake, outgoing, troubles
        spool = self.spool = intake.spool
        self._sink = sink
        outgoing.on_rules = self.obey
        for file in self._files.values():
            if file.rules is not None:
                file.rules.open(spool, outgoing, sink, troubles)
            else:
                keep_proven(file.config, spool)
        for name, file in self._files.items():
            if file.why and file.why != BY_HAND:
                self._tell_stopped(name, file.why)

    def warm_up(self, stack: ExitStack, *, waits: bool) -> None:
        """Bring all to the end of the spool: beside the server, or with `waits` before that."""
        stack.callback(self._close)
        for file in self._files.values():
            if file.rules is not None:
                file.rules.expect()
                made = partial(_same, file.rules)
                file.coming = Coming(self.spool, made, is_first=True)
        self._join()
        while waits and self.warming:
            for name, file in self._files.items():
                if file.coming is not None:
                    self._go_on_loading(name, file)
                if file.coming is not None:
                    file.coming.wait()

    @property
    def newest_msc(self) -> int:
        """The newest time, UTC ms, of what was stored before and rules will run over again.

        Of rules that begin anew it is that of the newest records: they act on nothing older.
        """
        durable = self.spool.durable_ingest
        read = [one.rules for one in self._files.values() if one.rules is not None]
        snapshots = (one.checkpoints.newest(durable) for one in read)
        oldest = durable - self.config.state.snapshot_records
        return self._intake.newest_msc(max(0, oldest, min(snapshots, default=0)))

    def _join(self) -> None:
        """All are shown what is stored."""
        for one in self:
            one.pipeline.on_failure = self._on_failure(one.name)
        running: list[Shown] = [one.pipeline for one in self]
        coming = [file.coming.kept for file in self._files.values() if file.coming is not None]
        self._intake.shown = [*running, *coming]

    def _on_failure(self, name: str) -> Callable[[Exception], None] | None:
        """Who is told that rules raise; None: that ends the daemon."""
        return partial(self._failed, name) if len(self._files) > 1 else None

    def _close(self) -> None:
        for file in self._files.values():
            if file.coming is not None:
                file.coming.leave()
            file.stack.close()

    def _failed(self, name: str, problem: BaseException) -> None:
        logger.opt(exception=problem).error("rules {}: they raise, so they stop", name)
        self._files[name].why = shown_problem(problem)
        self._tell_stopped(name, self._files[name].why)

    def _tell_stopped(self, name: str, why: str) -> None:
        text = (
            f"stopped: {why}; mend it, then `mt5cep rules load {name}`, or start the daemon again"
        )
        self._troubles.report(f"rules {name}", text, Effect.GOES_ON)

    # -- stopped and loaded while the daemon runs ------------------------------------------------

    def obey(self, name: str, action: str) -> str:
        """Stop or load one of them; why not, if not."""
        return self._stop(name) if action == "stop" else self._load(name)

    def _stop(self, name: str) -> str:
        file = self._files.get(name)
        if file is None or file.coming is not None or file.rules is None or not file.is_warm:
            return "it does not run"
        mark(file.config, self.spool.next_ingest - 1)
        file.rules.snapshot()
        file.rules.pipeline.is_stopped = True
        file.why = BY_HAND
        self._troubles.clear(f"rules {name}")
        return ""

    def _load(self, name: str) -> str:
        """Read it with the settings as they are now, and let it warm up."""
        try:
            config = self.reread()
        except (ValueError, OSError) as problem:
            return shown_problem(problem)
        if name != MAIN and name not in config.rule_files:
            return f"there is no [rules.{name}] in the settings"
        known, own = self._files.get(name), config if name == MAIN else config.of(name)
        if known is not None and (known.coming is not None or not known.why):
            return "it runs already"
        if known is not None and known.config.signals.magic != own.signals.magic:
            return "its magic number is another one: start the daemon again"
        file = self._files.setdefault(name, _File(own, None, "it is loaded"))
        file.config = own
        file.coming = Coming(self.spool, partial(self._made, own, name))
        self.outgoing.add_rules(config)
        self._join()
        return ""

    def _made(self, config: Config, name: str) -> LiveRules:
        """Called in the thread that warms them up."""
        rules = rules_of(config, name)
        rules.open(self.spool, self.outgoing, self._sink, self._troubles)
        return rules

    def _go_on_loading(self, name: str, file: _File) -> None:
        coming = file.coming
        assert coming is not None
        if coming.is_due:
            if not any(one.coming and one.coming.is_at_work for one in self._files.values()):
                coming.begin(self._let_go(file))
                self._join()
        elif coming.is_done and coming.failure is None and not coming.is_near:
            coming.begin()
        elif coming.is_done:
            if coming.failure is not None:
                self._not_loaded(name, coming)
            else:
                self._begin_loaded(name, file, coming)
            file.coming = None
            self._join()

    def _let_go(self, file: _File) -> Callable[[], None]:
        """What is left to do for rules that were stopped, in the thread of those that come."""
        rules, stack = file.rules if file.is_warm else None, file.stack
        file.rules, file.stack, file.is_warm = None, ExitStack(), False

        def let_go() -> None:
            if rules is not None:
                rules.save()
            stack.close()

        return let_go

    def _not_loaded(self, name: str, coming: Coming) -> None:
        """It has failed. What no rules are to blame for, or nobody goes on beside, ends a start."""
        coming.stack.close()
        failure = coming.failure
        assert failure is not None
        is_alone = len(self._files) == 1 or isinstance(failure, MemoryError | OSError)
        if not isinstance(failure, Exception) or (coming.is_first and is_alone):
            raise failure
        self._failed(name, failure)

    def _begin_loaded(self, name: str, file: _File, coming: Coming) -> None:
        file.stack, file.why, file.is_warm = coming.stack, "", True
        self._troubles.clear(f"rules {name}")
        assert coming.rules is not None
        file.rules = coming.rules
        self.on_warm(file.rules)
        self.outgoing.find_again(file.rules.effects.found_again, file.rules.market_msc)
        unmark(file.config)
        rules = coming.finish(self._on_failure(name))
        if self._wake is not None:
            rules.begin(self._wake)
        if self._server is not None:
            rules.serve_rows(self._server)
        logger.info("rules {}: they run from record {} on", name, rules.pipeline.newest + 1)
        if file.is_to_reload:
            file.is_to_reload = False
            rules.reload()

    # -- what all of them do ---------------------------------------------------------------------

    def begin(self, wake: Callable[[], None]) -> None:
        """Terminals are served from now on."""
        self._wake = wake
        for one in self:
            one.begin(wake)

    def end(self) -> None:
        """They are served no longer."""
        for one in self:
            one.end()

    def look(self, now: Now) -> None:
        """Do what there is to do, again and again."""
        for one in self:
            one.look(now)
        for name, file in list(self._files.items()):
            if file.coming is not None:
                self._go_on_loading(name, file)

    def reload(self) -> None:
        """Take the rule files as they are now, soon."""
        for file in self._files.values():
            file.is_to_reload = file.coming is not None  # what warms up has been read before
        for one in self:
            one.reload()

    def on_durable(self, durable: Durable) -> None:
        """A commit made this safe; called in the commit thread."""
        for one in self:
            one.on_durable(durable)

    def on_taken(self) -> None:
        """The server has taken all that waited."""
        for one in self:
            one.on_taken()

    def send_held(self) -> None:
        """Send the signals that have waited for the disk, if they need no longer."""
        for one in self:
            one.send_held()

    def snapshot(self) -> None:
        """Remember the state of the rules as it is now."""
        for one in self:
            one.snapshot()

    def save(self) -> None:
        """Write the snapshots that hold nothing a crash can undo; called in any thread."""
        for one in self:
            one.save()

    def write_journal(self) -> None:
        """Write down the rows that wait; called in any thread."""
        for one in self:
            one.write_journal()

    # -- what they have together -----------------------------------------------------------------

    @property
    def dropped(self) -> Dropped:
        """What the rules have dropped so far, and the risk guard for a limit."""
        found = sum((one.dropped for one in self), Dropped())
        return found + self.outgoing.dropped if hasattr(self, "outgoing") else found

    @property
    def waiting_bytes(self) -> int:
        """Of rows that are not written yet."""
        return sum(one.journal.waiting_bytes for one in self)

    def takes_deals(self) -> bool:
        """Whether all may be shown new texts."""
        return all(one.takes_deals() for one in self)

    def deliver_result(self, row: Row) -> None:
        """Tell the users' callbacks what became of an order."""
        for one in self:
            one.deliver_result(row)

    def ordered(self) -> list[OrderRequest]:
        """What the users' callbacks have ordered since; those of a named file have its magic."""
        return [self._with_magic(one, request) for one in self for request in one.ordered()]

    def _with_magic(self, one: LiveRules, request: OrderRequest) -> OrderRequest:
        if one.name == MAIN or request.magic is not None:
            return request
        return msgspec.structs.replace(request, magic=one.config.signals.magic)

    def serve_rows(self, server: Server) -> None:
        """Let programs read the rows; before anybody can ask for some."""
        self._server = server
        for one in self:
            one.serve_rows(server)

    def tell_events(self, server: Server) -> None:
        """Send the events and rows that no crash can undo any more, and tell of new rules.

        Not before all are warm that the daemon began with: until then nobody is told anything, who
        would take what is missing for gone.
        """
        if self.warming:
            return
        durable = self.spool.durable_ingest
        released, told = [], []
        for one in self:  # each of them, whatever the others say
            released.append(one.rows.release(durable))
            told.append(one.events.is_told)
        if any(released):
            server.feeds.wake()
        if not all(told) or server.holds_events:
            standings = [found for one in self for found in one.events.standings()]
            own = {one.name: one.events.numbering for one in self}
            server.tell_rules(self._numbering.of(own), standings)
        if due := [event for one in self for event in one.events.release(durable)]:
            server.publish(due)

    def status(self) -> list[RuleFileStatus]:
        """How each of them stands."""
        return [self._status(name, file) for name, file in self._files.items()]

    def _status(self, name: str, file: _File) -> RuleFileStatus:
        signals, rules = file.config.signals, file.rules if file.is_warm else None
        halt = self.outgoing.desk.book.rules_halted.get(name)
        return RuleFileStatus(
            name=name,
            file=str(file.config.rules.file),
            magic=signals.magic,
            sends_signals=signals.send,
            runs=not file.why and file.coming is None,
            why="" if file.coming else file.why,
            refused=rules.refused if rules else "",
            loaded=file.coming.part if file.coming else 1.0,
            halted=halt.reason or "halted" if halt is not None and halt.halted else "",
            changes=max(0, len(rules.log.entries) - 1) if rules else 0,
            rows_bytes=rules.journal.size_bytes if rules else 0,
        )


def _same(rules: LiveRules) -> LiveRules:
    """Rules that were read before."""
    return rules
