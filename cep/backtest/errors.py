"""What can be wrong with a backtest that somebody asks for."""

from __future__ import annotations


class BacktestError(ValueError):
    """A backtest that cannot be run; `hint` says what to do about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
