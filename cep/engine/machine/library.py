"""The machine code of the kernels, made once for all rules; see `cep.engine.machine_code`."""

from __future__ import annotations

from cep.engine.machine.kernels.entry import enter
from cep.engine.machine_code import MachineCode

CODE = MachineCode(enter)
