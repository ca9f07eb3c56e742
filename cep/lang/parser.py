"""A whole rule file: statements, annotations, and recovery after an error."""

from __future__ import annotations

from cep.lang.ast import Annotation, Script, Statement
from cep.lang.errors import RuleError, Source, Span, raise_all, suggestion
from cep.lang.parser_events import EventParser
from cep.lang.tokens import NAMES, Kind, Role, Token
from cep.lang.unsupported import ANNOTATIONS, DEFINITIONS, STATEMENTS, annotation_hint

BUILT = ("stream", "engine", "event", "complex", "signal")


class Parser(EventParser):
    """Parses a whole source; `blocks` are the token ranges of its top-level pieces."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.blocks: list[tuple[int, int]] = []
        self.errors: list[RuleError] = []

    def script(self) -> Script:
        """The tree of the whole text; raises every error found."""
        annotations: list[Annotation] = []
        statements: list[Statement] = []
        while self.token.kind is not Kind.END:
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
            annotations.append(self._annotation())
            self.blocks.append((begin, self.index))
            return
        statements.append(self._statement())
        self.blocks.append((begin, self.index))
        if self.token.kind is not Kind.END:
            self.expect(";", hint="every statement ends with `;`")

    def _recover(self, begin: int) -> None:
        """Go on after the next `;`, so that later statements are checked too."""
        self.nesting = 0
        if self.index > begin and _is_end(self.tokens[self.index - 1]):
            return
        in_partition = False
        while self.token.kind is not Kind.END:
            in_partition = in_partition or self.at_word("partition", "with")
            in_partition = in_partition and not self.at_word("end")
            if _is_end(self.advance()) and not in_partition:
                return

    def _statement(self) -> Statement:
        annotations = []
        while self.at("@"):
            annotations.append(self._annotation())
            self.roles[self.index] = Role.LINE
        token = self.token
        if self.at_word("from"):
            return self.query(tuple(annotations))
        if self.at_word("define"):
            if annotations:
                message = f"`@{annotations[0].name}` belongs to a query"
                raise self.error(annotations[0].span, message, "remove it")
            return self._definition()
        if token.keyword in STATEMENTS:
            raise self.unsupported(token.span, token.keyword, STATEMENTS[token.keyword])
        raise self.unexpected(
            "`define` or `from`", _starter_hint(token.text if token.kind in NAMES else "")
        )

    def _definition(self) -> Statement:
        start = self.advance(Role.KEYWORD).span.start
        token = self.token
        if token.keyword in DEFINITIONS:
            hint = DEFINITIONS[token.keyword]
            raise self.unsupported(token.span, f"define {token.keyword}", hint)
        if token.keyword not in BUILT:
            known = "one of " + ", ".join(f"`{word}`" for word in BUILT)
            raise self.unexpected(known, suggestion(token.text, BUILT) if token.text else "")
        self.advance(Role.KEYWORD)
        match token.keyword:
            case "stream":
                return self.stream_definition(start)
            case "engine":
                return self.engine_definition(start)
            case "event":
                return self.event_definition(start)
            case "complex":
                return self.complex_definition(start)
            case _:
                return self.signal_definition(start)

    def _annotation(self) -> Annotation:
        """`@app:name('x')` or `@info(name='q')`."""
        start = self.expect("@", self.roles.get(self.index)).span.start
        name = self.expect_name("an annotation").text
        if self.take(":", Role.TIGHT):
            self.roles[self.index] = Role.TIGHT
            name += ":" + self.expect_name("an annotation").text
        if name.lower() not in ANNOTATIONS:
            raise self.unsupported(self.since(start), f"@{name}", annotation_hint(name))
        elements: list[tuple[str, str]] = []
        if self.take("(", Role.TIGHT):
            elements.append(self._element())
            while self.take(","):
                elements.append(self._element())
            self.expect(")", hint="commas separate the elements of an annotation")
        return Annotation(name.lower(), tuple(elements), span=self.since(start))

    def _element(self) -> tuple[str, str]:
        """`key = 'value'` or `'value'`; a key may have dots."""
        key = ""
        if self.token.kind in NAMES:
            key = self.expect_name("a key").text
            while self.take("."):
                key += "." + self.expect_name("a key").text
            self.expect("=", Role.TIGHT, hint="for example `name='mine'`")
            self.roles[self.index] = Role.TIGHT
        value = self.expect_string("a value in quotes", hint="for example `'mine'`")
        return key.lower(), str(value.value)


def parse(text: str, file: str = "<rules>") -> Script:
    """The syntax tree of a rule text; raises RuleError (RuleErrors for several)."""
    return Parser(Source(text, file)).script()


def _is_end(token: Token) -> bool:
    return token.kind is Kind.SYMBOL and token.text == ";"


def _starter_hint(word: str) -> str:
    hint = suggestion(word, ("define", "from")) if word else ""
    return hint if hint.startswith("did") else "a statement starts with `define` or `from`"
