"""The order journal survives torn ends, damage and restarts."""

from __future__ import annotations

from errno import EIO, ENOSPC
from pathlib import Path
from zlib import crc32

import pytest

from mt5bridge.orders import OrderJournal, Syncer, read_book, read_journal
from mt5bridge.orders.records import (
    Dealt,
    Halted,
    Record,
    Refused,
    Sent,
    Terminal,
    Told,
    requested,
)
from mt5bridge.spool import Disk
from mt5bridge.wire import Halt, SignalStatus, encode
from tests.bridge.live import wait_until
from tests.durability.recording import Fault, recording
from tests.orders.desk import NOON_MSC, Office, order, result, signal

RECORDS: list[Record] = [
    Terminal("one", "1@Server", 1, ["EURUSD"]),
    requested(signal(2**63 - 1, lots=0.07), NOON_MSC),
    requested(order(5, price=1.234567890123), NOON_MSC, "one", "my id"),
    Sent(5, NOON_MSC, ["one"]),
    Told(NOON_MSC, "one", result(5, SignalStatus.EXECUTED, deal=2**64 - 1, text="tschüß")),
    Refused(9, NOON_MSC, "lots_per_order 1"),
    Halted(NOON_MSC, True, "news"),
    Dealt("1@Server", 2**64 - 1, 0, NOON_MSC, 7, "EURUSD", -0.1, -3.25, False),
]


def write(path: Path, records: list[Record]) -> None:
    journal = OrderJournal(path)
    for record in records:
        journal.add(record)
    journal.close()


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    write(tmp_path / "o.journal", RECORDS)
    assert read_journal(tmp_path / "o.journal").records == RECORDS
    journal = OrderJournal(tmp_path / "o.journal")
    assert journal.records == RECORDS
    journal.add(RECORDS[0])
    journal.close()
    assert read_journal(tmp_path / "o.journal").records == [*RECORDS, RECORDS[0]]


def test_nothing_added_makes_no_file(tmp_path: Path) -> None:
    write(tmp_path / "none" / "o.journal", [])
    assert not (tmp_path / "none").exists()
    assert read_journal(tmp_path / "none" / "o.journal").records == []


def test_every_torn_end_is_cut_back_to_whole_lines(tmp_path: Path) -> None:
    write(tmp_path / "whole", RECORDS)
    data = (tmp_path / "whole").read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    path = tmp_path / "torn"
    for size in sorted({*range(0, len(data), 11), *ends[:-1], *(end - 1 for end in ends)}):
        path.write_bytes(data[:size])
        whole = sum(end <= size for end in ends)
        journal = OrderJournal(path)
        assert journal.records == RECORDS[:whole]
        journal.add(RECORDS[-1])
        journal.close()
        assert read_journal(path).records == [*RECORDS[:whole], RECORDS[-1]]


def damage_of(found: list[Record]) -> str:
    """The reason of the halt that damage means, behind all other records."""
    last = found[-1]
    assert isinstance(last, Halted) and last.halted and last.time_msc == NOON_MSC
    return last.reason


@pytest.mark.parametrize("line", [0, 3, 6, 7])
def test_a_damaged_line_costs_that_line_only_and_the_file_is_kept(
    tmp_path: Path, line: int
) -> None:
    path = tmp_path / "o.journal"
    write(path, RECORDS)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b'"', b"'", 1)
    path.write_bytes(b"".join(lines))
    left = RECORDS[:line] + RECORDS[line + 1 :]
    assert read_journal(path).damaged_lines == [line + 1]
    found = OrderJournal(path).records
    assert found[:-1] == left and f"o.journal, line {line + 1}: " in damage_of(found)
    assert read_journal(path).records == found and not read_journal(path).damaged_lines
    assert (tmp_path / "o-1.journal").read_bytes() == b"".join(lines)
    OrderJournal(path)
    assert len(list(tmp_path.iterdir())) == 2


def test_each_damaged_file_is_kept_under_the_next_number(tmp_path: Path) -> None:
    path = tmp_path / "o.journal"
    for number in (1, 2, 3):
        path.write_bytes(b"rubbish %d\n" % number)
        OrderJournal(path)
        assert (tmp_path / f"o-{number}.journal").read_bytes() == b"rubbish %d\n" % number


def test_whatever_byte_of_a_halt_is_damaged_it_stays_a_halt(tmp_path: Path) -> None:
    """Also of the last line, its end too: only a line without an end may be torn."""
    path = tmp_path / "o.journal"
    for records in ([RECORDS[1], RECORDS[6]], [RECORDS[6], RECORDS[1]]):
        path.unlink(missing_ok=True)
        write(path, records)
        whole = path.read_bytes()
        line = whole.splitlines(keepends=True)[records.index(RECORDS[6])]
        first = whole.index(line)
        for at in range(first, first + len(line)):
            for bit in (0, 6):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
                book = read_book(path)
                assert book.halted is not None and book.halted.halted, (at, bit)
                assert "`mt5cep orders resume`" in book.halted.reason
                assert "line " in book.halted.reason


def test_many_damaged_lines_make_a_short_reason(tmp_path: Path) -> None:
    path = tmp_path / "o.journal"
    write(path, RECORDS)
    path.write_bytes(b"rubbish\n" * 5_000 + path.read_bytes())
    content = read_journal(path)
    assert content.records[:-1] == RECORDS and len(content.damaged_lines) == 5_000
    assert "line 1, 2, 3, ..:" in damage_of(content.records)
    assert len(encode(Halt(1, damage_of(content.records)))) < 300


