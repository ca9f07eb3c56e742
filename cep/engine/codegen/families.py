"""The queries of one stage that are written together: many of one shape over one stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import groupby

from cep.engine.bounds import Flow
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.held_rows import IMPORTS as JOIN_IMPORTS
from cep.engine.codegen.imports import imports
from cep.engine.codegen.joins import JoinSource
from cep.engine.codegen.matchings import MatchingSource
from cep.engine.codegen.predicates import FilterRun
from cep.engine.codegen.shared_windows import SharedWindow
from cep.engine.codegen.tables import Tables
from cep.engine.codegen.writer import Writer, guarded, label
from cep.engine.kernels import matching_partials, predicates
from cep.engine.layout import Layout, Wide, row_cells
from cep.engine.stages import Stages, Turn
from cep.engine.windows import is_shared
from cep.plan.change import operator_part
from cep.plan.families import Family, family_of, shape_of
from cep.plan.nodes import Operator
from cep.plan.query import Join, Matching, Query, StreamInput
from cep.plan.steps import Filter

FEW = 4
"""Fewer queries of one shape are written one by one."""

EmitTo = Callable[[Writer, str, tuple[str, ...], Scope, str], None]
"""Writes what happens with a selected row: target, output values, scope, key."""
WriteRow = Callable[[Writer, str, str, tuple[str, ...], str], None]
"""Writes an output row: a stream of its schema, source of its stream's id, values, key."""


