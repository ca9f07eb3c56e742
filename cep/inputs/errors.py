"""Input that cannot be used, and where it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from mt5bridge.history.errors import clipped


class InputError(Exception):
    """A place in an input file, what is wrong there, and the remedy."""

    def __init__(
        self, path: Path, what: str, remedy: str, line: int | None = None, column: str | None = None
    ) -> None:
        self.path, self.line, self.column = path, line, column
        self.what, self.remedy = what, remedy
        place = str(path) if line is None else f"{path}:{line}"
        place += f": column {column}" if column else ""
        super().__init__(f"{place}: {clipped(what)}; {remedy}")


def check_columns(
    path: Path, names: Sequence[str], used: Collection[str], line: int | None = None
) -> None:
    """InputError unless each of the columns `used` is there once, among `names`."""
    for name in used:
        if name not in names:
            raise InputError(
                path, f"no column {name!r} among {', '.join(names)}",
                "name the columns as the stream's attributes", line,
            )  # fmt: skip
        if names.count(name) > 1:
            raise InputError(
                path, f"more than one column {name!r}", "leave one of them, or rename the others",
                line,
            )  # fmt: skip
