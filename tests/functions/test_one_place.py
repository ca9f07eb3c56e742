"""A function is named in one file of source: all lists elsewhere are made of what stands there."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest

from cep.engine.kernels import called
from cep.plan.defined import defined
from cep.plan.functions import AGGREGATORS, SCALARS, aggregator_of, names, scalar_of
from cep.plan.functions.base import Aggregator, Scalar
from cep.plan.signatures import Signature
from tests.tidy.sources import Source, imports, package_sources

PLACE = "cep/plan/functions/"
WORDS = {
    "and", "or",  # operators
    "min", "max",  # functions of SQL, settings, units of time
    "count", "default", "sum",  # words of any program
}  # fmt: skip
"""Names that other things have, too: no test of texts can tell them apart."""
OTHERS = {
    # short ways to write a query: any other name is given as text
    "cep/jepc/queries.py": {"avg", "stdDev"},
    # shares of exact sums, as SQL has them
    "cep/database/exact.py": {"avg", "stdDev"},
    # eventTimestamp() is an expression of its own where it names an event
    "cep/database/expressions.py": {"eventTimestamp"},
    "cep/database/lower/spelling.py": {"eventTimestamp"},
    # the name of a word of SQL
    "cep/database/vocabulary.py": {"cast"},
    # sizes and prices of signals are doubles, points and times whole numbers
    "cep/plan/signals.py": {"convert"},
    # what the server cannot convert depends on types, not on the function
    "cep/database/functions.py": {"convert"},
}


def texts(source: Source) -> Iterator[str]:
    for node in source.nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_other_file_names_a_function() -> None:
    known = set(names()) - WORDS
    found = {
        source.place: named
        for source in package_sources()
        if source.place.startswith("cep/") and not source.place.startswith(PLACE)
        if (named := known.intersection(texts(source)) - OTHERS.get(source.place, set()))
    }
    assert found == {}


@pytest.mark.parametrize("package", ["aggregators", "scalars"])
def test_a_function_stands_in_one_file(package: str) -> None:
    functions = {one.name for one in (AGGREGATORS if package == "aggregators" else SCALARS)}
    defined = [
        name
        for source in package_sources()
        if source.place.startswith(f"{PLACE}{package}/")
        for name in set(texts(source)) & functions
    ]
    assert len(defined) == len(set(defined))


@pytest.mark.parametrize(
    ("package", "kind"),
    [("aggregators", Aggregator), ("scalars", Scalar), ("streams", Signature)],
)
def test_every_module_there_defines_functions(package: str, kind: type) -> None:
    folder = f"{PLACE}{package}/"
    modules = [one.module for one in package_sources() if one.place.startswith(folder)]
    assert len(modules) > 4
    empty = [
        name
        for name in modules
        if name != f"cep.plan.functions.{package}"
        and not any(isinstance(found, kind) for found in vars(import_module(name)).values())
    ]
    assert empty == []


BELOW = (
    "defined",
    "types",
    "expressions",
    "signatures",
    "problems",
    "numbers",
    "groups",
    "functions",
)


def test_functions_stand_below_the_rest_of_the_plan() -> None:
    """They know types and expressions, and nobody who uses them."""
    allowed = tuple(f"cep.plan.{name}" for name in BELOW)
    found = [
        f"{source.place}:{line}: {name}"
        for source in package_sources()
        if source.place.startswith(PLACE)
        for line, name in imports(source)
        if name.startswith("cep.") and name != "cep.plan" and not name.startswith(allowed)
    ]
    assert found == []


def test_rules_are_read_without_what_takes_long_to_import() -> None:
    """NumPy, Numba and SQLAlchemy are for those who run them."""
    program = (
        "import sys, cep.plan; print([n for n in ('numpy', 'numba', 'sqlalchemy')"
        " if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_the_exceptions_are_still_there() -> None:
    by_place = {source.place: set(texts(source)) for source in package_sources()}
    assert [place for place, words in OTHERS.items() if words - by_place[place]] == []


def test_functions_are_found_by_the_name_a_plan_has() -> None:
    for one in AGGREGATORS:
        assert aggregator_of(one.name) is one
    for scalar in SCALARS:
        assert scalar_of(scalar.name) is scalar
    assert scalar_of("mine:own") is None


def test_two_of_one_name_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from cep.plan.functions import aggregators
    from cep.plan.functions.aggregators import lag, sums

    monkeypatch.setattr(
        lag, "AGAIN", Aggregator(sums.SUM.signature, sums.SUM.plain, "sum(x)"), raising=False
    )
    with pytest.raises(ValueError, match="there is another sum"):
        defined(aggregators, Aggregator)


def test_kernels_are_imported_by_name() -> None:
    assert called.KERNELS
    with pytest.raises(ImportError):
        from cep.engine.kernels.called import no_such_kernel  # type: ignore[attr-defined]  # noqa: F401
