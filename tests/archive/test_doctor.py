"""What the doctor finds in an archive, and the marks it leaves there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from cep.archive import Archive, Odd, examine, import_history, verify
from cep.cli import main
from mt5bridge.history import TickBlock
from mt5bridge.history.zones import HOUR_MS
from mt5bridge.records import TICK, Records
from mt5bridge.validate import Quality

DAY_MS = 24 * HOUR_MS
START_MSC = 1_709_251_200_000


def quiet(days: int, every_ms: int = 600_000) -> Records:
    ticks: Records = np.zeros(days * DAY_MS // every_ms, TICK)
    ticks["time_msc"] = START_MSC + every_ms * np.arange(len(ticks))
    ticks["bid"] = 1.08 + 1e-5 * (np.arange(len(ticks)) % 7)
    ticks["ask"] = ticks["bid"] + 1e-4
    return ticks


def filled(folder: Path, ticks: Records, symbol: str = "EURUSD") -> Archive:
    archive = Archive(folder)
    import_history(archive, [TickBlock(symbol, ticks)], overlap="keep")
    return archive


def qualities(archive: Archive) -> list[int]:
    return [q for batch in archive.read_batches() for q in batch["quality"].to_pylist()]


def odd_ticks() -> Records:
    """Three weeks with an outlier, a crossed run, a tick that comes twice, and a gap."""
    ticks = quiet(21)
    ticks[["bid", "ask"]][500] = (0, 0)
    ticks["bid"][500], ticks["ask"][500] = 108.0, 108.1
    ticks["bid"][900:903] += 3e-4
    return np.concatenate([ticks[:1500], ticks[1499:1500], ticks[1512:]])


def test_a_quiet_market_has_nothing_odd(tmp_path: Path) -> None:
    [found] = examine(filled(tmp_path, quiet(21))).findings
    assert not any(found.counts.values()) and not found.crossed and not found.levels
    assert (found.ticks, found.weeks) == (21 * 144, 3)


def test_each_oddity_is_found_and_marked_where_it_is(tmp_path: Path) -> None:
    archive = filled(tmp_path, odd_ticks())
    before = qualities(archive)
    examined = examine(archive, mark=True)
    [found] = examined.findings
    assert found.counts == {Odd.OUTLIER: 1, Odd.REPEATED: 1, Odd.GAP: 1}
    assert (found.crossed, found.crossed_runs) == (3, 1)
    assert [outlier.bid for outlier in found.outliers] == [108.0]
    assert examined.marked_files == 2
    added = np.array(qualities(archive)) - np.array(before)
    assert {int(i): int(added[i]) for i in np.flatnonzero(added)} == {
        500: Odd.OUTLIER, 1500: Odd.REPEATED, 1501: Odd.GAP
    }  # fmt: skip
    assert before[900] == Quality.CROSSED
    assert verify(archive).ok
    assert examine(Archive(tmp_path), mark=True).marked_files == 0


def test_marks_that_no_longer_hold_are_taken_away(tmp_path: Path) -> None:
    archive = filled(tmp_path, odd_ticks())
    examine(archive, mark=True)
    examine(archive, gap_ms=5 * HOUR_MS, mark=True)
    assert not any(quality & Odd.GAP for quality in qualities(archive))


def test_a_day_in_another_unit_is_named(tmp_path: Path) -> None:
    ticks = quiet(3)
    for side in ("bid", "ask"):
        ticks[side][144:288] *= 100
    [found] = examine(filled(tmp_path, ticks)).findings
    assert [level.date for level in found.levels] == ["2024-03-02", "2024-03-03"]
    assert round(found.levels[0].ratio) == 100 and found.weeks == 0


# -- the commands ---------------------------------------------------------------------------------


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_the_command_names_what_is_odd_and_changes_nothing_unless_told(tmp_path: Path) -> None:
    archive = filled(tmp_path, odd_ticks())
    filled(tmp_path, quiet(21), "GBPUSD")
    files = Archive(tmp_path).manifest.files
    result = run("archive", "doctor", tmp_path)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines == [
        "EURUSD: 3,013 ticks, odd:",
        "  1 outlier: 2024-03-04 11:20:00.000 108/108.1",
        "  3 crossed quotes in 1 run, the longest 3 ticks from 2024-03-07 06:00:00.000",
        "  1 tick with the time, prices and volume of another",
        "  1 gap in usual hours, the longest 2.2 h from 2024-03-11 09:50:00.000",
        "GBPUSD: 3,024 ticks, nothing odd",
    ]
    assert Archive(tmp_path).manifest.files == files
    marked = run("archive", "doctor", tmp_path, "--mark", "--symbols", "EURUSD")
    assert marked.stdout.splitlines()[-1] == "2 files marked anew"
    unknown = run("archive", "doctor", tmp_path, "--symbols", "XX")
    assert unknown.exit_code == 2 and "no ticks of XX" in unknown.stderr
    assert archive.directory == tmp_path


RULES = """
define stream Tick (symbol string, bid double, ask double);
define event Far for each symbol as Tick[bid > 2.0];
define complex FarOnce for each symbol as Far within 1 min;
define signal Sell on FarOnce sell 0.10 lots;
"""


def test_marked_ticks_are_kept_from_rules_and_fills(tmp_path: Path) -> None:
    filled(tmp_path / "archive", odd_ticks())
    rules = tmp_path / "far.cep"
    rules.write_text(RULES, encoding="utf-8")
    command = ("backtest", rules, "--archive", tmp_path / "archive", "--master", "none",
               "--point", "EURUSD=0.00001")  # fmt: skip
    assert "rows: Far 1" in run(*command, "--out", tmp_path / "a.jsonl").stdout
    run("archive", "doctor", tmp_path / "archive", "--mark")
    told = run(*command, "--out", tmp_path / "b.jsonl", "--reject", "outlier, repeated")
    assert "3,011 records" in told.stdout and "rows: none" in told.stdout, told.output
    wrong = run(*command, "--reject", "odd")
    assert wrong.exit_code == 2 and "no mark odd" in wrong.stderr
