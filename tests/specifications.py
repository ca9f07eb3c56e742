"""What holds of what was told, the slow and obvious way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cep.account.specifications import Version, in_order, without_nulls


def held(
    versions: Iterable[Version], symbol: str, source: str, at_msc: int | None = None
) -> dict[str, Any]:
    """What a source has told of a symbol (empty: the account) for a time, the newest of each key;
    None: the last.
    """
    found: dict[str, Any] = {}
    for one in in_order(versions):
        is_own = (one.symbol, one.source) == (symbol, source)
        if is_own and (at_msc is None or one.since_msc <= at_msc):
            found |= one.told
    return without_nulls(found)
