"""Nothing that a peer or a file says steers the terminal of whoever lists it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cep.archive import Archive, import_history
from cep.cli import main
from cep.cli.text import aligned
from cep.live.config import read_config
from cep.live.outgoing import journal_path
from mt5bridge.escapes import one_line, visible, visible_json
from mt5bridge.history import TickBlock
from mt5bridge.orders import OrderJournal
from mt5bridge.orders.records import Refused, requested
from tests.backtest.archives import DAY_MS, START_MSC, walk
from tests.live.service import write_settings
from tests.orders.desk import NOON_MSC, signal

ODD = "A\x1b[31m\x9b2J\u202eB\nC"
SEEN = "A\\x1b[31m\\x9b2J\\u202eB\\nC"
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def said(*arguments: object) -> str:
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exit_code == 0, found.output
    assert not RAW.search(found.output), ascii(found.output)
    return found.output


def test_an_archive_lists_symbols_as_they_are_written(tmp_path: Path) -> None:
    ticks = walk(np.random.default_rng(1), START_MSC, DAY_MS, 20)
    import_history(Archive(tmp_path / "a"), [TickBlock(ODD, ticks)])
    assert SEEN in said("archive", "ls", tmp_path / "a")
    said("archive", "ls", "--files", tmp_path / "a")
    said("archive", "doctor", tmp_path / "a")


def test_orders_are_listed_without_what_their_texts_would_do(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    journal = OrderJournal(journal_path(read_config(settings)))
    odd = replace(signal(1), symbol=ODD)
    journal.add(requested(odd, NOON_MSC, client_id=ODD), Refused(odd.id, NOON_MSC, ODD))
    journal.close()
    assert SEEN in said("orders", "ls", "--config", settings)
    assert SEEN in said("orders", "show", "1", "--config", settings)
    (listed,) = json.loads(said("orders", "ls", "--json", "--config", settings))
    assert listed["request"]["symbol"] == ODD


def test_rows_of_the_journal_keep_their_values(tmp_path: Path) -> None:
    settings = write_settings(tmp_path)
    path = read_config(settings).state.journal
    assert path is not None
    path.write_bytes(msgspec.json.encode({"stream": "S", "symbol": ODD}) + b"\n")
    assert json.loads(said("rows", "--config", settings))["symbol"] == ODD
    placed = json.loads(said("rows", "--positions", "--config", settings))
    assert placed["row"]["symbol"] == ODD


def test_an_error_shows_what_it_names() -> None:
    found = CliRunner().invoke(main, ["check", "no\x1b[31m.cep"])
    assert found.exit_code == 2 and "no\\x1b[31m.cep" in found.stderr


@given(st.text())
def test_a_text_without_controls_is_left_as_it_is(text: str) -> None:
    shown = visible(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert shown == text or RAW.search(text) or not text.isprintable()
    assert "\n" not in one_line(text) and "\t" not in one_line(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_values(text: str) -> None:
    line = msgspec.json.encode({"symbol": text})
    shown = visible_json(line)
    assert json.loads(shown) == {"symbol": text}
    assert not RAW.search(shown.decode())


def test_a_cell_begins_no_other_line() -> None:
    assert aligned([["a\nb", "1"], ["c", "2"]]) == ["a\\nb  1", "c     2"]
