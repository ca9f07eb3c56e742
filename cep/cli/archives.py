"""The archive that a command is to read."""

from __future__ import annotations

from pathlib import Path

from cep.archive import Archive


def existing(directory: Path) -> Archive:
    """The archive in a directory; reading one that is not there is a mistake."""
    archive = Archive(directory)
    archive.require()
    return archive
