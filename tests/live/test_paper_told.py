"""What terminals tell of symbols holds on paper, too, from when on they tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from cep.live.config import OnPaper, for_paper, read_config
from cep.live.paper import PAPER, Paper
from cep.parity.paper import compared
from mt5bridge.server import Specified
from mt5bridge.wire import Properties, SignalStatus, SwapMode, TradeSession
from tests.live.service import address, archived, play, terminal, walks
from tests.live.test_paper import (
    SYMBOL,
    TICKS,
    PaperService,
    file_of,
    opened,
    signal,
    ticks,
    traded,
)
from tests.live.test_paper_parity import planned

DAY_MINUTES = 24 * 60
ALWAYS = tuple(TradeSession(DAY_MINUTES * day, DAY_MINUTES * (day + 1)) for day in range(7))
TOLD = Properties(1, 0, 0, SwapMode.POINTS, 3, -7.0, 2.0, 1.0, "USD", ALWAYS)
CLOSED = replace(TOLD, sessions=(TradeSession(0, 1),))
BEGAN_MSC = int(TICKS["time_msc"][0])


def tell(paper: Paper, told: Properties, arrival_msc: int = 0, who: str = "desk") -> None:
    paper.learn([Specified(who, "A", told, arrival_msc)])


def test_swap_levels_and_sessions_are_those_of_the_terminal(tmp_path: Path) -> None:
    """A file's keys over them, one by one."""
    account = file_of(tmp_path, "[symbols.A]\nswap_long = -1.5\nvolume_max = 5\n")
    with opened(tmp_path, OnPaper(account=account)) as (spool, paper, _told):
        tell(paper, replace(TOLD, stops_level_points=12))
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        ticks(spool, paper, 5, 5)
        known = traded(paper)
    names = ("swap_long", "swap_short", "stops_level_points", "volume_max", "volume_min")
    assert [known[name] for name in names] == [-1.5, 2.0, 12.0, 5.0, SYMBOL.volume_min]
    assert known["contract_size"] == SYMBOL.contract_size


@pytest.mark.parametrize("behind", [-1, 20])
def test_what_is_told_anew_holds_from_its_time_on(tmp_path: Path, behind: int) -> None:
    """Not before the next tick, nor before that whose time is the moment of telling; and a restart
    has the same account."""
    arrival_msc = int(TICKS["time_msc"][behind]) if behind > 0 else 0
    first = max(behind, 11)  # the first tick by which it holds
    with opened(tmp_path) as (spool, paper, _told):
        tell(paper, TOLD)
        ticks(spool, paper, 0, 10)
        for at in range(10, 30):
            if at == 11:
                tell(paper, CLOSED, arrival_msc)
            paper.send_now(PAPER, signal(at))
            ticks(spool, paper, at, 1)
        answers = {at: paper.account.executed[at][0].status for at in range(10, 30)}
        deals = paper.account.deals.tobytes()
    for at, status in answers.items():
        assert (status is not SignalStatus.REJECTED) == (at < first), at
    with opened(tmp_path) as (_spool, paper, _told):
        assert paper.account.deals.tobytes() == deals
        assert {at: paper.account.executed[at][0].status for at in range(10, 30)} == answers


def test_the_log_grows_by_what_is_new_alone(tmp_path: Path) -> None:
    """Neither what is told again, nor what another terminal tells, nor what changes between two
    ticks: the last counts."""
    with opened(tmp_path) as (spool, paper, _told):
        tell(paper, TOLD)
        ticks(spool, paper, 0, 5)
        for told, who in ((TOLD, "desk"), (CLOSED, "other"), (CLOSED, "desk"), (TOLD, "desk")):
            tell(paper, told, who=who)
        ticks(spool, paper, 5, 5)
        path = paper.log.path
    lines = path.read_bytes()
    assert lines.count(b"\n") == 2  # the account, and its symbol
    with opened(tmp_path) as (spool, paper, _told):
        tell(paper, CLOSED, who="other")  # came first after the restart
        tell(paper, TOLD)
        ticks(spool, paper, 10, 5)
    assert path.read_bytes() == lines


def test_what_is_open_keeps_its_worth(tmp_path: Path) -> None:
    with opened(tmp_path) as (spool, paper, _told):
        tell(paper, TOLD)
        ticks(spool, paper, 0, 5)
        paper.send_now(PAPER, signal(1))
        ticks(spool, paper, 5, 5)
        lines = list[str]()
        sink = logger.add(lambda message: lines.append(str(message)))
        tell(paper, replace(TOLD, swap_mode=SwapMode.MONEY))
        ticks(spool, paper, 10, 5)
        logger.remove(sink)
        assert traded(paper)["swap_long"] == -7.0
    assert any("as another swap_mode would change what is open" in one for one in lines)


def test_a_day_with_other_terms_is_the_same_again(tmp_path: Path) -> None:
    """Its second half is closed for one symbol, and has another stops level for the other."""
    paper = {"account": "account.toml", "latency_ms": 700, "hedging": True}
    settings = planned(tmp_path, paper)
    with PaperService(settings) as service:
        learn = service.paper.learn
        at_once: Any = lambda parts: learn([replace(one, arrival_msc=0) for one in parts])  # noqa: E731
        service.paper.learn = at_once  # type: ignore[method-assign]
        play(with_terms(900, [TOLD, TOLD]), address(settings))
        far = replace(TOLD, stops_level_points=1_000)
        play(with_terms(1_300, [CLOSED, far]), address(settings))
        closed = [one for one in service.paper.account.executed.values() if one[0].retcode == 10018]
        assert closed
    found = compared(for_paper(read_config(settings)), archived(settings))
    assert [one.text for one in found.differences] == []
    assert len(found.lived.deals) > 2


def with_terms(count: int, told: Sequence[Properties]) -> Any:
    """A terminal of A and B that tells these properties of them."""
    found = terminal(walks("AB", count))
    for name, one in zip("AB", told, strict=True):
        found.client.change(name, one)
    return found
