"""What is told of symbols and accounts: from a spool and by people, each version once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.account.specifications import FILE, Version, encode
from cep.archive import Archive, ArchiveError, ingest_spool, specify
from cep.archive.manifest import Manifest, load, save
from cep.archive.paths import MANIFEST
from cep.archive.store import Folder
from mt5bridge.spool import Spool
from tests.archive.test_ingest import fill
from tests.campaign import examples
from tests.specifications import held

SYMBOL = Version(symbol="EURUSD", since_msc=5, source="desk-1", told={"point": 0.00001})
ACCOUNT = Version(since_msc=5, source="desk-1", told={"currency": "EUR", "leverage": 30.0})
LATER = Version(symbol="EURUSD", since_msc=9, source="desk-1", told={"point": 0.0001})


def tell(spool: Spool, *lines: bytes) -> None:
    (spool.directory / FILE).write_bytes(b"".join(lines))


def test_what_terminals_told_comes_with_their_records(spool: Spool, archive: Archive) -> None:
    fill(spool)
    tell(spool, encode(SYMBOL), encode(ACCOUNT), encode(LATER)[:-9])
    assert ingest_spool(spool.directory, archive).specifications == 2
    assert archive.manifest.specifications == (SYMBOL, ACCOUNT) and archive.manifest.files
    assert ingest_spool(spool.directory, archive).specifications == 0
    tell(spool, encode(SYMBOL), encode(ACCOUNT), encode(LATER), encode(LATER))
    assert ingest_spool(spool.directory, archive).specifications == 1
    assert Archive(archive.directory).manifest.specifications == (SYMBOL, ACCOUNT, LATER)


def test_a_bad_line_is_named_when_all_else_is_archived(spool: Spool, archive: Archive) -> None:
    fill(spool)
    tell(spool, encode(SYMBOL), b'{"symbol":"X","told":{"poin":1}}\n', encode(LATER))
    with pytest.raises(ArchiveError, match=rf"{FILE}:2: .*did you mean `point`.*all else"):
        ingest_spool(spool.directory, archive)
    assert archive.manifest.specifications == (SYMBOL, LATER)
    assert sum(file.rows for file in archive.manifest.files) == 14


def test_an_archive_without_any_is_one_that_earlier_releases_read(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    save(store, Manifest())
    assert b'"version":1' in store.read(MANIFEST)
    now = save(store, Manifest(specifications=(SYMBOL, ACCOUNT)))
    assert b'"version":4' in store.read(MANIFEST) and load(store) == now


def test_people_add_what_is_new(archive: Archive) -> None:
    told = Version(symbol="EURUSD", told={"point": 0.1, "volume_min": 1.0})
    assert specify(archive, [told]) == (told,)
    generation = archive.manifest.generation
    assert specify(archive, [told]) == () and archive.manifest.generation == generation
    more = Version(symbol="EURUSD", told={"point": 0.2, "volume_min": 1.0})
    assert specify(archive, [more]) == (Version(symbol="EURUSD", told={"point": 0.2}),)
    assert specify(archive, [told]) == (Version(symbol="EURUSD", told={"point": 0.1}),)


telling = st.builds(
    Version,
    symbol=st.sampled_from(["", "A"]),
    since_msc=st.integers(0, 3),
    told=st.dictionaries(st.sampled_from(["x", "y"]), st.integers(0, 2), min_size=1),
)


@settings(deadline=None, max_examples=examples(50))
@given(st.lists(telling, max_size=8))
def test_what_was_told_last_for_a_time_holds(
    tmp_path_factory: pytest.TempPathFactory, told: list[Version]
) -> None:
    """Beside keys looked up one by one."""
    archive = Archive(tmp_path_factory.mktemp("a") / "archive")
    for one in told:
        specify(archive, [one])
        again = held(archive.manifest.specifications, one.symbol, "", one.since_msc)
        assert again.items() >= one.told.items()
    for symbol in ("", "A"):
        for at in range(4):
            for key in ("x", "y"):
                fitting = [
                    (one.since_msc, place, one.told[key])
                    for place, one in enumerate(told)
                    if one.symbol == symbol and one.since_msc <= at and key in one.told
                ]
                found = held(archive.manifest.specifications, symbol, "", at).get(key)
                assert found == max(fitting, default=(0, 0, None))[2]
