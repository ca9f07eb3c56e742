"""Where the rows of a query go: `insert`, `delete`, `update`, `return`."""

from __future__ import annotations

from typing import Literal

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan.check import Checker
from cep.plan.envelope import need_own_names
from cep.plan.expressions import TABLE_SLOT, Column, Expression, Output
from cep.plan.nodes import NamedWindow, Table
from cep.plan.problems import Problems, with_article
from cep.plan.scope import Place, Scope
from cep.plan.steps import Assignment, Delete, Holder, Insert, Kinds, Rate, Return, Update
from cep.plan.steps import Output as QueryOutput
from cep.plan.streams import Streams, shown
from cep.plan.types import Schema

KINDS: dict[str, Kinds] = {"current": "current", "expired": "expired", "all": "all"}


class OutputBuilder:
    """Builds the output of one query, given what it selects."""

    def __init__(self, problems: Problems, streams: Streams, schema: Schema) -> None:
        self.problems = problems
        self.streams = streams
        self.schema = schema

    def build(self, node: ast.Output) -> QueryOutput:
        """The output; a new stream is declared on the way."""
        match node:
            case ast.Return():
                need_own_names(self.problems, node.span, self.schema.names)
                return Return(KINDS[node.events])
            case ast.Insert():
                target, holder = self.streams.insert(node.target, node.marker, self.schema)
                return Insert(target, KINDS[node.events], holder)
            case ast.Delete():
                table = self._table(node.target)
                return Delete(table.name, KINDS[node.events], self._on(table, node.on))
            case ast.Update():
                return self._update(node)

    def _update(self, node: ast.Update) -> Update:
        table = self._table(node.target)
        on = self._on(table, node.on)
        if node.or_insert:
            self._need_insertable(node, table)
        assignments = self._assignments(node, table)
        return Update(table.name, KINDS[node.events], on, assignments, node.or_insert)

    def _table(self, name: ast.Name) -> Table:
        known = self.streams.find(name, wanted=Holder.TABLE)
        if isinstance(known, Table):
            return known
        message = f"`{name.text}` is no table, so none of its rows can be changed"
        if isinstance(known, NamedWindow):
            message = f"`{name.text}` is a window; its rows leave by themselves"
        hint = suggestion(name.text, self.streams.tables) or "define it with `define table`"
        raise self.problems.error(name.span, message, hint)

    def _checker(self, table: Table) -> Checker:
        """Names mean what is selected first, then the table's row."""
        place = Place(table.name, table.schema, TABLE_SLOT)
        scope = Scope(self.problems, (place,), outputs=self.schema)
        return Checker(scope, None, self.streams.tables)

    def _on(self, table: Table, node: ast.Expression) -> Expression:
        return self._checker(table).condition(node)

    def _need_insertable(self, node: ast.Update, table: Table) -> None:
        """A row is added when none is updated, so what is selected must make a whole row."""
        self.streams.need_fit(node.target, table, self.schema)

    def _assignments(self, node: ast.Update, table: Table) -> tuple[Assignment, ...]:
        if node.assignments:
            return tuple(self._assignment(table, one) for one in node.assignments)
        return tuple(self._by_name(node, table))

    def _by_name(self, node: ast.Update, table: Table) -> list[Assignment]:
        """Without `set`: every selected attribute, into that of its name."""
        found: list[Assignment] = []
        for position, attribute in enumerate(self.schema.attributes):
            target = table.schema.position(attribute.name)
            if target < 0:
                message = f"table `{table.name}` has no attribute `{attribute.name}`"
                hint = f"select its attributes ({shown(table.schema)}), or write `set`"
                raise self.problems.error(node.target.span, message, hint)
            if table.schema.attributes[target].type is not attribute.type:
                message = f"`{attribute.name}` is {with_article(attribute.type)} here"
                hint = (
                    f"in `{table.name}` it is {with_article(table.schema.attributes[target].type)}"
                )
                raise self.problems.error(node.target.span, message, hint)
            value = Output(position, attribute.name, attribute.type)
            found.append(Assignment(target, value))
        return found

    def _assignment(self, table: Table, node: ast.Assignment) -> Assignment:
        place = Place(table.name, table.schema, TABLE_SLOT)
        target = Scope(self.problems, (place,)).attribute(node.target)
        assert isinstance(target, Column)
        value = self._checker(table).check(node.value)
        if value.type is not target.type:
            theirs, ours = with_article(value.type), with_article(target.type)
            message = f"`{target.name}` is {ours}, the value is {theirs}"
            hint = f"write `convert(.., '{target.type}')`"
            raise self.problems.error(node.value.span, message, hint)
        return Assignment(target.position, value)


def build_rate(problems: Problems, node: ast.Rate | None) -> Rate | None:
    """How often rows go out."""
    if node is None:
        return None
    kinds: dict[str, Literal["all", "first", "last", "snapshot"]]
    kinds = {"all": "all", "first": "first", "last": "last", "snapshot": "snapshot"}
    events = int(node.events.value) if node.events is not None else None
    every_ms = node.time.ms if node.time is not None else None
    if events == 0 or every_ms == 0:
        hint = "for example `output every 10 events` or `output every 5 sec`"
        raise problems.error(node.span, "`output every` needs more than 0", hint)
    return Rate(kinds[node.kind], events, every_ms)
