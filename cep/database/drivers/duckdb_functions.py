"""Functions of ours in DuckDB: who makes them must outlive all who call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any

import duckdb
import pyarrow as pa

from cep.database.own import OwnFunction, own_functions
from cep.plan.types import Type

ARROW = {
    Type.INT: pa.int64(),
    Type.LONG: pa.int64(),
    Type.FLOAT: pa.float32(),
    Type.DOUBLE: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOL: pa.bool_(),
}
"""How values of a type come and go."""
_NAMES = {
    Type.INT: "BIGINT",
    Type.LONG: "BIGINT",
    Type.FLOAT: "FLOAT",
    Type.DOUBLE: "DOUBLE",
    Type.STRING: "VARCHAR",
    Type.BOOL: "BOOLEAN",
}


@dataclass(slots=True)
class Functions:
    """The functions of one database, which all connections of this process to it share.

    They are made on a connection of their own: else they would go with a transaction that is rolled
    back, and with the connection.
    """

    connection: Any
    users: int = 0
    known: int = field(default=0)

    def know(self) -> None:
        """Make those that have been asked for since."""
        for one in own_functions(self.known):
            self.connection.create_function(
                one.name,
                _by_columns(one),
                [_NAMES[type_] for type_ in one.arguments],
                _NAMES[one.result],
                type="arrow",
                null_handling="special",
                side_effects=False,
            )
            self.known += 1


_by_file: dict[str, Functions] = {}


def functions_of(file: str | None, connection: Any) -> Functions:
    """Those of a database, one user more; `file` None is one in memory."""
    found = _by_file.get(file) if file is not None else None
    if found is None:
        # a cursor's functions go with the connection it comes from
        found = Functions(connection.cursor() if file is None else duckdb.connect(file))
        if file is not None:
            _by_file[file] = found
    found.users += 1
    return found


def leave(file: str | None, functions: Functions) -> None:
    """One user less; the last one closes it."""
    functions.users -= 1
    if functions.users == 0:
        if file is not None:
            del _by_file[file]
        functions.connection.close()


def _by_columns(function: OwnFunction) -> Callable[..., pa.Array]:
    """A function of values as one of Arrow arrays."""
    call, many, type_ = function.call, function.columns, ARROW[function.result]

    def applied(*columns: Any) -> pa.Array:
        if many is not None and not any(column.null_count for column in columns):
            values, missing = many(*(column.to_numpy() for column in columns))
            return pa.array(values, type_, mask=missing)
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return pa.array([call(*row) for row in rows], type_)

    # DuckDB counts the parameters
    names = [f"value{place}" for place in range(len(function.arguments))]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    signed: Any = applied
    signed.__signature__ = Signature([Parameter(name, kind) for name in names])
    return applied
