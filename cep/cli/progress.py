"""Progress bars: on stderr, only on a terminal, only for work that takes longer than a second."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

QUIET_SECONDS = 1.0


class Rate(ProgressColumn):
    """How much is done, and how much a second."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed or 0.0
        return Text(f"{task.completed:,.0f} {self.unit}  {speed:,.0f} {self.unit}/s")


class Bar:
    """What the work tells about itself."""

    def __init__(self, display: Progress, task: Task) -> None:
        self._display = display
        self._task = task

    def advance(self, n: int) -> None:
        """`n` more are done."""
        self._show()
        self._display.advance(self._task.id, n)

    def advance_to(self, done: int, total: int) -> None:
        """`done` of `total` are done."""
        self._show()
        self._display.update(self._task.id, completed=done, total=total)

    def _show(self) -> None:
        if not self._display.live.is_started and (self._task.elapsed or 0.0) >= QUIET_SECONDS:
            self._display.start()


@contextmanager
def progress(
    label: str, total: int | None = None, unit: str = "rows", console: Console | None = None
) -> Iterator[Bar]:
    """A bar for the work inside the `with`; `total` None is unknown."""
    console = console or Console(file=sys.stderr)
    display = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        Rate(unit),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    display.add_task(label, total=total)
    (task,) = display.tasks
    try:
        yield Bar(display, task)
    finally:
        display.stop()


def advancing(
    label: str, unit: str
) -> Callable[[int], AbstractContextManager[Callable[[int], None]]]:
    """Of a total, a bar as work wants it that knows no bars: to be told how many more are done."""

    @contextmanager
    def bar_of(total: int) -> Iterator[Callable[[int], None]]:
        with progress(label, total, unit=unit) as bar:
            yield bar.advance

    return bar_of
