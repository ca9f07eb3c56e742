"""Time that passes without ticks: lived, after a restart and in a backtest it gives the same."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cep.backtest.parts import why_sequential
from cep.backtest.records import Moment, lived
from cep.backtest.selection import select
from cep.engine.kernels.state import OUT_ORDER
from cep.engine.native import Compiled
from cep.engine.snapshot import restore, take
from cep.live.config import Trading, read_config
from cep.live.effects import Effects
from cep.live.journal import Journal
from cep.live.pipeline import Pipeline
from cep.live.rules_on_engine import RulesOnEngine
from cep.plan import compile_rules
from mt5bridge.clock import Now, now
from mt5bridge.records import Records
from mt5bridge.simulator import Account, Walk, random_walk
from mt5bridge.spool import RecordKind, Told, read, told
from tests.live.service import (
    STREAMS,
    Service,
    address,
    journal,
    play,
    terminal,
    write_settings,
)
from tests.live.service import archived as archived_daemon
from tests.live.test_restart import newest_snapshot, play_through_kills
from tests.live.timed import (
    BY_TIME,
    RULES,
    Life,
    archived,
    backtested,
    compiled,
    script,
)


def test_what_time_made_live_a_backtest_makes_too(tmp_path: Path) -> None:
    rules = compiled()
    life = Life(tmp_path, rules.start())
    life.live(script(1, 60))
    life.spool.close()
    by_time = {json.loads(line)["stream"] for cause, line in life.rows if cause == "CLOCK"}
    assert by_time >= set(BY_TIME)
    assert list(backtested(archived(tmp_path), rules)) == life.lines


@pytest.mark.parametrize("seed", range(12))
def test_any_life_is_its_backtest(tmp_path: Path, seed: int) -> None:
    rules = compiled()
    life = Life(tmp_path, rules.start())
    life.live(script(100 + seed, 25))
    life.spool.close()
    assert list(backtested(archived(tmp_path), rules)) == life.lines


@pytest.mark.parametrize("seed", range(6))
def test_a_restart_anywhere_goes_on_with_the_same_rows(tmp_path: Path, seed: int) -> None:
    rules, steps = compiled(), script(200 + seed, 30)
    whole = Life(tmp_path / "whole", rules.start())
    whole.live(steps)
    random = np.random.default_rng(seed)
    saved, crash = sorted(random.integers(1, len(steps), 2).tolist())
    first = Life(tmp_path / "cut", rules.start())
    first.live(steps[:saved])
    snapshot, ingest, kept = take(first.pipeline.run), first.spool.next_ingest - 1, len(first.rows)
    first.live(steps[saved:crash])
    first.spool.close()
    second = Life(tmp_path / "cut", restore(rules, snapshot), first.sequences)
    second.catch_up(ingest)
    assert second.rows == first.rows[kept:]
    second.now_msc = first.now_msc
    second.live(steps[crash:])
    second.spool.close()
    again = first.lines[:kept] + second.lines
    assert list(backtested(archived(tmp_path / "cut"), rules)) == again
    # silence is counted anew by a new process: its clock records may stand elsewhere
    assert {json.loads(line)["stream"] for line in again} == {
        json.loads(line)["stream"] for line in whole.lines
    }


def test_rules_under_playback_follow_the_rows_alone(tmp_path: Path) -> None:
    text = "@app:playback\n" + RULES
    life = Life(tmp_path, compiled(text).start())
    life.live(script(1, 60))
    life.spool.close()
    assert any(group.kind is RecordKind.CLOCK for group in read(tmp_path / "spool"))
    assert {cause for cause, _ in life.rows} == {"TICKS"}
    assert list(backtested(archived(tmp_path), compiled(text))) == life.lines


def test_under_playback_idle_time_moves_the_clock(tmp_path: Path) -> None:
    text = "@app:playback(idle.time='2 sec', increment='2 sec')\n" + RULES
    life = Life(tmp_path, compiled(text).start())
    life.live(script(1, 60))
    life.spool.close()
    assert "CLOCK" in {cause for cause, _ in life.rows}
    assert list(backtested(archived(tmp_path), compiled(text))) == life.lines


DEALS_ONLY = """
define stream Deal (symbol string, lots double);
define trigger Beat at every 2 sec;
from Beat select triggered_time insert into Beaten;
from Deal select symbol, lots insert into Copied;
"""


def test_ticks_that_no_rule_reads_do_not_stop_the_time(tmp_path: Path) -> None:
    life = Life(tmp_path, compiled(DEALS_ONLY).start())
    for number in range(100):
        moment = life.now_msc + 100
        life.silence.look(Now(moment, moment))
        life.live([("A", random_walk(Walk(ticks=1, seed=number, start_msc=moment)))])
        life.now_msc = moment
    life.spool.close()
    clock = [group for group in read(tmp_path / "spool") if group.kind is RecordKind.CLOCK]
    assert len(clock) == 9  # one a second, counted from the first look
    beats = [json.loads(line) for line in life.lines if b'"Beaten"' in line]
    assert len(beats) == 4
    archive = archived(tmp_path)
    with pytest.raises(ValueError, match="no records"):
        select(archive, compiled(DEALS_ONLY).plan)


def test_rules_of_a_trigger_alone_run_by_the_clock(tmp_path: Path) -> None:
    text = "define trigger Beat at every 3 sec; from Beat select triggered_time insert into Beaten;"
    rules = compiled(text)
    life = Life(tmp_path, rules.start())
    life.live([life.now_msc + 20_000])
    life.spool.close()
    assert len(life.lines) == 12  # six beats and their copies
    assert list(backtested(archived(tmp_path), rules)) == life.lines


def test_a_range_takes_the_clock_of_the_range(tmp_path: Path) -> None:
    rules = compiled()
    life = Life(tmp_path, rules.start())
    life.live(script(3, 40))
    life.spool.close()
    archive = archived(tmp_path)
    whole = select(archive, rules.plan)
    first, last = whole.interval_msc
    low, high = first + (last - first) // 3, last - (last - first) // 3
    part = select(archive, rules.plan, ["A"], low, high)
    records = list(lived(part, rules.start()))
    times = [one.time_msc for one in records if isinstance(one, Moment)]
    orders = [
        order
        for one in records
        for order in ([one.order] if isinstance(one, Moment) else one.ints[:, OUT_ORDER].tolist())
    ]
    assert times and min(times) >= low and max(times) < high
    assert orders == sorted(orders)
    stored = [
        int(t) for g in read(tmp_path / "spool") if g.kind is RecordKind.CLOCK for t in g.utc_msc
    ]
    assert times == [t for t in stored if low <= t < high]


def test_rules_that_are_wholly_compiled_are_told_the_watermarks_too(tmp_path: Path) -> None:
    text = "define stream Tick (symbol string, bid double, ask double);"
    text += "from Tick select symbol, bid insert into Copied;"
    rules = compiled(text)
    life = Life(tmp_path, rules.start())
    life.live(script(1, 20))
    life.spool.close()
    assert {cause for cause, _ in life.rows} == {"TICKS"}
    archive = archived(tmp_path)
    selection = select(archive, rules.plan)
    assert selection.clock
    assert any(isinstance(one, Moment) for one in lived(selection, rules.start()))
    assert list(backtested(archive, rules)) == life.lines


def test_symbols_are_not_run_apart_where_time_matters() -> None:
    reason = why_sequential(compiled())
    assert reason == "Quiet is made for each symbol across symbols"
    held = "define stream Tick (symbol string, bid double); define table T (symbol string);"
    held += "define event High for each symbol as Tick[bid > 1.0];"
    reason = why_sequential(Compiled(compile_rules(held)))
    assert reason == "T is shared by all keys"


def recent(count: int) -> dict[str, Records]:
    """Ticks of this very time, so that they and the machine's clock belong together."""
    start_msc = now().utc_msc - 500 * count
    return {"A": random_walk(Walk(ticks=count, seed=3, start_msc=start_msc, gap_ms=400))}


