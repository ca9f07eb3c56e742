"""Callback files: what is in them is called, or refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from cep.callbacks import CallbackError, load_callback

FILE = """
from cep.callbacks import EventsCallback

class Mine(EventsCallback):
    def {method}(self, row):
        pass
    def helper(self):
        pass
"""


def written(tmp_path: Path, method: str) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE.format(method=method))
    return path


@pytest.mark.parametrize("method", ["on_event", "on_complex", "on_signal", "on_row", "on_result"])
def test_known_methods(tmp_path: Path, method: str) -> None:
    assert hasattr(load_callback(written(tmp_path, method)), method)


@pytest.mark.parametrize("method", ["on_complx", "on_tick", "on_events"])
def test_a_method_that_nothing_would_call_is_refused(tmp_path: Path, method: str) -> None:
    with pytest.raises(CallbackError, match=f"nothing calls {method}; there are on_complex, on_ev"):
        load_callback(written(tmp_path, method))


def test_a_callback_that_cannot_begin_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from cep.callbacks import EventsCallback\n"
        "class Mine(EventsCallback):\n"
        "    def __init__(self, path):\n"
        "        super().__init__()\n"
    )
    with pytest.raises(CallbackError, match=r"mine\.py: Mine\(\) fails: TypeError: .*'path'"):
        load_callback(path)
