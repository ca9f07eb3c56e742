"""Text files as blocks of whole lines, whatever their encoding, without reading them whole."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa

from mt5bridge.history.block import HistoryError
from mt5bridge.history.zipped import open_member

BLOCK_BYTES = 16 << 20
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
          (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip


_KINDS = (
    (b"\x1f\x8b", "it is gzipped; let its name end with .gz"),
    (b"PK\3\4", "it is a zip file; let its name end with .zip"),
    (b"PAR1", "it is a Parquet file; let its name end with .parquet"),
    (b"\xff\xfe\0\0", "it is UTF-32; export it as UTF-8 or UTF-16"),
    (b"\0\0\xfe\xff", "it is UTF-32; export it as UTF-8 or UTF-16"),
)
"""How files begin that are no text, and the remedy."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines as UTF-8; `first` is the number of the first one in its file, from 1."""

    first: int
    data: bytes


def line_blocks(
    path: Path, block_bytes: int = BLOCK_BYTES, member: str | None = None
) -> Iterator[Lines]:
    """Blocks of about `block_bytes` of a UTF-8 or UTF-16 file, which may be gzipped.

    `member` names the file in a zip file.
    """
    number, rest = 1, b""
    pieces = filter(None, _utf8(path, block_bytes, member))
    data = next(pieces, b"")
    while data:
        following = next(pieces, b"")
        # The last line may lack its end; it belongs to the lines before it.
        end = data.rfind(b"\n") + 1 if following else len(data)
        block, rest = rest + data[:end], (rest if end == 0 else b"") + data[end:]
        if end:
            yield Lines(number, block)
            number += block.count(b"\n")
        data = following


def _utf8(path: Path, block_bytes: int, member: str | None) -> Iterator[bytes]:
    line = 1
    try:
        with _stream(path, member) as stream:
            first = bytes(stream.read(4))
            if remedy := next((what for begin, what in _KINDS if first.startswith(begin)), None):
                raise HistoryError(f"{path}: not text: {remedy}")
            encoding, mark = encoding_of(first)
            decoder = codecs.getincrementaldecoder(encoding)()
            data = first[mark:]
            while True:
                more = bytes(stream.read(block_bytes))
                data += more
                text = decoder.decode(data, final=not more)
                yield data if encoding == "utf-8" else text.encode()
                line += text.count("\n")
                data = b""
                if not more:
                    break
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(error.encoding, errors="replace")
        place = f"{path}:{line + before.count(chr(10))}"
        raise HistoryError(
            f"{place}: not text ({error.reason} in {error.encoding}); export it as UTF-8 or UTF-16"
        ) from error
    except OSError as error:
        raise HistoryError(f"{path}: cannot be read ({error}); {_remedy(path, error)}") from error


def _remedy(path: Path, error: OSError) -> str:
    if isinstance(error, PermissionError) or "Permission denied" in str(error):
        return "let this user read it"
    if path.suffix.lower() == ".gz":
        return "it is cut off, damaged or not gzipped: download or pack it again"
    return "check the path"


def _stream(path: Path, member: str | None) -> AbstractContextManager[IO[bytes]]:
    if member is not None:
        return open_member(path, member)
    plain: AbstractContextManager[IO[bytes]] = pa.input_stream(path, compression="detect")
    return plain


def encoding_of(first: bytes) -> tuple[str, int]:
    """(encoding, length of its mark) from the first bytes of a file."""
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return encoding, len(mark)
    if len(first) >= 2 and 0 in first[:2]:
        return ("utf-16-le" if first[1] == 0 else "utf-16-be"), 0
    return "utf-8", 0
