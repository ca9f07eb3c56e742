"""Server wall time -> UTC: a fixed offset, or a zone with its daylight-saving rule."""

from __future__ import annotations

import datetime
import re
import zoneinfo
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mt5bridge.history.block import HistoryError

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 -- wall time, whose zone is what is asked


@dataclass(frozen=True, slots=True)
class ServerTime:
    """What a broker's clock shows; `zone` wins over `utc_offset_ms`."""

    utc_offset_ms: int = 0
    zone: zoneinfo.ZoneInfo | None = None

    @classmethod
    def parse(cls, text: str) -> ServerTime:
        """From `UTC`, `+2`, `UTC+02:00`, or an IANA zone such as `Europe/Athens`."""
        if text.upper() in ("UTC", "GMT", "Z"):
            return cls()
        if match := _OFFSET.fullmatch(text):
            minutes = int(match[2]) * 60 + int(match[3] or 0)
            return cls(minutes * MINUTE_MS * (-1 if match[1] == "-" else 1))
        try:
            return cls(zone=zoneinfo.ZoneInfo(text))
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise HistoryError(
                f"server time {text!r} is unknown; give an offset such as +02:00, UTC, or an IANA "
                "zone such as Europe/Athens"
            ) from error

    def offsets_ms(self, wall_msc: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Offset from UTC at each server time; an hour that occurs twice is taken as the first."""
        if self.zone is None:
            return np.full(len(wall_msc), self.utc_offset_ms, np.int64)
        # Zones change at quarter hours at the finest, so one look-up serves many ticks.
        quarters, where = np.unique(wall_msc // (15 * MINUTE_MS), return_inverse=True)
        offsets = [self._offset_ms(int(quarter)) for quarter in quarters]
        return np.array(offsets, np.int64)[where]

    def _offset_ms(self, quarter: int) -> int:
        wall = _EPOCH + datetime.timedelta(minutes=15 * quarter)
        offset = wall.replace(tzinfo=self.zone).utcoffset()
        assert offset is not None, "a zone has an offset at any time"
        return round(offset.total_seconds() * 1000)


UTC = ServerTime()
