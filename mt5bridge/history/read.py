"""The one way to read ticks from a file, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.columnar import read_parquet
from mt5bridge.history.delimited import read_csv
from mt5bridge.history.errors import Broken
from mt5bridge.history.jsonl import read_jsonl
from mt5bridge.history.zones import ServerTime
from mt5bridge.local import local

CSV, JSONL, PARQUET = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson"), (".parquet", ".pq")
_EXPORT = re.compile(r"(.+?)_\d{8,12}_\d{8,12}")


def read_ticks(
    path: Path | str,
    *,
    symbol: str | None = None,
    server: ServerTime | None = None,
    broken: Broken | None = None,
) -> Iterator[TickBlock]:
    """Ticks of a CSV, JSONL or Parquet file in blocks; HistoryError names file, line and remedy.

    `symbol` is needed unless a column or the name of an exported file (SYMBOL_from_to.csv) gives
    it; `server` unless times are numbers or carry a zone. `broken` decides about broken lines.
    """
    path = local(path)
    if not path.is_file():
        raise HistoryError(f"{path}: no such file; check the path")
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    name = symbol or symbol_in_name(path)
    broken = broken or Broken()
    if suffix in CSV:
        return read_csv(path, name, server, broken)
    if suffix in JSONL:
        return read_jsonl(path, name, server, broken)
    if suffix in PARQUET:
        return read_parquet(path, name, server)
    known = ", ".join(CSV + JSONL + PARQUET)
    raise HistoryError(f"{path}: unknown format {suffix!r}; name the file with one of {known}")


def symbol_in_name(path: Path) -> str | None:
    """The symbol in a file name as MetaTrader's export makes it."""
    match = _EXPORT.match(path.name)
    return match[1] if match else None
