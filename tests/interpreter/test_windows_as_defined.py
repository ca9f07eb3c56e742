"""What the definitions of windows say of them is what running windows do."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest

from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows import make_window
from cep.plan import compile_rules
from cep.plan.functions import EXAMPLE
from cep.plan.windows import WINDOWS, WindowKind

LATER_MS = 10**8
STEP_MS = 700
Values = list[Any]


@functools.cache
def planned(example: str) -> Any:
    plan = compile_rules(f"{EXAMPLE} from S#window.{example} select n insert into O;")
    return plan.queries[0].stream_input


def rows_of(keys: str) -> list[Row]:
    """A row each step, of the key at its place."""
    return [
        Row(time, [key, place % 4, float(place), 0.5, time, True])
        for place, key in enumerate(keys)
        for time in (10_000 + STEP_MS * place,)
    ]


class Running:
    """A window on a clock of its own, what it has put out, and what that says it holds."""

    def __init__(self, kind: WindowKind) -> None:
        source = planned(kind.example)
        self.shared = Shared(compat=False, playback=False)
        self.out: Chunk = []
        self.part = make_window(source.window, source.schema, Context(self.shared), self._take)

    def _take(self, chunk: Chunk) -> None:
        self.out += chunk

    def feed(self, row: Row) -> None:
        self.shared.clock.glide(row.time)
        self.part.process([row])

    def wait(self) -> None:
        """A long time passes."""
        self.shared.clock.glide((self.shared.clock.now_ms or 0) + LATER_MS)

    @property
    def told(self) -> list[Values]:
        """The rows that have come and not left, in the order in which they came."""
        inside: list[Values] = []
        for row in self.out:
            if row.kind is RowKind.CURRENT:
                inside.append(row.values)
            elif row.kind is RowKind.EXPIRED:
                inside.remove(row.values)
        return inside

    @property
    def held(self) -> list[Values]:
        return [row.values for row in self.part.held()]


def of_key(rows: Sequence[Values], key: str) -> list[Values]:
    return [values for values in rows if values[0] == key]


@pytest.mark.parametrize("kind", WINDOWS, ids=lambda kind: kind.name)
def test_time_alone_lets_rows_go_where_our_clock_does(kind: WindowKind) -> None:
    running = Running(kind)
    for row in rows_of("abcabcabcabc"):
        running.feed(row)
    before = len(running.out)
    running.wait()
    assert (len(running.out) > before) == (kind.clock != "none")


@pytest.mark.parametrize("kind", WINDOWS, ids=lambda kind: kind.name)
def test_rows_that_leave_singly_are_each_told(kind: WindowKind) -> None:
    if not kind.leaves_singly:
        return
    running, left = Running(kind), 0
    for row in rows_of("abcabcabcabc"):
        running.feed(row)
        assert running.told == running.held
        assert [one.kind for one in running.out].count(RowKind.EXPIRED) <= left + 1
        left = [one.kind for one in running.out].count(RowKind.EXPIRED)
    assert left > 0


@pytest.mark.parametrize("kind", WINDOWS, ids=lambda kind: kind.name)
def test_rows_of_other_keys_change_nothing_where_windows_may_be_apart(kind: WindowKind) -> None:
    rows = rows_of("aabcaabbcaba")
    alone, together = Running(kind), Running(kind)
    for row in rows:
        together.feed(row)
        if row.values[0] == "a":
            alone.feed(row)
        else:
            alone.shared.clock.glide(row.time)
        if kind.clock == "groups" or kind.apart == "aggregates":
            assert of_key(together.told, "a") == alone.told
            assert of_key(together.held, "a") == alone.held
        if kind.apart != "never":
            came = [one.values for one in together.out if one.kind is RowKind.CURRENT]
            assert of_key(came, "a") == [
                one.values for one in alone.out if one.kind is RowKind.CURRENT
            ]


@pytest.mark.parametrize("kind", WINDOWS, ids=lambda kind: kind.name)
def test_every_example_is_a_call(kind: WindowKind) -> None:
    window = planned(kind.example).window
    assert window.name == kind.name
    assert kind.example.startswith(f"{kind.name}(")
    assert len(window.arguments) >= len([one for one in kind.signature.parameters
                                         if not one.repeated])  # fmt: skip
