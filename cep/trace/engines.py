"""The engines under watch: each arrival of an event explained, the queue followed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from cep.engine.native import Run
from cep.engine.queues import Queued
from cep.engine.watch import Arrival, watch
from cep.plan.nodes import Engine, Event, Plan, Repeat
from cep.plan.text import duration_text
from cep.trace.binding import Binding, Moment, identity_of, name_text, queued_text
from cep.trace.notes import Notes
from cep.trace.scope import Scope
from cep.trace.texts import NamedRow, moment
from cep.trace.words import Identity

Found = dict[tuple[str, str | None, int], list[int]]
"""Complex events by name, key and the place of their last event: the places of their events."""


@dataclass(frozen=True, slots=True)
class Came:
    """An event that came to an engine: what entered (None: it was refused), what left, and why."""

    arrival: Arrival
    entered: Queued | None
    refusal: str
    departures: tuple[str, ...]

    @property
    def identity(self) -> Identity:
        return self.arrival.name, self.arrival.key

    @property
    def outcome(self) -> list[str]:
        """What to say where the event is defined."""
        entered, engine = self.entered, self.arrival.entry.engine
        head = self.refusal if entered is None else f"entered {engine} as #{entered.seq}"
        return [head, *self.departures]


class EngineWatch:
    """Follows the queue of one engine (that of the traced key, where each key has its own)."""

    def __init__(self, plan: Plan, engine: Engine, key: str | None) -> None:
        self.engine = engine
        self.departures: dict[Identity, str] = {}
        self._key = key
        self._opposites = {event.name: event.opposites for event in plan.events}
        self._held: tuple[Queued, ...] = ()
        self._clocks_msc: dict[str | None, int] = {}

    def text(self, queued: Queued) -> str:
        """`#2 AboveUpper`."""
        return queued_text(queued, self._key)

    def follow(self, arrival: Arrival) -> Came:
        """What an arrival has done to the queue."""
        clock_msc = max(arrival.clock_msc, self._clocks_msc.get(arrival.key, 0))
        self._clocks_msc[arrival.key] = clock_msc
        known = {queued.seq for queued in self._held}
        kept = {queued.seq for queued in arrival.queue}
        entered = next((one for one in arrival.queue if one.seq not in known), None)
        departures = tuple(self._leave(one, arrival) for one in self._held if one.seq not in kept)
        self._held = arrival.queue
        return Came(arrival, entered, "" if entered else self._refusal(arrival), departures)

    def _leave(self, gone: Queued, arrival: Arrival) -> str:
        why = self._departure(gone, arrival)
        when = moment(arrival.time_msc)
        self.departures[identity_of(gone)] = f"{self.text(gone)} left the queue at {when}: {why}"
        return f"{self.text(gone)} leaves the queue: {why}"

    def _departure(self, gone: Queued, arrival: Arrival) -> str:
        age_ms, span_ms = self._clocks_msc[arrival.key] - gone.time_msc, self.engine.span_ms
        if gone.key == arrival.key and age_ms > span_ms:
            return f"{duration_text(age_ms)} old, the queue spans {duration_text(span_ms)}"
        is_same = identity_of(gone) == (arrival.name, arrival.key)
        if is_same and arrival.entry.repeat is Repeat.REFRESH:
            return "it came again (`repeat refresh`)"
        if gone.event in self._opposites.get(arrival.name, ()) and gone.key == arrival.key:
            return f"its opposite {arrival.name} came"
        return f"it came again, and the queue holds {self.engine.events_max:,} at most (`max`)"

    def _refusal(self, arrival: Arrival) -> str:
        same = [one for one in arrival.queue if identity_of(one) == (arrival.name, arrival.key)]
        if arrival.entry.repeat is Repeat.REJECT and same:
            since = moment(same[-1].time_msc)
            return f"refused (`repeat reject`): {self.text(same[-1])} is queued since {since}"
        late = duration_text(arrival.clock_msc - arrival.time_msc)
        return f"refused (`late = 'drop'`): its row came {late} behind the newest before it"


class Engines:
    """All engines of a run, as far as the traced rules need them."""

    def __init__(self, run: Run, scope: Scope, notes: Notes) -> None:
        plan = run.rules.plan
        self._run, self._scope, self._notes = run, scope, notes
        needed = {event.engine for event in scope.events}
        needed |= {found.engine for found in scope.complexes}
        engines = [engine for engine in plan.engines if engine.name in needed]
        self._watches = {e.name: EngineWatch(plan, e, scope.key) for e in engines}
        self._bindings = {
            name: [Binding(plan, c, scope.key) for c in scope.complexes if c.engine == name]
            for name in needed
        }
        self._arrivals: list[Arrival] = []
        self._slot: int | None = None
        watch(run, self._wants, self._arrivals.append)

    def _wants(self, engine: str, key: str | None) -> bool:
        is_mine = self._scope.sees([key])
        keyed = self._run.rules.stages.by.is_engine_keyed(engine)
        return engine in self._watches and (not keyed or is_mine)

    def explain(self, rows: list[NamedRow]) -> dict[Identity, list[Came]]:
        """Note what became of the arrivals of a record, which made these rows.

        Returns, per simple event, what its own rule has to say, once for each time it was raised.
        """
        found = self._found(rows)
        raised: defaultdict[Identity, list[Came]] = defaultdict(list)
        for arrival in self._arrivals:
            engine = self._watches[arrival.entry.engine]
            came = engine.follow(arrival)
            if isinstance(arrival.entry, Event):
                raised[came.identity].append(came)
            for binding in self._bindings[arrival.entry.engine]:
                if binding.concerns(came.identity):
                    self._explain(binding, came, engine, found)
        self._arrivals.clear()
        return raised

    def _found(self, rows: list[NamedRow]) -> Found:
        names = {found.name for found in self._scope.complexes}
        found: Found = {}
        for name, row in rows:
            if name in names:
                key, _, _, _, events = row.values
                found[name, key, events[-1]] = events
        return found

    def _explain(self, binding: Binding, came: Came, engine: EngineWatch, found: Found) -> None:
        """Say what an event means to a complex event that names it."""
        name, entered, queue = binding.found.name, came.entered, came.arrival.queue
        if entered is None:
            event = name_text(came.identity, binding.key)
            self._notes.add(name, f"{event} came", [came.refusal])
            return
        events = found.get((name, binding.key, entered.seq))
        head = f"{engine.text(entered)} came"
        if events is not None:
            by_seq = {queued.seq: queued for queued in queue}
            bound = ", ".join(engine.text(by_seq[seq]) for seq in events)
            self._notes.add(name, f"{head}: FIRED with {bound}")
            return
        slot = 0 if binding.key is None else self._key_slot(binding.key)
        if slot is None or slot >= max(1, came.arrival.keys):
            self._notes.add(
                name, f"{head}: completes no match", [f"{binding.key} is not known yet"]
            )
            return
        now = Moment(queue, engine.departures)
        reasons = binding.why_not(now, binding.number(slot))
        self._notes.add(name, f"{head}: {_role(binding, came.identity, reasons)}", reasons)

    def _key_slot(self, key: str) -> int | None:
        """The slot of a key; None while it has none."""
        if self._slot is None and key in (keys := self._run.keys):
            self._slot = keys.index(key)
        return self._slot


def _role(binding: Binding, event: Identity, reasons: list[str]) -> str:
    """What an event that completes nothing means to the complex event."""
    if event in binding.forbidden:
        return "forbidden, no match may reach over it"
    if reasons:
        return "completes no match"
    if event in binding.words.named:
        return "no arrangement ends in it"
    return "it must be absent in between"
