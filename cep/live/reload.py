"""New rules on their way: checked, compiled beside the running ones, ready to be taken over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loguru import logger

from cep.engine.native import Compiled
from cep.live.rules_file import RulesFile
from mt5bridge.worker import Worker


@dataclass(frozen=True, slots=True)
class Ready:
    """Rules that have their machine code, and their text."""

    rules: Compiled
    text: str


class Reload:
    """Follows the rule file. `compiled` checks a text and compiles it; None: it means the same.

    Machine code is made by another process, so that terminals do not wait for it.
    """

    def __init__(self, file: RulesFile, compiled: Callable[[str], Compiled | None]) -> None:
        self._file = file
        self._compiled = compiled
        self._worker: Worker | None = None
        self._coming: Ready | None = None

    def ask(self) -> None:
        """Look at the file now, whether it is watched or not."""
        self._file.ask()

    def look(self, now_ms: int) -> Ready | None:
        """Rules that are ready now; what is wrong with a new file is logged, with the remedy."""
        if self._worker is not None:
            return self._finished()
        text = self._file.look(now_ms)
        if text is not None:
            self._begin(text)
        return None

    def _begin(self, text: str) -> None:
        try:
            rules = self._compiled(text)
        except Exception as problem:  # noqa: BLE001 -- whatever is wrong, the old rules go on
            logger.error("the new rules are wrong, the old ones go on:\n{}", _shown(problem))
            return
        if rules is None:
            logger.info("the rule file has changed, its meaning has not")
            return
        logger.info("new rules: compiling")
        self._coming = Ready(rules, text)
        self._worker = Worker("compile", lambda: rules.start().warm_up(in_child=True)).start()

    def _finished(self) -> Ready | None:
        worker = self._worker
        if worker is None or worker.is_alive:
            return None
        self._worker, ready, self._coming = None, self._coming, None
        if worker.failure is not None:
            logger.error("the new rules do not compile, the old ones go on: {}", worker.failure)
            return None
        return ready


def _shown(problem: Exception) -> str:
    """What is wrong; errors in rules show the place and the remedy."""
    render = getattr(problem, "render", None)
    return str(render()) if callable(render) else f"{type(problem).__name__}: {problem}"
