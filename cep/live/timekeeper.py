"""How time passes is itself recorded: rules see it pass, now and in later runs.

A terminal says up to when its ticks are complete. While it says nothing new, its symbols wait for
it, but not for ever: then the daemon's own clock goes on for them. Each of this is a clock record,
so that a later run of the same records decides nothing by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from cep.engine.watermarks import Watermarks
from cep.live.intake import Intake
from mt5bridge.clock import Now
from mt5bridge.server import Watermark
from mt5bridge.spool import Stream, Told, clock_group

DAEMON = "daemon"
"""The source of records of the daemon's own clock; `Told` tells them from a terminal's."""
STREAM: Stream = ("clock",)


@dataclass(slots=True)
class _Terminal:
    """A terminal that has told something; times are those of the steady clock."""

    told: Watermark | None = None  # the newest, unless it is recorded
    is_heard: bool = True  # since the last look
    heard_ms: int = 0
    recorded_ms: int | None = None
    is_away: bool = False


class Timekeeper:
    """Makes clock records, at most one for each terminal in `every_ms`; 0 makes none.

    A terminal that has told nothing new for `away_ms` is away until it does. For those that are,
    the daemon's own clock is recorded, so much behind: its ticks may come all the same. It is also
    recorded where no terminal ever told anything, whenever the rules heard nothing for `every_ms`.
    """

    def __init__(self, intake: Intake, every_ms: int, away_ms: int) -> None:
        self._intake = intake
        self._every_ms = every_ms
        self._away_ms = away_ms
        self._sequences = {
            source: state.sequence
            for (source, stream), state in intake.spool.recovered.streams.items()
            if stream == STREAM
        }
        self._terminals: dict[str, _Terminal] = {}
        self._heard = -1
        self._own_ms = 0

    def know(self, known: Watermarks) -> None:
        """Whom rules have heard of that were brought to the end of what was stored before."""
        for source in known.holding:
            self._terminals.setdefault(source, _Terminal())
        for source in known.away:
            self._terminals.setdefault(source, _Terminal(is_away=True))

    def on_watermark(self, watermark: Watermark) -> None:
        """A terminal has told something new; `look` records it."""
        terminal = self._terminals.setdefault(watermark.identity, _Terminal())
        terminal.told, terminal.is_heard = watermark, True

    def look(self, now: Now) -> None:
        """To be called by the appending thread, often; `now.utc_msc` is the daemon's own clock."""
        if not self._every_ms:
            return
        for identity, terminal in self._terminals.items():
            self._look_at(identity, terminal, now)
        self._look_at_own(now)

    def _look_at(self, identity: str, terminal: _Terminal, now: Now) -> None:
        if terminal.is_heard:
            terminal.is_heard, terminal.heard_ms = False, now.ms
        recorded_ms = terminal.recorded_ms
        is_due = recorded_ms is None or now.ms - recorded_ms >= self._every_ms
        if terminal.told is not None and (is_due or terminal.is_away):
            told = terminal.told
            if self._record(identity, Told.COMPLETE, told.time_msc, told.utc_offset_ms):
                terminal.told, terminal.recorded_ms, terminal.is_away = None, now.ms, False
        elif not terminal.is_away and now.ms - terminal.heard_ms >= self._away_ms:
            terminal.is_away = self._record(identity, Told.AWAY, now.utc_msc)

    def _look_at_own(self, now: Now) -> None:
        is_needed, behind_ms = self._intake.heard == self._heard, 0
        if self._terminals:
            is_needed = any(terminal.is_away for terminal in self._terminals.values())
            behind_ms = self._away_ms
        if not is_needed:
            self._heard, self._own_ms = self._intake.heard, now.ms
        elif now.ms - self._own_ms >= self._every_ms:
            self._record(DAEMON, Told.OWN, now.utc_msc - behind_ms)
            self._own_ms = now.ms

    def _record(self, source: str, told: Told, time_msc: int, utc_offset_ms: int = 0) -> bool:
        """Whether there was room for it."""
        sequence = self._sequences.get(source, 0) + 1
        ingest = self._intake.spool.next_ingest
        key = (source, STREAM)
        group = clock_group(ingest, key, sequence, told, time_msc, utc_offset_ms)
        if self._intake.on_clock(group):
            self._sequences[source] = sequence
            return True
        return False
