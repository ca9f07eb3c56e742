"""Planted faults: former and imagined defects of the daemon, put (back) into it for a run.

Each has to be found by the first seeds. A fault is a small patch of the running code; what it
breaks is one promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace
from pytest import MonkeyPatch

from cep.daemon import Daemon
from cep.live import effects, rule_files
from cep.live.acting import Acting
from cep.live.checkpoints import Checkpoints
from cep.live.coming import Coming, Kept
from cep.live.journal import Journal
from cep.live.journal_files import JournalFiles
from cep.live.outgoing import Outgoing
from cep.live.pipeline import Caused
from cep.live.rules_file import RulesFile
from cep.live.rules_on_engine import RulesOnEngine
from mt5bridge.orders import Desk, Limits, OrderJournal, desk
from mt5bridge.orders.book import Fate
from mt5bridge.orders.dispatch import Dispatch
from mt5bridge.orders.guard import Guard
from mt5bridge.orders.guards import Guards
from mt5bridge.orders.records import Dealt, Halted
from mt5bridge.server import Batch, session
from mt5bridge.server.batch import wire_name
from mt5bridge.server.requests import RequestQueue
from mt5bridge.server.session import Session
from mt5bridge.server.stream import Stream, Verdict
from mt5bridge.server.terminals import Terminals
from mt5bridge.spool import Disk, Durable, Spool, block, writer
from mt5bridge.wire import Resume

Plant: TypeAlias = Callable[[MonkeyPatch], None]
FAULTS: dict[str, Plant] = {}
"""By what is wrong."""
RARE: dict[str, Plant] = {}
"""Those that take several things at once to show: no one of the first worlds tells of them."""


def _fault(text: str, *, is_rare: bool = False) -> Callable[[Plant], Plant]:
    def named(plant: Plant) -> Plant:
        (RARE if is_rare else FAULTS)[text] = plant
        return plant

    return named


def _yes(*_arguments: Any, **_named: Any) -> bool:
    return True


def _no(*_arguments: Any, **_named: Any) -> bool:
    return False


def _nothing(*_arguments: Any, **_named: Any) -> None:
    return None


# -- records -------------------------------------------------------------------------------------


@_fault("ticks are acknowledged when they come, not when they are on disk")
def _acknowledged_at_once(patch: MonkeyPatch) -> None:
    taken = Daemon._on_batch

    def on_batch(daemon: Daemon, batch: Batch) -> bool:
        is_taken = taken(daemon, batch)
        if is_taken and daemon.server is not None:
            daemon.server.acknowledge(batch.identity, batch.stream, batch.last)
        return is_taken

    patch.setattr(Daemon, "_on_batch", on_batch)


@_fault("the spool is written, and not synced")
def _unsynced_spool(patch: MonkeyPatch) -> None:
    def append(made: writer.SegmentWriter, payloads: Iterable[bytes]) -> int:
        blocks = [block.encode(payload, made.size) for payload in payloads]
        data = b"".join(blocks)
        assert made._file is not None
        made._disk.write_at(made._file, data, made.size)
        made.size += len(data)
        made.groups += len(blocks)
        return len(data)

    patch.setattr(writer.SegmentWriter, "append", append)


@_fault("what comes while the spool syncs is acknowledged with what was written")
def _acknowledged_with_it(patch: MonkeyPatch) -> None:
    written = Spool._written

    def told(spool: Spool) -> Durable:
        found = written(spool)
        later = {group.key: group.last_sequence for group, _ in spool._pending if group.width}
        return Durable(found.ingest, {**found.sequences, **later})

    patch.setattr(Spool, "_written", told)


@_fault("what is added while the order journal syncs counts as synced", is_rare=True)
def _synced_with_it(patch: MonkeyPatch) -> None:
    synced = OrderJournal.sync

    def sync(journal: OrderJournal) -> None:
        synced(journal)
        journal.durable = journal.last

    patch.setattr(OrderJournal, "sync", sync)


@_fault("the name of a new segment is not synced")
def _unsynced_name(patch: MonkeyPatch) -> None:
    class Forgetful(Disk):
        def sync_directory(self, directory: Any) -> None:
            """Left out."""

    made = writer.SegmentWriter.__init__

    def begun(one: writer.SegmentWriter, directory: Any, _disk: Disk) -> None:
        made(one, directory, Forgetful())

    patch.setattr(writer.SegmentWriter, "__init__", begun)


@_fault("WELCOME tells what was taken, not what is on disk")
def _optimistic_welcome(patch: MonkeyPatch) -> None:
    def resume(stream: Stream) -> Resume:
        name = wire_name(stream.key)
        position = stream.durable
        taken = stream.expected - 1
        return Resume(taken, position.time_msc, position.count_at_msc, name)

    patch.setattr(session, "_resume", resume)


@_fault("records that were sent again are stored again")
def _twice(patch: MonkeyPatch) -> None:
    judged = Stream.judge

    def judge(stream: Stream, first: int, last: int) -> Verdict:
        found = judged(stream, first, last)
        return Verdict.NEW if found is Verdict.DUPLICATE else found

    patch.setattr(Stream, "judge", judge)
    offer = Session._offer

    def offered(one: Session, stream: Stream, frame: Any, now: Any) -> None:
        stream.expected = min(stream.expected, frame.first)
        offer(one, stream, frame, now)

    patch.setattr(Session, "_offer", offered)


@_fault("a write that found no room leaves its half in the spool")
def _no_undo(patch: MonkeyPatch) -> None:
    def append(made: writer.SegmentWriter, payloads: Iterable[bytes]) -> int:
        blocks = [block.encode(payload, made.size) for payload in payloads]
        for one in blocks:  # what fails in the middle is written once more behind it
            assert made._file is not None
            made._disk.write_at(made._file, one, made.size)
            made.size += len(one)
        made._disk.sync(made._file or 0)
        made.groups += len(blocks)
        return sum(map(len, blocks))

    patch.setattr(writer.SegmentWriter, "append", append)


@_fault("a torn block of the spool is taken for a whole one", is_rare=True)
def _torn_end_kept(patch: MonkeyPatch) -> None:
    def block_at(data: bytes, at: int) -> block.Block | None:
        if at + block.HEAD_BYTES > len(data) or data[at : at + 4] != block.BLOCK_MAGIC:
            return None
        _, _, length, durable_bytes = block._HEAD.unpack_from(data, at)
        begin = at + block.HEAD_BYTES
        payload = memoryview(data)[begin : begin + length]
        return block.Block(at, begin + length, durable_bytes, payload)

    patch.setattr(block, "_block_at", block_at)


# -- rows ----------------------------------------------------------------------------------------


@_fault("rows that a write found no room for are written twice", is_rare=True)
def _rows_twice(patch: MonkeyPatch) -> None:
    write = Journal.write

    def written(journal: Journal) -> None:
        last = list(journal._waiting)[-1:]
        try:
            write(journal)
        except OSError:
            journal._waiting.extend(last)
            raise

    patch.setattr(Journal, "write", written)


@_fault("a start does not cut the files of rows back")
def _rows_kept(patch: MonkeyPatch) -> None:
    opened = Journal._open

    def kept(journal: Journal, path: Any, keep_bytes: int) -> None:
        opened(journal, path, max(keep_bytes, journal._files.end))

    patch.setattr(Journal, "_open", kept)
    patch.setattr(JournalFiles, "cut", lambda files, _position: files.start)


@_fault("rows of rules that do not run outlive their records", is_rare=True)
def _stopped_rows_kept(patch: MonkeyPatch) -> None:
    patch.setattr(rule_files, "keep_proven", _nothing)


@_fault("a snapshot of records that a crash has undone is used", is_rare=True)
def _snapshot_ahead(patch: MonkeyPatch) -> None:
    load, save = Checkpoints.load, Checkpoints.save
    patch.setattr(Checkpoints, "load", lambda found, rules, _durable: load(found, rules, _ALL))
    patch.setattr(Checkpoints, "save", lambda found, _durable, sync: save(found, _ALL, sync))


@_fault("snapshots outlive the rows that they belong to", is_rare=True)
def _snapshots_kept(patch: MonkeyPatch) -> None:
    patch.setattr(Checkpoints, "forget", _nothing)


@_fault("a snapshot is written before its rows are on disk")
def _rows_behind(patch: MonkeyPatch) -> None:
    save = Checkpoints.save
    patch.setattr(Checkpoints, "save", lambda found, last, _sync: save(found, last, lambda: None))


@_fault("rules that are loaded act on what was stored while they were stopped")
def _acts_on_old(patch: MonkeyPatch) -> None:
    patch.setattr(Acting, "begin", _nothing)


@_fault("rules that were behind what is kept for them leave out what is not")
def _left_out(patch: MonkeyPatch) -> None:
    patch.setattr(Coming, "is_near", True)


@_fault("what comes while rules warm up is not kept for them")
def _not_kept(patch: MonkeyPatch) -> None:
    patch.setattr(Kept, "show", _nothing)


@_fault("rules that have warmed up run over what they have seen again")
def _seen_twice(patch: MonkeyPatch) -> None:
    finish = Coming.finish

    def finished(coming: Coming, on_failure: Any) -> Any:
        assert coming.rules is not None
        coming.rules.pipeline.newest = min(coming.rules.pipeline.newest, coming._before - 1)
        return finish(coming, on_failure)

    patch.setattr(Coming, "finish", finished)


@_fault("a rule file that is changed while its rules warm up counts as read")
def _change_missed(patch: MonkeyPatch) -> None:
    made = RulesFile.__init__

    def begun(one: RulesFile, path: Path, _text: str, *arguments: Any) -> None:
        made(one, path, path.read_text(encoding="utf-8"), *arguments)

    patch.setattr(RulesFile, "__init__", begun)


# -- orders --------------------------------------------------------------------------------------


@_fault("ids of signals come from the place in the spool, which a crash gives to others")
def _ids_of_places(patch: MonkeyPatch) -> None:
    made = effects.Effects._signal

    def signal(one: effects.Effects, row: Any, caused: Caused, ingest: int, nth: int) -> Any:
        return made(one, row, caused, ingest, nth + ingest)

    patch.setattr(effects.Effects, "_signal", signal)


@_fault("signals are sent before the order journal's file has them", is_rare=True)
def _sent_unwritten(patch: MonkeyPatch) -> None:
    patch.setattr(OrderJournal, "has_written", _yes)


@_fault("what a loss of power took from the order journal is known no more", is_rare=True)
def _not_adopted(patch: MonkeyPatch) -> None:
    def of_deal(deal: Dealt, *_about: Any) -> Dealt:
        return replace(deal, unremembered=0)

    patch.setattr(desk, "of_deal", of_deal)


@_fault("signals that time has caused do not wait until it is on disk", is_rare=True)
def _not_held(patch: MonkeyPatch) -> None:
    def on_rows(rules: RulesOnEngine, caused: Caused) -> None:
        rules.effects.act(caused, rules.outgoing.signal)

    patch.setattr(RulesOnEngine, "on_rows", on_rows)


@_fault("the guard refuses nothing after the settings were read again")
def _guard_off_after_reload(patch: MonkeyPatch) -> None:
    def change(desk: Desk, _limits: Limits) -> None:
        desk.guard = Guards(Limits())

    patch.setattr(Desk, "change_limits", change)


@_fault("the guard forgets what was sent before a start")
def _guard_forgets(patch: MonkeyPatch) -> None:
    begun = Desk.__init__

    def init(desk: Desk, *arguments: Any, **named: Any) -> None:
        begun(desk, *arguments, **named)
        desk.guard = Guards(desk.limits)

    patch.setattr(Desk, "__init__", init)


@_fault("lots of an order are not looked at")
def _no_lots_limit(patch: MonkeyPatch) -> None:
    patch.setattr(Guard, "refusal", _nothing)


@_fault("the kill switch of a rule file stops nothing")
def _own_halt(patch: MonkeyPatch) -> None:
    patch.setattr(Guards, "turn_rules", _nothing)


@_fault("the kill switch is forgotten at a start")
def _halt_forgotten(patch: MonkeyPatch) -> None:
    begun = Desk.__init__

    def init(desk: Desk, journal: OrderJournal, *arguments: Any, **named: Any) -> None:
        journal.records[:] = [one for one in journal.records if not isinstance(one, Halted)]
        begun(desk, journal, *arguments, **named)

    patch.setattr(Desk, "__init__", init)


@_fault("a command is removed before its effect is on disk")
def _command_lost(patch: MonkeyPatch) -> None:
    look = Outgoing.look

    def looked(outgoing: Outgoing, now: Any) -> None:
        look(outgoing, now)
        outgoing._done = [(0, path) for _, path in outgoing._done]

    patch.setattr(Outgoing, "look", looked)


@_fault("deals are stored before the order journal has them")
def _deals_uncounted(patch: MonkeyPatch) -> None:
    patch.setattr(Outgoing, "before_storing", _yes)


@_fault("signals go to every terminal that trades")
def _to_all(patch: MonkeyPatch) -> None:
    def traders(terminals: Terminals, _symbol: str, _identity: str | None = None) -> Any:
        return tuple(name for name, one in terminals.sessions.items() if one.may_trade(""))

    patch.setattr(Terminals, "traders", traders)


@_fault("what was meant for one account goes to the next")
def _to_another_account(patch: MonkeyPatch) -> None:
    patch.setattr(RequestQueue, "_concerns", _yes)
    patch.setattr(Dispatch, "has_changed", _no)
    asked = RequestQueue.ask
    confirm = Session.confirm

    def confirmed(one: Session, account: str) -> None:
        patch.setattr(RequestQueue, "ask", _nothing)
        confirm(one, account)
        patch.setattr(RequestQueue, "ask", asked)

    patch.setattr(Session, "confirm", confirmed)


@_fault("`unknown` of another account counts as an end")
def _unknown_elsewhere(patch: MonkeyPatch) -> None:
    patch.setattr(RequestQueue, "_concerns", _yes)
    patch.setattr(Fate, "is_of_another", _no)


@_fault("what the session asks by itself is not journalled as a question")
def _unjournalled_question(patch: MonkeyPatch) -> None:
    patch.setattr(Dispatch, "note_question", _nothing)


@_fault("an account may be changed without a word")
def _account_unchecked(patch: MonkeyPatch) -> None:
    patch.setattr(Terminals, "_refuses_account", lambda *_: "")
    patch.setattr(Session, "confirm", _nothing)


@_fault("what was added to the order journal while it could not be written is left out")
def _journal_drops(patch: MonkeyPatch) -> None:
    def take_back(journal: OrderJournal, _problem: OSError) -> None:
        journal._unsynced.clear()
        journal._waiting.clear()
        journal._written_bytes = journal._durable_bytes

    patch.setattr(OrderJournal, "_take_back", take_back)


@_fault("what is refused for want of room is shown to the rules all the same", is_rare=True)
def _shown_though_refused(patch: MonkeyPatch) -> None:
    append = Spool.append

    def appended(spool: Spool, group: Any) -> bool:
        if not append(spool, group):
            spool._next_ingest = group.ingest + group.width
        return True

    patch.setattr(Spool, "append", appended)


_ALL = int(math.pow(2, 60))
