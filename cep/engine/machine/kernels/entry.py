"""How Python enters the kernels."""

from __future__ import annotations

from cep.engine.kernels.addressed import (
    START,
    STOP,
    TABLE,
    memory_floats,
    memory_ints,
    program,
    row_floats,
    row_ints,
    words,
)
from cep.engine.machine.jit import whole
from cep.engine.machine.kernels.run import run


@whole
def enter(address: int) -> int:
    """Run the program on what the table at an address names: see `run`."""
    table, i, f = words(address, TABLE), memory_ints(address), memory_floats(address)
    rows, reals = row_ints(address), row_floats(address)
    return run(table[START], table[STOP], rows, reals, i, f, program(address))
