"""A whole rule file: statements, annotations, and recovery after an error."""

from __future__ import annotations

from collections.abc import Callable

from cep.lang import habits
from cep.lang.ast import Annotation, Expression, OnDemandQuery, Script, Statement
from cep.lang.errors import RuleError, Source, Span, raise_all, suggestion
from cep.lang.parser_events import EventParser
from cep.lang.tokens import NAMES, Role, Token, TokenKind


class Parser(EventParser):
    """Parses a whole source; `blocks` are the token ranges of its top-level pieces."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.blocks: list[tuple[int, int]] = []
        self.errors: list[RuleError] = []
        self.definitions: dict[str, Callable[[int, tuple[Annotation, ...]], Statement]] = {
            "stream": self.stream_definition,
            "table": self.table_definition,
            "window": self.window_definition,
            "trigger": self.trigger_definition,
            "aggregation": self.aggregation_definition,
            "parameter": self.parameter_definition,
            "position": self.position_definition,
            "function": self.function_definition,
            "engine": self.engine_definition,
            "event": self.event_definition,
            "complex": self.complex_definition,
            "signal": self.signal_definition,
        }

    def script(self) -> Script:
        """The tree of the whole text; raises every error found."""
        annotations: list[Annotation] = []
        statements: list[Statement] = []
        while self.token.kind is not TokenKind.END:
            begin = self.index
            try:
                self._piece(annotations, statements)
            except RuleError as error:
                self.errors.append(error)
                self._recover(begin)
        raise_all(self.errors)
        span = Span(0, len(self.source.text))
        return Script(tuple(annotations), tuple(statements), span=span)

    def _piece(self, annotations: list[Annotation], statements: list[Statement]) -> None:
        """One statement with its `;`, or one annotation of the whole file."""
        begin = self.index
        if self.take(";"):
            return
        if self.at("@") and self.peek().keyword == "app":
            annotation = self.annotation()
            self.check_annotations((annotation,), "app")
            annotations.append(annotation)
            self.blocks.append((begin, self.index))
            return
        statements.append(self._statement())
        self.blocks.append((begin, self.index))
        if self.token.kind is not TokenKind.END:
            self.expect(";", hint="every statement ends with `;`")

    def _recover(self, begin: int) -> None:
        """Go on after the next `;`, so that later statements are checked too."""
        self.nesting = 0
        if self.index > begin and _is_end(self.tokens[self.index - 1]):
            return
        self.index, stopped = begin, self.index
        partitions = 0
        while self.token.kind is not TokenKind.END:
            opened = self.index == begin and self.at_word("partition")
            partitions += opened or self.at_word("partition", "with")
            partitions -= self.at_word("end") and partitions > 0
            if _is_end(self.advance()) and self.index > stopped and not partitions:
                return

    def _statement(self) -> Statement:
        annotations = self.annotations()
        if self.at_word("from"):
            return self.query(annotations)
        if self.at_word("partition"):
            return self.partition(annotations)
        if self.at_word("define"):
            return self._definition(annotations)
        raise self._unknown_statement()

    def _unknown_statement(self) -> RuleError:
        token = self.token
        if token.keyword in ("select", "update", "delete", "insert"):
            message = f"a statement cannot start with `{token.keyword}`"
            return self.error(token.span, message, "a query starts with `from STREAM`")
        if token.keyword in self.definitions or token.keyword == "create":
            word = self.peek().keyword if token.keyword == "create" else token.keyword
            known = word if word in self.definitions else "stream"
            hint = f"a definition starts with `define {known}`"
            return self.unexpected("`define`, `from` or `partition`", hint)
        if token.keyword in habits.STARTS:
            return self.unexpected("`define`, `from` or `partition`", habits.STARTS[token.keyword])
        word = token.text if token.kind in NAMES else ""
        return self.unexpected("`define`, `from` or `partition`", _starter_hint(word))

    def _definition(self, annotations: tuple[Annotation, ...]) -> Statement:
        role = Role.LINE if annotations else Role.KEYWORD
        start = self.advance(role).span.start
        word = self.token.keyword
        if word not in self.definitions:
            built = [name for name in self.definitions if name != "function"]
            known = "one of " + ", ".join(f"`{name}`" for name in built)
            near = suggestion(word, built) if word else ""
            raise self.unexpected(known, near if near.startswith("did") else "")
        self.check_annotations(annotations, word)
        self.advance(Role.KEYWORD)
        return self.definitions[word](start, annotations)


def parse(text: str, file: str = "<rules>") -> Script:
    """The syntax tree of a rule text; raises RuleError (RuleErrors for several)."""
    return Parser(Source(text, file)).script()


def parse_on_demand(text: str, file: str = "<query>") -> OnDemandQuery:
    """The syntax tree of an on-demand query; raises RuleError."""
    return Parser(Source(text, file)).on_demand()


def parse_expression(text: str, file: str = "<expression>") -> Expression:
    """The syntax tree of one expression, as given to expression windows; raises RuleError."""
    parser = Parser(Source(text, file))
    expression = parser.expression()
    parser.expect_end("the end of the expression")
    return expression


def parse_duration_ms(text: str, file: str = "<time>") -> int:
    """Milliseconds of a time such as `1 min 30 sec`, as annotations give it; raises RuleError."""
    parser = Parser(Source(text, file))
    duration = parser.expect_duration("a time")
    parser.expect_end("the end of the time")
    return duration.ms


def _is_end(token: Token) -> bool:
    return token.kind is TokenKind.SYMBOL and token.text == ";"


def _starter_hint(word: str) -> str:
    hint = suggestion(word, ("define", "from", "partition")) if word else ""
    return (
        hint
        if hint.startswith("did")
        else "a statement starts with `define`, `from` or `partition`"
    )
