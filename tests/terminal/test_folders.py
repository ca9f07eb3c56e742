"""Terminals are found on Windows, in Wine prefixes, and where their users say."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.terminal.folders import FolderError, Machine, find, given
from tests.terminal.machines import (
    HEX,
    OTHER_HEX,
    data_folder,
    program_folder,
    terminals,
    windows,
)

ORIGIN = "C:\\Program Files\\Broker MT5"


def test_data_folders_of_windows_are_found_by_their_names(tmp_path: Path) -> None:
    machine = windows(tmp_path)
    ours = data_folder(terminals(machine) / HEX, ORIGIN)
    data_folder(terminals(machine) / "Common")
    (terminals(machine) / OTHER_HEX / "MQL4").mkdir(parents=True)
    (found,) = find(machine)
    assert (found.path, found.name, found.program, found.kind) == (ours, "Broker MT5", ORIGIN, "")
    assert found.mql5 == ours / "MQL5"


def test_a_program_folder_counts_only_when_no_data_folder_belongs_to_it(tmp_path: Path) -> None:
    machine = windows(tmp_path)
    programs = Path(machine.environment["ProgramFiles"])
    installed = program_folder(programs / "MetaTrader 5")
    data_folder(terminals(machine) / HEX, str(installed).upper() + "\\")
    portable = program_folder(programs / "Portable MT5")
    data_folder(programs / "No terminal")
    assert [(f.path.name, f.kind) for f in find(machine)] == [
        (HEX, ""),
        (portable.name, "portable"),
    ]


def test_wine_prefixes_are_looked_through(tmp_path: Path) -> None:
    drive = tmp_path / ".wine" / "drive_c"
    program_folder(drive / "Program Files" / "Broker MT5")
    roaming = drive / "users" / "me" / "AppData" / "Roaming"
    ours = data_folder(roaming / "MetaQuotes" / "Terminal" / HEX, ORIGIN)
    alone = program_folder(drive / "Program Files (x86)" / "Vendor" / "MT5", "terminal.exe")
    found = find(Machine("linux", tmp_path, {}))
    assert [(f.path, f.kind) for f in found] == [(ours, "Wine"), (alone, "portable, Wine")]
    assert found[1].program == "C:\\Program Files (x86)\\Vendor\\MT5"
    assert {f.prefix for f in found} == {tmp_path / ".wine"}


@pytest.mark.parametrize(
    "prefix",
    [
        ".mt5",
        ".PlayOnLinux/wineprefix/MT5",
        ".var/app/com.usebottles.bottles/data/bottles/bottles/Trading",
        ".local/share/bottles/bottles/Trading",
        "Library/Application Support/net.metaquotes.wine.metatrader5",
        "Library/Application Support/CrossOver/Bottles/MetaTrader 5",
    ],
)
def test_the_usual_places_of_prefixes(tmp_path: Path, prefix: str) -> None:
    place = program_folder(tmp_path / prefix / "drive_c" / "Program Files" / "MetaTrader 5")
    (found,) = find(Machine("darwin", tmp_path, {}))
    assert (found.path, found.prefix, found.name) == (place, tmp_path / prefix, "MetaTrader 5")


def test_the_prefix_of_the_environment_comes_first_and_each_folder_once(tmp_path: Path) -> None:
    first = program_folder(tmp_path / "own" / "drive_c" / "Program Files" / "A")
    second = program_folder(tmp_path / ".wine" / "drive_c" / "Program Files" / "B")
    users = tmp_path / ".wine" / "drive_c" / "users"
    profile = users / "me" / "AppData" / "Roaming"
    third = data_folder(profile / "MetaQuotes" / "Terminal" / HEX)
    (users / "also_me").symlink_to(users / "me")
    machine = Machine("linux", tmp_path, {"WINEPREFIX": str(tmp_path / "own")})
    assert [f.path.resolve() for f in find(machine)] == [first, third, second]


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert find(Machine("linux", tmp_path, {})) == []
    assert find(Machine("win32", tmp_path, {})) == []


def test_a_damaged_origin_is_no_reason_to_miss_a_terminal(tmp_path: Path) -> None:
    machine = windows(tmp_path)
    ours = data_folder(terminals(machine) / HEX)
    (ours / "origin.txt").write_bytes(b"\xff\xfe\x00")
    (found,) = find(machine)
    assert (found.name, found.program) == (HEX, "")


def test_a_folder_may_be_named_by_itself_or_by_its_mql5(tmp_path: Path) -> None:
    ours = program_folder(tmp_path / "prefix" / "drive_c" / "MT5")
    for path in (ours, ours / "MQL5"):
        found = given(path)
        assert (found.path, found.kind) == (ours, "portable, Wine")
        assert found.prefix == tmp_path / "prefix"


def test_another_folder_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="contains no folder MQL5") as caught:
        given(tmp_path)
    assert "Open Data Folder" in caught.value.hint
