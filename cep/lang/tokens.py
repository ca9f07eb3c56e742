"""Tokens of the rule language, and its keyword tables."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from cep.lang.errors import Span


class TokenKind(Enum):
    """What a token is; keywords are words, told apart by where they stand.

    BOOL and TIME (in ms) are parameters only: written out, they are words, and numbers with units.
    """

    WORD = auto()
    QUOTED = auto()
    STRING = auto()
    INT = auto()
    LONG = auto()
    FLOAT = auto()
    DOUBLE = auto()
    BOOL = auto()
    TIME = auto()
    SYMBOL = auto()
    BAD = auto()
    END = auto()


class Token(NamedTuple):
    """One token; `text` is the name, string content or symbol, for BAD the complaint."""

    kind: TokenKind
    text: str
    span: Span

    @property
    def keyword(self) -> str:
        """The lower-case word that keywords are compared with; empty for other tokens."""
        return self.text.lower() if self.kind is TokenKind.WORD else ""


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


NUMBERS = (TokenKind.INT, TokenKind.LONG, TokenKind.FLOAT, TokenKind.DOUBLE)
NAMES = (TokenKind.WORD, TokenKind.QUOTED)

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

ATTRIBUTE_TYPES = ("string", "int", "long", "float", "double", "bool", "object")

CALENDAR_UNITS = {
    "sec": ("sec", "second", "seconds"),
    "min": ("min", "minute", "minutes"),
    "hour": ("hour", "hours"),
    "day": ("day", "days"),
    "week": ("week", "weeks"),
    "month": ("month", "months"),
    "year": ("year", "years"),
}
"""Units an aggregation can be cut into, finest first, with their spellings."""

DEFINITION_KEYWORDS = frozenset(
    "define stream table window trigger aggregation function at aggregate by every output".split()
)
QUERY_KEYWORDS = frozenset(
    "from select as group by having order asc desc limit offset insert into delete update set for"
    " return all current expired events output first last snapshot every".split()
)
EXPRESSION_KEYWORDS = frozenset("and or not in is null true false last".split())
INPUT_KEYWORDS = frozenset(
    "window join inner left right full outer unidirectional on within per every not for and or"
    " partition with of begin end".split()
)
ENGINE_KEYWORDS = frozenset(
    "define engine event complex signal number for each every opposite repeat reject"
    " refresh allow followed by arrangements within forbid on buy sell close modify cancel"
    " lots risk percent at limit stop target by points from in not and or as".split()
)
PARAMETER_KEYWORDS = frozenset("define parameter range to step in".split())
POSITION_KEYWORDS = frozenset("define position magic".split())
KEYWORDS = (
    DEFINITION_KEYWORDS
    | QUERY_KEYWORDS
    | EXPRESSION_KEYWORDS
    | INPUT_KEYWORDS
    | ENGINE_KEYWORDS
    | PARAMETER_KEYWORDS
    | POSITION_KEYWORDS
)
"""Every word that means something; all of them may also be names."""
