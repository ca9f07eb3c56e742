"""Patterns and sequences.

A match is a chain of stages, one per state of the text. A partial match waits at a stage; an event
first ages out what is too old, then is shown to the stages of its stream, the last first.

The trace (`Shared.trace`, for `replay --trace`) is called as `trace(place, text, partial)` for
everything that happens to a partial match: `place` is the path of the match and the name of the
state (`/query/q/e2`, see `state_names`); `text` is an `Outcome`; `partial` is a row with slots, the
candidate among them. It is to be read at once: it changes afterwards.
"""

from cep.interpreter.match.frame import EmitAll, Outcome, state_names
from cep.interpreter.match.part import MatchPart, make_match

__all__ = ["EmitAll", "MatchPart", "Outcome", "make_match", "state_names"]
