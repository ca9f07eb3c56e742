"""What is said about installing works today: nothing is fetched by a name that no index has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = [path for name in ("cep", "mt5bridge") for path in sorted((ROOT / name).rglob("*.py"))]
INSTALL = re.compile(r"pip install\s+(?:-\S+\s+)*['\"]?(?P<what>[^'\"`\s]+)")
EXTRAS = re.compile(r"(?P<path>[^\[]+)(?:\[(?P<extras>[^\]]+)\])?")


def installed() -> list[tuple[str, str]]:
    """(file, what is installed) for each `pip install` in pages and messages."""
    found = []
    for path in (*PAGES, *CODE):
        text = path.read_text(encoding="utf-8")
        found += [(path.name, match["what"]) for match in INSTALL.finditer(text)]
    return found


def test_pages_and_messages_say_how_to_install() -> None:
    assert {"README.md", "terminal.md", "database.md", "errors.py", "base.py", "java.py"} <= {
        name for name, _ in installed()
    }


@pytest.mark.parametrize(("name", "what"), installed())
def test_what_is_installed_is_the_checkout_or_a_wheel_of_it(name: str, what: str) -> None:
    parts = EXTRAS.fullmatch(what)
    assert parts is not None, (name, what)
    wheel = f"dist/mt5cep-{PROJECT['version']}-py3-none-any.whl"
    assert parts["path"] in (".", wheel), f"{name}: no index has {what}"
    for one in (parts["extras"] or "").split(","):
        assert not one or one == "{name}" or one in PROJECT["optional-dependencies"], (name, what)


def test_the_wheel_is_made_before_it_is_named() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("pip wheel --no-deps --wheel-dir dist .") < text.index("dist/mt5cep-")
    assert "on no package index yet" in text
