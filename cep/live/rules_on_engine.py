"""The rules of a daemon on our engine, in the server's thread: no disk is waited for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack

from loguru import logger

from cep.engine.change import changed, compiled_for
from cep.engine.native import Compiled, Run, Seed
from cep.engine.snapshot import SnapshotError
from cep.functions import changed_files
from cep.live.checkpoints import SNAPSHOT, Restored
from cep.live.config import MAIN, Config
from cep.live.pipeline import Ahead, Caused, Pipeline
from cep.live.reload import Ready, Reload
from cep.live.rules import LiveRules, bound_text, load_plan
from cep.live.rules_file import RulesFile
from cep.live.rules_log import Since, noted
from cep.plan.change import Report
from cep.plan.nodes import Plan
from cep.plan.own import own_digests
from mt5bridge.clock import Now
from mt5bridge.spool import Durable
from mt5bridge.troubles import Effect
from mt5bridge.wire import Signal

CHANGE_AGAIN_MS = 1_000
"""From one attempt to write new rules down to the next, on a full disk."""


class RulesOnEngine(LiveRules):
    """A changed rule file is taken over between two records."""

    def __init__(self, config: Config, name: str = MAIN) -> None:
        super().__init__(config, name)
        self.compiled = self._compiled(self.plan, Seed())
        self._held: deque[tuple[int, Signal]] = deque()
        self._ready: Ready | None = None
        self._change_ms = 0

    def _compiled(self, plan: Plan, seed: Seed) -> Compiled:
        return Compiled(
            plan,
            outputs=self.outputs_of(plan),
            jit=self.config.rules.numba,
            waits=False,  # they run uncompiled until there is machine code
            seed=seed,
            machine="always",  # rules may come of which not all would be compiled
        )

    def catch_up(self, stack: ExitStack) -> None:
        if self.config.rules.numba:
            self.compiled.start().warm_up(in_child=True)
        found = self._restored() or self.begun()
        self.open_journal(stack, found)
        self.pipeline = Pipeline(found.run, self.on_rows)
        self.act_for(found.run.rules.plan)
        self.pipeline.newest, act = found.ingest, self.act_on_stored
        groups = Ahead(self.behind(found.ingest, self.stored))
        parts = []
        for since in self.log.after(found.ingest):
            parts.append(self.pipeline.catch_up(groups.until(since.ingest), act))
            rules = self._following(load_plan(self.config, since.text))
            self._take_over(changed(self.pipeline.run, rules), since)
        parts.append(self.pipeline.catch_up(groups, act))
        records = sum(count for count, _ in parts)
        self.market_msc = max(newest for _, newest in parts)
        self._snapshot_at = self.stored + self.config.state.snapshot_records
        logger.info("{} stored records; {} run again", self.stored, records)
        self.pipeline.run.warm_up()

    def go_on(self, until: int) -> None:
        self.pipeline.catch_up(self.behind(self.pipeline.newest, until), self.effects.act_late)

    def _restored(self) -> Restored | None:
        """The newest state of the rules in the file, or of rules that became these meanwhile."""
        durable = self.stored
        if not self.is_the_same(self.log.newest):
            if found := self.checkpoints.load(self.compiled, durable):
                self.log.back_to(found.ingest)  # else what replaced these would do so again
            return found
        self.log.cut(durable)
        return self.checkpoints.load(self._rules_at, durable)

    def _rules_at(self, ingest: int, seed: Seed) -> Compiled:
        """The rules that record `ingest` led to."""
        since = self.log.at(ingest)
        plan = self.plan if since is None else load_plan(self.config, since.text)
        is_known = plan == self.plan and seed == self.compiled.seed
        return self.compiled if is_known else self._compiled(plan, seed)

    def begin(self, wake: Callable[[], None]) -> None:
        wanted = self.config.rules
        most = wanted.file_max_kib << 10
        file = RulesFile(wanted.file, self.written, wanted.watch_ms, most, self.sink.complain)
        self._reload = Reload(file, self._checked, self._following)
        self.troubles.clear(self._changed_file)

    def end(self) -> None:
        """Nothing runs beside the server."""

    def look(self, now: Now) -> None:
        self.send_held()
        if self.pipeline.is_stopped:
            return
        self._ready = self._ready or self._reload.look(now.ms)
        if self._ready is not None and not self._held and now.ms >= self._change_ms:
            self._change_ms = now.ms + CHANGE_AGAIN_MS
            self._ready = None if self._change(self._ready) else self._ready
        if self.refused != self._reload.refused:
            self._tell_refused(self._reload.refused)

    @property
    def _changed_file(self) -> str:
        """The name of the trouble when the file as it is now does not run."""
        return f"rules {self.name}, changed file"

    def _tell_refused(self, why: str) -> None:
        self.refused = why
        if not why:
            self.troubles.clear(self._changed_file)
            return
        start = "the daemon does not start with it" if self.name == MAIN else "no start runs it"
        remedy = f"mend it, or put the old text back: {start}"
        self.troubles.note(self._changed_file, f"refused, the old rules go on: {why}\n{remedy}")

    def reload(self) -> None:
        self._reload.ask()

    def on_durable(self, durable: Durable) -> None:
        """What the rules have found waits for no disk, but for what a clock has caused."""

    def on_taken(self) -> None:
        self.pipeline.flush()
        if self.spool.next_ingest >= self._snapshot_at and not self._held:
            self.snapshot()

    def on_rows(self, caused: Caused) -> None:
        is_held = caused.by_clock and self.outgoing.paper is None
        self.effects.act(caused, self._hold if is_held else self.outgoing.signal)

    def _hold(self, signal: Signal) -> None:
        """Keep a signal that a clock record has caused until that record is on disk.

        A tick that a crash undoes is sent again, and its signal has the same id; a clock record is
        gone for ever, and another one would give the signal another id. On paper a crash undoes
        what the signal led to, too.
        """
        self._held.append((self.spool.next_ingest - 1, signal))

    def send_held(self) -> None:
        while self._held and self._held[0][0] <= self.spool.durable_ingest:
            self.outgoing.signal(self._held.popleft()[1])

    def snapshot(self) -> None:
        self.pipeline.flush()
        if self.pipeline.is_stopped:
            return  # in the middle of a record
        ingest = self.spool.next_ingest - 1
        self._snapshot_at = ingest + self.config.state.snapshot_records
        try:
            size, events = self.journal.size_bytes, self.events.state()
            self.checkpoints.take(self.pipeline.run, ingest, size, events)
        except SnapshotError as problem:  # an indicator of the user's holds what cannot be saved
            self.troubles.report(SNAPSHOT, problem, Effect.GOES_ON)

    def _following(self, plan: Plan) -> Compiled:
        """Other rules, compiled so that the run can go on with them."""
        return compiled_for(self.pipeline.run, plan, outputs=self.outputs_of(plan))

    def _take_over(self, following: tuple[Run, Report], since: Since) -> None:
        """Go on with a run of other rules; the journal says so."""
        run, report = following
        self.pipeline.go_on(run)
        self.act_for(run.rules.plan)
        self.journal.add([noted(report, since)])
        logger.info("new rules from record {} on\n{}", since.ingest + 1, report)

    def _checked(self, written: str) -> tuple[str, Plan] | None:
        """A text of the file with its values, and its plan; None when it means what runs already.
        Called in any thread.
        """
        for path in changed_files():
            logger.warning("{} has changed: functions are read at the start only, restart", path)
        text = bound_text(self.config, written)
        plan = load_plan(self.config, text)
        return None if plan == self.plan else (text, plan)

    def _change(self, ready: Ready) -> bool:
        """Take over new rules between two records, for good; False: try again later."""
        try:
            following = changed(self.pipeline.run, ready.rules)
        except Exception as problem:  # noqa: BLE001 -- whatever is wrong, the old rules go on
            self._reload.refuse(problem)
            logger.error("the new rules cannot take over, the old ones go on: {}", problem)
            return True
        functions = own_digests(ready.rules.plan)
        since = Since(self.spool.next_ingest - 1, ready.text, functions)
        with self.troubles.attempt(self.log.path):
            self.log.add(since, self.checkpoints.oldest)
        if self.log.newest != since:
            return False
        self._take_over(following, since)
        self.text, self.plan = ready.text, ready.plan
        self.snapshot()
        return True
