"""The queue of an engine under other rules: what of it goes on."""

from __future__ import annotations

from typing import Any

from cep.plan.change import Change
from cep.plan.nodes import Engine


def carried(state: Any, engine: Engine, change: Change) -> Any:
    """The state of an engine's queue (`Queue.state`) for the new rules.

    Events of definitions that go on stay, with what they are bound to. To complex events that begin
    now they are closed: these see only what enters from now on.
    """
    complexes = [found.name for found in change.new.complexes if found.engine == engine.name]
    kept = {name for name in complexes if ("complex", name) in change.kept}
    begun = [name for name in complexes if name not in kept]
    events = []
    for name, key, at_ms, seq, bound, closed, *values in state["events"]:
        if _goes_on(name, engine, change):
            still_bound = [pair for pair in bound if pair[0] in kept]
            still_closed = [one for one in closed if one in kept]
            events.append([name, key, at_ms, seq, still_bound, [*still_closed, *begun], *values])
    return {**state, "events": events}


def _goes_on(name: str, engine: Engine, change: Change) -> bool:
    """Whether the definition of a queued event does; a complex event's has its place there."""
    return ("event", name) in change.kept or ("chained", f"{name}@{engine.name}") in change.kept
