"""What was told of symbols and accounts: lines that can be read again, and what is no such line."""

from __future__ import annotations

import pytest

from cep.account.specifications import Version, decode, encode, news
from tests.specifications import held

TOLD = {"point": 0.00001, "contract_size": 100_000.0, "filling_modes": ["ioc"]}


@pytest.mark.parametrize(
    "version",
    [
        Version(symbol="EURUSD", since_msc=5, source="desk-1", told=TOLD),
        Version(symbol="EURUSD", told={"point": 0.1, "swap_mode": None}),
        Version(source="desk-1", told={"currency": "EUR", "leverage": 30.0, "hedging": True}),
    ],
)
def test_a_version_is_one_line_and_read_again(version: Version) -> None:
    line = encode(version)
    assert line.endswith(b"}\n") and line.count(b"\n") == 1
    assert decode(line) == version


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"symbol":"EURUSD","told":{"poin":1}}', "did you mean `point`?"),
        (b'{"symbol":"EURUSD","told":{"point":"1"}}', "`point`"),
        (b'{"symbol":"EURUSD","told":{"volume_min":2,"volume_max":1}}', "volume_max"),
        (b'{"symbol":"EURUSD","told":{"sessions":["never"]}}', "session 'never'"),
        (b'{"symbol":"*","told":{"point":1}}', "by name"),
        (b'{"told":{"currency":"euro"}}', "no currency"),
        (b'{"told":{"fills":[0.5]}}', "no shares"),
        (b'{"symbol":"EURUSD"}', "told"),
        (b'{"symbol":"EUR', "truncated"),
        (b'{"symbol":"EURUSD","told":{},"more":1}', "more"),
        (b'\xff', ""),
    ],
)  # fmt: skip
def test_what_no_account_file_could_say_is_refused(line: bytes, said: str) -> None:
    with pytest.raises(ValueError) as problem:
        decode(line)
    assert said in str(problem.value)


def test_a_source_adds_what_is_new_and_takes_back_what_is_no_more() -> None:
    first = news({}, {"point": 0.1, "filling_modes": ("ioc",)}, "X", 1, "desk-1")
    assert first is not None
    known = held([first], "X", "desk-1")
    assert known == {"point": 0.1, "filling_modes": ["ioc"]}
    assert news(known, {"point": 0.1, "filling_modes": ("ioc",)}, "X", 2, "desk-1") is None
    second = news(known, {"point": 0.2}, "X", 2, "desk-1")
    assert second is not None and second.told == {"point": 0.2, "filling_modes": None}
    assert held([second, first], "X", "desk-1") == {"point": 0.2}
    assert held([second, first], "X", "desk-1", 1) == known
    third = news(known, {**known, "point": 0.3}, "X", 3, "desk-1")
    assert third is not None and third.told == {"point": 0.3}
    assert held([second, first], "X", "desk-2") == held([second, first], "", "desk-1") == {}
