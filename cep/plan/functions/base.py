"""What a function is: all that anybody asks of a scalar function or an aggregator, in one object.

The files of `aggregators` and `scalars` hold the objects; every list of functions elsewhere is made
of them. `example` is a call on attributes of `EXAMPLE`, for documentation and tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from cep.plan.expressions import Aggregate, Call, Constant, Expression
from cep.plan.functions.native import Compile, Kernel, Native, Source
from cep.plan.functions.running import Running
from cep.plan.functions.sql import Never, Summarise, Write
from cep.plan.signatures import Signature

EXAMPLE = "define stream S (k string, n int, x double, y double, t long, f bool);"
"""The stream that examples are calls on: a key, numbers, a time in ms and a flag."""


@dataclass(frozen=True, slots=True)
class Aggregator:
    """A function over the rows of a window.

    `plain` makes what computes it value by value, told of all arguments but a constant at the end:
    that is its meaning. `nulls` are skipped (NaN too, and a row with one among its arguments) or
    are values like others.

    `remembers`: what is in the window; or all arrivals, so that rows that leave change nothing; or
    everything ever, so that not even a new batch makes it start again. `of_rows`: it looks at no
    argument.

    `native` and `sql`: how the native engine, with the `kernels` that its source calls, and
    databases compute it. None where they do not: they say so by name, and it is left to the plain
    definition. `native_left` is its way where rows may leave that had not come, as they may in
    joins, if `native` is wrong there and it is not of whole numbers. `is_calendar`: it can be had
    per calendar unit (`define aggregation`), where rows never leave; `plain_ever` is what computes
    it there, if that is simpler. `plain_siddhi`: as Siddhi has it, with its defects, in its mode.
    """

    signature: Signature
    plain: Callable[[Aggregate], Running]
    example: str
    native: Compile | None = None
    kernels: tuple[Kernel, ...] = ()
    sql: Summarise | None = None
    nulls: Literal["skipped", "values"] = "skipped"
    remembers: Literal["window", "arrivals", "ever"] = "window"
    of_rows: bool = False
    is_calendar: bool = False
    plain_ever: Callable[[Aggregate], Running] | None = None
    plain_siddhi: Callable[[Aggregate], Running] | None = None
    native_left: Native | None = None

    @property
    def name(self) -> str:
        """As rules are told to spell it."""
        return self.signature.name

    @property
    def _has_constant(self) -> bool:
        parameters = self.signature.parameters
        return bool(parameters) and parameters[-1].kind == "constant"

    def values(self, aggregate: Aggregate) -> tuple[Expression, ...]:
        """The arguments whose values it is told of."""
        given = aggregate.arguments
        return given[:-1] if self._has_constant else given

    def constant(self, aggregate: Aggregate) -> Any:
        """The constant at the end, such as a number of rows; 0 where it takes none."""
        return constant(aggregate) if self._has_constant else 0


def own_aggregator(name: str) -> Aggregator:
    """What is known of an indicator of the user: the interpreter computes it, by its digest."""

    def plain(aggregate: Aggregate) -> Running:
        raise TypeError(f"{aggregate.function} is an indicator of the user")

    signature = Signature(name, (), "an indicator of the user")
    return Aggregator(signature, plain, "", nulls="values", remembers="arrivals")


def constant(call: Aggregate | Call) -> Any:
    """The value of the last argument, which is a constant."""
    last = call.arguments[-1]
    assert isinstance(last, Constant)
    return last.value


class Cause(Protocol):
    """What is under way: the record's number, the time, and the number of each call at a place."""

    @property
    def n(self) -> int: ...

    @property
    def at_ms(self) -> int: ...

    def call(self, place: str) -> int: ...


class Setting(Protocol):
    """What a scalar function sees beside its arguments: the mode of the rules, and what happens.

    `calls_of` is the place whose calls are counted together.
    """

    @property
    def compat(self) -> bool: ...

    @property
    def now_ms(self) -> int: ...

    @property
    def cause(self) -> Cause: ...

    @property
    def calls_of(self) -> str: ...


Evaluate: TypeAlias = Callable[[Any], Any]
"""The value of an expression on a row."""
Make: TypeAlias = Callable[[Call, list[Evaluate], Setting], Evaluate]
"""Makes the evaluation of a call from those of its arguments."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A function of values.

    `plain` is its meaning. `native`: how the native engine writes a call. `sql`: how a database
    does, or `Never`; by the dialect's `forms` where they differ, "" being the others. None where
    there is nothing to write: a database in our process then calls the plain definition.
    `can_fail`: the plain definition may raise, of a pattern that is none.
    """

    signature: Signature
    plain: Make
    native: Source | None = None
    sql: Write | Never | Mapping[str, Write | Never] | None = None
    can_fail: bool = False

    @property
    def name(self) -> str:
        """As rules are told to spell it."""
        return self.signature.name

    def sql_on(self, dialect: str) -> Write | Never | None:
        """How databases with the forms of that one write it."""
        if isinstance(self.sql, Mapping):
            return self.sql.get(dialect, self.sql.get(""))
        return self.sql


def strict(apply: Callable[..., Any]) -> Make:
    """A function of values that is null when an argument is."""

    def make(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
        def evaluate(row: Any) -> Any:
            values = [argument(row) for argument in arguments]
            return None if None in values else apply(*values)

        return evaluate

    return make
