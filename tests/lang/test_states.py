"""Patterns and sequences to trees."""

from __future__ import annotations

import pytest

from cep.lang import RuleError, ast, parse
from tests.lang.shown import shown


def match(text: str) -> ast.StateInput:
    (node,) = parse(f"from {text} select * insert into T").statements
    assert isinstance(node, ast.Query)
    assert isinstance(node.source, ast.StateInput)
    return node.source


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("e1=A", "e1=A"),
        ("every A", "(every A)"),
        ("A -> B", "(A B)"),
        ("A[x]#f() -> B", "(A[x]#f() B)"),
        ("e1=A -> e2=B -> e3=C", "(e1=A (e2=B e3=C))"),
        ("(A -> B) -> C", "((A B) C)"),
        ("every A -> B", "((every A) B)"),
        ("every (A -> B)", "(every (A B))"),
        ("A -> every (B -> C)", "(A (every (B C)))"),
        ("every (A -> B) -> every C", "((every (A B)) (every C))"),
        ("every e1=A<2:5> -> B", "((every e1=A<2:5>) B)"),
        ("A<2> -> B<3:> -> C<:4>", "(A<2:2> (B<3:None> C<None:4>))"),
        ("A and B -> C", "((and A B) C)"),
        ("every (e1=A and e2=B) -> C", "((every (and e1=A e2=B)) C)"),
        ("e1=A or e2=B", "(or e1=A e2=B)"),
        ("not A for 1 sec", "(not A 1000ms)"),
        ("every not A[x] for 1 sec -> B", "((every (not A[x] 1000ms)) B)"),
        ("not A and e2=B", "(and (not A) e2=B)"),
        ("e1=A -> (not B[x] and e3=C)", "(e1=A (and (not B[x]) e3=C))"),
        ("not A for 1 sec or not B for 2 sec", "(or (not A 1000ms) (not B 2000ms))"),
        ("#A -> !B", "(#A !B)"),
        ("A -> (B -> C within 1 sec)", "(A (within 1000ms (B C)))"),
        ("(A -> B) within 1 sec -> C", "((within 1000ms (A B)) C)"),
        ("every (A -> B within 1 sec) -> C", "((every (within 1000ms (A B))) C)"),
        ("((A) -> ((B)))", "(A B)"),
    ],
)
def test_patterns(text: str, tree: str) -> None:
    node = match(text)
    assert (node.kind, shown(node.state), node.within) == ("pattern", tree, None)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A, B", "(A B)"),
        ("every e1=A, e2=B+, e3=C", "((every e1=A) (e2=B+ e3=C))"),
        ("A*, B?, C<2:>", "(A* (B? C<2:None>))"),
        ("(A, B), C", "((A B) C)"),
        ("A and B, C", "((and A B) C)"),
        ("not A for 1 sec, B", "((not A 1000ms) B)"),
    ],
)
def test_sequences(text: str, tree: str) -> None:
    node = match(text)
    assert (node.kind, shown(node.state)) == ("sequence", tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("A -> B within 1 min", "(A B)"),
        ("A -> (B -> C) within 1 min", "(A (B C))"),
        ("every (A -> B) within 1 min", "(every (A B))"),
        ("A, B within 1 min", "(A B)"),
        ("A within 1 min", "A"),
    ],
)
def test_the_last_within_is_that_of_the_whole(text: str, tree: str) -> None:
    node = match(text)
    assert shown(node.state) == tree
    assert node.within is not None and node.within.ms == 60_000


def test_symbols_stand_for_numbers() -> None:
    node = match("A*, B+, C?").state
    counts = []
    while isinstance(node, ast.NextState):
        counts.append(node.left)
        node = node.right
    bounds = [(c.least, c.most) for c in (*counts, node) if isinstance(c, ast.CountState)]
    assert bounds == [(0, None), (1, None), (0, 1)]


def test_references_to_events() -> None:
    node = match("e1=A[e1 is null and x is null] -> e2=B[e1.a == e1[last].b and e1 is null]")
    assert shown(node.state) == (
        "(e1=A[(and (null? @e1) (null? x))] e2=B[(and (== e1.a e1[last-0].b) (null? @e1))])"
    )


def test_a_stream_may_be_called_every_or_not() -> None:
    (node,) = parse("from every[a > 1] select a insert into T").statements
    assert isinstance(node, ast.Query)
    assert shown(node.source) == "every[(> a 1)]"


@pytest.mark.parametrize(
    "text",
    [
        "A -> B, C",
        "(A, B) -> C",
        "A, every B",
        "every (A, B)",
        "A+ -> B",
        "e1=A*",
        "A<2> and B",
        "A and B and C",
        "(A -> B) and C",
        "(A -> B)<2>",
        "not A -> B",
        "not A or B",
        "not A and not B",
        "not e1=A for 1 sec",
        "not A<2> for 1 sec",
        "not (A -> B) for 1 sec",
        "A#window.length(3) -> B",
        "A<5:2> -> B",
        "A<> -> B",
        "A<x> -> B",
        "every every A -> B",
        "A -> ",
        "A -> B within 5",
        "(A -> B",
        "A -> B)",
        "e1==A -> B",
    ],
)
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(RuleError):
        match(text)
