"""Snapshots are exact at any record; what does not fit or is damaged is not used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.native import Compiled, Run
from cep.engine.snapshot import SnapshotError, restore, take
from cep.live.checkpoints import KEPT, Checkpoints
from cep.plan import compile_rules
from mt5bridge.records import Records
from tests.campaign import examples
from tests.live.service import RULES, STREAMS, walks
from tests.waiting import LONG_S

NAMES = "ABCDE"
COMPILED = Compiled(compile_rules(RULES, "live.cep"), outputs=STREAMS)


def mixed(count: int, seed: int) -> list[tuple[str, Records]]:
    """Ticks of several symbols, batch by batch, times going on; new symbols come late."""
    ticks = walks(NAMES, count, seed)
    size = 7
    return [
        (name, ticks[name][at : at + size])
        for at in range(0, count, size)
        for number, name in enumerate(NAMES)
        if at >= number * count // 8
    ]


def feed(run: Run, batches: list[tuple[str, Records]]) -> list[bytes]:
    found: list[bytes] = []
    for name, ticks in batches:
        columns = {"symbol": [name] * len(ticks), "bid": ticks["bid"], "ask": ticks["ask"]}
        found += run.push("Tick", columns, ticks["time_msc"]).json_lines()
        if len(found) % 3 == 0:
            deal = {"symbol": name, "magic": 77, "side": "buy", "lots": 0.1}
            found += run.push_row("Deal", int(ticks["time_msc"][-1]), deal).json_lines()
    return found


@settings(max_examples=examples(25))
@given(st.integers(0, 2**32), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_a_run_restored_anywhere_goes_on_as_if_nothing_had_happened(
    seed: int, places: list[float]
) -> None:
    batches = mixed(210, seed)
    whole = COMPILED.start()
    run, at = COMPILED.start(), 0
    expected, found = feed_each(whole, batches), []
    for place in sorted(int(place * len(batches)) for place in places):
        found += feed_each(run, batches[at:place])
        run, at = restore(COMPILED, take(run)), place
    found += feed_each(run, batches[at:])
    assert found == expected
    assert run.keys == whole.keys
    assert run.dropped == whole.dropped
    assert run.next_order == whole.next_order


def feed_each(run: Run, batches: list[tuple[str, Records]]) -> list[bytes]:
    """Like `feed`, with deals placed by the batch alone and not by what was found before."""
    return [line for batch in batches for line in feed(run, [batch])]


def test_snapshots_of_equal_states_are_equal() -> None:
    batches = mixed(140, 3)
    run = COMPILED.start()
    feed_each(run, batches)
    assert take(restore(COMPILED, take(run))) == take(run)


CONTINUE = """
import sys
from pathlib import Path
from cep.engine.snapshot import restore
from tests.live.test_snapshots import COMPILED, feed_each, mixed
run = restore(COMPILED, Path(sys.argv[1]).read_bytes())
sys.stdout.buffer.write(b"\\n".join(feed_each(run, mixed(350, 5)[60:])))
"""


def test_another_process_goes_on_with_it(tmp_path: Path) -> None:
    batches = mixed(350, 5)
    run = COMPILED.start()
    feed_each(run, batches[:60])
    (tmp_path / "run.state").write_bytes(take(run))
    done = subprocess.run(
        [sys.executable, "-c", CONTINUE, str(tmp_path / "run.state")],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
        timeout=LONG_S,
    )
    rest = feed_each(run, batches[60:])
    assert len(rest) > 20
    assert done.stdout == b"\n".join(rest)


def test_other_rules_are_refused() -> None:
    other = Compiled(compile_rules(RULES.replace("20 sec", "21 sec"), "other.cep"))
    with pytest.raises(SnapshotError, match="other rules"):
        restore(other, take(COMPILED.start()))


@settings(max_examples=examples(40))
@given(st.data())
def test_a_damaged_snapshot_is_refused_or_the_same(data: st.DataObject) -> None:
    run = COMPILED.start()
    feed_each(run, mixed(35, 1))
    whole = take(run)
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    if data.draw(st.booleans()):
        damaged[at] ^= data.draw(st.integers(1, 255))
    else:
        del damaged[at:]
    try:
        restored = restore(COMPILED, bytes(damaged))
    except SnapshotError:
        return
    assert take(restored) == whole


def filled(folder: Path, spool: str, ingests: list[int]) -> Checkpoints:
    checkpoints = Checkpoints(folder, spool)
    run = COMPILED.start()
    for ingest in ingests:
        run.next_order = ingest + 1
        checkpoints.take(run, ingest, 10 * ingest)
    checkpoints.save(max(ingests), lambda: None)
    return checkpoints


def test_the_newest_few_are_kept_and_the_newest_is_used(tmp_path: Path) -> None:
    checkpoints = filled(tmp_path, "spool", [5, 9, 10, 11, 100])
    assert len(list(tmp_path.iterdir())) == KEPT
    found = checkpoints.load(COMPILED, 100)
    assert found is not None
    assert (found.ingest, found.journal_bytes, found.run.next_order) == (100, 1000, 101)


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    checkpoints = filled(tmp_path, "spool", [5])
    for name in ("spool-copy-7.state", "spool-9-copy.state"):
        (tmp_path / name).write_bytes(b"a user's own")
    found = checkpoints.load(COMPILED, 100)
    assert found is not None and found.ingest == 5


def test_nothing_is_saved_before_it_is_durable_nor_before_the_journal(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, "spool")
    checkpoints.take(COMPILED.start(), 7, 0)
    checkpoints.save(6, lambda: None)
    assert list(tmp_path.iterdir()) == []
    seen: list[int] = []
    checkpoints.save(7, lambda: seen.append(len(list(tmp_path.iterdir()))))
    assert seen == [0]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_journal_that_cannot_be_synced_costs_the_snapshot_only(tmp_path: Path) -> None:
    def broken() -> None:
        raise OSError(5, "no disk")

    checkpoints = Checkpoints(tmp_path, "spool")
    checkpoints.take(COMPILED.start(), 7, 0)
    checkpoints.save(7, broken)
    assert list(tmp_path.iterdir()) == []


def test_one_ahead_of_the_spool_is_never_used_again(tmp_path: Path) -> None:
    checkpoints = filled(tmp_path, "spool", [5, 9])
    found = checkpoints.load(COMPILED, 8)
    assert found is not None and found.ingest == 5
    # Other records get the numbers 6 to 9 now; the state after the old ones must be gone.
    later = checkpoints.load(COMPILED, 20)
    assert later is not None and later.ingest == 5


def test_a_damaged_one_falls_back_to_an_older_one(tmp_path: Path) -> None:
    checkpoints = filled(tmp_path, "spool", [5, 9])
    newest = max(tmp_path.iterdir(), key=lambda path: int(path.stem.split("-")[1]))
    newest.write_bytes(newest.read_bytes()[:-40])
    found = checkpoints.load(COMPILED, 9)
    assert found is not None and found.ingest == 5


def test_those_of_another_spool_or_other_rules_are_not_used(tmp_path: Path) -> None:
    filled(tmp_path, "spool", [5])
    assert Checkpoints(tmp_path, "other").load(COMPILED, 9) is None
    other = Compiled(compile_rules(RULES.replace("20 sec", "21 sec"), "other.cep"))
    assert Checkpoints(tmp_path, "spool").load(other, 9) is None
    assert Checkpoints(tmp_path / "none", "spool").load(COMPILED, 9) is None


def test_a_snapshot_of_half_a_batch_is_that_of_the_records_in_it() -> None:
    """Where a batch is cut does not show in the state."""
    ((name, ticks), *_) = mixed(70, 2)
    whole, halves = COMPILED.start(), COMPILED.start()
    feed_each(whole, [(name, ticks)])
    columns = {"symbol": [name] * len(ticks), "bid": ticks["bid"], "ask": ticks["ask"]}
    cut = {key: np.asarray(values)[:3].tolist() for key, values in columns.items()}
    rest = {key: np.asarray(values)[3:].tolist() for key, values in columns.items()}
    halves.push("Tick", cut, ticks["time_msc"][:3])
    halves.push("Tick", rest, ticks["time_msc"][3:])
    whole_again = COMPILED.start()
    whole_again.push("Tick", columns, ticks["time_msc"])
    assert take(halves) == take(whole_again)
