"""What a query reads: a stream with its filters, functions and window, or a join of two."""

from __future__ import annotations

from abc import ABC, abstractmethod

from cep.lang.ast import Expression, Filter, Handler, JoinInput, Name, Query, StreamInput
from cep.lang.errors import Span
from cep.lang.parser_annotations import AnnotationParser
from cep.lang.tokens import KEYWORDS, NAMES, Role, TokenKind

WINDOW_HINT = "for example `#window.time(5 min)`"
OUTER = ("left", "right", "full")
JOIN_HINT = (
    "joins are `join`, `left outer join`, `right outer join` and `full outer join`, each with `on`"
)


class InputParser(AnnotationParser, ABC):
    """Streams and joins."""

    @abstractmethod
    def inner_query(self) -> Query:
        """`from .. select .. return` in parentheses; queries are parsed further up."""

    def marker(self) -> str:
        """`#` before an inner stream, `!` before a fault stream, or nothing."""
        if not (self.at("#") or self.at("!")) or self.peek().kind not in NAMES:
            return ""
        symbol = self.advance().text
        self.roles[self.index] = Role.TIGHT
        return symbol

    def stream_input(self) -> StreamInput:
        """`S[..]#function(..)#window.w(..)[..]`, or a query in parentheses."""
        start = self.token.span.start
        if self.at("("):
            inner = self.inner_query()
            stream = Name("", span=inner.span)
            return StreamInput(stream, self._handlers(), inner=inner, span=self.since(start))
        marker = self.marker()
        stream = self.expect_name("a stream")
        self.events.add(stream.text)
        return StreamInput(stream, self._handlers(), marker=marker, span=self.since(start))

    def refuse_clause(self, *words: str) -> None:
        """Complain when a clause stands where a stream must; a stream may be called like one."""
        following = self.peek()
        goes_on = following.kind in NAMES and following.keyword not in KEYWORDS
        if self.token.keyword in words and (goes_on or following.text == "*"):
            raise self.unexpected("a stream", "a stream called so stands in backticks")

    def _handlers(self) -> tuple[Filter | Handler, ...]:
        handlers: list[Filter | Handler] = []
        while self.at("[") or self.at("#"):
            handler = self._handler()
            windows = any(isinstance(h, Handler) and h.is_window for h in handlers)
            if isinstance(handler, Handler) and handler.is_window and windows:
                hint = "insert into a stream first, and put the second window on that"
                raise self.error(handler.span, "a stream has one window", hint)
            handlers.append(handler)
        return tuple(handlers)

    def _handler(self) -> Filter | Handler:
        start = self.token.span.start
        self.take("#", Role.TIGHT)
        if not self.take("[", Role.TIGHT):
            return self._processor(start)
        if self.at("]"):
            raise self.error(self.token.span, "a filter needs a condition", "for example `[a > 5]`")
        condition = self.expression()
        self.expect("]", hint="close the condition")
        return Filter(condition, span=self.since(start))

    def _processor(self, start: int) -> Handler:
        """`window.name(..)`, `name(..)` or `namespace:name(..)`, after `#`."""
        is_window = self.at_word("window") and self.peek().text in (".", "(", ":")
        if is_window:
            self.advance(Role.KEYWORD)
            self.expect(".", hint=WINDOW_HINT)
        elif self.token.kind not in NAMES:
            raise self.unexpected("`window`, a function or `[`", WINDOW_HINT)
        namespace, name = self.qualified_name("a window" if is_window else "a function")
        hint = WINDOW_HINT if is_window else "for example `#log('seen')`"
        arguments = self.arguments(hint)
        return Handler(name, arguments, is_window, namespace, span=self.since(start))

    def join_side(self) -> StreamInput:
        """A stream, table, window or aggregation with its alias."""
        source = self.stream_input()
        if not self.take_word("as"):
            return source
        alias = self.expect_name("an alias")
        self.events.discard(source.stream.text)
        self.events.add(alias.text)
        span = self.since(source.span.start)
        return StreamInput(
            source.stream, source.handlers, alias, source.marker, source.inner, span=span
        )

    def at_join(self) -> bool:
        """Whether the words of a join stand here."""
        words = ("join", "inner", "outer", "unidirectional", *OUTER)
        return self.token.keyword in words

    def join(self, left: StreamInput) -> JoinInput:
        """`[unidirectional] KIND join right [unidirectional] on ..`, after the left side."""
        self._refuse_filter_behind(left)
        unidirectional = "left" if self.take_word("unidirectional") else ""
        kind = self._join_kind()
        self.refuse_clause("on", "select", "insert")
        right = self.join_side()
        self._refuse_filter_behind(right)
        twice = self.token.span
        if self.take_word("unidirectional"):
            if unidirectional:
                hint = "leave both out to let both sides cause output"
                raise self.error(twice, "both sides are `unidirectional`", hint)
            unidirectional = "right"
        on = self.expression() if self.take_word("on", role=Role.CLAUSE) else None
        within, per = self.range_of_time()
        self._refuse_rest_of_join(on)
        span = self.since(left.span.start)
        return JoinInput(left, right, kind, unidirectional, on, within, per, span=span)

    def _join_kind(self) -> str:
        """`join`, `inner join`, `left outer join`, ..; inner, left, right or full."""
        begin, token = self.index, self.token
        if token.keyword == "outer":
            hint = "write `left outer join`, `right outer join` or `full outer join`"
            raise self.error(token.span, "`outer join` does not say which side is kept", hint)
        kind = token.keyword if token.keyword in OUTER else "inner"
        if token.keyword in OUTER:
            self.advance(Role.CLAUSE)
            self.expect_word("outer", hint=f"write `{kind} outer join`")
        elif token.keyword == "inner":
            self.advance(Role.CLAUSE)
        joined = Role.CLAUSE if self.index == begin else Role.KEYWORD
        self.expect_word("join", joined, JOIN_HINT)
        return kind

    def _refuse_filter_behind(self, side: StreamInput) -> None:
        seen = False
        for handler in side.handlers:
            if seen:
                message = "a side of a join ends with its window"
                hint = "put filters and functions in front of the window"
                raise self.error(handler.span, message, hint)
            seen = isinstance(handler, Handler) and handler.is_window

    def _refuse_rest_of_join(self, on: Expression | None) -> None:
        if self.at_word("on"):
            message = "`on` stands behind both sides of a join" if on is None else "a second `on`"
            raise self.error(self.token.span, message, "join the conditions with `and`")
        if self.at_join():
            hint = "insert this join into a stream, and join that with the third"
            raise self.error(self.token.span, "a join has two sides", hint)

    def range_of_time(self) -> tuple[tuple[Expression, ...], Expression | None]:
        """`within start[, end] per 'unit'`, of an aggregation."""
        if not self.take_word("within", role=Role.CLAUSE):
            if self.at_word("per"):
                hint = "for example `within '2024-**-** **:**:**' per 'hours'`"
                raise self.error(self.token.span, "`per` needs a `within` in front of it", hint)
            return (), None
        within = [self.expression()]
        if self.take(","):
            within.append(self.expression())
        hint = "`within` reads an aggregation: `within .. per 'hours'`; else use a window"
        self.expect_word("per", Role.CLAUSE, hint)
        return tuple(within), self.expression()

    def refuse_alias(self, source: StreamInput) -> None:
        """Only sides of a join have other names."""
        if source.alias is not None:
            hint = f"use the stream's own name, `{source.stream.text}`"
            raise self.error(source.alias.span, "`as` names the side of a join", hint)

    def at_inner_query(self) -> bool:
        """Whether `(from` stands here, whatever the number of parentheses."""
        distance = 0
        while self._symbol(distance) == "(":
            distance += 1
        following = self.peek(distance + 1)
        starts = following.kind in NAMES or following.text in ("(", "#", "!")
        return distance > 0 and self.peek(distance).keyword == "from" and starts

    def empty_span(self) -> Span:
        """The place in front of the current token."""
        start = self.token.span.start
        return Span(start, start)

    def at_symbol(self, *symbols: str) -> bool:
        return self.token.kind is TokenKind.SYMBOL and self.token.text in symbols
