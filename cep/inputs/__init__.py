"""Rows of a stream from CSV, JSONL and Parquet files."""

from cep.inputs.errors import InputError
from cep.inputs.rows import rows

__all__ = ["InputError", "rows"]
