"""On-demand queries: asked once of what a plan's tables, windows and aggregations hold."""

from __future__ import annotations

from cep.lang import ast, parse_on_demand
from cep.lang.errors import Source, Span, suggestion
from cep.plan.check import Checker
from cep.plan.expressions import TABLE_SLOT, Expression
from cep.plan.joins import check_range
from cep.plan.nodes import Aggregation, NamedWindow, Plan, Table
from cep.plan.outputs import OutputBuilder
from cep.plan.problems import Problems, with_article
from cep.plan.query import OnDemandQuery
from cep.plan.scope import Place, Scope
from cep.plan.selection import Selected, SelectionBuilder
from cep.plan.steps import Holder, Insert
from cep.plan.streams import Known, Streams, holder_of

Held = Table | NamedWindow | Aggregation
Range = tuple[tuple[Expression, ...], Expression | None]


def build_on_demand(text: str, plan: Plan, file: str = "<query>") -> OnDemandQuery:
    """The query a text asks of a plan; raises RuleError (RuleErrors for several problems)."""
    node = parse_on_demand(text, file)
    problems = Problems(Source(text, file))
    query = problems.attempt(_Builder(problems, plan).build, node)
    problems.raise_all()
    assert query is not None
    return query


class _Builder:
    """Builds one on-demand query."""

    def __init__(self, problems: Problems, plan: Plan) -> None:
        self.problems = problems
        empty = ast.Script((), (), span=Span(0, 0))
        self.streams = Streams(problems, empty)
        held: tuple[Known, ...] = (*plan.tables, *plan.windows, *plan.aggregations)
        for known in (*plan.streams, *held):
            self.streams.add(known)

    def build(self, node: ast.OnDemandQuery) -> OnDemandQuery:
        """A query that finds, or one that changes a table."""
        if node.source is None:
            return self._change(node)
        held = self._held(node.source)
        name = node.alias.text if node.alias else node.source.text
        within, per = self._range(node, held)
        on: Expression | None = None
        if node.on is not None:
            scope = Scope(self.problems, (Place(name, held.schema, TABLE_SLOT),))
            on = Checker(scope, None, self.streams.tables).condition(node.on)
        selected = self._select(node.selection, (Place(name, held.schema),))
        output = OutputBuilder(self.problems, self.streams, selected.schema).build(node.output)
        return OnDemandQuery(
            source=held.name,
            holder=holder_of(held),
            on=on,
            within=within,
            per=per,
            steps=selected.steps(),
            output=output,
        )

    def _held(self, name: ast.Name) -> Held:
        known = self.streams.find(name)
        if isinstance(known, Table | NamedWindow | Aggregation):
            return known
        hint = suggestion(name.text, self.streams.held)
        if not hint.startswith("did"):
            hint = "tables, windows and aggregations hold rows; streams do not"
        raise self.problems.error(name.span, f"`{name.text}` is a stream", hint)

    def _range(self, node: ast.OnDemandQuery, held: Held) -> Range:
        """`within .. per ..`, which an aggregation needs and nothing else takes."""
        if isinstance(held, Aggregation):
            if not node.within or node.per is None:
                hint = "add `within '2024-**-** **:**:**' per 'hours'`"
                message = f"aggregation `{held.name}` is asked for a time and a unit"
                raise self.problems.error(node.span, message, hint)
            checker = Checker(Scope(self.problems, ()))
            return check_range(self.problems, checker, held, node.within, node.per)
        if node.within:
            message = (
                f"`{held.name}` is {with_article(holder_of(held))}; `within` reads aggregations"
            )
            raise self.problems.error(node.within[0].span, message, "use `on`")
        return (), None

    def _select(self, node: ast.Selection, places: tuple[Place, ...]) -> Selected:
        scope = Scope(self.problems, places)
        return SelectionBuilder(self.problems, scope, self.streams.tables).build(node)

    def _change(self, node: ast.OnDemandQuery) -> OnDemandQuery:
        """`insert`, `delete`, `update`: of one row made of constants."""
        selected = self._select(node.selection, ())
        output = OutputBuilder(self.problems, self.streams, selected.schema).build(node.output)
        if isinstance(output, Insert) and output.holder is not Holder.TABLE:
            message = f"`{output.target}` is no table"
            hint = suggestion(output.target, self.streams.tables)
            raise self.problems.error(node.output.span, message, hint)
        return OnDemandQuery(
            source=None,
            holder=None,
            on=None,
            within=(),
            per=None,
            steps=selected.steps(),
            output=output,
        )
