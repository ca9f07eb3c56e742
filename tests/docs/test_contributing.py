"""Every recipe of CONTRIBUTING.md is followed in a copy of the checkout, and keeps its promise."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block
from tests.docs.recipes import PAGE, Recipe, apply, recipes
from tests.waiting import LONG_S

FOLDERS = ("cep", "mt5bridge", "tests", "docs", "editor", "strategies", "config")
FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
RECIPES = recipes()
COUNTS = Counter(command for recipe in RECIPES for command in recipe.commands)
each = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.title)


def expect_success(command: list[str], folder: Path) -> None:
    """In the copy, with none of this run's settings of pytest."""
    environment = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONG_S,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}"


def words(command: str) -> list[str]:
    found = shlex.split(command)
    return [sys.executable, *found[1:]] if found[0] == "python" else found


def is_test(command: str) -> bool:
    return "pytest" in command


def is_shared(command: str) -> bool:
    return COUNTS[command] > 1 or not is_test(command)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, compiled modules included, after all recipes.

    What writes pages is run once for all of them, and so is what several recipes end with.
    """
    folder = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    for name in FILES:
        shutil.copy2(ROOT / name, folder / name)
    for recipe in RECIPES:
        for block in recipe.changes:
            apply(block, folder)
    for command in sorted(filter(is_shared, COUNTS), key=is_test):
        expect_success(words(command), folder)
    return folder


@each
def test_a_recipe_keeps_its_promise(recipe: Recipe, changed: Path) -> None:
    """Each command selects tests by the name of what the recipe adds: without it there are none."""
    for command in recipe.commands:
        if not is_shared(command):
            expect_success(words(command), changed)
    for program in recipe.checks:
        expect_success([sys.executable, "-c", program], changed)


def test_what_recipes_add_is_clean(changed: Path) -> None:
    expect_success([sys.executable, "-m", "ruff", "check", "cep"], changed)
    expect_success([sys.executable, "-m", "ruff", "format", "--check", "cep"], changed)


def test_there_is_a_recipe_for_each_kind() -> None:
    assert [recipe.title for recipe in RECIPES] == [
        "A scalar function",
        "An aggregator",
        "A window",
        "A statement",
        "A database dialect",
    ]
    assert all(recipe.changes and recipe.commands for recipe in RECIPES)


def test_files_it_names_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    made = {block.file for recipe in RECIPES for block in recipe.changes}
    named = set(re.findall(r"`((?:cep|tests|docs|editor)/[\w./-]+)`", text)) - made
    assert len(named) > 20
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_its_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", PAGE.read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


@pytest.mark.parametrize(
    ("text", "result"),
    [(" a\n+b\n", "a\nb\nc\na2\n"), ("-a\n+b\n c\n", "b\nc\na2\n"), (" c\n...\n-a2\n", "a\nc\n")],
)
def test_a_change_is_applied(text: str, result: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nc\na2\n")
    apply(Block("diff", "file=f", text, 0), tmp_path)
    assert (tmp_path / "f").read_text() == result


@pytest.mark.parametrize(("language", "text"), [("diff", " d\n+e\n"), ("python", "new\n")])
def test_a_change_that_does_not_fit_is_refused(language: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nc\n")
    with pytest.raises(ValueError, match=r"^f (is|has) "):
        apply(Block(language, "file=f", text, 0), tmp_path)
