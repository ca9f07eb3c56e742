"""Rules that do not run keep rows of those records alone that the spool has."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.live.config import Config, read_config
from cep.live.stopped import keep_proven, mark, mark_of
from mt5bridge.spool import Spool
from tests.live.service import write_settings
from tests.spool.groups import opened, put

ROWS = b'{"row":1}\n' * 8
PROVEN = 40
"""Bytes of rows that belong to the newest snapshot of what is stored."""


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """With rows, of which a snapshot of what is stored proves the first ones."""
    config = read_config(write_settings(tmp_path))
    assert config.state.journal is not None
    config.state.journal.write_bytes(ROWS)
    return config


@pytest.fixture
def spool(config: Config) -> Spool:
    """It has lost all behind its record 5; beside it are snapshots of records 2, 5 and 7."""
    spool = opened(config.spool.folder)
    put(spool, 1, 5)
    spool.commit()
    for ingest, size in ((2, 20), (5, PROVEN), (7, 60)):
        (config.state.folder / f"{spool.recovered.spool}-{ingest}-{size}.state").touch()
    return spool


def rows(config: Config) -> bytes:
    assert config.state.journal is not None
    return config.state.journal.read_bytes()


@pytest.mark.parametrize(
    ("behind", "left_bytes"), [(5, len(ROWS)), (4, len(ROWS)), (6, PROVEN), (None, PROVEN)]
)
def test_a_start_cuts_rows_back_whose_records_a_crash_may_have_undone(
    config: Config, spool: Spool, behind: int | None, left_bytes: int
) -> None:
    """None: they have no mark, and do not run because they cannot be read."""
    if behind is not None:
        mark(config, behind)
    for _ in range(2):
        keep_proven(config, spool)
        assert rows(config) == ROWS[:left_bytes]
    spool.close()


@pytest.mark.parametrize("said", [b"", b"damaged"])
def test_a_mark_of_an_earlier_version_is_believed_and_a_damaged_one_is_not(
    config: Config, spool: Spool, said: bytes
) -> None:
    mark_of(config).write_bytes(said)
    keep_proven(config, spool)
    assert rows(config) == (ROWS if not said else ROWS[:PROVEN])
    spool.close()


def test_a_snapshot_of_lost_records_is_removed(config: Config, spool: Spool) -> None:
    """Their numbers will be given to others, and then it would fit."""
    mark(config, 7)
    keep_proven(config, spool)
    left = sorted(path.name.split("-")[1] for path in config.state.folder.glob("*.state"))
    assert left == ["2", "5"]
    spool.close()


def test_rows_beside_another_spool_are_left(config: Config, spool: Spool) -> None:
    for path in config.state.folder.glob("*.state"):
        path.unlink()
    mark(config, 7)
    keep_proven(config, spool)
    assert rows(config) == ROWS
    spool.close()
