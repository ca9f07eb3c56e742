"""House rules, checked on the syntax trees of every file."""

from __future__ import annotations

import ast
import io
import re
import statistics
import tokenize
from collections.abc import Iterable

import pytest

from tests.tidy.sources import (
    FOLDERS,
    ROOT,
    Function,
    Source,
    dotted,
    files,
    imports,
    package_sources,
    sources,
)

ANY = "*"
MAY_IMPORT: dict[str, set[str]] = {
    "mt5bridge": set(),
    "cep.lang": set(),
    "cep.plan": {"cep.lang"},
    "cep.inputs": {"cep.plan", "mt5bridge"},
    "cep.clocks": {"cep.plan"},
    "cep.dropped": {"cep.plan"},
    "cep.interpreter": {"cep.plan", "cep.clocks", "cep.dropped"},
    "cep.engine": {
        "cep.plan", "cep.clocks", "cep.dropped", "cep.inputs", "cep.interpreter",
        "mt5bridge.file_lock", "mt5bridge.broker",
    },
    "cep.functions": {"cep.plan"},
    "cep.app": {
        "cep.lang", "cep.plan", "cep.clocks", "cep.dropped", "cep.engine", "cep.functions",
    },
    "cep.jepc": {"cep.lang", "cep.plan", "cep.dropped", "cep.engine", "cep.database"},
    "cep.database": {"cep.plan", "cep.interpreter", "mt5bridge.file_lock"},
    "cep.archive": {"cep.account", "mt5bridge"},
    "cep.account": {"mt5bridge"},
    "cep.report": set(),
    "cep.callbacks": {"cep.plan", "mt5bridge"},
    "cep.market": {"cep.plan", "mt5bridge"},
    "cep.replay": {
        "cep.plan", "cep.dropped", "cep.engine", "cep.inputs", "cep.callbacks", "cep.interpreter",
    },
    "cep.fragments": {"cep.plan", "cep.dropped", "cep.engine", "cep.database", "cep.replay"},
    "cep.trace": {"cep.plan", "cep.dropped", "cep.interpreter", "cep.engine", "cep.replay"},
    "cep.spark": {
        "cep.plan", "cep.clocks", "cep.dropped", "cep.engine", "cep.archive", "cep.inputs",
        "cep.market", "cep.account", "cep.backtest", "cep.replay", "mt5bridge",
    },
    "cep.live": {
        "cep.plan", "cep.dropped", "cep.engine", "cep.market", "mt5bridge", "cep.database",
        "cep.fragments", "cep.callbacks", "cep.functions", "cep.account", "cep.archive",
        "cep.lang",
    },
    "cep.backtest": {
        "cep.plan", "cep.clocks", "cep.dropped", "cep.engine", "cep.archive", "cep.report",
        "cep.inputs", "cep.market", "cep.functions", "cep.account", "cep.lang", "mt5bridge",
    },
    "cep.sweep": {
        "cep.lang", "cep.plan", "cep.clocks", "cep.interpreter", "cep.engine", "cep.market",
        "cep.functions", "cep.account", "cep.backtest", "cep.report", "mt5bridge",
    },
    "cep.parity": {
        "cep.plan", "cep.engine", "cep.archive", "cep.market", "cep.account", "cep.backtest",
        "cep.live", "mt5bridge",
    },
    "cep.daemon": {ANY},
    "cep.demo": {ANY},
    "cep.cli": {ANY},
    "cep.__main__": {"cep.cli"},
}  # fmt: skip
MAY_IMPORT_DAEMON = {"cep.cli", "cep.demo"}
CLOCK_MODULE = "mt5bridge/clock.py"
CLOCKS = re.compile(
    r"(^|\.)(time\.(time|monotonic|perf_counter|process_time|localtime|gmtime)(_ns)?"
    r"|sleep|(datetime|date|Timestamp)\.(now|utcnow|today))$"
)
FILE_LINES_MAX, FILE_LINES_MEDIAN = 600, 200
FUNCTION_LINES_MAX, KERNEL_LINES_MAX = 60, 90
FUNCTION_LINES_P90, FUNCTION_LINES_MEDIAN = 25, 9
TEXT_BYTES_MAX = 512 * 1024


def report(problems: Iterable[str]) -> None:
    found = list(problems)
    assert not found, "\n  " + "\n  ".join(found)


