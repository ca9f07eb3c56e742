"""Skewness: against the definition in fractions, and in every engine that rules run on."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.cli.application import main
from cep.engine.native import Compiled
from cep.interpreter.codec import pack, unpack
from cep.jepc import (
    Aggregate,
    Aggregator,
    CountWindow,
    EventProcessor,
    NativeProvider,
    Result,
    Stream,
)
from cep.plan import compile_rules
from cep.plan.expressions import Aggregate as Planned
from cep.plan.expressions import Column
from cep.plan.functions import aggregator_of
from cep.plan.types import Type
from tests.campaign import examples
from tests.functions.everywhere import interpreted, native, rows, rules

CALL = "skewness(x)"
LENGTH = 5
POINTS = st.integers(-(10**9), 10**9).map(lambda points: points / 100_000)
PRICES = st.one_of(
    POINTS,
    st.floats(1e-3, 1e6),
    st.sampled_from([0.1, 0.2, 0.3, 1.09513, 1.09514, 1e6, 1e6 + 1e-6, -0.1, 0.0]),
)


def skewness(values: Sequence[float | None]) -> float | None:
    """By its definition, m3 / m2 ** 1.5, in fractions; the root has 400 bits."""
    known = [Fraction(value) for value in values if value is not None]
    if len(known) < 3 or len(set(known)) == 1:
        return None
    mean = statistics.mean(known)
    second = statistics.mean([(value - mean) ** 2 for value in known])
    third = statistics.mean([(value - mean) ** 3 for value in known])
    square = third**2 / second**3
    bits = 400 + 2 * square.denominator.bit_length()
    root = math.isqrt((square.numerator << 2 * bits) // square.denominator)
    return math.copysign(root / (1 << bits), third)


def test_the_reference_itself() -> None:
    assert skewness([1.0, 2.0, 3.0]) == 0.0
    assert skewness([0.0, 0.0, 1.0]) == pytest.approx(1 / math.sqrt(2))
    assert skewness([1.0, 2.0]) is None
    assert skewness([2.0, 2.0, 2.0]) is None


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "remove", "clear", "save"]), st.integers(0, 99)
    ),
    max_size=40,
)


@settings(max_examples=examples(200))
@given(
    steps=STEPS,
    values=st.lists(PRICES | st.integers(-(2**62), 2**62), min_size=1, max_size=9),
)
def test_the_plain_definition_is_exact(steps: list[tuple[str, int]], values: list[float]) -> None:
    """Values come and go in any order: at every step it is the skewness of those inside."""
    definition = aggregator_of("skewness")
    plan = Planned("skewness", (Column(0, "x", Type.DOUBLE),), Type.DOUBLE)
    running = definition.plain(plan)
    inside: list[float] = []
    for step, pick in steps:
        if step == "add":
            inside.append(values[pick % len(values)])
            running.add(inside[-1])
        elif step == "remove" and inside:
            running.remove(inside.pop(pick % len(inside)))
        elif step == "clear":
            inside.clear()
            running.clear()
        elif step == "save":
            state = unpack(pack(running.state()))
            running = definition.plain(plan)
            running.restore(state)
        assert running.value == skewness(inside)


@functools.cache
def windows(jit: bool) -> Compiled:
    text = (
        "define stream S (x double); "
        f"from S#window.length({LENGTH}) select skewness(x) as s insert into O;"
    )
    return Compiled(compile_rules(text, "rules.cep"), jit=jit)


def compiled(values: Sequence[float | None], jit: bool) -> list[float | None]:
    run = windows(jit).start()
    return [row["s"] for row in run.push("S", {"x": values}, np.arange(len(values))).dicts()]


@pytest.mark.parametrize("jit", [False, True])
@settings(max_examples=examples(200), deadline=None)
@given(values=st.lists(PRICES | st.none(), min_size=1, max_size=40))
def test_compiled_it_is_exact(jit: bool, values: list[float | None]) -> None:
    for place, found in enumerate(compiled(values, jit)):
        assert found == skewness(values[max(0, place - LENGTH + 1) : place + 1])


@settings(max_examples=examples(100), deadline=None)
@given(
    middle=st.integers(1, 10**7).map(lambda points: points / 10**5),
    steps=st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_what_leans_to_no_side_is_told_to_the_last_bit(middle: float, steps: list[int]) -> None:
    """Almost all digits cancel out: doubles in decimals are not quite as far on both sides."""
    sides = [middle + sign * step / 10**5 for step in steps for sign in (1, -1)]
    values = [middle, *sides]
    for place, found in enumerate(compiled(values, jit=False)):
        assert found == skewness(values[max(0, place - LENGTH + 1) : place + 1])


FAR = """
define stream S (x double);
from S#window.length(5) select skewness(ifThenElse(x > 99.0 or x < -99.0, x * 1e308, x)) as s
insert into O;
"""


@pytest.mark.parametrize("way", ["generated", "whole_lived", "by_interpreter"])
def test_what_is_infinite_is_null_until_it_leaves(way: str) -> None:
    values = [100.0, -100.0, 1.0, 2.0, 4.0, 8.0, 1.0]
    run = getattr(Compiled(compile_rules(FAR), jit=False), way).start()
    found = run.push("S", {"x": values}, np.arange(len(values))).dicts()
    assert [row["s"] for row in found] == [None] * 6 + [skewness(values[2:])]


def test_machine_code_is_the_interpreter_with_groups_partitions_and_snapshots() -> None:
    plan, some = rules(CALL), rows()
    assert native(plan, some, jit=True, cut=50) == interpreted(plan, some)


RULES = """
define stream S (k string, x double);
from S[x > 0.0] select k, x insert into T;
from T#window.length(6) select k, skewness(x) as s, count() as n group by k insert into O;
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    lines = ["time_msc,k,x", *(f"{t},{'ab'[t % 2]},{t * 37 % 101 / 25}" for t in range(200))]
    (tmp_path / "rules.cep").write_text(RULES)
    (tmp_path / "s.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(command: str, files: Path, *options: str) -> Any:
    found = CliRunner().invoke(main, [command, str(files / "rules.cep"), *options])
    assert found.exit_code == 0, found.stderr
    return found


def test_every_command_knows_it(files: Path) -> None:
    assert "ok" in run("check", files).output.lower()
    assert CALL in run("explain", files).output


def test_with_a_database_in_front_it_says_the_same(files: Path) -> None:
    """The database refuses it by name; our engine computes it behind."""
    source = f"--input=S={files / 's.csv'}"
    database = ("--backend=database", "--url=sqlite://")
    told = run("explain", files, *database).output
    assert "on our engine:\n  query2: notimpl: skewness()" in told
    alone = run("replay", files, "--plain", source).stdout_bytes
    assert run("replay", files, "--plain", source, *database).stdout_bytes == alone
    assert b'"s":0' in alone or b'"s":-0' in alone


def test_queries_as_objects_know_it() -> None:
    told: list[Result] = []
    with EventProcessor(NativeProvider(jit=False)) as processor:
        processor.register_stream("s", {"x": "double"})
        window = Stream("s").window(CountWindow(4))
        processor.create_query("q", Aggregator(window, {"v": Aggregate("skewness", ("x",))}))
        processor.add_output_processor("q", told.append)
        values = [1.0, 2.0, 4.0, 9.0, 2.0]
        processor.push_events([("s", (x,), t) for t, x in enumerate(values)])
    assert [one.values["v"] for one in told] == [
        skewness(values[max(0, at - 3) : at + 1]) for at in range(5)
    ]
