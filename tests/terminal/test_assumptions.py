"""The table of what the sources take for granted agrees with the sources."""

from __future__ import annotations

import re

import pytest

from mt5bridge.terminal.assumptions import (
    ASSUMPTIONS,
    Assumption,
    Between,
    Only,
    Value,
    emulated,
)
from mt5bridge.terminal.sources import OWN, sources_folder

INCLUDE = sources_folder() / "Include" / OWN
MEASURED = re.compile(r'facts\.(?:Truth|Whole|Real|Text)\("([a-z0-9_.]+)"')
each = pytest.mark.parametrize("one", ASSUMPTIONS.values(), ids=lambda one: one.name)


@each
def test_who_relies_on_a_fact_does(one: Assumption) -> None:
    assert one.relies
    for name in one.relies:
        assert re.search(one.uses, (INCLUDE / name).read_text(encoding="utf-8")), name


@each
def test_a_fact_says_what_it_is_for(one: Assumption) -> None:
    assert re.fullmatch(r"[a-z]+\.[a-z0-9_]+", one.name)
    assert one.asks and one.remedy and one.uses
    assert "|" not in one.asks + one.documented + one.holds.text()


def test_the_probe_measures_the_table() -> None:
    probe = "".join(path.read_text(encoding="utf-8") for path in (INCLUDE / "Probe").glob("*.mqh"))
    assert sorted(MEASURED.findall(probe)) == sorted(ASSUMPTIONS)


def test_what_varies_is_not_kept() -> None:
    assert emulated().keys() == {name for name, one in ASSUMPTIONS.items() if not one.varies}


@pytest.mark.parametrize(
    ("holds", "good", "bad"),
    [
        (Only((0, 1)), [0, 1], [False, True, 1.0, "1", 2]),
        (Only((True,)), [True], [1, 1.0, "true", False]),
        (Between(0, 5), [0, 5, 2.5], [-1, 5.1, True, "3", float("nan"), float("inf")]),
    ],
)
def test_what_holds(holds: Only | Between, good: list[Value], bad: list[Value]) -> None:
    assert [value for value in good if not holds.holds(value)] == []
    assert [value for value in bad if holds.holds(value)] == []
