"""Addresses such as s3://bucket are no paths; taken for one, they become folders named `s3:`."""

from __future__ import annotations

import re
from pathlib import Path

# `pathlib` makes one slash of two; a drive such as C: has one letter.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):[/\\]")


class AddressError(Exception):
    """An address where a path is wanted; the text has the remedy."""


def local(path: Path | str) -> Path:
    """`path`, which is one of this machine. AddressError for an address."""
    if match := _ADDRESS.match(str(path)):
        remedy = "copy it to this machine, or mount it, and give that path"
        if match[1].lower() == "file":
            remedy = "leave out file://"
        raise AddressError(f"{path} is an address, not a path; {remedy}")
    return Path(path)
