"""Triples of rules, a stream and a change: every other row is as it was.

A failing one is printed with the command that shows it again.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger

from tests import campaign
from tests.engine.test_against_reference import examples
from tests.metamorphic.__main__ import main, shown
from tests.metamorphic.changes import CHANGES
from tests.metamorphic.known import KNOWN, Known, finding
from tests.metamorphic.triples import NUMBERS_BELOW, Triple, triple, verdict
from tests.metamorphic.ways import COMPILED, INTERPRETED, RELOADED, SLOW, TOLD

FIXED = 60
CAMPAIGN = 6_000
PER_TEST = 60


def check(one: Triple) -> None:
    """Fails with the smallest triple that differs, unless it is known to."""
    logger.disable("cep")
    try:
        found = finding(one)
    finally:
        logger.enable("cep")
    if found is not None and found.known is None:
        pytest.fail(f"{shown(found.triple)}\n\n{found.difference}", pytrace=False)


def blocks() -> list[object]:
    return [
        pytest.param(first) if first < FIXED else campaign.only(first)
        for first in range(0, CAMPAIGN, PER_TEST)
    ]


@pytest.mark.parametrize("first", blocks())
def test_every_other_row_is_as_it_was(first: int) -> None:
    for number in range(first, first + PER_TEST):
        check(triple(number))


@examples(200)
@given(st.integers(0, NUMBERS_BELOW - 1))
def test_new_triples(number: int) -> None:
    """`make explore` draws them; else they are the same ones every time."""
    check(triple(number))


@pytest.mark.campaign
@pytest.mark.slow
@pytest.mark.parametrize("way", SLOW)
def test_machine_code_gives_the_same_rows(way: str) -> None:
    """Some: each is compiled for many seconds."""
    for number in range(3):
        check(triple(number, way))


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry.name)
def test_what_is_known_still_differs(entry: Known) -> None:
    """Else it is to be struck off the list. What is left of it when it is small is the same."""
    one = triple(entry.seed, entry.way)
    assert verdict(one).difference is not None
    if campaign.is_whole():
        found = finding(one)
        assert found is not None and found.known is entry


def test_every_change_and_way_is_drawn_and_most_are_run() -> None:
    drawn = [triple(number) for number in range(campaign.either(150, 600))]
    kinds = Counter(one.change for one in drawn)
    ways = INTERPRETED | COMPILED | dict(RELOADED.values())
    assert kinds.keys() == CHANGES.keys() | ways.keys()
    some = drawn[:: campaign.either(4, 1)]
    ran = [one for one in some if not verdict(one).refused]
    assert len(ran) > 0.8 * len(some)
    assert sum(bool(one.answers()[0]) for one in ran) > 0.8 * len(ran), "most put out rows"
    told = [one for one in drawn if any(stream == TOLD for stream, _, _ in one.steps)]
    assert len(told) > 0.15 * len(drawn), "with watermarks of keys"
    modes = Counter(one.mode for one in drawn)
    assert min(modes["lived"], modes["sorted"]) > 0.25 * len(drawn)


def test_the_same_number_is_the_same_triple() -> None:
    assert triple(7) == triple(7)
    assert len({triple(number).before.text for number in range(50)}) > 48


def test_statements_that_share_a_reader_keep_their_order() -> None:
    one = next(
        one for one in map(triple, range(1_000)) if "into Pairs" in one.before.text
        and "from Pairs" in one.before.text
    )  # fmt: skip
    rules = one.before
    filling = next(text for text in rules.statements if text.endswith("into Pairs"))
    reading = next(text for text in rules.statements if "from Pairs" in text)
    assert not rules.are_independent(filling, reading)


def test_the_command_tells_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    number = next(entry.seed for entry in KNOWN if entry.way is None)
    assert main([str(number)]) == 0  # it is known
    told = capsys.readouterr().out
    assert "define stream A" in told and "before:" in told and "known: " in told
    assert f"python -m tests.metamorphic {number}" in told


@pytest.mark.parametrize("arguments", [["x"], ["1", "nowhere"], ["1", "native", "more"]])
def test_the_command_refuses_what_it_does_not_know(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "WAY is one of" in capsys.readouterr().err
