"""`docs/glossary.md`: in order, one line a term, and no term that nobody uses."""

from __future__ import annotations

import functools
import re

import pytest

from tests.docs.pages import PAGES, ROOT
from tests.tidy.sources import package_sources

PAGE = ROOT / "docs/glossary.md"
TERMS = dict(
    re.findall(r"^\| (?!term|---)([^|]+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
)


@functools.cache
def texts() -> str:
    """All pages and all code."""
    pages = (page.read_text(encoding="utf-8") for page in PAGES if page != PAGE)
    return "\n".join((*pages, *(source.text for source in package_sources()))).lower()


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used(term: str) -> None:
    words = r"[\s_-]+".join(map(re.escape, term.lower().split()))
    assert re.search(rf"(?<![a-z]){words}(s|es)?(?![a-z])", texts())


def test_terms_are_in_order() -> None:
    assert list(TERMS) == sorted(TERMS)
    assert len(TERMS) > 60


def test_what_a_line_refers_to_is_there() -> None:
    named = re.findall(r"\bsee ([a-z ]+)$", "\n".join(TERMS.values()), re.M)
    assert named
    assert [term for term in named if term not in TERMS] == []
