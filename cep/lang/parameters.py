"""Parameters of rules: constants with a name, a type and perhaps limits, which a run may change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from cep.lang.errors import Span
from cep.lang.tokens import TIME_UNITS_MS, Token, TokenKind

Value = str | int | float | bool
"""Of a `time` in ms."""

TIME = "time"
KINDS = {
    "int": TokenKind.INT,
    "long": TokenKind.LONG,
    "float": TokenKind.FLOAT,
    "double": TokenKind.DOUBLE,
    "bool": TokenKind.BOOL,
    "string": TokenKind.STRING,
    TIME: TokenKind.TIME,
}
"""What a parameter of each type is taken for where it stands."""
WHOLE = ("int", "long", TIME)
REAL = ("float", "double")
ENDINGS = {"long": "L", "float": "f"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """`define parameter NAME TYPE = value [range low to high [step step]] [in (a, b, ..)]`.

    `start` is where it is defined, `value_span` where its value is written, `uses` how often its
    name stands in the text.
    """

    name: str
    type: str
    value: Value
    low: Value | None = None
    high: Value | None = None
    step: Value | None = None
    choices: tuple[Value, ...] = ()
    uses: int = field(default=0, compare=False)
    start: int = field(default=0, compare=False)
    value_span: Span = field(default=Span(0, 0), compare=False)

    def token(self, span: Span) -> Token:
        """What stands at a place that names it."""
        return Token(KINDS[self.type], _as_token(self.value, self.type), span)

    def misfit(self, value: Value) -> str:
        """Why a value is none that it may have; empty when it is one."""
        shown = self.shown(value)
        if self.choices and value not in self.choices:
            return f"{shown} is none of {', '.join(map(self.shown, self.choices))}"
        if self.low is None or self.high is None:
            return ""
        low, high, found = exact(self.low), exact(self.high), exact(value)
        if not low <= found <= high:
            return f"{shown} is not within {self.shown(self.low)} and {self.shown(self.high)}"
        if self.step is not None and (found - low) % exact(self.step):
            return (
                f"{shown} is no whole number of steps of {self.shown(self.step)}"
                f" from {self.shown(self.low)}"
            )
        return ""

    def shown(self, value: Value) -> str:
        """A value as it is written in rules; texts without quotes."""
        if isinstance(value, bool):
            return str(value).lower()
        return time_text(int(value)) if self.type == TIME else str(value)

    def written(self, value: Value) -> str:
        """A value as the text of a rule file; ValueError for a text that cannot stand there."""
        if not isinstance(value, str):
            return self.shown(value)
        for quote in ("'", '"'):
            if quote not in value and "\n" not in value and "\r" not in value:
                return f"{quote}{value}{quote}"
        raise ValueError("a text of one line with one kind of quotes at most can be given")

    @property
    def limits(self) -> str:
        """`range 1.0 to 3.0 step 0.1` or `in (a, b)`; empty without."""
        if self.choices:
            return f"in ({', '.join(map(self.shown, self.choices))})"
        if self.low is None or self.high is None:
            return ""
        step = "" if self.step is None else f" step {self.shown(self.step)}"
        return f"range {self.shown(self.low)} to {self.shown(self.high)}{step}"

    @property
    def text(self) -> str:
        """Name, type, value and limits, for people."""
        limits = self.limits and f", {self.limits}"
        return f"{self.name} {self.type} = {self.shown(self.value)}{limits}"


def exact(value: Value) -> Decimal:
    """A number as its digits say it."""
    assert not isinstance(value, str), value
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(int(value))


def rounded(value: Decimal, type_: str) -> Value:
    """An exact number as a value of a type of numbers or times."""
    return int(value) if type_ in WHOLE else float(value)


def steps(low: Decimal, high: Decimal, step: Decimal, type_: str) -> Iterator[Value]:
    """The values from one to another, both included."""
    for number in range(int((high - low) // step) + 1):
        yield rounded(low + number * step, type_)


def time_text(ms: int) -> str:
    """A time in its largest whole unit: `5 min`."""
    unit = next(
        name for name in ("day", "hour", "min", "sec", "ms") if ms % TIME_UNITS_MS[name] == 0
    )
    return f"{ms // TIME_UNITS_MS[unit]} {unit}" if ms else "0 ms"


def _as_token(value: Value, type_: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) + ENDINGS.get(type_, "")
