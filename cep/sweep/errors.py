"""What is wrong with a sweep."""

from __future__ import annotations


class SweepError(ValueError):
    """A sweep that cannot be: `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
