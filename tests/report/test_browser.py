"""The page in a headless Chromium: it draws, zooms, switches tabs, and logs no error."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cep.report import Role, Series, SymbolChart, Table, render
from tests.browser import COMMAND, MARKS
from tests.report import sample
from tests.waiting import LONG_S

FLAGS = (
    "--window-size=1300,1000", "--virtual-time-budget=2000", "--enable-logging=stderr",
)  # fmt: skip
TABLE_DRIVER = """
const $ = (q, root = document) => [...root.querySelectorAll(q)], seen = {};
const card = $(".card").find(one => one.textContent.includes("Trades"));
const shown = () => $("tbody tr", card).filter(row => !row.hidden);
const column = n => shown().map(row => row.cells[n].textContent);
const click = n => $("th .sort", card)[n].click();
click(1); seen.up = column(1);
click(1); seen.down = column(1); seen.sorted = $("th", card)[1].getAttribute("aria-sort");
click(0); seen.names = column(0);
const input = $(".filter", card)[0];
input.value = "eur BUY"; input.dispatchEvent(new Event("input"));
seen.filtered = column(0); seen.note = $(".note", card)[0].textContent;
input.value = ""; input.dispatchEvent(new Event("input")); seen.all = column(0).length;
seen.few = $(".card").filter(one => one !== card && one.querySelector(".filter")).length;
document.body.dataset.seen = JSON.stringify(seen);
"""
DRIVER = """
const $ = (q, root = document) => [...root.querySelectorAll(q)], seen = {};
const panel = () => $("[role=tabpanel]").find(p => !p.hidden);
const state = () => ({ tab: $("[role=tab][aria-selected=true]").map(b => b.textContent).join(),
  marks: $(".plot > svg > .mark", panel()).length, lines: $(".line", panel()).length,
  zoomed: !$(".reset", panel())[0].disabled, tip: $(".tip", panel())[0].innerText,
  bound: $(".bound", panel()).length,
  queue: $(".queues tbody tr", panel()).map(row => [...row.cells].map(cell => cell.textContent)),
  note: $(".queues .note", panel()).map(note => note.textContent).join() });
seen.start = state();
$(".goto")[0].click();                              seen.goto = state();
$(".reset", panel())[0].click();                    seen.reset = state();
$(".legend button", panel())[0].click();            seen.noEvents = state();
panel().querySelector(".plot").dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
seen.key = state();
$("[role=tab]")[0].click();                         seen.back = state();
document.body.dataset.seen = JSON.stringify(seen);
"""

pytestmark = MARKS


def browse(page: str, folder: Path) -> tuple[str, list[str]]:
    """(the document after its scripts ran, console messages)."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    command = [*COMMAND, *FLAGS, f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run(
        [*command, "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=LONG_S
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def drive(page: str, folder: Path, driver: str = DRIVER) -> dict[str, Any]:
    driven = page.replace("</body>", f"<script>setTimeout(() => {{{driver}}}, 100)</script></body>")
    document, console = browse(driven, folder)
    assert console == []
    found = re.search('data-seen="(.*?)"', document)
    assert found, "the driver did not finish"
    seen: dict[str, Any] = json.loads(found[1].replace("&quot;", '"'))
    return seen


def test_charts_are_drawn_and_nothing_is_logged(tmp_path: Path) -> None:
    document, console = browse(render(sample.report()), tmp_path)
    assert console == []
    assert document.count('class="line price"') == 1, "only the selected symbol is drawn"
    labels = re.findall('class="mark[^>]*data-label="(.*?)"', document)
    assert sorted(labels) == sorted(2 * ["AboveUpper", "BelowMa", "Reversal", "Fade", "Fill"])


def test_the_reader_can_zoom_switch_and_hide(tmp_path: Path) -> None:
    seen = drive(render(sample.report()), tmp_path)
    assert seen["start"]["tab"] == "EURUSD" and seen["start"]["zoomed"] is False
    assert (seen["start"]["marks"], seen["start"]["lines"]) == (10, 4)
    goto = seen["goto"]
    assert goto["tab"] == "^GSPC" and goto["zoomed"] is True
    assert seen["start"]["queue"] == []
    assert [(row[1], row[4]) for row in goto["queue"]] == [
        ("BelowMa", "Reversal"), ("AboveUpper", "Reversal"),
    ]  # fmt: skip
    assert goto["queue"][0][3] == "2024-03-01 08:11:00.000"
    assert goto["note"].startswith(
        "2 queued; of events before 2024-03-01 08:00:00.000 nothing is kept"
    )
    assert "Complex event: Reversal" in str(goto["tip"]) and goto["bound"] == 6
    assert seen["reset"]["zoomed"] is False
    assert seen["noEvents"]["marks"] == 6
    assert seen["key"]["zoomed"] is True
    assert seen["back"]["tab"] == "EURUSD"


def test_steps_hold_each_value_until_the_next(tmp_path: Path) -> None:
    times, values = np.array([0, 10, 20, 30, 40]), np.array([1.0, 2.0, np.nan, 1.0, 3.0])
    steps = Series("balance", Role.STEPS, times, values)
    chart = SymbolChart("Equity", (steps, replace(steps, name="equity", role=Role.SECOND)))
    document, console = browse(render(replace(sample.report(), charts=(chart,))), tmp_path)
    assert console == []
    paths = re.findall('class="line (?:steps|second)" d="(.*?)"', document)
    assert [re.sub("[0-9. ]+", "", path) for path in paths] == ["MHVMHV"] * 2, (
        "level, then up; interrupted where there is none"
    )
    assert re.findall('<span class="name">.*?</svg>(.*?)</span>', document) == ["balance", "equity"]


def test_tables_sort_and_filter(tmp_path: Path) -> None:
    lots = [20_000, 3, -1.5, None, 100, 20, 7, 8]
    rows = [(f"{'EURUSD' if n % 2 else 'gold'} {n}", one, "buy" if n < 4 else "sell")
            for n, one in enumerate(lots)]  # fmt: skip
    page = render(
        replace(sample.report(), tables=(Table("Trades", ("Name", "Lots", "Side"), rows),))
    )
    seen = drive(page, tmp_path, TABLE_DRIVER)
    up = ["-1.5", "3", "7", "8", "20", "100", "20,000"]
    assert seen["up"] == [*up, ""] and seen["down"] == ["", *reversed(up)]
    assert seen["sorted"] == "descending"
    assert seen["names"] == sorted(name for name, _, _ in rows)
    assert seen["filtered"] == ["EURUSD 1", "EURUSD 3"] and seen["note"] == "2 of 8"
    assert seen["all"] == 8 and seen["few"] == 0


def test_an_error_in_a_page_would_be_seen(tmp_path: Path) -> None:
    broken = render(sample.report()).replace('"use strict";', '"use strict"; missing();')
    _, console = browse(broken, tmp_path)
    assert any("missing is not defined" in line for line in console)


def test_a_chart_without_prices_shows_its_lanes(tmp_path: Path) -> None:
    chart = replace(sample.chart("EURUSD"), series=())
    document, console = browse(render(replace(sample.report(), charts=(chart,))), tmp_path)
    assert console == []
    assert len(re.findall('class="mark[^>]*data-label=', document)) == 5
    assert "NaN" not in document
