"""The back ends that every semantics case runs on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cep.engine.native import Compiled
from cep.plan.nodes import Plan
from tests.reference.engine import Reference
from tests.semantics.loader import BackEnd, InputRow, OutputRow


def reference(plan: Plan, rows: Sequence[InputRow]) -> list[OutputRow]:
    """The naive engine."""
    engine = Reference(plan)
    return [output for row in rows for output in engine.push(*row)]


def native(plan: Plan, rows: Sequence[InputRow], jit: bool) -> list[OutputRow]:
    """The native engine, row by row; attributes that a row leaves out are null."""
    run = Compiled(plan, jit=jit).start()
    found: list[OutputRow] = []
    for stream, time_msc, row in rows:
        names = plan.stream(stream).schema.names
        found += run.push_row(stream, time_msc, {name: row.get(name) for name in names}).dicts()
    return found


BACK_ENDS: dict[str, BackEnd] = {
    "reference": reference,
    "native-plain": partial(native, jit=False),
    "native": partial(native, jit=True),
}
