"""Many readers of a stream, by the constant that an attribute must be beyond to concern one."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from cep.engine.machine.kernels.limits import (
    KEPT_PASSED,
    LARGEST,
    LIMITED,
    SET_BITS,
)
from cep.engine.machine.kernels.words import INDEX, VALUES
from cep.plan.expressions import Column, Comparison, Constant, Expression
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.types import Type

LIMITS_MIN = 8
"""So many limits there have to be before it pays to search among them."""
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""An operator whose sides change places."""
WHOLE = frozenset({Type.INT, Type.LONG})


@dataclass(frozen=True, slots=True)
class Event:
    """An event remembers whether it was true, by the word of its key (0: it has none). `crosses`:
    only a row that crosses its limit concerns it.
    """

    key: int
    crosses: bool


@dataclass(frozen=True, slots=True)
class Limit:
    """A reader takes no row but those whose `word`, as a whole number that stands among others as
    the value does, is greater than `beyond`, being negated first where it must be below.
    """

    word: int
    is_real: bool
    is_negated: bool
    beyond: int
    event: Event | None = None


def limit_of(condition: Expression, attributes: int) -> Limit | None:
    """The first limit that a condition sets to one of so many attributes."""
    found = (_limit(one, attributes) for one in conjuncts(condition))
    return next((one for one in found if one is not None), None)


def event_limit(
    condition: Expression, attributes: int, key: Column | None, *, every: bool
) -> Limit | None:
    """The same of an event of a key, which may be raised `every` time that it is true."""
    limit = limit_of(condition, attributes)
    if limit is None:
        return None
    others = [one for one in conjuncts(condition) if not _is_of(one, key)]
    word = 0 if key is None else VALUES + key.position
    crosses = not every and len(others) == 1
    return Limit(limit.word, limit.is_real, limit.is_negated, limit.beyond, Event(word, crosses))


def _is_of(condition: Expression, key: Column | None) -> bool:
    """Whether a condition is the same for all rows of a key."""
    if key is None or not (isinstance(condition, Comparison) and condition.op == "=="):
        return False
    sides = condition.left, condition.right
    return key in sides and any(isinstance(side, Constant) for side in sides)


def _limit(condition: Expression, attributes: int) -> Limit | None:
    if not (isinstance(condition, Comparison) and condition.op in TURNED):
        return None
    column, constant, op = condition.left, condition.right, condition.op
    if isinstance(constant, Column):
        column, constant, op = constant, column, TURNED[op]
    if not (isinstance(column, Column) and isinstance(constant, Constant)):
        return None
    value = _in_order(column.type, constant)
    if value is None or column.position >= attributes:
        return None
    is_negated = op in ("<", "<=")
    beyond = (-value if is_negated else value) - int(op in (">=", "<="))
    return Limit(VALUES + column.position, column.type.is_real, is_negated, beyond)


def _in_order(type_: Type, constant: Constant) -> int | None:
    """A constant as a whole number that stands among the values of a type as it does; None where
    it is not compared as a value of the type is.
    """
    value = constant.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if type_ in WHOLE and constant.type in WHOLE:
        return int(value) if abs(value) < LARGEST else None
    if type_ is not Type.DOUBLE or constant.type is Type.FLOAT:
        return None
    if math.isnan(value) or (abs(value) > 2.0**53 and isinstance(value, int)):
        return None
    (bits,) = struct.unpack("<q", struct.pack("<d", float(value)))
    return 0 if value == 0 else int(bits ^ ((bits >> 63) & LARGEST))


@dataclass(slots=True)
class LimitTables:
    """Writes the tables of `kernels.limits` of one stream: `block` the words of a program, `take`
    those of a home.
    """

    block: Callable[[Iterable[int]], int]
    take: Callable[[int], int]
    limits: Mapping[int, Limit]
    age: int = 0
    """Where it is counted that events no longer know what was before; 0: none are limited."""

    def pays(self, readers: Sequence[int]) -> bool:
        """Whether a list of all readers of a stream is a table."""
        return len(self._limited(readers, lambda _: True)) >= LIMITS_MIN

    def listed(self, readers: Sequence[int], remembers: Callable[[int], bool]) -> int:
        """Write a list of readers, which is a table where that pays. Events may be limited that
        `remembers` names: all rows of a key that they see have to come here.
        """
        limited = self._limited(readers, remembers)
        plain = [len(readers), *readers]
        if len(limited) < LIMITS_MIN:
            return self.block(plain)
        any_of_them = next(iter(limited.values()))
        keys = {one.event.key for one in limited.values() if one.event is not None}
        sides, kept = self._sides(readers, limited)
        state = 0
        if keys:
            state, self.age = self.take(INDEX), self.age or self.take(1)
        always = [reader not in limited for reader in readers]
        words = -(-len(readers) >> SET_BITS)
        side_list = self.block(chain.from_iterable(sides))
        return self.block((
            LIMITED, self.block(plain), any_of_them.word, int(any_of_them.is_real),
            words, self.block(_set_of(always, words)), len(sides), side_list,
            state, self.age, max(keys, default=0), kept,
        ))  # fmt: skip

    def _limited(
        self, readers: Sequence[int], remembers: Callable[[int], bool]
    ) -> dict[int, Limit]:
        """The readers with a limit of one attribute, the events among them of one key."""
        found = {
            reader: self.limits[reader]
            for reader in readers
            if reader in self.limits and (self.limits[reader].event is None or remembers(reader))
        }
        word = _most_of(one.word for one in found.values())
        found = {reader: one for reader, one in found.items() if one.word == word}
        key = _most_of(one.event.key for one in found.values() if one.event is not None)
        return {
            reader: one
            for reader, one in found.items()
            if one.event is None or one.event.key == key
        }

    def _sides(
        self, readers: Sequence[int], limited: Mapping[int, Limit]
    ) -> tuple[list[tuple[int, ...]], int]:
        """The sides of a table, and how many words are kept of a key."""
        places: dict[tuple[bool, bool, bool], list[tuple[int, int]]] = {}
        for number, reader in enumerate(readers):
            one = limited.get(reader)
            if one is not None:
                is_asked = one.event is None or not one.event.crosses
                kind = one.is_negated, is_asked, one.event is not None
                places.setdefault(kind, []).append((one.beyond, number))
        found: list[tuple[int, ...]] = []
        kept = KEPT_PASSED
        for (is_negated, is_asked, is_kept), limits in places.items():
            limits.sort()
            beyond = self.block(limit for limit, _ in limits)
            numbers = self.block(number for _, number in limits)
            side = (int(is_negated), len(limits), beyond, numbers, int(is_asked), kept * is_kept)
            kept += int(is_kept)
            found.append(side)
        return found, kept


def _most_of(words: Iterable[int]) -> int | None:
    """What occurs most often; None of nothing."""
    return max(Counter(words).items(), key=lambda pair: pair[1], default=(None, 0))[0]


def _set_of(flags: Sequence[bool], words: int) -> list[int]:
    """The numbers of true flags as bits of so many words."""
    found = [0] * words
    for number, flag in enumerate(flags):
        found[number >> SET_BITS] |= int(flag) << (number & (1 << SET_BITS) - 1)
    return found
