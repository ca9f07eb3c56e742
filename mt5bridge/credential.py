"""Who a connection is let in as: a user and a password, made by themselves and kept in a file.

The file is the same at the daemon (in its state folder) and in a terminal (in its sandbox, below
`MQL5/Files`): three lines, so that MQL5 reads it as well.
"""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from mt5bridge.spool.disk import Disk, named

USER = "mt5bridge"
FILE = "credential.txt"
HEAD = "mt5bridge credential 1"
CHALLENGE = "mt5bridge challenge 1"
"""In place of the password of who proves that it knows it; so it is none itself."""
BYTES_MAX = 255  # of a user's name or a password: ZMTP's PLAIN has one byte for the length
_FILE_BYTES_MAX = 1_024
_SECRET_BYTES = 32
_OTHERS = 0o077
_OTHERS_WRITE = 0o022


class CredentialError(ValueError):
    """A credential that cannot be used; the message names the file and the remedy."""


class CredentialMissingError(CredentialError):
    """There is no file."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A user and a password. CredentialError when no server could take them."""

    user: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if fault := credential_fault(self.user, self.password):
            raise CredentialError(fault)


def credential_fault(user: str, password: str) -> str:
    """What is wrong with a user's name and password, which it does not show; empty if nothing."""
    for name, text in (("user's name", user), ("password", password)):
        of = "" if text is user else f" of {user!r}"
        if not text.strip():
            return f"the {name}{of} is empty: whoever asked would be let in"
        if len(text.encode()) > BYTES_MAX:
            return f"the {name}{of} is too long: use at most {BYTES_MAX} bytes"
        if not text.isprintable() or text != text.strip():
            return f"the {name}{of} has spaces at an end, or characters that cannot be seen"
    return "the password is one that everybody knows" if password == CHALLENGE else ""


def new_password() -> str:
    """A random one of 256 bits."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def ensure_credential(path: Path) -> bool:
    """Make a file with a random secret if there is none; whether it was made.

    It appears whole and on disk or not at all, and nobody but its owner can read it.
    """
    if path.exists():
        return False
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = _draft(path, _text(Credential(USER, new_password())))
    try:
        _publish(draft, path)
    except FileExistsError:  # another process was quicker; its credential holds
        return False
    finally:
        draft.unlink(missing_ok=True)
    Disk().sync_directory(path.parent)
    return True


def write_credential(path: Path, credential: Credential) -> None:
    """Put a credential into a file, in place of what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, _text(credential))


def write_private(path: Path, content: bytes) -> None:
    """Replace a file whole, for its owner alone, in a folder that is there."""
    draft = _draft(path, content)
    try:
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    Disk().sync_directory(path.parent)


OWN_REMEDY = (
    "delete it and run `mt5cep daemon --init`, then `mt5cep terminal install`, so that terminals "
    "get the new one"
)
COPY_REMEDY = (
    "take it anew: copy credential.txt of the daemon's state folder, or have "
    "`mt5cep credential export` write one"
)


def read_copy(path: Path) -> Credential:
    """As `read_credential`, of a file that was given away: the daemon's own is not touched."""
    try:
        return read_credential(path, remedy=COPY_REMEDY)
    except CredentialMissingError:
        raise CredentialMissingError(f"{path}: no such file; {COPY_REMEDY}") from None


def read_credential(path: Path | str, *, remedy: str = OWN_REMEDY) -> Credential:
    """The credential in a file. CredentialError: none, damaged, or readable by others.

    `remedy`: what to do about one that is damaged.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            raw = file.read(_FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise CredentialMissingError(
            f"{path}: no such file; a daemon's first start makes it, or `mt5cep daemon --init`"
        ) from None
    except OSError as problem:
        raise CredentialError(f"{path}: {problem.strerror}") from None
    if _lets_others(mode):
        raise CredentialError(
            f"{path}: others than its owner can use it (mode {stat.S_IMODE(mode):o}), and with it "
            f"trade; run `chmod 600 {path}`, and if they may have read it, make a new one: end the "
            "daemon and delete the file"
        )
    return _parsed(path, raw, remedy)


def others_can_use(path: Path) -> bool:
    """Whether a file's mode lets others than its owner read or change it; never so on Windows."""
    return _lets_others(path.stat().st_mode)


def others_can_write(path: Path) -> bool:
    """Whether a mode lets others than the owner change what is there; never so on Windows."""
    return os.name == "posix" and bool(path.stat().st_mode & _OTHERS_WRITE)


def _lets_others(mode: int) -> bool:
    return os.name == "posix" and bool(mode & _OTHERS)


def _parsed(path: Path, raw: bytes, remedy: str) -> Credential:
    """What three whole lines say; a file that was cut anywhere lacks the last line's end."""
    try:
        head, user, password, rest = raw.decode().replace("\r\n", "\n").split("\n")
        if (head, user[:5], password[:9], rest) != (HEAD, "user ", "password ", ""):
            raise ValueError
        return Credential(user[5:], password[9:])
    except ValueError as problem:
        said = f" ({problem})" if isinstance(problem, CredentialError) else ""
        raise CredentialError(f"{path}: empty or damaged{said}; {remedy}") from None


def _text(credential: Credential) -> bytes:
    return f"{HEAD}\nuser {credential.user}\npassword {credential.password}\n".encode()


def _draft(path: Path, content: bytes) -> Path:
    """The whole content on disk, under a name of its own."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.open(draft, flags, 0o600)
    try:
        disk = Disk()
        with named(path):
            disk.write_at(file, content, 0)
            disk.sync(file)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    finally:
        os.close(file)
    return draft


def _publish(draft: Path, path: Path) -> None:
    """Give a file its name unless another has it: FileExistsError."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:  # a disk without links: as good as it gets there
        if path.exists():
            raise FileExistsError(path) from None
        draft.rename(path)
