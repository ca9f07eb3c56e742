"""Queries as SQL, one kind each."""

from __future__ import annotations

from cep.database.lower.aggregates import lower_aggregate
from cep.database.lower.filters import lower_filter
from cep.database.lower.joins import lower_join
from cep.database.lower.matches import lower_matching
from cep.database.lower.sequences import lower_match
from cep.database.steps import Rows
from cep.database.tables import Tables
from cep.plan.families import Family
from cep.plan.query import Match, Matching, StreamInput


def lower(family: Family, tables: Tables) -> Rows:
    """The rows that a family makes in a batch; Refusal where the database does not run it."""
    query = family.query
    if isinstance(query.input, Matching):
        return lower_matching(family, tables)
    if isinstance(query.input, Match):
        return lower_match(family, tables)
    if query.aggregates or query.group_by:
        return lower_aggregate(family, tables)
    if isinstance(query.input, StreamInput):
        return lower_filter(family, tables)
    return lower_join(family, tables)
