"""Reference parameters: MQL5 takes a variable for each, for those that are `const` too.

C++ lets a value stand where `const T &` is wanted and makes a hidden variable of it; MetaEditor
says "parameter passed as reference, variable expected". So each function with reference parameters
gets an overload for values that cannot be called, and says why. A member that is reached through a
call or through a const object is no variable either; `mql::argument` tells such arguments apart.
"""

from __future__ import annotations

from itertools import combinations

from mt5bridge.emulator.translate.scan import (
    CLOSING,
    NOT_TYPES,
    is_operator,
    is_word,
    operand_start,
    partners,
)
from mt5bridge.emulator.translate.tokens import Token, TokenKind

RULE = (
    "a reference parameter takes a variable; put the value (or the member of a const object, or of "
    "what a function returns) into a variable first"
)
_TOGETHER_MAX = 3  # so many references can be values in one call and still give this message
_NO_CALL = NOT_TYPES | {"if", "while", "for", "switch", "sizeof", "(int)sizeof", "defined"}
_SCOPES = frozenset(("class", "struct", "union"))


def refuse_values(tokens: list[Token]) -> None:
    """Behind each function with reference parameters its overloads for values."""
    pairs = partners(tokens)
    _scope(tokens, pairs, 0, len(tokens))


def _scope(tokens: list[Token], pairs: dict[int, int], index: int, end: int) -> None:
    """The declarations of a class, or the outermost ones.

    Outside of classes `T name(a & b);` may be a variable, and a prototype comes before
    its function.
    """
    start, outermost = index, index == 0
    while index < end:
        token = tokens[index]
        if is_operator(token, "{"):
            if any(one.text in _SCOPES for one in tokens[start:index]):
                _scope(tokens, pairs, index + 1, pairs[index])
            index = pairs[index]
            start = index + 1
        elif is_operator(token, "(") and _is_declared(tokens, start, index):
            index = _function(tokens, pairs, start, index, only_bodies=outermost)
            start = index + 1
        elif is_operator(token, "("):
            index = pairs[index]
        elif is_operator(token, ";:}") or token.kind is TokenKind.DIRECTIVE:
            start = index + 1
        index += 1


def _is_declared(tokens: list[Token], start: int, bracket: int) -> bool:
    name = tokens[bracket - 1]
    head = tokens[start : bracket - 1]
    if name.kind is not TokenKind.NAME or any(is_operator(one, ("=", "::", "~")) for one in head):
        return False
    return not any(one.text in ("operator", "typedef", "input", "enum") for one in (*head, name))


def _function(
    tokens: list[Token], pairs: dict[int, int], start: int, bracket: int, *, only_bodies: bool
) -> int:
    """Writes the overloads of one function; where its declaration ends."""
    at = pairs[bracket] + 1
    while not is_operator(tokens[at], ("{", ";")):
        at = pairs[at] + 1 if is_operator(tokens[at], CLOSING) else at + 1
    end = pairs[at] if is_operator(tokens[at], "{") else at
    parameters = _parameters(tokens[bracket + 1 : pairs[bracket]])
    own = tokens[bracket - 1].text
    copies = len(parameters) == 1 and any(one.text == own for one in parameters[0])
    if (only_bodies and end == at) or copies or not any(_is_reference(one) for one in parameters):
        return end
    head = " ".join(_text(one) for one in tokens[start:bracket] if one.text != "virtual")
    const = " const" if tokens[pairs[bracket] + 1].text == "const" else ""
    for given in _choices([_is_reference(one) for one in parameters]):
        listed = ", ".join(
            _value(one) if position in given else " ".join(map(_text, one))
            for position, one in enumerate(parameters)
        )
        tokens[end].after += f' {head}({listed}){const} __attribute__((unavailable("{RULE}")));'
    return end


def _choices(references: list[bool]) -> list[set[int]]:
    """Which of the references are values: every choice of a few, each alone of many."""
    places = [position for position, is_reference in enumerate(references) if is_reference]
    most = len(places) if len(places) <= _TOGETHER_MAX else 1
    return [set(one) for count in range(1, most + 1) for one in combinations(places, count)]


def _parameters(tokens: list[Token]) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += is_operator(token, "(<{[") - is_operator(token, ")>}]")
        if is_operator(token, ",") and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [one for one in found if one]


def _is_reference(parameter: list[Token]) -> bool:
    return any(is_operator(one, "&") for one in parameter)


def _value(parameter: list[Token]) -> str:
    text = " ".join(
        _text(one).replace("&", "&&") if is_operator(one, "&") else _text(one) for one in parameter
    )
    return text if parameter[0].text == "const" else f"const {text}"


def _text(token: Token) -> str:
    return f"{token.before}{token.text}{token.after}"


def mark_members(tokens: list[Token]) -> None:
    """`mql::argument` around each argument that is a member of something."""
    pairs = partners(tokens)
    for index, token in enumerate(tokens):
        if token.kind is TokenKind.STRING and is_argument(tokens, pairs, index):
            token.wrap(token, "mql::string")  # no variable, as MQL_TEXT is
        if not is_operator(token, ",)") or not _ends_in_member(tokens, index - 1):
            continue
        start = operand_start(tokens, pairs, index - 1)[0]
        if start and is_operator(tokens[start - 1], ",(") and _is_call(tokens, pairs, start - 1):
            owner = tokens[start : _last_dot(tokens, index - 1)]
            by_call = any(is_operator(one, ")") for one in owner)
            type_ = "void" if by_call else f"decltype(({' '.join(map(_text, owner))}))"
            tokens[start].before = f"mql::argument<{type_}>({tokens[start].before}"
            tokens[index - 1].after += ")"


def is_argument(tokens: list[Token], pairs: dict[int, int], index: int) -> bool:
    """Whether a word is by itself an argument of a call."""
    ends = is_operator(tokens[index - 1], ",(") and is_operator(tokens[index + 1], ",)")
    return ends and _is_call(tokens, pairs, index - 1)


def _is_call(tokens: list[Token], pairs: dict[int, int], index: int) -> bool:
    """Whether the comma or bracket at `index` is one of a call's."""
    opening = _opening(tokens, pairs, index)
    before = tokens[opening - 1]
    return bool(opening) and is_word(before) and before.text not in _NO_CALL


def _ends_in_member(tokens: list[Token], index: int) -> bool:
    return index > 1 and is_word(tokens[index]) and is_operator(tokens[index - 1], (".",))


def _last_dot(tokens: list[Token], index: int) -> int:
    while not is_operator(tokens[index], (".",)):
        index -= 1
    return index


def _opening(tokens: list[Token], pairs: dict[int, int], index: int) -> int:
    """The bracket of the call that the comma or bracket at `index` belongs to; 0: none."""
    while not is_operator(tokens[index], "("):
        if is_operator(tokens[index], "{;["):
            return 0
        index = pairs[index] - 1 if is_operator(tokens[index], ")]}") else index - 1
        if index <= 0:
            return 0
    return index
