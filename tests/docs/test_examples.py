"""Every example of the documentation runs and prints what the page says.

A block marked `file=NAME` is a file for the blocks after it. `console` blocks are run line by
line: `$ mt5cep ...` is a command, what follows is its output; `...` on a line of its own stands
for any lines, at the end of a line for the rest of it. What is told of compiling the engine, which
happens once on a machine, is left out. `python` blocks of a page run one after the other. Blocks in
`sh` are not run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, name
from tests.waiting import LONG_S

RUNNABLE = [
    page for page in PAGES if any(b.language in ("console", "python") for b in blocks(page))
]
COMPILING = re.compile(r"^.* \| cep\.engine\.machine_code:.*\n", re.MULTILINE)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONG_S,
    )


def sessions(block: Block) -> list[tuple[str, str]]:
    """(command, expected output) pairs of a console block."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"line {block.line}: output before the first command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def matches(expected: str, output: str) -> bool:
    """Equality by lines, with `...` for whole lines or the rest of one."""
    lines = [r"(?:.*\n)*" if x == "..." else line_pattern(x) for x in expected.splitlines()]
    return re.fullmatch("".join(lines), output.rstrip("\n") + "\n") is not None


def line_pattern(line: str) -> str:
    start = line.removesuffix("...")
    return re.escape(start) + ("" if start == line else ".*") + "\n"


def check_console(block: Block, folder: Path) -> None:
    for line, expected in sessions(block):
        command, _, code = line.partition(" # exit code ")
        words = shlex.split(command)
        assert words[0] == "mt5cep", f"only mt5cep is run, not {command!r}"
        done = run([sys.executable, "-m", "cep", *words[1:]], folder)
        told = int(code) if code else 2 if "error:" in expected else 0
        assert done.returncode == told, f"{command}\n{done.stdout}"
        shown, output = expected.strip("\n"), COMPILING.sub("", done.stdout)
        assert not shown or matches(shown, output), f"{command}\n{output}"


def check_python(texts: list[str], folder: Path) -> None:
    (folder / "example.py").write_text("\n".join(texts), encoding="utf-8")
    done = run([sys.executable, "example.py"], folder)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", RUNNABLE, ids=name)
def test_examples_of_page(page: Path, tmp_path: Path) -> None:
    """Python is run with what stands before it, at the next console block and at the end."""
    before: list[str] = []
    ran = 0
    for block in blocks(page):
        if block.language == "console" and ran < len(before):
            check_python(before, tmp_path)
            ran = len(before)
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            check_console(block, tmp_path)
        elif block.language == "python":
            before.append(block.text)
    if ran < len(before):
        check_python(before, tmp_path)


@pytest.mark.parametrize(
    ("expected", "output", "equal"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nc", "a\nb\nb\nc\n", True),
        ("a\n...", "a\n", True),
        ("a ...", "a b\n", True),
        ("a.c", "abc\n", False),
        ("a", "a\nb\n", False),
    ],
)
def test_comparison_itself(expected: str, output: str, equal: bool) -> None:
    assert matches(expected, output) is equal
