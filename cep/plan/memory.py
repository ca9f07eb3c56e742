"""How far back rows matter, so that a run that begins later still gives the same rows.

What an operator knows at a moment follows from the records of some time before it, from the last
rows of a source, from what came since a silence, or from all there ever was. Behind one another
these add up: what follows from five minutes of what follows from the last row is known to whoever
reads five minutes, and the last row before these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from cep.plan.text import duration_text


class Hop(NamedTuple):
    """A way back: so many ms, and from there so many rows of a source further.

    Rows count for each key of that source by itself, so that they suffice whoever counts.
    """

    ms: int
    rows: int = 0
    source: str = ""


Path = tuple[Hop, ...]
Back = Callable[[int, int, str], int]
"""The time in ms of the row that is, before a time, so many rows back; of all keys the oldest."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What has to be read before a moment; by default nothing.

    The ways back begin at the last record before it. `silence_ms`: and the moment has to come after
    a silence that is longer, as what came before it matters however old it is. After `lasting_ms`
    without records nothing is left but what the last rows were. `forever` says why all there ever
    was may matter; then the rest says nothing.
    """

    paths: frozenset[Path] = frozenset()
    lasting_ms: int = 0
    silence_ms: int = 0
    forever: str = ""

    def begins_msc(self, last_msc: int, back: Back) -> int:
        """Records of this time, ms UTC, and later ones have to be read before what follows the
        record of `last_msc`.
        """
        begins = (_walked(path, last_msc, back) for path in self.paths)
        return min(begins, default=last_msc + 1)

    @property
    def counts_rows(self) -> bool:
        """Whether the last rows matter, whenever they came."""
        return any(hop.rows for path in self.paths for hop in path)

    def __str__(self) -> str:
        """What has to be read."""
        if self.forever:
            return EVERYTHING
        text = "; ".join(sorted(map(_path_text, self.paths))) or "nothing"
        if self.silence_ms:
            text += f" after a silence of more than {duration_text(self.silence_ms)}"
        return text


EVERYTHING = "all there ever was"
NOTHING = Memory()


def for_ms(ms: int) -> Memory:
    """Rows matter that are no older than that."""
    return Memory(frozenset({(Hop(ms),)}), lasting_ms=ms) if ms else NOTHING


def until_silence(ms: int) -> Memory:
    """Rows matter that followed one another with no more than that between them."""
    return replace(for_ms(ms), silence_ms=ms)


def last_rows(rows: int, source: str) -> Memory:
    """That many rows matter, which are among as many of each key of a source."""
    return Memory(frozenset({(Hop(0, rows, source),)})) if rows else NOTHING


def forever(why: str) -> Memory:
    """Every row may matter."""
    return Memory(forever=why)


def behind(own: Memory, before: Memory) -> Memory:
    """The memory of what remembers by itself, and gets rows of what has a memory."""
    if own.forever or before.forever:
        return forever(own.forever or before.forever)
    if own.counts_rows and before.silence_ms:
        return forever("the last rows before a silence follow from what was before them")
    lasting_ms = own.lasting_ms + before.lasting_ms
    paths = {_joined(one, two) for one in own.paths or {()} for two in before.paths or {()}}
    silence_ms = lasting_ms if own.silence_ms or before.silence_ms else 0
    return Memory(frozenset(_needed(paths)), lasting_ms, silence_ms)


def together(memories: Iterable[Memory]) -> Memory:
    """The memory of several that are beside each other."""
    found = list(memories)
    why = next((one.forever for one in found if one.forever), "")
    if why:
        return forever(why)
    return Memory(
        frozenset(_needed({path for one in found for path in one.paths})),
        max((one.lasting_ms for one in found), default=0),
        max((one.silence_ms for one in found), default=0),
    )


def _joined(first: Path, then: Path) -> Path:
    """One way back, and another from there on."""
    if first and then and not first[-1].rows:
        return (*first[:-1], then[0]._replace(ms=first[-1].ms + then[0].ms), *then[1:])
    return first + then


def _needed(paths: set[Path]) -> Iterable[Path]:
    """Those that lead as far back as no other does; of no hop at all none is needed."""
    return (
        one for one in paths if one and not any(one != two and _covers(two, one) for two in paths)
    )


def _covers(two: Path, one: Path) -> bool:
    """Whether the second leads as far back as the first in any case."""
    return len(two) >= len(one) and all(
        a.ms >= b.ms and (not b.rows or (a.source == b.source and a.rows >= b.rows))
        for a, b in zip(two, one, strict=False)
    )


def _walked(path: Path, last_msc: int, back: Back) -> int:
    """From which time on records are needed: what is needed so far, and what is before that."""
    at_msc = last_msc if path[0].ms else last_msc + 1
    for hop in path:
        at_msc -= hop.ms
        if hop.rows:
            at_msc = back(at_msc, hop.rows, hop.source)
    return at_msc


def _path_text(path: Path) -> str:
    return ", before that ".join(_hop_text(hop) for hop in path)


def _hop_text(hop: Hop) -> str:
    if not hop.rows:
        return duration_text(hop.ms)
    rows = "the last row" if hop.rows == 1 else f"the last {hop.rows:,} rows"
    rows += f" of {hop.source}"
    return f"{duration_text(hop.ms)}, before that {rows}" if hop.ms else rows
