"""`docs/terminal.md` says what the programs and the doctor say themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.terminal.findings import CATALOGUE
from tests.docs import terminal_page
from tests.docs.pages import ROOT

PROGRAMS = sorted((ROOT / "mql5").rglob("*.mq5"))


def test_the_page_is_what_the_sources_say() -> None:
    assert terminal_page.PAGE.read_text(encoding="utf-8") == terminal_page.text()


@pytest.mark.parametrize("name", ["Publisher", "Trader"])
def test_every_input_is_in_the_page(name: str) -> None:
    declared = terminal_page.inputs(terminal_page.EXPERTS / f"{name}.mq5")
    page = terminal_page.PAGE.read_text(encoding="utf-8")
    assert len(declared) > 10
    assert [one.name for one in declared if f"| `{one.name}` |" not in page] == []


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_input_says_what_it_is_for(path: Path) -> None:
    assert terminal_page.undocumented_inputs(path) == []


def test_every_finding_but_good_ones_has_a_remedy() -> None:
    assert [
        name for name, entry in CATALOGUE.items() if bool(entry.remedy) == (entry.level == "ok")
    ] == []
