"""The TextMate grammar of `.cep` files, made from the keyword tables.

`python -m cep.lang.textmate` prints it; `editor/cep.tmLanguage.json` is what it prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from cep.lang.errors import Source
from cep.lang.parser import Parser
from cep.lang.tokens import (
    ATTRIBUTE_TYPES,
    CALENDAR_UNITS,
    DEFINITION_KEYWORDS,
    ENGINE_KEYWORDS,
    EXPRESSION_KEYWORDS,
    INPUT_KEYWORDS,
    PARAMETER_KEYWORDS,
    POSITION_KEYWORDS,
    QUERY_KEYWORDS,
    TIME_UNITS_MS,
)

NAME = r"[A-Za-z_]\w*"
CONSTANTS = ("true", "false", "null")
WORD_OPERATORS = ("and", "or", "not", "in", "is")

Rule = dict[str, Any]


def grammar() -> Rule:
    """The grammar as plain data."""
    rules = repository()
    return {
        "name": "CEP rules",
        "scopeName": "source.cep",
        "fileTypes": ["cep"],
        "patterns": [{"include": f"#{name}"} for name in rules],
        "repository": rules,
    }


def repository() -> dict[str, Rule]:
    """Rules in the order in which they are tried at each place."""
    return {
        "comments": _group(
            _match("comment.line.double-dash", r"--.*$"),
            _span("comment.block", r"/\*", r"\*/"),
        ),
        "strings": _group(
            _span("string.quoted.triple", '"""', '"""'),
            _match("string.quoted.double", r'"[^"\r\n]*"'),
            _match("string.quoted.single", r"'[^'\r\n]*'"),
        ),
        "names-in-backticks": _match("variable.other.quoted", r"`[^`\r\n]+`"),
        "annotations": _match("storage.type.annotation", rf"@\s*{NAME}(?:\s*:\s*{NAME})?"),
        "times": _captured(
            rf"\b(\d+)\s*((?i:{_words(TIME_UNITS_MS)}))\b",
            "constant.numeric.time",
            "keyword.other.unit",
        ),
        "calendar-units": _match("keyword.other.unit", _calendar_units()),
        "numbers": _numbers(),
        "windows": _captured(
            rf"(#)\s*((?i:window))\s*(\.)\s*(?:{NAME}\s*:\s*)?({NAME})",
            "keyword.operator.handler",
            "keyword.other",
            "punctuation.accessor",
            "support.function.window",
        ),
        "definitions": _captured(
            rf"\b((?i:define))\s+((?i:{_words(_definitions())}))\s+({NAME})",
            "keyword.other",
            "keyword.other",
            "entity.name.type",
        ),
        "members": _captured(
            rf"(?<=[\w\]])(\.)({NAME})", "punctuation.accessor", "variable.other.member"
        ),
        "constants": _words_rule("constant.language", CONSTANTS),
        "types": _words_rule("storage.type", ATTRIBUTE_TYPES),
        "word-operators": _words_rule("keyword.operator.word", WORD_OPERATORS),
        "keywords": _words_rule("keyword.other", _keywords()),
        "functions": _match("entity.name.function", rf"\b(?:{NAME}\s*:\s*)?{NAME}(?=\s*\()"),
        "operators": _operators(),
        "punctuation": _match("punctuation", r"[;,.:()\[\]{}@]"),
        "names": _match("variable.other", rf"\b{NAME}\b"),
    }


def _calendar_units() -> str:
    """A unit without number: the first behind `every`, and both ends of a range."""
    unit = rf"\b(?i:{_words(word for words in CALENDAR_UNITS.values() for word in words)})\b"
    return rf"(?<=(?i:every) ){unit}|{unit}(?=\s*\.\.\.)|(?<=\.\.\.){unit}|(?<=\.\.\. ){unit}"


def _numbers() -> Rule:
    mantissa = r"(?:\d+(?:\.\d*)?|\.\d+)"
    exponent = r"(?:[eE][-+]?\d+)"
    return _group(
        _match("constant.numeric.float", rf"{mantissa}{exponent}?[fF]\b"),
        _match("constant.numeric.double", rf"{mantissa}{exponent}?[dD]\b"),
        _match("constant.numeric.double", rf"{mantissa}{exponent}|\d*\.\d+"),
        _match("constant.numeric.long", r"\d+[lL]\b"),
        _match("constant.numeric.integer", r"\b\d+"),
    )


def _operators() -> Rule:
    return _group(
        _match("keyword.operator.followed-by", "->"),
        _match("keyword.operator.range", r"\.\.\."),
        _match("keyword.operator.comparison", "==|!=|<=|>=|<|>"),
        _match("keyword.operator.assignment", "="),
        _match("keyword.operator.arithmetic", r"[-+*/%?]"),
        _match("keyword.operator.handler", "[#!]"),
    )


def _definitions() -> Iterable[str]:
    return Parser(Source("")).definitions


def _keywords() -> set[str]:
    """Keywords without those that have a rule of their own."""
    words = DEFINITION_KEYWORDS | QUERY_KEYWORDS | EXPRESSION_KEYWORDS
    words |= INPUT_KEYWORDS | ENGINE_KEYWORDS | PARAMETER_KEYWORDS | POSITION_KEYWORDS
    return set(words) - {*CONSTANTS, *WORD_OPERATORS}


def _words(words: Iterable[str]) -> str:
    """One of the words; longer ones first, so that none hides another."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


def _words_rule(scope: str, words: Iterable[str]) -> Rule:
    return _match(scope, rf"\b(?i:{_words(words)})\b")


def _match(scope: str, pattern: str) -> Rule:
    return {"name": f"{scope}.cep", "match": pattern}


def _span(scope: str, begin: str, end: str) -> Rule:
    return {"name": f"{scope}.cep", "begin": begin, "end": end}


def _captured(pattern: str, *scopes: str) -> Rule:
    """A match whose groups have scopes of their own."""
    captures = {str(i): {"name": f"{scope}.cep"} for i, scope in enumerate(scopes, start=1)}
    return {"match": pattern, "captures": captures}


def _group(*rules: Rule) -> Rule:
    return {"patterns": list(rules)}


def text() -> str:
    """The grammar file."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
