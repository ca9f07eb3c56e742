"""A program as text: how each query is run, and the statements where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator

from cep.database.hidden import HIDDEN
from cep.database.steps import Kept, Program, Statement, Step

NAMES_MAX = 4
"""So many queries of a step are named; of more, the first and how many there are."""


def program_text(program: Program, sql: bool = False) -> list[str]:
    """A line per step, then what is kept of each stream; with `sql` the statements, too."""
    lines = [line for step in program.steps for line in _step(step, sql)]
    for name, kept in program.kept.items():
        lines += _kept(name, kept, sql)
    return lines


def _step(step: Step, sql: bool) -> Iterator[str]:
    names = ", ".join(step.members)
    if len(step.members) > NAMES_MAX:
        names = f"{step.members[0]} and {len(step.members) - 1} queries like it"
    if step.name.startswith(HIDDEN):
        names = f"a filter of {', '.join(step.reads)}"
    yield f"{names}: {step.strategy}"
    if sql:
        if step.insert is not None:
            yield from _statement(step.insert)
        if step.fetch is not None:
            yield from _statement(step.fetch.statement)


def _kept(name: str, kept: Kept, sql: bool) -> Iterator[str]:
    asked = kept.retention
    stays = [f"{asked.time_ms} ms"] if asked.time_ms else []
    stays += [f"{asked.rows} rows"] if asked.rows > 1 else []
    shown = f"what a filter lets pass of {name[1:]}" if name.startswith(HIDDEN) else name
    yield f"kept of {shown}: {' and '.join(stays) or 'nothing'}"
    if sql:
        for fill in kept.fills:
            yield from _statement(fill.statement)


def _statement(statement: Statement) -> Iterator[str]:
    yield from (f"    {line.rstrip()}" for line in statement.text.splitlines())
