"""Addresses such as s3://bucket are no paths; taken for one, they become folders named `s3:`."""

from __future__ import annotations

import re
from pathlib import Path

_COPY = "copy it to this machine, or mount it, and give that path"
PUBLISH = (
    "an archive is written to a folder of this machine, and copied to an object store with "
    "`mt5cep archive publish`, to be read there"
)
"""The remedy for an archive that is to be written."""
# `pathlib` makes one slash of two; a drive such as C: has one letter.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):[/\\]")
# What stands in front of the host: a user and a password, or a key of S3.
_SECRET = re.compile(r"(?i)^([a-z0-9+.-]+:/+)[^?]*:[^?]*@|^(s3:/+)[^/?]*@")


class AddressError(Exception):
    """An address where a path is wanted, or one that cannot be used; the text has the remedy."""


def is_address(path: Path | str) -> bool:
    """Whether it is no path of this machine."""
    return bool(_ADDRESS.match(str(path)))


def shown(address: Path | str) -> str:
    """An address as messages have it: without a secret, and without its query."""
    return _SECRET.sub(r"\1\2***@", str(address)).partition("?")[0]


def local(path: Path | str, remedy: str = _COPY) -> Path:
    """`path`, which is one of this machine. AddressError for an address, with the remedy."""
    if match := _ADDRESS.match(str(path)):
        if match[1].lower() == "file":
            remedy = "leave out file://"
        raise AddressError(f"{shown(path)} is an address, not a path; {remedy}")
    return Path(path)
