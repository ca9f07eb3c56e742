"""Patterns: matchings from instant to instant, and SiddhiQL's sequences that are words of rows."""

from __future__ import annotations

from cep.database.errors import Refusal
from cep.database.lower.chains import lower_chain
from cep.database.lower.partial_matches import lower_partials
from cep.database.lower.pattern_joins import Chain
from cep.database.lower.spelling import need_types, spelled
from cep.database.steps import Rows
from cep.database.tables import Tables
from cep.plan.families import Family
from cep.plan.query import Matching, Query
from cep.plan.regex import automaton
from cep.plan.words import steps_of, words_of

STEPS_MAX = 400
"""Of an automaton with more steps the statement becomes longer than SQLite takes."""
WORDS_MAX, LENGTH_MAX = 16, 8
"""Patterns of more or longer words are followed row by row."""

ROWS_MAX = 12
"""So many rows of all words a planner joins in time; SQLite, which plans none, takes them all."""


def lower_matching(family: Family, tables: Tables) -> Rows:
    """The matches that a new row completes."""
    query = family.query
    matching = query.input
    assert isinstance(matching, Matching)
    _need_plain(query)
    need_types(matching)
    steps = steps_of(automaton(matching.regex), STEPS_MAX)
    if steps is None:
        raise Refusal("notimpl", f"a pattern of more than {STEPS_MAX} steps")
    words = None if matching.skips else words_of(steps, WORDS_MAX, LENGTH_MAX)
    is_long = len(family) == 1 and sum(map(len, words or ())) > _rows_max(tables)
    if words is None or is_long:
        return lower_partials(family, matching, steps, tables)
    chain = Chain(
        matching.input.stream,
        tuple(spelled(query, matching, word) for word in words),
        _within_ms(family),
        by_instant=True,
    )
    return lower_chain(family, chain, tables)


def _rows_max(tables: Tables) -> int:
    return WORDS_MAX * LENGTH_MAX if tables.dialect.forms == "sqlite" else ROWS_MAX


def _need_plain(query: Query) -> None:
    if query.aggregates or query.group_by:
        raise Refusal("notimpl", "aggregates of a pattern: let another query read what it finds")


def _within_ms(family: Family) -> tuple[int, ...]:
    inputs = [query.input for query in family.members]
    return tuple(one.within_ms for one in inputs if isinstance(one, Matching))
