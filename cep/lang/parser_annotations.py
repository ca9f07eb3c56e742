"""Annotations: `@name(key = 'value', @inner(..))`."""

from __future__ import annotations

from cep.lang.annotations import check_place, refusal, unknown_key
from cep.lang.ast import Annotation
from cep.lang.parser_expressions import ExpressionParser
from cep.lang.tokens import NAMES, Role, TokenKind

EXAMPLE = "for example `@info(name='mine')`"


class AnnotationParser(ExpressionParser):
    """Reads annotations and refuses those that mean nothing here."""

    def annotation(self) -> Annotation:
        """One annotation; its name and keys come out in lower case."""
        start = self.expect("@", self.roles.get(self.index)).span.start
        name = self._dotted("an annotation", (":",))
        self._refuse(start, name)
        elements: list[tuple[str, str]] = []
        inner: list[Annotation] = []
        if self.take("(", Role.TIGHT):
            self._element(elements, inner)
            while self.take(","):
                self._element(elements, inner)
            self.expect(")", hint="commas separate the elements of an annotation")
        elif self.token.kind is TokenKind.STRING:
            raise self.unexpected("`(`", EXAMPLE)
        span = self.since(start)
        for key, _ in elements:
            if problem := unknown_key(name, key):
                raise self.error(span, *problem)
        return Annotation(name, tuple(elements), tuple(inner), span=span)

    def _refuse(self, start: int, name: str) -> None:
        refused = refusal(name)
        if refused is not None:
            raise self.error(self.since(start), *refused)

    def _element(self, elements: list[tuple[str, str]], inner: list[Annotation]) -> None:
        """`key = 'value'`, `'value'` or `@inner(..)`."""
        if self.at("@"):
            self.enter()
            inner.append(self.annotation())
            self.leave()
            return
        key = ""
        if self.token.kind in NAMES:
            key = self._dotted("a key", (".", "-", ":"))
            self._assign()
        value = self.expect_string("a value in quotes", "for example `'mine'`")
        if self.at("=") and not key:
            key = str(value.value).lower()
            self._assign()
            value = self.expect_string("a value in quotes", "for example `'mine'`")
        elements.append((key, str(value.value)))

    def _assign(self) -> None:
        self.expect("=", Role.TIGHT, hint="a value stands in quotes: `'mine'` or `name='mine'`")
        self.roles[self.index] = Role.TIGHT

    def _dotted(self, what: str, separators: tuple[str, ...]) -> str:
        name = self.expect_name(what).text
        while self.token.text in separators and self.token.kind is TokenKind.SYMBOL:
            name += self.advance(Role.TIGHT).text
            self.roles[self.index] = Role.TIGHT
            name += self.expect_name(what).text
        return name.lower()

    def check_annotations(self, annotations: tuple[Annotation, ...], place: str) -> None:
        """Refuse an annotation that does not belong to `place` (stream, query, partition, ..)."""
        for annotation in annotations:
            problem = check_place(annotation.name, place)
            if problem is not None:
                raise self.error(annotation.span, *problem)
