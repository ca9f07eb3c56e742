"""What can be wrong with an archive."""

from __future__ import annotations


class ArchiveError(Exception):
    """An archive that cannot be read or written; the text names the file and the remedy."""
