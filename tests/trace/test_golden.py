"""The text of traces: generated cases in `golden`, strategies on their samples in `strategies`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cep.cli.application import main
from tests.trace.golden import Golden, goldens

FOLDER = Path(__file__).parent / "strategies"
SAMPLES = Path(__file__).resolve().parents[2] / "strategies"
STRATEGIES = {
    "band_reversal-MSFT-Reversal": ("MSFT", "Reversal"),
    "band_reversal-none": ("-",),
    "article-none-BothFall": ("-", "MsftFall", "BothFall", "SellBoth"),
    "fills_and_market-EURUSD-LegBuilt": ("EURUSD", "LegBuilt", "Crowded"),
}


@pytest.mark.parametrize("golden", goldens(), ids=str)
def test_golden(golden: Golden) -> None:
    assert golden.trace() == golden.expected


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategy(name: str, tmp_path: Path) -> None:
    (key, *rules), folder = STRATEGIES[name], SAMPLES / name.split("-")[0]
    arguments = [
        "replay",
        str(folder / "rules.cep"),
        "--trace",
        key,
        "--out",
        str(tmp_path / "out"),
    ]
    for stream, file in (("Tick", "ticks.csv"), ("Deal", "deals.csv")):
        if (folder / file).exists():
            arguments += ["--input", f"{stream}={folder / file}"]
    for rule in rules:
        arguments += ["--rule", rule]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.stderr
    expected = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected


def test_every_file_is_compared() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(STRATEGIES)
