"""Late rows, which a stream's table has at the newest time before them: when they are due.

The own times of late rows stand in a table beside those of the streams, by event. It is asked by
statements that are made for the case that there are late rows; all others pass it by.
"""

from __future__ import annotations

import sqlalchemy as sa

from cep.database.dialects.base import Element


def own_time(late: sa.Table | None, seq: Element, ts: Element) -> Element:
    """The time of a row itself, given its event and its time in the table."""
    if late is None:
        return ts
    found = sa.select(late.c.own).where(late.c.seq == seq).correlate_except(late)
    own: Element = sa.func.coalesce(found.scalar_subquery(), ts, type_=sa.BigInteger())
    return own


def is_due(late: sa.Table, seq: Element, limit: Element) -> Element:
    """Whether a row is a late one whose own time is up to a limit."""
    return sa.exists(
        sa.select(sa.literal(1))
        .where(late.c.seq == seq, late.c.own <= limit)
        .correlate_except(late)
    )
