"""Plain text: columns that line up, nouns that count."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from mt5bridge.escapes import one_line, visible

NUMBER = re.compile(r"-?\d[\d,.]*(e[+-]?\d+)?")


def say(text: str, *, err: bool = False) -> None:
    """Print a text, whoever wrote what is in it: control characters are shown as escapes."""
    click.echo(visible(text), err=err)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns; numbers stand to the right. Every row has the same number of cells.

    No cell steers the terminal, or begins another line.
    """
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(place, row, widths)).rstrip() for row in rows]


def right_aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns, all but the first to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def place(cell: str, width: int) -> str:
    return cell.rjust(width) if NUMBER.fullmatch(cell) else cell.ljust(width)


def counted(n: int, noun: str) -> str:
    """`1 query`, `2,000 queries`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"
