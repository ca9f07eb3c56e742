"""What the version before has left is taken over, a later version's is refused, and a way back."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from loguru import logger

from cep.live.checkpoints import parted
from cep.live.config import ConfigError
from cep.live.state_format import FILE, FORMAT, check_format, format_of, take_over
from mt5bridge.simulator import Account
from tests.live.service import (
    Service,
    address,
    journal,
    play,
    terminal,
    walks,
    write_settings,
)
from tests.spool.test_formats import formats

TICKS = walks("AB", 900)
FORMER_TAGS = {"asked", "refused", "sent", "result", "halt", "terminal", "deal"}
LATER_FIELDS = ("n", "account", "accounts", "magic", "by_broker")
"""Of records of the order journal, which the versions before did not write."""


def settings_of(folder: Path) -> Path:
    return write_settings(folder, {"rules": {"numba": False}, "state": {"snapshot_records": 300}})


def live(settings: Path, count: int, account: Account) -> list[str]:
    """One run, up to so many ticks of each symbol; what the log said."""
    said: list[str] = []
    sink = logger.add(lambda message: said.append(message.record["message"]), level="INFO")
    try:
        with Service(settings) as service:
            found = terminal(
                {name: one[:count] for name, one in TICKS.items()}, instance=count, account=account
            )
            play(found, address(settings), until=service.is_settled)
    finally:
        logger.remove(sink)
    return said


def records(state: Path) -> list[dict[str, Any]]:
    lines = (state / "orders.journal").read_bytes().splitlines()
    return [json.loads(line[9:]) for line in lines]


def made_old(state: Path) -> None:
    """The files as the versions before wrote them, byte by byte."""
    (state / FILE).unlink()
    lines = []
    for record in records(state):
        former = {name: value for name, value in record.items() if name not in LATER_FIELDS}
        text = json.dumps(former, separators=(",", ":")).encode()
        lines.append(b"%08x %b\n" % (crc32(text), text))
    (state / "orders.journal").write_bytes(b"".join(lines))
    for path in state.glob("*.state"):  # without the state of complex events behind the rules'
        path.write_bytes(parted(path.read_bytes())[0])
    for path in state.glob("*.rules"):
        former = [json.loads(line) for line in path.read_bytes().splitlines()]
        keep = [{name: one[name] for name in ("ingest", "text")} for one in former]
        path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in keep))


def digests(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "rules.cep"]
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


def test_what_the_version_before_left_is_taken_over(tmp_path: Path) -> None:
    """Orders are known, rows come again from the spool, nothing is executed twice."""
    settings, account = settings_of(tmp_path), Account()
    assert not any("taken over" in text for text in live(settings, 500, account))
    state, rows, executed = tmp_path / "state", journal(settings), len(account.executed)
    assert executed > 0 and format_of(state) == FORMAT
    made_old(state)
    assert format_of(state) == 1
    said = live(settings, 500, account)
    assert any(f"of format 1, taken over as {FORMAT}" in text for text in said)
    assert format_of(state) == FORMAT
    assert len(account.executed) == executed
    assert journal(settings).startswith(rows) and (state / "events-1.jsonl").exists()
    said = live(settings, 900, account)
    assert not any("taken over" in text for text in said)
    assert len(account.executed) > executed
    ids = [record["id"] for record in records(state) if record["type"] == "asked"]
    assert len(ids) == len(set(ids)) == len(account.executed)


def test_a_later_version_is_refused_and_nothing_is_harmed(tmp_path: Path) -> None:
    settings, account = settings_of(tmp_path), Account()
    live(settings, 300, account)
    path = tmp_path / "state" / FILE
    path.write_text(json.dumps({"format": FORMAT + 1, "more": [1]}), encoding="utf-8")
    before = digests(tmp_path)
    service = Service(settings)
    with pytest.raises(AssertionError), service:
        pass
    assert isinstance(service.failure, ConfigError)
    told = str(service.failure)
    assert f"in format {FORMAT + 1}" in told and "Install the later one again" in told
    assert digests(tmp_path) == before


@pytest.mark.parametrize("damaged", [b"", b"{", b'{"format": "x"}', b"\xff"])
def test_a_format_that_cannot_be_read_is_refused(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / FILE).write_bytes(damaged)
    with pytest.raises(ConfigError, match="cannot be read"):
        check_format(tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        take_over(tmp_path)
    assert (tmp_path / FILE).read_bytes() == damaged


def test_the_version_before_can_read_what_uses_nothing_new(tmp_path: Path) -> None:
    """The way back: segments of its format, and no record in the order journal that it lacks."""
    settings, account = settings_of(tmp_path), Account()
    live(settings, 300, account)
    live(settings, 500, account)
    assert set(formats(tmp_path / "spool")) == {1}
    assert {record["type"] for record in records(tmp_path / "state")} <= FORMER_TAGS
