"""The rule file while the daemon runs: noticed when it has changed and is at rest."""

from __future__ import annotations

from pathlib import Path

from loguru import logger

from cep.live.quarantine import Complain, warn
from cep.plan.rule_file import BYTES_MAX, RuleFileError, read_rule_file

Mark = tuple[int, int]
"""Time of the last change in ns, and size."""


class RulesFile:
    """Looks at a file every `every_ms` (0: never); `text` is what was taken last.

    A file is taken when it looks the same twice: an editor may be writing it.
    """

    def __init__(
        self,
        path: Path,
        text: str,
        every_ms: int,
        bytes_max: int = BYTES_MAX,
        complain: Complain = warn,
    ) -> None:
        self._path = path
        self._text = text
        self._every_ms = every_ms
        self._bytes_max = bytes_max
        self._complain = complain
        self._next_ms = 0
        self._mark: Mark | None = None
        self._is_moving = True
        self._is_asked = False
        self.problem = ""
        """Why the file could not be read when it was looked at last; empty: it could."""

    def ask(self) -> None:
        """Take the file with the next look, as it is then."""
        self._is_asked = True

    def look(self, now_ms: int) -> str | None:
        """The file's text if it is another than before; to be called often, with any clock."""
        is_asked, self._is_asked = self._is_asked, False
        if not is_asked and (not self._every_ms or now_ms < self._next_ms):
            return None
        self._next_ms = now_ms + self._every_ms
        try:
            return self._changed(is_asked)
        except RuleFileError as problem:
            self.problem = str(problem)
            self._complain("rules_refused", f"{problem}; the rules stay as they are")
            return None
        except OSError as problem:
            if self.problem != str(problem):
                logger.warning("{}: {}; the rules stay as they are", self._path, problem)
            self.problem, self._is_moving = str(problem), True  # it may come back as it was
            return None

    def _changed(self, is_asked: bool) -> str | None:
        stat = self._path.stat()
        mark = (stat.st_mtime_ns, stat.st_size)
        is_other, self._mark = mark != self._mark, mark
        if is_other and not is_asked:
            self._is_moving = True
            return None
        if not (self._is_moving or is_asked):
            return None
        self._is_moving = False
        text = read_rule_file(self._path, self._bytes_max)
        self.problem = ""
        if text == self._text:
            return None
        self._text = text
        return text
