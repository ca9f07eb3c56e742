"""Both decoders say the same to frames that are almost right; no stream breaks the ZMTP client.

A small part of `python -m benchmarks.fuzz_frames`, which also runs g++'s sanitizers.
"""

from __future__ import annotations

from pathlib import Path

from mt5bridge.wire import Reason
from tests.mql5.agreement import compare_decoders, meet_right_peers, meet_wrong_peers
from tests.mql5.running import Scripts

_SEED = 4


def test_both_decoders_agree(scripts: Scripts, tmp_path: Path) -> None:
    """3.2: the same reason for each frame, and the same bytes when it is encoded again."""
    seen = compare_decoders(scripts, tmp_path, _SEED, 20_000)
    assert set(seen) == {"frame", *set(Reason) - {Reason.MULTIPART}}, "every reason was tried"


def test_zmtp_client_receives_what_right_peers_send(scripts: Scripts, tmp_path: Path) -> None:
    assert meet_right_peers(scripts, tmp_path, _SEED, 500) > 1_000


def test_zmtp_client_survives_wrong_peers(scripts: Scripts, tmp_path: Path) -> None:
    failures = meet_wrong_peers(scripts, tmp_path, _SEED, 1_000)
    assert len(failures) >= 6, "many ways to fail were tried"
