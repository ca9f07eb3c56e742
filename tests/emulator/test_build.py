"""The build: cache, compiler's messages, what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator import build as building
from mt5bridge.emulator.build import BuildError, CompilerMissingError, build
from tests.emulator.market import needs_compiler

BEFORE = "input int Size = 1; void Take(const string &text) { Print(text); } "


def script(folder: Path, body: str) -> Path:
    path = folder / "Small.mq5"
    path.write_text(f"{BEFORE}void OnStart(void)\n  {{\n   {body}\n  }}\n")
    return path


def test_without_a_compiler_the_error_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    building._compiler_key.cache_clear()
    with pytest.raises(CompilerMissingError, match="apt install"):
        build([script(tmp_path, "Print(1);")])


@needs_compiler
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int a = 1;\n   Print(unknown);", r"Small.mq5\(4,10\): 'unknown' - undeclared identifier"),
        ("int a[3]; ArrayResize(a, 2);", r"Small.mq5\(3,\d+\): .*declare it as name"),
        ('Take("a");', r"Small.mq5\(3,\d+\): .*a reference parameter takes a variable"),
        ("Size++;", r"Small.mq5\(3,\d+\): 'Size' - constant cannot be modified"),
    ],
)
def test_errors_name_the_mql5_line(
    body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "shim_parts", dict)
    with pytest.raises(BuildError, match=message):
        build([script(tmp_path, body)])


@needs_compiler
def test_what_is_in_the_cache_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MT5CEP_CACHE", str(tmp_path / "cache"))
    runs: list[Path] = []

    def run(arguments: object, target: Path, of: object = None) -> None:
        runs.append(target)
        target.write_text("made")

    monkeypatch.setattr(building, "_run", run)
    first = build([script(tmp_path, "Print(1);")])
    made = len(runs)
    assert build([script(tmp_path, "Print(1);")]) == first
    assert len(runs) == made
    other = build([script(tmp_path, "Print(2);")])
    assert other != first
    assert len(runs) == made + 2  # its own object and the executable
    assert build([script(tmp_path, "Print(2);")], sanitize=True) not in (first, other)
