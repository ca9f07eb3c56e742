"""The one way to read ticks from a file, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from mt5bridge.history.bi5 import BI5, read_bi5
from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.columnar import read_parquet
from mt5bridge.history.delimited import Form, read_csv
from mt5bridge.history.errors import Broken
from mt5bridge.history.jsonl import read_jsonl
from mt5bridge.history.vendors import symbol_in_name
from mt5bridge.history.zipped import ZIP, member
from mt5bridge.history.zones import UTC, ServerTime, the_clock
from mt5bridge.local import local

CSV, JSONL, PARQUET = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson"), (".parquet", ".pq")
FORMATS = (*CSV, *JSONL, *PARQUET, ZIP, BI5)


def read_ticks(
    path: Path | str,
    *,
    symbol: str | None = None,
    server: ServerTime | None = None,
    broken: Broken | None = None,
    points: Mapping[str, float] = {},
    decimal_comma: bool = False,
) -> Iterator[TickBlock]:
    """Ticks of a CSV, JSONL, Parquet or bi5 file in blocks; HistoryError names file, line, remedy.

    CSV and JSONL may be gzipped, CSV may be in a zip file. `symbol` is needed unless a column or
    the file's name, as vendors write it, gives it; `server` unless times are numbers, carry a zone
    or are of a vendor whose clock is known, which it must not contradict. `broken` decides
    about broken lines; `points` are the prices of a point, by symbol, where a file counts in them.
    Commas in numbers of which none tells whether it parts thousands are refused, unless they are
    said to be a `decimal_comma`.
    """
    path = local(path)
    _need_file(path)
    broken = broken or Broken()
    suffix = _format(path)
    if suffix == ZIP:
        packed = member(path, CSV)
        name = symbol or symbol_in_name(Path(packed).name)
        return read_csv(path, name, server, broken, form=Form(packed, decimal_comma))
    if suffix == BI5:
        the_clock(path, server, UTC)
        return read_bi5(path, symbol, points)
    name = symbol or symbol_in_name(path.name)
    if suffix in CSV:
        return read_csv(path, name, server, broken, form=Form(None, decimal_comma))
    if suffix in JSONL:
        return read_jsonl(path, name, server, broken)
    if suffix in PARQUET:
        return read_parquet(path, name, server)
    known = ", ".join(FORMATS)
    raise HistoryError(f"{path}: unknown format {suffix!r}; name the file with one of {known}")


def files_in(path: Path) -> tuple[list[Path], list[Path]]:
    """What a folder and the folders in it have, by name: files of ticks, and others.

    Hidden ones are neither. A file stands for itself. HistoryError for a folder without ticks.
    """
    path = local(path)
    if not path.is_dir():
        return [path], []
    inside = [found for found in sorted(path.rglob("*")) if found.is_file()]
    shown = [
        file for file in inside if not any(p.startswith(".") for p in file.relative_to(path).parts)
    ]
    ticks = [file for file in shown if _format(file) in FORMATS]
    if not ticks:
        raise HistoryError(f"{path}: a folder without a file of ticks ({', '.join(FORMATS)})")
    return ticks, [file for file in shown if _format(file) not in FORMATS]


def _format(path: Path) -> str:
    return (Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix).lower()


def _need_file(path: Path) -> None:
    if path.is_dir():
        raise HistoryError(f"{path}: a folder, not a file; name the files in it, in order of time")
    if path.exists() and not path.is_file():
        raise HistoryError(f"{path}: no regular file; write the ticks to a file and name that")
    if not path.is_file():
        raise HistoryError(f"{path}: no such file; check the path")
