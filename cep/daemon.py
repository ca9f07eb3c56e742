"""The live service: the only place that wires stages together and owns threads.

Server thread (the caller's): sockets, total order, rules, signals. Commit thread: the disk, and
after it the acknowledgements. Archive thread: sealed segments to Parquet.
"""

from __future__ import annotations

import gc
import sys
from contextlib import ExitStack
from threading import Event, Thread

from loguru import logger

from cep.archive import Archive, ArchiveError, ingest_spool
from cep.callbacks import Delivery, load_callback
from cep.engine.native import Compiled
from cep.live.checkpoints import Checkpoints, Restored
from cep.live.config import Config, ConfigError
from cep.live.effects import Effects
from cep.live.journal import Journal, set_aside
from cep.live.pipeline import Caused, Pipeline
from cep.live.silence import Silence
from cep.market import check_market
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from mt5bridge import clock
from mt5bridge.server import Batch, Outcome, Server, Sink
from mt5bridge.spool import CommitThread, Durable, Spool, SpoolError
from mt5bridge.spool import read as read_spool
from mt5bridge.wire import Signal

MEBIBYTE = 1 << 20
POLL_MS = 50
SWITCH_S = 0.0001
"""How long another thread may keep a signal waiting."""


def load_plan(config: Config) -> Plan:
    """The plan of the configured rule file, fit for ticks and deals."""
    path = config.rules.file
    plan = compile_rules(path.read_text(encoding="utf-8"), str(path))
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


def be_quick() -> None:
    """Keep Python from making the server's thread wait for the disk's, or for old garbage."""
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    gc.freeze()


