"""How accounts stand, for programs that read along: the newest figures of each terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from cep.live.complex_events import field_of, text_of, time_of
from mt5bridge import clock
from mt5bridge.server import Funds
from mt5bridge.server.feeds import Reading
from mt5bridge.wire import ACCOUNTS, Bound, Event


class AccountFeed:
    """A state, of which only the newest counts: nothing is kept on disk.

    Numbers are times in milliseconds, so that those of a daemon that was restarted are higher.
    """

    name = ACCOUNTS

    def __init__(self, now_msc: Callable[[], int] = clock.now_msc) -> None:
        self.newest = 0
        self._now_msc = now_msc
        self._of_terminal: dict[str, Event] = {}

    def take(self, funds: Funds) -> None:
        """A terminal has told how its account stands."""
        self.newest = max(self.newest + 1, self._now_msc())
        figures, time_msc = funds.account, time_of(funds.account.time_msc)
        values = [(one.name, getattr(figures, one.name)) for one in fields(figures)]
        told = tuple(field_of(*item) for item in values if item[0] != "time_msc")
        owner = text_of(funds.owner)
        bound = Bound(0, time_msc, text_of(funds.identity), ACCOUNTS, owner, told)
        event = Event(self.newest, time_msc, time_msc, ACCOUNTS, "", owner, (bound,))
        self._of_terminal[funds.identity] = event

    @property
    def first(self) -> int:
        """Who comes for the first time gets how all accounts stand."""
        return 0

    def reading(self, number: int) -> Reading:
        """From behind these figures on."""
        return _Reading(self._of_terminal, number)


class _Reading:
    def __init__(self, of_terminal: dict[str, Event], number: int) -> None:
        self._of_terminal = of_terminal
        self._number = number

    def read(self, most: int) -> list[Event]:
        newer = [one for one in list(self._of_terminal.values()) if one.number > self._number]
        found = sorted(newer, key=lambda one: one.number)[:most]
        if found:
            self._number = found[-1].number
        return found
