"""Stream definitions and queries."""

from __future__ import annotations

from cep.lang.ast import (
    Annotation,
    AttributeDefinition,
    Expression,
    Name,
    Query,
    Reference,
    SelectItem,
    StreamDefinition,
    StreamInput,
    Window,
)
from cep.lang.errors import Span, suggestion
from cep.lang.parser_expressions import ExpressionParser
from cep.lang.tokens import ATTRIBUTE_TYPES, Kind, Role
from cep.lang.unsupported import AFTER_SELECT, AFTER_SOURCE, EVENT_KINDS, OUTPUTS

CLAUSES = ("select", "group", "having", "insert")


class StreamParser(ExpressionParser):
    """The SiddhiQL part of a rule file."""

    def stream_definition(self, start: int) -> StreamDefinition:
        """`S (a type, ..)`, after `define stream`."""
        self._no_prefix()
        name = self.expect_name("a stream name")
        self.expect("(", hint="attributes stand in parentheses: `(symbol string, bid double)`")
        attributes = [self._attribute()]
        while self.take(","):
            attributes.append(self._attribute())
        self.expect(")", hint="an attribute is a name and a type; commas separate attributes")
        return StreamDefinition(name, tuple(attributes), span=self.since(start))

    def _attribute(self) -> AttributeDefinition:
        name = self.expect_name("an attribute name")
        token = self.token
        if token.keyword == "object":
            hint = "use one of string, int, long, float, double, bool"
            raise self.unsupported(token.span, "object", hint)
        if token.keyword not in ATTRIBUTE_TYPES:
            raise self.unexpected("an attribute type", suggestion(token.text, ATTRIBUTE_TYPES))
        self.advance(Role.KEYWORD)
        return AttributeDefinition(name, token.keyword, span=self.since(name.span.start))

    def query(self, annotations: tuple[Annotation, ...]) -> Query:
        """`from .. select .. insert into target`."""
        role = Role.LINE if annotations else Role.KEYWORD
        start = self.expect_word("from", role).span.start
        source = self._source()
        items: tuple[SelectItem, ...] | None = None
        group_by: tuple[Reference, ...] = ()
        having: Expression | None = None
        if self.take_word("select", role=Role.CLAUSE):
            items = self._select_items()
            group_by = self._group_by()
            having = self.expression() if self.take_word("having", role=Role.CLAUSE) else None
        self._refuse(AFTER_SELECT)
        target = self._target()
        span = self.since(start)
        return Query(source, items, group_by, having, target, annotations, span=span)

    def _source(self) -> StreamInput:
        start = self.token.span.start
        self._refuse_pattern()
        self._no_prefix()
        stream = self.expect_name("a stream")
        filters = self._filters()
        window = self._window()
        window_filters = self._filters() if window else ()
        self._refuse(AFTER_SOURCE)
        self._refuse_symbol()
        return StreamInput(stream, filters, window, window_filters, span=self.since(start))

    def _refuse_pattern(self) -> None:
        if self.at_word("every") or self.at_word("not"):
            following = self.peek()
            if following.kind is Kind.WORD or following.text == "(":
                hint = "use `define complex` to find events that follow each other"
                raise self.unsupported(self.token.span, self.token.keyword, hint)
        if self.at("("):
            hint = "name a stream, or insert the inner query into a stream first"
            raise self.unsupported(self.token.span, "(", hint)

    def _refuse_symbol(self) -> None:
        for symbol in ("->", ",", "=", "<", "?", "*", "+"):
            if self.at(symbol):
                hint = "use `define complex` to find events that follow each other"
                raise self.unsupported(self.token.span, symbol, hint)

    def _refuse(self, words: dict[str, str]) -> None:
        """Refuse, by name, a clause that is not built."""
        if self.token.keyword in words:
            token = self.token
            raise self.unsupported(token.span, token.keyword, words[token.keyword])

    def _no_prefix(self) -> None:
        if self.at("#") or self.at("!"):
            what = "inner streams" if self.at("#") else "fault streams"
            hint = f"{what} do not exist yet; use a plain stream name"
            raise self.unsupported(self.token.span, self.token.text + self.peek().text, hint)

    def _filters(self) -> tuple[Expression, ...]:
        filters: list[Expression] = []
        while self.at("[") or (self.at("#") and self.peek().text == "["):
            self.take("#")
            self.expect("[")
            filters.append(self.expression())
            self.expect("]", hint="close the condition")
        return tuple(filters)

    def _window(self) -> Window | None:
        if not self.at("#"):
            return None
        start = self.advance().span.start
        name = self.expect_name("`window` or `[`")
        if name.text.lower() != "window" or not self.at("."):
            hint = "only filters and windows can stand here"
            raise self.unsupported(Span(start, name.span.end), f"#{name.text}", hint)
        self.roles[self.index - 1] = Role.KEYWORD
        self.advance()
        kind = self.expect_name("a window")
        self.expect("(", Role.TIGHT, hint="for example `#window.time(5 min)`")
        arguments = self._window_arguments()
        return Window(kind, arguments, span=self.since(start))

    def _window_arguments(self) -> tuple[Expression, ...]:
        arguments: list[Expression] = []
        while not self.at(")"):
            arguments.append(self.expression())
            if not self.take(","):
                break
        self.expect(")", hint="close the window's arguments")
        return tuple(arguments)

    def _select_items(self) -> tuple[SelectItem, ...] | None:
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

    def _group_by(self) -> tuple[Reference, ...]:
        if not self.take_word("group", "by", role=Role.CLAUSE):
            return ()
        references = [self._group_reference()]
        while self.take(","):
            references.append(self._group_reference())
        return tuple(references)

    def _group_reference(self) -> Reference:
        if self._is_call():
            hint = "select the expression into a stream first, then group that stream"
            raise self.error(self.token.span, "`group by` takes attributes only", hint)
        return self._reference()

    def _target(self) -> Name:
        if self.token.keyword in OUTPUTS:
            raise self.unsupported(self.token.span, self.token.text, OUTPUTS[self.token.keyword])
        near = suggestion(self.token.keyword, CLAUSES)
        hint = near if near.startswith("did") else "a query ends with `insert into STREAM`"
        self.expect_word("insert", Role.CLAUSE, hint)
        for kind, hint in EVENT_KINDS.items():
            if self.at_word(kind, "events"):
                raise self.unsupported(self.token.span, f"{kind} events", hint)
        self.take_word("current", "events") or self.take_word("events")
        self.expect_word("into")
        self._no_prefix()
        return self.expect_name("a stream")
