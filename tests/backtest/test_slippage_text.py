"""`--slippage TEXT` and its keys in an account's file say the same; mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cep.account.account_file import SymbolPart
from cep.account.market import Market, market_of
from cep.account.slippage import EXAMPLE, Slippage, SlippageError, slippage_of
from cep.backtest import run
from cep.backtest.errors import BacktestError
from cep.cli import main
from cep.live.config import OnPaper
from cep.live.paper import market_on
from mt5bridge.broker import Specification, Terms

ALL = Slippage(0.25, 2.0, 5.0, 0.5, 0.1, 60_000, 3.0, 7)


@pytest.mark.parametrize(
    ("text", "points", "more"),
    [
        ("1.5", 1.5, Slippage()), (2, 2.0, Slippage()), (EXAMPLE, 1.0, ALL),
        ("spread=0.5", 0.0, Slippage(slippage_spread=0.5)),
        (" impact=2 , 3 ", 3.0, Slippage(impact_points=2.0)),
        ("range=1", 0.0, Slippage(slippage_range=1.0, slippage_range_ms=60_000)),
        ("random=4", 0.0, Slippage(slippage_random_points=4.0)),
    ],
)  # fmt: skip
def test_a_text_says_points_and_what_comes_to_them(
    text: str | float, points: float, more: Slippage
) -> None:
    assert slippage_of(text) == (points, more)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-1", "-1 must be 0 at least"), ("nan", "nan must be 0"), ("a", "'a' is no number"),
        ("1,2", "points is said twice"), ("depth=2", "no such part"), ("impact=2/0", "above 0"),
        ("range=1/0", "must be 0.001 at least"), ("random=2,seed=0.5", "a whole number"),
        ("seed=4294967296", "below 2^32"), ("", "'' is no number"), ("spread=inf", "finite"),
    ],
)  # fmt: skip
def test_what_is_no_part_is_named_with_those_that_are(text: str, said: str) -> None:
    with pytest.raises(SlippageError, match=said.replace("^", r"\^")) as caught:
        slippage_of(text)
    assert EXAMPLE in caught.value.hint
    with pytest.raises(BacktestError):
        run("define stream Tick (bid double);", "nowhere", slippage=text)
    told = CliRunner().invoke(main, ["backtest", "x", "--archive", "y", "--slippage", text])
    assert told.exit_code == 2 and EXAMPLE in " ".join(told.output.split())


def test_it_holds_where_the_symbol_says_none_of_its_own() -> None:
    """On paper as in a backtest, and for symbols that a terminal has described."""
    market = market_of(None, Terms(), 0, EXAMPLE)
    assert market_on(OnPaper(slippage_points=EXAMPLE)).slippage == market.slippage
    wanted = Specification(0.1, 0.1, slippage_points=1.0, **ALL_NAMED)
    assert market.specification("A", 0.1) == wanted
    assert market.described("A", Specification(0.1, 0.1)) == wanted
    assert SymbolPart(point=0.1).specification(Specification(0.1, 0.1), 1.0, ALL) == wanted
    own = SymbolPart(impact_points=9.0).specification(Specification(0.1, 0.1), 1.0, ALL)
    assert own == Specification(0.1, 0.1, impact_points=9.0)
    assert Market().specification("A", 0.1) == Specification(0.1, 0.1)


ALL_NAMED = {name: getattr(ALL, name) for name in Slippage.__slots__}


def test_settings_that_say_no_slippage_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "daemon.toml"
    path.write_text('[rules]\nfile = "rules.cep"\n[paper]\nslippage_points = "1,depth=3"\n')
    told = CliRunner().invoke(main, ["daemon", "--config", str(path), "--check"])
    assert told.exit_code != 0 and "[paper] slippage 'depth=3': no such part" in told.output
