"""The one exception of the wire and its reasons."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why bytes are not a frame (PROTOCOL.md 3.2)."""

    TRUNCATED = "truncated"
    BAD_MAGIC = "bad_magic"
    WRONG_VERSION = "wrong_version"
    BAD_FLAGS = "bad_flags"
    OVERSIZED = "oversized"
    TRAILING_BYTES = "trailing_bytes"
    BAD_CHECKSUM = "bad_checksum"
    UNKNOWN_TYPE = "unknown_type"
    BAD_TEXT = "bad_text"
    BAD_VALUE = "bad_value"
    MULTIPART = "multipart"


class WireError(ValueError):
    """Bytes that are no frame, or a frame that cannot be written; `reason` says why."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
