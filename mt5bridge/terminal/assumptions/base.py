"""What one assumption about the terminal is."""

from __future__ import annotations

import json
from typing import NamedTuple

from mt5bridge.terminal.findings import Level

Value = bool | int | float | str
"""A fact as `probe.json` has it."""


def shown(value: Value) -> str:
    """A fact as people read it: as JSON writes it, texts bare."""
    return value if isinstance(value, str) else json.dumps(value)


class Only(NamedTuple):
    """One of these values, and of their types."""

    values: tuple[Value, ...]

    def holds(self, value: Value) -> bool:
        return any(type(value) is type(one) and value == one for one in self.values)

    def text(self) -> str:
        return " or ".join(map(shown, self.values))


class Between(NamedTuple):
    """A number from `low` to `high`, both included."""

    low: float
    high: float

    def holds(self, value: Value) -> bool:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and self.low <= value <= self.high  # type: ignore[operator]

    def text(self) -> str:
        return f"{self.low:,} to {self.high:,}"


class Assumption(NamedTuple):
    """A fact that the MQL5 sources take for granted."""

    name: str
    """As the probe has it: what it is about, a dot, what was measured, its unit last."""
    asks: str
    """What was measured."""
    documented: str
    """What MetaQuotes says of it; empty where it says nothing."""
    holds: Only | Between
    """What the sources can live with."""
    relies: tuple[str, ...]
    """Who takes it for granted: files below `mql5`, ours."""
    uses: str
    """What those files contain because of it; a regular expression."""
    remedy: str
    """What to do where it is otherwise."""
    level: Level = Level.WARNING
    varies: bool = False
    """Whether it depends on the machine or the hour, so that another run finds another value."""


YES, NO, NONE = Only((True,)), Only((False,)), Only((0,))
REPORT = (
    "tell us, with the file `probe.json`: this terminal does what its documentation does not say"
)
NOT_HERE = (
    "do not trade with it: an order could be executed twice. Tell us, with the file `probe.json`"
)
