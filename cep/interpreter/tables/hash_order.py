"""The order in which Siddhi's hash tables list text keys.

Rows of a table with a text key, and buckets of an aggregation, come out of Siddhi in the order of a
Java `HashMap`; the recorded answers hold it, so it is part of the language. Strings hash as
`java.lang.String.hashCode` says, and a table doubles when it is three quarters full.
"""

from __future__ import annotations

from collections.abc import Iterable

from cep.plan.functions.convert import as_text
from cep.plan.types import Type

DELIMITER = ":-:"
SLOTS_MIN = 16


def text_hash(text: str) -> int:
    """Where Java's hash tables put a string: its 32 bit hash with the high half mixed in."""
    units = text.encode("utf-16-be")
    value = 0
    for position in range(0, len(units), 2):
        value = (31 * value + (units[position] << 8 | units[position + 1])) & 0xFFFFFFFF
    return value ^ (value >> 16)


def slots_for(count: int, slots: int = SLOTS_MIN) -> int:
    """The slots of a hash table of `slots` once it has held `count` keys; it never shrinks."""
    while count > slots * 3 // 4:
        slots *= 2
    return slots


def in_hash_order(keys: Iterable[str], slots: int) -> list[str]:
    """The keys, given in order of arrival, in the order of a hash table with so many slots."""
    return sorted(keys, key=lambda key: text_hash(key) & (slots - 1))


def joined_key(values: Iterable[object]) -> str:
    """The text Siddhi makes of a key of several values."""
    return "".join(java_text(value) + DELIMITER for value in values)


def java_text(value: object) -> str:
    """A value as Java writes it; numbers with a point are doubles."""
    return "null" if value is None else as_text(value, Type.DOUBLE)
