"""New rules on their way: checked, compiled beside the running ones, ready to be taken over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loguru import logger

from cep.engine.native import Compiled
from cep.live.rules_file import RulesFile
from cep.plan.nodes import Plan
from mt5bridge.worker import Worker


@dataclass(frozen=True, slots=True)
class Ready:
    """Rules that have their machine code, their plan and their text."""

    rules: Compiled
    plan: Plan
    text: str


class Reload:
    """Follows the rule file. Belongs to the server's thread, which no rules keep from its work.

    `checked` makes of a file's text one with its values, and its plan, or None where it means the
    same as before: in a thread of its own, however long that takes. `compiled` gets the plan back
    in the server's thread, since new rules go on from the strings and keys of the old ones; their
    machine code another process makes.
    """

    def __init__(
        self,
        file: RulesFile,
        checked: Callable[[str], tuple[str, Plan] | None],
        compiled: Callable[[Plan], Compiled],
    ) -> None:
        self._file = file
        self._checked, self._compiled = checked, compiled
        self._text = ""
        self._plan: Plan | None = None
        self._worker: Worker | None = None
        self._coming: Ready | None = None
        self._wrong = ""

    @property
    def refused(self) -> str:
        """Why the file as it is now does not run; empty: it does, or is on its way."""
        return self._file.problem or self._wrong

    def refuse(self, problem: BaseException) -> None:
        """Rules that were ready do not run after all."""
        self._wrong = shown_problem(problem)

    def ask(self) -> None:
        """Look at the file now, whether it is watched or not."""
        self._file.ask()

    def look(self, now_ms: int) -> Ready | None:
        """Rules that are ready now; what is wrong with a new file is logged, with the remedy."""
        worker = self._worker
        if worker is None:
            text = self._file.look(now_ms)
            if text is not None:
                self._begin(text)
            return None
        if worker.is_alive:
            return None
        self._worker = None
        if self._coming is not None:
            return self._finished(worker)
        self._compile(worker)
        return None

    def _begin(self, text: str) -> None:
        self._text, self._plan = text, None
        self._worker = Worker("check rules", self._check).start()

    def _check(self) -> None:
        if (found := self._checked(self._text)) is not None:
            self._text, self._plan = found

    def _compile(self, checking: Worker) -> None:
        """The text is checked: go on with its plan."""
        problem, plan = checking.failure, self._plan
        if problem is None and plan is None:
            self._wrong = ""
            logger.info("the rule file has changed, its meaning has not")
            return
        try:
            if problem is not None:
                raise problem
            assert plan is not None
            rules = self._compiled(plan)
        except Exception as wrong:  # noqa: BLE001 -- whatever is wrong, the old rules go on
            self.refuse(wrong)
            logger.error("the new rules are wrong, the old ones go on:\n{}", self._wrong)
            return
        logger.info("new rules: compiling")
        self._coming = Ready(rules, plan, self._text)
        self._worker = Worker("compile", lambda: rules.start().warm_up(in_child=True)).start()

    def _finished(self, compiling: Worker) -> Ready | None:
        ready, self._coming = self._coming, None
        if compiling.failure is not None:
            self.refuse(compiling.failure)
            logger.error("the new rules do not compile, the old ones go on: {}", self._wrong)
            return None
        self._wrong = ""
        return ready


def shown_problem(problem: BaseException) -> str:
    """What is wrong; errors in rules show the place and the remedy."""
    render = getattr(problem, "render", None)
    return str(render()) if callable(render) else f"{type(problem).__name__}: {problem}"
