"""The repository's Python files, parsed once for all house rules."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cep", "mt5bridge")
FOLDERS = (
    *PACKAGES,
    "tests",
    "benchmarks",
    "strategies",
    "config",
    "docs",
    "editor",
    "mql5",
    ".ci",
)
CACHES = {"target", "__pycache__", ".hypothesis", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: its place and text, and its syntax tree, which is made when it is wanted."""

    path: Path
    text: str

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.text)

    @property
    def place(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def module(self) -> str:
        """Dotted name; a package's `__init__` has the package's name."""
        parts = self.path.relative_to(ROOT).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def in_package(self) -> bool:
        return self.place.split("/")[0] in PACKAGES

    def nodes(self) -> Iterator[ast.AST]:
        return ast.walk(self.tree)

    def functions(self) -> list[Function]:
        return [node for node in self.nodes() if isinstance(node, Function)]


@functools.cache
def files() -> tuple[Path, ...]:
    """Every file of the repository's folders, caches left out."""
    found = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return tuple(sorted(path for path in found if not CACHES & set(path.parts)))


@functools.cache
def sources() -> tuple[Source, ...]:
    """Every Python file."""
    python = (path for path in files() if path.suffix == ".py")
    return tuple(Source(path, path.read_text(encoding="utf-8")) for path in python)


@functools.cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def package_sources() -> tuple[Source, ...]:
    """The files that are shipped."""
    return tuple(source for source in sources() if source.in_package)


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything imported; `from a import b` gives `a` and `a.b`."""
    for node in source.nodes():
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(source, node)
            yield node.lineno, base
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def absolute(source: Source, node: ast.ImportFrom) -> str:
    """The absolute name of the module a `from` import names."""
    if not node.level:
        return node.module or ""
    parts = source.path.relative_to(ROOT).parts[: -node.level]
    return ".".join((*parts, node.module) if node.module else parts)


def dotted(node: ast.expr) -> str:
    """`a.b.c` of a chain of attributes; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""
