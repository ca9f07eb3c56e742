"""What can be read and filled, known so far while a rule file is read from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator

from cep.lang import ast
from cep.lang.errors import listing, suggestion
from cep.plan.bound_names import BoundNames
from cep.plan.envelope import need_own_names
from cep.plan.kinds import noun_of, unknown
from cep.plan.nodes import Aggregation, NamedWindow, Origin, Stream, Table
from cep.plan.problems import Problems, Skip, with_article
from cep.plan.steps import Holder
from cep.plan.types import Schema

Known = Stream | Table | NamedWindow | Aggregation
FAULT, INNER = "!", "#"
ERROR_ATTRIBUTE = "_error"


def holder_of(known: Known) -> Holder:
    """What kind of thing it is to a query."""
    match known:
        case Stream():
            return Holder.STREAM
        case Table():
            return Holder.TABLE
        case NamedWindow():
            return Holder.WINDOW
        case Aggregation():
            return Holder.AGGREGATION


class Streams:
    """Streams, tables, windows and aggregations by name.

    A broken one is known by name only, so that it is reported once. `partition` is the one being
    read; its inner streams are called `partition#stream`. `bound` are the names by which readers
    of complex events call what these keep of their events.
    """

    def __init__(self, problems: Problems, script: ast.Script) -> None:
        self.problems = problems
        self.partition: str | None = None
        self.tables: dict[str, Table] = {}
        self.bound: dict[str, BoundNames] = {}
        self._known: dict[str, Known | None] = {}
        self._produced = _produced(script)

    @property
    def all(self) -> tuple[Stream, ...]:
        return tuple(known for known in self._known.values() if isinstance(known, Stream))

    @property
    def held(self) -> tuple[str, ...]:
        """Names of what holds rows."""
        return tuple(
            name
            for name, known in self._known.items()
            if known is not None and not isinstance(known, Stream)
        )

    @property
    def windows(self) -> tuple[NamedWindow, ...]:
        return tuple(known for known in self._known.values() if isinstance(known, NamedWindow))

    @property
    def aggregations(self) -> tuple[Aggregation, ...]:
        return tuple(known for known in self._known.values() if isinstance(known, Aggregation))

    def full_name(self, name: str, marker: str) -> str:
        """The plan's name of a stream: `S`, `!S` or `partition#S`."""
        return f"{self.partition}#{name}" if marker == INNER else marker + name

    def find(self, name: ast.Name, marker: str = "", wanted: str = "") -> Known:
        """What is read under a name; it must stand above. `wanted` says what may be named here."""
        self._need_partition(name, marker)
        known = self.full_name(name.text, marker)
        if known not in self._known:
            raise self._unknown(name, marker, wanted)
        found = self._known[known]
        if found is None:
            raise Skip
        return found

    def known(self, name: str) -> Stream | None:
        """The stream of that name, if it stands above; skips where that is in error."""
        found = self._known.get(name)
        if found is None and name in self._known:
            raise Skip
        return found if isinstance(found, Stream) else None

    def find_stream(self, name: ast.Name) -> Stream:
        """The stream to read, where nothing else can be read."""
        found = self.find(name, wanted=Holder.STREAM)
        if not isinstance(found, Stream):
            message = f"`{name.text}` is {with_article(holder_of(found))}, not a stream"
            hint = "insert its rows into a stream first, with a query"
            if not isinstance(found, NamedWindow):
                named = listing(list(self._visible(Holder.STREAM)))
                hint = f"name a stream, {named}, or one that a query makes of a join with it"
            raise self.problems.error(name.span, message, hint)
        return found

    def _need_partition(self, name: ast.Name, marker: str) -> None:
        if marker == INNER and self.partition is None:
            message = f"inner stream `#{name.text}` outside a partition"
            hint = f"write `{name.text}`; inner streams live between `begin` and `end`"
            raise self.problems.error(name.span, message, hint)

    def _unknown(self, name: ast.Name, marker: str, wanted: str = "") -> Exception:
        text = marker + name.text
        noun = noun_of(self.problems, name.text)
        if marker == FAULT:
            message = f"`{name.text}` has no fault stream"
            hint = "write `@OnError(action='STREAM')` before its definition"
            if noun not in ("", "stream"):
                message, hint = f"{message}: it is {with_article(noun)}", "only streams have one"
            return self.problems.error(name.span, message, hint)
        later = self._produced.get(text)
        if later is not None:
            line = self.problems.line(later.span)
            message = f"{noun or 'stream'} `{text}` is used before it exists"
            hint = f"move what makes it (line {line}) above this statement"
            return self.problems.error(name.span, message, hint)
        noun_wanted = wanted or Holder.STREAM
        hint = suggestion(text, self._visible(wanted)) or f"define it with `define {noun_wanted}`"
        if marker == INNER:
            return self.problems.error(name.span, f"unknown stream `{text}`", hint)
        return unknown(self.problems, name, noun_wanted, hint)

    def _visible(self, wanted: str = "") -> Iterator[str]:
        """Names as they may be written here, of all kinds or of the one that is wanted."""
        for known, what in self._known.items():
            if wanted and what is not None and holder_of(what) != wanted:
                continue
            partition, marker, inner = known.partition(INNER)
            if not marker:
                yield known
            elif partition == self.partition:
                yield INNER + inner

    def declare(self, name: ast.Name, known: Known) -> None:
        """Something new; its name must be free."""
        if name.text in self._known:
            first = self._produced[name.text].span
            message = f"`{name.text}` exists already (line {self.problems.line(first)})"
            raise self.problems.error(name.span, message, "choose another name")
        self.add(known)

    def declare_stream(self, name: ast.Name, schema: Schema, origin: Origin) -> None:
        """A new stream."""
        self.declare(name, Stream(name.text, schema, origin))

    def add(self, known: Known) -> None:
        """What no text names here: a fault stream, that of a query in parentheses, a plan's."""
        self._known[known.name] = known
        if isinstance(known, Table):
            self.tables[known.name] = known

    def broken(self, name: str) -> None:
        """What should have made this is in error."""
        self._known.setdefault(name, None)

    def insert(self, name: ast.Name, marker: str, schema: Schema) -> tuple[str, Holder]:
        """A query puts rows somewhere: a new stream, or something of the same attributes."""
        self._need_partition(name, marker)
        target = self.full_name(name.text, marker)
        if marker != INNER and not isinstance(self._known.get(target), Table | NamedWindow):
            need_own_names(self.problems, name.span, schema.names)
        if target not in self._known:
            if marker == FAULT:
                raise self._unknown(name, marker)
            origin = Origin.INNER if marker == INNER else Origin.QUERY
            self._known[target] = Stream(target, schema, origin)
            return target, Holder.STREAM
        known = self._known[target]
        if known is None:
            raise Skip
        self._need_open(name, known)
        self.need_fit(name, known, schema)
        return target, holder_of(known)

    def _need_open(self, name: ast.Name, known: Known) -> None:
        own = (Origin.EVENT, Origin.COMPLEX, Origin.SIGNAL, Origin.TRIGGER)
        filled: str = known.origin if isinstance(known, Stream) and known.origin in own else ""
        if isinstance(known, Aggregation):
            filled = "aggregation"
        if filled:
            message = f"`{name.text}` is filled by its own statement ({filled})"
            raise self.problems.error(name.span, message, "insert into another stream")

    def need_fit(self, name: ast.Name, known: Known, schema: Schema) -> None:
        """Rows that go in must have the attributes that are there."""
        if known.schema != schema:
            message = f"these rows do not fit {holder_of(known)} `{name.text}`"
            hint = f"it has ({shown(known.schema)}), selected is ({shown(schema)})"
            raise self.problems.error(name.span, message, hint)


def shown(schema: Schema) -> str:
    """Attributes as in a definition."""
    return ", ".join(f"{attribute.name} {attribute.type}" for attribute in schema.attributes)


def _produced(script: ast.Script) -> dict[str, ast.Name]:
    """Where each stream first comes into being."""
    produced: dict[str, ast.Name] = {}
    for statement in script.statements:
        for name in made_by(statement):
            produced.setdefault(name.text, name)
    return produced


def made_by(statement: ast.Statement) -> list[ast.Name]:
    """What a statement makes or fills, but for inner and fault streams; engines make nothing."""
    match statement:
        case ast.Query():
            output = statement.output
            return [output.target] if isinstance(output, ast.Insert) and not output.marker else []
        case ast.Partition():
            return [name for query in statement.queries for name in made_by(query)]
        case ast.EventDefinition() | ast.ComplexDefinition():
            return [statement.header.name]
        case ast.PositionDefinition():
            return list(statement.made)
        case ast.EngineDefinition():
            return []
        case _:
            return [statement.name]
