"""Late events, which a program may not push: they are refused, whatever is to run the queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cep.database.errors import EventError

if TYPE_CHECKING:
    from cep.database.batches import Arrivals


def newest_in(arrivals: Sequence[Arrivals], newest_msc: int, stored: str = "") -> int:
    """The newest time when they have come; EventError for one that comes after a newer one.

    `newest_msc` is that before them; `stored` says what to do where the first is older than that.
    """
    times = np.concatenate([np.zeros(0, np.int64), *(one.times for one in arrivals)])
    if len(arrivals) > 1:
        places = np.concatenate([one.places for one in arrivals])
        times = times[np.argsort(places, kind="stable")]
    if not len(times):
        return newest_msc
    late = np.flatnonzero(times[1:] < times[:-1])
    if times[0] < newest_msc:
        raise EventError.late(0, int(times[0]), newest_msc, stored)
    if len(late):
        place = int(late[0]) + 1
        raise EventError.late(place, int(times[place]), int(times[place - 1]))
    return int(times[-1])
