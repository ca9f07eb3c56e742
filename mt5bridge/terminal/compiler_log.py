"""Reads what MetaEditor's compiler writes with `/log`: lines of UTF-16.

C:\\..\\MQL5\\Experts\\A.mq5(12,1) : error 109: '#propert' - invalid preprocessor command
C:\\..\\MQL5\\Include\\B.mqh : information: including C:\\..\\MQL5\\Include\\C.mqh
Result: 1 errors, 0 warnings, 887 msec elapsed, cpu='X64 Regular'
"""

from __future__ import annotations

import codecs
import re
from pathlib import PureWindowsPath
from typing import NamedTuple

MESSAGE = re.compile(
    r"^(?P<file>.*?)\s*(?:\((?P<line>\d+),(?P<column>\d+)\))?\s*:\s*"
    r"(?P<kind>error|warning)(?:\s+(?P<number>\d+))?\s*:\s*(?P<text>.*)$",
    re.IGNORECASE,
)
RESULT = re.compile(r"(?P<errors>\d+)\s+error\S*?,\s*(?P<warnings>\d+)\s+warning", re.IGNORECASE)
RESULT_LINE = re.compile(r"^\s*(?:result\s*:?\s*)?\d+\s+error\S*?,", re.IGNORECASE)
BOMS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF8, "utf-8"))  # fmt: skip


class Message(NamedTuple):
    """One error or warning; `line` and `column` count from 1 and are 0 without a place."""

    kind: str
    """`error` or `warning`."""
    number: int
    file: str
    """Relative to `MQL5` if it lies there, with slashes; empty when the log names none."""
    line: int
    column: int
    text: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        number = f" {self.number}" if self.number else ""
        return f"{place or 'compiler'}: {self.kind}{number}: {self.text}"


class CompilerLog(NamedTuple):
    """What a compilation came to."""

    messages: list[Message]
    errors: int
    warnings: int
    is_complete: bool
    """Whether it ends with its result; without it the compiler broke off, or is still at it."""


def decoded(raw: bytes) -> str:
    """The text of a log: UTF-16 with or without a byte order mark, else UTF-8 as far as it is."""
    for bom, encoding in BOMS:
        if raw.startswith(bom):
            return raw.removeprefix(bom).decode(encoding, "replace")
    is_wide = raw[1::2].count(0) * 2 > len(raw) // 2
    return raw.decode("utf-16-le" if is_wide else "utf-8", "replace")


def read_log(raw: bytes) -> CompilerLog:
    """All messages of a log, in order, and its result."""
    lines = decoded(raw).splitlines()
    messages = [_message(found) for line in lines if (found := MESSAGE.match(line))]
    results = [RESULT.search(line) for line in lines if RESULT_LINE.match(line)]
    last = results[-1] if results else None
    if last is None:
        errors = sum(one.kind == "error" for one in messages)
        return CompilerLog(messages, errors, len(messages) - errors, False)
    return CompilerLog(messages, int(last["errors"]), int(last["warnings"]), True)


def _message(found: re.Match[str]) -> Message:
    return Message(
        found["kind"].lower(), int(found["number"] or 0), shown(found["file"].strip()),
        int(found["line"] or 0), int(found["column"] or 0), found["text"].strip(),
    )  # fmt: skip


def shown(path: str) -> str:
    """A file of the log as our own messages name it: below `MQL5`, with slashes."""
    parts = PureWindowsPath(path).parts
    below = [at for at, part in enumerate(parts) if part.casefold() == "mql5"]
    return "/".join(parts[below[-1] + 1 :]) if below else PureWindowsPath(path).as_posix()
