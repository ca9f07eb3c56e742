"""The demo, small: real ZeroMQ, real files, real Spark; live and backtest agree."""

from __future__ import annotations

import re

import pytest

from cep.demo.emulated import Held
from cep.demo.lived import read_rows
from cep.demo.processes import DemoError
from cep.demo.run import Demo, has_compiler
from tests import campaign

needs_compiler = pytest.mark.skipif(not has_compiler(), reason="g++ is not installed")
# The one in Python runs where there is no compiler, and in the campaign.
TERMINALS = (
    campaign.only("python") if has_compiler() else "python",
    pytest.param("mql5", marks=needs_compiler),
)
SAID: dict[str, list[str]] = {"python": [], "mql5": []}


@pytest.fixture(scope="module", params=TERMINALS)
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    said = SAID[request.param]
    made = Demo(
        tmp_path_factory.mktemp("demo"), said.append, 4_000, speed=3_000.0, terminal=request.param
    )
    assert made.run(), said
    return made


@pytest.mark.spark
def test_live_and_backtest_agree(demo: Demo) -> None:
    live = list(read_rows(demo.journal))
    signals = [row for row in live if "complex" in row]
    said = SAID[demo.terminal]
    assert said[-2] == f"live and backtest agree: {len(signals)} signals, 0 differences"
    assert len(signals) > 0 and {row["stream"] for row in live} >= {"Fall", "LegFilled"}
    assert demo.journal.read_bytes() == demo.backtested.read_bytes()


@pytest.mark.spark
def test_a_day_on_paper_is_the_same_when_run_again(demo: Demo) -> None:
    [line] = [line for line in SAID[demo.terminal] if "paper: " in line]
    deals = re.fullmatch(
        r" +paper: [\d,]+ rows, [\d,]+ orders, ([\d,]+) deals, 0 differences", line
    )
    assert deals is not None and deals[1] != "0"


@pytest.mark.spark
def test_it_says_which_terminal_it_is(demo: Demo) -> None:
    said = "\n".join(SAID[demo.terminal])
    if demo.terminal == "python":
        assert "A simulated terminal in Python" in said and demo.held is None
        return
    assert "The MQL5 programs on an emulated terminal" in said
    assert demo.held is not None and demo.held.signals > 0 and demo.held.skipped > 0
    assert demo.held.deals > demo.held.signals and demo.held.faults > 0
    assert f"tick base {demo.held.ticks:,} ticks, archive 16,000" in said
    assert f"broker {demo.held.deals:,} deals, archive {demo.held.deals:,}" in said


@pytest.mark.spark
def test_the_page_shows_chart_queue_and_verdict(demo: Demo) -> None:
    page = (demo.folder / "report.html").read_text(encoding="utf-8")
    assert "0 differences" in page and "Event queue: Tactical" in page and "Bind 1" in page
    assert "upper band" in page and "EURUSD" in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page


@pytest.mark.spark
def test_a_difference_is_found(demo: Demo) -> None:
    original = demo.backtested.read_bytes()
    try:
        demo.backtested.write_bytes(original.replace(b'"seq":5', b'"seq":6', 1))
        assert demo.compare()[0] == 1
        demo.backtested.write_bytes(original + b"{}\n")
        assert demo.compare()[0] == 1
    finally:
        demo.backtested.write_bytes(original)


def test_a_tick_that_the_archive_lacks_is_found(tmp_path_factory: pytest.TempPathFactory) -> None:
    demo = Demo(tmp_path_factory.mktemp("demo"), lambda _text: None)
    held = Held(ticks=10, deals=2, signals=1, skipped=0, connections=1, faults=0)
    demo.compare_terminal(held, (10, 2))
    for stored in ((9, 2), (10, 3)):
        with pytest.raises(DemoError, match="the archive does not"):
            demo.compare_terminal(held, stored)


def test_python_takes_over_where_there_is_no_compiler(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    demo = Demo(tmp_path_factory.mktemp("demo"), lambda _text: None)
    assert not demo.runs_mql5 and demo.title == "A simulated terminal in Python (no g++ here)"
