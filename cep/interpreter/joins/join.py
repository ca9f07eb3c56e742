"""A running join: rows of one side, as they leave its window, meet what the other side holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.held import HeldRows
from cep.interpreter.inputs import make_input
from cep.interpreter.rows import Chunk, Emit, Row, RowKind
from cep.interpreter.tables.search import PAIRS, Filtered, Find, Holder, Search
from cep.plan.expressions import Expression
from cep.plan.query import Join, StreamInput
from cep.plan.steps import Holder as Source

EmitAll = Callable[[list[Chunk]], None]
"""Takes chunks that are selected one by one and go on as one batch."""
Receiver = tuple[str, Emit]
"""Which chunks are wanted: of a stream or named window, by name."""
TRIGGERS = (Source.STREAM, Source.WINDOW)


class Nothing:
    """What a stream without a window holds."""

    def rows(self, asking: Row) -> Iterable[Row]:
        """No rows."""
        return ()

    def index(self, key: Expression) -> Find | None:
        """No index."""
        return None


class Side:
    """One input of the join: what comes in triggers, what it holds is found by the other side."""

    def __init__(self, part: JoinPart, slot: int, input_: StreamInput, context: Context) -> None:
        self._part = part
        self._slot = slot
        self._context = context
        self.input = input_
        self.triggers = input_.holder in TRIGGERS and part.join.trigger in ("both", SIDES[slot])
        self.search: Search | None = None
        self.receive: Callable[[Chunk], None] = self._joined
        self.holder = self._hold()

    def _hold(self) -> Holder:
        shared, name = self._context.shared, self.input.stream
        match self.input.holder:
            case Source.STREAM:
                return self._stream()
            case Source.TABLE:
                return self._filtered(shared.tables[name], self.input.filters)
            case Source.WINDOW:
                self.receive = make_input(self.input, self._context, self._joined).receive
                return self._filtered(shared.windows[name], self.input.filters)
            case Source.AGGREGATION:
                join = self._part.join
                view = shared.aggregations[name].view(join.within, join.per, self._context)
                return self._filtered(view, self.input.filters)

    def _stream(self) -> Holder:
        if self.input.window is None:
            self.receive = make_input(self.input, self._context, self._through).receive
            return Nothing()
        part = make_input(self.input, self._context, self._joined)
        assert part.window is not None
        self.receive = part.receive
        held = HeldRows(self.input.window, part.window, self._context)
        part.observe(held.observe)
        return self._filtered(held, self.input.window_filters)

    def _filtered(self, holder: Holder, conditions: tuple[Expression, ...]) -> Holder:
        """What a holder holds, less the rows on which a condition is not true."""
        filters = [evaluator(condition, self._context) for condition in conditions]
        return Filtered(holder, filters) if filters else holder

    def _through(self, chunk: Chunk) -> None:
        """A stream without a window: each row comes, leaves, and what it began is over."""
        now = self._context.now_ms
        rows: Chunk = []
        for row in chunk:
            rows.append(row)
            if self._context.wants_expired:
                rows.append(row.copy(RowKind.EXPIRED, now))
            rows.append(row.copy(RowKind.RESET, now))
        self._joined(rows)

    def _joined(self, chunk: Chunk) -> None:
        if self.triggers:
            self._part.emit([found for row in chunk if (found := self._match(row))])

    def _match(self, row: Row) -> Chunk:
        """What a row of this side brings forth: nothing, or one chunk."""
        if row.kind is RowKind.TIMER:
            return []
        if row.kind is RowKind.RESET:
            return [self._alone(row)]
        assert self.search is not None
        found = list(self.search.pairs(row))
        if not found and self._part.join.kind in ("full", SIDES[self._slot]):
            return [self._alone(row)]
        return found

    def _alone(self, row: Row) -> Row:
        return PAIRS[1 - self._slot](row, None)


SIDES = ("left", "right")


class JoinPart:
    """Both sides of a join."""

    def __init__(self, join: Join, context: Context, emit: EmitAll) -> None:
        self.join = join
        self._emit = emit
        self._waiting: list[list[Chunk]] | None = None
        inputs = (join.left, join.right)
        self._sides = [
            Side(self, slot, input_, context.within(SIDES[slot]))
            for slot, input_ in enumerate(inputs)
        ]
        for slot, side in enumerate(self._sides):
            other = self._sides[1 - slot].holder
            side.search = Search(join.on, 1 - slot, other, context)

    def emit(self, chunks: list[Chunk]) -> None:
        """Pass on what a side has found; while a row is shown to both sides, later."""
        if not chunks:
            return
        batches = [chunks]
        if self.join.singly:
            batches = [[[row]] for chunk in chunks for row in chunk]
        if self._waiting is not None:
            self._waiting += batches
            return
        for batch in batches:
            self._emit(batch)

    @property
    def indexed(self) -> tuple[bool, bool]:
        """Whether an index on what the left, the right side holds answers a part of `on`."""
        left, right = self._sides
        assert left.search is not None and right.search is not None
        return right.search.indexed, left.search.indexed

    def receivers(self) -> list[Receiver]:
        """What the join reads. Both sides of a self join are fed by one receiver."""
        left, right = self._sides
        names = [(side.input.holder, side.input.stream) for side in (left, right)]
        if names[0] == names[1]:
            is_stream = left.input.holder is Source.STREAM
            return [(left.input.stream, self._both if is_stream else left.receive)]
        return [
            (side.input.stream, side.receive)
            for side in (left, right)
            if side.input.holder in TRIGGERS
        ]

    def _both(self, chunk: Chunk) -> None:
        """Row by row to the left and to the right; what is found goes on when all is done."""
        waiting: list[list[Chunk]] = []
        self._waiting = waiting
        try:
            for row in chunk:
                for side in self._sides:
                    side.receive([row.copy()])
        finally:
            self._waiting = None
        for chunks in waiting:
            self._emit(chunks)


def make_join(join: Join, context: Context, emit: EmitAll) -> JoinPart:
    """A join, its windows kept for snapshots."""
    return JoinPart(join, context, emit)
