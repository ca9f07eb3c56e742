"""Rows that come in many small pieces as few larger ones."""

from __future__ import annotations

from collections.abc import Iterator

from cep.engine.joined import Masks, joined
from cep.engine.rows import Rows

GATHERED_ROWS = 1 << 13
"""A piece costs those who take it as much as hundreds of rows do."""


def gathered(pieces: Iterator[Rows], masks: Masks) -> Iterator[Rows]:
    """The same rows in the same order, all of one run, in pieces of `GATHERED_ROWS` or more.

    `masks` are those of the run. Pieces that refer to objects stay as they are.
    """
    waiting: list[Rows] = []
    count = 0
    for piece in pieces:
        if piece.objects:
            yield from _joined(waiting, masks)
            yield piece
            waiting, count = [], 0
        elif len(piece):
            waiting.append(piece)
            count += len(piece)
        if count >= GATHERED_ROWS:
            yield from _joined(waiting, masks)
            waiting, count = [], 0
    yield from _joined(waiting, masks)


def _joined(pieces: list[Rows], masks: Masks) -> Iterator[Rows]:
    if len(pieces) == 1:
        yield pieces[0]
    elif pieces:
        yield Rows(pieces[0].decoder, joined(masks, [piece.raw for piece in pieces]))
