"""The live service: the only place that wires stages together and owns threads.

Server thread (the caller's): sockets, total order, rules, signals. Commit thread: the disk, and
after it the acknowledgements. Archive thread: sealed segments to Parquet.
"""

from __future__ import annotations

from contextlib import ExitStack
from threading import Event, Thread
from typing import Any

from loguru import logger

from cep.archive import Archive, ArchiveError, ingest_spool
from cep.callbacks import Delivery, EventsCallback, load_callback
from cep.engine.native import Compiled
from cep.live.checkpoints import Checkpoints
from cep.live.config import Config
from cep.live.journal import Journal
from cep.live.pipeline import Caused, Pipeline
from cep.live.signals import as_signal, signal_id
from cep.market import check_market
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from mt5bridge import clock
from mt5bridge.server import Outcome, Server, Sink
from mt5bridge.spool import CommitThread, Durable, Spool
from mt5bridge.spool import read as read_spool

MEBIBYTE = 1 << 20


def load_plan(config: Config) -> Plan:
    """The plan of the configured rule file, fit for ticks and deals."""
    path = config.rules.file
    plan = compile_rules(path.read_text(encoding="utf-8"), str(path))
    check_market(plan)
    return plan


class Daemon:
    """Recovers what is stored, then serves terminals until stopped."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.plan = load_plan(config)
        self.signals = {signal.name for signal in self.plan.signals}
        callback = config.rules.callback
        made = load_callback(callback) if callback else EventsCallback()
        self.delivery = Delivery(self.plan, made)
        self.has_callback = callback is not None
        self.rules = Compiled(self.plan, outputs=self._outputs(), jit=config.rules.numba)
        self.sink = Sink()
        self.checkpoints = Checkpoints(config.state.folder)
        self.server: Server | None = None
        self._snapshot_at = 0
        self._newest_msc = 0

    def _outputs(self) -> list[str] | None:
        streams = self.config.rules.streams
        return None if streams is None else [*streams, *self.signals]

    def run(self, stop: Event, ready: Event | None = None) -> None:
        """Serve until `stop` is set; `ready` is set once terminals can connect."""
        with ExitStack() as stack:
            spool = self._open_spool(stack)
            restored = self.checkpoints.load(self.rules, spool.durable_ingest)
            self.journal = Journal(self.config.state.journal, restored.journal_bytes)
            stack.callback(self.journal.close)
            self.pipeline = Pipeline(spool, restored.run, self._on_rows)
            caught_up = self.pipeline.catch_up(read_spool(spool.directory, restored.ingest + 1))
            self._snapshot_at = spool.next_ingest + self.config.state.snapshot_records
            logger.info("{} stored records; {} run again", spool.durable_ingest, caught_up)
            restored.run.warm_up()
            self._serve(stack, spool, stop, ready)

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
        self.resumes = {key: state.position for key, state in recovery.streams.items()}
        return spool

    def _serve(self, stack: ExitStack, spool: Spool, stop: Event, ready: Event | None) -> None:
        commits = CommitThread(spool, clock.monotonic_ms)
        self.sink.on_batch = self._on_batch
        self.sink.on_gap = self.pipeline.on_gap
        self.sink.on_outcome = self._on_outcome
        server = Server(self.config.server.settings(), self.sink, self.resumes)
        self.server = server
        stack.callback(server.close)
        commits.start()
        stack.callback(commits.stop)
        archiving = self._start_archiving(stop)
        logger.info("listening on {}", server.address)
        if ready is not None:
            ready.set()
        server.run(stop)
        if archiving is not None:
            archiving.join()

    def _on_durable(self, durable: Durable) -> None:
        """Acknowledge what a commit made safe; called in the commit thread."""
        if self.server is not None:
            for (identity, stream), sequence in durable.sequences.items():
                self.server.acknowledge(identity, stream, sequence)

    def _on_batch(self, batch: Any) -> bool:
        taken = self.pipeline.on_batch(batch)
        if taken and self.pipeline.spool.next_ingest >= self._snapshot_at:
            self._snapshot()
        return taken

    def _snapshot(self) -> None:
        ingest = self.pipeline.spool.next_ingest - 1
        self.checkpoints.save(self.pipeline.run, ingest, self.journal.size_bytes)
        self._snapshot_at = ingest + self.config.state.snapshot_records

    def _on_rows(self, caused: Caused) -> None:
        """Send signals first, then write the journal and call the callback."""
        rows = caused.rows.dicts()
        if self.config.signals.send:
            for row, ingest in zip(rows, caused.rows.orders.tolist(), strict=True):
                if row["stream"] in self.signals:
                    self._send(row, caused, ingest)
        self.journal.write(caused.rows)
        if self.has_callback:
            self.delivery.deliver(rows)

    def _send(self, row: dict[str, Any], caused: Caused, ingest: int) -> None:
        trading = self.config.signals
        group = caused.group
        stream = "/".join(group.stream)
        identifier = signal_id(
            row["stream"], row["key"], group.source, stream, caused.sequence(ingest)
        )
        signal = as_signal(row, identifier, trading.magic, trading.valid_seconds * 1000)
        if self.server is not None:
            self.server.send_signal(trading.terminal, signal)

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
            except (ArchiveError, OSError) as problem:
                logger.error("archive: {}", problem)
