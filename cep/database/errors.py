"""What a database cannot do, and what went wrong in one."""

from __future__ import annotations

from typing import Literal

Gap = Literal["notimpl", "notyet", "never"]
"""We could and have not; the database cannot yet; it cannot by its nature."""


class Refusal(ValueError):
    """A part of a plan that a database does not run: which gap it is, and why."""

    def __init__(self, gap: Gap, reason: str) -> None:
        super().__init__(f"{gap}: {reason}")
        self.gap = gap
        self.reason = reason


class DatabaseError(RuntimeError):
    """A database that cannot be reached or has failed; says what to do.

    `retry`: the same batch may work when it is tried again, after a rollback; `is_lost`: on a new
    connection only. `is_of_values`: it never will, for a value in it cannot be worked with.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        is_lost: bool = False,
        is_of_values: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_of_values = is_of_values
        self.retry = retry
        self.is_lost = is_lost


class ForgottenError(DatabaseError):
    """The database has lost what it was told; it stands at `event` (0: at the beginning)."""

    def __init__(self, before: int, event: int) -> None:
        super().__init__(
            f"the database has gone back from event {before} to event {event}, for it is "
            "not durable: set the plan again and push what came after that event"
        )
        self.event = event


class EventError(ValueError):
    """Events that cannot be taken: of another type, or late. Nothing has been stored."""

    is_of_values = True

    @classmethod
    def late(cls, place: int, time_msc: int, newest_msc: int, remedy: str = "") -> EventError:
        """Of the event at a place of those pushed, which is older than one before it."""
        remedy = remedy or "; push events in the order of their times"
        message = f"event {place} of time {time_msc} ms comes after one of {newest_msc} ms"
        return cls(message + remedy)
