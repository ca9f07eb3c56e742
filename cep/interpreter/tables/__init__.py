"""Tables of the interpreter: rows kept until deleted, with keys, indexes and conditions."""

from cep.interpreter.tables.search import Holder, Search
from cep.interpreter.tables.table import Table, make_table
from cep.interpreter.tables.writers import make_writer

__all__ = ["Holder", "Search", "Table", "make_table", "make_writer"]
