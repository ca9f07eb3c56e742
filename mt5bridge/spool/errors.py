"""What can be wrong with a spool; every text names the file and the remedy."""

from __future__ import annotations


class SpoolError(Exception):
    """A spool that cannot be used."""


class SpoolLockedError(SpoolError):
    """Another process is writing to the same directory."""


class GroupError(ValueError):
    """Bytes that are not a record group, or a group that cannot be stored."""
