"""Declarations of arrays: `T a[]`, `T a[8]`, `T &a[]`, lists of declarators."""

from __future__ import annotations

from dataclasses import dataclass

from mt5bridge.emulator.translate.scan import CLOSING, NOT_TYPES, OPENING, is_operator, partners
from mt5bridge.emulator.translate.tokens import Token, TokenKind


@dataclass(slots=True)
class Declarator:
    """One name of a declaration: its dimensions (empty text: dynamic) and the rest of it."""

    name: Token
    dimensions: list[list[Token]]
    rest: list[Token]


def rewrite_arrays(tokens: list[Token]) -> list[Token]:
    """The tokens with every array's declaration as C++ has it."""
    pairs = partners(tokens)
    out: list[Token] = []
    stack: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.kind is TokenKind.OPERATOR and token.text in CLOSING:
            stack.append(token.text)
        elif token.kind is TokenKind.OPERATOR and token.text in OPENING:
            stack.pop()
        inside = stack[-1] if stack else "{"
        step = 0
        if _is_type(token) and inside == "(":
            step = _parameter(tokens, pairs, index, out)
        elif _is_type(token) and inside == "{":
            step = _statement(tokens, pairs, index, out)
        if step:
            index += step
        else:
            out.append(token)
            index += 1
    return out


def _is_type(token: Token) -> bool:
    return token.kind is TokenKind.TYPE or (
        token.kind is TokenKind.NAME and token.text not in NOT_TYPES
    )


def _copy(like: Token, text: str, kind: TokenKind = TokenKind.TYPE) -> Token:
    return Token(kind, text, like.file, like.line, like.column)


def _source(tokens: list[Token]) -> str:
    return " ".join(f"{token.before}{token.text}{token.after}" for token in tokens)


def _parameter(tokens: list[Token], pairs: dict[int, int], index: int, out: list[Token]) -> int:
    """Rewrites `T &name[]` in a parameter list; how many tokens that were."""
    type_, by_reference = tokens[index], is_operator(tokens[index + 1], "&")
    at = index + 1 + by_reference
    if tokens[at].kind is not TokenKind.NAME or not is_operator(tokens[at + 1], "["):
        return 0
    if not by_reference:
        raise tokens[at].error("an array is not passed by value", f"write &{tokens[at].text}[]")
    dimensions, end = _dimensions(tokens, pairs, at + 1)
    element = _nested(type_.text, dimensions[1:])
    if out and out[-1].text == "const":
        out.pop()
        element = f"const {element}"
    out += [_copy(type_, f"mql::array_ref<{element}>"), tokens[at]]
    return end - index


def _statement(tokens: list[Token], pairs: dict[int, int], index: int, out: list[Token]) -> int:
    """Rewrites `T a[], b[4] = {...}, c;` if one of them is an array; how many tokens it was."""
    if index + 2 >= len(tokens) or tokens[index + 1].kind is not TokenKind.NAME:
        return 0
    start = index + 1
    while is_operator(tokens[start + 1], ("::",)):
        start += 2  # a static member of a class
    declarators, end = _declarators(tokens, pairs, start)
    if not any(declarator.dimensions for declarator in declarators):
        return 0
    qualifiers = _qualifiers(out)
    for position, declarator in enumerate(declarators):
        _check_count(declarator)
        if position:
            out += [_copy(token, token.text) for token in qualifiers]
        type_ = _array_type(tokens[index].text, declarator.dimensions)
        like = tokens[index] if not position else declarator.name
        owner = tokens[index + 1 : start] if not position else []
        out += [_copy(like, type_), *owner, declarator.name, *declarator.rest]
        out.append(_copy(declarator.name, ";", TokenKind.OPERATOR))
    out[-1].comment = tokens[end].comment
    return end + 1 - index


def _check_count(declarator: Declarator) -> None:
    """More values than elements, where the size is a plain number."""
    groups = [declarator.rest[1:]] if declarator.rest else []
    for dimension in declarator.dimensions:
        groups = [group for group in groups if group and is_operator(group[0], "{")]
        is_known = len(dimension) == 1 and dimension[0].text.isdigit()
        values = [_values(group[1:-1]) for group in groups]
        most = max(map(len, values), default=0)
        if is_known and most > int(dimension[0].text):
            raise declarator.name.error(
                f"{most} values for {dimension[0].text} elements", "leave the size out, or raise it"
            )
        groups = [value for group in values for value in group]


def _values(tokens: list[Token]) -> list[list[Token]]:
    """What stands between the commas."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += is_operator(token, CLOSING) - is_operator(token, OPENING)
        if is_operator(token, ",") and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [value for value in found if value]


def _qualifiers(out: list[Token]) -> list[Token]:
    found: list[Token] = []
    for token in reversed(out):
        if token.text not in ("const", "static", "input", "sinput", "extern"):
            break
        found.insert(0, token)
    return found


def _declarators(
    tokens: list[Token], pairs: dict[int, int], index: int
) -> tuple[list[Declarator], int]:
    """The declarators from `index` on and where their `;` is; none if it is no such statement."""
    found: list[Declarator] = []
    while index + 1 < len(tokens) and tokens[index].kind is TokenKind.NAME:
        name = tokens[index]
        dimensions, index = _dimensions(tokens, pairs, index + 1)
        start = index
        if not is_operator(tokens[index], ("=", ",", ";")):
            return [], index
        while not is_operator(tokens[index], (",", ";")):
            index = pairs[index] + 1 if is_operator(tokens[index], CLOSING) else index + 1
            if index >= len(tokens) or is_operator(tokens[index], OPENING):
                return [], index
        found.append(Declarator(name, dimensions, tokens[start:index]))
        if is_operator(tokens[index], ";"):
            return found, index
        index += 1
    return [], index


def _dimensions(
    tokens: list[Token], pairs: dict[int, int], index: int
) -> tuple[list[list[Token]], int]:
    dimensions = []
    while is_operator(tokens[index], "["):
        dimensions.append(tokens[index + 1 : pairs[index]])
        index = pairs[index] + 1
    return dimensions, index


def _nested(element: str, dimensions: list[list[Token]]) -> str:
    for dimension in reversed(dimensions):
        element = f"mql::fixed<{element}, ({_source(dimension)})>"
    return element


def _array_type(element: str, dimensions: list[list[Token]]) -> str:
    if not dimensions:
        return element
    if dimensions[0]:
        return _nested(element, dimensions)
    return f"mql::array<{_nested(element, dimensions[1:])}>"
