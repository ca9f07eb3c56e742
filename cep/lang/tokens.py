"""Tokens of the rule language, and its keyword tables."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from cep.lang.errors import Span


class Kind(Enum):
    """What a token is; keywords are words, told apart by where they stand."""

    WORD = auto()
    QUOTED = auto()
    STRING = auto()
    INT = auto()
    LONG = auto()
    FLOAT = auto()
    DOUBLE = auto()
    SYMBOL = auto()
    BAD = auto()
    END = auto()


class Token(NamedTuple):
    """One token; `text` is the name, string content or symbol, for BAD the complaint."""

    kind: Kind
    text: str
    span: Span

    @property
    def keyword(self) -> str:
        """The lower-case word that keywords are compared with; empty for other tokens."""
        return self.text.lower() if self.kind is Kind.WORD else ""


class Comment(NamedTuple):
    """A comment with its marks; `own_line` when nothing but blanks stands before it."""

    text: str
    span: Span
    own_line: bool


class Role(Enum):
    """What the parser took a token for, as the formatter needs it.

    A CLAUSE keyword may start a line, a LINE token always does, a TIGHT one follows without space.
    """

    KEYWORD = auto()
    CLAUSE = auto()
    LINE = auto()
    TIGHT = auto()


NUMBERS = (Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE)
NAMES = (Kind.WORD, Kind.QUOTED)

SECOND_MS = 1_000
DAY_MS = 86_400 * SECOND_MS
TIME_UNITS_MS = {
    "ms": 1,
    "millisec": 1,
    "millisecond": 1,
    "milliseconds": 1,
    "sec": SECOND_MS,
    "second": SECOND_MS,
    "seconds": SECOND_MS,
    "min": 60 * SECOND_MS,
    "minute": 60 * SECOND_MS,
    "minutes": 60 * SECOND_MS,
    "hour": 3_600 * SECOND_MS,
    "hours": 3_600 * SECOND_MS,
    "day": DAY_MS,
    "days": DAY_MS,
    "week": 7 * DAY_MS,
    "weeks": 7 * DAY_MS,
    "month": 30 * DAY_MS,
    "months": 30 * DAY_MS,
    "year": 365 * DAY_MS,
    "years": 365 * DAY_MS,
}
"""Length of each unit of a time literal; a month has 30 days and a year 365."""

ATTRIBUTE_TYPES = ("string", "int", "long", "float", "double", "bool")

QUERY_KEYWORDS = frozenset(
    "from select as group by having insert into current events and or not in is null".split()
)
STATEMENT_KEYWORDS = frozenset(
    "define stream engine event complex signal number for each every opposite repeat reject"
    " refresh allow followed arrangements within forbid on buy sell close lots stop target"
    " points".split()
)
KEYWORDS = QUERY_KEYWORDS | STATEMENT_KEYWORDS | {"true", "false"}
"""Every word that means something; all of them may also be names."""
