"""Rule files as arguments of a command."""

from __future__ import annotations

import sys
from pathlib import Path

from cep.cli.errors import UserError
from cep.cli.paths import FILE_OR_STDIN
from cep.plan.rule_file import BYTES_MAX, read_rule_file

RULES = FILE_OR_STDIN
STDIN = Path("-")


def read_rules(path: Path) -> tuple[str, str]:
    """(text, name for messages) of a rule file; `-` is standard input. Raises `UserError`."""
    if path == STDIN:
        return _checked(sys.stdin.read(BYTES_MAX + 1)), "<stdin>"
    try:
        return read_rule_file(path), str(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file", similar(path)) from None


def _checked(text: str) -> str:
    if len(text) > BYTES_MAX:
        raise UserError(f"<stdin>: larger than {BYTES_MAX >> 10:,} KiB, so it is not parsed")
    return text


def similar(path: Path) -> str | None:
    """A hint naming the rule files that do exist in the folder."""
    names = sorted(p.name for p in path.parent.glob("*.cep")) if path.parent.is_dir() else []
    return f"rule files in {path.parent}: {', '.join(names[:5])}" if names else None
