"""Patterns of the syntax tree to patterns of the plan: names, numbers and keys resolved."""

from __future__ import annotations

from cep.lang import ast
from cep.lang.errors import listing, suggestion
from cep.plan.catalog import Catalog
from cep.plan.kinds import unknown
from cep.plan.nodes import Both, Either, Leaf, Pattern, Ref, Sequence
from cep.plan.problems import Skip


class PatternBuilder:
    """Resolves the events named by one complex event."""

    def __init__(self, catalog: Catalog, node: ast.ComplexDefinition) -> None:
        self.catalog = catalog
        self.problems = catalog.problems
        self.name = node.header.name.text
        self.engine = catalog.engine(self.name)
        self.key = node.header.key.text if node.header.key else None

    def pattern(self, node: ast.Pattern) -> Pattern:
        """The resolved pattern; raises Skip after reporting what is wrong in it."""
        match node:
            case ast.PatternEvent():
                return Leaf(self.ref(node))
            case ast.PatternAnd():
                return Both(*self._sides(node))
            case ast.PatternOr():
                return Either(*self._sides(node))
            case ast.FollowedBy():
                left, right = self._sides(node)
                return Sequence(left, right, self.refs(node.absent))

    def _sides(
        self, node: ast.PatternAnd | ast.PatternOr | ast.FollowedBy
    ) -> tuple[Pattern, Pattern]:
        left = self.problems.attempt(self.pattern, node.left)
        right = self.problems.attempt(self.pattern, node.right)
        if left is None or right is None:
            raise Skip
        return left, right

    def refs(self, events: tuple[ast.PatternEvent, ...]) -> tuple[Ref, ...]:
        """Several events, each checked; duplicates removed."""
        found = [self.problems.attempt(self.ref, event) for event in events]
        if None in found:
            raise Skip
        return tuple(dict.fromkeys(ref for ref in found if ref is not None))

    def ref(self, event: ast.PatternEvent) -> Ref:
        """One event of this engine, or of an upstream one."""
        name = self.catalog.name_of(event, self.engine.name)
        if name is None:
            raise self._unknown(event)
        lives_in = self.catalog.engine(name).name
        if name in self.catalog.events and lives_in != self.engine.name:
            raise self._elsewhere(event, f"`{name}` is a simple event of engine `{lives_in}`")
        if name == self.name:
            raise self.problems.error(event.span, f"`{name}` cannot be part of itself")
        if name in self.catalog.complexes and lives_in not in self.engine.upstream:
            raise self._elsewhere(event, f"`{name}` is a complex event of engine `{lives_in}`")
        return self._keyed(event, name)

    def _unknown(self, event: ast.PatternEvent) -> Exception:
        if isinstance(event.name, ast.Literal):
            message = f"no event has the number {event.name.value}"
            return self.problems.error(event.span, message, "give one `number N`, or use names")
        known = [*self.catalog.events, *self.catalog.complexes]
        known.remove(self.name)
        hint = suggestion(event.name.text, known) or "define it with `define event`"
        return unknown(self.problems, event.name, "event", hint)

    def _elsewhere(self, event: ast.PatternEvent, what: str) -> Exception:
        hint = f"engine `{self.engine.name}` binds its own simple events"
        if self.engine.upstream:
            hint += f" and the complex events of {listing(self.engine.upstream)}"
        else:
            hint += "; complex events go to a second engine: `define engine X .. from Y`"
        return self.problems.error(event.span, what, hint)

    def _keyed(self, event: ast.PatternEvent, name: str) -> Ref:
        attribute = self.catalog.key_attribute(name)
        if event.key is not None:
            if attribute is None:
                message = f"`{name}` is not `for each` anything, so it has no keys"
                raise self.problems.error(event.span, message, f"write `{name}`")
            if not event.key.value:
                raise self.problems.error(event.key.span, "the key is empty")
            return Ref(name, str(event.key.value))
        if attribute is None or attribute == self.key:
            return Ref(name)
        if self.key is None:
            message = f"`{name}` is `for each {attribute}`, `{self.name}` is not"
            hint = f"name one: `{name}('..')`, or add `for each {attribute}` to `{self.name}`"
        else:
            message = f"`{name}` is `for each {attribute}`, `{self.name}` for each `{self.key}`"
            hint = f"name one: `{name}('..')`"
        raise self.problems.error(event.span, message, hint)
