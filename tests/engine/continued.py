"""Runs of random apps, cut in two; `python -m tests.engine.continued FOLDER` is the second half.

The folder holds a snapshot for each case, and gets what comes out after it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cep.engine.native import Compiled, Run
from cep.engine.snapshot import restore, take
from cep.plan import compile_rules
from cep.plan.on_demand import build_on_demand
from tests.engine.random_apps import WALL, App, Step, random_app


class Watched:
    """A run and what it puts out: rows, and what the callbacks of interpreted queries are told."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.told: list[Any] = []
        for query in run.rules.plan.queries if run.interpreting is not None else ():
            name = query.name
            run.on_query(name, lambda *found, name=name: self.told.append((name, found)))

    def go(self, steps: Sequence[Step]) -> list[Any]:
        """What the steps lead to, step by step."""
        return [self._step(*step) for step in steps]

    def _step(self, stream: str, time_ms: int, row: dict[str, Any] | None) -> Any:
        if row is not None:
            rows = self.run.push_row(stream, time_ms, row)
        elif stream == WALL:
            rows = self.run.wall(time_ms)
        else:
            rows = self.run.advance(time_ms)
        told, self.told = self.told, []
        return [rows.dicts(), told]

    def rest(self, app: App) -> bytes:
        """What the steps behind the cut lead to, and the answers in the end."""
        found = self.go(app.steps[app.cut :])
        answers = [self.run.ask(build_on_demand(one, self.run.rules.plan)) for one in app.questions]
        return as_json([found, answers])


def compiled(app: App, *, jit: bool = False) -> Compiled:
    """The app's rules."""
    return Compiled(compile_rules(app.text, "app.cep"), jit=jit)


def as_json(found: Any) -> bytes:
    """The same bytes for the same values, in every process."""
    return json.dumps(found, default=lambda value: sorted(value, key=repr)).encode()


def snapshot_of(folder: Path, number: int) -> Path:
    """Where the snapshot of a case lies."""
    return folder / f"{number}.snapshot"


def output_of(folder: Path, number: int) -> Path:
    """Where the output behind the cut of a case lies."""
    return folder / f"{number}.json"


def continue_all(folder: Path, *, jit: bool) -> None:
    """Go on from every snapshot in a folder."""
    for path in sorted(folder.glob("*.snapshot")):
        number = int(path.stem)
        app, saved = random_app(number), path.read_bytes()
        run = restore(compiled(app, jit=jit), saved)
        assert take(run) == saved, f"case {number}: the snapshot of what was restored differs"
        output_of(folder, number).write_bytes(Watched(run).rest(app))


if __name__ == "__main__":
    continue_all(Path(sys.argv[1]), jit="--jit" in sys.argv)
