"""Source text with indentation, and fresh names for locals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager


def label(text: str) -> str:
    """A user's name for a comment: nothing in it can end the comment or start code."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-. ") else "_" for c in text)


class Writer:
    """Collects lines of Python at the current depth."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth
        self._names: dict[str, int] = {}

    def __call__(self, *lines: str) -> None:
        self.lines += [("    " * self._depth + line).rstrip() for line in lines]

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        """A compound statement: what is written inside is one level deeper."""
        self(opening)
        self._depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self("pass")
        self._depth -= 1

    def name(self, stem: str) -> str:
        """A local name not used before, starting with `stem` made an identifier."""
        clean = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem) or "v"
        if clean[0].isdigit():
            clean = f"v{clean}"
        count = self._names.get(clean, 0)
        self._names[clean] = count + 1
        return f"{clean}_{count}"

    def let(self, stem: str, source: str) -> str:
        """Assign an expression to a fresh local; its name."""
        name = self.name(stem)
        self(f"{name} = {source}")
        return name

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@contextmanager
def guarded(w: Writer, tests: Iterable[str]) -> Iterator[None]:
    """An `if` around what follows, when any of the conditions is not empty."""
    with ExitStack() as blocks:
        if wanted := " and ".join(test for test in tests if test):
            blocks.enter_context(w.block(f"if {wanted}:"))
        yield
