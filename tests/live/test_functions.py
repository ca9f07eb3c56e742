"""A daemon whose rules call functions of the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from cep.daemon import Daemon
from cep.functions import FunctionError, load_functions
from cep.live.config import read_config
from tests.functions.own import FILE, RULES, STREAM
from tests.live.service import (
    Service,
    address,
    archived,
    journal,
    play,
    process,
    terminal,
    wait_until,
    walks,
    write_settings,
)

ODD = "self.odd = object()\n        self.low = x if"
ON_BOTH = STREAM + (
    "from Tick select symbol, own:pips(bid, ask) as spread insert into Out;"
    "from Tick#own:range(bid) select symbol, low insert into Lows;"
)
OPTIONS: dict[str, dict[str, Any]] = {
    "rules": {"watch_ms": 20, "numba": False, "streams": ["Out"], "functions": ["own.py"]},
    "signals": {"send": False},
    "state": {"snapshot_records": 100_000, "clock_every_ms": 0},
}


def daemon_of(folder: Path, options: dict[str, dict[str, Any]] = OPTIONS, file: str = FILE) -> Path:
    settings = write_settings(folder, options)
    (folder / "rules.cep").write_text(RULES, encoding="utf-8")
    (folder / "own.py").write_text(file, encoding="utf-8")
    return settings


def rows(settings: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal(settings).splitlines()]


@pytest.fixture
def messages() -> Any:
    found: list[str] = []
    sink = logger.add(lambda message: found.append(str(message)), level="INFO")
    yield found
    logger.remove(sink)
    load_functions([])


@pytest.mark.parametrize("text", [FILE, FILE.replace("self.low = x if", ODD)], ids=["", "odd"])
def test_with_the_queries_on_a_database(tmp_path: Path, messages: list[str], text: str) -> None:
    """Functions run in it, indicators behind it; both are noticed when they change."""
    database = {"url": "sqlite:///rules.db"}
    settings = daemon_of(
        tmp_path,
        {
            **OPTIONS,
            "database": database,
            "rules": {**OPTIONS["rules"], "streams": ["Out", "Lows"]},
        },
        text,
    )
    (tmp_path / "rules.cep").write_text(ON_BOTH, encoding="utf-8")
    with Service(settings) as service:
        played(settings, 50)
        wait_until(lambda: len(rows(settings)) == 200)
        assert set(service.daemon.rules.on_database.plans.why) == {"query2"}  # type: ignore[attr-defined]
    assert any("no snapshot: " in t for t in messages) == (text != FILE)
    before = rows(settings)
    (tmp_path / "own.py").write_text(text.replace("* scale, 1", "* scale * 2, 1"))
    messages.clear()
    with Service(settings):
        wait_until(lambda: len(rows(settings)) == 200)
    assert any("no snapshot fits these rules" in text for text in messages)
    assert [one["spread"] for one in rows(settings) if one["stream"] == "Out"] != [
        one["spread"] for one in before if one["stream"] == "Out"
    ]


def played(settings: Path, count: int, instance: int = 1) -> None:
    ticks = {name: records[:count] for name, records in walks("AB", 600).items()}
    play(terminal(ticks, instance=instance), address(settings))


def test_a_restart_goes_on_with_their_state(tmp_path: Path, messages: list[str]) -> None:
    whole, cut = daemon_of(tmp_path / "whole"), daemon_of(tmp_path / "cut")
    with Service(whole):
        played(whole, 200)
        played(whole, 600, instance=2)
    with Service(cut):
        played(cut, 200)
    messages.clear()
    with Service(cut):
        assert any("400 stored records; 0 run again" in text for text in messages)
        played(cut, 600, instance=2)
    assert journal(cut) == journal(whole)
    assert len(rows(cut)) == 1_200


def test_other_functions_run_from_the_first_record(tmp_path: Path, messages: list[str]) -> None:
    settings = daemon_of(tmp_path)
    with Service(settings):
        played(settings, 200)
    before = rows(settings)
    (tmp_path / "own.py").write_text(FILE.replace("* scale, 1", "* scale * 2, 1"))
    with Service(settings):
        pass
    assert any("no snapshot fits these rules" in text for text in messages)
    after = rows(settings)
    assert [row["mean"] for row in after] == [row["mean"] for row in before]
    assert [row["spread"] for row in after] != [row["spread"] for row in before]
    assert after[0]["spread"] == pytest.approx(2 * before[0]["spread"], abs=0.2)


def test_functions_of_rules_that_came_later_are_noticed(
    tmp_path: Path, messages: list[str]
) -> None:
    """The rules at the beginning call none; a snapshot of then would fit."""
    settings = daemon_of(tmp_path)
    path = tmp_path / "rules.cep"
    path.write_text(RULES.splitlines()[0] + "from Tick select symbol, bid insert into Out;")
    with Service(settings) as service:
        played(settings, 100)
        draft = path.with_suffix(".new")
        draft.write_text(RULES.replace("into Out", "into Wide") + "from Wide select symbol, spread"
                         " as bid insert into Out;")  # fmt: skip
        draft.replace(path)
        wait_until(lambda: len(service.daemon.rules.log.entries) == 2)
        played(settings, 200, instance=2)
    kept = [file for file in (tmp_path / "state").glob("*.state") if file.stem.endswith("-0-0")]
    for file in (tmp_path / "state").glob("*.state"):
        if file not in kept:
            file.unlink()
    assert kept
    (tmp_path / "own.py").write_text(FILE.replace("* scale, 1", "* scale * 2, 1"))
    with Service(settings):
        assert any("no snapshot fits these rules" in text for text in messages)
    assert not any("note" in row for row in rows(settings))


def test_a_changed_file_waits_for_the_next_start(tmp_path: Path, messages: list[str]) -> None:
    settings = daemon_of(tmp_path)
    with Service(settings) as service:
        played(settings, 50)
        (tmp_path / "own.py").write_text(FILE.replace("* scale, 1", "* scale * 2, 1"))
        draft = tmp_path / "draft"
        draft.write_text(RULES + "from Out select mean insert into Means;")
        draft.replace(tmp_path / "rules.cep")
        wait_until(lambda: len(service.daemon.rules.log.entries) == 2)
        played(settings, 100, instance=2)
    assert any("own.py has changed: functions are read at the start only" in x for x in messages)
    (note,) = [row for row in rows(settings) if "note" in row]
    assert note["kept"] and not note["reset"]


def test_state_that_cannot_be_saved_is_a_trouble_and_no_end(
    tmp_path: Path, messages: list[str]
) -> None:
    text = FILE.replace("self.low = x if", ODD)
    settings = daemon_of(tmp_path, file=text)
    with Service(settings) as service:
        played(settings, 100)
        assert service.failure is None
    assert len(rows(settings)) == 200
    assert any("snapshot: " in t and "`own:range` holds a object" in t for t in messages)
    with Service(settings):
        played(settings, 110, instance=2)
    assert len(rows(settings)) == 220


def test_without_its_file_a_daemon_does_not_start(tmp_path: Path, messages: list[str]) -> None:
    settings = daemon_of(tmp_path)
    (tmp_path / "own.py").unlink()
    with pytest.raises(FunctionError, match=r"own\.py: no such file"):
        Daemon(read_config(settings))


def test_functions_named_on_the_command_line(tmp_path: Path) -> None:
    rules = {**OPTIONS["rules"], "functions": []}
    settings = daemon_of(tmp_path, {**OPTIONS, "rules": rules})
    with process(settings, tmp_path / "log.txt", "--functions", str(tmp_path / "own.py")):
        played(settings, 20)
        wait_until(lambda: len(rows(settings)) == 40)
    assert rows(settings)[-1]["spread"] > 0
    assert archived(settings)
