"""Finding complex events that can never match.

Only what an arrangement is made of matters here, not its order: an event that must not repeat
cannot stand twice, a forbidden one cannot stand at all, and of two opposites the later always
ends the earlier. So it is enough to follow the sets of events that can stand together.
"""

from __future__ import annotations

from cep.plan.nodes import Either, Leaf, Pattern, Ref
from cep.plan.text import ref_text

Content = frozenset[Ref]
CONTENTS_MAX = 2_000


class Possibility:
    """Judges patterns, given what may repeat and what excludes what."""

    def __init__(
        self,
        forbidden: frozenset[Ref],
        single: frozenset[str],
        opposites: dict[str, frozenset[str]],
    ) -> None:
        """`single`: events of which the queue holds at most one; `opposites`: both ways."""
        self.forbidden = forbidden
        self.single = single
        self.opposites = opposites
        self.reasons: dict[str, None] = {}

    def reasons_against(self, pattern: Pattern) -> tuple[str, ...]:
        """Why no arrangement can ever match; empty when one can, or when too many to tell."""
        contents = self._contents(pattern)
        return () if contents is None or contents else tuple(self.reasons)

    def _contents(self, pattern: Pattern) -> set[Content] | None:
        """The sets of events of the arrangements not ruled out; None when there are too many."""
        if isinstance(pattern, Leaf):
            if pattern.ref in self.forbidden:
                self._note(f"{_shown(pattern.ref)} is both required and forbidden")
                return set()
            return {frozenset((pattern.ref,))}
        left, right = self._contents(pattern.left), self._contents(pattern.right)
        if isinstance(pattern, Either):
            return None if left is None or right is None else left | right
        if left == set() or right == set():
            return set()
        if left is None or right is None or len(left) * len(right) > CONTENTS_MAX:
            return None
        return {a | b for a in left for b in right if self._together(a, b)}

    def _together(self, left: Content, right: Content) -> bool:
        return not any(self._excludes(a, b) for a in left for b in right)

    def _excludes(self, a: Ref, b: Ref) -> bool:
        if a == b and a.event in self.single:
            self._note(f"{_shown(a)} is needed twice, but the queue holds it only once")
            return True
        if a.key == b.key and b.event in self.opposites.get(a.event, frozenset()):
            first, second = sorted((_shown(a), _shown(b)))
            self._note(f"{first} and {second} are opposites, and the later one ends the earlier")
            return True
        return False

    def _note(self, reason: str) -> None:
        self.reasons[reason] = None


def _shown(ref: Ref) -> str:
    return f"`{ref_text(ref)}`"
