"""What is written so in SQL, C, Python or another language of rules, and how it is said here.

Asked only about what cannot stand where it stands: none of it changes what a text means.
"""

from __future__ import annotations

from collections.abc import Sequence

from cep.lang.tokens import NAMES, NUMBERS, TIME_UNITS_MS, Token, TokenKind

_CHOICE = "a choice is `ifThenElse(condition, x, otherwise)`"
_DISTANCES = "distances are written `stop 200 points`, `target 400 points`"
_RANGE = "a range is `x >= 1 and x <= 2`"
_TEXT = "parts of a text are found by `str:contains(x, 'part')` and `str:regexp(x, 'pattern')`"

WORDS = {
    "between": _RANGE,
    "foreach": "write `for each` and the attribute, in front of `as`",
    "into": "a query ends with `insert into STREAM`",
    "like": _TEXT,
    "pips": "distances are given in points: `200 points`",
    "sl": _DISTANCES,
    "stoploss": _DISTANCES,
    "takeprofit": _DISTANCES,
    "then": "what comes later is written `A followed by B`",
    "tp": _DISTANCES,
    "using": "write `on a.symbol == b.symbol`",
    "when": _CHOICE,
}
"""By the word at which the text stops making sense."""

STARTS = dict.fromkeys(
    "input sinput extern param const let var".split(),
    "what a run may change is written `define parameter Width double = 2.0 range 1.0 to 3.0`",
)
"""By the word at which a statement begins."""

BEHIND = {
    "distinct": "different values are counted by `distinctCount(x)`",
    "top": "write `limit 5` behind what is selected",
}
"""By the word in front of it."""

PAIRS = {
    "<>": "unequal is written `!=`",
    "=>": "write `->` between the events of a pattern, and `>=` for greater or equal",
    "=<": "write `<=`",
    "**": "a power is written `math:power(x, y)`",
    "//": "a comment is written `-- to the end of the line`",
}
"""By two symbols side by side; either may be the one that cannot stand there."""

CURLY = "\u2018\u2019\u201c\u201d\u201e\xab\xbb\xb4"
DASHES = "\u2013\u2014\u2212"
SPACES = "\xa0\u2007\u202f\u200b"
CHARACTERS = {
    "&": "write `and`",
    "|": "write `or`",
    "^": "a power is written `math:power(x, y)`",
    "≥": "write `>=`",
    "≤": "write `<=`",
    "≠": "write `!=`",
    **dict.fromkeys(CURLY, "a text stands in straight quotes: `'EURUSD'`"),
    **dict.fromkeys(DASHES, "write `-`"),
    **dict.fromkeys(SPACES, "write a plain space"),
}
"""By a character that belongs to no token."""
LETTERS = "a name with other letters than A to Z stands in backticks"

TYPES = {
    **dict.fromkeys("varchar char text str".split(), "string"),
    **dict.fromkeys("integer int32 smallint tinyint".split(), "int"),
    **dict.fromkeys("bigint int64 unsigned".split(), "long"),
    **dict.fromkeys("real decimal numeric number float64 money".split(), "double"),
    **dict.fromkeys("boolean bit".split(), "bool"),
}
TIMES = frozenset("timestamp datetime date time timestamptz".split())
"""Types of other languages that are no types here."""

UNITS = {
    **dict.fromkeys(("s", "secs"), "sec"),
    **dict.fromkeys(("m", "mins"), "min"),
    **dict.fromkeys(("h", "hr", "hrs"), "hour"),
    "d": "day",
    "w": "week",
    **dict.fromkeys(("msec", "msecs", "millis"), "ms"),
}
"""Short units of time; the nearest of ours may be one that is far shorter."""


def remedy(tokens: Sequence[Token], index: int) -> str:
    """What to write instead of the token at `index`; empty where nothing is known."""
    token, before = tokens[index], tokens[index - 1] if index else None
    if before is not None and before.keyword in BEHIND and token.kind is not TokenKind.SYMBOL:
        return BEHIND[before.keyword]
    if token.keyword:
        return WORDS.get(token.keyword, "") or _of_word(tokens, index)
    return _of_symbol(tokens, index) if token.kind is TokenKind.SYMBOL else ""


def character(text: str) -> str:
    """What to write instead of a character that belongs to no token."""
    return CHARACTERS.get(text, LETTERS if text.isalpha() else "")


def type_of(found: Token) -> str:
    """What to write instead of `found` where a type must stand; empty where nothing is known."""
    word = found.keyword
    if found.kind is TokenKind.SYMBOL and found.text == ":":
        return "name and type stand side by side: `symbol string`"
    if word in TYPES:
        return f"that type is called `{TYPES[word]}`"
    if word in TIMES:
        return "a time is a `long`, in ms UTC"
    return ""


def _of_word(tokens: Sequence[Token], index: int) -> str:
    token, before = tokens[index], tokens[index - 1] if index else None
    if before is None:
        return ""
    if before.kind in NUMBERS and token.keyword in TIME_UNITS_MS:
        return "a time is made of whole numbers: `1 min 30 sec`"
    if before.kind is TokenKind.INT and _touch(before, token) and token.text.startswith("_"):
        return "nothing stands between the digits of a number: `1000000`"
    return _window(tokens, index) if token.keyword == "window" else ""


def _window(tokens: Sequence[Token], index: int) -> str:
    """`window` behind a stream, where `#window` must stand."""
    at = index + 2 if _text(tokens, index + 1) == "." else index + 1
    if at + 1 < len(tokens) and tokens[at].kind in NAMES and _text(tokens, at + 1) == "(":
        return f"a window is written `#window.{tokens[at].text}(..)`"
    return ""


def _of_symbol(tokens: Sequence[Token], index: int) -> str:
    for first in (index - 1, index):
        hint = PAIRS.get(_text(tokens, first) + _text(tokens, first + 1), "")
        if hint and _touch(tokens[first], tokens[first + 1]):
            return hint
    before = tokens[index - 1] if index else None
    match tokens[index].text:
        case "?":
            return _CHOICE
        case "#" if before is None or before.text == ";":
            return PAIRS["//"]
        case "." if index + 1 < len(tokens) and tokens[index + 1].keyword == "window":
            return _window(tokens, index + 1)
        case "(" if before is not None and before.keyword == "in":
            return "`in` asks a table; a list is `x == 'A' or x == 'B'`"
        case "(" if before is not None and before.kind in NAMES and _text(tokens, index - 2) == ".":
            return f"a namespace ends with a colon: `{tokens[index - 3].text}:{before.text}(..)`"
        case "," if _is_decimal_comma(tokens, index):
            return f"decimals have a point: `{tokens[index - 1].text}.{tokens[index + 1].text}`"
    return ""


def _is_decimal_comma(tokens: Sequence[Token], index: int) -> bool:
    if index < 1 or index + 1 >= len(tokens):
        return False
    before, comma, after = tokens[index - 1 : index + 2]
    whole = before.kind is TokenKind.INT and after.kind in NUMBERS
    return whole and _touch(before, comma) and _touch(comma, after)


def _text(tokens: Sequence[Token], index: int) -> str:
    """The symbol there; empty for other tokens, and outside the text."""
    if not 0 <= index < len(tokens) or tokens[index].kind is not TokenKind.SYMBOL:
        return ""
    return tokens[index].text


def _touch(left: Token, right: Token) -> bool:
    return left.span.end == right.span.start
