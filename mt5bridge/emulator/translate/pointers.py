"""Objects and pointers: `Type *name`, new, delete, this, & and the dot."""

from __future__ import annotations

from itertools import pairwise

from mt5bridge.emulator.translate.errors import TranslationError
from mt5bridge.emulator.translate.literals import write_define
from mt5bridge.emulator.translate.scan import (
    CLOSING,
    is_operator,
    is_word,
    operand_end,
    operand_start,
    partners,
)
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_MIXED = (
    "a pointer and what is none in one declaration",
    "declare pointers and objects in lines of their own",
)
_BEFORE_UNARY = frozenset("( , = [ { ; ? : && || == != ! return < > <= >= + - * / += case".split())


def type_names(tokens: list[Token]) -> set[str]:
    """Names of classes, structures, unions and enumerations of the program, and of templates."""
    names = set()
    for word, name in pairwise(tokens):
        if word.text in ("class", "struct", "union", "enum", "typename") and is_word(name):
            names.add(name.text)
    return names


def rewrite_pointer_types(tokens: list[Token], types: set[str]) -> tuple[list[Token], set[str]]:
    """`Type *` as `mql::ptr<Type>`; also the names that are declared as pointers."""
    out: list[Token] = []
    names: set[str] = set()
    pairs = partners(tokens)
    dropped: set[int] = set()
    for index, token in enumerate(tokens):
        if index in dropped:
            names |= _declared(tokens, index + 1)
            continue
        if not (is_operator(token, "*") and out and _is_pointer(tokens, index, types)):
            _refuse_later_star(tokens, pairs, index, types)
            out.append(token)
            continue
        pointed = _pointed(out)
        const = ""
        if out and out[-1].text == "const":
            const = "const "
            out.pop()
        text = f"mql::ptr<{const}{pointed.text}>"
        out.append(Token(TokenKind.TYPE, text, pointed.file, pointed.line, pointed.column))
        names |= _declared(tokens, index + 1)
        dropped |= _other_stars(tokens, pairs, index)
    return out, names


def _is_pointer(tokens: list[Token], index: int, types: set[str]) -> bool:
    start = _type_start(tokens, index - 1)
    if tokens[start].text not in types or index + 1 == len(tokens):
        return False
    following = tokens[index + 1]
    if is_operator(following, "*"):
        raise following.error("a pointer to a pointer", "use an array of pointers")
    return is_word(following) or is_operator(following, (")", ">", ",", "&", "["))


def _type_start(tokens: list[Token], end: int) -> int:
    """Where the type that ends here begins: `Map<int, string>` or a name."""
    depth, at = 0, end
    while at > 0:
        depth += is_operator(tokens[at], ">") - is_operator(tokens[at], "<")
        if depth == 0:
            return at - 1 if is_operator(tokens[at], "<") else at
        if not (is_word(tokens[at]) or is_operator(tokens[at], "<>,")):
            return end
        at -= 1
    return end


def _pointed(out: list[Token]) -> Token:
    """Takes the type that a pointer points to from the end of the list."""
    start = _type_start(out, len(out) - 1)
    type_ = out[start]
    text = "".join(one.text for one in out[start:])
    del out[start:]
    return Token(type_.kind, text, type_.file, type_.line, type_.column)


def _declared(tokens: list[Token], index: int) -> set[str]:
    """The name behind `Type *`, also behind `Class::`."""
    if is_operator(tokens[index], "&"):
        index += 1
    if not is_word(tokens[index]):
        return set()
    while is_operator(tokens[index + 1], ("::",)):
        index += 2
    return {tokens[index].text}


def _other_stars(tokens: list[Token], pairs: dict[int, int], star: int) -> set[int]:
    """The stars of `*b` and `*c` in `Type *a = NULL, *b, *c;`: the type says it of all of them.

    In a list of parameters each has a type of its own.
    """
    commas = [star, *_commas(tokens, pairs, star + 1)]
    stars = {comma + 1 for comma in commas[1:] if is_operator(tokens[comma + 1], "*")}
    for comma in commas[1:] if stars or _declares_more(tokens, commas) else ():
        if comma + 1 not in stars:
            raise tokens[comma + 1].error(*_MIXED)
    return stars


def _declares_more(tokens: list[Token], commas: list[int]) -> bool:
    """Whether `Type *a, b;` is one declaration and not the beginning of parameters."""
    return all(
        is_word(tokens[comma + 1]) and is_operator(tokens[comma + 2], "=,;[(")
        for comma in commas[1:]
    )


def _refuse_later_star(
    tokens: list[Token], pairs: dict[int, int], index: int, types: set[str]
) -> None:
    """`Type a, *b;`."""
    if tokens[index].text not in types or not is_word(tokens[index + 1]):
        return
    before = tokens[index - 1] if index else None
    if before is None or is_operator(before, "{};:") or before.text in ("const", "static"):
        for comma in _commas(tokens, pairs, index + 1):
            if is_operator(tokens[comma + 1], "*"):
                raise tokens[comma + 1].error(*_MIXED)


