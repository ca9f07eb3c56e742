"""What the user sees when something goes wrong."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

BAD_INPUT = 2
INTERNAL = 1
UNANSWERED = 4
"""Handed over to the daemon, which has not answered in the time that was given."""


_ROOM = "make room there, then run the same again"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "the system lets no file be so large (ulimit -f); raise the limit",
    errno.ENOENT: "check the path; a folder to write into must be there",
    errno.ENOTDIR: "check the path: a part of it is a file, not a folder",
    errno.EACCES: "see who may read or write there, with `ls -l`",
    errno.EROFS: "name a place that can be written",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
}
"""What to do about errors of the system, whichever file they are of."""


class UserError(Exception):
    """Bad input: `message` says what and where, `hint` what to do about it."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@contextmanager
def extra(name: str, instead: str = "") -> Iterator[None]:
    """Around imports: a package that is not there belongs to this extra. UserError says so.

    `instead`: how to do without it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        remedy = f"in the checkout of mt5cep run: pip install '.[{name}]'" + (
            f", {instead}" if instead else ""
        )
        raise UserError(f"{error.name} is not installed", remedy) from error


def explain_error(error: Exception) -> tuple[str, int]:
    """(text for stderr, exit code) of an exception.

    Exceptions defined by this project are expected: their message is written for the user. They
    may bring a `render()` (rule errors: place, line and caret), a `hint` or an `exit_code`.
    """
    render = getattr(error, "render", None)
    if callable(render):
        return str(render()), BAD_INPUT
    if type(error).__module__.split(".")[0] in ("cep", "mt5bridge"):
        code = getattr(error, "exit_code", BAD_INPUT)
        return with_hint(str(error), getattr(error, "hint", None)), code
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        text = f"{place}{error.strerror or error}"
        return with_hint(text, _REMEDIES.get(error.errno or 0)), BAD_INPUT
    text = f"internal error: {type(error).__name__}: {error}"
    return with_hint(text, "run `mt5cep --debug ...` for the traceback and report it"), INTERNAL


def with_hint(message: str, hint: str | None) -> str:
    return f"error: {message}" + (f"\nhelp: {hint}" if hint else "")
