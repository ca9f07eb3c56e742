"""A rule file on a database, and on our engine what the database does not run."""

from cep.hybrid.fragments import DerivedRow, Fragments, Line, StreamRows, merged
from cep.hybrid.split import how_it_runs, split

__all__ = [
    "Fragments",
    "Line",
    "DerivedRow",
    "StreamRows",
    "how_it_runs",
    "merged",
    "split",
]
