"""An automaton as a table of steps, and its words where there are only some."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from cep.plan.regex import Automaton

Word = tuple[int, ...]
"""Symbols one behind the other."""


@dataclass(frozen=True, slots=True)
class Step:
    """From a state with a symbol to a state. A match begins in state 0."""

    state: int
    symbol: int
    target: int


@dataclass(frozen=True, slots=True)
class Steps:
    """A deterministic automaton: from a state a symbol leads to one state or none.

    `accepting`: the states in which a match may end. From each state one of them can be reached.
    """

    steps: tuple[Step, ...]
    accepting: frozenset[int]


def steps_of(automaton: Automaton, steps_max: int) -> Steps | None:
    """The automaton with a state per set of positions; None if it has more than `steps_max` steps.

    The match of no symbol at all is left out.
    """
    numbers: dict[frozenset[int] | None, int] = {None: 0}
    waiting: list[frozenset[int] | None] = [None]
    found: list[Step] = []
    while waiting:
        positions = waiting.pop()
        for symbol in sorted(set(automaton.symbols)):
            reached = automaton.step(positions, symbol)
            if reached:
                if reached not in numbers:
                    numbers[reached] = len(numbers)
                    waiting.append(reached)
                found.append(Step(numbers[positions], symbol, numbers[reached]))
        if len(found) > steps_max:
            return None
    accepting = (at for reached, at in numbers.items() if reached and automaton.accepts(reached))
    return Steps(tuple(found), frozenset(accepting))


def words_of(steps: Steps, words_max: int, length_max: int) -> tuple[Word, ...] | None:
    """All words in lexical order; None if there are more, or longer ones, than that."""
    following: defaultdict[int, list[Step]] = defaultdict(list)
    for step in steps.steps:
        following[step.state].append(step)
    found: list[Word] = []
    waiting: list[tuple[int, Word]] = [(0, ())]
    beginnings = 0
    while waiting:
        state, word = waiting.pop()
        beginnings += 1
        if state in steps.accepting:
            found.append(word)
        # each beginning is one of a word
        if len(word) > length_max or beginnings > words_max * length_max + 1:
            return None
        waiting += ((one.target, (*word, one.symbol)) for one in following[state])
    return tuple(sorted(found)) if len(found) <= words_max else None
