"""The demo, small: real ZeroMQ, real files, real Spark; live and backtest agree."""

from __future__ import annotations

import pytest

from cep.demo.lived import read_rows
from cep.demo.run import Demo

SAID: list[str] = []


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    made = Demo(tmp_path_factory.mktemp("demo"), SAID.append, ticks=4_000, speed=3_000.0)
    assert made.run(), SAID
    return made


@pytest.mark.spark
def test_live_and_backtest_agree(demo: Demo) -> None:
    live = list(read_rows(demo.journal))
    signals = [row for row in live if "complex" in row]
    assert SAID[-2] == f"live and backtest agree: {len(signals)} signals, 0 differences"
    assert len(signals) > 0 and {row["stream"] for row in live} >= {"Fall", "LegFilled"}
    assert demo.journal.read_bytes() == demo.backtested.read_bytes()


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
