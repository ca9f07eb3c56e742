"""The doctor judges every part of the link, and says what to do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mt5bridge.server.status import (
    AccountStatus,
    RecountStatus,
    Status,
    StreamStatus,
    TerminalStatus,
)
from mt5bridge.terminal.doctor import judge, judge_address
from mt5bridge.terminal.findings import CATALOGUE, Finding, Level
from mt5bridge.terminal.folders import DataFolder, given
from mt5bridge.terminal.inspection import judge_folders
from mt5bridge.terminal.install import install, record_compiled
from mt5bridge.terminal.naming import PLACE
from mt5bridge.terminal.programs import NEEDED, TRADER
from mt5bridge.terminal.sources import source_files, sources_folder
from mt5bridge.troubles import Effect, Trouble
from tests.terminal.machines import data_folder

NOW_MSC = 1_700_000_000_000
HOUR_MS = 3_600_000
VERSION = "0.1.0"
ACCOUNT = AccountStatus(
    time_msc=NOW_MSC, balance=1e4, credit=0.0, profit=0.0, equity=1e4, margin=0.0, margin_free=1e4,
    positions=0, orders=0, allowed=31,
)  # fmt: skip
STREAM = StreamStatus(
    symbol="EURUSD", taken=100, sent=100, received=100, durable=100,
    newest_msc=NOW_MSC + 2 * HOUR_MS, recounts=RecountStatus(agreed=3),
)  # fmt: skip
TERMINAL = TerminalStatus(
    identity="5001@Demo", connected=True, since_msc=NOW_MSC, heard_ms_ago=100, account=5001,
    program=f"Mt5Bridge Publisher {VERSION}", server="Demo", currency="EUR", demo=True,
    account_mode="hedging", utc_offset_ms=2 * HOUR_MS, round_trip_us=20_000, clock_difference_ms=3,
    account_state=ACCOUNT, symbols=["EURUSD"], streams=[STREAM],
)  # fmt: skip
STATUS = Status(
    program="mt5cep", version=VERSION, pid=1, bind="tcp://127.0.0.1:5655", since_msc=NOW_MSC,
    written_msc=NOW_MSC, terminals=[TERMINAL],
)  # fmt: skip


def changed(**fields: Any) -> Status:
    """A status with another terminal."""
    return replaced(STATUS, terminals=[msgspec.structs.replace(TERMINAL, **fields)])


def streaming(**fields: Any) -> Status:
    """A status with another stream."""
    return changed(streams=[msgspec.structs.replace(STREAM, **fields)])


def allowing(bits: int, trades: str = "none") -> Status:
    return changed(account_state=msgspec.structs.replace(ACCOUNT, allowed=bits), trades=trades)


def failing(effect: Effect) -> Status:
    return replaced(STATUS, troubles=[Trouble("spool", "no room", effect, 1_700_000_000_000)])


def replaced(status: Status, **fields: Any) -> Status:
    return msgspec.structs.replace(status, **fields)


def bad(status: Status) -> dict[str, Finding]:
    """Findings that are not good, by name."""
    return {f.name: f for f in judge(status) if f.level is not Level.OK}


def test_a_good_link_has_only_good_findings() -> None:
    found = list(judge(STATUS))
    assert {f.name for f in found} == {"terminal", "clock", "round trip", "stream", "account"}
    assert {f.level for f in found} == {Level.OK}
    said = " ".join(f.seen for f in found)
    for text in ("account 5001 on Demo (demo, hedging)", "3 ms", "+2.00 h", "20.0 ms",
                 "1 to 100 on disk, no hole; 3 intervals", "equity 10,000.00 EUR"):  # fmt: skip
        assert text in said, text


@pytest.mark.parametrize(
    ("status", "name", "seen"),
    [
        (replaced(STATUS, terminals=[]), "no terminal", "no terminal"),
        (changed(connected=False), "terminal away", "not connected"),
        (changed(program="Mt5Bridge Publisher 0.0.9"), "program version", "the daemon is 0.1.0"),
        (changed(clock_difference_ms=None), "clock unknown", "+2.00 h"),
        (changed(clock_difference_ms=-61_000), "clock differs", "-61,000 ms"),
        (changed(utc_offset_ms=2 * HOUR_MS + 1), "offset odd", "UTC"),
        (changed(utc_offset_ms=15 * HOUR_MS), "offset odd", "+15.00 h"),
        (changed(round_trip_us=0), "round trip unknown", "not measured"),
        (changed(round_trip_us=900_000), "round trip slow", "900.0 ms"),
        (changed(symbols=[]), "no symbols", "no symbols"),
        (streaming(newest_msc=NOW_MSC), "no ticks", "120 min old"),
        (streaming(taken=0, received=0, durable=0, newest_msc=0), "no ticks", "no tick yet"),
        (streaming(taken=50_000), "behind", "taken 50,000"),
        (streaming(received=50_000), "behind", "on disk 100"),
        (streaming(lost=7, gaps=2), "records lost", "records 7, intervals 2"),
        (
            streaming(recounts=RecountStatus(differing=1, last_difference="09:00 60 and 61")),
            "recount differs", "09:00 60 and 61",
        ),
        (changed(account=0), "not logged in", "account 0"),
        (changed(account=7), "account differs", "logged in to account 7 on Demo"),
        (changed(account_state=None), "account unknown", "no account state"),
        (allowing(30), "not connected", "trade server"),
        (allowing(29), "algo trading off", "off"),
        (allowing(27), "program not allowed", "this EA"),
        (allowing(23), "account may not trade", "the account"),
        (allowing(15), "experts not allowed", "programs"),
        (replaced(STATUS, sends_signals=True), "no trader", "nobody executes"),
        (changed(unanswered=2), "unanswered", "2 without"),
        (replaced(STATUS, halted=True, halt_reason="lunch"), "halted", "lunch"),
        (replaced(STATUS, complaints=["bad frame"]), "complaint", "bad frame"),
        (failing(Effect.WAITS), "daemon waits", "no room; since 2023-11-14 22:13:20+00:00"),
        (failing(Effect.GOES_ON), "daemon tries again", "no room"),
        (failing(Effect.ENDS), "daemon ended", "no room"),
    ],
)  # fmt: skip
def test_every_trouble_is_found_and_has_a_remedy(status: Status, name: str, seen: str) -> None:
    found = bad(status)
    assert name in found and seen in found[name].seen and found[name].remedy
    assert found[name].level is CATALOGUE[name].level


def test_what_bars_a_trader_is_a_problem() -> None:
    assert bad(allowing(29, trades="live"))["algo trading off"].level is Level.PROBLEM
    assert bad(allowing(29))["algo trading off"].level is Level.WARNING


def test_what_a_trader_does_is_told() -> None:
    for trades, text in (("live", "executes"), ("dry_run", "dry run")):
        status = replaced(changed(trades=trades), sends_orders=True)
        (found,) = [f for f in judge(status) if f.name == "trades"]
        assert text in found.seen and "sends nothing" not in found.seen
        assert "a demo account" in found.seen
    assert not bad(status)


def side_by_side(first: dict[str, Any], second: dict[str, Any]) -> Status:
    """Two terminals, each with what is other of it."""
    both = [msgspec.structs.replace(TERMINAL, **one) for one in (first, second)]
    return replaced(STATUS, terminals=both)


def test_what_two_terminals_do_twice_is_told() -> None:
    name = {"identity": "5001@Demo/2"}
    twice = bad(side_by_side({}, name))
    assert twice.keys() == {"ticks twice"} and "5001@Demo, 5001@Demo/2" in twice["ticks twice"].seen
    other = [msgspec.structs.replace(STREAM, symbol="GBPUSD")]
    assert not bad(side_by_side({}, {**name, "streams": other, "symbols": ["GBPUSD"]}))
    assert not bad(side_by_side({}, {"identity": "5001@Other", "server": "Other"}))
    live = {"trades": "live", "streams": []}
    found = bad(side_by_side({**live, **name}, {**live, "identity": "5001@Demo/3"}))
    assert found["traders overlap"].level is Level.PROBLEM
    assert not bad(side_by_side({**live, **name}, {**live, "account": 6, "identity": "6@Demo"}))
    dry = bad(side_by_side({**live, **name}, {**live, "trades": "dry_run"}))
    assert dry["traders overlap"].level is Level.WARNING


def test_a_trader_need_not_publish() -> None:
    nothing = msgspec.structs.replace(STREAM, taken=0, received=0, durable=0, newest_msc=0)
    assert not bad(changed(trades="live", streams=[nothing]))


def test_other_programs_have_versions_of_their_own() -> None:
    assert not bad(changed(program="mt5bridge simulator 7"))


@pytest.mark.parametrize(
    ("bind", "name", "seen"),
    [
        ("tcp://127.0.0.1:5655", "address", "allow 127.0.0.1 in MetaTrader"),
        ("tcp://localhost:5655", "address", "allow 127.0.0.1 in MetaTrader"),
        ("tcp://10.0.0.7:5655", "address open", "allow 10.0.0.7"),
        ("tcp://*:5655", "address open", "other machines, with a password"),
    ],
)
def test_addresses(bind: str, name: str, seen: str) -> None:
    found = judge_address(bind)
    assert found.name == name and seen in found.seen


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """A terminal with our sources."""
    made = given(data_folder(tmp_path / "MT5"))
    install(made, sources_folder())
    return made


def names(folder: DataFolder, daemon: str = "", trades: bool = False) -> list[str]:
    return [f.name for f in judge_folders([folder], sources_folder(), daemon, trades)]


def compile_by_hand(folder: DataFolder, *programs: Path) -> None:
    for program in programs:
        compiled = (folder.mql5 / program).with_suffix(".ex5")
        compiled.parent.mkdir(parents=True, exist_ok=True)
        compiled.write_bytes(b"EX5")


def age(path: Path) -> None:
    """Make a file an hour older."""
    before = path.stat()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - 3_600_000_000_000))


def test_a_folder_goes_from_missing_to_good_to_old(tmp_path: Path, folder: DataFolder) -> None:
    empty = given(data_folder(tmp_path / "other"))
    assert names(empty) == ["sources missing"]
    assert names(folder) == ["sources", "not compiled", "not compiled"]
    compile_by_hand(folder, *NEEDED)
    assert names(folder) == ["sources", "programs"]
    edited = folder.mql5 / "Include/Mt5Bridge/Version.mqh"
    edited.write_text(edited.read_text() + "// mine\n", encoding="utf-8")
    for program in NEEDED:
        age((folder.mql5 / program).with_suffix(".ex5"))
    assert names(folder) == ["sources edited", "program old", "program old"]
    (folder.mql5 / PLACE).parent.mkdir(parents=True, exist_ok=True)
    (folder.mql5 / PLACE).write_text("a/b\n../x")
    assert names(folder)[0] == "name damaged"


def test_an_old_trader_is_a_problem_and_a_missing_one_where_it_is_needed(
    folder: DataFolder,
) -> None:
    compile_by_hand(folder, *NEEDED)
    assert names(folder) == ["sources", "programs"], "nobody trades, nothing is missing"
    assert names(folder, trades=True) == ["sources", "not compiled"]
    compile_by_hand(folder, TRADER)
    assert names(folder, trades=True) == ["sources", "programs"]
    age((folder.mql5 / TRADER).with_suffix(".ex5"))
    (old,) = [f for f in judge_folders([folder], sources_folder()) if f.name == "program old"]
    assert old.level is Level.PROBLEM and "Trader.ex5 is older than its sources" in old.seen


def test_a_program_is_older_only_than_what_went_into_it(folder: DataFolder) -> None:
    everything = [path for path in source_files(folder.mql5) if path.suffix == ".mq5"]
    compile_by_hand(folder, *everything)
    for path in everything:
        age((folder.mql5 / path).with_suffix(".ex5"))
    for path in source_files(folder.mql5):
        for _ in range(2):
            age(folder.mql5 / path)
    assert names(folder) == ["sources", "programs"]
    (folder.mql5 / "Include/Mt5Bridge/Orders/Retcodes.mqh").touch()
    old = [f.seen for f in judge_folders([folder], sources_folder()) if f.name == "program old"]
    assert [seen for seen in old if "Trader.ex5" in seen] == old, "and no other program is"
    assert old


def test_programs_of_another_version_than_the_daemon(folder: DataFolder) -> None:
    compile_by_hand(folder, *NEEDED)
    assert names(folder, daemon=VERSION) == ["sources", "programs"]
    assert names(folder, daemon="0.2.0") == ["sources", *["program of another version"] * 2]
    record_compiled(folder, [path.with_suffix(".ex5") for path in NEEDED])
    for path in NEEDED:
        age((folder.mql5 / path).with_suffix(".ex5"))
    found = list(judge_folders([folder], sources_folder(), VERSION))
    assert [f.seen for f in found if "(version 0.1.0)" in f.seen]


def test_an_example_that_is_old_is_a_warning(folder: DataFolder) -> None:
    example = next(path for path in source_files(folder.mql5) if "Examples" in path.parts)
    compile_by_hand(folder, *NEEDED, example)
    age((folder.mql5 / example).with_suffix(".ex5"))
    (old,) = [f for f in judge_folders([folder], sources_folder()) if f.name == "program old"]
    assert old.level is Level.WARNING
