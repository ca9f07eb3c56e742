"""The page of a sweep: what its maps show, and that names of rules are text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner

from cep.backtest.page import amount
from cep.cli import main
from cep.lang import parameters_of
from cep.lang.parameters import Value
from cep.report import Heat
from cep.report.heat import heat_html
from cep.sweep.page import heats, shares
from cep.sweep.tried import Tried, measure_text
from tests.backtest.archives import imported
from tests.sweep.test_sweep import POINTS, RULES

KNOWN = parameters_of(
    "define parameter A int = 1;\ndefine parameter B time = 1 min;\n"
    "define parameter C string = 'x';\ndefine parameter D double = 1;\n"
)


def tried(number: int, net: float | None, **values: Value) -> Tried:
    return Tried(number, values, {"net": net, "drawdown": net}, np.zeros(0))


def test_a_map_is_of_two_parameters_and_the_mean_over_the_others() -> None:
    run = [
        tried(0, 1.0, A=1, B=60_000, C="x"), tried(1, 3.0, A=1, B=60_000, C="y"),
        tried(2, -4.0, A=2, B=120_000, C="x"), tried(3, None, A=2, B=60_000, C="x"),
    ]  # fmt: skip
    found = heats(run, "net", KNOWN)
    assert [(one.up, one.across) for one in found] == [("A", "B"), ("A", "C"), ("B", "C")]
    first = found[0]
    assert (first.rows, first.columns) == (["1", "2"], ["1 min", "2 min"])
    assert first.texts == [["2", "-"], ["-", "-4"]]
    assert first.shares == [[0.5, None], [None, -1.0]]
    assert first.best == (0, 0) and first.title == "net, mean over all other parameters"


def test_one_parameter_is_one_row_and_the_least_drawdown_is_best() -> None:
    run = [tried(n, value, D=n / 2, A=1) for n, value in enumerate([5.0, 1.0, 3.0])]
    (found,) = heats(run, "drawdown", KNOWN)
    assert (found.across, found.up, found.columns) == ("D", "", ["0.0", "0.5", "1.0"])
    assert found.shares == [[0.0, 1.0, 0.5]] and found.best == (0, 1)
    assert heats([tried(0, 1.0, A=1)], "net", KNOWN) == [] == heats([], "net", KNOWN)


def test_shares_are_within_one() -> None:
    values = np.array([[-8.0, 2.0], [np.nan, 4.0]])
    assert np.nanmax(np.abs(shares(values, "net"))) == 1.0
    assert shares(values + 9.0, "net")[0].tolist() == [0.0, 10.0 / 12.0]


def test_what_rules_say_is_text() -> None:
    heat = Heat("<b>", "A", "B", ["<i>"], ["'x'"], [["1"]], [[1.0]], (0, 0))
    html = heat_html(heat)
    assert "<b>" not in html and "<i>" not in html and "&lt;i&gt;" in html
    assert 'class="number up best" style="--share: 45%"' in html


def test_the_command_writes_it(tmp_path: Path) -> None:
    imported(tmp_path, rows=300)
    (tmp_path / "rules.cep").write_text(RULES, encoding="utf-8")
    points = [text for name, size in POINTS.items() for text in ("--point", f"{name}={size}")]
    given = [
        "sweep", str(tmp_path / "rules.cep"), "--archive", str(tmp_path / "archive"), *points,
        "--param", "Width=0.5,1", "--report", str(tmp_path / "page.html"),
    ]  # fmt: skip
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 0, found.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count('<figure class="card heat">') == 3
    assert "12 variants, by net" in page and "The best by net" in page


def test_money_is_shown_to_the_cent_as_in_a_backtest() -> None:
    """An amount of 12,065.58 is no 12,066.0; other measures have the digits that tell."""
    assert measure_text("net", -12_065.58, 2) == "-12,065.58" == amount(-12_065.58, 2)
    assert measure_text("drawdown", 0.5, 2) == "0.50" and measure_text("net", None, 2) == "-"
    assert (measure_text("points", 12_065.5, 2), measure_text("trades", 12_065, 2)) == (
        "12065.5", "12065"
    )  # fmt: skip
    run = [tried(n, value, A=n) for n, value in enumerate([-12_065.58, 3.0])]
    assert heats(run, "net", KNOWN, 2)[0].texts == [["-12,065.58", "3.00"]]
