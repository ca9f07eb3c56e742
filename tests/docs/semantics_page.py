"""The generated table of `docs/semantics.md`: `python -m tests.docs.semantics_page`.

A line for each case of `tests/semantics`. What is refused says the engine itself, what differs the
lists that the tests of the cases hold it to: nothing has to be run for the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from cep.database.dialects import DIALECTS
from cep.engine.apart import is_distributable
from cep.engine.native import Compiled
from cep.fragments.split import split
from cep.lang.errors import RuleError
from cep.plan.nodes import Origin
from tests.database.test_semantics import LIVED, STOPPED
from tests.docs.pages import ROOT
from tests.semantics.back_ends import DIFFERS, NATIVE_DIFFERS
from tests.semantics.loader import Case, load_cases

PAGE = ROOT / "docs" / "semantics.md"
PART = re.compile(r"^<!-- cases -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
CASES = {case.name: case for case in load_cases()}
ENGINES = ("interpreter", "native", *DIALECTS, "spark")
SORTED = "a replay is of records in the order of time"


@dataclass(frozen=True, slots=True)
class Answer:
    """`does` is `yes`, `partly`, `in sequence`, `refuses` or `differs`."""

    does: str = "yes"
    why: str = ""


def text() -> str:
    """The page with its table as it should be."""
    return PART.sub(lambda _: f"<!-- cases -->\n{table()}<!-- end -->", PAGE.read_text("utf-8"))


def table() -> str:
    head = f"| case | {' | '.join(ENGINES)} | why |\n|---{'|---' * len(ENGINES)}|---|\n"
    return head + "".join(_row(case) for case in CASES.values())


@cache
def answers(name: str) -> Mapping[str, Answer]:
    """What each engine does with a case."""
    case = CASES[name]
    if case.refused is not None:
        return dict.fromkeys(ENGINES, Answer("refuses", _message(case)))
    found = {"interpreter": _listed("interpreter", case), "native": _native(case)}
    found |= {name: _database(name, case) for name in DIALECTS}
    return found | {"spark": _spark(case)}


def _row(case: Case) -> str:
    found = answers(case.name)
    whys: dict[str, list[str]] = {}
    for engine, answer in found.items():
        if answer.why:
            whys.setdefault(answer.why, []).append(engine)
    told = (f"{_engines(names)}: {why}" for why, names in whys.items())
    cells = " | ".join(found[engine].does for engine in ENGINES)
    return f"| {case.title} (`{case.name}`) | {cells} | {'; '.join(told)} |\n".replace("\n ", " ")


def _engines(names: list[str]) -> str:
    if len(names) == len(ENGINES):
        return "all"
    return "databases" if set(names) == set(DIALECTS) else ", ".join(names)


def _listed(engine: str, case: Case) -> Answer:
    why = DIFFERS[engine].get(case.name)
    return Answer() if why is None else Answer("differs", why)


def _native(case: Case) -> Answer:
    return _listed("native-plain", case)


def _database(name: str, case: Case) -> Answer:
    if case.name in LIVED:
        return Answer("refuses", SORTED)
    if case.name in STOPPED:
        return Answer("refuses", f"the batch: `{STOPPED[case.name]}`")
    if case.name in NATIVE_DIFFERS:
        return Answer("differs", NATIVE_DIFFERS[case.name])
    refused = split(case.plan(), DIALECTS[name]).why
    plan = case.plan()
    ours = {one.name for one in plan.signals if plan.stream(one.source).origin is Origin.COMPLEX}
    queries = {query.name for query in plan.queries} - ours  # as complex events are
    whys = [f"{query}: {why}" for query, why in sorted(refused.items()) if query in queries]
    return Answer("partly", "on our engine " + ", ".join(whys)) if whys else Answer()


def _spark(case: Case) -> Answer:
    """A replay spreads what works by key, and runs the rest in one process."""
    if case.mode == "lived":
        return Answer("refuses", SORTED)
    found = _native(case)
    if found.does != "yes":
        return found
    times = [at for _, at, _ in case.rows_in]
    apart = times == sorted(times) and is_distributable(Compiled(case.plan(), jit=False)) is None
    return Answer() if apart else Answer("in sequence")


def _message(case: Case) -> str:
    try:
        case.plan()
    except RuleError as problem:
        return problem.message
    raise AssertionError(f"{case.name} is accepted")


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
