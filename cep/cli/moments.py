"""Moments (in UTC) and durations as options of a command."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import click

DAYS_TO_SECONDS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]
MOMENT = click.DateTime(DAYS_TO_SECONDS)
EXACT_MOMENT = click.DateTime([*DAYS_TO_SECONDS, "%Y-%m-%dT%H:%M:%S.%f"])
"""As `MOMENT`, with fractions of a second."""


def utc_msc(moment: datetime | None) -> int | None:
    """The moment in ms UTC."""
    return None if moment is None else round(moment.replace(tzinfo=UTC).timestamp() * 1000)


class _Seconds(click.FloatRange):
    """As `FloatRange`, for which "nan" is within any range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is not a number of seconds", param, ctx)
        return seconds


SECONDS = _Seconds(0, 86_400)
