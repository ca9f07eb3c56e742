"""Whole numbers of many results in one text, and out of it again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.database.drivers import Column, values_of
from cep.database.steps import Fetch

ONE = "="
"""In front of a number that all results of an event have."""
PAIR = 2**32
"""A pair of whole numbers, the second of 32 bits, is one: the first times this, and the second."""


def columns_of(fetch: Fetch, fetched: Sequence[Column]) -> tuple[Column, ...]:
    """What was fetched as columns of values: `seq`, `member` if any, then each value's."""
    if fetch.is_grouped:
        seqs, counts, *columns = map(values_of, fetched)
        often = np.array(counts, np.int64)
        repeated = np.repeat(np.array(seqs, np.int64), often)
        if fetch.is_paired:
            return repeated, *_paired(columns, often)
        return repeated, *(_repeated(column, often) for column in columns)
    if not fetch.is_packed:
        return tuple(fetched)
    seqs, texts = map(values_of, fetched)
    width = len(fetch.members) * len(fetch.types)
    numbers = _numbers(texts)  # of all rows at once
    return seqs, *(numbers[place::width] for place in range(width))


def _paired(columns: Sequence[Sequence[Any]], often: NDArray[np.int64]) -> list[Column]:
    """The first of the pairs of all results, then each value: the second where it is None."""
    pairs, *values = columns
    numbers = np.array(_numbers(pairs), np.int64)
    firsts = (numbers + PAIR // 2) // PAIR
    seconds = numbers - firsts * PAIR
    found: list[Column] = [firsts]
    for column in values:
        is_own = np.array([one is not None for one in column], np.bool_)
        own = np.array([one or 0 for one in column], np.int64)
        found.append(np.where(np.repeat(is_own, often), np.repeat(own, often), seconds))
    return found


def _repeated(texts: Sequence[str], often: NDArray[np.int64]) -> Column:
    """The numbers of texts, `often` so many in each; `=5` is one number that often."""
    is_one = np.array([text[0] == ONE for text in texts], np.bool_)
    if not is_one.any():
        return _numbers(texts)
    numbers = _numbers([text.removeprefix(ONE) for text in texts])
    times = np.repeat(np.where(is_one, often, 1), np.where(is_one, 1, often))
    if isinstance(numbers, np.ndarray):
        return np.repeat(numbers, times)
    return list(chain.from_iterable(map(repeat, numbers, times.tolist())))


def _numbers(texts: Sequence[str]) -> Column:
    """The whole numbers of all texts, None for `null`."""
    whole = ",".join(texts)
    if "n" in whole:
        found: list[Any] = json.loads(f"[{whole}]")
        return found
    return np.fromstring(whole, np.int64, sep=",")
