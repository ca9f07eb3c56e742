"""Texts as codes: one code a text, whatever dictionary a column comes with."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine import text_codes
from cep.engine.kernels.scalar import NULL
from cep.engine.strings import Coded, Strings
from cep.engine.text_codes import TextCodes
from tests.campaign import examples

COLUMNS = st.lists(st.lists(st.sampled_from(["EURUSD", "GBPUSD", "", None]), max_size=6))

TEXTS = st.lists(st.text("aZ€", max_size=9) | st.sampled_from(["EURUSD", "a" * 16, "b" * 17]))
"""Of up to 27 bytes: those of more than 16 are too long for machine code."""


def codes_of(strings: Strings, column: pa.Array, name: str) -> list[int]:
    coded = strings.coded(column, name)
    return (coded.values() if isinstance(coded, Coded) else coded).tolist()


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["symbol", "venue"]), COLUMNS), max_size=4))
def test_codes_stand_for_the_texts_of_each_column(
    batches: list[tuple[str, list[list[str | None]]]],
) -> None:
    strings = Strings(["GBPUSD"])
    for name, columns in batches:
        for texts in columns:
            codes = codes_of(strings, pa.array(texts, pa.string()), name)
            assert [strings.text(int(code)) for code in codes] == texts
    assert len(set(strings.values)) == len(strings.values)


def test_an_equal_dictionary_is_not_looked_at_again() -> None:
    strings = Strings()
    texts = pa.array(["EURUSD", "GBPUSD"])
    first = codes_of(strings, pa.DictionaryArray.from_arrays(pa.array([0, 1]), texts), "symbol")
    again = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), pa.array(texts.to_pylist()))
    assert codes_of(strings, again, "symbol") == [first[1], NULL, first[0]]
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["GBPUSD", "USDJPY"]))
    assert codes_of(strings, other, "symbol") == [first[1], 2]


@pytest.mark.parametrize("most", [4, 256])
@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["symbol", "venue"]), TEXTS, st.integers(0, 2))))
def test_machine_code_finds_the_codes_that_arrow_finds(
    most: int, columns: list[tuple[str, list[str], int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_codes, "FEW", 1)
        patch.setattr(text_codes, "MOST", most)
        fast, slow = Strings(), Strings()
        finds = TextCodes(fast, waits=True)
        for name, texts, first in columns:
            column = pa.array(texts, pa.string()).slice(first)
            coded = finds.coded(column, name)
            found = coded.values() if isinstance(coded, Coded) else coded
            assert found.tolist() == codes_of(slow, column, name)
        assert fast.values == slow.values


def test_texts_that_were_met_before_are_looked_up() -> None:
    strings = Strings()
    finds = TextCodes(strings, waits=True)
    column = pa.array([str(n % 200) for n in range(1_000)])
    assert isinstance(finds.coded(column, "symbol"), Coded)
    assert finds.coded(column, "symbol").tolist() == [n % 200 for n in range(1_000)]
    more = pa.array([str(n) for n in range(100, 300)])
    assert isinstance(finds.coded(more, "symbol"), Coded)
    assert isinstance(finds.coded(column, "symbol"), Coded), "there have been too many"
    assert isinstance(finds.coded(column, "venue"), Coded), "another column knows its own"
