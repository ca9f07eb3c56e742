"""Why rules did or did not fire: a replay that explains itself, for one key, row by row."""

from cep.trace.run import traced
from cep.trace.scope import NO_KEY, Scope, TraceError

__all__ = ["NO_KEY", "Scope", "TraceError", "traced"]
