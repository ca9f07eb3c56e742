"""Machine code: nobody waits for it, nothing is compiled twice, and it takes over midway."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from platform import machine
from shutil import copytree, ignore_patterns
from typing import Any

import numba
import pytest
from loguru import logger
from numba.core.registry import cpu_target

import cep
import mt5bridge
from cep.engine.entry import called
from cep.engine.jit import Addressed, cache_folder
from cep.engine.kernels.addressed import STATE
from cep.engine.machine import library
from cep.engine.machine.jit import inner, whole
from cep.engine.machine_code import NEXT_ROWS, PATIENCE_ROWS, MachineCode
from cep.engine.native import Compiled, Run
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from mt5bridge.file_lock import lock

DEADLINE_S = 600
RULES = """
define stream S (symbol string, n long);
from S#window.time(1 sec) select symbol, sum(n) as total group by symbol insert into Totals;
define event Many for each symbol as Totals[total > 3];
"""
SMALL = "define stream S (n int); from S[n > 1] select n insert into O;"


def run_of(text: str = RULES, **options: Any) -> Run:
    """The rules as a module."""
    return Compiled(compile_rules(text), **options).generated.begun(mode="sorted")


def fed(run: Run, first: int, count: int) -> list[dict[str, Any]]:
    places = range(first, first + count)
    columns = {"symbol": ["AB"[n % 2] for n in places], "n": [n % 3 for n in places]}
    return run.push("S", columns, [10 * n for n in places]).dicts()


def code_of(run: Run) -> MachineCode[Addressed]:
    stage = run.runner
    assert stage.compiled.code is not None
    return stage.compiled.code


@inner
def doubled(value: int) -> int:
    return 2 * value


@whole
def doubled_twice(value: int) -> int:
    return doubled(doubled(value))


def test_what_is_compiled_beside_the_library_is_numbas_own() -> None:
    own = cpu_target.target_context.codegen()
    assert called(doubled_twice)(21) == 84
    (made,) = doubled_twice.code.overloads.values()
    assert (made.library.codegen is own) == (sys.platform != "linux" or machine() != "x86_64")
    assert cpu_target.target_context.codegen() is own


@pytest.mark.parametrize(
    "rules", [RULES, "define stream S (a int); from S select a insert into O;"]
)
def test_machine_code_takes_the_arrays_of_a_stage(rules: str) -> None:
    assert numba.typeof(run_of(rules).runner.state) == STATE


class Child:
    """A child process that ends when it is told to."""

    def __init__(self) -> None:
        self.status: int | None = None

    def poll(self) -> int | None:
        return self.status


def test_rows_do_not_wait_and_machine_code_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    child, begun = Child(), list[MachineCode[Addressed]]()
    monkeypatch.setattr(MachineCode, "_started", lambda self, haste: begun.append(self) or child)
    run, plain = run_of(waits=False), run_of(jit=False)
    stage = run.runner
    is_there = False
    monkeypatch.setattr(Path, "exists", exists_as(lambda: is_there))
    step = PATIENCE_ROWS // 2
    for place in range(3):
        assert fed(run, place * step, step) == fed(plain, place * step, step)
    assert begun.count(code_of(run)) == 1  # and not before it may be worth it
    assert stage._entry is None
    child.status, is_there = 0, True
    assert fed(run, 3 * step, step) == fed(plain, 3 * step, step)
    assert stage._entry is not None
    assert run.dropped == plain.dropped


def test_who_waits_for_machine_code_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    handler = logger.add(lambda entry: told.append(entry.record["message"]), format="{message}")
    child, there = Child(), list[bool]()
    monkeypatch.setattr(MachineCode, "_started", lambda self, haste: child)
    monkeypatch.setattr(Child, "wait", lambda self: there.append(True), raising=False)
    monkeypatch.setattr(Path, "exists", exists_as(lambda: bool(there)))
    run = run_of()
    try:
        code = run.runner.compiled.code
        code.fetch(waits=False)
        code.fetch(waits=True)
        code.fetch(waits=True)
    finally:
        logger.remove(handler)
    assert told == [
        "rows run uncompiled until there is machine code: some minutes, once",
        "compiling the rules, once: some seconds",
    ]


def exists_as(is_there: Any) -> Any:
    """`Path.exists` that says of marks what the test says."""
    exists = Path.exists
    return lambda path: is_there() if path.suffix == ".made" else exists(path)


def test_a_run_whose_child_fails_goes_on_uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child()
    child.status = 1
    monkeypatch.setattr(MachineCode, "_started", lambda self, haste: child)
    monkeypatch.setattr(Path, "exists", exists_as(lambda: False))
    run, plain = run_of(waits=False), run_of(jit=False)
    for first in (0, PATIENCE_ROWS + 1):
        assert fed(run, first, PATIENCE_ROWS + 1) == fed(plain, first, PATIENCE_ROWS + 1)


def test_small_runs_start_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MachineCode, "_started", lambda self, haste: pytest.fail("a child"))
    monkeypatch.setattr(Path, "exists", exists_as(lambda: False))
    run = run_of(waits=False)
    assert len(fed(run, 0, PATIENCE_ROWS)) >= PATIENCE_ROWS


def test_no_child_waits_for_another_process_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """When that one has died, a child begins."""
    begun = list[bool]()
    monkeypatch.setattr(
        MachineCode, "_started", lambda self, in_haste: begun.append(in_haste) or Child()
    )
    monkeypatch.setattr(Path, "exists", exists_as(lambda: False))
    code = MachineCode(code_of(run_of()).enter)
    another = lock(code._lock)
    try:
        for _ in range(3):
            assert not code.is_there(PATIENCE_ROWS + 1)
        code.fetch(waits=False)
        assert not begun
    finally:
        os.close(another)
    assert not code.is_there(PATIENCE_ROWS) and not begun
    assert not code.is_there(1)
    assert begun == [False], "and leaves the processor to what runs"


def test_a_program_runs_while_there_is_machine_code_for_that_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next run has the module's, which a long one orders, once."""
    child, begun = Child(), list[str]()
    monkeypatch.setattr(MachineCode, "_started", lambda self, haste: begun.append("begun") or child)
    made = {"library": False, "module": False}

    def is_ready(code: MachineCode[Addressed]) -> bool:
        return made["library" if code is library.CODE else "module"]

    monkeypatch.setattr(MachineCode, "is_ready", property(is_ready))
    rules = Compiled(compile_rules(RULES), waits=False)

    def way() -> Compiled:
        return Compiled(rules.plan, waits=False).in_mode("sorted")

    assert way().module is not None, "nothing is made: what can be made soonest"
    made["library"] = True
    assert way().program is not None
    assert Compiled(rules.plan).in_mode("sorted").module is not None, "it waits for machine code"
    run = Compiled(rules.plan, waits=False).start(mode="sorted")
    assert run.rules.ordered is not None
    run.rules.ordered.order(NEXT_ROWS - 10)
    run.machine._awaits_code = False  # nothing is compiled here
    assert fed(run, 0, 10) == fed(run_of(jit=False), 0, 10) and not begun
    fed(run, 10, 10)
    fed(run, 20, 10)
    assert begun == ["begun"]
    made["module"] = True
    assert way().module is not None


