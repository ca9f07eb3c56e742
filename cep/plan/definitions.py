"""Definitions of streams, tables, named windows and triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cep.lang import ast
from cep.lang.errors import listing
from cep.plan import notes
from cep.plan.check import Checker
from cep.plan.cron import why_no_cron
from cep.plan.envelope import need_own_names
from cep.plan.nodes import NamedWindow, Origin, Reorder, Stream, Table, Trigger, usual_key
from cep.plan.outputs import KINDS
from cep.plan.problems import Problems
from cep.plan.scope import one_row
from cep.plan.streams import ERROR_ATTRIBUTE, FAULT, Streams
from cep.plan.types import Attribute, Schema, Type
from cep.plan.window_builder import build_window

TRIGGER_SCHEMA = Schema.of(triggered_time=Type.LONG)


class DefinitionBuilder:
    """Takes in definitions, which are without effect but for what they define."""

    def __init__(self, problems: Problems, streams: Streams) -> None:
        self.problems = problems
        self.streams = streams
        self.triggers: list[Trigger] = []

    def schema(self, attributes: tuple[ast.AttributeDefinition, ...]) -> Schema:
        """The attributes of a definition; each name once."""
        names = [attribute.name.text for attribute in attributes]
        for position, attribute in enumerate(attributes):
            if attribute.name.text in names[:position]:
                message = f"attribute `{attribute.name.text}` is there twice"
                self.problems.report(attribute.span, message, "rename one of them")
        return Schema(tuple(Attribute(one.name.text, Type(one.type)) for one in attributes))

    def stream(self, node: ast.StreamDefinition) -> None:
        """A stream, its fault stream, and the stream of rows that come too late."""
        name, schema = node.name.text, self.schema(node.attributes)
        on_error = self._on_error(node)
        reorder = self._reorder(node)
        key = self._key(node, schema)
        stream = Stream(name, schema, Origin.SOURCE, on_error, reorder, key)
        self.streams.declare(node.name, stream)
        if on_error == "stream":
            need_own_names(self.problems, node.span, schema.names)
            fault = Schema((*schema.attributes, Attribute(ERROR_ATTRIBUTE, Type.OBJECT)))
            self.streams.add(Stream(FAULT + name, fault, Origin.FAULT))
        if reorder is not None and reorder.late_stream is not None:
            late = ast.Name(reorder.late_stream, span=node.span)
            self.streams.insert(late, "", schema)

    def _on_error(self, node: ast.StreamDefinition) -> Literal["log", "stream"]:
        note = notes.find(node.annotations, "onerror")
        if note is None:
            return "log"
        value = (note.value("action") or "log").lower()
        if value not in ("log", "stream"):
            hint = "write `@OnError(action='STREAM')` or `'LOG'`; a store reads the fault stream"
            raise self.problems.error(note.span, f"unknown action '{value}'", hint)
        return "stream" if value == "stream" else "log"

    def _key(self, node: ast.StreamDefinition, schema: Schema) -> str | None:
        """The attribute that `@key` names, else `symbol` where it is text, else none."""
        note = notes.find(node.annotations, "key")
        if note is None:
            return usual_key(schema)
        texts = [one.name for one in schema.attributes if one.type is Type.STRING]
        named = [value for _, value in note.elements]
        hint = f"write `@key('{texts[0]}')`" if texts else "a stream without text has no key"
        if len(named) != 1:
            raise self.problems.error(note.span, "`@key` names one attribute", hint)
        if named[0] not in schema.names:
            message = f"stream `{node.name.text}` has no attribute `{named[0]}`"
            raise self.problems.error(note.span, message, f"it has {listing(schema.names)}")
        if named[0] not in texts:
            message = f"`{named[0]}` is no text, which a key must be"
            raise self.problems.error(note.span, message, hint)
        return named[0]

    def _reorder(self, node: ast.StreamDefinition) -> Reorder | None:
        note = notes.find(node.annotations, "reorder")
        if note is None:
            return None
        delay = notes.keyed(note, "max.delay")
        if delay is None:
            hint = "write `@reorder(max.delay='2 sec', late.stream='LateTicks')`"
            raise self.problems.error(note.span, "`@reorder` needs `max.delay`", hint)
        delay_ms = notes.duration(self.problems, note, "max.delay", delay)
        return Reorder(delay_ms, notes.keyed(note, "late.stream"))

    def table(self, node: ast.TableDefinition) -> None:
        """A table with its key and indexes."""
        schema = self.schema(node.attributes)
        key = self._primary_key(node, schema)
        indexes = self._indexes(node, schema)
        self.streams.declare(node.name, Table(node.name.text, schema, key, indexes))

    def _primary_key(self, node: ast.TableDefinition, schema: Schema) -> tuple[int, ...]:
        """Positions of the attributes of the one `@PrimaryKey`."""
        written = [note for note in node.annotations if note.name == "primarykey"]
        if not written:
            return ()
        example = schema.names[:2]
        if len(written) > 1:
            hint = f"a key of several attributes is one: `@PrimaryKey({_quoted(example)})`"
            raise self.problems.error(written[1].span, "`@PrimaryKey` is written twice", hint)
        (note,) = written
        if not note.elements:
            hint = f"write `@PrimaryKey({_quoted(example[:1])})`"
            raise self.problems.error(note.span, "`@PrimaryKey` names no attribute", hint)
        return tuple(dict.fromkeys(self._attributes(node, note, schema)))

    def _indexes(self, node: ast.TableDefinition, schema: Schema) -> tuple[int, ...]:
        """Positions of the attributes of the `@Index`es, each of which names one."""
        found: list[int] = []
        for note in node.annotations:
            if note.name != "index":
                continue
            if len(note.elements) != 1:
                names = [value for _, value in note.elements] or schema.names[:1]
                hint = " ".join(f"@Index({_quoted([name])})" for name in names)
                message = f"`@Index` names one attribute, this one {len(note.elements)}"
                raise self.problems.error(note.span, message, f"write `{hint}`")
            (position,) = self._attributes(node, note, schema)
            if position in found:
                message = f"`{schema.names[position]}` has an index already"
                raise self.problems.error(note.span, message, "leave this one out")
            found.append(position)
        return tuple(found)

    def _attributes(
        self, node: ast.TableDefinition, note: ast.Annotation, schema: Schema
    ) -> list[int]:
        """Positions of the attributes that an annotation lists."""
        found: list[int] = []
        for name in (value.strip() for _, value in note.elements):
            if name not in schema.names:
                message = f"table `{node.name.text}` has no attribute `{name}`"
                hint = f"it has {listing(schema.names)}"
                raise self.problems.error(note.span, message, hint)
            found.append(schema.position(name))
        return found

    def window(self, node: ast.WindowDefinition) -> None:
        """A named window."""
        schema = self.schema(node.attributes)
        checker = Checker(one_row(self.problems, node.name.text, schema))
        window = build_window(self.problems, node.window, checker, schema)
        named = NamedWindow(node.name.text, schema, window, KINDS[node.output])
        self.streams.declare(node.name, named)

    def trigger(self, node: ast.TriggerDefinition) -> None:
        """A trigger and its stream."""
        name = node.name.text
        every_ms = node.every.ms if node.every is not None else None
        cron = str(node.at.value) if node.at is not None else None
        if every_ms == 0:
            hint = "for example `at every 5 sec`"
            raise self.problems.error(node.span, "a trigger needs a time of more than 0", hint)
        self.streams.declare_stream(node.name, TRIGGER_SCHEMA, Origin.TRIGGER)
        at_start = cron is not None and cron.lower() == "start"
        if cron is not None and not at_start:
            assert node.at is not None
            misfit = why_no_cron(cron)
            if misfit is not None:
                raise self.problems.error(node.at.span, misfit.message, misfit.hint)
        self.triggers.append(Trigger(name, every_ms, None if at_start else cron))


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