class Families:
    """Runs of neighbouring queries that share their source.

    `id_of` tells the id of a stream, -1 when its rows do not go to the output; `wide_id` that of
    wide rows, None where there may be none.

    Where there may, members of a family may come and go while the others last: which queries have
    their state together depends on their shape alone, not on how many there are, who reads them,
    or what stands between them.
    """

    def __init__(
        self,
        stages: Stages,
        stage: int,
        layout: Layout,
        flow: Flow,
        constants: Constants,
        id_of: Callable[[str], int],
        wide_id: Callable[[Wide], int | None] | None,
    ) -> None:
        self.stages = stages
        self.stage = stage
        self.flow = flow
        self.layout = layout
        self.constants = constants
        self.id_of = id_of
        self.wide_id = wide_id
        plan = stages.plan
        self.schemas = {stream.name: stream.schema for stream in plan.streams}
        self.read = {s.name for s in plan.streams if stages.followers(s.name, stage)}
        writers = Counter(query.target for query in plan.queries)
        self.lasts = wide_id is not None
        self.free = {
            s.name
            for s in plan.streams
            if (writers[s.name] == 1 if self.lasts else s.name not in self.read)
        }
        self.runs: dict[str, FilterRun | SharedWindow | JoinSource | MatchingSource] = {}
        self.ids: dict[str, str] = {}
        self.members: set[str] = set()
        for stream in plan.streams:
            for run in self._filter_runs(stream.name):
                self._add_filters(run)
            for run in self._window_runs(stream.name):
                self._add_window(run)
        for run in self._join_runs():
            self._add_join(run)
        for run in self._matching_runs():
            self._add_matching(run)

    def __contains__(self, query: Query) -> bool:
        return query.name in self.members

    def __bool__(self) -> bool:
        return bool(self.members)

    @property
    def targets(self) -> list[str]:
        """The streams that families write, once for each place in the source."""
        return [
            target
            for run in self.runs.values()
            for family in run.families
            for target in dict.fromkeys(family.targets)
        ]

    def write_tables(self, w: Writer) -> None:
        """Constants of the members, as constants of the module."""
        if self.runs:
            w.lines.append(imports(predicates))
        if any(isinstance(run, JoinSource) for run in self.runs.values()):
            w.lines.append(JOIN_IMPORTS)
        if any(isinstance(run, MatchingSource) for run in self.runs.values()):
            w.lines += [
                imports(matching_partials),
                "from cep.engine.kernels.state import MATCH_ROOM",
            ]
        for run in self.runs.values():
            run.tables.write(w)

    def write(
        self,
        w: Writer,
        query: Query,
        stream: str,
        scope: Scope,
        key: str,
        emit_to: EmitTo,
        row_of: WriteRow,
    ) -> None:
        """What a row of a stream does to the run of the query; nothing but for the run's first."""
        run = self.runs.get(query.name)
        if run is None:
            return

        def emit(
            w: Writer, family: Family, member: str, outputs: tuple[str, ...], scope: Scope
        ) -> None:
            first = family.targets[0]
            if family.name not in self.ids:
                emit_to(w, first, outputs, scope, key)
                return
            for number, name in enumerate(family.targets):
                if name in self.read:
                    with w.block(f"if {member} == {number}:"):
                        emit_to(w, name, outputs, scope, key)
            target = w.let("target", f"{self.ids[family.name]}[{member}]")
            some_are_not = any(self._plain_id(one) < 0 for one in family.targets)
            with guarded(w, [f"{target} >= 0" if some_are_not else ""]):
                row_of(w, first, target, outputs, key)

        w(f"# {len(run)} queries: {label(query.name)} and those behind it")
        if isinstance(run, SharedWindow):
            if run.wide is None:
                run.write_run(w, scope, key, emit)
            else:
                run.write_wide(w, scope, key)
        elif isinstance(run, MatchingSource):
            run.write(w, scope, key, emit)
        elif isinstance(run, JoinSource):
            run.write(w, stream, scope, key, emit)
        else:
            run.write(w, scope, emit)

    def _add_filters(self, members: Sequence[Query]) -> None:
        tables = Tables(f"R{len(self.runs)}", self.constants)
        families = [family_of(group) for group in grouped(members, self._leaf_shape)]
        for index, family in enumerate(families):
            self._note_targets(family, tables, f"T{index}")
        self.runs[members[0].name] = FilterRun(members, families, tables, self.layout)
        self.members.update(query.name for query in members)

    def _add_window(self, members: Sequence[Query]) -> None:
        first, by = members[0], self.stages.by
        tables = Tables(f"R{len(self.runs)}", self.constants)
        family = family_of(members)
        self._note_targets(family, tables, "T")
        is_key = len(first.group_by) == 1 and by.holds_key(first.source, first.group_by[0])
        shared = SharedWindow(
            family,
            self.stages.plan.queries.index(first),
            by.is_keyed(first),
            is_key,
            self.layout,
            self.constants,
            self.flow.rows(first.source),
            self.stages.clocks.source(operator_part(first)),
            tables,
        )
        self.runs[first.name] = shared
        if self.wide_id is not None and shared.is_even and len(set(family.targets)) == len(family):
            shared.wide = self.wide_id(Wide(family.targets, first.schema))
        self.members.update(query.name for query in members)

    def _add_join(self, members: Sequence[Query]) -> None:
        first = members[0]
        tables = Tables(f"R{len(self.runs)}", self.constants)
        family = family_of(members)
        self._note_targets(family, tables, "T")
        left, right = (self.flow.rows(one.stream) for one in first.inputs)
        keyed = self.stages.by.is_keyed(first)

        def wide_id(is_backward: bool) -> int | None:
            if self.wide_id is None or not len(set(family.targets)) == len(family) > 1:
                return None
            return self.wide_id(Wide(family.targets, first.schema, True, is_backward))

        clock = self.stages.clocks.source(operator_part(first))
        source = JoinSource(family, keyed, self.layout, (left, right), tables, wide_id, clock)
        self.runs[first.name] = source
        self.members.update(query.name for query in members)

    def _add_matching(self, members: Sequence[Query]) -> None:
        first = members[0]
        tables = Tables(f"R{len(self.runs)}", self.constants)
        family = family_of(members)
        self._note_targets(family, tables, "T")
        times, keyed = self.flow.rows(first.inputs[0].stream), self.stages.by.is_keyed(first)
        self.runs[first.name] = MatchingSource(family, keyed, self.layout, times, tables)
        self.members.update(query.name for query in members)

    def _note_targets(self, family: Family, tables: Tables, suffix: str) -> None:
        """Keep the ids of the members' targets, where these are several."""
        if len(set(family.targets)) > 1:
            ids = [self._plain_id(target) for target in family.targets]
            self.ids[family.name] = tables.array(suffix, ids)

    def _plain_id(self, target: str) -> int:
        """The id of a stream of which rows are put out and nothing more; -1 for others."""
        return -1 if target in self.read else self.id_of(target)

    def _shape(self, query: Query) -> Hashable:
        cells = row_cells(self.schemas[str(query.target)])
        return shape_of(query, self.free), cells

    def _leaf_shape(self, query: Query) -> Hashable:
        """The shape of what remembers nothing: there is no need to last."""
        cells = row_cells(self.schemas[str(query.target)])
        return shape_of(query, self.schemas.keys() - self.read), cells

    def _filter_runs(self, stream: str) -> Iterator[list[Query]]:
        """Neighbours among the readers of a stream that filter it in one of several shapes."""
        readers = self.stages.followers(stream, self.stage)
        shapes = {
            q.name: self._leaf_shape(q) for q in readers if isinstance(q, Query) and _filters(q)
        }
        counts = Counter(shapes.values())
        chosen = {name for name, shape in shapes.items() if counts[shape] >= FEW}
        yield from _neighbours(readers, lambda q: q.partition if q.name in chosen else NO_RUN)

    def _window_runs(self, stream: str) -> Iterator[list[Query]]:
        """Neighbours among the readers of a stream that aggregate it over windows of one shape."""
        readers = self.stages.followers(stream, self.stage)
        shapes = self._shapes(readers, _aggregates_a_window)
        if self.lasts:
            yield from _together(readers, shapes)
            return
        for run in _neighbours(readers, lambda q: shapes.get(q.name, NO_RUN)):
            if len(run) >= FEW:
                yield run

    def _join_runs(self) -> Iterator[list[Query]]:
        """Neighbours among the joins of the stage that are of one shape."""
        operators = self.stages.plan.operators
        own = [one for one in operators if self.stages.operator(one) == self.stage]
        shapes = self._shapes(own, lambda query: isinstance(query.input, Join))
        yield from _neighbours(operators, lambda q: shapes.get(q.name, NO_RUN))

    def _matching_runs(self) -> Iterator[list[Query]]:
        """Readers of a stream that match it in one shape.

        A row may put out matches of one member between those of another, so each has a stream.
        """
        for stream in self.stages.plan.streams:
            readers = self.stages.followers(stream.name, self.stage)
            shapes = self._shapes(readers, lambda query: isinstance(query.input, Matching))
            for query in readers:
                if isinstance(query, Query) and query.name in shapes:
                    alone = "" if query.target in self.free else query.name
                    shapes[query.name] = (alone, shapes[query.name])
            yield from _together(readers, shapes)

    def _shapes(
        self, readers: Sequence[Operator | Turn], is_meant: Callable[[Query], bool]
    ) -> dict[str, Hashable]:
        return {q.name: self._shape(q) for q in readers if isinstance(q, Query) and is_meant(q)}


