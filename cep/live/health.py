"""Whether a daemon does what it is for, and why not."""

from __future__ import annotations

from collections.abc import Iterator

from mt5bridge.server.status import STALE_MS, Status
from mt5bridge.troubles import Effect, Trouble


def faults(status: Status, now_msc: int) -> list[str]:
    """Why it is not healthy: something that terminals or trades wait for. Empty: it is."""
    return list(_faults(status, now_msc))


def _faults(status: Status, now_msc: int) -> Iterator[str]:
    age_ms = now_msc - status.written_msc
    if age_ms > STALE_MS:
        age_s = age_ms // 1000
        yield f"it has told nothing for {age_s} s: it has ended, hangs, or its disk is full"
    for trouble in status.troubles:
        if trouble.effect is not Effect.GOES_ON:
            yield _told(trouble)


def notices(status: Status) -> list[str]:
    """What is to be seen to, while it does what it is for."""
    found = [_told(one) for one in status.troubles if one.effect is Effect.GOES_ON]
    found += [f"halted: {status.halt_reason}"] if status.halted else []
    found += [f"rules {one.name}: halted: {one.halted}" for one in status.rules if one.halted]
    for one in status.limits:
        times = f"{one.times:,} time{'s' * (one.times != 1)}"
        found.append(f"{one.setting}: {one.effect}, {times} since the start: {one.reason}")
    return found


def _told(trouble: Trouble) -> str:
    return f"{trouble.name}: {trouble.text} ({trouble.effect})"
