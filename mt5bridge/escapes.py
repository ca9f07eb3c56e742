"""Texts of peers and files, to be shown: what would steer a terminal is written as an escape.

A symbol or a comment may hold anything. Shown as it is, a control character moves the cursor or
changes colours, and a mark of direction turns a line round, so that a listing says what is not so.
"""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Also what reverses a text, and halves of characters; no tabs and ends of lines."""
_UNSEEN_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What encoders of JSON leave as it is."""


def visible(text: str) -> str:
    """A text without control characters but tabs and ends of lines."""
    return _UNSEEN.sub(_escape, text)


def one_line(text: str) -> str:
    """As `visible`, and a single line."""
    return visible(text).replace("\t", "\\t").replace("\n", "\\n")


def visible_json(line: bytes) -> bytes:
    """The same values as JSON that shows control characters as escapes."""
    if line.isascii() and b"\x7f" not in line:
        return line
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", line.decode()).encode()


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
