"""The streams known so far while a rule file is read from top to bottom."""

from __future__ import annotations

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan.nodes import Origin, Stream
from cep.plan.problems import Problems, Skip
from cep.plan.types import Attribute, Schema, Type


class Streams:
    """Streams by name; a broken one is known by name only, so that it is reported once."""

    def __init__(self, problems: Problems, script: ast.Script) -> None:
        self.problems = problems
        self._known: dict[str, Stream | None] = {}
        self._produced = _produced(script)

    @property
    def all(self) -> tuple[Stream, ...]:
        return tuple(stream for stream in self._known.values() if stream is not None)

    def find(self, name: ast.Name) -> Stream:
        """The stream to read; it must stand above."""
        if name.text not in self._known:
            raise self._unknown(name)
        stream = self._known[name.text]
        if stream is None:
            raise Skip
        return stream

    def _unknown(self, name: ast.Name) -> Exception:
        later = self._produced.get(name.text)
        if later is not None:
            line = self.problems.line(later.span)
            message = f"stream `{name.text}` is used before it exists"
            hint = f"move what makes it (line {line}) above this statement"
            return self.problems.error(name.span, message, hint)
        hint = suggestion(name.text, self._known) or "define it with `define stream`"
        return self.problems.error(name.span, f"unknown stream `{name.text}`", hint)

    def define(self, statement: ast.StreamDefinition) -> None:
        """Take in a `define stream`; without effect but for the stream itself."""
        names = [attribute.name.text for attribute in statement.attributes]
        for position, attribute in enumerate(statement.attributes):
            if attribute.name.text in names[:position]:
                message = f"attribute `{attribute.name.text}` is there twice"
                self.problems.report(attribute.span, message, "rename one of them")
        attributes = tuple(Attribute(a.name.text, Type(a.type)) for a in statement.attributes)
        self.declare(statement.name, Schema(attributes), Origin.SOURCE)

    def declare(self, name: ast.Name, schema: Schema, origin: Origin) -> None:
        """A new stream; its name must be free."""
        if name.text in self._known:
            first = self._produced[name.text].span
            message = f"`{name.text}` exists already (line {self.problems.line(first)})"
            raise self.problems.error(name.span, message, "choose another name")
        self._known[name.text] = Stream(name.text, schema, origin)

    def broken(self, name: ast.Name) -> None:
        """What should have made this stream is in error."""
        self._known.setdefault(name.text, None)

    def insert(self, name: ast.Name, schema: Schema) -> None:
        """A query puts rows on a stream: a new one, or one of the same attributes."""
        if name.text not in self._known:
            self.declare(name, schema, Origin.QUERY)
            return
        stream = self._known[name.text]
        if stream is None:
            raise Skip
        if stream.origin not in (Origin.SOURCE, Origin.QUERY):
            message = f"`{name.text}` is filled by its own statement ({stream.origin})"
            raise self.problems.error(name.span, message, "insert into another stream")
        if stream.schema != schema:
            message = f"these rows do not fit stream `{name.text}`"
            hint = f"it has ({_shown(stream.schema)}), selected is ({_shown(schema)})"
            raise self.problems.error(name.span, message, hint)


def _shown(schema: Schema) -> str:
    return ", ".join(f"{attribute.name} {attribute.type}" for attribute in schema.attributes)


def _produced(script: ast.Script) -> dict[str, ast.Name]:
    """Where each stream first comes into being."""
    produced: dict[str, ast.Name] = {}
    for statement in script.statements:
        name = stream_name(statement)
        if name is not None:
            produced.setdefault(name.text, name)
    return produced


def stream_name(statement: ast.Statement) -> ast.Name | None:
    """The stream a statement makes or fills; engines make none."""
    match statement:
        case ast.Query():
            return statement.target
        case ast.EventDefinition() | ast.ComplexDefinition():
            return statement.header.name
        case ast.StreamDefinition() | ast.SignalDefinition():
            return statement.name
        case _:
            return None
