"""The cases that do not give the recorded answer, with the reasons."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("deviations.toml")


@dataclass(frozen=True)
class Known:
    """Why a case differs. `is_recording`: it cannot be replayed, in no mode."""

    reason: str
    is_recording: bool


@cache
def deviations() -> dict[str, Known]:
    """By `file:id` of the case, `file` without its ending."""
    listed = tomllib.loads(LIST.read_text())
    return {
        f"{group['file']}:{id_}": Known(group["reason"], kind == "recording")
        for kind in ("deviation", "recording")
        for group in listed.get(kind, [])
        for id_ in group["cases"]
    }
