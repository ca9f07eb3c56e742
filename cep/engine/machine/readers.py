"""Many readers of a stream, by the constant that an attribute must equal for one to take a row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from cep.engine.jit import plain
from cep.engine.machine.kernels.readers import BUCKET_WORDS, INDEX_BUCKETS, bucket_of
from cep.engine.machine.kernels.words import TIME, VALUES
from cep.engine.machine.limits import LimitTables
from cep.plan.expressions import Column, Comparison, Constant, Expression
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.types import Type

_bucket_of: Callable[[int, int], int] = plain(bucket_of)
Asked = Mapping[int, int]
"""By the word of a row, the constant without which a reader takes no row."""
NOTHING_ASKED: Asked = {}
READERS_MIN = 5
"""So many have to ask for one attribute before it pays to look who is meant."""
LISTED_MAX = 1 << 20
"""So many words may the lists of a stream have: each value's also names who takes any."""


def asked(
    condition: Expression, attributes: int, code_of: Callable[[str], int], key: int | None = None
) -> Asked:
    """What a condition on rows of so many attributes asks; of `key` alone, if it is one of them."""
    found: dict[int, int] = {}
    for one in conjuncts(condition):
        if not (isinstance(one, Comparison) and one.op == "=="):
            continue
        for column, constant in ((one.left, one.right), (one.right, one.left)):
            if not (isinstance(column, Column) and isinstance(constant, Constant)):
                continue
            value = _word(column.type, constant, code_of)
            is_meant = column.position < attributes and key in (None, column.position)
            if is_meant and value is not None:
                found.setdefault(VALUES + column.position, value)
    return found


def _word(type_: Type, constant: Constant, code_of: Callable[[str], int]) -> int | None:
    """What stands in a row that has this value; None where equal values may stand differently."""
    if type_ is Type.STRING and isinstance(constant.value, str):
        return code_of(constant.value)
    is_whole = {type_, constant.type} <= {Type.INT, Type.LONG}
    return int(constant.value) if is_whole and isinstance(constant.value, int) else None


def index_of(readers: Sequence[int], asks: Mapping[int, Asked], tables: LimitTables) -> int:
    """Write the table of `kernels.readers`, and where it is; 0 where it does not pay."""
    words = Counter(chain.from_iterable(asks.get(reader, NOTHING_ASKED) for reader in readers))
    word, count = max(words.items(), key=lambda pair: pair[1], default=(0, 0))
    values = [asks.get(reader, NOTHING_ASKED).get(word) for reader in readers]
    distinct = dict.fromkeys(value for value in values if value is not None)
    words_listed = len(distinct) * (len(readers) - count + 1) + count
    if count < READERS_MIN or words_listed > LISTED_MAX:
        return _by_limits(readers, tables)
    asking = {reader for reader, value in zip(readers, values, strict=True) if value is not None}
    others = [place for place, value in enumerate(values) if value is None]
    places: dict[int, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        if value is not None:
            places[value].append(place)

    def listed(found: list[int]) -> int:  # an event that asks for a value asks for that of its key
        return tables.listed([readers[place] for place in found], asking.__contains__)

    lists = {value: listed(sorted(places[value] + others)) for value in distinct}
    return _written(word, listed(others), _buckets(lists), tables)


def _by_limits(readers: Sequence[int], tables: LimitTables) -> int:
    """The same where no value is asked for: all rows have one list, if that is a table."""
    if not tables.pays(readers):
        return 0
    return _written(TIME, tables.listed(readers, lambda _: True), [0] * BUCKET_WORDS, tables)


def _written(word: int, others: int, buckets: Sequence[int], tables: LimitTables) -> int:
    head = [word, len(buckets) // BUCKET_WORDS - 1, others, tables.age]
    assert len(head) == INDEX_BUCKETS
    return tables.block([*head, *buckets])


def _buckets(lists: Mapping[int, int]) -> list[int]:
    """The hash table of the lists of values, half of it free at least."""
    room = 1 << (2 * len(lists) - 1).bit_length()
    buckets = [0] * (BUCKET_WORDS * room)
    for value, place in lists.items():
        at = _bucket_of(value, room - 1)
        while buckets[at * BUCKET_WORDS + 1]:
            at = (at + 1) % room
        buckets[at * BUCKET_WORDS : (at + 1) * BUCKET_WORDS] = value, place
    return buckets
