"""Patterns of finitely many words: each word is a join of its rows, from the last one back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from cep.database.lower.lookup import Lookup, lookup
from cep.database.lower.pattern_joins import Chain, Word, parameters_of
from cep.database.lower.spelling import Spelled
from cep.database.steps import Rows
from cep.database.tables import NUMBER, Tables
from cep.plan.expressions import Expression
from cep.plan.families import Family


def lower_chain(family: Family, chain: Chain, tables: Tables) -> Rows:
    """The matches that end with a new row, in the order in which the engine tells them.

    Of one row that is by the rows before it, from the last one back, then by symbols.
    """
    if chain.by_instant and chain.within_ms is not None:
        tables.keep(chain.stream, time_ms=max(chain.within_ms))
    else:
        tables.keep(chain.stream, rows=chain.longest)
    parameters, words = _with_parameters(family, chain, tables)
    selects = [
        Word(family, chain, tables, parameters, number).select(conditions)
        for number, conditions in enumerate(words)
    ]
    if len(selects) == 1:
        return Rows(selects[0], _strategy(family, chain), orders=chain.longest)
    return Rows(sa.union_all(*selects), _strategy(family, chain), orders=chain.longest + 1)


def _with_parameters(
    family: Family, chain: Chain, tables: Tables
) -> tuple[sa.FromClause | None, Sequence[Sequence[Expression]]]:
    """A table of the family's constants, with an index on what is looked up; words' conditions."""
    if len(family) == 1:
        return None, [word.conditions for word in chain.words]
    found = [_looked_up(family, word) for word in chain.words]
    if len({one.family.types for one in found}) > 1:
        found = [Lookup(family, word.conditions, ()) for word in chain.words]
    more: Any = {} if chain.within_ms is None else {"within_ms": (NUMBER, chain.within_ms)}
    columns = tuple(dict.fromkeys(found[0].columns))
    indexes = [(*columns, "member")] if columns else []
    table = tables.parameters(found[0].family, more, indexes).alias("p")
    return table, [one.conditions for one in found]


def _looked_up(family: Family, word: Spelled) -> Lookup:
    """What an index is good for; a constant that is there twice cannot become of another type."""
    found = lookup(family, word.conditions)
    used = [number for one in (*word.conditions, *word.values) for number in parameters_of(one)]
    if found.family.types != family.types and len(used) > len(set(used)):
        return Lookup(family, word.conditions, ())
    return found


def _strategy(family: Family, chain: Chain) -> str:
    lengths = "/".join(str(length) for length in sorted({word.length for word in chain.words}))
    number = f"{len(chain.words)} words" if len(chain.words) > 1 else "a word"
    step = "instant" if chain.by_instant else "row"
    text = f"{number} of {lengths} rows, joined from new rows back {step} by {step}"
    return text if len(family) == 1 else f"{text}, against a table of {len(family)} queries"
