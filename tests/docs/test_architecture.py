"""`docs/architecture.md` says what the house rules say, and names files that are there."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT
from tests.tidy.test_tidy import ANY, MAY_IMPORT, MAY_IMPORT_DAEMON, unit

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([^`]+)` \|(.*)\|$", re.MULTILINE)
PATH = re.compile(r"`((?:cep|mt5bridge|mql5|tests|benchmarks)(?:/[\w./-]*)?)`")


def section(heading: str) -> str:
    """The text below a heading, up to the next one."""
    found = re.search(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def module(path: str) -> str:
    """`cep.lang` of `cep/lang`, `cep.clocks` of `cep/clocks.py`."""
    return path.removesuffix(".py").replace("/", ".")


def imports(cell: str) -> set[str]:
    if cell.strip() == "anything":
        return {ANY}
    return {module(path) for path in re.findall(r"`([^`]+)`", cell)}


def folders(below: str) -> set[str]:
    found = (path for path in (ROOT / below).iterdir() if path.is_dir())
    return {path.name for path in found if not path.name.startswith(("_", "."))}


def test_the_table_of_parts_is_the_rule_of_imports() -> None:
    lines = ROW.findall(section("The parts"))
    assert {module(path): imports(rest.rpartition("|")[2]) for path, rest in lines} == MAY_IMPORT


def test_every_part_comes_behind_those_it_imports() -> None:
    before: list[str] = []
    for path, rest in ROW.findall(section("The parts")):
        named = set(map(unit, imports(rest.rpartition("|")[2]))) - {"cep.cli", ANY}
        assert named <= set(before), path
        before.append(module(path))


def test_those_who_may_import_the_daemon_are_named() -> None:
    sentence = re.search(r"^Only (.*?) may import `cep/daemon.py`", PAGE, re.MULTILINE | re.DOTALL)
    assert sentence
    assert imports(sentence[1]) == MAY_IMPORT_DAEMON


@pytest.mark.parametrize(
    ("heading", "below", "prefix"),
    [("MQL5", "mql5/Include/Mt5Bridge", ""), ("Tests", "tests", "tests/")],
)
def test_every_folder_has_its_line(heading: str, below: str, prefix: str) -> None:
    named = [path for path, _ in ROW.findall(section(heading))]
    assert named == sorted(named) or heading == "MQL5"
    assert set(named) == {prefix + name for name in folders(below)}


@pytest.mark.parametrize("heading", ["The way of a tick", "The way of a rule"])
def test_the_ways_name_files(heading: str) -> None:
    steps = [line for line in section(heading).splitlines() if re.match(r"\| \d", line)]
    assert [line.split("|")[1].strip() for line in steps] == [
        str(number + 1) for number in range(len(steps))
    ]
    assert all(PATH.search(line) for line in steps)


def test_every_file_it_names_is_there() -> None:
    paths = set(PATH.findall(PAGE))
    assert len(paths) > 80
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []
