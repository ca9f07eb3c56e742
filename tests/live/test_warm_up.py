"""Rules that begin anew, on an archive of the time before the spool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from cep.archive import Archive, ingest_spool
from cep.archive.groups import Earlier, Place
from cep.cli import main
from cep.engine.native import Compiled
from cep.live.config import ConfigError, read_config
from cep.live.feed import MarketFeed
from cep.live.rule_files import rules_of
from cep.live.rules import load_plan
from mt5bridge.simulator import Account
from mt5bridge.spool import Group, RecordKind, SegmentState, list_segments, read
from tests.live.service import (
    RULES,
    STREAMS,
    Service,
    address,
    journal,
    play,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.spool.groups import START_MSC, clock_group, deal_group, opened, same, tick_group
from tests.waiting import LONG_S

TICKS = walks("AB", 2_000)
LONG = RULES.replace("20 sec", "500 sec").replace("'live'", "'other'")


def settings_of(folder: Path, days: float) -> Path:
    rules = {"numba": False, "warm_up_days": days, "streams": [*STREAMS, "Band"], "watch_ms": 0}
    path = write_settings(folder, {"rules": rules, "archive": {"folder": "archive"}})
    if (folder / "other.cep").exists():
        (folder / "rules.cep").write_text(LONG, encoding="utf-8")
    return path


def live(settings: Path, count: int, account: Account) -> None:
    """One run of the daemon, up to so many ticks of each symbol."""
    with Service(settings) as service:
        ticks = {name: one[:count] for name, one in TICKS.items()}
        found = terminal(ticks, instance=count, account=account)
        play(found, address(settings), until=service.is_settled)


def lived_since(settings: Path, groups: list[Group], first: int) -> list[dict[str, Any]]:
    """The rows that records from `first` on lead to where the rules have lived all of them."""
    config = read_config(settings)
    feed = MarketFeed(Compiled(load_plan(config), outputs=[*STREAMS, "Band"], jit=False).start())
    return [
        row
        for group in groups
        for rows, _ in feed.feed([group])
        for row in rows.dicts()
        if group.ingest >= first
    ]


def without_the_first(folder: Path) -> list[Group]:
    """All that the spool holds, whose first segment then makes room."""
    groups = list(read(folder / "spool"))
    ingest_spool(folder / "spool", Archive(folder / "archive"), include_open=True)
    first = list_segments(folder / "spool")[0]
    assert first.state is SegmentState.ARCHIVED
    first.path.unlink()
    return groups


def test_rows_are_those_of_a_daemon_that_lived_it_all(tmp_path: Path) -> None:
    """Ticks, deals, windows longer than the spool, numbers of events; nothing of it is sent."""
    account = Account()
    settings = settings_of(tmp_path, 1_000)
    live(settings, 500, account)
    live(settings, 800, account)
    groups = without_the_first(tmp_path)
    (tmp_path / "other.cep").touch()
    settings = settings_of(tmp_path, 1_000)
    before = len(account.executed)
    live(settings, 800, account)
    assert len(account.executed) == before, "what they find in the past is not sent"
    lived = list(read(tmp_path / "spool"))[-1].last_ingest
    live(settings, 2_000, account)
    stored = list(read(tmp_path / "spool"))
    first = stored[0].ingest
    assert first > 900
    expected = lived_since(settings, [g for g in groups if g.ingest < first] + stored, first)
    found = [json.loads(line) for line in journal(settings).splitlines()]
    assert [row for row in found if "note" not in row] == expected and len(expected) > 1_000
    assert {"Above", "Turn", "Filled", "Fade"} <= {row["stream"] for row in expected}
    assert expected != lived_since(settings, stored, first), "the archive changes nothing"
    news = lived_since(settings, [g for g in groups if g.ingest < first] + stored, lived + 1)
    meant = [row for row in news if row["stream"] in ("Fade", "Wide")]
    assert len(account.executed) - before == len(meant) > 0


def test_a_loaded_file_tells_how_far_it_is(tmp_path: Path) -> None:
    account = Account()
    settings = settings_of(tmp_path, 0)
    live(settings, 500, account)
    live(settings, 800, account)
    groups = without_the_first(tmp_path)
    with Service(settings) as service:
        (tmp_path / "more.cep").write_text(LONG, encoding="utf-8")
        more = '[rules.more]\nfile = "more.cep"\nmagic = 5\nwarm_up_days = 1000\n'
        more += f"streams = {json.dumps([*STREAMS, 'Band'])}\n"
        settings.write_text(settings.read_text(encoding="utf-8") + more, encoding="utf-8")
        service.daemon.files.reread = lambda: read_config(settings)
        words = ["rules", "load", "more", "--config", str(settings), "--wait", str(LONG_S)]
        wait_until(lambda: status_of(settings) is not None)
        loading = CliRunner().invoke(main, words)
        assert loading.exit_code == 0, loading.output
        wait_until(lambda: service.daemon.files.status()[1].runs)
        warm = next(r.warm_up for r in service.daemon.files if r.name == "more")
        assert warm is not None and warm.records == warm.records_max > 900
    stored = list(read(tmp_path / "spool"))
    whole = [g for g in groups if g.ingest < stored[0].ingest] + stored
    (tmp_path / "rules.cep").write_text(LONG, encoding="utf-8")
    rows = (tmp_path / "state/rules/more/events.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(json.loads, rows)) == lived_since(settings, whole, stored[0].ingest)


def test_an_archive_that_cannot_be_read_lets_nobody_trade(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, 1)
    live(settings, 100, Account())
    ingest_spool(tmp_path / "spool", Archive(tmp_path / "archive"), include_open=True)
    file = next((tmp_path / "archive").glob("ticks/*/*/*.parquet"))
    live(settings, 150, Account())
    list_segments(tmp_path / "spool")[0].path.unlink()
    file.write_bytes(b"none")
    (tmp_path / "other.cep").touch()
    settings = settings_of(tmp_path, 1)
    service = Service(settings)
    with pytest.raises(AssertionError), service:
        pass
    assert "its checksum is wrong" in str(service.failure)


def test_a_day_after_a_warm_up_is_not_compared(tmp_path: Path) -> None:
    words = ["parity", "--config", str(settings_of(tmp_path, 1))]
    spool = opened(tmp_path / "spool")
    spool.append(tick_group(spool, "A", 1, [START_MSC]))
    spool.close()
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 2 and "warm_up_days" in told.stderr


@pytest.mark.parametrize("days", [1, -1])
def test_a_warm_up_on_nothing_is_refused(tmp_path: Path, days: int) -> None:
    with pytest.raises(ConfigError, match="warm_up_days"):
        read_config(write_settings(tmp_path, {"rules": {"warm_up_days": days}}))


def test_queries_on_a_database_do_not_warm_up(tmp_path: Path) -> None:
    sections = {"archive": {"folder": "a"}, "database": {"url": "sqlite://"}}
    path = write_settings(tmp_path, {"rules": {"warm_up_days": 1}, **sections})
    with pytest.raises(ConfigError, match="queries on a database begin with the spool"):
        rules_of(read_config(path))


def test_archived_groups_are_those_of_the_spool(tmp_path: Path) -> None:
    """All kinds of records, in their own order and numbers, with offsets, marks and texts."""
    spool = opened(tmp_path / "spool")
    for n in range(1, 40, 3):
        group = tick_group(
            spool, "AB"[n % 2], n, START_MSC + n * 1_000 + np.arange(3), "one", 7_200
        )
        marked = np.array([0, n % 3, 0], np.uint8)
        spool.append(msgspec.structs.replace(group, quality=marked if marked.any() else marked[:0]))
        spool.append(deal_group(spool, n, [n, n + 1, n + 2], "two"))
        spool.append(clock_group(spool, START_MSC + n * 1_000))
    spool.close()
    groups = list(spool.read())
    archive = Archive(tmp_path / "archive")
    ingest_spool(spool.directory, archive)
    place = Place(archive.manifest.origins[0].spool, groups[-1].ingest, 0, 0)
    found = list(Earlier(archive, place))
    expected = groups[:-1]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        one = msgspec.structs.replace(one, stream=other.stream)
        assert same(one, other), (one, other)
    assert {one.kind for one in found} >= {RecordKind.TICKS, RecordKind.DEALS, RecordKind.CLOCK}
    some = Earlier(archive, Place(place.spool, place.first_ingest, 0, START_MSC + 20_000 - 7_200))
    rows = sum(one.width for one in some)
    assert 0 < rows < sum(one.width for one in expected) and rows <= some.rows_max


def test_history_comes_before_what_was_stored(tmp_path: Path) -> None:
    """Imports have numbers of their own; they count up to those of the spool."""
    ticks = tmp_path / "A.csv"
    day = START_MSC - 86_400_000
    rows = [f"{day + n},{1 + n / 1000},{2 + n / 1000}" for n in range(100)]
    ticks.write_text("\n".join(["time_msc,bid,ask", *rows, ""]), encoding="utf-8")
    folder = tmp_path / "archive"
    words = ["archive", "import", str(folder), str(ticks), "--symbol", "A"]
    assert CliRunner().invoke(main, words).exit_code == 0
    spool = opened(tmp_path / "spool")
    for n in range(5):
        spool.append(tick_group(spool, "A", 1 + n, [START_MSC + n]))
    spool.close()
    name = spool.recovered.spool
    untold = list(Earlier(Archive(folder), Place(name, 1, START_MSC, 0)))
    ingest_spool(spool.directory, Archive(folder))
    archive = Archive(folder)
    name = archive.manifest.origins[0].spool
    found = list(Earlier(archive, Place(name, 4, START_MSC + 3, 0)))
    numbers = [one.ingest + n for one in found for n in range(one.width)]
    assert numbers == [*range(-99, 1), 1, 2, 3]
    assert [one.ingest + n for one in untold for n in range(one.width)] == [*range(-99, 1)]
    times = np.concatenate([one.utc_msc for one in found]).tolist()
    assert times == [*range(day, day + 100), START_MSC, START_MSC + 1, START_MSC + 2]
