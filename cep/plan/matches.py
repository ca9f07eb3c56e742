"""Patterns and sequences of the syntax tree to matches of the plan."""

from __future__ import annotations

from dataclasses import replace

from cep.lang import ast
from cep.plan import notes
from cep.plan.expressions import Collected, Expression
from cep.plan.inputs import InputBuilder, need_whole
from cep.plan.problems import Problems, with_article
from cep.plan.query import (
    PARTIALS_MAX,
    AbsentState,
    CountState,
    EveryState,
    ExpiredPartials,
    GroupState,
    LogicalState,
    Match,
    MatchState,
    NextState,
    StreamState,
)
from cep.plan.scope import Place, Scope
from cep.plan.steps import Holder
from cep.plan.streams import Streams
from cep.plan.types import Schema


class MatchBuilder:
    """Builds one match; slots are counted in the order of the text."""

    def __init__(
        self,
        problems: Problems,
        streams: Streams,
        node: ast.StateInput,
        annotations: tuple[ast.Annotation, ...] = (),
    ) -> None:
        self.problems = problems
        self.streams = streams
        self.node = node
        self.annotations = annotations
        self.inputs = InputBuilder(problems, streams)
        self.places: list[Place] = []
        self.states: list[StreamState] = []
        self.absent: set[int] = set()

    def build(self) -> tuple[Match, Scope]:
        """The match, and the scope of what is behind it."""
        root = self._state(self.node.state)
        need_whole(self.inputs)
        within_ms = self.node.within.ms if self.node.within else None
        kind: str = self.node.kind
        match = Match(
            "sequence" if kind == "sequence" else "pattern",
            root,
            tuple(self.states),
            within_ms,
            self._partials_max(),
        )
        scope = Scope(self.problems, tuple(self.places))
        return replace(match, expired=self._expired()), scope

    def _state(self, node: ast.StateNode, *, counted: bool = False) -> MatchState:
        match node:
            case ast.StreamState():
                return self._stream(node, counted=counted)
            case ast.CountState():
                return self._count(node)
            case ast.AbsentState():
                return self._absent(node)
            case ast.LogicalState():
                left, right = self._side(node.left), self._side(node.right)
                return LogicalState("and" if node.op == "and" else "or", left, right)
            case ast.NextState():
                left_state = self._state(node.left)
                return NextState(left_state, self._state(node.right))
            case ast.EveryState():
                return EveryState(self._state(node.state))
            case ast.GroupState():
                return GroupState(self._state(node.state), node.within.ms)

    def _side(self, node: ast.StreamState | ast.AbsentState) -> StreamState | AbsentState:
        if isinstance(node, ast.AbsentState):
            return self._absent(node)
        return self._stream(node)

    def _absent(self, node: ast.AbsentState) -> AbsentState:
        if node.time is not None and node.time.ms == 0:
            message = "an absence needs a time of more than 0"
            raise self.problems.error(node.span, message, "for example `for 5 sec`")
        state = self._stream(node.state)
        self.absent.add(state.slot)
        return AbsentState(state, node.time.ms if node.time else None)

    def _count(self, node: ast.CountState) -> CountState:
        least, most = node.least, node.most
        if node.symbol:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[node.symbol]
        least = least or 0
        if most == 0:
            message = "a count of 0 holds no event"
            raise self.problems.error(node.span, message, "write `not` for what must not happen")
        return CountState(self._stream(node.state, counted=True), least, most)

    def _stream(self, node: ast.StreamState, *, counted: bool = False) -> StreamState:
        source = node.input
        known = self.streams.find(source.stream, source.marker)
        slot = len(self.states)
        name = node.reference.text if node.reference else source.marker + source.stream.text
        self.places.append(Place(name, known.schema, slot, counted))
        built = self.inputs.stream(source, known, self._filter_scope)
        if built.holder not in (Holder.STREAM, Holder.WINDOW):
            message = (
                f"`{source.stream.text}` is {with_article(built.holder)}, whose rows do not arrive"
            )
            hint = "a pattern reads streams"
            raise self.problems.error(source.stream.span, message, hint)
        self.places[-1] = Place(name, built.schema, slot, counted)
        state = StreamState(slot, name, built)
        self.states.append(state)
        return state

    def _filter_scope(self, schema: Schema) -> Scope:
        """A state's filter sees the states so far, and its own row under bare names."""
        own = replace(self.places[-1], schema=schema)
        return Scope(self.problems, (*self.places[:-1], own), own=own, in_filter=True)

    def _partials_max(self) -> int:
        bound = notes.find(self.annotations, "bound")
        if bound is None:
            return PARTIALS_MAX
        value = bound.value("partials")
        if value is None:
            hint = "write `@bound(partials='10000')`"
            raise self.problems.error(bound.span, "`@bound` needs `partials`", hint)
        return notes.positive(self.problems, bound, "partials", value)

    def _expired(self) -> ExpiredPartials | None:
        note = notes.find(self.annotations, "expired")
        if note is None:
            return None
        stream = note.value("stream")
        if not stream:
            hint = "write `@expired(stream='LatePartials')`"
            raise self.problems.error(note.span, "`@expired` needs `stream`", hint)
        return ExpiredPartials(stream, self._flat(note))

    def _flat(self, note: ast.Annotation) -> tuple[tuple[str, Expression], ...]:
        """Every attribute of every state that can hold an event, as `e1_price`."""
        found: dict[str, Expression] = {}
        for place in self.places:
            for name in place.schema.names if place.slot not in self.absent else ():
                column = place.column(name)
                value = Collected(column.position, name, place.slot) if place.counted else column
                if f"{place.name}_{name}" in found:
                    message = f"the expired stream would have `{place.name}_{name}` twice"
                    hint = "name the events: `e1=S -> e2=S`"
                    raise self.problems.error(note.span, message, hint)
                found[f"{place.name}_{name}"] = value
        return tuple(found.items())
