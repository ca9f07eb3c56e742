"""Event processing as the article defines it, naive: every event ever seen is looked at again.

Takes the same query objects as the interface. Conditions are Python functions here, given beside
the queries, so that nothing of the language is shared with what is tested.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from cep.jepc.queries import (
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    Input,
    PatternMatcher,
    Stream,
    TimeWindow,
    Window,
)

Values = dict[str, Any]
Test = Callable[..., Any]
Tests = Mapping[str, Test]
"""What the text of a condition means: a function of the row (or rows, or row and variables)."""


@dataclass(eq=False)
class Seen:
    """An event and how long it lives."""

    time: int
    values: Values
    lives: Callable[[int], bool]


@dataclass
class Held:
    """The events of one window."""

    window: Window | None
    events: list[Seen] = field(default_factory=list)
    counts: Counter[Any] = field(default_factory=Counter)

    def enter(self, time: int, values: Values, lives: Callable[[int], bool]) -> Seen | None:
        """Put an event into the window, or (None) find that it never is in it."""
        if self.window is not None:
            found = self._life(time, values)
            if found is None:
                return None
            lives = found
        self.events.append(Seen(time, values, lives))
        return self.events[-1]

    def _life(self, time: int, values: Values) -> Callable[[int], bool] | None:
        match self.window:
            case TimeWindow(size, jump):
                end = (time + size) // jump * jump
                return (lambda now: now < end) if end > time // jump * jump else None
            case CountWindow(size, jump, by):
                key = tuple(values[name] for name in by)
                number = self.counts[key]
                self.counts[key] += 1
                end = (number + size) // jump * jump
                newest = self.counts
                return (lambda now: newest[key] - 1 < end) if end > number // jump * jump else None
        raise AssertionError

    def live(self, now: int) -> list[Seen]:
        return [event for event in self.events if event.lives(now)]


class Naive:
    """One operator with all that was ever put into it."""

    def __init__(self, node: Input, tests: Tests, is_input: bool = False) -> None:
        self.node = node
        self.tests = tests
        inputs = node.inputs if isinstance(node, Correlator) else [getattr(node, "input", None)]
        self.inputs = [Naive(one, tests, True) for one in inputs if one is not None]
        self.held = Held((node.span or _derived(node)) if is_input else None)
        self.past: list[tuple[int, Values]] = []

    @property
    def name(self) -> str:
        if self.node.name:
            return self.node.name
        return self.node.source if isinstance(self.node, Stream) else self.inputs[0].name

    def push(self, stream: str, time: int, values: Values) -> list[Seen]:
        """The new results, in the window of this operator."""
        made = self._made(stream, time, values)
        entered = (self.held.enter(time, one, lives) for one, lives in made)
        return [event for event in entered if event is not None]

    def _made(
        self, stream: str, time: int, values: Values
    ) -> Iterator[tuple[Values, Callable[[int], bool]]]:
        match self.node:
            case Stream(source=source):
                if source == stream:
                    yield values, _always
            case Filter(condition=condition):
                for event in self.inputs[0].push(stream, time, values):
                    if self.tests[str(condition)](event.values):
                        yield event.values, event.lives
            case Aggregator():
                for event in self.inputs[0].push(stream, time, values):
                    yield self._aggregate(event, time), _always
            case Correlator():
                yield from self._combinations(stream, time, values)
            case PatternMatcher():
                for event in self.inputs[0].push(stream, time, values):
                    self.past.append((time, event.values))
                    for variables in matches(self.node, self.past, self.tests):
                        yield {name: variables.get(name) for name in self.node.output}, _always

    def _aggregate(self, event: Seen, now: int) -> Values:
        node = self.node
        assert isinstance(node, Aggregator)
        group = [event.values[name] for name in node.group_by]
        newest = self.inputs[0].held.events.index(event)
        rows = [
            seen.values
            for seen in self.inputs[0].held.events[: newest + 1]
            if seen.lives(now) and [seen.values[name] for name in node.group_by] == group
        ]
        result = dict(zip(node.group_by, group, strict=True))
        for name, aggregate in node.aggregates.items():
            result[name] = _aggregated(aggregate.function, [_of(aggregate.of, row) for row in rows])
        return result

    def _combinations(
        self, stream: str, time: int, values: Values
    ) -> Iterator[tuple[Values, Callable[[int], bool]]]:
        node = self.node
        assert isinstance(node, Correlator)
        names = [one.name for one in self.inputs]
        for place, arriving in enumerate(self.inputs):
            for event in arriving.push(stream, time, values):
                others = [
                    [event] if at == place else one.held.live(time)
                    for at, one in enumerate(self.inputs)
                ]
                for events in product(*others):
                    rows = [one.values for one in events]
                    if node.condition is None or self.tests[str(node.condition)](*rows):
                        yield _merged(names, rows), _all_alive(events)


def matches(node: PatternMatcher, past: Sequence[tuple[int, Values]], tests: Tests) -> list[Values]:
    """The variables of every match whose last event is the newest one."""
    letters = {name: chr(ord("a") + number) for number, name in enumerate(node.symbols)}
    pattern = re.compile(_as_regex(node.pattern, letters))
    instants: list[int] = sorted({time for time, _ in past})
    newest = past[-1]

    def emitted(values: Values, variables: Values) -> list[tuple[str, Values]]:
        found = []
        for name, symbol in node.symbols.items():
            if tests[str(symbol.condition)](values, variables):
                after = dict(variables)
                for variable, value in symbol.sets.items():
                    after[variable] = tests[str(value)](values, after)
                found.append((letters[name], after))
        return found

    def following(instant: int, word: str, variables: Values) -> Iterator[tuple[str, Values]]:
        """Ways that go on behind an instant, up to the newest event."""
        for time in instants[instants.index(instant) + 1 :]:
            events = [values for at, values in past if at == time]
            yield from taken(time, events, word, variables)
            is_silent = not any(emitted(values, variables) for values in events)
            if node.gaps == "none" or not is_silent:
                return

    def taken(
        time: int, events: list[Values], word: str, variables: Values
    ) -> Iterator[tuple[str, Values]]:
        for values in events:
            for letter, after in emitted(values, variables):
                if time == newest[0] and values is newest[1]:
                    yield word + letter, after
                elif time < newest[0]:
                    yield from following(time, word + letter, after)

    found = []
    for start in instants:
        if newest[0] - start < node.within_ms:
            events = [values for at, values in past if at == start]
            for word, variables in taken(start, events, "", {}):
                if pattern.fullmatch(word):
                    found.append(variables)
    return found


def _as_regex(pattern: str, letters: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda name: letters[name[0]], pattern).replace(" ", "")


def _derived(node: Input) -> Window | None:
    """The window of results that have none of their own."""
    match node:
        case Aggregator():
            inner = node.input
            while inner.span is None and isinstance(inner, Filter):
                inner = inner.input
            return inner.span
        case PatternMatcher():
            return TimeWindow(node.within_ms)
        case _:
            return None


def _merged(names: Sequence[str], rows: Sequence[Values]) -> Values:
    known = [name for row in rows for name in row]
    return {
        (key if known.count(key) == 1 else f"{name}_{key}"): value
        for name, row in zip(names, rows, strict=True)
        for key, value in row.items()
    }


def _all_alive(events: Sequence[Seen]) -> Callable[[int], bool]:
    return lambda now: all(event.lives(now) for event in events)


def _always(now: int) -> bool:
    return True


def _of(of: tuple[Any, ...], row: Values) -> Any:
    return row[str(of[0])] if of else 1


def _aggregated(function: str, values: list[Any]) -> Any:
    match function:
        case "count":
            return len(values)
        case "sum":
            return sum(values)
        case "avg":
            return float(Fraction(sum(values), len(values)))
        case "min":
            return min(values)
        case "max":
            return max(values)
    raise AssertionError(function)
