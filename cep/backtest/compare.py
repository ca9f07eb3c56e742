"""Two folders of runs: what they were made of, what they came to, and which trades are not the
same.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from cep.backtest.errors import BacktestError
from cep.backtest.manifest import FORMAT, MANIFEST, METRICS, VERSION
from mt5bridge.arrow import reader

TRADES = "trades.parquet"
WHICH = ("signal", "symbol", "side", "opened_msc")
"""Trades of two runs that agree in these are the same one, in the order of closing."""
Row = dict[str, Any]


class Pair(NamedTuple):
    """A value of both runs; None where one has none."""

    name: str
    a: Any
    b: Any

    @property
    def differs(self) -> bool:
        return bool(self.a != self.b)


@dataclass(frozen=True, slots=True)
class TradePair:
    """A trade of both runs that is not the same in `columns`."""

    a: Row
    b: Row
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`manifest` and `files` have what differs, `metrics` all that is a number in both.

    `same` counts trades that agree in everything.
    """

    manifest: list[Pair]
    metrics: list[Pair]
    files: list[Pair]
    same: int
    different: list[TradePair]
    only_a: list[Row]
    only_b: list[Row]

    @property
    def has_other_results(self) -> bool:
        """Whether any file differs but the page, which repeats what the others say."""
        return bool(self.files)

    @property
    def differs(self) -> bool:
        return bool(self.manifest) or self.has_other_results

    def as_json(self) -> Row:
        """In values that JSON has."""
        return {
            "differs": self.differs,
            "results_differ": self.has_other_results,
            "manifest": [pair._asdict() for pair in self.manifest],
            "metrics": [pair._asdict() for pair in self.metrics],
            "files": [pair._asdict() for pair in self.files],
            "trades": {
                "same": self.same,
                "different": [
                    {"a": one.a, "b": one.b, "columns": one.columns} for one in self.different
                ],
                "only_a": self.only_a,
                "only_b": self.only_b,
            },
        }


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run, as far as it is compared."""

    manifest: Row
    metrics: Row
    trades: pa.Table


def read_run(folder: Path) -> Run:
    """BacktestError where that is no folder of a run, or its files are not as it wrote them."""
    found = _json(folder / MANIFEST, _read(folder / MANIFEST))
    if found.get("format") != FORMAT or not isinstance(found.get("files"), dict):
        raise BacktestError(f"{folder / MANIFEST}: not that of a run", "name a folder of --run")
    if found.get("version") != VERSION:
        raise BacktestError(
            f"{folder}: written in version {found.get('version')}, this reads {VERSION}",
            "run it again, or compare with the version that wrote it",
        )
    content = {name: _read(folder / name) for name in (METRICS, TRADES)}
    for name, data in content.items():
        if hashlib.sha256(data).hexdigest() != found["files"].get(name):
            raise BacktestError(
                f"{folder / name}: not as its run has written it", "restore it, or run it again"
            )
    trades = pq.read_table(reader(content[TRADES]))
    return Run(found, _json(folder / METRICS, content[METRICS]), trades)


def compare(a: Run, b: Run) -> Comparison:
    """What differs between two runs."""
    hashes = (one.manifest["files"] for one in (a, b))
    results = ({name: h for name, h in one.items() if name.endswith((".parquet", METRICS))}
               for one in hashes)  # fmt: skip
    same, different, only_a, only_b = _trades(a.trades.to_pylist(), b.trades.to_pylist())
    metrics = [pair for pair in pairs(a.metrics, b.metrics) if _is_number(pair)]
    made = [
        {name: value for name, value in one.manifest.items() if name not in ("files", "notes")}
        for one in (a, b)  # notes say in words what the rest says
    ]
    return Comparison(
        [pair for pair in pairs(*made) if pair.differs], metrics,
        [pair for pair in _paired(*results) if pair.differs], same, different, only_a, only_b,
    )  # fmt: skip


def pairs(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Pair]:
    """All values of two nested mappings, by the path of their names with dots between."""
    return _paired(dict(_flat(a)), dict(_flat(b)))


def _paired(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Pair]:
    for name in dict.fromkeys((*a, *b)):
        yield Pair(name, a.get(name), b.get(name))


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, one in value.items():
        if isinstance(one, dict):
            yield from _flat(one, f"{before}{name}.")
        else:
            yield f"{before}{name}", one


def _is_number(pair: Pair) -> bool:
    values = [value for value in (pair.a, pair.b) if value is not None]
    return bool(values) and all(type(value) in (int, float) for value in values)


def _trades(a: list[Row], b: list[Row]) -> tuple[int, list[TradePair], list[Row], list[Row]]:
    """How many are the same, those that are not, and those of one run only."""
    waiting: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in reversed(b):
        waiting[_which(row)].append(row)
    same, different, only_a = 0, [], []
    for row in a:
        others = waiting[_which(row)]
        if not others:
            only_a.append(row)
            continue
        other = others.pop()
        columns = tuple(pair.name for pair in _paired(row, other) if pair.differs)
        if columns:
            different.append(TradePair(row, other, columns))
        else:
            same += 1
    left = {id(row) for rows in waiting.values() for row in rows}
    return same, different, only_a, [row for row in b if id(row) in left]


def _which(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in WHICH)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise BacktestError(
            f"{path.parent}: no folder of a run (no {path.name})",
            "`mt5cep backtest .. --run DIRECTORY` writes one",
        ) from None


def _json(path: Path, data: bytes) -> Row:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise BacktestError(f"{path}: damaged ({problem})", "restore it, or run again") from None
