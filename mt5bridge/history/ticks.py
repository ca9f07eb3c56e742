"""Columns of text and numbers -> tick records, with unchanged prices carried forward."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.layout import Layout
from mt5bridge.history.zones import UTC, ServerTime
from mt5bridge.records import TICK, Records, TickFlag

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
CARRIED = {"bid": TickFlag.BID, "ask": TickFlag.ASK, "last": TickFlag.LAST,
           "volume": TickFlag.VOLUME}  # fmt: skip

_FORMS = (
    (r"^(\d{4})[./]?(\d\d)[./]?(\d\d)\b", r"\1-\2-\3"),
    (r"^(\S+)[ T](\d\d)(\d\d)(\d\d)\b", r"\1 \2:\3:\4"),
)
"""Dates with dots or nothing between their parts, times with nothing, as ISO 8601."""
_DATE = re.compile(r"\d{4}[-./]\d\d[-./]\d\d")


@dataclass(slots=True)
class Assembler:
    """Turns tables of one file into tick blocks; remembers each symbol's last values.

    `symbol` names the ticks of a file without a symbol column; `server` says what its clock
    shows, and is needed for times written as text without a zone.
    """

    path: Path
    layout: Layout
    symbol: str | None
    server: ServerTime | None
    previous: dict[str, dict[str, float]] = field(default_factory=dict)

    def blocks(self, table: pa.Table) -> Iterator[TickBlock]:
        """Ticks of `table`, one block a symbol and offset; pa.ArrowInvalid for a bad time."""
        wall, offsets = self.times(table)
        for symbol, rows in self._symbols(table):
            part = table if rows is None else table.take(pa.array(rows))
            chosen = slice(None) if rows is None else rows
            records = self._records(symbol, part, wall[chosen])
            yield from _split(symbol, records, offsets[chosen])

    def check(self, table: pa.Table) -> None:
        """Raise pa.ArrowInvalid when a time or symbol of `table` cannot be used."""
        self.times(table)
        for _ in self._symbols(table):
            pass

    def times(self, table: pa.Table) -> tuple[Ints, Ints]:
        """(server time, its offset from UTC) of each row, both ms."""
        columns = [table[name] for name in self.layout.times]
        if len(columns) == 2:
            text = pc.binary_join_element_wise(
                *(column.cast(pa.string()) for column in columns), " "
            )
            return self._from_text(text)
        unit = 1000 if self.layout.times[0] == "time" else 1
        column = columns[0]
        if pa.types.is_timestamp(column.type):
            wall = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
            return self._at(wall, UTC if column.type.tz else self.server or UTC)
        if pa.types.is_string(column.type) and _is_text(column):
            return self._from_text(column)
        return self._at(pc.multiply_checked(column.cast(pa.int64()), unit), self.server or UTC)

    def _from_text(self, text: pa.ChunkedArray) -> tuple[Ints, Ints]:
        """Times such as `2024.01.31 23:59:59.123`; a final Z says UTC."""
        iso = pc.utf8_trim_whitespace(text)
        for pattern, form in _FORMS:
            iso = pc.replace_substring_regex(iso, pattern, form)
        zulu = pc.ends_with(iso, "Z")
        server = self.server
        if pc.all(zulu).as_py():
            iso, server = pc.utf8_rtrim(iso, "Z"), UTC
        if server is None:
            raise HistoryError(
                f"{self.path}: its times have no zone; say what the server's clock shows, "
                "for example UTC, +02:00 or Europe/Athens"
            )
        exact = iso.cast(pa.timestamp("ns"))
        return self._at(exact.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()), server)

    def _at(self, wall: pa.ChunkedArray, server: ServerTime) -> tuple[Ints, Ints]:
        if wall.null_count:
            raise pa.ArrowInvalid("a time is missing")
        times: Ints = wall.to_numpy()
        return times, server.offsets_ms(times)

    def _symbols(self, table: pa.Table) -> Iterator[tuple[str, Ints | None]]:
        """(symbol, its rows); None stands for all rows."""
        if "symbol" not in table.column_names:
            if not self.symbol:
                raise HistoryError(
                    f"{self.path}: no symbol in the file's name or columns; give the symbol"
                )
            yield self.symbol, None
            return
        codes = table["symbol"].cast(pa.string()).combine_chunks().dictionary_encode()
        if codes.null_count:
            raise pa.ArrowInvalid("a symbol is missing")
        for code, symbol in enumerate(codes.dictionary.to_pylist()):
            yield symbol, np.flatnonzero(codes.indices.to_numpy() == code)

    def _records(self, symbol: str, table: pa.Table, wall: Ints) -> Records:
        records = np.zeros(table.num_rows, TICK)
        records["time_msc"], records["time"] = wall, wall // 1000
        given = "flags" in table.column_names
        flags = (
            pc.fill_null(table["flags"], 0).to_numpy().astype(np.int64)
            if given
            else np.zeros(len(records), np.int64)
        )
        last = self.previous.setdefault(symbol, dict.fromkeys(CARRIED, 0.0))
        for name, flag in CARRIED.items():
            if name not in table.column_names:
                continue
            values = pc.fill_null(table[name], 0.0).to_numpy().astype(np.float64)
            missing = table[name].is_null().to_numpy()
            if given:  # some writers put 0 where nothing changed
                missing |= (values == 0) & (flags & flag == 0)
            else:
                flags |= np.where(missing | (values == 0), 0, int(flag))
            filled = carried(values, missing, last[name])
            last[name] = float(filled[-1]) if len(filled) else last[name]
            records["volume_real" if name == "volume" else name] = filled
        records["flags"] = flags
        records["volume"] = _whole(records["volume_real"])
        return records


def carried(values: Floats, missing: npt.NDArray[np.bool_], previous: float) -> Floats:
    """`values` with each missing one replaced by the last that is not, at first by `previous`."""
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(len(values))))
    return np.where(last < 0, previous, values[last])


def _whole(volume: Floats) -> npt.NDArray[np.uint64]:
    return np.clip(np.nan_to_num(volume), 0, 2.0**63).astype(np.uint64)


def _is_text(column: pa.ChunkedArray) -> bool:
    """Whether times are written as dates; the first one decides."""
    return len(column) > 0 and _DATE.match(str(column[0].as_py()).strip()) is not None


def _split(symbol: str, records: Records, offsets: Ints) -> Iterator[TickBlock]:
    """One block for each stretch of rows with the same offset."""
    if not len(records):
        return
    starts = np.concatenate([[0], np.flatnonzero(np.diff(offsets)) + 1, [len(records)]])
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield TickBlock(symbol, records[begin:end], int(offsets[begin]))
