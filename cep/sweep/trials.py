"""Which values of parameters a sweep tries: a grid of them, or draws by chance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, product
from random import Random

from cep.lang.binding import parameter, read_value, value_of
from cep.lang.parameters import TIME, WHOLE, Parameter, Value, exact, rounded, steps
from cep.sweep.errors import SweepError

LIMIT = 10_000
Trial = dict[str, Value]
"""Values by names; parameters that are not in it keep those of the rules."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What is tried of one parameter: values, or any from `low` to `high` where `step` is None."""

    of: Parameter
    values: tuple[Value, ...] = ()
    low: Decimal | None = None
    high: Decimal | None = None
    step: Decimal | None = None

    def __len__(self) -> int:
        if self.low is None or self.high is None:
            return len(self.values)
        return 0 if self.step is None else int((self.high - self.low) // self.step) + 1

    def __iter__(self) -> Iterator[Value]:
        if self.low is None or self.high is None:
            yield from self.values
        elif self.step is not None:
            yield from steps(self.low, self.high, self.step, self.of.type)

    def draw(self, random: Random) -> Value:
        """One of them by chance."""
        if self.low is not None and self.high is not None and self.step is None:
            return random.uniform(float(self.low), float(self.high))
        return self.at(random.randrange(len(self)))

    def at(self, place: int) -> Value:
        """That at a place, from 0 on."""
        if self.low is None or self.step is None:
            return self.values[place]
        return rounded(self.low + place * self.step, self.of.type)


def axes(known: Sequence[Parameter], given: Mapping[str, object]) -> list[Axis]:
    """What is tried of each parameter that has several values: those of the rules, or given.

    `given` are texts by names: `1:3:0.1`, `1,2,3` or one value. SweepError, ParameterError.
    """
    found = [of_text(parameter(tuple(known), name), text) for name, text in given.items()]
    found += [_of_limits(one) for one in known if one.name not in given]
    order = {one.name: place for place, one in enumerate(known)}
    return sorted(
        (axis for axis in found if len(axis) != 1 or axis.of.name in given),
        key=lambda axis: order[axis.of.name],
    )


def of_text(one: Parameter, text: object) -> Axis:
    """What a text says is to be tried; each value must be one that the parameter may have."""
    if not isinstance(text, str):
        hint = 'write a text: "1:3:0.5" from 1 to 3, or "1,2,3"'
        raise SweepError(f"{one.name}: {text!r} does not say what to try", hint)
    if one.type != "string" and ":" in text:
        return _of_range(one, text)
    parts = [part.strip() for part in text.split(",")]
    values = tuple(value_of((one,), one.name, part) for part in parts)
    return Axis(one, tuple(dict.fromkeys(values)))


def _of_range(one: Parameter, text: str) -> Axis:
    parts = [read_value(one, part) for part in text.split(":")]
    if one.type == "bool" or len(parts) not in (2, 3):
        raise SweepError(f"{one.name}={text}: no range", "write FROM:TO:STEP, such as 1:3:0.1")
    low, high, *step = map(exact, parts)
    by = step[0] if step else _usual_step(one)
    if low > high or (by is not None and by <= 0):
        raise SweepError(f"{one.name}={text}: no values", "a range goes up, by more than 0")
    axis = Axis(one, (), low, high, by)
    ends = (rounded(low, one.type), rounded(high, one.type))
    for value in ends if by is None else islice(axis, LIMIT):
        value_of((one,), one.name, one.shown(value))
    return axis


def _usual_step(one: Parameter) -> Decimal | None:
    """That of the rules; of whole numbers else 1."""
    if one.step is not None:
        return exact(one.step)
    return Decimal(1) if one.type in WHOLE and one.type != TIME else None


def _of_limits(one: Parameter) -> Axis:
    """What the rules say a parameter may be; without limits only the value it has."""
    if one.choices:
        return Axis(one, one.choices)
    if one.low is None or one.high is None:
        return Axis(one, (one.value,))
    return Axis(one, (), exact(one.low), exact(one.high), _usual_step(one))


def grid(found: Sequence[Axis], limit: int = LIMIT) -> list[Trial]:
    """Every combination, the last parameter changing fastest. SweepError when there are too many,
    or endless ones.
    """
    need_axes(found)
    endless = [axis.of.name for axis in found if not len(axis)]
    if endless:
        example = f"--param {endless[0]}=FROM:TO:STEP"
        raise SweepError(
            f"a grid needs a step of {', '.join(endless)}",
            f"say it in the rules, give {example}, or draw by chance with --random N",
        )
    count = math.prod(map(len, found))
    if count > limit:
        sizes = " x ".join(f"{axis.of.name} {len(axis):,}" for axis in found)
        raise SweepError(
            f"{count:,} combinations ({sizes}) are more than --limit {limit:,}",
            "narrow them with --param NAME=FROM:TO:STEP, draw with --random N, or raise --limit",
        )
    names = [axis.of.name for axis in found]
    return [dict(zip(names, values, strict=True)) for values in product(*found)]


def draws(found: Sequence[Axis], count: int, seed: int) -> list[Trial]:
    """So many combinations by chance, each once; fewer where there are no more."""
    need_axes(found)
    random, names = Random(seed), [axis.of.name for axis in found]
    if any(not len(axis) for axis in found):
        rows = [tuple(axis.draw(random) for axis in found) for _ in range(count)]
    else:
        total = math.prod(map(len, found))
        chosen = random.sample(range(total), min(count, total))
        rows = [_at(found, place) for place in chosen]
    return [dict(zip(names, values, strict=True)) for values in dict.fromkeys(rows)]


def _at(found: Sequence[Axis], place: int) -> tuple[Value, ...]:
    """The combination at a place of the grid."""
    values: list[Value] = []
    for axis in reversed(found):
        place, at = divmod(place, len(axis))
        values.append(axis.at(at))
    return tuple(reversed(values))


def need_axes(found: Sequence[Axis]) -> None:
    """SweepError where nothing has several values."""
    if not found:
        raise SweepError(
            "there is nothing to try: no parameter of the rules has several values",
            "write `define parameter Width double = 2.0 range 1.0 to 3.0 step 0.1;`, or --param",
        )
