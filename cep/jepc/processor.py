"""`EventProcessor`: the interface to event processing, whatever engine is behind it."""

from __future__ import annotations

import reprlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from cep.database.errors import ForgottenError
from cep.dropped import Dropped
from cep.engine.times import LAST_MSC, Time, msc
from cep.jepc.catalog import Catalog
from cep.jepc.errors import QueryError, is_a
from cep.jepc.provider import Event, Provider, Result, newest_after
from cep.jepc.queries import Query

OutputProcessor = Callable[[Result], None]
_TRIPLE = "(stream, values, time_msc)"
_NEEDED = ("refusals", "change", "push", "push_batches", "close")
"""What an engine must be able to do to stand behind the interface."""


class EventProcessor:
    """Streams go in, continuous queries run, output processors are called with their results.

    The seven methods of the article "Event processing on your own database" (table 1), and
    `push_events` for many events at once. Not thread-safe.
    """

    def __init__(self, provider: Provider) -> None:
        """QueryError for what is no provider."""
        can_all = all(callable(getattr(provider, name, None)) for name in _NEEDED)
        if isinstance(provider, type) or not can_all or not hasattr(provider, "dropped"):
            kind = provider if isinstance(provider, type) else type(provider)
            raise QueryError(
                f"provider: {kind.__name__} is none; give for example NativeProvider()"
            )
        self._provider = provider
        self._catalog = Catalog()
        self._processors: defaultdict[str, list[OutputProcessor]] = defaultdict(list)
        self._is_stale = True
        self._is_closed = False
        self._newest_msc = 0

    def __enter__(self) -> EventProcessor:
        self._need_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def register_stream(self, name: str, schema: Mapping[str, str]) -> None:
        """A new stream; `schema` has the types of rule files by attribute.

        QueryError for a name that is taken or a type that is none.
        """
        self._need_open()
        self._catalog.register(name, schema)
        self._is_stale = True

    def remove_stream(self, name: str) -> None:
        """Forget a stream; QueryError while a query reads it."""
        self._need_open()
        self._catalog.remove_stream(name)
        self._is_stale = True

    def create_query(self, name: str, query: Query) -> None:
        """A new continuous query; its output is a stream of that name.

        QueryError or RuleError, and nothing changed, when it is wrong or the provider cannot run
        it.
        """
        self._need_open()
        self._catalog.create(name, query)
        refused = self._provider.refusals(self._catalog.plan())
        if refused:
            self._catalog.remove_query(name)
            reasons = "; ".join(f"{operator}: {why}" for operator, why in refused.items())
            raise QueryError(f"{name} cannot run here: {reasons}")
        self._is_stale = True

    def remove_query(self, name: str) -> None:
        """Forget a query and its output processors; QueryError while another reads it."""
        self._need_open()
        self._catalog.remove_query(name)
        self._processors.pop(name, None)
        self._is_stale = True

    def add_output_processor(self, query: str, processor: OutputProcessor) -> None:
        """Call back with every result of a query from now on."""
        self._need_open()
        if query not in self._catalog.queries:
            known = ", ".join(self._catalog.queries) or "none"
            raise QueryError(f"there is no query {query!r}; known: {known}")
        if not is_a(processor, Callable):  # type: ignore[arg-type]
            kind = type(processor).__name__
            raise QueryError(f"an output processor of type {kind}; give a function")
        self._processors[query].append(processor)
        self._is_stale = True

    def remove_output_processor(self, processor: OutputProcessor) -> None:
        """Call a processor no more, whatever query it belongs to."""
        self._need_open()
        holders = [held for held in self._processors.values() if processor in held]
        if not holders:
            raise QueryError(f"{processor!r} is no output processor here")
        for held in holders:
            held.remove(processor)
        self._is_stale = True

    def push_event(
        self, stream: str, values: Mapping[str, Any] | tuple[Any, ...], time_msc: Time
    ) -> None:
        """Push one event; all output processors have been called when it returns."""
        self.push_events([(stream, values, time_msc)])

    def push_events(
        self, events: Iterable[tuple[str, Mapping[str, Any] | tuple[Any, ...], Time]]
    ) -> None:
        """Push events in the order of their times: the results are those of one by one.

        QueryError, and nothing pushed, when one does not fit its stream; EventError when one is
        older than one before it, whatever engine is behind this.
        """
        self._need_open()
        checked = [self._event(*_triple(event)) for event in _listed(events)]
        newest_msc = newest_after(checked, self._newest_msc)
        self._renew()
        self._newest_msc = newest_msc
        try:
            for results in self._provider.push_batches(checked):
                for result in results:
                    for processor in self._processors[result.query]:
                        processor(result)
        except ForgottenError:
            self._is_stale = True
            raise

    @property
    def dropped(self) -> Dropped:
        """What was dropped so far, by query and reason: `dropped.by_name()`; closed, too.

        What inner parts of a query drop is counted as the query's. Refused events are not dropped.
        """
        return Dropped(
            ((kind, name.partition(".")[0]), reason, count)
            for (kind, name), reason, count in self._provider.dropped
        )

    def close(self) -> None:
        """Let go of everything; the processor cannot be used any more, but closed again."""
        if not self._is_closed:
            self._is_closed = True
            self._provider.close()

    def _need_open(self) -> None:
        if self._is_closed:
            raise QueryError("this EventProcessor is closed; make a new one")

    def _renew(self) -> None:
        """Tell the provider what has changed since the last event."""
        if self._is_stale:
            wanted = [name for name, held in self._processors.items() if held]
            self._provider.change(self._catalog.plan(), wanted)
            self._is_stale = False

    def _event(
        self, stream: str, values: Mapping[str, Any] | tuple[Any, ...], time_msc: Time
    ) -> Event:
        schema = self._catalog.sources.get(stream) if is_a(stream, str) else None
        if schema is None:
            known = ", ".join(self._catalog.sources) or "none"
            raise QueryError(f"there is no stream {stream!r}; known: {known}")
        if isinstance(values, Mapping):
            unknown = values.keys() - set(schema.names)
            if unknown:
                raise QueryError(
                    f"{stream} has no attribute {', '.join(sorted(map(str, unknown)))}"
                )
            values = tuple(values.get(name) for name in schema.names)
        elif not is_a(values, Sequence) or is_a(values, str, bytes):
            wanted = f"a tuple of {', '.join(schema.names)}"
            raise QueryError(f"{stream}: values of type {type(values).__name__}; give {wanted}")
        if len(values) != len(schema):
            raise QueryError(f"{stream} has {len(schema)} attributes, the event {len(values)}")
        if type(time_msc) is not int or not 0 <= time_msc <= LAST_MSC:
            try:
                time_msc = msc(time_msc, stream)
            except ValueError as problem:
                raise QueryError(str(problem)) from None
        return Event(stream, time_msc, values)


def _listed(events: Any) -> Iterable[Any]:
    """Events as they were given; QueryError for what holds none."""
    if isinstance(events, str | bytes) or not isinstance(events, Iterable):
        raise QueryError(f"events of type {type(events).__name__}; give a list of {_TRIPLE}")
    return events


def _triple(event: Any) -> Any:
    """One event; QueryError for what is none."""
    if not isinstance(event, tuple | list) or len(event) != 3:
        raise QueryError(f"an event {reprlib.repr(event)}; give {_TRIPLE}")
    return event
