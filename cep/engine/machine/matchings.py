"""Matchings as nodes: the way in of their events, one node that follows them, the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cep.dropped import Reason
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.dispatch import Word
from cep.engine.machine.expressions import Names, Unsupported, Writer
from cep.engine.machine.kernels.automaton import BITS
from cep.engine.machine.kernels.matchings import WORKED_ON
from cep.engine.machine.kernels.steps import MATCHING, SPLIT
from cep.engine.machine.kernels.words import CURRENT, TIME, VALUES
from cep.engine.machine.matches import NAN
from cep.engine.machine.program import Builder, names_of
from cep.engine.machine.queries import Place, Selecting, lower_input, lower_selection
from cep.engine.matchable import KEPT
from cep.plan.expressions import Constant, Expression
from cep.plan.query import Definition, Matching, Query
from cep.plan.regex import Automaton, automaton
from cep.plan.steps import Holder
from cep.plan.types import Attribute, Type

STATES_KEPT = 1_000
"""Of more states of an automaton those are forgotten at which nothing is."""


def lower_matching(place: Place, query: Query, matching: Matching) -> None:
    """Write a matching, and have it read its stream: a row that comes, then its variables."""
    builder, source, variables = place.builder, matching.input, matching.variables
    if source.holder not in (Holder.STREAM, Holder.WINDOW):
        raise Unsupported(f"it reads a {source.holder}")
    if any(one.type in (Type.OBJECT, Type.LIST) for one in variables.attributes):
        raise Unsupported("values that are objects")
    words = VALUES + len(source.schema)
    selecting = Selecting.of(builder, query, _names(matching, words), words + len(variables))
    width, rank = selecting.width, place.rank
    following = lower_selection(place, selecting, singly=True)
    following = builder.node(SPLIT, following, width, width, 0, rank)
    found = automaton(matching.regex)
    symbols = _symbols(builder, selecting.names, matching, words)
    state = WORKED_ON + _words_of_set(found) + selecting.words
    node = builder.node(
        MATCHING, following, width, width, place.home.take(state), rank,
        words, len(variables), builder.block(map(_empty, variables.attributes)),
        _automaton(builder, found, len(matching.symbols)), symbols, int(matching.skips),
        builder.cell(matching.within_ms), builder.cell(matching.partials_max),
        builder.counter(place.part, Reason.LATE), builder.counter(place.part, Reason.BOUND),
    )  # fmt: skip
    builder.want(node, 1 << CURRENT)
    entry = lower_input(place, source, replace(selecting, words=words), node)[0]
    place.source(query, source.stream).readers.append(entry)


def _names(matching: Matching, words: int) -> Names:
    """The row in slot 0, the variables in slot 1."""
    columns: dict[tuple[int, ...], tuple[Word, int]] = {
        **names_of(matching.input.schema).columns,
        **names_of(matching.variables, words, 1).columns,
    }
    return Names(columns, {None: TIME, 0: TIME, 1: TIME})


def _empty(variable: Attribute) -> int:
    """What a variable holds to which nothing has been assigned."""
    return NAN if variable.type.is_real else NULL


def _symbols(builder: Builder, names: Names, matching: Matching, words: int) -> int:
    """The place of what the kernel has to know of each symbol."""
    writer, found = builder.writer(names), list[int]()
    for symbol in matching.symbols:
        sets = list[int]()
        for variable, value in symbol.sets:
            code = builder.code(_assigned(writer, matching, variable, value))
            sets += [words + variable, code]
        found += [_condition(builder, writer, symbol), len(symbol.sets), builder.block(sets)]
    return builder.block(found)


def _condition(builder: Builder, writer: Writer, symbol: Definition) -> int:
    """The place of a symbol's condition; 0 where every row is one."""
    condition = symbol.condition
    if isinstance(condition, Constant) and condition.value is True:
        return 0
    return builder.code(writer.condition(condition))


def _assigned(writer: Writer, matching: Matching, variable: int, value: Expression) -> list[int]:
    """Steps that leave the value of a variable."""
    type_ = matching.variables.attributes[variable].type
    if value.type is not type_ and value.type not in KEPT.get(type_, ()):
        raise Unsupported(f"a value of type {value.type} becomes one of type {type_}")
    return writer.double(value) if type_.is_real else writer.value(value)


def _words_of_set(found: Automaton) -> int:
    """How many words a set of positions has."""
    return -(-len(found.symbols) // BITS)


def _set(found: Automaton, positions: Iterable[int]) -> list[int]:
    """A set of positions, a bit for each."""
    words = [0] * _words_of_set(found)
    for position in positions:
        words[position // BITS] |= 1 << position % BITS
    return words


def _automaton(builder: Builder, found: Automaton, symbols: int) -> int:
    """The place of what the kernel has to know of the automaton."""
    positions = range(len(found.symbols))
    followed = frozenset(one for one in positions if found.follow[one])
    standing = [
        frozenset(one for one in positions if found.symbols[one] == number)
        for number in range(symbols)
    ]
    sets = [found.first, found.last, followed, *standing, *found.follow]
    words = [word for one in sets for word in _set(found, one)]
    return builder.block([len(positions), symbols, _words_of_set(found), STATES_KEPT, *words])
