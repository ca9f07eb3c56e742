"""Several terminals of one machine have names that do not collide, and keep them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.terminal.folders import DataFolder, given
from mt5bridge.terminal.install import install, uninstall
from mt5bridge.terminal.naming import PLACE, is_damaged, name_of, names, take_name, write_name
from mt5bridge.terminal.sources import sources_folder
from tests.terminal.machines import data_folder


def terminal(path: Path, program: str = "Broker MT5") -> DataFolder:
    return given(data_folder(path, f"C:\\Program Files\\{program}"))


def named(*folders: DataFolder, found: tuple[DataFolder, ...] | None = None) -> list[str]:
    """Name and install; the names. All are found by themselves if nothing is said."""
    given_names = names(folders, folders if found is None else found)
    for folder in folders:
        write_name(folder, given_names[folder.path])
        install(folder, sources_folder())
    return [name_of(folder) for folder in folders]


def test_the_first_needs_no_name_and_all_others_differ(tmp_path: Path) -> None:
    folders = [terminal(tmp_path / str(n)) for n in range(4)]
    given_names = named(*folders)
    assert given_names[:2] == ["", "Broker-MT5"]
    assert len({name.casefold() for name in given_names}) == 4
    assert named(*reversed(folders)) == given_names[::-1], "and they stay"


def test_one_by_one_is_the_same_as_all_at_once(tmp_path: Path) -> None:
    first, second = terminal(tmp_path / "a"), terminal(tmp_path / "b", "Other Broker")
    assert named(first, found=(first, second)) == [""]
    assert named(second, found=(first, second)) == ["Other-Broker"]


def test_who_is_not_found_by_itself_is_named_in_any_case(tmp_path: Path) -> None:
    """There may be more of these, which nobody knows of."""
    one, other = terminal(tmp_path / "D" / "1"), terminal(tmp_path / "D" / "2")
    names_of = [*named(one, found=()), *named(other, found=())]
    assert all(name.startswith("Broker-MT5-") for name in names_of)
    assert len(set(names_of)) == 2 and named(one, found=()) == names_of[:1], "and they stay"
    old = terminal(tmp_path / "old")
    install(old, sources_folder())
    assert named(old, found=()) == [""], "but for one that was there without"


def test_who_has_published_without_a_name_gets_none(tmp_path: Path) -> None:
    first, second = terminal(tmp_path / "a"), terminal(tmp_path / "b")
    for folder in (first, second):
        (folder.mql5 / "Files/Mt5Bridge/5001@Demo").mkdir(parents=True)
    assert named(first, second) == ["", ""]
    install(third := terminal(tmp_path / "c"), sources_folder())
    assert named(third, found=(first, second, third)) == [""], "nor who had our sources"


def test_a_name_that_is_damaged_is_given_again(tmp_path: Path) -> None:
    first, second = terminal(tmp_path / "a"), terminal(tmp_path / "b")
    (name,) = [one for one in named(first, second) if one]
    for damaged in (b"", b"name x\n", b"mt5bridge terminal 1\nname \n", b"\xff\xfe", b"name\n" * 9):
        (second.mql5 / PLACE).write_bytes(damaged)
        assert name_of(second) == "" and is_damaged(second)
        assert named(second, found=(first, second)) == [name], "with our sources there, too"
    uninstall(second)
    assert named(second, found=(first, second)) == [name]
    assert take_name(second) and not take_name(second)
    assert not (second.mql5 / PLACE).parent.exists()


@pytest.mark.parametrize("program", ["", "ÄÖÜ", "x" * 200, "a/b", "..", "Брокер"])
def test_every_name_is_one_that_programs_take(tmp_path: Path, program: str) -> None:
    first, second = terminal(tmp_path / "a"), terminal(tmp_path / "b", program)
    _, name = named(first, second)
    assert name and name.isascii() and len(name) <= 40 and "/" not in name
