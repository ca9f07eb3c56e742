"""What stands next to every figure: machine, load, versions and command."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numba
import numpy as np
import zmq


def describe() -> str:
    """One paragraph on where and how something was measured."""
    load = f", load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    module = sys.modules["__main__"].__spec__
    name = module.name.removesuffix(".__main__") if module else sys.argv[0]
    command = " ".join(["python", "-m", name, *sys.argv[1:]])
    return (
        f"{_processor()}, {os.cpu_count()} cores{load}; {platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, "
        f"pyzmq {zmq.__version__}. `{command}`\n"
    )


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
