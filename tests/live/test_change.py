"""Rules that change while the daemon runs: state, journal, restarts, and what is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from threading import Event, get_ident
from typing import Any

import numpy as np
from click.testing import CliRunner
from loguru import logger

from cep.cli import main
from cep.engine.native import Compiled
from cep.live.reload import Ready, Reload
from cep.live.rules_file import RulesFile
from cep.live.rules_log import RulesLog, Since
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.live.service import (
    RULES,
    Service,
    address,
    archived,
    journal,
    play,
    replayed,
    terminal,
    wait_until,
    walks,
    write_settings,
)
from tests.waiting import LONG_S

OPTIONS = {
    "rules": {"watch_ms": 20, "numba": False},
    "signals": {"send": False},
    "state": {"snapshot_records": 100_000},
}
WIDER = RULES.replace("within 5 min", "within 6 min") + (
    "define event High in Tactical for each symbol as Band[mid > ma + 0.0001];\n"
    "define complex Back in Tactical for each symbol as High followed by Below within 1 min;\n"
)


def rows(settings: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(settings).splitlines()]


def put(settings: Path, text: str) -> None:
    """Replace the rule file as a careful editor does."""
    path = settings.parent / "rules.cep"
    draft = path.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def changed_over(folder: Path, text: str, ticks: dict[str, Any], cut: int) -> Path:
    """A daemon whose rules change after the first `cut` ticks of each symbol."""
    settings = write_settings(folder, OPTIONS)
    first = {name: records[:cut] for name, records in ticks.items()}
    with Service(settings) as service:
        play(terminal(first), address(settings))
        put(settings, text)
        wait_until(lambda: len(service.daemon.rules.log.entries) == 2)
        play(terminal(ticks, instance=2), address(settings))
    return settings


def shown(found: list[dict[str, Any]], stream: str) -> list[tuple[Any, ...]]:
    return [(row["time_msc"], row["key"]) for row in found if row.get("stream") == stream]


def test_what_did_not_change_goes_on(tmp_path: Path) -> None:
    ticks = walks("AB", 1_500)
    settings = changed_over(tmp_path / "changed", WIDER, ticks, 700)
    whole = write_settings(tmp_path / "whole", OPTIONS)
    with Service(whole):
        play(terminal({name: one[:700] for name, one in ticks.items()}), address(whole))
        play(terminal(ticks, instance=2), address(whole))
    found, expected = rows(settings), rows(whole)
    for stream in ("Above", "Below", "Turn", "Fade"):
        assert shown(found, stream) == shown(expected, stream)
    (note,) = [row for row in found if "note" in row]
    assert note["after_ingest"] == 1_400
    assert note["reset"] == ["complex Broad: its definition changed", "signal Wide: complex Broad "
                             "changed"]  # fmt: skip
    assert note["new"] == ["event High", "complex Back"]
    assert "complex Turn" in note["kept"]


def test_a_restart_goes_on_with_the_new_rules(tmp_path: Path) -> None:
    ticks = walks("A", 1_000)
    settings = changed_over(tmp_path, WIDER, ticks, 400)
    before = journal(settings)
    with Service(settings) as service:
        assert journal(settings) == before
        assert service.daemon.rules.pipeline.run.rules.plan.text == WIDER


def test_without_its_last_snapshots_the_change_is_made_again(tmp_path: Path) -> None:
    """As after a crash: the journal comes out the same, change and all."""
    settings = changed_over(tmp_path, WIDER, walks("A", 1_000), 400)
    before = journal(settings)
    for path in (tmp_path / "state").glob("*.state"):
        if not path.stem.endswith("-0-0"):
            path.unlink()
    with Service(settings):
        pass
    assert journal(settings) == before
    assert b'"note":"new rules"' in before


def test_rules_that_come_back_while_no_daemon_runs_stay(tmp_path: Path) -> None:
    """What had replaced them does not do so again, nor in any later start."""
    settings = changed_over(tmp_path, WIDER, walks("A", 1_000), 400)
    put(settings, RULES)
    for _ in range(2):
        with Service(settings) as service:
            assert service.daemon.rules.pipeline.run.rules.plan.text == RULES
        assert replayed(settings, archived(settings)) == journal(settings)


def test_wrong_rules_are_logged_and_the_old_ones_go_on(tmp_path: Path) -> None:
    settings = write_settings(tmp_path, OPTIONS)
    messages: list[str] = []
    sink = logger.add(lambda message: messages.append(str(message)), level="INFO")
    try:
        with Service(settings) as service:
            put(settings, RULES.replace("avg(mid)", "avg(middle)"))
            wait_until(lambda: any("the old ones go on" in text for text in messages))
            play(terminal(walks("A", 500)), address(settings))
            put(settings, "-- the same\n" + RULES)
            wait_until(lambda: any("its meaning has not" in text for text in messages))
            assert len(service.daemon.rules.log.entries) == 1
    finally:
        logger.remove(sink)
    wrong = next(text for text in messages if "the old ones go on" in text)
    assert "middle" in wrong and "^" in wrong and "rules.cep" in wrong
    assert len(rows(settings)) > 5


def test_a_refused_file_is_a_notice_until_it_is_mended(tmp_path: Path) -> None:
    """`status` and `rules ls` tell it: the next start fails with it."""
    settings = write_settings(tmp_path, OPTIONS)

    def said(*words: str) -> str:
        return CliRunner().invoke(main, [*words, "--config", str(settings)]).output

    def is_refused(why: str) -> bool:
        return why in said("status") and why in said("rules", "ls")

    def is_fine() -> bool:
        return "changed file" not in said("status") + said("rules", "ls")

    with Service(settings):
        put(settings, RULES.replace("avg(mid)", "avg(middle)"))
        wait_until(lambda: is_refused("middle"))
        assert said("status").endswith("\nhealthy\n"), "the old rules go on"
        (notice,) = re.findall(r"notice: rules main, changed file: (?:.|\n    )+", said("status"))
        assert "\n    " in notice and "\\n" not in notice and "does not start with it" in notice
        assert "runs, changed file refused" in said("rules", "ls")
        put(settings, RULES.replace("avg(mid)", "avg(muddle)"))
        wait_until(lambda: is_refused("muddle"))
        (settings.parent / "rules.cep").unlink()
        wait_until(lambda: is_refused("No such file"))
        put(settings, RULES)
        wait_until(is_fine)
        put(settings, RULES.replace("avg(mid)", "avg(middle)"))
        wait_until(lambda: is_refused("middle"))
        put(settings, WIDER)
        wait_until(is_fine)


def test_whoever_serves_does_not_wait_for_rules_to_be_checked(tmp_path: Path) -> None:
    (tmp_path / "rules.cep").write_text(WIDER, encoding="utf-8")
    may_end, checkers = Event(), []
    found: list[Ready] = []

    def checked(text: str) -> tuple[str, Plan]:
        checkers.append(get_ident())
        assert may_end.wait(LONG_S)
        return text, compile_rules(text, "rules.cep")

    def is_ready() -> bool:
        ready = reload.look(0)
        found.extend([ready] if ready is not None else [])
        return ready is not None

    file = RulesFile(tmp_path / "rules.cep", RULES, 0)
    reload = Reload(file, checked, lambda plan: Compiled(plan, jit=False))
    reload.ask()
    assert not any(is_ready() for _ in range(5)), "they are being checked"
    may_end.set()
    wait_until(is_ready)
    assert found[0].text == WIDER and found[0].plan == compile_rules(WIDER, "rules.cep")
    assert len(checkers) == 1 and get_ident() not in checkers


def test_a_file_is_taken_when_it_is_at_rest(tmp_path: Path) -> None:
    path = tmp_path / "rules.cep"
    path.write_text("one")
    file = RulesFile(path, "one", 10)
    assert [file.look(now) for now in (0, 5, 10, 20)] == [None] * 4
    path.write_text("half")
    assert file.look(30) is None
    path.write_text("half and half")
    assert file.look(40) is None
    assert file.look(45) is None
    assert file.look(50) == "half and half"
    assert file.look(60) is None
    path.unlink()
    assert file.look(70) is None
    path.write_text("whole")
    assert [file.look(now) for now in (80, 90)] == [None, "whole"]


def test_a_file_is_not_looked_at_when_nobody_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "rules.cep"
    path.write_text("other")
    file = RulesFile(path, "one", 0)
    assert all(file.look(int(now)) is None for now in np.arange(5))


def test_the_log_knows_which_rules_ran_when(tmp_path: Path) -> None:
    path = tmp_path / "spool.rules"
    log = RulesLog(path)
    assert log.newest is None and log.at(5) is None
    log.begin(Since(0, "one"))
    log.add(Since(10, "two"))
    log.add(Since(20, "three"))
    log = RulesLog(path)
    found = [log.at(ingest) for ingest in (0, 9, 10, 30)]
    assert [one and one.text for one in found] == ["one", "one", "two", "three"]
    assert [one.text for one in log.after(10)] == ["three"]
    log.cut(15)
    assert [one.ingest for one in RulesLog(path).entries] == [0, 10, 15]
