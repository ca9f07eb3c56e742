"""Columns of text and numbers -> tick records, with unchanged prices carried forward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.epochs import BadRow, Ints
from mt5bridge.history.folds import DoubleHours, Place, check_gaps, through
from mt5bridge.history.layout import Layout
from mt5bridge.history.times import times_of
from mt5bridge.history.zones import DAY_MS, UTC, ServerTime
from mt5bridge.records import TICK, Records, TickFlag

Floats = npt.NDArray[np.float64]
NAME_REMEDY = "write it as the terminal has it"
FLAGS_MAX = 2**32 - 1
CARRIED = {"bid": TickFlag.BID, "ask": TickFlag.ASK, "last": TickFlag.LAST,
           "volume": TickFlag.VOLUME}  # fmt: skip


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
    _folds: DoubleHours = field(init=False)

    def __post_init__(self) -> None:
        self._folds = DoubleHours(self.server or UTC)

    def blocks(self, table: pa.Table, place: Place) -> Iterator[TickBlock]:
        """Ticks of `table`, one block a symbol and offset; `place` says where a row of it is.

        pa.ArrowInvalid or BadRow for a bad time, BadRow for a missing symbol.
        """
        wall, offsets, is_local = self.times(table)
        check_amounts(table)
        for symbol, rows in self._symbols(table):
            part = table if rows is None else table.take(pa.array(rows))
            chosen = slice(None) if rows is None else rows
            records = self._records(symbol, part, wall[chosen])
            own = offsets[chosen]
            if is_local:
                where = place if rows is None else through(place, rows)
                own = self._folds.resolve(symbol, wall[chosen], own, where)
            yield from _split(symbol, records, own)

    def finish(self) -> None:
        """HistoryError for clock times of which the whole file does not tell what they are."""
        self._folds.finish()

    def check(self, table: pa.Table) -> None:
        """Raise pa.ArrowInvalid for a bad time, BadRow for a bad time or no symbol."""
        self.times(table)
        check_amounts(table)
        for _ in self._symbols(table):
            pass

    def times(self, table: pa.Table) -> tuple[Ints, Ints, bool]:
        """(server time, its offset from UTC) of each row, both ms, and whether a zone gave it."""
        columns = [table[name] for name in self.layout.times]
        column = columns[0]
        if len(columns) == 2:
            column = pc.binary_join_element_wise(*(c.cast(pa.string()) for c in columns), " ")
        msc, zoned = times_of(column, "s" if self.layout.times == ("time",) else "ms")
        self._check_day(msc)
        is_clock = zoned is False or self.layout.midnight_msc is not None
        if is_clock and self.server is None:
            raise BadRow(
                0, "its times have no zone",
                "say what the server's clock shows, --server-time UTC, +02:00 or Europe/Athens",
                fatal=True,
            )  # fmt: skip
        server = UTC if zoned or self.server is None else self.server
        check_gaps(server, msc)
        return msc, server.offsets_ms(msc), server.zone is not None

    def _check_day(self, msc: Ints) -> None:
        """BadRow for a time out of the day from whose midnight the file counts."""
        if (midnight_msc := self.layout.midnight_msc) is None or not len(msc):
            return
        of_day = msc - midnight_msc
        row = int(np.argmax((of_day < 0) | (of_day >= DAY_MS)))
        if not 0 <= of_day[row] < DAY_MS:
            what = f"{of_day[row]} ms from midnight is no time of the file's day"
            raise BadRow(row, what, f"times are 0 to {DAY_MS - 1}")

    def _symbols(self, table: pa.Table) -> Iterator[tuple[str, Ints | None]]:
        """(symbol, its rows); None stands for all rows."""
        if "symbol" not in table.column_names:
            if not self.symbol:
                raise HistoryError(
                    f"{self.path}: no symbol in its columns, nor in its name as exports have it; "
                    "give the symbol, for example --symbol EURUSD"
                )
            if problem := unnamed(self.symbol):
                raise HistoryError(f"{self.path}: {problem}; {NAME_REMEDY}")
            yield self.symbol, None
            return
        codes = table["symbol"].cast(pa.string()).combine_chunks().dictionary_encode()
        names = codes.dictionary.to_pylist()
        blank = pa.array([code for code, name in enumerate(names) if not name.strip()], pa.int32())
        if codes.null_count or len(blank):
            missing = pc.fill_null(pc.is_in(codes.indices, blank), False)
            row = pc.or_(missing, codes.is_null()).index(True).as_py()
            raise BadRow(row, "the symbol is missing", "every tick needs one")
        for code, name in enumerate(names):
            if problem := unnamed(name):
                row = int(np.argmax(codes.indices.to_numpy() == code))
                raise BadRow(row, problem, NAME_REMEDY)
        for code, symbol in enumerate(names):
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


def unnamed(symbol: str) -> str | None:
    """What is wrong with the name of a symbol, if anything is."""
    if not symbol.isprintable():
        return f"the symbol {symbol!r} has a character that cannot be seen"
    if symbol != symbol.strip():
        return f"the symbol {symbol!r} begins or ends with a space"
    return None


def check_amounts(table: pa.Table) -> None:
    """BadRow for volumes below zero and flags that are no set of bits."""
    for name, most, remedy in (
        ("volume", np.inf, "volumes are 0 or more"),
        ("flags", FLAGS_MAX, f"flags are whole numbers from 0 to {FLAGS_MAX}"),
    ):
        if name not in table.column_names:
            continue
        values = pc.fill_null(table[name], 0.0).to_numpy().astype(np.float64)
        good = (values >= 0) & (values <= most) & np.isfinite(values)
        if name == "flags":
            good &= np.floor(values) == values
        if not good.all():
            row = int(np.argmin(good))
            raise BadRow(row, f"{name} {float(values[row]):g}", remedy)


def carried(values: Floats, missing: npt.NDArray[np.bool_], previous: float) -> Floats:
    """`values` with each missing one replaced by the last that is not, at first by `previous`."""
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(len(values))))
    return np.where(last < 0, previous, values[last])


def _whole(volume: Floats) -> npt.NDArray[np.uint64]:
    return np.clip(np.nan_to_num(volume), 0, 2.0**63).astype(np.uint64)


def _split(symbol: str, records: Records, offsets: Ints) -> Iterator[TickBlock]:
    """One block for each stretch of rows with the same offset."""
    if not len(records):
        return
    starts = np.concatenate([[0], np.flatnonzero(np.diff(offsets)) + 1, [len(records)]])
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield TickBlock(symbol, records[begin:end], int(offsets[begin]))
