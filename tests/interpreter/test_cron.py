"""Times of cron expressions."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cep.plan.cron import Cron


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("*/5 * * * * ?", "2024-01-01T00:00:03", "2024-01-01T00:00:05"),
        ("*/5 * * * * ?", "2024-01-01T00:00:05", "2024-01-01T00:00:10"),
        ("0 15 10 ? * MON-FRI", "2024-03-01T10:15:00", "2024-03-04T10:15:00"),
        ("0 0 12 1/5 * ?", "2024-02-27T00:00:00", "2024-03-01T12:00:00"),
        ("0 0 0 L * ?", "2024-02-05T00:00:00", "2024-02-29T00:00:00"),
        ("0 0 0 L-2 * ?", "2023-02-05T00:00:00", "2023-02-26T00:00:00"),
        ("0 0 0 LW * ?", "2024-06-01T00:00:00", "2024-06-28T00:00:00"),
        ("0 0 0 1W * ?", "2024-05-31T12:00:00", "2024-06-03T00:00:00"),
        ("0 0 0 ? * 6L", "2024-02-01T00:00:00", "2024-02-23T00:00:00"),
        ("0 0 0 ? * 2#1", "2024-02-06T00:00:00", "2024-03-04T00:00:00"),
        ("0 0 0 ? * FRI-MON", "2024-02-06T00:00:00", "2024-02-09T00:00:00"),
        ("0 0 0 29 2 ? 2023-2029", "2023-01-01T00:00:00", "2024-02-29T00:00:00"),
        ("30 59 23 31 DEC ?", "2024-12-31T23:59:30", "2025-12-31T23:59:30"),
    ],
)
def test_next_time(text: str, after: str, expected: str) -> None:
    assert Cron.parse(text).next_after(ms(after)) == ms(expected)


def test_a_time_within_a_second_counts_from_the_next_second() -> None:
    assert Cron.parse("* * * * * ?").next_after(ms("2024-01-01T00:00:00") + 1) == ms(
        "2024-01-01T00:00:01"
    )


def test_a_schedule_ends() -> None:
    assert Cron.parse("0 0 0 1 1 ? 2020").next_after(ms("2020-01-01T00:00:00")) is None


@pytest.mark.parametrize(
    "text",
    ["* * * *", "60 * * * * ?", "0 0 0 1 1 MON", "0 0 5-3 * * ?", "x * * * * ?", "0 0 0 ? * 2#6"],
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        Cron.parse(text)
