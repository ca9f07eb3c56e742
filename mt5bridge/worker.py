"""A thread whose failure is noticed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


class Worker:
    """Runs `work` in a thread of its own; whatever it raises is kept and handed to `on_failure`."""

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        on_failure: Callable[[BaseException], None] = lambda _problem: None,
    ) -> None:
        self.failure: BaseException | None = None
        self._work = work
        self._on_failure = on_failure
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> Worker:
        self._thread.start()
        return self

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until it has ended; it is for others to tell it to."""
        self._thread.join(timeout_s)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as problem:  # noqa: BLE001 -- no thread ends unnoticed
            self.failure = problem
            self._on_failure(problem)
