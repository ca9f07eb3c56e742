"""The patterns and sequences of one stage: groups of one shape, and who writes which."""

from __future__ import annotations

from collections.abc import Iterator

from cep.engine.bounds import Flow
from cep.engine.codegen.constants import Constants
from cep.engine.codegen.expressions import Scope
from cep.engine.codegen.match_patterns import PatternSource
from cep.engine.codegen.match_scope import Emission
from cep.engine.codegen.match_sequences import SequenceSource
from cep.engine.codegen.match_shapes import MatchGroup, grouped
from cep.engine.codegen.writer import Writer, label
from cep.engine.layout import Layout
from cep.engine.stages import Stages
from cep.plan.query import Match, Query

IMPORTS = """\
from cep.engine.kernels.partials import (
    DEAD, admit_partial, chained, drop_oldest, expire, fade, link, longest_wait, passed, purge,
    settle, watch,
)
"""


class Matches:
    """The match queries of a stage."""

    def __init__(
        self, stages: Stages, stage: int, layout: Layout, flow: Flow, constants: Constants
    ) -> None:
        self.stages = stages
        self.stage = stage
        self.sources = {
            group.name: self._source(group, number, layout, flow, constants)
            for number, group in enumerate(self._groups())
        }

    def __bool__(self) -> bool:
        return bool(self.sources)

    @property
    def targets(self) -> list[str]:
        """The stream each group writes."""
        return [
            target
            for source in self.sources.values()
            if (target := source.group.query.target) is not None
        ]

    def is_written_with_another(self, query: Query) -> bool:
        """Whether the query is a member of a group, but not the first."""
        return isinstance(query.input, Match) and query.name not in self.sources

    def write_tables(self, w: Writer) -> None:
        """Constants of the groups, as constants of the module."""
        if self.sources:
            w.lines.append(IMPORTS)
        for source in self.sources.values():
            source.tables.write(w, source.group)

    def write(
        self, w: Writer, query: Query, stream: str, scope: Scope, key: str, emit: Emission
    ) -> None:
        """What a row of a stream does to all queries of the group that the query leads."""
        source = self.sources[query.name]
        names = ", ".join(map(label, source.group.names))
        w(f"# {source.linear.kind}: {names} into {label(str(query.target))}")
        source.write(w, stream, scope, key, emit)

    def _groups(self) -> Iterator[MatchGroup]:
        """Neighbours of one shape, one partition or none, and one place among the readers."""
        run: list[Query] = []
        for operator in self.stages.plan.operators:
            is_here = self.stages.operator(operator) == self.stage
            if is_here and isinstance(operator, Query) and isinstance(operator.input, Match):
                run.append(operator)
            else:
                yield from grouped(run)
                run = []
        yield from grouped(run)

    def _source(
        self, group: MatchGroup, number: int, layout: Layout, flow: Flow, constants: Constants
    ) -> PatternSource | SequenceSource:
        keyed = any(
            self.stages.by.is_keyed(query)
            for query in self.stages.plan.queries
            if query.name == group.name
        )
        if group.linear.kind == "sequence":
            return SequenceSource(group, number, keyed, layout, constants)
        times = sum(flow.rows(stream) for stream in group.linear.streams)
        return PatternSource(group, number, keyed, layout, constants, times)