@pytest.mark.slow
def test_two_processes_compile_once(tmp_path: Path) -> None:
    """One makes it, the other one waits and loads it; a second installation finds it made."""
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\n"
        "from pathlib import Path\n"
        "import cep\n"
        "from cep.engine.native import Compiled\n"
        "from cep.plan import compile_rules\n"
        "run = Compiled(compile_rules(sys.argv[1])).start()\n"
        "run.warm_up()\n"
        "stats = run.runner.compiled.code.enter.code.stats\n"
        "print(len(stats.cache_misses), len(stats.cache_hits), Path(cep.__path__[0]).parent)\n"
    )
    environment = {**os.environ, "MT5CEP_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(script), SMALL]

    def begun() -> subprocess.Popen[str]:
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    both = [begun(), begun()]
    found = sorted(one.communicate(timeout=DEADLINE_S)[0].split() for one in both)
    here = str(Path(cep.__path__[0]).parent)
    assert found == [["0", "1", here], ["1", "0", here]]
    for package in (cep, mt5bridge):
        folder = Path(package.__path__[0])
        copytree(folder, tmp_path / "second" / folder.name, ignore=ignore_patterns("__pycache__"))
    second = environment["PYTHONPATH"] = str(tmp_path / "second")
    assert begun().communicate(timeout=DEADLINE_S)[0].split() == ["0", "1", second]


@pytest.mark.slow
def test_a_child_makes_what_a_run_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MT5CEP_CACHE", str(tmp_path))
    cache_folder.cache_clear()
    try:
        run, plain = run_of(SMALL, waits=False), run_of(SMALL, jit=False)
        stage = run.runner
        given_up = time.monotonic() + DEADLINE_S
        place = 0
        while stage._entry is None:
            assert time.monotonic() < given_up
            values = {"n": [n % 4 for n in range(PATIENCE_ROWS)]}
            times = [place * PATIENCE_ROWS + n for n in range(PATIENCE_ROWS)]
            place += 1
            found = [rows.push("S", values, times).dicts() for rows in (run, plain)]
            assert found[0] == found[1]
    finally:
        cache_folder.cache_clear()


SHAPE = """
define stream S (symbol string, n long, p double, f float);
from S[n > {limit} and f < {single}f]#window.time({span} sec)
select symbol, n * {factor} as x, avg(p) / {divisor} as m group by symbol insert into Means;
from S#window.length({rows}) select symbol, sum(n) as total group by symbol insert into Totals;
from every e1=S[n > {limit}] -> e2=S[symbol == e1.symbol and n < {rows}] within {span} sec
select e1.n as a, e2.n + {factor} as b insert into Pairs;
from every e1=S[n > {limit}], e2=S[n < {rows}] within {span} sec
select e1.n as a, e2.n + {factor} as b insert into Neighbours;
from S#window.length(3) as a join Means#window.length(3) as b
on a.symbol == b.symbol and a.n > {limit} and b.m < a.p * {factor}
select a.n + {level} as n, b.m / {divisor} as m insert into Joined;
from Means[maximum(m, {digits}.5) > {level}] select symbol, m insert into High;
define event Up for each symbol as every High[m > {level}];
define event Down for each symbol as every Totals[total < {limit}];
define complex Both for each symbol as Up followed by Down within {span} sec;
"""
NUMBERS = {
    "limit": 1, "single": 2.5, "span": 1, "factor": 3, "divisor": 2.0, "rows": 2, "digits": 1,
    "level": 0.5,
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_a_changed_number_compiles_nothing(name: str) -> None:
    one, other = (
        Compiled(compile_rules(SHAPE.format(**numbers)), jit=False)
        for numbers in (NUMBERS, {**NUMBERS, name: NUMBERS[name] + 1})
    )
    assert one.generated.source == other.generated.source
    found = [rows_of(rules) for rules in (one, other)]
    wanted = [[row for n, at, values in ROWS for row in pushed(run, at, values)]
              for run in (InterpretedRun(rules.plan) for rules in (one, other))]  # fmt: skip
    assert found == wanted
    assert one.generated.fingerprint != other.generated.fingerprint


ROWS = [(n, 70 * n, ["AB"[n % 2], n % 5, n / 7, n / 9]) for n in range(60)]


def rows_of(rules: Compiled) -> list[dict[str, Any]]:
    run, names = rules.start(mode="sorted"), ("symbol", "n", "p", "f")
    return [
        row
        for _, at, values in ROWS
        for row in run.push_row("S", at, dict(zip(names, values, strict=True))).dicts()
    ]


def pushed(run: InterpretedRun, at: int, values: list[Any]) -> list[dict[str, Any]]:
    return run.push("S", at, values)
