"""The journal of output rows: a file that a restart makes whole again.

Rows are a pure function of the stored records, so the journal is cut back to the newest snapshot
and written again from the spool; it never needs a sync of its own.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from cep.engine.rows import Rows


class Journal:
    """Output rows as JSON lines, in order; `path` None keeps none."""

    def __init__(self, path: Path | None, keep_bytes: int = 0) -> None:
        self._file = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
            self._file.truncate(min(keep_bytes, self._file.tell()))

    @property
    def size_bytes(self) -> int:
        return self._file.tell() if self._file else 0

    def write(self, rows: Rows) -> None:
        """Append rows and hand them to the operating system."""
        if self._file:
            self._file.write(b"".join(line + b"\n" for line in rows.json_lines()))
            self._file.flush()

    def close(self) -> None:
        if self._file:
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
