"""A daemon whose queries run on a database: the journal is that of our engine alone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from cep.database.check import check_database
from cep.database.drivers import connect
from cep.dropped import Reason
from cep.live import follower, on_database
from cep.live.rules_on_database import RulesOnDatabase
from mt5bridge.client import Connection
from mt5bridge.simulator import Runner, Terminal, parse_script
from mt5bridge.spool import RecordKind, Told, read, told
from tests.credentials import CREDENTIAL
from tests.database.servers import PostgresqlServer, running
from tests.live.service import (
    RULES,
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

TICKS = 1_500
_numbers = count()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    """A server that tests may kill."""
    with running() as server:
        yield server


@pytest.fixture
def place(server: PostgresqlServer) -> str:
    """A database of its own on it."""
    return server.create(f"of_daemon{next(_numbers)}")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is done at once, so that little data shows much."""
    monkeypatch.setattr(on_database, "SNAPSHOT_RECORDS", 400)
    monkeypatch.setattr(follower, "PAUSES_S", (0.01, 0.02, 0.05, 0.1, 0.1, 0.1))


def settings_of(folder: Path, url: str, durable: bool = False, **sections: dict[str, Any]) -> Path:
    """Settings of a daemon with a database."""
    found: dict[str, dict[str, Any]] = {
        "database": {"url": url, "durable": durable},
        "rules": {"numba": False},
        "signals": {"send": False},
    }
    for name, keys in sections.items():
        found.setdefault(name, {}).update(keys)
    settings = write_settings(folder, found)
    # of what is lived a window of time by symbol has a clock per symbol, which no database has
    (folder / "rules.cep").write_text(RULES.replace("window.time(20 sec)", "window.length(20)"))
    return settings


def rules_of(service: Service) -> RulesOnDatabase:
    assert isinstance(service.daemon.rules, RulesOnDatabase)
    return service.daemon.rules


