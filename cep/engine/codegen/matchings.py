"""Matchings as source: what a row does to the partial matches that have come as far as the instant
before.

The regular expression is an automaton of single states (`cep.plan.regex.steps`), which is written
out: a partial match is its state, the time of its first row, its variables. Queries of one shape
differ in constants. Where the pattern is a chain of symbols with one end, partial matches on which
no constant has had a say are kept once for all members, and an index over the constants finds whom
a row takes further.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cep.dropped import Reason
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_scope import Place, SlotScope
from cep.engine.codegen.predicates import Emission, Test, buckets, test_of
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded
from cep.engine.kernels.matching_partials import (
    FIRST,
    FIRST_PARTIALS,
    ORDER,
    OVER,
    PARTIAL_COLUMNS,
    PARTIALS_BEFORE,
    STATE,
)
from cep.engine.kernels.state import RING_HEAD
from cep.engine.layout import Home, Layout, Start, is_float
from cep.engine.matchable import steps_of
from cep.plan.expressions import Constant, Expression, walk
from cep.plan.families import Family, is_parameter
from cep.plan.query import Definition, Matching
from cep.plan.regex import automaton
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.types import Type

ROW, VARIABLES = 0, 1
DROPPED = (Reason.LATE, Reason.BOUND)
LARGER_BLOCKS = 4
"""A ring that doubles step by step takes less than this times what it holds in the end."""


@dataclass(slots=True)
class Symbol:
    """A symbol's conditions: the same for all members, and those with constants of a member.

    `test` is the one that an index answers: which member is `members[i]`, by `index`.
    """

    definition: Definition
    common: list[Expression]
    varied: list[Expression]
    test: Test | None = None
    index: str = ""
    members: str = ""


@dataclass(frozen=True, slots=True)
class Partial:
    """A partial match in the source: its state, where it lies, time and number of its first row,
    variables.

    `member` is empty where it is one of all members.
    """

    state: int
    ring: str
    place: str
    first: str
    order: str
    cells: dict[Place, str] = field(default_factory=dict)
    member: str = ""


class MatchingSource:
    """Writes a family of matchings."""

    def __init__(
        self, family: Family, keyed: bool, layout: Layout, times: int, tables: Tables
    ) -> None:
        """`times`: most rows on the stream per input row."""
        matching = family.query.input
        assert isinstance(matching, Matching)
        found = steps_of(matching.regex)
        assert found is not None
        self.family = family
        self.query = family.query
        self.matching = matching
        self.steps = found
        self.tables = tables
        self.home: Home = "key" if keyed else "global"
        self.skips = matching.skips
        # where only one state is an end, matches of one row come in the order of their beginnings
        is_chain = automaton(matching.regex).is_linear and self._ends() == 1
        self.shares = is_chain and not self.skips
        self.shared = self._shared_states()
        self.families = [family] * self._ends()
        self.cells = tables.parameters(family, "{}")
        self.symbols = [self._symbol(number, one) for number, one in enumerate(matching.symbols)]
        self._take_withins()
        self._take_cells()
        self._take_columns(layout)
        self._need_room(layout, times)

    def __len__(self) -> int:
        return len(self.family)

    def goes_on(self, state: int) -> bool:
        """Whether a symbol leads on from a state."""
        return bool(self.steps.by_state[state])

    def _shared_states(self) -> frozenset[int]:
        """States of a chain that are reached without a constant.

        Any constant counts, whether members differ in it or not, so that the state lies in the same
        manner whatever members come and go.
        """
        found: set[int] = {0} if self.shares else set()
        first = self.family.members[0].input
        assert isinstance(first, Matching)
        state = 0
        while self.shares and self.goes_on(state):
            ((symbol, state),) = self.steps.by_state[state].items()
            if any(map(_may_differ, _expressions(first.symbols[symbol]))):
                break
            found.add(state)
        return frozenset(found)

    def _ends(self) -> int:
        """In how many places of the source matches are put out."""
        ends = [to for found in self.steps.by_state for to in found.values()]
        return sum(to in self.steps.accepting for to in ends)

    def _symbol(self, number: int, definition: Definition) -> Symbol:
        conditions = [c for c in conjuncts(definition.condition) if not _is_true(c)]
        varied = [c for c in conditions if any(map(is_parameter, walk(c)))]
        symbol = Symbol(definition, [c for c in conditions if c not in varied], varied)
        tests = [(c, test) for c in varied if (test := test_of(c)) is not None and test.op == "=="]
        if tests:
            condition, symbol.test = tests[0]
            symbol.varied = [c for c in varied if c is not condition]
            constants, at = self.family.constants, symbol.test.parameter.position
            code_of = self.tables.code_of
            keys = [symbol.test.hashed(row[at], code_of) for row in constants]
            order = sorted(range(len(keys)), key=keys.__getitem__)
            symbol.index = self.tables.array(f"X{number}", buckets([keys[one] for one in order]))
            symbol.members = self.tables.array(f"M{number}", order)
        return symbol

    def _take_withins(self) -> None:
        withins = [
            one.input.within_ms for one in self.family.members if isinstance(one.input, Matching)
        ]
        self.longest = max(withins)
        self.within = str(withins[0])
        if len(set(withins)) > 1:
            self.within = self.tables.array("W", withins) + "[{}]"

    def _take_cells(self) -> None:
        """Where variables lie in a partial match."""
        self.ints, self.floats = 2 + (self.shares or self.skips), 0
        self.variables: dict[Place, tuple[bool, int]] = {}
        for position, attribute in enumerate(self.matching.variables.attributes):
            broken = is_float(attribute.type)
            self.variables[VARIABLES, position] = (broken, self.floats if broken else self.ints)
            self.floats += broken
            self.ints += not broken

    def _take_columns(self, layout: Layout) -> None:
        """The group's instants, rows, shared partial matches; each member's own, and first row."""
        owners = [("query", query.name) for query in self.family.members]
        form = f"matching since {self.shares} {sorted(self.shared)} {self.ints} {self.floats}"
        with layout.owned(*owners, form=form):
            self.instant = layout.int_columns(self.home, 4)
            self.ring = layout.int_columns(self.home, PARTIAL_COLUMNS)
        self.own = layout.each(owners, form, lambda: layout.int_columns(self.home, PARTIAL_COLUMNS))
        self.dropped = layout.counted(owners, *DROPPED)
        self.floor = layout.each(owners, form, lambda: layout.int_columns(self.home, 1))
        for number, owner in enumerate(owners):
            start = Start(owner, self.home, self.floor + number, self.instant + 3)
            layout.starts.append(start)

    def _need_room(self, layout: Layout, times: int) -> None:
        """All that a row may add, where rings hold so many partial matches: see `Layout`."""
        steps = times * max(map(len, self.steps.by_state))
        blocks = LARGER_BLOCKS * (len(self.family) + 1)
        layout.match_ints += blocks * (1 + 2 * steps) * self.ints
        layout.match_floats += blocks * (1 + 2 * steps) * self.floats
        layout.row_ints += blocks * (steps + FIRST_PARTIALS) * self.ints
        layout.row_floats += blocks * (steps + FIRST_PARTIALS) * self.floats

    def write(self, w: Writer, scope: Scope, key: str, emit: Emission) -> None:
        """What a row does to all members."""
        at, array = (key, "ki") if self.home == "key" else ("0", "gi")
        tests = [scope.condition(one) for one in self.matching.input.filters]
        with guarded(w, tests):
            _Row(self, w, scope, array, at, emit).write()


class _Row:
    """Writes the source that shows one row to a family."""

    def __init__(
        self, source: MatchingSource, w: Writer, scope: Scope, array: str, at: str, emit: Emission
    ) -> None:
        self.source = source
        self.w = w
        self.outer = scope
        self.now = scope.time
        self.array = array
        self.home = f"{array}, {at}"
        self.emit = emit
        self.before = ""
        self.order = ""

    def column(self, column: int | str) -> str:
        return f"{self.home.replace(', ', '[', 1)}, {column}]"

    def write(self) -> None:
        """A row of an instant that has passed is of none."""
        source, w, now = self.source, self.w, self.now
        instant, before = (self.column(source.instant + one) for one in range(2))
        with w.block(f"if {now} < {instant}:"):
            member = w.name("member")
            with w.block(f"for {member} in range({len(source)}):"):
                w(f"{self._dropped(member, Reason.LATE)} += 1")
        with w.block("else:"):
            with w.block(f"if {now} > {instant}:"):
                w(f"{before} = {instant}", f"{instant} = {now}")
            self.before = w.let("before", before)
            if source.shares:
                self._write_shared()
                with w.block(f"if {self.column(source.instant + 2)} >= {self.before}:"):
                    self._write_own()
                self._write_crops()
            else:
                self._write_own()

    def _write_shared(self) -> None:
        """What all members have in common goes on."""
        source, w, ring = self.source, self.w, str(self.source.ring)
        count = self.column(source.instant + 3)
        self.order = w.let("order", count)
        w(f"{count} = {self.order} + 1", f"turn({self.home}, {ring}, {self.now}, {self.before})")
        self._write_partials(ring, "", str(source.longest))
        self._write_steps(self._begin(ring, ""))

    def _write_own(self) -> None:
        """What each member has for itself goes on."""
        source, w = self.source, self.w
        member = w.name("member")
        with w.block(f"for {member} in range({len(source)}):"):
            ring = w.let("ring", self._own_ring(member))
            within = source.within.format(member)
            if source.skips:
                widths = f"{source.ints}, {source.floats}"
                w(f"turn_waiting(wi, wf, {self.home}, {ring}, {widths}, {self.now}, {within})")
            else:
                w(f"turn({self.home}, {ring}, {self.now}, {self.before})")
            self._write_partials(ring, member, within)
            if not source.shares:
                self._write_steps(self._begin(ring, member))
                self._write_crop(ring, member)

    def _write_crops(self) -> None:
        """Of too many partial matches the oldest end, which can only be where some ring is long.

        Shared ones are those of each member: at one instant all that stand at one place of a chain
        have begun at one instant, so that a member takes all or none of them.
        """
        source, w = self.source, self.w
        with w.block(f"if gi[0, MATCH_ROOM] > {source.matching.partials_max}:"):
            member = w.name("member")
            with w.block(f"for {member} in range({len(source)}):"):
                after = f"{self.now} - {source.within.format(member)}"
                floor = self.column(f"{source.floor} + {member}")
                shared = f"wi, {self.home}, {source.ring}, {source.ints}, {self._most}"
                bound = self._dropped(member, Reason.BOUND)
                w(f"{bound} += surplus({shared}, {after}, {floor})")
                ring = w.let("ring", self._own_ring(member))
                w(f"turn({self.home}, {ring}, {self.now}, {self.before})")
                self._write_crop(ring, member)
            w(self._crop(str(source.ring)))

    def _write_crop(self, ring: str, member: str) -> None:
        self.w(f"{self._dropped(member, Reason.BOUND)} += {self._crop(ring)}")

    def _crop(self, ring: str) -> str:
        widths = f"{self.source.ints}, {self.source.floats}"
        return f"crop(wi, wf, {self.home}, {ring}, {widths}, {self._most})"

    @property
    def _most(self) -> str:
        """Arguments of kernels: how many states there are, how many partial matches may stand at
        each.
        """
        source = self.source
        return f"{len(source.steps.by_state)}, {source.matching.partials_max}"

    def _dropped(self, member: str, reason: Reason) -> str:
        """The cell that counts what a member drops."""
        column = f"{self.source.dropped} + {member} * {len(DROPPED)} + {DROPPED.index(reason)}"
        return f"gi[0, {column}]"

    def _own_ring(self, member: str) -> str:
        return f"{self.source.own} + {member} * {PARTIAL_COLUMNS}"

    def _begin(self, ring: str, member: str) -> Partial:
        """The partial match that begins with the row: no variable has a value."""
        cells = {
            place: "nan" if broken else "NULL"
            for place, (broken, _) in self.source.variables.items()
        }
        return Partial(0, ring, "", self.now, self.order, cells, member)

    def _write_partials(self, ring: str, member: str, within: str) -> None:
        """Show the row to the partial matches of the instant before."""
        source, w = self.source, self.w
        states = [
            state
            for state in range(1, len(source.steps.by_state))
            if source.goes_on(state) and (state in source.shared) == (not member)
        ]
        if not states:
            return
        head, past = (self.column(f"{ring} + {one}") for one in (RING_HEAD, PARTIALS_BEFORE))
        place = w.name("place")
        with w.block(f"for {place} in range({head}, {past}):"):
            cell = w.let("cell", f"int_cell({self.home}, {ring}, {place}, {source.ints})")
            first = w.let("first", f"wi[{cell} + {FIRST}]")
            with guarded(w, ["" if source.skips else f"{self.now} - {first} < {within}"]):
                order = w.let("order", f"wi[{cell} + {ORDER}]") if source.shares else ""
                cells = self._load(ring, place, cell)
                state = f"wi[{cell} + {STATE}]"
                state = w.let("state", state) if len(states) > 1 else ""
                for one in states:
                    with guarded(w, [f"{state} == {one}" if state else ""]):
                        self._write_steps(Partial(one, ring, place, first, order, cells, member))

    def _load(self, ring: str, place: str, cell: str) -> dict[Place, str]:
        """Locals with the variables of a partial match."""
        source, w = self.source, self.w
        arguments = f"{self.home}, {ring}, {place}, {source.floats}"
        broken = w.let("fcell", f"float_cell({arguments})") if source.floats else ""
        return {
            at: w.let("held", f"wf[{broken} + {number}]" if as_float else f"wi[{cell} + {number}]")
            for at, (as_float, number) in source.variables.items()
        }

    def _write_steps(self, partial: Partial) -> None:
        """All that the row may be for a partial match; where instants may be left out, what ends
        it, too.
        """
        source = self.source
        following = source.steps.by_state[partial.state]
        for number, symbol in enumerate(source.symbols):
            to = following.get(number)
            if to is not None and not partial.member and to not in source.shared:
                self._write_parting(partial, symbol, to)
            elif to is not None and not partial.member:
                self._write_together(partial, symbol, to)
            elif to is not None or (source.skips and partial.state):
                self._write_step(partial, symbol, to)

    def _write_step(self, partial: Partial, symbol: Symbol, to: int | None) -> None:
        """A member's own partial match."""
        source, w = self.source, self.w
        scope = self._scope(partial.cells, partial.member)
        conditions = [*symbol.common, *symbol.varied]
        if symbol.test is not None:
            conditions.append(symbol.test.condition)
        with guarded(w, [scope.condition(one) for one in conditions]):
            if source.skips and partial.state:
                cell = f"int_cell({self.home}, {partial.ring}, {partial.place}, {source.ints})"
                w(f"wi[{cell} + {OVER}] = 1")
            if to is not None:
                self._reach(partial, symbol, to, partial.member)

    def _write_together(self, partial: Partial, symbol: Symbol, to: int) -> None:
        """A partial match of all members stays one."""
        source, w = self.source, self.w
        scope = self._scope(partial.cells)
        with guarded(w, [scope.condition(one) for one in symbol.common]):
            cells = self._assigned(partial, symbol, "")
            if to in source.steps.accepting:
                member = w.name("member")
                loop = w.block(f"for {member} in range({len(source)}):")
                with loop, guarded(w, self._shared_tests(partial, member)):
                    self._put_out(cells, member)
            if source.goes_on(to):
                self._push(str(source.ring), partial, to, cells)

    def _write_parting(self, partial: Partial, symbol: Symbol, to: int) -> None:
        """A partial match of all members becomes one of those for which the row is the symbol."""
        scope = self._scope(partial.cells)
        common = guarded(self.w, [scope.condition(one) for one in symbol.common])
        with common, self._candidates(symbol, scope) as member:
            own = self._scope(partial.cells, member)
            tests = [own.condition(one) for one in symbol.varied]
            with guarded(self.w, [*self._shared_tests(partial, member), *tests]):
                self._reach(partial, symbol, to, member)

    @contextmanager
    def _candidates(self, symbol: Symbol, scope: Scope) -> Iterator[str]:
        """A loop over the members that the index gives, or all; the local of one."""
        w = self.w
        if symbol.test is None:
            member = w.name("member")
            with w.block(f"for {member} in range({len(self.source)}):"):
                yield member
            return
        first, past = symbol.test.write_lookup(w, scope, symbol.index)
        at = w.name("at")
        with w.block(f"for {at} in range({first}, {past}):"):
            yield w.let("member", f"{symbol.members}[{at}]")

    def _shared_tests(self, partial: Partial, member: str) -> list[str]:
        """Whether a shared partial match has begun since the member has, and not too long ago."""
        if not partial.state:
            return []
        source = self.source
        floor = self.column(f"{source.floor} + {member}")
        young = f"{self.now} - {partial.first} < {source.within.format(member)}"
        is_longest = source.within == str(source.longest)
        return [f"{partial.order} >= {floor}", *([] if is_longest else [young])]

    def _reach(self, partial: Partial, symbol: Symbol, to: int, member: str) -> None:
        """The row is the symbol for a member: the partial match goes on, or is a match."""
        source = self.source
        cells = self._assigned(partial, symbol, member)
        if to in source.steps.accepting:
            self._put_out(cells, member)
        if source.goes_on(to):
            ring = partial.ring
            if source.shares:
                ring = self.w.let("own", self._own_ring(member))
                self.w(f"turn({self.home}, {ring}, {self.now}, {self.before})")
                self.w(f"{self.column(source.instant + 2)} = {self.now}")
            self._push(ring, partial, to, cells)

    def _push(self, ring: str, partial: Partial, state: int, cells: dict[Place, str]) -> None:
        """A partial match of this instant."""
        source, w = self.source, self.w
        arguments = f"gi, wi, wf, {self.home}, {ring}, {source.ints}, {source.floats}"
        place = w.let("place", f"admit_partial({arguments})")
        cell = w.let("cell", f"int_cell({self.home}, {ring}, {place}, {source.ints})")
        w(f"wi[{cell} + {FIRST}] = {partial.first}", f"wi[{cell} + {STATE}] = {state}")
        if source.shares:
            w(f"wi[{cell} + {ORDER}] = {partial.order}")
        elif source.skips:
            w(f"wi[{cell} + {OVER}] = 0")
        broken = ""
        if source.floats:
            broken = w.let("fcell", f"float_cell({self.home}, {ring}, {place}, {source.floats})")
        for at, (as_float, number) in source.variables.items():
            w(f"wf[{broken} + {number}] = {cells[at]}" if as_float else
              f"wi[{cell} + {number}] = {cells[at]}")  # fmt: skip

    def _assigned(self, partial: Partial, symbol: Symbol, member: str) -> dict[Place, str]:
        """The variables after the symbol's assignments, which see those made before them."""
        types = [attribute.type for attribute in self.source.matching.variables.attributes]
        cells = dict(partial.cells)
        for position, value in symbol.definition.sets:
            scope = self._scope(cells, member)
            source = scope.as_type(value, types[position])
            cells[VARIABLES, position] = self.w.let("set", source)
        return cells

    def _put_out(self, cells: dict[Place, str], member: str) -> None:
        query, w = self.source.query, self.w
        scope = self._scope(cells, member)
        outputs = tuple(w.let(name, scope.value(value)) for name, value in query.projection)
        having = ""
        if query.having is not None:
            having = self._scope(cells, member, outputs).condition(query.having)
        with guarded(w, [having]):
            self.emit(w, self.source.family, member, outputs, self.outer)

    def _scope(
        self, cells: dict[Place, str], member: str = "", outputs: tuple[str, ...] = ()
    ) -> SlotScope:
        """What expressions see: the row, the variables, the constants of a member."""
        own: dict[Place, str] = {(ROW, at): name for at, name in enumerate(self.outer.columns)}
        constants = self.source.cells.items() if member else ()
        return SlotScope(
            self.outer.columns,
            self.now,
            self.outer.constants,
            (),
            outputs,
            {**own, **cells, **{place: text.format(member) for place, text in constants}},
        )


def _expressions(definition: Definition) -> list[Expression]:
    return [definition.condition, *(value for _, value in definition.sets)]


def _may_differ(expression: Expression) -> bool:
    """Whether members may differ in a constant of it."""
    return any(
        isinstance(node, Constant) and node.value is not None and node.type is not Type.BOOL
        for node in walk(expression)
    )


def _is_true(condition: Expression) -> bool:
    return isinstance(condition, Constant) and condition.value is True
