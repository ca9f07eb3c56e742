"""The emulated terminal's broker as a program that reads order sessions."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mt5bridge.emulator.build import SHIM, cache_folder, compiler
from mt5bridge.file_lock import lock

MAIN = Path(__file__).with_name("sessions.cpp")
PARTS = (
    "broker", "book", "checks", "check_prices", "close_by", "codec", "commands", "convert",
    "deliveries", "fills", "log", "money", "positions", "requests", "retcodes", "settings",
    "triggers",
)  # fmt: skip
FLAGS = ("-std=c++20", "-O1", "-fwrapv", "-fno-strict-aliasing", f"-I{SHIM}")


def program() -> Path:
    """The compiled program; made when the cache has none of these sources."""
    headers = sorted(SHIM.rglob("*.hpp"))
    sources = [SHIM / "broker" / f"{name}.cpp" for name in PARTS]
    digest = hashlib.sha256("\0".join(FLAGS).encode())
    for path in [*headers, *sources, MAIN]:
        digest.update(path.read_bytes())
    target = cache_folder() / f"sessions-{digest.hexdigest()[:20]}"
    target.parent.mkdir(parents=True, exist_ok=True)
    held = lock(target.with_suffix(".lock"), wait=True)
    try:
        if not target.exists():
            _compile([*sources, MAIN], target)
    finally:
        os.close(held)
    return target


def _compile(sources: Iterable[Path], target: Path) -> None:
    """One unit: most of the time goes into the standard library's headers."""
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        unit, made = Path(folder) / "unit.cpp", Path(folder) / "made"
        unit.write_text("".join(f'#include "{path}"\n' for path in sources), encoding="utf-8")
        command = [compiler(), *FLAGS, str(unit), "-o", str(made)]
        subprocess.run(command, check=True, capture_output=True)
        made.replace(target)


def outcomes(lines: Iterable[str], log: Path) -> list[list[str]]:
    """What came of each session, line by line; `log` is a file it may use."""
    done = subprocess.run(
        [program(), log], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    found: list[list[str]] = [[]]
    for line in done.stdout.splitlines():
        if line == "end":
            found.append([])
        else:
            found[-1].append(line)
    return found[:-1]