def finish(service: Service) -> None:
    """Wait until the database has taken what is stored, everything was acted on and is written."""
    rules = rules_of(service)
    last = rules.spool.next_ingest - 1
    wait_until(lambda: rules.acted >= last)
    rules.journal.write()


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_rows_equal_those_of_our_engine_alone(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{kind}:///{tmp_path / 'events.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("place")
    settings = settings_of(tmp_path, url, signals={"send": True})
    found = terminal(walks("A", TICKS))
    with Service(settings) as service, playing(found, settings):
        wait_until(lambda: found.finished)
        finish(service)
        wait_until(lambda: len(found.signals) == journal(settings).count(b'"stream":"Fade"') > 5)
        plans = rules_of(service).on_database.plans
    with Service(settings) as service:  # the last deals have come behind the last ticks
        finish(service)
    assert [query.name for query in plans.front.queries] == ["query1", "query2"]
    rows = journal(settings)
    assert rows == replayed(settings, archived(settings))
    assert len(found.signals) == rows.count(b'"stream":"Fade"')


def test_a_database_that_goes_away_is_told_everything_when_it_is_back(
    tmp_path: Path, server: PostgresqlServer, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "QUEUE_RECORDS", 300)
    settings = settings_of(tmp_path, place, durable=True)
    ticks = walks("A", TICKS)
    with Service(settings) as service:
        play(terminal({"A": ticks["A"][:500]}), address(settings))
        finish(service)
        server.kill()
        play(terminal(ticks, instance=2), address(settings))
        away = rules_of(service).on_database.position
        server.start()
        finish(service)
    assert away < TICKS
    assert journal(settings) == replayed(settings, archived(settings))


def test_a_database_that_forgets_is_told_everything_again(
    tmp_path: Path, server: PostgresqlServer, place: str
) -> None:
    settings = settings_of(tmp_path, place)
    ticks = walks("A", TICKS)
    with Service(settings) as service:
        play(terminal({"A": ticks["A"][:900]}), address(settings))
        finish(service)
        server.kill()
        server.start()
        play(terminal({"A": ticks["A"][:1_200]}, instance=2), address(settings))
        finish(service)
    server.kill()
    server.start()
    with Service(settings) as service:
        play(terminal(ticks, instance=3), address(settings))
        finish(service)
    assert journal(settings) == replayed(settings, archived(settings))


LATE = "late = 0.05\nsame_ms = 0.1\n"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_late_ticks_stop_nothing_and_do_not_vanish(kind: str, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, f"{kind}:///{tmp_path / 'events.db'}")
    found = terminal(walks("ABC", 500), script=parse_script(LATE), speed=500.0)
    with playing(found, settings):
        for at in (200, 700, 1_100):
            with Service(settings):
                wait_until(lambda at=at: acknowledged(found) >= at)  # type: ignore[misc]
        with Service(settings) as service:
            wait_until(lambda: found.finished)
            finish(service)
    dropped = service.daemon.dropped
    assert sum(group.width for group in read(tmp_path / "spool")) == 1_500
    once = settings_of(tmp_path / "once", f"{kind}:///{tmp_path / 'once.db'}")
    copytree(tmp_path / "spool", tmp_path / "once" / "spool")
    with Service(once) as service:
        finish(service)
    assert service.counters["database_late"] > 50
    assert service.daemon.dropped.count(("event", "Above"), Reason.REPEAT) > 0
    assert service.daemon.dropped == dropped, "restarts make no difference"
    assert journal(settings) == journal(once)


@contextmanager
def playing(found: Terminal, settings: Path) -> Iterator[None]:
    """A terminal that plays until the end of the block, whatever becomes of the daemon."""
    stop = threading.Event()
    with Connection(address(settings), CREDENTIAL) as connection:
        runner = Runner(found, connection)
        thread = threading.Thread(target=runner.run, args=(stop, lambda: False))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(LONG_S)


def acknowledged(found: Terminal) -> int:
    return sum(box.base - 1 for box in found.client.ticks.values())


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_a_daemon_that_is_killed_loses_nothing_and_tells_nothing_twice(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{kind}:///{tmp_path / 'events.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("place")
    settings = settings_of(tmp_path, url, durable=True, state={"snapshot_records": 300})
    ticks = walks("A", 2 * TICKS)
    log = tmp_path / "log.txt"
    for number, size in enumerate((900, 2_000)):
        with process(settings, log):  # killed while the database is behind the disk
            wait_until(lambda n=number: log.read_text().count("listening") > n)  # type: ignore[misc]
            play(
                terminal({"A": ticks["A"][:size]}, instance=number + 1),
                address(settings),
                linger_ms=0,
            )
    with Service(settings) as service:
        play(terminal(ticks, instance=3), address(settings))
        finish(service)
    assert journal(settings) == replayed(settings, archived(settings)), log.read_text()


@pytest.mark.parametrize("damage", ["no database", "torn", "no outbox"])
def test_what_is_missing_after_a_crash_is_made_again(damage: str, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, f"sqlite:///{tmp_path / 'events.db'}")
    ticks = walks("A", TICKS)
    with Service(settings) as service:
        play(terminal({"A": ticks["A"][:1_100]}), address(settings))
        finish(service)
    state = tmp_path / "state"
    snapshots = sorted(state.glob("*.state"), key=lambda path: int(path.stem.split("-")[1]))
    snapshots[-1].unlink()  # that of the clean end, which a crash does not leave
    made = sorted(state.glob("*.made"), key=lambda path: int(path.stem.split("-")[1]))
    if damage == "no database":
        (tmp_path / "events.db").unlink()
    for path in made:
        if damage == "no outbox":
            path.unlink()
        elif damage == "torn" and path.stat().st_size:
            last = path
    if damage == "torn":
        last.write_bytes(last.read_bytes()[:-3])
    with Service(settings) as service:
        play(terminal(ticks, instance=2), address(settings))
        finish(service)
    assert journal(settings) == replayed(settings, archived(settings))


def test_what_is_kept_beside_snapshots_is_bounded(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, f"sqlite:///{tmp_path / 'events.db'}")
    ticks = walks("A", 4_000)
    for number, size in enumerate((1_300, 2_700, 4_000)):
        with Service(settings) as service:
            play(terminal({"A": ticks["A"][:size]}, instance=number + 1), address(settings))
            finish(service)
    state = tmp_path / "state"
    assert len(list(state.glob("*.state"))) == 3
    assert 1 < len(list(state.glob("*.made"))) <= 6
    assert journal(settings) == replayed(settings, archived(settings))


def test_a_second_daemon_with_the_same_tables_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'events.db'}"
    first = settings_of(tmp_path / "first", url)
    second = settings_of(tmp_path / "second", url)
    with Service(first):
        command = [sys.executable, "-m", "cep", "daemon", "--config", str(second)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        check_database(url, "mt5cep_", durable=False)  # looking does no harm
    assert done.returncode == 2
    assert "another run uses the tables `mt5cep_..`" in done.stderr
    with Service(first) as service:
        assert rules_of(service).on_database.position == 0


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "postgresql"])
def test_a_tick_that_the_database_cannot_work_with_stops_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{kind}:///{tmp_path / 'events.db'}"
    if kind == "postgresql":
        url = request.getfixturevalue("place")
    settings = settings_of(tmp_path, url)
    ticks = walks("A", 900)
    for place in (100, 101, 500):
        ticks["A"]["bid"][place] = ticks["A"]["ask"][place] = 1e16
    with Service(settings) as service:
        play(terminal(ticks), address(settings))
        finish(service)
        whole = rules_of(service).on_database.passed_over
    assert whole == 3
    rows = [json.loads(line) for line in journal(settings).splitlines()]
    last = int(ticks["A"]["time_msc"][-1])
    assert rows[-1]["time_msc"] > last - 60_000, "what comes behind it is found"
    with Service(settings) as service:
        finish(service)
    assert [json.loads(line) for line in journal(settings).splitlines()] == rows


