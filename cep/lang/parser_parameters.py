"""Parameters: their definitions, and their names where values stand."""

from __future__ import annotations

from dataclasses import replace

from cep.lang import habits
from cep.lang.ast import Literal, Name, ParameterDefinition
from cep.lang.errors import RuleError, Source, Span, suggestion
from cep.lang.parameters import KINDS, TIME, WHOLE, Parameter, Value, exact
from cep.lang.parser_definitions import Annotations, DefinitionParser
from cep.lang.tokens import (
    ATTRIBUTE_TYPES,
    KEYWORDS,
    NAMES,
    NUMBERS,
    TIME_UNITS_MS,
    Role,
    Token,
    TokenKind,
)

RANGE_HINT = "write `range 1.0 to 3.0 step 0.1`"
NUMBERS_OF = {
    "int": (TokenKind.INT,),
    "long": (TokenKind.INT, TokenKind.LONG),
    "float": NUMBERS,
    "double": (TokenKind.INT, TokenKind.DOUBLE),
}
EXAMPLES = {"int": "20", "long": "20L", "float": "0.5", "double": "2.0", "bool": "true",
            "string": "'EURUSD'", TIME: "5 min"}  # fmt: skip
NOT_BEHIND = frozenset((".", "#", "!", "@", ":"))
NOT_BEFORE = frozenset((".", "(", "[", ":", "="))
"""Beside these a name is that of something else."""


