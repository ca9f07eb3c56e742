"""The rule files of the benchmark `trader` put out what pandas makes of the same ticks."""

from __future__ import annotations

import dataclasses
import functools

import pytest

from benchmarks.trader.__main__ import check, main
from benchmarks.trader.answers import REFERENCES, difference
from benchmarks.trader.market import Market, generated
from benchmarks.trader.running import NAMES, compiled, interpreted_rows, native_rows, wrong

SEEDS = (1, 2)


@functools.cache
def market(seed: int) -> Market:
    return generated(900, seed)


def test_each_rule_file_has_a_reference() -> None:
    assert sorted(REFERENCES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_references_have_rows_to_compare(name: str) -> None:
    assert len(REFERENCES[name].compute(market(1)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_native_rows_are_those_of_the_reference(name: str, seed: int) -> None:
    found = native_rows(compiled(name, jit=False), market(seed))
    assert not wrong(name, market(seed), found)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_one_program_with_these_rows(name: str) -> None:
    rules = compiled(name, jit=False, machine="always")
    assert rules.whole is not None, rules.why_not_whole
    assert not wrong(name, market(1), native_rows(rules, market(1)))


def test_programs_have_these_rows_as_machine_code() -> None:
    """All in one test: the library is compiled once, which takes a minute."""
    found = {
        name: wrong(name, market(2), native_rows(compiled(name, machine="always"), market(2)))
        for name in NAMES
    }
    assert not any(found.values()), found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_interpreted_rows_are_those_of_the_reference(name: str, seed: int) -> None:
    assert not wrong(name, market(seed), interpreted_rows(name, market(seed)))


def test_a_wrong_value_a_missing_row_and_a_mean_that_is_off_are_told() -> None:
    reference = REFERENCES["bollinger_bars"]
    wanted = reference.compute(market(1)).reset_index(drop=True)
    for name in wanted.columns:
        row = wanted.index[0]
        other = wanted[name].astype(object)
        value = other[row]
        other[row] = value + "x" if isinstance(value, str) else value * (1 + 1e-8) + (value == 0)
        assert difference(wanted, wanted.assign(**{name: other}), reference.rounded)
    assert difference(wanted, wanted[1:], reference.rounded)
    assert difference(wanted, wanted[:-1], reference.rounded)
    assert not difference(wanted, wanted, reference.rounded)


def test_a_check_tells_what_is_not_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(["inside_bar"], market(1))
    wanted = REFERENCES["inside_bar"]
    short = dataclasses.replace(wanted, compute=lambda given: wanted.compute(given)[:-1])
    monkeypatch.setitem(REFERENCES, "inside_bar", short)
    assert not check(["inside_bar"], market(1))
    same, other = capsys.readouterr().out.splitlines()
    assert "the same" in same
    assert "rows, to be" in other


def test_an_unknown_rule_file_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["inside_bars"])
    assert "no rule file inside_bars; there are" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--rows", "--runs"])
def test_no_ticks_and_no_runs_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([option, "0"])
    assert f"{option}: give a number" in capsys.readouterr().err
