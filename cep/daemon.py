"""The live service: the only place that wires stages together and owns threads.

Server thread (the caller's): sockets, total order, rules, signals and orders. Commit thread: the
disk, and after it the acknowledgements. Order thread: the order journal's disk. Archive thread:
sealed segments to Parquet.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import deque
from contextlib import ExitStack
from threading import Event

from loguru import logger

from cep.archive import Archive, ArchiveError, ingest_spool
from cep.callbacks import Delivery, Row, load_callback
from cep.dropped import Dropped
from cep.engine.change import changed, compiled_for
from cep.engine.native import Compiled, Run, Seed
from cep.engine.snapshot import SnapshotError
from cep.functions import changed_files, load_functions
from cep.live.checkpoints import SNAPSHOT, Checkpoints, Restored
from cep.live.config import Config, ConfigError, credential_path
from cep.live.effects import Effects
from cep.live.journal import Journal, set_aside
from cep.live.outgoing import Outgoing
from cep.live.pipeline import Ahead, Caused, Pipeline
from cep.live.quarantine import Quarantine, RecordError
from cep.live.reload import Ready, Reload
from cep.live.rules_file import RulesFile
from cep.live.rules_log import RulesLog, Since, noted
from cep.live.state_folder import check_access, hold
from cep.live.status_file import StatusFile
from cep.live.timekeeper import Timekeeper
from cep.market import check_market
from cep.plan import compile_rules
from cep.plan.change import Report
from cep.plan.nodes import Plan
from cep.plan.own import own_digests
from mt5bridge import clock
from mt5bridge.credential import ensure_credential, read_credential
from mt5bridge.orders import OrderRequest
from mt5bridge.server import DEALS, Batch, Server, Settings, Sink
from mt5bridge.server.batch import StreamKey
from mt5bridge.spool import CommitThread, Durable, Spool, SpoolError
from mt5bridge.spool import read as read_spool
from mt5bridge.troubles import Effect, Trouble, Troubles
from mt5bridge.wire import Signal

MEBIBYTE = 1 << 20
POLL_MS = 50
SWITCH_S = 0.0001
"""How long another thread may keep a signal waiting."""
CHANGE_AGAIN_MS = 1_000
"""From one attempt to write new rules down to the next, on a full disk."""
ARCHIVE = "archive"
"""The name of the trouble when segments cannot be moved there."""


class DaemonFailedError(Exception):
    """The daemon has ended because a disk or a thread failed; the text names it."""

    exit_code = 3
    hint = (
        "what was acknowledged is on disk, and terminals keep the rest: "
        "mend the cause, then start the daemon again"
    )

    @classmethod
    def of(cls, trouble: Trouble) -> DaemonFailedError:
        return cls(f"the daemon has ended: {trouble.name}: {trouble.text}")


def load_plan(config: Config, text: str | None = None) -> Plan:
    """The plan of the configured rule file, or of a `text` of it, fit for ticks and deals."""
    path = config.rules.file
    if text is None:
        text = path.read_text(encoding="utf-8")
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


def _signals(plan: Plan) -> set[str]:
    return {signal.name for signal in plan.signals}


def be_quick() -> None:
    """Keep Python from making the server's thread wait for the disk's, or for old garbage."""
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()


class Daemon:
    """Recovers what is stored, then serves terminals until stopped."""

    def __init__(self, config: Config) -> None:
        self.config = config
        load_functions(config.rules.functions)
        self.text = config.rules.file.read_text(encoding="utf-8")
        self.plan = load_plan(config, self.text)
        self.delivery = load_delivery(config, self.plan)
        self.rules = self._compiled(self.plan, Seed())
        self.sink = Sink()
        self.server: Server | None = None
        self.troubles = Troubles()
        self._held: deque[tuple[int, Signal]] = deque()
        self._is_begun = False  # with the first record of the spool: nobody acts on what it holds
        self._unacknowledged: dict[tuple[str, StreamKey], int] = {}  # but on disk
        self._change_ms = 0

    def _compiled(self, plan: Plan, seed: Seed) -> Compiled:
        return Compiled(
            plan,
            outputs=self._outputs(plan),
            jit=self.config.rules.numba,
            waits=False,  # they run uncompiled until there is machine code
            seed=seed,
            machine="always",  # rules may come of which not all would be compiled
        )

    def _outputs(self, plan: Plan) -> list[str] | None:
        streams = self.config.rules.streams
        return None if streams is None else [*streams, *_signals(plan)]

    @property
    def dropped(self) -> Dropped:
        """What the rules have dropped so far, and the risk guard for a limit."""
        if not hasattr(self, "pipeline"):
            return Dropped()  # it has not come so far
        return self.pipeline.run.dropped + self.outgoing.dropped

    def run(self, stop: Event, ready: Event | None = None) -> None:
        """Serve until `stop` is set; `ready` is set once terminals can connect.

        DaemonFailedError when a disk or a thread fails, so that it cannot go on.
        """
        try:
            self.settings = self._settings()
            with ExitStack() as stack:
                self._run(stack, stop, ready)
        except OSError as problem:
            self.troubles.report("disk", problem, Effect.ENDS)
        if self.troubles.end is not None:
            raise DaemonFailedError.of(self.troubles.end)

    def _run(self, stack: ExitStack, stop: Event, ready: Event | None) -> None:
        self._hold_state(stack)
        self.spool = self._open_spool(stack)
        folder, spool = self.config.state.folder, self.spool.recovered.spool
        self.checkpoints = Checkpoints(folder, spool, self.troubles, complain=self.sink.complain)
        self.quarantine = Quarantine(folder, spool, self.sink.complain)
        self.outgoing = Outgoing(self.config, self._deliver_result, self._ordered, self.troubles)
        self.log = RulesLog(folder / f"{spool}.rules", self.sink.complain)
        if self.config.rules.numba:
            self.rules.start().warm_up(in_child=True)
        self._recover(stack)
        self.pipeline.run.warm_up()
        state = self.config.state
        self.timekeeper = Timekeeper(self.pipeline, state.clock_every_ms, state.away_ms)
        be_quick()
        self._serve(stop, ready)
        if self.troubles.end is None:
            self._snapshot()
            self._save_snapshots()

    def _settings(self) -> Settings:
        """The server's; the daemon's credential is made at its first start."""
        check_access(self.config)
        path = credential_path(self.config)
        if ensure_credential(path):
            logger.info("made {}; `mt5cep terminal install` gives it to a terminal", path)
        return self.config.server.settings(read_credential(path))

    def _hold_state(self, stack: ExitStack) -> None:
        """Nobody else journals orders here: a second daemon would send them once more."""
        stack.callback(os.close, hold(self.config.state.folder))

    def _open_spool(self, stack: ExitStack) -> Spool:
        store = self.config.spool
        spool = Spool(
            store.folder,
            segment_bytes=store.segment_mib * MEBIBYTE,
            segment_ms=store.segment_minutes * 60_000,
            bytes_max=store.max_mib * MEBIBYTE,
            on_durable=self._on_durable,
        )
        recovery = spool.recover()
        stack.callback(self._close_spool, spool)
        if recovery.torn_bytes:
            logger.warning("cut {} bytes of an interrupted write", recovery.torn_bytes)
        for path, damage in recovery.damages:
            logger.error("{}: damaged: {}", path, damage)
        return spool

    def _recover(self, stack: ExitStack) -> None:
        """Bring everything to the end of the spool, past records that the rules cannot bear."""
        while True:
            with ExitStack() as attempt:
                try:
                    self._catch_up(attempt, self._restored())
                except RecordError as error:
                    self.quarantine.add(error)
                    continue
                stack.push(attempt.pop_all())
                return

    def _close_spool(self, spool: Spool) -> None:
        try:
            spool.close()
        except SpoolError as problem:
            self.troubles.report(spool.directory, problem, Effect.ENDS)

    def _catch_up(self, stack: ExitStack, restored: Restored | None) -> None:
        """Bring the rules to the end of the spool and the journal to the end of the rules."""
        state = self.config.state
        found = restored or self._begin()
        before = self.outgoing.journal.write
        self.journal = Journal(state.journal, found.journal_bytes, before)
        stack.callback(self._close_journal)
        self.effects = self._effects()
        self.pipeline = Pipeline(self.spool, found.run, self._on_rows)
        self._act_for(found.run.rules.plan)
        act = self.effects.note if self._is_begun else self.effects.act_again
        stored = read_spool(self.spool.directory, found.ingest + 1)
        groups = Ahead(self.quarantine.rest(stored))
        parts = []
        for since in self.log.after(found.ingest):
            parts.append(self.pipeline.catch_up(groups.until(since.ingest), act))
            rules = self._following(load_plan(self.config, since.text))
            self._take_over(changed(self.pipeline.run, rules), since)
        parts.append(self.pipeline.catch_up(groups, act))
        records = sum(count for count, _ in parts)
        self.market_msc = max(newest for _, newest in parts)
        self._snapshot_at = self.spool.next_ingest + state.snapshot_records
        logger.info("{} stored records; {} run again", self.spool.durable_ingest, records)

    def _effects(self) -> Effects:
        config, name = self.config.signals, self.spool.recovered.spool
        return Effects((), config, self.journal, None, self.outgoing.take_orders, name)

    def _restored(self) -> Restored | None:
        """The newest state of the rules in the file, or of rules that became these meanwhile."""
        durable = self.spool.durable_ingest
        if not self._is_the_same(self.log.newest):
            return self.checkpoints.load(self.rules, durable)
        self.log.cut(durable)
        return self.checkpoints.load(self._rules_at, durable)

    def _is_the_same(self, since: Since | None) -> bool:
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

    def _rules_at(self, ingest: int, seed: Seed) -> Compiled:
        """The rules that record `ingest` led to."""
        since = self.log.at(ingest)
        plan = self.plan if since is None else load_plan(self.config, since.text)
        is_known = plan == self.plan and seed == self.rules.seed
        return self.rules if is_known else self._compiled(plan, seed)

    def _following(self, plan: Plan) -> Compiled:
        """Other rules, compiled so that the run can go on with them."""
        return compiled_for(self.pipeline.run, plan, outputs=self._outputs(plan))

    def _take_over(self, following: tuple[Run, Report], since: Since) -> None:
        """Go on with a run of other rules; the journal says so."""
        run, report = following
        self.pipeline.go_on(run)
        self._act_for(run.rules.plan)
        self.journal.add([noted(report, since)])
        logger.info("new rules from record {} on\n{}", since.ingest + 1, report)

    def _act_for(self, plan: Plan) -> None:
        """Send the signals of these rules, and deliver their rows."""
        if self.delivery is not None:
            self.delivery = Delivery(plan, self.delivery.callback, live=True)
        deliver = self.delivery.deliver if self.delivery else None
        self.effects.go_on(_signals(plan), deliver)

    def _compiled_text(self, text: str) -> Compiled | None:
        """New rules from their text; None when they mean the same as those that run."""
        for path in changed_files():
            logger.warning("{} has changed: functions are read at the start only, restart", path)
        plan = load_plan(self.config, text)
        if plan == self.plan:
            return None
        return self._following(plan)

    def _change(self, ready: Ready) -> bool:
        """Take over new rules between two records, for good; False: try again later."""
        try:
            following = changed(self.pipeline.run, ready.rules)
        except Exception as problem:  # noqa: BLE001 -- whatever is wrong, the old rules go on
            logger.error("the new rules cannot take over, the old ones go on: {}", problem)
            return True
        functions = own_digests(ready.rules.plan)
        since = Since(self.spool.next_ingest - 1, ready.text, functions)
        with self.troubles.attempt(self.log.path):
            self.log.add(since)
        if self.log.newest != since:
            return False
        self._take_over(following, since)
        self.text, self.plan = ready.text, load_plan(self.config, ready.text)
        self._snapshot()
        return True

    def _begin(self) -> Restored:
        """A run from the first record of the spool on, and a journal of its own."""
        self._is_begun = True
        first = next(read_spool(self.spool.directory), None)
        if first is not None:
            logger.warning("no snapshot fits these rules: they run from record {}", first.ingest)
        aside = set_aside(self.config.state.journal)
        if aside is not None:
            logger.warning("the journal of other rules or another spool is now {}", aside)
        fresh = Restored(self.rules.start(), first.ingest - 1 if first else 0, 0)
        self.log.begin(Since(fresh.ingest, self.text, own_digests(self.plan)))
        self.checkpoints.take(fresh.run, fresh.ingest, 0)
        self.checkpoints.save(fresh.ingest, lambda: None)
        return fresh

    def _serve(self, stop: Event, ready: Event | None) -> None:
        with ExitStack() as stack:
            commits = CommitThread(
                self.spool, clock.monotonic_ms, self.troubles, self._after_commit
            )
            server = self._listen(stack)
            status_file = StatusFile(self.config, server, self.troubles, lambda: self.dropped)
            stack.callback(status_file.end)
            stack.callback(self._send_held)
            commits.start()
            stack.callback(commits.end)
            self._start_archiving(stack)
            logger.info("listening on {}", server.address)
            if ready is not None:
                ready.set()
            file = RulesFile(self.config.rules.file, self.text, self.config.rules.watch_ms)
            reload, ready_rules = Reload(file, self._compiled_text), None
            while not stop.is_set() and self.troubles.end is None:
                if not server.poll_once(POLL_MS):
                    self._write_journal()
                now = clock.now()
                if not self.troubles.stops:
                    self.pipeline.store_gaps()
                    self.timekeeper.look(now)
                self._each_turn()
                self._send_held()
                self.outgoing.look(now)
                status_file.look(now)
                ready_rules = ready_rules or reload.look(now.ms)
                if ready_rules is not None and not self._held and now.ms >= self._change_ms:
                    self._change_ms = now.ms + CHANGE_AGAIN_MS
                    ready_rules = None if self._change(ready_rules) else ready_rules

    def _each_turn(self) -> None:
        """What else there is to do, again and again."""

    def _listen(self, stack: ExitStack) -> Server:
        self.sink.on_batch = self._on_batch
        self.sink.on_taken = self._on_taken
        self.sink.on_gap = self.pipeline.on_gap
        self.sink.on_watermark = self.timekeeper.on_watermark
        self.outgoing.listen(self.sink)
        streams = self.spool.recovered.streams
        resumes = {key: state.position for key, state in streams.items()}
        traders = self.outgoing.desk.traders
        self.server = Server(self.settings, self.sink, resumes, traders=traders)
        stack.callback(self.server.close)
        self.outgoing.begin(stack, self.server, self.effects.found_again, self.market_msc)
        return self.server

    def _on_durable(self, durable: Durable) -> None:
        """A commit made this safe; called in the commit thread."""
        self._unacknowledged.update(durable.sequences)

    def _after_commit(self) -> None:
        """What waits for the disk, again and again; called in the commit thread."""
        self._acknowledge()
        self._write_journal()
        self._save_snapshots()

    def _acknowledge(self) -> None:
        """Tell terminals what they may forget, unless something fails."""
        if not self._unacknowledged or self.server is None:
            return
        if not self.outgoing.before_acknowledging() or self.troubles.stops:
            return
        for (identity, stream), sequence in self._unacknowledged.items():
            self.server.acknowledge(identity, stream, sequence)
        self._unacknowledged.clear()

    def _write_journal(self) -> None:
        with self.troubles.attempt(self.journal.path):
            self.journal.write()

    def _close_journal(self) -> None:
        with self.troubles.attempt(self.journal.path):
            self.journal.close()

    def _on_batch(self, batch: Batch) -> bool:
        if self.troubles.stops:
            return False  # it will be asked for again
        if batch.stream == DEALS:
            self.outgoing.before_deals(batch)
        return self.pipeline.on_batch(batch)

    def _on_taken(self) -> None:
        self.pipeline.flush()
        if self.spool.next_ingest >= self._snapshot_at and not self._held:
            self._snapshot()

    def _snapshot(self) -> None:
        self.pipeline.flush()
        ingest = self.spool.next_ingest - 1
        self._snapshot_at = ingest + self.config.state.snapshot_records
        try:
            self.checkpoints.take(self.pipeline.run, ingest, self.journal.size_bytes)
        except SnapshotError as problem:  # an indicator of the user's holds what cannot be saved
            self.troubles.report(SNAPSHOT, problem, Effect.GOES_ON)

    def _save_snapshots(self) -> None:
        self.checkpoints.save(self.spool.durable_ingest, self._sync_journals)

    def _sync_journals(self) -> None:
        """What a snapshot makes nobody find again has to be on disk."""
        self.journal.sync()
        self.outgoing.journal.sync()

    def _on_rows(self, caused: Caused) -> None:
        self.effects.act(caused, self._hold if caused.by_clock else self._send)

    def _hold(self, signal: Signal) -> None:
        """Keep a signal that a clock record has caused until that record is on disk.

        A tick that a crash undoes is sent again, and its signal has the same id; a clock record is
        gone for ever, and another one would give the signal another id.
        """
        self._held.append((self.spool.next_ingest - 1, signal))

    def _send_held(self) -> None:
        while self._held and self._held[0][0] <= self.spool.durable_ingest:
            self._send(self._held.popleft()[1])

    def _send(self, signal: Signal) -> None:
        self.outgoing.signal(signal)

    def _deliver_result(self, row: Row) -> None:
        if self.delivery is not None:
            self.delivery.deliver_result(row)

    def _ordered(self) -> list[OrderRequest]:
        return self.delivery.callback.take_orders() if self.delivery is not None else []

    def _start_archiving(self, stack: ExitStack) -> None:
        folder = self.config.archive.folder
        if folder is None:
            return
        archive, stop = Archive(folder), Event()
        worker = self.troubles.worker("archive thread", lambda: self._archive(archive, stop))
        worker.start()
        stack.callback(worker.join)
        stack.callback(stop.set)

    def _archive(self, archive: Archive, stop: Event) -> None:
        """Move sealed segments into the archive, again and again.

        When it cannot, everything stays in the spool, and nothing else depends on it.
        """
        while not stop.wait(self.config.archive.every_seconds):
            try:
                ingest_spool(self.config.spool.folder, archive)
            except (ArchiveError, SpoolError, OSError) as problem:
                self.troubles.report(ARCHIVE, problem, Effect.GOES_ON)
            else:
                self.troubles.clear(ARCHIVE)
