"""What a restart finds: the same journal, the same signals, the callback's rows, passing time."""

from __future__ import annotations

import json
import re
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cep.engine.native import Compiled
from cep.live.config import Trading, each_file, read_config
from cep.live.effects import Effects
from cep.live.intake import Intake
from cep.live.journal import Journal, set_aside
from cep.live.pipeline import Caused, Pipeline
from cep.live.timekeeper import DAEMON, Timekeeper
from cep.plan import compile_rules
from mt5bridge.client import Connection
from mt5bridge.clock import Now
from mt5bridge.records import Records
from mt5bridge.server import Batch, Gap, ticks_of
from mt5bridge.simulator import Account, Runner, Terminal
from mt5bridge.spool import Condition, Group, RecordKind, Spool, read
from mt5bridge.wire import LostReason, Order, Signal, SignalResult
from tests.credentials import CREDENTIAL
from tests.durability.recording import recording
from tests.live.service import (
    RULES,
    STREAMS,
    Service,
    address,
    archived,
    journal,
    play,
    process,
    replayed,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.waiting import LONG_S

SILENT = {"signals": {"send": False}, "state": {"snapshot_records": 3_000}}


def acknowledged(found: Terminal) -> int:
    return sum(box.base - 1 for box in found.client.ticks.values())


def is_warm(settings: Path, log: Path) -> bool:
    """Whether all rule files of the last daemon that wrote a log run."""
    told = log.read_text().rpartition("listening on")[2]
    return len(re.findall(r"rules \S+: they run", told)) == len(each_file(read_config(settings)))


def play_through_kills(
    settings: Path,
    found: Terminal,
    at: list[int],
    has_shown: Callable[[int], bool] = lambda _daemons: True,
    *,
    begins_warm: bool = False,
) -> None:
    """Play a terminal to its end; the daemon is killed at so many acknowledged ticks.

    Each one, the last one too, lives until it has shown what is awaited of it. The first may be
    killed while its rules warm up, unless the terminal `begins_warm`: when they run.
    """
    stop = threading.Event()
    log = settings.parent / "log.txt"

    def has_come(to: int, daemons: int) -> bool:
        """A daemon that finds nothing left to acknowledge is killed, too, but when it listens."""
        has_begun = log.read_text().count("listening") >= daemons
        has_begun = has_begun and (daemons == 1 or is_warm(settings, log))
        return acknowledged(found) >= to and has_begun and has_shown(daemons)

    with Connection(address(settings), CREDENTIAL) as connection:
        runner = Runner(found, connection)
        thread = threading.Thread(target=runner.run, args=(stop, lambda: False))
        try:
            for daemons, to in enumerate(at, start=1):
                with process(settings, log):
                    if daemons == 1:
                        wait_until(lambda: not begins_warm or is_warm(settings, log))
                        thread.start()
                    wait_until(partial(has_come, to, daemons))
            with process(settings, log) as last:
                wait_until(lambda: found.finished and has_come(0, len(at) + 1))
                last.send_signal(signal.SIGTERM)
                assert last.wait(LONG_S) == 0
        finally:
            stop.set()
            if thread.ident is not None:
                thread.join(LONG_S)


def test_after_a_crash_the_journal_is_that_of_an_uninterrupted_run(tmp_path: Path) -> None:
    ticks = walks("A", 30_000)
    whole = write_settings(tmp_path / "whole", SILENT)
    with Service(whole):
        play(terminal(ticks), address(whole))
    killed = write_settings(tmp_path / "killed", SILENT)
    play_through_kills(killed, terminal(ticks), [2_000, 11_000, 19_000])
    assert len(journal(whole)) > 50_000
    assert journal(killed) == journal(whole)
    assert replayed(killed, archived(killed)) == journal(whole)


CALLBACK = """
import json
from pathlib import Path
from cep.callbacks import EventsCallback

class Mine(EventsCallback):
    def on_event(self, row):
        with (Path(__file__).parent / "called.jsonl").open("a") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\\n")
    on_complex = on_signal = on_event
"""


def test_after_a_crash_the_callback_gets_what_it_may_have_missed(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {**SILENT, "rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK)
    kills = [2_000, 7_000]
    play_through_kills(settings, terminal(walks("A", 12_000)), kills)
    rows = journal(settings).splitlines()
    called = (tmp_path / "called.jsonl").read_bytes().splitlines()
    places = [rows.index(row) for row in called]
    assert places[0] == 0
    steps = [after - before for before, after in pairwise(places)]
    # After a kill it begins again where records may not have been on disk; nothing is left out.
    assert max(steps) == 1
    assert sum(step <= 0 for step in steps) <= len(kills)
    assert places[-1] == len(rows) - 1


def newest_snapshot(settings: Path) -> int:
    return max(int(p.stem.split("-")[1]) for p in (settings.parent / "state").glob("*.state"))


def test_a_clean_end_leaves_nothing_to_run_again(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {**SILENT, "rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK)
    ticks = walks("A", 3_500)
    with Service(settings):
        play(terminal({"A": ticks["A"][:2_000]}), address(settings))
    assert newest_snapshot(settings) == 2_000
    with Service(settings):
        play(terminal(ticks, instance=2), address(settings))
    assert (tmp_path / "called.jsonl").read_bytes() == journal(settings)
    assert replayed(settings, archived(settings)) == journal(settings)


def test_other_rules_begin_a_journal_of_their_own_and_act_on_nothing_old(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"callback": "mine.py"}})
    (tmp_path / "mine.py").write_text(CALLBACK)
    with Service(settings):
        play(terminal(walks("A", 2_000)), address(settings))
    before = journal(settings)
    (tmp_path / "called.jsonl").unlink()
    changed = RULES.replace("mid > ma + 0.00004", "mid > ma + 0.00003")
    (tmp_path / "rules.cep").write_text(changed)
    idle = terminal(walks("A", 1), instance=2)
    with Service(settings):
        play(idle, address(settings), linger_ms=200)
    assert idle.signals == []
    assert not (tmp_path / "called.jsonl").exists()
    assert (tmp_path / "state" / "events-1.jsonl").read_bytes() == before
    assert journal(settings) != before
    assert replayed(settings, archived(settings)) == journal(settings)


def test_rules_that_come_back_find_no_state_of_a_journal_that_was_set_aside(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, SILENT)
    before = (tmp_path / "rules.cep").read_text()
    with Service(settings):
        play(terminal(walks("A", 2_000)), address(settings))
    for text in (before.replace("mid > ma + 0.00004", "mid > ma + 0.00003"), before):
        (tmp_path / "rules.cep").write_text(text)
        with Service(settings):
            pass
    assert replayed(settings, archived(settings)) == journal(settings)


class Reluctant(Account):
    """Says what became of a signal when it is sent once more."""

    def execute(self, request: Signal | Order, *arguments: Any) -> list[SignalResult]:
        is_known = request.id in self.executed
        results = super().execute(request, *arguments)
        return results if is_known else []


def test_signals_without_an_answer_are_sent_again_and_executed_once(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"state": {"snapshot_records": 100_000}})
    ticks = walks("A", 3_000)
    account = Reluctant()
    found = terminal(ticks, account=account)

    def has_shown(daemons: int) -> bool:
        repeated = len(found.signals) - len({signal.id for signal in found.signals})
        return bool(found.signals if daemons == 1 else repeated)

    play_through_kills(settings, found, [1_000], has_shown)
    executed = {bytes(deal["comment"])[:16] for deal in account.deals}
    assert len(account.deals) == len(executed) > 0
    archived(settings)


def batch(ticks: Records, first: int) -> Batch:
    quality = np.zeros(len(ticks), np.uint8)
    return Batch("demo", ticks_of("A"), first, ticks, quality, 0, 0)


def test_a_gap_that_finds_no_room_is_not_taken(tmp_path: Path) -> None:
    ticks = walks("A", 1)["A"]
    spool = Spool(tmp_path / "spool", pending_bytes_max=250)
    spool.recover()
    intake = Intake(spool)
    lost = Gap("demo", ticks_of("A"), 1, 20, LostReason.OTHER, "gone " * 40, 0)
    assert not intake.on_gap(lost)
    spool.pending_bytes_max = 1_000
    assert intake.on_gap(lost)
    assert intake.on_batch(batch(ticks, 21))
    spool.close()
    kinds = [(group.kind, group.sequence) for group in read(tmp_path / "spool")]
    assert kinds == [(RecordKind.GAP, 1), (RecordKind.TICKS, 21)]


def test_what_a_full_spool_refuses_runs_through_no_rule(tmp_path: Path) -> None:
    ticks = walks("A", 10)["A"]
    rules = Compiled(compile_rules(RULES, "live.cep"), outputs=["Mid"], jit=False)
    spool = Spool(tmp_path / "spool")
    spool.recover()
    rows: list[dict[str, object]] = []
    pipeline = Pipeline(rules.start(), lambda caused: rows.extend(caused.rows.dicts()))
    intake = Intake(spool, [pipeline])
    spool.condition = Condition.FULL
    for _ in range(2):
        assert not intake.on_batch(batch(ticks, 1))
        pipeline.flush()
    assert rows == []
    spool.condition = Condition.READY
    assert intake.on_batch(batch(ticks, 1))
    pipeline.flush()
    assert len(rows) == 10
    spool.close()


class Passing:
    """Silence watched by a clock that is told the time."""

    def __init__(self, folder: Path, every_ms: int) -> None:
        self.spool = Spool(folder)
        self.spool.recover()
        rules = Compiled(compile_rules(RULES, "live.cep"), outputs=STREAMS)
        self.pipeline = Pipeline(rules.start(), lambda _caused: None)
        self.intake = Intake(self.spool, [self.pipeline])
        self.silence = Timekeeper(self.intake, every_ms, 1_000)
        self.ticks = deque(walks("A", 100)["A"])
        self.sequence = 0

    def tick(self) -> None:
        self.sequence += 1
        assert self.intake.on_batch(batch(np.array([self.ticks.popleft()]), self.sequence))
        self.pipeline.flush()

    def at(self, ms: int) -> None:
        self.silence.look(Now(ms, 1_000_000 + ms))


def stored(folder: Path) -> list[tuple[RecordKind, int, int, int]]:
    """(kind, ingest, sequence, time) of what is stored; the time of clock records only."""
    return [
        (
            g.kind,
            g.ingest,
            g.sequence,
            int(g.records["time_msc"][0]) if g.kind is RecordKind.CLOCK else 0,
        )
        for g in read(folder)
    ]


def test_silence_is_recorded_once_a_period_and_in_order(tmp_path: Path) -> None:
    passing = Passing(tmp_path, 100)
    passing.tick()
    for ms in range(0, 251, 10):
        passing.at(ms)
    passing.tick()
    for ms in range(260, 340, 10):
        passing.at(ms)
    passing.spool.close()
    assert stored(tmp_path) == [
        (RecordKind.TICKS, 1, 1, 0),
        (RecordKind.CLOCK, 2, 1, 1_000_100),
        (RecordKind.CLOCK, 3, 2, 1_000_200),
        (RecordKind.TICKS, 4, 2, 0),
    ]
    again = Passing(tmp_path, 100)
    again.at(0)
    again.at(100)
    again.spool.close()
    assert stored(tmp_path)[-1] == (RecordKind.CLOCK, 5, 3, 1_000_100)


@pytest.mark.parametrize(("every_ms", "full"), [(0, False), (100, True)])
def test_no_clock_record_when_unwanted_or_without_room(
    tmp_path: Path, every_ms: int, full: bool
) -> None:
    passing = Passing(tmp_path, every_ms)
    passing.tick()
    if full:
        passing.spool.condition = Condition.FULL
    for ms in range(0, 1_000, 50):
        passing.at(ms)
    passing.spool.condition = Condition.READY
    passing.spool.close()
    assert [kind for kind, *_ in stored(tmp_path)] == [RecordKind.TICKS]


def test_a_quiet_daemon_records_time_and_rows_stay_the_same(tmp_path: Path) -> None:
    state = {"clock_every_ms": 60, "away_ms": 300, "snapshot_records": 500}
    settings = write_settings(tmp_path, {"signals": {"send": False}, "state": state})
    ticks = walks("A", 3_000)
    with Service(settings) as service:
        play(terminal({"A": ticks["A"][:1_500]}), address(settings))
        before = service.daemon.spool.next_ingest
        wait_until(lambda: service.daemon.spool.next_ingest >= before + 3)
        play(terminal(ticks, instance=2), address(settings))
    kinds = [group.kind for group in read(tmp_path / "spool")]
    first, last = (
        kinds.index(RecordKind.CLOCK),
        len(kinds) - kinds[::-1].index(RecordKind.TICKS) - 1,
    )
    assert first < last
    archive = archived(settings)
    assert sum(file.rows for file in archive.files("clock")) >= 3
    times = [int(g.records["time_msc"][0]) for g in read(tmp_path / "spool") if g.source == DAEMON]
    assert times == sorted(times)
    assert replayed(settings, archive) == journal(settings)


def caused_rows(count: int) -> list[dict[str, object]]:
    return [{"stream": "Turn", "time_msc": n, "kind": "current"} for n in range(count)]


def test_a_journal_is_cut_back_and_knows_what_it_repeats(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with closing(Journal(path)) as first:
        first.add(caused_rows(2))
        kept = first.size_bytes
        first.add(caused_rows(3))
        assert not first.repeats
    whole = path.read_bytes()
    with closing(Journal(path, kept)) as second:
        assert second.size_bytes == kept
        second.add(caused_rows(3))
        assert second.repeats and second.size_bytes == len(whole)
        second.add(caused_rows(1))
        assert not second.repeats
        second.sync()
    assert (
        path.read_bytes() == whole + json.dumps(caused_rows(1)[0]).replace(" ", "").encode() + b"\n"
    )


def test_a_journal_lets_go_of_its_file(tmp_path: Path) -> None:
    with recording(tmp_path) as disk:
        journal = Journal(tmp_path / "events.jsonl")
        assert len(disk.files) == 1
        for _ in range(2):
            journal.close()
            assert not disk.files


def test_a_journal_shorter_than_its_snapshot_goes_on_in_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"{}\n")
    with closing(Journal(path, 1_000)) as found:
        assert found.size_bytes == 1_000
        found.add(caused_rows(1))
    assert (tmp_path / "events.000000000000000.jsonl").read_bytes() == b"{}\n"
    assert path.read_bytes().startswith(b'{"stream"')


def test_a_journal_set_aside_keeps_those_set_aside_before(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert set_aside(None) is None and set_aside(path) is None
    for number in (1, 2, 3):
        path.write_text(str(number))
        assert set_aside(path) == tmp_path / f"events-{number}.jsonl"
    assert [(tmp_path / f"events-{n}.jsonl").read_text() for n in (1, 2, 3)] == ["1", "2", "3"]
    path.write_text("")
    assert set_aside(path) is None


def test_effects_come_in_order_signal_callback_journal(tmp_path: Path) -> None:
    rules = Compiled(compile_rules(RULES, "live.cep"), outputs=STREAMS)
    order: list[str] = []
    file = Journal(tmp_path / "events.jsonl")

    def deliver(rows: object) -> None:
        order.append(f"callback at {file.size_bytes == 0}")

    effects = Effects({"Fade"}, Trading(send=True), file, deliver)
    acted: list[Caused] = []

    def act(caused: Caused) -> None:
        if not acted and "Fade" in {row["stream"] for row in caused.rows.dicts()}:
            acted.append(caused)
            effects.act(caused, lambda signal: order.append(f"signal {signal.name}"))

    pipeline = Pipeline(rules.start(), act)
    ticks = walks("A", 3_000)["A"]
    groups = [Group(i + 1, RecordKind.TICKS, "demo", ("ticks", "A"), i + 1, ticks[i : i + 1])
              for i in range(len(ticks))]  # fmt: skip
    pipeline.catch_up(groups, act)
    assert order == ["signal Fade", "callback at True"]
    assert file.size_bytes > 0
    file.close()