@pytest.mark.parametrize("call", ["open", "write_at", "sync", "rename"])
def test_a_crash_while_damage_is_repaired_loses_nothing(tmp_path: Path, call: str) -> None:
    path = tmp_path / "o.journal"
    write(path, RECORDS)
    damaged = b"rubbish\n" + path.read_bytes()
    path.write_bytes(damaged)
    for step in (1, 2):  # the copy, then the journal without the damage
        with (
            recording(tmp_path, Fault(step, EIO, call)),
            pytest.raises(OSError, match=r"Input/output"),
        ):
            OrderJournal(path)
        assert path.read_bytes() == damaged
    assert OrderJournal(path).records[:-1] == RECORDS
    assert damaged in [kept.read_bytes() for kept in tmp_path.glob("o-*.journal")]


def test_a_line_that_fits_its_checksum_and_is_no_record_is_damage(tmp_path: Path) -> None:
    text = b'{"type":"asked","id":"five"}'
    (tmp_path / "o").write_bytes(b"%08x %s\n" % (crc32(text), text) * 2)
    content = read_journal(tmp_path / "o")
    assert content.damaged_lines == [1, 2]
    assert [type(record) for record in content.records] == [Halted]


def test_durable_is_what_a_sync_has_taken(tmp_path: Path) -> None:
    journal = OrderJournal(tmp_path / "o.journal")
    assert journal.add(RECORDS[0], RECORDS[1]) == 2 and journal.durable == 0
    journal.write()
    assert journal.durable == 0 and len(read_journal(journal.path).records) == 2
    journal.sync()
    assert journal.durable == 2
    journal.close()


@pytest.mark.parametrize("call", ["open", "sync_directory", "write_at", "sync"])
def test_a_disk_that_fails_makes_nothing_durable_and_loses_nothing(
    tmp_path: Path, call: str
) -> None:
    with recording(tmp_path, Fault(1, ENOSPC, call, "o.journal" * (call != "sync_directory"))):
        journal = OrderJournal(tmp_path / "o.journal")
        journal.add(*RECORDS[:3])
        with pytest.raises(OSError, match=r"No space.*o\.journal"):
            journal.sync()
        assert journal.durable == 0 and journal.added.is_set()
        journal.sync()
        assert journal.durable == 3
        journal.close()
    assert read_journal(journal.path).records == RECORDS[:3]


class Watched(Disk):
    """Notes where was written and what is open; with `errno`, the next sync fails so."""

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.files: set[int] = set()
        self.errno = 0

    def open(self, path: Path) -> int:
        file = super().open(path)
        self.files.add(file)
        return file

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        self.offsets.append(offset)
        super().write_at(file, data, offset)

    def sync(self, file: int) -> None:
        errno, self.errno = self.errno, 0
        if errno:
            raise OSError(errno, "a fault")
        super().sync(file)

    def close(self, file: int) -> None:
        super().close(file)
        self.files.remove(file)


def test_only_what_no_sync_has_taken_is_written_again(tmp_path: Path) -> None:
    disk = Watched()
    journal = OrderJournal(tmp_path / "o.journal", disk)
    journal.add(RECORDS[0])
    journal.sync()
    first_bytes = journal.path.stat().st_size
    journal.add(RECORDS[1])
    disk.errno = ENOSPC
    with pytest.raises(OSError, match="a fault"):
        journal.sync()
    assert disk.files
    journal.close()
    assert disk.offsets == [0, first_bytes, first_bytes] and not disk.files
    assert read_journal(journal.path).records == RECORDS[:2]


def test_after_a_fault_of_the_disk_nothing_more_is_written(tmp_path: Path) -> None:
    """The system may have forgotten what it was to write, and a sync would not tell."""
    disk = Watched()
    journal = OrderJournal(tmp_path / "o.journal", disk)
    journal.add(RECORDS[0])
    disk.errno = EIO
    for act in (journal.sync, journal.write, journal.sync, journal.close):
        with pytest.raises(OSError, match="a fault"):
            act()
    assert disk.offsets == [0] and journal.durable == 0 and not disk.files


def test_nobody_is_told_of_a_sync_that_failed(tmp_path: Path) -> None:
    disk = Watched()
    synced: list[int] = []
    journal = OrderJournal(tmp_path / "o.journal", disk)
    syncer = Syncer(journal, lambda: synced.append(journal.durable))
    journal.add(RECORDS[0])
    disk.errno = ENOSPC
    assert not syncer.sync() and synced == []
    assert syncer.sync() and synced == [1]
    journal.close()


def test_what_somebody_waits_for_goes_to_the_disk_at_once(tmp_path: Path) -> None:
    """The rest is gathered for a moment."""
    office = Office(tmp_path / "o.journal")
    journal = office.journal
    office.ask(signal(1))
    assert not journal.added.is_set(), "nobody is woken before it is on its way to the terminal"
    journal.announce()
    assert journal.added.is_set() and not journal.awaited.is_set()
    office.ask(order(2), durable=True)
    assert journal.awaited.is_set()
    journal.sync()
    journal.announce()
    assert not journal.awaited.is_set() and not journal.added.is_set()


def test_a_thread_syncs_whatever_is_added(tmp_path: Path) -> None:
    journal = OrderJournal(tmp_path / "o.journal")
    synced: list[int] = []
    syncer = Syncer(journal, lambda: synced.append(journal.durable))
    syncer.start()
    for number, record in enumerate(RECORDS, 1):
        journal.add(record)
        journal.announce()
        wait_until(lambda number=number: journal.durable == number)  # type: ignore[misc]
    journal.add(RECORDS[0])
    syncer.stop()
    journal.close()
    assert synced[-1] == len(RECORDS) + 1
    assert read_journal(journal.path).records == [*RECORDS, RECORDS[0]]
