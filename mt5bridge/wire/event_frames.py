"""The frames of complex events: what a terminal wants, what there is, and each event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from mt5bridge.wire.checks import check_count, check_finite, check_sequences, check_times, require
from mt5bridge.wire.codes import FieldKind, FrameType, Wanted
from mt5bridge.wire.layout import F8, I8, U8, Text

WANTED_MAX = 1_024
BOUND_MAX = 1_024
FIELDS_MAX = 1_024
FEED = "@"
"""Begins the names of feeds, and of no complex event."""
ROWS, ORDERS, ACCOUNTS = "@rows", "@orders", "@accounts"
LASTING = frozenset({ORDERS, ACCOUNTS})
"""Feeds whose numbers go on under another numbering of the rules."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A wish: all complex events, an engine's or one by name; or the number of the newest known."""

    wanted: Annotated[Wanted, "B"]
    number: U8
    name: Text

    def __post_init__(self) -> None:
        is_known, is_all = self.wanted is Wanted.KNOWN, self.wanted is Wanted.ALL
        require(is_known or not self.number, f"{self.wanted.name} with number {self.number}")
        require(is_all != bool(self.name), f"{self.wanted.name} of the name {self.name!r}")
        check_sequences(self.number)


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Terminal: send me these complex events, and what I have missed of those I know.

    It replaces what was subscribed before; `numbering` is that of the numbers known, 0 without.
    """

    TYPE: ClassVar = FrameType.SUBSCRIBE
    numbering: U8
    entries: tuple[Entry, ...]

    def __post_init__(self) -> None:
        check_count(len(self.entries), WANTED_MAX, "entries")


@dataclass(frozen=True, slots=True)
class Standing:
    """A complex event of the rules, and the number of its newest occurrence; 0: none yet."""

    number: U8
    name: Text
    engine: Text

    def __post_init__(self) -> None:
        check_sequences(self.number)


@dataclass(frozen=True, slots=True)
class Subscribed:
    """Daemon: the complex events that are subscribed; under another `numbering` numbers are new."""

    TYPE: ClassVar = FrameType.SUBSCRIBED
    numbering: U8
    events: tuple[Standing, ...]

    def __post_init__(self) -> None:
        check_count(len(self.events), WANTED_MAX, "complex events")


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute of the row that raised a simple event; `kind` says where its value is."""

    kind: Annotated[FieldKind, "B"]
    whole: I8
    number: F8
    name: Text
    text: Text

    def __post_init__(self) -> None:
        check_finite(self.number)

    @property
    def value(self) -> bool | int | float | str | None:
        """The value in Python's terms."""
        match self.kind:
            case FieldKind.NULL:
                return None
            case FieldKind.BOOL:
                return bool(self.whole)
            case FieldKind.WHOLE:
                return self.whole
            case FieldKind.NUMBER:
                return self.number
        return self.text


@dataclass(frozen=True, slots=True)
class Bound:
    """A simple event in a complex one; `stream` is that of the row which raised it.

    `time_msc` 0 and no fields: the daemon does not remember the row.
    """

    sequence: U8
    time_msc: I8
    name: Text
    stream: Text
    key: Text
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        check_times(self.time_msc)
        check_count(len(self.fields), FIELDS_MAX, "fields")


@dataclass(frozen=True, slots=True)
class Event:
    """Daemon: the `number`-th occurrence of a complex event, and the simple events in it, in order.

    Times are UTC; `first_msc` is that of the first simple event.
    """

    TYPE: ClassVar = FrameType.EVENT
    number: U8
    time_msc: I8
    first_msc: I8
    name: Text
    engine: Text
    key: Text
    bound: tuple[Bound, ...]

    def __post_init__(self) -> None:
        require(self.number >= 1, "events are numbered from 1 on")
        check_sequences(self.number)
        check_times(self.time_msc, self.first_msc)
        require(bool(self.name), "a complex event has a name")
        check_count(len(self.bound), BOUND_MAX, "simple events")

    @property
    def is_of_feed(self) -> bool:
        """Whether it is an entry of a feed (13.8), and no complex event."""
        return self.name.startswith(FEED)

    @property
    def previous(self) -> int:
        """The number before this one; of a feed 0 where it does not tell."""
        if self.is_of_feed:
            return self.bound[0].sequence if self.bound else 0
        return self.number - 1
