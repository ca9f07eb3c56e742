"""What must hold when a world has come to rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from cep.live.config import MAIN, Config, each_file, read_config
from cep.live.journal_files import parts_of
from mt5bridge.records import Records
from mt5bridge.spool import Group, RecordKind, StreamKey, read
from tests.world.again import rows_again
from tests.world.compiled import compiled_rules
from tests.world.order_checks import order_problems

if TYPE_CHECKING:
    from tests.world.world import World


def check_end(world: World) -> None:
    """All of it; what is wrong is a problem of the world's record."""
    groups = list(read(world.folder / "spool"))
    for text in (*_records(world, groups), *order_problems(world, groups), *_rows(world, groups)):
        world.record.problem(text)


# -- every acknowledged tick and deal is stored once, and in order -------------------------------


def _records(world: World, groups: list[Group]) -> Iterator[str]:
    expected: Counter[StreamKey] = Counter()
    for group in groups:
        if group.sequence != expected[group.key] + 1:
            yield f"{group.key}: {group.sequence} follows {expected[group.key]}"
        is_gap = group.kind is RecordKind.GAP
        last = int(group.records["last"].max()) if is_gap else group.last_sequence
        expected[group.key] = last
    for terminal in world.terminals:
        for name in terminal.published:
            key: StreamKey = (terminal.identity, ("ticks", name))
            yield from _same(key, world.market[name], _stored(groups, key))
        key = (terminal.identity, ("deals",))
        yield from _same(key, terminal.deals, _stored(groups, key))
        for (identity, name), number in world.watch.stored.items():
            key = (identity, ("ticks", name) if name else ("deals",))
            if identity == terminal.identity and expected[key] < number:
                yield f"{key}: {number} was called stored, and {expected[key]} are there"


def _stored(groups: list[Group], key: StreamKey) -> list[Records]:
    return [one.records for one in groups if one.key == key and one.kind is not RecordKind.GAP]


def _same(key: StreamKey, sent: Records, stored: list[Records]) -> Iterator[str]:
    found = np.concatenate([sent[:0], *stored])
    if found.tobytes() != sent.tobytes():
        yield f"{key}: {len(found)} records are stored, not the {len(sent)} that were sent"


# -- the journal of rows is what a replay makes of the spool ---------------------------------------


def _rows(world: World, groups: list[Group]) -> Iterator[str]:
    config = read_config(world.settings)
    for name, own in zip((MAIN, *config.rule_files), each_file(config), strict=True):
        journal, runs = own.state.journal, name in world.running
        assert journal is not None
        lived = _lines(journal)
        texts = [text for text in sorted(world.texts[own.rules.file]) if _is_good(text)]
        if runs and not all(map(_is_row, lived)):
            yield f"rows of {name}: a line is torn"
        elif journal.exists() and not any(
            _is_same(own, text, texts, groups, lived, runs=runs) for text in texts
        ):
            yield f"rows of {name}: a replay makes others"


def _is_row(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError:
        return False
    return True


def _is_same(
    config: Config,
    first: str,
    texts: list[str],
    groups: list[Group],
    lived: list[bytes],
    *,
    runs: bool,
) -> bool:
    """Whether rows are those of a run which began with the rules `first`, and perhaps stopped: of
    its rows, those that were not on disk may be torn from somewhere on, until it is loaded again.
    """
    whole = lived if runs else list(takewhile(_is_row, lived))
    again = rows_again(config, first, texts, groups, whole)
    return again == lived if runs else again[: len(whole)] == whole


def _lines(path: Path) -> list[bytes]:
    parts = [*(part.path for part in parts_of(path)), path]
    data = b"".join(part.read_bytes() for part in parts if part.exists())
    return data.splitlines()


def _is_good(text: str) -> bool:
    try:
        compiled_rules(text)
    except ValueError:
        return False
    return True