class ParameterParser(DefinitionParser):
    """Knows all parameters of a text before anything else is parsed.

    Each name of one, where a value may stand, becomes that value: whatever takes a constant takes
    a parameter, and nothing behind the parser knows of them.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.parameters: dict[str, Parameter] = {}
        self._is_scanned = False
        places = [
            place
            for place in range(len(self.tokens) - 2)
            if self.tokens[place].keyword == "define"
            and self.tokens[place + 1].keyword == "parameter"
            and self.tokens[place + 2].kind in NAMES
        ]
        inside: set[int] = set()
        for place in places:
            inside.update(self._known(place))
        self._put_values(inside)
        self.index = self.nesting = 0
        self._is_scanned = True

    def _known(self, place: int) -> range:
        """Take in the parameter defined there; where its tokens are. Mistakes are told later."""
        self.index = place + 2
        try:
            node = self.parameter_definition(self.tokens[place].span.start, ())
            self.parameters.setdefault(node.name.text, node.parameter)
        except RuleError:
            pass
        while not self.at(";") and self.token.kind is not TokenKind.END:
            self.advance()
        return range(place, self.index)

    def _put_values(self, inside: set[int]) -> None:
        """Replace the names outside of the definitions, and count them."""
        uses = dict.fromkeys(self.parameters, 0)
        for place, token in enumerate(self.tokens):
            if token.kind is not TokenKind.WORD or place in inside or token.text not in uses:
                continue
            before, behind = self.tokens[place - 1], self.tokens[place + 1]
            if not (_is_one(before, NOT_BEHIND) or _is_one(behind, NOT_BEFORE)):
                uses[token.text] += 1
                self.tokens[place] = self.parameters[token.text].token(token.span)
                self.bound[place] = token.text
        for name, count in uses.items():
            self.parameters[name] = replace(self.parameters[name], uses=count)

    def parameter_definition(self, start: int, _annotations: Annotations) -> ParameterDefinition:
        """`NAME TYPE = VALUE [range LOW to HIGH [step STEP]] [in (A, B, ..)]`, after two words."""
        name = self._parameter_name(start)
        type_ = self._parameter_type(name)
        self.expect("=", hint=f"a parameter has a value: `{name.text} {type_} = {EXAMPLES[type_]}`")
        value = self.parameter_value(type_)
        found = Parameter(name.text, type_, value.value, start=start, value_span=value.span)
        if self.at_word("range"):
            found = self._ranged(found)
        elif self.take_word("in", role=Role.CLAUSE):
            found = replace(found, choices=self._choices(type_))
        misfit = found.misfit(value.value)
        if misfit and self._is_scanned:  # before that, what uses it shall not be wrong, too
            hint = "the value is one that a run may have: change it, or what is behind it"
            raise self.error(value.span, misfit, hint)
        uses = self.parameters[name.text].uses if name.text in self.parameters else 0
        found = replace(found, uses=uses)
        return ParameterDefinition(name, found, span=self.since(start))

    def _parameter_name(self, start: int) -> Name:
        name = self.expect_name("the name of the parameter")
        known = self.parameters.get(name.text)
        if known is not None and known.start != start:
            line, _ = self.source.line_column(known.start)
            message = f"parameter `{name.text}` is defined in line {line} already"
            raise self.error(name.span, message, "rename one of them")
        if name.text in KEYWORDS or name.text in TIME_UNITS_MS:
            message = f"`{name.text}` is a word of the language"
            raise self.error(name.span, message, "a parameter needs a name of its own")
        return name

    def _parameter_type(self, name: Name) -> str:
        word = self.token.keyword
        if word in KINDS:
            self.advance(Role.KEYWORD)
            return word
        hint = habits.type_of(self.token) or suggestion(self.token.text, KINDS)
        if self.token.kind in NAMES and name.text.lower() in KINDS:
            hint = f"the name stands first: `{self.token.text} {name.text}`"
        elif self.at("="):
            hint = f"say which type: `define parameter {name.text} double = 2.0`"
        elif word in ATTRIBUTE_TYPES:
            hint = f"parameters are {', '.join(KINDS)}"
        raise self.unexpected("a type of parameter", hint)

    def parameter_value(self, type_: str) -> Literal:
        """A constant of a type, with a sign perhaps."""
        start, token = self.token.span.start, self.token
        if type_ == "string":
            return self.expect_string("a text in quotes", f"for example `{EXAMPLES[type_]}`")
        if type_ == TIME:
            return Literal(self.expect_duration("a time").ms, type_, span=self.since(start))
        if type_ == "bool":
            if token.keyword not in ("true", "false"):
                raise self.unexpected("`true` or `false`")
            self.advance(Role.KEYWORD)
            return Literal(token.keyword == "true", type_, span=token.span)
        is_negative = self.take("-")
        if is_negative:
            self.roles[self.index] = Role.TIGHT
        if self.token.kind not in NUMBERS_OF[type_]:
            raise self.unexpected(f"a number of type {type_}", f"for example `{EXAMPLES[type_]}`")
        # its type is that of the parameter: `5` is a long, too, whatever it would be elsewhere
        number = self._number(self.advance()._replace(kind=KINDS[type_]))
        value = int(number) if type_ in WHOLE else float(number)
        return Literal(-value if is_negative else value, type_, span=self.since(start))

    def _ranged(self, found: Parameter) -> Parameter:
        span = self.advance(Role.CLAUSE).span
        if found.type in ("bool", "string"):
            example = EXAMPLES[found.type]
            raise self.error(span, "a range is of numbers or times", f"write `in ({example}, ..)`")
        low = self.parameter_value(found.type)
        self.expect_word("to", hint=RANGE_HINT)
        high = self.parameter_value(found.type)
        if exact(low.value) > exact(high.value):
            message = f"{found.shown(low.value)} is above {found.shown(high.value)}"
            raise self.error(Span(low.span.start, high.span.end), message, RANGE_HINT)
        step = None
        if self.take_word("step"):
            by = self.parameter_value(found.type)
            step = by.value
            if exact(step) <= 0:
                raise self.error(by.span, "a step is more than 0", RANGE_HINT)
        return replace(found, low=low.value, high=high.value, step=step)

    def _choices(self, type_: str) -> tuple[Value, ...]:
        self.expect("(", hint=f"the values stand in parentheses: `in ({EXAMPLES[type_]}, ..)`")
        values = [self.parameter_value(type_).value]
        while self.take(","):
            values.append(self.parameter_value(type_).value)
        self.expect(")", hint="commas separate the values")
        return tuple(dict.fromkeys(values))


def _is_one(token: Token, symbols: frozenset[str]) -> bool:
    return token.kind is TokenKind.SYMBOL and token.text in symbols
