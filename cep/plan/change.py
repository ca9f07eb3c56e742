"""What stays the same between two plans, so that a run of the one can go on as a run of the other.

An operator stays the same when its definition does and so does all it depends on: the streams it
reads with whatever writes them, its engine, its partition. A table is what its definition says; who
reads it also depends on who writes it. Numbers of events are no part of a definition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cep.plan.expressions import InTable
from cep.plan.nodes import Chained, Complex, Event, Operator, Plan, Ref, leaves, nodes_below
from cep.plan.nodes import Sequence as Followed
from cep.plan.outlets import outlets
from cep.plan.query import Query
from cep.plan.steps import Delete, Holder, Insert, Return, Update

PartId = tuple[str, str]
"""What it is (`query`, `event`, `engine`, `table`, ..) and its name."""
UNSEEN = ("stream", "contents", "chained")
"""Parts that reports leave out: they are told by their readers."""
NEW = "it is new"
CHANGED = "its definition changed"


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a part in a change, and why."""

    kind: str
    name: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f": {self.why}" if self.why else "")


@dataclass(frozen=True, slots=True)
class Report:
    """What a change of rules did: parts that go on, start empty, are new, and are gone."""

    kept: tuple[Fate, ...]
    reset: tuple[Fate, ...]
    new: tuple[Fate, ...]
    dropped: tuple[Fate, ...]

    def __str__(self) -> str:
        groups = (("kept", self.kept), ("reset", self.reset), ("new", self.new))
        titled = (*groups, ("dropped", self.dropped))
        return "\n".join(
            f"{title}: " + "; ".join(map(str, fates)) for title, fates in titled if fates
        )


@dataclass(slots=True)
class Change:
    """From `old` to `new`: per part of the new plan the old part it goes on from (`kept`).

    Parts that do not go on have a reason in `why`. Back ends `reset` what they cannot carry over.
    """

    old: Plan
    new: Plan
    kept: dict[PartId, PartId] = field(default_factory=dict)
    why: dict[PartId, str] = field(default_factory=dict)

    def reset(self, part: PartId, why: str) -> None:
        """Let a part start empty after all; what depends on it goes on."""
        if self.kept.pop(part, None) is not None:
            self.why[part] = why

    def query(self, name: str) -> str | None:
        """The old name of a query that goes on; None when it does not."""
        old = self.kept.get(("query", name))
        return old[1] if old else None

    def report(self) -> Report:
        """What goes on and what does not, in order of definition."""
        shown = [part for part in definitions(self.new) if part[0] not in UNSEEN]
        renamed = set(self.kept.values())
        same = set(shown)
        new = {one.name for one in self.new.signals}
        old = {one.name for one in self.old.signals}
        reset = [part for part in shown if part in self.why and self.why[part] != NEW]
        return Report(
            tuple(_fate(part, new, self._before(part)) for part in shown if part in self.kept),
            tuple(_fate(part, new, self.why[part]) for part in reset),
            tuple(_fate(part, new) for part in shown if self.why.get(part) == NEW),
            tuple(
                _fate(part, old)
                for part in definitions(self.old)
                if part[0] not in UNSEEN and part not in renamed and part not in same
            ),
        )

    def _before(self, part: PartId) -> str:
        before = self.kept[part][1]
        return "" if before == part[1] else f"it was {before}"


def _fate(part: PartId, signals: Collection[str], why: str = "") -> Fate:
    """What became of a part; the queries of signals go by what they are for."""
    kind, name = part
    return Fate("signal" if kind == "query" and name in signals else kind, name, why)


def compared(old: Plan, new: Plan) -> Change:
    """What goes on when a run of `old` becomes one of `new`."""
    change = Change(old, new)
    before, after = definitions(old), definitions(new)
    pairs = _pairs(before, after)
    modes = (old.compat, old.playback) == (new.compat, new.playback)
    for part, definition in after.items():
        previous = pairs.get(part)
        if previous is None:
            change.why[part] = NEW
        elif not modes:
            change.why[part] = "the mode of the rules changed"
        elif before[previous] != definition:
            change.why[part] = CHANGED
        else:
            change.kept[part] = previous
    _spread(change, _needs(old), _needs(new))
    return change


def definitions(plan: Plan) -> dict[PartId, Any]:
    """What each part says; equal for parts that mean the same."""
    found: dict[PartId, Any] = {("stream", stream.name): stream for stream in plan.streams}
    for kind, nodes in (
        ("table", plan.tables),
        ("window", plan.windows),
        ("trigger", plan.triggers),
        ("aggregation", plan.aggregations),
        ("partition", plan.partitions),
        ("engine", plan.engines),
    ):
        found |= {(kind, node.name): node for node in nodes}
    found |= {("contents", table.name): table for table in plan.tables}
    found |= {chained_part(one): replace(one, number=0) for one in plan.chained}
    found |= {operator_part(one): _anonymous(one) for one in plan.operators}
    return found


def operator_part(operator: Operator) -> PartId:
    """An operator as a part."""
    kinds: dict[type[Operator], str] = {Query: "query", Event: "event", Complex: "complex"}
    return kinds[type(operator)], operator.name


def chained_part(chained: Chained) -> PartId:
    """A complex event in the queue of another engine, as a part."""
    return "chained", f"{chained.complex}@{chained.engine}"


def _anonymous(operator: Operator) -> Operator:
    match operator:
        case Query():
            return replace(operator, name="")
        case Event() | Complex():
            return replace(operator, number=0)


