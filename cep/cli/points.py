"""`--point SYMBOL=SIZE`: the size of a point, as options of a command."""

from __future__ import annotations

from collections.abc import Iterable

from cep.backtest.bounds import POINT_MAX, POINT_MIN
from cep.cli.errors import UserError


def given_points(texts: Iterable[str]) -> dict[str, float]:
    """Sizes by symbol. UserError for a text that is none, or a second size of a symbol."""
    found: dict[str, float] = {}
    for text in texts:
        symbol, size = _point(text)
        if found.setdefault(symbol, size) != size:
            raise UserError(f"--point {text}: {symbol} has {found[symbol]:g} already", "give one")
    return found


def _point(text: str) -> tuple[str, float]:
    symbol, _, size = text.partition("=")
    try:
        point = float(size)
    except ValueError:
        point = 0.0
    if not symbol.strip() or not point > 0:
        raise UserError(f"--point {text}: not SYMBOL=SIZE", "for example --point EURUSD=0.00001")
    if not POINT_MIN <= point <= POINT_MAX:
        raise UserError(
            f"--point {text}: no market has such a point",
            f"give one from {POINT_MIN:g} to {POINT_MAX:g}, such as --point EURUSD=0.00001",
        )
    return symbol.strip(), point
