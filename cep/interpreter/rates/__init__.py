"""Output rate limiting: `output [all|first|last] every ..` and `output snapshot every ..`.

`every` holds the rates that count rows, `timed` those that follow the clock, `snapshots` those that
repeat what a query holds.
"""

from __future__ import annotations

from cep.interpreter.context import Context
from cep.interpreter.rates.events import AllEvents, FirstEvents, LastEvents
from cep.interpreter.rates.limiter import Limiter, Passing
from cep.interpreter.rates.snapshots import make_snapshot
from cep.interpreter.rates.timed import AllTimed, FirstTimed, LastTimed
from cep.interpreter.rows import Emit
from cep.plan.query import Query
from cep.plan.steps import Rate

__all__ = ["Limiter", "make_limiter"]


def make_limiter(query: Query, context: Context, emit: Emit) -> Limiter:
    """The limiter of a query, ready to be started."""
    rate = query.rate
    if rate is None:
        return Passing(emit)
    if rate.kind == "snapshot":
        limiter = make_snapshot(query, _every_ms(rate), context, emit)
    elif rate.events is not None:
        limiter = _by_events(rate, rate.events, context, emit)
    else:
        limiter = _by_time(rate, _every_ms(rate), context, emit)
    context.keep(limiter, "rate")
    return limiter


def _every_ms(rate: Rate) -> int:
    if rate.every_ms is None:
        raise ValueError(f"a rate of neither rows nor time: {rate}")
    return rate.every_ms


def _by_events(rate: Rate, events: int, context: Context, emit: Emit) -> Limiter:
    match rate.kind:
        case "first":
            return FirstEvents(events, context, emit)
        case "last":
            return LastEvents(events, emit)
        case _:
            return AllEvents(events, emit)


def _by_time(rate: Rate, every_ms: int, context: Context, emit: Emit) -> Limiter:
    match rate.kind:
        case "first":
            return FirstTimed(every_ms, context, emit)
        case "last":
            return LastTimed(every_ms, context, emit)
        case _:
            return AllTimed(every_ms, context, emit)
