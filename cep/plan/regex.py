"""Regular expressions over symbols, and the automaton of one (Glushkov 1961).

A symbol is a number. The automaton has a position for each place where a symbol stands in the
expression; it needs no empty steps, so that a set of positions is all there is to remember.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class Then:
    """The parts one behind the other."""

    parts: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of the parts."""

    parts: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`part` from `least` to `most` times; `most` None is without end."""

    part: Regex
    least: int
    most: int | None


Regex = Symbol | Then | Either | Repeated


@dataclass(frozen=True, slots=True)
class Automaton:
    """`symbols` by position, the positions a match begins and may end with, and who follows whom.

    `is_nullable`: whether the expression matches nothing at all.
    """

    symbols: tuple[int, ...]
    first: frozenset[int]
    last: frozenset[int]
    follow: tuple[frozenset[int], ...]
    is_nullable: bool

    def step(self, positions: frozenset[int] | None, symbol: int) -> frozenset[int]:
        """The positions reached by a symbol from those reached before (None: from the begin)."""
        if positions is None:
            return frozenset(p for p in self.first if self.symbols[p] == symbol)
        reached = (self.follow[position] for position in positions)
        return frozenset(p for follow in reached for p in follow if self.symbols[p] == symbol)

    def accepts(self, positions: frozenset[int]) -> bool:
        """Whether a match may end here."""
        return not self.last.isdisjoint(positions)

    def goes_on(self, positions: frozenset[int]) -> bool:
        """Whether a match may go on from here."""
        return any(self.follow[position] for position in positions)

    @property
    def is_linear(self) -> bool:
        """Whether it is one symbol behind the other, without choice."""
        ends = range(1, len(self.symbols) + 1)
        steps = [frozenset({end}) for end in ends[:-1]] + [frozenset()]
        return list(self.follow) == steps and self.first == {0} and not self.is_nullable


@dataclass(frozen=True, slots=True)
class Steps:
    """An automaton with one state at a time: by state, the state each symbol leads to.

    State 0 is the begin, which no symbol leads to; a match may end in those that are `accepting`.
    """

    by_state: tuple[dict[int, int], ...]
    accepting: frozenset[int]

    @property
    def count(self) -> int:
        """How many steps there are."""
        return sum(map(len, self.by_state))


def steps(found: Automaton, most: int) -> Steps | None:
    """The automaton by sets of positions (Rabin and Scott 1959); None with more than `most` states.

    The number of states can be exponential in that of the positions.
    """
    states: dict[frozenset[int] | None, int] = {None: 0}
    by_state: list[dict[int, int]] = []
    pending: list[frozenset[int] | None] = [None]
    while pending:
        positions = pending.pop(0)
        by_state.append({})
        for symbol in sorted(set(found.symbols)):
            reached = found.step(positions, symbol)
            if not reached:
                continue
            if reached not in states:
                states[reached] = len(states)
                pending.append(reached)
            by_state[-1][symbol] = states[reached]
        if len(states) > most:
            return None
    accepting = {number for reached, number in states.items() if reached and found.accepts(reached)}
    return Steps(tuple(by_state), frozenset(accepting))


def automaton(regex: Regex) -> Automaton:
    """The automaton of an expression; its size is that of the expression with repeats written out.

    O(n^2) in the number of positions.
    """
    symbols: list[int] = []
    follow: list[set[int]] = []
    part = _Builder(symbols, follow).build(regex)
    return Automaton(
        tuple(symbols), part.first, part.last, tuple(map(frozenset, follow)), part.is_nullable
    )


@dataclass(frozen=True, slots=True)
class _Part:
    first: frozenset[int]
    last: frozenset[int]
    is_nullable: bool


_NOTHING = _Part(frozenset(), frozenset(), True)


class _Builder:
    """Fills `symbols` and `follow`, position by position."""

    def __init__(self, symbols: list[int], follow: list[set[int]]) -> None:
        self._symbols = symbols
        self._follow = follow

    def build(self, regex: Regex) -> _Part:
        match regex:
            case Symbol():
                return self._symbol(regex.number)
            case Then():
                return reduce(self._then, map(self.build, regex.parts), _NOTHING)
            case Either():
                return reduce(_either, map(self.build, regex.parts))
            case Repeated():
                return self._repeated(regex)

    def _symbol(self, number: int) -> _Part:
        self._symbols.append(number)
        self._follow.append(set())
        here = frozenset({len(self._symbols) - 1})
        return _Part(here, here, False)

    def _then(self, left: _Part, right: _Part) -> _Part:
        for position in left.last:
            self._follow[position] |= right.first
        return _Part(
            left.first | right.first if left.is_nullable else left.first,
            left.last | right.last if right.is_nullable else right.last,
            left.is_nullable and right.is_nullable,
        )

    def _repeated(self, regex: Repeated) -> _Part:
        needed = reduce(self._then, (self.build(regex.part) for _ in range(regex.least)), _NOTHING)
        if regex.most is None:
            return self._then(needed, self._endless(regex.part))
        optional = _NOTHING
        for _ in range(regex.most - regex.least):
            optional = self._then_before(regex.part, optional)
        return self._then(needed, optional)

    def _endless(self, regex: Regex) -> _Part:
        part = self.build(regex)
        for position in part.last:
            self._follow[position] |= part.first
        return _Part(part.first, part.last, True)

    def _then_before(self, regex: Regex, rest: _Part) -> _Part:
        """The part and the rest behind it, or nothing of both."""
        whole = self._then(self.build(regex), rest)
        return _Part(whole.first, whole.last, True)


def _either(left: _Part, right: _Part) -> _Part:
    return _Part(
        left.first | right.first, left.last | right.last, left.is_nullable or right.is_nullable
    )


def regex_text(regex: Regex, names: tuple[str, ...], level: int = 0) -> str:
    """An expression as text, given the symbols' names; `level`: how tight what is around binds."""
    match regex:
        case Symbol():
            return names[regex.number]
        case Then():
            text, own = " ".join(regex_text(part, names, 1) for part in regex.parts), 1
        case Either():
            text, own = " | ".join(regex_text(part, names, 1) for part in regex.parts), 0
        case Repeated():
            return regex_text(regex.part, names, 2) + _times(regex)
    return f"({text})" if own < level else text


def _times(regex: Repeated) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    most = "" if regex.most is None else str(regex.most)
    return short.get((regex.least, regex.most), f"{{{regex.least},{most}}}")
