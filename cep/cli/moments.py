"""Moments as options of a command, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import click

DAYS_TO_SECONDS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]
MOMENT = click.DateTime(DAYS_TO_SECONDS)
EXACT_MOMENT = click.DateTime([*DAYS_TO_SECONDS, "%Y-%m-%dT%H:%M:%S.%f"])
"""As `MOMENT`, with fractions of a second."""


def utc_msc(moment: datetime | None) -> int | None:
    """The moment in ms UTC."""
    return None if moment is None else round(moment.replace(tzinfo=UTC).timestamp() * 1000)
