"""The statements of the simple CEP engine: engine, event, complex, signal."""

from __future__ import annotations

from dataclasses import replace

from cep.lang.ast import (
    ComplexDefinition,
    Duration,
    EngineDefinition,
    EventDefinition,
    Expression,
    FollowedBy,
    Header,
    Level,
    Literal,
    Name,
    Option,
    Pattern,
    PatternAnd,
    PatternEvent,
    PatternOr,
    SignalDefinition,
)
from cep.lang.errors import Span, suggestion
from cep.lang.parser_definitions import Annotations
from cep.lang.parser_on_demand import OnDemandParser
from cep.lang.tokens import NAMES, NUMBERS, Role, TokenKind

LEAVES_MAX = 60
REPEATS = ("reject", "refresh", "allow")
SIDES = ("buy", "sell", "close", "modify", "cancel")
POINTS_HINT = "distances are given in points: `200 points`"
PENDING = ("limit", "stop")
SIGNAL_CLAUSES = ("risk", "at", "stop", "target", "for")
GOES_ON = (".", "(", "[", ":", "+", "-", "*", "/", "%")
"""What may stand behind a name that begins an expression."""
SIZE_HINT = "sizes have no sign, the side says it: `sell 0.10 lots`, `close`"
HEADER_HINT = "the order is NAME, `number N`, `in ENGINE`, `for each ATTRIBUTE`, `as`"
PATTERN_WORDS = ("and", "or", "followed", "then", "within", "forbid")
"""What binds events, which a simple one does not."""
HEADER = ("number", "in", "for", "as")
SYMBOL_HINT = "a symbol stands in quotes: `buy 'EURUSD' 0.10 lots`"


