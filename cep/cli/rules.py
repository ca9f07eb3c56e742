"""Rule files as arguments of a command."""

from __future__ import annotations

import sys
from pathlib import Path

from cep.cli.errors import UserError
from cep.cli.paths import FILE_OR_STDIN

RULES = FILE_OR_STDIN
STDIN = Path("-")


def read_rules(path: Path) -> tuple[str, str]:
    """(text, name for messages) of a rule file; `-` is standard input. Raises `UserError`."""
    if path == STDIN:
        return sys.stdin.read(), "<stdin>"
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file", similar(path)) from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}: not UTF-8 at byte {error.start}", "save the rule file as UTF-8"
        ) from None


def similar(path: Path) -> str | None:
    """A hint naming the rule files that do exist in the folder."""
    names = sorted(p.name for p in path.parent.glob("*.cep")) if path.parent.is_dir() else []
    return f"rule files in {path.parent}: {', '.join(names[:5])}" if names else None
