"""What worlds have come to, kept for the next run; it holds for the code that they ran on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from benchmarks.measure import FOLDER
from tests.world.record import Record

DONE = FOLDER.parent / ".cache" / "world.jsonl"
_ROOT = FOLDER.parent
_RUN = ("cep", "mt5bridge", "tests/world", "tests/durability/recording.py", "tests/bridge/odd.py")
"""What a world is made of."""


class Outcome(msgspec.Struct, frozen=True):
    """Of one seed; `events` are its last ones, where it has problems."""

    seed: int
    counts: dict[str, int]
    problems: list[str]
    events: list[str]
    cpu_s: float

    @classmethod
    def of(cls, seed: int, record: Record, cpu_s: float) -> Outcome:
        events = list(record.last) if record.problems else []
        return cls(seed, dict(record.counts), list(record.problems), events, round(cpu_s, 3))


class _Line(msgspec.Struct):
    code: str
    outcome: Outcome


@cache
def code_digest() -> str:
    """Identifies the code that worlds run."""
    return digest_of(_files(_ROOT / place for place in _RUN))


def _files(places: Iterable[Path]) -> list[Path]:
    found = [[place] if place.is_file() else sorted(place.rglob("*.py")) for place in places]
    return [path for paths in found for path in paths]


def digest_of(paths: Iterable[Path]) -> str:
    """Of files' names and bytes."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(b"%s\0%d\0" % (path.name.encode(), path.stat().st_size))
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def kept(path: Path, code: str) -> dict[int, Outcome]:
    """By seed, of this code alone; a line that a kill has torn is none."""
    found: dict[int, Outcome] = {}
    for data in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            line = msgspec.json.decode(data, type=_Line)
        except msgspec.DecodeError:
            continue
        if line.code == code:
            found[line.outcome.seed] = line.outcome
    return found


def keep(path: Path, code: str, outcome: Outcome) -> None:
    """Behind what a kill may have torn."""
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as file:
        is_torn = file.tell() and path.read_bytes()[-1:] != b"\n"
        file.write(b"\n" * bool(is_torn) + msgspec.json.encode(_Line(code, outcome)) + b"\n")
