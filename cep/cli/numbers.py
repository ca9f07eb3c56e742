"""Numbers as options of a command."""

from __future__ import annotations

import math
from typing import Any

import click


class Finite(click.FloatRange):
    """As `FloatRange`, for which "nan" is within any range and "inf" within many."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no number; write one such as 0.5", param, ctx)
        return number


PRICE = Finite(0)
LOTS = Finite(0, 1_000_000)
SPEED = Finite(0, min_open=True)
SECONDS = Finite(0, 86_400)
HOURS = Finite(0, 8_784)
