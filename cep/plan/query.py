"""Queries of the plan: where rows come from, the steps they pass, where the result goes.

Rows carry slots. A query over one stream has slot 0 only; a join has 0 (left) and 1 (right); a
pattern or sequence has a slot per stream state, in order of the text; a correlation one per input;
a matching 0 (the last row) and 1 (the variables). A `Column` names its slot.
Conditions on rows of a table see the table's row in `expressions.TABLE_SLOT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from cep.plan.expressions import Aggregate, Column, Expression
from cep.plan.regex import Regex
from cep.plan.steps import (
    Filter,
    GroupBy,
    Handler,
    Holder,
    Insert,
    Output,
    Project,
    Projection,
    Rate,
    Return,
    Slice,
    Sort,
    Step,
    Window,
    schema_of,
)
from cep.plan.types import Schema


@dataclass(frozen=True, slots=True)
class StreamInput:
    """`stream[..]#window.w(..)[..]`: handlers in front of and behind the window, in order.

    `schema` is what comes out: the attributes of the stream, then what functions add. Columns of
    the query count in it.
    """

    stream: str
    schema: Schema
    before: tuple[Handler, ...] = ()
    window: Window | None = None
    after: tuple[Handler, ...] = ()
    holder: Holder = Holder.STREAM

    @property
    def filters(self) -> tuple[Expression, ...]:
        """Conditions in front of the window."""
        return tuple(h.condition for h in self.before if isinstance(h, Filter))

    @property
    def window_filters(self) -> tuple[Expression, ...]:
        """Conditions behind the window."""
        return tuple(h.condition for h in self.after if isinstance(h, Filter))


@dataclass(frozen=True, slots=True)
class Join:
    """`left JOIN right on ..`; `trigger` says which side's rows cause output.

    `within` (start, end or one pattern) and `per` belong to a join with an aggregation. What one
    row brings about goes on together, as in SiddhiQL, or `singly`.
    """

    left: StreamInput
    right: StreamInput
    kind: Literal["inner", "left", "right", "full"]
    trigger: Literal["both", "left", "right"]
    on: Expression | None
    within: tuple[Expression, ...] = ()
    per: Expression | None = None
    singly: bool = False


@dataclass(frozen=True, slots=True)
class Correlation:
    """Rows of three or more inputs that are alive at the same time and on which `on` is true.

    Each combination comes when its last row does, and goes on by itself. A stream that is several
    inputs enters them one after the other. (Two inputs are an inner `Join`.)
    """

    inputs: tuple[StreamInput, ...]
    on: Expression | None


@dataclass(frozen=True, slots=True)
class StreamState:
    """One event of `input.stream` that passes its filters (`input.before`; no window).

    Filters see earlier slots and the candidate itself in `slot`. `Column.index` counts within a
    slot that a `CountState` collects; there the candidate stands behind what is collected, so in
    the state's own filter index -1 is the candidate and -2 the row before it.
    """

    slot: int
    reference: str
    input: StreamInput


@dataclass(frozen=True, slots=True)
class CountState:
    """`state<least:most>`; `most` None is without end. ``*``: 0.., `+`: 1.., `?`: 0..1."""

    state: StreamState
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class AbsentState:
    """`not state [for for_ms]`; its slot never holds an event."""

    state: StreamState
    for_ms: int | None


@dataclass(frozen=True, slots=True)
class LogicalState:
    """`left and right` or `left or right`."""

    op: Literal["and", "or"]
    left: StreamState | AbsentState
    right: StreamState | AbsentState


@dataclass(frozen=True, slots=True)
class NextState:
    """`left` then `right`: gaps allowed in a pattern, none in a sequence. Right associative."""

    left: MatchState
    right: MatchState


@dataclass(frozen=True, slots=True)
class EveryState:
    """`every state`: armed again each time."""

    state: MatchState


@dataclass(frozen=True, slots=True)
class GroupState:
    """`(state) [within within_ms]`."""

    state: MatchState
    within_ms: int | None


MatchState = (
    StreamState | CountState | AbsentState | LogicalState | NextState | EveryState | GroupState
)


PARTIALS_MAX = 10_000
"""How many partial matches one match keeps when its query does not say (`@bound`)."""


@dataclass(frozen=True, slots=True)
class ExpiredPartials:
    """Partial matches that run out of time go to `stream`, as `projection` of their slots."""

    stream: str
    projection: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern or a sequence; `states` are the stream states by slot.

    Of more than `partials_max` partial matches the oldest is dropped.
    """

    kind: Literal["pattern", "sequence"]
    root: MatchState
    states: tuple[StreamState, ...]
    within_ms: int | None
    partials_max: int = PARTIALS_MAX
    expired: ExpiredPartials | None = None

    @property
    def counted(self) -> frozenset[int]:
        """The slots that collect several rows."""
        return frozenset(_slots(self.root, CountState))

    @property
    def absent(self) -> frozenset[int]:
        """The slots of states that wait for an absence."""
        return frozenset(_slots(self.root, AbsentState))


