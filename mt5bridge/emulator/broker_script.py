"""What a session script may say to the emulated broker, checked before a terminal is started."""

from __future__ import annotations

import re
from collections.abc import Callable

_NUMBER = r"-?\d+(\.\d+)?"
_RANGE = re.compile(rf"{_NUMBER}(\.\.{_NUMBER})?")
_REJECTION = re.compile(r"100[0-4]\d(:\d+(\.\d+)?(:\d+)?)?")
_COMMENTS = re.compile(r"keep|drop|cut:\d+|replace:[^:]*")
_DEAL = r"(last|\d+)"

# Keys whose value is one number or a range `1..5`, drawn anew each time.
RANGES = (
    "latency_ms",
    "fills",
    "fill_delay_ms",
    "fill_ticks",
    "slippage_points",
    "history_delay_ms",
    "in_flight_delay_ms",
    "revision_delay_ms",
)
# Keys whose value is a probability or a switch, 0 to 1.
SHARES = (
    "shuffle",
    "duplicates",
    "missing",
    "timeout",
    "lost",
    "in_flight",
    "liquidity",
    "revisions",
    "account_trade",
    "account_expert",
)
# Keys whose value is any number from 0 on.
AMOUNTS = (
    "depth_lots",
    "commission",
    "limit_orders",
    "requests_per_second",
    "stop_out",
    "activity_ticks",
    "activity_lots",
)
# Actions and what follows their name.
ACTIONS = {
    "trade": (rf"(buy|sell) \S+ {_NUMBER}( \d+( .*)?)?", "trade buy EURUSD 0.1 [MAGIC [COMMENT]]"),
    "program": (
        rf"(buy|sell) \S+ {_NUMBER}( \d+( .*)?)?",
        "program buy EURUSD 0.1 [MAGIC [COMMENT]]",
    ),
    "burst": (rf"\d+ \S+ {_NUMBER}", "burst 10 EURUSD 0.1"),
    "close_all": ("", "close_all"),
    "balance": (rf"{_NUMBER}( .*)?", "balance 1000 [COMMENT]"),
    "operation": (rf"\d+ {_NUMBER}( .*)?", "operation 7 -3.5 [COMMENT]"),
    "revise": (rf"{_DEAL} (commission|swap|profit|fee) {_NUMBER}", "revise last swap -1.5"),
    "cancel_deal": (_DEAL, "cancel_deal last"),
    "delete_deal": (_DEAL, "delete_deal last"),
    "cancel_order": (_DEAL, "cancel_order last"),
}


def _range(value: str) -> str | None:
    if not _RANGE.fullmatch(value):
        return "write a number or a range like 1..5"
    least, _, most = value.partition("..")
    return "write the smaller number first" if most and float(most) < float(least) else None


def _share(value: str) -> str | None:
    good = re.fullmatch(_NUMBER, value) and 0 <= float(value) <= 1
    return None if good else "write a number from 0 to 1"


def _amount(value: str) -> str | None:
    good = re.fullmatch(_NUMBER, value) and float(value) >= 0
    return None if good else "write a number, 0 or more"


def _like(pattern: re.Pattern[str], remedy: str) -> Callable[[str], str | None]:
    return lambda value: None if pattern.fullmatch(value) else remedy


_CHECKS: dict[str, Callable[[str], str | None]] = {
    **dict.fromkeys(RANGES, _range),
    **dict.fromkeys(SHARES, _share),
    **dict.fromkeys(AMOUNTS, _amount),
    "reject": _like(_REJECTION, "write a return code, and maybe share and times: 10004:0.5:3"),
    "comments": _like(_COMMENTS, "write keep, drop, cut:31 or replace:TEXT"),
    "closed": _like(re.compile(r"\S+"), "write symbols with commas between, or *"),
    "open": _like(re.compile(r"\S+"), "write symbols with commas between, or *"),
}


def check_broker_setting(key: str, value: str) -> None:
    """Whether `broker key=value` is understood; raises ValueError that says what would be."""
    check = _CHECKS.get(key)
    if check is None:
        raise ValueError(f"broker has no setting {key!r}; it has {', '.join(sorted(_CHECKS))}")
    if remedy := check(value):
        raise ValueError(f"broker {key}={value}: {remedy}")


def check_broker_command(text: str) -> None:
    """Whether a command, one action or settings, is understood; raises ValueError if not."""
    words = text.split()
    if not words:
        raise ValueError("a broker command says nothing; write an action or key=value")
    if "=" in words[0]:
        for word in words:
            check_broker_setting(*word.split("=", 1))
        return
    if words[0] not in ACTIONS:
        raise ValueError(f"the broker has no action {words[0]!r}; it has {', '.join(ACTIONS)}")
    pattern, example = ACTIONS[words[0]]
    if not re.fullmatch(pattern, " ".join(words[1:])):
        raise ValueError(f"broker {text!r} is not understood; write for example {example!r}")
