"""What a session script may let happen to a program on its chart, checked beforehand.

at tick=500 reinit=Publisher reason=PARAMETERS inputs="Port=5656 Symbols='GBPUSD,USDJPY'"
at ms=900 reinit=Trader reason=CHARTCHANGE symbol=GBPUSD period=PERIOD_H1
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

Settings = Sequence[tuple[str, str]]

# Why OnDeinit is called, and what may change with each.
REASONS: Mapping[str, tuple[str, ...]] = {
    "PARAMETERS": ("inputs",),
    "CHARTCHANGE": ("symbol", "period"),
    "ACCOUNT": (),
    "PROGRAM": (),
    "REMOVE": (),
    "RECOMPILE": (),
    "CHARTCLOSE": (),
    "TEMPLATE": ("inputs",),
    "INITFAILED": ("inputs",),
    "CLOSE": (),
}
_DETAILS = ("reason", "inputs", "symbol", "period")
_PERIODS = "M1 M2 M3 M4 M5 M6 M10 M12 M15 M20 M30 H1 H2 H3 H4 H6 H8 H12 D1 W1 MN1".split()


def check_reason(value: str) -> None:
    """Raises ValueError with a remedy."""
    if value not in REASONS:
        raise ValueError(f"{value!r} is unknown; write one of {', '.join(REASONS)}")


def check_period(value: str) -> None:
    """Raises ValueError with a remedy."""
    if value.removeprefix("PERIOD_") not in _PERIODS or not value.startswith("PERIOD_"):
        known = ", ".join(f"PERIOD_{period}" for period in _PERIODS)
        raise ValueError(f"{value!r} is no period; write one of {known}")


def input_settings(words: Sequence[str]) -> list[tuple[str, str]]:
    """`Port=5655` as a setting of the line. Raises ValueError with a remedy."""
    settings = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f"{word!r} is no setting; write name=value")
        settings.append((f"input.{name}", value))
    return settings


def chart_settings(settings: Settings) -> list[tuple[str, str]]:
    """The settings of an `at` line, with `inputs` spread out. Raises ValueError with a remedy."""
    given = dict(settings)
    details = [key for key in given if key in _DETAILS]
    if "reinit" not in given:
        if details:
            raise ValueError(f"at {details[0]} belongs to reinit=PROGRAM; name the program")
        return list(settings)
    if "reason" not in given:
        raise ValueError(f"at reinit needs reason=...; write one of {', '.join(REASONS)}")
    fitting = REASONS[given["reason"]]
    if wrong := [key for key in details if key not in ("reason", *fitting)]:
        raise ValueError(
            f"at {wrong[0]} does not change with the reason {given['reason']}; "
            f"write {' or '.join(fitting) or 'the reason alone'}"
        )
    if given["reason"] == "CHARTCHANGE" and not {"symbol", "period"} & set(details):
        raise ValueError("at reinit reason=CHARTCHANGE needs symbol=... or period=...")
    plain = [(key, value) for key, value in settings if key != "inputs"]
    return plain + input_settings(shlex.split(given.get("inputs", "")))
