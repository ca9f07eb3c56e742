"""The kernels that choose by number what to do, written out from the lists of functions.

A number stands for each operation of expressions and for each way in which an aggregator takes a
value, lets one go or says what it is. Functions say themselves, as source, how they are computed
(`cep.plan.functions.native`); here that source is put under numbers, once for all rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from cep.engine.kernels import scalar
from cep.engine.kernels.called import KERNELS
from cep.engine.machine.kernels.host import ARITY_BITS
from cep.plan.expressions import Aggregate, Column, Constant
from cep.plan.functions import AGGREGATORS, SCALARS
from cep.plan.functions.native import Cells, Moments, Native, WholeTotal
from cep.plan.types import Type

Word = Literal["i", "f"]
"""How a word is seen: as an integer (also a truth, 0 or 1) or as a double."""

END, ROW, CELL = 0, 1, 2
"""Nothing more; a word of the row; a word of the memory."""
SELECT = 3
CALL_HOST = 4
"""A call that Python computes: its number above the number of its arguments; see `host`."""
FIRST = 5


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operation takes from the stack of values, and what it leaves there."""

    number: int
    takes: tuple[Word, ...]
    gives: Word
    source: str
    """Of the result, with {0}, {1}, .. for the values."""
    is_basic: bool = False
    """Whether it is an operator, or what one becomes where a value may be null."""


def _operators() -> Iterator[tuple[str, str, Word, str]]:
    """Name, what it takes, what it gives, source."""
    for op in "+-*/":
        yield f"f{op}", "ff", "f", f"{{0}} {op} {{1}}"
    for op in ("==", "!=", "<", "<=", ">", ">="):
        yield f"f{op}", "ff", "i", f"int({{0}} {op} {{1}})"
        yield f"i{op}", "ii", "i", f"int({{0}} {op} {{1}})"
    yield "and", "ii", "i", "{0} & {1}"
    yield "or", "ii", "i", "{0} | {1}"
    yield "not", "i", "i", "1 - {0}"
    yield "isnan", "f", "i", "int(isnan({0}))"
    yield "f-", "f", "f", "-{0}"


HELPERS = (
    "wrap_int add subtract multiply divide modulo divide_float modulo_float to_float "
    "int_to_float32 to_float32 equal not_equal less less_equal"
).split()


def _called() -> Iterator[tuple[str, str, Word, str]]:
    functions = {name: getattr(scalar, name).py_func for name in HELPERS}
    for function in SCALARS:
        if function.native is not None:
            functions |= {kernel.__name__: kernel for kernel in function.native.kernels}
    for name, kernel in functions.items():
        hints = dict(kernel.__annotations__)
        gives = hints.pop("return")
        takes = "".join("f" if hint == "float" else "i" for hint in hints.values())
        arguments = ", ".join(
            f"{{{place}}} != 0" if hint == "bool" else f"{{{place}}}"
            for place, hint in enumerate(hints.values())
        )
        call = f"{name}({arguments})"
        yield (
            name,
            takes,
            "f" if gives == "float" else "i",
            f"int({call})" if gives == "bool" else call,
        )


@cache
def operations() -> dict[tuple[str, int], Operation]:
    """The operations of expressions by name and number of values."""
    found: dict[tuple[str, int], Operation] = {}
    basic = {*HELPERS, *(name for name, *_ in _operators())}
    for number, (name, takes, gives, source) in enumerate((*_operators(), *_called()), FIRST):
        words: tuple[Word, ...] = tuple("f" if word == "f" else "i" for word in takes)
        found[name, len(takes)] = Operation(number, words, gives, source, name in basic)
    return found


@cache
def with_operand() -> dict[tuple[int, int], int]:
    """The numbers of operations that read their second value themselves: by the number of the plain
    operation and by what would put the value on the stack, `ROW` or `CELL`.

    Most conditions compare a word of the row with another, or with a constant.
    """
    pairs = [one for one in operations().values() if len(one.takes) == 2 and one.is_basic]
    first = FIRST + len(operations())
    wanted = ((one.number, source) for one in pairs for source in (ROW, CELL))
    return {key: first + place for place, key in enumerate(wanted)}


def fused(steps: Sequence[int]) -> list[int]:
    """The same steps, where each that only puts a second value on the stack is part of the next."""
    found: list[int] = []
    for at in range(0, len(steps) - 1, 2):
        number = with_operand().get((steps[at], found[-2])) if found else None
        if number is None:
            found += steps[at : at + 2]
        else:
            found[-2] = number
    return [*found, END]


EVALUATE = '''
@inner
def evaluate(i, f, p, code, row, top):
    """Leave the value of an expression on a row in the word `top`; those behind it are used.

    O(steps): each takes its values from a stack and puts its result there.
    """
    top -= 1
    while True:
        step = p[code]
        if step == {end}:
            return
        if step == {row}:
            top += 1
            i[0, top] = i[0, row + p[code + 1]]
        elif step == {cell}:
            top += 1
            i[0, top] = i[0, p[code + 1]]
        elif step == {select}:
            top -= 2
            if i[0, top] == 0:
                i[0, top] = i[0, top + 2]
            else:
                i[0, top] = i[0, top + 1]
        elif step == {call_host}:
            top += 1 - (p[code + 1] & {arity})
            call_host(i, p[code + 1], top)
{steps}
        code += 2
'''
AGGREGATE = '''
@inner
def {name}(i, f, op, ci, cf, n, v):
    """{doc}"""
{steps}
'''


