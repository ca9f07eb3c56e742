"""Mutated frames and streams through the MQL5 side, compared with what must come out."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from pathlib import Path
from random import Random

from tests.mql5 import streams
from tests.mql5.mutate import frames
from tests.mql5.running import Scripts
from tests.mql5.verdict import read_verdicts, verdict, write_frames


def compare_decoders(scripts: Scripts, folder: Path, seed: int, count: int) -> Counter[str]:
    """How often each verdict fell; AssertionError names a frame on which the two differ."""
    files = scripts.files(folder)
    write_frames(files / "frames.bin", frames(seed, count))
    scripts.run("FrameFuzz", folder)
    seen: Counter[str] = Counter()
    for data, found in zip_longest(frames(seed, count), read_verdicts(files / "verdicts.bin")):
        assert data is not None, "more verdicts than frames"
        assert found == verdict(data), f"seed {seed}: {found}, Python {verdict(data)}: {data.hex()}"
        assert found[1] in (b"", data), f"seed {seed}: not written back as it came: {data.hex()}"
        seen[found[0]] += 1
    return seen


def meet_right_peers(scripts: Scripts, folder: Path, seed: int, count: int) -> int:
    """How many messages were received: all that right peers send, however the bytes are cut."""
    random = Random(seed)
    peers = [streams.right(random) for _ in range(count)]
    cut = [(peer, streams.pieces(random, peer.data)) for peer in peers]
    for peer, found in zip(peers, _meet(scripts, folder, cut), strict=True):
        assert found.stage == streams.READY_STAGE, peer.data.hex()
        expected = (peer.messages, peer.multiparts, peer.checksum)
        assert (found.messages, found.multiparts, found.checksum) == expected, peer.data.hex()
    return sum(peer.messages for peer in peers)


def meet_wrong_peers(scripts: Scripts, folder: Path, seed: int, count: int) -> Counter[int]:
    """How often each failure was found; it must be the same however the bytes are cut."""
    random = Random(seed)
    peers = [streams.wrong(random) for _ in range(count)]
    whole = _meet(scripts, folder, [(peer, [peer.data]) for peer in peers])
    cut = _meet(scripts, folder, [(peer, streams.pieces(random, peer.data)) for peer in peers])
    for peer, one, other in zip(peers, whole, cut, strict=True):
        assert one[:-1] == other[:-1], f"{one} whole, {other} cut: {peer.data.hex()}"
        most = max(one.buffered_most, other.buffered_most)
        assert most <= streams.BUFFERED_MAX, f"{most} bytes kept: {peer.data.hex()}"
    return Counter(found.failure for found in whole)


def _meet(
    scripts: Scripts, folder: Path, peers: list[tuple[streams.Stream, list[bytes]]]
) -> list[streams.Outcome]:
    files = scripts.files(folder)
    streams.write(files / "streams.bin", peers)
    scripts.run("ZmtpFuzz", folder)
    return streams.read_outcomes(files / "outcomes.bin")
