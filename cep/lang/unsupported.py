"""SiddhiQL that is recognised but not built, each with what to do instead."""

from __future__ import annotations

_JOIN = "bring both values into one stream, or bind two events with `define complex`"
_ORDER = "rows come out in order of arrival; sort the output where it is read"
_TABLE = "tables are not built; insert into a stream"

DEFINITIONS = {
    "table": "keep rows in a window, or outside the rules",
    "window": "put `#window.time(..)` or `#window.length(..)` into the query",
    "trigger": "feed a stream of clock rows instead",
    "function": "use the core functions",
    "aggregation": "aggregate in a query with a window and `group by`",
}
"""What may stand after `define`, besides what is built."""

STATEMENTS = {
    "partition": "use `group by`, or `for each` in an event",
    "select": "a query starts with `from STREAM`",
    "update": _TABLE,
    "delete": _TABLE,
}
"""What may start a statement."""

ANNOTATIONS = ("app:name", "app:compat", "info")
"""The annotations that mean something."""

AFTER_SOURCE = {
    "join": _JOIN,
    "inner": _JOIN,
    "left": _JOIN,
    "right": _JOIN,
    "full": _JOIN,
    "outer": _JOIN,
    "unidirectional": _JOIN,
    "as": "refer to attributes by the stream's own name",
    "and": "bind two events with `define complex`",
    "or": "bind two events with `define complex`",
    "within": "bind events with `define complex`",
}
"""What may stand after the source of a query."""

AFTER_SELECT = {
    "order": _ORDER,
    "limit": _ORDER,
    "offset": _ORDER,
    "output": "every row is put out at once; thin them out where they are read",
}
"""What may stand after `select`."""

OUTPUTS = {
    "delete": _TABLE,
    "update": _TABLE,
    "return": "insert into a stream",
}
"""What may stand for `insert`."""

EVENT_KINDS = {
    "all": "only current events are put out: `insert into STREAM`",
    "expired": "only current events are put out: `insert into STREAM`",
}
"""What may stand after `insert`."""


def annotation_hint(name: str) -> str:
    """What to do about an annotation that means nothing here."""
    if name.lower() == "app:playback":
        return "remove it: the time of the events always drives the clock"
    known = ", ".join(f"`@{annotation}`" for annotation in ANNOTATIONS)
    return f"remove it; built are {known}"


WINDOWS = (
    "lengthBatch timeBatch timeLength externalTime externalTimeBatch sort frequent lossyFrequent"
    " cron batch session delay expression expressionBatch hopping"
).split()
"""Core windows of SiddhiQL."""

FUNCTIONS = (
    "cast convert UUID currentTimeMillis createSet sizeOfSet default instanceOfString"
    " instanceOfInteger instanceOfLong instanceOfFloat instanceOfDouble instanceOfBoolean"
    " distinctCount minForever maxForever unionSet and or"
).split()
"""Core functions and aggregates of SiddhiQL."""
