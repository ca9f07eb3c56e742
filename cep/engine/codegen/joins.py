"""Joins of two streams as source: what a row of one side meets in the windows of the other.

A row lets others leave by time, enters the windows of its side, and meets what the other side
holds, oldest first; where many members ask at once, newest first, and what is packed is then read
backward. In a join of a stream with itself it comes on the left and then on the right, so it meets
itself once, on the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.held_rows import HeldRows, arriving, key_source
from cep.engine.codegen.join_keys import SIDES, band, equality, offsets
from cep.engine.codegen.join_lookups import MANY, TOP, Asking, Lookups, Run
from cep.engine.codegen.match_scope import Place, SlotScope, places
from cep.engine.codegen.predicates import Emission
from cep.engine.codegen.slot_index import Held, unsigned
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.kernels.state import OUT_ATTRIBUTES, RING_HEAD, RING_TAIL
from cep.engine.layout import Home, Layout, is_float
from cep.plan.expressions import Column, EventTime, Expression
from cep.plan.families import PARAMETER, Family
from cep.plan.query import Join, StreamInput
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.rewrite.expressions import map_children
from cep.plan.types import Type

NAMES = ("left", "right")
WideId = Callable[[bool], int | None]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A row that comes: its scope and key, the row of the state it belongs to, the time, and which
    member is at work.
    """

    w: Writer
    scope: Scope
    key: str
    at: str
    clock: str
    member: str
    emit: Emission

    def scope_of(self, cells: Mapping[Place, str]) -> SlotScope:
        """What expressions see that find these values in these places."""
        own = self.scope
        return SlotScope(own.columns, own.time, own.constants, (), (), cells)


