"""Tells people what fails: entries of the log, by webhook, Telegram, e-mail and whatever else
Apprise knows.

A thread of its own sends; who logs waits for nothing. What comes too often is held back and
counted, and an address, which holds a secret, is never logged.
"""

from __future__ import annotations

import os
import re
import socket
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from queue import Empty, Full, Queue
from threading import Event
from typing import TYPE_CHECKING, Protocol

from loguru import logger

from cep.live.config import Alerting, ConfigError
from cep.live.log import escaped
from mt5bridge import clock
from mt5bridge.server import Sink
from mt5bridge.worker import Worker

if TYPE_CHECKING:
    from loguru import Message

QUEUE_MAX = 100
KNOWN_MAX = 256
TEXT_CHARACTERS = 2_000
HOUR_MS = 3_600_000
END_WAIT_S = 10.0
LOOK_S = 0.2
URLS_FROM = "MT5CEP_ALERT_URLS"
"""The environment's variable for addresses, separated by blanks."""
HELD_BACK, REPEATED = "alerts_held_back", "alerts_repeated"
_NUMBERS = re.compile(r" \((no\. \d+|\d+ since this was last told)\)")
"""How often something was told before, in entries about peers."""
_ERROR = logger.level("ERROR").no

_own = logger.bind(is_of_alerts=True)


class Recipient(Protocol):
    """Who is told; `name` may be logged."""

    @property
    def name(self) -> str: ...

    def tell(self, title: str, text: str) -> bool: ...


class Throttle:
    """Lets so many an hour pass, and each text once in a while, whatever number a complaint has.

    Errors, and what is less, have a share each: a peer that misbehaves keeps no error back.
    """

    def __init__(self, per_hour: int, repeat_ms: int) -> None:
        self._per_hour = per_hour
        self._repeat_ms = repeat_ms
        self._passed: dict[bool, deque[int]] = {True: deque(), False: deque()}
        self._known: OrderedDict[str, int] = OrderedDict()

    def stops(self, text: str, now_ms: int, *, is_error: bool = True) -> str:
        """The counter under which a text is not told now; empty: it is told."""
        passed = self._passed[is_error]
        while passed and now_ms - passed[0] >= HOUR_MS:
            passed.popleft()
        same = _NUMBERS.sub("", text)
        known_ms = self._known.get(same)
        if known_ms is not None and now_ms - known_ms < self._repeat_ms:
            return REPEATED
        if len(passed) >= self._per_hour:
            return HELD_BACK
        passed.append(now_ms)
        self._known[same] = now_ms
        self._known.move_to_end(same)
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return ""


class Alerts:
    """From its creation to `close`, entries of the log from a level on are told to all."""

    def __init__(
        self,
        wanted: Alerting,
        recipients: Sequence[Recipient],
        sink: Sink,
        now_ms: Callable[[], int] = clock.monotonic_ms,
    ) -> None:
        self._recipients = recipients
        self._sink = sink
        self._now_ms = now_ms
        self._throttle = Throttle(wanted.per_hour, 60_000 * wanted.repeat_minutes)
        self._waiting: Queue[tuple[str, str, bool]] = Queue(QUEUE_MAX)
        self._held_back = 0
        self._stop = Event()
        self._title = f"mt5cep on {socket.gethostname()}"
        self._worker = Worker("alerts", self._work, self._failed)
        self._handler = logger.add(
            self._take, level=wanted.level, format="{message}", filter=_is_wanted, catch=True
        )
        self._worker.start()

    def close(self) -> None:
        """Tell what waits, for a while, and end."""
        logger.remove(self._handler)
        self._stop.set()
        self._worker.join(END_WAIT_S)

    def _take(self, message: Message) -> None:
        record = message.record
        try:
            level = record["level"]
            self._waiting.put_nowait((level.name, record["message"], level.no >= _ERROR))
        except Full:
            self._sink.count("alerts_dropped")

    def _work(self) -> None:
        while True:
            try:
                found = self._waiting.get(timeout=LOOK_S)
            except Empty:
                if self._stop.is_set():
                    return
                continue
            self._tell(*found)

    def _tell(self, level: str, text: str, is_error: bool) -> None:
        if counter := self._throttle.stops(text, self._now_ms(), is_error=is_error):
            self._held_back += 1
            self._sink.note(counter, text)
            return
        shown = escaped(text)[:TEXT_CHARACTERS]
        if self._held_back:
            shown += f"\n({self._held_back} more were held back before)"
        self._held_back = 0
        for recipient in self._recipients:
            is_told = recipient.tell(f"{self._title}: {level}", shown)
            self._sink.count("alerts_sent" if is_told else "alerts_failed")
            if not is_told:
                _own.error("an alert could not be sent: {}", recipient.name)

    def _failed(self, problem: BaseException) -> None:
        name = type(problem).__name__  # its text may hold an address
        _own.error("alerts have ended: {}", name)


def _is_wanted(record: object) -> bool:
    assert isinstance(record, dict)
    return not record["extra"].get("is_of_alerts")


class AppriseRecipient:
    """An address of Apprise, with a service and a secret in it."""

    def __init__(self, url: str, place: str) -> None:
        """ConfigError when it is none; `place` says which one it is."""
        import apprise

        service = url.partition("://")[0][:20] if "://" in url else "no service"
        self.name = f"{place} ({service})"
        self._apprise = apprise.Apprise()
        self._kinds = apprise.NotifyFormat.TEXT
        if not self._apprise.add(url):
            raise ConfigError(
                f"{self.name} is no address of Apprise; its wiki lists services and addresses, "
                "such as json://host/path, tgram://bottoken/chat, mailtos://user:password@host"
            )

    def tell(self, title: str, text: str) -> bool:
        try:
            return bool(self._apprise.notify(body=text, title=title, body_format=self._kinds))
        except Exception:  # noqa: BLE001 -- whatever a service does, the daemon goes on
            return False


def recipients_of(wanted: Alerting) -> list[Recipient]:
    """Those of the settings and of the environment. ConfigError; ModuleNotFoundError."""
    places = [(url, f"[alerts] urls, no. {n}") for n, url in enumerate(wanted.urls, start=1)]
    others = os.environ.get(URLS_FROM, "").split()
    places += [(url, f"{URLS_FROM}, no. {n}") for n, url in enumerate(others, start=1)]
    return [AppriseRecipient(url, place) for url, place in places]


def begin_alerts(wanted: Alerting, sink: Sink) -> Alerts | None:
    """Alerts, if anybody is to be told."""
    recipients = recipients_of(wanted)
    return Alerts(wanted, recipients, sink) if recipients else None
