"""What a program has had of a daemon's complex events; no sockets, no threads."""

from __future__ import annotations

from collections.abc import Callable

from loguru import logger

from mt5bridge.client.mark import Mark, Missed
from mt5bridge.wire import FEED, LASTING, Event, Subscribed


def warn(missed: Missed) -> None:
    """Log it."""
    logger.warning("{}", missed)


class Progress:
    """Lets each event through once, and tells through `on_missed` what is missing before it."""

    def __init__(self, after: Mark) -> None:
        self.on_missed: Callable[[Missed], None] = warn
        self._numbering, self._numbers = after.numbering, dict(after.numbers)

    @property
    def mark(self) -> Mark:
        """Behind what was let through last."""
        return Mark(numbering=self._numbering, numbers=dict(self._numbers))

    def take(self, item: Event | Subscribed) -> Event | None:
        """The event, if it is one, and news."""
        if isinstance(item, Subscribed):
            self._told(item)
            return None
        last = self._numbers.get(item.name, 0)
        if item.number <= last:
            return None
        self._numbers[item.name] = item.number
        if item.previous > last:
            self.on_missed(Missed(item.name, last + 1, item.previous))
        return item

    def _told(self, frame: Subscribed) -> None:
        """What there is at the daemon, and how far it is."""
        is_known = frame.numbering == self._numbering
        before = frozenset(self._numbers)
        had_another = bool(self._numbering) and not is_known
        self._numbering = frame.numbering
        if not is_known:
            self._numbers = {name: n for name, n in self._numbers.items() if name in LASTING}
        if had_another:
            self.on_missed(Missed())
        for one in frame.events:
            known = self._numbers.setdefault(one.name, one.number)
            if one.name in LASTING and one.number < known:
                self._numbers[one.name] = one.number
                self.on_missed(Missed(one.name))
                continue
            is_new = is_known and one.name not in before and not one.name.startswith(FEED)
            if is_new and one.number:
                self.on_missed(Missed(one.name, 1, one.number))
