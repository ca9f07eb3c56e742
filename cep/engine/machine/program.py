"""A plan as a program: words that the kernels of `cep.engine.machine.kernels` run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cep.clocks import NEVER_LATE
from cep.dropped import Reason
from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_KEY
from cep.engine.layout import COMPLEX_INTS, kept_cells, row_cells
from cep.engine.machine.clocks import ClockTable
from cep.engine.machine.dispatch import ROW, Word, fused
from cep.engine.machine.expressions import (
    Constants,
    HostCall,
    Names,
    Unsupported,
    Writer,
    word_of,
)
from cep.engine.machine.homes import NOTHING, Before, Home, Owners, Where
from cep.engine.machine.kernels.clocks import PROGRAM_CLOCKS
from cep.engine.machine.kernels.purge import NOT_OWNED, OF_GROUP, OF_PLACE, PROGRAM_OWNED
from cep.engine.machine.kernels.run import (
    PROGRAM_ELSEWHERE,
    PROGRAM_FIRST_START,
    PROGRAM_INTS,
    PROGRAM_STARTS,
    PROGRAM_STEPS,
    PROGRAM_STREAMS,
)
from cep.engine.machine.kernels.slots import PROGRAM_SLOTS
from cep.engine.machine.kernels.steps import APART, BARS, ENTER, INSERT, LAST, PROJECT, STREAM
from cep.engine.machine.kernels.streams import (
    ENTER_CONDITION,
    INSERT_ENTRY,
    IS_SIGNAL,
    MADE_ELSEWHERE,
    NEVER_IS_LATE,
    STREAM_OUT,
    STREAM_READERS,
    STREAM_WORDS,
)
from cep.engine.machine.kernels.words import (
    ARGUMENTS,
    CURRENT,
    EXPIRED,
    HEADER,
    NEXT,
    OP,
    QUIET_READERS,
    VALUES,
    Ints,
)
from cep.engine.machine.limits import Limit, LimitTables
from cep.engine.machine.readers import NOTHING_ASKED, Asked, index_of
from cep.plan.change import PartId
from cep.plan.clocks import clocks
from cep.plan.expressions import Expression
from cep.plan.nodes import EVENT_SCHEMA, Origin, Plan
from cep.plan.types import Schema, Type
from cep.plan.uuid_names import uuid_names

NOT_KNOWN_YET = (0,) * (ARGUMENTS + STREAM_WORDS - STREAM_READERS)
"""What is said of a stream's readers, as long as these are not known."""
WORD_STEPS = 3
"""An expression that is a word of the row: `ROW`, the word, `END`."""


