"""Definitions of SiddhiQL: streams, tables, windows, triggers, aggregations."""

from __future__ import annotations

from typing import NoReturn

from cep.lang import habits
from cep.lang.ast import (
    AggregationDefinition,
    Annotation,
    AttributeDefinition,
    Handler,
    Name,
    PositionDefinition,
    StreamDefinition,
    TableDefinition,
    TriggerDefinition,
    WindowDefinition,
)
from cep.lang.errors import Span, suggestion
from cep.lang.parser_queries import QueryParser
from cep.lang.tokens import ATTRIBUTE_TYPES, CALENDAR_UNITS, NAMES, Role, TokenKind
from cep.lang.unsupported import SCRIPT_FUNCTION

Annotations = tuple[Annotation, ...]
Attributes = tuple[AttributeDefinition, ...]
TRIGGER_HINT = "for example `at every 5 sec`, `at '0 0 * * * ?'` or `at 'start'`"
MAGIC_HINT = "for example `magic 77`; left out, it is that of the run"
UNIT_HINT = "for example `every sec ... year` or `every min, hour, day`"


class DefinitionParser(QueryParser):
    """What may follow `define`, besides the statements of the simple CEP engine."""

    def stream_definition(self, start: int, annotations: Annotations) -> StreamDefinition:
        """`S (a type, ..)`, after `define stream`."""
        name = self._defined("a stream name")
        return StreamDefinition(name, self._attributes(), annotations, span=self.since(start))

    def table_definition(self, start: int, annotations: Annotations) -> TableDefinition:
        """`T (a type, ..)`, after `define table`."""
        name = self._defined("a table name")
        return TableDefinition(name, self._attributes(), annotations, span=self.since(start))

    def window_definition(self, start: int, annotations: Annotations) -> WindowDefinition:
        """`W (a type, ..) time(5 min) [output .. events]`, after `define window`."""
        name = self._defined("a window name")
        attributes = self._attributes()
        window = self._window()
        output = "all"
        if self.take_word("output", role=Role.CLAUSE):
            if self.token.keyword not in ("all", "current", "expired", "events"):
                hint = "write `output all events`, `output current events` or `.. expired events`"
                raise self.unexpected("`all`, `current` or `expired`", hint)
            output = self.event_kind("all")
        span = self.since(start)
        return WindowDefinition(name, attributes, window, output, annotations, span=span)

    def _window(self) -> Handler:
        start = self.token.span.start
        hint = "a window says what it holds: `define window W (a int) time(5 min)`"
        if self.at("#"):
            raise self.error(self.token.span, "unexpected `#`", "write `time(5 min)` alone")
        if self.at_word("output") or not self._is_call():
            raise self.unexpected("a kind of window", hint)
        namespace, name = self.qualified_name("a kind of window")
        arguments = self.arguments(hint)
        return Handler(name, arguments, is_window=True, namespace=namespace, span=self.since(start))

    def _defined(self, what: str) -> Name:
        if self.at("#") or self.at("!"):
            made = "made by the queries of a partition"
            if self.at("!"):
                made = "made by `@OnError(action='STREAM')`"
            kind = "inner streams" if self.at("#") else "fault streams"
            hint = "remove the mark, or the definition"
            raise self.error(self.token.span, f"{kind} are not defined, they are {made}", hint)
        return self.expect_name(what)

    def _attributes(self) -> Attributes:
        self.expect("(", hint="attributes stand in parentheses: `(symbol string, bid double)`")
        attributes = [self._attribute()]
        while self.take(","):
            attributes.append(self._attribute())
        self.expect(")", hint="an attribute is a name and a type; commas separate attributes")
        return tuple(attributes)

    def _attribute(self) -> AttributeDefinition:
        name = self.expect_name("an attribute name")
        token = self.token
        if token.keyword not in ATTRIBUTE_TYPES:
            raise self.unexpected("an attribute type", self._type_hint(name))
        self.advance(Role.KEYWORD)
        return AttributeDefinition(name, token.keyword, span=self.since(name.span.start))

    def _type_hint(self, name: Name) -> str:
        """What to write where `name` has no type behind it."""
        token = self.token
        if token.kind in NAMES and name.text.lower() in ATTRIBUTE_TYPES:
            return f"the name stands first: `{token.text} {name.text}`"
        return habits.type_of(token) or suggestion(token.text, ATTRIBUTE_TYPES)

    def trigger_definition(self, start: int, annotations: Annotations) -> TriggerDefinition:
        """`T at every TIME`, `T at 'cron'` or `T at 'start'`, after `define trigger`."""
        name = self.expect_name("a trigger name")
        self.expect_word("at", hint=TRIGGER_HINT)
        every = at = None
        if self.take_word("every"):
            every = self.expect_duration("a time", "5 sec")
        else:
            at = self.expect_string("`every`, a cron expression in quotes or 'start'", TRIGGER_HINT)
        return TriggerDefinition(name, every, at, annotations, span=self.since(start))

    def function_definition(self, _start: int, _annotations: Annotations) -> NoReturn:
        """Refuse `f[language] return type {..}`, after `define function`."""
        name = self.expect_name("a function name")
        construct = f"define function {name.text}"
        if self.take("["):
            construct += f"[{self.expect_name('a language').text}]"
        raise self.unsupported(name.span, construct, SCRIPT_FUNCTION)

    def position_definition(self, start: int, _annotations: Annotations) -> PositionDefinition:
        """`P [magic N]`, after `define position`."""
        name = self.expect_name("the name of the position")
        magic = None
        if self.take_word("magic", role=Role.CLAUSE):
            if self.token.kind not in (TokenKind.INT, TokenKind.LONG):
                raise self.unexpected("a whole number", MAGIC_HINT)
            magic = self.expect_number("a number without sign", MAGIC_HINT)
        elif self.at("("):
            raise self.unexpected("`magic` or `;`", "its attributes are there by themselves")
        return PositionDefinition(name, magic, span=self.since(start))

    def aggregation_definition(self, start: int, annotations: Annotations) -> AggregationDefinition:
        """`A from S select .. group by .. aggregate [by ts] every ..`, after its two words."""
        name = self.expect_name("an aggregation name")
        self.expect_word("from", Role.CLAUSE, hint="write `define aggregation A from STREAM ..`")
        source = self.stream_input()
        hint = "say what is aggregated: `select symbol, avg(price) as mean`"
        self.expect_word("select", Role.CLAUSE, hint)
        items = self.select_items()
        group_by = self.group_by()
        hint = "for example `aggregate by timestamp every sec ... year`"
        self.expect_word("aggregate", Role.CLAUSE, hint)
        by = self.reference(hint) if self.take_word("by") else None
        self.expect_word("every", hint=UNIT_HINT)
        durations, is_range = self._durations()
        return AggregationDefinition(
            name,
            source,
            items,
            group_by,
            by,
            durations,
            is_range,
            annotations,
            span=self.since(start),
        )

    def _durations(self) -> tuple[tuple[str, ...], bool]:
        """`sec ... year` or `sec, min, hour`: calendar units, finest first, and whether a range."""
        start = self.token.span.start
        units = [self._calendar_unit()]
        if self.take("..."):
            units.append(self._calendar_unit())
            return self._range(units[0], units[1], self.since(start)), True
        while self.take(","):
            units.append(self._calendar_unit())
        return tuple(sorted(set(units), key=list(CALENDAR_UNITS).index)), False

    def _range(self, first: str, last: str, span: Span) -> tuple[str, ...]:
        """All units between; weeks, which no month is made of, only where they are named."""
        names = list(CALENDAR_UNITS)
        begin, end = names.index(first), names.index(last)
        if begin > end:
            hint = f"write `{last} ... {first}`"
            raise self.error(span, "a range goes from the short to the long", hint)
        between = names[begin : end + 1]
        return tuple(unit for unit in between if unit != "week" or "week" in (first, last))

    def _calendar_unit(self) -> str:
        word = self.token.keyword
        for name, spellings in CALENDAR_UNITS.items():
            if word in spellings:
                self.advance(Role.KEYWORD)
                return name
        if self.token.kind is TokenKind.INT:
            raise self.unexpected("a unit without number", UNIT_HINT)
        near = suggestion(word, CALENDAR_UNITS) if word else UNIT_HINT
        raise self.unexpected("a unit from `sec` to `year`", near)
