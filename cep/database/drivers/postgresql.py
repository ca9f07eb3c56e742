"""PostgreSQL through psycopg 3. https://www.psycopg.org/psycopg3/docs/"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.postgresql import POSTGRESQL
from cep.database.drivers.base import as_list, missing
from cep.database.drivers.copying import binary_rows
from cep.database.drivers.locks import in_use
from cep.database.errors import DatabaseError
from cep.plan.types import Type

try:
    import psycopg
    from psycopg import errors, sql
    from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper
except ModuleNotFoundError:
    raise missing("psycopg") from None

CONNECT_WAIT_S = 10
LOCK_WAIT_S = 10.0
"""So long a statement waits for a lock of somebody else."""
ALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}
"""Seconds, seconds and times: when either side finds out that the other is gone."""
SILENCE_MS = 30_000
"""So long what was sent may stay unacknowledged."""
CLAIM_WAIT_S = 3.0
"""A server may take that long to see that a process has died."""
_TYPES = {
    Type.INT: "int8",
    Type.LONG: "int8",
    Type.FLOAT: "float4",
    Type.DOUBLE: "float8",
    Type.STRING: "text",
    Type.BOOL: "bool",
}


class PostgresqlDriver:
    """A server's database; one connection. Statements are prepared, rows come in binary."""

    dialect = POSTGRESQL

    def __init__(self, url: sa.URL, durable: bool) -> None:
        self._url = url.set(drivername="postgresql")
        self._place = self._url.render_as_string(hide_password=True)
        self._durable = durable
        self._claimed: list[str] = []
        self.reconnect()

    def claim(self, name: str) -> None:
        if name not in self._claimed:
            self._lock(name)
            self._claimed.append(name)

    def reconnect(self) -> None:
        if hasattr(self, "_connection"):
            self.close()
        with _explained(self._place):
            self._connection = psycopg.connect(
                self._url.render_as_string(hide_password=False),
                autocommit=True,
                connect_timeout=CONNECT_WAIT_S,
                tcp_user_timeout=SILENCE_MS,
                keepalives_idle=ALIVE["tcp_keepalives_idle"],
                keepalives_interval=ALIVE["tcp_keepalives_interval"],
                keepalives_count=ALIVE["tcp_keepalives_count"],
            )
            self._connection.prepare_threshold = 1
            self._connection.prepared_max = 1_000
            # one width for all whole numbers: a statement is prepared once, not once per width
            for dumper in (Int8Dumper, Int8BinaryDumper):
                self._connection.adapters.register_dumper(int, dumper)
            self.execute(f"SET synchronous_commit = {'on' if self._durable else 'off'}")
            for setting, value in ALIVE.items():
                self._set(setting, str(value))
            self._set("lock_timeout", f"{LOCK_WAIT_S}s")
            for name in self._claimed:
                self._lock(name)

    def begin(self) -> None:
        self.execute("BEGIN")

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        status = self._connection.info.transaction_status
        if not self._connection.closed and status != psycopg.pq.TransactionStatus.IDLE:
            self.execute("ROLLBACK")

    def execute(self, text: str, values: Sequence[Any] = ()) -> int:
        with _explained(self._place, self._connection):
            return self._connection.execute(_query(text), values).rowcount

    def load(
        self,
        table: str,
        columns: Sequence[str],
        data: Sequence[Sequence[Any]],
        types: Sequence[Type],
    ) -> None:
        names = [_TYPES[type_] for type_ in types]
        statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, columns)),
        )
        block = binary_rows(data, names)
        with (
            _explained(self._place, self._connection),
            self._connection.cursor() as cursor,
            cursor.copy(statement) as copy,
        ):
            if block is not None:
                copy.write(block)
                return
            copy.set_types(names)
            for row in zip(*map(as_list, data), strict=True):
                copy.write_row(row)

    def fetch(self, text: str, values: Sequence[Any] = ()) -> list[Any]:
        with _explained(self._place, self._connection), self._connection.cursor() as cursor:
            rows = cursor.execute(_query(text), values, binary=True).fetchall()
            names = cursor.description or ()
        return list(zip(*rows, strict=True)) if rows else [() for _ in names]

    def close(self) -> None:
        self._connection.close()

    def _lock(self, name: str) -> None:
        """Hold an advisory lock until the connection ends."""
        key = int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
        self._set("lock_timeout", f"{CLAIM_WAIT_S}s")
        try:
            with _explained(self._place, self._connection):
                self._connection.execute("SELECT pg_advisory_lock(%s)", [key])
        except DatabaseError as error:
            if isinstance(error.__cause__, errors.LockNotAvailable):
                raise in_use(name, self._place) from None
            raise
        self._set("lock_timeout", f"{LOCK_WAIT_S}s")

    def _set(self, name: str, value: str) -> None:
        """A setting of this connection."""
        self.execute("SELECT set_config(%s, %s, false)", [name, value])


def _query(text: str) -> Any:
    """A text that is not written in the program; it comes from SQLAlchemy's compiler."""
    return text


@contextmanager
def _explained(place: str, connection: psycopg.Connection[Any] | None = None) -> Iterator[None]:
    """Errors of PostgreSQL as ours."""
    try:
        yield
    except psycopg.Error as error:
        text = (error.diag.message_primary or str(error)).strip()
        if isinstance(error, errors.DiskFull):
            raise DatabaseError(f"no room left on the disk of {place}; make some") from error
        if isinstance(error, errors.DeadlockDetected | errors.SerializationFailure):
            raise DatabaseError(f"{place}: {text}", retry=True) from error
        if isinstance(error, errors.LockNotAvailable | errors.QueryCanceled):
            raise DatabaseError(f"{place} did not answer in time: {text}", retry=True) from error
        if isinstance(error, errors.InvalidPassword | errors.InvalidCatalogName):
            raise DatabaseError(f"{place}: {text}; correct the URL") from error
        if isinstance(error, errors.InsufficientPrivilege):
            rights = "grant its user CREATE on the schema, and CONNECT on the database"
            raise DatabaseError(f"{place}: {text}; {rights}") from error
        if connection is None and "FATAL:" in text and "database system is" not in text:
            # a server that is there, and neither starting nor stopping
            raise DatabaseError(f"{place} does not let us in: {text}; correct the URL") from error
        if connection is None:
            down = f"{place} cannot be reached; start it, or correct the URL: {text}"
            raise DatabaseError(down, retry=True, is_lost=True) from error
        if connection.closed or connection.broken:
            gone = f"the connection to {place} is lost: {text}"
            raise DatabaseError(gone, retry=True, is_lost=True) from error
        is_of_values = isinstance(error, errors.DataError | errors.IntegrityError)
        raise DatabaseError(f"{place}: {text}", is_of_values=is_of_values) from error