def said(folder: Path) -> set[Told]:
    """What the stored clock records say."""
    return {told(one) for one in read(folder / "spool") if one.kind is RecordKind.CLOCK}


def test_clock_records_in_the_spool_are_no_hindrance_to_a_start(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path,
        f"sqlite:///{tmp_path / 'events.db'}",
        state={"clock_every_ms": 10, "away_ms": 100},
    )
    ticks = walks("A", 100)
    with process(settings, tmp_path / "log.txt"):  # killed, with nothing but the first snapshot
        wait_until(lambda: "listening" in (tmp_path / "log.txt").read_text())
        play(terminal(ticks), address(settings), until=lambda: Told.COMPLETE in said(tmp_path))
    with Service(settings) as service:
        finish(service)
    assert Told.COMPLETE in said(tmp_path)
    assert journal(settings) == replayed(settings, archived(settings))


def test_a_database_that_hangs_does_not_keep_the_daemon(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "STOP_WAIT_S", 0.2)
    settings = settings_of(tmp_path, place)
    ticks = walks("A", 900)
    with Service(settings) as service:
        play(terminal({"A": ticks["A"][:500]}), address(settings))
        finish(service)
        other = connect(place)
        other.begin()
        other.fetch("SELECT run FROM mt5cep_progress FOR UPDATE")  # so that no batch ends
        play(terminal(ticks, instance=2), address(settings))
        wait_until(lambda: rules_of(service).spool.durable_ingest == 900)
    assert not service.thread.is_alive()
    other.rollback()
    other.close()
    wait_until(lambda: not rules_of(service).follower.is_alive)
    rules_of(service).on_database.close()
    with Service(settings) as service:
        finish(service)
    assert journal(settings) == replayed(settings, archived(settings))
