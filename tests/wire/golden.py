"""Golden frames: annotated hex files which other implementations are checked against too.

A file has comment lines (`#`), one of them `# expect: frame` or `# expect: REASON`, and lines of
hex bytes, each with the field it holds behind `#`. `python -m tests.wire.golden` rewrites them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mt5bridge.wire import Frame, Reason, encode
from mt5bridge.wire.layout import Code, Entries, Numbers, RecordArray, TextPart, parts
from tests.wire.broken import broken_frames
from tests.wire.samples import FRAMES

FOLDER = Path(__file__).parent / "golden"


class Golden(NamedTuple):
    """A golden file's content."""

    title: str
    expect: str
    data: bytes


def read(path: Path) -> Golden:
    """Parse one file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    title = lines[0].removeprefix("# ")
    (expect,) = (line.split(": ")[1] for line in lines if line.startswith("# expect: "))
    return Golden(title, expect, bytes.fromhex("".join(line.partition("#")[0] for line in lines)))


def render(frame: Frame, title: str) -> str:
    """A frame as an annotated hex file."""
    data = encode(frame)
    lines = [f"# {type(frame).TYPE.name}: {title}", "# expect: frame"]
    for at, size, name in [(0, 4, "magic"), (4, 1, "version"), (5, 1, "type"), (6, 2, "flags")]:
        lines.append(_line(data[at : at + size], name))
    lines += [_line(data[8:12], "body length"), _line(data[12:16], "checksum")]
    lines += [_line(raw, name) for raw, name in fields(frame)]
    return "\n".join(lines) + "\n"


def fields(body: Any, prefix: str = "") -> Iterator[tuple[bytes, str]]:
    """Bytes and name of each field."""
    for part in parts(type(body)):
        match part:
            case Numbers(names=names):
                for name, code in zip(names, part.form.format[1:], strict=True):
                    value = getattr(body, name)
                    yield struct.pack("<" + code, value), f"{prefix}{name} = {value}"
            case Code(name=name) | TextPart(name=name):
                yield part.pack(body), f"{prefix}{name} = {getattr(body, name)!s}"
            case Entries(name=name):
                entries = getattr(body, name)
                yield struct.pack("<I", len(entries)), f"{prefix}{name}: count"
                for index, entry in enumerate(entries):
                    yield from fields(entry, f"{name}[{index}].")
            case RecordArray(name=name):
                records = getattr(body, name)
                yield struct.pack("<I", len(records)), f"{prefix}{name}: count"
                for index, record in enumerate(records):
                    for field in records.dtype.names:
                        raw = record[field].tobytes()
                        size = records.dtype[field].itemsize
                        yield raw.ljust(size, b"\0"), f"{name}[{index}].{field} = {record[field]}"


def render_broken(reason: Reason, title: str, data: bytes) -> str:
    """Bytes that are no frame as a hex file."""
    rows = [data[at : at + 16].hex(" ") for at in range(0, len(data), 16)]
    return "\n".join([f"# {title}", f"# expect: {reason}", *rows]) + "\n"


def files() -> dict[str, str]:
    """Name and text of every golden file."""
    texts = {f"{name}.hex": render(frame, title) for name, (title, frame) in FRAMES.items()}
    for name, broken in broken_frames().items():
        texts[f"{name}.hex"] = render_broken(*broken)
    return texts


def _line(raw: bytes, name: str) -> str:
    return f"{raw.hex(' ')}  # {name}"


if __name__ == "__main__":
    for file_name, text in files().items():
        (FOLDER / file_name).write_text(text, encoding="utf-8")
