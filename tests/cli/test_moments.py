"""Moments as options: with a zone or in UTC, to the millisecond."""

from __future__ import annotations

import click
import pytest

from cep.cli.moments import MOMENT, SERVER_MOMENT, utc_msc

NINE = 1_709_283_600_000
"""2024-03-01 09:00 UTC."""


@pytest.mark.parametrize(
    "text",
    ["2024-03-01T09:00", "2024-03-01 09:00:00", "2024-03-01T09:00:00.000", "2024-03-01T09:00Z",
     "2024-03-01T11:00+02:00", "2024-03-01T11:00:00.0+0200", "2024-03-01 04:30:00 -04:30",
     "2024-03-01T19:00+10", "2024-03-01T09:00:00.000000Z"],
)  # fmt: skip
def test_moments(text: str) -> None:
    assert utc_msc(MOMENT.convert(text, None, None)) == NINE


def test_parts_of_moments() -> None:
    def msc(text: str) -> int | None:
        return utc_msc(MOMENT.convert(text, None, None))

    assert msc("2024-03-01") == NINE - 9 * 3_600_000
    assert msc("2024-03-01T09:00:00.25") == NINE + 250
    assert msc("1970-01-01T00:00:01.001") == 1001
    assert utc_msc(None) is None
    assert utc_msc(SERVER_MOMENT.convert("2024-03-01T09:00", None, None)) == NINE


@pytest.mark.parametrize(
    "text",
    ["1709283600000", "1709283600", "yesterday", "2024-03-01T09", "2024-02-30", "2024-03-01T25:00",
     "2024-03-01T09:00:00.0001", "2024-03-01T09:00+25:00", "01.03.2024", "0000-01-01", ""],
)  # fmt: skip
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        MOMENT.convert(text, None, None)
    with pytest.raises(click.BadParameter, match="has a zone"):
        SERVER_MOMENT.convert("2024-03-01T09:00Z", None, None)
