"""Complex events of the rules at terminals: numbered over restarts, with the rows behind them."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from cep.live.complex_events import ComplexEvents, fitting
from mt5bridge.client import Connection
from mt5bridge.records import Records
from mt5bridge.simulator import Runner, Terminal, simulated_hello
from mt5bridge.wire import (
    BOUND_MAX,
    FIELDS_MAX,
    SEQUENCE_MAX,
    Bound,
    Entry,
    Event,
    Field,
    FieldKind,
    Wanted,
    WireError,
    encode,
)
from tests.credentials import CREDENTIAL
from tests.live.service import (
    Service,
    address,
    journal,
    play,
    process,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.waiting import LONG_S, deadline

ALL = Entry(Wanted.ALL, 0, "")
CLOCKLESS = {"state": {"snapshot_records": 300, "clock_every_ms": 0}}


def subscribed(ticks: dict[str, Records], *wanted: Entry, **options: Any) -> Terminal:
    """A terminal that publishes and wants complex events."""
    found = terminal(ticks, **options)
    found.client.subscribe(*(wanted or (ALL,)))
    return found


def rows_of(settings: Path, streams: set[str]) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in journal(settings).splitlines()]
    return [row for row in rows if row["stream"] in streams]


def numbered(rows: list[dict[str, Any]]) -> list[tuple[str, int, str, int]]:
    """Name, number, key and time of each complex event in the journal."""
    counts: dict[str, int] = defaultdict(int)
    found = []
    for row in rows:
        counts[row["stream"]] += 1
        found.append((row["stream"], counts[row["stream"]], row["key"] or "", row["time_msc"]))
    return found


def seen(events: list[Event]) -> list[tuple[str, int, str, int]]:
    return [(one.name, one.number, one.key, one.time_msc) for one in events]


COMPLEX = {"Turn", "FilledTurn", "Broad"}


def test_a_terminal_gets_the_complex_events_with_their_rows(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"file": "rules.cep"}, **CLOCKLESS})
    text = settings.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("streams")]
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = subscribed(walks("AB", 1_500))
    with Service(settings):
        play(found, address(settings), until=lambda: len(found.client.events) > 10, linger_ms=500)
    events = found.client.events
    rows = numbered(rows_of(settings, COMPLEX))
    assert seen(events) == rows[: len(events)]
    simple = {
        (row["stream"], row["key"], row["seq"]): row
        for row in rows_of(settings, {"Above", "Below", "Filled"})
    }
    turns = [one for one in events if one.name == "Turn"]
    assert turns
    for one in turns:
        assert (one.engine, one.first_msc) == ("Tactical", one.bound[0].time_msc)
        assert [bound.name for bound in one.bound] == ["Above", "Below"]
        for bound in one.bound:
            row = simple[bound.name, bound.key, bound.sequence]
            assert (bound.time_msc, bound.stream) == (row["time_msc"], "Band")
            values = {field.name: field.value for field in bound.fields}
            assert set(values) == {"symbol", "mid", "ma"}
            assert values["symbol"] == bound.key
            over, under = values["mid"], values["ma"]
            assert isinstance(over, float) and isinstance(under, float)
            assert over > under + 0.00004 if bound.name == "Above" else over < under


def test_streams_that_are_not_put_out_stay_out_of_the_journal(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"streams": ["Fade"]}, **CLOCKLESS})
    found = subscribed(walks("AB", 1_500), Entry(Wanted.NAMED, 0, "Turn"))
    with Service(settings):
        play(found, address(settings), until=lambda: len(found.client.events) > 5, linger_ms=300)
    assert {one.name for one in found.client.events} == {"Turn"}
    bound = found.client.events[0].bound
    assert [one.name for one in bound] == ["Above", "Below"]
    assert all(one.time_msc > 0 and not one.fields for one in bound)
    assert {row["stream"] for row in rows_of(settings, {*COMPLEX, "Above", "Fade"})} == {"Fade"}


def test_numbers_go_on_over_restarts_and_a_gap_shows(tmp_path: Path) -> None:
    """13.3 of the protocol: no number twice, none for another event."""
    settings = write_settings(tmp_path, CLOCKLESS)
    ticks = walks("AB", 3_000)
    parts = [{name: one[:end] for name, one in ticks.items()} for end in (1_000, 2_000, 3_000)]
    events: list[Event] = []
    numberings = set()
    for part in parts:
        found = subscribed(part)
        with Service(settings):
            play(found, address(settings), linger_ms=500)
            wanted = len(numbered(rows_of(settings, COMPLEX)))
            assert wanted
        events += found.client.events
        assert found.client.subscribed is not None
        numberings.add(found.client.subscribed.numbering)
    assert len(numberings) == 1
    rows = numbered(rows_of(settings, COMPLEX))
    known = set(rows)
    assert len(known) == len(rows) > 30
    assert set(seen(events)) <= known
    assert len(set(seen(events))) == len(events)


def test_a_killed_daemon_gives_no_number_twice(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, CLOCKLESS)
    ticks = walks("AB", 3_000)
    found = subscribed(ticks)
    log = tmp_path / "daemon.log"
    limit = deadline()
    for share in (0.3, 0.6, 1.0):
        with process(settings, log) as daemon, Connection(address(settings), CREDENTIAL) as line:
            total = share * sum(len(one) for one in ticks.values())
            Runner(found, line).run(
                threading.Event(),
                # An event leaves after its records are acknowledged: a kill must not come before.
                lambda total=total: (
                    (found.acknowledged >= total and len(found.client.events) > 10) or limit()
                ),
                0,
            )
            daemon.kill()
            daemon.wait(LONG_S)
        found.client.disconnected()
    assert found.acknowledged == sum(len(one) for one in ticks.values())
    with Service(settings):
        pass  # what it found again is in its journal when it has ended
    rows = numbered(rows_of(settings, COMPLEX))
    got = seen(found.client.events)
    assert len(got) > 10
    assert len({(name, number) for name, number, *_ in got}) == len(got)
    assert set(got) <= set(rows)
    assert found.client.missed_events <= len(rows) - len(got)


def test_other_rules_number_anew_and_say_so(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, CLOCKLESS)
    numberings = []
    for text in ("0.00004", "0.00005"):
        rules = tmp_path / "rules.cep"
        rules.write_text(rules.read_text(encoding="utf-8").replace("0.00004", text), "utf-8")
        found = subscribed(walks("AB", 300))
        with Service(settings):
            play(found, address(settings), linger_ms=200)
        assert found.client.subscribed is not None
        numberings.append(found.client.subscribed.numbering)
    assert len(set(numberings)) == 2


def test_changed_rules_of_a_running_daemon_go_on_counting(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, {"rules": {"watch_ms": 10}, **CLOCKLESS})
    rules = tmp_path / "rules.cep"
    ticks = walks("AB", 1_500)
    found = subscribed({name: one[:800] for name, one in ticks.items()})
    with Service(settings) as service:
        play(found, address(settings), linger_ms=300)
        before = {one.name: one.number for one in found.client.subscribed.events}  # type: ignore[union-attr]
        assert set(before) == COMPLEX
        new = (
            "define complex Again in Tactical for each symbol"
            " as Below followed by Above within 1 min;\n"
        )
        rules.write_text(rules.read_text(encoding="utf-8") + new, "utf-8")
        store = service.server.terminals.events
        wait_until(lambda: "Again" in store.standings)
        turns = store.standings["Turn"].number
        assert turns > 0
        more = subscribed(ticks)
        play(more, address(settings), linger_ms=300)
    first = next(one for one in more.client.events if one.name == "Turn")
    assert first.number == turns + 1
    assert next(one for one in more.client.events if one.name == "Again").number == 1


def test_numbers_and_rows_survive_as_state() -> None:
    events = ComplexEvents()
    again = ComplexEvents()
    assert again.numbering != events.numbering
    again.begin(events.state())
    assert again.numbering == events.numbering
    assert again.state() == events.state()


@pytest.mark.parametrize("size", [1, 1_000])
def test_what_is_too_large_loses_its_fields(size: int) -> None:
    fields = tuple(Field(FieldKind.TEXT, 0, 0.0, "f", "x" * 1_000) for _ in range(FIELDS_MAX))
    bound = tuple(Bound(1, 0, "e", "s", "", fields[:size]) for _ in range(min(size, BOUND_MAX)))
    made = fitting(Event(1, 0, 0, "name", "engine", "", bound))
    encode(made)
    assert bool(made.bound[0].fields) is (size == 1)


@pytest.mark.parametrize("count", [1, 240, 480, *range(495, 515)])
@pytest.mark.parametrize("of_each", [1, 240, FIELDS_MAX])
def test_fields_are_lost_where_no_frame_holds_them_and_nowhere_else(
    count: int, of_each: int
) -> None:
    """All texts as long as they may be: what is not encoded to know it has to fit."""
    text = "x" * 1_024
    fields = (Field(FieldKind.TEXT, -1, 1.5, text, text),) * count
    parts = [fields[first : first + of_each] for first in range(0, count, of_each)]
    bound = tuple(Bound(SEQUENCE_MAX, 1, text, text, text, part) for part in parts)
    frame = Event(SEQUENCE_MAX, 1, 1, text, text, text, bound)
    try:
        encode(frame)
    except WireError:
        assert fitting(frame) != frame
    else:
        assert fitting(frame) == frame


def test_terminals_without_ticks_get_events_too(tmp_path: Path) -> None:
    """One that only wants events, beside one that publishes."""
    settings = write_settings(tmp_path, CLOCKLESS)
    hello = simulated_hello("watcher", 9)
    assert hello.identity == "watcher"
    publisher = terminal(walks("AB", 1_500))
    watcher = terminal({}, identity="watcher")
    watcher.client.subscribe(Entry(Wanted.ENGINE, 0, "Portfolio"))
    with Service(settings), Connection(address(settings), CREDENTIAL) as line:
        runner = Runner(watcher, line)
        limit = deadline()
        runner.run(threading.Event(), lambda: watcher.client.subscribed is not None or limit(), 0)
        play(publisher, address(settings), linger_ms=300)
        runner.run(threading.Event(), lambda: bool(watcher.client.events) or limit(), 0)
    assert {one.name for one in watcher.client.events} == {"Broad"}
    bound = watcher.client.events[0].bound
    assert [(one.name, one.time_msc) for one in bound] == [("Turn", 0), ("Turn", 0)]