def _pairs(before: Mapping[PartId, Any], after: Mapping[PartId, Any]) -> dict[PartId, PartId]:
    """Parts of one name; queries that say the same may have another (`query2` was `query1`)."""
    pairs = {part: part for part in after if part in before}
    moved = [p for p in after if p[0] == "query" and (p not in before or before[p] != after[p])]
    free: defaultdict[Any, list[PartId]] = defaultdict(list)
    for part, definition in before.items():
        if part[0] == "query" and after.get(part) != definition:
            free[definition].append(part)
    taken = set()
    for part in moved:
        if free[after[part]]:
            pairs[part] = free[after[part]].pop(0)
            taken.add(pairs[part])
    for part in moved:
        if pairs.get(part) == part and part in taken and before[part] != after[part]:
            del pairs[part]  # the old one of this name goes on under another
    return pairs


@dataclass(frozen=True, slots=True)
class _Needs:
    """What a part depends on; of what has `writers` the same ones must write, in the same order."""

    parts: dict[PartId, tuple[PartId, ...]]
    writers: dict[PartId, tuple[PartId, ...]]


def _spread(change: Change, old: _Needs, new: _Needs) -> None:
    """Take out what depends on something that does not go on, until nothing more does."""
    while True:
        found = {
            part: why
            for part, previous in change.kept.items()
            if (why := _unlike(change, part, previous, old, new))
        }
        if not found:
            return
        for part, why in found.items():
            change.reset(part, why)


def _unlike(change: Change, part: PartId, previous: PartId, old: _Needs, new: _Needs) -> str:
    """Why a part cannot go on; empty when nothing speaks against it."""
    for need in new.parts.get(part, ()):
        if need not in change.kept:
            return _because(need, change.why.get(need, NEW))
    writers = new.writers.get(part, ())
    for writer in writers:
        if writer not in change.kept:
            return _because(writer, change.why.get(writer, NEW))
    if tuple(change.kept[writer] for writer in writers) != old.writers.get(previous, ()):
        return "other queries write it now"
    return ""


def _because(part: PartId, why: str) -> str:
    """The reason of a part that is not kept, as a reason of what depends on it."""
    kind, name = part
    if kind in ("stream", "contents") and why not in (NEW, CHANGED):
        return why
    what = "rows of table" if kind == "contents" else kind
    return f"{what} {name} {'is new' if why == NEW else 'changed'}"


def _needs(plan: Plan) -> _Needs:
    parts: dict[PartId, tuple[PartId, ...]] = {}
    writers: defaultdict[PartId, list[PartId]] = defaultdict(list)
    for operator in plan.operators:
        part = operator_part(operator)
        parts[part] = tuple(dict.fromkeys(read_by(plan, operator)))
        for target in written_by(plan, operator):
            writers[target].append(part)
    for trigger in plan.triggers:
        writers["stream", trigger.name].append(("trigger", trigger.name))
    for stream in plan.streams:
        if stream.name.startswith("!"):
            parts["stream", stream.name] = (("stream", stream.name[1:]),)
        if stream.reorder is not None and stream.reorder.late_stream is not None:
            writers["stream", stream.reorder.late_stream].append(("stream", stream.name))
    for aggregation in plan.aggregations:
        parts["aggregation", aggregation.name] = (("stream", aggregation.input.stream),)
    for partition in plan.partitions:
        keyed = tuple(("stream", key.stream) for key in partition.keys)
        parts["partition", partition.name] = keyed
    for chained in plan.chained:
        origin, engine = ("complex", chained.complex), ("engine", chained.engine)
        parts[chained_part(chained)] = (origin, engine)
    return _Needs(parts, {target: tuple(found) for target, found in writers.items()})


def written_by(plan: Plan, operator: Operator) -> Iterator[PartId]:
    """What an operator puts rows into."""
    if not isinstance(operator, Query):
        yield "stream", operator.name
        return
    # A table goes on whoever writes it; what reads it depends on its contents.
    for one in outlets(operator):
        yield ("contents" if one.holder is Holder.TABLE else one.holder.value), one.name
    if isinstance(operator.output, Delete | Update):
        yield "contents", operator.output.target


def read_by(plan: Plan, operator: Operator) -> Iterator[PartId]:
    """What an operator depends on."""
    match operator:
        case Query():
            yield from _read_by_query(operator)
        case Event():
            yield from (("stream", operator.source), ("engine", operator.engine))
        case Complex():
            yield "engine", operator.engine
            events = {event.name for event in plan.events if event.engine == operator.engine}
            for ref in (*leaves(operator.pattern), *_absent(operator.pattern), *operator.forbid):
                chained = f"{ref.event}@{operator.engine}"
                yield ("event", ref.event) if ref.event in events else ("chained", chained)


def _read_by_query(query: Query) -> Iterator[PartId]:
    for source in query.inputs:
        name = source.stream
        yield source.holder.value, name
        if source.holder is Holder.TABLE:
            yield "contents", name
    for node in nodes_below(query):
        if isinstance(node, InTable):
            yield from (("table", node.table), ("contents", node.table))
    if query.partition is not None:
        yield "partition", query.partition
    if not isinstance(query.output, Insert | Return):
        yield "table", query.output.target


def _absent(pattern: Any) -> Iterable[Ref]:
    """What must not come between two parts of a pattern."""
    if not hasattr(pattern, "left"):
        return ()
    own = pattern.absent if isinstance(pattern, Followed) else ()
    return (*_absent(pattern.left), *own, *_absent(pattern.right))
