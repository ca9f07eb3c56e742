"""Cases as text files: title, why, rules, rows in, rows out (or the refusal).

A file has unindented headings and indented text below them::

    title: An event is raised when its condition turns true
    why: rule 1
    rules:
        define stream S (n int);
        define event One as S[n == 1];
    in:
        1000 S n=1
    out One:
        1000 One key=null number=1 seq=1

`mode: lived` says that keys have clocks of their own; else the rows are sorted history, each of
them a watermark for all keys, even where one is late.

A row is its time in ms UTC, its stream and its attributes, whose values are JSON; in `in`, an
attribute that is not given is null. `out` compares all rows; `out A, B` those of these streams.
`refused: TEXT` stands for `in` and `out` where the rules must be refused with that text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, get_args

from cep.clocks import Mode
from cep.plan.build import compile_rules
from cep.plan.nodes import Plan

FOLDER = Path(__file__).parent
HEADINGS = ("title", "why", "mode", "rules", "in", "out", "refused")

InputRow = tuple[str, int, dict[str, Any]]
OutputRow = dict[str, Any]


class BackEnd(Protocol):
    """Runs a plan over rows (stream, time in ms UTC, attributes); the output rows in order."""

    def __call__(
        self, plan: Plan, rows: Sequence[InputRow], mode: Mode = "sorted"
    ) -> list[OutputRow]: ...


@dataclass(frozen=True)
class Case:
    """One case; `streams` empty compares all, `refused` None means the rules are accepted."""

    name: str
    title: str
    why: str
    rules: str
    rows_in: tuple[InputRow, ...]
    rows_out: tuple[OutputRow, ...]
    streams: frozenset[str]
    refused: str | None
    mode: Mode = "sorted"

    def plan(self) -> Plan:
        return compile_rules(self.rules, f"{self.name}.txt")

    def observed(self, rows: Iterable[OutputRow]) -> list[str]:
        """The rows the case looks at, a line of JSON each, as `replay` writes them."""
        return [json.dumps(r) for r in rows if not self.streams or r["stream"] in self.streams]

    @property
    def expected(self) -> list[str]:
        return [json.dumps(row) for row in self.rows_out]


class CaseError(ValueError):
    """A case file that cannot be read; the message starts with file and line."""


def load_cases(folder: Path = FOLDER) -> list[Case]:
    """All cases of a folder, by name."""
    return [parse_case(path.read_text("utf-8"), path.stem) for path in sorted(folder.glob("*.txt"))]


def parse_case(text: str, name: str) -> Case:
    """One case; raises CaseError."""
    sections = _sections(text, name)
    found = next((head for head in sections if head.startswith("out ")), "out")
    missing = {"title", "why", "rules"} - sections.keys()
    if missing or (found in sections) == ("refused" in sections):
        raise CaseError(f"{name}:1: needs title, why, rules, and either out or refused")
    return Case(
        name=name,
        title=_text(sections["title"]),
        why=_text(sections["why"]),
        rules="\n".join(line for _, line in sections["rules"]),
        rows_in=tuple(_source_row(line, name, n) for n, line in _rows(sections, "in")),
        rows_out=tuple(_output_row(line, name, n) for n, line in _rows(sections, found)),
        streams=frozenset(found.removeprefix("out").replace(",", " ").split()),
        refused=_text(sections["refused"]) if "refused" in sections else None,
        mode=_mode(sections, name),
    )


def _mode(sections: dict[str, list[tuple[int, str]]], name: str) -> Mode:
    mode = _text(sections.get("mode", [(0, "sorted")]))
    for known in get_args(Mode):
        if mode == known:
            found: Mode = known
            return found
    raise CaseError(f"{name}:{sections['mode'][0][0]}: a mode is {' or '.join(get_args(Mode))}")


def _sections(text: str, name: str) -> dict[str, list[tuple[int, str]]]:
    """Numbered lines by heading; the rest of a heading's line is its first."""
    sections: dict[str, list[tuple[int, str]]] = {}
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(" ") or not line.strip():
            lines.append((number, line[4:]))
            continue
        head, colon, rest = line.partition(":")
        if not colon or head.split()[0] not in HEADINGS:
            raise CaseError(f"{name}:{number}: expected one of {', '.join(HEADINGS)}, indent text")
        lines = [(number, rest.strip())]
        sections[head] = lines
    return sections


def _text(lines: list[tuple[int, str]]) -> str:
    return " ".join(line.strip() for _, line in lines if line.strip())


def _rows(sections: dict[str, list[tuple[int, str]]], head: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in sections.get(head, []) if line.strip()]


def _source_row(line: str, name: str, number: int) -> InputRow:
    time_msc, stream, attributes = _row(line, name, number)
    return stream, time_msc, attributes


def _output_row(line: str, name: str, number: int) -> OutputRow:
    time_msc, stream, attributes = _row(line, name, number)
    return {"stream": stream, "time_msc": time_msc, "kind": "current"} | attributes


def _row(line: str, name: str, number: int) -> tuple[int, str, dict[str, Any]]:
    try:
        time_msc, stream, *rest = line.strip().split(maxsplit=2)
        return int(time_msc), stream, _attributes(rest[0] if rest else "")
    except ValueError as error:
        message = f"{name}:{number}: {error}; a row is TIME STREAM name=JSON ..."
        raise CaseError(message) from error


def _attributes(text: str) -> dict[str, Any]:
    attributes = {}
    decoder = json.JSONDecoder()
    while text:
        name, equals, rest = text.partition("=")
        if not equals:
            raise ValueError(f"no value for {name!r}")
        attributes[name], end = decoder.raw_decode(rest)
        text = rest[end:].lstrip()
    return attributes