def test_a_daemon_killed_in_the_silence_writes_one_journal(tmp_path: Path) -> None:
    streams = [*BY_TIME, "High"]
    state = {"clock_every_ms": 50, "away_ms": 500, "snapshot_records": 700}
    settings = write_settings(
        tmp_path, {"signals": {"send": False}, "rules": {"streams": streams}, "state": state}
    )
    (tmp_path / "rules.cep").write_text(RULES)
    kills = [1_500, 3_500]

    def has_promised() -> bool:
        groups = read(tmp_path / "spool")
        return any(
            group.kind is RecordKind.CLOCK and told(group) is Told.COMPLETE for group in groups
        )

    def by_time() -> bool:
        rows = map(json.loads, journal(settings).splitlines())
        return any(row["stream"] in BY_TIME for row in rows)

    def has_shown(daemons: int) -> bool:
        # the last one lives until time has passed for it
        return daemons <= len(kills) or (by_time() and has_promised())

    play_through_kills(settings, terminal(recent(6_000)), kills, has_shown)
    assert newest_snapshot(settings) > 6_000
    assert has_promised()
    # compiled there, plain Python here
    rules = Compiled(compile_rules(RULES), outputs=streams, jit=False)
    written = journal(settings)
    found = b"".join(line + b"\n" for line in backtested(archived_daemon(settings), rules))
    assert found == written
    assert by_time()


def test_a_signal_of_the_clock_waits_for_the_disk(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"streams": ["Calm"]}})
    (tmp_path / "rules.cep").write_text(RULES)
    rules, life = RulesOnEngine(read_config(settings)), Life(tmp_path, compiled().start())
    sent: list[int] = []
    rules.spool = life.spool
    rules.outgoing = SimpleNamespace(  # type: ignore[assignment]
        signal=lambda signal: sent.append(signal.id), paper=None
    )
    trading = Trading(send=True)
    rules.effects = Effects({"Fade"}, trading, Journal(None), None)
    life.pipeline.on_rows = rules.on_rows
    steps = script(1, 60)
    life.live(steps)
    by_tick = len(sent)
    rules.send_held()
    assert len(sent) == by_tick
    life.spool.commit()
    rules.send_held()
    assert len(sent) > by_tick
    life.spool.close()
    again = Effects({"Fade"}, trading, Journal(None), None)
    Pipeline(compiled().start(), again.act_again).catch_up(
        read(life.spool.directory), again.act_again
    )
    assert sorted(signal.id for signal in again.found_again) == sorted(sent)


def test_a_daemon_sends_the_signal_that_silence_makes(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"state": {"clock_every_ms": 50, "away_ms": 500}})
    quick = RULES.replace("for 5 sec", "for 300 milliseconds")
    (tmp_path / "rules.cep").write_text(quick)
    (tmp_path / "daemon.toml").write_text(
        settings.read_text().replace(json.dumps(STREAMS), '["Calm"]')
    )
    found = terminal(recent(200), account=Account())
    with Service(settings):
        play(found, address(settings), until=lambda: bool(found.signals))
    assert found.signals and all(signal.name == "Fade" for signal in found.signals)
    assert len({signal.id for signal in found.signals}) == len(found.signals)
