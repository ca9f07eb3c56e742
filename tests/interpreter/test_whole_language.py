"""Whole random rule files in the interpreter alone and in the native engine: the same streams.

Rows are in order of time, and streams are compared one by one: natively what crosses keys comes
behind what does not.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests import campaign
from tests.engine.random_apps import WALL, App, Step, random_app

Found = dict[str, list[Any]]
PER_TEST = 30
APPS = 1_500
SAMPLE = 60


def is_comparable(app: App) -> bool:
    """Natively idle time does not move compiled windows, and rows put in order enter later."""
    return "@reorder" not in app.text and not any(stream == WALL for stream, _, _ in app.steps)


def native(app: App, steps: list[Step]) -> Found:
    run = Compiled(compile_rules(app.text, "app.cep"), jit=False).start(mode="sorted")
    return by_stream(
        (run.advance(at) if row is None else run.push_row(stream, at, row)).dicts()
        for stream, at, row in steps
    )


def interpreted(app: App, steps: list[Step]) -> Found:
    run = InterpretedRun(compile_rules(app.text, "app.cep"))
    return by_stream(
        run.advance(at) if row is None else run.push_row(stream, at, row)
        for stream, at, row in steps
    )


def by_stream(made: Any) -> Found:
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for rows in made:
        for row in rows:
            found[row["stream"]].append(row)
    return dict(found)


def blocks() -> list[Any]:
    return [
        pytest.param(first) if first < SAMPLE else campaign.only(first)
        for first in range(0, APPS, PER_TEST)
    ]


@pytest.mark.parametrize("first", blocks())
def test_the_streams_are_the_same(first: int) -> None:
    for number in range(first, first + PER_TEST):
        app = random_app(number)
        if is_comparable(app):
            steps = sorted(app.steps, key=lambda step: step[1])
            assert interpreted(app, steps) == native(app, steps), f"app {number}:\n{app.text}"


def test_the_sample_has_events() -> None:
    apps = [random_app(number) for number in range(SAMPLE)]
    assert sum("define event" in app.text for app in apps if is_comparable(app)) > 5
