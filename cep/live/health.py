"""Whether a daemon does what it is for, and why not."""

from __future__ import annotations

from collections.abc import Iterator

from mt5bridge.orders.holdings import Claim
from mt5bridge.server.status import STALE_MS, PositionStatus, Status
from mt5bridge.troubles import Effect, Trouble


def faults(status: Status, now_msc: int, *, was_left: bool = False) -> list[str]:
    """Why it is not healthy: something that terminals or trades wait for. Empty: it is.

    `was_left`: nobody holds its state folder any more.
    """
    return list(_faults(status, now_msc, was_left))


def _faults(status: Status, now_msc: int, was_left: bool) -> Iterator[str]:
    age_ms = now_msc - status.written_msc
    has_said = any(one.effect is Effect.ENDS for one in status.troubles)
    if was_left and not has_said:
        yield "it has ended and said nothing, by a kill or a crash: start it again"
    elif age_ms > STALE_MS:
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
    found += position_notices(status)
    if status.unremembered:
        count = f"{status.unremembered:,} request{'s' * (status.unremembered != 1)}"
        found.append(f"{count} executed that the order journal does not know: `mt5cep orders ls`")
    for one in status.limits:
        times = f"{one.times:,} time{'s' * (one.times != 1)}"
        found.append(f"{one.setting}: {one.effect}, {times} since the start: {one.reason}")
    return found


def position_notices(status: Status) -> list[str]:
    """Positions that are not what their strategies have made them, or of which no deal has told."""
    by_others = (one for one in status.positions if one.magic is not None and one.changed_msc)
    found = [claim_text(one) for one in by_others]
    known: dict[str, dict[int, float]] = {}
    for claim in status.positions:
        lots = known.setdefault(claim.account, {})
        lots[claim.position] = lots.get(claim.position, 0.0) + claim.held
    for one in status.terminals:
        account = f"{one.account}@{one.server}"
        if one.account_state is None or not one.connected or account not in known:
            continue
        told = one.account_state.positions
        held = sum(round(lots, 8) != 0 for lots in known[account].values())
        if told != held:
            found.append(f"account {account} has {told} positions, deals have told of {held}")
    return list(dict.fromkeys(found))


def claim_text(claim: Claim | PositionStatus) -> str:
    """What other hands have made of a strategy's position, in words."""
    return (
        f"{claim.strategy} has {claim.held:g} of {claim.meant:g} lots of {claim.symbol} (position "
        f"{claim.position}, account {claim.account}): the rest was closed by another hand than its "
        "own"
    )


def _told(trouble: Trouble) -> str:
    return f"{trouble.name}: {trouble.text} ({trouble.effect})"
