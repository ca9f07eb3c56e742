"""Bytes as Arrow reads them."""

from __future__ import annotations

import pyarrow as pa


def reader(data: bytes) -> pa.BufferReader:
    """A source over a copy of `data` that Arrow owns.

    Arrow reads on threads of its own, which may let go of the source a moment after the result is
    there. Were it a Python object, and Python just about to end, such a thread would wait for an
    interpreter that is no more, and take the process down ("terminate called without an active
    exception").
    """
    sink = pa.BufferOutputStream()
    sink.write(data)
    return pa.BufferReader(sink.getvalue())
