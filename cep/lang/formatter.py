"""Rule text to well-formed rule text: the same tokens and comments, laid out one way.

Works on tokens rather than on the tree, so that comments, quotes and parentheses stay as they are
written; the roles the parser gave to tokens say what is a keyword and where a line may break.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from cep.lang.errors import Source
from cep.lang.parser import Parser
from cep.lang.tokens import Comment, Role, Token, TokenKind

WIDTH = 100
INDENT = "  "
NO_SPACE_BEFORE = frozenset((",", ";", ")", "]", "."))
NO_SPACE_AFTER = frozenset(("(", "[", ".", "@", "#"))
KEYWORDS = (Role.KEYWORD, Role.CLAUSE, Role.LINE)


@dataclass
class Word:
    """Text without a space inside, and what the layout may do around it."""

    text: str
    clause: bool = False
    soft: bool = False
    hard_before: bool = False
    hard_after: bool = False
    depth: int = 0


@dataclass
class Piece:
    """A statement or a comment between statements, with its place in the source.

    A line may hold line ends of its own, inside a string or a comment.
    """

    lines: list[str]
    start: int
    end: int
    trailing: bool = False


Block = tuple[int, int]
"""Half-open range of the tokens of a statement."""


def format_rules(text: str, file: str = "<rules>") -> str:
    """The rule text in standard layout; formatting twice changes nothing; raises RuleError."""
    parser = Parser(Source(text, file))
    parser.script()
    lines = _lines(parser, parser.blocks, parser.comments, WIDTH)
    return "\n".join(lines) + "\n" if lines else ""


def _lines(parser: Parser, blocks: list[Block], comments: list[Comment], width: int) -> list[str]:
    """Statements and the comments around them; at most one empty line between two."""
    lines: list[str] = []
    previous_end = 0
    after_line_comment = False
    for piece in _pieces(parser, blocks, comments, width):
        if piece.trailing and lines and not after_line_comment:
            lines[-1] += "  " + piece.lines[0]
        else:
            if lines and parser.source.text.count("\n", previous_end, piece.start) > 1:
                lines.append("")
            lines += piece.lines
        previous_end = piece.end
        after_line_comment = piece.lines[0].startswith("--")
    return lines


def _pieces(
    parser: Parser, blocks: list[Block], comments: list[Comment], width: int
) -> list[Piece]:
    """Statements and the comments between them, in order."""
    pieces: list[Piece] = []
    for begin, end in blocks:
        start, stop = parser.tokens[begin].span.start, parser.tokens[end - 1].span.end
        inside = [c for c in comments if start < c.span.start < stop]
        pieces.append(Piece(_statement(parser, (begin, end), inside, width), start, stop))
    inner = [(piece.start, piece.end) for piece in pieces]
    for comment in _outside(comments, inner):
        start, stop = comment.span
        pieces.append(Piece([comment.text], start, stop, trailing=not comment.own_line))
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


def _statement(parser: Parser, block: Block, comments: list[Comment], width: int) -> list[str]:
    """One statement with its `;`; annotations stand on lines of their own."""
    begin, end = block
    queries = [inner for inner in parser.inner_blocks if begin < inner[0] < end]
    if queries:
        return _partition(parser, block, queries, comments, width)
    words = _words(parser, block, comments)
    if not (parser.tokens[begin].text == "@" and parser.tokens[begin + 1].keyword == "app"):
        words[-1].text += ";"
    return _layout_parts(words, width)


def _partition(
    parser: Parser, block: Block, queries: list[Block], comments: list[Comment], width: int
) -> list[str]:
    """`partition with (..)`, `begin`, the queries indented, `end`."""
    head = (block[0], queries[0][0])
    body_start = parser.tokens[head[1] - 1].span.start
    before = [comment for comment in comments if comment.span.start < body_start]
    body = _lines(parser, queries, comments[len(before) :], width - len(INDENT))
    indented = [INDENT + line if line else line for line in body]
    return [*_layout_parts(_words(parser, head, before), width), *indented, "end;"]


def _layout_parts(words: list[Word], width: int) -> list[str]:
    """Lines of a statement; a word that starts a line at the margin starts a part."""
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.hard_before and word.clause and parts[-1]:
            parts.append([])
        parts[-1].append(word)
    return [line for part in parts for line in _layout(part, width)]


def _words(parser: Parser, block: Block, comments: list[Comment]) -> list[Word]:
    """Tokens joined where no space stands between them, comments in their places."""
    words: list[Word] = []
    begin, end = block
    waiting = list(reversed(comments))
    depth = 0
    for index in range(begin, end):
        token, role = parser.tokens[index], parser.roles.get(index)
        depth += _nesting(token)
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
        clause = role is Role.CLAUSE or starts_line
        words.append(Word(text, clause, soft, starts_line, depth=depth))
    return words


def _nesting(token: Token) -> int:
    """How much deeper in parentheses the text is behind the token."""
    if token.kind is not TokenKind.SYMBOL:
        return 0
    return (token.text == "(") - (token.text == ")")


def _comment_word(comment: Comment, source: str) -> Word:
    rest = source[comment.span.end :].lstrip(" \t\v\r")
    ends_line = comment.text.startswith("--") or rest.startswith("\n")
    return Word(comment.text, hard_before=comment.own_line, hard_after=ends_line)


def _written(token: Token, role: Role | None, source: str) -> str:
    is_keyword = token.kind is TokenKind.WORD and role in KEYWORDS
    return token.keyword if is_keyword else source[token.span.start : token.span.end]


def _spaced(parser: Parser, index: int) -> bool:
    """Whether a space stands between this token and the one before it."""
    token, before = parser.tokens[index], parser.tokens[index - 1]
    if parser.roles.get(index) is Role.TIGHT:
        return False
    if token.kind is TokenKind.SYMBOL and token.text in NO_SPACE_BEFORE:
        return False
    return not (before.kind is TokenKind.SYMBOL and before.text in NO_SPACE_AFTER)


def _may_break(parser: Parser, index: int) -> bool:
    """Whether an overlong line may break before this token."""
    before = parser.tokens[index - 1]
    joins = parser.tokens[index].keyword in ("and", "or")
    return (joins and parser.roles.get(index) is Role.KEYWORD) or (
        before.kind is TokenKind.SYMBOL and before.text == ","
    )


def _layout(words: list[Word], width: int) -> list[str]:
    """One line when it fits, else a line for each clause."""
    forced = any(word.hard_before and i for i, word in enumerate(words)) or any(
        word.hard_after for word in words[:-1]
    )
    line = " ".join(word.text for word in words)
    if not forced and len(line) <= width and "\n" not in line:
        return [line]
    lines = [words[0].text]
    indent = INDENT
    for before, word in pairwise(words):
        if word.clause or word.hard_before or before.hard_after:
            indent = INDENT * (1 + word.depth)
            lines.append(indent + word.text)
        elif word.soft and len(lines[-1]) + 1 + _reach(words, word) > width:
            lines.append(indent + INDENT + word.text)
        else:
            lines[-1] += " " + word.text
    return lines


def _reach(words: list[Word], first: Word) -> int:
    """Width of a word and those after it that cannot be parted from it."""
    start = next(i for i, word in enumerate(words) if word is first)
    width = len(first.text)
    for word in words[start + 1 :]:
        if word.clause or word.soft or word.hard_before:
            break
        width += 1 + len(word.text)
    return width
