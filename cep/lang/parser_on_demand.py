"""On-demand queries: asked once of what a table, named window or aggregation holds."""

from __future__ import annotations

from cep.lang.ast import OnDemandQuery, Return, Selection
from cep.lang.parser_parameters import ParameterParser
from cep.lang.tokens import Role

STARTS = "an on-demand query starts with `from`, `select`, `delete` or `update`"


class OnDemandParser(ParameterParser):
    """Reads one on-demand query."""

    def on_demand(self) -> OnDemandQuery:
        """The query, up to the end of the text."""
        query = self._find() if self.at_word("from") else self._change()
        self.take(";")
        self.expect_end("the end of the query")
        return query

    def _find(self) -> OnDemandQuery:
        """`from T [as t] [on ..] [within .. per ..] [select ..]`."""
        start = self.advance(Role.KEYWORD).span.start
        source = self.expect_name("a table, window or aggregation")
        self.events = {source.text}
        if self.at("[") or self.at("#"):
            hint = "write the condition behind `on`: `from T on price > 5 select ..`"
            raise self.error(self.token.span, "an on-demand query takes no filter", hint)
        alias = self.expect_name("an alias") if self.take_word("as") else None
        on = self.expression() if self.take_word("on") else None
        within, per = self.range_of_time()
        selection = self.selection()
        self._refuse_output()
        output = Return(span=self.empty_span())
        span = self.since(start)
        return OnDemandQuery(source, alias, on, within, per, selection, output, span=span)

    def _refuse_output(self) -> None:
        word = self.token.keyword
        if word in ("insert", "delete", "update", "return", "output"):
            hint = "`from ..` only reads; a change starts with `select`, `delete` or `update`"
            raise self.error(self.token.span, f"`{word}` cannot stand here", hint)

    def _change(self) -> OnDemandQuery:
        """`[select ..] insert into|delete|update|update or insert into T ..`."""
        start = self.token.span.start
        self.events = set()
        if self.token.keyword not in ("select", "delete", "update", "insert"):
            raise self.unexpected("a query", STARTS)
        selection = self.selection()
        if selection.items is None and selection.span.end > start:
            hint = "name values: `select 'A' as symbol, 5 as n insert into T`"
            raise self.error(selection.span, "nothing is read that `*` could stand for", hint)
        if selection.items is None and self.at_word("insert"):
            hint = "say what is inserted: `select 'A' as symbol, 5 as n insert into T`"
            raise self.error(self.token.span, "`insert` needs a `select`", hint)
        if self.token.keyword not in ("insert", "delete", "update"):
            hint = "`select` without `from` makes a row to insert, delete or update with"
            raise self.unexpected("`insert`, `delete` or `update`", hint)
        return self._changed(start, selection)

    def _changed(self, start: int, selection: Selection) -> OnDemandQuery:
        output = self.output()
        span = self.since(start)
        return OnDemandQuery(None, None, None, (), None, selection, output, span=span)
