"""A rule file on a database, and on our engine what the database does not run."""

from cep.fragments.exchange import DerivedRow, Fragments, Line, StreamRows, merged
from cep.fragments.split import how_it_runs, split

__all__ = [
    "Fragments",
    "Line",
    "DerivedRow",
    "StreamRows",
    "how_it_runs",
    "merged",
    "split",
]
