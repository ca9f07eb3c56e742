"""The clocks of what was lived: which there are, what moves them, and by which each node goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cep.engine.machine.kernels.clocks import OF_KEY_BITS
from cep.plan.change import PartId
from cep.plan.clocks import ClockOf, Sources


class ClockTable:
    """All clocks that the parts of a plan go by. A part has one that all keys have in common, and
    one of each key where it works by the key.
    """

    def __init__(self, clocks: Mapping[PartId, ClockOf], sources: Sequence[str]) -> None:
        self._of_part = clocks
        self.sources = sources
        self.common = list(dict.fromkeys(one.sources for one in clocks.values()))
        self.of_key = list(dict.fromkeys(one.sources for one in clocks.values() if one.is_by_key))

    def code(self, part: PartId) -> int:
        """The clock of the nodes of a part, as `kernels.clocks` has it; 0: they need none."""
        clock = self._of_part.get(part)
        if clock is None:
            return 0
        found = 1 + self.common.index(clock.sources)
        if clock.is_by_key:
            found |= (1 + self.of_key.index(clock.sources)) << OF_KEY_BITS
        return found

    def moved_by(self, source: str) -> list[int]:
        """What the records of a source move, as `kernels.clocks` has it."""
        common, of_key = (_with(source, clocks) for clocks in (self.common, self.of_key))
        return [self.sources.index(source), len(common), *common, len(of_key), *of_key]


def _with(source: str, clocks: Sequence[Sources]) -> list[int]:
    """The numbers of the clocks that a source moves."""
    return [number for number, sources in enumerate(clocks) if source in sources]
