"""Keys of CURVE, which encrypts a connection and lets each side know the other (ZeroMQ RFC 26).

For programs with libzmq; a terminal has none. Keys are texts of 40 characters (Z85).
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec
import zmq
from zmq.utils import z85

from mt5bridge.credential import CredentialError, others_can_use, write_private

FILE = "curve.json"
"""The daemon's, in its state folder."""
_FILE_BYTES_MAX = 4_096
_KEY_CHARACTERS, _KEY_BYTES = 40, 32


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A pair. CredentialError when they are not."""

    public: str
    secret: str

    def __post_init__(self) -> None:
        if not (is_key(self.secret) and zmq.curve_public(self.secret.encode()) == self.raw):
            raise CredentialError("the public key is not the secret one's")

    def __repr__(self) -> str:
        return f"Keys({self.public!r})"

    @property
    def raw(self) -> bytes:
        """The public key as libzmq has it."""
        return self.public.encode()


class CurveIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who a program comes as, and the public key of the daemon that it will talk to."""

    user: str
    daemon: str
    keys: Keys

    def __post_init__(self) -> None:
        if not is_key(self.daemon):
            raise CredentialError(f"{self.daemon!r} is no public key")


def is_key(text: str) -> bool:
    """Whether a text can be a key."""
    try:
        return len(text) == _KEY_CHARACTERS and len(z85.decode(text)) == _KEY_BYTES
    except (KeyError, ValueError, TypeError):
        return False


def new_keys() -> Keys:
    """A random pair."""
    public, secret = zmq.curve_keypair()
    return Keys(public=public.decode(), secret=secret.decode())


def daemon_keys(folder: Path) -> Keys:
    """The keys of a daemon with this state folder, made now if it has none. CredentialError."""
    path = folder / FILE
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(path, new_keys())
    return _read(path, Keys, "delete it, and make all `mt5cep credential curve` files anew")


def write_identity(path: Path, identity: CurveIdentity) -> None:
    """A file for its owner alone, in a folder that is there."""
    _write(path, identity)


def read_identity(path: Path) -> CurveIdentity:
    """What `mt5cep credential curve` has written. CredentialError: none, damaged, not private."""
    return _read(path, CurveIdentity, "make it anew with `mt5cep credential curve`")


def is_identity(path: Path) -> bool:
    """Whether a file is rather an identity than a credential."""
    try:
        with path.open("rb") as file:
            return file.read(1) == b"{"
    except OSError:
        return False


_Kind = TypeVar("_Kind", Keys, CurveIdentity)


def _write(path: Path, content: Keys | CurveIdentity) -> None:
    write_private(path, msgspec.json.format(msgspec.json.encode(content)) + b"\n")


def _read(path: Path, kind: type[_Kind], remedy: str) -> _Kind:
    try:
        if others_can_use(path):
            raise CredentialError(
                f"{path}: others than its owner can use it; run `chmod 600 {path}`, and if they "
                f"may have read it, {remedy}"
            )
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_FILE_BYTES_MAX), type=kind)
    except FileNotFoundError:
        raise CredentialError(f"{path}: no such file") from None
    except OSError as problem:
        raise CredentialError(f"{path}: {problem.strerror}") from None
    except msgspec.MsgspecError as problem:
        raise CredentialError(f"{path}: damaged ({problem}); {remedy}") from None
