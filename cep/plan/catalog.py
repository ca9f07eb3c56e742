"""Events and complex events by name and number, and the engine each lives in.

Names may be used before their definition, so all of this is settled before statements are built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from cep.lang import ast
from cep.lang.errors import listing, suggestion
from cep.plan.engines import build_engines
from cep.plan.kinds import unknown
from cep.plan.nodes import Chained, Engine
from cep.plan.problems import Problems, Skip

NUMBER_MAX = 999_999

Definition = ast.EventDefinition | ast.ComplexDefinition


@dataclass
class Catalog:
    """What a rule file defines for its engines.

    `engine_of` maps events and complex events to the name of their engine, None where that is in
    error; `numbers` maps both to their number; `chained` holds the numbers of upstream complex
    events by (complex, engine).
    """

    problems: Problems
    engines: dict[str, Engine]
    events: dict[str, ast.EventDefinition] = field(default_factory=dict)
    complexes: dict[str, ast.ComplexDefinition] = field(default_factory=dict)
    engine_of: dict[str, str | None] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)
    chained: tuple[Chained, ...] = ()

    @property
    def definitions(self) -> list[Definition]:
        return [*self.events.values(), *self.complexes.values()]

    def engine(self, name: str) -> Engine:
        """The engine of an event or complex event; skips where that is in error."""
        engine = self.engine_of.get(name)
        if engine is None:
            raise Skip
        return self.engines[engine]

    def key_attribute(self, name: str) -> str | None:
        """The attribute of `for each` of an event or complex event."""
        node: Definition = self.events[name] if name in self.events else self.complexes[name]
        return node.header.key.text if node.header.key else None

    def name_of(self, event: ast.PatternEvent, engine: str) -> str | None:
        """The definition a pattern names, by name or by number in that engine."""
        if isinstance(event.name, ast.Name):
            known = event.name.text in self.events or event.name.text in self.complexes
            return event.name.text if known else None
        number = int(event.name.value)
        chained = (c.complex for c in self.chained if c.number == number and c.engine == engine)
        return self.by_number.get(number) or next(chained, None)


def build_catalog(problems: Problems, script: ast.Script) -> Catalog:
    """Collect, number and place all events of a script; errors go to `problems`."""
    catalog = Catalog(problems, build_engines(problems, script))
    for node in script.statements:
        # a name given twice is reported where the second one becomes a stream
        if isinstance(node, ast.EventDefinition):
            catalog.events.setdefault(node.header.name.text, node)
        elif isinstance(node, ast.ComplexDefinition):
            catalog.complexes.setdefault(node.header.name.text, node)
    _number(catalog)
    for event in catalog.events.values():
        _place(catalog, event, list(catalog.engines))
    for complex_ in catalog.complexes.values():
        _place(catalog, complex_, _engines_of_events(catalog, complex_))
    _chain(catalog)
    return catalog


def _number(catalog: Catalog) -> None:
    """Explicit numbers first, then the smallest free ones: events, then complex events."""
    for node in catalog.definitions:
        if node.header.number is not None:
            _take_explicit(catalog, node.header, node.header.number)
    free = _free_numbers(catalog)
    for node in catalog.definitions:
        name = node.header.name.text
        if name not in catalog.numbers:
            catalog.numbers[name] = number = next(free)
            catalog.by_number[number] = name


def _take_explicit(catalog: Catalog, header: ast.Header, literal: ast.Literal) -> None:
    number, name = int(literal.value), header.name.text
    problems = catalog.problems
    if not 1 <= number <= NUMBER_MAX:
        message = f"number {number} is not within 1..{NUMBER_MAX}"
        problems.report(literal.span, message, "leave it out, and one is given")
    elif number in catalog.by_number:
        other = catalog.by_number[number]
        node: Definition = catalog.events.get(other) or catalog.complexes[other]
        message = f"number {number} is taken by `{other}` (line {problems.line(node.span)})"
        problems.report(literal.span, message, "numbers are unique over all definitions")
    else:
        catalog.numbers[name] = number
        catalog.by_number[number] = name


def _free_numbers(catalog: Catalog) -> Iterator[int]:
    return (number for number in count(1) if number not in catalog.by_number)


def _place(catalog: Catalog, node: Definition, candidates: list[str]) -> None:
    """Note the engine a definition lives in."""
    header = node.header
    name, problems = header.name, catalog.problems
    catalog.engine_of[name.text] = None
    if header.engine is not None and header.engine.text not in catalog.engines:
        hint = suggestion(header.engine.text, catalog.engines)
        problems.add(unknown(problems, header.engine, "engine", hint))
    elif header.engine is not None:
        catalog.engine_of[name.text] = header.engine.text
    elif len(candidates) == 1:
        catalog.engine_of[name.text] = candidates[0]
    else:
        hint = f"write `in ENGINE` after the name: {listing(list(catalog.engines))}"
        problems.report(name.span, f"`{name.text}` does not say in which engine it lives", hint)


def _engines_of_events(catalog: Catalog, node: ast.ComplexDefinition) -> list[str]:
    """The engines a complex event may live in, judged by its simple events."""
    if len(catalog.engines) == 1:
        return list(catalog.engines)
    names = {catalog.name_of(event, "") for event in pattern_events(node.pattern)}
    placed = {catalog.engine_of.get(name) for name in names if name in catalog.events}
    return [engine for engine in catalog.engines if engine in placed]


def _chain(catalog: Catalog) -> None:
    free = _free_numbers(catalog)
    catalog.chained = tuple(
        Chained(complex_, next(free), engine.name, engine.repeat)
        for engine in catalog.engines.values()
        for complex_ in catalog.complexes
        if catalog.engine_of[complex_] in engine.upstream
    )


def pattern_events(pattern: ast.Pattern) -> list[ast.PatternEvent]:
    """The events of a pattern, left to right, without those of `[not ..]`."""
    if isinstance(pattern, ast.PatternEvent):
        return [pattern]
    return pattern_events(pattern.left) + pattern_events(pattern.right)


def mentioned(node: ast.ComplexDefinition) -> list[ast.PatternEvent]:
    """Every event a complex event names, also the forbidden ones, in the order of the text."""
    found = [*_with_absent(node.pattern), *node.forbid]
    return sorted(found, key=lambda event: event.span.start)


def _with_absent(pattern: ast.Pattern) -> list[ast.PatternEvent]:
    if isinstance(pattern, ast.PatternEvent):
        return [pattern]
    absent = pattern.absent if isinstance(pattern, ast.FollowedBy) else ()
    return [*_with_absent(pattern.left), *absent, *_with_absent(pattern.right)]
