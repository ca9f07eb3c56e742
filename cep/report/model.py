"""What a report is made of. Times are ms UTC; sequences are in time order unless said otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Role(StrEnum):
    """How a line is drawn; `UPPER` and `LOWER` enclose a shaded band, `STEPS` holds each value
    until the next, and so does `SECOND`, in another colour.
    """

    PRICE = "price"
    UPPER = "upper"
    MIDDLE = "middle"
    LOWER = "lower"
    STEPS = "steps"
    SECOND = "second"


class MarkerKind(StrEnum):
    """What a marker stands for."""

    EVENT = "event"
    COMPLEX = "complex"
    SIGNAL = "signal"
    FILL = "fill"


@dataclass(frozen=True, slots=True)
class Series:
    """A line over time; NaN values interrupt it. `time_msc` and `values` have equal length."""

    name: str
    role: Role
    time_msc: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Marker:
    """A point in time on a chart.

    `price` None puts it on the price line. `side` is buy, sell or close. `parts` are the ids of the
    markers it was bound from; they are connected when the reader points at this one.
    """

    kind: MarkerKind
    time_msc: int
    label: str
    price: float | None = None
    side: str = ""
    detail: str = ""
    id: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stay:
    """An event from its entering an engine's queue until it left, with the names and times of the
    complex events it was bound to. It leaves where it is opposed, comes again, or is too old.
    """

    number: int
    event: str
    key: str
    time_msc: int
    entered_msc: int
    left_msc: int
    binds: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class QueueCourse:
    """An engine's queue over time, stays in the order of entering; so each moment's can be shown.

    `span_ms` is how long an event stays at most. Some that entered before `known_msc` may be
    missing; None: all are here.
    """

    engine: str
    span_ms: int
    stays: tuple[Stay, ...]
    known_msc: int | None = None


@dataclass(frozen=True, slots=True)
class SymbolChart:
    """One tab: a symbol's lines and markers, and the queues that go with each moment; `digits` is
    the number of decimals of its prices.
    """

    symbol: str
    series: tuple[Series, ...]
    markers: tuple[Marker, ...] = ()
    digits: int = 5
    queues: tuple[QueueCourse, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """An event of an engine's queue with the names of the complex events it is bound to.

    `gone` says why it left the queue (expired, evicted, ...) and is empty while it is queued.
    """

    number: int
    event: str
    time_msc: int
    binds: tuple[str, ...] = ()
    key: str = ""
    gone: str = ""


@dataclass(frozen=True, slots=True)
class QueueView:
    """An engine's queue in arrival order, oldest first; the page shows the newest first."""

    engine: str
    entries: tuple[QueueEntry, ...]


@dataclass(frozen=True, slots=True)
class Time:
    """A table cell: a time that, with a symbol, leads to its place on the symbol's chart."""

    msc: int
    symbol: str = ""


Cell = str | int | float | None | Time


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; every row has one cell per column."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]


@dataclass(frozen=True, slots=True)
class Dot:
    """A place on a scatter, and what is said where the reader points at it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """Dots of two amounts against each other, with the names of both."""

    title: str
    across: str
    up: str
    dots: Sequence[Dot]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How amounts are distributed; at least one of them. `across` is what they are, and in what."""

    title: str
    across: str
    values: Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Heat:
    """What two settings come to: `texts[row][column]`, coloured by `shares`, from -1, bad, to 1.

    `up` is empty where there is one setting only. `best` is the row and column of a frame.
    """

    title: str
    across: str
    up: str
    columns: Sequence[str]
    rows: Sequence[str]
    texts: Sequence[Sequence[str]]
    shares: Sequence[Sequence[float | None]]
    best: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The one sentence that matters, and whether it is good news."""

    good: bool
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """A whole page, top to bottom."""

    title: str
    subtitle: str = ""
    verdict: Verdict | None = None
    summary: tuple[tuple[str, str], ...] = ()
    charts: tuple[SymbolChart, ...] = ()
    tables: tuple[Table, ...] = ()
    engines: tuple[QueueView, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    scatters: tuple[Scatter, ...] = ()
    heats: tuple[Heat, ...] = ()
