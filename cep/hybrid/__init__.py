"""A rule file on a database, and on our engine what the database does not run."""

from cep.hybrid.halves import Halves, Line, Made, Part, merged
from cep.hybrid.parts import Parts, feeding, how_it_runs, parts, read_by

__all__ = [
    "Halves",
    "Line",
    "Made",
    "Part",
    "Parts",
    "feeding",
    "how_it_runs",
    "merged",
    "parts",
    "read_by",
]
