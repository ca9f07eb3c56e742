"""The daemon, noting how much of each file a sync has confirmed: `recorded_syncs NOTES CONFIG`.

The notes survive a SIGKILL, so that a test can take away exactly what a power failure could.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cep.cli import main


class Notes:
    """`{inode: bytes confirmed}` in a file that is replaced whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sizes: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
        self.mutex = threading.Lock()

    def note(self, sync: Callable[[Any], None]) -> Callable[[Any], None]:
        """`sync`, which from now on returns only after its effect is noted."""

        def noted(file: int) -> None:
            before = os.fstat(file)
            sync(file)
            with self.mutex:
                self.sizes[str(before.st_ino)] = before.st_size
                draft = self.path.with_suffix(".part")
                draft.write_text(json.dumps(self.sizes))
                draft.replace(self.path)

        return noted


if __name__ == "__main__":
    notes = Notes(Path(sys.argv[1]))
    for name in ("fsync", "fdatasync"):
        setattr(os, name, notes.note(getattr(os, name)))
    main(["daemon", "--config", sys.argv[2]])
