"""Extended SQL: standard SELECT with clauses for windows and pattern matching.

Article "Event processing on your own database", listing 1.
"""

from __future__ import annotations

from cep.jepc.sql.parser import parse_sql

__all__ = ["parse_sql"]
