"""Queries and partitions: what is selected, how often it goes out, and where to."""

from __future__ import annotations

from cep.lang.ast import (
    Annotation,
    Expression,
    Input,
    Literal,
    Name,
    Order,
    Partition,
    Query,
    RangePartition,
    Rate,
    Reference,
    Return,
    Selection,
    SelectItem,
    ValuePartition,
)
from cep.lang.errors import suggestion
from cep.lang.parser_outputs import OutputParser
from cep.lang.tokens import NAMES, Role, TokenKind

CLAUSES = ("select", "group", "having", "order", "limit", "offset", "output", "insert", "delete")
OUTPUTS = ("insert", "delete", "update", "return")
MISPLACED = {
    "where": "conditions stand in brackets, `from S[a > 5]`, those of a join behind `on`",
    "on": "`on` stands behind both sides of a join",
    "for": "`for` stands behind the table: `delete T for expired events on ..`",
    "set": "`set` stands behind the table: `update T set T.a = a on ..`",
}
"""What to do about words that stand elsewhere, or in other languages."""
GROUP_HINT = "select the expression into a stream first, then group that stream"
RATE_HINT = "for example `output last every 5 sec` or `output every 10 events`"


class QueryParser(OutputParser):
    """Queries, the queries inside them, and partitions of queries."""

    def query(self, annotations: tuple[Annotation, ...]) -> Query:
        """`from .. select .. output .. insert into target`."""
        self.check_annotations(annotations, "query")
        role = Role.LINE if annotations else Role.KEYWORD
        start = self.expect_word("from", role).span.start
        self.events = set()
        source, selection, rate = self._body()
        self._expect_output(selection)
        output = self.output()
        return Query(source, selection, rate, output, annotations, span=self.since(start))

    def _body(self) -> tuple[Input, Selection, Rate | None]:
        source = self._input()
        selection = self.selection()
        rate = self._rate() if self.at_word("output") else None
        return source, selection, rate

    def _input(self) -> Input:
        if self.starts_states():
            return self.state_input()
        begin = self.index
        source = self.join_side()
        if self.at_state() and source.alias is None:
            self.index = begin  # what looked like a stream is the first state
            return self.state_input()
        if self.at_join():
            return self.join(source)
        self.refuse_alias(source)
        return source

    def inner_query(self) -> Query:
        """`(from .. select .. return)`; any number of parentheses."""
        self.enter()
        start = self.expect("(").span.start
        if self.at("("):
            query = self.inner_query()
        else:
            outer, self.events = self.events, set()
            self.expect_word("from", hint="a query in parentheses is `(from .. select .. return)`")
            source, selection, rate = self._body()
            hint = "a query inside another ends with `return`"
            returned = self.expect_word("return", Role.CLAUSE, hint).span.start
            output = Return(self.event_kind("current"), span=self.since(returned))
            query = Query(source, selection, rate, output, (), span=self.since(start))
            self.events = outer
        self.expect(")", hint="close the query in parentheses")
        self.leave()
        return query

    def selection(self) -> Selection:
        """`select .. group by .. having .. order by .. limit .. offset ..`, or nothing."""
        if not self.at_word("select"):
            self._refuse_without_select()
            return Selection(None, span=self.empty_span())
        start = self.advance(Role.CLAUSE).span.start
        items = self.select_items()
        group_by = self.group_by()
        having = self._clause("having")
        order_by = self._order_by()
        limit = self._clause("limit")
        offset = self._clause("offset")
        self._refuse_out_of_order()
        span = self.since(start)
        return Selection(items, group_by, having, order_by, limit, offset, span=span)

    def _refuse_without_select(self) -> None:
        word = self.token.keyword
        after_select = word in ("group", "order") and self.peek().keyword == "by"
        if after_select or word in ("having", "limit", "offset"):
            shown = f"{word} by" if after_select else word
            hint = f"write `select *` in front of `{shown}`"
            if self._has_later("select"):
                hint = f"move `{shown} ..` behind what is selected"
            raise self.error(self.token.span, f"`{shown}` follows a `select`", hint)

    def _refuse_out_of_order(self) -> None:
        word = self.token.keyword
        if word in ("group", "having", "order", "limit", "offset"):
            hint = "the order is `select`, `group by`, `having`, `order by`, `limit`, `offset`"
            shown = f"{word} by" if word in ("group", "order") else word
            raise self.error(self.token.span, f"`{shown}` stands too late, or twice", hint)

    def _clause(self, word: str) -> Expression | None:
        return self.expression() if self.take_word(word, role=Role.CLAUSE) else None

    def select_items(self) -> tuple[SelectItem, ...] | None:
        """`*` (None) or `expression as name, ..`."""
        if self.take("*"):
            return None
        items = [self._select_item()]
        while self.take(","):
            items.append(self._select_item())
        return tuple(items)

    def _select_item(self) -> SelectItem:
        expression = self.expression()
        alias = self.expect_name("an output name") if self.take_word("as") else None
        return SelectItem(expression, alias, span=self.since(expression.span.start))

    def group_by(self) -> tuple[Reference, ...]:
        """`group by a, b`, or nothing."""
        if not self.take_word("group", "by", role=Role.CLAUSE):
            return ()
        references = [self._group_reference()]
        while self.take(","):
            references.append(self._group_reference())
        return tuple(references)

    def _group_reference(self) -> Reference:
        if self._is_call():
            raise self.error(self.token.span, "`group by` takes attributes only", GROUP_HINT)
        return self.reference(GROUP_HINT)

    def _order_by(self) -> tuple[Order, ...]:
        if not self.take_word("order", "by", role=Role.CLAUSE):
            return ()
        keys = [self._order()]
        while self.take(","):
            keys.append(self._order())
        return tuple(keys)

    def _order(self) -> Order:
        reference = self.reference(
            "`order by` takes attributes of the output, each `asc` or `desc`"
        )
        descending = self.take_word("desc")
        if not descending:
            self.take_word("asc")
        return Order(reference, descending, span=self.since(reference.span.start))

    def _rate(self) -> Rate:
        """`output [all|first|last|snapshot] every N events | TIME`."""
        start = self.advance(Role.CLAUSE).span.start
        kind = "all"
        if self.token.keyword in ("all", "first", "last", "snapshot"):
            kind = self.advance(Role.KEYWORD).keyword
        self.expect_word("every", hint=RATE_HINT)
        if self.at_duration():
            time = self.expect_duration("a time")
            return Rate(kind, None, time, span=self.since(start))
        events = self.expect_integer("a number of events or a time", RATE_HINT)
        self.expect_word("events", hint="write `10 events`, or a time such as `5 sec`")
        if kind == "snapshot":
            hint = "write a time: `output snapshot every 5 sec`"
            raise self.error(self.since(start), "a snapshot comes by time, not by events", hint)
        return Rate(kind, events, None, span=self.since(start))

    def _has_later(self, word: str) -> bool:
        """Whether the word comes before the statement ends."""
        distance = 1
        while self._symbol(distance) != ";" and self.peek(distance).kind is not TokenKind.END:
            if self.peek(distance).keyword == word:
                return True
            distance += 1
        return False

    def _expect_output(self, selection: Selection) -> None:
        word = self.token.keyword
        if word in OUTPUTS:
            return
        near = suggestion(word, (*CLAUSES, *OUTPUTS)) if word else ""
        hint = "a query ends with `insert into STREAM`"
        if word in MISPLACED:
            hint = MISPLACED[word]
        elif near.startswith("did"):
            hint = near
        elif self.token.kind in NAMES and selection.items is not None:
            hint = "commas separate what is selected; a query ends with `insert into STREAM`"
        elif self.token.kind in NAMES:
            hint = "what goes out stands behind `select`: `from S select a, b insert into T`"
            if self.peek().keyword == "select":
                hint = "a stream goes by its own name; only sides of a join have others, by `as`"
        raise self.unexpected("`insert`, `delete`, `update` or `return`", hint)

    def partition(self, annotations: tuple[Annotation, ...]) -> Partition:
        """`partition with (..) begin queries end`."""
        self.check_annotations(annotations, "partition")
        role = Role.LINE if annotations else Role.KEYWORD
        start = self.expect_word("partition", role).span.start
        self.expect_word("with", hint="for example `partition with (symbol of Ticks) begin`")
        self.expect("(", hint="for example `partition with (symbol of Ticks) begin`")
        keys = [self._partition_key()]
        while self.take(","):
            keys.append(self._partition_key())
        self.expect(")", hint="commas separate the keys of a partition")
        self.expect_word("begin", Role.LINE, hint="the queries stand between `begin` and `end`")
        queries = self._partition_queries()
        return Partition(tuple(keys), queries, annotations, span=self.since(start))

    def _partition_key(self) -> ValuePartition | RangePartition:
        start = self.token.span.start
        expression = self.expression()
        ranges: list[tuple[Expression, Literal]] = []
        while self.take_word("as"):
            name = self.expect_string("a key in quotes", "for example `price >= 100 as 'large'`")
            ranges.append((expression, name))
            if not self.take_word("or"):
                break
            expression = self.expression()
            if not self.at_word("as"):
                raise self.unexpected("`as`", "every range has a key: `price < 5 as 'small'`")
        stream = self._partition_stream()
        if ranges:
            return RangePartition(tuple(ranges), stream, span=self.since(start))
        return ValuePartition(expression, stream, span=self.since(start))

    def _partition_stream(self) -> Name:
        self.expect_word("of", hint="say which stream it is a key of: `symbol of Ticks`")
        return self.expect_name("a stream")

    def _partition_queries(self) -> tuple[Query, ...]:
        queries: list[Query] = []
        while not self._at_end_of_partition(queries):
            begin = self.index
            annotations = self.annotations()
            if not self.at_word("from"):
                hint = "a partition holds queries; definitions stand outside"
                raise self.unexpected("`from` or `end`", hint)
            queries.append(self.query(annotations))
            self.inner_blocks.append((begin, self.index))
            if not self.take(";"):
                break
        hint = "`;` parts the queries of a partition, and `end` closes it"
        self.expect_word("end", hint=hint)
        return tuple(queries)

    def _at_end_of_partition(self, queries: list[Query]) -> bool:
        if self.at_word("end") and not queries:
            message = "a partition holds at least one query"
            raise self.error(self.token.span, message, "write `from ..` between `begin` and `end`")
        if self.at_word("partition", "with"):
            hint = "close the first with `end`; partitions do not nest"
            raise self.error(self.token.span, "a partition inside a partition", hint)
        return self.at_word("end") or self.token.kind is TokenKind.END

    def annotations(self) -> tuple[Annotation, ...]:
        """The annotations in front of a statement."""
        found = []
        while self.at("@"):
            found.append(self.annotation())
            self.roles[self.index] = Role.LINE
        return tuple(found)
