"""The annotations there are: where each may stand and what it does."""

from __future__ import annotations

from typing import NamedTuple

from cep.lang.errors import listing, suggestion
from cep.lang.unsupported import ANNOTATIONS as REFUSED


class AnnotationKind(NamedTuple):
    """`places` are the kinds of statement it may stand before; `written` is its usual spelling."""

    written: str
    places: tuple[str, ...]
    doc: str
    keys: tuple[str, ...] | None = None
    """The keys it knows; None: any, for what has no effect or names attributes."""


EVERYWHERE = ("stream", "table", "window", "trigger", "aggregation", "query", "partition")

KINDS = (
    AnnotationKind("app:name", ("app",), "names the file's rules"),
    AnnotationKind("app:description", ("app",), "says what they are for; no effect"),
    AnnotationKind("app:info", ("app",), "names the app, as `@app:name` does; no effect"),
    AnnotationKind("app:compat", ("app",), "`'siddhi'` keeps the defects of Siddhi"),
    AnnotationKind(
        "app:playback",
        ("app",),
        "the rows' times drive the clock; `idle.time` and `increment` move it when nothing comes",
        ("idle.time", "increment"),
    ),
    AnnotationKind("app:statistics", ("app",), "accepted without effect"),
    AnnotationKind("app:async", ("app",), "accepted without effect: rows are taken in order"),
    AnnotationKind("app:enforceOrder", ("app",), "accepted without effect: order is always kept"),
    AnnotationKind("info", EVERYWHERE, "`name` names the query or partition after it", ("name",)),
    AnnotationKind("PrimaryKey", ("table",), "the attributes that tell rows apart"),
    AnnotationKind("Index", ("table",), "an attribute by which rows are found fast"),
    AnnotationKind(
        "key",
        ("stream",),
        "the text attribute whose values have own clocks, else `symbol`",
    ),
    AnnotationKind(
        "OnError", ("stream",), "`action='STREAM'` sends rows that fail to `!S`, `'LOG'` logs them"
    ),
    AnnotationKind(
        "reorder",
        ("stream",),
        "`max.delay` puts late rows back in order, `late.stream` gets those that are later still; "
        "without it they are dropped and counted",
        ("max.delay", "late.stream"),
    ),
    AnnotationKind(
        "purge",
        ("partition", "aggregation"),
        "`enable`, `interval`, `idle.period`: drops the state of keys idle for so long",
        ("enable", "interval", "idle.period"),
    ),
    AnnotationKind("retentionPeriod", ("purge",), "inside `@purge`: how long each unit is kept"),
    AnnotationKind("PartitionById", ("aggregation",), "shares an aggregation over several nodes"),
    AnnotationKind(
        "bound",
        ("query",),
        "`partials`: how many partial matches are kept, in all states together",
        ("partials",),
    ),
    AnnotationKind(
        "expired", ("query",), "`stream` gets the partial matches that run out of time", ("stream",)
    ),
    AnnotationKind("async", ("stream",), "accepted without effect: rows are taken in order"),
    AnnotationKind(
        "synchronized", ("query", "partition"), "accepted without effect: nothing runs at once"
    ),
    AnnotationKind("dist", ("query", "partition"), "accepted without effect: one process runs all"),
)
"""Every annotation that is accepted."""

_BY_NAME = {kind.written.lower(): kind for kind in KINDS}
PLACE_NAMES = {
    "app": "the whole file",
    "query": "a query",
    "partition": "a partition",
    "purge": "`@purge`",
}


def refusal(name: str) -> tuple[str, str] | None:
    """Message and remedy when no annotation `name` (lower case) exists; None when it does."""
    if name in REFUSED:
        written, hint = REFUSED[name]
        return f"`@{written}` is not supported", hint
    if name in _BY_NAME:
        return None
    known = suggestion(f"@{name}", [f"@{kind.written}" for kind in KINDS])
    return f"unknown annotation `@{name}`", known


def unknown_key(name: str, key: str) -> tuple[str, str] | None:
    """Message and remedy when the annotation does not know a key; None when it does."""
    kind = _BY_NAME.get(name)
    if not key or kind is None or kind.keys is None or key in kind.keys:
        return None
    return f"`@{kind.written}` has no `{key}`", suggestion(key, kind.keys)


def check_place(name: str, place: str) -> tuple[str, str] | None:
    """Message and remedy when the annotation does not belong to that kind of statement."""
    kind = _BY_NAME[name]
    if place in kind.places:
        return None
    wanted = " or ".join(PLACE_NAMES.get(p, f"`define {p}`") for p in kind.places)
    fitting = [f"@{other.written}" for other in KINDS if place in other.places]
    return f"`@{kind.written}` belongs to {wanted}", f"here may stand {listing(fitting)}"
