"""Crashes: cut at any byte, flipped bits, and a real process killed while it writes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt5bridge.spool import Group, SegmentState, Spool, list_segments, read
from tests.campaign import examples
from tests.spool.groups import START_MSC, deal_group, same, tick_group
from tests.waiting import LONG_S

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Written:
    """A spool directory and what was promised about it."""

    directory: Path
    groups: list[Group] = field(default_factory=list)
    acknowledged: int = 0
    durable_bytes: int = 0


actions = st.lists(
    st.one_of(st.integers(1, 4).map(lambda n: ("append", n)), st.just(("commit", 0))),
    min_size=1,
    max_size=12,
)


def write(directory: Path, script: list[tuple[str, int]], segment_bytes: int) -> Written:
    """Run `script` and leave the directory as a crash right after it would."""
    written = Written(directory)
    spool = Spool(directory / "live", segment_bytes=segment_bytes)
    spool.recover()
    sequence = 1
    for action, count in script:
        if action == "append":
            group = tick_group(spool, "EURUSD", sequence, START_MSC + np.arange(count))
            assert spool.append(group)
            written.groups.append(group)
            sequence += count
        else:
            spool.commit()
            written.acknowledged = len(written.groups)
    written.directory = Path(shutil.copytree(directory / "live", directory / "crashed"))
    spool.close()
    return written


def found_after_recovery(written: Written) -> list[Group]:
    spool = Spool(written.directory)
    recovery = spool.recover()
    groups = list(spool.read())
    spool.close()
    if groups:
        assert recovery.last_ingest >= groups[-1].last_ingest
        state = recovery.streams["terminal", ("ticks", "EURUSD")]
        assert state.sequence == groups[-1].last_sequence
    return groups


def assert_same(found: list[Group], expected: list[Group]) -> None:
    assert [group.ingest for group in found] == [group.ingest for group in expected]
    assert all(same(a, b) for a, b in zip(found, expected, strict=True))


def in_temporary_directory(check: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        check(Path(directory))


@settings(deadline=None, max_examples=examples(60))
@given(script=actions, segment_bytes=st.sampled_from([1, 600, 1 << 20]))
def test_acknowledged_groups_survive(script: list[tuple[str, int]], segment_bytes: int) -> None:
    def check(directory: Path) -> None:
        written = write(directory, script, segment_bytes)
        assert_same(found_after_recovery(written), written.groups[: written.acknowledged])

    in_temporary_directory(check)


@settings(deadline=None, max_examples=examples(80))
@given(script=actions, extra=st.integers(1, 3), data=st.data())
def test_a_torn_write_costs_only_what_was_not_acknowledged(
    script: list[tuple[str, int]], extra: int, data: st.DataObject
) -> None:
    """The last write reached the disk in part: any prefix, perhaps with wrong bytes in it."""

    def check(directory: Path) -> None:
        before = write(directory / "a", [*script, ("commit", 0)], 1 << 20)
        after = write(directory / "b", [*script, ("commit", 0), ("append", extra), ("commit", 0)],
                      1 << 20)  # fmt: skip
        newest = list_segments(after.directory)[-1].path
        older = list_segments(before.directory)
        durable = older[-1].size_bytes if older else 0
        content = bytearray(newest.read_bytes())
        cut = data.draw(st.integers(durable, len(content)))
        for place in data.draw(st.lists(st.integers(durable, len(content) - 1), max_size=3)):
            content[place] ^= 0x55
        newest.write_bytes(content[:cut])
        found = found_after_recovery(after)
        assert len(found) >= len(before.groups)
        assert_same(found, after.groups[: len(found)])

    in_temporary_directory(check)


@settings(deadline=None, max_examples=examples(80))
@given(script=actions, segment_bytes=st.sampled_from([1, 600, 1 << 20]), data=st.data())
def test_flipped_bits_never_make_wrong_records(
    script: list[tuple[str, int]], segment_bytes: int, data: st.DataObject
) -> None:
    def check(directory: Path) -> None:
        written = write(directory, [*script, ("append", 1), ("commit", 0)], segment_bytes)
        segments = list_segments(written.directory)
        victim = data.draw(st.sampled_from(segments)).path
        content = bytearray(victim.read_bytes())
        bit = data.draw(st.integers(0, len(content) * 8 - 1))
        content[bit // 8] ^= 1 << (bit % 8)
        victim.write_bytes(content)
        known = {group.ingest: group for group in written.groups}
        found = list_after_recovery(written.directory)
        assert all(same(group, known[group.ingest]) for group in found)
        assert [group.ingest for group in found] == sorted(group.ingest for group in found)
        assert len(found) >= len(written.groups) - groups_of_last_commit(script) - 1

    in_temporary_directory(check)


def list_after_recovery(directory: Path) -> list[Group]:
    spool = Spool(directory)
    spool.recover()
    spool.close()
    return list(read(directory))


def groups_of_last_commit(script: list[tuple[str, int]]) -> int:
    """How many groups share the commit that ends `script` and one appended group."""
    pending = 1
    for action, _ in reversed(script):
        if action == "commit":
            break
        pending += 1
    return pending


def test_bit_rot_in_acknowledged_data_is_named_and_stepped_over(tmp_path: Path) -> None:
    written = write(tmp_path, [("append", 2), ("commit", 0)] * 4, 1 << 20)
    path = list_segments(written.directory)[0].path
    content = bytearray(path.read_bytes())
    place = content.index(written.groups[1].records.tobytes())
    content[place] ^= 1
    path.write_bytes(content)
    spool = Spool(written.directory)
    recovery = spool.recover()
    spool.close()
    assert [(name.name, bad.offset <= place < bad.end) for name, bad in recovery.damages] == [
        (path.name, True)
    ]
    assert [group.ingest for group in read(written.directory)] == [1, 5, 7]


def test_numbers_that_were_cut_off_are_not_given_out_again(tmp_path: Path) -> None:
    written = write(tmp_path, [("append", 1), ("commit", 0), ("append", 2), ("append", 3),
                               ("commit", 0)], 1 << 20)  # fmt: skip
    path = list_segments(written.directory)[0].path
    content = bytearray(path.read_bytes())
    content[content.index(written.groups[1].records.tobytes())] ^= 1
    path.write_bytes(content)
    spool = Spool(written.directory)
    spool.recover()
    assert spool.next_ingest == 7
    assert [group.ingest for group in spool.read()] == [1]
    assert list(written.directory.glob("*.cut"))
    spool.append(deal_group(spool, 1, [1]))
    spool.close()
    assert [group.ingest for group in read(written.directory)] == [1, 7]


def test_a_crash_between_creating_and_filling_a_segment(tmp_path: Path) -> None:
    written = write(tmp_path, [("append", 1), ("commit", 0)], 1)
    for size in (0, 5, 16, 40):
        (written.directory / "segment-0000000002.open").write_bytes(b"\0" * size)
        assert len(found_after_recovery(written)) == 1
    assert [s.state for s in list_segments(written.directory)] == [SegmentState.SEALED]


WRITER = """
import sys
from pathlib import Path
import numpy as np
from mt5bridge.spool import CommitThread, Spool
from tests.spool.groups import START_MSC, tick_group

