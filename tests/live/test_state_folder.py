"""Who holds the state folder, and who only asks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cep.live import state_folder
from cep.live.state_folder import hold, is_held
from mt5bridge.spool import SpoolLockedError
from mt5bridge.spool.disk import lock


def test_who_asks_whether_a_daemon_runs_keeps_none_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / state_folder.STATE_LOCK).touch()
    asking = [lock(tmp_path / state_folder.STATE_LOCK)]

    def asked(path: Path) -> int:
        """The lock, which somebody else gives back behind the first look."""
        try:
            return lock(path)
        finally:
            if asking:
                os.close(asking.pop())

    monkeypatch.setattr(state_folder, "lock", asked)
    held = hold(tmp_path)
    assert is_held(tmp_path)
    with pytest.raises(SpoolLockedError):
        hold(tmp_path)
    os.close(held)
    assert not is_held(tmp_path)
