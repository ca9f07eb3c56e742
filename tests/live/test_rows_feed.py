"""Rows for programs that read along: from disk, from any place, each once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.live.journal import Journal
from cep.live.journal_feed import JournalFeed, row_event
from mt5bridge.client import ROWS, Mark, Missed, Subscription, named, row_of, subscribe
from mt5bridge.server.feeds import AHEAD_MAX, Feeds
from mt5bridge.wire import Event, decode, encode
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
from tests.waiting import LONG_S

CLOCKLESS = {"state": {"snapshot_records": 300, "clock_every_ms": 0}}


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as a program gets it: objects are null."""
    return {k: None if isinstance(v, list) else v for k, v in row.items()}


def written(settings: Path) -> list[dict[str, Any]]:
    return [plain(json.loads(line)) for line in journal(settings).splitlines()]


def rows(events: Subscription, until: Callable[[], int]) -> list[dict[str, Any]]:
    """What comes up to a place of the journal."""
    found = []
    while events.mark.numbers.get(ROWS.name, 0) < until():
        one = events.take(LONG_S)
        assert one is not None
        if one.name == ROWS.name:
            found.append(row_of(one))
    return found


def test_rows_come_from_any_place_and_go_on_over_kills(tmp_path: Path) -> None:
    """What a program gets over its own crashes and those of the daemon is what is written down."""
    settings = write_settings(tmp_path, {"rules": {"numba": False}, **CLOCKLESS})
    ticks, mark = walks("AB", 2_000), Mark()
    had: list[dict[str, Any]] = []
    missed: list[Missed] = []

    def read(share: float) -> Mark:
        with subscribe(address(settings), CREDENTIAL, ROWS, after=mark) as events:
            events.on_missed = missed.append
            assert events.wait(LONG_S)
            part = {name: one[: int(share * len(one))] for name, one in ticks.items()}
            play(terminal(part), address(settings))
            had.extend(rows(events, lambda: len(journal(settings)) // 2))
            return events.mark

    with process(settings, tmp_path / "log") as daemon:
        mark = read(0.5)
        daemon.kill()
        daemon.wait(LONG_S)
    with Service(settings):
        mark = read(1.0)
    with Service(settings), subscribe(address(settings), CREDENTIAL, ROWS, after=mark) as events:
        had += rows(events, lambda: len(journal(settings)))
    assert had == written(settings)
    assert missed == []


def test_events_and_rows_together(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, CLOCKLESS)
    with Service(settings), subscribe(address(settings), CREDENTIAL, ROWS, named("Turn")) as events:
        assert events.wait(LONG_S)
        play(terminal(walks("AB", 1_500)), address(settings))
        wait_until(lambda: b'"Turn"' in journal(settings))
        found: list[Event] = []
        turns = written(settings)
        wanted = sum(row["stream"] == "Turn" for row in turns)
        while sum(one.name == "Turn" for one in found) < wanted or len(found) <= wanted:
            one = events.take(LONG_S)
            assert one is not None
            found.append(one)
        assert {one.name for one in found} == {"Turn", ROWS.name}


def filled(path: Path, count: int, file_bytes: int = 0, files_max: int = 1) -> Journal:
    made = Journal(path, file_bytes=file_bytes, files_max=files_max)
    for number in range(count):
        made.add([{"stream": "S", "time_msc": number, "kind": "current", "x": number}])
        made.write()
    return made


def values(events: list[Event]) -> list[int]:
    return [row_of(one)["x"] for one in events]


def test_no_row_is_handed_out_before_its_record_is_on_disk(tmp_path: Path) -> None:
    made = filled(tmp_path / "events.jsonl", 0)
    feed, feeds = JournalFeed(made), Feeds()
    feeds.add(feed)
    cursor = feeds.begin(feed.name, None)
    for number in range(3):
        made.add([{"stream": "S", "time_msc": 0, "kind": "current", "x": number}])
        feed.note(10 + number)
    made.write()
    assert not feeds.fill()
    assert not feed.release(9)
    assert feed.release(11)
    assert feeds.fill()
    assert values([*cursor.ready]) == [0, 1]
    assert not feeds.fill(), "it waits until those are taken"
    cursor.ready.clear()
    assert feed.release(12) and feeds.fill()
    assert values([*cursor.ready]) == [2]


@given(st.lists(st.integers(1, 100), min_size=1, max_size=6), st.integers(0, 400))
def test_from_any_row_on_all_that_follow(takes: list[int], place: int) -> None:
    """The obvious reference: the lines of the file behind it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = filled(Path(folder) / "events.jsonl", 400)
        feed, feeds = JournalFeed(made), Feeds()
        feeds.add(feed)
        lines = (Path(folder) / "events.jsonl").read_bytes().splitlines(keepends=True)
        cursor = feeds.begin(feed.name, sum(map(len, lines[:place])))
        found: list[Event] = []
        for most in [*takes, *[AHEAD_MAX] * 8]:
            feeds.fill()
            found += [cursor.ready.popleft() for _ in range(min(most, len(cursor.ready)))]
        while cursor.ready or feeds.fill():
            found.append(cursor.ready.popleft())
        assert values(found) == [*range(place, 400)]
        assert [one.previous for one in found[1:]] == [one.number for one in found[:-1]]
        made.close()


def first_of(made: Journal) -> Event:
    """What a program gets first that has had nothing."""
    feed, feeds = JournalFeed(made), Feeds()
    feeds.add(feed)
    cursor = feeds.begin(feed.name, 0)
    assert feeds.fill()
    return cursor.ready[0]


def test_rows_that_were_removed_show_and_damaged_ones_too(tmp_path: Path) -> None:
    made = filled(tmp_path / "events.jsonl", 100, file_bytes=500, files_max=2)
    assert first_of(made).previous > 0
    path = tmp_path / "other.jsonl"
    made = filled(path, 3)
    first, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(path.read_bytes().replace(b"{", b"[", 1))
    assert first_of(made).previous == len(first)


def test_a_connection_that_ends_is_not_read_for() -> None:
    class Endless:
        name, newest = "@endless", 10

        def start(self, number: int | None) -> int:
            return number or 0

        def reading(self, number: int) -> Endless:
            return self

        def read(self, most: int) -> list[Event]:
            raise OSError("the disk fails")

    feeds = Feeds()
    feeds.add(Endless())
    cursor = feeds.begin("@endless", 3)
    with pytest.raises(OSError, match="disk fails"):
        feeds.fill()
    assert cursor.start == 3
    del cursor
    assert not feeds.fill()


@pytest.mark.parametrize(
    "row",
    [
        {
            "stream": "S",
            "time_msc": 5,
            "kind": "expired",
            "key": "A",
            "x": 1.5,
            "t": "é",
            "n": None,
        },
        {"note": "new rules", "after_ingest": 3, "kept": ["a"]},
        {"stream": "S", "time_msc": 1, "kind": "current", "t": "x" * 5_000, "big": 2**70},
    ],
)
def test_a_row_survives_the_wire(row: dict[str, Any]) -> None:
    line = json.dumps(row).encode()
    event = decode(encode(row_event(7, line)))
    assert isinstance(event, Event)
    assert (event.previous, event.number) == (7, 7 + len(line) + 1)
    told = row_of(event)
    for name, value in row.items():
        if isinstance(value, list) or value == 2**70:
            assert told[name] is None
        elif isinstance(value, str):
            assert value.startswith(told[name])
        else:
            assert told[name] == value
    assert told["kind"] == row.get("kind", "note")


def test_what_is_no_row_is_none() -> None:
    with pytest.raises(ValueError, match="Turn is not of @rows"):
        row_of(Event(1, 0, 0, "Turn", "", "", ()))