class Daemon:
    """Recovers what is stored, then serves terminals until stopped."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.plan = load_plan(config)
        self.signals = {signal.name for signal in self.plan.signals}
        self.delivery = load_delivery(config, self.plan)
        self.rules = Compiled(self.plan, outputs=self._outputs(), jit=config.rules.numba)
        self.sink = Sink()
        self.server: Server | None = None

    def _outputs(self) -> list[str] | None:
        streams = self.config.rules.streams
        return None if streams is None else [*streams, *self.signals]

    def run(self, stop: Event, ready: Event | None = None) -> None:
        """Serve until `stop` is set; `ready` is set once terminals can connect."""
        with ExitStack() as stack:
            self.spool = self._open_spool(stack)
            self.checkpoints = Checkpoints(self.config.state.folder, self.spool.recovered.spool)
            self._catch_up(stack, self.checkpoints.load(self.rules, self.spool.durable_ingest))
            self.pipeline.run.warm_up()
            be_quick()
            self._serve(stop, ready)
            self._snapshot()
            self._save_snapshots()

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
        stack.callback(spool.close)
        if recovery.torn_bytes:
            logger.warning("cut {} bytes of an interrupted write", recovery.torn_bytes)
        for path, damage in recovery.damages:
            logger.error("{}: damaged: {}", path, damage)
        return spool

    def _catch_up(self, stack: ExitStack, restored: Restored | None) -> None:
        """Bring the rules to the end of the spool and the journal to the end of the rules."""
        state = self.config.state
        found = restored or self._begin()
        self.journal = Journal(state.journal, found.journal_bytes)
        stack.callback(self.journal.close)
        deliver = self.delivery.deliver if self.delivery else None
        self.effects = Effects(self.signals, self.config.signals, self.journal, deliver)
        self.pipeline = Pipeline(self.spool, found.run, self._on_rows)
        records, newest_msc = self.pipeline.catch_up(
            read_spool(self.spool.directory, found.ingest + 1),
            self.effects.act_again if restored else self.effects.note,
        )
        self._snapshot_at = self.spool.next_ingest + state.snapshot_records
        self.unsettled = [s for s in self.effects.found_again if s.valid_until_msc >= newest_msc]
        logger.info("{} stored records; {} run again", self.spool.durable_ingest, records)

    def _begin(self) -> Restored:
        """A run from the first record of the spool on, and a journal of its own."""
        first = next(read_spool(self.spool.directory), None)
        if first is not None:
            logger.warning("no snapshot fits these rules: they run from record {}", first.ingest)
        aside = set_aside(self.config.state.journal)
        if aside is not None:
            logger.warning("the journal of other rules or another spool is now {}", aside)
        fresh = Restored(self.rules.start(), first.ingest - 1 if first else 0, 0)
        self.checkpoints.take(fresh.run, fresh.ingest, 0)
        self.checkpoints.save(fresh.ingest, lambda: None)
        return fresh

    def _serve(self, stop: Event, ready: Event | None) -> None:
        with ExitStack() as stack:
            commits = CommitThread(self.spool, clock.monotonic_ms)
            server = self._listen(stack)
            commits.start()
            stack.callback(commits.stop)
            archiving = self._start_archiving(stop)
            logger.info("listening on {}", server.address)
            if ready is not None:
                ready.set()
            silence = Silence(self.spool, self.config.state.clock_every_ms)
            while not stop.is_set() and commits.failure is None:
                if not server.poll_once(POLL_MS):
                    self._write_journal()
                self.pipeline.store_gaps()
                silence.look(clock.now())
            if archiving is not None:
                archiving.join()

    def _listen(self, stack: ExitStack) -> Server:
        self.sink.on_batch = self._on_batch
        self.sink.on_gap = self.pipeline.on_gap
        self.sink.on_outcome = self._on_outcome
        streams = self.spool.recovered.streams
        resumes = {key: state.position for key, state in streams.items()}
        self.server = Server(self.config.server.settings(), self.sink, resumes)
        stack.callback(self.server.close)
        for signal in self.unsettled:
            self._send(signal)
        return self.server

    def _on_durable(self, durable: Durable) -> None:
        """Acknowledge what a commit made safe; called in the commit thread."""
        if self.server is not None:
            for (identity, stream), sequence in durable.sequences.items():
                self.server.acknowledge(identity, stream, sequence)
        self._write_journal()
        self._save_snapshots()

    def _write_journal(self) -> None:
        try:
            self.journal.write()
        except OSError as problem:
            logger.error("{}: {}", self.config.state.journal, problem)

    def _on_batch(self, batch: Batch) -> bool:
        taken = self.pipeline.on_batch(batch)
        if taken and self.spool.next_ingest >= self._snapshot_at:
            self._snapshot()
        return taken

    def _snapshot(self) -> None:
        ingest = self.spool.next_ingest - 1
        self.checkpoints.take(self.pipeline.run, ingest, self.journal.size_bytes)
        self._snapshot_at = ingest + self.config.state.snapshot_records

    def _save_snapshots(self) -> None:
        self.checkpoints.save(self.spool.durable_ingest, self.journal.sync)

    def _on_rows(self, caused: Caused) -> None:
        self.effects.act(caused, self._send)

    def _send(self, signal: Signal) -> None:
        if self.server is not None:
            self.server.send_signal_now(self.config.signals.terminal, signal)

    def _on_outcome(self, outcome: Outcome) -> None:
        result = outcome.result
        logger.info(
            "{}: signal {} {}: {} lots at {} {}",
            outcome.identity, result.id, result.status.name.lower(), result.lots, result.price,
            result.text,
        )  # fmt: skip

    def _start_archiving(self, stop: Event) -> Thread | None:
        folder = self.config.archive.folder
        if folder is None:
            return None
        archive = Archive(folder)
        thread = Thread(target=self._archive, args=(archive, stop), name="archive", daemon=True)
        thread.start()
        return thread

    def _archive(self, archive: Archive, stop: Event) -> None:
        """Move sealed segments into the archive, again and again."""
        while not stop.wait(self.config.archive.every_seconds):
            try:
                ingest_spool(self.config.spool.folder, archive)
            except (ArchiveError, SpoolError, OSError) as problem:
                logger.error("archive: {}", problem)
