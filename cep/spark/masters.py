"""What the name of a Spark master says of where its tasks run."""

from __future__ import annotations

import re

_LOCAL = re.compile(r"local(\[(\*|\d+)\])?")
TRIES = 4
"""How often a task is tried, as clusters do; Spark's own default for this machine is once."""


def is_local(master: str) -> bool:
    """Whether all tasks run in one process of this machine."""
    return master == "local" or master.startswith("local[")


def is_here(master: str) -> bool:
    """Whether they run on this machine, also in processes of their own."""
    return is_local(master) or master.startswith(
        ("local-cluster[", "spark://127.0.0.1:", "spark://localhost:")
    )


def retrying(master: str) -> str:
    """The master that tries a task again whose worker has died, unless it says how often itself.

    `local[2]` is `local[2,4]`; clusters have `spark.task.maxFailures`.
    """
    found = _LOCAL.fullmatch(master)
    return f"local[{found[2] or 1},{TRIES}]" if found else master
