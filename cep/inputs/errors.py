"""Input that cannot be used, and where it is."""

from __future__ import annotations

from pathlib import Path


class InputError(Exception):
    """A place in an input file, what is wrong there, and the remedy."""

    def __init__(
        self, path: Path, what: str, remedy: str, line: int | None = None, column: str | None = None
    ) -> None:
        self.path, self.line, self.column = path, line, column
        self.what, self.remedy = what, remedy
        place = str(path) if line is None else f"{path}:{line}"
        place += f": column {column}" if column else ""
        super().__init__(f"{place}: {what}; {remedy}")
