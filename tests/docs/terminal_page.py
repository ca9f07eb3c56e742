"""The generated parts of `docs/terminal.md`: `python -m tests.docs.terminal_page`.

Tables of inputs come from the MQL5 sources, the examples are the sources themselves, with what they
print in their tests; the findings are those of the doctor's catalogue, the facts those of the
table of assumptions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from mt5bridge.terminal.assumptions import ASSUMPTIONS, Assumption, emulated, shown
from mt5bridge.terminal.findings import CATALOGUE
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "terminal.md"
EXPERTS = ROOT / "mql5" / "Experts" / "Mt5Bridge"
OUTPUTS = ROOT / "tests" / "mql5" / "examples"
INPUT = re.compile(
    r"^input\s+(?P<type>\w+)\s+(?P<name>\w+)\s*=\s*(?P<value>.*?);\s*//\s*(?P<says>.+)$"
)
GROUP = re.compile(r'^input\s+group\s+"([^"]+)"')
PART = re.compile(r"^<!-- (.+?) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


class Input(NamedTuple):
    """An input of a program, as its user sees it in the terminal."""

    name: str
    value: str
    says: str


def inputs(source: Path) -> list[Input]:
    """The inputs of an .mq5 file, in order."""
    lines = source.read_text(encoding="utf-8").splitlines()
    found = [match for line in lines if (match := INPUT.match(line))]
    return [Input(m["name"], m["value"], m["says"].strip()) for m in found]


def undocumented_inputs(source: Path) -> list[str]:
    """Lines that declare an input without saying what it is for."""
    lines = source.read_text(encoding="utf-8").splitlines()
    declared = [line for line in lines if re.match(r"^s?input\s", line)]
    return [line for line in declared if not INPUT.match(line) and not GROUP.match(line)]


def text() -> str:
    """The page with its generated parts as they should be."""
    return PART.sub(_part, PAGE.read_text(encoding="utf-8"))


def _part(match: re.Match[str]) -> str:
    """One part, between its marks."""
    kind, _, argument = match[1].partition(" of ")
    made = {
        "inputs": _inputs, "source": _source, "output": _output, "findings": _findings,
        "facts": _facts, "open questions": _open_questions,
    }  # fmt: skip
    return f"<!-- {match[1]} -->\n{made[kind](argument)}<!-- end -->"


def _source(path: str) -> str:
    source = (ROOT / "mql5" / path).read_text(encoding="utf-8")
    return f"```cpp\n{source.strip()}\n```\n"


def _output(program: str) -> str:
    return f"```text\n{(OUTPUTS / f'{program}.txt').read_text(encoding='utf-8')}```\n"


def _inputs(program: str) -> str:
    declared = inputs(EXPERTS / f"{program}.mq5")
    rows = [f"| `{one.name}` | {_shown(one.value)} | {one.says} |\n" for one in declared]
    return f"| input | default | |\n|---|---|---|\n{''.join(rows)}"


def _shown(value: str) -> str:
    return "" if value in ('""', "NULL") else f"`{value}`"


def _findings(_: str) -> str:
    rows = [f"| {entry.when} | {entry.level.value} | {entry.remedy} |\n"
            for entry in CATALOGUE.values() if entry.remedy]  # fmt: skip
    return f"| finding | | what to do |\n|---|---|---|\n{''.join(rows)}"


def _facts(_: str) -> str:
    rows = [
        f"| `{one.name}` | {one.asks} | {one.documented} | {one.holds.text()} | "
        f"{_found(one)} | {'yes' if _is_open(one) else ''} | {_relying(one)} |\n"
        for one in ASSUMPTIONS.values()
    ]
    head = (
        "| fact | | documented | needed | emulated, measured here | to be measured by you | "
        "who relies on it |\n|---|---|---|---|---|---|---|\n"
    )
    return head + "".join(rows)


def _found(one: Assumption) -> str:
    return "as needed" if one.varies else " or ".join(map(shown, emulated()[one.name]))


def _is_open(one: Assumption) -> bool:
    """Whether only a real terminal can tell."""
    return one.varies or not one.documented


def _relying(one: Assumption) -> str:
    return ", ".join(Path(name).stem for name in one.relies)


def _open_questions(_: str) -> str:
    return "".join(f"* {one.asks}: `{one.name}`\n" for one in ASSUMPTIONS.values() if _is_open(one))


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
