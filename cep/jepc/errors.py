"""What is wrong with a query, a stream or an event."""

from __future__ import annotations


class QueryError(ValueError):
    """A query or stream that cannot be had; says which part, why, and what to do."""
