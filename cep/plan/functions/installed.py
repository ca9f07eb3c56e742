"""Functions of installed packages: entry points of the group `mt5cep.functions`."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from cep.plan.functions.origin import FunctionError

GROUP = "mt5cep.functions"
_is_loaded = False


def load_installed() -> None:
    """Import what installed packages name, once a process; the decorators there do the rest.

    FunctionError names the package that cannot be imported.
    """
    global _is_loaded
    if _is_loaded:
        return
    for point in entry_points(group=GROUP):
        _load(point)
    _is_loaded = True


def _load(point: EntryPoint) -> None:
    try:
        point.load()
    except Exception as problem:
        package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
        raise FunctionError(
            f"entry point `{point.name} = {point.value}`{package} ({GROUP}): "
            f"{type(problem).__name__}: {problem}",
            "mend that package, or uninstall it",
        ) from problem
