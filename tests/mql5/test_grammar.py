"""Every MQL5 file by itself is well formed to a parser that is not ours.

There is no grammar of MQL5 to be had as a Python package, and the one on npm does not get past
`#property`. Those that others use are tree-sitter's grammar of C++ with `input` added, so this
takes the same road: it blanks `input` out and parses the rest as C++. It sees each file alone and
with all branches of its conditions, which the compiler does not; it knows no types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mt5bridge.terminal.sources import source_files, sources_folder

tree_sitter = pytest.importorskip("tree_sitter", reason="tree-sitter is not installed")
grammar = pytest.importorskip("tree_sitter_cpp", reason="tree-sitter-cpp is not installed")

SOURCES = sorted(source_files(sources_folder()))
_INPUT = re.compile(rb'^input group "[^"\n]*"|^s?input (?=\w)', re.MULTILINE)


def mistakes(text: bytes) -> list[int]:
    """The lines of what does not fit the grammar."""
    text = _INPUT.sub(lambda found: b" " * len(found.group()), text)
    tree = tree_sitter.Parser(tree_sitter.Language(grammar.language())).parse(text)
    return [node.start_point[0] + 1 for node in wrong(tree.root_node)]


def wrong(node: Any) -> Iterator[Any]:
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children if node.has_error else ():
        yield from wrong(child)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_file_is_well_formed(path: Path) -> None:
    assert mistakes((sources_folder() / path).read_bytes()) == []


@pytest.mark.parametrize(
    "text", [b"void F( { }", b"class A { int x }", b"int a[;", b"void F() { if(x { } }"]
)
def test_the_parser_notices_mistakes(text: bytes) -> None:
    assert mistakes(text) != []
