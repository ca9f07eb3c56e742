"""Expressions of the plan as steps of the stack machine.

The source that the engine writes for an expression (`cep.engine.codegen.expressions`), which scalar
functions write themselves, is read here as a small language: names, constants, operators, calls of
kernels. So a function is written once, whatever runs it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cep.engine.codegen.expressions import Scope
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.dispatch import CALL_HOST, CELL, END, ROW, SELECT, Word, operations
from cep.engine.machine.kernels.host import ARITY_BITS
from cep.engine.machine.kernels.words import AT, EVALUATION_DEPTH
from cep.plan.expressions import (
    Arithmetic,
    Call,
    Column,
    Comparison,
    EventTime,
    Expression,
    InTable,
    IsNull,
    Logical,
    Missing,
    Not,
    walk,
)
from cep.plan.functions import scalar_of
from cep.plan.functions.scalars.records import CURRENT_TIME, UUID
from cep.plan.types import Type

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


HOSTED = "host_"
"""How calls that Python computes are named in source, in front of their numbers."""


class Unsupported(Exception):
    """What the machine cannot run yet; its text says why."""


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call that Python computes; `place` is where its calls are counted together.

    Where it is no function that rules may call, `make` makes one, of the run's host. `makes_texts`:
    texts may come of it that nobody knew before. `only_fails`: it is made for values that are none,
    to say so.
    """

    node: Call
    place: str
    make: Callable[[Any], Callable[..., Any]] | None = field(default=None, repr=False)
    makes_texts: bool = False
    only_fails: bool = False


class Constants:
    """Cells of the memory for constants of the rules, and for those of functions.

    `values` have their addresses, of which `more` gives the next; `hosted` are the calls that
    Python computes, by number.
    """

    def __init__(self, more: Callable[[], int], code_of: Callable[[str], int]) -> None:
        self.values: list[tuple[int, int | float]] = []
        self._more = more
        self.hosted: list[HostCall] = []
        self._code_of = code_of
        self._cells: dict[tuple[Word, str], int] = {}

    def cell(self, value: int | float) -> int:
        """The address of a number, which equal ones share."""
        key: tuple[Word, str] = ("f" if isinstance(value, float) else "i", repr(value))
        if key not in self._cells:
            self._cells[key] = self.fresh(value)
        return self._cells[key]

    def fresh(self, value: int | float) -> int:
        """The address of a number of its own, which may change."""
        at = self._more()
        self.values.append((at, value))
        return at

    def host_call(self, call: HostCall) -> int:
        """The number of a call that Python computes."""
        self.hosted.append(call)
        return len(self.hosted) - 1

    def source(self, value: str | float, type_: Type) -> str:
        """Source of a constant that is not null; see `cep.engine.codegen.constants`."""
        if isinstance(value, str):
            return str(self._code_of(value))
        if type_.is_real:
            return repr(float(np_float32(value) if type_ is Type.FLOAT else value))
        return str(int(value))


def np_float32(value: float) -> float:
    """The nearest float of 32 bits."""
    import numpy as np

    return float(np.float32(value))


@dataclass(frozen=True, slots=True)
class Names:
    """Where the values lie that an expression may name: words of the row, by slot and position.

    In a slot that collects several rows an index follows unless it is 0. `rows` are the words of
    the times of rows in slots, by slot and index, where these are not those of `times`.
    """

    columns: Mapping[tuple[int, ...], tuple[Word, int]]
    times: Mapping[int | None, int]
    aggregates: tuple[tuple[Word, int], ...] = ()
    outputs: tuple[tuple[Word, int], ...] = ()
    lookups: Mapping[InTable, int] = field(default_factory=dict)
    """The words for whether tables have a row."""
    rows: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def of(self, column: Column) -> tuple[Word, int]:
        """Where the value of a column lies."""
        return self.columns[column_key(column)]

    def group(self, columns: Iterable[Column]) -> list[int]:
        """The words of what makes a group; those of doubles negated."""
        found = []
        for column in columns:
            if column.type in (Type.OBJECT, Type.LIST):
                raise Unsupported("values that are objects")
            word, at = self.of(column)
            found.append(-at if word == "f" else at)
        return found


def column_key(column: Column) -> tuple[int, ...]:
    """By what a column is found among names."""
    key = (column.slot, column.position)
    return key if column.index == 0 else (*key, column.index)


def name_of(letter: str, key: tuple[int, ...]) -> str:
    """The name in source for a value."""
    return letter + "_".join(str(one).replace("-", "m") for one in key)


def word_of(type_: Type) -> Word:
    """How a value is seen in a word."""
    return "f" if type_.is_real else "i"