def tell(durable):
    print(durable.ingest, flush=True)

spool = Spool(Path(sys.argv[1]), segment_bytes=200_000, pending_bytes_max=100_000, on_durable=tell)
spool.recover()
state = spool.recovered.streams.get(("terminal", ("ticks", "EURUSD")))
sequence = state.sequence + 1 if state else 1
thread = CommitThread(spool, clock_ms=lambda: 0)
thread.start()
while True:
    if spool.append(tick_group(spool, "EURUSD", sequence, START_MSC + np.arange(50))):
        sequence += 50
"""


@pytest.mark.parametrize("acknowledgements", [1, 7, 60])
def test_a_killed_writer_loses_nothing_it_acknowledged(
    tmp_path: Path, acknowledgements: int
) -> None:
    promised = 0
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        lines = [int(process.stdout.readline()) for _ in range(acknowledgements)]
        process.kill()
        rest = [int(line) for line in process.stdout.read().split(b"\n")[:-1]]
        process.stdout.close()
        process.wait(LONG_S)
        promised = max(promised, *lines, *rest)
        spool = Spool(tmp_path)
        last = spool.recover().last_ingest
        assert last >= promised
        sequences = [group.sequence for group in spool.read()]
        assert sequences == list(range(1, last + 1, 50))
        spool.close()
