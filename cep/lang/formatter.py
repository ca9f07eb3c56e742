"""Rule text to well-formed rule text: the same tokens and comments, laid out one way.

Works on tokens rather than on the tree, so that comments, quotes and parentheses stay as they are
written; the roles the parser gave to tokens say what is a keyword and where a line may break.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from cep.lang.errors import Source
from cep.lang.parser import Parser
from cep.lang.tokens import Comment, Kind, Role, Token

WIDTH = 100
INDENT = "  "
NO_SPACE_BEFORE = frozenset((",", ";", ")", "]", "."))
NO_SPACE_AFTER = frozenset(("(", "[", ".", "@", "#"))


@dataclass
class Word:
    """Text without a space inside, and what the layout may do around it."""

    text: str
    clause: bool = False
    soft: bool = False
    hard_before: bool = False
    hard_after: bool = False


@dataclass
class Piece:
    """A top-level piece of the file, a statement or a comment, with its place in the source."""

    text: str
    start: int
    end: int
    trailing: bool = False


def format_rules(text: str) -> str:
    """The rule text in standard layout; formatting twice changes nothing; raises RuleError."""
    parser = Parser(Source(text))
    parser.script()
    pieces = _pieces(parser)
    lines: list[str] = []
    previous_end = 0
    after_line_comment = False
    for piece in pieces:
        if piece.trailing and lines and not after_line_comment:
            lines[-1] += "  " + piece.text
        else:
            if lines and text.count("\n", previous_end, piece.start) > 1:
                lines.append("")
            lines.append(piece.text)
        previous_end = piece.end
        after_line_comment = piece.text.startswith("--")
    return "\n".join(lines) + "\n" if lines else ""


def _pieces(parser: Parser) -> list[Piece]:
    """Statements and the comments between them, in order."""
    pieces: list[Piece] = []
    comments = parser.comments
    for begin, end in parser.blocks:
        start, stop = parser.tokens[begin].span.start, parser.tokens[end - 1].span.end
        inside = [c for c in comments if start < c.span.start < stop]
        pieces.append(Piece(_statement(parser, begin, end, inside), start, stop))
    inner = [(piece.start, piece.end) for piece in pieces]
    for comment in _outside(comments, inner):
        start, stop = comment.span
        pieces.append(Piece(comment.text, start, stop, trailing=not comment.own_line))
    return sorted(pieces, key=lambda piece: piece.start)


def _outside(comments: list[Comment], ranges: list[tuple[int, int]]) -> list[Comment]:
    """The comments in none of the (sorted) ranges."""
    found: list[Comment] = []
    waiting = list(reversed(ranges))
    for comment in comments:
        while waiting and waiting[-1][1] <= comment.span.start:
            waiting.pop()
        if not waiting or comment.span.start < waiting[-1][0]:
            found.append(comment)
    return found


def _statement(parser: Parser, begin: int, end: int, comments: list[Comment]) -> str:
    """One statement; annotations stand on lines of their own."""
    words = _words(parser, begin, end, comments)
    if not (parser.tokens[begin].text == "@" and parser.tokens[begin + 1].keyword == "app"):
        words[-1].text += ";"
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.hard_before and word.clause and parts[-1]:
            parts.append([])
        parts[-1].append(word)
    return "\n".join(_layout(part) for part in parts)


def _words(parser: Parser, begin: int, end: int, comments: list[Comment]) -> list[Word]:
    """Tokens joined where no space stands between them, comments in their places."""
    words: list[Word] = []
    waiting = list(reversed(comments))
    for index in range(begin, end):
        token, role = parser.tokens[index], parser.roles.get(index)
        commented = False
        while waiting and waiting[-1].span.start < token.span.start:
            words.append(_comment_word(waiting.pop(), parser.source.text))
            commented = True
        text = _written(token, role, parser.source.text)
        if index > begin and not commented and not _spaced(parser, index):
            words[-1].text += text
            continue
        starts_line = role is Role.LINE
        soft = not commented and _may_break(parser, index)
        words.append(Word(text, role is Role.CLAUSE or starts_line, soft, starts_line))
    return words


def _comment_word(comment: Comment, source: str) -> Word:
    rest = source[comment.span.end :].lstrip(" \t\v\r")
    ends_line = comment.text.startswith("--") or rest.startswith("\n")
    return Word(comment.text, hard_before=comment.own_line, hard_after=ends_line)


def _written(token: Token, role: Role | None, source: str) -> str:
    is_keyword = token.kind is Kind.WORD and role in (Role.KEYWORD, Role.CLAUSE, Role.LINE)
    return token.keyword if is_keyword else source[token.span.start : token.span.end]


def _spaced(parser: Parser, index: int) -> bool:
    """Whether a space stands between this token and the one before it."""
    token, before = parser.tokens[index], parser.tokens[index - 1]
    if parser.roles.get(index) is Role.TIGHT:
        return False
    if token.kind is Kind.SYMBOL and token.text in NO_SPACE_BEFORE:
        return False
    if before.kind is Kind.SYMBOL and before.text in NO_SPACE_AFTER:
        return False
    if token.kind is Kind.SYMBOL and token.text in ("[", "#"):
        return parser.roles.get(index - 1) in (Role.KEYWORD, Role.CLAUSE, Role.LINE)
    return True


def _may_break(parser: Parser, index: int) -> bool:
    """Whether an overlong line may break before this token."""
    before = parser.tokens[index - 1]
    joins = parser.tokens[index].keyword in ("and", "or")
    return (joins and parser.roles.get(index) is Role.KEYWORD) or (
        before.kind is Kind.SYMBOL and before.text == ","
    )


def _layout(words: list[Word]) -> str:
    """One line when it fits, else a line for each clause."""
    forced = any(word.hard_before and i for i, word in enumerate(words)) or any(
        word.hard_after for word in words[:-1]
    )
    line = " ".join(word.text for word in words)
    if not forced and len(line) <= WIDTH and "\n" not in line:
        return line
    lines = [words[0].text]
    for before, word in pairwise(words):
        if word.clause or word.hard_before or before.hard_after:
            lines.append(INDENT + word.text)
        elif word.soft and len(lines[-1]) + 1 + _reach(words, word) > WIDTH:
            lines.append(INDENT * 2 + word.text)
        else:
            lines[-1] += " " + word.text
    return "\n".join(lines)


def _reach(words: list[Word], first: Word) -> int:
    """Width of a word and those after it that cannot be parted from it."""
    start = next(i for i, word in enumerate(words) if word is first)
    width = len(first.text)
    for word in words[start + 1 :]:
        if word.clause or word.soft or word.hard_before:
            break
        width += 1 + len(word.text)
    return width
