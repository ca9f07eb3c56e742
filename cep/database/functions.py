"""What of the functions and operators a database does not have, and why."""

from __future__ import annotations

from cep.database.dialects.base import Dialect
from cep.database.errors import Gap
from cep.plan.functions import SCALARS
from cep.plan.functions.sql import Never


def gaps(dialect: Dialect) -> dict[str, tuple[Gap, str]]:
    """What of the scalar functions and operators a database does not have: the gap, and why."""
    found: dict[str, tuple[Gap, str]] = {}
    for scalar in SCALARS:
        written = scalar.sql_on(dialect.forms)
        if isinstance(written, Never):
            found[scalar.name] = ("never", written.why)
    found |= {name: ("never", why) for name, why in dialect.never.items()}
    if not dialect.in_process:
        found["functions of the user"] = ("never", "a server does not call functions of ours")
        found["convert"] = ("notimpl", "to float; of texts to numbers; of doubles to texts")
    return found
