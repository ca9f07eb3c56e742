"""Functions and attributes that other languages have, and what they are called here."""

from __future__ import annotations

from collections.abc import Iterable

_NOW = "the time of a row is `eventTimestamp()`"
_CHOICE = "write `ifThenElse(condition, x, otherwise)`"
_MISSING = "write `coalesce(x, otherwise)`"
_PART = "write `str:substr(s, from, length)`"
_NEAR_MEAN = "write `avg(x)`, over a window such as `#window.length(20)`"
_EARLIER = "write `lag(x)`, the value one row earlier"
_CROSS = "an event happens when its condition turns true: `define event E as S[a > b]`"

FUNCTIONS = {
    **dict.fromkeys("now getdate sysdate current_timestamp timestamp".split(), _NOW),
    **dict.fromkeys("if iif iff case decode choose".split(), _CHOICE),
    **dict.fromkeys("nvl ifnull".split(), _MISSING),
    **dict.fromkeys("substring mid substr".split(), _PART),
    **dict.fromkeys("mean average sma ma".split(), _NEAR_MEAN),
    **dict.fromkeys("prev previous shift ref".split(), _EARLIER),
    **dict.fromkeys("cross crosses crossover crossunder crossabove crossbelow".split(), _CROSS),
    **dict.fromkeys("std stdev stddev_pop stddev_samp deviation".split(), "write `stdDev(x)`"),
    **dict.fromkeys("var variance var_pop".split(), "write `stdDev(x) * stdDev(x)`"),
    **dict.fromkeys("isnull is_null isna".split(), "write `x is null`"),
    **dict.fromkeys("len char_length strlen".split(), "write `str:length(s)`"),
    **dict.fromkeys("highest hhv".split(), "write `max(x)`, over a window"),
    **dict.fromkeys("lowest llv".split(), "write `min(x)`, over a window"),
    "pow": "write `math:power(x, y)`",
    "greatest": "write `maximum(x, y)`",
    "least": "write `minimum(x, y)`",
}
"""By the name in lower case: what to write instead."""

TIMES = frozenset("time_msc timestamp time datetime date ts event_time".split())
"""Attributes by which others call the time of a row."""


def function(name: str, known: Iterable[str]) -> str:
    """What to write instead of a function that is not there; empty where nothing is known."""
    wanted = name.lower()
    if wanted in FUNCTIONS:
        return FUNCTIONS[wanted]
    spaced = [one for one in known if one.lower().rpartition(":")[2] == wanted]
    return f"did you mean `{spaced[0]}`?" if spaced else ""


def attribute(name: str) -> str:
    """What to write instead of an attribute that is not there; empty where nothing is known."""
    if name.lower() == "null":
        return "test for null with `x is null`"
    return _NOW if name.lower() in TIMES else ""
