"""Progress bars appear late, only on terminals, and leave nothing behind."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from cep.cli import progress as progress_module
from cep.cli.progress import progress


def output(*, terminal: bool, quiet_seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """What three steps of work write."""
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", quiet_seconds)
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=100)
    with progress("replay", 3000, "rows", console) as bar:
        bar.advance(1000)
        bar.advance(1000)
        bar.advance_to(3000, 4000)
    return text.getvalue()


def test_nothing_for_short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert output(terminal=True, quiet_seconds=1e9, monkeypatch=monkeypatch) == ""


def test_nothing_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert output(terminal=False, quiet_seconds=0.0, monkeypatch=monkeypatch) == ""


def test_long_work_shows_rows_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = output(terminal=True, quiet_seconds=0.0, monkeypatch=monkeypatch)
    assert "replay" in shown and "3,000 rows" in shown and "rows/s" in shown


def test_an_error_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "QUIET_SECONDS", 0.0)
    console = Console(file=io.StringIO(), force_terminal=True)
    with pytest.raises(ValueError, match="row 7"), progress("replay", None, "rows", console) as bar:
        bar.advance(1)
        raise ValueError("row 7")