def _commas(tokens: list[Token], pairs: dict[int, int], at: int) -> list[int]:
    """The commas up to the end of the statement, or of the brackets it stands in."""
    found = []
    while at + 1 < len(tokens) and not is_operator(tokens[at], ";)]}"):
        if is_operator(tokens[at], ","):
            found.append(at)
        elif is_operator(tokens[at], "{") and not is_operator(tokens[at - 1], "="):
            break  # the body of a function
        skips = is_operator(tokens[at], CLOSING)
        at = pairs[at] + 1 if skips else _behind_types(tokens, at)
    return found


def _behind_types(tokens: list[Token], at: int) -> int:
    """What follows, behind the `<int, string>` of a template if it stands here."""
    end = at + 1
    while is_operator(tokens[at], "<") and (
        is_word(tokens[end]) or is_operator(tokens[end], ("<", ",", "*"))
    ):
        end += 1
    return end + 1 if is_operator(tokens[end], ">") else at + 1


def rewrite_objects(tokens: list[Token], pointers: set[str]) -> list[Token]:
    """new, delete, this, dynamic_cast, `&object` and the dot behind pointers."""
    tokens = _rewrite_casts(tokens)
    pairs = partners(tokens)
    for token in tokens:
        if token.kind is TokenKind.DIRECTIVE and _is_balanced(token.body):
            end = Token(TokenKind.OPERATOR, ";", token.file, token.line, token.column)
            token.body = rewrite_objects([*token.body, end], pointers)[:-1]
            write_define(token)
    for index, token in enumerate(tokens):
        previous = tokens[index - 1] if index else None
        if token.text == "this" and token.kind is TokenKind.NAME:
            _rewrite_this(token, tokens[index + 1])
        elif token.text == "new" and token.kind is TokenKind.NAME:
            token.wrap(_new_end(tokens, pairs, index), "mql::own")
        elif token.text == "delete" and token.kind is TokenKind.NAME:
            _rewrite_delete(tokens, pairs, index)
        elif is_operator(token, "&") and previous is not None:
            _rewrite_address(tokens, pairs, index)
        elif is_operator(token, (".",)):
            _rewrite_dot(tokens, pairs, index, pointers)
        elif is_operator(token, ("::",)) and previous is not None and _begins_a_name(previous):
            token.text = "mql::"
    return tokens


def _is_balanced(tokens: list[Token]) -> bool:
    try:
        partners(tokens)
    except TranslationError:
        return False
    return bool(tokens)


def _begins_a_name(previous: Token) -> bool:
    """Whether a `::` behind this token has no class in front of it."""
    return not (is_word(previous) or is_operator(previous, ">"))


def _rewrite_casts(tokens: list[Token]) -> list[Token]:
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == "dynamic_cast":
            pointed = tokens[index + 2]
            if pointed.kind is not TokenKind.TYPE:
                raise token.error(
                    "dynamic_cast to what is no pointer", "write dynamic_cast<T *>(p)"
                )
            inner = pointed.text.removeprefix("mql::ptr<").removesuffix(">")
            token.text = f"mql::cast_pointer<{inner}>"
            index += 3
        out.append(token)
        index += 1
    return out


def _rewrite_this(token: Token, following: Token) -> None:
    token.text = "(*this)" if is_operator(following, ".") else "mql::GetPointer(*this)"


def _new_end(tokens: list[Token], pairs: dict[int, int], index: int) -> Token:
    end = index + 1
    if is_operator(tokens[end + 1], "<"):
        while _type_start(tokens, end) != index + 1 or not is_operator(tokens[end], ">"):
            end += 1
    if is_operator(tokens[end + 1], "("):
        end = pairs[end + 1]
    return tokens[end]


def _rewrite_delete(tokens: list[Token], pairs: dict[int, int], index: int) -> None:
    token = tokens[index]
    if is_operator(tokens[index + 1], "["):
        raise token.error("delete[] is not MQL5", "delete each object, then ArrayFree")
    token.text = "mql::dispose("
    tokens[operand_end(tokens, pairs, index + 1)].after += ")"


def _rewrite_address(tokens: list[Token], pairs: dict[int, int], index: int) -> None:
    previous, following = tokens[index - 1], tokens[index + 1]
    if previous.text not in _BEFORE_UNARY or not is_word(following):
        return
    tokens[index].text = "mql::GetPointer("
    tokens[operand_end(tokens, pairs, index + 1)].after += ")"


def _rewrite_dot(
    tokens: list[Token], pairs: dict[int, int], index: int, pointers: set[str]
) -> None:
    start, name = operand_start(tokens, pairs, index - 1)
    if not name or name in pointers:
        tokens[start].wrap(tokens[index - 1], "mql::ref")
