"""How many processes run a backtest that says nothing of it, and how that is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cep.archive import Archive
from cep.backtest import choice
from cep.backtest.choice import Choice, beginning, chosen, estimated_seconds, pays_apart
from cep.backtest.processes import Sharing, in_processes
from cep.backtest.selection import Selection, select
from cep.backtest.sequential import sequential
from cep.engine.machine_code import MachineCode
from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.backtest.archives import imported
from tests.backtest.rules import TICK

ROWS = 3 * 1500
PLAN = compile_rules(TICK + "from Tick select symbol, bid insert into Copy;")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return imported(tmp_path_factory.mktemp("archive"))


@pytest.fixture
def selection(archive: Archive) -> Selection:
    return select(archive, PLAN)


def clock(*seconds: float) -> Iterator[int]:
    return (round(one * 1e9) for one in seconds)


def test_few_records_are_run_by_one_process(selection: Selection) -> None:
    """And no clock is asked, as nothing is measured."""
    found = chosen(Compiled(PLAN, jit=False), selection, 8, clock().__next__)
    assert found == Choice(1, f"several pay from 500,000 records, these are {ROWS:,}")
    assert chosen(Compiled(PLAN, jit=False), selection, 1, clock().__next__).jobs == 1


@pytest.mark.parametrize(("spent", "jobs"), [(0.1, 1), (0.3, 4)])
def test_work_that_is_long_is_shared(
    selection: Selection, monkeypatch: pytest.MonkeyPatch, spent: float, jobs: int
) -> None:
    """0.1 s for a hundredth of the records are some 10 s of work, and a pool pays from 20 s."""
    monkeypatch.setattr(choice, "ROWS_MIN", 1)
    found = chosen(Compiled(PLAN, jit=False), selection, 4, clock(5.0, 5.0 + spent).__next__)
    assert found.jobs == jobs
    assert "s of work for one process" in found.why
    assert ("several pay from 20 s" in found.why) is (jobs == 1)


def test_nothing_is_shared_before_there_is_machine_code(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process runs uncompiled until then; several would wait, and tell nothing of the speed."""
    monkeypatch.setattr(choice, "ROWS_MIN", 1)
    monkeypatch.setattr(MachineCode, "is_ready", False)
    found = chosen(Compiled(PLAN, waits=False), selection, 4, clock().__next__)
    assert found == Choice(1, "there is no machine code yet, and others would wait for it")


def test_what_is_measured_is_the_beginning_of_one_symbol(selection: Selection) -> None:
    """Files are read whole: the first records of many symbols would cost what all of these do."""
    part = beginning(selection, 45)
    assert part.last_ingest is not None and len(part.symbols) == 1
    assert all(file.first_ingest <= part.last_ingest for file in part.files)
    seconds = estimated_seconds(Compiled(PLAN, jit=False), selection, clock(0, 1).__next__)
    assert seconds == pytest.approx(ROWS / 45, rel=0.1)
    assert beginning(selection, ROWS) in selection.by_symbol().values()


APART = "define event High for each symbol as Tick[bid > 1.0];"


@pytest.mark.parametrize(
    ("text", "pays"),
    [
        (APART, True),
        (APART.replace("as Tick", "as every Tick"), False),
        ("from Tick select symbol, bid insert into Copy;", False),
    ],
)
def test_few_rows_of_several_symbols_are_made_one_symbol_after_the_other(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, text: str, pays: bool
) -> None:
    """A row for each record is kept in files, which costs more than to read all in turn."""
    rules = Compiled(compile_rules(TICK + text), jit=False)
    every = select(archive, rules.plan)
    assert not pays_apart(rules, every), "they are few"
    monkeypatch.setattr(choice, "ROWS_MIN", 1)
    assert pays_apart(rules, every) is pays
    assert not pays_apart(rules, every.only(every.symbols[:1]))
    monkeypatch.setattr(choice, "loaded_files", lambda: ("own.py",))
    assert not pays_apart(rules, every)


def test_rules_apart_are_not_waited_for(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are other code, which a child makes for the next run."""
    monkeypatch.setattr(choice, "ROWS_MIN", 1)
    is_ready, ordered = False, list[int]()
    monkeypatch.setattr(MachineCode, "is_ready", property(lambda code: is_ready))
    monkeypatch.setattr(MachineCode, "order", lambda code, rows: ordered.append(rows))
    rules = Compiled(compile_rules(TICK + APART), waits=False)
    every = select(archive, rules.plan)
    assert not pays_apart(rules, every)
    assert ordered == [ROWS]
    is_ready = True
    assert pays_apart(rules, every)


def test_rows_of_one_symbol_after_the_other_are_those_of_all_in_turn(archive: Archive) -> None:
    rules = Compiled(compile_rules(TICK + APART), jit=False)
    every = select(archive, rules.plan)
    found = [line for rows in in_processes(rules, every, Sharing()) for line in rows.json_lines()]
    in_turn = [line for rows in sequential(rules, every) for line in rows.json_lines()]
    assert found == in_turn and found
