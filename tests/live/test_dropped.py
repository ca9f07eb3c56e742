"""The daemon tells what its rules have dropped, as a replay of what it stored does."""

from __future__ import annotations

from pathlib import Path

from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.dropped import Dropped, Reason
from cep.engine.native import Compiled
from cep.live.config import read_config
from cep.live.rules import load_plan
from tests.live.service import (
    Service,
    address,
    archived,
    play,
    status_of,
    terminal,
    wait_until,
    walks,
    write_settings,
)


def of_rules(dropped: Dropped) -> Dropped:
    return Dropped(one for one in dropped if one[1] is not Reason.LIMIT)


def test_status_replay_and_a_restart_tell_the_same(tmp_path: Path) -> None:
    settings = write_settings(
        tmp_path, {"risk": {"lots_per_order": 0.05}, "rules": {"numba": False}}
    )
    config = read_config(settings)
    with Service(settings) as service:
        play(terminal(walks("AB", 900)), address(settings))
        told = service.daemon.dropped.by_name()
        wait_until(lambda: (found := status_of(settings)) is not None and found.dropped == told)
    dropped = service.daemon.dropped
    assert dropped.by_name() == told
    assert dropped.count(("signal", "Fade"), Reason.LIMIT) > 0
    assert dropped.count(("event", "Above"), Reason.REPEAT) > 0
    plan, replayed = load_plan(config), list[Dropped]()
    rules = Compiled(plan, jit=False)
    for _ in sequential(rules, select(archived(settings), plan), ended=replayed.append):
        pass
    assert replayed == [of_rules(dropped)]
    with Service(settings) as again:
        assert again.daemon.dropped == dropped
