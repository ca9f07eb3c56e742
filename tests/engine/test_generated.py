"""Modules of generated source: loaded whole or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cep.engine import generated


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "cache_folder", lambda: tmp_path)


def loaded() -> set[str]:
    return {name for name in sys.modules if name.startswith("mt5cep_")}


def test_a_module_whose_import_fails_is_not_known_afterwards(tmp_path: Path) -> None:
    before = loaded()
    trap = tmp_path / "trap"
    source = f"""early = 1
with open({str(trap)!r}) as file:
    late = file.read()
"""
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            generated.load_module(source)
        assert loaded() == before
    trap.write_text("whole")
    module = generated.load_module(source)
    assert (module.early, module.late) == (1, "whole")
    assert generated.load_module(source) is module
    assert loaded() == before | {module.__name__}
    del sys.modules[module.__name__]


def test_an_interrupted_import_is_not_known_either() -> None:
    before = loaded()
    with pytest.raises(KeyboardInterrupt):
        generated.load_module("early = 1\nraise KeyboardInterrupt\n")
    assert loaded() == before
