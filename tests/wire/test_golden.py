"""Golden frames are what the code writes, reads and refuses."""

from __future__ import annotations

import pytest

from mt5bridge.wire import FrameType, WireError, decode, encode
from tests.wire import golden
from tests.wire.samples import FRAMES

PATHS = sorted(golden.FOLDER.glob("*.hex"))


def test_files_are_those_the_samples_give() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in PATHS}
    assert found == golden.files(), "run python -m tests.wire.golden and look at the difference"


def test_every_frame_type_has_a_golden_file() -> None:
    assert {frame.TYPE for _, frame in FRAMES.values()} == set(FrameType)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_golden(path: golden.Path) -> None:
    """3.2: accepted and written back byte for byte, or refused for the named reason."""
    _, expect, data = golden.read(path)
    if expect == "frame":
        assert encode(decode(data)) == data
    else:
        with pytest.raises(WireError) as caught:
            decode(data)
        assert caught.value.reason == expect
