"""Credentials that allow only some things: a file each, in a folder that is its owner's alone."""

from __future__ import annotations

import importlib
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mt5bridge.credential import Credential, CredentialError, new_password, write_private
from mt5bridge.grant import Grant
from mt5bridge.spool.disk import Disk

FOLDER = "credentials"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SUFFIX = ".json"
_FILE_BYTES_MAX = 65_536
_OTHERS = 0o077


class Kept(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """A file: what is granted, and the password, or where it is found; a public key of CURVE.

    `password_from` is `env:NAME`, a variable of the daemon's environment, or `keyring:SERVICE`,
    where the system's keyring has the password of this user.
    """

    grant: Grant = Grant()
    password: str = ""
    password_from: str = ""
    curve_key: str = ""

    def __repr__(self) -> str:
        return f"Kept({self.grant!r}, password_from={self.password_from!r})"


class Held(msgspec.Struct, frozen=True):
    """Who may come, with the password at hand."""

    credential: Credential
    grant: Grant
    curve_key: str = ""


class CredentialStore:
    """The folder; nothing is kept in memory."""

    def __init__(self, folder: Path, environment: Mapping[str, str] = os.environ) -> None:
        self.folder = folder
        self._environment = environment

    def names(self) -> list[str]:
        """The users, sorted. CredentialError when others can use the folder."""
        if not self.folder.is_dir():
            return []
        _check_private(self.folder, 0o700)
        return sorted(path.stem for path in self.folder.glob(f"*{_SUFFIX}"))

    def read(self, name: str) -> Kept:
        """What the file says. CredentialError: none, damaged, or others can use it."""
        path = self.path(name)
        try:
            _check_private(path, 0o600)
            with path.open("rb") as file:
                return msgspec.json.decode(file.read(_FILE_BYTES_MAX), type=Kept)
        except FileNotFoundError:
            known = ", ".join(self.names()) or "none"
            raise CredentialError(f"no credential {name}; there are: {known}") from None
        except OSError as problem:
            raise CredentialError(f"{path}: {problem.strerror}") from None
        except msgspec.MsgspecError as problem:
            remedy = f"remove it with `mt5cep credential rm {name}` and add it again"
            raise CredentialError(f"{path}: damaged ({problem}); {remedy}") from None

    def held(self, name: str) -> Held:
        """A user's password and grant. CredentialError when the password cannot be found."""
        kept = self.read(name)
        return Held(Credential(name, self._password(name, kept)), kept.grant, kept.curve_key)

    def all(self) -> list[Held]:
        """All of them; CredentialError names the first that cannot be used."""
        return [self.held(name) for name in self.names()]

    def add(self, name: str, grant: Grant, password_from: str = "") -> None:
        """A new one, with a random password unless that is elsewhere. CredentialError."""
        if self.path(name).exists():
            raise CredentialError(
                f"there is a credential {name}; `mt5cep credential rm {name}` removes it"
            )
        password = "" if password_from else new_password()
        kept = Kept(grant=grant, password=password, password_from=password_from)
        Credential(name, self._password(name, kept))  # before it is kept
        self._write(name, kept)

    def rotate(self, name: str) -> None:
        """Give it a new password. CredentialError when that is not kept here."""
        kept = self.read(name)
        if kept.password_from:
            raise CredentialError(
                f"the password of {name} comes from {kept.password_from}: change it there"
            )
        self._write(name, msgspec.structs.replace(kept, password=new_password()))

    def set_curve_key(self, name: str, public: str) -> None:
        """Who has the secret key of this one may come by CURVE; the one before no more."""
        self._write(name, msgspec.structs.replace(self.read(name), curve_key=public))

    def remove(self, name: str) -> None:
        """Nobody comes as this user any more. CredentialError when there is none."""
        try:
            self.path(name).unlink()
        except FileNotFoundError:
            self.read(name)
        Disk().sync_directory(self.folder)

    def path(self, name: str) -> Path:
        """A user's file. CredentialError for a name that is none."""
        if not _NAME.fullmatch(name):
            raise CredentialError(
                f"{name!r} is no name of a credential: use up to 64 letters, digits, `.`, `_`, `-`"
            )
        return self.folder / f"{name}{_SUFFIX}"

    def _write(self, name: str, kept: Kept) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700, parents=True)
        _check_private(self.folder, 0o700)
        write_private(self.path(name), msgspec.json.format(msgspec.json.encode(kept)) + b"\n")

    def _password(self, name: str, kept: Kept) -> str:
        kind, place = kept.password_from.partition(":")[::2]
        if not kept.password_from:
            return kept.password
        if kind == "env" and place:
            password = self._environment.get(place, "")
        elif kind == "keyring" and place:
            password = _keyring().get_password(place, name) or ""
        else:
            raise CredentialError(
                f"{kept.password_from!r}: a password comes from env:NAME or keyring:SERVICE"
            )
        if not password:
            raise CredentialError(
                f"credential {name}: {kept.password_from} has no password; set it there"
            )
        return password


def _keyring() -> Any:
    try:
        return importlib.import_module("keyring")
    except ModuleNotFoundError:
        raise CredentialError(
            "a password in the system's keyring needs a package: in the checkout of mt5cep run: "
            "pip install '.[keyring]'"
        ) from None


def _check_private(path: Path, mode: int) -> None:
    """CredentialError when others than the owner can use it. Windows has no modes: whoever may read
    it there is a matter of the folder's permissions.
    """
    seen = path.stat().st_mode
    if os.name == "posix" and seen & _OTHERS:
        raise CredentialError(
            f"{path}: others than its owner can use it (mode {stat.S_IMODE(seen):o}), and with it "
            f"trade; run `chmod {mode:o} {path}`, and if they may have read it, "
            "`mt5cep credential rotate` what is in it"
        )