class JoinSource:
    """A family of joins over windows of several sizes."""

    def __init__(
        self,
        family: Family,
        keyed: bool,
        layout: Layout,
        times: tuple[int, int],
        tables: Tables,
        wide_id: WideId,
        clock: str,
    ) -> None:
        """`times`: most rows on each side's stream per input row; `wide_id` gives the id of wide
        rows, which may be packed backward, or None where rows have to come one by one; `clock` is
        source of the clock.
        """
        self.clock_now = clock
        assert isinstance(family.query.input, Join)
        self.family = family
        self.tables = tables
        self.query = family.query
        self.join: Join = family.query.input
        self.inputs = self.query.inputs
        self.home: Home = "key" if keyed else "global"
        self.at_self = self.inputs[0].stream == self.inputs[1].stream
        self.families = [family] * sum(2 if self._is_outer(slot) else 1 for slot in self._triggers)
        conditions = () if self.join.on is None else conjuncts(self.join.on)
        self.equality = equality(conditions)
        known = None if self.equality is None else self.equality.condition
        self.rest = {
            slot: [c for c in conditions if c is not known or self._key(1 - slot) is None]
            for slot in SIDES
        }
        self.cells = tables.parameters(family, "{}")
        self.held = self._held(layout, times)
        self.indexes = {slot: self._index(slot) for slot in SIDES}
        self.bands = {slot: band(self.rest[1 - slot], slot) for slot in SIDES}
        self.zones = {slot: self._zone(slot) for slot in SIDES}
        owners = [("query", query.name) for query in family.members]
        with layout.owned(*owners, form="join"):
            self.clock = layout.int_columns(self.home, 1)
        self.packed = wide_id(self._is_lookup)
        self.asks_once = self._is_lookup and self.packed is not None
        self.asked = {slot: self._run(slot) for slot in self._triggers} if self.asks_once else {}
        for held in self.rings:
            asking = 1 - held.slots[0]
            is_hashed = self.asked[asking] is None if asking in self.asked else None
            held.place(tables, owners, is_hashed=is_hashed)
        values = 3 + len(self.query.projection)
        layout.packed_values = max(layout.packed_values, values)

    def __len__(self) -> int:
        return len(self.family)

    @property
    def _is_lookup(self) -> bool:
        """Whether pairs are just those of equal values, which many members look up at once."""
        is_plain = self.query.having is None and not self.at_self and self.join.kind == "inner"
        return (
            is_plain
            and len(self.family) >= MANY
            and not any(self.rest.values())
            and all(self.indexes[1 - slot] >= 0 for slot in self._triggers)
        )

    def _run(self, slot: int) -> Run | None:
        """What the members ask when a row of a slot comes, if that is a run of keys."""
        assert self.equality is not None
        found = offsets(self.equality, 1 - slot, self.family.constants)
        return None if found is None else Run.of(found, self.tables, f"K{slot}")

    @property
    def _triggers(self) -> list[int]:
        """The slots whose rows cause output."""
        return [slot for slot in SIDES if self.join.trigger in ("both", NAMES[slot])]

    def _is_outer(self, slot: int) -> bool:
        return self.join.kind in ("full", NAMES[slot])

    def _key(self, slot: int) -> Expression | None:
        return None if self.equality is None else self.equality.keys[slot]

    @property
    def rings(self) -> list[HeldRows]:
        """The rings, each once."""
        found = [held for held in self.held if held is not None]
        return found[:1] if self.held[0] is self.held[1] else found

    def _held(
        self, layout: Layout, times: tuple[int, int]
    ) -> tuple[HeldRows | None, HeldRows | None]:
        """What each side holds for the other to find; nothing where nobody looks."""
        wanted = [
            one.window is not None and 1 - slot in self._triggers
            for slot, one in enumerate(self.inputs)
        ]
        held: list[HeldRows | None] = [
            HeldRows((slot,), self.home, layout, times[slot]) if wanted[slot] else None
            for slot in SIDES
        ]
        if all(wanted) and self.at_self and _filters(self.inputs[0]) == _filters(self.inputs[1]):
            held = [HeldRows(SIDES, self.home, layout, times[0])] * 2
        for slot, rows in enumerate(held):
            if rows is not None:
                rows.add_windows(self.family, slot, self.tables)
                for position, as_float in self._read(slot).items():
                    rows.hold(position, as_float)
        return held[0], held[1]

    def _read(self, slot: int) -> dict[int, bool]:
        """The positions that are read from held rows of a slot, and whether each is a float."""
        found: dict[Place, bool] = {}
        for expression in self._expressions(1 - slot):
            found.update(places(expression))
        return {place[1]: as_float for place, as_float in found.items() if place[0] == slot}

    def _expressions(self, slot: int) -> Iterable[Expression]:
        """What is computed of a pair that a row of a slot brings about."""
        yield from self.rest[slot]
        yield from (value for _, value in self.query.projection)
        if self.query.having is not None:
            yield self.query.having

    def _index(self, slot: int) -> int:
        """The number of the index on a slot's held rows, -1 when there is none."""
        held, key = self.held[slot], self._key(slot)
        if held is None or key is None or self.equality is None:
            return -1
        return held.index(_in_slot(key, held.slots[0]), self.equality.as_float)

    def _zone(self, slot: int) -> int:
        """The number of the value by which a slot's rows are left out, -1 where that is no use."""
        held, found = self.held[slot], self.bands[slot]
        if held is None or found is None or self.indexes[slot] >= 0:
            return -1
        return held.zone(_in_slot(found.key, held.slots[0]))

    def write(self, w: Writer, stream: str, scope: Scope, key: str, emit: Emission) -> None:
        """What a row of a stream does to all members, in their order."""
        at, array = (key, "ki") if self.home == "key" else ("0", "gi")
        here = [slot for slot in SIDES if self.inputs[slot].stream == stream]
        tests = {slot: _test(scope, self.inputs[slot]) for slot in here}
        clock = self._write_clock(w, f"{array}[{at}, {self.clock}]", at, tests)
        arrival = Arrival(w, scope, key, at, clock, w.name("member"), emit)
        if len(set(tests.values())) == 1:
            with guarded(w, [tests[here[0]]]):
                self._write_arrival(arrival, dict.fromkeys(here, ""))
        else:
            passes = {slot: w.let("passes", tests[slot] or "True") for slot in here}
            self._write_arrival(arrival, passes)

    def _write_clock(self, w: Writer, cell: str, at: str, tests: Mapping[int, str]) -> str:
        """The clock moves on, and rows leave every window; the local of its time."""
        clock = w.let("clock", f"max({self.clock_now}, {cell})")
        w(f"{cell} = {clock}")
        entered = [self.held[slot] for slot, test in tests.items() if not test]
        for held in self.rings:
            if held not in entered:
                held.write_advance(w, at, clock)
        return clock

    def _write_arrival(self, arrival: Arrival, tests: Mapping[int, str]) -> None:
        """The row enters the windows of the slots that take it, and meets the other side."""
        w = arrival.w
        pasts: dict[int, str] = {}
        if 0 in tests:
            pasts[0] = self._write_past(arrival, self.held[1])
        self._write_entries(arrival, tests)
        if 1 in tests:
            pasts[1] = self._write_past(arrival, self.held[0])
        meets = {slot: test for slot, test in tests.items() if slot in self._triggers}
        with self._packing(arrival):
            if self.asks_once:
                for slot in meets:
                    self._write_lookups(arrival, slot)
                return
            with w.block(f"for {arrival.member} in range({len(self.family)}):"):
                for slot, test in meets.items():
                    with guarded(w, [test]):
                        self._write_meeting(arrival, slot, pasts[slot])

    def _write_lookups(self, arrival: Arrival, slot: int) -> None:
        """The row meets the other side for all members at once."""
        w, held = arrival.w, self.held[1 - slot]
        assert held is not None and held.slot_index is not None and self.equality is not None
        index, probe, as_float = (
            held.slot_index,
            self.equality.probes[1 - slot],
            self.equality.as_float,
        )

        def ask(member: str) -> str:
            scope = arrival.scope_of(self._own(arrival, slot, unsigned(member)))
            return w.let("key", key_source(w, scope, probe, as_float))

        def sees(member: str, row: Held) -> str:
            return index.sees(arrival.at, frame, member, row)

        def select(member: str, row: Held) -> list[str]:
            found = held.write_cells(w, arrival.at, row.position, self._read(1 - slot), row.row)
            pair = self._own(arrival, slot, unsigned(member))
            pair |= {(1 - slot, one): local for one, local in found.items()}
            scope = arrival.scope_of(pair)
            return [_bits(scope.value(value), value) for _, value in self.query.projection]

        ends = (held.column(arrival.at, end) for end in (RING_HEAD, RING_TAIL))
        with w.block(f"if {' < '.join(ends)}:"):
            asked = held.write_asked(w, arrival.at, 1 - slot)
            frame = index.write_frame(w, arrival.at, asked)
            asking = Asking(ask, sees, select)
            Lookups(len(self.family), frame, index.key, asking).write(w, self.asked[slot])

    @contextmanager
    def _packing(self, arrival: Arrival) -> Iterator[None]:
        """What is put out inside becomes one wide row, where that is wanted."""
        w = arrival.w
        if self.packed is None:
            yield
            return
        first = w.let("first", "gi[0, LISTS]")
        w(f"{TOP} = {first} + 1")
        yield
        with w.block(f"if {TOP} > {first} + 1:"):
            width = 1 + len(self.query.projection)
            row = w.let("row", f"write_row(gi, oi, order, {self.packed}, t, {arrival.key})")
            w(
                f"oi[{row}, {OUT_ATTRIBUTES}] = {first}",
                f"ol[{first}] = ({TOP} - {first} - 1) // {width}",
                f"gi[0, LISTS] = {TOP}",
            )

    def _own(self, arrival: Arrival, slot: int, member: str) -> dict[Place, str]:
        """The places of the arriving row and of a member's constants."""
        own = arriving(arrival.scope, slot)
        own.update({at: source.format(member) for at, source in self.cells.items()})
        return own

    def _write_past(self, arrival: Arrival, held: HeldRows | None) -> str:
        """The position behind what the other side holds when the row comes."""
        if held is None:
            return "0"
        return arrival.w.let("past", held.column(arrival.at, RING_TAIL))

    def _write_entries(self, arrival: Arrival, tests: Mapping[int, str]) -> None:
        entered: list[HeldRows] = []
        for slot, test in tests.items():
            own = self.held[slot]
            if own is not None and own not in entered:
                entered.append(own)
                with guarded(arrival.w, [test]):
                    seen = arrival.scope_of(arriving(arrival.scope, own.slots[0]))
                    own.write_advance(arrival.w, arrival.at, arrival.clock)
                    own.write_entry(arrival.w, arrival.at, seen, arrival.clock)

    def _write_meeting(self, arrival: Arrival, slot: int, past: str) -> None:
        """The row, on the side of a slot, meets each row of a member's window on the other."""
        w, held, is_outer = arrival.w, self.held[1 - slot], self._is_outer(slot)
        own = self._own(arrival, slot, arrival.member)
        met = w.let("met", "False") if is_outer else ""
        if held is not None:
            wanted = self._read(1 - slot)
            asked = held.write_asked(w, arrival.at, 1 - slot)
            with (
                self._visited(arrival, slot, held, own, past) as position,
                guarded(
                    w,
                    [
                        held.is_held(
                            arrival.at, 1 - slot, position, arrival.member, asked, arrival.clock
                        )
                    ],
                ),
            ):
                found = held.write_cells(w, arrival.at, position, wanted)
                pair = own | {(1 - slot, one): local for one, local in found.items()}
                scope = arrival.scope_of(pair)
                with guarded(w, [scope.condition(c) for c in self.rest[slot]]):
                    if is_outer:
                        w(f"{met} = True")
                    self._write_pair(arrival, pair)
        if is_outer:
            with w.block(f"if not {met}:"):
                self._write_pair(arrival, own | self._nulls(1 - slot))

    @contextmanager
    def _visited(
        self, arrival: Arrival, slot: int, held: HeldRows, own: Mapping[Place, str], past: str
    ) -> Iterator[str]:
        """A loop over the held rows that the row of a slot may meet; the local of a position."""
        w, index = arrival.w, self.indexes[1 - slot]
        low = w.let("low", held.low(arrival.at, 1 - slot, past, arrival.member))
        if self.zones[1 - slot] >= 0:
            bounds = self._write_bounds(arrival, 1 - slot, own)
            zone = self.zones[1 - slot]
            with held.walk(w, arrival.at, zone, (low, past), bounds) as position:
                yield position
            return
        if index < 0 or self.equality is None:
            position = w.name("position")
            with w.block(f"for {position} in range({low}, {past}):"):
                yield position
            return
        asked, scope = self.equality.probes[1 - slot], arrival.scope_of(own)
        key = w.let("key", key_source(w, scope, asked, self.equality.as_float))
        count, notes = held.write_search(w, arrival.at, index, key, (low, past))
        with w.block(f"while {count} > 0:"):
            w(f"{count} -= 1")
            yield w.let("position", f"wi[{notes} + {count}]")

    def _write_bounds(
        self, arrival: Arrival, slot: int, own: Mapping[Place, str]
    ) -> tuple[str, str]:
        """The locals between which a value of the slot's rows must lie."""
        found, scope = self.bands[slot], arrival.scope_of(own)
        assert found is not None
        least, most = (
            default if bound is None else scope.as_type(bound, Type.DOUBLE)
            for default, bound in (("-inf", found.least), ("inf", found.most))
        )
        return arrival.w.let("least", least), arrival.w.let("most", most)

    def _nulls(self, slot: int) -> dict[Place, str]:
        """The places of a side without a row."""
        return {
            place: "nan" if as_float else "NULL"
            for expression in self._expressions(1 - slot)
            for place, as_float in places(expression).items()
            if place[0] == slot
        }

    def _write_pair(self, arrival: Arrival, cells: Mapping[Place, str]) -> None:
        """Select from a pair of rows."""
        w, scope = arrival.w, arrival.scope_of(cells)
        outputs = tuple(w.let(name, scope.value(value)) for name, value in self.query.projection)
        having = ""
        if self.query.having is not None:
            having = replace(scope, outputs=outputs).condition(self.query.having)
        with guarded(w, [having]):
            if self.packed is None:
                arrival.emit(w, self.family, arrival.member, outputs, arrival.scope)
            else:
                self._write_packed(w, arrival.member, outputs)

    def _write_packed(self, w: Writer, member: str, outputs: tuple[str, ...]) -> None:
        w(f"ol[{TOP}] = {member}")
        selected = zip(outputs, self.query.projection, strict=True)
        for number, (output, (_, value)) in enumerate(selected, start=1):
            w(f"ol[{TOP} + {number}] = {_bits(output, value)}")
        w(f"{TOP} += {1 + len(outputs)}")


def _filters(source: StreamInput) -> tuple[Expression, ...]:
    """The conditions in front of a window, of whichever side it is."""
    return tuple(_in_slot(condition, 0) for condition in source.filters)


def _in_slot(expression: Expression, slot: int) -> Expression:
    """An expression over one side as if that were in another slot."""
    match expression:
        case Column() if expression.slot != PARAMETER:
            return replace(expression, slot=slot)
        case EventTime(int()):
            return replace(expression, slot=slot)
        case _:
            return map_children(expression, lambda child: _in_slot(child, slot))


def _test(scope: Scope, source: StreamInput) -> str:
    """Source of the condition in front of a window; empty when there is none."""
    return " and ".join(scope.condition(condition) for condition in source.filters)


def _bits(source: str, value: Expression) -> str:
    """Source of a value as wide rows hold it."""
    return f"bits_of({source})" if is_float(value.type) else source
