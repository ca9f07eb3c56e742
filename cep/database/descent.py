"""Which streams come from which, and what that means for the rows that one event brings about."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

from cep.plan.nodes import Plan
from cep.plan.query import Join, Query, StreamInput


class Descent:
    """The streams of a plan and what they are made of."""

    def __init__(self, plan: Plan) -> None:
        self._makers = {query.target: query for query in plan.queries}
        self._known: dict[str, frozenset[str]] = {}

    def takes_turns(self, query: Query) -> bool:
        """Whether rows of one event may reach two inputs in turns, when several are made singly.

        An input then has some rows of the event, but not all, when another gets one.
        """
        for one, other in combinations(query.inputs, 2):
            if one.stream == other.stream:
                if one.before != other.before and self._of(one.stream) & self._several:
                    return True
            elif self._of(one.stream) & self._of(other.stream) & self._singly:
                return True
        return False

    def is_alone(self, query: Query) -> bool:
        """Whether an event brings one row at most to all inputs together."""
        made_of = [self._of(one.stream) for one in query.inputs]
        shared = any(one & other for one, other in combinations(made_of, 2))
        return not shared and not any(one & self._several for one in made_of)

    def _of(self, stream: str) -> frozenset[str]:
        """A stream and all that it comes from."""
        if stream not in self._known:
            found, rest = {stream}, [stream]
            while rest:
                maker = self._makers.get(rest.pop())
                more = {one.stream for one in maker.inputs} - found if maker is not None else set()
                found |= more
                rest += more
            self._known[stream] = frozenset(found)
        return self._known[stream]

    @cached_property
    def _several(self) -> frozenset[str]:
        """Streams on which one event may put several rows."""
        made = self._makers.items()
        return frozenset(
            name for name, query in made if name and not isinstance(query.input, StreamInput)
        )

    @cached_property
    def _singly(self) -> frozenset[str]:
        """Those whose rows go on one by one."""
        return frozenset(
            name for name in self._several
            if not isinstance(join := self._makers[name].input, Join) or join.singly
        )  # fmt: skip
