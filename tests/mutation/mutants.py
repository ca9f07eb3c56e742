"""Small faults in a module's source, each as one changed piece of text.

What cannot matter is left alone: annotations, decorators, texts, log lines, assertions and what is
raised.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "+",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "+",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
QUIET = {"logger", "print", "debug", "info", "warning", "error", "complain"}
"""Calls of these tell a person something; nobody's answer depends on them."""

IMPORT = 0


@dataclass(frozen=True)
class Mutant:
    """A fault: `old`, the text at `start` of the file, becomes `new`.

    Lines count from 1; what is run by the import, such as defaults, is at line `IMPORT`.
    """

    path: str
    function: str
    line: int
    start: int
    old: str
    new: str
    nth: int = 0

    @property
    def name(self) -> str:
        """The same as long as the function holds the same text."""
        again = f" #{self.nth}" if self.nth else ""
        return f"{self.path}:{self.function}: `{_short(self.old)}` -> `{_short(self.new)}`{again}"

    @property
    def place(self) -> str:
        """Decides which ones are tried; spread evenly, and the same every time."""
        return hashlib.blake2b(self.name.encode(), digest_size=8).hexdigest()

    def applied(self, source: bytes) -> bytes:
        """The module with the fault in it."""
        old = self.old.encode()
        assert source[self.start : self.start + len(old)] == old, self.name
        return source[: self.start] + self.new.encode() + source[self.start + len(old) :]


def _short(text: str) -> str:
    return " ".join(text.split())


def mutants(path: str, source: str) -> list[Mutant]:
    """All faults of a module, in order of their places; a few may leave no valid program."""
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    for function, line, (old, start), new in _Walk(source).changes(ast.parse(source)):
        if old == new:
            continue
        made = Mutant(path, function, line, start, old, new)
        count = seen.get(made.name, 0)
        seen[made.name] = count + 1
        found.append(Mutant(path, function, line, start, old, new, count))
    return found


def _is_valid(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


Change = tuple[str, int, tuple[str, int], str]


class _Walk:
    """Walks a module and tells the changes of each node."""

    def __init__(self, source: str) -> None:
        self._data = source.encode()
        self._lines = [0]
        for line in self._data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def changes(self, module: ast.Module) -> Iterator[Change]:
        for node in module.body:
            yield from self._of(node, "", False)

    def _of(self, node: ast.AST, function: str, is_body: bool) -> Iterator[Change]:
        if isinstance(node, ast.Assert | ast.Raise | ast.Import | ast.ImportFrom | ast.JoinedStr):
            return
        if isinstance(node, ast.Call) and _called(node) in QUIET:
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function = f"{function}.{node.name}".lstrip(".")
        if function and not isinstance(node, ast.ClassDef):
            yield from self._changes_of(node, function, is_body)
        for child in _children(node):
            if isinstance(node, ast.FunctionDef):
                is_body = not isinstance(child, ast.arguments)
            yield from self._of(child, function, is_body)

    def _changes_of(self, node: ast.AST, function: str, is_body: bool) -> Iterator[Change]:
        for made in (self._compared, self._joined, self._counted, self._stated):
            for replaced, new in made(node):
                assert isinstance(node, ast.expr | ast.stmt)
                if isinstance(node, ast.Assign) and function.endswith(".__init__"):
                    continue  # whatever reads it ends in an AttributeError, which proves nothing
                yield function, node.lineno if is_body else IMPORT, replaced, new

    def _text(self, node: ast.AST) -> tuple[str, int]:
        start, end = self._span(node)
        return self._data[start:end].decode(), start

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._lines[node.lineno - 1] + node.col_offset
        return start, self._lines[node.end_lineno - 1] + node.end_col_offset

    def _between(self, left: ast.AST, right: ast.AST) -> tuple[str, int]:
        """The text between two operands: the operator, and brackets with it."""
        start, end = self._span(left)[1], self._span(right)[0]
        return self._data[start:end].decode(), start

    def _compared(self, node: ast.AST) -> Iterator[tuple[tuple[str, int], str]]:
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for place, kind in enumerate(node.ops):
                text, start = self._between(operands[place], operands[place + 1])
                yield from _operator(text, start, COMPARISONS[type(kind)])

    def _joined(self, node: ast.AST) -> Iterator[tuple[tuple[str, int], str]]:
        if isinstance(node, ast.BoolOp):
            other = "or" if isinstance(node.op, ast.And) else "and"
            text, start = self._between(node.values[0], node.values[1])
            yield from _operator(text, start, other)
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_text(node):
            text, start = self._between(node.left, node.right)
            yield from _operator(text, start, ARITHMETIC[type(node.op)])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            text, start = self._text(node)
            yield (text, start), f"({self._text(node.operand)[0]})"

    def _counted(self, node: ast.AST) -> Iterator[tuple[tuple[str, int], str]]:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            value = node.value
            new = not value if isinstance(value, bool) else value + 1
            yield self._text(node), str(new)
        if isinstance(node, ast.Call) and _called(node) in ("min", "max"):
            other = "max" if _called(node) == "min" else "min"
            yield self._text(node.func), self._text(node.func)[0].replace(_called(node), other)

    def _stated(self, node: ast.AST) -> Iterator[tuple[tuple[str, int], str]]:
        """Statements left out, and branches that are always or never taken."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            if _called(node.value) not in QUIET:
                yield self._text(node), "pass"
        elif isinstance(node, ast.AugAssign) or (
            isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)
        ):
            yield self._text(node), "pass"
        elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Constant):
            yield self._text(node.test), "False"
            if isinstance(node, ast.If):
                yield self._text(node.test), "True"
        elif isinstance(node, ast.Continue | ast.Break):
            yield self._text(node), "pass"


def _operator(text: str, start: int, new: str) -> Iterator[tuple[tuple[str, int], str]]:
    """The operator in the text between operands, brackets and blanks around it left alone."""
    old = text.strip("()\n\t \\")
    if old and "#" not in old and "(" not in old and ")" not in old:
        offset = len(text[: text.index(old)].encode())
        yield (old, start + offset), new


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are run, without annotations, decorators and a docstring."""
    left_out = {"annotation", "returns", "decorator_list", "type_comment", "bases", "keywords"}
    if isinstance(node, ast.Call):
        left_out = set()
    for name, value in ast.iter_fields(node):
        if name in left_out:
            continue
        values = value if isinstance(value, list) else [value]
        yield from (one for one in values if isinstance(one, ast.AST))


def _called(node: ast.Call) -> str:
    """The name of what is called, or of the object whose method it is if that one is quiet."""
    function = node.func
    if isinstance(function, ast.Attribute):
        owner = function.value
        is_quiet = isinstance(owner, ast.Name) and owner.id in QUIET
        return owner.id if is_quiet and isinstance(owner, ast.Name) else function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in sides
    )


def chosen(root: Path, paths: list[str], count: int) -> list[Mutant]:
    """So many of the faults that leave these modules valid, in order of their files and places."""
    found = [one for path in paths for one in mutants(path, (root / path).read_text("utf-8"))]
    found.sort(key=lambda one: one.place)
    valid = (one for one in found if _is_valid(one.applied((root / one.path).read_bytes())))
    return sorted(islice(valid, count), key=lambda one: (one.path, one.start))
