"""Taking the clock and what is due from one running part to another, as a snapshot does."""

from __future__ import annotations

from cep.interpreter.context import Shared
from cep.interpreter.snapshot import due_of, timers_of


def take_over_clock(target: Shared, source: Shared) -> None:
    """Let the clock of one stand where that of another stands, with the same due."""
    saved = timers_of(source.clock.pending())
    target.clock.restore(source.clock.now_ms, due_of(saved, target.timers))
