"""Which modules are mutated, by what they are for, and which tests are to notice."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation import plain


@dataclass(frozen=True)
class Group:
    """Modules (files, or folders of them), their tests, and how many faults are tried.

    `environment` is set while they are; rules run as plain Python where kernels have the faults,
    each of which would have to be compiled first.
    """

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    count: int
    environment: dict[str, str] = field(default_factory=dict)

    def paths(self, root: Path) -> list[str]:
        """The modules' files."""
        found: list[Path] = []
        for name in self.modules:
            path = root / name
            found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
        return [str(p.relative_to(root)) for p in found if p.name != "__init__.py"]


_ENGINE = [
    f"tests/engine/test_{name}.py"
    for name in (
        "bounds change compiled_features families growth indicators joins match_states matches"
        " matchings patterns queues row_feed"
    ).split()
]
"""Those of the engine that run most of the kernels, without those that run long."""

GROUPS = (
    Group(
        "session",
        tuple(
            f"mt5bridge/server/{name}.py"
            for name in ("session", "stream", "recount", "requests", "terminals")
        ),
        ("tests/bridge", "tests/cli/test_terminals_command.py"),
        45,
    ),
    Group("spool", ("mt5bridge/spool",), ("tests/spool", "tests/durability/test_spool.py"), 40),
    Group(
        "orders",
        ("mt5bridge/orders",),
        ("tests/orders", "tests/durability/test_orders.py", "tests/bridge/test_signals.py"),
        45,
    ),
    Group(
        "live",
        ("cep/live", "cep/daemon.py"),
        ("tests/live", "tests/durability/test_state.py", "tests/cli/test_terminals_command.py"),
        40,
    ),
    Group(
        "archive",
        ("cep/archive",),
        ("tests/archive", "tests/durability/test_archive.py", "tests/cli/test_archive_import.py"),
        30,
    ),
    Group(
        "kernels",
        ("cep/engine/kernels", "cep/plan/functions"),
        ("tests/semantics", "tests/functions", "tests/jepc/test_lookups.py", *_ENGINE),
        25,
        {"PYTEST_ADDOPTS": f"-p {plain.__name__}"},
    ),
    Group("backtest", ("cep/backtest",), ("tests/backtest",), 25),
)