@dataclass(frozen=True, slots=True)
class ProgramParts:
    """What of a program belongs to which part of the plan, for rules that go on from these: words
    of homes, the words of homes by partition, nodes in the order in which they are written.
    """

    words: tuple[Where, ...] = ()
    homes: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[tuple[PartId, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """Where the rows of a window lie: a ring at `state` of its home, in which each has `width`
    words and the row stands from `offset` on. `by_turn`: they lie in the order in which they leave;
    the order in which they came, which is that of the interpreter, is by the word in front of the
    row. `is_queue`: they come behind all others and leave in front, as long as both are one order.
    """

    state: int
    width: int
    offset: int
    by_turn: bool = False
    is_queue: bool = False


@dataclass(frozen=True, slots=True)
class HeldByKey:
    """Where they lie of a window that keeps them by key: in entries at `state` of its home, as the
    kernel of its `node` has them.
    """

    node: int
    state: int


@dataclass(frozen=True, slots=True)
class Holders:
    """Where a program has what can be asked, by name: what it says of a table; where the rows of a
    window lie; `aggregations.Lowered`.
    """

    tables: Mapping[str, int] = field(default_factory=dict)
    windows: Mapping[str, Held | HeldByKey] = field(default_factory=dict)
    aggregations: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Program:
    """Immutable, shareable between runs. `home_words` is how long the home is of what is in no
    partition, which begins behind the header; `constants` are in it, by their addresses.
    """

    words: Ints
    constants: tuple[tuple[int, int | float], ...]
    home_words: int
    widths: tuple[int, int]
    """Columns of integers and of doubles in rows that come and are put out."""
    orders_texts: bool
    """Whether it has to know the order of all texts."""
    counters: tuple[tuple[PartId, Reason, int], ...] = ()
    """The addresses of numbers of rows that were dropped."""
    keyed: tuple[int, ...] = ()
    """The numbers of streams whose rows are put out with the code of their key as OUT_KEY."""

    hashes_texts: bool = False
    """Whether it has to know the hashes of all texts."""
    hosted: tuple[HostCall, ...] = ()
    """The calls that Python computes."""
    clocks: ClockTable | None = field(default=None, repr=False)
    """Which clocks there are; None where there is but one."""
    parts: ProgramParts = field(default_factory=ProgramParts, repr=False)
    """What belongs to whom."""
    holders: Holders = field(default_factory=Holders, repr=False)
    """What on-demand queries are asked of."""

    @property
    def out_width(self) -> int:
        """Words of a row that is put out."""
        return sum(self.widths)


@dataclass(slots=True)
class StreamNode:
    """A stream and who reads it, in order; its readers are written when all are known."""

    node: int
    schema: Schema
    readers: list[int] = field(default_factory=list)
    has_arrival: bool = False
    """Whether a word follows with when a row came, as rows of named windows may leave."""

    @property
    def width(self) -> int:
        return VALUES + len(self.schema) + int(self.has_arrival)


class Builder:
    """Writes the words of a program."""

    def __init__(
        self,
        plan: Plan,
        widths: tuple[int, int],
        code_of: Callable[[str], int],
        *,
        lived: bool = False,
        before: Before = NOTHING,
        told: Collection[str] = (),
    ) -> None:
        self.plan = plan
        self.told = told
        """The queries of whose chunks Python is told."""
        self.widths = widths
        self.owners = Owners(before)
        self.home = self.owners.home("", 1)
        self.constants = Constants(lambda: HEADER + self.home.more(1), code_of)
        self.homes: dict[str, Home] = {}
        """Of the keys of partitions."""
        self.starts: list[int] = []
        self.orders_texts = False
        self.streams: dict[str, StreamNode] = {}
        self.code_of = code_of
        self._inner: list[StreamNode] = []
        self.windows: dict[str, StreamNode] = {}
        """Where rows go into named windows; the nodes are the windows."""
        self.held: dict[int, Held | HeldByKey] = {}
        """By the node of a window."""
        self.held_by_name: dict[str, Held | HeldByKey] = {}
        """Of named windows."""
        self.aggregations: dict[str, Any] = {}
        """See `aggregations.Lowered`."""
        self.counters: dict[tuple[PartId, Reason], int] = {}
        self.clocks = clocks(plan)
        self.uuid_names = uuid_names(plan)
        """By query: what the names follow from that it gives with `UUID()`."""
        self._nodes: list[tuple[PartId, int]] = []
        self._wanted: dict[tuple[int, bool], int] = {}
        """The kinds of rows, as bits, that a node has a use for, where these are not all: always,
        or where a row that resets follows those that leave.
        """
        self._calling: set[int] = set()
        """Nodes for which Python computes something."""
        self._calls = 0
        self._asks: dict[int, Asked] = {}
        self._limits: dict[int, Limit] = {}
        """By node, what its condition asks of a row, and Python has no part in."""
        self._table = ClockTable(self.clocks, [one.name for one in plan.sources]) if lived else None
        self.ranks = {part: place for place, part in enumerate(self.clocks)}
        self._keyed: list[int] = []
        self.tables: dict[str, int] = {}
        self.hashes_texts = self._meets_made_texts = False
        self._words: list[int] = [0] * (PROGRAM_FIRST_START + 1)

    def block(self, words: Iterable[int]) -> int:
        """The place of words in the program."""
        first = len(self._words)
        self._words += words
        return first

    def code(self, steps: Sequence[int] | None) -> int:
        """The place of the steps of an expression; 0 for none."""
        return 0 if steps is None else self.block(fused(steps))

    def value(self, steps: Sequence[int]) -> int:
        """The same of a value; of one that is a word of the row that word, negated."""
        is_word = len(steps) == WORD_STEPS and steps[0] == ROW and steps[1] > 0
        return -steps[1] if is_word else self.code(steps)

    def node(
        self, op: int, following: int, width: int, wider: int, state: int, rank: int, *more: int
    ) -> int:
        """A node; see `words` for what each has, and the kernels of each for `more`."""
        node = self.block((op, following, width, wider, state, rank, *more))
        self._nodes.append((self.owners.part, node))
        if self.calls > self._calls:
            self._calling.add(node)
            self._calls = self.calls
        return node

    def project(
        self,
        following: int,
        width: int,
        kinds: int,
        first: int,
        codes: Sequence[int],
        having: int = 0,
        *,
        resets: bool = False,
    ) -> int:
        """The node that selects from rows of these kinds, as bits, values into words from `first`
        on, if the condition `having` on these is true; `resets` pass.
        """
        alone = self.alone(following)
        node = self.node(
            PROJECT, following, width, width, 0, kinds,
            len(codes), first, having, int(resets), alone, int(self.word(alone + OP) == INSERT),
            *codes,
        )  # fmt: skip
        return self.want(node, kinds)

    def alone(self, following: int) -> int:
        """The node that a row goes to which comes alone: what takes chunks apart, or the last of
        their rows, has nothing to do then.
        """
        is_idle = self.word(following + OP) in (LAST, APART)
        return self.word(following + NEXT) if is_idle else following

    def insert(
        self, target: StreamNode, width: int, rank: int, first: int, count: int,
        *, leaves: bool, widens: int = 0,
    ) -> int:  # fmt: skip
        """The node that puts `count` words from `first` on as rows on a stream; see `INSERT_FIRST`.
        Who alone takes them is written down when all readers are known.
        """
        return self.node(
            INSERT, target.node, width, target.width, 0, rank,
            first, count, int(leaves), widens, 0,
        )  # fmt: skip

    def is_calling(self, node: int) -> bool:
        """Whether Python computes something for a node."""
        return node in self._calling

    def ask(self, node: int, asked: Asked = NOTHING_ASKED, limit: Limit | None = None) -> int:
        """A node does nothing with other rows than those that have these values, or are beyond a
        limit; the node.
        """
        if node not in self._calling:
            self._asks[node] = asked
            if limit is not None:
                self._limits[node] = limit
        return node

    def want(self, node: int, kinds: int, *, resets: bool = False) -> int:
        """A node has a use for these kinds of rows alone, as bits; the node. With `resets` only
        where a row that resets follows those that leave, before any comes.
        """
        self._wanted[node, resets] = kinds
        return node

    def wanted(self, node: int, *, resets: bool = False) -> int:
        """The kinds of rows that a node has a use for, as bits: others need not be sent to it."""
        every_kind = 1 << CURRENT | 1 << EXPIRED
        kinds = self._wanted.get((node, False), every_kind)
        return kinds & self._wanted.get((node, True), every_kind) if resets else kinds

    @property
    def calls(self) -> int:
        """How many calls of Python there are so far."""
        return len(self.constants.hosted)

    @contextmanager
    def writing(self, part: PartId) -> Iterator[None]:
        """Nodes that are written meanwhile belong to that part of the plan, as do words taken."""
        owners = self.owners
        before, owners.part = owners.part, part
        try:
            yield
        finally:
            owners.part = before

    @property
    def has_clocks(self) -> bool:
        """Whether keys have clocks of their own."""
        return self._table is not None

    def _know_clocks(self, table: ClockTable, numbers: Sequence[str]) -> None:
        """Say which clocks there are; `numbers` are the sources by number, "" for none."""
        moves = [self.block(table.moved_by(name)) if name else 0 for name in numbers]
        streams = self.block(moves)
        nodes = [0] * len(self._words)
        for part, node in self._nodes:
            nodes[node] = table.code(part)
        self._words[PROGRAM_CLOCKS] = self.block((
            len(table.common), len(table.of_key), len(self.plan.sources), streams,
            self.block(nodes),
        ))  # fmt: skip

    def _know_owned(self) -> None:
        """Say what homes that may be forgotten own of what nodes ask for."""
        forgetting = {one.name for one in self.plan.partitions if one.idle_ms is not None}
        parts = {("query", one.name) for one in self.plan.queries if one.partition in forgetting}
        nodes = [NOT_OWNED] * len(self._words)
        for part, node in self._nodes:
            if part in parts:
                nodes[node] = OF_GROUP if self.word(node + OP) == BARS else OF_PLACE
        if parts:
            self._words[PROGRAM_OWNED] = self.block(nodes)

    def writer(self, names: Names, place: str | None = None, *, rows_fail: bool = False) -> Writer:
        """See `Writer`."""
        return Writer(names, self.constants, place, rows_fail)

    def cell(self, value: int | float) -> int:
        """The address in the memory of a number of the rules."""
        return self.constants.cell(value)

    def counter(self, part: PartId, reason: Reason = Reason.LATE) -> int:
        """The address of the number of rows that a part has dropped for a reason."""
        if (part, reason) not in self.counters:
            self.counters[part, reason] = self.constants.fresh(0)
        return self.counters[part, reason]

    def order_texts(self, part: PartId) -> None:
        """A part puts texts of its input in order."""
        self.orders_texts = True
        self._meets_made_texts |= not self._reads_records(part)

    def hash_texts(self, part: PartId) -> None:
        """A part puts texts of its input where a hash table of Java has them."""
        self.hashes_texts = True
        self._meets_made_texts |= not self._reads_records(part)

    def _reads_records(self, part: PartId) -> bool:
        """Whether all texts that a part reads are those of records, known before these come."""
        kind, name = part
        sources = {one.name for one in self.plan.sources}
        inputs = {one.name: one.inputs for one in self.plan.queries}
        return kind == "query" and all(one.stream in sources for one in inputs[name])

    def know_slots(self, words: Iterable[int]) -> None:
        """What is said of the slots of keys; see `kernels.slots`."""
        self._words[PROGRAM_SLOTS] = self.block(words)

    def _cells(self, name: str, number: int, schema: Schema) -> list[int]:
        """The columns of a stream's attributes in rows that are put out."""
        origin, ints = self.plan.stream(name).origin, self.widths[0]
        if origin in (Origin.EVENT, Origin.COMPLEX):
            self._keyed.append(number)
            own = range(OUT_ATTRIBUTES, OUT_ATTRIBUTES + len(EVENT_SCHEMA) - 1)
            if origin is Origin.EVENT:
                return [OUT_KEY, *own]
            kept = [cell.column + ints * cell.is_float for _, cell in kept_cells(schema)]
            return [OUT_KEY, *range(OUT_ATTRIBUTES, OUT_ATTRIBUTES + COMPLEX_INTS), *kept]
        return [cell.column + (ints if cell.is_float else 0) for cell in row_cells(schema)]

    def stream(
        self, name: str, number: int, schema: Schema, key: int | None, *, is_out: bool
    ) -> None:
        """A stream; `number` is that which its rows carry, `key` the place of its declared key."""
        cells = self._cells(name, number, schema)
        width = VALUES + len(schema)
        out = sum(self.widths) if is_out else 0
        at = -1 if key is None else VALUES + key
        waits = self.plan.stream(name).reorder is not None
        what = NEVER_IS_LATE if name in NEVER_LATE or waits else 0
        self._words[PROGRAM_STEPS] |= int(waits)
        if self.plan.stream(name).elsewhere is not None:
            what |= MADE_ELSEWHERE
            self._words[PROGRAM_ELSEWHERE] = 1
        if any(signal.name == name for signal in self.plan.signals):
            what |= IS_SIGNAL
        own = (number, out, self.block(cells), *NOT_KNOWN_YET)
        node = self.node(STREAM, 0, width, width, what, at, *own)
        self.streams[name] = StreamNode(node, schema)

    def inner_stream(self, schema: Schema, *, has_arrival: bool = False) -> StreamNode:
        """A stream that a partition has for each key; it is not put out."""
        width = VALUES + len(schema) + int(has_arrival)
        node = self.node(STREAM, 0, width, width, 0, 0, 0, 0, 0, *NOT_KNOWN_YET)
        found = StreamNode(node, schema, has_arrival=has_arrival)
        self._inner.append(found)
        return found

    def patch(self, first: int, *words: int) -> None:
        """Write words that were not known before."""
        self._words[first : first + len(words)] = words

    def word(self, at: int) -> int:
        """A word that has been written."""
        return self._words[at]

    def _may_be_quiet(self, stream: StreamNode) -> bool:
        """Whether `kernels.quiet` shall look at its records first: where some reader makes bars,
        each has a condition or does, and no more than the row is asked for.
        """
        behind = [self.word(reader + NEXT) for reader in stream.readers]
        if self.has_clocks or self._words[PROGRAM_ELSEWHERE] or len(behind) > QUIET_READERS:
            return False
        if not self._calling.isdisjoint((*stream.readers, *behind)):
            return False
        are_bars = [self.word(node + OP) == BARS for node in behind]
        return any(are_bars) and all(
            self.word(reader + OP) == ENTER and (is_bar or self.word(reader + ENTER_CONDITION))
            for reader, is_bar in zip(stream.readers, are_bars, strict=True)
        )

    def _only_entry(self, stream: StreamNode) -> int:
        """The way in of the only query that reads a stream, by the one clock; else 0."""
        if len(stream.readers) != 1 or self.has_clocks:
            return 0
        (reader,) = stream.readers
        return reader if self.word(reader + OP) == ENTER else 0

    def _know_readers(self) -> None:
        """Write down who reads each stream, now that all are known."""
        alone: dict[int, int] = {}
        for stream in (*self.streams.values(), *self._inner):
            readers, entry = stream.readers, self._only_entry(stream)
            listed = self.block([len(readers), *readers]) + 1
            own = (len(readers), listed, int(self._may_be_quiet(stream)), entry)
            tables = LimitTables(self.block, self.home.take, self._limits)
            index = index_of(readers, self._asks, tables)
            self.patch(stream.node + STREAM_READERS, *own, index)
            if not self.word(stream.node + STREAM_OUT):
                alone[stream.node] = entry
        for _, node in self._nodes:
            if self.word(node + OP) == INSERT:
                self.patch(node + INSERT_ENTRY, alone.get(self.word(node + NEXT), 0))

    def finish(self, source_ids: dict[int, str], late_ids: dict[int, str]) -> Program:
        """The whole; given the names by number of sources, and of streams of late records."""
        self._know_readers()
        last = max(source_ids, default=-1)
        from_outside = late_ids | source_ids
        self._words[PROGRAM_STREAMS] = self.block(
            self.streams[from_outside[n]].node if n in from_outside else 0
            for n in range(max(from_outside, default=-1) + 1)
        )
        self._words[PROGRAM_INTS] = self.widths[0]
        self._words[PROGRAM_STARTS] = len(self.starts)
        self._words[PROGRAM_FIRST_START] = self.block(self.starts)
        hosted = tuple(self.constants.hosted)
        makes_texts = any(one.makes_texts or one.node.type is Type.STRING for one in hosted)
        if makes_texts and self._meets_made_texts:
            raise Unsupported("it orders texts, and makes some that nobody knew before")
        table = self._table
        if table is not None:
            self._know_clocks(table, [source_ids.get(n, "") for n in range(last + 1)])
        self._know_owned()
        words = np.array(self._words, np.int64)
        words.setflags(write=False)  # which machine code takes for granted
        constants = tuple(self.constants.values)
        counters = tuple((*which, at) for which, at in self.counters.items())
        homes = {home.name: home.words for home in (self.home, *self.homes.values())}
        return Program(
            words, constants, self.home.words, self.widths, self.orders_texts,
            counters, tuple(self._keyed), self.hashes_texts, hosted, table,
            ProgramParts(self.owners.finish(), homes, tuple(self._nodes)),
            Holders(self.tables, self.held_by_name, self.aggregations),
        )  # fmt: skip


def names_of(schema: Schema, first: int = VALUES, slot: int = 0) -> Names:
    """The names of a row that has these attributes from a word on."""
    columns: dict[tuple[int, ...], tuple[Word, int]] = {
        (slot, place): (word_of(attribute.type), first + place)
        for place, attribute in enumerate(schema.attributes)
    }
    return Names(columns, {None: 0, slot: 0})


def widened(projection: Sequence[tuple[str, Expression]], target: Schema) -> int:
    """As bits, the places of whole numbers that are doubles where they go."""
    found = 0
    for place, ((_, value), attribute) in enumerate(
        zip(projection, target.attributes, strict=True)
    ):
        wanted, given = attribute.type, value.type
        if wanted is given or {wanted, given} == {Type.INT, Type.LONG}:
            continue
        if not (wanted is Type.DOUBLE and given in (Type.INT, Type.LONG) and place < 62):
            raise Unsupported(f"a value of type {given} becomes one of type {wanted}")
        found |= 1 << place
    return found
