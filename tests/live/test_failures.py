"""A daemon whose disk is full or fails, or one of whose threads ends: nobody is told an untruth."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from cep import daemon as daemon_module
from cep.archive import ArchiveError
from cep.cli import main
from cep.daemon import Daemon, DaemonFailedError
from cep.live.config import Config, read_config
from cep.live.health import notices
from cep.live.outgoing import Outgoing
from cep.live.specifications import Specifications
from cep.live.status_file import StatusFile, status_path
from mt5bridge.client import Connection
from mt5bridge.clock import Now, now_msc
from mt5bridge.orders import read_book
from mt5bridge.orders.records import Halted
from mt5bridge.server import DEALS, Server, Settings, Sink, Trader
from mt5bridge.server.status import Status, read_status, running_status, write_status
from mt5bridge.simulator import Runner, Terminal
from mt5bridge.spool import Durable, read
from mt5bridge.troubles import Effect, Trouble, Troubles
from mt5bridge.wire import TradeMode
from tests.credentials import CREDENTIAL, PASSWORDS
from tests.durability.recording import Fault, RecordingDisk, recording
from tests.live.service import (
    Service,
    address,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)

SEEN = """define stream Tick (symbol string, bid double);
from Tick select symbol, bid insert into Seen;
"""
ALWAYS = 1 << 60


def settings_of(folder: Path, **sections: dict[str, Any]) -> Path:
    """A daemon whose rules make one row of each tick."""
    rules = {"streams": ["Seen"], "numba": False}
    path = write_settings(folder, {"rules": rules, "signals": {"send": False}, **sections})
    (folder / "rules.cep").write_text(SEEN, encoding="utf-8")
    return path


@contextmanager
def talking(settings: Path, ticks: int) -> Iterator[tuple[Service, Terminal, Runner]]:
    """A daemon that runs, and a terminal that has sent nothing yet."""
    found = terminal(walks("A", ticks))
    with Service(settings) as service, Connection(address(settings), CREDENTIAL) as connection:
        yield service, found, Runner(found, connection)


def troubles_of(settings: Path) -> list[Trouble]:
    status = status_of(settings)
    return status.troubles if status else []


def assert_each_once(folder: Path, ticks: int, *symbols: str) -> None:
    """Every tick is stored once and has made one row: what was refused ran through no rule."""
    groups = list(read(folder / "spool"))
    for symbol in symbols:
        own = [group for group in groups if group.stream == ("ticks", symbol)]
        numbers = [n for g in own for n in range(g.sequence, g.last_sequence + 1)]
        assert numbers == list(range(1, ticks + 1))
    lines = (folder / "state" / "events.jsonl").read_bytes().splitlines()
    assert len(lines) == ticks * len(symbols)


@pytest.mark.parametrize(
    ("path", "where"), [("segment-", "spool"), ("events.jsonl", "state/events.jsonl")]
)
def test_without_room_nothing_is_taken_until_there_is_some(
    tmp_path: Path, path: str, where: str
) -> None:
    settings = settings_of(tmp_path)
    late = terminal(walks("B", 200), identity="late", instance=2)
    with (
        recording(tmp_path) as disk,
        talking(settings, 200) as (service, found, runner),
        Connection(address(settings), CREDENTIAL) as line,
    ):
        disk.arm(Fault(1, errno.ENOSPC, "write_at", path, ALWAYS))
        wait_until(lambda: (runner.step(), bool(troubles_of(settings)))[1])
        later = Runner(late, line)
        wait_until(lambda: (later.step(), service.counters.get("refused", 0) > 2)[1])
        (told,) = troubles_of(settings)
        assert "No space left" in told.text and now_msc() >= told.since_msc
        assert (told.name, told.effect) == (str(tmp_path / where), Effect.WAITS)
        assert not late.finished
        disk.arm(None)
        wait_until(lambda: (runner.step(), later.step(), found.finished and late.finished)[2])
        wait_until(lambda: not troubles_of(settings))
    assert service.failure is None
    assert not [text for text in disk.mistakes if "events.jsonl" not in text]
    assert_each_once(tmp_path, 200, "A", "B")


FAILING = [
    ("spool sync", "sync", "segment-"),
    ("spool write", "write_at", "segment-"),
    ("new segment", "sync_directory", "/spool"),
    ("rows", "write_at", "events.jsonl"),
    ("specifications", "sync", "specifications.jsonl"),
    ("rows sync", "sync", "events.jsonl"),
    ("snapshot", "sync", ".state"),
]


@pytest.mark.parametrize(
    ("call", "path"), [(c, p) for _, c, p in FAILING], ids=[name for name, _, _ in FAILING]
)
def test_when_the_disk_fails_the_daemon_ends_and_says_why(
    tmp_path: Path, call: str, path: str
) -> None:
    settings = settings_of(tmp_path, state={"snapshot_records": 50, "clock_every_ms": 0})
    with recording(tmp_path) as disk:
        with talking(settings, 400) as (service, found, runner):
            disk.arm(Fault(1, errno.EIO, call, path))
            wait_until(lambda: (runner.step(), not service.thread.is_alive())[1])
        told = service.server.terminals.sessions["demo"].streams
        durable = max(stream.durable.sequence for stream in told.values())
        assert isinstance(service.failure, DaemonFailedError)
        assert "Input/output error" in str(service.failure)
        (why,) = [one for one in troubles_of(settings) if one.effect is Effect.ENDS][:1]
        assert "Input/output error" in why.text
        assert running_status(status_path(read_config(settings)), now_msc()) is None
        image = disk.lose_power(tmp_path.with_name(f"{tmp_path.name}-image"))
        stored = [group.last_sequence for group in read(image / "spool")]
        assert max(stored, default=0) >= durable, "what was acknowledged is on disk"
        disk.arm(None)
        with Service(settings), Connection(address(settings), CREDENTIAL) as connection:
            again = Runner(found, connection)
            wait_until(lambda: (again.step(), found.finished)[1])
    assert_each_once(tmp_path, 400, "A")
    assert status_of(settings) is None, "a daemon that ends well leaves no status"


class Acks:
    """A server that notes what it is to acknowledge."""

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[str, ...], int]] = []

    def acknowledge(self, *what: Any) -> None:
        self.told.append(what)


def with_deals(config: Config, disk: RecordingDisk) -> tuple[Daemon, Acks]:
    """A daemon that deals have come to; the order journal does not have them on disk yet."""
    daemon, acks = Daemon(config), Acks()
    daemon.outgoing = Outgoing(config, lambda _row: None, list, daemon.troubles)
    daemon.server = acks  # type: ignore[assignment]
    daemon.specifications = Specifications(config.spool.folder, 1)
    daemon.outgoing._stored_first = daemon.outgoing.journal.add(Halted(1, False, "a deal"))
    return daemon, acks


@pytest.mark.parametrize("call", ["open", "write_at", "sync", "sync_directory"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EMFILE, errno.EIO])
def test_deals_are_stored_when_the_order_journal_has_them(
    tmp_path: Path, call: str, error: int
) -> None:
    """Else a loss of power left deals that nobody sends again, and the guard would not know."""
    config = read_config(settings_of(tmp_path))
    with recording(tmp_path) as disk:
        daemon, _ = with_deals(config, disk)
        disk.arm(Fault(1, error, call))
        assert not daemon._before_storing() and daemon.troubles.stops
        assert daemon._before_storing() is (error != errno.EIO)
        journal = daemon.outgoing.journal
        assert (journal.durable == journal.last) is (error != errno.EIO)
        assert (daemon.troubles.end is None) is (error != errno.EIO)


@pytest.mark.parametrize("error", [0, errno.ENOSPC])
def test_who_trades_is_known_before_records_are_stored(tmp_path: Path, error: int) -> None:
    """Else a restart would run these again, and find nobody to send their signals to."""
    config = read_config(settings_of(tmp_path))
    with recording(tmp_path) as disk:
        daemon, _ = with_deals(config, disk)
        daemon.outgoing.journal.sync()
        daemon.outgoing.listen(daemon.sink)
        assert daemon._before_storing()
        daemon.sink.tell_trader(Trader("demo", "1@Server", TradeMode.LIVE, ("EURUSD",)))
        journal = daemon.outgoing.journal
        assert journal.durable < journal.last
        disk.arm(Fault(1, error, "sync") if error else None)
        assert daemon._before_storing() is (not error)
        assert (journal.durable == journal.last) is (not error)
        assert daemon._before_storing() and journal.durable == journal.last
        book = read_book(journal.path)
        assert list(book.terminals) == ["demo"]


def test_a_failure_elsewhere_stops_acknowledgements_until_it_is_over(tmp_path: Path) -> None:
    config = read_config(settings_of(tmp_path))
    with recording(tmp_path) as disk:
        daemon, acks = with_deals(config, disk)
        daemon.troubles.report("events.jsonl", "no room", Effect.WAITS)
        daemon._on_durable(Durable(2, {("demo", DEALS): 2}))
        daemon._after_commit()
        assert acks.told == []
        daemon.troubles.clear("events.jsonl")
        daemon._after_commit()
        assert acks.told == [("demo", DEALS, 2)]


def test_an_archive_that_cannot_be_written_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(tmp_path, archive={"folder": "archive", "every_seconds": 1})
    calls: Counter[str] = Counter()
    problems: list[Exception] = [ArchiveError("damaged"), OSError(errno.EIO, "broken")]

    def ingest(*_arguments: object) -> None:
        calls["all"] += 1
        if problems:
            raise problems[0]

    monkeypatch.setattr(daemon_module, "ingest_spool", ingest)
    with talking(settings, 100) as (service, found, runner):
        wait_until(lambda: [one.name for one in troubles_of(settings)] == ["archive"])
        (told,) = troubles_of(settings)
        assert (told.text, told.effect) == ("ArchiveError: damaged", Effect.GOES_ON)
        wait_until(lambda: (runner.step(), found.finished)[1])
        problems.clear()
        wait_until(lambda: not troubles_of(settings))
    assert service.failure is None and calls["all"] > 1


def test_a_thread_that_ends_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(tmp_path, archive={"folder": "archive", "every_seconds": 1})

    def ingest(*_arguments: object) -> None:
        raise KeyError("nobody has thought of this")

    monkeypatch.setattr(daemon_module, "ingest_spool", ingest)
    with talking(settings, 10) as (service, _found, _runner):
        wait_until(lambda: not service.thread.is_alive())
    assert isinstance(service.failure, DaemonFailedError)
    assert "archive thread: KeyError: 'nobody has thought of this'" in str(service.failure)
    (why,) = troubles_of(settings)
    assert why.effect is Effect.ENDS


def test_the_exit_code_tells_that_a_disk_has_failed(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with recording(tmp_path, Fault(1, errno.EROFS, "sync", ".rules")):
        done = CliRunner().invoke(main, ["daemon", "--config", str(settings)])
    assert done.exit_code == 3
    assert "Read-only file system" in done.output and "start the daemon again" in done.output


# -- status ------------------------------------------------------------------------------------


def test_the_status_tells_of_requests_that_the_journal_does_not_know() -> None:
    status = Status(program="p", version="1", pid=1, bind="b", since_msc=0, written_msc=5)
    assert notices(status) == []
    (told,) = notices(msgspec.structs.replace(status, unremembered=1))
    assert told == "1 request executed that the order journal does not know: `mt5cep orders ls`"


def test_a_full_disk_has_room_to_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "status.json"
    status = Status(program="p", version="1", pid=1, bind="b", since_msc=0, written_msc=5)
    write_status(path, status)

    def full(_path: Path, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    trouble = Trouble("spool", "No space left on device", Effect.WAITS, 4)
    told = msgspec.structs.replace(status, written_msc=6, troubles=[trouble])
    write_status(path, told)
    assert read_status(path) == told
    before = path.read_bytes()
    with pytest.raises(OSError, match="No space"):
        write_status(path, msgspec.structs.replace(told, complaints=["x" * 4_000]))
    assert path.read_bytes() == before


def test_a_status_that_cannot_be_written_disturbs_nothing(tmp_path: Path) -> None:
    config = read_config(settings_of(tmp_path))
    status_path(config).mkdir(parents=True)
    troubles = Troubles()
    with Server(Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), Sink()) as server:
        standing = StatusFile(config, server, troubles)
        standing.look(Now(0, 0))
        standing.end()
    assert [(one.name, one.effect) for one in troubles] == [
        (str(status_path(config)), Effect.GOES_ON)
    ]
    assert not troubles.stops


def test_a_start_with_a_disk_that_fails_locks_nothing(tmp_path: Path) -> None:
    config = read_config(settings_of(tmp_path))
    for error in (errno.EIO, errno.ENOSPC):
        with (
            recording(tmp_path, Fault(1, error, "sync_directory")),
            pytest.raises(DaemonFailedError, match=r"disk: \[Errno"),
        ):
            Daemon(config).run(Event())