@dataclass(slots=True)
class Steps:
    """Writes the steps of one expression."""

    constants: Constants
    words: Mapping[str, tuple[Word, int]]
    code: list[int] = field(default_factory=list)
    depth: int = 0
    deepest: int = 0

    def condition(self, source: str) -> list[int]:
        return self._whole(source)

    def _whole(self, source: str) -> list[int]:
        self._write(ast.parse(source, mode="eval").body)
        assert self.deepest < EVALUATION_DEPTH
        return [*self.code, END]

    def value(self, source: str) -> tuple[Word, list[int]]:
        """The word that is left, and the steps."""
        word = self._write(ast.parse(source, mode="eval").body)
        assert self.deepest < EVALUATION_DEPTH
        return word, [*self.code, END]

    def _push(self, step: int, operand: int) -> None:
        self.code += [step, operand]
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)

    def _call(self, name: str, taken: list[ast.expr]) -> Word:
        words = [self._write(one) for one in taken]
        if name.startswith(HOSTED):
            return self._call_host(int(name.removeprefix(HOSTED)), len(taken))
        operation = operations()[name, len(taken)]
        assert tuple(words) == operation.takes, (name, words)
        self.code += [operation.number, 0]
        self.depth -= len(taken) - 1
        self.deepest = max(self.deepest, self.depth)
        return operation.gives

    def _call_host(self, number: int, arity: int) -> Word:
        assert arity < 1 << ARITY_BITS
        self.code += [CALL_HOST, number << ARITY_BITS | arity]
        self.depth -= arity - 1
        self.deepest = max(self.deepest, self.depth)
        return word_of(self.constants.hosted[number].node.type)

    def _write(self, node: ast.expr) -> Word:
        match node:
            case ast.Constant(value=value):
                return self._constant(value)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Call(func=ast.Name(id="int"), args=[argument]):
                return self._write(argument)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, arguments)
            case ast.BinOp(left=left, op=op, right=right):
                return self._call(f"f{OPERATORS[type(op)]}", [left, right])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(OPERATORS[type(op)], left, right)
            case ast.BoolOp(op=op, values=values):
                return self._fold("and" if isinstance(op, ast.And) else "or", values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._call("not", [operand])
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return self._constant(-value)  # type: ignore[operator]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._select(test, body, orelse)
            case _:
                raise TypeError(f"no step for {ast.unparse(node)}")

    def _constant(self, value: object) -> Word:
        assert isinstance(value, int | float)
        number = float(value) if isinstance(value, float) else int(value)
        self._push(CELL, self.constants.cell(number))
        return "f" if isinstance(number, float) else "i"

    def _name(self, name: str) -> Word:
        if name in ("nan", "inf"):
            return self._constant(float(name))
        if name == "NULL":
            return self._constant(NULL)
        if name == "at_ms":
            self._push(CELL, AT)
            return "i"
        word, place = self.words[name]
        self._push(ROW, place)
        return word

    def _compare(self, op: str, left: ast.expr, right: ast.expr) -> Word:
        return self._call(self._word(left) + op, [left, right])

    def _word(self, node: ast.expr) -> Word:
        """What a value will be, without writing it."""
        apart = Steps(self.constants, self.words)
        return apart._write(node)

    def _fold(self, name: str, values: list[ast.expr]) -> Word:
        word = self._write(values[0])
        for value in values[1:]:
            self._write(value)
            self.code += [operations()[name, 2].number, 0]
            self.depth -= 1
        return word

    def _select(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Word:
        self._write(test)
        word = self._write(body)
        assert self._write(orelse) == word
        self.code += [SELECT, 0]
        self.depth -= 2
        return word


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes expressions over rows whose words have these names.

    `place`: they are computed once for each row, under that name, so that they may give rows names
    of their own. `rows_fail`: where a function fails all is lost that the node has made.
    """

    names: Names
    constants: Constants
    place: str | None = None
    rows_fail: bool = False

    def condition(self, expression: Expression) -> list[int]:
        """Steps that leave 1 where it is true, else 0."""
        self._need(expression)
        return self._steps().condition(self._scope().condition(expression))

    def joined(self, one: list[int], other: list[int]) -> list[int]:
        """Steps that leave 1 where both conditions are true."""
        return [*one[:-1], *other[:-1], operations()["and", 2].number, 0, END]

    def value(self, expression: Expression) -> list[int]:
        """Steps that leave the value."""
        self._need(expression)
        return self._steps().value(self._scope().value(expression))[1]

    def double(self, expression: Expression) -> list[int]:
        """Steps that leave a number as a double."""
        self._need(expression)
        return self._steps().value(self._scope().as_type(expression, Type.DOUBLE))[1]

    def as_type(self, expression: Expression, type_: Type) -> list[int]:
        """Steps that leave the value as another type of numbers."""
        self._need(expression)
        return self._steps().value(self._scope().as_type(expression, type_))[1]

    def _need(self, expression: Expression) -> None:
        """Unsupported where there is a part of it that has no steps."""
        for node in walk(expression):
            if node.type in (Type.OBJECT, Type.LIST) and not isinstance(node, Call):
                raise Unsupported("it works on objects")
            if isinstance(node, Call):
                self._need_call(expression, node)

    def _need_call(self, expression: Expression, node: Call) -> None:
        """Unsupported where it has to be made exactly as often as the interpreter makes it."""
        if node.function == UUID.name and (self.place is None or node is not expression):
            raise Unsupported("it gives names of its own there")
        if can_fail(node) and not (self.rows_fail and is_always_made(expression, node)):
            raise Unsupported(f"`{node.function}` may fail there")

    def computed(self, call: HostCall) -> list[int]:
        """Steps that leave what Python makes of the arguments of a call."""
        for one in call.node.arguments:
            self._need(one)
        number = self.constants.host_call(call)
        arguments = ", ".join(self._scope().value(one) for one in call.node.arguments)
        return self._steps().value(f"{HOSTED}{number}({arguments})")[1]

    def _steps(self) -> Steps:
        words: dict[str, tuple[Word, int]] = {
            name_of("c", key): found for key, found in self.names.columns.items()
        }
        for slot, place in self.names.times.items():
            name = "tNone" if slot is None else name_of("t", (slot,))
            words[name] = ("i", place)
            if slot is not None:
                words[name_of("r", (slot, 0))] = ("i", place)
        words |= {name_of("r", key): ("i", place) for key, place in self.names.rows.items()}
        words |= {f"q{n}": ("i", place) for n, place in enumerate(self.names.lookups.values())}
        words |= {f"a{n}": found for n, found in enumerate(self.names.aggregates)}
        words |= {f"o{n}": found for n, found in enumerate(self.names.outputs)}
        return Steps(self.constants, words)

    def _scope(self) -> MachineScope:
        return MachineScope(
            (),
            "",
            self.constants,  # type: ignore[arg-type]
            tuple(f"a{n}" for n in range(len(self.names.aggregates))),
            tuple(f"o{n}" for n in range(len(self.names.outputs))),
            tuple(self.names.lookups),
            self.place or "",
        )


@dataclass(frozen=True, slots=True)
class MachineScope(Scope):
    """Columns by slot and position; `lookups` have been made beforehand."""

    lookups: tuple[InTable, ...] = ()
    place: str = ""

    def value(self, expression: Expression) -> str:
        match expression:
            case Column():
                return name_of("c", column_key(expression))
            case EventTime(slot=None):
                return "tNone"
            case EventTime(slot=int(slot)):
                return name_of("t", (slot,))
            case InTable():
                if expression not in self.lookups:
                    raise Unsupported("it looks into a table there")
                return f"q{self.lookups.index(expression)}"
            case Missing():
                return f"int({self.condition(expression)})"
            case _:
                return Scope.value(self, expression)

    def condition(self, expression: Expression) -> str:
        if isinstance(expression, Missing):
            return f"({name_of('r', (expression.slot, expression.index))} == NULL)"
        return Scope.condition(self, expression)

    def _call(self, node: Call) -> str:
        if node.function == CURRENT_TIME.name:
            return "at_ms"
        scalar = scalar_of(node.function)
        if scalar is None or scalar.native is None:
            return self._hosted(node)
        reason = scalar.native.why_not(node)
        return Scope._call(self, node) if reason is None else self._hosted(node)

    def _hosted(self, node: Call) -> str:
        """A call that Python computes."""
        if any(one.type in (Type.OBJECT, Type.LIST) for one in (node, *node.arguments)):
            raise Unsupported("it works on objects")
        constants: Any = self.constants
        number = constants.host_call(HostCall(node, self.place))
        return f"{HOSTED}{number}({', '.join(self.value(one) for one in node.arguments)})"


def can_fail(call: Call) -> bool:
    """Whether a call may raise: those of the user, and of patterns."""
    scalar = scalar_of(call.function)
    return scalar is None or scalar.can_fail


def is_always_made(expression: Expression, call: Call) -> bool:
    """Whether the interpreter makes a call whatever values there are: nothing is asked before."""
    match expression:
        case _ if expression is call:
            return True
        case Comparison() | Arithmetic() | Logical():
            return is_always_made(expression.left, call)
        case Not() | IsNull():
            return is_always_made(expression.operand, call)
        case _:
            return False
