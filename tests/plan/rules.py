"""Short ways to plans, for tests."""

from __future__ import annotations

import pytest

from cep.lang import RuleError
from cep.plan import Plan, compile_rules
from cep.plan.query import Join, Match, Query, StreamInput
from cep.plan.steps import Window

ATTRIBUTES = "symbol string, price double, volume long, n int, ok bool, t long"
STREAMS = "".join(f"define stream {name} ({ATTRIBUTES});\n" for name in ("S", "R"))
TABLE = f"@PrimaryKey('symbol') @Index('n') define table T ({ATTRIBUTES});\n"


def plan(text: str) -> Plan:
    return compile_rules(STREAMS + TABLE + text)


def query(text: str) -> Query:
    """The last query of a text."""
    return plan(text).queries[-1]


def source(text: str) -> StreamInput:
    """The input of `from S{text} select ..`."""
    return query(f"from S{text} insert into Out;").stream_input


def window(text: str) -> Window:
    found = source(f"#window.{text}").window
    assert found is not None
    return found


def join(text: str) -> Join:
    found = query(f"from {text} select 1 as one insert into Out;").input
    assert isinstance(found, Join)
    return found


def match(text: str, select: str = "1 as one", before: str = "") -> Match:
    found = query(f"{before} from {text} select {select} insert into Out;").input
    assert isinstance(found, Match)
    return found


def refused(text: str) -> RuleError:
    """The error of a text; it has a place and a message, and mostly a remedy."""
    with pytest.raises(RuleError) as raised:
        plan(text)
    return raised.value
