"""The archive that a command is to read."""

from __future__ import annotations

from pathlib import Path

from cep.archive import Archive


def existing(place: Path | str) -> Archive:
    """The archive at a place; reading one that is not there is a mistake."""
    archive = Archive(place)
    archive.require()
    return archive