class EventParser(OnDemandParser):
    """What the simple CEP engine adds to `define`."""

    leaves = 0

    def engine_definition(self, start: int, _annotations: Annotations) -> EngineDefinition:
        """`NAME (option = value, ..) from A, B`, after `define engine`."""
        name = self.expect_name("an engine name")
        options: list[Option] = []
        if self.take("("):
            options.append(self._option())
            while self.take(","):
                options.append(self._option())
            self.expect(")", hint="commas separate options")
        upstream = self.expect_names("an engine") if self.take_word("from") else ()
        return EngineDefinition(name, tuple(options), upstream, span=self.since(start))

    def _option(self) -> Option:
        name = self.expect_name("an option", hint="for example `queue = 5 min`")
        self.expect("=")
        value = self._option_value()
        return Option(name, value, span=self.since(name.span.start))

    def _option_value(self) -> Literal | Duration:
        if self.at_duration():
            return self.expect_duration("a time")
        if self.token.kind in NUMBERS:
            return self.expect_number("a number")
        return self.expect_string("a value", hint="a time, a number, or a word in quotes")

    def _header(self, what: str) -> Header:
        """`NAME [number N] [in ENGINE] [for each ATTR]`."""
        name = self.expect_name(f"the name of the {what}")
        number = engine = key = None
        if self.take_word("number"):
            number = self.expect_integer("a whole number")
        if self.take_word("in"):
            engine = self.expect_name("an engine")
        if self.take_word("for"):
            self.expect_word("each")
            key = self.expect_name("an attribute")
        return Header(name, number, engine, key, span=self.since(name.span.start))

    def _expect_as(self) -> None:
        self.expect_word("as", Role.CLAUSE, hint=HEADER_HINT)

    def _refuse_late_header(self) -> None:
        """Complain when what belongs in front of `as` stands at the end."""
        words = {"for": "for each", "number": "number", "in": "in"}
        if self.token.keyword in words:
            shown = words[self.token.keyword]
            raise self.error(self.token.span, f"`{shown}` stands in front of `as`", HEADER_HINT)

    def _refuse_pattern(self, name: str) -> None:
        """Complain when several events are bound by what defines one."""
        if self.token.keyword in PATTERN_WORDS or self.at("->"):
            hint = f"events are bound by `define complex {name} as A followed by B within 3 min`"
            raise self.error(
                self.token.span, "a simple event is raised by rows of one stream", hint
            )

    def event_definition(self, start: int, _annotations: Annotations) -> EventDefinition:
        """`HEADER as [every] STREAM[condition] ..`, after `define event`."""
        header = self._header("event")
        self._expect_as()
        every = self.at_word("every") and self.peek().kind in NAMES and self.take_word("every")
        source = self.expect_name("a stream")
        condition = self._condition()
        opposites: tuple[Name, ...] = ()
        repeat: str | None = None
        while True:
            if not opposites and self.take_word("opposite", role=Role.CLAUSE):
                opposites = self.expect_names("an event")
            elif repeat is None and self.take_word("repeat", role=Role.CLAUSE):
                repeat = self._choice(REPEATS, "a repetition policy")
            else:
                break
        self._refuse_late_header()
        self._refuse_pattern(header.name.text)
        span = self.since(start)
        return EventDefinition(header, every, source, condition, opposites, repeat, span=span)

    def _condition(self) -> Expression | None:
        """`[condition]`, or nothing."""
        if not self.take("[", Role.TIGHT):
            return None
        condition = self.expression()
        self.expect("]", hint="close the condition")
        return condition

    def _choice(self, words: tuple[str, ...], what: str, role: Role = Role.KEYWORD) -> str:
        word = self.token.keyword
        if word not in words:
            raise self.unexpected(what, suggestion(self.token.text, words))
        self.advance(role)
        return word

    def complex_definition(self, start: int, _annotations: Annotations) -> ComplexDefinition:
        """`HEADER as PATTERN within TIME forbid ..`, after `define complex`."""
        following = self.peek()
        if self.at_word("event") and following.kind in NAMES and following.keyword not in HEADER:
            hint = f"write `define complex {following.text}`"
            raise self.error(self.token.span, "`complex` alone says it", hint)
        header = self._header("complex event")
        self._expect_as()
        self.leaves = 0
        explicit = self.at_word("arrangements") and self.peek().text == "("
        explicit = explicit and self.peek(2).kind is not TokenKind.STRING
        pattern = self._arrangements() if explicit else self._followed_by()
        within: Duration | None = None
        forbid: tuple[PatternEvent, ...] = ()
        while True:
            if within is None and self.take_word("within", role=Role.CLAUSE):
                within = self.expect_duration("a time", "3 min")
            elif not forbid and self.take_word("forbid", role=Role.CLAUSE):
                forbid = self._events()
            else:
                break
        self._refuse_late_header()
        return ComplexDefinition(header, pattern, within, forbid, span=self.since(start))

    def _followed_by(self) -> Pattern:
        left = self._either()
        while True:
            if self.at("->"):
                self.advance(Role.CLAUSE)
            elif not self.take_word("followed", "by", role=Role.CLAUSE):
                return left
            absent = self._absent()
            right = self._either()
            left = FollowedBy(left, right, absent, span=_across(left, right))

    def _absent(self) -> tuple[PatternEvent, ...]:
        if not self.take("["):
            return ()
        self.expect_word("not", hint="`[not X, Y]` names the events forbidden in between")
        absent = self._events()
        self.expect("]", hint="close `[not ..]`")
        return absent

    def _either(self) -> Pattern:
        left = self._both()
        while self.take_word("or"):
            right = self._both()
            left = PatternOr(left, right, span=_across(left, right))
        return left

    def _both(self) -> Pattern:
        left = self._atom()
        while self.take_word("and"):
            right = self._atom()
            left = PatternAnd(left, right, span=_across(left, right))
        return left

    def _atom(self) -> Pattern:
        if self.at("("):
            self.enter()
            self.advance()
            pattern = self._followed_by()
            self.expect(")", hint="close the parenthesis")
            self.leave()
            return pattern
        if self.at_word("not") and self.peek().kind in NAMES:
            hint = "write `A followed by [not X] B`, or `forbid X` at the end"
            raise self.error(self.token.span, "`not` cannot stand here", hint)
        return self._leaf()

    def _leaf(self) -> PatternEvent:
        self.leaves += 1
        if self.leaves > LEAVES_MAX:
            hint = "bind parts of it first, and chain a second engine"
            message = f"a pattern names at most {LEAVES_MAX} events"
            raise self.error(self.token.span, message, hint)
        return self._event()

    def _event(self) -> PatternEvent:
        """`NAME`, `NAME('key')`, or the same with a number."""
        start = self.token.span.start
        name: Name | Literal
        if self.token.kind is TokenKind.INT:
            name = self.expect_integer("a number")
        else:
            name = self.expect_name("an event")
        key: Literal | None = None
        if self.at("("):
            self.advance(Role.TIGHT)
            key = self.expect_string("a key in quotes", hint="for example `Reversal('MSFT')`")
            self.expect(")")
        return PatternEvent(name, key, span=self.since(start))

    def _events(self) -> tuple[PatternEvent, ...]:
        events = [self._event()]
        while self.take(","):
            events.append(self._event())
        return tuple(events)

    def _arrangements(self) -> Pattern:
        """`arrangements (10, 11), (10, 12, 13)`: rows of events that follow each other."""
        self.expect_word("arrangements")
        rows = self._row()
        while self.take(","):
            row = self._row()
            rows = PatternOr(rows, row, span=_across(rows, row))
        return rows

    def _row(self) -> Pattern:
        self.expect("(", hint="an arrangement is a list in parentheses: `(10, 12, 13)`")
        row: Pattern = self._leaf()
        while self.take(","):
            leaf = self._leaf()
            row = FollowedBy(row, leaf, (), span=_across(row, leaf))
        self.expect(")", hint="commas separate the events of an arrangement")
        return row

    def signal_definition(self, start: int, _annotations: Annotations) -> SignalDefinition:
        """`NAME on SOURCE SIDE [SYMBOL] ..`, after `define signal`."""
        name = self.expect_name("the name of the signal")
        self.expect_word("on")
        source = self.expect_name("a complex event or a stream")
        condition = self._condition()
        side = self._choice(SIDES, "`buy`, `sell`, `close`, `modify` or `cancel`", Role.CLAUSE)
        symbol: Literal | None = None
        if self.token.kind is TokenKind.STRING:
            symbol = self.expect_string("a symbol")
        found = SignalDefinition(name, source, condition, side, symbol, span=self.since(start))
        return replace(self._signal_clauses(found), span=self.since(start))

    def _signal_clauses(self, found: SignalDefinition) -> SignalDefinition:
        """Lots, prices and time, in any order, each once at most."""
        while True:
            if found.lots is None and self._at_lots():
                found = replace(found, lots=self.expression())
                self.expect_word("lots", hint="write `0.10 lots`")
            elif found.risk_percent is None and self.take_word("risk"):
                found = replace(found, risk_percent=self.expression())
                self.expect_word("percent", hint="write `risk 1 percent`")
            elif found.order is None and self.take_word("at", role=Role.CLAUSE):
                order = self._choice(PENDING, "`limit` or `stop`")
                found = replace(found, order=order, price=self.expression())
            elif found.stop is None and self.take_word("stop", role=Role.CLAUSE):
                found = replace(found, stop=self._level_of("stop"))
            elif found.target is None and self.take_word("target", role=Role.CLAUSE):
                found = replace(found, target=self._level_of("target"))
            elif found.valid is None and self.take_word("for", role=Role.CLAUSE):
                found = replace(found, valid=self._time())
            elif self.at("-"):
                raise self.unexpected("a number of more than 0", SIZE_HINT)
            else:
                return found

    def _time(self) -> Expression:
        """A time, or an expression that is one in ms."""
        value = self.expression()
        if isinstance(value, Literal):
            hint = "write a time such as `10 min`"
            raise self.error(value.span, "expected a time", hint)
        return value

    def _at_lots(self) -> bool:
        """Whether an expression begins here, which is a number of lots."""
        if self.token.kind not in NAMES:
            return self.token.kind in NUMBERS or self.at("(")
        if self.token.keyword in SIGNAL_CLAUSES:
            return False
        following = self.peek()
        if following.keyword == "lots" or following.text in GOES_ON:
            return True
        raise self.unexpected("a symbol in quotes", SYMBOL_HINT)

    def _level_of(self, clause: str) -> Level:
        """`EXPR points`, `at EXPR`, `by EXPR` or `EXPR`."""
        start = self.token.span.start
        word = next((one for one in ("at", "by") if self.take_word(one)), "")
        value = self.expression()
        if isinstance(value, Literal) and not word and not self.at_word("points"):
            raise self.unexpected("`points`", f"{POINTS_HINT}; a price is `{clause} at 1.0950`")
        if self.at_word("points"):
            if word:
                hint = f"write `{clause} 200 points`, or a price behind `at`"
                raise self.error(self.token.span, f"`{word}` goes with a price", hint)
            self.advance(Role.KEYWORD)
            word = "points"
        return Level(value, word, span=self.since(start))


def _across(left: Pattern, right: Pattern) -> Span:
    return Span(left.span.start, right.span.end)