def _slots(state: MatchState, kind: type[CountState | AbsentState]) -> list[int]:
    """The slots of the states of a kind."""
    match state:
        case CountState() | AbsentState():
            return [state.state.slot] if isinstance(state, kind) else []
        case NextState() | LogicalState():
            return _slots(state.left, kind) + _slots(state.right, kind)
        case EveryState() | GroupState():
            return _slots(state.state, kind)
        case StreamState():
            return []


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol: a row on which `condition` is true emits it; `sets` then give variables values.

    Both see the row in slot 0 and the variables, by position, in slot 1.
    """

    name: str
    condition: Expression
    sets: tuple[tuple[int, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """A strictly sequential pattern of symbols (article "Event processing on your own database").

    Time goes from instant to instant, the distinct times of the rows. Rows of one instant are
    alternatives: a match takes one row of each of its instants, and none is left out between them;
    with `skips` those are that emit no symbol. Every partial match is followed, each with variables
    of its own, and comes once, when its last row does, if that is less than `within_ms` after the
    first. A row older than the instant is of no instant. Of more than `partials_max` of one
    instant that stand at one place of the regular expression the oldest are dropped.
    """

    input: StreamInput
    regex: Regex
    symbols: tuple[Definition, ...]
    variables: Schema
    within_ms: int
    skips: bool = False
    partials_max: int = PARTIALS_MAX


Input = StreamInput | Join | Correlation | Match | Matching


S = TypeVar("S")


class HasSteps:
    """What has steps, looked through for those of one kind."""

    __slots__ = ()
    steps: tuple[Step, ...]

    def step(self, kind: type[S]) -> S | None:
        """The step of that kind, if there is one."""
        return next((one for one in self.steps if isinstance(one, kind)), None)

    @property
    def projection(self) -> Projection:
        """What is selected: names and values."""
        found = self.step(Project)
        return () if found is None else found.columns

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The running values; expressions name them by their places."""
        found = self.step(GroupBy)
        return () if found is None else found.aggregates

    @property
    def group_by(self) -> tuple[Column, ...]:
        """What makes the groups."""
        found = self.step(GroupBy)
        return () if found is None else found.columns

    @property
    def having(self) -> Expression | None:
        """The condition on what is selected."""
        found = self.step(Filter)
        return None if found is None else found.condition


class Selecting(HasSteps):
    """What puts out exactly what it selects."""

    __slots__ = ()

    @property
    def schema(self) -> Schema:
        """The names and types of what is selected."""
        return schema_of(self.projection)


@dataclass(frozen=True, slots=True)
class Query(Selecting):
    """What binds its inputs, the steps that the rows then pass, and where they go.

    `partition` names the partition the query stands in.
    """

    name: str
    input: Input
    steps: tuple[Step, ...]
    output: Output
    partition: str | None = None

    @property
    def cuts_chunks(self) -> bool:
        """Whether rows that come together are sorted, or some of them left out."""
        return any(isinstance(step, Sort | Slice) for step in self.steps)

    @property
    def rate(self) -> Rate | None:
        """How often rows go out; None is at once."""
        return self.step(Rate)

    @property
    def inputs(self) -> tuple[StreamInput, ...]:
        """The inputs by slot."""
        match self.input:
            case StreamInput():
                return (self.input,)
            case Join():
                return (self.input.left, self.input.right)
            case Correlation():
                return self.input.inputs
            case Matching():
                return (self.input.input,)
            case Match():
                return tuple(state.input for state in self.input.states)

    @property
    def stream_input(self) -> StreamInput:
        """The input of a query over one stream; TypeError for a join or a match."""
        if isinstance(self.input, StreamInput):
            return self.input
        raise TypeError(f"{self.name} has several inputs")

    @property
    def source(self) -> str:
        """The stream of a query over one stream."""
        return self.stream_input.stream

    @property
    def into(self) -> str:
        """The stream the rows are inserted into; TypeError when they go elsewhere."""
        if isinstance(self.output, Insert):
            return self.output.target
        raise TypeError(f"{self.name} does not insert")

    @property
    def target(self) -> str | None:
        """The stream, table or window the rows go to; None for `return`."""
        return None if isinstance(self.output, Return) else self.output.target


@dataclass(frozen=True, slots=True)
class OnDemandQuery(Selecting):
    """A query asked of what a table, named window or aggregation holds now.

    `source` None: one row is made of constants. `on` sees the held row in `TABLE_SLOT`, the rest
    sees it in slot 0.
    """

    source: str | None
    holder: Holder | None
    on: Expression | None
    within: tuple[Expression, ...]
    per: Expression | None
    steps: tuple[Step, ...]
    output: Output
