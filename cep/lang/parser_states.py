"""Patterns (`->`) and sequences (`,`): states, counts, absence, groups."""

from __future__ import annotations

from cep.lang.ast import (
    AbsentState,
    CountState,
    EveryState,
    GroupState,
    Handler,
    LogicalState,
    NextState,
    StateInput,
    StateNode,
    StreamState,
)
from cep.lang.errors import Span
from cep.lang.parser_inputs import InputParser
from cep.lang.tokens import NAMES, Role

SEPARATORS = ("->", ",")
COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
COUNT_HINT = "write `<2>`, `<2:5>`, `<2:>` or `<:5>`"
AFTER_STATE = (*SEPARATORS, "<", *COUNTS)
STATES_MAX = 100

Simple = StreamState | CountState | AbsentState


class StateParser(InputParser):
    """Reads the states of one pattern or sequence; `separator` is what parts them."""

    separator = ""
    states = 0

    def starts_states(self) -> bool:
        """Whether a pattern or sequence begins here, as far as its first words tell."""
        following = self.peek()
        if self.at_word("every") or self.at_word("not"):
            return following.kind in NAMES or following.text in ("(", "#", "!")
        if self.at("(") and not self.at_inner_query():
            return True
        return self.token.kind in NAMES and following.text == "="

    def at_state(self) -> bool:
        """Whether what was read as a stream turns out to be the first state."""
        return self.at_symbol(*AFTER_STATE) or self.token.keyword in ("and", "or", "within")

    def state_input(self) -> StateInput:
        """A whole pattern or sequence with its `within`."""
        start = self.token.span.start
        self.separator, self.states = "", 0
        state = self._chain()
        within = None
        if self.take_word("within", role=Role.CLAUSE):
            within = self.expect_duration("a time", "5 sec")
        kind = "sequence" if self.separator == "," else "pattern"
        self._check(state, kind)
        if self.at(")"):
            raise self.error(self.token.span, "this `)` closes nothing", "remove it")
        return StateInput(kind, state, within, span=self.since(start))

    def _chain(self) -> StateNode:
        """States with separators between; `->` and `,` group to the right."""
        parts = [self._part()]
        while self.at_symbol(*SEPARATORS):
            self._take_separator()
            parts.append(self._part())
        chain = parts.pop()
        while parts:
            left = parts.pop()
            chain = NextState(left, chain, span=Span(left.span.start, chain.span.end))
        return chain

    def _take_separator(self) -> None:
        token = self.token
        if self.separator and token.text != self.separator:
            hint = "use `->` throughout (gaps allowed), or `,` throughout (one right after another)"
            raise self.error(token.span, "`->` and `,` cannot be mixed", hint)
        self.separator = token.text
        self.advance(Role.CLAUSE if token.text == "->" else None)

    def _part(self) -> StateNode:
        start = self.token.span.start
        following = self.peek()
        named = following.kind in NAMES or following.text in ("(", "#", "!")
        if self.at_word("every") and named:
            self.advance(Role.KEYWORD)
            if self.at_word("every") and self.peek().kind in NAMES:
                raise self.error(self.token.span, "`every` stands here already", "remove one")
            state = self._group() if self.at("(") else self._logical()
            return EveryState(state, span=self.since(start))
        return self._group() if self.at("(") else self._logical()

    def _group(self) -> StateNode:
        """`(states [within TIME])`, or `(states) within TIME` with more states behind it."""
        start = self.token.span.start
        self.enter()
        opened = self.expect("(")
        state = self._chain()
        within = None
        if self.take_word("within"):
            within = self.expect_duration("a time", "5 sec")
        self.expect(")", hint=f"to close the `(` of column {self._column(opened.span)}")
        self.leave()
        if within is None and self.at_word("within") and self._group_within():
            self.advance(Role.KEYWORD)
            within = self.expect_duration("a time", "5 sec")
        self._refuse_after_group()
        if within is not None:
            return GroupState(state, within, span=self.since(start))
        return state

    def _group_within(self) -> bool:
        """Whether the `within` here is followed by more states, so that it is the group's own."""
        index = self.index
        self.index += 1
        while self.at_duration():
            self.index += 2
        own = self.at_symbol(*SEPARATORS, ")")
        self.index = index
        return own

    def _refuse_after_group(self) -> None:
        token = self.token
        if token.keyword in ("and", "or"):
            hint = "name two streams: `e1=A and e2=B`"
            raise self.error(token.span, f"`{token.keyword}` joins two streams, not groups", hint)
        if self.at_symbol("<", *COUNTS):
            hint = "count a stream: `e1=A<2:5>`"
            raise self.error(token.span, "a group cannot be counted", hint)

    def _logical(self) -> StateNode:
        left = self._simple()
        operator = self.token.keyword
        if operator not in ("and", "or"):
            return self._timed(left)
        self._refuse_count(left, operator)
        self.advance(Role.KEYWORD)
        right = self._simple()
        self._refuse_count(right, operator)
        span = Span(left.span.start, right.span.end)
        if self.token.keyword in ("and", "or"):
            hint = f"insert the streams into one first, or use `->` after the `{operator}`"
            message = f"`{operator}` joins two streams, here stands a third"
            raise self.error(self.token.span, message, hint)
        self._refuse_untimed(left, right, operator)
        return LogicalState(operator, _countless(left), _countless(right), span=span)

    def _refuse_count(self, state: Simple, operator: str) -> None:
        if isinstance(state, CountState):
            hint = "count one stream alone: `e1=A<2> -> e2=B`"
            raise self.error(state.span, f"a side of `{operator}` cannot be counted", hint)

    def _timed(self, state: Simple) -> Simple:
        if isinstance(state, AbsentState) and state.time is None:
            hint = "write `not A for 5 sec`, or `not A and e1=B`"
            raise self.error(state.span, "this `not` never ends", hint)
        return state

    def _refuse_untimed(self, left: Simple, right: Simple, operator: str) -> None:
        """Without a time, `not` only makes sense beside a stream that it forbids."""
        present = any(isinstance(state, StreamState) for state in (left, right))
        if operator == "or" or not present:
            self._timed(left)
            self._timed(right)

    def _simple(self) -> Simple:
        self.states += 1
        if self.states > STATES_MAX:
            hint = "split it over several queries"
            raise self.error(self.token.span, f"more than {STATES_MAX} states", hint)
        if self.at_word("not") and (self.peek().kind in NAMES or self.peek().text in "#!("):
            return self._absent_state()
        if self.at("("):
            hint = "a group stands alone: `(A -> B) -> C`"
            raise self.error(self.token.span, "a stream must stand here, not a group", hint)
        return self._counted(self._stream_state())

    def _absent_state(self) -> AbsentState:
        start = self.advance(Role.KEYWORD).span.start
        if self.at("("):
            hint = "negate one stream: `not A[condition] for 5 sec`"
            raise self.error(self.token.span, "a group cannot be negated", hint)
        if self.peek().text == "=":
            hint = "what is absent has no name: `not A for 5 sec`"
            raise self.error(self.token.span, "an absent event cannot be referred to", hint)
        state = self._stream_state()
        self._refuse_count(self._counted(state), "not")
        time = None
        if self.take_word("for"):
            time = self.expect_duration("a time", "5 sec")
        return AbsentState(state, time, span=self.since(start))

    def _stream_state(self) -> StreamState:
        """`[e1 =] S[condition]#function(..)`."""
        start = self.token.span.start
        reference = None
        if self.peek().text == "==":
            raise self.error(self.peek().span, "unexpected `==`", "events are named with `=`")
        if self.token.kind in NAMES and self.peek().text == "=":
            reference = self.expect_name("an event reference")
            self.events.add(reference.text)
            self.expect("=", Role.TIGHT)
            self.roles[self.index] = Role.TIGHT
        if self.at_word("not", "for"):
            raise self.unexpected("a stream")
        self.refuse_clause("select", "insert", "within", "output")
        source = self.stream_input()
        if reference is not None and source.stream.text != reference.text:
            self.events.discard(source.stream.text)
        self._refuse_window(source.handlers)
        return StreamState(source, reference, span=self.since(start))

    def _refuse_window(self, handlers: tuple[object, ...]) -> None:
        for handler in handlers:
            if isinstance(handler, Handler) and handler.is_window:
                hint = "limit the pattern with `within 5 min`, or feed it from a query's output"
                raise self.error(handler.span, "a state of a pattern has no window", hint)

    def _counted(self, state: StreamState) -> StreamState | CountState:
        start = state.span.start
        if self.at_symbol(*COUNTS):
            symbol = self.advance(Role.TIGHT).text
            return CountState(state, *COUNTS[symbol], symbol, span=self.since(start))
        if not self.take("<", Role.TIGHT):
            return state
        least, most = self._bounds()
        self.expect(">", Role.TIGHT, hint=COUNT_HINT)
        count = CountState(state, least, most, span=self.since(start))
        if least is not None and most is not None and least > most:
            raise self.error(count.span, f"at least {least} but at most {most}", COUNT_HINT)
        return count

    def _bounds(self) -> tuple[int | None, int | None]:
        """`n`, `m:n`, `m:` or `:n`, after `<`."""
        self.roles[self.index] = Role.TIGHT
        least = None if self.at(":") else self._whole("a number of events", COUNT_HINT)
        if not self.take(":", Role.TIGHT):
            return least, least
        self.roles[self.index] = Role.TIGHT
        if self.at(">") and least is not None:
            return least, None
        return least, self._whole("a number of events", COUNT_HINT)

    def _check(self, state: StateNode, kind: str) -> None:
        """What is only allowed in the other kind."""
        if kind == "pattern":
            self._refuse_symbols(state)
        else:
            self._refuse_every(state, first=True)

    def _refuse_symbols(self, state: StateNode) -> None:
        for part in parts_of(state):
            if isinstance(part, CountState) and part.symbol:
                least, most = COUNTS[part.symbol]
                same = f"<{least}:{'' if most is None else most}>"
                hint = f"a pattern counts with `{same}`; a sequence has `,` between its states"
                raise self.error(part.span, f"`{part.symbol}` belongs to a sequence", hint)

    def _refuse_every(self, state: StateNode, *, first: bool) -> None:
        match state:
            case NextState():
                self._refuse_every(state.left, first=first)
                self._refuse_every(state.right, first=False)
            case GroupState():
                self._refuse_every(state.state, first=first)
            case EveryState() if not first:
                hint = "put it in front of the first state, or use a pattern with `->`"
                raise self.error(state.span, "`every` starts a sequence", hint)
            case EveryState() if isinstance(state.state, NextState):
                hint = "write `every e1=A, e2=B`: the sequence starts anew with each A"
                raise self.error(state.span, "in a sequence `every` covers one state", hint)


def _countless(state: Simple) -> StreamState | AbsentState:
    assert not isinstance(state, CountState), "refused before"
    return state


def parts_of(state: StateNode) -> tuple[StateNode, ...]:
    """The state and all states inside it, in order of the text."""
    match state:
        case NextState() | LogicalState():
            return (state, *parts_of(state.left), *parts_of(state.right))
        case EveryState() | GroupState():
            return (state, *parts_of(state.state))
        case _:
            return (state,)
