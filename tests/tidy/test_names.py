"""The name of a window or stream function stands in its definition and, once for each back end, in
how it runs it. (Other functions: tests/functions/test_one_place.py.)
"""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from cep.plan.functions import STREAM_FUNCTIONS
from cep.plan.windows import WINDOWS
from tests.tidy.sources import package_sources

DEFINITIONS = ("cep/plan/windows/kinds/", "cep/plan/functions/streams/")
REGISTRIES = {
    "cep/interpreter/windows/__init__.py",  # what runs each
    "cep/interpreter/stream_functions.py",
    "cep/engine/windows.py",  # those compiled
    "cep/engine/machine/functions.py",  # those of the machine
    "cep/engine/machine/windows.py",
    "cep/database/windows.py",  # those with SQL
    "cep/jepc/windows.py",  # those of query objects
}
"""Where a back end says which it runs, and how."""
OTHERS = {
    "time": {  # an attribute of ticks and files, a page's word, a pattern's group, a type
        "cep/archive/groups.py", "cep/cli/moments.py", "cep/cli/tick_files.py",
        "cep/database/lower/combinations.py",
        "cep/demo/emulated.py", "cep/inputs/time.py", "cep/interpreter/aggregations/buckets.py",
        "cep/interpreter/rows.py", "cep/lang/parameters.py", "cep/live/log.py",
    },
    "length": {"cep/plan/functions/scalars/texts.py"},  # str:length
    "log": {  # math:log, and what `@onError` names
        "cep/plan/definitions.py", "cep/plan/functions/scalars/transcendent.py",
        "cep/plan/nodes.py",
    },
}  # fmt: skip
"""Files where the word is something else."""
NAMES = sorted(one.name for one in (*WINDOWS, *STREAM_FUNCTIONS))


@pytest.fixture(scope="module")
def places() -> dict[str, set[str]]:
    """By text: the files of the product that have it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for source in package_sources():
        for node in source.nodes() if source.place.startswith("cep/") else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found[node.value].add(source.place)
    return found


def test_they_are_named_where_they_are_defined_and_run(places: dict[str, set[str]]) -> None:
    found = {
        name: elsewhere
        for one in NAMES
        for name in {one, one.lower()}
        if (
            elsewhere := {
                place
                for place in places[name] - REGISTRIES - OTHERS.get(name, set())
                if not place.startswith(DEFINITIONS)
            }
        )
    }
    assert found == {}, "ask the definition for what is to be known of it"


def test_each_is_defined_in_one_file(places: dict[str, set[str]]) -> None:
    for name in NAMES:
        assert len([place for place in places[name] if place.startswith(DEFINITIONS)]) == 1


def test_the_exceptions_are_still_there(places: dict[str, set[str]]) -> None:
    for name, files in OTHERS.items():
        assert files <= places[name], name
    assert set().union(*(places[name] for name in NAMES)) >= REGISTRIES
