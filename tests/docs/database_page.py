"""The generated tables of `docs/database.md`: `python -m tests.docs.database_page`.

Each line is a small rule text; what a database says to it is what its lowerings say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cep.database.dialects import DIALECTS
from cep.database.functions import gaps
from cep.database.program import build, prepared
from cep.jepc.catalog import Catalog
from cep.jepc.queries import Query
from cep.plan import Plan, compile_rules
from tests.docs.database_cases import AGGREGATORS, OBJECTS, QUERIES, SCHEMAS, STREAMS, WINDOWS
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "database.md"
PART = re.compile(r"^<!-- (refused .+?) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
CASES: Mapping[str, Mapping[str, str | Query]] = {
    "queries": QUERIES,
    "windows": WINDOWS,
    "aggregators": AGGREGATORS,
    "objects": OBJECTS,
}
GAPS = {"never": "by its nature", "notimpl": "not written", "notyet": "not written yet"}


class Answer(NamedTuple):
    """What each database says to a case: the reasons why it refuses it, if it does."""

    what: str
    reasons: Mapping[str, tuple[str, ...]]


def text(page: Path = PAGE) -> str:
    """The page with its tables as they should be."""
    return PART.sub(_part, page.read_text(encoding="utf-8"))


def answers(cases: Mapping[str, str | Query]) -> list[Answer]:
    """What each database says to each case: rules that follow the definitions, or a query."""
    return [Answer(what, _reasons(asked)) for what, asked in cases.items()]


def _plan(asked: str | Query) -> Plan:
    if isinstance(asked, str):
        return compile_rules(STREAMS + asked, "case")
    catalog = Catalog()
    for stream, schema in SCHEMAS.items():
        catalog.register(stream, schema)
    catalog.create("q", asked)
    return catalog.plan()


def _reasons(asked: str | Query) -> dict[str, tuple[str, ...]]:
    wanted = prepared(_plan(asked))
    outputs = wanted.plan.made
    found = {name: build(wanted, outputs, one) for name, one in DIALECTS.items()}
    return {name: tuple(one.refused.values()) for name, one in found.items()}


def _part(match: re.Match[str]) -> str:
    """One table, between its marks."""
    kind = match[1].removeprefix("refused ")
    made = _functions() if kind == "functions" else _table(answers(CASES[kind]))
    return f"<!-- {match[1]} -->\n{made}<!-- end -->"


def _table(found: list[Answer]) -> str:
    head = f"| | {' | '.join(DIALECTS)} | why not |\n|---{'|---' * len(DIALECTS)}|---|\n"
    return head + "".join(_row(one) for one in found)


def _row(answer: Answer) -> str:
    cells = ["no" if answer.reasons[name] else "yes" for name in DIALECTS]
    whys = dict.fromkeys(_plain(why) for reasons in answer.reasons.values() for why in reasons)
    return f"| {answer.what} | {' | '.join(cells)} | {'; '.join(whys)} |\n"


def _plain(reason: str) -> str:
    gap, _, why = reason.partition(": ")
    return f"{GAPS[gap]}: {why}" if gap in GAPS else reason


def _functions() -> str:
    """Functions and operators by reason."""
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, dialect in DIALECTS.items():
        for function, (gap, why) in gaps(dialect).items():
            rows.setdefault((gap, why), {}).setdefault(function, []).append(name)
    lines = ["| not in SQL | where | why not |", "|---|---|---|"]
    for (gap, why), by_function in rows.items():
        for where in dict.fromkeys(tuple(names) for names in by_function.values()):
            names = ", ".join(_set(f) for f, on in by_function.items() if tuple(on) == where)
            everywhere = "everywhere" if len(where) == len(DIALECTS) else ", ".join(where)
            lines.append(f"| {names} | {everywhere} | {GAPS[gap]}: {why} |")
    return "\n".join(lines) + "\n"


def _set(function: str) -> str:
    return function if " of " in function else f"`{function}`"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
