"""Running values as words of a group, with the accumulators that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cep.engine.kernels.moments import CELLS as MOMENTS
from cep.engine.machine.dispatch import accumulators, sources
from cep.engine.machine.expressions import Unsupported
from cep.engine.machine.indicators import need_same_loss, own_call
from cep.engine.machine.kernels import collected, groups
from cep.engine.machine.kernels.chunks import LAST_BY_GROUP, LAST_CHUNK, LAST_COLUMNS, LAST_KEYS
from cep.engine.machine.kernels.collected import (
    CELLS,
    DEVIATION,
    DISTINCT,
    DISTINCT_REAL,
    LARGEST,
    LARGEST_INT,
    PLAIN,
    RANKED,
    SMALLEST,
    SMALLEST_INT,
)
from cep.engine.machine.kernels.groups import COUNTED, KEY, OWN, TAKES_MAX
from cep.engine.machine.kernels.steps import GROUP, LAST, PROJECT
from cep.engine.machine.kernels.streams import PROJECT_HAVING
from cep.engine.machine.kernels.words import CURRENT, NEXT, OP
from cep.plan.expressions import Aggregate, Expression
from cep.plan.functions import aggregator_of
from cep.plan.functions.native import Cells, Extreme, Kept, Moments, Native, WholeTotal
from cep.plan.functions.running import Running
from cep.plan.steps import GroupBy
from cep.plan.types import Type

if TYPE_CHECKING:
    from cep.engine.machine.program import Builder
    from cep.engine.machine.queries import Place, Selecting

RECORDS = {1: ("record_enter", "record_value"), -1: ("record_enter", "record_value")}


@dataclass(frozen=True, slots=True)
class Accumulator:
    """What several values of one argument may share; see `kernels.groups`."""

    kind: int
    enters: int
    leaves: int
    wholes: int
    reals: int
    constant: int
    lasts: bool
    yields: bool
    takes: tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class Aggregates:
    """The accumulators of a query, and how each value is read from one."""

    place: Place
    selecting: Selecting
    step: GroupBy
    rows_leave: bool
    accumulators: list[Accumulator] = field(default_factory=list)
    values: list[tuple[int, int]] = field(default_factory=list)
    _first: int = 0
    """Behind the last indicator of the user: what stands in front has seen rows that it failed on.
    """

    @property
    def _has_own(self) -> bool:
        return any(one.digest for one in self.step.aggregates)

    @property
    def _spread(self) -> list[Expression]:
        """The arguments of which there is a deviation."""
        return [
            one.arguments[0]
            for one in self.step.aggregates
            if isinstance(native := self._native(one), Moments) and native.squares
        ]

    def _native(self, aggregate: Aggregate) -> Native | str | None:
        """How it is computed: sums of doubles in another way where rows may leave that had not
        come, for they are kept by their distance from the first of those that came.
        """
        native = native_of(aggregate)
        left = aggregator_of(aggregate.function).native_left
        is_whole = isinstance(native, WholeTotal)
        return native if left is None or is_whole or not self._others_leave else left

    @property
    def _others_leave(self) -> bool:
        """Whether rows may leave that had not come."""
        return self.selecting.others_leave or self._has_missed

    @property
    def _has_missed(self) -> bool:
        """Whether rows may leave a value that an indicator, which failed, has kept from it."""
        return self._first > 0 and self.rows_leave

    def add(self, aggregate: Aggregate) -> None:
        """One more value."""
        definition = aggregator_of(aggregate.function)
        if aggregate.digest:
            self._share(self._own(aggregate), 0)
            self._first = len(self.accumulators)
        elif definition.of_rows and self._has_own:
            self._share(Accumulator(COUNTED, 0, 0, 1, 0, 0, False, True, ()), 0)
        elif definition.of_rows:
            self.values.append((-1, 0))
        else:
            self._need_all_rows(aggregate)
            self._share(*(self._collected(aggregate) or self._plain(aggregate)))

    def _need_all_rows(self, aggregate: Aggregate) -> None:
        """Unsupported where it makes a difference that rows leave which had not come."""
        from cep.engine.machine.joins import stays_right  # which has what is selected here

        if self._others_leave and not stays_right(aggregate):
            why = "an indicator that may fail" if self._has_missed else "what may have changed"
            raise Unsupported(f"`{aggregate.function}` behind {why} there")

    def _share(self, accumulator: Accumulator, by: int) -> None:
        if accumulator not in self.accumulators[self._first :]:
            self.accumulators.append(accumulator)
        self.values.append((self.accumulators.index(accumulator, self._first), by))

    def _own(self, aggregate: Aggregate) -> Accumulator:
        builder = self.place.builder
        need_same_loss(builder, self.selecting.query, aggregate.function, in_front=False)
        writer = builder.writer(self.selecting.names, rows_fail=True)
        call = tuple(own_call(builder, aggregate, writer))
        return Accumulator(OWN, 0, 0, 2, 0, 0, False, False, (call,))

    def _collected(self, aggregate: Aggregate) -> tuple[Accumulator, int] | None:
        """That of an aggregator which keeps its values."""
        kind, constant = self._kind(aggregate), 0
        if kind == PLAIN:
            return None
        native, by = self._native(aggregate), 0
        if isinstance(native, Kept):
            constant = self.place.builder.cell(native.percent)
        if kind == DEVIATION:
            assert isinstance(native, Moments)
            by = accumulators()[sources(native)[2]]
        writer = self.place.builder.writer(self.selecting.names)
        argument = aggregate.arguments[0]
        is_whole = kind in (LARGEST_INT, SMALLEST_INT, DISTINCT)
        code = (
            writer.value(argument) if is_whole or kind == DISTINCT_REAL else writer.double(argument)
        )
        reals = MOMENTS if kind == DEVIATION else 0
        yields, takes = _yields(aggregate), (tuple(code),)
        return Accumulator(kind, 1, 1, CELLS[kind], reals, constant, False, yields, takes), by

    def _kind(self, aggregate: Aggregate) -> int:
        native, argument = self._native(aggregate), aggregate.argument
        is_real = argument is not None and argument.type.is_real
        match native:
            case Extreme(sign) if self.rows_leave:
                pairs = {(1, True): LARGEST, (1, False): LARGEST_INT,
                         (-1, True): SMALLEST, (-1, False): SMALLEST_INT}  # fmt: skip
                return pairs[sign, is_real]
            case Moments() if self.rows_leave and argument in self._spread:
                return DEVIATION  # all sums of one argument are as exact as its deviation
            case Kept(is_ranked=True):
                return RANKED
            case Kept():
                if argument is not None and argument.type in (Type.OBJECT, Type.LIST):
                    raise Unsupported("values that are objects")
                return DISTINCT_REAL if is_real else DISTINCT
        return PLAIN

    def _plain(self, aggregate: Aggregate) -> tuple[Accumulator, int]:
        definition, native = aggregator_of(aggregate.function), self._native(aggregate)
        if isinstance(native, Extreme):
            native = _record(native.sign, aggregate.type.is_real)
        if native is None or isinstance(native, str):
            raise Unsupported(f"aggregator `{aggregate.function}`")
        numbers = accumulators()
        (enter, as_float), (leave, _), value = sources(native)
        values = definition.values(aggregate)
        if len(values) > TAKES_MAX:
            raise Unsupported(f"aggregator `{aggregate.function}`")
        writer = self.place.builder.writer(self.selecting.names)
        takes = tuple(
            tuple(writer.double(one) if as_float else writer.value(one)) for one in values
        )
        enters = numbers[enter, as_float]
        leaves = numbers[leave, as_float] if leave else 0
        if definition.remembers == "ever":
            leaves = enters  # in Siddhi, too, a row that leaves counts
        wholes, reals = _cells(native)
        constant = self.place.builder.cell(int(definition.constant(aggregate)))
        lasts = definition.remembers == "ever"
        yields = _yields(aggregate)
        made = Accumulator(PLAIN, enters, leaves, wholes, reals, constant, lasts, yields, takes)
        return made, numbers[value]


def _yields(aggregate: Aggregate) -> bool:
    """Whether nothing is left of it, whatever came and went, when as many rows have gone as came:
    see `Running.is_empty`.
    """
    return type(aggregator_of(aggregate.function).plain(aggregate)).is_empty is Running.is_empty


def native_of(aggregate: Aggregate) -> Native | str | None:
    definition = aggregator_of(aggregate.function)
    return definition.native(aggregate) if callable(definition.native) else definition.native


def _record(sign: int, is_real: bool) -> Cells:
    """The extreme of rows that never leave."""
    from cep.plan.functions.aggregators.extremes import _record as record

    return record(sign)(Aggregate("max", (), Type.DOUBLE if is_real else Type.LONG))


def _cells(native: Native) -> tuple[int, int]:
    """Words of integers and of doubles."""
    match native:
        case Cells():
            return native.ints, native.floats
        case Moments():
            return 1, MOMENTS
        case WholeTotal():
            return 2, 0
        case _:
            raise TypeError(native)


def lower_group(place: Place, selecting: Selecting, step: GroupBy, following: int) -> int:
    """The node of `group by` with its running values."""
    builder = place.builder
    if not step.aggregates:
        return following  # a group is nothing then but the values of its columns
    calls = builder.calls
    arguments, _ = group_arguments(place, selecting, step, selecting.names.group(step.columns))
    wanted, projects = builder.wanted(following), builder.word(following + OP) == PROJECT
    is_pure = builder.calls == calls  # else Python may count its calls
    only_lasts = is_pure and _only_lasts(builder, following, *arguments[:2])
    lasts = selecting.words if only_lasts else 0
    node = builder.node(
        GROUP, following, selecting.width, selecting.width, place.home.take(3), place.rank,
        *arguments, wanted, int(projects), lasts,
    )  # fmt: skip
    if remembers_window(step) and is_pure:
        builder.want(node, wanted | 1 << CURRENT, resets=True)  # which leaves nothing of a group
    return node


def _only_lasts(builder: Builder, following: int, keys: int, columns: int) -> bool:
    """Whether of the rows of a group that come together nobody sees others than the last, and what
    is selected of them has no condition and no part of Python's.
    """
    last, wanted = builder.word(following + NEXT), builder.wanted(following)
    if builder.word(following + OP) != PROJECT or builder.word(last + OP) != LAST:
        return False
    if builder.word(following + PROJECT_HAVING) or builder.is_calling(following):
        return False
    asked = (int(keys > 0), keys, *(builder.word(columns + n) for n in range(keys)), 0)
    at = builder.word(last + LAST_COLUMNS)
    kept = (
        builder.word(last + LAST_BY_GROUP), builder.word(last + LAST_KEYS),
        *(builder.word(at + n) for n in range(keys)), builder.word(last + LAST_CHUNK),
    )  # fmt: skip
    return wanted == 1 << CURRENT and asked == kept


def remembers_window(step: GroupBy) -> bool:
    """Whether its values know nothing but the rows that have come and not left."""
    return all(aggregator_of(one.function).remembers == "window" for one in step.aggregates)


def group_arguments(
    place: Place, selecting: Selecting, step: GroupBy, columns: Sequence[int], more: int = 0
) -> tuple[tuple[int, ...], int]:
    """What a node says of groups that these columns make, of which each has so many `more` words;
    and where in a group these are.
    """
    builder = place.builder
    aggregates = Aggregates(place, selecting, step, selecting.rows_leave)
    for aggregate in step.aggregates:
        aggregates.add(aggregate)
    words = KEY + len(columns)
    described: list[int] = []
    for one in aggregates.accumulators:
        codes = [builder.value(steps) for steps in one.takes]
        described += (
            one.kind, one.enters, one.leaves, words, one.wholes, words + one.wholes, one.reals,
            one.constant, int(one.lasts), int(one.yields),
            len(codes), *codes, *[0] * (TAKES_MAX - len(codes)),
        )  # fmt: skip
        words += one.wholes + one.reals
    results = [
        word
        for place_, (accumulator, by) in enumerate(aggregates.values)
        for word in (accumulator, by, selecting.words + place_)
    ]
    arguments = (
        len(columns), builder.block(columns), int(remembers_window(step)), words + more,
        len(aggregates.accumulators), builder.block(described),
        len(aggregates.values), builder.block(results),
    )  # fmt: skip
    return arguments, words


__all__ = ["Aggregates", "collected", "groups", "lower_group"]
