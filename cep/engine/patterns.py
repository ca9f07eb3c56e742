"""A pattern as leaves and masks, the form the matcher works on (see `kernels/match.py`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from cep.engine.kernels.tables import OWN
from cep.plan.nodes import Both, Leaf, Pattern, Ref, Sequence

LEAVES_MAX = 60
CANDIDATES_MAX = 4096

Number = tuple[int, int]
"""What one leaf needs: (definition, key row or OWN)."""


@dataclass(slots=True)
class Shape:
    """Per leaf: what it needs, leaves that come after it, leaves it drops, `[not ..]` sides."""

    leaves: list[Number] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)
    ends_absent: list[int] = field(default_factory=list)
    starts_absent: list[int] = field(default_factory=list)
    absents: list[tuple[Ref, ...]] = field(default_factory=list)
    candidates: int = 1

    @property
    def all(self) -> int:
        return (1 << len(self.leaves)) - 1

    def confusable(self) -> list[Number]:
        """What the leaves need, as if every fixed key could be the own key."""
        own = {definition for definition, key in self.leaves if key == OWN}
        return [(d, OWN) if d in own else (d, key) for d, key in self.leaves]

    def last(self) -> list[Number]:
        """What the leaves that can end a match need."""
        return [self.leaves[index] for index in self.open(self.all)]

    def is_always_last(self, leaf: int) -> bool:
        """Whether a leaf ends every arrangement it is part of; its event is new, hence unbound."""
        others = self.all & ~(1 << leaf | self.drops[leaf])
        return not any(
            others >> other & 1 and not self.after[other] >> leaf & 1
            for other in range(len(self.leaves))
        )

    def open(self, mask: int) -> list[int]:
        """Leaves that can be taken when those in `mask` are still needed."""
        return [
            index
            for index in range(len(self.leaves))
            if mask >> index & 1 and not self.after[index] & mask
        ]

    def take(self, mask: int, leaf: int) -> int:
        return mask & ~(1 << leaf | self.drops[leaf])


def shape_of(pattern: Pattern, number: Callable[[Ref], Number]) -> Shape:
    """Flatten a pattern; ValueError when it is too large for the matcher."""
    shape = Shape()
    _add(shape, pattern, number)
    if len(shape.leaves) > LEAVES_MAX:
        raise ValueError(f"a pattern has at most {LEAVES_MAX} events, this one {len(shape.leaves)}")
    if len(set(shape.confusable())) < len(shape.leaves):
        positions = max(1, len(shape.leaves)) ** len(shape.absents)
        shape.candidates = _widest_level(shape) * positions
    if shape.candidates > CANDIDATES_MAX:
        raise ValueError("the same event occurs too often in `and`: split the complex event")
    return shape


def _add(shape: Shape, pattern: Pattern, number: Callable[[Ref], Number]) -> int:
    """Add a pattern's leaves to the shape; their mask."""
    if isinstance(pattern, Leaf):
        shape.leaves.append(number(pattern.ref))
        for column in (shape.after, shape.drops, shape.ends_absent, shape.starts_absent):
            column.append(0)
        return 1 << len(shape.leaves) - 1
    left = _add(shape, pattern.left, number)
    right = _add(shape, pattern.right, number)
    if isinstance(pattern, Sequence):
        _mark(shape.after, left, right)
        if pattern.absent:
            bit = 1 << len(shape.absents)
            shape.absents.append(pattern.absent)
            _mark(shape.ends_absent, left, bit)
            _mark(shape.starts_absent, right, bit)
    elif not isinstance(pattern, Both):
        _mark(shape.drops, left, right)
        _mark(shape.drops, right, left)
    return left | right


def _mark(column: list[int], leaves: int, bits: int) -> None:
    for index in range(len(column)):
        if leaves >> index & 1:
            column[index] |= bits


def _widest_level(shape: Shape) -> int:
    """Most masks that one list of numbers, read backward, can lead to."""
    widest = 1
    needs = shape.confusable()
    seen = {frozenset((shape.all,))}
    pending = [frozenset((shape.all,))]
    while pending:
        masks = pending.pop()
        following: dict[Number, set[int]] = {}
        for mask in masks:
            for leaf in shape.open(mask):
                following.setdefault(needs[leaf], set()).add(shape.take(mask, leaf))
        for reached in map(frozenset, following.values()):
            widest = max(widest, len(reached))
            if reached not in seen and len(seen) < CANDIDATES_MAX:
                seen.add(reached)
                pending.append(reached)
    return widest