NO_RUN = object()


def _together(
    readers: Sequence[Operator | Turn], shapes: Mapping[str, Hashable]
) -> list[list[Query]]:
    """The readers of each shape."""
    known = [one for one in readers if isinstance(one, Query) and one.name in shapes]
    return grouped(known, lambda query: shapes[query.name])


def _neighbours(
    readers: Sequence[Operator | Turn], key: Callable[[Query], Hashable]
) -> Iterator[list[Query]]:
    """Longest runs of queries of equal key; NO_RUN is none."""
    for found, run in groupby(readers, lambda q: key(q) if isinstance(q, Query) else NO_RUN):
        if found != NO_RUN:
            yield [query for query in run if isinstance(query, Query)]


def grouped(queries: Sequence[Query], key: Callable[[Query], Hashable]) -> list[list[Query]]:
    """The queries of equal key together, in order of first appearance."""
    groups: dict[Hashable, list[Query]] = {}
    for query in queries:
        groups.setdefault(key(query), []).append(query)
    return list(groups.values())


def _filters(query: Query) -> bool:
    """Whether a query does nothing but to filter and select."""
    source = query.input
    return (
        isinstance(source, StreamInput)
        and source.window is None
        and bool(source.before)
        and not source.after
        and all(isinstance(handler, Filter) for handler in source.before)
        and not query.aggregates
    )


def _aggregates_a_window(query: Query) -> bool:
    source = query.input
    if not isinstance(source, StreamInput) or source.window is None:
        return False
    return is_shared(source.window) and bool(query.aggregates)
