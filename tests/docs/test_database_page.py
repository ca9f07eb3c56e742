"""`docs/database.md` says what the databases say themselves."""

from __future__ import annotations

from cep.plan.windows import WINDOWS
from tests.docs import database_cases, database_page


def test_the_page_is_what_the_databases_say() -> None:
    assert database_page.PAGE.read_text(encoding="utf-8") == database_page.text()


def test_every_window_is_asked_for() -> None:
    windows = {name.strip("`").partition("(")[0] for name in database_cases.WINDOWS}
    assert windows == {signature.name for signature in WINDOWS}


def test_all_tables_are_there() -> None:
    page = database_page.PAGE.read_text(encoding="utf-8")
    parts = [match[1] for match in database_page.PART.finditer(page)]
    kinds = ["queries", "objects", "windows", "aggregators", "functions"]
    assert parts == [f"refused {kind}" for kind in kinds]


def test_what_is_refused_by_nature_is_refused_everywhere() -> None:
    [binding] = [answer for answer in database_page.answers(database_cases.QUERIES)
                 if "define event" in answer.what]  # fmt: skip
    assert all(why.startswith("never: ") for [why] in binding.reasons.values())


def test_filters_are_refused_nowhere() -> None:
    [filters] = [answer for answer in database_page.answers(database_cases.QUERIES)
                 if answer.what == "filters, projections"]  # fmt: skip
    assert not any(filters.reasons.values())
