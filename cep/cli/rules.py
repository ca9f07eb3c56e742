"""Rule files as arguments of a command."""

from __future__ import annotations

import sys
from pathlib import Path

from cep.cli.errors import UserError
from cep.cli.parameters import parameter_errors
from cep.cli.paths import FILE_OR_STDIN
from cep.lang import Given, with_parameters
from cep.plan.rule_file import BYTES_MAX, read_rule_file

RULES = FILE_OR_STDIN
STDIN = Path("-")


def read_rules(path: Path, parameters: Given | None = None) -> tuple[str, str]:
    """(text, name for messages) of a rule file; `-` is standard input. Raises `UserError`.

    `parameters` are values that stand in the text then, in place of its own.
    """
    text, name = _read(path)
    with parameter_errors():
        return with_parameters(text, name, parameters or {}), name


def _read(path: Path) -> tuple[str, str]:
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
