"""What a query selects: projection, groups, `having`, order, `limit` and `offset`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cep.lang import ast
from cep.plan.check import Checker
from cep.plan.expressions import Aggregate, Call, Collected, Column, Expression, Output
from cep.plan.functions.scalars.conversions import CAST
from cep.plan.nodes import Table
from cep.plan.problems import Problems, Skip, with_article
from cep.plan.scope import Place, Scope
from cep.plan.steps import Order, Projection, Rate, Step, schema_of, selecting
from cep.plan.types import Schema, Type


@dataclass(frozen=True, slots=True)
class Selected:
    """The clauses of a selection, as `cep.plan.steps.selecting` takes them."""

    projection: Projection
    aggregates: tuple[Aggregate, ...]
    group_by: tuple[Column, ...]
    having: Expression | None
    order_by: tuple[Order, ...]
    limit: int | None
    offset: int | None

    @property
    def schema(self) -> Schema:
        """The attributes that are selected."""
        return schema_of(self.projection)

    def steps(self, rate: Rate | None = None) -> tuple[Step, ...]:
        """What the clauses mean."""
        return selecting(
            self.projection,
            aggregates=self.aggregates,
            group_by=self.group_by,
            having=self.having,
            order_by=self.order_by,
            limit=self.limit,
            offset=self.offset,
            rate=rate,
        )


def carried(value: Expression) -> Expression:
    """What a selected value is. A `cast` to another type leaves it as it is, its type too."""
    if not isinstance(value, Call) or value.function != CAST.name:
        return value
    given = value.arguments[0]
    return value if given.type in (Type.OBJECT, value.type) else given


class SelectionBuilder:
    """Builds one selection; every clause is checked even when another one is wrong."""

    def __init__(self, problems: Problems, scope: Scope, tables: dict[str, Table]) -> None:
        self.problems = problems
        self.scope = scope
        self.tables = tables
        self.aggregates: list[Aggregate] = []
        self.projected: Projection = ()
        self.broken = False

    def build(self, node: ast.Selection) -> Selected:
        """The selection; skips when a clause was in error, which is reported."""
        projection = self.project(node.items, node)
        group_by = self.group_by(node.group_by)
        self.projected = projection
        schema = schema_of(projection)
        limit = self._attempt_number(node.limit, "limit")
        offset = self._attempt_number(node.offset, "offset")
        having = self._having(node, schema)
        order_by = self._order_by(node, schema)
        if self.broken:
            raise Skip
        aggregates = tuple(self.aggregates)
        return Selected(projection, aggregates, group_by, having, order_by, limit, offset)

    def project(self, items: tuple[ast.SelectItem, ...] | None, place: ast.Node) -> Projection:
        """The names and values selected; all attributes for `*`."""
        if items is None:
            projection = self.problems.attempt(self._everything, place)
            self.broken |= projection is None
            return projection or ()
        checker = Checker(self.scope, self.aggregates, self.tables)
        found: dict[str, Expression] = {}
        for item in items:
            value = self.problems.attempt(checker.selected, item.expression)
            name = self.problems.attempt(self._free_output, item, found)
            if value is not None and name is not None:
                found[name] = carried(value)
            self.broken |= value is None or name is None
        return tuple(found.items())

    def _everything(self, node: ast.Node) -> Projection:
        found: dict[str, Expression] = {}
        for place in self.scope.places:
            for attribute in place.schema.attributes:
                if attribute.name in found:
                    message = f"`select *` would have `{attribute.name}` twice"
                    hint = f"select by name: `{place.name}.{attribute.name} as ..`"
                    raise self.problems.error(node.span, message, hint)
                found[attribute.name] = _whole(place, attribute.name)
        return tuple(found.items())

    def _free_output(self, item: ast.SelectItem, taken: Iterable[str]) -> str:
        """The output name of a selected item."""
        if item.alias is not None:
            name = item.alias
        elif isinstance(item.expression, ast.Reference):
            name = item.expression.name
        else:
            hint = "write `... as name`"
            message = "a selected expression needs a name"
            raise self.problems.error(item.span, message, hint)
        if name.text in taken:
            message = f"`{name.text}` is selected twice"
            raise self.problems.error(name.span, message, "give one of them another name")
        return name.text

    def group_by(self, nodes: tuple[ast.Reference, ...]) -> tuple[Column, ...]:
        """The attributes that make groups."""
        columns = [self.problems.attempt(self._group_column, node) for node in nodes]
        self.broken |= None in columns
        return tuple(column for column in columns if column is not None)

    def _group_column(self, node: ast.Reference) -> Column:
        column = Checker(self.scope, None, self.tables).check(node)
        if not isinstance(column, Column):
            message = "rows are grouped by attributes of the input"
            hint = (
                f"say which event: `{node.stream.text}[0].{node.name.text}`" if node.stream else ""
            )
            raise self.problems.error(node.span, message, hint)
        return column

    def _having(self, node: ast.Selection, schema: Schema) -> Expression | None:
        if node.having is None or self.broken:
            return None
        checker = Checker(self.scope.with_outputs(schema), None, self.tables)
        having = self.problems.attempt(checker.condition, node.having)
        self.broken |= having is None
        return having

    def _order_by(self, node: ast.Selection, schema: Schema) -> tuple[Order, ...]:
        if self.broken:
            return ()
        keys = [self.problems.attempt(self._order, order, schema) for order in node.order_by]
        self.broken |= None in keys
        return tuple(key for key in keys if key is not None)

    def _order(self, node: ast.Order, schema: Schema) -> Order:
        reference = node.reference
        value = Checker(self.scope.with_outputs(schema)).check(reference)
        if value.type in (Type.OBJECT, Type.LIST):
            message = f"`{reference.name.text}` is {with_article(value.type)} and has no order"
            raise self.problems.error(reference.span, message)
        if isinstance(value, Output):
            return Order(value.position, node.descending)
        return self._of_input(value, node.descending)

    def _of_input(self, value: Expression, descending: bool) -> Order:
        """An attribute of the input: under the name by which it is selected, if it is."""
        for position, (_, selected) in enumerate(self.projected):
            if selected == value:
                return Order(position, descending)
        return Order(-1, descending, value)

    def _attempt_number(self, node: ast.Expression | None, clause: str) -> int | None:
        if node is None:
            return None
        number = self.problems.attempt(self._number, node, clause)
        self.broken |= number is None
        return number

    def _number(self, node: ast.Expression, clause: str) -> int:
        value = node.value if isinstance(node, ast.Literal) else None
        if isinstance(value, int) and not isinstance(value, bool):
            if value >= 0:
                return value
            message = f"`{clause}` cannot be less than 0, it is {value}"
            raise self.problems.error(node.span, message, f"for example `{clause} 10`")
        message = f"`{clause}` needs a whole number, written out"
        raise self.problems.error(node.span, message, f"for example `{clause} 10`")


def _whole(place: Place, name: str) -> Expression:
    """An attribute for `select *`: of a counted state, the list of its values."""
    column = place.column(name)
    if place.counted:
        return Collected(column.position, name, place.slot)
    return column