def _steps() -> Iterator[str]:
    for operation in operations().values():
        arity = len(operation.takes)
        values = [f"{word}[0, top + {place}]" for place, word in enumerate(operation.takes)]
        yield f"        elif step == {operation.number}:"
        if arity > 1:
            yield f"            top -= {arity - 1}"
        elif not arity:
            yield "            top += 1"
        yield f"            {operation.gives}[0, top] = {operation.source.format(*values)}"
        yield from _steps_with_operand(operation)


def _steps_with_operand(operation: Operation) -> Iterator[str]:
    for source, place in ((ROW, "row + p[code + 1]"), (CELL, "p[code + 1]")):
        number = with_operand().get((operation.number, source))
        if number is not None:
            values = f"{operation.takes[0]}[0, top]", f"{operation.takes[1]}[0, {place}]"
            yield f"        elif step == {number}:"
            yield f"            {operation.gives}[0, top] = {operation.source.format(*values)}"


@cache
def accumulators() -> dict[tuple[str, bool], int]:
    """Numbers of the sources by which aggregators work, with whether their values are doubles."""
    found: dict[tuple[str, bool], int] = {}
    for native in _natives():
        for source, as_float in sources(native):
            if source:
                found.setdefault((source, as_float), len(found) + 1)
    return found


def sources(native: Native) -> tuple[tuple[str, bool], ...]:
    """How it takes a value, lets one go, and what it is."""
    cells = "{i}, {f}, {row}, {ci}, {cf}"
    match native:
        case Cells():
            return tuple(
                (one, native.as_float) for one in (native.enter, native.leave, native.value)
            )
        case Moments():
            moved = [
                f"moments_{verb}({cells}, {{0}}, {native.squares})" for verb in ("enter", "leave")
            ]
            return (moved[0], True), (moved[1], True), (f"{native.value}({cells})", True)
        case WholeTotal():
            enter = [f"integer_enter({{i}}, {{row}}, {{ci}}, {{0}}, {sign})" for sign in (1, -1)]
            return (enter[0], False), (enter[1], False), ("integer_total({i}, {row}, {ci})", False)
        case _:
            return ()


def _natives() -> Iterator[Native]:
    for aggregator in AGGREGATORS:
        for native in (
            map(aggregator.native, _calls(aggregator.name))
            if callable(aggregator.native)
            else [aggregator.native]
        ):
            if native is not None and not isinstance(native, str):
                yield native
        if aggregator.native_left is not None:
            yield aggregator.native_left


def _calls(name: str) -> Iterator[Aggregate]:
    """Calls by which an aggregator shows in which ways it can be computed."""
    for type_, result in (
        (Type.LONG, Type.LONG),
        (Type.DOUBLE, Type.DOUBLE),
        (Type.STRING, Type.STRING),
    ):
        arguments = (Column(0, "x", type_), Constant(1, Type.INT))
        yield Aggregate(name, arguments, result)


def _aggregate_steps(takes: Iterable[str]) -> Iterator[str]:
    """Source that does what belongs to a number; results are left in the first value's word."""
    word = "if"
    wanted = set(takes)
    for (source, as_float), number in accumulators().items():
        if source not in wanted:
            continue
        values = [f"{'f' if as_float else 'i'}[0, v + {place}]" for place in range(4)]
        text = source.format(*values, i="i", f="f", row="0", ci="ci", cf="cf", n="i[0, n]")
        yield f"    {word} op == {number}:"
        yield f"        {text}"
        word = "elif"


def _value_steps(values: Iterable[str]) -> Iterator[str]:
    word = "if"
    wanted = set(values)
    for (source, _), number in accumulators().items():
        if source in wanted:
            text = source.format(*[""] * 4, i="i", f="f", row="0", ci="ci", cf="cf", n="i[0, n]")
            yield f"    {word} op == {number}:"
            yield f"        {'f' if _is_real(source) else 'i'}[0, v] = {text}"
            word = "elif"


def _is_real(source: str) -> bool:
    """Whether a value is a double, as its kernel says."""
    name = source.split("(")[0]
    kernel = KERNELS.get(name)
    if kernel is not None:
        return bool(kernel.__annotations__["return"] == "float")
    return name.startswith("moments")


@cache
def module_source() -> str:
    """The module with the kernels `evaluate`, `accumulate` and `accumulated`."""
    moving = [text for native in _natives() for text, _ in sources(native)[:2]]
    values = [text for native in _natives() for text, _ in sources(native)[2:]]
    parts = (
        EVALUATE.format(
            end=END,
            row=ROW,
            cell=CELL,
            select=SELECT,
            call_host=CALL_HOST,
            arity=(1 << ARITY_BITS) - 1,
            steps="\n".join(_steps()),
        ),
        AGGREGATE.format(
            name="accumulate",
            doc="Let values enter or leave an aggregator's cells at `ci` and `cf`.",
            steps="\n".join(_aggregate_steps(moving)),
        ),
        AGGREGATE.format(
            name="accumulated",
            doc="Leave in the word `v` what an aggregator's cells come to.",
            steps="\n".join(_value_steps(values)),
        ),
    )
    body = "\n".join(parts)
    names = sorted(set(re.findall(r"\b(\w+)\(", body)) & KERNELS.keys())
    return "\n".join(
        (
            '"""Kernels that choose by number what to do: generated, do not edit."""',
            "from math import isnan",
            "from cep.engine.machine.jit import inner",
            "from cep.engine.machine.kernels.host import call_host",
            f"from cep.engine.kernels.scalar import {', '.join(HELPERS)}",
            "from cep.engine.kernels.moments import moments_enter, moments_leave, moments_total",
            "from cep.engine.kernels.moments import moments_mean, moments_deviation",
            "from cep.engine.kernels.moments import integer_enter, integer_total",
            f"from cep.engine.kernels.called import {', '.join(names)}",
            body,
        )
    )
