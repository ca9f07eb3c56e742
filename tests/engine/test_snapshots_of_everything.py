"""A snapshot at any step of any app, restored in a new process, goes on with the same output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from cep.app import App as PythonApp
from cep.app import function
from cep.engine.by_interpreter import ByInterpreter
from cep.engine.in_order import InOrder
from cep.engine.machine.stage import MachineRun
from cep.engine.snapshot import SnapshotError, restore, take
from cep.engine.stage_run import StageRun
from cep.plan.functions import AGGREGATORS, STREAM_FUNCTIONS
from cep.plan.functions.user import unregister
from cep.plan.windows import WINDOWS
from tests.campaign import either, examples
from tests.engine.continued import Watched, compiled, output_of, snapshot_of
from tests.engine.random_apps import CHOICES, random_app
from tests.waiting import LONG_S

ROOT = Path(__file__).parents[2]
CASES = range(either(100, 500))
COMPILED_BY_NUMBA = (0, 1, 2)
MARKS = ("partition with", "define table", "define window", "define trigger", "define complex",
         "define aggregation", "compat('siddhi')", "idle.time", "@reorder", "@purge", "output ",
         "update or insert", "session", " -> not ", "@bound", "@expired")  # fmt: skip


WAYS: dict[type, str] = {
    StageRun: "module",
    MachineRun: "program",
    InOrder: "program",
    ByInterpreter: "interpreter",
}


def first_half(folder: Path, number: int, *, jit: bool = False) -> tuple[str, bytes]:
    """Leave the snapshot of a case in a folder; the way it runs, and what comes without the cut."""
    app = random_app(number)
    rules = compiled(app, jit=jit)
    run = Watched(rules.start())
    run.go(app.steps[: app.cut])
    snapshot_of(folder, number).write_bytes(take(run.run))
    return WAYS[type(run.run.runner)], run.rest(app)


def second_half(folder: Path, *arguments: str) -> None:
    """Continue all cases of a folder in a process of its own, where hashes differ from here."""
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.continued", str(folder), *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        timeout=LONG_S,
    )
    assert done.returncode == 0, done.stderr


def check(folder: Path, number: int, expected: bytes) -> None:
    app, found = random_app(number), output_of(folder, number).read_bytes()
    if found == expected:
        return
    for step, was, is_now in zip(
        app.steps[app.cut :], json.loads(expected)[0], json.loads(found)[0], strict=True
    ):
        assert is_now == was, f"case {number}, cut at {app.cut}, at {step}:\n{app.text}"
    assert found == expected, f"case {number}, the answers in the end:\n{app.text}"


def test_many_apps_go_on_in_another_process(tmp_path: Path) -> None:
    """Cut at a random step, and none of the kinds of apps is missing."""
    expected: dict[int, bytes] = {}
    kinds: Counter[object] = Counter()
    for number in CASES:
        way, expected[number] = first_half(tmp_path, number)
        kinds[way] += 1
        kinds["puts out"] += any(step[0] for step in json.loads(expected[number])[0])
        kinds.update(mark for mark in MARKS if mark in random_app(number).text)
    second_half(tmp_path)
    for number in CASES:
        check(tmp_path, number, expected[number])
    assert kinds["puts out"] > 0.7 * len(CASES)
    assert kinds["module"] > 0.1 * len(CASES) and kinds["program"] > 0.3 * len(CASES)
    assert kinds["interpreter"]
    rare = [mark for mark in MARKS if kinds[mark] < either(1, 5)]
    assert len(rare) <= either(2, 0), kinds  # a sample may lack a rare one


@pytest.mark.campaign
@pytest.mark.slow
def test_some_go_on_compiled_by_numba(tmp_path: Path) -> None:
    """The other process takes the machine code that this one has left in the cache."""
    numbers = [number for number in CASES if compiled(random_app(number)).is_generated("lived")]
    chosen = [numbers[place] for place in COMPILED_BY_NUMBA]
    expected = {number: first_half(tmp_path, number, jit=True)[1] for number in chosen}
    second_half(tmp_path, "--jit")
    for number in chosen:
        check(tmp_path, number, expected[number])


def test_the_apps_know_every_window_aggregator_and_stream_function() -> None:
    known = " ".join(text for choices in CHOICES.values() for text in choices)
    named = {one.name for one in (*WINDOWS, *AGGREGATORS, *STREAM_FUNCTIONS)} - {"log"}
    assert {name for name in named if f"{name}(" not in known} == set()


def test_the_same_number_gives_the_same_app() -> None:
    assert random_app(7) == random_app(7)
    assert len({random_app(number).text for number in CASES}) > 0.98 * len(CASES)


@pytest.mark.parametrize("number", range(0, 60, 3))
def test_what_is_damaged_or_of_other_rules_is_refused(number: int, tmp_path: Path) -> None:
    """One bit, or the end: nothing but SnapshotError."""
    rules, _ = first_half(tmp_path, number)
    whole, random = snapshot_of(tmp_path, number).read_bytes(), Random(number)
    for place in (0, 15, 16, len(whole) - 1, *(random.randrange(len(whole)) for _ in range(20))):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << random.randrange(8)
        for damaged in (bytes(flipped), whole[:place], whole + whole[: place + 1]):
            with pytest.raises(SnapshotError):
                restore(rules, damaged)
    with pytest.raises(SnapshotError, match="other rules"):
        restore(compiled(random_app(number + 1)), whole)


def test_one_row_at_a_time_or_a_snapshot_after_each_is_the_same() -> None:
    for number in CASES[: examples(40)]:
        app = random_app(number)
        rules = compiled(app)
        whole, found = Watched(rules.start()).go(app.steps), []
        run = rules.start()
        for step in app.steps:
            run = restore(rules, take(run))
            found += Watched(run).go([step])
        assert found == whole, app.text


def test_a_function_of_the_users_own_goes_on() -> None:
    text = (
        "@key('k') define stream S (k string, v long); "
        "from S#window.length(3) select k, own:half(sum(v)) as h group by k insert into Halves;"
    )

    def half(value: int | None) -> float | None:
        return None if value is None else value / 2

    function(name="own:half")(half)
    try:
        first, second = PythonApp(text, jit=False), PythonApp(text, jit=False)
        for time_ms in range(5):
            first.send("S", ("x", time_ms), time_ms)
        second.restore(first.snapshot())
        assert second.send("S", ("x", 9), 9) == first.send("S", ("x", 9), 9) != []
    finally:
        unregister("own:half")
