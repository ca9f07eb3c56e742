"""What is known to change a row though it should not: by name, why, and how narrowly.

A difference is made as small as it may be; if one of these then describes the triple that is left,
it is counted and not reported. Each has a triple that still shows it; when that no longer differs,
the entry is to be struck off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.metamorphic.minimal import smallest
from tests.metamorphic.triples import Difference, Triple, verdict


@dataclass(frozen=True, slots=True)
class Known:
    """`covers` says of which triples; `seed` is one that shows it, of that way if one is given."""

    name: str
    why: str
    covers: Callable[[Triple], bool]
    seed: int
    way: str | None = None


KNOWN: tuple[Known, ...] = (
    Known(
        "snapshots by value",
        "as in Siddhi, a snapshot lets go of the row that is equal to the one that leaves, which no"
        " row is when a column holds the time or a name of its own",
        lambda one: one.change == "column" and "output snapshot" in one.added,
        seed=7264,
    ),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A triple that differs, as small as it may be, and what is known of it."""

    triple: Triple
    difference: Difference
    known: Known | None


def finding(one: Triple) -> Finding | None:
    """What a triple finds, if it differs."""
    if verdict(one).difference is None:
        return None
    small = smallest(one, lambda other: verdict(other).difference is not None)
    found = verdict(small).difference
    assert found is not None
    return Finding(small, found, next((entry for entry in KNOWN if entry.covers(small)), None))
