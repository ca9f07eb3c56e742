"""Declarations that g++ takes and MQL5's reference does not have or forbids."""

from __future__ import annotations

from itertools import pairwise

from mt5bridge.emulator.translate.scan import PLAIN_TYPES, is_operator
from mt5bridge.emulator.translate.tokens import Token, TokenKind

_STRUCTURES = frozenset(
    "MqlTick MqlRates MqlDateTime MqlParam MqlBookInfo MqlTradeRequest MqlTradeResult "
    "MqlTradeCheckResult MqlTradeTransaction MqlCalendarCountry MqlCalendarEvent "
    "MqlCalendarValue".split()
)
_NO_OPERATOR = frozenset(("new", "delete", "(", ",", "."))


class Declarations:
    """The types a program declares, and the rules for their use."""

    def __init__(self, tokens: list[Token], pairs: dict[int, int]) -> None:
        self._tokens, self._pairs = tokens, pairs
        self._without_pointer = set(_STRUCTURES) | PLAIN_TYPES
        self._objects = set(_STRUCTURES)
        for word, name in pairwise(tokens):
            if word.text in ("struct", "union"):
                self._without_pointer.add(name.text)
            if word.text in ("struct", "union", "class"):
                self._objects.add(name.text)

    def check(self, index: int, inside: str) -> None:
        """Raise TranslationError if what begins here is no declaration of MQL5.

        `inside` is the innermost bracket that the token stands in.
        """
        token = self._tokens[index]
        if token.kind is not TokenKind.NAME:
            self._check_function_pointer(index)
        elif token.text in ("class", "struct", "union", "enum"):
            self._check_head(index)
        elif token.text == "template":
            self._check_template(index)
        elif token.text == "operator":
            self._check_operator(index, inside)
        elif token.text == "typedef":
            self._check_typedef(index)
        else:
            self._check_type(index, inside)

    def _check_type(self, index: int, inside: str) -> None:
        token, following = self._tokens[index], self._tokens[index + 1]
        if token.text in self._without_pointer and is_operator(following, "*"):
            raise following.error(
                f"a pointer to {token.text}", "only classes have pointers; pass it by reference"
            )
        self._check_bits(index)
        if inside != "(":
            return
        before, behind = self._tokens[index - 1], self._tokens[index + 2]
        begins = is_operator(before, "(,") or before.text == "const"
        if begins and token.text in self._objects and following.kind is TokenKind.NAME:
            if is_operator(behind, ("=", ",", ")")):
                raise token.error(
                    f"{following.text} is passed by value", f"objects need &: {token.text} &"
                )
        elif is_operator(before, "&") and self._tokens[index - 2].kind is TokenKind.NAME:
            self._check_default(index)

    def _check_default(self, index: int) -> None:
        """`T &name = value` and `T &name[] = value`."""
        at = index + 1
        while is_operator(self._tokens[at], "["):
            at = self._pairs[at] + 1
        opens = (
            is_operator(self._tokens[index - 3], "(,") or self._tokens[index - 3].text == "const"
        )
        if opens and is_operator(self._tokens[at], ("=",)):
            raise self._tokens[at].error(
                "a reference with a default value", "overload the function"
            )

    def _check_bits(self, index: int) -> None:
        name, colon, number, end = self._tokens[index + 1 : index + 5]
        if name.kind is TokenKind.NAME and is_operator(colon, ":"):
            known = self._tokens[index].text in PLAIN_TYPES
            if known and number.kind is TokenKind.NUMBER and is_operator(end, ";"):
                raise colon.error("a member of some bits", "use masks and shifts")

    def _check_head(self, index: int) -> None:
        """`class A : public B, public C` and `enum E : uchar`."""
        at = index + 1
        colon = 0
        while not is_operator(self._tokens[at], "{;()=>"):
            if is_operator(self._tokens[at], ":"):
                colon = at
            elif colon and is_operator(self._tokens[at], ",<"):
                break
            at += 1
        if colon and is_operator(self._tokens[at], ","):
            raise self._tokens[at].error("more than one base", "MQL5 has single inheritance")
        if colon and self._tokens[index].text == "enum" and is_operator(self._tokens[at], "{"):
            raise self._tokens[colon].error("an enumeration with a type", "it always is an int")

    def _check_template(self, index: int) -> None:
        token = self._tokens[index]
        at = index + 2
        if is_operator(self._tokens[at], ">"):
            raise token.error("a template's specialization", "overload the function")
        while not is_operator(self._tokens[at - 1], ">"):
            word, name, end = self._tokens[at : at + 3]
            if word.text != "typename" or name.kind is not TokenKind.NAME:
                raise word.error("a template parameter that is no type", "write typename T")
            if not is_operator(end, ",>"):
                raise end.error("a template parameter with more than a name", "write typename T")
            at += 3

    def _check_operator(self, index: int, inside: str) -> None:
        following = self._tokens[index + 1]
        if following.kind is TokenKind.NAME or following.text in _NO_OPERATOR:
            raise self._tokens[index].error(
                f"operator {following.text} cannot be overloaded", "write a method"
            )
        if not inside and not is_operator(self._tokens[index - 1], ("::",)):
            raise self._tokens[index].error("an operator outside of classes", "make it a method")

    def _check_typedef(self, index: int) -> None:
        at = index
        while not is_operator(self._tokens[at], ";"):
            if is_operator(self._tokens[at], "(") and is_operator(self._tokens[at + 1], "*"):
                return
            at += 1
        raise self._tokens[index].error("typedef of a type", "it names types of functions only")

    def _check_function_pointer(self, index: int) -> None:
        """`int (*name)(int)` without typedef."""
        here = self._tokens[index : index + 5]
        brackets = (here[0], here[3], here[4])
        if not all(map(is_operator, brackets, "()(")) or not is_operator(here[1], "*"):
            return
        before, first = self._tokens[index - 1], self._tokens[index - 2]
        if before.text in PLAIN_TYPES and first.text != "typedef":
            raise here[1].error("a pointer to a function", "give its type a name with typedef")
