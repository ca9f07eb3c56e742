"""What a sweep has found: all rows, the best, and how much of that is luck."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet

from cep.sweep.deflated import deflated
from cep.sweep.errors import SweepError
from cep.sweep.tried import Tried, ranked

FORMATS = (".csv", ".parquet", ".json")


@dataclass(frozen=True, slots=True)
class Found:
    """Rows in the order of their numbers; `wanted` is how many were to be tried."""

    rows: Sequence[Tried]
    wanted: int

    @property
    def run(self) -> list[Tried]:
        """Those whose rules could be run."""
        return [one for one in self.rows if not one.error]

    def best(self, by: str, count: int = 10) -> list[Tried]:
        """The best of them by a measure."""
        return ranked(self.run, by)[:count]

    def luck(self, by: str) -> float | None:
        """The deflated Sharpe ratio of the best, by the points of its trades; None where there is
        too little to tell.
        """
        found = self.best(by, 1)
        sharpes = [value for one in self.run if (value := one.measures["sharpe"]) is not None]
        return deflated(found[0].trade_points, sharpes, len(self.run)) if found else None

    def table(self) -> pa.Table:
        """A row for each, with a column for each parameter and measure."""
        return pa.Table.from_pylist([one.row() for one in self.rows])

    def content(self, path: Path) -> bytes:
        """The rows as a file of the format that its name says. SweepError for another one."""
        need_format(path)
        sink = BytesIO()
        if path.suffix == ".csv":
            csv.write_csv(self.table(), sink)
        elif path.suffix == ".parquet":
            parquet.write_table(self.table(), sink)
        else:
            sink.write(json.dumps([one.row() for one in self.rows], indent=1).encode() + b"\n")
        return sink.getvalue()


def need_format(path: Path) -> None:
    """SweepError for a file whose name says no format."""
    if path.suffix not in FORMATS:
        raise SweepError(f"{path}: no format", f"name it with one of {', '.join(FORMATS)}")
