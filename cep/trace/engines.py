"""The engines under watch: each arrival of an event explained, the queue followed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from cep.interpreter.events import Queued
from cep.interpreter.interpreter import Interpreter
from cep.plan.nodes import COMPLEX_SCHEMA, Engine, Event, Plan, Repeat
from cep.plan.text import duration_text
from cep.trace.arrivals import Came, watch
from cep.trace.binding import Binding, Moment, identity_of, name_text, queued_text
from cep.trace.notes import Notes
from cep.trace.scope import Scope
from cep.trace.texts import NamedRow, moment
from cep.trace.words import Identity

Found = dict[tuple[str, str | None, int], list[int]]
"""Complex events by name, key and the place of their last event: the places of their events."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an event that came to an engine: what entered (None: it was refused), what
    left, and why.
    """

    came: Came
    entered: Queued | None
    refusal: str
    departures: tuple[str, ...]

    @property
    def identity(self) -> Identity:
        return self.came.arrival.name, self.came.key

    @property
    def lines(self) -> list[str]:
        """What to say where the event is defined."""
        entered, engine = self.entered, self.came.entry.engine
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

    def text(self, queued: Queued) -> str:
        """`#2 AboveUpper`."""
        return queued_text(queued, self._key)

    def follow(self, came: Came) -> Outcome:
        """What an arrival has done to the queue."""
        known = {queued.seq for queued in self._held}
        kept = {queued.seq for queued in came.queue}
        entered = next((one for one in came.queue if one.seq not in known), None)
        departures = tuple(self._leave(one, came) for one in self._held if one.seq not in kept)
        self._held = came.queue
        return Outcome(came, entered, "" if entered else self._refusal(came), departures)

    def _leave(self, gone: Queued, came: Came) -> str:
        why = self._departure(gone, came)
        when = moment(came.arrival.at_ms)
        self.departures[identity_of(gone)] = f"{self.text(gone)} left the queue at {when}: {why}"
        return f"{self.text(gone)} leaves the queue: {why}"

    def _departure(self, gone: Queued, came: Came) -> str:
        arrival, span_ms = came.arrival, self.engine.span_ms
        age_ms = max(arrival.at_ms, arrival.clock_ms) - gone.at_ms
        if gone.key == arrival.key and age_ms > span_ms:
            return f"{duration_text(age_ms)} old, the queue spans {duration_text(span_ms)}"
        is_same = identity_of(gone) == (arrival.name, arrival.key)
        if is_same and arrival.repeat is Repeat.REFRESH:
            return "it came again (`repeat refresh`)"
        if gone.name in self._opposites.get(arrival.name, ()) and gone.key == arrival.key:
            return f"its opposite {arrival.name} came"
        return f"it came again, and the queue holds {self.engine.events_max:,} at most (`max`)"

    def _refusal(self, came: Came) -> str:
        arrival = came.arrival
        same = [one for one in came.queue if identity_of(one) == (arrival.name, arrival.key)]
        if arrival.repeat is Repeat.REJECT and same:
            since = moment(same[-1].at_ms)
            return f"refused (`repeat reject`): {self.text(same[-1])} is queued since {since}"
        late = duration_text(arrival.clock_ms - arrival.at_ms)
        return f"refused (`late = 'drop'`): its row came {late} behind the newest before it"


class Engines:
    """All engines of a run, as far as the traced rules need them."""

    def __init__(self, plan: Plan, interpreter: Interpreter, scope: Scope, notes: Notes) -> None:
        self._scope, self._notes = scope, notes
        needed = {event.engine for event in scope.events}
        needed |= {found.engine for found in scope.complexes}
        engines = [engine for engine in plan.engines if engine.name in needed]
        self._watches = {e.name: EngineWatch(plan, e, scope.key) for e in engines}
        self._bindings = {
            name: [Binding(plan, c, scope.key) for c in scope.complexes if c.engine == name]
            for name in needed
        }
        self._came: list[Came] = []
        watch(interpreter, self._wants, self._came.append)

    def _wants(self, engine: str, key: str | None) -> bool:
        is_mine = self._scope.sees([key])
        return engine in self._watches and (not self._scope.by.is_engine_keyed(engine) or is_mine)

    def explain(self, rows: list[NamedRow]) -> dict[Identity, list[Outcome]]:
        """Note what became of the arrivals of a record, which made these rows.

        Returns, per simple event, what its own rule has to say, once for each time it was raised.
        """
        found = self._found(rows)
        raised: defaultdict[Identity, list[Outcome]] = defaultdict(list)
        for came in self._came:
            engine = self._watches[came.entry.engine]
            outcome = engine.follow(came)
            if isinstance(came.entry, Event):
                raised[outcome.identity].append(outcome)
            for binding in self._bindings[came.entry.engine]:
                if binding.concerns(outcome.identity):
                    self._explain(binding, outcome, engine, found)
        self._came.clear()
        return raised

    def _found(self, rows: list[NamedRow]) -> Found:
        names = {found.name for found in self._scope.complexes}
        found: Found = {}
        for name, row in rows:
            if name in names:
                key, _, _, _, events = row.values[: len(COMPLEX_SCHEMA)]
                found[name, key, events[-1]] = events
        return found

    def _explain(
        self, binding: Binding, outcome: Outcome, engine: EngineWatch, found: Found
    ) -> None:
        """Say what an event means to a complex event that names it."""
        name, entered, came = binding.found.name, outcome.entered, outcome.came
        if entered is None:
            event = name_text(outcome.identity, binding.key)
            self._notes.add(name, f"{event} came", [outcome.refusal])
            return
        events = found.get((name, binding.key, entered.seq))
        head = f"{engine.text(entered)} came"
        if events is not None:
            by_seq = {queued.seq: queued for queued in came.queue}
            bound = ", ".join(engine.text(by_seq[seq]) for seq in events)
            self._notes.add(name, f"{head}: FIRED with {bound}")
        elif binding.key is not None and binding.key not in came.keys:
            unknown = [f"{binding.key} is not known yet"]
            self._notes.add(name, f"{head}: completes no match", unknown)
        else:
            reasons = binding.why_not(Moment(came.queue, engine.departures))
            self._notes.add(name, f"{head}: {_role(binding, outcome.identity, reasons)}", reasons)


def _role(binding: Binding, event: Identity, reasons: list[str]) -> str:
    """What an event that completes nothing means to the complex event."""
    if event in binding.forbidden:
        return "forbidden, no match may reach over it"
    if reasons:
        return "completes no match"
    if event in binding.words.named:
        return "no arrangement ends in it"
    return "it must be absent in between"
