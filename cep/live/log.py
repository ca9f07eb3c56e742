"""The daemon's log: text on standard error, and text or JSON lines in a file that is rotated.

What a peer or a file has said may stand in it. Control characters are written as escapes, and every
line of a message but its first is indented, so that nothing a peer says looks like another entry.
Tracebacks show no values: a password may be among them.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import msgspec
from loguru import logger

from cep.live.config import Config, Logging
from cep.live.log_file import Lines, RotatedFile
from mt5bridge.escapes import visible
from mt5bridge.spool.disk import make_directories

if TYPE_CHECKING:
    from loguru import Record

_TEXT = "{time:YYYY-MM-DD HH:mm:ss.SSS!UTC}Z | {level: <8} | {name}:{line} - {extra[text]}\n"
_JSON = "{extra[json]}\n"


def escaped(text: str) -> str:
    """A text without control characters; its lines but the first are indented."""
    return visible(text).replace("\t", "    ").replace("\n", "\n    ")


class Log:
    """Where entries go, as the settings say."""

    def __init__(self, errors: TextIO | None = None) -> None:
        """Alone: where they went before is gone. `errors` stands for standard error."""
        logger.remove()
        self._handlers: list[int] = []
        self._errors = errors
        self.lost = 0
        """Entries that could not be written, to the file or to standard error."""
        self.failures: dict[str, str] = {}
        """What cannot be written now, and why."""

    def begin(self, config: Config) -> None:
        """Log like this from now on. OSError: the file's; then it goes on as before."""
        keys: dict[str, Any] = {"level": config.log_level, "backtrace": False, "diagnose": False}
        log = config.log
        stream = self._errors or sys.stderr
        told = Lines(_writer(stream), partial(self._failed, "standard error", None))
        added = [self._file(log, keys, told)] if log.file is not None else []
        added.append(logger.add(told, format=_text, **keys))
        old, self._handlers = self._handlers, added
        for handler in old:
            logger.remove(handler)

    def _file(self, log: Logging, keys: dict[str, Any], told: Lines) -> int:
        assert log.file is not None
        make_directories(log.file.parent)
        file = RotatedFile(log.file, log.file_max_mib << 20, log.files)
        lines = Lines(file.write, partial(self._failed, str(log.file), told), file.close)
        return logger.add(lines, format=_json if log.format == "json" else _text, **keys)

    def _failed(self, name: str, told: Lines | None, problem: Exception | None) -> None:
        """Count; the first in a row is told in one line where something else can be written."""
        if problem is None:
            self.failures.pop(name, None)
            return
        self.lost += 1
        if name not in self.failures and told is not None:
            told.write(escaped(f"{name}: cannot be written, entries are lost: {problem}") + "\n")
        self.failures[name] = str(problem)


def _writer(stream: TextIO) -> Callable[[str], object]:
    def write(text: str) -> None:
        stream.write(text)
        stream.flush()

    return write


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
