"""What every part of a running plan shares, and how parts are named, kept and restored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from loguru import logger

from cep.clocks import Lateness
from cep.dropped import Dropped, Reason
from cep.interpreter.cause import Cause
from cep.interpreter.clock import FIRST, Clock, Fire, Rank, Site, Timer
from cep.interpreter.clocks import NO_KEY, Clocks
from cep.interpreter.rows import Row
from cep.interpreter.streams import Junction
from cep.plan.change import PartId
from cep.plan.clocks import ClockOf
from cep.plan.steps import Kinds

if TYPE_CHECKING:
    from cep.interpreter.events.keys import KeySlots

ALL_TOGETHER = ClockOf(frozenset())
"""The clock of what stands outside a plan."""

Trace = Callable[[str, str, Row | None], None]
"""Told (place, what happened, row) by the parts of a query: see `Step` and `match.Outcome`."""


class Step(StrEnum):
    """What the trace says of a row in a query.

    The place of a condition is `/query/NAME/before/0` (`after`, behind the window; in a join below
    `left` or `right`), else it is that of the query. In a partition it begins with
    `/partition/NAME/KEY/QUERY`. Rows of HAVING carry `aggregates` and `output`.
    """

    FILTERED = "condition failed"
    HAVING = "having failed"
    SELECTED = "selected"


class Stateful(Protocol):
    """A part with state. `state` gives plain data (None, numbers, strings, lists, dicts with
    string keys, `Row`); `restore` takes it back, into a part just made."""

    def state(self) -> Any: ...

    def restore(self, state: Any) -> None: ...


class Shared:
    """One per running plan: its clocks, the parts by path, streams, tables, windows, the trace.

    With `playback` the times of the rows drive the clocks; `clock` is the one where there is one
    for all. `of_plan` says where each part stands in the file, and by which clock it goes.
    `uuid_names` says by query what its own names follow from.
    `streams` holds the junctions of streams and of named windows. `wall_ms` is the wall's clock,
    where it has been told. `common` is what all partition keys of a place share in Siddhi's mode;
    no snapshot has it.
    """

    keys: KeySlots

    def __init__(
        self,
        compat: bool,
        playback: bool = True,
        clock: Clock | None = None,
        lateness: Lateness | None = None,
        of_plan: Mapping[PartId, tuple[int, ClockOf]] | None = None,
        uuid_names: Mapping[str, str] | None = None,
    ) -> None:
        self.lateness = Lateness() if lateness is None else lateness
        self.clock = Clock() if clock is None else clock
        has_keys = playback and not compat and self.lateness.mode == "lived"
        self.clocks = Clocks(self.lateness, None if has_keys else self.clock)
        self.of_plan = of_plan or {}
        self.uuid_names = uuid_names or {}
        self.compat = compat
        self.playback = playback
        self.wall_ms: int | None = None
        self.parts: dict[str, Stateful] = {}
        self.timers: dict[str, Timer] = {}
        self.streams: dict[str, Junction] = {}
        self.common: dict[str, dict[str, Any]] = {}
        self.tables: dict[str, Any] = {}
        self.windows: dict[str, Any] = {}
        self.aggregations: dict[str, Any] = {}
        self.trace: Trace | None = None
        self.cause = Cause()
        self.dropped = Dropped()


class Context:
    """A place in the running plan: its path names the parts and timers made there.

    In a partition `key` is the key, and `place` the path with `*` for it. `owner` names the query
    or event in a way that does not depend on what else a file has. `wants_expired` says whether
    what is written here takes expired rows, which some of Siddhi's windows go by. What is dropped
    here is counted under the name of `part`.
    """

    def __init__(
        self,
        shared: Shared,
        path: str = "",
        place: str | None = None,
        key: str | None = None,
        owner: str = "",
        wants_expired: bool = True,
    ) -> None:
        self.shared = shared
        self.path = path
        self.place = path if place is None else place
        self.key = key
        self.owner = owner
        self.wants_expired = wants_expired
        self.clock = shared.clock
        self.clock_of = ALL_TOGETHER
        self.rank = FIRST
        self.part: PartId = ("", "")

    @property
    def now_ms(self) -> int:
        """The clock; before it knows a time, the newest of all; 0 where none does, as in Siddhi."""
        now_ms = self.clock.now_ms
        return (self.shared.clocks.now_ms or 0) if now_ms is None else now_ms

    @property
    def compat(self) -> bool:
        """Whether Siddhi's defects are wanted."""
        return self.shared.compat

    @property
    def cause(self) -> Cause:
        """What is under way."""
        return self.shared.cause

    @property
    def calls_of(self) -> str:
        """Whose calls are counted together, for names of their own."""
        return f"{self.owner or self.place} {self.key or ''}"

    def within(self, name: str) -> Context:
        """The place `name` inside this one."""
        found = copy(self)
        found.path, found.place = f"{self.path}/{name}", f"{self.place}/{name}"
        return found

    def owned_by(self, owner: str) -> Context:
        """This place, as that of a query or event."""
        found = copy(self)
        found.owner = owner
        return found

    def wanting(self, output: Kinds) -> Context:
        """This place, as one that writes rows of those kinds."""
        found = copy(self)
        found.wants_expired = output != "current"
        return found

    def going_by(self, kind: str, name: str) -> Context:
        """This place, as that of a part of the plan, with its clock and its place in the file."""
        place, clock_of = self.shared.of_plan.get((kind, name), (0, ALL_TOGETHER))
        found = copy(self)
        found.part = kind, name
        found.clock_of = clock_of
        found.rank = Rank(place, self.rank.key)
        found.clock = self.shared.clocks.common(clock_of.sources)
        if self.key is not None:
            found.clock = self.shared.clocks.of_key(clock_of, self.key)
        return found

    def of_key(self, key: str | None) -> Context:
        """The place of a key inside this one, None being the key of rows without."""
        text = NO_KEY if key is None else quote(key, safe="")
        found = copy(self)
        found.path, found.place, found.key = f"{self.path}/{text}", f"{self.place}/*", key
        found.clock = self.shared.clocks.of_key(self.clock_of, key)
        if not self.compat:
            found.rank = Rank(self.rank.place, self.shared.clocks.first(key))
        return found

    def of_group(self, number: int, key: str | None) -> Context:
        """The place of a group of rows of a key inside this one, by the number of the group."""
        found = self.of_key(key) if self.clock_of.key_positions else self
        return found.within(str(number))

    def key_of(self, row: Row) -> str | None:
        """The key of a row of what is read here, by which it has a clock."""
        for position in self.clock_of.key_positions:
            value = row.values[position]
            return value if isinstance(value, str) else None
        return None

    def drop_for(self, reason: Reason, count: int = 1) -> None:
        """Count what is dropped here."""
        self.shared.dropped.add(self.part, reason, count)

    def tell(self, text: str, rows: Iterable[Row]) -> None:
        """Tell the trace, if there is one, what became of rows here."""
        if self.shared.trace is not None:
            for row in rows:
                self.shared.trace(self.path, text, row)

    def keep(self, part: Stateful, name: str) -> None:
        """Make a part's state belong to snapshots, under this place and that name."""
        path = f"{self.path}/{name}"
        if path in self.shared.parts:
            raise KeyError(f"{path} is taken")
        self.shared.parts[path] = part

    def timer(self, name: str, fire: Fire) -> Timer:
        """A timer of this place. What fails when it fires is logged, and time goes on."""
        path = f"{self.path}/{name}"

        def guarded(due_ms: int) -> None:
            try:
                with self.shared.cause.at(due_ms):
                    fire(due_ms)
            except Exception as error:  # noqa: BLE001 -- user functions may raise anything
                logger.opt(exception=error).error("{} at {}: {}", path, due_ms, error)

        site = Site(f"{self.place}/{name}", self.key or "", FIRST if self.compat else self.rank)
        timer = self.clock.timer(path, guarded, site)
        self.shared.timers[path] = timer
        return timer

    def drop(self) -> None:
        """Forget every part and timer at and below this place (a purged partition key)."""
        below = self.path + "/"
        for path in [path for path in self.shared.parts if path.startswith(below)]:
            del self.shared.parts[path]
        for path in [path for path in self.shared.timers if path.startswith(below)]:
            timer = self.shared.timers.pop(path)
            timer.clock.drop(timer)
