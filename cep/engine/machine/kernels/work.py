"""What is still to be done: frames on a stack, and the chunks of rows that they are about.

A frame is a node and a chunk that it gets. It is done when its node has made another chunk of this;
then the frame is the next node's. What a stream's readers make lies above it, so each reader is
finished before the next begins: depth first, in the order of the file.
"""

from __future__ import annotations

from cep.engine.machine.jit import inline, inner
from cep.engine.machine.kernels.memory import release_shared, shared_block
from cep.engine.machine.kernels.words import (
    CHUNK,
    COUNT,
    CURSOR,
    DEPTH,
    FLOOR,
    FRAME,
    KIND,
    MADE,
    MADE_COUNT,
    NODE,
    PLACE,
    STACK,
    STACK_SIZE,
    TIME,
    WORK,
    WORK_SIZE,
    WORK_TOP,
    Ints,
)


@inner
def moved(i: Ints, header: int, used: int, least: int) -> bool:
    """Move what a header word and its size describe to a larger block of at least so many words."""
    size = max(2 * i[0, header + 1], least)
    at = shared_block(i, size)
    if at == 0:
        return False
    old = i[0, header]
    for word in range(used):
        i[0, at + word] = i[0, old + word]
    release_shared(i, old, i[0, header + 1])
    i[0, header] = at
    i[0, header + 1] = size
    return True


@inline
def work_room(i: Ints, words: int) -> bool:
    """Whether there is room for so many words of rows; it may move all rows on their way."""
    least = i[0, WORK_TOP] + words
    return least <= i[0, WORK_SIZE] or moved(i, WORK, i[0, WORK_TOP], least)


@inline
def put(i: Ints, words: int) -> int:
    """The place of a new row, for which there is room: its distance from where rows begin."""
    at = i[0, WORK_TOP]
    i[0, WORK_TOP] = at + words
    return at


@inline
def row_at(i: Ints, distance: int) -> int:
    """The address of a row on its way."""
    return i[0, WORK] + distance


@inline
def copied(i: Ints, source: int, target: int, words: int) -> None:
    for word in range(words):
        i[0, target + word] = i[0, source + word]


@inline
def as_kind(i: Ints, row: int, time: int, kind: int) -> None:
    """A row gets another time and kind."""
    i[0, row + TIME] = time
    i[0, row + KIND] = kind


@inline
def frame_room(i: Ints, frames: int) -> bool:
    """Whether there is room for so many more frames."""
    least = (i[0, DEPTH] + frames) * FRAME
    return least <= i[0, STACK_SIZE] or moved(i, STACK, i[0, DEPTH] * FRAME, least)


@inline
def top_frame(i: Ints) -> int:
    return i[0, STACK] + (i[0, DEPTH] - 1) * FRAME


@inline
def push(i: Ints, node: int, place: int, chunk: int, count: int, floor: int) -> None:
    """A frame on top, for which there is room. With it what lies above `floor` is given back."""
    at = i[0, STACK] + i[0, DEPTH] * FRAME
    i[0, DEPTH] += 1
    i[0, at + NODE] = node
    i[0, at + PLACE] = place
    i[0, at + CHUNK] = chunk
    i[0, at + COUNT] = count
    i[0, at + CURSOR] = 0
    i[0, at + MADE] = -1
    i[0, at + MADE_COUNT] = 0
    i[0, at + FLOOR] = floor


@inline
def pop(i: Ints, frame: int) -> None:
    """The top frame is done."""
    i[0, WORK_TOP] = i[0, frame + FLOOR]
    i[0, DEPTH] -= 1


@inline
def made(i: Ints, frame: int, words: int) -> int:
    """The address of one more row that the top frame makes, for which there is room."""
    at = put(i, words)
    if i[0, frame + MADE] < 0:
        i[0, frame + MADE] = at
    i[0, frame + MADE_COUNT] += 1
    return row_at(i, at)


@inline
def hand_on(i: Ints, frame: int, node: int) -> None:
    """The frame becomes that of the next node, with what was made; without anything it is done."""
    if i[0, frame + MADE_COUNT] == 0:
        pop(i, frame)
        return
    i[0, frame + NODE] = node
    i[0, frame + CHUNK] = i[0, frame + MADE]
    i[0, frame + COUNT] = i[0, frame + MADE_COUNT]
    i[0, frame + CURSOR] = 0
    i[0, frame + MADE] = -1
    i[0, frame + MADE_COUNT] = 0


@inline
def hand_on_same(i: Ints, frame: int, node: int, count: int) -> None:
    """The same for a node that has changed its rows where they are, of which `count` are left."""
    if count == 0:
        pop(i, frame)
        return
    i[0, frame + NODE] = node
    i[0, frame + COUNT] = count
    i[0, frame + CURSOR] = 0
