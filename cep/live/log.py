"""The daemon's log: text on standard error, and text or JSON lines in a file that is rotated.

What a peer or a file has said may stand in it. Control characters are written as escapes, and every
line of a message but its first is indented, so that nothing a peer says looks like another entry.
Tracebacks show no values: a password may be among them.
"""

from __future__ import annotations

import sys
import traceback
from datetime import UTC
from typing import TYPE_CHECKING, Any

import msgspec
from loguru import logger

from cep.live.config import Config, Logging
from mt5bridge.escapes import visible
from mt5bridge.spool.disk import make_directories

if TYPE_CHECKING:
    from loguru import Record

_TEXT = "{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{line} - {extra[text]}\n"
_JSON = "{extra[json]}\n"


def escaped(text: str) -> str:
    """A text without control characters; its lines but the first are indented."""
    return visible(text).replace("\t", "    ").replace("\n", "\n    ")


class Log:
    """Where entries go, as the settings say."""

    def __init__(self) -> None:
        """Alone: where they went before is gone."""
        logger.remove()
        self._handlers: list[int] = []

    def begin(self, config: Config) -> None:
        """Log like this from now on. OSError: the file's; then it goes on as before."""
        keys: dict[str, Any] = {"level": config.log_level, "backtrace": False, "diagnose": False}
        log = config.log
        added = [self._file(log, keys)] if log.file is not None else []
        added.append(logger.add(sys.stderr, format=_text, **keys))
        old, self._handlers = self._handlers, added
        for handler in old:
            logger.remove(handler)

    def _file(self, log: Logging, keys: dict[str, Any]) -> int:
        assert log.file is not None
        make_directories(log.file.parent)
        return logger.add(
            log.file,
            format=_json if log.format == "json" else _text,
            rotation=log.file_max_mib << 20,
            retention=log.files,
            encoding="utf-8",
            **keys,
        )


def _text(record: Record) -> str:
    """A function, because Loguru puts its own traceback behind a format that is a text."""
    trace = _trace(record).rstrip()
    shown = f"{record['message']}\n{trace}" if trace else record["message"]
    record["extra"]["text"] = escaped(shown)
    return _TEXT


def _json(record: Record) -> str:
    fields = {
        "time": record["time"].astimezone(UTC).isoformat(timespec="milliseconds"),
        "level": record["level"].name,
        "logger": record["name"],
        "line": record["line"],
        "message": record["message"],
    }
    if trace := _trace(record):
        fields["exception"] = trace
    record["extra"]["json"] = _encoded(fields)
    return _JSON


def _trace(record: Record) -> str:
    """The traceback of an entry, without values; empty where it has none."""
    failure = record["exception"]
    if failure is None or failure.type is None:
        return ""
    return "".join(traceback.format_exception(failure.type, failure.value, failure.traceback))


def _encoded(fields: dict[str, Any]) -> str:
    """One line; what is no Unicode, as a name of a file, is escaped."""
    try:
        return msgspec.json.encode(fields).decode()
    except UnicodeEncodeError:
        told = {key: escaped(one) if isinstance(one, str) else one for key, one in fields.items()}
        return msgspec.json.encode(told).decode()
