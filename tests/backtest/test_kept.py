"""Parts that are kept from run to run: the rows of a whole run, from what is new alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cep.archive import Archive, import_history
from cep.backtest.processes import Sharing, in_processes
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.plan import compile_rules
from mt5bridge.history import TickBlock
from tests.backtest.archives import DAY_MS, START_MSC, walk
from tests.backtest.rules import TICK
from tests.backtest.test_by_time import EVENTS
from tests.backtest.test_programs_apart import PROGRAMS, Placed, placed

MIDNIGHT_MSC = START_MSC // DAY_MS * DAY_MS
RULES = {
    "events": EVENTS.format(every="every ", repeat="repeat refresh"),
    "turns": EVENTS.format(every="", repeat="repeat allow"),
    "candles": PROGRAMS["candles"],
}


def grown(archive: Archive, day: int) -> None:
    """Another day, through which ticks come from midnight to midnight."""
    random = np.random.default_rng(day)
    ticks = walk(random, MIDNIGHT_MSC + day * DAY_MS, DAY_MS - 1, 300)
    ticks["time_msc"].sort()
    import_history(archive, [TickBlock("EURUSD", ticks)])


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    found = Archive(tmp_path / "archive")
    for day in range(3):
        grown(found, day)
    return found


def rules_of(name: str) -> Compiled:
    return Compiled(compile_rules(TICK + RULES[name]), jit=False)


class Night:
    """Runs with one folder: what each says, and how many records it has read for its rows."""

    def __init__(self, archive: Archive, folder: Path) -> None:
        self.archive, self.folder = archive, folder

    def run(self, rules: Compiled) -> str:
        """A run whose rows are those of a whole one; what it says of what was kept."""
        selection = select(self.archive, rules.plan)
        told, dropped = list[str](), list[Dropped]()
        sharing = Sharing(kept=self.folder, tell=told.append)
        rows: list[Placed] = placed(in_processes(rules, selection, sharing, ended=dropped.append))
        assert rows
        assert rows == placed(sequential(rules, selection, ended=dropped.append))
        assert dropped[0] == dropped[1]
        return told[0]


@pytest.mark.parametrize("name", RULES)
def test_only_the_new_day_is_run(archive: Archive, tmp_path: Path, name: str) -> None:
    rules, night = rules_of(name), Night(archive, tmp_path / "kept")
    assert night.run(rules) == "0 of 4 parts were kept, 4 run", "three days, and what follows them"
    assert night.run(rules) == "4 of 4 parts were kept, 0 run"
    grown(archive, 3)
    assert night.run(rules) == "3 of 5 parts were kept, 2 run", "the day, and what follows it"


def test_other_rules_have_nothing_kept(archive: Archive, tmp_path: Path) -> None:
    night = Night(archive, tmp_path / "kept")
    night.run(rules_of("events"))
    assert night.run(rules_of("turns")) == "0 of 4 parts were kept, 4 run"


def test_what_another_version_kept_is_not_taken(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    night = Night(archive, tmp_path / "kept")
    night.run(rules_of("events"))
    monkeypatch.setattr("cep.backtest.kept.code_hash", lambda: "another")
    assert night.run(rules_of("events")) == "0 of 4 parts were kept, 4 run"


def test_days_of_changed_files_are_run_again(archive: Archive, tmp_path: Path) -> None:
    night, other = Night(archive, tmp_path / "kept"), Archive(tmp_path / "other")
    night.run(rules_of("events"))
    for day in (0, 7, 2):
        random = np.random.default_rng(day)
        at = {0: 0, 7: 1, 2: 2}[day]
        ticks = walk(random, MIDNIGHT_MSC + at * DAY_MS, DAY_MS - 1, 300)
        ticks["time_msc"].sort()
        import_history(other, [TickBlock("EURUSD", ticks)])
    told = Night(other, tmp_path / "kept").run(rules_of("events"))
    assert told == "2 of 4 parts were kept, 2 run", "the second day, and the third, which warms up"


def test_damaged_parts_are_run_again(archive: Archive, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    night = Night(archive, folder)
    night.run(rules_of("events"))
    largest = max(folder.glob("*.parts"), key=lambda path: path.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.write_bytes(data)
    next(folder.glob("*.json")).write_bytes(b"{")
    told = night.run(rules_of("events"))
    assert told.endswith("were damaged")
    assert night.run(rules_of("events")) == "4 of 4 parts were kept, 0 run"
