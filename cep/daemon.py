"""The live service: the only place that wires stages together and owns threads.

Server thread (the caller's): sockets, total order, rules, signals and orders. Commit thread: the
disk, after it the acknowledgements, and what terminals tell of symbols. Order thread: the order
journal's disk. Archive thread: sealed segments to Parquet. Feed thread: rows from disk for programs
that read along. With queries on a database a thread of its own follows the spool.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event

from loguru import logger

from cep.archive import Archive, ArchiveError, ingest_spool
from cep.dropped import Dropped
from cep.live.config import Config, credential_path
from cep.live.credentials import server_settings
from cep.live.garbage import Garbage
from cep.live.intake import Intake
from cep.live.log import Log
from cep.live.operations import Operations, Reread
from cep.live.outgoing import Outgoing
from cep.live.paper import Paper, check_apart, market_on
from cep.live.paper_feed import PaperFeed
from cep.live.rule_files import RuleFiles
from cep.live.rules import LiveRules
from cep.live.set_aside import remove_oldest
from cep.live.specifications import Specifications
from cep.live.state_folder import check_access, hold
from cep.live.state_format import check_format, take_over
from cep.live.timekeeper import Timekeeper
from cep.live.watchdog import Watchdog
from mt5bridge import clock
from mt5bridge.credential import ensure_credential
from mt5bridge.orders.syncer import SYNCS
from mt5bridge.server import DEALS, Batch, Server, Settings, Sink, Specified
from mt5bridge.server.batch import StreamKey
from mt5bridge.server.sockets import OpenNetwork, Sockets
from mt5bridge.spool import CommitThread, Durable, Spool, SpoolError
from mt5bridge.spool.committer import COMMITS
from mt5bridge.troubles import Effect, Trouble, Troubles

MEBIBYTE = 1 << 20
POLL_MS = 50
FEEDS = "feeds"
"""The name of the trouble when what programs read along cannot be read."""
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


class Daemon:
    """Recovers the spool, then serves terminals until stopped; beside that rules warm up on it."""

    def __init__(
        self,
        config: Config,
        reread: Reread | None = None,
        log: Log | None = None,
        *,
        is_paper: bool = False,
        network: OpenNetwork = Sockets,
    ) -> None:
        """`reread` reads the settings once more for `reload`, `log` takes over those of the log.

        With `is_paper` a paper account trades, and no terminal. `network` opens what terminals
        are connected by.
        """
        self.config = config
        self.paper: Paper | None = None
        self._is_paper = is_paper
        self._network = network
        self.files = RuleFiles(config)
        if reread is not None:
            self.files.reread = reread
        self.sink = Sink()
        self.server: Server | None = None
        self.troubles = Troubles()
        self.garbage = Garbage()
        self.operations = Operations(config, self.sink, self.troubles, reread, log)
        self._unacknowledged: dict[tuple[str, StreamKey], int] = {}  # but on disk
        self._are_rows_too_many = False
        """Whether so many waited to be written when this turn began."""

    @property
    def rules(self) -> LiveRules:
        """Those of `[rules]`."""
        return self.files.main

    @property
    def dropped(self) -> Dropped:
        """What the rules have dropped so far, and the risk guard for a limit."""
        return self.files.dropped

    def reload(self) -> None:
        """Read settings and rules once more; may be called from a handler of a signal."""
        self.operations.reload()
        self._wake()

    def run(self, stop: Event, ready: Event | None = None) -> None:
        """Serve until `stop` is set; `ready` is set once terminals can connect.

        DaemonFailedError when a disk or a thread fails, so that it cannot go on.
        """
        with self.operations.alerting():
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
        rules = self.files
        self.spool = self._open_spool(stack)
        self.intake = Intake(self.spool)
        self.specifications = self._open_specifications(stack)
        if self._is_paper:
            market = market_on(self.config.paper)
            self.paper = Paper(self.config.state.folder, self.spool, market)
            stack.callback(self.paper.log.close)
        self.outgoing = Outgoing(
            self.config, rules.deliver_result, rules.ordered, self.troubles, self.paper
        )
        check_apart(self.spool, self.outgoing.desk.traders, is_paper=self._is_paper)
        rules.open(self.intake, self.outgoing, self.sink, self.troubles)
        state = self.config.state
        self.timekeeper = Timekeeper(self.intake, state.clock_every_ms, state.away_ms)
        rules.on_warm = self._on_warm
        self._newest_msc = rules.newest_msc
        rules.warm_up(stack, waits=self._is_paper)  # what paper does it does between two ticks
        remove_oldest(self.config, self.sink.complain)
        if self.paper is not None:
            self.paper.recover(self.spool.read())
            self.paper.store = self._on_paper_deals
            self._paper_feed = PaperFeed(self.paper)
        stack.enter_context(self.garbage.between_turns())
        rules.begin(self._wake)
        try:
            self._serve(stop, ready)
        finally:
            rules.end()
        if self.troubles.end is None:
            rules.snapshot()
            rules.save()

    def _on_warm(self, one: LiveRules) -> None:
        """These rules have come to the end of what was stored."""
        self.timekeeper.know(one.pipeline.run.watermarks)
        if self.files.warming == 1:  # the last of a start: no signal has been given yet
            self.garbage.look_at_all()
        elif not self.files.warming:
            self.garbage.expect()

    def _settings(self) -> Settings:
        """The server's; the daemon's credential is made at its first start."""
        check_access(self.config)
        check_format(self.config.state.folder)
        path = credential_path(self.config)
        if ensure_credential(path):
            logger.info("made {}; `mt5cep terminal install` gives it to a terminal", path)
        return server_settings(self.config)

    def _hold_state(self, stack: ExitStack) -> None:
        """Nobody else journals orders here: a second daemon would send them once more."""
        stack.callback(os.close, hold(self.config.state.folder))
        take_over(self.config.state.folder)

    def _open_spool(self, stack: ExitStack) -> Spool:
        store = self.config.spool
        spool = Spool(
            store.folder,
            segment_bytes=store.segment_mib * MEBIBYTE,
            segment_ms=store.segment_minutes * 60_000,
            bytes_max=store.max_mib * MEBIBYTE,
            pending_bytes_max=store.waiting_max_mib * MEBIBYTE,
            on_durable=self._on_durable,
            before_write=self._before_storing,
        )
        recovery = spool.recover()
        stack.callback(self._close_spool, spool)
        if recovery.torn_bytes:
            logger.warning("cut {} bytes of an interrupted write", recovery.torn_bytes)
        for path, damage in recovery.damages:
            logger.error("{}: damaged: {}", path, damage)
        return spool

    def _open_specifications(self, stack: ExitStack) -> Specifications:
        store = self.config.spool
        found = Specifications(store.folder, store.specifications_max_mib * MEBIBYTE)
        stack.callback(self._write_specifications, found.close)
        return found

    def _write_specifications(self, write: Callable[[], object]) -> None:
        """Nothing that is acknowledged depends on room for them."""
        with self.troubles.attempt(self.specifications.path, if_full=Effect.GOES_ON):
            write()

    def _on_specified(self, parts: Sequence[Specified]) -> None:
        """The archive is to know it, and a paper account trades by it."""
        self.specifications.take(parts)
        if self.paper is not None:
            self.paper.learn(parts)

    def _close_spool(self, spool: Spool) -> None:
        try:
            spool.close()
        except SpoolError as problem:
            self.troubles.report(spool.directory, problem, Effect.ENDS)

    def _serve(self, stop: Event, ready: Event | None) -> None:
        with ExitStack() as stack:
            commits = CommitThread(
                self.spool, clock.monotonic_ms, self.troubles, self._after_commit
            )
            server, rules = self._listen(stack), self.files
            rules.serve_rows(server)
            self.outgoing.serve(server.feeds)
            rules.tell_events(server)  # before anybody can ask for some
            self._start_reading(stack, server)
            self.operations.begin(stack, server, rules, self.outgoing)
            stack.callback(rules.send_held)
            commits.start()
            stack.callback(commits.end)
            watchdog = self._watchdog(commits)
            self._start_archiving(stack)
            logger.info("listening on {}", server.address)
            if server.curve_address:
                logger.info("listening for CURVE on {}", server.curve_address)
            self.operations.serve(stack)
            if ready is not None:
                ready.set()
            while not stop.is_set() and self.troubles.end is None:
                received = server.poll_once(POLL_MS)
                now = clock.now()
                if not self.troubles.stops:
                    self.timekeeper.look(now)
                rules.look(now)
                rules.tell_events(server)
                self.outgoing.look(now)
                self._end_turn()
                watchdog.look(now)
                self.operations.look(now)
                self.garbage.look(now, received)

    def _end_turn(self) -> None:
        """Wake who writes: behind the turn's signals, which it would take the processor from. And
        look here, not for each frame, how many rows wait.
        """
        self.spool.announce()
        self.outgoing.journal.announce()
        self.specifications.look(self.sink.complain)
        most = self.config.spool.waiting_max_mib * MEBIBYTE
        self._are_rows_too_many = self.files.waiting_bytes > most

    def _watchdog(self, commits: CommitThread) -> Watchdog:
        syncer = self.outgoing.syncer
        turns = {COMMITS: lambda: commits.turns, SYNCS: lambda: syncer.turns}
        return Watchdog(self.troubles, turns)

    def _listen(self, stack: ExitStack) -> Server:
        self.sink.on_batch = self._on_batch
        self.sink.on_taken = self.files.on_taken
        self.sink.on_gap = self.intake.on_gap
        self.sink.on_watermark = self.timekeeper.on_watermark
        self.sink.on_specified = self._on_specified
        self.outgoing.listen(self.sink)
        streams = self.spool.recovered.streams
        resumes = {key: state.position for key, state in streams.items()}
        traders = self.outgoing.desk.traders
        self.server = Server(
            self.settings, self.sink, resumes, traders=traders, network=self._network
        )
        stack.callback(self.server.close)
        if self.files.warming:
            self.server.hold_events()
        self.outgoing.begin(stack, self.server, self._newest_msc)
        return self.server

    def _wake(self) -> None:
        if self.server is not None:
            self.server.wake()

    def _before_storing(self) -> bool:
        """Whether what has come may be stored now; called in the commit thread."""
        return self.server is None or self.outgoing.before_storing()

    def _on_durable(self, durable: Durable) -> None:
        """A commit made this safe; called in the commit thread."""
        self._unacknowledged.update(durable.sequences)
        self.files.on_durable(durable)

    def _after_commit(self) -> None:
        """What waits for the disk, again and again; called in the commit thread."""
        self._acknowledge()
        self.files.write_journal()
        self.files.save()
        self._write_specifications(self.specifications.write)

    def _acknowledge(self) -> None:
        """Tell terminals what they may forget, unless something fails."""
        if not self._unacknowledged or self.server is None:
            return
        if self.troubles.stops:
            return
        for (identity, stream), sequence in self._unacknowledged.items():
            self.server.acknowledge(identity, stream, sequence)
        self._unacknowledged.clear()

    def _on_batch(self, batch: Batch) -> bool:
        if self.troubles.stops or not self._has_room_for(batch):
            return False  # it will be asked for again
        if self.paper is not None:
            return self._on_ticks_for_paper(batch)
        if batch.stream == DEALS:
            self.outgoing.before_deals(batch)
        return self.intake.on_batch(batch)

    def _has_room_for(self, batch: Batch) -> bool:
        """Whether it may be shown to the rules, and its deals to the guard."""
        if self._are_rows_too_many:
            return False
        if batch.stream != DEALS or self.paper is not None:
            return True
        return self.outgoing.takes_deals() and self.files.takes_deals()

    def _start_reading(self, stack: ExitStack, server: Server) -> None:
        """Read from disk for programs that read along; nothing else depends on it."""
        feeds, stop = server.feeds, Event()
        feeds.on_found = server.wake

        def tell(problem: OSError | None) -> None:
            if problem is None:
                self.troubles.clear(FEEDS)
            else:
                self.troubles.report(FEEDS, problem, Effect.GOES_ON)

        worker = self.troubles.worker("feed thread", lambda: feeds.run(stop, tell))
        worker.start()
        stack.callback(worker.join)
        stack.callback(feeds.stop, stop)

    def _on_ticks_for_paper(self, batch: Batch) -> bool:
        """Store ticks and let the paper account see them; deals of terminals are not its own."""
        if batch.stream == DEALS:
            self.sink.count("deals_beside_paper", len(batch.records))
            return True
        session = self.server.terminals.sessions.get(batch.identity) if self.server else None
        return self._paper_feed.take(self.intake, batch, session.symbols if session else {})

    def _on_paper_deals(self, batch: Batch) -> bool:
        """Deals of the paper account, which go the way of a terminal's; False: there is no room."""
        if self.troubles.stops:
            return False
        self.outgoing.before_deals(batch)
        return self.intake.on_batch(batch)

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
