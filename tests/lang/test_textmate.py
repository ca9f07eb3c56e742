"""The editor grammar: it is what the package generates, and it sees what the parser sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cep.lang import textmate
from cep.lang.errors import Source
from cep.lang.parser import Parser
from cep.lang.tokens import ATTRIBUTE_TYPES, KEYWORDS, TIME_UNITS_MS, Role, Token, TokenKind
from tests.lang.textmate import Tokeniser

ROOT = Path(__file__).parents[2]
EDITOR = ROOT / "editor"
RULES = sorted((ROOT / "strategies").rglob("*.cep")) + sorted(
    (ROOT / "tests" / "lang" / "formatted").glob("*.cep")
)
TOKENISER = Tokeniser(textmate.grammar())
KEYWORD_SCOPES = ("keyword.", "storage.type.cep", "constant.language")
NUMBER_SCOPES = {
    TokenKind.INT: ("constant.numeric.integer", "constant.numeric.time"),
    TokenKind.LONG: ("constant.numeric.long",),
    TokenKind.FLOAT: ("constant.numeric.float",),
    TokenKind.DOUBLE: ("constant.numeric.double",),
}


def test_the_file_is_what_the_package_generates() -> None:
    assert (EDITOR / "cep.tmLanguage.json").read_text() == textmate.text()


def test_the_extension_names_the_grammar_and_its_files() -> None:
    manifest = json.loads((EDITOR / "package.json").read_text())
    (language,) = manifest["contributes"]["languages"]
    (grammar,) = manifest["contributes"]["grammars"]
    assert grammar["scopeName"] == textmate.grammar()["scopeName"]
    assert [extension.strip(".") for extension in language["extensions"]] == (
        textmate.grammar()["fileTypes"]
    )
    assert (EDITOR / grammar["path"]).exists()
    assert (EDITOR / language["configuration"]).exists()


def scope_of(text: str, word: str) -> str:
    """The scope of the first place of `word`, which must be the same all along it."""
    start = text.index(word)
    (scope,) = set(TOKENISER.scopes(text)[start : start + len(word)])
    return scope


def expected(token: Token, role: Role | None) -> tuple[str, ...]:
    """What the scope of a token may begin with, from what the parser took it for."""
    if token.kind in NUMBER_SCOPES:
        return NUMBER_SCOPES[token.kind]
    if token.kind is TokenKind.STRING:
        return ("string.quoted",)
    if token.kind is TokenKind.QUOTED:
        return ("variable.other",)
    if token.kind is TokenKind.SYMBOL:
        inside_a_name = ("storage.type.annotation", "entity.name.function")
        return ("punctuation", "keyword.operator", *(inside_a_name if token.text in "@:" else ()))
    if role in (Role.KEYWORD, Role.CLAUSE, Role.LINE):
        return KEYWORD_SCOPES
    names = ("variable.other", "entity.name", "support.function", "storage.type.annotation")
    return names + (KEYWORD_SCOPES if token.keyword in KEYWORDS else ())


def wrong_scopes(text: str) -> list[tuple[str, str]]:
    """Tokens and comments of a rule text with a scope they should not have."""
    parser = Parser(Source(text))
    parser.script()
    scopes = TOKENISER.scopes(text)
    wrong = [
        (comment.text, scopes[comment.span.start])
        for comment in parser.comments
        if not scopes[comment.span.start].startswith("comment.")
    ]
    for index, token in enumerate(parser.tokens[:-1]):
        found = set(scopes[token.span.start : token.span.end])
        written = text[token.span.start : token.span.end]
        is_parameter = token.kind in NUMBER_SCOPES and written.isidentifier()
        allowed = ("variable.other",) if is_parameter else expected(token, parser.roles.get(index))
        wrong += [(token.text, scope) for scope in found if not scope.startswith(allowed)]
    return wrong


@pytest.mark.parametrize("path", RULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_rule_files_get_the_expected_scopes(path: Path) -> None:
    assert wrong_scopes(path.read_text()) == []


def test_there_are_rule_files() -> None:
    assert len(RULES) >= 5


@pytest.mark.parametrize("word", sorted(KEYWORDS | set(ATTRIBUTE_TYPES)))
def test_every_keyword_is_one_in_any_case(word: str) -> None:
    assert scope_of(f"( {word} )", word).startswith(KEYWORD_SCOPES)
    assert scope_of(f"( {word.upper()} )", word.upper()).startswith(KEYWORD_SCOPES)


@pytest.mark.parametrize("word", sorted(KEYWORDS))
def test_a_word_that_only_begins_like_a_keyword_is_a_name(word: str) -> None:
    assert scope_of(f"( {word}x )", f"{word}x").startswith("variable.other")


@pytest.mark.parametrize("unit", sorted(TIME_UNITS_MS))
def test_every_unit_of_time(unit: str) -> None:
    assert scope_of(f"5 {unit}", "5") == "constant.numeric.time.cep"
    assert scope_of(f"5{unit};", unit) == "keyword.other.unit.cep"


@pytest.mark.parametrize(
    ("text", "word", "scope"),
    [
        ("a -- why\nb", "-- why", "comment.line.double-dash.cep"),
        ("a /* b\n c */ d", "/* b\n c */", "comment.block.cep"),
        ('a """b "c"\n""" d', '"""b "c"\n"""', "string.quoted.triple.cep"),
        ("a 'b -- c' d", "'b -- c'", "string.quoted.single.cep"),
        ('a "b\'c" d', '"b\'c"', "string.quoted.double.cep"),
        ("`two words`", "`two words`", "variable.other.quoted.cep"),
        ("@app:name('x')", "@app:name", "storage.type.annotation.cep"),
        ("1.5f", "1.5f", "constant.numeric.float.cep"),
        ("1e-3", "1e-3", "constant.numeric.double.cep"),
        ("a1 > 7L", "7L", "constant.numeric.long.cep"),
        ("define stream Tick (a int)", "Tick", "entity.name.type.cep"),
        ("S#window.time(5 min)", "time", "support.function.window.cep"),
        ("S#window.time(5 min)", "window", "keyword.other.cep"),
        ("math:abs(x)", "math:abs", "entity.name.function.cep"),
        ("S.select", "select", "variable.other.member.cep"),
        ("e1[0].price", "price", "variable.other.member.cep"),
        ("A -> B", "->", "keyword.operator.followed-by.cep"),
        ("sec ... year", "...", "keyword.operator.range.cep"),
        ("a != b", "!=", "keyword.operator.comparison.cep"),
        ("e1 = A", "=", "keyword.operator.assignment.cep"),
        ("from #inner", "#", "keyword.operator.handler.cep"),
    ],
)
def test_single_words(text: str, word: str, scope: str) -> None:
    assert scope_of(text, word) == scope
