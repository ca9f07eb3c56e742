"""A change of rules while they run: what stays the same goes on, the rest begins now."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from cep.dropped import Dropped, SavedCounts
from cep.interpreter.codec import pack, unpack
from cep.interpreter.events.carry import carried
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.snapshot import Saved, Timers
from cep.plan.change import Change, Report, compared
from cep.plan.nodes import Plan

Rename = Callable[[str], str | None]
"""The path of a part or timer in the new plan; None when it does not go on."""
KEPT_KINDS = ("query", "table", "window", "aggregation", "trigger", "stream", "event", "engine")
"""Parts whose state lies below `/kind/name/`; that of partitions is below a key, too."""
RUN = "/run/"
"""Where the state of the run itself lies, which goes on whatever the rules say."""
DROPPED = f"{RUN}dropped"
"""What was dropped; of that, what names stay."""


def changed(interpreter: Interpreter, plan: Plan) -> tuple[Interpreter, Report]:
    """An interpreter of the new plan that goes on from this one's state, and what it kept.

    What is new or changed begins at the time of the clock. Callbacks stay where query or stream
    still exist. SnapshotError when a state cannot be taken over; the old interpreter is as before.
    """
    change = compared(interpreter.plan, plan)
    found = Interpreter(plan, playback=interpreter.playback, mode=interpreter.mode)
    interpreter.hand_callbacks(found)
    go_on(interpreter, found, change)
    return found, change.report()


def go_on(old: Interpreter, new: Interpreter, change: Change) -> None:
    """Give a new interpreter the state of what goes on, and begin with the rest.

    `change` may be that of rules of which these interpreters run a part.
    """
    new.go_on(_renamed(old.saved(), change), frozenset(change.kept))


def _renamed(saved: Saved, change: Change) -> Saved:
    """The state of what goes on, by its new names."""
    rename = _renamer(change)
    parts = {new: state for path, state in saved.parts.items() if (new := rename(path))}
    for engine in change.new.engines:
        place = f"/engine/{engine.name}/queue"
        if place in parts:
            parts[place] = pack(carried(unpack(parts[place]), engine, change))
    parts[DROPPED] = pack(_carried(unpack(parts[DROPPED]), change))
    partitions = {
        new: saved.partitions[old]
        for (kind, new), (_, old) in change.kept.items()
        if kind == "partition" and old in saved.partitions
    }
    return structs.replace(
        saved,
        timers=_timers(saved.timers, rename),
        wall=structs.replace(saved.wall, timers=_timers(saved.wall.timers, rename)),
        partitions=partitions,
        parts=parts,
    )


def _carried(state: SavedCounts, change: Change) -> SavedCounts:
    return Dropped.of(state).carried(change).state()


def _timers(timers: Timers, rename: Rename) -> Timers:
    return [(due, count, new) for due, count, name in timers if (new := rename(name))]


def _renamer(change: Change) -> Rename:
    places = {
        f"/{kind}/{old}/": f"/{kind}/{new}/"
        for (kind, new), (_, old) in change.kept.items()
        if kind in KEPT_KINDS
    }
    queries = {old: new for (kind, new), (_, old) in change.kept.items() if kind == "query"}
    partitions = [f"/partition/{new}/" for kind, new in change.kept if kind == "partition"]

    def rename(path: str) -> str | None:
        if path.startswith(RUN):
            return path
        for place in partitions:
            if path.startswith(place):
                return _in_partition(path, place, queries)
        for end in _slashes(path):
            if path[: end + 1] in places:
                return places[path[: end + 1]] + path[end + 1 :]
        return None

    return rename


def _in_partition(path: str, place: str, queries: dict[str, str]) -> str | None:
    """A path below `/partition/name/`: of the partition itself, or of a query below a key."""
    key, _, rest = path.removeprefix(place).partition("/")
    if not rest:
        return path
    for end in _slashes(rest):
        if rest[:end] in queries:
            return f"{place}{key}/{queries[rest[:end]]}{rest[end:]}"
    return None


def _slashes(path: str) -> list[int]:
    return [at for at, letter in enumerate(path) if letter == "/"]
