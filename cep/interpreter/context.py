"""What every part of a running plan shares, and how parts are named, kept and restored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from loguru import logger

from cep.clocks import Lateness
from cep.dropped import Dropped, Reason
from cep.interpreter.cause import Cause
from cep.interpreter.clock import Clock, Fire, Timer
from cep.interpreter.rows import Row
from cep.interpreter.streams import Junction
from cep.plan.change import Part
from cep.plan.query import Kinds

if TYPE_CHECKING:
    from cep.interpreter.events.keys import KeySlots

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
    """One per running plan: the clock, the parts by path, streams, tables, windows, the trace.

    With `playback` the times of the rows drive the clock. `streams` holds the junctions of streams
    and of named windows. `wall_ms` is the wall's clock, where it has been told.
    `common` is what all partition keys of a place share in Siddhi's mode; no snapshot has it.
    """

    keys: KeySlots

    def __init__(
        self,
        compat: bool,
        playback: bool = True,
        clock: Clock | None = None,
        lateness: Lateness | None = None,
    ) -> None:
        self.clock = Clock() if clock is None else clock
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
        self.lateness = Lateness() if lateness is None else lateness
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
        key: str = "",
        owner: str = "",
        wants_expired: bool = True,
        part: Part = ("", ""),
    ) -> None:
        self.shared = shared
        self.path = path
        self.place = path if place is None else place
        self.key = key
        self.owner = owner
        self.wants_expired = wants_expired
        self.part = part

    @property
    def now_ms(self) -> int:
        """The clock; 0 before the first time is known, as in Siddhi's playback."""
        return self.shared.clock.now_ms or 0

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
        return f"{self.owner or self.place} {self.key}"

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

    def of_part(self, part: Part) -> Context:
        """This place, as one of a part of the rules."""
        found = copy(self)
        found.part = part
        return found

    def wanting(self, output: Kinds) -> Context:
        """This place, as one that writes rows of those kinds."""
        found = copy(self)
        found.wants_expired = output != "current"
        return found

    def of_key(self, key: str) -> Context:
        """The place of a partition key inside this one."""
        return Context(self.shared, f"{self.path}/{quote(key, safe='')}", f"{self.place}/*", key)

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

        timer = self.shared.clock.timer(path, guarded, f"{self.place}/{name}", self.key)
        self.shared.timers[path] = timer
        return timer

    def drop(self) -> None:
        """Forget every part and timer at and below this place (a purged partition key)."""
        below = self.path + "/"
        for path in [path for path in self.shared.parts if path.startswith(below)]:
            del self.shared.parts[path]
        for path in [path for path in self.shared.timers if path.startswith(below)]:
            self.shared.clock.drop(self.shared.timers.pop(path))
