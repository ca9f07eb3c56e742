"""Texts as codes: one code a text, whatever dictionary a column comes with."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.kernels.scalar import NULL
from cep.engine.strings import Coded, Strings
from tests.campaign import examples

COLUMNS = st.lists(st.lists(st.sampled_from(["EURUSD", "GBPUSD", "", None]), max_size=6))


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
