"""Plain text: columns that line up, nouns that count."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns; numbers stand to the right. Every row has the same number of cells."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(place, row, widths)).rstrip() for row in rows]


def place(cell: str, width: int) -> str:
    is_number = cell.replace(",", "").replace(".", "").isdigit()
    return cell.rjust(width) if is_number else cell.ljust(width)


def counted(n: int, noun: str) -> str:
    """`1 query`, `2,000 queries`."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n:,} {noun if n == 1 else plural}"
