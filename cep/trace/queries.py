"""What the interpreter tells of queries, as lines: conditions, partial matches, results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote

from cep.interpreter.context import Context, Step
from cep.interpreter.match import Outcome, state_names
from cep.interpreter.match.partial import PASSED
from cep.interpreter.rows import Row, RowKind
from cep.plan.explain_queries import speech_of
from cep.plan.expressions import Expression
from cep.plan.query import (
    Match,
    Query,
    StreamInput,
    StreamState,
)
from cep.plan.steps import Filter, Handler
from cep.plan.text import Speech, duration_text
from cep.trace.conditions import Condition
from cep.trace.notes import Notes
from cep.trace.scope import Scope
from cep.trace.texts import pairs_text, row_text

REFUSED = Outcome.REFUSED.split("{")[0]


class QueryWatch:
    """Takes what the trace of an interpreter says about some of its queries."""

    def __init__(
        self, queries: Iterable[Query], scope: Scope, context: Context, notes: Notes
    ) -> None:
        self._queries = {query.name: query for query in queries}
        self._scope, self._context, self._notes = scope, context, notes
        self._conditions: dict[str, Condition] = {}

    def trace(self, place: str, text: str, row: Row | None) -> None:
        """Take one fact (see `cep.interpreter.match` and `cep.interpreter.context.Step`)."""
        _, holder, name, *rest = place.split("/")
        if holder == "partition":
            key, name, *rest = rest
            if self._scope.key is None or not self._scope.sees([unquote(key)]):
                return
        query = self._queries.get(name)
        if query is None or row is None or row.kind not in (RowKind.CURRENT, RowKind.EXPIRED):
            return
        if holder == "partition" or self._is_mine(query, text, row):
            self._tell(query, rest, text, row)

    def _is_mine(self, query: Query, text: str, row: Row) -> bool:
        """Whether a row of a query outside of partitions is of the key."""
        if text == Step.SELECTED:
            return self._scope.puts_out(query, row)
        if isinstance(query.input, StreamInput):
            return self._scope.holds(query, query.source, row)
        return True

    def _tell(self, query: Query, place: list[str], text: str, row: Row) -> None:
        match text:
            case Step.SELECTED:
                self._notes.add(query.name, f"{_put_out(query, row)}")
            case Step.HAVING if query.having is not None:
                having = self._condition(query, "having", query.having, speech_of(query))
                self._notes.add(query.name, f"having false: {having.why_not(row)}")
            case Step.FILTERED:
                self._filtered(query, place, row)
            case _ if isinstance(query.input, Match):
                self._matched(query, query.input, place[-1], text, row)

    def _condition(
        self, query: Query, place: str, expression: Expression, speech: Speech
    ) -> Condition:
        known = f"{query.name}/{place}"
        if known not in self._conditions:
            self._conditions[known] = Condition(expression, self._context, speech)
        return self._conditions[known]

    def _filtered(self, query: Query, place: list[str], row: Row) -> None:
        """A filter in front of or behind a window; in a join below the side."""
        *side, part, number = place
        source = query.inputs[side == ["right"]]
        handlers = source.before if part == "before" else source.after
        handler = handlers[int(number)]
        assert isinstance(handler, Filter)
        condition = self._condition(query, "/".join(place), handler.condition, Speech())
        behind = " behind the window" if part == "after" else ""
        head = f"filter{behind} of {source.stream}" if side else f"filter{behind}"
        self._notes.add(query.name, f"{head} false: {condition.why_not(row)}")

    def _matched(self, query: Query, match_: Match, name: str, text: str, row: Row) -> None:
        """What became of a partial match at a state."""
        state = match_.states[state_names(match_).index(name)]
        is_candidate = text.startswith(REFUSED) or text == Outcome.FORBIDDEN
        held = _held(match_, row, state.slot if is_candidate else None)
        if text == Outcome.TAKEN and state.slot in match_.absent:
            return  # what came is told as forbidden next
        if text == Outcome.BROKEN and not held:
            return
        if text.startswith(REFUSED):
            number = int("".join(filter(str.isdigit, text)))
            said = self._refusal(query, state, number, row)
        elif text == Outcome.EXPIRED:
            said = f"expired: {duration_text(self._age_ms(row))} old, longer than `within`"
        else:
            said = TEXTS[text]
        is_shown = held and text != Outcome.MATCHED
        self._notes.add(
            query.name, f"{name} {said}", [f"partial match: {held}"] if is_shown else []
        )

    def _age_ms(self, partial: Row) -> int:
        """How long ago the first row of a partial match came."""
        now_ms = self._context.now_ms
        held = [rows[0] if isinstance(rows, list) else rows for rows in partial.slots or () if rows]
        return now_ms - min((row.time for row in held if row is not PASSED), default=now_ms)

    def _refusal(self, query: Query, state: StreamState, number: int, row: Row) -> str:
        handler: Handler = state.input.before[number - 1]
        if not isinstance(handler, Filter):
            return f"{handler.name} has no row for it"
        speech = replace(speech_of(query), own=state.slot)
        place = f"{state.slot}/{number}"
        return "false: " + self._condition(query, place, handler.condition, speech).why_not(row)


TEXTS: dict[str, str] = {
    Outcome.TAKEN: "taken",
    Outcome.MATCHED: "MATCHED",
    Outcome.FORBIDDEN: "came, and must be absent: the partial match is over",
    Outcome.ABSENT: "absent for the whole time: goes on",
    Outcome.BROKEN: "another event came: the sequence is broken",
    Outcome.DROPPED: "dropped: too many partial matches",
}


def _put_out(query: Query, row: Row) -> str:
    kind = "" if row.kind is RowKind.CURRENT else " expired"
    return f"PUT OUT{kind} {pairs_text(query.schema.names, row.values)}"


def _held(match_: Match, partial: Row, candidate: int | None) -> str:
    """The rows of a partial match by state, without a candidate that it does not take."""
    parts = []
    slots = partial.slots or []
    for name, state, rows in zip(state_names(match_), match_.states, slots, strict=True):
        kept = rows
        if state.slot == candidate:
            kept = rows[:-1] if isinstance(rows, list) else None
        if kept is PASSED:
            parts.append(f"{name} stayed away")
        elif kept:
            parts.append(f"{name}={row_text(kept, state.input.schema.names)}")
    return ", ".join(parts)


def nothing_came(query: Query, stream: str) -> str:
    """What to say of a row after which nothing has happened."""
    is_match = isinstance(query.input, Match)
    why = "no partial match waits for it" if is_match else "nothing comes out now"
    return f"took a row of {stream}; {why}"
