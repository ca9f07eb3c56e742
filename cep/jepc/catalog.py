"""What is registered: streams and queries, and the plan they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cep.jepc.errors import QueryError, is_a
from cep.jepc.lowering import Lowered, lower
from cep.jepc.queries import Node as QueryNode
from cep.jepc.queries import Query, Stream, check_parts
from cep.plan.nodes import Origin, Plan, usual_key
from cep.plan.nodes import Stream as PlanStream
from cep.plan.rewrite import rewrite
from cep.plan.types import Attribute, Schema, Type

DECLARED = tuple(type_ for type_ in Type if type_ not in (Type.LIST, Type.OBJECT))


class Catalog:
    """Streams and queries by name, which they share: the output of a query is a stream."""

    def __init__(self) -> None:
        self._sources: dict[str, Schema] = {}
        self._queries: dict[str, tuple[Query, Lowered]] = {}

    @property
    def sources(self) -> Mapping[str, Schema]:
        """The registered streams."""
        return self._sources

    @property
    def queries(self) -> tuple[str, ...]:
        """The names of the queries, in the order they were made."""
        return tuple(self._queries)

    def register(self, name: str, schema: Mapping[str, str]) -> None:
        """A new stream; QueryError for a name that is taken or a type that is none."""
        self._need_free(name)
        if not is_a(schema, Mapping):
            kind = type(schema).__name__
            raise QueryError(f"stream {name}: a schema of type {kind}; give types by attribute")
        if not schema:
            raise QueryError(f"stream {name}: give at least one attribute")
        self._sources[name] = Schema(
            tuple(
                Attribute(attribute, _type(name, attribute, schema[attribute]))
                for attribute in schema
            )
        )

    def create(self, name: str, query: Query) -> None:
        """A new query; QueryError or RuleError when it is wrong, and then nothing is changed."""
        self._need_free(name)
        check_parts(name, query)
        self._queries[name] = query, lower(name, query, self._streams())

    def remove_stream(self, name: str) -> None:
        """Forget a stream that no query reads."""
        if not is_a(name, str) or name not in self._sources:
            raise QueryError(f"there is no stream {name!r}; known: {_listed(self._sources)}")
        self._need_unread(name)
        del self._sources[name]

    def remove_query(self, name: str) -> None:
        """Forget a query whose output no other reads."""
        if not is_a(name, str) or name not in self._queries:
            raise QueryError(f"there is no query {name!r}; known: {_listed(self._queries)}")
        self._need_unread(name)
        del self._queries[name]

    def plan(self) -> Plan:
        """All queries as one plan. Inner streams are called `query.number`."""
        made = [operator for _, one in self._queries.values() for operator in one.queries]
        sources = [
            PlanStream(name, schema, Origin.SOURCE, key=usual_key(schema))
            for name, schema in self._sources.items()
        ]
        derived = [PlanStream(query.name, query.schema, Origin.QUERY) for query in made]
        return rewrite(Plan("jepc", (*sources, *derived), tuple(made)))

    def _streams(self) -> dict[str, Schema]:
        return self._sources | {name: made.schema for name, (_, made) in self._queries.items()}

    def _need_free(self, name: str) -> None:
        if not is_a(name, str) or not name.isidentifier():
            raise QueryError(f"{name!r} is no name: use letters, digits and _")
        if name in self._sources or name in self._queries:
            raise QueryError(f"the name {name!r} is taken: choose another")

    def _need_unread(self, name: str) -> None:
        readers = [other for other, (query, _) in self._queries.items() if name in read_by(query)]
        if readers:
            raise QueryError(f"{name} is read by {_listed(readers)}: remove that first")


def read_by(query: QueryNode) -> set[str]:
    """The streams that a query reads, itself or in its inputs."""
    match query:
        case Stream():
            return {query.source}
        case _:
            inputs = getattr(query, "inputs", None) or [query.input]  # type: ignore[attr-defined]
            return set().union(*map(read_by, inputs))


def _type(stream: str, attribute: str, text: str) -> Type:
    if not is_a(attribute, str):
        raise QueryError(f"stream {stream}: {attribute!r} is no name of an attribute; give a text")
    if text not in DECLARED:
        raise QueryError(
            f"stream {stream}: {attribute} has the type {text!r}; types: {', '.join(DECLARED)}"
        )
    return Type(text)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
