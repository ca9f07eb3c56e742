"""Whether a database can be used, before it is."""

from __future__ import annotations

from cep.database.drivers import connect
from cep.database.store import Store


def check_database(url: str, prefix: str, durable: bool, owner: str = "daemon") -> None:
    """DatabaseError when it cannot be reached or written, or its tables are somebody else's.

    A run may be using them. Nothing but an empty table of progress is made.
    """
    driver = connect(url, durable)
    try:
        Store(prefix, driver.dialect, durable).load(driver).of_owner(owner, prefix)
    finally:
        driver.close()
