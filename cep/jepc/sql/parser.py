"""Text of extended SQL to query objects; errors show the place in the text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cep.jepc.errors import QueryError, is_a
from cep.jepc.expressions import Written
from cep.jepc.queries import (
    Aggregate,
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    Input,
    PatternMatcher,
    PatternSymbol,
    Projector,
    Query,
    Stream,
    TimeWindow,
    Window,
)
from cep.jepc.sql.words import CLAUSES, TYPES, as_rules
from cep.lang.ast import Binary, Call, Duration, Expression, Literal, Reference
from cep.lang.errors import Source, Span, suggestion
from cep.lang.parser_expressions import ExpressionParser
from cep.lang.tokens import NAMES, TIME_UNITS_MS, TokenKind
from cep.plan import functions
from cep.plan.calls import called


@dataclass(frozen=True, slots=True)
class Parsed:
    """A query, and the schemas that its text gives for streams (`s[a:Integer]`)."""

    query: Query
    streams: dict[str, dict[str, str]]


def parse_sql(text: str, place: str = "<sql>") -> Parsed:
    """The query of a text; RuleError, which shows the place, when it is none.

    QueryError for what is no text.
    """
    if not is_a(text, str):
        raise QueryError(f"a query of type {type(text).__name__}; give its text")
    parser = _Parser(Source(text, place))
    query = parser.query()
    parser.take(";")
    parser.expect_end("the end of the query")
    if isinstance(query, Stream):
        query = Filter(query, "true")
    return Parsed(query, parser.streams)


@dataclass(frozen=True, slots=True)
class _Item:
    """One thing selected: its value, its name, and where it stands."""

    value: Expression
    name: str
    span: Span


class _Parser(ExpressionParser):
    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.tokens = as_rules(self.tokens)
        self.streams: dict[str, dict[str, str]] = {}

    def query(self) -> Input:
        """`SELECT .. FROM .. [WHERE ..] [GROUP BY ..] [HAVING ..]`"""
        self.expect_word("select")
        start = self.token.span.start
        items = self._items()
        self.expect_word("from", hint="say which streams: FROM stream")
        source = self._inputs()
        if self.take_word("where"):
            condition = self._expression_of(self.expression())
            source = _filtered(source, condition)
        groups = self._groups()
        having = self._expression_of(self.expression()) if self.take_word("having") else None
        return self._selected(source, items, groups, having, start)

    def _items(self) -> list[_Item] | None:
        """What is selected; None for everything."""
        if self.take("*"):
            return None
        items = [self._item()]
        while self.take(","):
            items.append(self._item())
        return items

    def _item(self) -> _Item:
        value = self.expression()
        if self.take_word("as"):
            return _Item(value, self.expect_name("a name").text, value.span)
        if isinstance(value, Reference):
            return _Item(value, value.name.text, value.span)
        if isinstance(value, Call):
            return _Item(value, value.function.text.lower(), value.span)
        raise self.error(value.span, "a selected expression needs a name", "write `.. AS name`")

    def _inputs(self) -> Input:
        inputs = [self._input()]
        while self.take(","):
            inputs.append(self._input())
        return inputs[0] if len(inputs) == 1 else Correlator(inputs)

    def _input(self) -> Input:
        """`stream [schema] | (query)`, then `[MATCHING (..)] [WINDOW(..)] [[AS] name]`."""
        if self.take("("):
            self.enter()
            node = self.query()
            self.leave()
            self.expect(")", hint="close the inner query")
        else:
            node = self._stream()
        if self.take_word("matching"):
            node = self._matching(node)
        if self.take_word("window"):
            node = node.window(self._window())
        named = self.take_word("as")
        if named or (self.token.kind in NAMES and self.token.text.lower() not in CLAUSES):
            node = node.named(self.expect_name("a name").text)
        return node

    def _stream(self) -> Stream:
        name = self.expect_name("a stream").text
        if self.take("["):
            schema: dict[str, str] = {}
            while True:
                attribute = self.expect_name("an attribute").text
                self.expect(":", hint="write `attribute:Type`")
                schema[attribute] = self._type()
                if not self.take(","):
                    break
            self.expect("]")
            self.streams[name] = schema
        return Stream(name)

    def _type(self) -> str:
        name = self.expect_name("a type")
        known = TYPES.get(name.text.lower())
        if known is None:
            hint = suggestion(name.text.lower(), TYPES) or f"types: {', '.join(TYPES)}"
            raise self.error(name.span, f"unknown type `{name.text}`", hint)
        return known

    def _window(self) -> Window:
        """`(RANGE time [SLIDE time])` or `(ROWS n [SLIDE n] [PARTITION BY a, b])`."""
        self.expect("(", hint="write WINDOW(RANGE 5 SEC) or WINDOW(ROWS 100)")
        window: Window
        if self.take_word("range"):
            size = self._time()
            window = TimeWindow(size, self._time() if self.take_word("slide") else 1)
        else:
            self.expect_word("rows", hint="write WINDOW(RANGE 5 SEC) or WINDOW(ROWS 100)")
            size = self._count()
            jump = self._count() if self.take_word("slide") else 1
            by: tuple[str, ...] = ()
            if self.take_word("partition", "by"):
                by = tuple(name.text for name in self.expect_names("an attribute"))
            window = CountWindow(size, jump, by)
        self.expect(")", hint="close the window")
        return window

    def _time(self) -> int:
        """A time such as `5 SEC` or `(500 + 40) MS`, in ms, at least 1."""
        size = self.expression()
        if isinstance(size, Duration):
            ms = size.ms
        elif self.token.keyword in TIME_UNITS_MS:
            ms = self._whole_value(size) * TIME_UNITS_MS[self.advance().keyword]
        else:
            raise self.unexpected("a unit of time", "write 5 SEC or 500 MS")
        return self._positive(ms, size.span)

    def _count(self) -> int:
        number = self.expression()
        return self._positive(self._whole_value(number), number.span)

    def _positive(self, number: int, span: Span) -> int:
        if number < 1:
            raise self.error(span, f"{number} is no size of a window", "use 1 or more")
        return number

    def _whole_value(self, node: Expression) -> int:
        """The value of arithmetic on whole numbers."""
        match node:
            case Literal(value=int(value), type="int" | "long"):
                return value
            case Binary(op="+" | "-" | "*" | "/" as op):
                left, right = self._whole_value(node.left), self._whole_value(node.right)
                if op == "/" and right == 0:
                    raise self.error(node.span, "a division by zero")
                results = {"+": left + right, "-": left - right, "*": left * right}
                return left // right if op == "/" else results[op]
            case _:
                raise self.error(node.span, "no whole number", "write a number or its arithmetic")

    def _matching(self, source: Input) -> PatternMatcher:
        """`(PATTERN .. WITHIN .. [MEASURES ..] DEFINE ..)`"""
        self.expect("(", hint="write MATCHING (PATTERN .. WITHIN .. DEFINE ..)")
        self.expect_word("pattern")
        pattern = self._pattern()
        self.expect_word("within", hint="say how long a match may take: WITHIN 5 SEC")
        within_ms = self._time()
        invisible = self.take_word("with", "invisible", "gaps")
        variables: dict[str, str] = {}
        if self.take_word("measures"):
            variables = self._measures()
        self.expect_word("define", hint="define the symbols: DEFINE x AS a > 1, ..")
        symbols = self._symbols()
        self.expect(")", hint="close MATCHING")
        gaps = "invisible" if invisible else "none"
        return PatternMatcher(source, pattern, within_ms, symbols, variables, (), gaps)  # type: ignore[arg-type]

    def _pattern(self) -> str:
        """The text up to WITHIN."""
        start = self.token.span.start
        while not self.at_word("within") and self.token.kind is not TokenKind.END:
            self.advance()
        return self.source.text[start : self.token.span.start].rstrip()

    def _measures(self) -> dict[str, str]:
        variables: dict[str, str] = {}
        while True:
            name = self.expect_name("a variable").text
            self.take(":")
            variables[name] = self._type()
            if not self.take(","):
                return variables

    def _symbols(self) -> dict[str, PatternSymbol]:
        """`x AS condition [DO v = value, ..]`, with or without commas between them."""
        symbols: dict[str, PatternSymbol] = {}
        while not self.at(")"):
            name = self.expect_name("a symbol").text
            self.expect_word("as", hint="write `symbol AS condition`")
            condition = self._expression_of(self.expression())
            sets: dict[str, Written] = {}
            while (not sets and self.take_word("do")) or (sets and self._at_assignment()):
                variable = self.expect_name("a variable").text
                self.expect("==", hint="write `DO variable = value`")
                sets[variable] = self._expression_of(self.expression())
            symbols[name] = PatternSymbol(condition, sets)
            self.take(",")
        return symbols

    def _at_assignment(self) -> bool:
        """Whether `, v =` stands here; the comma is taken."""
        if self.at(",") and self.peek().kind in NAMES and self.peek(2).text == "==":
            return self.take(",")
        return False

    def _groups(self) -> tuple[str, ...]:
        if not self.take_word("group", "by"):
            return ()
        groups = [self.reference()]
        while self.take(","):
            groups.append(self.reference())
        return tuple(self.source.text[one.span.start : one.span.end] for one in groups)

    def _selected(
        self,
        source: Input,
        items: list[_Item] | None,
        groups: tuple[str, ...],
        having: Written | None,
        start: int,
    ) -> Input:
        aggregates = {item.name: item for item in items or () if _is_aggregate(item.value)}
        if aggregates:
            self._check_grouped(items or [], aggregates, groups)
            values = {
                name: Aggregate(name, written=self._expression_of(_of_rows(item.value)))
                for name, item in aggregates.items()
            }
            return Aggregator(source, values, groups, having)
        if groups or having is not None:
            span = Span(start, start + 1)
            raise self.error(span, "GROUP BY and HAVING need an aggregate", "select COUNT(*)")
        if items is None:
            return source
        names = tuple(item.name for item in items)
        if isinstance(source, PatternMatcher) and names == tuple(map(_bare, items)):
            return replace(source, output=names)
        return Projector(source, {item.name: self._expression_of(item.value) for item in items})

    def _check_grouped(
        self, items: list[_Item], aggregates: dict[str, _Item], groups: tuple[str, ...]
    ) -> None:
        for item in items:
            text = self.source.text[item.span.start : item.span.end]
            if item.name not in aggregates and text not in groups:
                hint = "group by it, or take an aggregate of it, by itself: AVG(a) AS mean"
                raise self.error(item.span, "beside aggregates stand groups only", hint)

    def _expression_of(self, node: Expression) -> Written:
        return Written(node, self.source)


def _filtered(source: Input, condition: Written) -> Input:
    if isinstance(source, Correlator) and source.condition is None and source.span is None:
        return Correlator(source.inputs, condition, name=source.name)
    return Filter(source, condition)


def _bare(item: _Item) -> str | None:
    """The name of an attribute that is selected as it is."""
    is_bare = isinstance(item.value, Reference) and item.value.stream is None
    return item.value.name.text if is_bare and isinstance(item.value, Reference) else None


def _of_rows(node: Expression) -> Expression:
    """`COUNT(*)` counts rows, as `count()` does in rule files."""
    if isinstance(node, Call) and node.arguments is None and node.function.text.lower() == "count":
        return replace(node, arguments=())
    return node


def _is_aggregate(node: Expression) -> bool:
    return isinstance(node, Call) and functions.aggregator(called(node)) is not None