def unit(module: str) -> str:
    """The part of the house a module belongs to: `mt5bridge`, or two names below `cep`."""
    parts = module.split(".")
    return parts[0] if parts[0] == "mt5bridge" else ".".join(parts[:2])


def forbidden(importer: str, imported: str) -> bool:
    source, target = unit(importer), unit(imported)
    if target.split(".")[0] not in ("cep", "mt5bridge") or target in (source, "cep"):
        return False
    if target == "cep.daemon":
        return source not in MAY_IMPORT_DAEMON
    allowed = MAY_IMPORT.get(source, set())
    if ANY in allowed or target in allowed:
        return False
    return not any(f"{imported}.".startswith(f"{module}.") for module in allowed)


def test_every_part_of_the_house_is_in_the_import_table() -> None:
    units = {unit(source.module) for source in package_sources()} - {"cep"}
    report(f"{name}: name it in MAY_IMPORT" for name in sorted(units - MAY_IMPORT.keys()))


def test_imports_point_one_way() -> None:
    report(
        f"{source.place}:{line}: {unit(source.module)} must not import {name}"
        for source in package_sources()
        for line, name in imports(source)
        if source.module != "cep" and forbidden(source.module, name)
    )


def test_the_broker_stands_alone() -> None:
    """It is compiled, and run where there is no socket: arrays and arithmetic are all it knows."""
    known = {"__future__", "collections", "dataclasses", "math", "typing", "numpy"}
    report(
        f"{source.place}:{line}: imports {name}"
        for source in package_sources()
        if source.module.startswith("mt5bridge.broker")
        for line, name in imports(source)
        if name.split(".")[0] not in known and not name.startswith("mt5bridge.broker")
    )


def test_shipped_code_does_not_import_tests() -> None:
    report(
        f"{source.place}:{line}: imports {name}"
        for source in package_sources()
        for line, name in imports(source)
        if name.split(".")[0] in ("tests", "benchmarks")
    )


def test_file_sizes() -> None:
    lines = {source.place: source.text.count("\n") for source in sources()}
    report(f"{place}: {n} lines" for place, n in lines.items() if n > FILE_LINES_MAX)
    assert statistics.median(lines.values()) <= FILE_LINES_MEDIAN


def length(function: Function) -> int:
    """Lines of a function without its docstring."""
    first = function.body[0]
    doc = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0  # type: ignore[operator]
    return function.end_lineno - function.lineno + 1 - doc  # type: ignore[operator]


