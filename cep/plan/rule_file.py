"""Rule files, and how large they may be: what is no rule file is refused before it is parsed."""

from __future__ import annotations

from pathlib import Path

BYTES_MAX = 8 << 20
"""Of a rule file that a command reads: a hundred times the largest that people write."""


class RuleFileError(ValueError):
    """A file that is too large to hold rules, or no text."""


def read_rule_file(path: Path, bytes_max: int = BYTES_MAX) -> str:
    """The text of a rule file. RuleFileError says what is wrong and what to do; OSError."""
    with path.open("rb") as file:
        data = file.read(bytes_max + 1)
    if len(data) > bytes_max:
        raise RuleFileError(
            f"{path}: larger than {bytes_max >> 10:,} KiB, so it is not parsed. Is it another file "
            "than you meant? Else divide the rules among several files"
        )
    try:
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise RuleFileError(
            f"{path}: not UTF-8 at byte {error.start}; save the rule file as UTF-8"
        ) from None