def is_kernel(function: Function) -> bool:
    names = (dotted(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list)
    return any("jit" in name or "kernel" in name for name in names)


def test_function_sizes() -> None:
    report(
        f"{source.place}:{function.lineno}: {function.name} has {length(function)} lines"
        for source in sources()
        for function in source.functions()
        if length(function) > (KERNEL_LINES_MAX if is_kernel(function) else FUNCTION_LINES_MAX)
    )


def test_functions_are_short_on_the_whole() -> None:
    sizes = [length(f) for source in package_sources() for f in source.functions()]
    assert statistics.median(sizes) <= FUNCTION_LINES_MEDIAN
    assert statistics.quantiles(sizes, n=10)[-1] <= FUNCTION_LINES_P90


def clock_uses(source: Source) -> Iterable[tuple[int, str]]:
    for node in source.nodes():
        if isinstance(node, ast.Attribute) and CLOCKS.search(dotted(node)):
            yield node.lineno, dotted(node)
    for line, name in imports(source):
        if CLOCKS.search(name):
            yield line, name


def test_no_wall_clock_outside_the_clock_module() -> None:
    report(
        f"{source.place}:{line}: {name}; take the time as an argument or use mt5bridge.clock"
        for source in package_sources()
        if source.place != CLOCK_MODULE
        for line, name in clock_uses(source)
    )


def test_no_sleeping_tests() -> None:
    report(
        f"{source.place}:{line}: {name}; wait on a condition with a deadline"
        for source in sources()
        if source.place.startswith("tests/")
        for line, name in clock_uses(source)
        if name.endswith("sleep")
    )


def referenced_modules() -> set[str]:
    """Modules that are imported, or loaded by name from a string."""
    names = set()
    for source in sources():
        names |= {name for _, name in imports(source) if name != source.module}
        names |= {
            node.value
            for node in source.nodes()
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
    return names


FOUND_BY_FOLDER = (
    "cep/plan/functions/aggregators/",
    "cep/plan/functions/scalars/",
    "cep/plan/functions/streams/",
    "cep/plan/windows/kinds/",
)
"""Modules that are found by where they stand: tests of the plan say what must be in them."""


def runs_by_itself(source: Source) -> bool:
    name = source.path.name
    if source.place.startswith(FOUND_BY_FOLDER):
        return True
    alone = name in ("__init__.py", "__main__.py", "conftest.py") or name.startswith("test_")
    return alone or source.place.split("/")[0] in ("benchmarks", "strategies")


def test_no_dead_modules() -> None:
    used = referenced_modules()
    report(
        f"{source.place}: nothing imports it"
        for source in sources()
        if not runs_by_itself(source) and source.module not in used
    )


def test_no_dead_data_files() -> None:
    texts = "\n".join(source.text for source in sources()) + (ROOT / "pyproject.toml").read_text()
    packaged = [path for path in files() if path.relative_to(ROOT).parts[0] in ("cep", "mt5bridge")]
    report(
        f"{path.relative_to(ROOT)}: nothing names it"
        for path in packaged
        if path.suffix not in (".py", ".hpp", ".cpp")  # tests/tidy/test_native.py knows of C++
        and path.name != "py.typed"
        and path.name not in texts
    )


def test_only_text_of_reasonable_size() -> None:
    report(
        f"{path.relative_to(ROOT)}: binary or larger than {TEXT_BYTES_MAX} bytes"
        for path in files()
        if path.stat().st_size > TEXT_BYTES_MAX or b"\0" in path.read_bytes()
    )


def test_no_unfinished_work() -> None:
    # Spelled in two halves so that this file does not find itself.
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
    report(
        f"{source.place}:{token.start[0]}: {token.string}"
        for source in sources()
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline)
        if token.type == tokenize.COMMENT and marks.search(token.string)
    )


def test_every_module_says_what_it_is() -> None:
    report(
        f"{source.place}: no module docstring"
        for source in sources()
        if source.text.strip() and not ast.get_docstring(source.tree)
    )


def can_fail(function: Function) -> bool:
    """Whether it asserts something; a generated test also fails by what it calls."""
    if any(isinstance(d, ast.Call) and dotted(d.func) == "given" for d in function.decorator_list):
        return True
    for node in ast.walk(function):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        name = dotted(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
        if re.match(
            r"_?(raise|find|fail|report|assert|check|expect|verify|run_state_machine)", name
        ):
            return True
    return False


def test_every_test_can_fail() -> None:
    report(
        f"{source.place}:{function.lineno}: {function.name} asserts nothing"
        for source in sources()
        if source.path.name.startswith("test_")
        for function in source.functions()
        if function.name.startswith("test_") and not can_fail(function)
    )


def test_every_skip_gives_a_reason() -> None:
    report(
        f"{source.place}:{node.lineno}: skip without a reason"
        for source in sources()
        for node in source.nodes()
        if isinstance(node, ast.Call)
        and re.search(r"^pytest\.(mark\.)?(skip|skipif|xfail|importorskip)$", dotted(node.func))
        and not any(keyword.arg == "reason" for keyword in node.keywords)
        and not (dotted(node.func) == "pytest.skip" and node.args)
    )


def test_readme_is_short() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") < 200


@pytest.mark.parametrize(
    ("importer", "imported", "expected"),
    [
        ("cep.lang.parser", "cep.plan.nodes", True),
        ("cep.plan.build", "cep.lang.ast", False),
        ("cep.plan.build", "cep.plan.types", False),
        ("mt5bridge.server.loop", "cep.plan", True),
        ("cep.engine.run", "cep.daemon.service", True),
        ("cep.cli.daemon", "cep.daemon.service", False),
        ("cep.engine.run", "numpy", False),
    ],
)
def test_the_import_rule_itself(importer: str, imported: str, expected: bool) -> None:
    assert forbidden(importer, imported) is expected


@pytest.mark.parametrize("name", ["time.time", "time.monotonic_ns", "dt.datetime.now", "sleep"])
def test_the_clock_rule_itself(name: str) -> None:
    assert CLOCKS.search(name)
    assert not CLOCKS.search("self.time_msc")


def test_the_folders_exist() -> None:
    assert [name for name in ("cep", "mt5bridge", "tests", "docs") if name not in FOLDERS] == []
    assert all((ROOT / name).is_dir() for name in ("cep", "mt5bridge", "tests", "docs"))
